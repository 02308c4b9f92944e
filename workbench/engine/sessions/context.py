"""What a model would be shown of a session: its branch, with a summary in place of what was compacted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from workbench.engine.sessions import events
from workbench.engine.sessions.estimates import TokenEstimate
from workbench.engine.sessions.events import Event, read_event
from workbench.engine.sessions.lines import LineReader
from workbench.engine.sessions.sanitising import Placed, sanitise
from workbench.engine.sessions.tree import Tree

COMPACTION_PREFACE = "The conversation before this point was compacted into this summary:\n\n<summary>\n"
BRANCH_PREFACE = "This is a summary of a branch of the conversation that was left:\n\n<summary>\n"
SUMMARY_END = "\n</summary>"


@dataclass(frozen=True)
class Branch:
    """The entries that are part of the context, by their numbers in the tree, the first first.

    Args:
        numbers: Of entries; those before a compaction's first kept one are not among them.
        compaction: The number of the compaction whose summary stands for what was before; None without one.
    """

    numbers: tuple[int, ...]
    compaction: int | None


@dataclass(frozen=True)
class Context:
    """A context, put right.

    Args:
        messages: In order; the summary first.
        tokens: Of each message.
        summary_line: Line of the compaction in use; None without one.
        left_out: Messages that found no room.
        repairs: What was put right.
    """

    messages: tuple[Placed, ...]
    tokens: tuple[int, ...]
    summary_line: int | None
    left_out: int
    repairs: tuple[str, ...]

    @property
    def total(self) -> int:
        """Return the tokens of all messages together."""
        return sum(self.tokens)


def branch_of(tree: Tree, leaf: int | None = None) -> Branch:
    """Return what of the tree is part of the context (research note §2.8).

    The latest compaction on the branch counts, and a reset ends the conversation before it.

    Args:
        tree: Of the transcript.
        leaf: Where the branch ends; at the last entry by default.
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
        # The first entry to keep lies on no branch of ours, so nothing before the summary is kept.
        kept = []
    return Branch((*reversed(kept), *reversed(path[:at])), compaction)


def build_context(
    tree: Tree, reader: LineReader, *, budget: int | None, turns: int = 0, leaf: int | None = None
) -> Context:
    """Return what a model would be shown, read from the end until there is no more room.

    Args:
        tree: Of the transcript.
        reader: Of its lines.
        budget: Most tokens; None for no limit.
        turns: Most turns of the person's; 0 for no limit.
        leaf: Where the branch ends.
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
        # The question of these answers found no room, so they have none either.
        messages.pop(0)
        left += 1
    clean = sanitise(messages, summary)
    tokens = tuple(estimate.of(placed.message) for placed in clean.messages)
    return Context(
        clean.messages,
        tokens,
        tree.lines[branch.compaction] if branch.compaction is not None else None,
        left,
        clean.repairs,
    )


def placed_message(tree: Tree, reader: LineReader, number: int) -> Placed | None:
    """Return the message of an entry; None where it is none."""
    kind = tree.kind(number)
    if kind not in (events.MESSAGE, events.CUSTOM_MESSAGE, events.BRANCH_SUMMARY):
        return None
    event = event_at(tree, reader, number)
    message = message_of(event) if event is not None else None
    return Placed(tree.lines[number], message) if message is not None else None


def event_at(tree: Tree, reader: LineReader, number: int) -> Event | None:
    """Return an entry read again; None where its line changed meanwhile."""
    line = tree.lines[number]
    event = read_event(line, reader.line(line))
    return event if isinstance(event, Event) else None


def message_of(event: Event) -> Mapping[str, Any] | None:
    """Return what a model is shown of an entry; None for what it is not shown."""
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
