"""What two people said to each other, taken out of the lines of a session transcript."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Any

MOST_TURN_CHARACTERS = 20_000
_SPEAKERS = {"user": "User", "assistant": "Assistant"}
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
# Said by or to the machinery, not by anybody.
_SILENT = re.compile(r"\W*(?:NO_REPLY|HEARTBEAT_OK)\W*", re.IGNORECASE)
_NOISE = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-caveat|command-name|command-message|command-args)>"
    r".*?</\1>",
    re.DOTALL,
)
_MACHINE_MODELS = frozenset({"delivery-mirror", "<synthetic>"})
_ASIDE = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# In every zone there is a day for such a moment, and one on which its session ends.
_YEARS = range(MINYEAR + 1, MAXYEAR - 20)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said in one line of a transcript.

    Args:
        line: Of the transcript, 1-based.
        text: `User: …` or `Assistant: …`, on one line.
        moment: When it was said, aware; None where the line does not tell.
    """

    line: int
    text: str
    moment: datetime | None


def turn_of(number: int, line: bytes) -> Turn | None:
    """Read one line of a transcript of OpenClaw, Moltbot, Clawdbot or Claude Code; None where nobody speaks in it.

    Calls of tools and their results, thoughts, summaries, side chains, reminders and silent answers are left out;
    so is a line that is no such JSON.

    Args:
        number: Of the line, 1-based.
        line: Its bytes.
    """
    try:
        entry = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, Mapping) or any(entry.get(mark) is True for mark in _ASIDE):
        return None
    inner = entry.get("message")
    message: Mapping[str, Any] = inner if isinstance(inner, Mapping) else entry
    speaker = message.get("role")
    if not isinstance(speaker, str) or speaker not in _SPEAKERS or message.get("model") in _MACHINE_MODELS:
        return None
    said = _SPACES.sub(" ", _NOISE.sub(" ", _text_of(message.get("content")))).strip()
    if not said or _SILENT.fullmatch(said):
        return None
    # Half of a surrogate pair can stand in JSON, and in no database.
    said = said.encode("utf-8", "replace").decode()
    if len(said) > MOST_TURN_CHARACTERS:
        said = said[: MOST_TURN_CHARACTERS - 1] + "…"
    return Turn(number, f"{_SPEAKERS[speaker]}: {said}", moment_in(entry) or moment_in(message))


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        part["text"]
        for part in content
        if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str)
    )


def moment_in(entry: Mapping[str, Any]) -> datetime | None:
    """Return when an entry or a message was written; None where it does not say."""
    return moment_of(entry.get("timestamp"))


def moment_of(given: object) -> datetime | None:
    """Read a time as text or as milliseconds since 1970; None for any that the calendar has no room around."""
    try:
        if isinstance(given, str):
            moment = datetime.fromisoformat(given)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        elif isinstance(given, int | float) and not isinstance(given, bool):
            moment = datetime.fromtimestamp(given / 1000, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year in _YEARS else None
