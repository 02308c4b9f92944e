"""The script of the sample, read from `story.psv`."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

_DATE = re.compile(r"\{(zh)?([+-]\d+)\}")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True)
class Scene:
    """One event of the story.

    Args:
        day: Days before the story's last day, 0 or less.
        at: Time of day in the workspace's zone.
        who: `user` (asks the agent), `agent` (acts by itself), `person` (uses the bench), or an actor tag such
            as `reflection:r-001`.
        verb: The action.
        options: Its options.
        text: Its text.
    """

    day: int
    at: time
    who: str
    verb: str
    options: dict[str, str] = field(default_factory=dict)
    text: str = ""

    def moment(self, last_day: date, zone: ZoneInfo) -> datetime:
        """Return when it happens, in UTC."""
        day = last_day + timedelta(days=self.day)
        return datetime.combine(day, self.at, tzinfo=zone).astimezone(UTC)


def load_story(last_day: date) -> list[Scene]:
    """Return all scenes in order, with dates in their texts relative to the story's last day."""
    table = resources.files("workbench.demo").joinpath("story.psv").read_text(encoding="utf-8")
    scenes = (_scene(line) for line in table.splitlines() if line and not line.startswith("#"))
    return [replace(scene, text=_dated(scene.text, last_day)) for scene in scenes]


def _scene(line: str) -> Scene:
    day, at, who, verb, options, text = line.split("|", 5)
    return Scene(
        day=int(day),
        at=time.fromisoformat(at),
        who=who,
        verb=verb,
        options=_options(options),
        text=text.replace("\\n", "\n"),
    )


def _dated(text: str, last_day: date) -> str:
    def name(match: re.Match[str]) -> str:
        day = last_day + timedelta(days=int(match[2]))
        return f"{day.month}月{day.day}日" if match[1] else f"{day.day} {_MONTHS[day.month - 1]}"

    return _DATE.sub(name, text)


def _options(text: str) -> dict[str, str]:
    """Parse `key=value` pairs; a value extends to the next key, so it may hold blanks."""
    found: dict[str, str] = {}
    key = ""
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if equals:
            key = name
            found[key] = value
        else:
            found[key] += f" {word}"
    return found
