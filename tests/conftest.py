"""No test reads or writes what belongs to whoever runs it: settings, state, caches, variables of the program."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.isolation import inherit_nothing

_FOLDERS = {
    "HOME": "", "XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state",
}  # fmt: skip


def pytest_configure() -> None:
    inherit_nothing()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs llama.cpp itself unless it is asked for by its marker, as `.ci/run` does."""
    if "local_model" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("local_model")]
        items[:] = [item for item in items if not item.get_closest_marker("local_model")]
        config.hook.pytest_deselected(items=left_out)


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
