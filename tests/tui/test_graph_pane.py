"""The graph browser over a real workspace: the table, the drawing, walking, filtering, ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from tests.tui.graph_hands import (
    boxes,
    detail,
    drawn,
    head,
    keys_shown,
    listed,
    pane_of,
    press,
    toasts,
)
from tests.tui.seen_workspace import (
    ALONE,
    BELIEVED,
    FERRY,
    INES,
    LEARNED_FROM,
    MEI,
    NOW,
    TIDES,
    TIMETABLE,
    WITHOUT_FILE,
    YUSUF,
    looking,
)
from tests.tui.stillness import settle
from workbench.engine import FixedClock, Workspace
from workbench.engine.results.graph import EntityTable, GraphView
from workbench.tui.app import BenchApp
from workbench.tui.workspace_bench import WorkspaceBench

LISBON = "entity:place--lisbon"


async def test_the_pane_opens_at_the_table_with_the_best_connected_first(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "6")
        assert listed(pilot)[0] == FERRY
        assert set(listed(pilot)) >= {FERRY, INES, TIDES, TIMETABLE, MEI, YUSUF, ALONE}
        assert WITHOUT_FILE not in listed(pilot)
        assert "links▾" in head(pilot)
        assert "The ferry sails by the tide tables of the harbour" in detail(pilot)


async def test_the_table_is_sorted_by_key_and_by_click(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "6", "s")
        assert "score▾" in head(pilot)
        scores = {row.id: row.score for row in seen.graph_entities().entities}
        shown = [scores[key] for key in listed(pilot)]
        assert shown == sorted(shown, reverse=True)
        await pilot.click("#graph-head", offset=(4, 0))
        await settle(pilot)
        assert "name▾" in head(pilot)
        labels = {row.id: row.label.casefold() for row in seen.graph_entities().entities}
        names = [labels[key] for key in listed(pilot)]
        assert names == sorted(names)


async def test_the_cursor_stays_on_its_entity_when_the_order_changes(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "6", "down", "down")
        before = pane_of(pilot).list.cursor_key
        await press(pilot, "s", "s", "s")
        assert pane_of(pilot).list.cursor_key == before


async def test_the_table_is_filtered_by_words_type_score_and_relation(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "6", "slash", "=type:pers")
        assert all("person--" in key for key in listed(pilot))
        await press(pilot, "= rel", "escape")
        await press(pilot, "slash", "=relation:prefers")
        assert set(listed(pilot)) == {INES, "entity:tool--radio"}
        await press(pilot, "escape", "slash", "=score:>0.99")
        scores = {row.id: row.score for row in seen.graph_entities().entities}
        assert set(listed(pilot)) == {key for key, score in scores.items() if score >= 0.99}
        await press(pilot, "escape")
        assert len(listed(pilot)) == len(scores)


async def test_enter_draws_an_entity_and_escape_leads_back_to_its_row(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "6", "enter")
        assert boxes(pilot) >= {FERRY, INES, TIDES, TIMETABLE, YUSUF, WITHOUT_FILE}
        assert "Inês Duarte" in drawn(pilot)
        assert "9 around it · 1 hop" in head(pilot)
        await press(pilot, "escape")
        assert pane_of(pilot).list.has_focus
        assert pane_of(pilot).list.cursor_key == FERRY


async def test_arrows_walk_and_the_detail_follows(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        pane = pane_of(pilot)
        assert pane.here() == FERRY
        await press(pilot, "right")
        there = pane.here()
        assert there != FERRY
        label = next(node.label for node in seen.graph(FERRY).nodes if node.id == there)
        assert detail(pilot).splitlines()[0].startswith(("◇", "◆", "◌"))
        assert label in detail(pilot).splitlines()[0]
        await press(pilot, "down")
        assert pane.here() not in (FERRY, there)


async def test_enter_makes_a_neighbour_the_centre_and_backspace_leads_back_to_where_one_left(
    seen: Workspace,
) -> None:
    async with looking(seen, target=FERRY) as pilot:
        pane = pane_of(pilot)
        assert pane.canvas.choose(TIMETABLE)
        await press(pilot, "enter")
        assert head(pilot).startswith("Around Timetable")
        assert pane.here() == TIMETABLE
        assert MEI in boxes(pilot)
        await press(pilot, "backspace")
        assert head(pilot).startswith("Around Ferry")
        assert pane.here() == TIMETABLE
        await press(pilot, "right_square_bracket")
        assert head(pilot).startswith("Around Timetable")


async def test_two_hops_show_what_lies_behind_the_neighbours(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        assert MEI not in boxes(pilot)
        await press(pilot, "plus")
        assert "2 hops" in head(pilot)
        assert MEI in boxes(pilot)
        await press(pilot, "minus")
        assert MEI not in boxes(pilot)


async def test_the_filter_of_a_drawing_hides_and_says_how_many(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        await press(pilot, "slash", "=relation:use")
        assert boxes(pilot) == {FERRY, "entity:tool--radar", "entity:tool--radio", WITHOUT_FILE}
        assert "6 hidden by the filter" in head(pilot)
        await press(pilot, "escape", "slash", "=type:person duarte")
        assert boxes(pilot) == {FERRY, INES}
        await press(pilot, "escape")
        assert "hidden" not in head(pilot)
        await press(pilot, "slash", "=after:2026-01", "enter")
        assert boxes(pilot) == {FERRY}
        assert pane_of(pilot).canvas.has_focus


async def test_the_filter_stays_while_one_walks(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        await press(pilot, "slash", "=-type:tool", "enter")
        assert WITHOUT_FILE not in boxes(pilot)
        assert pane_of(pilot).canvas.choose(INES)
        await press(pilot, "enter")
        assert head(pilot).startswith("Around Inês Duarte")
        assert "entity:tool--radio" not in boxes(pilot)
        await press(pilot, "escape")
        assert "entity:tool--radio" in boxes(pilot)


async def test_a_way_to_another_entity_is_drawn_and_can_be_walked(seen: Workspace) -> None:
    async with looking(seen, target=MEI) as pilot:
        await press(pilot, "c", "=yus")
        assert "Nothing matches" in "".join(map(str, pilot.app.screen._compositor.render_strips()))
        await press(pilot, *["backspace"] * 3, "=duarte", "enter")
        assert head(pilot).startswith("From 陈美 to Inês Duarte")
        assert "3 steps" in head(pilot)
        assert boxes(pilot) == {MEI, TIMETABLE, FERRY, INES}
        assert pane_of(pilot).canvas.choose(TIMETABLE)
        await press(pilot, "enter")
        assert head(pilot).startswith("Around Timetable")
        await press(pilot, "left_square_bracket")
        assert head(pilot).startswith("From 陈美")
        await press(pilot, "escape")
        assert head(pilot).startswith("Around 陈美")


async def test_where_no_way_leads_it_says_so(seen: Workspace) -> None:
    async with looking(seen, target=ALONE) as pilot:
        assert boxes(pilot) == {ALONE}
        await press(pilot, "c", "=ferry", "enter")
        assert "no way" in head(pilot)
        assert "No way leads from one to the other." in "".join(
            segment.text for strip in pilot.app.screen._compositor.render_strips() for segment in strip
        )
        await press(pilot, "down", "enter", "escape")
        assert head(pilot).startswith("Around Berlenga")


async def test_relations_and_sources_are_walked_in_the_detail(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        pane = pane_of(pilot)
        await press(pilot, "enter")
        assert pane.detail.has_focus
        first = pane.detail.focused_link
        assert first.startswith(f"{FERRY}#^")
        await press(pilot, "down")
        assert pane.detail.focused_link not in ("", first)
        while not pane.detail.focused_link.startswith("relation:"):
            await press(pilot, "tab")
        assert pane.detail.focused_link == f"relation:{FERRY}|depends-on|{TIMETABLE}"
        await press(pilot, "enter")
        assert head(pilot).startswith("Around Timetable")
        await press(pilot, "backspace", "tab")
        while pane.detail.focused_link != LEARNED_FROM:
            await press(pilot, "tab")
        await press(pilot, "enter")
        assert cast("BenchApp", pilot.app).pane.id == "timeline"


async def test_a_fact_opens_by_itself(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        await press(pilot, "tab", "enter")
        assert type(pilot.app.screen).__name__ == "MemoryScreen"
        await press(pilot, "escape")
        assert pane_of(pilot).detail.has_focus


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize(
    ("target", "link"),
    [(BELIEVED, BELIEVED), (f"{FERRY}#^rrad", f"relation:{FERRY}|uses|entity:tool--radar")],
)
async def test_a_fact_or_relation_told_by_its_id_is_shown_in_its_entity(
    seen: Workspace, size: tuple[int, int], target: str, link: str
) -> None:
    async with looking(seen, size, target=target) as pilot:
        pane = pane_of(pilot)
        assert pane.detail.has_focus
        assert pane.detail.focused_link == link
        await press(pilot, "escape")
        assert head(pilot).startswith("Around Ferry")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_going_into_the_detail_chooses_its_first_fact(seen: Workspace, size: tuple[int, int]) -> None:
    async with looking(seen, size, target=FERRY) as pilot:
        pane = pane_of(pilot)
        await press(pilot, "tab")
        assert pane.detail.focused_link == f"{FERRY}#^frun"
        await press(pilot, "down")
        assert pane.detail.focused_link == BELIEVED
        await press(pilot, "up")
        assert pane.detail.focused_link == f"{FERRY}#^frun"


async def test_what_only_a_relation_names_can_be_looked_at(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        assert pane_of(pilot).canvas.choose(WITHOUT_FILE)
        await settle(pilot)
        assert "It has no file of its own" in detail(pilot)
        await press(pilot, "enter")
        assert cast("BenchApp", pilot.app).pane.id == "graph"
        assert not [each for each in toasts(pilot) if "Traceback" in each]


async def test_a_place_that_is_gone_is_told_and_leads_to_the_table(seen: Workspace) -> None:
    async with looking(seen, target="entity:person--nobody") as pilot:
        assert any("nobody" in each for each in toasts(pilot))
        assert pane_of(pilot).list.has_focus
        assert listed(pilot)


async def test_memory_that_changes_meanwhile_keeps_cursor_and_centre(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        pane = pane_of(pilot)
        assert pane.canvas.choose(TIMETABLE)
        await settle(pilot)
        seen.graph_add_fact(TIMETABLE, "The timetable hangs on the pier.")
        seen.graph_link(FERRY, "relates-to", ALONE)
        cast("BenchApp", pilot.app).post_message(BenchApp.MemoryChanged())
        await settle(pilot)
        assert pane.here() == TIMETABLE
        assert ALONE in boxes(pilot)
        assert "The timetable hangs on the pier." in detail(pilot)


async def test_an_entity_that_is_merged_meanwhile_is_shown_as_what_it_became(seen: Workspace) -> None:
    async with looking(seen, target="entity:person--ines") as pilot:
        seen.graph_merge(INES, "entity:person--ines")
        cast("BenchApp", pilot.app).post_message(BenchApp.MemoryChanged())
        await settle(pilot)
        assert head(pilot).startswith("Around Inês Duarte")
        assert any("is part of Inês Duarte now" in each for each in toasts(pilot))


async def test_an_entity_that_is_deleted_meanwhile_leads_to_the_table(seen: Workspace) -> None:
    async with looking(seen, target=ALONE) as pilot:
        (seen.root / "memory/graph/entities/place--berlenga.md").unlink()
        seen.refresh()
        cast("BenchApp", pilot.app).post_message(BenchApp.MemoryChanged())
        await settle(pilot)
        assert pane_of(pilot).list.has_focus
        assert ALONE not in listed(pilot)


async def test_the_mouse_chooses_opens_and_goes_back(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        pane = pane_of(pilot)
        region = pane.canvas.picture.regions[TIDES]
        spot = (region.x + 4, region.y)
        await pilot.click("#graph-canvas", offset=spot)
        await settle(pilot)
        assert pane.here() == TIDES
        await pilot.double_click("#graph-canvas", offset=spot)
        await settle(pilot)
        assert head(pilot).startswith("Around Tide tables")


async def test_the_view_switches_between_the_table_and_the_drawing(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "6", "down", "t")
        centre = pane_of(pilot).here()
        assert pane_of(pilot).canvas.has_focus
        await press(pilot, "t")
        assert pane_of(pilot).list.cursor_key == centre
        await press(pilot, "t", "2", "6")
        assert pane_of(pilot).canvas.has_focus
        assert pane_of(pilot).here() == centre


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (96, 40), (120, 40), (200, 50)])
async def test_every_size_shows_list_drawing_and_detail(seen: Workspace, size: tuple[int, int]) -> None:
    async with looking(seen, size) as pilot:
        await press(pilot, "6", "enter")
        assert pane_of(pilot).canvas.size.width > 40
        assert boxes(pilot) >= {FERRY, INES}
        await press(pilot, "tab")
        assert pane_of(pilot).detail.has_focus
        assert pane_of(pilot).detail.size.height > 3
        await press(pilot, "escape")
        assert pane_of(pilot).canvas.has_focus
        assert keys_shown(pilot)["view"] == "t"


async def test_the_palette_finds_entities_by_name(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "ctrl+p", "=tide tables")
        from workbench.tui.widgets.virtual_list import VirtualList

        found = pilot.app.screen.query_one(VirtualList)
        assert TIDES in [found.rows.key(at) for at in range(len(found.rows))]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "empty"
    Workspace.init(root)
    with Workspace.open(root, role="person", clock=FixedClock(NOW)) as opened:
        yield opened


async def test_an_empty_graph_says_how_entities_come_to_be(empty: Workspace) -> None:
    async with looking(empty) as pilot:
        await press(pilot, "6")
        text = "".join(
            segment.text for strip in pilot.app.screen._compositor.render_strips() for segment in strip
        )
        assert "The graph is empty." in text
        assert "remember" in text
        assert set(keys_shown(pilot)) & {"path", "read", "view", "link"} == set()
        await press(pilot, "n", "=person: Mira", "enter")
        assert head(pilot).startswith("Around Mira")
        assert boxes(pilot) == {"entity:person--mira"}


class _Crowded(WorkspaceBench):
    """A workspace in which the ferry has to do with many people, grouped in its drawing."""

    def graph(self, entity: str, *, depth: int = 1, **narrowed: object) -> GraphView:
        view = super().graph(entity, depth=depth, **narrowed)  # type: ignore[arg-type]  # passed on as given
        if view.center != FERRY:
            return view
        one = next(node for node in view.nodes if node.id == YUSUF)
        edge = next(edge for edge in view.edges if edge.from_ == YUSUF)
        people = [f"entity:person--p{number}" for number in range(60)]
        return replace(
            view,
            nodes=view.nodes + tuple(replace(one, id=each, label=each[-3:]) for each in people),
            edges=view.edges + tuple(replace(edge, from_=each, id="") for each in people),
        )

    def entities(self) -> EntityTable:
        table = super().entities()
        one = next(row for row in table.entities if row.id == YUSUF)
        people = [
            replace(one, id=f"entity:person--p{number}", label=f"p{number}", aliases=())
            for number in range(60)
        ]
        return replace(table, entities=(*table.entities, *people))


async def test_a_box_of_many_opens_as_a_table_of_them_and_escape_leads_back(seen: Workspace) -> None:
    app = BenchApp(_Crowded(seen), target=FERRY)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        group = next(key for key in boxes(pilot) if key.startswith("group:"))
        pane = pane_of(pilot)
        assert pane.canvas.choose(group)
        await settle(pilot)
        assert "enter lists them in the table" in detail(pilot)
        await press(pilot, "enter")
        assert head(pilot).startswith("All of ")
        members = set(listed(pilot))
        assert members
        assert members < {row.id for row in app.bench.entities().entities}
        await press(pilot, "escape")
        assert head(pilot).startswith("Around Ferry")
        assert pane.here() == group
