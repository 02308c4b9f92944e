"""Puts a damaged history right before a model sees it: pairs of calls and results, turns in order, no huge pictures.

Nothing here changes a file; what was put right is said in sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.engine.sessions.events import DELIVERY_MIRROR, parts_of, text_of
from workbench.engine.sessions.tools import RESULT_ROLES, answered_by, calls_in

MOST_IMAGE_CHARACTERS = 2_000_000
MISSING_RESULT = "No result of this tool was recorded; the session was interrupted before it came."
_ROLES = frozenset({"user", "assistant", *RESULT_ROLES})


@dataclass(frozen=True)
class Placed:
    """A message and the line it stands on; None for one that was put in."""

    line: int | None
    message: Mapping[str, Any]

    @property
    def role(self) -> str:
        """Return who speaks."""
        return text_of(self.message.get("role"))


@dataclass(frozen=True)
class Sanitised:
    """A history in order.

    Args:
        messages: What is left.
        repairs: What was put right, one sentence for each kind.
    """

    messages: tuple[Placed, ...]
    repairs: tuple[str, ...]


def sanitise(messages: Iterable[Placed], summary: Placed | None = None) -> Sanitised:
    """Return a history that every provider takes (issue of damaged histories; session workflow §4, §8).

    Args:
        messages: In order, as transcripts write them.
        summary: What stands before them as a turn of its own, or None.
    """
    counts: dict[str, int] = {}

    def note(told: str, number: int = 1) -> None:
        counts[told] = counts.get(told, 0) + number

    spoken = [_without_images(placed, note) for placed in messages if _counts(placed, note)]
    paired = _paired(_whole(spoken), note)
    ordered = _ordered(paired, note, summary)
    return Sanitised(tuple(ordered), tuple(told.format(count=count) for told, count in counts.items()))


def _counts(placed: Placed, note: Any) -> bool:
    if placed.message.get("model") == DELIVERY_MIRROR:
        note("Copies of what was sent elsewhere were left out ({count}).")
        return False
    if placed.role not in _ROLES:
        note("Messages of an unknown role were left out ({count}).")
        return False
    if (
        placed.role == "assistant"
        and placed.message.get("stopReason") in ("error", "aborted")
        and not parts_of(placed.message.get("content"))
    ):
        note("Empty answers of a model that failed were left out ({count}).")
        return False
    return True


def _without_images(placed: Placed, note: Any) -> Placed:
    content = placed.message.get("content")
    if not isinstance(content, list):
        return placed
    kept: list[Any] = []
    for part in content:
        if _is_huge_image(part):
            note("Huge pictures were left out ({count}).")
            kept.append({"type": "text", "text": "[a picture that was too large was left out]"})
        else:
            kept.append(part)
    return (
        placed
        if len(kept) == len(content) and kept == content
        else replace(placed, message={**placed.message, "content": kept})
    )


def _is_huge_image(part: object) -> bool:
    if not isinstance(part, Mapping) or "image" not in text_of(part.get("type")):
        return False
    source = part.get("source")
    held = (
        part.get("data"),
        part.get("image_url"),
        source.get("data") if isinstance(source, Mapping) else None,
    )
    return any(isinstance(data, str) and len(data) > MOST_IMAGE_CHARACTERS for data in held)


def _whole(messages: Sequence[Placed]) -> list[Placed]:
    """Join the parts of one answer, each of which Claude Code writes on a line of its own."""
    whole: list[Placed] = []
    for placed in messages:
        answer = text_of(placed.message.get("id")) if placed.role == "assistant" else ""
        if answer and whole and whole[-1].message.get("id") == answer:
            placed = _joined((whole.pop(), placed))
        whole.append(placed)
    return whole


def _paired(messages: Sequence[Placed], note: Any) -> list[Placed]:
    """Put each result right behind its call, make up for those that are missing, drop those that answer nothing."""
    paired: list[Placed] = []
    at = 0
    while at < len(messages):
        placed = messages[at]
        at += 1
        if answered_by(placed.message) is not None:
            note("Results that no call asked for were dropped ({count}).")
            continue
        paired.append(placed)
        calls = calls_in(placed.message)
        if not calls:
            continue
        results: dict[str, Placed] = {}
        others: list[Placed] = []
        while at < len(messages) and messages[at].role != "assistant":
            following = messages[at]
            at += 1
            answered = answered_by(following.message)
            if answered is None:
                others.append(following)
                continue
            named = answered or next((call.id for call in calls if call.id not in results), "")
            if named in results or all(call.id != named for call in calls):
                note("Results that no call asked for were dropped ({count}).")
                continue
            if others:
                note("Results were put behind their calls ({count}).")
            results[named] = following
        for call in {call.id: call for call in calls}.values():
            result = results.get(call.id)
            if result is None:
                note("Results that were missing were stood in for ({count}).")
                result = Placed(None, missing_result(call.id, call.name))
            paired.append(result)
        paired.extend(others)
    return paired


def missing_result(call_id: str, name: str) -> dict[str, Any]:
    """Return what stands for a result that was never written."""
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": name,
        "content": [{"type": "text", "text": MISSING_RESULT}],
        "isError": True,
    }


def _ordered(messages: Sequence[Placed], note: Any, summary: Placed | None) -> list[Placed]:
    """Let a person speak first, and join what one side said twice in a row."""
    turns: list[list[Placed]] = [] if summary is None else [[summary]]
    for placed in messages:
        before = turns[-1][-1] if turns else None
        if before is None and placed.role != "user":
            note("Answers before the first question were left out ({count}).")
        elif (
            before is not None
            and before is not summary
            and before.role == placed.role
            and placed.role in ("user", "assistant")
        ):
            note("Turns of one side in a row were joined ({count}).")
            turns[-1].append(placed)
        else:
            turns.append([placed])
    return [turn[0] if len(turn) == 1 else _joined(turn) for turn in turns]


def _joined(turn: Sequence[Placed]) -> Placed:
    said: dict[str, Any] = {}
    content: list[Any] = []
    for placed in turn:
        said |= placed.message
        content += parts_of(placed.message.get("content"))
    return Placed(turn[0].line, {**said, "content": content})
