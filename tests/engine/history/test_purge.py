"""After a purge the text is nowhere in the history, everything else is, and a kill at any step loses neither."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.history.notebook import OWNER, PERSON, START, Notebook
from tests.engine.history.purging import SECRET, purge_named
from workbench.engine import layout
from workbench.engine.clock import FixedClock
from workbench.engine.errors import Locked, NotFound, Refused
from workbench.engine.history.audit import blame, prune
from workbench.engine.history.commits import parse_message
from workbench.engine.history.history import History
from workbench.engine.history.maintenance import REPACK_LOCK, git_command, git_environment, run_git, verify
from workbench.engine.history.plan import Action
from workbench.engine.history.purge import Purged
from workbench.engine.history.revert import item_trailers, revert
from workbench.engine.history.undo import redo, undo

ALEX = "memory/graph/entities/person--alex.md"
FACTS = "# person--alex\n\n## Facts\n- Likes tea ^aaaa\n"
FACT = f"- {SECRET} (since 2026-02-02, from episode:2026-02-02:14:30) ^f7k2\n"
EPISODE = f"# 2026-02-02 — Episode Log\n\n## 14:30 | fact\nOf codes.\n{SECRET}.\nAnd more.\n"


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return told(tmp_path)


def told(folder: Path) -> Notebook:
    """Make a workspace in which a secret was said in every way, packed, undone, pruned and rolled about."""
    made = Notebook(folder)
    made.write(ALEX, FACTS, summary="met Alex")
    trailers = item_trailers("r-001.1", "approved", {ALEX: (FACTS.encode(), (FACTS + FACT).encode())})
    made.write(ALEX, FACTS + FACT, actor="reflection:r-001", summary=f"noted “{SECRET}”", trailers=trailers)
    made.write("memory/episodes/2026-02-02.md", EPISODE, action=Action.CREATE, summary=f"{SECRET[:30]}…")
    undo(made.history, PERSON)
    redo(made.history, PERSON)
    made.write("MEMORY.md", f"# Core\n\n## Critical Facts\n- {SECRET}\n- Else\n", summary="in other words")
    run_git(made.history.path, "repack", "-adq")
    made.write(
        layout.DECAY_SCORES, '{"entries": {"entity:person--alex#^f7k2": {"a": 1}, "entity:person--alex": {}}}'
    )
    made.write(ALEX, FACTS + FACT + "- Likes jam ^jjjj\n", summary="learned more")
    made.write(
        layout.AUDIT_ARCHIVE, f"# Audit Digest — January 2026\n\n## Notable Events\n- 2026-01-01: {SECRET}\n"
    )
    made.write("SOUL.md", "kind\n", actor="manual")
    git = git_command(
        made.history.path, "update-ref", "--create-reflog", "-m", SECRET, "refs/heads/other", "HEAD"
    )
    subprocess.run(
        git, env={**git_environment(), "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "b"}, check=True
    )
    return made


def everything(notebook: Notebook) -> bytes:
    """Return all there is to read of history and files, inflated."""
    folder = notebook.history.path
    objects = subprocess.run(
        git_command(folder, "cat-file", "--batch-all-objects", "--batch", "--unordered"),
        env=git_environment(),
        capture_output=True,
        check=True,
    ).stdout
    files = [place.read_bytes() for place in notebook.root.rglob("*") if place.is_file()]
    state = [place.read_bytes() for place in notebook.history.state.rglob("*") if place.is_file()]
    return b"\0".join([objects, *files, *state])


def purge_it(notebook: Notebook) -> Purged[None]:
    return purge_named(notebook.history, ["entity:person--alex#^f7k2"], [SECRET])


def test_the_text_is_gone_from_everywhere(notebook: Notebook) -> None:
    assert SECRET.encode() in everything(notebook)
    objects = notebook.history.path / "objects"
    old = {place for place in objects.rglob("*") if place.is_file()}
    purge_it(notebook)
    # A pack without its index is no object to git, and still holds the text.
    assert old.isdisjoint(objects.rglob("*"))
    left = everything(notebook)
    for piece in (SECRET, "47-KXZQ", SECRET[:30], "in other words", "#^f7k2"):
        assert piece.encode() not in left, piece
    assert b"Likes tea" in left
    assert not (notebook.history.path / "logs").exists()
    found = verify(notebook.history, deep=True)
    assert found.ok, found.problems


def test_everything_else_stays_as_it_was(notebook: Notebook) -> None:
    before = list(notebook.history.store.walk())
    done = purge_it(notebook)
    newest, *after = list(notebook.history.store.walk())
    assert [(c.author, c.moment) for c in after] == [(c.author, c.moment) for c in before]
    assert [done.commits[c.id] for c in before] == [c.id for c in after]
    assert newest.id == done.commit
    assert parse_message(newest).action == "PURGE"
    assert "Alex" not in newest.message
    assert notebook.read(ALEX) == FACTS + "- Likes jam ^jjjj\n"
    assert notebook.read("MEMORY.md") == "# Core\n\n## Critical Facts\n- Else\n"
    assert notebook.read("memory/episodes/2026-02-02.md") == EPISODE.replace(f"{SECRET}.\n", "")
    old_messages = {c.id: parse_message(c) for c in before}
    for commit in before:
        then, now = (
            old_messages[commit.id],
            parse_message(notebook.history.store.commit(done.commits[commit.id])),
        )
        assert (then.action, then.actor, then.approval, then.transaction) == (
            now.action, now.actor, now.approval, now.transaction,
        )  # fmt: skip
        assert [key for key, _ in then.trailers] == [key for key, _ in now.trailers]
        if "47-KXZQ" not in commit.message and now.summary != "[purged]":
            assert then.entries == now.entries or any(old[:10] in commit.message for old in done.commits)


def test_history_goes_on_as_before(notebook: Notebook) -> None:
    purge_it(notebook)
    assert not notebook.history.adopt().commits
    assert [alert.file for alert in notebook.history.alerts()] == ["SOUL.md"]
    with pytest.raises(Refused, match="purged"):
        undo(notebook.history, OWNER)
    messages = [(commit.id, parse_message(commit)) for commit in notebook.history.store.walk()]
    (born,) = [commit for commit, said in messages if (said.file, said.actor) == ("SOUL.md", "manual")]
    revert(notebook.history, born, OWNER)
    assert notebook.read("SOUL.md") is None
    lines = blame(notebook.root, notebook.history.store, ALEX).lines
    assert [line.text for line in lines][-1] == "- Likes jam ^jjjj"
    learned = next(e for e in notebook.entries() if e.summary == "met Alex")
    assert learned.commit
    notebook.clock.advance(days=200)
    prune(notebook.history)
    assert verify(notebook.history, deep=True).ok


def test_references_between_commits_follow(notebook: Notebook) -> None:
    done = purge_it(notebook)
    messages = [parse_message(commit) for commit in notebook.history.store.walk()]
    undone = [message.trailer("Undoes") for message in messages if message.trailer("Undoes")]
    redone = [message.trailer("Redoes") for message in messages if message.trailer("Redoes")]
    assert undone == redone
    assert undone[0] in done.commits.values()
    assert not any(old[:10] in m.summary for m in messages for old in done.commits)


def test_a_whole_file_goes_with_its_name(notebook: Notebook) -> None:
    notebook.write(
        "memory/graph/entities/person--eve.md", "# person--eve\n\nSpy.\n", summary="met person--eve"
    )
    commit = notebook.write("memory/graph/entities/person--eve.md", None, action=Action.DELETE)
    purge_named(notebook.history, ["entity:person--eve"], [])
    left = everything(notebook)
    assert b"Spy." not in left
    assert b"person--eve.md" not in left
    assert b"met person--eve" not in left
    with pytest.raises(NotFound):
        revert(notebook.history, commit, PERSON)
    assert verify(notebook.history, deep=True).ok


def test_histories_set_aside_are_named(notebook: Notebook) -> None:
    (notebook.root / ".audit.damaged-20260101T000000Z").mkdir()
    told = purge_it(notebook).told
    assert told == ("May still hold it, for you to delete: .audit.damaged-20260101T000000Z.",)


def test_a_purge_does_not_run_beside_a_repacking(notebook: Notebook) -> None:
    notebook.history.lock_timeout = 0.1
    head = notebook.history.head()
    with (notebook.history.path / REPACK_LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Locked):
            purge_it(notebook)
    assert notebook.history.head() == head


BEFORE_THE_MARKER = [("plan", 0), ("rewrite", 0), ("pack", 0), ("checkpoint", 0), ("mark", 0)]
AFTER_THE_MARKER = [
    *((name, 0) for name in ("files", "project", "elsewhere", "branch")),
    *(("remove", number) for number in (0, 1, 7)),
    *((name, 0) for name in ("journal", "state", "log", "derived", "marker")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("step", "number"), [*BEFORE_THE_MARKER, *AFTER_THE_MARKER])
def test_a_kill_before_any_step_leaves_the_old_history_or_the_new(
    notebook: Notebook, tmp_path: Path, step: str, number: int
) -> None:
    before = notebook.history.head()
    command = [sys.executable, "-m", "tests.engine.history.purging"]
    command += [str(notebook.root), str(tmp_path / "state"), step, str(number)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    history = History(notebook.root, clock=FixedClock(START), state=tmp_path / "state")
    history.adopt()
    found = verify(history, deep=True)
    assert found.ok, found.problems
    assert [alert.file for alert in history.alerts()] == ["SOUL.md"]
    purged = any(parse_message(commit).action == Action.PURGE for commit in history.store.walk())
    assert purged == ((step, number) in AFTER_THE_MARKER)
    assert (b"47-KXZQ" in everything(notebook)) != purged
    if not purged:
        assert history.head() == before
        purge_it(notebook)
        assert b"47-KXZQ" not in everything(notebook)
