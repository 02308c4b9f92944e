"""How an entry of a transcript is told to a person: who, when, and what, on a few lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from workbench.engine.results.sessions import SessionLine
from workbench.engine.sessions import events
from workbench.engine.sessions.events import Event, parts_of, text_of
from workbench.engine.sessions.tools import calls_in, is_call

MOST_CHARACTERS = 20_000
_RESULT_CHARACTERS = 2_000


def citation(name: str, line: int) -> str:
    """Return the id by which a memory names a line of a transcript: `file:sessions/ID.jsonl#L12`.

    Args:
        name: Of the transcript, `sessions/ID.jsonl`.
        line: 1-based.
    """
    return f"file:{name}#L{line}"


def told(event: Event, name: str, *, active: bool | None = True) -> SessionLine:
    """Return an entry as a person reads it.

    Args:
        event: The entry.
        name: Of the transcript.
        active: Whether it lies on the branch in use; None where that is not known.
    """
    return SessionLine(
        line=event.line,
        id=event.id,
        kind=event.kind,
        role=event.role,
        moment=event.moment,
        text=_text(event),
        tools=tuple(call.name for call in calls_in(event.message)),
        citation=citation(name, event.line),
        active=active,
        counts=not event.is_mirror,
    )


def words_of(message: Mapping[str, Any]) -> str:
    """Return the words of a message, without calls, thoughts and pictures."""
    return "\n".join(
        part["text"]
        for part in parts_of(message.get("content"))
        if part.get("type") in ("text", "input_text", "output_text") and isinstance(part.get("text"), str)
    )


def _text(event: Event) -> str:
    match event.kind:
        case events.MESSAGE:
            text = _of_message(event)
        case events.COMPACTION | events.BRANCH_SUMMARY:
            summary = event.fields.get("summary")
            text = summary if isinstance(summary, str) else ""
        case events.HEADER:
            text = f"session {event.id}"
        case events.LABEL:
            text = text_of(event.fields.get("label"))
        case events.CUSTOM if event.fields.get("customType") == events.FLUSH_MARK:
            text = _of_flush(event.fields.get("data"))
        case events.CUSTOM_MESSAGE:
            text = "\n".join(
                _of_part(part, MOST_CHARACTERS) for part in parts_of(event.fields.get("content"))
            )
        case _:
            rest = {
                name: value
                for name, value in event.fields.items()
                if name not in ("type", "id", "parentId", "timestamp")
            }
            words = next(iter(rest.values())) if len(rest) == 1 else None
            written = json.dumps(rest, ensure_ascii=False) if rest else ""
            text = words if isinstance(words, str) else written
    return _cut(text, MOST_CHARACTERS)


def _of_flush(data: object) -> str:
    saved = data.get("saved") if isinstance(data, dict) else None
    rows = [each for each in saved if isinstance(each, dict)] if isinstance(saved, list) else []
    told = [f"{text_of(each.get('id'))} from {text_of(each.get('from'))}" for each in rows]
    return "\n".join(["Memory was flushed up to here.", *told])


def _of_message(event: Event) -> str:
    most = MOST_CHARACTERS if event.role in ("user", "assistant") else _RESULT_CHARACTERS
    return "\n".join(
        part for each in parts_of(event.message.get("content")) if (part := _of_part(each, most))
    )


def _of_part(part: object, most: int) -> str:
    assert isinstance(part, dict)
    kind = text_of(part.get("type"))
    if is_call(part):
        given = part.get("arguments", part.get("input"))
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        return _cut(f"→ {text_of(part.get('name'))} {written}", _RESULT_CHARACTERS)
    if "image" in kind:
        return "[picture]"
    text = part.get("text", part.get("thinking"))
    if isinstance(text, str):
        return _cut(text, most)
    inner = part.get("content")
    return _cut(inner, _RESULT_CHARACTERS) if isinstance(inner, str) else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
