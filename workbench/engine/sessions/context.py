"""The model's view of a session: its branch with the compaction summary, repaired and counted in tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Protocol, TypeVar

from workbench.engine.sessions import events
from workbench.engine.sessions.events import (
    DELIVERY_MIRROR,
    RESULT_ROLES,
    Event,
    LineReader,
    answered_by,
    calls_in,
    parts_of,
    read_event,
    text_of,
)
from workbench.engine.sessions.transcripts import Tree
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

MESSAGE_TOKENS = 4
# Speaker and line.
_TURN_TOKENS = 8
IMAGE_TOKENS = 1200
# Counted exactly up to here; a transcript of a hundred megabytes would take a minute.
EXACT_CHARACTERS = 2_000_000
_ONE_EXACT = 40_000
_CHARACTERS_PER_TOKEN = 4.0
_NO_TEXT = frozenset({"image", "input_image", "image_url"})
MOST_IMAGE_CHARACTERS = 2_000_000
MISSING_RESULT = "No result of this tool was recorded; the session was interrupted before it came."
COMPACTION_PREFACE = "The conversation before this point was compacted into this summary:\n\n<summary>\n"
BRANCH_PREFACE = "This is a summary of a branch of the conversation that was left:\n\n<summary>\n"
SUMMARY_END = "\n</summary>"
# What Clawdbot puts before a history that begins with an answer, for Google's models.
OPENING = "(session bootstrap)"
_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning"})
_SIGNATURES = frozenset({"thoughtSignature", "thought_signature", "textSignature"})
_ROLES = frozenset({"user", "assistant", *RESULT_ROLES})


class HasText(Protocol):
    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=HasText)


def portions(turns: Iterable[T], room: int) -> Iterator[list[T]]:
    """Split turns into portions that fit a model, in order; an overlong turn is a portion by itself.

    Args:
        turns: Of a conversation.
    """
    portion: list[T] = []
    used = 0
    for turn in turns:
        tokens = count_tokens(turn.text) + _TURN_TOKENS
        if portion and used + tokens > room:
            yield portion
            portion, used = [], 0
        portion.append(turn)
        used += tokens
    if portion:
        yield portion


class TokenEstimate:
    """Estimates the tokens of messages."""

    def __init__(self) -> None:
        self._characters = 0
        self._tokens = 0

    def of(self, message: Mapping[str, Any]) -> int:
        """Return the tokens of a message: text, tool calls, results, thoughts and images."""
        return MESSAGE_TOKENS + self._of_content(message.get("content"))

    def of_text(self, text: str) -> int:
        if len(text) <= _ONE_EXACT and self._characters < EXACT_CHARACTERS:
            tokens = count_tokens(text)
            self._characters += len(text)
            self._tokens += tokens
            return tokens
        share = self._characters / self._tokens if self._tokens > 1000 else _CHARACTERS_PER_TOKEN
        return -int(-len(text) // share)

    def _of_content(self, content: object) -> int:
        total = 0
        for part in parts_of(content):
            kind = part.get("type")
            if kind in _NO_TEXT:
                total += IMAGE_TOKENS
            elif isinstance(text := part.get("text", part.get("thinking")), str):
                total += self.of_text(text)
            elif isinstance(part.get("content"), str | list):
                total += self._of_content(part["content"])
            else:
                given = part.get("arguments", part.get("input", part.get("partialJson", "")))
                written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
                total += self.of_text(f"{part.get('name', '')} {written}")
        return total


@dataclass(frozen=True)
class Placed:
    """A message and its line; None for an inserted one."""

    line: int | None
    message: Mapping[str, Any]

    @property
    def role(self) -> str:
        return text_of(self.message.get("role"))


@dataclass(frozen=True)
class Target:
    """The model that a history is handed to.

    Args:
        provider: Such as `google`, `anthropic` or `openai`; "" if unknown.
        model: Its name; "" if unknown.
    """

    provider: str = ""
    model: str = ""

    @property
    def is_google(self) -> bool:
        """Return whether Google's rules for the order of turns hold."""
        return "gemini" in self.model.casefold() or self.provider.casefold().startswith(
            ("google", "gemini", "vertex")
        )

    def wrote(self, message: Mapping[str, Any]) -> bool:
        """Return whether an answer is this very model's, as far as both say; one that says nothing is not."""
        pairs = (
            (self.provider.casefold(), text_of(message.get("provider")).casefold()),
            (_bare(self.model), _bare(text_of(message.get("model")))),
        )
        known = [(mine, its) for mine, its in pairs if mine and its]
        return bool(known) and all(mine == its for mine, its in known)


_NOBODY = Target()


def _bare(model: str) -> str:
    """Return a model's name without the provider that routers write before it."""
    return model.casefold().rpartition("/")[2]


@dataclass(frozen=True)
class Sanitised:
    """A repaired history.

    Args:
        repairs: One sentence for each kind of repair.
    """

    messages: tuple[Placed, ...]
    repairs: tuple[str, ...]


def sanitise(
    messages: Iterable[Placed], summary: Placed | None = None, target: Target | None = None
) -> Sanitised:
    """Return a history that every provider accepts (session workflow §4, §8).

    For a target, the reasoning of other models becomes text, and what is sealed or signed for them alone is left out.
    A history that begins with an answer keeps it for Google's models, behind a first turn of the user's; for others,
    and without a target, such answers are left out.

    Args:
        messages: In order, as in the transcript.
        summary: Inserted before them as a turn of its own, or None.
        target: The model it is handed to; None if any may be.
    """
    counts: dict[str, int] = {}

    def note(told: str, number: int = 1) -> None:
        counts[told] = counts.get(told, 0) + number

    spoken = [_without_images(placed, note) for placed in messages if _counts(placed, note)]
    whole = _whole(spoken)
    if target is not None:
        whole = [fit for placed in whole if (fit := _without_reasoning(placed, target, note)) is not None]
    ordered = _ordered(_paired(whole, note), note, summary, target)
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
    """Join the parts of an answer, each of which Claude Code writes on its own line."""
    whole: list[Placed] = []
    for placed in messages:
        answer = text_of(placed.message.get("id")) if placed.role == "assistant" else ""
        if answer and whole and whole[-1].message.get("id") == answer:
            placed = _joined((whole.pop(), placed))
        whole.append(placed)
    return whole


def _without_reasoning(placed: Placed, target: Target, note: Any) -> Placed | None:
    """Return an answer as another model can take it; None if nothing of it is left."""
    content = placed.message.get("content")
    if placed.role != "assistant" or not isinstance(content, list) or target.wrote(placed.message):
        return placed
    kept: list[Any] = []
    for part in content:
        if not isinstance(part, Mapping):
            kept.append(part)
        elif part.get("type") not in _REASONING:
            bare = {name: value for name, value in part.items() if name not in _SIGNATURES}
            if len(bare) < len(part):
                note("Signatures of another model were taken off ({count}).")
            kept.append(bare)
        elif text := _reasoned(part):
            note("Reasoning of another model was made text ({count}).")
            kept.append({"type": "text", "text": text})
        else:
            note("Sealed reasoning of another model was left out ({count}).")
    if not parts_of(kept):
        return None
    return placed if kept == content else replace(placed, message={**placed.message, "content": kept})


def _reasoned(part: Mapping[str, Any]) -> str:
    """Return what can be read of a model's reasoning."""
    if part.get("redacted") is True:
        return ""
    summary = part.get("summary")
    pieces = [part.get("thinking"), part.get("text"), *(each.get("text") for each in parts_of(summary))]
    return "\n".join(piece for piece in pieces if isinstance(piece, str) and piece.strip())


def _paired(messages: Sequence[Placed], note: Any) -> list[Placed]:
    """Put each result after its call, insert missing results, and drop those without a call."""
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
    """Return the placeholder for a result that was never written."""
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": name,
        "content": [{"type": "text", "text": MISSING_RESULT}],
        "isError": True,
    }


def _ordered(
    messages: Sequence[Placed], note: Any, summary: Placed | None, target: Target | None
) -> list[Placed]:
    """Make the user speak first, and merge consecutive messages of one side."""
    turns: list[list[Placed]] = [] if summary is None else [[summary]]
    for placed in messages:
        before = turns[-1][-1] if turns else None
        if before is None and placed.role != "user" and target is not None and target.is_google:
            note("A first turn was put in, which Google’s models ask for ({count}).")
            turns += [[Placed(None, {"role": "user", "content": OPENING})], [placed]]
        elif before is None and placed.role != "user":
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
    return [turn[0] if len(turn) == 1 else _joined(_of_one_model(turn, target, note)) for turn in turns]


def _of_one_model(turn: Sequence[Placed], target: Target | None, note: Any) -> Sequence[Placed]:
    """Return a turn whose reasoning is all of one model, since a joined message names one."""
    if target is None or all(target.wrote(placed.message) for placed in turn):
        return turn
    fit = (_without_reasoning(placed, _NOBODY, note) for placed in turn)
    return [placed for placed in fit if placed is not None]


def _joined(turn: Sequence[Placed]) -> Placed:
    said: dict[str, Any] = {}
    content: list[Any] = []
    for placed in turn:
        said |= placed.message
        content += parts_of(placed.message.get("content"))
    return Placed(turn[0].line, {**said, "content": content})


@dataclass(frozen=True)
class Branch:
    """The entries of a context, by their numbers in the tree, in order.

    Args:
        numbers: Entry numbers, without those before the first one kept by a compaction.
        compaction: Number of the compaction whose summary stands in for earlier entries, or None.
    """

    numbers: tuple[int, ...]
    compaction: int | None


@dataclass(frozen=True)
class Context:
    """A repaired context.

    Args:
        messages: In order; the summary first.
        tokens: Of each message.
        summary_line: Line of the compaction in use, or None.
        left_out: Number of messages that did not fit.
    """

    messages: tuple[Placed, ...]
    tokens: tuple[int, ...]
    summary_line: int | None
    left_out: int
    repairs: tuple[str, ...]

    @property
    def total(self) -> int:
        return sum(self.tokens)


def branch_of(tree: Tree, leaf: int | None = None) -> Branch:
    """Return the part of the tree that belongs to the context (research note §2.8).

    The latest compaction on the branch counts; a reset drops everything before it.

    Args:
        leaf: End of the branch; the last entry by default.
    """
    path = list(takewhile(lambda number: tree.kind(number) != events.RESET, tree.path(leaf)))
    at = next((place for place, number in enumerate(path) if tree.kind(number) == events.COMPACTION), None)
    if at is None:
        return Branch(tuple(reversed(path)), None)
    compaction = path[at]
    kept_from = tree.kept_from.get(compaction, compaction)
    kept = []
    for number in path[at + 1 :]:
        if number < kept_from:
            break
        kept.append(number)
    if kept and kept[-1] != kept_from:
        # The first entry to keep is not on this branch, so nothing before the summary is kept.
        kept = []
    return Branch((*reversed(kept), *reversed(path[:at])), compaction)


def build_context(
    tree: Tree,
    reader: LineReader,
    *,
    budget: int | None,
    turns: int = 0,
    leaf: int | None = None,
    target: Target | None = None,
) -> Context:
    """Return what a model would see, filled from the end until the budget is used up.

    Args:
        budget: Maximum tokens, or None.
        turns: Maximum user turns; 0 for no limit.
        target: The model it is handed to; None if any may be.
    """
    branch = branch_of(tree, leaf)
    estimate = TokenEstimate()
    used, questions = 0, 0
    messages: list[Placed] = []
    summary = _summary(tree, reader, branch)
    if summary is not None:
        used += estimate.of(summary.message)
    taken = 0
    for number in reversed(branch.numbers):
        placed = placed_message(tree, reader, number)
        if placed is None:
            taken += 1
            continue
        size = estimate.of(placed.message)
        if budget is not None and used + size > budget and messages:
            break
        if placed.role == "user":
            questions += 1
            if turns and questions > turns:
                break
        taken += 1
        used += size
        messages.append(placed)
    left = sum(
        1 for number in branch.numbers[: len(branch.numbers) - taken] if tree.kind(number) == events.MESSAGE
    )
    messages.reverse()
    while summary is None and taken < len(branch.numbers) and messages and messages[0].role != "user":
        # The question of these answers did not fit, so they are dropped too.
        messages.pop(0)
        left += 1
    clean = sanitise(messages, summary, target)
    tokens = tuple(estimate.of(placed.message) for placed in clean.messages)
    return Context(
        clean.messages,
        tokens,
        tree.lines[branch.compaction] if branch.compaction is not None else None,
        left,
        clean.repairs,
    )


def placed_message(tree: Tree, reader: LineReader, number: int) -> Placed | None:
    """Return an entry's message, or None if it has none."""
    kind = tree.kind(number)
    if kind not in (events.MESSAGE, events.CUSTOM_MESSAGE, events.BRANCH_SUMMARY):
        return None
    event = event_at(tree, reader, number)
    message = message_of(event) if event is not None else None
    return Placed(tree.lines[number], message) if message is not None else None


def event_at(tree: Tree, reader: LineReader, number: int) -> Event | None:
    """Reread an entry; None if its line changed meanwhile."""
    line = tree.lines[number]
    event = read_event(line, reader.line(line))
    return event if isinstance(event, Event) else None


def message_of(event: Event) -> Mapping[str, Any] | None:
    """Return the part of an entry shown to a model, or None."""
    if event.kind == events.MESSAGE:
        return event.message or None
    if event.kind == events.CUSTOM_MESSAGE:
        content = event.fields.get("content")
        return {"role": "user", "content": content} if isinstance(content, str | list) else None
    if event.kind == events.BRANCH_SUMMARY:
        return _told(BRANCH_PREFACE, event)
    return None


def _summary(tree: Tree, reader: LineReader, branch: Branch) -> Placed | None:
    if branch.compaction is None:
        return None
    event = event_at(tree, reader, branch.compaction)
    return (
        Placed(tree.lines[branch.compaction], _told(COMPACTION_PREFACE, event)) if event is not None else None
    )


def _told(preface: str, event: Event) -> dict[str, Any]:
    summary = event.fields.get("summary")
    text = f"{preface}{summary if isinstance(summary, str) else ''}{SUMMARY_END}"
    return {"role": "user", "content": [{"type": "text", "text": text}]}
