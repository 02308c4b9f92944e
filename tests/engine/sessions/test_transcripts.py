"""Transcripts: appended whole, torn lines mended, garbage named and skipped, and the tree that entries form."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.flushes import Flushes, reads_handles
from tests.engine.sessions.transcript_files import chain, header, said, write
from workbench.engine.errors import OutsideWorkspace
from workbench.engine.sessions.events import (
    STEP,
    Event,
    FileLines,
    message,
    random_access,
    read_event,
    render_event,
)
from workbench.engine.sessions.transcripts import TranscriptWriter, read_tree

NOW = datetime(2026, 1, 24, 9, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"e{next(numbers)}"


def writer(place: Path) -> TranscriptWriter:
    return TranscriptWriter(place, "7d0c", "/home/u", ids())


def say(text: str, role: str = "user") -> tuple[str, dict[str, Any]]:
    return "message", {"message": message(role, text, NOW)}


def entries_of(place: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in place.read_bytes().splitlines()]


def test_the_first_entry_brings_the_header(tmp_path: Path) -> None:
    place = tmp_path / "7d0c.jsonl"
    (event,) = writer(place).append([say("hello")], NOW)
    first, second = entries_of(place)
    assert first == {
        "type": "session", "version": 3, "id": "7d0c", "timestamp": "2026-01-24T09:00:00.000Z", "cwd": "/home/u",
    }  # fmt: skip
    assert (second["id"], second["parentId"], second["timestamp"]) == ("e1", None, "2026-01-24T09:00:00.000Z")
    assert (event.line, event.id) == (2, "e1")
    assert place.stat().st_mode & 0o777 == 0o600


def test_entries_follow_one_another_and_the_leaf(tmp_path: Path) -> None:
    place = tmp_path / "7d0c.jsonl"
    write(place, *chain("a", "b"))
    events = writer(place).append([say("c"), say("d", "assistant")], NOW)
    assert [(event.line, event.parent_id) for event in events] == [(4, "m1"), (5, "e1")]
    (branched,) = TranscriptWriter(place, "7d0c", "/", lambda: "x").append([say("e")], NOW, parent="m0")
    assert branched.parent_id == "m0"


@pytest.mark.parametrize(
    "torn",
    [b'{"type":"message","id":"t', b"garbage", b"\xff\xfe", b'{"type":"message","id":"t1","parentId":"m1"}'],
)
def test_a_torn_last_line_gets_its_end_and_nothing_is_lost(torn: bytes, tmp_path: Path) -> None:
    place = write(tmp_path / "7d0c.jsonl", *chain("a", "b"))
    before = place.read_bytes() + torn
    place.write_bytes(before)
    (event,) = writer(place).append([say("c")], NOW)
    assert place.read_bytes().startswith(before + b"\n")
    assert event.line == 5
    assert event.parent_id == ("t1" if torn.endswith(b"}") else "m1")
    tree = read_tree(FileLines(place))
    assert [problem.line for problem in tree.problems] == ([] if torn.endswith(b"}") else [4])


def test_much_damage_at_the_end_hides_the_leaf_from_nobody(tmp_path: Path) -> None:
    place = write(tmp_path / "7d0c.jsonl", *chain("a", "b"), *[b"x" * 1000] * 500)
    (event,) = writer(place).append([say("c")], NOW)
    assert (event.parent_id, event.line) == ("m1", 504)


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("kept")
    (tmp_path / "7d0c.jsonl").symlink_to(tmp_path / "other")
    with pytest.raises(OutsideWorkspace):
        writer(tmp_path / "7d0c.jsonl").append([say("c")], NOW)
    assert (tmp_path / "other").read_text() == "kept"


@given(st.dictionaries(st.text(), JSON).map(lambda fields: {**fields, "type": "custom"}))
def test_an_entry_is_written_on_one_line_and_read_again(fields: dict[str, Any]) -> None:
    line = render_event(fields)
    assert line.count(b"\n") == 1
    event = read_event(3, line)
    assert isinstance(event, Event)
    assert (event.line, event.fields) == (3, fields)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_entry_or_say_why_not(content: bytes) -> None:
    assert isinstance(read_event(1, content), Event | str)


def test_half_a_surrogate_pair_can_be_written() -> None:
    event = read_event(1, render_event({"type": "custom", "data": "\ud800"}))
    assert isinstance(event, Event)
    assert event.fields["data"] == "\ud800"


def test_garbage_is_named_by_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        header(), said("m0", None, "user", "a"), b"\x00garbage", b"", b"[1]", b'{"no":"type"}',
        said("m1", "m0", "assistant", "b"),
    )  # fmt: skip
    tree = read_tree(FileLines(place))
    assert [(problem.line, problem.message) for problem in tree.problems] == [
        (3, "This line is no JSON; it was skipped."),
        (5, "This line holds no object; it was skipped."),
        (6, "This line says no type; it was skipped."),
    ]
    assert [tree.lines[number] for number in tree.path()] == [7, 2]
    assert tree.total == 7


def test_the_branch_is_the_path_from_the_last_entry_to_the_root(tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        header(), said("a", None, "user", "1"), said("b", "a", "assistant", "2"), said("c", "b", "user", "3"),
        said("d", "a", "assistant", "other"), said("e", "d", "user", "last"),
    )  # fmt: skip
    tree = read_tree(FileLines(place))
    assert [tree.lines[number] for number in tree.path()] == [6, 5, 2]


def test_an_entry_whose_parent_is_lost_follows_the_one_before(tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        header(), said("a", None, "user", "1"), b"torn", said("c", "b", "user", "3"), said("d", "d", "user", "itself"),
    )  # fmt: skip
    tree = read_tree(FileLines(place))
    assert [tree.lines[number] for number in tree.path()] == [5, 4, 2]
    assert [problem.line for problem in tree.problems] == [3, 4, 5]


def test_files_of_the_first_version_are_a_plain_list(tmp_path: Path) -> None:
    old = [{"type": "message", "message": {"role": "user", "content": str(number)}} for number in range(3)]
    tree = read_tree(FileLines(write(tmp_path / "a.jsonl", header(version=1), *old)))
    assert [tree.lines[number] for number in tree.path()] == [4, 3, 2]
    assert not tree.problems


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from([None, "a", "b", "c", "d", "zz"])), max_size=30
    )
)
def test_there_are_no_circles_whatever_entries_say(pairs: list[tuple[str, str | None]]) -> None:
    class Given:
        name = where = "x"

        def size(self) -> int:
            return 0

        def stamp(self) -> None:
            return None

        def count(self) -> int:
            return len(pairs)

        def read(self, first: int = 1, most: int | None = None) -> Any:
            for number, (id_, parent) in enumerate(pairs, 1):
                yield number, json.dumps(said(id_, parent, "user", "x")).encode()

    tree = read_tree(Given())
    path = list(tree.path())
    assert path == sorted(set(path), reverse=True)


@given(
    st.lists(
        st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"").replace(b"\r", b"")), max_size=600
    ),
    st.booleans(),
)
def test_lines_are_found_by_number_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ends: bool
) -> None:
    place = tmp_path_factory.mktemp("lines") / "a.jsonl"
    content = b"\n".join(lines)
    place.write_bytes(content + b"\n" if ends and content else content)
    expected = place.read_bytes().split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    found = FileLines(place)
    assert found.count() == len(expected)
    assert [line for _, line in found.read()] == expected
    with random_access(found) as reader:
        for number in (len(expected), 1, len(expected) // 2, STEP, STEP + 1):
            if 1 <= number <= len(expected):
                assert reader.line(number) == expected[number - 1]


APPENDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from workbench.engine.sessions.events import message
from workbench.engine.sessions.transcripts import TranscriptWriter
now, name = datetime(2026, 1, 24, tzinfo=UTC), sys.argv[2]
numbers = iter(range(1000))
writer = TranscriptWriter(Path(sys.argv[1]), "7d0c", "/", lambda: f"{name}-{next(numbers)}")
for number in range(25):
    writer.append([("message", {"message": message("user", f"{name} {number}", now)})], now)
"""


@pytest.mark.slow
@reads_handles
def test_what_is_appended_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "7d0c.jsonl"
    write(place, *chain("a"))
    flushes = Flushes(monkeypatch)
    writer(place).append([say("c")], NOW)
    assert flushes.hold_content(place)


def test_processes_append_to_one_branch(tmp_path: Path) -> None:
    place = tmp_path / "7d0c.jsonl"
    running = [subprocess.Popen([sys.executable, "-c", APPENDER, place, f"p{number}"]) for number in range(4)]
    assert [each.wait(120) for each in running] == [0] * 4
    tree = read_tree(FileLines(place))
    assert not tree.problems
    assert len(list(tree.path())) == 100
    assert tree.total == 101


ENDLESS = """
import itertools, sys
from datetime import UTC, datetime
from pathlib import Path
from workbench.engine.sessions.events import message
from workbench.engine.sessions.transcripts import TranscriptWriter
now, numbers = datetime(2026, 1, 24, tzinfo=UTC), itertools.count()
writer = TranscriptWriter(Path(sys.argv[1]), "7d0c", "/", lambda: f"{sys.argv[2]}-{next(numbers)}")
for number in itertools.count():
    writer.append([("message", {"message": message("user", "x" * 5000, now)})] * 3, now)
    if number == 5:
        print("going", flush=True)
"""


@pytest.mark.slow
def test_whatever_moment_a_writer_is_killed_at_the_next_one_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "7d0c.jsonl"
    for number in range(5):
        killed = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, place, f"k{number}"], stdout=subprocess.PIPE
        )
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"going\n"
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        killed.stdout.close()
    (event,) = TranscriptWriter(place, "7d0c", "/", lambda: "last").append([say("after")], NOW)
    tree = read_tree(FileLines(place))
    # What a kill tore is one line each time, and every whole entry is on the branch.
    assert len(tree.problems) <= 5
    assert len(list(tree.path())) == len(tree.lines)
    assert tree.lines[tree.leaf] == event.line
