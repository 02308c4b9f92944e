"""Making a workspace: the layout of a new one, the history of one that has memory already."""

from __future__ import annotations

import configparser
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.results import Changed

if TYPE_CHECKING:
    from workbench.engine.history import FileView, Plan
    from workbench.engine.workspace.ground import Ground

_FOLDERS = (layout.EPISODES, layout.ENTITIES, layout.PROCEDURES, layout.VAULT, layout.META)
_SECTION = "workbench"


def initialise(ground: Ground, timezone: str | None) -> Changed:
    """Create the history, the layout where there is no memory yet, and record the time zone.

    A folder that has memory gets nothing but the history; the zone is recorded in it.

    Raises:
        InvalidInput: There is no such time zone.
        StorageError: The folder cannot be written.
    """
    from workbench.engine.history import Attribution

    zone = timezone or ground.settings.timezone or ground.zone.key
    _require_zone(zone)
    had_memory = any(path != layout.SETTINGS for path in layout.tracked_files(ground.root))
    attribution = Attribution("system:init", "auto", "workbench init")
    receipts = [] if ground.has_history() else [ground.history.init(attribution)]
    if not had_memory:
        for folder in _FOLDERS:
            (ground.root / folder).mkdir(parents=True, exist_ok=True)
        receipts.append(
            ground.history.mutate(lambda view: _plan(view, zone), attribution, may_touch_critical=True)
        )
    elif timezone or not recorded_timezone(ground.root):
        _record_timezone(ground.root, zone)
    ground.refresh()
    commits = [receipt.commit for receipt in receipts if receipt.commit]
    files = [path for receipt in receipts for path in receipt.files]
    return Changed(commits[-1] if commits else None, tuple(dict.fromkeys(files)))


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
    lines = [line for line in place.read_text(encoding="utf-8").splitlines() if "timezone =" not in line]
    lines.insert(lines.index(f"[{_SECTION}]") + 1, f"\ttimezone = {zone}")
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _plan(view: FileView, zone: str) -> Plan[None]:
    from workbench.engine.documents import TEMPLATES, load_template
    from workbench.engine.history import Action, FileChange, Plan
    from workbench.engine.settings import write_setting

    changes = [
        FileChange(path, load_template(path), Action.CREATE, "laid out the workspace")
        for path in TEMPLATES
        if view.read(path) is None
    ]
    settings = view.read(layout.SETTINGS)
    recorded = write_setting(settings or b"", "timezone", zone)
    if recorded != settings:
        action = Action.CREATE if settings is None else Action.EDIT
        changes.append(FileChange(layout.SETTINGS, recorded, action, f"recorded the time zone {zone}"))
    return Plan(Action.CREATE, "workspace", "laid out the workspace", tuple(changes))


def _require_zone(name: str) -> None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"There is no time zone “{name}”.", remedy="Give an IANA name such as Europe/Stockholm."
        ) from error
