"""When sessions of OpenClaw, Moltbot and Clawdbot end, as `session.*` of their own configuration says."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.sessions.policy import (
    DEFAULT_HOUR,
    DEFAULT_IDLE_MINUTES,
    ResetPolicy,
    ResetRules,
    parse_policy,
    render_policy,
)

# From agents/NAME/agent/DATABASE up to the state folder.
_ABOVE = 5
_LARGEST = 512 * 1024


def foreign_rules(place: Path) -> ResetRules | None:
    """Return when the sessions at a place end; None where no configuration above it says so, or none can be read.

    `session.reset`, `resetByType` and `resetByChannel` count with `mode`, `atHour` and `idleMinutes`, and so does
    `session.idleMinutes` of older versions.

    Args:
        place: A state folder, or something in it.
    """
    for folder in islice((place, *place.parents), _ABOVE):
        for name in layout.FOREIGN_SETTINGS:
            session = _read(folder / name).get("session")
            if isinstance(session, Mapping):
                return _rules(session)
    return None


def _rules(session: Mapping[str, Any]) -> ResetRules | None:
    default = _policy(session.get("reset")) or _policy({"mode": "idle", **session}, needs_minutes=True)
    by_type, by_channel = _policies(session.get("resetByType")), _policies(session.get("resetByChannel"))
    if default is None and not by_type and not by_channel:
        return None
    return ResetRules(default or ResetPolicy(), by_type, by_channel)


def _policies(table: object) -> dict[str, ResetPolicy]:
    rows = table.items() if isinstance(table, Mapping) else ()
    return {str(name).lower(): policy for name, row in rows if (policy := _policy(row)) is not None}


def _policy(row: object, *, needs_minutes: bool = False) -> ResetPolicy | None:
    if not isinstance(row, Mapping):
        return None
    mode, hour, minutes = row.get("mode", "daily"), row.get("atHour"), row.get("idleMinutes")
    if needs_minutes and minutes is None:
        return None
    wanted = ResetPolicy(
        (DEFAULT_HOUR if hour is None else hour) if mode == "daily" else None,
        DEFAULT_IDLE_MINUTES if minutes is None and mode == "idle" else minutes if mode != "none" else None,
    )
    try:
        return parse_policy(render_policy(wanted))
    except InvalidInput:
        return None


def _read(place: Path) -> Mapping[str, Any]:
    from workbench.engine.settings.regular_file import read_regular_file
    from workbench.engine.settings.relaxed_json import read_relaxed_json

    try:
        content = read_regular_file(place, _LARGEST)
        document = read_relaxed_json(content.decode("utf-8-sig")) if content else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
