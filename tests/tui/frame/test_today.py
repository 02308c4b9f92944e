"""Today: what waits and what became of memory, on a folder that is used, never read, and empty."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.tui.frame.hands import press_at_work
from tests.tui.frame.test_frame import drawn, frame_app, opened, press, said
from tests.tui.seen_workspace import open_seen
from tests.tui.stillness import settle
from workbench.display.card import Section
from workbench.display.ink import line_width, plain_text
from workbench.display.markdown import bare
from workbench.display.today import alert_card, fitting, greeting, reading_time
from workbench.engine import FixedClock, Workspace
from workbench.engine.errors import HistoryDamaged
from workbench.engine.results.audit import Alert
from workbench.engine.results.reviews import CycleProgress, Phase, Reflected
from workbench.tui.places.place import Place
from workbench.tui.places.today import Account, TodayPlace, read_became
from workbench.tui.places.unread import unread_sections


def today(place: object) -> TodayPlace:
    assert isinstance(place, TodayPlace)
    return place


def lines(place: TodayPlace, width: int = 100) -> list[str]:
    rows = place.list.rows
    return [plain_text(rows.line(at, width)).rstrip() for at in range(len(rows))]


def keys(place: Place) -> list[str]:
    rows = place.list.rows
    return [rows.key(at) for at in range(len(rows)) if rows.key(at)]


@pytest.fixture
def unread(tmp_path: Path) -> Iterator[Workspace]:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    for day in (3, 4):
        (folder / f"memory/2026-01-0{day}.md").write_text(
            f"# 2026-01-0{day}\n\n- 09:10 Robin: I am Robin, a pilot at Tromsø\n- 09:12 Robin: I never fly at night\n",
            encoding="utf-8",
        )
    with Workspace.open(folder, role="person") as workspace:
        yield workspace


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 40), (240, 60)])
async def test_today_comes_first_and_fits_every_width(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size, place="") as pilot:
        assert drawn(pilot, "crumbs").strip().startswith("Today")
        for line in lines(today(frame_app(pilot).frame.place), size[0] - 20):
            assert len(line) <= size[0] - 20


async def test_an_alert_is_kept_with_a(seen: Workspace) -> None:
    soul = seen.root / "SOUL.md"
    soul.write_text(soul.read_text(encoding="utf-8") + "Send everything at once.\n", encoding="utf-8")
    seen.adopt()
    (alert,) = seen.alerts_waiting()
    async with opened(seen, place="") as pilot:
        place = today(frame_app(pilot).frame.place)
        assert lines(place)[0] == "ALERT"
        place.reveal(f"alert:{alert.id}")
        await press(pilot)
        assert "Send everything at once." in "\n".join(plain_text(line) for line in place.card.lines)
        await press(pilot, "o")
        evidence = place.evidence.evidence
        assert evidence is not None
        marked = [line.text for line in evidence.lines if evidence.first <= line.number <= evidence.last]
        assert marked == ["Send everything at once."]
        await press(pilot, "escape", "d")
        assert said(pilot) == "r brings the old text back, a keeps the new one."
        await press(pilot, "a", "enter")
    assert seen.alerts_waiting() == ()


@pytest.mark.parametrize(
    ("diff", "shown"),
    [
        (
            "@@ -1,3 +1,4 @@\n # Me\n \n - **Name:** Otter\n+- **Born:** at the table\n",
            ["  # Me", "  Name: Otter", "+ Born: at the table"],
        ),
        ("@@ -1,2 +1,2 @@\n-- Tea\n+- Coffee\n - Milk\n", ["- Tea", "+ Coffee", "  Milk"]),
        # Where the marks are all that changed, they are shown.
        ("@@ -1 +1 @@\n-- Tea\n+* Tea\n", ["- - Tea", "+ * Tea"]),
    ],
)
def test_the_change_of_an_alert_reads_in_words(diff: str, shown: list[str]) -> None:
    now = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
    alert = Alert("a-1", "IDENTITY.md", now, "manual", "changed", diff, acknowledged=False)
    change = alert_card(alert, now).sections[0]
    assert isinstance(change, Section)
    assert [plain_text(line).rstrip() for line in change.lines] == shown


async def test_an_alert_is_taken_back_with_r(seen: Workspace) -> None:
    soul = seen.root / "SOUL.md"
    before = soul.read_text(encoding="utf-8")
    soul.write_text(before + "Send everything at once.\n", encoding="utf-8")
    seen.adopt()
    async with opened(seen, place="") as pilot:
        await press(pilot, "g", "g", "r")
        assert soul.read_text(encoding="utf-8") == before
        assert not seen.alerts_waiting()
        # Undo brings back a change that nobody said yes to: it has to be looked at again.
        await press(pilot, "u")
        assert "Send everything at once." in soul.read_text(encoding="utf-8")
        (alert,) = seen.alerts_waiting()
        assert alert.file == "SOUL.md"
        await press(pilot, "U")
        assert soul.read_text(encoding="utf-8") == before
        assert not seen.alerts_waiting()
    own = seen.edit_file("SOUL.md", before + "Own words.\n").commit
    assert own is not None
    seen.revert(own)
    seen.undo()
    assert "Own words." in soul.read_text(encoding="utf-8")
    assert not seen.alerts_waiting()


async def test_what_is_too_much_for_today_is_listed_on_a_card_with_the_way_to_it(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.places.today._LEARNED", 1)
    async with opened(seen, (160, 20), place="") as pilot:
        place = today(frame_app(pilot).frame.place)
        rest = place.results.since.learned[1:]
        assert rest
        assert place.reveal("since:learned")
        await press(pilot)
        card = " ".join(" ".join(plain_text(line) for line in place.card.lines).split())
        assert all(f"· {bare(each.title)}" in card for each in rest[:12])
        assert "enter goes to History, as 7 does from anywhere." in card


async def test_a_single_one_too_many_stands_where_one_more_would(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = seen.since("7d").learned
    assert len(learned) > 2
    monkeypatch.setattr("workbench.tui.places.today._LEARNED", len(learned) - 1)
    async with opened(seen, (160, 60), place="") as pilot:
        place = today(frame_app(pilot).frame.place)
        assert len(place.results.since.learned) == len(learned)
        assert "since:learned" not in keys(place)
        assert all(any(key.endswith(each.id) for key in keys(place)) for each in learned)


async def test_blocks_take_the_room_that_there_is(seen: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for block in ("_LEARNED", "_CHANGED", "_FALLS"):
        monkeypatch.setattr(f"workbench.tui.places.today.{block}", 1)
    async with opened(seen, (160, 14), place="") as pilot:
        place = today(frame_app(pilot).frame.place)
        assert "since:learned" in keys(place)
        few = len(keys(place))
        await pilot.resize_terminal(160, 70)
        await settle(pilot)
        assert "since:learned" not in keys(place)
        assert few < len(keys(place)) <= place.list.size.height
        await pilot.resize_terminal(160, 14)
        await settle(pilot)
        assert len(keys(place)) == few


async def test_a_folder_never_read_is_read_with_one_key(unread: Workspace) -> None:
    async with opened(unread, place="") as pilot:
        frame = frame_app(pilot).frame
        place = today(frame.place)
        assert "Nothing has been learned" in plain_text(place.heading(place.results, 120))
        assert any("Read them" in line for line in lines(place))
        await press(pilot, "R")
        while frame.working.is_running or "Inbox" not in said(pilot):
            await press(pilot)
    assert unread.review().items


async def test_where_everything_was_read_reflecting_says_so(seen: Workspace) -> None:
    async with opened(seen, place="") as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "R")
        while frame.working.is_running:
            await press(pilot)
        results: Account = today(frame.place).results
        if not results.due.unprocessed:
            await press(pilot, "R")
            assert said(pilot).startswith("Everything has been read")


async def test_the_last_visit_is_remembered_where_it_lasted(seen: Workspace) -> None:
    async with opened(seen, place="") as pilot:
        frame = frame_app(pilot).frame
        assert frame.last_here is None
        frame.began -= timedelta(minutes=5)
        frame_app(pilot).leave()
    async with opened(seen, place="") as pilot:
        assert frame_app(pilot).frame.last_here is not None


async def test_an_empty_folder_teaches_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with Workspace.open(tmp_path / "empty", role="person") as workspace:
        async with opened(workspace, place="") as pilot:
            assert any(
                "Write what every session" in line for line in lines(today(frame_app(pilot).frame.place))
            )


HOSTILE = "[/b] \x1b[31m \u202e evil 中文 e\u0301" + "x" * 300


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 40), (240, 60)])
async def test_hostile_words_are_drawn_within_every_width(
    seen: Workspace, seen_clock: FixedClock, size: tuple[int, int]
) -> None:
    with open_seen(seen.root, seen_clock, role="main") as agent:
        agent.remember(HOSTILE, store="episodic")
    with open_seen(seen.root, seen_clock, role="agent:evil") as evil:
        evil.propose(HOSTILE, store="semantic")
    seen.refresh()
    async with opened(seen, size, place="") as pilot:
        place = today(frame_app(pilot).frame.place)
        rows = place.list.rows
        for width in (24, 40, size[0] // 2, size[0]):
            drawn_rows = [rows.line(at, width) for at in range(len(rows))]
            assert [plain_text(line) for line in drawn_rows if line_width(line) > width] == []
            assert line_width(place.heading(place.results, width)) <= width
        text = "\n".join(lines(place, size[0]))
        assert "[/b]" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


async def test_what_became_of_memory_says_whose_it_was_and_is_opened_as_any_memory(
    seen: Workspace, seen_clock: FixedClock
) -> None:
    with open_seen(seen.root, seen_clock, role="main") as agent:
        learned = agent.remember("The harbour office closes at noon", store="episodic").id
    seen.refresh()
    async with opened(seen, place="") as pilot:
        frame = frame_app(pilot).frame
        heading = next(line for line in lines(today(frame.place)) if line.startswith("SINCE"))
        assert f"agent {seen.since('7d').by['main']}" in heading
        frame.place.reveal(next(key for key in keys(frame.place) if key.endswith(learned)))
        await press(pilot, "p")
        assert said(pilot).startswith("Pinned “")


async def test_v_s_tells_since_another_moment_and_keeps_it(seen: Workspace) -> None:
    async with opened(seen, place="") as pilot:
        await press(pilot, "v", "s")
        assert said(pilot) == "Shows what changed since a day ago."
        frame_app(pilot).leave()
    async with opened(seen, place="") as pilot:
        place = today(frame_app(pilot).frame.place)
        assert place.results.span == "day"
        assert place.results.since.since == place.results.now - timedelta(days=1)


async def test_a_contradiction_has_the_inboxs_card_is_ticked_here_and_opened_there(
    seen: Workspace, seen_clock: FixedClock
) -> None:
    with open_seen(seen.root, seen_clock, role="agent:one") as one:
        one.propose("The ferry is enough for ten cars", store="semantic")
    with open_seen(seen.root, seen_clock, role="agent:two") as two:
        two.propose("The ferry is not enough for ten cars", store="semantic")
    async with opened(seen, place="") as pilot:
        frame = frame_app(pilot).frame
        key = next(key for key in keys(frame.place) if key.startswith("proposal:"))
        frame.place.reveal(key)
        await press(pilot)
        assert "older" in drawn(pilot, "keys")
        card = "\n".join(plain_text(line) for line in frame.place.card.lines)
        assert "not enough for ten cars" in card
        await press(pilot, "<")
        assert said(pilot).startswith("Will keep the older:")
        await press(pilot, "1", "enter")
        assert drawn(pilot, "crumbs").strip().startswith("Inbox")


async def test_the_key_line_offers_what_the_row_can_do(seen: Workspace) -> None:
    soul = seen.root / "SOUL.md"
    soul.write_text(soul.read_text(encoding="utf-8") + "Send everything at once.\n", encoding="utf-8")
    seen.adopt()
    async with opened(seen, place="") as pilot:
        frame = frame_app(pilot).frame
        assert "a keep" in drawn(pilot, "keys")
        assert "f forget" not in drawn(pilot, "keys")
        frame.place.reveal("read")
        await press(pilot)
        assert "R reflect" in drawn(pilot, "keys")
        assert "p pin" not in drawn(pilot, "keys")
        await press(pilot, "p")
        assert said(pilot) == "This cannot be pinned."


async def test_a_folder_never_read_says_what_is_in_it_and_how_to_begin(unread: Workspace) -> None:
    async with opened(unread, place="") as pilot:
        frame = frame_app(pilot).frame
        shown = "\n".join(lines(today(frame.place)))
        assert "4 passages in 2 notes" in shown
        assert "3 Jan – 4 Jan 2026" in shown
        assert "named most: Robin" in shown
        ways = {"R": "Read them", "4": "Look at the notes", "n": "Write what every", "m i": "Bring memory in"}
        for key, what in ways.items():
            assert f"{key:<4}{what}" in shown
        card = "\n".join(plain_text(line) for line in frame.place.card.lines)
        assert "Robin: I am Robin" in card
        assert "Nothing leaves this machine." in card
        await press(pilot, "o")
        evidence = frame.place.evidence.evidence
        assert evidence is not None
        assert "memory/2026-01-03.md" in evidence.title


async def test_ways_to_begin_wait_until_the_files_were_looked_at(unread: Workspace) -> None:
    async with opened(unread, place="") as pilot:
        place = frame_app(pilot).frame.place
        assert isinstance(place, TodayPlace)
        early = replace(place.results, is_early=True)
        assert "Looking at what is in this folder" in plain_text(place.heading(early, 60))
        assert not list(unread_sections(early))
        place.results = replace(early, is_whole=True)
        assert "Looking at what is in this folder" in plain_text(place.empty()[0])
        place.results = replace(early, is_early=False)
        assert list(unread_sections(place.results))


async def test_a_history_is_begun_with_enter(unread: Workspace) -> None:
    async with opened(unread, place="") as pilot:
        frame_app(pilot).frame.place.reveal("begin:history")
        await press(pilot, "enter")
        assert said(pilot).startswith("Began the history: 2 files are kept as they are")
        assert "begin:history" not in keys(frame_app(pilot).frame.place)
    assert unread.head() is not None


async def test_what_every_session_begins_with_goes_into_core_memory(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with Workspace.open(tmp_path / "empty", role="person") as workspace:
        async with opened(workspace, place="") as pilot:
            await press(pilot, "n", *"Be brief", "ctrl+s")
        assert [item.text for block in workspace.core().blocks for item in block.items] == ["Be brief"]


async def test_damage_costs_no_more_than_what_is_damaged(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise HistoryDamaged("The history is damaged: an object is missing.")

    monkeypatch.setattr(Workspace, "since", property(lambda _: fail))
    monkeypatch.setattr(Workspace, "alerts_waiting", property(lambda _: fail))
    async with opened(seen, place="") as pilot:
        shown = lines(today(frame_app(pilot).frame.place))
        assert shown[0] == "CANNOT BE READ"
        assert shown[1].strip() == "The history is damaged: an object is missing."
        assert any(line == "FADES THIS WEEK" for line in shown)
        assert frame_app(pilot).frame.counts.by_place["timeline"] == str(seen.timeline().total)


async def test_an_alert_about_history_itself_is_kept_and_offers_no_way_back(unread: Workspace) -> None:
    unread.remember("The first change", store="episodic")
    shutil.rmtree(unread.root / ".audit")
    with Workspace.open(unread.root, role="person") as again:
        again.remember("Begins another history", store="episodic")
        async with opened(again, place="") as pilot:
            frame = frame_app(pilot).frame
            assert "The history itself was changed" in lines(today(frame.place))[1]
            assert "bring back" not in drawn(pilot, "keys")
            await press(pilot, "r")
            assert said(pilot) == "History cannot be taken back here; a keeps it as it is."
            await press(pilot, "a")
            assert "in History" not in said(pilot)
            await press(pilot, "enter")
        assert again.alerts_waiting() == ()


# What takes long.


async def test_reading_is_called_off_with_esc_and_proposes_nothing(
    unread: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, real = threading.Event(), unread.reflect

    def reflect(**options: Any) -> Reflected:
        begun.set()
        while not options["cancelled"]():
            threading.Event().wait(0.001)
        return real(**options)

    monkeypatch.setattr(Workspace, "reflect", property(lambda _: reflect))
    async with opened(unread, place="") as pilot:
        await press_at_work(pilot, "R")
        assert begun.wait(10)
        await press_at_work(pilot, "R")
        assert said(pilot).startswith("The reading is still under way")
        await press(pilot, "escape")
        await settle(pilot)
        assert said(pilot) == "The reading was stopped; nothing was proposed."
    assert not unread.review().items


async def test_how_far_the_reading_is_stands_at_the_right(
    unread: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def reflect(**options: Any) -> Reflected:
        options["progress"](CycleProgress(Phase.CONSOLIDATE, 2, 7, 0, 8000))
        go_on.wait(10)
        return Reflected(None, (), (), "", "Nothing new was found.", unread.review())

    monkeypatch.setattr(Workspace, "reflect", property(lambda _: reflect))
    async with opened(unread, place="") as pilot:
        await press_at_work(pilot, "R")
        while "2 of 7" not in drawn(pilot, "status"):
            await press_at_work(pilot)
        assert drawn(pilot, "status").rstrip().endswith("finding what is new 2 of 7")
        await press_at_work(pilot, "3")
        assert drawn(pilot, "crumbs").strip().startswith("Core")
        go_on.set()
        await settle(pilot)
        assert said(pilot) == "Nothing new was found."


async def test_what_was_found_waits_in_the_inbox_and_is_shown_at_once(unread: Workspace) -> None:
    async with opened(unread, place="") as pilot:
        await press(pilot, "R")
        await settle(pilot)
        count = len(unread.review().items)
        assert said(pilot).startswith(f"{count} change")
        assert said(pilot).endswith(" in the Inbox; key 2 goes there.")
        assert any("from the reflection" in line for line in lines(today(frame_app(pilot).frame.place)))
        await press(pilot, "R")
        assert said(pilot).startswith("Everything has been read; the last reflection was")


NIGHT = datetime(2026, 11, 23, 22, 5, tzinfo=UTC)


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_the_greeting_goes_by_the_given_clock_and_the_width(width: int) -> None:
    said = greeting(NIGHT - timedelta(days=3), NIGHT, width)
    assert "20 Nov at 22:05" in said
    assert said.startswith("Good evening.") == (width >= 60)


def test_an_estimate_is_never_finer_than_what_is_known() -> None:
    assert [reading_time(size) for size in (70_000, 500_000, 9_000_000)] == [
        "a few seconds",
        "less than a minute",
        "a minute or more",
    ]
    assert fitting(3, "long", "short") == "short"


async def test_what_waits_is_shown_before_what_became_of_memory(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Account] = []

    def since(workspace: Workspace, account: Account) -> Account:
        told.append(account)
        return read_became(workspace, account)

    monkeypatch.setattr("workbench.tui.places.today.read_became", since)
    async with opened(seen, place="") as pilot:
        place = today(frame_app(pilot).frame.place)
        first, results = told[0], place.results
        assert not first.is_whole
        assert first.inbox is not None
        assert not first.since.learned
        assert results.is_whole
        assert results.since.learned or results.since.changed
        # On the next visit it stands there at once, and is read anew.
        await press(pilot, "4", "1")
        assert told[-1].is_whole
        assert told[-1].since == results.since
