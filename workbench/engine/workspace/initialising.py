"""Making a workspace: the layout of a new one, the history of one that has memory already."""

from __future__ import annotations

import configparser
import os
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, StorageError
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.workspace.ground import Ground

_FOLDERS = (layout.EPISODES, layout.ENTITIES, layout.PROCEDURES, layout.VAULT, layout.META)
_SECTION = "workbench"


def initialise(ground: Ground, timezone: str | None) -> Changed:
    """Create the history, the layout where there is no memory yet, and record the time zone.

    A folder that has memory gets nothing but the history; the zone is recorded in it, unless the settings
    say it.

    Raises:
        InvalidInput: There is no such time zone.
        StorageError: The folder cannot be written.
    """
    from workbench.engine.history.plan import Attribution
    from workbench.engine.workspace.held_back import tell_left_out

    zone = timezone or ground.settings.timezone or ground.zone.key
    _require_zone(zone)
    had_memory = any(path != layout.SETTINGS for path in layout.tracked_files(ground.root))
    attribution = Attribution("system:init", "auto", "workbench init")
    with ground.leaving_the_graph_index():
        receipts = [ground.history.init(attribution)]
    ground.claim_state()
    if not had_memory:
        for folder in _FOLDERS:
            (ground.root / folder).mkdir(parents=True, exist_ok=True)
        receipts.append(
            ground.history.mutate(lambda view: _plan(view, zone), attribution, may_touch_critical=True)
        )
    elif _zone_of_settings(ground) is not None:
        if timezone:
            receipts.append(
                ground.history.mutate(
                    lambda view: _plan_zone(view, zone), attribution, may_touch_critical=True
                )
            )
    elif timezone or not recorded_timezone(ground.root):
        _record_timezone(ground.root, zone)
    ground.refresh()
    commits = [receipt.commit for receipt in receipts if receipt.commit]
    files = [path for receipt in receipts for path in receipt.files]
    told = (*ground.troubles, *tell_left_out(ground))
    return Changed(commits[-1] if commits else None, tuple(dict.fromkeys(files)), warnings=told)


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
        temporary.unlink(missing_ok=True)
        raise StorageError(
            f"The time zone cannot be recorded: {error.strerror}.",
            where=f"{layout.HISTORY}/config",
            remedy="Make the folder writable, or free some space.",
        ) from error


def _zone_of_settings(ground: Ground) -> object:
    """Return the zone that the workspace's own settings give, or None."""
    from workbench.engine.settings.toml_layer import read_toml

    content = ground.raw_files.read(layout.SETTINGS) or b""
    return read_toml(content, layout.SETTINGS, personal=False)[0].get("timezone")


def _plan(view: FileView, zone: str) -> Plan[None]:
    from workbench.engine.documents.template import TEMPLATES, load_template
    from workbench.engine.history.plan import Action, FileChange, Plan

    changes = [
        FileChange(path, load_template(path), Action.CREATE, "laid out the workspace")
        for path in TEMPLATES
        if view.read(path) is None
    ]
    changes.extend(_plan_zone(view, zone).changes)
    return Plan(Action.CREATE, "workspace", "laid out the workspace", tuple(changes))


def _plan_zone(view: FileView, zone: str) -> Plan[None]:
    from workbench.engine.history.plan import Action, FileChange, Plan
    from workbench.engine.settings.editing import write_setting

    settings = view.read(layout.SETTINGS)
    recorded = write_setting(settings or b"", "timezone", zone)
    action = Action.CREATE if settings is None else Action.EDIT
    summary = f"recorded the time zone {zone}"
    change = FileChange(layout.SETTINGS, recorded, action, summary)
    return Plan(action, layout.SETTINGS, summary, (change,) if recorded != settings else ())


def _require_zone(name: str) -> None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"There is no time zone “{name}”.", remedy="Give an IANA name such as Europe/Stockholm."
        ) from error
