"""Where other programs keep memory on this machine: known folders, told by their names alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.engine.agents.roles import Capability, require
from workbench.engine.home_folder import from_home
from workbench.engine.results.importing import ImportPlace, ImportPlaces

if TYPE_CHECKING:
    from workbench.engine.workspace.ground import Ground

_PROGRAMS: Final = {
    "openclaw": "OpenClaw",
    "clawdbot": "Clawdbot",
    "moltbot": "Moltbot",
    "moldbot": "Moltbot",
    "clawd": "Clawdbot",
    "claude": "Claude Code",
}
_PATTERNS: Final = (
    ".openclaw",
    ".openclaw-*",
    ".clawdbot",
    ".moltbot",
    ".moldbot",
    "clawd",
    "clawd-*",
    ".claude",
)
_VARIABLES: Final = (
    "OPENCLAW_STATE_DIR",
    "OPENCLAW_WORKSPACE_DIR",
    "MOLTBOT_STATE_DIR",
    "CLAWDBOT_STATE_DIR",
    "CLAUDE_CONFIG_DIR",
)


class PlacesToImport:
    """What knows where there may be something to import."""

    _ground: Ground

    def import_places(self) -> ImportPlaces:
        """Return the folders of the user in which other programs keep memory; none of them is looked into.

        Raises:
            RoleRefused: This door may only read memory.
        """
        require(self._ground.role, Capability.PROPOSE, doing="import memory")
        return ImportPlaces(tuple(known_places(os.environ, Path.home(), self._ground.root)))


def known_places(environment: Mapping[str, str], home: Path, workspace: Path) -> Iterator[ImportPlace]:
    """Give the folders that are there, each once.

    Args:
        environment: Its variables may name folders of other programs.
        home: The user's folder.
        workspace: Never offered to itself, nor anything in it.
    """
    named = [
        (from_home(environment[name]), name.split("_")[0].lower())
        for name in _VARIABLES
        if environment.get(name)
    ]
    usual = [
        (place, place.name.removeprefix(".").split("-")[0])
        for pattern in _PATTERNS
        for place in sorted(home.glob(pattern))
    ]
    seen = {workspace}
    for place, program in (*named, *usual):
        if not place.is_dir():
            continue
        real = place.resolve()
        if real in seen or workspace in real.parents:
            continue
        seen.add(real)
        yield ImportPlace(_at_home(place, home), _PROGRAMS[program])


def _at_home(place: Path, home: Path) -> str:
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)
