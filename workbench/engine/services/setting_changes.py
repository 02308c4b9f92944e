"""Settings for people: every one with its value and who says so, and changing one in the file that may hold it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidSetting
from workbench.engine.file_access import read_regular_file
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.results.memories import Changed
from workbench.engine.results.settings import SettingChanged, SettingRow, SettingsListed
from workbench.engine.roles import Capability, require
from workbench.engine.settings.layers import (
    erase_setting,
    load_settings,
    replace_user_file,
    unknown,
    write_setting,
)
from workbench.engine.settings.schema import Kind, Unfit, Value
from workbench.engine.settings.sections import SCHEMA, Settings, default_of, user_settings_file, value_of
from workbench.engine.settings.wording import SECTIONS, meant, said, takes, wording, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.mutator import Mutator

_DOING = "change settings"
_RECORDED = "recorded by init"


class SettingChanges:
    """Lists and changes settings."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator) -> None:
        self._context = context
        self._mutator = mutator

    def listed(self) -> SettingsListed:
        """Return every setting as the files have it now, section by section."""
        now = self._now()
        user_file = str(user_settings_file(os.environ))
        rows = tuple(
            self._row(key, section, now, user_file) for section, keys in SECTIONS.items() for key in keys
        )
        return SettingsListed(rows, user_file)

    def _now(self) -> Settings:
        found = load_settings(self._context.root)
        if found.timezone:
            return found
        # What `init` recorded counts where no file says anything.
        opened = self._context.settings
        if opened.origin("timezone") != _RECORDED:
            return found
        return replace(found, timezone=opened.timezone, origins={**found.origins, "timezone": _RECORDED})

    def _row(self, key: str, section: str, now: Settings, user_file: str) -> SettingRow:
        spec, spoken, value = SCHEMA[key], wording(key), value_of(now, key)
        origin = "" if now.origin(key) == "default" else now.origin(key)
        source = _source(origin, user_file)
        file, line = _place(origin) if source in ("workspace", "user") else ("", 0)
        in_force = value_of(self._context.settings, key)
        return SettingRow(
            key,
            section,
            spoken.title,
            None if spec.secret else value,
            said(key, value),
            written(key, value),
            said(key, default_of(key)),
            source,
            origin,
            file,
            line,
            spoken.explanation,
            takes(key),
            spec.kind.value,
            ("true", "false") if spec.kind is Kind.SWITCH else spec.choices,
            spec.personal or "",
            waits=in_force != value,
        )

    def change(self, key: str, value: Value, *, own: bool = False) -> SettingChanged:
        """Set one setting: in the workspace's `workbench.toml`, or in the user's own file where only that may.

        Args:
            key: Dotted, for example `decay.lambda`.
            value: As the key takes it, or as a person writes it: “23 days”, “on”, “a, b”.
            own: Write it to the user's own file, for all workspaces.

        Raises:
            InvalidSetting: There is no such setting, it does not take the value, the value contradicts another
                setting, or the file that it goes to is invalid.
            RoleRefused: This door is no person's.
            StorageError: The user's file cannot be written.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing=_DOING)
        spec = SCHEMA.get(key)
        if spec is None:
            raise unknown(key, "")
        now = self._now()
        fit = self._understood(key, value, now)
        if spec.personal or own:
            return self._write_own(
                key, lambda content, name: write_setting(content, key, fit, name=name, personal=True)
            )
        return self._write_here(key, lambda content: write_setting(content, key, fit), said(key, fit))

    def reset(self, key: str) -> SettingChanged:
        """Take a setting out of the file that sets it, so that the next weaker one counts, or the default.

        Raises:
            InvalidSetting: There is no such setting, or a variable or another program's file sets it.
            RoleRefused: This door is no person's.
            StorageError: The user's file cannot be written.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing=_DOING)
        if key not in SCHEMA:
            raise unknown(key, "")
        now = self._now()
        origin = now.origin(key)
        source = _source("" if origin == "default" else origin, str(user_settings_file(os.environ)))
        if source == "workspace":
            return self._write_here(key, lambda content: erase_setting(content, key), "its default")
        if source == "user":
            return self._write_own(
                key, lambda content, name: erase_setting(content, key, name=name, personal=True)
            )
        if source in ("environment", "program"):
            raise InvalidSetting(
                f"{wording(key).title} is set by {origin}, which is no file of ours.",
                where=key,
                remedy="Change it there, or set it here, which counts more."
                if source == "program"
                else "Unset the variable.",
            )
        value = said(key, value_of(now, key))
        return SettingChanged(None, key=key, title=wording(key).title, before=value, after=value)

    def _understood(self, key: str, value: Value, now: Settings) -> Value:
        """Return what a person means; a text that says what holds already changes nothing."""
        spec = SCHEMA[key]
        try:
            if not isinstance(value, str):
                return spec.check(value, confined=False)
            present = value_of(now, key)
            return (
                present if value.strip() == written(key, present) and not spec.secret else meant(key, value)
            )
        except Unfit as error:
            raise InvalidSetting(f"{key} {error}.", where=key, remedy=f"It says: {spec.about}.") from error

    def _write_here(self, key: str, change: Callable[[bytes], bytes], summed: str) -> SettingChanged:
        context, title = self._context, wording(key).title
        before = said(key, value_of(self._now(), key))
        place = layout.resolve(context.root, layout.SETTINGS)

        def plan(view: FileView) -> Plan[Changed]:
            present = view.read(layout.SETTINGS)
            after = change(present or b"")
            load_settings(context.root, instead={place: after})
            action = Action.CREATE if present is None else Action.EDIT
            told = f"{key} = {summed}"
            files = (FileChange(layout.SETTINGS, after, action, told),) if after != (present or b"") else ()
            return Plan(
                action, layout.SETTINGS, told, files, outcome=Changed(None, ids=(f"file:{layout.SETTINGS}",))
            )

        changed = self._mutator.change(
            plan, f"set {title} to {summed}", Capability.CHANGE_SETTINGS, doing=_DOING
        )
        return self._told(key, before, changed, layout.SETTINGS if changed.files else "")

    def _write_own(self, key: str, change: Callable[[bytes, str], bytes]) -> SettingChanged:
        before = said(key, value_of(self._now(), key))
        place = user_settings_file(os.environ)
        present = read_regular_file(place)
        after = change(present or b"", str(place))
        if after == (present or b""):
            return self._told(key, before, Changed(None), "")
        load_settings(self._context.root, instead={place: after})
        replace_user_file(place, after)
        return self._told(key, before, Changed(None, files=(str(place),)), str(place))

    def _told(self, key: str, before: str, changed: Changed, file: str) -> SettingChanged:
        """Return what was done, and warn where something stronger still says otherwise."""
        self._context.follow_settings(again=True)
        now = self._now()
        after, warnings = said(key, value_of(now, key)), list(changed.warnings)
        origin = now.origin(key)
        if file and origin != "default" and not origin.startswith(file):
            warnings.append(f"{origin} says {after}, which counts more than {file}.")
        return SettingChanged(
            changed.commit,
            changed.files,
            changed.ids,
            tuple(warnings),
            key=key,
            title=wording(key).title,
            before=before,
            after=after,
            file=file,
        )


def _source(origin: str, user_file: str) -> str:
    if not origin:
        return "default"
    file, _ = _place(origin)
    if file in (layout.SETTINGS, user_file):
        return "workspace" if file == layout.SETTINGS else "user"
    if origin == _RECORDED:
        return "init"
    return "environment" if origin.isupper() else "program"


def _place(origin: str) -> tuple[str, int]:
    file, _, line = origin.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (origin, 0)
