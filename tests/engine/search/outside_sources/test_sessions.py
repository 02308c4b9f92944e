"""Session transcripts: opt-in, what counts as said, line numbers, and when a growing one is read again."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.search.outside_sources.unmasked import Unmasked
from workbench.engine.catalog.records import MemoryRecord
from workbench.engine.clock import FixedClock
from workbench.engine.search.outside_sources import (
    MOST_LINE_BYTES,
    SessionTranscripts,
    TranscriptCopies,
)
from workbench.engine.sessions.events import MOST_TURN_CHARACTERS, turn_of
from workbench.engine.settings.sections import SearchSettings

NOW = datetime(2026, 2, 2, 12, tzinfo=UTC)


def said(role: str, content: object, **more: object) -> str:
    entry = {
        "type": "message",
        "timestamp": "2026-01-24T09:00:02.000Z",
        "message": {"role": role, "content": content},
    }
    return json.dumps(entry | more)


class Folder:
    """A folder of transcripts, each last written just now."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True)

    def write(self, name: str, content: str | bytes, minutes_ago: float = 0) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        moment = NOW.timestamp() - minutes_ago * 60
        os.utime(path, (moment, moment))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "sessions")


def source(folder: Folder, *, memory: Path | None = None, **settings: object) -> SessionTranscripts:
    chosen: dict[str, object] = {"sessions": True, "session_paths": (str(folder.place),), **settings}
    return SessionTranscripts(
        folder.place.parent,
        SearchSettings(**chosen),  # type: ignore[arg-type]  # keyed by the fields of the settings
        ZoneInfo("Europe/Berlin"),
        FixedClock(NOW),
        memory,
        Unmasked(),
        lambda: folder.place.parent / "own",
    )


def records(transcripts: SessionTranscripts) -> list[MemoryRecord]:
    return [record for file in transcripts.read(list(transcripts.digests())) for record in file.records]


def test_nothing_is_looked_at_without_opting_in(folder: Folder, tmp_path: Path) -> None:
    folder.write("a.jsonl", said("user", "private") + "\n")
    kept = tmp_path / "kept.json"
    transcripts = source(folder, sessions=False, memory=kept)
    assert transcripts.digests() == {}
    assert list(transcripts.read(["sessions/a.jsonl"])) == []
    assert not kept.exists()


def test_the_workspaces_own_are_searched_without_a_folder_being_named(folder: Folder) -> None:
    transcripts = source(folder, session_paths=())
    assert (transcripts.digests(), transcripts.problems) == ({}, ())
    Folder(folder.place.parent / "own").write("a.jsonl", said("user", "ours") + "\n")
    assert [record.text for record in records(transcripts)] == ["User: ours"]


def test_a_name_belongs_to_the_workspaces_own_and_no_folder_is_searched_twice(folder: Folder) -> None:
    own = Folder(folder.place.parent / "own")
    for each in (own, folder):
        each.write("a.jsonl", said("user", each.place.name) + "\n")
    transcripts = source(folder, session_paths=(str(own.place), str(folder.place)))
    found = {record.path: record.text for record in records(transcripts)}
    assert found == {"sessions/a.jsonl": "User: own", "sessions/2/a.jsonl": "User: sessions"}


def test_turns_stand_on_the_lines_of_their_file(folder: Folder) -> None:
    lines = [
        json.dumps({"type": "session", "version": 3, "id": "x", "cwd": "/home/u"}),
        said("user", [{"type": "text", "text": "remember:\nstaging is eu-2"}]),
        said("toolResult", [{"type": "text", "text": "secret output"}]),
        json.dumps({"type": "compaction", "summary": "what was said"}),
        said("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}]),
        said("assistant", "NO_REPLY"),
    ]
    folder.write("7d0c.jsonl", "\n".join(lines) + "\n")
    (record,) = records(source(folder))
    assert record.text.split("\n") == ["User: remember: staging is eu-2", "", "", "Assistant: Noted."]
    assert (record.start_line, record.end_line) == (2, 5)
    assert (record.store, record.path) == ("session", "sessions/7d0c.jsonl")
    assert record.id == "file:sessions/7d0c.jsonl#L2-L5"
    assert record.title == "Session of 2026-01-24: remember: staging is eu-2"
    assert record.moment is not None
    assert record.moment.utcoffset() is not None
    assert record.moment.hour == 10


@pytest.mark.parametrize(
    "line",
    [
        said("user", "x", isMeta=True),
        said("user", "x", isSidechain=True),
        said("user", "x", isCompactSummary=True),
        said("system", "x"),
        said("user", [{"type": "tool_result", "content": "x"}]),
        said("assistant", [{"type": "tool_use", "name": "x", "input": {}}]),
        said("user", "<system-reminder>x</system-reminder>"),
        said("assistant", "  **NO_REPLY** "),
        said("assistant", "HEARTBEAT_OK"),
        json.dumps({"message": {"role": "assistant", "content": "x", "model": "delivery-mirror"}}),
        json.dumps({"message": {"role": ["user"], "content": "x"}}),
        json.dumps({"role": "user", "content": {"type": "text", "text": "x"}}),
        json.dumps({"role": "user"}),
        "[]", "1", "null", "{", "", '"user"', "[" * 100_000,
    ],
)  # fmt: skip
def test_what_nobody_said_is_left_out(line: str) -> None:
    assert turn_of(1, line.encode()) is None


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({"type": "user", "message": {"role": "user", "content": "Hello"}}),
        json.dumps({"role": "user", "content": "Hello"}),
        json.dumps({"message": {"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}}),
        said("user", "Hello <system-reminder>be quiet</system-reminder>"),
    ],
)
def test_each_kind_of_transcript_is_read(line: str) -> None:
    turn = turn_of(3, line.encode())
    assert turn is not None
    assert (turn.line, turn.text) == (3, "User: Hello")


@given(st.binary(max_size=300))
def test_no_bytes_are_an_error(line: bytes) -> None:
    turn_of(1, line)


def test_times_in_milliseconds_half_characters_and_long_turns_are_survived() -> None:
    line = json.dumps({"role": "user", "content": "\ud800 " + "x" * 50_000, "timestamp": 1769245202000})
    turn = turn_of(1, line.encode())
    assert turn is not None
    turn.text.encode()
    assert len(turn.text) <= MOST_TURN_CHARACTERS + len("User: ")
    assert turn.moment == datetime(2026, 1, 24, 9, 0, 2, tzinfo=UTC)
    assert turn_of(1, json.dumps({"role": "user", "content": "x", "timestamp": 1e300}).encode()) is not None


def test_a_huge_line_foreign_bytes_and_a_torn_end_hide_no_other_line(folder: Folder) -> None:
    huge = said("user", "x" * (MOST_LINE_BYTES + 10))
    content = "\n".join([said("user", "first"), huge, "\x00{]", said("user", "fourth")]).encode()
    content += b'\n{"role": "user", "content": "fi\xff\xfefth"}\n' + said("user", "torn").encode()
    folder.write("a.jsonl", content)
    (record,) = records(source(folder))
    lines = record.text.split("\n")
    assert lines == ["User: first", "", "", "User: fourth", "User: fi\ufffd\ufffdfth"]
    assert record.end_line == 5


def test_a_long_conversation_is_parted_and_lines_stay_right(folder: Folder) -> None:
    folder.write("a.jsonl", "".join(said("user", f"turn {number}") + "\n" for number in range(1, 1001)))
    found = records(source(folder))
    assert len(found) > 1
    for record in found:
        lines = record.text.split("\n")
        assert record.end_line - record.start_line + 1 == len(lines)
        assert lines[0] == f"User: turn {record.start_line}"
        assert lines[-1] == f"User: turn {record.end_line}"


def test_a_growing_transcript_waits_until_enough_was_added(folder: Folder, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    line = said("user", "hello") + "\n"

    def digest() -> bytes:
        return source(folder, memory=kept).digests()["sessions/a.jsonl"]

    folder.write("a.jsonl", line * 10)
    first = digest()
    folder.write("a.jsonl", line * 59)
    assert digest() == first
    waiting = source(folder, memory=kept)
    (file,) = waiting.read(list(waiting.digests()))
    assert file.digest == first
    assert file.records[-1].end_line == 10
    folder.write("a.jsonl", line * 60)
    second = digest()
    assert second != first
    folder.write("a.jsonl", line * 60 + said("user", "x" * 99_000) + "\n")
    assert digest() == second
    folder.write("a.jsonl", line * 60 + said("user", "x" * 100_000) + "\n")
    assert digest() != second


def test_a_quiet_or_rewritten_transcript_does_not_wait(folder: Folder, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    line = said("user", "hello") + "\n"
    folder.write("a.jsonl", line * 10)
    first = source(folder, memory=kept).digests()
    folder.write("a.jsonl", line * 11)
    assert source(folder, memory=kept).digests() == first
    folder.write("a.jsonl", line * 12, minutes_ago=11)
    second = source(folder, memory=kept).digests()
    assert second != first
    folder.write("a.jsonl", line * 3)
    assert source(folder, memory=kept).digests() not in (first, second)


def test_several_folders_and_links(folder: Folder, tmp_path: Path) -> None:
    other = Folder(tmp_path / "other")
    for each in (folder, other):
        each.write("same.jsonl", said("user", each.place.name) + "\n")
    folder.write("project/deep.jsonl", said("user", "deep") + "\n")
    folder.write("note.txt", "no transcript")
    (folder.place / "link.jsonl").symlink_to(other.place / "same.jsonl")
    (tmp_path / "linked").symlink_to(other.place)
    paths = (str(folder.place), str(other.place), str(tmp_path / "linked"), str(tmp_path / "gone"))
    transcripts = source(folder, session_paths=paths)
    assert sorted(transcripts.digests()) == [
        "sessions/2/same.jsonl",
        "sessions/project/deep.jsonl",
        "sessions/same.jsonl",
    ]
    assert len(transcripts.problems) == 2


def test_a_transcript_that_is_gone_is_forgotten(folder: Folder, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    folder.write("a.jsonl", said("user", "x") + "\n")
    assert source(folder, memory=kept).digests()
    (folder.place / "a.jsonl").unlink()
    transcripts = source(folder, memory=kept)
    assert transcripts.digests() == {}
    assert list(transcripts.read(["sessions/a.jsonl"])) == []


def copies(folder: Path) -> dict[str, str]:
    return {place.relative_to(folder).as_posix(): place.read_text("utf-8") for place in folder.rglob("*.md")}


def test_copies_of_transcripts_hold_what_was_said_and_follow_it(folder: Folder, tmp_path: Path) -> None:
    copied = tmp_path / "copies"
    tool = json.dumps({"type": "message", "message": {"role": "toolResult", "content": "noise"}})
    folder.write(
        "a.jsonl",
        said("user", "Where is the ferry?") + "\n" + tool + "\n" + said("assistant", "At nine.") + "\n",
    )
    folder.write("deep/b.jsonl", said("user", "Another day") + "\n")
    transcripts = TranscriptCopies(source(folder), 0, FixedClock(NOW))
    transcripts.bring_up_to_date(copied)
    first = copies(copied)
    assert set(first) == {"a.md", "deep/b.md"}
    assert "Where is the ferry?" in first["a.md"]
    assert "At nine." in first["a.md"]
    assert "noise" not in first["a.md"]
    folder.write("a.jsonl", said("user", "Where is the bus?") + "\n")
    (folder.place / "deep/b.jsonl").unlink()
    transcripts.bring_up_to_date(copied)
    assert set(copies(copied)) == {"a.md"}
    assert "bus" in copies(copied)["a.md"]


def test_copies_of_transcripts_that_did_not_change_are_left_alone(folder: Folder, tmp_path: Path) -> None:
    folder.write("a.jsonl", said("user", "Where is the ferry?") + "\n")
    for text in ("# kept", "# kept"):
        TranscriptCopies(source(folder), 0, FixedClock(NOW)).bring_up_to_date(tmp_path / "copies")
        (tmp_path / "copies/a.md").write_text(text)
    TranscriptCopies(source(folder), 0, FixedClock(NOW)).bring_up_to_date(tmp_path / "copies")
    assert copies(tmp_path / "copies") == {"a.md": "# kept"}


def test_copies_of_transcripts_are_kept_for_so_many_days_after_the_last_word(
    folder: Folder, tmp_path: Path
) -> None:
    # It was said on 24 January, nine days ago.
    folder.write("a.jsonl", said("user", "Where is the ferry?") + "\n")
    for days, kept in ((8, False), (10, True), (8, False), (0, True)):
        TranscriptCopies(source(folder), days, FixedClock(NOW)).bring_up_to_date(tmp_path / "copies")
        assert bool(copies(tmp_path / "copies")) is kept
