"""The script of the sample's life, read from `story.psv`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from importlib import resources
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Scene:
    """One thing that happens.

    Args:
        day: Days before the story's last day, 0 or less.
        at: Time of day in the workspace's zone.
        actor: Who acts: `person`, `trigger`, `auto`, `system`, or an actor tag such as `reflection:r-001`.
        verb: What is done.
        options: Its particulars.
        text: What it is done with.
    """

    day: int
    at: time
    actor: str
    verb: str
    options: dict[str, str] = field(default_factory=dict)
    text: str = ""

    def moment(self, end: datetime, zone: ZoneInfo) -> datetime:
        """Return when it happens, in UTC.

        Args:
            end: Some time of the story's last day.
            zone: The workspace's zone.
        """
        day = end.astimezone(zone).date() + timedelta(days=self.day)
        return datetime.combine(day, self.at, tzinfo=zone).astimezone(UTC)


def load_story() -> list[Scene]:
    """Return every scene in its order."""
    table = resources.files(__package__).joinpath("story.psv").read_text(encoding="utf-8")
    return [_scene(line) for line in table.splitlines() if line and not line.startswith("#")]


def _scene(line: str) -> Scene:
    day, at, actor, verb, options, text = line.split("|", 5)
    return Scene(
        day=int(day),
        at=time.fromisoformat(at),
        actor=actor,
        verb=verb,
        options=_options(options),
        text=text.replace("\\n", "\n"),
    )


def _options(text: str) -> dict[str, str]:
    """Read `key=value` pairs; a value runs to the next key, so that it may hold blanks."""
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
