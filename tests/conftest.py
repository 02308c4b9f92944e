"""No test reads or writes what belongs to whoever runs it: settings, state, caches, variables of the program."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

_FOLDERS = {
    "HOME": "", "XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state",
}  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("nobodys-home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            # What chooses among tests is meant for them.
            if name.startswith(("WORKBENCH_", "GIT_")) and not name.startswith("WORKBENCH_TEST_"):
                patch.delenv(name)
        for name, folder in _FOLDERS.items():
            patch.setenv(name, str(home / folder))
        yield
