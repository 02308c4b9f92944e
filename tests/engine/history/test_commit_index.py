"""The line of commits: the same as walking, kept and found again, and never older than the history."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.history.notebook import PERSON, START, Notebook
from workbench.engine.errors import HistoryDamaged
from workbench.engine.history.commits import (
    EMPTY_INDEX,
    CachedCommitIndex,
    CommitIndex,
    load_commit_index,
    parse_message,
    read_commit_index,
    save_commit_index,
)
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.undo import redo, undo


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def walked(store: GitStore) -> list[tuple[str, int, str]]:
    return [(each.id, int(each.moment.timestamp()), parse_message(each).actor) for each in store.walk()][::-1]


def columns(line: CommitIndex) -> list[tuple[str, int, str]]:
    shown = line.shown()
    return list(zip(shown.commits, shown.seconds, shown.actors, strict=True))


@given(steps=st.lists(st.integers(-4000, 4000), min_size=1, max_size=8), asked=st.integers(-9000, 40_000))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_moment_is_found_as_by_walking_whatever_the_clock_did(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int], asked: int
) -> None:
    notebook = Notebook(tmp_path_factory.mktemp("clock"))
    for number, step in enumerate(steps):
        notebook.write("MEMORY.md", f"{number}\n", actor=f"bot:{'ab'[number % 2]}")
        notebook.clock.advance(seconds=step)
    store = notebook.history.store
    line = read_commit_index(store)
    assert columns(line) == walked(store)
    moment = START + timedelta(seconds=asked)
    assert line.at(moment) == next((each.id for each in store.walk() if each.moment <= moment), None)
    for place, (commit, _, _) in enumerate(columns(line)):
        latest = line.latest_by(commit)
        assert latest is not None
        assert latest.timestamp() == max(line.seconds[: place + 1])


def test_only_the_place_of_a_whole_hash_counts() -> None:
    hashes = bytes(range(40))
    line = CommitIndex(hashes, array("q", [7, 5]), array("I", [0, 0]), bytes([3, 3]), ("manual",))
    assert line.latest_by(hashes[20:].hex()) == datetime.fromtimestamp(7, UTC)
    assert line.latest_by(hashes[3:23].hex()) is None
    assert line.latest_by("ff" * 20) is None
    assert EMPTY_INDEX.latest_by("ff" * 20) is None


def test_an_empty_history_has_an_empty_line(notebook: Notebook) -> None:
    notebook.history.init()
    assert columns(read_commit_index(notebook.history.store)) == []
    assert read_commit_index(notebook.history.store).at(START) is None


def test_a_foreign_commit_is_told_by_its_author(notebook: Notebook) -> None:
    first = notebook.write("MEMORY.md", "one\n")
    store = notebook.history.store
    for said in (
        "Actor: bot:evil\nTransaction: 1\n",
        "x\n\nActor: a\\x62c\nTransaction: 1\n",
        "x\nTransaction: 2",
    ):
        oid = store.write_commit(
            store.commit(first).tree, [first], said, author="Some One", email="a@b", moment=START
        )
        store.move_head(oid, expected=first)
        assert columns(read_commit_index(store)) == walked(store)
        store.move_head(first, expected=oid)


def test_what_is_kept_is_found_again_and_only_the_rest_is_read(notebook: Notebook, tmp_path: Path) -> None:
    place = tmp_path / "kept" / "line"
    notebook.write("MEMORY.md", "one\n")
    store = notebook.history.store
    first = CachedCommitIndex(place).read(store)
    assert columns(load_commit_index(place)) == columns(first) == walked(store)
    notebook.write("MEMORY.md", "two\n", actor="manual")
    again = CachedCommitIndex(place)
    assert columns(again.read(store)) == walked(store)
    assert again.read(store) is again.read(store)
    assert columns(load_commit_index(place)) == walked(store)


def test_what_is_kept_is_believed_only_where_it_is_whole(notebook: Notebook, tmp_path: Path) -> None:
    place = tmp_path / "line"
    notebook.write("MEMORY.md", "one\n")
    store = notebook.history.store
    CachedCommitIndex(place).read(store)
    whole = place.read_bytes()
    for damaged in (b"", whole[:-3], whole[: len(whole) // 2], whole[:40] + b"\0" + whole[41:], b"x" * 99):
        place.write_bytes(damaged)
        assert load_commit_index(place) is EMPTY_INDEX or columns(load_commit_index(place)) == walked(store)
        assert columns(CachedCommitIndex(place).read(store)) == walked(store)
        assert place.read_bytes() == whole
    place.unlink()
    assert columns(CachedCommitIndex(place).read(store)) == walked(store)


def test_where_it_cannot_be_kept_it_is_read_all_the_same(notebook: Notebook, tmp_path: Path) -> None:
    notebook.write("MEMORY.md", "one\n")
    (tmp_path / "file").write_text("in the way")
    assert not save_commit_index(tmp_path / "file" / "line", EMPTY_INDEX)
    assert columns(CachedCommitIndex(tmp_path / "file" / "line").read(notebook.history.store))


def test_a_history_that_was_put_back_or_rewritten_is_followed(notebook: Notebook, tmp_path: Path) -> None:
    first = notebook.write("MEMORY.md", "one\n")
    second = notebook.write("MEMORY.md", "two\n")
    store, kept = notebook.history.store, CachedCommitIndex(tmp_path / "line")
    kept.read(store)
    store.move_head(first, expected=second)
    assert columns(kept.read(store)) == walked(store)
    other = store.write_commit(
        store.commit(first).tree, [], "rewritten", author="Other", email="a@b", moment=START
    )
    store.move_head(other, expected=first)
    assert columns(kept.read(store)) == walked(store)


def test_a_lost_commit_is_an_error_of_ours(notebook: Notebook) -> None:
    first = notebook.write("MEMORY.md", "one\n")
    notebook.write("MEMORY.md", "two\n")
    store = notebook.history.store
    store.loose_path(first).chmod(0o644)
    store.loose_path(first).write_bytes(b"rot")
    store.forget_handles()
    with pytest.raises(HistoryDamaged):
        read_commit_index(store)


def test_it_says_what_undid_a_commit(notebook: Notebook) -> None:
    commit = notebook.write("MEMORY.md", "one\n")
    store = notebook.history.store
    assert read_commit_index(store).undone_by(commit) is None
    undone = undo(notebook.history, PERSON).commit
    line = read_commit_index(store)
    assert line.undone_by(commit) == undone
    redo(notebook.history, PERSON)
    assert read_commit_index(store, line).undone_by(commit) is None
