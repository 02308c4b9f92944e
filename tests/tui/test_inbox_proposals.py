"""The Inbox pane: what agents propose, decided at once and taken back, over a real workspace."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.tui.inbox_hands import detail, head, listed, pane
from tests.tui.proposed_workspace import MAY_2, MAY_16, RADAR, TEA, TIDES, asked, asked_template, propose
from tests.tui.seen_screen import app_of, file_text, newest, press, screen_text, toasts
from tests.tui.seen_workspace import NOW, looking, open_seen
from tests.tui.stillness import settle
from workbench.engine import FixedClock, Workspace
from workbench.tui.screens.ask import AskScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.find import FindScreen
from workbench.tui.views.proposed import AGENT_KEY

__all__ = ["asked", "asked_template"]

FILE = "memory/meta/pending-memories.md"
TIMETABLE = "memory/graph/entities/project--timetable.md"


def numbers(workspace: Workspace) -> list[int]:
    return [each.number for each in workspace.proposals().proposals]


def shown(pilot: Pilot[None]) -> str:
    """Return the detail as one line."""
    return " ".join(detail(pilot).split())


async def at(pilot: Pilot[None], number: int) -> None:
    """Go to a proposal, and wait until what it has to do with is there."""
    if not pane(pilot).list.go_to(f"proposal:{number}"):
        raise AssertionError(number)
    await settle(pilot)


async def test_what_agents_propose_is_listed_below_each_of_them(asked: Workspace) -> None:
    async with looking(asked, (160, 48)) as pilot:
        assert "◆ 6" in screen_text(pilot)
        await press(pilot, "5")
        text = listed(pilot)
        assert (
            text.index("⇢ researcher proposes")
            < text.index("Furuno of 2004")
            < text.index("⇢ planner proposes")
        )
        assert "3 of 3 undecided" in text
        assert "[ ] ≡ procedural" in text
        assert "≠ conflict #2" in text
        assert "◎ core #6" in text
        assert "6 proposals wait · a stores at once, u undoes" in head(pilot)
        assert pane(pilot).list.cursor_key == "proposal:1"
        assert "read the log" in detail(pilot)


async def test_approving_stores_at_once_goes_on_and_is_taken_back(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5", "a")
        assert numbers(asked) == [2, 3, 4, 5, 6]
        assert "accepted proposal #1" in newest(asked)
        assert "six minutes at Barreiro" in file_text(asked, "memory/graph/entities/concept--tide-tables.md")
        assert "Stored #1. u takes it back." in toasts(pilot)
        assert pane(pilot).list.cursor_key == "proposal:2"
        assert "◆ 5" in screen_text(pilot)
        await press(pilot, "u")
        assert numbers(asked)[0] == 1
        assert "six minutes at Barreiro" not in file_text(
            asked, "memory/graph/entities/concept--tide-tables.md"
        )
        assert pane(pilot).list.cursor_key == "proposal:1"


async def test_rejecting_asks_for_a_reason_which_may_be_left_out(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5", "r")
        assert isinstance(pilot.app.screen, AskScreen)
        await press(pilot, "escape")
        assert 1 in numbers(asked)
        await press(pilot, "r", *"old", "enter")
        assert 1 not in numbers(asked)
        assert "rejected proposal #1 — old" in newest(asked)
        await at(pilot, TEA)
        await press(pilot, "r", "enter")
        assert 5 not in numbers(asked)


async def test_deferring_leaves_it_to_the_reflection_and_no_longer_counts(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5", "d")
        assert "[>] ◇ semantic" in listed(pilot)
        assert "◆ 5" in screen_text(pilot)
        assert asked.proposals().proposals[0].status == "deferred"
        await at(pilot, TIDES)
        assert "left to the next reflection" in detail(pilot)
        await press(pilot, "backspace")
        assert "u takes it back" in toasts(pilot)


async def test_rewording_stores_the_other_words_and_keeps_a_draft(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5", "e", *" and spring", "escape")
        assert 1 in numbers(asked)
        assert pane(pilot).drafts() == 1
        await press(pilot, "e", "ctrl+s")
        assert 1 not in numbers(asked)
        text = file_text(asked, "memory/graph/entities/concept--tide-tables.md")
        assert "at Barreiro in winter and spring" in text
        assert pane(pilot).drafts() == 0


async def test_another_store_is_chosen_from_a_list(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5", "s", *"vault", "enter")
        assert 1 not in numbers(asked)
        assert "Stored #1 in the vault store." in toasts(pilot)
        assert asked.search("off by six minutes at Barreiro in winter", store="vault").results


async def test_storing_one_side_elsewhere_says_what_becomes_of_the_other(asked: Workspace) -> None:
    async with looking(asked, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, MAY_16)
        assert "store it elsewhere; #3 waits on" in detail(pilot)
        await press(pilot, "s", *"vault", "enter")
        assert "#3 still waits" in toasts(pilot)


async def test_two_proposals_stand_side_by_side_and_one_key_settles_both(asked: Workspace) -> None:
    async with looking(asked, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, MAY_16)
        beside = next(line for line in detail(pilot).splitlines() if "this, #4" in line)
        assert "that, #3 from planner" in beside
        assert "store #4, refuse #3" in detail(pilot)
        await press(pilot, "a")
        assert "Say which holds" in toasts(pilot)
        await press(pilot, "greater_than_sign")
        assert numbers(asked) == [1, 2, 5, 6]
        text = file_text(asked, TIMETABLE)
        assert "May 2 " in text
        assert "May 16" not in text
        await press(pilot, "u")
        assert numbers(asked) == [1, 2, 3, 4, 5, 6]


async def test_both_are_kept_less_sure(asked: Workspace) -> None:
    async with looking(asked, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, MAY_2)
        await press(pilot, "equals_sign")
        assert numbers(asked) == [1, 2, 5, 6]
        text = file_text(asked, TIMETABLE)
        assert text.count("confidence low") == 2
        assert "Which holds:" in text


async def test_below_each_other_where_it_is_narrow_and_memory_may_be_right(asked: Workspace) -> None:
    async with looking(asked, (110, 40)) as pilot:
        await press(pilot, "5")
        await at(pilot, RADAR)
        text = shown(pilot)
        assert text.index("The radar is a Furuno of 2004") < text.index("The radar is a Furuno of 1998")
        assert not any("this, #2" in line and "that, what" in line for line in detail(pilot).splitlines())
        assert "refuse #2; memory is right" in text
        await press(pilot, "greater_than_sign")
        assert 2 not in numbers(asked)
        assert "it contradicts entity:tool--radar#^ffur" in newest(asked)


async def test_what_holds_takes_the_place_of_what_memory_says(asked: Workspace) -> None:
    async with looking(asked, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, RADAR)
        assert "store #2, retire what memory says" in shown(pilot)
        await press(pilot, "less_than_sign")
        assert 2 not in numbers(asked)
        assert "One memory no longer holds" in toasts(pilot)
        radar = file_text(asked, "memory/graph/entities/tool--radar.md")
        assert radar.index("Furuno of 2004") < radar.index("## Superseded") < radar.index("Furuno of 1998")
        await press(pilot, "u")
        assert 2 in numbers(asked)
        radar = file_text(asked, "memory/graph/entities/tool--radar.md")
        assert "Furuno of 1998" in radar
        assert "Furuno of 2004" not in radar


async def test_both_hold_beside_each_other(asked: Workspace) -> None:
    async with looking(asked, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, RADAR)
        await press(pilot, "equals_sign")
        radar = file_text(asked, "memory/graph/entities/tool--radar.md")
        assert "Furuno of 1998" in radar.partition("## Superseded")[0]
        assert "Furuno of 2004" in radar


async def test_what_is_known_already_says_so(seen: Workspace) -> None:
    propose(
        seen.root, "planner", "The radio listens on channel 12", entities=["tool:Radio"], store="semantic"
    )
    async with looking(seen) as pilot:
        await press(pilot, "5")
        assert "= known #1" in listed(pilot)
        assert "Something says the same already." in shown(pilot)
        assert "entity:tool--radio#^fch1" in shown(pilot)


async def test_a_heading_asks_before_it_stores_several_and_leaves_contradictions(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5")
        assert pane(pilot).list.go_to(AGENT_KEY + "planner")
        await settle(pilot)
        assert "all 2 that contradict nothing" in shown(pilot)
        await press(pilot, "a")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        assert "1 in contradiction" in screen_text(pilot)
        await press(pilot, "s")
        assert numbers(asked) == [1, 2, 3, 4]
        await press(pilot, "u")
        assert numbers(asked) == [1, 2, 3, 4, 5, 6]


async def test_marked_ones_are_refused_in_one_commit(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5", "space", "space", "r", *"no", "enter")
        assert numbers(asked) == [3, 4, 5, 6]
        assert "rejected proposals #1, #2 — no" in newest(asked)


async def test_one_that_arrives_appears_and_the_cursor_stays(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5")
        await at(pilot, TEA)
        propose(asked.root, "researcher", "The quay has a new lamp")
        app_of(pilot).post_message(app_of(pilot).MemoryChanged())
        await settle(pilot)
        await settle(pilot)
        assert "The quay has a new lamp" in listed(pilot)
        assert pane(pilot).list.cursor_key == "proposal:5"
        assert "◆ 7" in screen_text(pilot)


async def test_what_says_something_else_by_now_is_not_stored(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5")
        path = asked.root / FILE
        path.write_text(path.read_text(encoding="utf-8").replace("in winter", "in June"), encoding="utf-8")
        await press(pilot, "a")
        assert "says something else by now" in toasts(pilot)
        assert 1 in numbers(asked)
        await at(pilot, TIDES)
        assert "at Barreiro in June" in shown(pilot)


async def test_what_was_decided_elsewhere_is_told_and_gone(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5")
        with open_seen(asked.root, FixedClock(NOW), "main") as door:
            door.proposal_reject([1])
        await press(pilot, "a")
        assert "No proposal #1 waits" in toasts(pilot)
        assert "off by six minutes" not in listed(pilot)


async def test_the_filter_and_the_finder_find_them(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5", "slash", *"from:plan", "enter")
        assert "planner proposes" in listed(pilot)
        assert "researcher proposes" not in listed(pilot)
        await press(pilot, "escape", "1", "ctrl+p", *"Furuno of 2004")
        assert isinstance(pilot.app.screen, FindScreen)
        await press(pilot, "enter")
        assert pane(pilot).list.cursor_key == "proposal:2"


async def test_it_opens_at_a_proposal(asked: Workspace) -> None:
    async with looking(asked, target="proposal:5") as pilot:
        assert pane(pilot).list.cursor_key == "proposal:5"


@pytest.mark.parametrize("role", ["reader", "agent:planner"])
async def test_who_may_not_decide_is_told_who_may(asked: Workspace, role: str) -> None:
    with open_seen(asked.root, FixedClock(NOW), role) as door:
        async with looking(door) as pilot:
            await press(pilot, "5")
            await at(pilot, MAY_2)
            for key in ("a", "r", "d", "e", "s", "equals_sign"):
                await press(pilot, key)
                assert f"open as {role}" in toasts(pilot)
                assert "ask the main agent" in toasts(pilot)
                pilot.app.clear_notifications()
    assert len(numbers(asked)) == 6


async def test_in_manual_mode_the_main_agent_is_sent_to_the_person(asked: Workspace) -> None:
    with open_seen(asked.root, FixedClock(NOW), "person") as door:
        door.edit_file("workbench.toml", '[proposals]\nmode = "manual"\n')
    with open_seen(asked.root, FixedClock(NOW), "main") as door:
        async with looking(door) as pilot:
            await press(pilot, "5", "a")
            assert "Ask the person to do it" in toasts(pilot)
            assert "[ ] ◇ semantic" in listed(pilot)
    assert len(numbers(asked)) == 6


async def test_an_empty_inbox_tells_how_an_agent_proposes(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "5")
        assert "workbench propose TEXT --as NAME" in listed(pilot)
        assert "memory_propose over MCP" in " ".join(listed(pilot).split())


async def test_the_source_and_the_history_lead_to_the_file(asked: Workspace) -> None:
    async with looking(asked) as pilot:
        await press(pilot, "5", "h")
        assert app_of(pilot).pane.id == "audit"
        assert f"file:{FILE}" in app_of(pilot).pane.filter_bar.text
        await press(pilot, "5", "o")
        assert "pending-memories" in screen_text(pilot)
