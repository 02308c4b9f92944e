"""Answers about settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from workbench.engine.results import OR_NULL
from workbench.engine.results.memories import Changed
from workbench.engine.values import dataclass


@dataclass(frozen=True)
class SettingRow:
    """One setting: its value, who says so, and what it takes.

    Args:
        key: Dotted, as in `workbench.toml`.
        section: The heading that people find it under.
        title: What it is called.
        value: In force once the workspace is opened again; None for a secret.
        said: The value in words: “23 days”, “on”.
        written: The value as one would write it into a line, to change it there; empty for a secret.
        usual: The default in words.
        source: `default`, `workspace`, `user`, `environment`, `program` (OpenClaw and the like) or `init`.
        origin: Where the value is set: a file and line, or the name of a variable; empty for the default.
        path: The file that sets it: workspace-relative for the workspace's own, absolute for the user's.
        line: Its line there, from 1; 0 where it is unknown.
        explanation: A sentence.
        takes: What it takes, in words.
        kind: `text`, `whole number`, `number`, `true or false`, `choice`, `time zone`, `time of day`, `path`,
            `list of texts`, `list of paths` or `table of texts`.
        choices: Of a choice, or `true` and `false`.
        personal: Why only the user's own file may set it; empty where a workspace may.
        waits: Whether the value holds only once the workspace is opened again.
    """

    key: str
    section: str
    title: str
    value: str | int | float | bool | tuple[str, ...] | Mapping[str, str] | None
    said: str
    written: str
    usual: str
    source: str
    origin: str = field(metadata={OR_NULL: True})
    path: str = field(metadata={OR_NULL: True})
    line: int
    explanation: str
    takes: str
    kind: str
    choices: tuple[str, ...]
    personal: str = field(metadata={OR_NULL: True})
    waits: bool = False


@dataclass(frozen=True)
class SettingsListed:
    """Every setting, section by section.

    Args:
        user_file: The user's own file, which need not exist.
    """

    settings: tuple[SettingRow, ...]
    user_file: str


@dataclass(frozen=True)
class SettingChanged(Changed):
    """What changing a setting did.

    Args:
        key: Dotted.
        title: What it is called.
        before: In words, as it was in force.
        after: In words, as it is in force now.
        file: The file that was written: `workbench.toml`, or the path of the user's own; empty where nothing was.
    """

    key: str = ""
    title: str = ""
    before: str = ""
    after: str = ""
    file: str = field(default="", metadata={OR_NULL: True})
