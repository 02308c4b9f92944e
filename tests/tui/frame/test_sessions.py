"""Sessions in the frame: the list, reading a transcript of any size or state, and what is done to a session."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.frame.hands import drawn, frame_of, opened, press, said
from tests.tui.seen_workspace import NOW
from workbench.display.ink import plain_text
from workbench.engine import FixedClock, Workspace
from workbench.engine.results.sessions import Compacted
from workbench.engine.services.session_changes import SessionChanges
from workbench.engine.steps import Progress
from workbench.tui.parts.transcript import TranscriptPart
from workbench.tui.places.sessions import SessionsPlace

MAIN = "agent:main:main"
CREW = "agent:main:telegram:group:77"
DECIDED = "We decided that tickets are free for the crew."
SIZES = [(80, 24), (120, 36), (160, 40), (240, 60)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def spoken(seen: Workspace, seen_clock: FixedClock, home: Path) -> Workspace:
    """Two sessions of this workspace, one with a torn line, and one of another program."""
    seen_clock.moment = NOW - timedelta(hours=1)

    def say(text: str, role: str = "user", key: str = MAIN, **more: object) -> None:
        seen.session_append(key, text, role=role, **more)  # type: ignore[arg-type]  # fields differ in type
        seen_clock.moment += timedelta(minutes=2)

    say(DECIDED)
    say("Noted:\n\n- free for the **crew**\n- from today", "assistant", model="llama")
    call = {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "tickets.md"}}
    seen.session_append(MAIN, message={"role": "assistant", "content": [call]})
    rows = "\n".join(f"price {number}" for number in range(40))
    result = {"role": "toolResult", "toolCallId": "t1", "content": [{"type": "text", "text": rows}]}
    seen.session_append(MAIN, message=result)
    say("And [b]dogs[/b], \x1b[31mfree\x1b[0m too?", total_tokens=174_000, context_tokens=200_000)
    say("Sam: Hello all", key=CREW, label="Crew")
    file = transcript(seen)
    file.write_bytes(file.read_bytes() + b'{"type":"message","id":"torn"\n')
    say("Are you there?")
    folder = home / ".clawdbot" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / "f1.jsonl").write_bytes(file.read_bytes())
    entry = {"sessionId": "f1", "updatedAt": 1769900000000, "totalTokens": 20_000, "contextTokens": 200_000}
    (folder / "sessions.json").write_text(
        json.dumps({"agent:main:whatsapp:dm:+351": entry}), encoding="utf-8"
    )
    seen_clock.moment = NOW
    return seen


def transcript(workspace: Workspace) -> Path:
    found = workspace.session(MAIN, limit=1).session.transcript
    assert found is not None
    return Path(found)


def place(pilot: Pilot[None]) -> SessionsPlace:
    shown = frame_of(pilot).place
    assert isinstance(shown, SessionsPlace)
    return shown


def listed(pilot: Pilot[None]) -> list[str]:
    rows = place(pilot).list
    return [rows.render_line(y).text.strip() for y in range(len(rows.rows))]


def part(pilot: Pilot[None]) -> TranscriptPart:
    return place(pilot).transcript


def shown(pilot: Pilot[None]) -> str:
    return "\n".join(part(pilot).render_line(y).text for y in range(part(pilot).size.height))


async def go(pilot: Pilot[None], *keys: str) -> None:
    await press(pilot, "8", *keys)


@pytest.mark.parametrize("size", SIZES)
async def test_each_session_has_one_number_and_its_transcript_beside_it(
    spoken: Workspace, size: tuple[int, int]
) -> None:
    async with opened(spoken, size) as pilot:
        await go(pilot)
        rows = listed(pilot)
        main = next(row for row in rows if "main" in row)
        assert main.endswith("87 %")
        assert ("174,000 of 200,000" in main) == (size[0] in (80, 240))
        assert "~/.CLAWDBOT" in rows
        assert any(row.startswith("telegram, Crew") for row in rows)
        text = shown(pilot)
        assert "Are you there?" in text
        assert "\x1b" not in text
        assert part(pilot).number == part(pilot).total == 8


async def test_what_is_hostile_or_torn_is_shown_and_harms_nothing(spoken: Workspace) -> None:
    async with opened(spoken, (160, 40)) as pilot:
        await go(pilot, "enter")
        text = shown(pilot)
        assert "And [b]dogs[/b], ␛[31mfree␛[0m too?" in text
        assert "This line cannot be read" in text
        await press(pilot, "m", "e")
        assert "Repair “main”?" in drawn(pilot, "keys")
        await pilot.pause(0.35)
        await press(pilot, "enter")
        assert said(pilot).startswith("Repaired “main”.")
        assert "This line cannot be read" not in shown(pilot)


async def test_enter_reads_and_unfolds_and_esc_comes_back(spoken: Workspace) -> None:
    async with opened(spoken, (80, 24)) as pilot:
        await go(pilot, "enter", "home", "j", "j", "j")
        assert "◂ price 0 price 1" in shown(pilot)
        await press(pilot, "enter")
        assert "price 4\n" in "\n".join(line.rstrip() for line in shown(pilot).splitlines()) + "\n"
        await press(pilot, "enter", "+", "+")
        assert place(pilot).transcript.has_focus
        await press(pilot, "escape")
        assert place(pilot).list.has_focus


async def test_a_line_leads_to_the_memory_that_came_from_it_and_back(spoken: Workspace) -> None:
    saved = spoken.session_flush(MAIN, now=True).saved
    decided = next(each for each in saved if "tickets are free" in each.text)
    async with opened(spoken) as pilot:
        await go(pilot, "enter", "home")
        assert "became" in shown(pilot)
        await press(pilot, "o")
        frame = frame_of(pilot)
        assert frame.place.name == "timeline"
        assert frame.place.cursor_key == decided.id
        await press(pilot, "g", "s")
        assert frame.place.name == "sessions"
        assert part(pilot).number == int(decided.citation.rpartition("#L")[2])
        await press(pilot, "tab", "G", "o")
        assert said(pilot) == "No memory came from this line; } goes to the next one that gave any."
        await press(pilot, "{")
        assert part(pilot).memories == (decided.id,)


async def test_the_evidence_of_a_memory_is_its_transcript_at_the_line(spoken: Workspace) -> None:
    saved = spoken.session_flush(MAIN, now=True).saved
    decided = next(each for each in saved if "tickets are free" in each.text)
    async with opened(spoken, (160, 40)) as pilot:
        frame_of(pilot).go("timeline", row=decided.id)
        await press(pilot, "o")
        rows = [plain_text(line) for line in frame_of(pilot).place.evidence.lines]
        assert rows[0].startswith("session main · today, 13:30 · line 2")
        assert any(row.startswith("▌") and DECIDED in row for row in rows)
        assert any("became" in row for row in rows)
        assert any("• free for the crew" in row for row in rows)


async def test_what_matters_is_saved_and_taken_back(spoken: Workspace) -> None:
    async with opened(spoken) as pilot:
        await go(pilot, "m", "f")
        assert said(pilot).startswith("Saved 1 memory of “main”. u takes that back.")
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ")


async def test_a_compaction_says_how_far_it_is_and_esc_stops_it(
    spoken: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    whole = SessionChanges.compact

    def slow(changes: SessionChanges, key: str, **options: Any) -> Compacted:
        stopped = options["cancelled"]

        def progress(reached: Progress) -> None:
            options["progress"](reached)
            while not stopped():
                if frame_of(pilot).at_work and not told:
                    told.append(frame_of(pilot).at_work)
                    pilot.app.post_message(events.Key("escape", None))

        return whole(changes, key, keep_tokens=1, **options | {"progress": progress})

    async with opened(spoken) as pilot:
        await go(pilot)
        monkeypatch.setattr(SessionChanges, "compact", slow)
        before = transcript(spoken).read_bytes()
        await press(pilot, "m", "c")
        assert "Compact “main”? Undo cannot help." in drawn(pilot, "keys")
        await pilot.pause(0.35)
        await press(pilot, "enter")
        assert told == ["gathering 0 of 5; esc stops"]
        assert said(pilot) == "The compaction was stopped; the session is as it was."
        assert frame_of(pilot).place.name == "sessions"
        assert transcript(spoken).read_bytes() == before
        monkeypatch.setattr(SessionChanges, "compact", partialmethod(whole, keep_tokens=1))
        await press(pilot, "m", "c")
        await pilot.pause(0.35)
        await press(pilot, "enter")
        assert said(pilot).startswith("Compacted “main”: 174,000 tokens became ")


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        (("p",), "A session cannot be pinned; what came from it can."),
        (("f",), "A session is kept as evidence; m b starts it over."),
        (("e",), "A transcript is evidence and stays as it was."),
        (("o",), "enter reads it; o on a line opens the memory that came from it."),
        (("enter", "}"), "No memory came from this session."),
    ],
)
async def test_no_key_is_silent(spoken: Workspace, keys: tuple[str, ...], why: str) -> None:
    async with opened(spoken) as pilot:
        await go(pilot, *keys)
        assert said(pilot) == why


async def test_what_another_program_keeps_is_never_started_over(spoken: Workspace) -> None:
    async with opened(spoken) as pilot:
        await go(pilot, "G", "m", "b")
        assert said(pilot).startswith("It is kept by another program and stays as it is")


async def test_a_huge_transcript_is_read_where_one_looks(spoken: Workspace) -> None:
    file = transcript(spoken)
    line = json.dumps(
        {
            "type": "message", "id": "x", "parentId": None, "timestamp": "2026-02-02T12:00:00Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "again and again " * 8}]},
        }
    )  # fmt: skip
    file.write_text((line + "\n") * 50_000, encoding="utf-8")
    async with opened(spoken) as pilot:
        await go(pilot, "enter")
        transcript_part = part(pilot)
        assert transcript_part.number == transcript_part.total == 50_000
        await press(pilot, "home", "pagedown", "ctrl+d", "end", "pageup")
        assert "again and again" in shown(pilot)
        assert transcript_part._pages.kept < 30


async def test_a_damaged_store_costs_no_other_count_and_says_what_is_wrong(spoken: Workspace) -> None:
    Path(spoken.sessions().where).write_text('{"torn', encoding="utf-8")
    async with opened(spoken) as pilot:
        await go(pilot)
        assert str(spoken.timeline(limit=1).total) in drawn(pilot, "rail")
        assert said(pilot).startswith("The session store cannot be read")


async def test_without_sessions_the_place_says_so(seen: Workspace, home: Path) -> None:
    assert not any(home.iterdir())
    async with opened(seen) as pilot:
        await go(pilot)
        lines = place(pilot).empty()
        assert "There is no session yet" in plain_text(lines[0])
        await press(pilot, "m", "c")
        assert said(pilot) == "That is for sessions; 8 has them."


async def test_the_key_of_the_filter_finds_in_a_text_so_that_what_follows_is_typed(spoken: Workspace) -> None:
    async with opened(spoken) as pilot:
        await go(pilot, "enter", "l", *"ferry", "enter")
        assert said(pilot).startswith("“ferry”")
        await press(pilot, "escape", "l", *"nobody")
        place = frame_of(pilot).place
        assert plain_text(place.empty()[0]).startswith("No session is called so.")
