from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.sync.household import Household
from workbench.engine import Workspace
from workbench.engine.errors import (
    ConfirmationNeeded,
    InvalidInput,
    Refused,
    RemoteError,
    RoleRefused,
    SecretFound,
)
from workbench.engine.sync.remotes import GitTransport


@pytest.fixture
def home(tmp_path: Path) -> Household:
    return Household(tmp_path)


def test_memory_comes_into_an_empty_folder(home: Household) -> None:
    home.begin("laptop")
    home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
    home.sync("laptop")
    home.join("desk")
    assert home.files("desk") == home.files("laptop")
    assert home.head("desk") == home.head("laptop")
    assert home.is_clean("desk")


def test_what_both_wrote_is_on_both(home: Household) -> None:
    home.begin("laptop", "desk")
    home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
    home.remember("desk", "Jo works on the frontend of Apollo", "person:Jo")
    home.sync("laptop", "desk", "laptop")
    assert home.files("desk") == home.files("laptop")
    assert {"memory/graph/entities/person--sam.md", "memory/graph/entities/person--jo.md"} <= home.files(
        "desk"
    ).keys()
    assert home.is_clean("desk")
    assert home.is_clean("laptop")


def test_nothing_new_sends_and_takes_in_nothing(home: Household) -> None:
    home.begin("laptop", "desk")
    before = home.head("desk")
    synced = home.sync("desk")
    assert (synced.sent, synced.received, home.head("desk")) == (0, 0, before)


def test_a_new_remote_needs_a_person_who_confirms_it(home: Household) -> None:
    Workspace.init(home.root("laptop"), clock=home.clock, timezone="UTC")
    with home.opened("laptop") as workspace, pytest.raises(ConfirmationNeeded):
        workspace.sync(str(home.remote))
    with home.opened("laptop", "main") as workspace, pytest.raises(RoleRefused):
        workspace.sync(str(home.remote), confirmed=True)
    assert not home.remote.exists()


def test_the_main_agent_may_sync_with_what_a_person_named(home: Household) -> None:
    home.begin("laptop")
    with home.opened("laptop", "main") as workspace:
        assert workspace.sync().ok
    with home.opened("laptop", "agent:helper") as workspace, pytest.raises(RoleRefused):
        workspace.sync()


def test_looking_changes_nothing_here_and_there(home: Household) -> None:
    Workspace.init(home.root("laptop"), clock=home.clock, timezone="UTC")
    with home.opened("laptop") as workspace:
        found = workspace.sync_preview(str(home.remote))
    assert found.makes_remote
    assert found.outgoing.commits == 1
    assert not home.remote.exists()
    home.join("laptop")
    with home.opened("desk") as workspace:
        assert workspace.sync_preview(str(home.remote)).brings_memory
    assert list(home.root("desk").iterdir()) == []
    with home.opened("laptop") as workspace:
        before = (home.root("laptop") / ".audit").stat().st_mtime_ns
        workspace.sync_preview()
        assert (home.root("laptop") / ".audit").stat().st_mtime_ns == before


def test_a_copied_folder_sends_memory_nowhere(home: Household) -> None:
    home.begin("laptop")
    shutil.copytree(home.root("laptop"), home.folder / "copy")
    with home.opened("copy") as workspace:
        assert workspace.sync_status().remote is None
        with pytest.raises(InvalidInput, match="no remote"):
            workspace.sync()


def test_another_memory_is_not_mixed_in(home: Household) -> None:
    home.begin("laptop")
    Workspace.init(home.root("other"), clock=home.clock, timezone="UTC")
    with pytest.raises(RemoteError, match="another memory"):
        home.join("other")
    notes = home.root("notes")
    (notes / "MEMORY.md").write_text("# Mine\n")
    with pytest.raises(RemoteError, match="another memory"):
        home.join("notes")
    assert [each.name for each in notes.iterdir()] == ["MEMORY.md"]


def test_a_repository_of_code_is_left_alone(home: Household) -> None:
    Workspace.init(home.root("laptop"), clock=home.clock, timezone="UTC")
    code = home.folder / "code"
    for command in (
        ["init", "-q", "-b", "trunk", str(code)],
        [
            "-C",
            str(code),
            "-c",
            "user.name=n",
            "-c",
            "user.email=n@example.org",
            "commit",
            "-qm",
            "x",
            "--allow-empty",
        ],
    ):
        subprocess.run(["git", *command], check=True)
    with pytest.raises(RemoteError, match="something else"):
        home.join("laptop", str(code))


@pytest.mark.parametrize(
    "name",
    [
        "",
        "--upload-pack=touch x",
        "ext::sh -c true",
        "gopher://example.org/x",
        "https://me:secret@example.org/x",
        "https://secret@example.org/x",
        "ssh://me:secret@example.org/x",
        "ftp://secret@example.org/x",
    ],
)
def test_what_is_no_remote_is_refused(home: Household, name: str) -> None:
    Workspace.init(home.root("laptop"), clock=home.clock, timezone="UTC")
    with home.opened("laptop") as workspace, pytest.raises(InvalidInput) as caught:
        workspace.sync(name, confirmed=True)
    assert "secret@" not in str(caught.value)


def test_a_remote_that_lost_its_disk_is_not_made_anew_unasked(home: Household) -> None:
    home.begin("laptop")
    shutil.rmtree(home.remote)
    with pytest.raises(RemoteError, match="not there"):
        home.sync("laptop")
    with home.opened("laptop") as workspace:
        trouble = workspace.sync_status().trouble
    assert trouble is not None
    home.join("laptop")
    assert home.remote.exists()


def test_a_remote_set_back_to_a_backup_gets_back_what_it_lacks(home: Household) -> None:
    home.begin("laptop", "desk")
    backup = home.folder / "backup"
    shutil.copytree(home.remote, backup)
    home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
    home.sync("laptop")
    shutil.rmtree(home.remote)
    backup.rename(home.remote)
    home.remember("desk", "Jo works on the frontend of Apollo", "person:Jo")
    home.sync("desk", "laptop", "desk")
    assert home.files("desk") == home.files("laptop")


def test_a_secret_of_the_past_does_not_leave(home: Household) -> None:
    Workspace.init(home.root("laptop"), clock=home.clock, timezone="UTC")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    settings = home.root("laptop") / "workbench.toml"
    kept = settings.read_text()
    settings.write_text(f"{kept}secrets.hold_back = false\n")
    home.remember("laptop", f"The deploy token is {token}", "tool:Deploy")
    with home.opened("laptop") as workspace:
        workspace.forget("deploy token", apply=True, hard=True)
    settings.write_text(kept)
    with home.opened("laptop") as workspace:
        found = workspace.sync_preview(str(home.remote)).secrets
    assert [each.is_past for each in found] == [True] * len(found) != []
    with pytest.raises(SecretFound) as caught:
        home.join("laptop")
    assert token not in str(caught.value)
    assert not home.says(home.remote, token)


def test_the_faster_device_makes_the_other_go_round_again(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.begin("laptop", "desk")
    home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
    home.remember("desk", "Jo works on the frontend of Apollo", "person:Jo")
    push = GitTransport.push

    def after_the_desk(way: GitTransport, *given: object) -> None:
        monkeypatch.setattr(GitTransport, "push", push)
        home.sync("desk")
        push(way, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(GitTransport, "push", after_the_desk)
    home.sync("laptop")
    home.sync("desk")
    assert home.files("desk") == home.files("laptop")


def test_a_retired_device_is_refused_until_a_person_brings_it_back(home: Household) -> None:
    home.begin("laptop", "desk")
    with home.opened("laptop") as workspace:
        devices = workspace.sync_retire("desk").devices
    assert [(each.name, each.retired_by) for each in devices] == [("laptop", None), ("desk", "laptop")]
    with pytest.raises(Refused, match="retired by laptop"):
        home.sync("desk")
    home.join("desk")
    home.sync("laptop")
    with home.opened("laptop") as workspace:
        names = [(each.name, each.retired_by) for each in workspace.sync_status().devices]
    assert sorted(names, key=str) == [("desk", "laptop"), ("desk", None), ("laptop", None)]


def test_two_devices_of_one_name_are_told_apart(home: Household) -> None:
    home.begin("laptop")
    with home.opened("second") as workspace:
        assert workspace.sync(str(home.remote), confirmed=True, device="laptop").device == "laptop-2"


def test_audit_lines_name_the_device(home: Household) -> None:
    home.begin("laptop", "desk")
    home.remember("desk", "Jo works on the frontend of Apollo", "person:Jo")
    home.sync("desk", "laptop")
    log = (home.root("laptop") / "memory/meta/audit.log").read_text()
    assert " · on desk (" in log.splitlines()[-1]


def test_nothing_that_the_workspace_or_the_remote_says_is_run(home: Household) -> None:
    home.begin("laptop", "desk")
    touched = home.folder / "touched"
    script = home.folder / "script"
    script.write_text(f"#!/bin/sh\ntouch {touched}\n")
    script.chmod(0o755)
    with (home.root("laptop") / ".audit/config").open("a") as config:
        config.write(f"\tsshCommand = {script}\n\tfsmonitor = {script}\n\tpager = {script}\n")
        config.write(
            f'[credential]\n\thelper = {script}\n[url "ext::{script}"]\n\tinsteadOf = {home.remote}\n'
        )
    hooks = home.remote / "hooks"
    hooks.mkdir()
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        os.link(script, hooks / name)
    person = Path(os.environ["HOME"]) / ".gitconfig"
    person.write_text(f"[core]\n\thooksPath = {hooks}\n")
    os.link(script, hooks / "pre-push")
    try:
        home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
        assert home.sync("laptop").sent
    finally:
        person.unlink()
    assert not touched.exists()
    assert home.sync("desk").received


def test_a_remote_that_refuses_keeps_nobody_from_working(home: Household) -> None:
    home.begin("laptop", "desk")
    lock = home.remote / "refs/heads/main.lock"
    lock.touch()
    home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
    with pytest.raises(RemoteError, match="locked"):
        home.sync("laptop")
    with home.opened("laptop") as workspace:
        assert workspace.sync_status().waiting == 1
    lock.unlink()
    assert home.sync("laptop").sent == 1


def test_an_address_with_a_token_is_refused_with_the_one_to_name_instead(home: Household) -> None:
    Workspace.init(home.root("laptop"), clock=home.clock, timezone="UTC")
    with home.opened("laptop") as workspace, pytest.raises(InvalidInput) as caught:
        workspace.sync("https://ghp_token@example.org/memory.git", confirmed=True)
    assert "workbench sync https://example.org/memory.git" in str(caught.value)
    assert "credential.helper" in str(caught.value)
    assert "ghp_token" not in str(caught.value)


def test_a_token_that_was_kept_before_is_not_shown_and_goes(home: Household) -> None:
    home.begin("laptop")
    with home.opened("laptop") as workspace:
        place = workspace._context.state / "sync.json"
        kept = place.read_text().replace(str(home.remote), "https://nora:ghp_token@127.0.0.1:9/memory.git")
        place.write_text(kept)
        assert workspace.sync_status().remote == "https://127.0.0.1:9/memory.git"
        with pytest.raises(RemoteError) as caught:
            workspace.sync()
    assert "ghp_token" not in str(caught.value)
    assert "ghp_token" not in place.read_text()


def test_what_git_says_is_told_without_a_token(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    home.begin("laptop")
    person = home.folder / "person"
    person.mkdir()
    rewritten = f'[url "https://nora:ghp_token@127.0.0.1:9/"]\n\tinsteadOf = {home.remote}/\n'
    (person / ".gitconfig").write_text(rewritten.replace(f"{home.remote}/", "https://memory.example.org/"))
    monkeypatch.setenv("HOME", str(person))
    with home.opened("laptop") as workspace, pytest.raises(RemoteError) as caught:
        workspace.sync_preview("https://memory.example.org/m.git")
    assert "ghp_token" not in str(caught.value)


def test_what_is_kept_about_syncing_is_for_its_owner_alone(home: Household) -> None:
    home.begin("laptop")
    with home.opened("laptop") as workspace:
        state = workspace._context.state
        state.chmod(0o755)
        workspace.sync()
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / "sync.json").stat().st_mode & 0o777 == 0o600
