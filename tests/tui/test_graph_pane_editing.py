"""What is changed from the graph browser over a real workspace: one commit each, told, and undone with u."""

from __future__ import annotations

from typing import cast

import pytest

from tests.tui.graph_hands import (
    boxes,
    choose,
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
    TIMETABLE,
    looking,
    open_seen,
)
from workbench.display.cells import plain
from workbench.engine import FixedClock, Workspace
from workbench.tui.app import BenchApp

SHED = "entity:person--ines"
FERRY_FILE = "memory/graph/entities/project--ferry.md"


def commits(workspace: Workspace) -> int:
    return len({entry.commit for entry in workspace.audit_log().entries})


def text_of(workspace: Workspace, path: str = FERRY_FILE) -> str:
    return (workspace.root / path).read_text(encoding="utf-8")


async def test_a_fact_is_added_in_one_commit_and_taken_back(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        before = commits(seen)
        await press(pilot, "n", "=The ferry has two lifeboats", "enter")
        assert "The ferry has two lifeboats" in detail(pilot)
        assert commits(seen) == before + 1
        assert any("Added" in each for each in toasts(pilot))
        await press(pilot, "u")
        assert "lifeboats" not in detail(pilot).partition("History")[0]
        assert "lifeboats" not in text_of(seen)


async def test_leaving_the_question_adds_nothing(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        before = commits(seen)
        await press(pilot, "n", "=half a thought", "escape")
        await press(pilot, "n", "enter", "escape")
        assert commits(seen) == before


async def test_a_fact_is_retired_where_the_cursor_is(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        assert "retire" not in keys_shown(pilot)
        await choose(pilot, BELIEVED)
        assert keys_shown(pilot)["retire"] == "x"
        await press(pilot, "x")
        facts, _, superseded = detail(pilot).partition("Superseded")
        assert "The ferry sails by the tide tables" not in facts
        assert "The ferry sails by the tide tables" in superseded
        await choose(pilot, BELIEVED)
        assert "retire" not in keys_shown(pilot)


async def test_a_relation_is_retired_or_removed_where_the_cursor_is(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        await choose(pilot, f"relation:{FERRY}|uses|entity:tool--radar")
        await press(pilot, "x")
        assert "entity:tool--radar" not in boxes(pilot)
        assert "uses: [[tool--radar]]" in text_of(seen)
        await press(pilot, "u")
        assert "entity:tool--radar" in boxes(pilot)
        await choose(pilot, f"relation:{FERRY}|uses|entity:tool--radio")
        assert keys_shown(pilot)["remove"] == "X"
        await press(pilot, "X")
        assert "entity:tool--radio" not in boxes(pilot)
        assert "tool--radio" not in text_of(seen)
        await press(pilot, "u")
        assert "entity:tool--radio" in boxes(pilot)


async def test_an_incoming_relation_is_removed_from_the_file_that_says_it(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        await choose(pilot, f"relation:{INES}|develops|{FERRY}")
        await press(pilot, "X")
        assert INES not in boxes(pilot)
        assert "project--ferry" not in text_of(seen, "memory/graph/entities/person--ines-duarte.md")


async def test_two_entities_are_related_by_a_word_and_a_name(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        before = commits(seen)
        await press(pilot, "l", "=depends", "enter", "=berl", "enter")
        assert ALONE in boxes(pilot)
        assert "depends-on: [[place--berlenga]]" in text_of(seen)
        assert commits(seen) == before + 1
        await press(pilot, "l", "=uses", "escape")
        await press(pilot, "l", "=uses", "enter", "=berl", "escape")
        assert commits(seen) == before + 1


async def test_an_entity_is_renamed_and_keeps_its_id(seen: Workspace) -> None:
    async with looking(seen, target=TIMETABLE) as pilot:
        await press(pilot, "R", "=Summer plan", "enter")
        assert head(pilot).startswith("Around Summer plan")
        assert "also Timetable" in detail(pilot)
        await press(pilot, "u")
        assert head(pilot).startswith("Around Timetable")


async def test_an_entity_is_added_from_the_table_and_shown(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "6", "n", "=Rui", "enter")
        assert "A type, a colon and a name" in "".join(
            segment.text for strip in pilot.app.screen._compositor.render_strips() for segment in strip
        )
        await press(pilot, *["backspace"] * 3, "=person: Rui", "enter")
        assert boxes(pilot) == {"entity:person--rui"}
        assert "Nothing is known about it yet" in detail(pilot)
        await press(pilot, "u", "escape")
        assert "entity:person--rui" not in listed(pilot)


async def test_two_entities_become_one_and_are_parted_again(seen: Workspace) -> None:
    async with looking(seen, target=SHED) as pilot:
        before = commits(seen)
        await press(pilot, "m", "=duarte", "enter", "s", "w")
        assert commits(seen) == before + 1
        await press(pilot, "escape", "slash", "=ines", "enter")
        assert SHED not in listed(pilot)
        await press(pilot, "escape", "slash", "=duarte", "enter", "t")
        assert "Ines has the keys of the boat shed" in detail(pilot)
        assert keys_shown(pilot)["part"] == "M"
        await press(pilot, "M", "escape", "escape")
        assert SHED in listed(pilot)


async def test_a_merge_is_proposed_and_waits_in_the_inbox(seen: Workspace) -> None:
    async with looking(seen, target=INES) as pilot:
        await press(pilot, "m", "=ines", "down", "enter", "p")
        assert cast("BenchApp", pilot.app).status is not None
        assert cast("BenchApp", pilot.app).bench.status().to_decide == 1
        assert any("waits in the Inbox" in each for each in toasts(pilot))
        assert SHED in {row.id for row in seen.graph_entities().entities}


async def test_pinning_and_forgetting_act_on_the_entity_of_the_box(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        assert pane_of(pilot).canvas.choose(TIMETABLE)
        await press(pilot, "p")
        assert "pinned" in detail(pilot)
        status = {row.id: row.status for row in seen.graph_entities().entities}
        assert status[TIMETABLE] == "pinned"
        assert status[FERRY] != "pinned"
        await press(pilot, "u")
        assert "pinned" not in detail(pilot).splitlines()[1]


async def test_marked_rows_are_pinned_together(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "6", "space", "space")
        marked = listed(pilot)[:2]
        await press(pilot, "p")
        status = {row.id: row.status for row in seen.graph_entities().entities}
        assert [status[each] for each in marked] == ["pinned", "pinned"]


async def test_the_id_of_the_chosen_fact_is_copied(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        await press(pilot, "y")
        assert pilot.app.clipboard == FERRY
        await choose(pilot, BELIEVED)
        await press(pilot, "y")
        assert pilot.app.clipboard == BELIEVED


async def test_a_reader_is_refused_with_a_reason(seen: Workspace) -> None:
    root, clock = seen.root, FixedClock(seen.now())
    seen.close()
    with open_seen(root, clock, "reader") as reader:
        async with looking(reader, target=FERRY) as pilot:
            before = text_of(reader)
            for keys in (
                ("n", "=a new fact", "enter"),
                ("R", "=another name", "enter"),
                ("l", "=uses", "enter", "=berl", "enter"),
                ("m", "=berl", "enter", "w"),
                ("p",),
            ):
                pilot.app.clear_notifications()
                await press(pilot, *keys)
                assert len(toasts(pilot)) == 1, keys
            await choose(pilot, BELIEVED)
            await press(pilot, "x")
            assert text_of(reader) == before
            assert "The ferry sails by the tide tables" in detail(pilot)


async def test_the_chosen_fact_is_edited_and_its_source_opened(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        await choose(pilot, BELIEVED)
        await press(pilot, "e", "=, mostly", "enter")
        assert "The ferry sails by the tide tables of the harbour, mostly" in " ".join(detail(pilot).split())
        assert "^fdep" in text_of(seen)
        await choose(pilot, BELIEVED)
        await press(pilot, "o")
        assert cast("BenchApp", pilot.app).pane.id == "timeline"
        assert cast("BenchApp", pilot.app).pane.list.cursor_key == LEARNED_FROM


async def test_a_link_to_elsewhere_is_not_what_an_action_is_about(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        await choose(pilot, LEARNED_FROM)
        await press(pilot, "y")
        assert pilot.app.clipboard == FERRY


NAMES = (
    "[/b] [bold]x",
    "x" * 120,
    "سفينة \u202e النهر",
    "👩\u200d👩\u200d👧 the crew",
    "船" * 80,
    "-o- --flag",
)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
async def test_an_entity_of_any_name_is_listed_drawn_related_and_merged(seen: Workspace, name: str) -> None:
    added = seen.graph_add("concept", name).ids[0]
    seen.graph_link(FERRY, "uses", added)
    async with looking(seen, (80, 24), target=FERRY) as pilot:
        pane = pane_of(pilot)
        assert pane.canvas.choose(added)
        await press(pilot, "enter", "enter", "escape", "plus", "l", "escape", "n", "escape", "R", "escape")
        assert boxes(pilot) >= {added, FERRY}
        await press(pilot, "c", "=ferry", "enter")
        assert "1 step" in head(pilot)
        await press(pilot, "escape", "m", "=berl", "enter", "s", "w")
        assert added not in {row.id for row in seen.graph_entities().entities}
        await press(pilot, "u", "escape")
        assert added in listed(pilot)


@pytest.mark.parametrize(
    "text", ["[/b] closes [bold]", "a \x1b[31m red \u202e word", "x" * 300, "日本語のフェリー"]
)
async def test_whatever_a_fact_says_is_shown_as_it_is(seen: Workspace, text: str) -> None:
    seen.graph_add_fact(FERRY, text)
    async with looking(seen, (80, 24), target=FERRY) as pilot:
        await press(pilot, "tab")
        shown = detail(pilot)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert plain(text).removeprefix("a ␛")[:8] in shown
        assert drawn(pilot)
