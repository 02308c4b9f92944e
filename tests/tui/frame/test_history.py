"""History on real workspaces: actions, the way back, alerts, memory as it was, damage, hostile words."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from tests.isolation import isolate
from tests.tui.frame.hands import burst, drawn, frame_of, opened, press, said
from tests.tui.seen_workspace import FERRY, LEARNED_FROM
from workbench.display.action_words import sentence
from workbench.display.card import Card
from workbench.display.ink import plain_text
from workbench.engine import FixedClock, Workspace, layout
from workbench.engine.errors import Cancelled, StorageError
from workbench.engine.results.audit import Comparison
from workbench.engine.results.memories import CoreItem
from workbench.engine.services.audit import Audit
from workbench.engine.steps import Progress
from workbench.tui.places.history import HistoryPlace
from workbench.tui.places.past import ALL, View
from workbench.tui.verbs.history import Happened

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
SIZES = [(80, 24), (120, 36), (160, 40), (240, 60)]
PROPOSAL = (
    "<!-- reflection: r-001 | created: 2026-01-20 -->\n## A\n"
    "- [x] `r-001.1` fact for [[person--robin]]: Walks to work\n"
    '  - episode:2026-01-05:09:00 says "Robin sails on Sundays"\n'
    "- [x] `r-001.2` fact for [[person--robin]]: Has a boat\n"
    '  - episode:2026-01-05:09:00 says "Robin sails on Sundays"\n'
    "- [-] `r-001.3` fact for [[person--robin]]: Hates tea\n"
    '  - episode:2026-01-05:09:00 says "Robin sails on Sundays"\n'
)


@pytest.fixture
def lived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """A month: an agent notes, a reflection is written, a person edits, another program changes the soul."""
    isolate(tmp_path, monkeypatch, timezone="Europe/Lisbon")
    clock = FixedClock(START)
    root = tmp_path / "boat"
    root.mkdir()
    (root / "SOUL.md").write_text("# Soul\n\nNever send a text unread.\n", encoding="utf-8")
    Workspace.init(root, clock=clock)
    with Workspace.open(root, role="person", clock=clock) as workspace:
        workspace.core_set(
            "Critical Facts", "- The boat never sails above six Beaufort\n- Drink: tea at four"
        )
    with Workspace.open(root, role="main", clock=clock) as agent:
        agent.remember("Robin sails on Sundays", store="episodic", entities=["person:Robin"])
    clock.advance(days=10)
    (root / layout.PENDING_REFLECTION).write_text(PROPOSAL, encoding="utf-8")
    with Workspace.open(root, role="person", clock=clock) as workspace:
        workspace.adopt()
        workspace.review_apply()
    clock.advance(days=10)
    with Workspace.open(root, role="person", clock=clock) as workspace:
        item = next(each for each in blocks(workspace) if each.text == "Drink: tea at four")
        workspace.core_replace(item.id, "Drink: coffee at four")
    clock.advance(hours=3)
    (root / "SOUL.md").write_text("# Soul\n\nSend everything at once.\n", encoding="utf-8")
    with Workspace.open(root, role="person", clock=clock, reads_refresh=False) as workspace:
        workspace.adopt()
        workspace.refresh()
        yield workspace


def blocks(workspace: Workspace) -> list[CoreItem]:
    return [item for block in workspace.core().blocks for item in block.items]


def texts(workspace: Workspace) -> list[str]:
    return [item.text for block in workspace.core().blocks for item in block.items]


def place_of(pilot: Pilot[None]) -> HistoryPlace:
    place = frame_of(pilot).place
    assert isinstance(place, HistoryPlace)
    return place


def rows(pilot: Pilot[None], width: int = 100) -> list[str]:
    shown = place_of(pilot).list.rows
    return [plain_text(shown.line(at, width)).rstrip() for at in range(len(shown))]


def card(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line) for line in place_of(pilot).card.lines)


async def go_to_row(pilot: Pilot[None], words: str) -> None:
    shown = place_of(pilot).list.rows
    at = next(at for at, row in enumerate(rows(pilot)) if words in row)
    place_of(pilot).list.go_to(shown.key(at))
    await press(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_each_action_is_a_row_in_plain_words_with_its_card(
    lived: Workspace, size: tuple[int, int]
) -> None:
    async with opened(lived, size) as pilot:
        await press(pilot, "7")
        shown = "\n".join(rows(pilot))
        assert "▲ SOUL.md was changed in another program" in shown
        assert "You reworded “Drink: coffee at four” in Critical Facts" in shown
        assert "Reflection: 2 accepted, 1 declined" in shown
        assert "Robin sails on Sundays" in shown
        await go_to_row(pilot, "Reflection: 2 accepted")
        await press(pilot, "enter")
        assert "+ Walks to work" in card(pilot)
        assert "+ Has a boat" in card(pilot)
        assert "r takes all of it back" in card(pilot)


async def test_a_whole_reflection_is_taken_back_after_a_question_and_undone_at_once(lived: Workspace) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "7")
        await go_to_row(pilot, "Reflection: 2 accepted")
        await press(pilot, "r", "escape")
        assert "Left as it was" in said(pilot)
        await press(pilot, "r", "enter")
        assert said(pilot).startswith("Took back: Reflection: 2 accepted, 1 declined.")
        assert len(lived.review().items) == 3
        assert "taken back" in next(row for row in rows(pilot) if row.startswith("Reflection: 2 accepted"))
        await press(pilot, "r", "enter")
        assert said(pilot).startswith("Brought back: ")
        assert "Walks to work" in lived.show("entity:person--robin").text


async def test_what_is_ones_own_is_taken_back_unasked_and_what_cannot_be_says_why(lived: Workspace) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "7")
        await go_to_row(pilot, "You reworded")
        await press(pilot, "r")
        assert said(pilot).startswith("Took back: reworded “Drink: coffee at four”")
        assert "Drink: tea at four" in texts(lived)
        await press(pilot, "u")
        lived.core_replace(
            next(each.id for each in blocks(lived) if each.text == "Drink: coffee at four"), "Milk"
        )
        await press(pilot, "1", "7")
        await go_to_row(pilot, "You reworded “Drink")
        assert "changed again since" in card(pilot)
        await press(pilot, "r")
        assert "changed again since" in said(pilot)
        assert "workbench" not in said(pilot)


async def test_an_alert_is_kept_or_its_old_text_brought_back(lived: Workspace) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "4", "g", "a")
        assert "warned at every session start" in card(pilot)
        assert "Send everything at once." in card(pilot)
        await press(pilot, "d")
        assert said(pilot) == "r brings the old text back, a keeps the new one."
        await press(pilot, "a")
        assert "Keep the change of SOUL.md? u does not bring the alert back." in drawn(pilot, "keys")
        await press(pilot, "escape")
        assert len(lived.alerts_waiting()) == 1
        await press(pilot, "a", "enter")
        told = "Kept the change of SOUL.md. r on it in History brings the old text back."
        assert " ".join(said(pilot).split()) == told
        assert lived.alerts_waiting() == ()
        # Undo would take back something else, and so asks.
        await press(pilot, "u")
        assert drawn(pilot, "keys").strip().startswith("What was done last has no undo. Undo “SOUL.md was")
        await press(pilot, "escape")
        await press(pilot, "a")
        assert said(pilot) == "Nothing waits here; 2 is the Inbox."
        await go_to_row(pilot, "SOUL.md was changed")
        assert "r takes it back, asking first: SOUL.md is critical." in " ".join(card(pilot).split())
        assert (
            card(pilot).count("Send everything at once.")
            == card(pilot).count("Never send a text unread.")
            == 2
        )
        await press(pilot, "r")
        asked = " ".join(drawn(pilot, "keys").split())
        assert asked.startswith("This changes SOUL.md, which is critical: take back “SOUL.md was changed in")
        await press(pilot, "enter")
        assert "Reads otherwise: “SOUL.md”." in said(pilot)
        assert "Never send a text unread." in (lived.root / "SOUL.md").read_text(encoding="utf-8")


async def test_what_was_taken_back_is_no_change_of_a_memory(lived: Workspace) -> None:
    async with opened(lived) as pilot:
        lived.pin("entity:person--robin")
        lived.undo()
        lived.graph_add_fact("entity:person--robin", "Sings")
        await press(pilot, "1")
        frame_of(pilot).go("graph", row="entity:person--robin")
        await press(pilot)
        await press(pilot, "h")
        shown = plain_text(place_of(pilot).heading(place_of(pilot).results, 80))
        assert shown.startswith("3 changes of “Robin”")


async def test_what_taking_a_reflection_back_would_do_is_shown_before_the_answer(lived: Workspace) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "7")
        await go_to_row(pilot, "Reflection:")
        shown = card(pilot)
        back = shown[shown.index("BACK") :].replace("−", "-")
        assert "asking first: a reflection did it" in " ".join(back.split())
        assert "- Walks to work" in back
        await press(pilot, "r", "pagedown")
        assert "take back" in drawn(pilot, "keys")
        await press(pilot, "enter")
        assert "Gone: “Walks to work”, “Has a boat”." in " ".join(said(pilot).split())


async def test_memory_as_it_was_is_compared_and_brought_back_one_by_one_by_block_and_whole(
    lived: Workspace,
) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "7", "g", "d", *"10 jan", "enter")
        assert "Robin sails on Sundays" in rows(pilot)[place_of(pilot).list.cursor]
        await press(pilot, "c")
        assert said(pilot).startswith("This is memory as on 5 Jan, 09:00, compared with now.")
        assert place_of(pilot).when == "5 Jan, 09:00"
        assert place_of(pilot).cursor_key == ALL
        assert any(row.startswith("± Drink: coffee at four") for row in rows(pilot))
        assert any(row.startswith("+ Walks to work") for row in rows(pilot))
        await go_to_row(pilot, "± Drink: coffee at four")
        assert "- Drink: tea at four" in card(pilot).replace("−", "-")
        assert "r bring back" in drawn(pilot, "keys")
        await press(pilot, "r")
        assert said(pilot) == "Brought back “Drink: coffee at four” as on 5 Jan, 09:00. u takes that back."
        assert "Drink: tea at four" in texts(lived)
        await press(pilot, "u")
        await go_to_row(pilot, "CORE, CRITICAL FACTS")
        await press(pilot, "r")
        assert "Drink: tea at four" in texts(lived)
        done = len(lived.actions(upkeep=False).actions)
        await press(pilot, "g", "g", "r")
        assert "Bring all that differs back as on 5 Jan" in drawn(pilot, "keys")
        await press(pilot, "enter")
        assert said(pilot).startswith("Brought back all that differs")
        assert len(lived.actions(upkeep=False).actions) == done + 1
        assert re.search(
            r"You brought \d+ memories back as they were on 5\s+Jan",
            sentence(lived.actions(1, upkeep=False).actions[0]),
        )
        # What was not there then is put away like what is forgotten.
        assert (
            lived.show("entity:person--robin").text.partition("## Superseded")[2].count("Walks to work") == 1
        )


async def test_two_moments_are_moved_swapped_and_left(lived: Workspace) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "7", "c")
        assert said(pilot) == "This is now; go to an older action first, then press c."
        await press(pilot, "left", "left", "c")
        here = place_of(pilot).view.here
        assert place_of(pilot).view == View(here=here, compares=True)
        await press(pilot, "left")
        earlier = place_of(pilot).view.here
        assert earlier != here
        await press(pilot, "c")
        assert place_of(pilot).view == View(here="", other=earlier, compares=True)
        await press(pilot, "left")
        assert place_of(pilot).view.other == earlier
        await press(pilot, "n")
        assert said(pilot).startswith("This is memory as on ")
        await press(pilot, "v", "c")
        assert "THE SAME AT BOTH MOMENTS" in rows(pilot)
        await press(pilot, "v", "c", "G")
        assert place_of(pilot).view == View()
        await press(pilot, "left", "c", "escape")
        assert place_of(pilot).view == View()


@pytest.mark.parametrize("key", ["escape", "G"])
async def test_leaving_the_past_returns_to_the_moment_that_one_looked_at(lived: Workspace, key: str) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "7", "left", "left", "c", "left")
        moments = place_of(pilot).moments
        assert moments is not None
        here = moments.place(place_of(pilot).view.here)
        await press(pilot, key)
        assert said(pilot).startswith("Memory is shown as it is now again")
        action = place_of(pilot)._action
        assert action is not None
        assert moments.place(action.newest) == here
        assert place_of(pilot).when == "now"


async def test_another_place_shows_memory_as_it_is_now_and_says_so(lived: Workspace) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "7", "left", "left", "c")
        past, here = place_of(pilot).when, place_of(pilot).here
        await press(pilot, "3")
        assert said(pilot) == f"Back to now: the past is shown in History alone. [ goes back to {past}."
        assert frame_of(pilot).place.when == "now"
        await press(pilot, "left_square_bracket")
        assert place_of(pilot).when == past
        await press(pilot, "3", "7")
        assert place_of(pilot).view == View()
        assert place_of(pilot).here == here


@pytest.mark.parametrize("key", ["escape", "4"])
async def test_a_long_comparison_says_how_far_it_is_and_ends_once_nobody_waits_for_it(
    lived: Workspace, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    told: list[str] = []

    def endless(
        _: object,
        __: str,
        ___: str | None,
        *,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> Comparison:
        while not cancelled():
            progress(Progress("comparing", 700, 9_000))
            # The line is drawn a moment after the work has begun.
            if not told and "esc stops" in (status := drawn(pilot, "status")):
                told.append(status)
                pilot.app.post_message(events.Key(key, None))
        raise Cancelled("The comparison was called off.")

    async with opened(lived) as pilot:
        await press(pilot, "7", "left", "left")
        listed = rows(pilot)
        monkeypatch.setattr(Audit, "compare", endless)
        await press(pilot, "c")
        assert told[0].rstrip().endswith("comparing 700 of 9,000 files; esc stops")
        assert not frame_of(pilot).at_work
        if key == "4":
            assert frame_of(pilot).place.name == "timeline"
            return
        assert said(pilot) == "The comparison was stopped."
        assert place_of(pilot).view == View()
        assert rows(pilot) == listed


async def test_a_comparison_is_called_off_once_memory_has_changed(
    lived: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    called_off: list[bool] = []
    compared_again = threading.Event()
    compare = Audit.compare

    def changed_meanwhile(*asked: Any, progress: Callable[[Progress], None], cancelled: Any) -> Comparison:
        if not begun.is_set():
            begun.set()
            progress(Progress("comparing", 700, 9_000))
            pilot.app.call_later(frame_of(pilot).read_again)
            while not cancelled() and not compared_again.wait(0.01):
                pass
            called_off.append(cancelled())
            raise Cancelled("The comparison was called off.")
        try:
            return compare(*asked, progress=progress, cancelled=cancelled)
        finally:
            compared_again.set()

    begun = threading.Event()
    async with opened(lived) as pilot:
        await press(pilot, "7", "left", "left")
        monkeypatch.setattr(Audit, "compare", changed_meanwhile)
        await press(pilot, "c")
        assert called_off == [True]
        assert place_of(pilot).view.compares
        assert rows(pilot)[0].startswith("All that differs")
        assert not frame_of(pilot).at_work


async def test_a_comparison_that_failed_is_at_work_no_more(
    lived: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, progress: Callable[[Progress], None], **__: object) -> Comparison:
        progress(Progress("comparing", 700, 9_000))
        raise StorageError("There is no room.", where="here", remedy="Make room.")

    async with opened(lived) as pilot:
        await press(pilot, "7", "left", "left")
        monkeypatch.setattr(Audit, "compare", failing)
        await press(pilot, "c")
        assert "There is no room" in said(pilot)
        assert not frame_of(pilot).at_work


async def test_history_of_a_memory_is_a_filter_that_dies_with_the_visit(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "4")
        frame_of(pilot).go("timeline", row=LEARNED_FROM)
        await press(pilot)
        await press(pilot, "h")
        assert place_of(pilot).view == View(of=LEARNED_FROM)
        only = len(place_of(pilot).list.rows)
        await press(pilot, "left_square_bracket")
        assert frame_of(pilot).place.cursor_key == LEARNED_FROM
        await press(pilot, "7")
        assert place_of(pilot).view == View()
        assert len(place_of(pilot).list.rows) > only
        frame_of(pilot).go("graph", row=FERRY)
        await press(pilot)
        await press(pilot, "h")
        assert place_of(pilot).view == View(of=FERRY)
        await press(pilot, "escape")
        assert place_of(pilot).view == View()


async def test_the_ribbon_follows_the_cursor_zooms_and_is_pointed_at(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "7")
        place = place_of(pilot)
        scene = place.scrubber.scene
        assert scene is not None
        assert scene.pointers.here == len(scene.course) - 1
        await press(pilot, "left", "plus")
        closer = place.scrubber.scene
        assert closer is not None
        assert closer.pointers.here < scene.pointers.here
        assert closer.window.span < scene.window.span
        await press(pilot, "minus", "minus")
        assert said(pilot) == "This is as wide as it gets."
        await pilot.click(place.scrubber, offset=(18, 0))
        await press(pilot)
        assert place.here < len(scene.course) // 2
        # What is pointed at is under the cursor, on the card and in the line above, and what keys are about.
        subject = place.current
        assert isinstance(subject, Happened)
        assert place.card.card is not None
        assert place.card.card.title == subject.title
        assert subject.title[:30] in drawn(pilot, "crumbs")


async def test_only_a_page_of_a_long_history_is_read_and_more_as_one_goes_on(
    lived: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.places.history.PAGE", 5)
    monkeypatch.setattr("workbench.tui.places.history._NEAR_THE_END", 3)
    for number in range(30):
        lived.core_set("Active Context", f"- Step {number}")
    async with opened(lived) as pilot:
        await press(pilot, "7")
        place = place_of(pilot)
        place._wish = place._wish.__class__(limit=5)
        await press(pilot, "1", "7")
        assert len(place.results.actions) == 5
        await press(pilot, "end")
        assert len(place.results.actions) == 10
        await press(pilot, "g", "d", *"first", "enter")
        assert not place.results.more
        assert place.cursor_key == f"commit:{place.results.actions[-1].id}"


async def test_a_damaged_history_says_so_and_lists_what_the_log_knows(lived: Workspace) -> None:
    line = lived.history_line().commits
    broken = line[len(line) // 2]
    (lived.root / ".audit/objects" / broken[:2] / broken[2:]).unlink()
    shutil.rmtree(lived.state / "derived", ignore_errors=True)
    with Workspace.open(
        lived.root, role="person", reads_refresh=False, clock=FixedClock(lived.now())
    ) as again:
        async with opened(again) as pilot:
            await press(pilot, "7")
            assert "damaged" in plain_text(place_of(pilot).heading(place_of(pilot).results, 100))
            assert any("You reworded" in row for row in rows(pilot))
            await go_to_row(pilot, "The agent added “Robin” to the graph")
            assert "cannot be read any more" in " ".join(card(pilot).split())
            await press(pilot, "m", "h")
            assert "problem" in said(pilot)
            assert "Restore .audit from a backup." in " ".join(card(pilot).split())
            assert "workbench " not in card(pilot)


async def test_a_folder_without_history_says_what_begins_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(tmp_path, monkeypatch, timezone="Europe/Lisbon")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/MEMORY.md").write_text("# Memory\n", encoding="utf-8")
    with Workspace.open(tmp_path / "notes", role="person", reads_refresh=False) as workspace:
        async with opened(workspace) as pilot:
            await press(pilot, "7")
            assert "begins the history" in plain_text(place_of(pilot).empty()[0])
            for keys in ("c", "+", "left", "N", "r", "a", "g d", "v c"):
                await press(pilot, *keys.split())
                assert said(pilot)


@pytest.mark.parametrize("size", [(80, 24), (240, 60)])
async def test_hostile_summaries_are_drawn_as_they_are(lived: Workspace, size: tuple[int, int]) -> None:
    hostile = "[bold]x[/] \x1b[31m“quotes; and” \u202e reversed | pipe — dash " + "長" * 80
    lived.core_add("Identity", hostile)
    lived.remember(hostile, store="episodic")
    async with opened(lived, size) as pilot:
        await press(pilot, "7", "enter")
        assert "[bold]x[/]" in card(pilot)
        assert "\x1b" not in card(pilot)
        await press(pilot, "escape", "j", "j", "c", "j", "j", "x")
        assert said(pilot)


async def test_a_filter_finds_by_words_by_whom_and_what_waits(lived: Workspace) -> None:
    async with opened(lived) as pilot:
        await press(pilot, "7", "l", *"is:alert", "enter")
        assert [row for row in rows(pilot) if row and not row.isupper()] == [
            row for row in rows(pilot) if "SOUL.md" in row
        ]
        await press(pilot, "l", *"by:you coffee", "enter")
        assert sum("coffee" in row for row in rows(pilot)) == 1


async def test_a_check_of_history_is_told_of_and_called_off(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(seen, place="history") as pilot:
        await press(pilot, "m", "h")
        assert said(pilot).startswith("History, log and files agree.")
        assert frame_of(pilot).place.card.has_focus
        told: list[str] = []

        def endless(_workspace: Workspace, tell: Callable[[str], None], stopped: Callable[[], bool]) -> Card:
            while not stopped():
                tell("checking commits 7 of 9")
                told.append(frame_of(pilot).at_work)
            raise Cancelled("The check was cancelled.")

        monkeypatch.setattr("workbench.tui.places.history.read_verified", endless)
        await burst(pilot, "mh1\x1b")
        assert said(pilot) == "The check was stopped; nothing was changed."
        assert "checking commits 7 of 9" in told
