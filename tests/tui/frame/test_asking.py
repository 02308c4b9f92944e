"""Asking from anywhere: answers as one types, what has faded apart, and the way back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from tests.tui.frame.test_frame import drawn, frame_app, opened, press
from tests.tui.seen_workspace import ALONE, LEARNED_FROM
from tests.tui.stillness import settle
from workbench.display.card import Card
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.tui.parts.evidence import evidence_of_memory
from workbench.tui.places.ask import NOTHING, AnswerRows, AskPlace

OTHER = "episode:2026-01-14:18:00"


def rows(place: AskPlace) -> list[str]:
    shown = place.list.rows
    return [plain_text(shown.line(at, 100)) for at in range(len(shown)) if shown.key(at)]


def ask_place(place: object) -> AskPlace:
    assert isinstance(place, AskPlace)
    return place


@pytest.mark.parametrize("size", [(80, 24), (160, 40)])
async def test_a_question_is_answered_while_it_is_typed(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, "3", "/", *"ferry")
        frame = frame_app(pilot).frame
        place = ask_place(frame.place)
        assert frame.focused is frame.query_one("#ask", Input)
        assert any("ferry" in row.casefold() for row in rows(place))
        assert drawn(pilot, "crumbs").strip().startswith("Ask")
        assert drawn(pilot, "keys").split() == ["enter", "to", "the", "results", "esc", "back"]
        await press(pilot, "enter")
        assert place.list.has_focus
        assert "e edit" in drawn(pilot, "keys")


@pytest.mark.parametrize(("width", "said"), [(45, "Not all read yet"), (120, "The index is not up to date:")])
async def test_while_memory_is_still_read_the_answers_say_that_more_may_come(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch, width: int, said: str
) -> None:
    search, stale = seen.search_request, "The index is not up to date: it is being read."
    found = property(lambda _: lambda request: replace(search(request), stale=stale))
    monkeypatch.setattr(Workspace, "search_request", found)
    async with opened(seen) as pilot:
        await press(pilot, "/", *"ferry")
        place = ask_place(frame_app(pilot).frame.place)
        shown = plain_text(place.heading(place.results, width))
        assert shown.startswith(said)
        assert "…" not in shown


@pytest.fixture
def long_note(tmp_path: Path) -> Iterator[Workspace]:
    day = tmp_path / "notes/memory/2026-01-05.md"
    day.parent.mkdir(parents=True)
    paragraphs = [f"On the yard it rained for hour {number}, and nobody looked." for number in range(60)]
    paragraphs[50] = "Berg said that the new rollers cost 400 euros."
    day.write_text("# Monday\n\n" + "\n\n".join(paragraphs) + "\n", encoding="utf-8")
    with Workspace.open(tmp_path / "notes", role="person") as workspace:
        yield workspace


async def test_of_a_long_note_the_card_shows_what_answers(long_note: Workspace) -> None:
    async with opened(long_note) as pilot:
        await press(pilot, "/", *"rollers", "enter")
        card = frame_app(pilot).frame.place.card
        shown = [card.render_line(y).text for y in range(card.size.height)]
        assert any("the new rollers cost 400 euros" in line for line in shown)
        # Scrolled by hand, it stays where it was read on.
        await press(pilot, "tab", "home")
        assert "hour 0" in card.render_line(0).text


async def test_a_card_that_is_opened_later_shows_what_answers_too(long_note: Workspace) -> None:
    async with opened(long_note, (70, 20)) as pilot:
        await press(pilot, "/", *"rollers", "enter")
        card = frame_app(pilot).frame.place.card
        assert not card.size.width
        await press(pilot, "enter")
        shown = [card.render_line(y).text for y in range(card.size.height)]
        assert any("the new rollers cost 400 euros" in line for line in shown)
        await press(pilot, "home")
        assert "hour 0" in card.render_line(0).text


async def test_escape_leaves_the_question_for_where_one_was(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "3", "/", *"ferry", "escape")
        assert frame.place is frame.place_named("core")
        await press(pilot, "/", *"4", "enter", "escape")
        assert frame.place is frame.place_named("core")


async def test_an_empty_line_lists_what_was_asked_before(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "/", *"ferry", "enter", "/", "backspace", "down")
        assert rows(ask_place(frame.place)) == ["ferry"]
        await press(pilot, "enter")
        assert frame.query_one("#ask", Input).value == "ferry"
        assert len(rows(ask_place(frame.place))) > 1


async def test_details_say_why_a_result_ranks_where_it_does(seen: Workspace) -> None:
    async with opened(seen, (160, 60)) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "/", *"ferry", "enter", "x")
        shown = "\n".join(plain_text(line) for line in frame.place.card.lines)
        assert "1st result" in shown
        assert "LEFT OUT" in shown


async def test_details_come_into_sight_when_they_are_asked_for(seen: Workspace) -> None:
    async with opened(seen, (80, 24)) as pilot:
        await press(pilot, "/", *"ferry", "enter", "enter", "x")
        card = frame_app(pilot).frame.place.card
        top = round(card.scroll_y)
        in_sight = "\n".join(plain_text(line) for line in card.lines[top : top + card.size.height])
        assert "1st result" in in_sight


async def test_details_asked_for_before_the_card_is_there_come_into_sight_with_it(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(seen, (80, 24)) as pilot:
        read, may_read = AskPlace.read_card, threading.Event()

        def read_later(place: AskPlace, workspace: Workspace, subject: Any) -> Card:
            may_read.wait()
            return read(place, workspace, subject)

        monkeypatch.setattr(AskPlace, "read_card", read_later)
        await pilot.press("/", *"ferry", "enter", "enter", "x")
        card = frame_app(pilot).frame.place.card
        assert card.card is None
        may_read.set()
        await settle(pilot)
        top = round(card.scroll_y)
        in_sight = "\n".join(plain_text(line) for line in card.lines[top : top + card.size.height])
        assert "1st result" in in_sight


async def test_the_question_stands_beside_its_answers_alone_and_slash_has_it_again(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_app(pilot).frame
        line = frame.query_one("#ask", Input)
        await press(pilot, "/", *"ferry", "enter", "3")
        assert line.value == ""
        await press(pilot, "/")
        assert (line.value, line.selected_text) == ("ferry", "ferry")
        assert frame.place is frame.place_named("core")
        await press(pilot, "escape")
        assert line.value == ""
        await press(pilot, "left_square_bracket")
        assert line.value == "ferry"


async def test_the_evidence_is_that_of_the_fact_nearest_to_the_question(seen: Workspace) -> None:
    (seen.root / "memory/graph/entities/place--kiosk.md").write_text(
        "# place--kiosk\n\n<!-- Type: place | Label: Kiosk -->\n\n## Facts\n"
        f"- The kiosk sells maps (since 2026-01-14, from {OTHER}) ^fk01\n"
        f"- The kiosk opens at seven (since 2026-01-12, from {LEARNED_FROM}) ^fk02\n",
        encoding="utf-8",
    )
    seen.adopt()
    async with opened(seen, (240, 60)) as pilot:
        frame = frame_app(pilot).frame
        for question, source in (("kiosk opens", LEARNED_FROM), ("kiosk sells maps", OTHER)):
            await press(pilot, "/", "ctrl+a", *question, "enter")
            keys = [ask_place(frame.place).list.rows.key(at) for at in range(len(frame.place.list.rows))]
            assert ask_place(frame.place).reveal(next(key for key in keys if "place--kiosk" in key))
            await settle(pilot)
            shown = frame.place.evidence.evidence
            assert shown is not None
            assert shown.link == source


async def test_the_evidence_of_a_long_note_is_the_lines_that_answer(seen: Workspace) -> None:
    talk = "".join(
        f"- 09:{at:02} Rui: The weather on day {at} was mild and nothing happened\n" for at in range(40)
    )
    (seen.root / "memory/2026-01-20.md").write_text(
        f"# Talk with Rui\n\n{talk}- 09:50 Rui: My zeppelin landed in the orchard\n", encoding="utf-8"
    )
    seen.adopt()
    async with opened(seen, (240, 60)) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "/", *"zeppelin orchard", "enter")
        place = ask_place(frame.place)
        hits = [place.hit(place.list.rows.key(at)) for at in range(len(place.list.rows))]
        at = next(at for at, hit in enumerate(hits) if hit is not None and "zeppelin" in hit.snippet)
        assert place.reveal(place.list.rows.key(at))
        await settle(pilot)
        hit, shown = hits[at], frame.place.evidence.evidence
        assert hit is not None
        assert hit.id.startswith("file:")
        assert shown is not None
        assert (shown.first, shown.last) == (hit.start_line, hit.end_line)
        assert shown.first > 3


async def test_an_entity_among_the_answers_shows_the_fact_that_answers(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "/", *"who runs the ferry at Barreiro", "enter")
        rows = ask_place(frame.place).list.rows
        assert isinstance(rows, AnswerRows)
        key = next(rows.key(at) for at in range(len(rows)) if "person--ines-duarte" in rows.key(at))
        hit = rows.hit(key)
        assert hit is not None
        drawn = plain_text(rows.draw(hit, 80))
        assert drawn.startswith("◇ Inês Duarte runs the ferry at Barreiro")


async def test_keys_act_on_the_fact_that_the_row_of_an_entity_shows(seen: Workspace) -> None:
    (seen.root / "memory/graph/entities/place--kiosk.md").write_text(
        "# place--kiosk\n\n<!-- Type: place | Label: Kiosk -->\n\n## Facts\n"
        f"- The kiosk sells maps (since 2026-01-12, from {LEARNED_FROM}) ^fk01\n"
        f"- The kiosk opens at seven (since 2026-01-14, from {OTHER}) ^fk02\n"
        "- The kiosk lends umbrellas\n",
        encoding="utf-8",
    )
    seen.adopt()
    file = "memory/graph/entities/place--kiosk.md"
    async with opened(seen, (120, 36)) as pilot:
        frame = frame_app(pilot).frame
        for question, id_, line, text in (
            ("kiosk opens", "entity:place--kiosk#^fk02", 7, "The kiosk opens at seven"),
            ("kiosk sells maps", "entity:place--kiosk#^fk01", 6, "The kiosk sells maps"),
            ("kiosk umbrellas", f"file:{file}#L8", 8, "The kiosk lends umbrellas"),
        ):
            await press(pilot, "/", "ctrl+a", *question, "enter")
            place = ask_place(frame.place)
            keys = [place.list.rows.key(at) for at in range(len(place.list.rows))]
            assert place.reveal(next(key for key in keys if "place--kiosk" in key))
            await settle(pilot)
            assert place.current is not None
            assert (place.current.id, place.current.title) == (id_, text)
            await press(pilot, "y", "y")
            assert pilot.app.clipboard.removeprefix("- ") == text
            await press(pilot, "y", "c")
            assert pilot.app.clipboard == f"{file}:{line}"
        await press(pilot, "/", "ctrl+a", *"kiosk opens", "enter", "g", "t")
        assert frame.place.cursor_key == OTHER


def test_evidence_shows_nothing_that_files_note_for_programs(seen: Workspace) -> None:
    found = evidence_of_memory(seen, ALONE)
    assert found is not None
    assert found.lines[0].text == "# place--berlenga"
    assert not any("<!--" in line.text for line in found.lines)


async def test_words_that_no_memory_has_are_said_to_be_in_none(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "/", *"feryz wetaer")
        place = ask_place(frame_app(pilot).frame.place)
        shown = place.list.rows
        assert shown.key(1)
        assert plain_text(shown.line(0, 100)).strip() == NOTHING.upper()
        assert "in Core (3)" in plain_text(place.heading(place.results, 100))
        await press(pilot, "escape", "/", *"ferry")
        assert ask_place(frame_app(pilot).frame.place).list.rows.key(0)


async def test_a_fact_that_a_decision_waits_against_is_contested(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "/", *"ferry", "enter")
        place = ask_place(frame_app(pilot).frame.place)
        subject = place.subject(place.list.cursor_key)
        assert subject is not None
        assert not any("contested" in row for row in rows(place))
        assert place.results is not None
        place.list.show(place.rows(replace(place.results, contested={subject.id})))
        assert "contested" in rows(place)[0]
