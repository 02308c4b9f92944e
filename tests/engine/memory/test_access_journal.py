"""The access journal under several writers, kills and purges."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import StorageError
from workbench.engine.memory.access_journal import FILE, Access, AccessJournal, count_accesses, parse_journal

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)


@pytest.fixture
def journal(tmp_path: Path) -> AccessJournal:
    return fresh(tmp_path / "state")


def fresh(folder: Path) -> AccessJournal:
    numbers = itertools.count(1)
    return AccessJournal(folder, lambda: f"j{next(numbers)}")


def ids(accesses: tuple[Access, ...]) -> list[str]:
    return [access.id for access in accesses]


def test_reading_before_any_access_creates_nothing(journal: AccessJournal, tmp_path: Path) -> None:
    assert journal.read().accesses == ()
    assert list(tmp_path.iterdir()) == []


def test_accesses_come_back_in_order(journal: AccessJournal) -> None:
    journal.record_access("entity:person--李", NOW)
    journal.record_accesses(["a", "b"], NOW + timedelta(minutes=1))
    journal.record_accesses([], NOW)
    page = journal.read()
    assert ids(page.accesses) == ["entity:person--李", "a", "b"]
    assert page.accesses[1].moment == NOW + timedelta(minutes=1)


def test_a_watermark_hides_what_is_folded(journal: AccessJournal) -> None:
    journal.record_access("a", NOW)
    page = journal.read()
    journal.record_access("b", NOW)
    assert ids(journal.read().after({page.journal: page.end})) == ["b"]
    assert ids(journal.read().after({"another": page.end})) == ["a", "b"]


def test_dropping_keeps_what_came_later(journal: AccessJournal) -> None:
    journal.record_access("a", NOW)
    page = journal.read()
    journal.record_access("b", NOW)
    journal.drop_until(page.journal, page.end)
    rest = journal.read()
    assert ids(rest.accesses) == ["b"]
    assert rest.journal != page.journal
    # The old watermark means nothing in the new journal.
    assert ids(rest.after({page.journal: page.end})) == ["b"]
    journal.drop_until(page.journal, page.end)
    assert ids(journal.read().accesses) == ["b"]


def test_dropping_without_a_journal_creates_nothing(journal: AccessJournal, tmp_path: Path) -> None:
    journal.drop_until("j1", 10)
    journal.scrub(["a"])
    assert list(tmp_path.iterdir()) == []


def test_the_journal_deleted_meanwhile_begins_anew(journal: AccessJournal, tmp_path: Path) -> None:
    journal.record_access("a", NOW)
    (tmp_path / "state" / FILE).unlink()
    journal.record_access("b", NOW)
    assert ids(journal.read().accesses) == ["b"]


@given(
    st.integers(0, 200), st.lists(st.sampled_from(["a", "b\n", "c\r\x85\u2028", ""]), min_size=1, max_size=4)
)
def test_a_torn_line_loses_only_itself(cut: int, names: list[str]) -> None:
    header = b'{"journal": "j"}\n'
    lines = [json.dumps({"id": name, "at": "2026-02-02T14:30:00Z"}).encode() + b"\n" for name in names]
    whole = header + b"".join(lines)
    torn = parse_journal(whole[: max(len(header), len(whole) - cut)])
    assert ids(torn.accesses) == names[: len(torn.accesses)]
    left = whole[: max(len(header), len(whole) - cut)]
    complete = sum(len(header) + sum(map(len, lines[:n])) <= len(left) for n in range(1, len(lines) + 1))
    assert len(torn.accesses) == complete


def test_the_next_writer_starts_afresh_after_a_torn_line(journal: AccessJournal, tmp_path: Path) -> None:
    journal.record_accesses(["a", "b"], NOW)
    path = tmp_path / "state" / FILE
    path.write_bytes(path.read_bytes()[:-9])
    before = journal.read()
    journal.record_access("c", NOW)
    assert ids(journal.read().accesses) == ["a", "c"]
    assert ids(journal.read().after({before.journal: before.end})) == ["c"]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_journal(content: bytes) -> None:
    page = parse_journal(content)
    assert page.end <= len(content)


def test_a_damaged_header_still_tells_journals_apart(tmp_path: Path) -> None:
    line = b'{"id": "a", "at": "2026-02-02T14:30:00Z"}\n'
    first, second = parse_journal(b"###\n" + line), parse_journal(b"%%%\n" + line)
    assert first.journal
    assert first.journal != second.journal
    assert ids(first.accesses) == ["a"]


def test_scrubbing_leaves_no_trace_and_moves_no_offset(journal: AccessJournal, tmp_path: Path) -> None:
    journal.record_accesses(
        ["entity:person--alex", "entity:person--alex#^f1", "a", "entity:person--alexa"], NOW
    )
    page = journal.read()
    journal.record_accesses(["entity:person--alex", "b"], NOW)
    end = journal.read().end
    (tmp_path / "state" / f"{FILE}.9-x.part").write_text("entity:person--alex")
    journal.scrub(["entity:person--alex"])
    for path in (tmp_path / "state").iterdir():
        assert b'person--alex"' not in path.read_bytes()
        assert b"#^f1" not in path.read_bytes()
    assert [path.name for path in (tmp_path / "state").iterdir()] == [FILE]
    assert ids(journal.read().accesses) == ["a", "entity:person--alexa", "b"]
    assert journal.read().end == end
    assert ids(journal.read().after({page.journal: page.end})) == ["b"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StorageError, match=r"paths\.state"):
        fresh(tmp_path / "state").record_access("a", NOW)


def test_tally_counts_and_keeps_the_latest() -> None:
    later = NOW + timedelta(hours=1)
    found = count_accesses([Access("a", later, 1), Access("a", NOW, 2), Access("b", NOW, 3)])
    assert (found["a"].count, found["a"].last) == (2, later)
    assert (found["b"].count, found["b"].last) == (1, NOW)


def write_many(folder: str, name: str, count: int) -> None:
    numbers = itertools.count(1)
    journal = AccessJournal(Path(folder), lambda: f"{name}-{next(numbers)}")
    for number in range(count):
        journal.record_access(f"{name}-{number}", NOW)


@pytest.mark.slow
def test_processes_and_threads_lose_nothing_while_it_is_being_dropped(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers: list[multiprocessing.process.BaseProcess | threading.Thread] = [
        context.Process(target=write_many, args=(str(tmp_path), f"p{n}", 150)) for n in range(3)
    ]
    workers += [threading.Thread(target=write_many, args=(str(tmp_path), f"t{n}", 150)) for n in range(2)]
    for worker in workers:
        worker.start()
    numbers = itertools.count(1)
    journal = AccessJournal(tmp_path, lambda: f"main-{next(numbers)}")
    seen: list[str] = []
    while any(worker.is_alive() for worker in workers):
        page = journal.read()
        seen += ids(page.accesses)
        journal.drop_until(page.journal, page.end)
        workers[0].join(0.01)
    for worker in workers:
        worker.join()
    seen += ids(journal.read().accesses)
    expected = [f"{name}-{number}" for name in ("p0", "p1", "p2", "t0", "t1") for number in range(150)]
    assert sorted(seen) == sorted(expected)


def test_accesses_follow_the_change_that_they_came_with(journal: AccessJournal) -> None:
    journal.record_accesses(["a", "b"], NOW, {"a": "t1", "b": "t2 r-1.1 r-1.2"})
    journal.record_access("a", NOW)
    journal.record_standing({"t1": False, "t2 r-1.1": False, "unknown": False})
    assert [(one.id, one.change) for one in journal.read().accesses] == [("b", "t2 r-1.2"), ("a", "")]
    journal.record_standing({"t2 r-1.2": False})
    assert ids(journal.read().accesses) == ["a"]
    journal.record_standing({"t1": True, "t2 r-1.1": True, "t2 r-1.2": True})
    assert [one.change for one in journal.read().accesses] == ["t1", "t2 r-1.1 r-1.2", ""]
    journal.record_standing({"t2": False})
    assert ids(journal.read().accesses) == ["a", "a"]


def test_what_stands_is_noted_only_where_an_access_waits_for_it(
    journal: AccessJournal, tmp_path: Path
) -> None:
    journal.record_standing({"t1": False})
    assert list(tmp_path.iterdir()) == []
    journal.record_access("a", NOW)
    before = (tmp_path / "state" / FILE).read_bytes()
    journal.record_standing({"t1": False})
    assert (tmp_path / "state" / FILE).read_bytes() == before


def test_a_purge_keeps_what_was_taken_back(journal: AccessJournal) -> None:
    journal.record_accesses(["a", "b"], NOW, {"a": "t1", "b": "t1"})
    journal.record_standing({"t1": False})
    journal.scrub(["b"])
    assert journal.read().accesses == ()
