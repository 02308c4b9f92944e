"""No test reads or writes what belongs to whoever runs it: settings, state, caches, variables of the program."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.isolation import inherit_nothing, is_fit_for_files

_MEMORY = Path("/dev/shm")
_FOLDERS = {
    "HOME": "", "XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state",
}  # fmt: skip


def pytest_configure() -> None:
    inherit_nothing()
    if is_fit_for_files(_MEMORY) and "TMPDIR" not in os.environ:
        # Half of the time of tests that write is waiting for a disk to have what nobody will read again.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs llama.cpp itself unless it is asked for by its marker; put the longest first.

    A long test that begins when the others are at their end keeps one worker busy while the rest wait.
    """
    if "local_model" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("local_model")]
        items[:] = [item for item in items if not item.get_closest_marker("local_model")]
        config.hook.pytest_deselected(items=left_out)
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
