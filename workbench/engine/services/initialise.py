"""Making a workspace: its history, the layout where there is no memory yet, and the time zone of its days."""

from __future__ import annotations

import configparser
import contextlib
import os
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from workbench.engine import layout, results
from workbench.engine.errors import InvalidInput, StorageError
from workbench.engine.history.plan import Action, Attribution, FileChange, FileView, Plan, Receipt
from workbench.engine.markdown.source import TEMPLATES, load_template
from workbench.engine.roles import Capability, require
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import plan_setting
from workbench.engine.services.secret_guard import tell_left_out
from workbench.engine.settings.layers import read_toml

_FOLDERS = (layout.EPISODES, layout.ENTITIES, layout.PROCEDURES, layout.VAULT, layout.META)
_SECTION = "workbench"


class Beginning:
    """Begins the history of an open workspace."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def begin_history(self) -> results.memories.Changed:
        """Do as `init` does, in this workspace: commit what it holds; only a person may.

        Raises:
            RoleRefused: This door is no person's.
            StorageError: The folder cannot be written.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="begin the history")
        return initialise(self._context, None)


def initialise(context: WorkspaceContext, timezone: str | None) -> results.memories.Changed:
    """Create the history, the layout where there is no memory yet, and record the time zone.

    A folder that has memory gets nothing but the history; the zone is recorded in it, unless the settings
    say it. A zone that is there already stays.

    Raises:
        InvalidInput: There is no such time zone, or the workspace has another.
        StorageError: The folder cannot be written.
    """
    zone = timezone or context.settings.timezone or context.zone.key
    _require_zone(zone)
    present = _zone_of_settings(context) or recorded_timezone(context.root)
    if timezone and present and timezone != present:
        raise InvalidInput(
            f"This is a workspace already, and its time zone is {present}.",
            where=layout.SETTINGS,
            remedy=f'Change it there: timezone = "{timezone}"',
        )
    had_memory = any(path != layout.SETTINGS for path in layout.tracked_files(context.root))
    attribution = Attribution("system:init", "auto", "workbench init", may_touch_critical=True)
    with context.leaving_the_graph_index():
        receipts: list[Receipt[Any]] = [context.history.init(attribution)]
    context.claim_state()
    if not had_memory:
        for folder in _FOLDERS:
            (context.root / folder).mkdir(parents=True, exist_ok=True)
        laid_out = present or zone
        receipts.append(context.history.mutate(lambda view: _plan_layout(view, laid_out), attribution))
    elif _zone_of_settings(context) is not None:
        if timezone:
            receipts.append(context.history.mutate(lambda view: _zone_setting(view, zone), attribution))
    elif timezone or not recorded_timezone(context.root):
        _record_timezone(context.root, zone)
    context.refresh()
    commits = [receipt.commit for receipt in receipts if receipt.commit]
    files = [path for receipt in receipts for path in receipt.files]
    told = (*context.troubles, *tell_left_out(context))
    return results.memories.Changed(
        commits[-1] if commits else None, tuple(dict.fromkeys(files)), warnings=told
    )


def recorded_timezone(root: Path) -> str:
    """Return the zone that `init` recorded in the history, or the empty string."""
    config = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        config.read(root / layout.HISTORY / "config", encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return ""
    return config.get(_SECTION, "timezone", fallback="")


def _record_timezone(root: Path, zone: str) -> None:
    place = root / layout.HISTORY / "config"
    temporary = place.with_name(f"config.{os.getpid()}.tmp")
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
        lines = [line for line in lines if not line.strip().startswith("timezone =")]
        lines.insert(lines.index(f"[{_SECTION}]") + 1, f"\ttimezone = {zone}")
        # The history cannot be opened without its config, so that is whole at any instant.
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StorageError(
            f"The time zone cannot be recorded: {error.strerror}.",
            where=f"{layout.HISTORY}/config",
            remedy="Make the folder writable, or free some space.",
        ) from error


def _zone_of_settings(context: WorkspaceContext) -> str | None:
    """Return the zone that the workspace's own settings give, or None."""
    content = context.raw_files.read(layout.SETTINGS) or b""
    zone = read_toml(content, layout.SETTINGS, personal=False)[0].get("timezone")
    return None if zone is None else str(zone)


def _plan_layout(view: FileView, zone: str) -> Plan[None]:
    changes = [
        FileChange(path, load_template(path), Action.CREATE, "laid out the workspace")
        for path in TEMPLATES
        if view.read(path) is None
    ]
    changes.extend(_zone_setting(view, zone).changes)
    return Plan(Action.CREATE, "workspace", "laid out the workspace", tuple(changes))


def _zone_setting(view: FileView, zone: str) -> Plan[results.memories.Changed]:
    return plan_setting(view, "timezone", zone, f"recorded the time zone {zone}")


def _require_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"There is no time zone “{name}”.", remedy="Give an IANA name such as Europe/Stockholm."
        ) from error
