"""Workspaces of OpenClaw: curated memory with its annotations, daily logs, and what is no memory."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from tests.engine.transfer.reading_all import ZONE, notes, pieces, read_all, skipped, write

MEMORY = """# Memory

## Preferences
- Prefers metric units. <!-- trigger: units, report --> <!-- importance: 6 -->
- Drinks tea
  - green, in the morning

## Promoted From Short-Term Memory (2026-05-14)
<!-- openclaw-memory-promotion:memory:memory/2026-05-12.md:3:5 -->
- Staging host moved to eu-2. [score=0.812 signals=5 recalls=3 avg=0.640 source=memory/2026-05-12.md:3-5]

## Consolidated Memory (2026-09-01)
<!-- openclaw-memory-lineage:memory:claim:0a1b2c3d4e5f -->
- Deploys happen on Tuesdays. Source: memory/2026-08-30.md#L4-L6

A loose paragraph.
"""
USER = """<!-- observed: 2026-01-10 | status: active -->
- Call me Sam
<!-- observed: 2026-01-09 | status: superseded -->
- Call me Samuel
"""
LOG = "# 2026-05-12\n\n- Took the tram\n\n## 14:20 Deploy\nDeployed to eu-2.\n"


def workspace(tmp_path: Path) -> Path:
    return write(
        tmp_path / "clawd",
        {
            "MEMORY.md": MEMORY,
            "USER.md": USER,
            "SOUL.md": "# Soul\n",
            "DREAMS.md": "Last night …\n",
            "memory/2026-05-12.md": LOG,
            "memory/people/sam.md": "# Sam\n\nBakes bread.\n",
            "memory/.dreams/short-term-recall.json": "{}",
            "memory/heartbeat-state.json": "{}",
            "notes.txt": "not memory\n",
        },
    )


def test_it_is_recognised(tmp_path: Path) -> None:
    from workbench.engine.transfer.recognition import open_source

    assert open_source(workspace(tmp_path)).form == "openclaw"


def test_curated_items_come_without_annotations_and_dated_by_them(tmp_path: Path) -> None:
    found = {piece.text: piece for piece in pieces(read_all(workspace(tmp_path)))}
    assert found["Prefers metric units."].tags == ("units", "report", "Preferences")
    assert found["Prefers metric units."].is_dated is False
    assert found["Staging host moved to eu-2."].moment == datetime(2026, 5, 12, 12, tzinfo=ZONE)
    assert found["Deploys happen on Tuesdays."].moment == datetime(2026, 8, 30, 12, tzinfo=ZONE)
    assert found["Call me Sam"].moment == datetime(2026, 1, 10, 12, tzinfo=ZONE)
    assert found["A loose paragraph."].moment == datetime(2026, 9, 1, 12, tzinfo=ZONE)
    assert "Drinks tea\n- green, in the morning" in found
    assert not any("openclaw-memory" in text for text in found)


def test_every_piece_says_where_it_stands(tmp_path: Path) -> None:
    where = {piece.text.splitlines()[0]: str(piece.place) for piece in pieces(read_all(workspace(tmp_path)))}
    assert where["Drinks tea"] == "MEMORY.md#L5-L6"
    assert where["Call me Sam"] == "USER.md#L2"
    assert where["- Took the tram"] == "memory/2026-05-12.md#L3"


def test_a_log_comes_stretch_by_stretch_at_its_times(tmp_path: Path) -> None:
    found = [piece for piece in pieces(read_all(workspace(tmp_path))) if "2026-05-12" in piece.place.file]
    assert [(piece.text, piece.moment) for piece in found] == [
        ("- Took the tram", datetime(2026, 5, 12, 12, tzinfo=ZONE)),
        ("14:20 Deploy\nDeployed to eu-2.", datetime(2026, 5, 12, 14, 20, tzinfo=ZONE)),
    ]


def test_other_documents_are_notes_and_the_rest_is_told(tmp_path: Path) -> None:
    items = read_all(workspace(tmp_path))
    assert [note.path for note in notes(items)] == ["people/sam.md"]
    told = skipped(items)
    assert set(told) == {"SOUL.md", "DREAMS.md", "USER.md#L4"}
    assert "superseded" in told["USER.md#L4"]


def test_episodes_of_a_workbench_keep_their_kind(tmp_path: Path) -> None:
    log = "# 2026-02-01 — Episode Log\n\n## 09:15 | decision | confidence:low | tags:[a, b]\nBackups run at night.\n"
    place = write(tmp_path / "old", {"MEMORY.md": "# M\n", "memory/episodes/2026-02-01.md": log})
    (piece,) = pieces(read_all(place))
    assert (piece.type, piece.confidence, piece.tags) == ("decision", "low", ("a", "b"))
    assert piece.moment == datetime(2026, 2, 1, 9, 15, tzinfo=ZONE)


def test_links_lead_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Nobody shall read this.\n", encoding="utf-8")
    place = workspace(tmp_path)
    (place / "memory" / "linked.md").symlink_to(secret)
    items = read_all(place)
    assert "links are never followed" in skipped(items)["memory/linked.md"]
    assert not any("Nobody" in note.text for note in notes(items))


def test_what_is_no_text_is_told_and_hides_nothing(tmp_path: Path) -> None:
    place = write(workspace(tmp_path), {"memory/2026-05-13.md": b"good\n\xff\xfebad\n"})
    items = read_all(place)
    assert "no UTF-8 text (line 2)" in skipped(items)["memory/2026-05-13.md"]
    assert any(piece.text == "Call me Sam" for piece in pieces(items))


def test_every_item_knows_its_headings_however_many_there_are(tmp_path: Path) -> None:
    said = "# All\n\n" + "".join(
        f"## Part {n}\n- item {n}\n### Deeper {n}\nSaid {n}.\n" for n in range(2_000)
    )
    found = pieces(read_all(write(tmp_path / "w", {"MEMORY.md": said, "memory/2026-01-01.md": ""})))
    assert len(found) == 4_000
    tags = {piece.text: piece.tags for piece in found}
    assert (tags["item 1999"], tags["Said 1999."]) == (("Part 1999",), ("Deeper 1999",))
