"""No test reads or writes what belongs to whoever runs it: settings, state, caches, variables of the program."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.isolation import inherit_nothing, is_fit_for_files

_MEMORY = Path("/dev/shm")
_ONLY_WHEN_ASKED_FOR = ("campaign", "clients", "local_model")
_FOLDERS = {
    "HOME": "", "XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state",
}  # fmt: skip

# Properties try the same examples every time, however slow the machine is: a run fails because of what was changed,
# and not because of chance or of a clock.
settings.register_profile(
    "steady", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def pytest_configure() -> None:
    inherit_nothing()
    if is_fit_for_files(_MEMORY) and "TMPDIR" not in os.environ:
        # Half of the time of tests that write is waiting for a disk to have what nobody will read again.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


def pytest_xdist_auto_num_workers() -> int:
    """Start one worker more than there are processors: a quarter of their time they wait, for processes and timers."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out campaigns, real clients and llama.cpp itself unless their marker is asked for; put the longest first.

    A long test that begins when the others are at their end keeps one worker busy while the rest wait.
    """
    left_out = {
        item
        for marker in _ONLY_WHEN_ASKED_FOR
        if marker not in config.option.markexpr
        for item in items
        if item.get_closest_marker(marker)
    }
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what stays to the end: looking through it took a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("nobodys-home")
    with pytest.MonkeyPatch.context() as patch:
        for name, folder in _FOLDERS.items():
            patch.setenv(name, str(home / folder))
        yield
