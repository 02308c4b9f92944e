"""Tokens for agents from elsewhere: kept outside the workspace, known by a hash, revoked at once."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.clock import SystemClock
from workbench.engine.errors import InvalidInput, NotFound, RoleRefused
from workbench.engine.results.access import TokenAdded
from workbench.engine.secrets.detection import find_secrets
from workbench.engine.services.access import TokenFolder


@pytest.fixture
def owner(settled: AgentHome) -> Iterator[Workspace]:
    with settled.open() as workspace:
        yield workspace


def folder_of(workspace: Workspace) -> TokenFolder:
    return TokenFolder(workspace.state, SystemClock())


def test_a_token_opens_what_it_was_made_for_until_it_is_revoked(owner: Workspace) -> None:
    scout = owner.token_add("scout")
    family = owner.token_add("family", role="reader", scope="group:family", per_minute=7)
    tokens = folder_of(owner)
    opened = tokens.opened_by(family.secret)
    assert opened
    assert (str(opened.role), opened.scope, opened.per_minute) == ("reader", "group:family", 7)
    assert [each.name for each in owner.tokens().tokens] == ["family", "scout"]
    owner.token_revoke("family")
    assert tokens.opened_by(family.secret) is None
    assert not tokens.stands(opened)
    assert tokens.opened_by(scout.secret)
    with pytest.raises(NotFound):
        owner.token_revoke("family")


def test_one_that_is_made_again_is_another(owner: Workspace) -> None:
    first = owner.token_add("scout")
    opened = folder_of(owner).opened_by(first.secret)
    assert opened
    owner.token_revoke("scout")
    second = owner.token_add("scout")
    assert folder_of(owner).opened_by(first.secret) is None
    assert folder_of(owner).opened_by(second.secret)
    assert not folder_of(owner).stands(opened)


def test_the_secret_is_kept_nowhere_and_the_files_are_the_user_s_alone(
    owner: Workspace, tmp_path: Path
) -> None:
    before = {path for path in owner.root.rglob("*") if path.is_file()}
    secret = owner.token_add("scout").secret.partition("wbt_")[2]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]
    assert {path for path in owner.root.rglob("*") if path.is_file()} == before
    place = Path(owner.tokens().place)
    assert place.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in place.iterdir()} == {0o600}


def test_a_copy_of_the_workspace_has_no_tokens(owner: Workspace, tmp_path: Path) -> None:
    secret = owner.token_add("scout").secret
    shutil.copytree(owner.root, tmp_path / "copy")
    with Workspace.open(tmp_path / "copy", role="person") as copy:
        assert copy.tokens().tokens == ()
        assert folder_of(copy).opened_by(secret) is None


def test_a_token_is_a_secret_to_memory(owner: Workspace) -> None:
    secret = owner.token_add("scout").secret
    assert [each.kind for each in find_secrets(f"Log in with {secret} there")] == ["Workbench token"]


@pytest.mark.parametrize(
    "name",
    ["", "Scout", "main", "refused", "reader", "trigger-remember", "../x", "a b", "a\nb", "-a", "x" * 65],
)
def test_a_name_that_could_mislead_is_refused(owner: Workspace, name: str) -> None:
    with pytest.raises(InvalidInput):
        owner.token_add(name)
    with pytest.raises(NotFound):
        owner.token_revoke(name)


@pytest.mark.parametrize("role", ["person", "agent:other", "owner"])
def test_no_token_is_a_person_s_or_another_agent_s(owner: Workspace, role: str) -> None:
    with pytest.raises(InvalidInput):
        owner.token_add("scout", role=role)


def test_only_a_person_says_who_comes_in(settled: AgentHome) -> None:
    for role in ("main", "agent:scout", "reader"):
        with settled.open(role) as door:
            for ask in (door.tokens, lambda d=door: d.token_add("x"), lambda d=door: d.token_revoke("x")):
                with pytest.raises(RoleRefused):
                    ask()


_ADD = """
import sys
from workbench.engine import Workspace
from workbench.engine.errors import InvalidInput
with Workspace.open(sys.argv[1], role="person") as workspace:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(40):
        try:
            print(workspace.token_add(f"t{number}").secret)
        except InvalidInput:
            pass
"""


def test_of_two_processes_one_makes_a_token(owner: Workspace) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "-c", _ADD, str(owner.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    made = [line for process in both for line in process.communicate()[0].splitlines()]
    assert len(made) == 40
    assert all(folder_of(owner).opened_by(secret) for secret in made)


def test_a_broken_file_lets_nobody_in_and_is_told(owner: Workspace) -> None:
    added = owner.token_add("scout")
    file = Path(owner.tokens().place) / "scout.json"
    kept = json.loads(file.read_text())
    for broken in (
        "",
        "{",
        "[]",
        json.dumps({**kept, "role": "person"}),
        json.dumps({**kept, "perMinute": 0}),
    ):
        file.write_text(broken)
        assert folder_of(owner).opened_by(added.secret) is None
    assert owner.tokens().unreadable == ("scout",)
    owner.token_revoke("scout")
    assert owner.tokens().unreadable == ()


@given(shown=st.text())
def test_whatever_is_shown_opens_nothing(tmp_path_factory: pytest.TempPathFactory, shown: str) -> None:
    assert TokenFolder(tmp_path_factory.getbasetemp(), SystemClock()).opened_by(shown) is None


def test_a_log_tells_the_last_use_and_stays_small(owner: Workspace) -> None:
    added: TokenAdded = owner.token_add("scout")
    tokens = folder_of(owner)
    assert owner.tokens().tokens[0].last_used is None
    tokens.note("scout", {"from": "192.0.2.7", "http": "POST", "name": "a\nb\x1b[31m", "status": 200})
    last = owner.tokens().tokens[0]
    assert last.last_used
    assert last.last_from == "192.0.2.7"
    log = tokens.place / "scout.log"
    assert re.fullmatch(r'[ -~]*"token": "scout"[ -~]*', log.read_text().splitlines()[-1])
    while not (tokens.place / "scout.log.1").exists():
        tokens.note("scout", {"http": "x" * 1000, "method": "y" * 1000, "status": 200})
    assert sum(file.stat().st_size for file in tokens.place.glob("scout.log*")) < 3 << 20
    first = json.loads(log.read_text().splitlines()[0])
    assert (first["event"], first["earlier"]) == ("continued", "scout.log.1")
    assert folder_of(owner).opened_by(added.secret)
