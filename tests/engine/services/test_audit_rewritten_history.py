"""Rewritten history is told by `audit verify`, whichever command comes first, until a person has acknowledged it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.errors import HistoryDamaged
from workbench.engine.results.audit import VerifyProblem

BRANCH = ".audit/refs/heads/main"
ROLES = ("person", "main", "agent:scout", "reader")


@pytest.fixture
def home(tmp_path: Path) -> AgentHome:
    made = AgentHome(tmp_path / "home")
    made.furnish()
    made.init()
    with made.open() as workspace:
        workspace.remember("Robin sold the boat", store="episodic")
        made.clock.advance(minutes=5)
        workspace.remember("Robin bought a canoe", store="episodic")
    made.clock.advance(minutes=5)
    return made


def _git(home: AgentHome, *arguments: str, message: str | None = None, **variables: str) -> str:
    command = ["git", f"--git-dir={home.root / '.audit'}", *arguments]
    environment = {**os.environ, "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@x", **variables}
    return subprocess.run(
        command, input=message, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def _amended(home: AgentHome, commit: str, parent: str | None) -> str:
    """Make a commit again that says it was a person's own; return it."""
    message = _git(home, "log", "-1", "--format=%B", commit).replace("Actor: manual", "Actor: bot:main")
    author, mail, date = _git(home, "log", "-1", "--format=%an%n%ae%n%aI", commit).splitlines()
    parents = ("-p", parent) if parent else ()
    who = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": mail, "GIT_AUTHOR_DATE": date}
    return _git(home, "commit-tree", f"{commit}^{{tree}}", *parents, message=message, **who)


def delete_the_branch(home: AgentHome) -> None:
    (home.root / BRANCH).unlink()


def delete_the_folder(home: AgentHome) -> None:
    shutil.rmtree(home.root / ".audit")


def make_the_folder_again(home: AgentHome) -> None:
    delete_the_folder(home)
    with home.open() as workspace:
        workspace.remember("Robin never had a canoe", store="episodic")


def make_the_folder_again_elsewhere(home: AgentHome) -> None:
    """As a program does that has a state folder of its own."""
    delete_the_folder(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(home.root.parent / "other-state"))
        with home.open() as workspace:
            workspace.remember("Robin never had a canoe", store="episodic")


def drop_the_last_commit(home: AgentHome) -> None:
    """And edit the file to match it."""
    head, parent = _git(home, "rev-parse", "HEAD"), _git(home, "rev-parse", "HEAD~1")
    for path in _git(home, "diff", "--name-only", parent, head).splitlines():
        shown = ["git", f"--git-dir={home.root / '.audit'}", "show", f"{parent}:{path}"]
        before = subprocess.run(shown, capture_output=True, check=False)
        if before.returncode == 0:
            (home.root / path).write_bytes(before.stdout)
        else:
            (home.root / path).unlink()
    _git(home, "update-ref", "refs/heads/main", parent)


def change_the_last_actor(home: AgentHome) -> None:
    _git(home, "update-ref", "refs/heads/main", _amended(home, "HEAD", "HEAD~1"))


def change_an_older_actor(home: AgentHome) -> None:
    older = _amended(home, "HEAD~1", _git(home, "rev-parse", "HEAD~2"))
    _git(home, "update-ref", "refs/heads/main", _amended(home, "HEAD", older))


REWRITINGS = (
    delete_the_branch,
    delete_the_folder,
    make_the_folder_again,
    make_the_folder_again_elsewhere,
    drop_the_last_commit,
    change_the_last_actor,
    change_an_older_actor,
)
Rewriting = Callable[[AgentHome], None]


def rewritten(home: AgentHome, role: str) -> list[VerifyProblem]:
    with home.open(role) as workspace:
        verified = workspace.audit_verify()
        assert verified.ok is not bool(verified.problems)
        return [each for each in verified.problems if each.kind == "rewritten"]


def _log(workspace: Workspace) -> None:
    # Where nothing is left of the history, the log refuses and says so.
    with suppress(HistoryDamaged):
        workspace.audit_log(limit=3)


def _remember(workspace: Workspace) -> None:
    workspace.remember("Robin likes the lake", store="episodic")


def _search(workspace: Workspace) -> None:
    workspace.search("canoe")


FIRST: dict[str, tuple[str, Callable[[Workspace], object]]] = {
    **{f"verify as {role}": (role, lambda workspace: workspace.audit_verify()) for role in ROLES},
    "log": ("person", _log),
    "log as agent": ("agent:scout", _log),
    "remember": ("main", _remember),
    "search": ("main", _search),
    "brief": ("main", lambda workspace: workspace.brief()),
    "doctor": ("person", lambda workspace: workspace.doctor()),
}


def test_nothing_is_said_of_a_history_that_grew_here(home: AgentHome) -> None:
    assert all(not rewritten(home, role) for role in ROLES)


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("rewrite", REWRITINGS, ids=lambda rewrite: rewrite.__name__)
def test_every_role_is_told_whatever_was_done_first(home: AgentHome, rewrite: Rewriting, first: str) -> None:
    rewrite(home)
    role, do = FIRST[first]
    with home.open(role) as workspace:
        do(workspace)
    for each in ROLES:
        (problem,) = rewritten(home, each)
        assert problem.where == ".audit"
        assert "workbench " in problem.detail


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("rewrite", REWRITINGS, ids=lambda rewrite: rewrite.__name__)
def test_the_first_verify_tells(home: AgentHome, rewrite: Rewriting, role: str) -> None:
    rewrite(home)
    assert len(rewritten(home, role)) == 1


@pytest.mark.parametrize("rewrite", REWRITINGS, ids=lambda rewrite: rewrite.__name__)
def test_it_is_over_when_a_person_has_acknowledged_it(home: AgentHome, rewrite: Rewriting) -> None:
    rewrite(home)
    with home.open() as workspace:
        workspace.remember("Robin likes the lake", store="episodic")
        (alert,) = (each for each in workspace.audit_alerts().alerts if each.file == ".audit")
        (problem,) = (each for each in workspace.audit_verify().problems if each.kind == "rewritten")
        assert problem.detail.endswith(f"workbench audit ack {alert.id}")
        assert f"Noticed {alert.timestamp:%Y-%m-%d %H:%M}" in problem.detail
        workspace.acknowledge(alert.id)
    for role in ROLES:
        with home.open(role) as workspace:
            assert workspace.audit_verify().problems == ()


def test_a_history_that_is_put_back_is_the_one_last_seen(home: AgentHome, tmp_path: Path) -> None:
    (home.root / ".audit").rename(tmp_path / "aside")
    (problem,) = rewritten(home, "person")
    assert "gone" in problem.detail
    assert "workbench init" in problem.detail
    assert not (home.root / ".audit").exists()
    (tmp_path / "aside").rename(home.root / ".audit")
    assert all(not rewritten(home, role) for role in ROLES)


LOOKS: tuple[Callable[[Workspace], object], ...] = (
    lambda workspace: workspace.audit_log(),
    lambda workspace: workspace.audit_log(actor="nobody"),
    lambda workspace: list(workspace.audit_pages(5)),
    lambda workspace: workspace.audit_alerts(),
    lambda workspace: workspace.audit_show("abc1234"),
    lambda workspace: workspace.audit_diff("abc1234"),
    lambda workspace: workspace.audit_blame("MEMORY.md"),
    lambda workspace: workspace.audit_at("today"),
)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("role", ROLES)
def test_who_looks_into_a_history_that_is_gone_is_told_so(
    home: AgentHome, role: str, look: Callable[[Workspace], object]
) -> None:
    newest = home.commits()[0]
    delete_the_folder(home)
    with home.open(role=role) as workspace:
        with pytest.raises(HistoryDamaged, match=newest[:10]) as told:
            look(workspace)
        assert ".audit" in str(told.value.remedy)
        assert "workbench init" in str(told.value.remedy)


def test_a_reader_is_told_that_the_branch_is_gone(home: AgentHome) -> None:
    delete_the_branch(home)
    with home.open(role="reader") as workspace, pytest.raises(HistoryDamaged, match="gone"):
        workspace.audit_log()


def test_what_takes_back_says_that_the_history_is_gone(home: AgentHome) -> None:
    delete_the_folder(home)
    with home.open() as workspace, pytest.raises(HistoryDamaged, match="gone"):
        workspace.undo()


def test_a_workspace_that_never_had_a_history_has_an_empty_log(tmp_path: Path) -> None:
    untouched = AgentHome(tmp_path / "untouched")
    untouched.furnish()
    with untouched.open() as workspace:
        assert workspace.audit_log().entries == ()
        assert workspace.audit_alerts().alerts == ()


def test_an_older_copy_of_the_history_is_another_history(home: AgentHome, tmp_path: Path) -> None:
    shutil.copytree(home.root / ".audit", tmp_path / "copy")
    with home.open() as workspace:
        workspace.remember("Robin likes the lake", store="episodic")
    shutil.rmtree(home.root / ".audit")
    (tmp_path / "copy").rename(home.root / ".audit")
    assert len(rewritten(home, "reader")) == 1
    assert len(rewritten(home, "person")) == 1


def test_doctor_tells_a_deleted_history_from_one_that_never_was(home: AgentHome, tmp_path: Path) -> None:
    newest = home.commits()[0]
    shutil.rmtree(home.root / ".audit")
    with home.open() as workspace:
        check = next(each for each in workspace.doctor().checks if each.name == "history")
    assert (check.state, newest[:10] in check.detail) == ("broken", True)
    untouched = AgentHome(tmp_path / "untouched")
    untouched.furnish()
    with untouched.open() as workspace:
        check = next(each for each in workspace.doctor().checks if each.name == "history")
    assert check.state == "degraded"


def test_a_purge_is_no_rewriting_by_somebody_else(home: AgentHome) -> None:
    before = home.commits()
    with home.open() as workspace:
        (found, *_) = workspace.search("canoe").results
        workspace.forget(ids=[found.id], apply=True, hard=True, purge_history=True)
    assert before[0] not in home.commits()
    for role in ROLES:
        assert not rewritten(home, role)


def test_a_purge_leaves_an_open_alert_open(home: AgentHome) -> None:
    drop_the_last_commit(home)
    with home.open() as workspace:
        (found, *_) = workspace.search("boat").results
        workspace.forget(ids=[found.id], apply=True, hard=True, purge_history=True)
    for role in ROLES:
        assert len(rewritten(home, role)) == 1


@pytest.mark.parametrize("role", ROLES)
def test_neither_a_moved_nor_a_copied_workspace_alarms(home: AgentHome, tmp_path: Path, role: str) -> None:
    copy = AgentHome(tmp_path / "copy" / "of")
    shutil.copytree(home.root, copy.root, dirs_exist_ok=True)
    assert not rewritten(copy, role)
    with copy.open() as workspace:
        workspace.remember("The copy goes its own way", store="episodic")
    assert not rewritten(copy, role)
    assert not rewritten(home, role)
    moved = AgentHome(tmp_path / "moved")
    moved.root.rmdir()
    home.root.rename(moved.root)
    assert not rewritten(moved, role)
    # The copy takes the place of what it was copied from.
    copy.root.rename(home.root)
    assert not rewritten(home, role)
