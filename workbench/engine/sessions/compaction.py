"""Where a session is cut when it is compacted: the newest messages stay, whole turns of them where that is possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.engine.sessions import events
from workbench.engine.sessions.context import branch_of, event_at, placed_message
from workbench.engine.sessions.estimates import TokenEstimate
from workbench.engine.sessions.events import text_of
from workbench.engine.sessions.lines import LineReader
from workbench.engine.sessions.sanitising import Placed
from workbench.engine.sessions.tools import RESULT_ROLES
from workbench.engine.sessions.tree import Tree


@dataclass(frozen=True)
class Cut:
    """How a session is to be compacted.

    Args:
        left: Entries that the summary will stand for, by their numbers, the oldest first.
        kept: Entries that stay.
        first_kept_id: Id of the first that stays.
        before: The summary of what was left earlier; empty where there is none.
    """

    left: tuple[int, ...]
    kept: tuple[int, ...]
    first_kept_id: str
    before: str


def plan_cut(tree: Tree, reader: LineReader, keep_tokens: int) -> Cut | None:
    """Return where to cut; None where nothing would be left.

    Args:
        tree: Of the transcript.
        reader: Of its lines.
        keep_tokens: How much of the end stays, at least.
    """
    branch = branch_of(tree)
    estimate = TokenEstimate()
    used, at = 0, len(branch.numbers)
    while at > 0 and (used < keep_tokens or at == len(branch.numbers)):
        at -= 1
        placed = placed_message(tree, reader, branch.numbers[at])
        used += estimate.of(placed.message) if placed is not None else 0
    border = _boundary(tree, reader, branch.numbers, at)
    if border is None:
        return None
    left, kept = branch.numbers[:border], branch.numbers[border:]
    if not any(tree.kind(number) == events.MESSAGE for number in left):
        return None
    event = event_at(tree, reader, kept[0])
    if event is None or not event.id:
        return None
    return Cut(left, kept, event.id, _summary_before(tree, reader, branch.compaction))


def messages_of(tree: Tree, reader: LineReader, numbers: Iterable[int]) -> Iterator[Placed]:
    """Give the messages of entries, one by one."""
    for number in numbers:
        placed = placed_message(tree, reader, number)
        if placed is not None:
            yield placed


def _boundary(tree: Tree, reader: LineReader, numbers: tuple[int, ...], at: int) -> int | None:
    """Return the next place where a person begins a turn; else the next that parts no call from its result."""
    possible = None
    for place in range(at, len(numbers)):
        placed = placed_message(tree, reader, numbers[place])
        if placed is None or tree.kind(numbers[place]) != events.MESSAGE:
            continue
        if placed.role == "user":
            return place
        if possible is None and placed.role not in RESULT_ROLES:
            possible = place
    return possible


def _summary_before(tree: Tree, reader: LineReader, compaction: int | None) -> str:
    event = event_at(tree, reader, compaction) if compaction is not None else None
    if event is None:
        return ""
    summary = event.fields.get("summary")
    return summary if isinstance(summary, str) else text_of(summary)
