"""Bringing the catalog up to date with files that come, change, move and go."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.catalog.shelf import ENTITIES, ZONE, Shelf, day, entity, episode
from tests.powers import as_anybody
from workbench.engine import layout
from workbench.engine.catalog import catalog as catalog_module
from workbench.engine.catalog.catalog import Catalog, Synced
from workbench.engine.catalog.file_rows import MOST_BYTES, FileContent, FileRows, extract, read_file
from workbench.engine.catalog.lookups import Lookups
from workbench.engine.errors import StorageError

A = "memory/episodes/2026-02-01.md"
B = "memory/episodes/2026-02-02.md"


def log(body: str) -> str:
    return day("d", episode("09:00", body))


def everything(shelf: Shelf) -> list[tuple[object, ...]]:
    """Return all that the tables hold, row numbers aside."""
    asked = (
        "SELECT path, size, digest FROM files ORDER BY path",
        "SELECT id, path, start_line, text, sort_key, facets FROM memories ORDER BY path, start_line",
        "SELECT folded, entity, how FROM names ORDER BY entity, folded, how",
        "SELECT source, target FROM edges ORDER BY 1, 2",
        "SELECT id, text FROM facts ORDER BY 1, 2",
        "SELECT source, target FROM links ORDER BY 1, 2",
        "SELECT message FROM problems ORDER BY 1",
        "SELECT count(*) FROM name_words",
    )
    return [row for question in asked for row in shelf.catalog.rows(question)]


def test_new_changed_and_deleted_files(shelf: Shelf) -> None:
    assert shelf.sync() == Synced((), ())
    shelf.write(A, log("First version."))
    assert shelf.sync() == Synced((A,), ())
    assert shelf.sync() == Synced((), ())
    shelf.write(A, log("Other words."))
    assert shelf.sync() == Synced((A,), ())
    assert shelf.found("first") == []
    assert shelf.found("other") == ["episode:2026-02-01:09:00"]
    (shelf.root / A).unlink()
    assert shelf.sync() == Synced((), (A,))
    assert shelf.ids() == []
    assert shelf.found("other") == []


def test_a_renamed_file_goes_and_comes(shelf: Shelf) -> None:
    shelf.write(A, log("Words."))
    shelf.sync()
    (shelf.root / A).rename(shelf.root / B)
    assert shelf.sync() == Synced((B,), (A,))
    assert shelf.ids() == ["episode:2026-02-02:09:00"]


def test_a_file_replaced_by_another_of_its_size_and_time_is_noticed(shelf: Shelf) -> None:
    place = shelf.write(A, log("Cats."))
    os.utime(place, ns=(10**18, 10**18))
    shelf.sync()
    other = shelf.write("memory/episodes/tmp", log("Dogs."))
    os.utime(other, ns=(10**18, 10**18))
    other.rename(place)
    assert shelf.sync().changed == (A,)
    assert shelf.found("dogs")


def test_a_file_changed_in_place_with_its_time_put_back_is_noticed(shelf: Shelf) -> None:
    place = shelf.write(A, log("Cats."))
    os.utime(place, ns=(10**18, 10**18))
    shelf.sync()
    place.write_text(log("Dogs."))
    os.utime(place, ns=(10**18, 10**18))
    assert shelf.sync().changed == (A,)


def test_a_touched_file_is_no_change(shelf: Shelf) -> None:
    place = shelf.write(A, log("Words."))
    shelf.sync()
    numbers = shelf.catalog.rows("SELECT number FROM memories")
    os.utime(place, ns=(10**18, 10**18))
    assert shelf.sync() == Synced((), ())
    assert shelf.catalog.rows("SELECT number FROM memories") == numbers
    assert shelf.catalog.rows("SELECT mtime_ns FROM files") == [(10**18,)]


def test_a_stamp_that_may_yet_be_used_again_is_not_trusted(tmp_path: Path) -> None:
    now = time.time_ns()
    shelf = Shelf(tmp_path, {A: log("Cats.")})
    catalog = Catalog(shelf.root, shelf.place, ZONE, clock_ns=lambda: now)
    catalog.sync()
    assert catalog.rows("SELECT mtime_ns FROM files") == [(-1,)]
    # Read again and found the same, which is no change.
    assert catalog.sync() == Synced((), ())
    now += 10**10
    catalog.sync()
    assert catalog.rows("SELECT mtime_ns FROM files") == [((shelf.root / A).stat().st_mtime_ns,)]
    catalog.close()


def test_known_and_new_files_together(shelf: Shelf) -> None:
    shelf.write(A, log("One."))
    shelf.sync()
    shelf.write(A, log("Other."))
    shelf.write(B, log("Two."))
    shelf.write(f"{ENTITIES}/person--a.md", entity("Ada"))
    shelf.sync()
    assert [each.text for each in shelf.lookups.memories() if each.store == "episodic"] == ["Other.", "Two."]
    assert shelf.found("one") == []


def test_memories_that_stay_the_same_are_not_written_again(shelf: Shelf) -> None:
    entries = [episode(f"09:{minute:02}", f"Entry {minute}.") for minute in range(5)]
    shelf.write(A, day("d", *entries))
    shelf.sync()
    asked = "SELECT id, number, start_line FROM memories ORDER BY id"
    before = shelf.catalog.rows(asked)
    entries[1:3] = [episode("09:01", "Another\none."), episode("09:02", "Entry 2.")]
    shelf.write(A, day("d", *entries, episode("09:05", "Last.")))
    shelf.sync()
    after = shelf.catalog.rows(asked)
    assert [number for _, number, _ in after[:5]] == [
        *(number for _, number, _ in before[:1]),
        after[1][1],
        *(number for _, number, _ in before[2:]),
    ]
    # What moved down by a line knows it.
    assert [line for _, _, line in after] == [3, 6, 10, 13, 16, 19]
    assert after[1][1] not in [number for _, number, _ in before]
    assert shelf.found("another") == ["episode:2026-02-01:09:01"]
    assert [len(shelf.found(f"entry {minute}")) for minute in (0, 1, 2)] == [4, 4, 4]


def test_twins_within_a_file_keep_apart(shelf: Shelf) -> None:
    shelf.write(A, day("d", *[episode("09:00", "Same.") for _ in range(4)]))
    shelf.sync()
    shelf.write(A, day("d", *[episode("09:00", "Same.") for _ in range(2)]))
    shelf.sync()
    assert shelf.ids() == ["episode:2026-02-01:09:00", "episode:2026-02-01:09:00#2"]
    assert sorted(shelf.found("same")) == shelf.ids()


def test_update_reads_the_files_that_are_named_alone(shelf: Shelf) -> None:
    shelf.write(A, log("One."))
    shelf.write(B, log("Two."))
    assert shelf.catalog.update(
        [A, A, "memory/absent.md", "README.md", "../x.md", "memory/../MEMORY.md"]
    ) == Synced((A,), ("memory/absent.md",))
    assert shelf.ids() == ["episode:2026-02-01:09:00"]
    assert shelf.catalog.update([A]) == Synced((), ()), "What reads as it did is not taken apart again."
    (shelf.root / A).unlink()
    assert shelf.catalog.update([A]) == Synced((), (A,))
    assert shelf.ids() == []


@pytest.mark.parametrize("path", ["memory/a\0b.md", "memory/x/../../../../etc/passwd.md", "/etc/passwd", ""])
def test_update_leaves_the_workspace_by_no_path(shelf: Shelf, path: str) -> None:
    shelf.catalog.update([path])
    assert shelf.ids() == []


def test_links_are_not_followed(shelf: Shelf, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "note.md").write_text("# Secret\n\nhidden\n")
    (shelf.root / "memory").mkdir()
    (shelf.root / "memory/linked").symlink_to(secret)
    (shelf.root / "memory/note.md").symlink_to(secret / "note.md")
    (shelf.root / "SOUL.md").symlink_to(secret / "note.md")
    shelf.sync()
    shelf.catalog.update(["memory/linked/note.md", "memory/note.md", "SOUL.md"])
    assert shelf.ids() == []


def test_a_pipe_or_folder_with_the_name_of_a_file_is_passed_over(shelf: Shelf) -> None:
    shelf.write("memory/real.md/inner.md", "Inner.\n")
    os.mkfifo(shelf.root / "memory/pipe.md")
    shelf.sync()
    shelf.catalog.update(["memory/pipe.md", "memory/real.md"])
    assert shelf.ids() == ["file:memory/real.md/inner.md#L1-L1"]


def test_a_file_without_the_right_to_read_it_is_reported(shelf: Shelf) -> None:
    shelf.write(B, log("Fine."))
    shelf.write(A, log("Hidden.")).chmod(0)
    with as_anybody():
        shelf.sync()
    assert shelf.found("fine")
    assert [(path, "read" in message) for path, _, message, _ in shelf.lookups.problems()] == [(A, True)]
    (shelf.root / A).chmod(0o600)
    shelf.sync()
    assert shelf.found("hidden")
    assert shelf.lookups.problems() == []


def test_an_unreadable_file_is_reported_and_read_again_once_it_can_be(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write(B, log("Fine."))
    place = shelf.write(A, "")
    real = os.open

    def refuse(path: str, flags: int) -> int:
        if str(path).endswith(A):
            raise PermissionError(13, "Permission denied")
        return real(path, flags)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        shelf.sync()
    assert shelf.found("fine")
    ((path, _, message, _),) = shelf.lookups.problems()
    assert (path, message) == (A, "This file cannot be read: Permission denied.")
    place.chmod(0o640)
    shelf.sync()
    assert shelf.lookups.problems() == []


def test_a_name_that_is_no_text_is_reported_and_hides_nothing(shelf: Shelf) -> None:
    shelf.write(A, log("Fine."))
    shelf.write(os.fsdecode(b"memory/caf\xe9.md"), "Lost.\n")
    shelf.sync()
    assert shelf.found("fine")
    assert shelf.sync() == Synced((), ())
    ((path, _, message, _),) = shelf.lookups.problems()
    assert path == "memory/caf\\udce9.md"
    assert "UTF-8" in message
    (shelf.root / os.fsdecode(b"memory/caf\xe9.md")).unlink()
    shelf.sync()
    assert shelf.lookups.problems() == []


def test_a_folder_that_cannot_be_listed_is_an_error_that_says_so(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(root: Path) -> dict[str, os.stat_result]:
        raise PermissionError(13, "Permission denied", "memory/locked")

    monkeypatch.setattr(layout, "tracked_files", refuse)
    with pytest.raises(StorageError, match=r"memory/locked: .*Permission denied"):
        shelf.sync()


def test_a_file_that_vanishes_after_it_was_listed(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.write(A, log("Going."))
    shelf.write(B, log("Staying."))
    listed = layout.tracked_files(shelf.root)
    (shelf.root / A).unlink()
    monkeypatch.setattr(layout, "tracked_files", lambda root: listed)
    assert shelf.sync().changed == (B,)
    assert shelf.ids() == ["episode:2026-02-02:09:00"]


def test_a_file_that_changes_between_reading_and_storing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write(A, log("Old."))
    shelf.write(B, log("Going."))
    late: list[Callable[[], object]] = [lambda: shelf.write(A, log("New.")), (shelf.root / B).unlink]

    def slow(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
        rows = extract(path, content, zone)
        while late:
            late.pop()()
        return rows

    monkeypatch.setattr(catalog_module, "extract", slow)
    shelf.sync()
    assert [record.text for record in shelf.lookups.memories()] == ["New."]
    assert shelf.sync() == Synced((), ())


def test_newest_days_come_first_and_core_before_them(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def noted(root: Path, path: str) -> FileContent | None:
        order.append(path)
        return read_file(root, path)

    monkeypatch.setattr(catalog_module, "read_file", noted)
    for path in (
        A,
        B,
        "memory/2026-02-03.md",
        f"{ENTITIES}/a--b.md",
        "MEMORY.md",
        "memory/episodes/2025-12-31.md",
    ):
        shelf.write(path, "# x\n\ntext\n")
    shelf.sync()
    assert order == [
        "MEMORY.md",
        "memory/2026-02-03.md",
        B,
        A,
        "memory/episodes/2025-12-31.md",
        f"{ENTITIES}/a--b.md",
    ]


def test_progress_is_told_after_each_batch(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_module, "_FIRST_BATCH_SECONDS", 0)
    monkeypatch.setattr(catalog_module, "_BATCH_SECONDS", 0)
    for number in range(1, 6):
        shelf.write(f"memory/episodes/2026-02-0{number}.md", log("x"))
    seen: list[tuple[int, int, int]] = []
    shelf.catalog.sync(progress=lambda done, total: seen.append((done, total, shelf.lookups.count())))
    # What was told is there to be read.
    assert seen == [(number, 5, number) for number in range(1, 6)]


def test_what_was_done_before_a_cancel_stays(shelf: Shelf) -> None:
    for number in range(1, 6):
        shelf.write(f"memory/episodes/2026-02-0{number}.md", log("x"))
    asked = iter([False] * 4 + [True] * 100)
    synced = shelf.catalog.sync(cancelled=lambda: next(asked))
    assert 0 < len(synced.changed) < 5
    assert len(synced.unread) == 5 - len(synced.changed)
    assert not set(synced.unread) & set(synced.changed)
    assert len(shelf.ids()) == len(synced.changed)
    assert len(shelf.sync().changed) == 5 - len(synced.changed)
    assert len(shelf.ids()) == 5


def test_a_cancel_before_the_start_does_nothing(shelf: Shelf) -> None:
    shelf.write(A, log("x"))
    assert shelf.catalog.sync(cancelled=lambda: True) == Synced((), (), unread=(A,))


def test_many_deleted_files_go_in_several_steps(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_module, "_MOST_GONE", 2)
    for number in range(1, 8):
        shelf.write(
            f"{ENTITIES}/concept--{number}.md", entity(f"Thing {number}", relations=("knows: [[a--b]]",))
        )
    shelf.sync()
    for place in (shelf.root / ENTITIES).iterdir():
        place.unlink()
    assert len(shelf.sync().gone) == 7
    assert everything(shelf) == [(0,)]


def test_a_very_large_file_is_read_to_its_bound_and_says_so(shelf: Shelf) -> None:
    entry = episode("09:00", "word " * 180)
    shelf.write(B, "# x\n\n" + entry * (50 * 1024 * 1024 // len(entry)))
    shelf.write(A, log("Small."))
    started = time.process_time()
    shelf.sync()
    assert time.process_time() - started < 20
    assert shelf.found("small")
    count = shelf.lookups.count()
    assert 0.9 * MOST_BYTES / len(entry) < count < 1.1 * MOST_BYTES / len(entry)
    problems = [problem for problem in shelf.lookups.problems() if "very large" in problem[2]]
    assert [problem[0] for problem in problems] == [B]
    assert shelf.sync() == Synced((), ())


def test_the_state_is_kept(shelf: Shelf) -> None:
    assert shelf.catalog.state("head") is None
    shelf.catalog.set_state({"head": "abc", "other": "x"})
    shelf.catalog.set_state({"head": "def"})
    shelf.catalog.close()
    assert (shelf.catalog.state("head"), shelf.catalog.state("other")) == ("def", "x")


FILES = [
    A,
    B,
    "MEMORY.md",
    f"{ENTITIES}/person--a.md",
    f"{ENTITIES}/person--b.md",
    "memory/2026-02-01.md",
    "memory/vault/n.md",
]
TEXTS = [
    None,
    "",
    day("d", episode("09:00", "one [[person--a]]"), episode("09:00", "two")),
    "## Identity\n- Name: Ada\n",
    entity("Ada", aliases=("Al",), facts=("x ^f1", "y ^f2"), relations=("knows: [[person--b]] ^r1",)),
    entity("Bea", header="Merged into: [[person--a]]"),
    "## nonsense\n\n## 10:00\nplain\n",
]


@given(steps=st.lists(st.tuples(st.sampled_from(FILES), st.sampled_from(TEXTS), st.booleans()), max_size=12))
@settings(max_examples=40)
def test_bit_by_bit_gives_what_a_fresh_start_gives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | None, bool]]
) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("steps"))
    for path, text, syncs in steps:
        if text is None:
            (shelf.root / path).unlink(missing_ok=True)
        else:
            shelf.write(path, text)
        if syncs:
            shelf.sync()
        else:
            shelf.catalog.update([path])
    shelf.sync()
    by_bits = everything(shelf)
    shelf.catalog.destroy()
    shelf.sync()
    assert by_bits == everything(shelf)
    assert Lookups(shelf.catalog).count() == len(shelf.ids())
    shelf.catalog.close()
