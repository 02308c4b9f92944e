"""The repository gives back what was put in, whatever the names, and its errors can be acted on."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.errors import Ambiguous, HistoryDamaged, HistoryError, NotFound, Stale, StorageError
from workbench.engine.history.differences import diff_text, line_counts, similarity
from workbench.engine.history.git_folder import BRANCH
from workbench.engine.history.git_objects import TreeReader
from workbench.engine.history.git_packs import packed_object
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.recovery import flush_objects

MOMENT = datetime(2026, 2, 2, 14, 30, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))


@pytest.fixture
def store(tmp_path: Path) -> GitStore:
    return GitStore.create(tmp_path / ".audit")


def commit(store: GitStore, files: dict[str, bytes | None], message: str = "[EDIT] a — b\n") -> str:
    head = store.head()
    blobs = {path: None if content is None else store.write_blob(content) for path, content in files.items()}
    tree = store.write_tree(store.commit(head).tree if head else None, blobs)
    parents = [head] if head else []
    made = store.write_commit(
        tree, parents, message, author="manual", email="m@workbench.invalid", moment=MOMENT
    )
    store.move_head(made, expected=head)
    return made


def git(store: GitStore, *arguments: str) -> str:
    command = ["git", f"--git-dir={store.path}", f"--work-tree={store.path.parent}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in {".", "..", ".git"}
)
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


@settings(max_examples=60)
@given(first=st.dictionaries(paths, st.binary(max_size=20), max_size=6), gone=st.integers(0, 6))
def test_files_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, bytes], gone: int
) -> None:
    store = GitStore.create(tmp_path_factory.mktemp("history") / ".audit")
    plain = {
        path: content
        for path, content in first.items()
        if not any(other != path and (other + "/").startswith(path + "/") for other in first)
    }
    whole = commit(store, dict(plain))
    assert {path: store.read_blob(blob) for path, blob in store.files_at(whole).items()} == plain
    removed = set(list(plain)[:gone])
    left = commit(store, dict.fromkeys(removed))
    assert set(store.files_at(left)) == set(plain) - removed
    assert {
        change.path for change in store.changed_paths(store.commit(whole).tree, store.commit(left).tree)
    } == removed


_SIBLINGS = st.sampled_from(["a", "a.md", "a-b", "a0", "b/x", "b/y", "b.md", "b-", "c/d/e", *"defghijklm"])
_BLOBS = st.integers(0, 3).map(lambda number: f"{number:040x}")


@given(st.dictionaries(_SIBLINGS, _BLOBS), st.dictionaries(_SIBLINGS, st.none() | _BLOBS))
def test_a_changed_tree_is_the_one_written_from_nothing(
    first: dict[str, str], changes: dict[str, str | None]
) -> None:
    objects: dict[str, bytes] = {}

    def write(content: bytes) -> str:
        name = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        objects[name] = content
        return name

    step = TreeReader(objects.__getitem__, write).changed(None, dict(first))
    step = TreeReader(objects.__getitem__, write).changed(step, changes)
    whole = {path: blob for path, blob in (first | changes).items() if blob is not None}
    assert step == TreeReader(objects.__getitem__, write).changed(None, dict(whole))


def test_the_git_program_finds_nothing_wrong(store: GitStore) -> None:
    commit(store, {"a": b"1", "a-b": b"2", "a.md": b"3", "a0": b"4", "b/ü.md": b"5", "b/x/\udcff.md": b"6"})
    commit(store, {"a": None, "a/inner.md": b"7", "b/x/\udcff.md": None})
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    assert git(store, "log", "--format=%an %aI").splitlines() == ["manual 2026-02-02T14:30:00-03:30"] * 2
    assert git(store, "ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")[:-1] == [
        "a-b",
        "a.md",
        "a/inner.md",
        "a0",
        "b/ü.md",
    ]


def test_commits_give_back_author_time_and_message(store: GitStore) -> None:
    found = store.commit(commit(store, {"a.md": b"1"}, "[EDIT] ü — ö\n\nActor: x\n"))
    assert (found.author, found.moment, found.message) == ("manual", MOMENT, "[EDIT] ü — ö\n\nActor: x\n")
    assert found.moment.utcoffset() == timedelta(hours=-3, minutes=-30)


def test_the_branch_moves_only_from_where_it_is_expected(store: GitStore) -> None:
    first = commit(store, {"a.md": b"1"})
    second = commit(store, {"a.md": b"2"})
    with pytest.raises(Stale):
        store.move_head(first, expected=first)
    with pytest.raises(Stale):
        store.move_head(first, expected=None)
    assert store.head() == second


def test_the_branch_stays_where_another_program_holds_its_lock(store: GitStore) -> None:
    first = commit(store, {"a.md": b"1"})
    lock = store.path / f"{BRANCH}.lock"
    lock.write_bytes(b"theirs")
    with pytest.raises(StorageError, match=r"main\.lock"):
        store.move_head(first, expected=first)
    assert lock.read_bytes() == b"theirs"
    lock.unlink()
    with pytest.raises(Stale):
        store.move_head(first, expected=None)
    assert not lock.exists()


def test_the_branch_moves_on_from_where_git_packed_it(store: GitStore) -> None:
    commit(store, {"a.md": b"1"})
    git(store, "pack-refs", "--all")
    assert not (store.path / BRANCH).exists()
    second = commit(store, {"a.md": b"2"})
    assert git(store, "rev-parse", "main").strip() == second


def test_commits_are_found_by_their_first_digits(store: GitStore) -> None:
    made = commit(store, {"a.md": b"1"})
    assert store.resolve(made[:6]) == store.resolve(made.upper()) == store.resolve("HEAD") == made
    blob = store.tree_blob(store.tree_of(made), "a.md")
    assert blob
    for name in (blob, "0" * 40, "zz", "abc", "HEAD~1", "-n"):
        with pytest.raises(NotFound):
            store.resolve(name)


def test_an_abbreviation_of_two_commits_is_ambiguous(
    store: GitStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {commit(store, {"a.md": str(number).encode()})[:4] for number in range(2)}
    assert made
    for number in range(2, 2000):
        oid = commit(store, {"a.md": str(number).encode()})
        if oid[:4] in made:
            with pytest.raises(Ambiguous):
                store.resolve(oid[:4])
            return
        made.add(oid[:4])
    pytest.fail("no two of 2,000 commits shared four digits")


def test_renames_are_seen_when_identical_or_alike(store: GitStore) -> None:
    text = b"".join(b"line %d\n" % number for number in range(10))
    commit(store, {"same.md": b"same\n", "alike.md": text, "other.md": b"quite\nanother\n"})
    made = commit(
        store,
        {
            "same.md": None,
            "alike.md": None,
            "other.md": None,
            "x.md": b"same\n",
            "y.md": text + b"one more\n",
            "z.md": b"new\n",
        },
    )
    found = {change.path: change.old_path for change in store.changes(made)}
    assert found == {"x.md": "same.md", "y.md": "alike.md", "z.md": None, "other.md": None}


def test_likeness_is_the_share_of_common_bytes() -> None:
    assert similarity(b"a\nb\n", b"b\na\n") == 100
    assert similarity(b"aaaa\nbb\n", b"aaaa\ncc\n") == 62
    assert similarity(b"", b"a") == 0


def test_differences_are_shown_and_counted() -> None:
    assert diff_text("a.md", b"x\ny\n", b"x\nz\n").splitlines() == [
        "--- a/a.md", "+++ b/a.md", "@@ -1,2 +1,2 @@", " x", "-y", "+z"
    ]  # fmt: skip
    assert diff_text("a.md", b"x\n", b"x\n") == ""
    assert diff_text("a.md", None, b"\0\xff").startswith("--- /dev/null")
    assert line_counts(b"x\ny\n", b"x\nz\nw\n") == (2, 1)
    assert line_counts(None, None) == (0, 0)


def test_configuration_and_variables_of_the_user_have_no_effect(
    store: GitStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".gitconfig").write_text("[core]\n\tautocrlf = true\n[user]\n\tname = Somebody\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(elsewhere))
    again = GitStore(store.path)
    made = commit(again, {"a.md": b"one\r\ntwo\n"})
    assert again.file_at(made, "a.md") == b"one\r\ntwo\n"
    assert again.commit(made).author == "manual"
    assert list(elsewhere.iterdir()) == []


def test_a_repository_further_up_is_not_taken_for_ours(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    inner = tmp_path / "inner" / ".audit"
    inner.mkdir(parents=True)
    (inner / "config").write_text("[workbench]\n")
    with pytest.raises(HistoryDamaged):
        GitStore(inner)


def test_folders_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        GitStore(tmp_path / ".audit")
    foreign = tmp_path / "foreign"
    subprocess.run(["git", "init", "-q", "--bare", foreign], check=True)
    with pytest.raises(HistoryError, match="not a history"):
        GitStore(foreign)
    (tmp_path / "link").symlink_to(GitStore.create(tmp_path / "real").path)
    with pytest.raises(HistoryError, match="link"):
        GitStore(tmp_path / "link")


def test_broken_objects_are_named(store: GitStore) -> None:
    made = commit(store, {"a.md": b"1"})
    blob = store.tree_blob(store.tree_of(made), "a.md")
    assert blob
    place = store.loose_path(blob)
    place.chmod(0o644)
    place.write_bytes(b"")
    again = GitStore(store.path)
    assert not again.has_object(blob)
    with pytest.raises(HistoryDamaged, match=blob[:10]):
        again.read_blob(blob)


@pytest.mark.parametrize("kept", [1, 2, 7, 15])
def test_an_object_whose_file_is_cut_off_is_named(store: GitStore, kept: int) -> None:
    made = commit(store, {"a.md": b"twenty minutes to every ferry\n" * 20})
    tree = store.tree_of(made)
    blob = store.tree_blob(tree, "a.md")
    assert blob
    assert tree
    for oid in (made, tree, blob):
        place = store.loose_path(oid)
        place.chmod(0o644)
        place.write_bytes(place.read_bytes()[:kept])
    again = GitStore(store.path)
    looks: list[tuple[Callable[[str], object], str]] = [
        (again.commit, made), (again.resolve, made), (again.tree_files, tree), (again.read_blob, blob),
        (again.blob_size, blob), (lambda older: again.changed_paths(older, tree[::-1]), tree),
    ]  # fmt: skip
    for look, oid in looks:
        with pytest.raises(HistoryDamaged):
            look(oid)


def test_what_inflates_to_many_times_its_file_is_whole(store: GitStore) -> None:
    content = b"\0" * (5 << 20)
    assert store.read_blob(store.write_blob(content)) == content


def test_objects_can_be_packed_and_read_on(store: GitStore) -> None:
    made = commit(store, {"a.md": b"1"})
    oids = [made, store.commit(made).tree, store.tree_blob(store.tree_of(made), "a.md") or ""]
    assert {file.suffix for file in store.pack(oids)} == {".pack", ".idx"}
    for oid in oids:
        store.loose_path(oid).unlink()
    assert GitStore(store.path).file_at(made, "a.md") == store.file_at(made, "a.md") == b"1"


def test_of_many_objects_to_flush_the_small_are_packed_and_the_large_stay(
    store: GitStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.history.recovery._MANY_OBJECTS", 3)
    small = {store.write_blob(b"%d" % number): b"%d" % number for number in range(5)}
    content = random.Random(1).randbytes(20_000)
    large = store.write_blob(content)
    flush_objects(store, dict.fromkeys([*small, large]))
    assert store.loose_path(large).exists()
    assert not any(store.loose_path(oid).exists() for oid in small)
    assert {oid: GitStore(store.path).read_blob(oid) for oid in (*small, large)} == {**small, large: content}


def test_ancestry_and_walks_follow_first_parents(store: GitStore) -> None:
    made = [commit(store, {"a.md": str(number).encode()}) for number in range(4)]
    assert [found.id for found in store.walk()] == made[::-1]
    assert [found.id for found in store.walk(made[2], stop=made[0])] == [made[2], made[1]]
    assert store.is_ancestor(made[0], made[3])
    assert not store.is_ancestor(made[3], made[0])
    assert not store.is_ancestor("f" * 40, made[0])
    assert store.commit(made[0]).moment.astimezone(UTC) == MOMENT


def test_what_a_creator_that_died_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".audit.new-1-2/objects").mkdir(parents=True)
    GitStore.create(tmp_path / ".audit")
    assert [place.name for place in tmp_path.iterdir()] == [".audit"]


class TestPacks:
    """What is in packs is read here first, and by libgit2 where it is much."""

    @pytest.fixture
    def packed(self, store: GitStore) -> GitStore:
        """Give a history of which all is in packs, most of it told as changes to something else."""
        lines = [f"- {number} boats lie at pier {number * 7919 % 101}" for number in range(3_000)]
        for day in range(30):
            lines[day * 97] = f"- on day {day} nobody came"
            commit(store, {"memory/a.md": "\n".join(lines).encode(), f"memory/{day}.md": b"%d" % day})
        git = ("git", "--git-dir", str(store.path))
        subprocess.run([*git, "repack", "-adq", "--depth=40", "--window=40"], check=True)
        assert not list(store.path.glob("objects/[0-9a-f][0-9a-f]"))
        return GitStore(store.path)

    def test_every_object_is_what_git_says(self, packed: GitStore) -> None:
        git = ("git", "--git-dir", str(packed.path), "cat-file", "--batch-all-objects")
        listed = subprocess.run([*git, "--batch-check"], check=True, capture_output=True, text=True).stdout
        rows = [line.split() for line in listed.splitlines()]
        assert {kind for _, kind, _ in rows} == {"blob", "tree", "commit"}
        for oid, kind, size in rows:
            whole = packed_object(packed.path / "objects" / "pack", oid)
            assert whole.startswith(f"{kind} {size}\0".encode())
            assert hashlib.sha1(whole, usedforsecurity=False).hexdigest() == oid

    def test_a_few_are_read_without_libgit2_and_many_with_it(self, packed: GitStore) -> None:
        head = packed.head()
        told = (
            "import sys; from pathlib import Path; from workbench.engine.history.git_store import GitStore\n"
            f"store = GitStore(Path({str(packed.path)!r}))\n"
            "newest = store.commit(store.head()); older = store.commit(newest.parent)\n"
            "changes = store.changed_paths(older.tree, newest.tree)\n"
            "print([each.path for each in changes], len(store.files_at(newest.id)))\n"
            "print('pygit2' in sys.modules, len(list(store.walk())), 'pygit2' in sys.modules)\n"
        )
        done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
        assert done.stdout.split("\n")[:2] == ["['memory/29.md', 'memory/a.md'] 31", "False 30 True"]
        blobs = list(packed.files_at(head or "").values())
        assert all(packed.read_blob(blob) for blob in blobs + blobs)

    def test_one_that_is_damaged_is_named(self, packed: GitStore) -> None:
        (pack,) = packed.path.glob("objects/pack/*.pack")
        pack.chmod(0o644)
        content = bytearray(pack.read_bytes())
        content[200 : len(content) - 200] = bytes(len(content) - 400)
        pack.write_bytes(content)
        with pytest.raises(HistoryDamaged):
            list(map(packed.read_blob, packed.files_at(packed.head() or "").values()))
        assert packed_object(pack.parent, "00" * 20) == b""
