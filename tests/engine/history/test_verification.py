"""Whatever is tampered with in log, history or files is found and named."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook
from workbench.engine import layout
from workbench.engine.errors import Cancelled, HistoryError
from workbench.engine.history import maintenance
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.history import History
from workbench.engine.history.maintenance import git_command, git_environment, repacking_paused, verify
from workbench.engine.history.plan import Action
from workbench.engine.steps import Progress, Steps


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    made = Notebook(tmp_path)
    made.write("MEMORY.md", "one\n", summary="first")
    made.write_all({"MEMORY.md": "two\n", "USER.md": "me\n"}, summary="second | with a bar")
    made.write("memory/vault/a.md", "x\n", summary="third")
    made.note(Action.ALERT)
    return made


def kinds(history: History, *, deep: bool = False) -> list[str]:
    return [problem.kind for problem in verify(history, deep=deep).problems]


def log_of(notebook: Notebook) -> Path:
    return notebook.root / layout.AUDIT_LOG


def test_all_is_well(notebook: Notebook) -> None:
    found = verify(notebook.history, deep=True)
    assert (found.ok, found.problems, found.commits, found.entries) == (True, (), 4, 5)


def test_no_history_is_no_problem(tmp_path: Path) -> None:
    assert verify(Notebook(tmp_path).history).ok


def test_edits_of_files_are_found_whatever_their_dates(notebook: Notebook) -> None:
    (notebook.root / "MEMORY.md").write_text("2wo\n")
    (notebook.root / "USER.md").unlink()
    (notebook.root / "memory/vault/new.md").write_text("new\n")
    found = verify(notebook.history)
    assert [(p.kind, p.where) for p in found.problems] == [
        ("outside-edit", "USER.md"),
        ("outside-edit", "MEMORY.md"),
        ("outside-edit", "memory/vault/new.md"),
    ]
    notebook.history.adopt()
    assert verify(notebook.history).ok


def test_edits_of_the_log_are_found(notebook: Notebook) -> None:
    log = log_of(notebook)
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join([lines[0], *lines[2:]]), encoding="utf-8")
    assert kinds(notebook.history) == ["log-missing"]
    log.write_text("".join([*lines[:2], lines[2].replace("second", "nothing"), *lines[3:]]), encoding="utf-8")
    assert kinds(notebook.history) == ["log-missing", "log-extra"]
    log.write_text("".join([lines[1], lines[0], *lines[2:]]), encoding="utf-8")
    assert set(kinds(notebook.history)) == {"log-order"}
    log.write_text("".join([*lines, lines[0]]), encoding="utf-8")
    assert kinds(notebook.history) == ["log-extra"]
    log.write_text("".join([*lines, "what is this\n"]), encoding="utf-8")
    assert kinds(notebook.history) == ["log-line"]
    log.unlink()
    assert kinds(notebook.history) == ["log-missing"] * 5


def git(notebook: Notebook, *arguments: str, message: str | None = None) -> str:
    names = {f"GIT_{who}_{what}": "mallory" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = git_command(notebook.history.path, *arguments)
    done = subprocess.run(
        command, env={**git_environment(), **names}, input=message, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_rewritten_head_is_found(notebook: Notebook) -> None:
    head = notebook.history.head()
    assert head
    parent = notebook.history.store.commit(head).parent
    git(notebook, "update-ref", "refs/heads/main", str(parent))
    assert "rewritten" in kinds(notebook.history)
    assert "log-extra" in kinds(notebook.history)


def test_a_commit_by_another_program_is_found(notebook: Notebook) -> None:
    tree = git(notebook, "rev-parse", "HEAD^{tree}")
    commit = git(notebook, "commit-tree", tree, "-p", "HEAD", message="hello")
    git(notebook, "update-ref", "refs/heads/main", commit)
    assert kinds(notebook.history) == ["foreign-commit", "log-missing"]


def test_a_forged_commit_lacks_something(notebook: Notebook) -> None:
    tree = git(notebook, "rev-parse", "HEAD~3^{tree}")
    message = "[EDIT] USER.md — x\n\nActor: manual\nTransaction: abc\nAudit: EDIT | USER.md | auto | x\n"
    commit = git(notebook, "commit-tree", tree, "-p", "HEAD", message=message)
    git(notebook, "update-ref", "refs/heads/main", commit)
    found = kinds(notebook.history, deep=True)
    assert found[:3] == ["missing-trailer", "missing-trailer", "author"]
    assert "unaccounted" in found


@pytest.mark.parametrize("lost", ["Actor", "Approval", "Trigger", "Audit"])
def test_a_commit_that_leaves_out_one_trailer_is_found(notebook: Notebook, lost: str) -> None:
    message = git(notebook, "log", "-1", "--format=%B")
    left = "\n".join(line for line in message.splitlines() if not line.startswith(f"{lost}: "))
    assert left != message.rstrip("\n")
    commit = git(notebook, "commit-tree", "HEAD^{tree}", "-p", "HEAD~1", message=f"{left}\n")
    git(notebook, "update-ref", "refs/heads/main", commit)
    assert "missing-trailer" in kinds(notebook.history)


@pytest.mark.parametrize("how", ["replaced", "replaced, packed", "graft", "shallow", "branch", "detached"])
def test_what_makes_git_show_another_history_is_named(notebook: Notebook, how: str) -> None:
    folder = notebook.history.path
    newest, older = git(notebook, "rev-list", "main").split()[:2]
    made = git(notebook, "commit-tree", f"{newest}^{{tree}}", "-p", older, message="[EDIT] by nobody")
    forged = made.strip()
    if how.startswith("replaced"):
        git(notebook, "update-ref", f"refs/replace/{newest}", forged)
        if how.endswith("packed"):
            git(notebook, "pack-refs", "--all")
        where = "refs/replace"
    elif how == "branch":
        git(notebook, "update-ref", "refs/heads/other", forged)
        (folder / "HEAD").write_text("ref: refs/heads/other\n")
        where = "HEAD"
    elif how == "detached":
        (folder / "HEAD").write_text(f"{forged}\n")
        where = "HEAD"
    else:
        where = "shallow" if how == "shallow" else "info/grafts"
        (folder / where).write_text(f"{newest}\n")
    for deep in (False, True):
        found = verify(notebook.history, deep=deep)
        assert [(each.kind, each.where) for each in found.problems] == [("misleading", f".audit/{where}")]
        assert found.commits == 4


def test_a_broken_object_is_found(notebook: Notebook) -> None:
    store = notebook.history.store
    blob = store.tree_blob(store.tree_of(store.head()), "MEMORY.md")
    assert blob
    place = store.loose_path(blob)
    place.chmod(0o644)
    place.write_bytes(b"rubbish")
    store.forget_handles()
    assert "broken-object" in kinds(notebook.history)
    place.unlink()
    store.forget_handles()
    assert "broken-object" in kinds(notebook.history)


def test_an_unfinished_transaction_is_named(notebook: Notebook) -> None:
    journal = notebook.history.path / "workbench.journal"
    journal.write_bytes(journal.read_bytes().rpartition(b"done ")[0])
    assert kinds(notebook.history) == ["unfinished"]


def deeply(notebook: Notebook) -> list[str]:
    """Return the kinds of problems that a process finds which has read nothing yet."""
    fresh = History(notebook.root, clock=notebook.clock, state=notebook.history.state)
    return kinds(fresh, deep=True)


@pytest.fixture
def rich(notebook: Notebook) -> Notebook:
    """A history with objects that no branch leads to any more, loose ones and packed ones."""
    for number in range(8):
        notebook.write(f"memory/vault/{number}.md", f"{number}\n" * 40, summary=f"number {number}")
    git(notebook, "hash-object", "-w", "--stdin", message="nobody leads here")
    return notebook


def flip(place: Path, at: int) -> bytes:
    """Change one byte of a file; return what it held."""
    before = place.read_bytes()
    place.chmod(0o644)
    place.write_bytes(before[:at] + bytes([before[at] ^ 0x10]) + before[at + 1 :])
    return before


def test_a_flipped_byte_in_any_loose_object_is_found(rich: Notebook) -> None:
    places = sorted((rich.history.path / "objects").glob("??/*"))
    assert len(places) > 40
    missed = []
    for number, place in enumerate(places):
        size = place.stat().st_size
        before = flip(place, (0, size // 2, size - 1)[number % 3])
        if "broken-object" not in deeply(rich):
            missed.append(place.name)
        place.write_bytes(before)
    assert missed == []
    assert deeply(rich) == []


def test_a_flipped_byte_in_any_packed_object_is_found(rich: Notebook) -> None:
    git(rich, "repack", "-adq")
    git(rich, "prune-packed", "-q")
    (index,) = (rich.history.path / "objects/pack").glob("*.idx")
    rows = [line.split() for line in git(rich, "verify-pack", "-v", str(index)).splitlines()]
    spans = [
        (int(row[4]), int(row[3])) for row in rows if len(row) > 4 and row[1] in ("commit", "tree", "blob")
    ]
    assert len(spans) > 40
    pack = index.with_suffix(".pack")
    missed = []
    for start, size in spans:
        before = flip(pack, start + size // 2)
        if "broken-object" not in deeply(rich):
            missed.append(start)
        pack.write_bytes(before)
    assert missed == []
    before = flip(index, index.stat().st_size // 2)
    assert deeply(rich) != []
    index.write_bytes(before)
    assert deeply(rich) == []


def test_nothing_around_the_history_changes_what_is_found(
    rich: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {tmp_path}\n\tfsmonitor = {program}\n\tpager = {program}\n"
        "[fsck]\n\tmissingEmail = ignore\n[extensions]\n\tnonsense = 1\n"
    )
    monkeypatch.setenv("HOME", str(home))
    for name, value in {
        "GIT_DIR": str(tmp_path),
        "GIT_OBJECT_DIRECTORY": str(tmp_path),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.repositoryFormatVersion",
        "GIT_CONFIG_VALUE_0": "99",
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_EXEC_PATH": str(tmp_path),
        "GIT_PYTHON_REFRESH": "nonsense",
        "GIT_PYTHON_GIT_EXECUTABLE": str(program),
        "GIT_PYTHON_TRACE": "full",
    }.items():
        monkeypatch.setenv(name, value)
    code = (
        "import sys; from pathlib import Path; from workbench.engine.history.maintenance import run_git\n"
        "ran = run_git(Path(sys.argv[1]), 'fsck', '--full', '--strict')\n"
        "sys.exit(ran.status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(rich.history.path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    place = next(iter(sorted((rich.history.path / "objects").glob("??/*"))))
    flip(place, place.stat().st_size // 2)
    assert "broken-object" in deeply(rich)
    assert not ran.exists()
    assert not (tmp_path / "trace").exists()


def test_without_the_git_program_deep_says_so(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    assert verify(notebook.history).ok
    with pytest.raises(HistoryError, match="git program is missing") as raised:
        verify(notebook.history, deep=True)
    assert "Install git" in str(raised.value.remedy)


def _is_at(told: list[Progress], phase: str) -> bool:
    return phase in {each.phase for each in told}


def test_what_a_repack_moved_meanwhile_is_no_damage(rich: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    name = git(rich, "hash-object", "-w", "--stdin", message="read while it is moved")
    place = rich.history.path / "objects" / name[:2] / name[2:]
    before = flip(place, place.stat().st_size // 2)
    rich.history.lock_timeout = 0.1
    user = (rich.root / "USER.md").read_bytes()
    (rich.root / "USER.md").write_bytes(b"Edited.\n")
    with repacking_paused(rich.history.path, 0):
        found = verify(rich.history, deep=True).problems
    # What else was found is told all the same.
    assert {problem.kind for problem in found} == {"outside-edit", "broken-object"}
    assert all("being repacked" in problem.detail for problem in found if problem.kind == "broken-object")
    (rich.root / "USER.md").write_bytes(user)

    @contextmanager
    def repacked_at_last(folder: Path, wait: float) -> Iterator[None]:
        with repacking_paused(folder, wait):
            place.write_bytes(before)
            yield

    monkeypatch.setattr(maintenance, "repacking_paused", repacked_at_last)
    assert deeply(rich) == []


def test_what_seems_damaged_is_read_again_while_others_may_write(
    rich: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = git(rich, "hash-object", "-w", "--stdin", message="damaged for good")
    place = rich.history.path / "objects" / name[:2] / name[2:]
    flip(place, place.stat().st_size // 2)
    looks: list[bool] = []
    look = maintenance._complaints

    def complaints(store: GitStore, steps: Steps) -> Sequence[str]:
        # Raises where the lock that a sync or a purge waits for is taken.
        with repacking_paused(rich.history.path, 0):
            looks.append(True)
        return look(store, steps)

    monkeypatch.setattr(maintenance, "_complaints", complaints)
    found = verify(rich.history, deep=True).problems
    assert len(looks) == 2
    assert {problem.kind for problem in found} == {"broken-object"}
    assert not any("repacked" in problem.detail for problem in found)


def test_it_tells_how_far_it_is_and_can_be_called_off_at_each_step(rich: Notebook) -> None:
    told: list[Progress] = []
    assert verify(rich.history, deep=True, progress=told.append).ok
    assert list(dict.fromkeys(each.phase for each in told)) == ["commits", "changes", "objects"]
    assert all(0 <= each.done <= (each.total or each.done) for each in told)
    for phase in ("commits", "changes", "objects"):
        told.clear()
        with pytest.raises(Cancelled):
            verify(
                rich.history,
                deep=True,
                progress=told.append,
                cancelled=partial(_is_at, told, phase),
            )
        assert told[-1].phase == phase
