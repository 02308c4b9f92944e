"""Some drawings in full, for a reader: what a person sees."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from tests.display.graph_drawing.graphs import chain, edge, id_of, node, view
from tests.display.graph_drawing.test_grouping import many
from tests.display.graph_drawing.test_views import shown
from workbench.display.canvas import Picture
from workbench.display.graph_drawing.views import draw_compact, draw_neighbourhood, draw_path
from workbench.engine.results.graph import GraphView

HARBOR = view(
    ["Harbor", "Nora", "Sam", "FastAPI", "Grafana", "Storm surge model", "Harbor 1", "港の予報"],
    (1, "develops", 0), (2, "reviews", 0), (0, "uses", 3), (0, "decided-on", 3), (0, "uses", 4),
    (0, "depends-on", 5), (0, "supersedes", 6), (7, "part-of", 0), (2, "uses", 3),
)  # fmt: skip
TWO_HOPS = view(
    ["Harbor", "Nora", "Grafana", "Storm model", "Gothenburg", "SWAN"],
    (1, "develops", 0), (0, "uses", 2), (0, "depends-on", 3), (1, "relates-to", 4), (5, "part-of", 3),
)  # fmt: skip
CLIQUE = view(
    ["Ada", "Ben", "Cy", "Dee", "Eve"], *[(one, "knows", other) for one, other in combinations(range(5), 2)]
)
MARKS = GraphView(
    id_of(0),
    (
        node(0, "Ferry", hop=0),
        node(1, "Tides", status="pinned"),
        node(2, "Old timetable", status="archived"),
        node(3, "Only named", known=False, status=""),
    ),
    (edge(0, "depends-on", 1), edge(0, "supersedes", 2), edge(3, "uses", 0), edge(0, "replaces", 0)),
)


def drawn(picture: str) -> str:
    """Return an expected drawing: without the empty line above it and the spaces that end its lines."""
    return "\n".join(line.rstrip() for line in picture.strip("\n").splitlines())


def test_one_hop_at_78_by_20() -> None:
    assert shown(draw_neighbourhood(HARBOR, 78, 20)) == drawn(
        """
                                                               ╭ tool ───────╮
                                           ╭── uses ──────────▶│ FastAPI     │
╭ tool ─────╮                              ├── decided-on ────▶│             │
│ Nora      ├───── develops ─▶╮            │                   ╰─────────────╯
╰───────────╯                 │            │
                              │            │                   ╭ tool ───────╮
╭ tool ─────╮                 │            ├── uses ──────────▶│ Grafana     │
│ Sam       ├────── reviews ─▶┤ ┏ tool ━━┓ │                   ╰─────────────╯
│ also uses │                 ├─┨ Harbor ┠─┤
│ FastAPI   │                 │ ┗━━━━━━━━┛ │                   ╭ tool ───────╮
╰───────────╯                 │            ├── depends-on ────▶│ Storm surge │
                              │            │                   │ model       │
╭ tool ─────╮                 │            │                   ╰─────────────╯
│ 港の予報  ├────── part-of ─▶╯            │
╰───────────╯                              │                   ╭ tool ───────╮
                                           ╰── supersedes ────▶│ Harbor 1    │
                                                               ╰─────────────╯
"""
    )


def test_one_hop_with_room_and_another_box_chosen() -> None:
    assert shown(draw_neighbourhood(HARBOR, 110, 36, chosen=id_of(3))) == drawn(
        """
                                                                                        ┏ tool ━━━━━━━━━━━━━┓
                                                             ╭── uses, decided-on ─────▶┃ FastAPI           ┃
         ╭ tool ─────────────╮                               │                          ┗━━━━━━━━━━━━━━━━━━━┛
         │ Nora              ├────── develops ─▶╮            │
         ╰───────────────────╯                  │            │                          ╭ tool ─────────────╮
                                                │            ├── uses ─────────────────▶│ Grafana           │
         ╭ tool ─────────────╮                  │ ╔ tool ══╗ │                          ╰───────────────────╯
         │ Sam               ├─────── reviews ─▶┼─╢ Harbor ╟─┤
         │ also uses FastAPI │                  │ ╚════════╝ │                          ╭ tool ─────────────╮
         ╰───────────────────╯                  │            ├── depends-on ───────────▶│ Storm surge model │
                                                │            │                          ╰───────────────────╯
         ╭ tool ─────────────╮                  │            │
         │ 港の予報          ├─────── part-of ─▶╯            │                          ╭ tool ─────────────╮
         ╰───────────────────╯                               ╰── supersedes ───────────▶│ Harbor 1          │
                                                                                        ╰───────────────────╯
"""
    )


def test_two_hops_in_columns() -> None:
    assert shown(draw_neighbourhood(TWO_HOPS, 116, 30)) == drawn(
        """
                                                                               ╭ tool ───────╮
                                                                ╭── uses ─────▶│ Grafana     │
 ╭ tool ──────╮                ╭ tool ╮              ┏ tool ━━┓ │              ╰─────────────╯
 │ Gothenburg │◀─ relates-to ──┤ Nora ├── develops ─▶┃ Harbor ┠─┤
 ╰────────────╯                ╰──────╯              ┗━━━━━━━━┛ │              ╭ tool ───────╮             ╭ tool ╮
                                                                ╰─ depends-on ▶│ Storm model │◀─ part-of ──┤ SWAN │
                                                                               ╰─────────────╯             ╰──────╯
"""
    )


def test_two_hops_hanging_below_the_first() -> None:
    assert shown(draw_neighbourhood(TWO_HOPS, 94, 20)) == drawn(
        """
                                                                        ╭ tool ───╮
                                                        ╭── uses ──────▶│ Grafana │
                      ╭ tool ╮               ┏ tool ━━┓ │               ╰─────────╯
                      │ Nora ├─── develops ─▶┃ Harbor ┠─┤
                      ╰─────┬╯               ┗━━━━━━━━┛ │               ╭ tool ───────╮
╭ tool ──────╮              │                           ╰── depends-on ▶│ Storm model │
│ Gothenburg │◀ relates-to ─╯                                           ╰┬────────────╯
╰────────────╯                                                           │           ╭ tool ╮
                                                                         ╰◀ part-of ─┤ SWAN │
                                                                                     ╰──────╯
"""
    )


def test_two_hops_below_one_another() -> None:
    assert shown(draw_neighbourhood(TWO_HOPS, 60, 20)) == drawn(
        """
[▸Harbor◂]
 ├◀─ develops ──[ Nora ]
 │               ╰─ relates-to ▶[ Gothenburg ]
 ├── uses ─────▶[ Grafana ]
 ╰─ depends-on ▶[ Storm model ]
                 ╰◀ part-of ─[ SWAN ]
"""
    )


def test_a_clique_tells_in_words_what_would_cross() -> None:
    assert shown(draw_neighbourhood(CLIQUE, 78, 20)) == drawn(
        """
                                                   ╭ tool ───────────────────╮
                                   ╭── knows ─────▶│ Ben                     │
                                   │               │ also knows Cy, Dee, Eve │
                                   │               ╰─────────────────────────╯
                                   │
                                   │               ╭ tool ───────────────────╮
                                   ├── knows ─────▶│ Cy                      │
                          ┏ tool ┓ │               │ also knows Dee, Eve     │
                          ┃ Ada  ┠─┤               ╰─────────────────────────╯
                          ┗━━━━━━┛ │
                                   │               ╭ tool ───────────────────╮
                                   ├── knows ─────▶│ Dee                     │
                                   │               │ also knows Eve          │
                                   │               ╰─────────────────────────╯
                                   │
                                   │               ╭ tool ───────────────────╮
                                   ╰── knows ─────▶│ Eve                     │
                                                   ╰─────────────────────────╯
"""
    )


def test_status_missing_files_and_relations_to_itself() -> None:
    assert shown(draw_neighbourhood(MARKS, 78, 20)) == drawn(
        """
                                                             ╭ tool ─────────╮
                        ┏ tool ━━━━━━━━━━━━━┓ ╭─ supersedes ▶│ Old timetable │
╭ tool ╌╌╌╌╌╌╮          ┃ Ferry             ┃ │              ╰───── archived ╯
┆ Only named ├── uses ─▶┃ ↺ replaces itself ┠─┤
╰╌╌╌╌╌╌╌╌╌╌╌╌╯          ┗━━━━━━━━━━━━━━━━━━━┛ │              ╭ tool ─────────╮
                                              ╰─ depends-on ▶│ Tides         │
                                                             ╰─────── pinned ╯
"""
    )


def test_many_neighbours_share_boxes() -> None:
    assert shown(draw_neighbourhood(many(40, 30), 78, 12)) == drawn(
        """
           [ N41 ]────── part-of ─▶╮        ╭── uses ─────▶[ N1 ]
           [ N42 ]────── part-of ─▶┤        ├── uses ─────▶[ N2 ]
           [ N43 ]────── part-of ─▶┤        ├── uses ─────▶[ N3 ]
           [ N44 ]────── part-of ─▶┤        ├── uses ─────▶[ N4 ]
           [ N45 ]────── part-of ─▶┤        ├── uses ─────▶[ N5 ]
           [ N46 ]────── part-of ─▶┼─[▸N0◂]─┼── uses ─────▶[ N6 ]
           [ N47 ]────── part-of ─▶┤        ├── uses ─────▶[ N7 ]
           [ N48 ]────── part-of ─▶┤        ├── uses ─────▶[ N8 ]
           [ N49 ]────── part-of ─▶┤        ├── uses ─────▶[ N9 ]
           [ N50 ]────── part-of ─▶┤        ├── uses ─────▶[ N10 ]
[ ⊞ 20 × part-of ]────────────────▶╯        ╰─────────────▶[ ⊞ 30 × uses ]
"""
    )


def test_no_room_for_boxes() -> None:
    assert shown(draw_neighbourhood(HARBOR, 30, 5)) == drawn(
        """
▌Harbor
├─← develops ── Nora
├─← reviews ── Sam (also uses
│   FastAPI)
├─← part-of ── 港の予報
├─→ uses, decided-on ──
│   FastAPI
├─→ uses ── Grafana
├─→ depends-on ──
│   Storm surge model
└─→ supersedes ── Harbor 1
"""
    )


def test_a_compact_tree_puts_what_is_related_alike_on_one_line() -> None:
    assert shown(draw_compact(TWO_HOPS, 60, chosen=id_of(4))) == drawn(
        """
 Harbor
├─← develops ── Nora
│  └─→ relates-to ──▌Gothenburg
├─→ uses ── Grafana
└─→ depends-on ── Storm model
   └─← part-of ── SWAN
"""
    )


def test_a_plain_tree_says_in_words_where_relations_point() -> None:
    assert shown(draw_compact(TWO_HOPS, 60, plain=True)) == drawn(
        """
▌Harbor
  develops it: Nora
     it relates-to: Gothenburg
  it uses: Grafana
  it depends-on: Storm model
     part-of it: SWAN
"""
    )


def test_a_way_turns_back_at_the_edge() -> None:
    assert shown(draw_path(chain(6), 78, 20)) == drawn(
        """
       ┏ tool ┓          ╭ tool ╮             ╭ tool ╮
       ┃ N0   ┃◀─ uses ──┤ N1   ├── part-of ─▶│ N2   ├── depends-on ──╮
       ┗━━━━━━┛          ╰──────╯             ╰──────╯                │
                                                                      │
                 ╭ tool ╮           ╭ tool ╮                ╭ tool ╮  │
                 │ N5   │◀─ knows ──┤ N4   ├── decided-on ─▶│ N3   │◀─╯
                 ╰──────╯           ╰──────╯                ╰──────╯
"""
    )


def test_a_pinned_centre_says_so_below_its_name_and_stays_where_it_was() -> None:
    pinned = replace(HARBOR, nodes=(replace(HARBOR.nodes[0], status="pinned"), *HARBOR.nodes[1:]))
    for width in range(50, 90):
        before, after = draw_neighbourhood(HARBOR, width, 12), draw_neighbourhood(pinned, width, 12)
        assert is_beside(before) == is_beside(after), width
    lines = shown(draw_neighbourhood(pinned, 70, 12)).splitlines()
    assert any("┏▸Harbor◂┓" in line for line in lines)
    assert any("┗ pinned ┛" in line for line in lines)


def is_beside(picture: Picture) -> bool:
    """Return whether some box stands to the left of the centre."""
    return any(each.x < picture.regions[picture.home].x for each in picture.regions.values())
