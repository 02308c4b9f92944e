"""Places outside the workspace: the user's settings file, and state and cache folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from workbench.engine.identifiers import slug


def user_settings_file(environment: Mapping[str, str]) -> Path:
    """Return the user's own settings file: `WORKBENCH_CONFIG`, else `config.toml` in the user's folder."""
    given = environment.get("WORKBENCH_CONFIG")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_config_dir

    return Path(user_config_dir("workbench", appauthor=False)) / "config.toml"


def workspace_directory(purpose: str, configured: str, root: Path) -> Path:
    """Return a workspace's folder below the user's state or cache folder.

    Args:
        purpose: `state` or `cache`.
        configured: The folder the user chose for all workspaces, or "".
        root: The workspace folder; keyed by its real path, so that links to it share one folder.
    """
    import hashlib

    base = shared_directory(purpose, configured)

    real = os.path.realpath(root)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
    return base / f"{slug(os.path.basename(real), limit=32)}-{digest}"  # noqa: PTH119 - realpath gave text


def shared_directory(purpose: str, configured: str) -> Path:
    """Return the folder shared by all workspaces of the user.

    Args:
        purpose: `state` or `cache`.
        configured: The folder the user chose, or "".
    """
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_dir, user_state_dir

    directory = user_state_dir if purpose == "state" else user_cache_dir
    return Path(directory("workbench", appauthor=False))
