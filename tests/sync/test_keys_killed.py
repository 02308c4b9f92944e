"""Letting a key in, retiring a device and making a key for the drawer, killed at any moment: nothing stays half."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sync.household import Household, public_key
from tests.sync.test_lives import RUNS, SAMPLE
from workbench.engine import Workspace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize(
        "seed",
        [pytest.param(seed, marks=[pytest.mark.campaign] * (seed > SAMPLE)) for seed in range(1, RUNS + 1)],
    ),
]

DEATHS = 6


class Reaper:
    """Kills what the laptop does, each time at another moment.

    Args:
        seed: Decides how far in a kill falls, as a share of what the act takes, and whether its git dies with it.
    """

    def __init__(self, home: Household, seed: int) -> None:
        self._home = home
        self._random = random.Random(seed)
        self._longest = 0.0

    def run(self, act: Callable[[Workspace], object]) -> bool:
        """Do something in a process of its own; return whether it was killed. The first is left to its end."""
        share, with_git = self._random.random(), self._random.random() < 1 / 2
        began = time.perf_counter()
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            self._be(act)
        os.setpgid(child, child)
        if self._longest:
            time.sleep(share * self._longest)
            (os.killpg if with_git else os.kill)(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return True
        assert os.WEXITSTATUS(status) == 0
        self._longest = time.perf_counter() - began
        return False

    def _be(self, act: Callable[[Workspace], object]) -> None:
        """Be the process: never returns."""
        try:
            with self._home.opened("laptop") as workspace:
                act(workspace)
        except BaseException:  # the parent sees that it failed
            traceback.print_exc()
            os._exit(1)
        os._exit(0)


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


def test_letting_a_key_in_is_whole_or_not_at_all(home: Household, seed: int) -> None:
    key, reaper = home.key("server"), Reaper(home, seed)
    for at in range(DEATHS + 1):
        was_killed = reaper.run(lambda it: it.sync_allow(key))
        # The devices go on, and the remote holds nothing that is void.
        home.remember("desk", f"Jo wrote note {at} on Apollo", "person:Jo")
        home.sync("laptop", "desk", "laptop")
        assert home.files("desk") == home.files("laptop")
        assert void(home) == set()
        assert was_killed or key in readers(home)
        if key in readers(home):
            with home.opened("laptop") as workspace:
                workspace.sync_retire(key)
    home.join("server")
    assert home.files("server") == home.files("laptop")


def test_a_device_is_retired_or_not(home: Household, seed: int) -> None:
    reaper = Reaper(home, seed)
    for _ in range(DEATHS + 1):
        was_killed = reaper.run(lambda it: it.sync_retire("desk"))
        home.sync("laptop")
        assert void(home) == set()
        with home.opened("laptop") as workspace:
            status = workspace.sync_status()
        # Each time it came back, it came back as another device.
        is_retired = all(each.retired_by for each in status.devices if each.name == "desk")
        assert is_retired or was_killed
        assert (home.key("desk") in readers(home)) is not is_retired
        if is_retired:
            # Let in again for the next death.
            home.allow("laptop", home.key("desk"))
            home.join("desk")
            home.sync("laptop")


def test_a_key_for_the_drawer_is_let_in_and_in_its_file_or_neither(home: Household, seed: int) -> None:
    reaper, before = Reaper(home, seed), readers(home)
    drawer = home.folder / "stick" / "drawer.key"
    retired: set[str] = set()
    for _ in range(DEATHS + 1):
        was_killed = reaper.run(lambda it: it.sync_recovery(str(drawer)))
        home.sync("laptop")
        assert void(home) == set()
        is_done = drawer.exists() and public_key(drawer) in readers(home)
        assert is_done or was_killed
        if not is_done:
            # What was interrupted is finished by doing it again.
            with home.opened("laptop") as workspace:
                workspace.sync_recovery(str(drawer))
        # One key, and nothing beside its file.
        key = public_key(drawer)
        assert [each.name for each in drawer.parent.iterdir()] == [drawer.name]
        assert readers(home) == sorted([*before, key])
        # What was retired is not handed out again.
        assert key not in retired
        with home.opened("laptop") as workspace:
            workspace.sync_retire(key)
        retired.add(key)
        drawer.unlink()
