"""Letting a key in, retiring a device and making a key for the drawer, killed at any step: nothing stays half."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sync.household import Household
from workbench.engine import Workspace
from workbench.engine.sync import job, keys, sealed
from workbench.engine.sync.remotes import GitTransport

pytestmark = pytest.mark.slow

STEPS: tuple[tuple[object, str], ...] = (
    (job, "save_link"),
    (sealed, "_save_seen"),
    (sealed.SealedTransport, "_seal"),
    (GitTransport, "push"),
    (GitTransport, "clean"),
    (keys, "_new_key"),
    (keys, "_write_new"),
)


def killed(home: Household, act: Callable[[Workspace], object], at: int) -> bool:
    """Do something on the laptop in a process that is killed before or after a step; return whether it got there.

    Args:
        at: Counts every beginning and every end of one of `STEPS`, from 1.
    """
    child = os.fork()
    if child == 0:
        left = at

        def tick() -> None:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

        def stepping(real: Callable[..., object]) -> Callable[..., object]:
            def step(*arguments: object, **named: object) -> object:
                tick()
                done = real(*arguments, **named)
                tick()
                return done

            return step

        for owner, name in STEPS:
            setattr(owner, name, stepping(getattr(owner, name)))
        try:
            with home.opened("laptop") as workspace:
                act(workspace)
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.fixture
def home(tmp_path: Path) -> Household:
    home = Household(tmp_path, sealed=True)
    home.begin("laptop", "desk")
    home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
    home.sync("laptop", "desk")
    (tmp_path / "stick").mkdir()
    return home


def void(home: Household) -> set[str]:
    """Return the objects of the remote that its branch does not lead to."""

    def listed(*arguments: str) -> set[str]:
        command = ["git", f"--git-dir={home.remote}", *arguments]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return {line.split()[0] for line in out.splitlines()}

    return listed("cat-file", "--batch-check", "--batch-all-objects") - listed(
        "rev-list", "--objects", "--all"
    )


def readers(home: Household) -> list[str]:
    with home.opened("laptop") as workspace:
        return sorted(each.key for each in workspace.sync_status().keys)


def test_letting_a_key_in_is_whole_or_not_at_all(home: Household) -> None:
    key, at = home.key("server"), 1
    while killed(home, lambda it: it.sync_allow(key), at):
        at += 1
        # The devices go on, and the remote holds nothing that is void.
        home.remember("desk", f"Jo wrote note {at} on Apollo", "person:Jo")
        home.sync("laptop", "desk", "laptop")
        assert home.files("desk") == home.files("laptop")
        assert void(home) == set()
        if key in readers(home):
            with home.opened("laptop") as workspace:
                workspace.sync_retire(key)
    assert at > 8
    home.join("server")
    assert home.files("server") == home.files("laptop")


def test_a_device_is_retired_or_not(home: Household) -> None:
    at = 1
    while killed(home, lambda it: it.sync_retire("desk"), at):
        at += 1
        home.sync("laptop")
        assert void(home) == set()
        with home.opened("laptop") as workspace:
            status = workspace.sync_status()
        is_retired = any(each.retired_by for each in status.devices if each.name == "desk")
        assert (home.key("desk") in readers(home)) is not is_retired
        if is_retired:
            # Made anew for the next step.
            home.allow("laptop", home.key("desk"))
            home.join("desk")
            home.sync("laptop")
    assert at > 8


def test_a_key_for_the_drawer_is_let_in_and_in_its_file_or_neither(home: Household) -> None:
    at, before = 1, readers(home)
    drawer = home.folder / "stick" / "drawer.key"
    while killed(home, lambda it: it.sync_recovery(str(drawer)), at):
        at += 1
        home.sync("laptop")
        assert void(home) == set()
        # What was interrupted is finished by doing it again: one key, and nothing beside its file.
        with home.opened("laptop") as workspace:
            key = workspace.sync_recovery(str(drawer)).key
        assert [each.name for each in drawer.parent.iterdir()] == [drawer.name]
        assert readers(home) == sorted([*before, key])
        assert keys.load_identity(drawer).public == key
        with home.opened("laptop") as workspace:
            workspace.sync_retire(key)
        drawer.unlink()
    assert at > 8
