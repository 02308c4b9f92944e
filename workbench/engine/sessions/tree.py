"""The tree that a transcript's entries form: which line follows which, and the branch that ends at the leaf."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions import events
from workbench.engine.sessions.events import Event, read_event
from workbench.engine.sessions.lines import Lines
from workbench.engine.sessions.masked_lines import MaskedLines
from workbench.engine.sessions.steps import Steps

MOST_PROBLEMS = 1000
_CODES = {kind: code for code, kind in enumerate(events.KINDS, 1)}
_KINDS = ("other", *events.KINDS)


@dataclass
class Tree:
    """The shape of one transcript: of each entry its line and the entry before it on its branch.

    Args:
        lines: Line of each entry but the header, in the file's order.
        parents: Number of the entry before it on its branch, -1 for none.
        kinds: What each is, as a number.
        kept_from: Of each compaction, the number of the first entry that it keeps.
        header: The first line where it is a header, else None.
        problems: Lines that could not be read, and entries whose place on the tree had to be guessed.
        more_problems: How many more there were.
        total: Lines of the file.
    """

    lines: array[int] = field(default_factory=lambda: array("q"))
    parents: array[int] = field(default_factory=lambda: array("q"))
    kinds: bytearray = field(default_factory=bytearray)
    kept_from: dict[int, int] = field(default_factory=dict)
    header: Event | None = None
    problems: list[SessionProblem] = field(default_factory=list)
    more_problems: int = 0
    total: int = 0

    @property
    def leaf(self) -> int:
        """Return the number of the last entry, -1 where there is none."""
        return len(self.lines) - 1

    def path(self, start: int | None = None) -> Iterator[int]:
        """Give entries from the leaf to the root by their numbers.

        Args:
            start: Where to begin; at the leaf by default.
        """
        at = self.leaf if start is None else start
        while at >= 0:
            yield at
            at = self.parents[at]

    def kind(self, number: int) -> str:
        """Return what an entry is; `other` where its type is none of the known ones."""
        return _KINDS[self.kinds[number]]

    def told(self) -> tuple[SessionProblem, ...]:
        """Return the problems, with how many were left out."""
        if not self.more_problems:
            return tuple(self.problems)
        return (
            *self.problems,
            SessionProblem(None, f"{self.more_problems:,} more lines like these were skipped."),
        )


# Several questions in a row are mostly about one transcript.
_MOST_KNOWN = 4
_known: dict[tuple[int, ...], Tree] = {}


def read_tree(lines: Lines, steps: Steps | None = None) -> Tree:
    """Return the shape of a transcript; one that has not changed since is not read again.

    Args:
        lines: Of the transcript.
        steps: Told how much was read; None where nobody waits for it.

    Raises:
        Cancelled: The steps are not wanted any more.
    """
    if isinstance(lines, MaskedLines):
        # Of the texts nothing is kept, so that there is nothing to mask.
        lines = lines.unmasked
    stamp = lines.stamp()
    tree = _known.pop(stamp, None) if stamp is not None else None
    if tree is None:
        numbered = lines.read()
        tree = _read(numbered if steps is None else steps.over("reading", numbered, lines.count()))
    if stamp is None:
        return tree
    _known[stamp] = tree
    while len(_known) > _MOST_KNOWN:
        with suppress(StopIteration, KeyError):
            del _known[next(iter(_known))]
    return tree


def _read(lines: Iterable[tuple[int, bytes]]) -> Tree:
    """Read every line of a transcript once and keep its shape; nothing of the text stays in memory.

    A line that cannot be read is reported by its number and skipped; an entry whose parent is lost follows the entry
    before it in the file, so that damage in the middle takes nothing else along. A parent always stands above its
    child, so there are no circles.

    Args:
        lines: Of the transcript, with their numbers.
    """
    tree = Tree()
    known: dict[str, int] = {}
    for number, content in lines:
        tree.total = number
        event = read_event(number, content)
        if isinstance(event, str):
            if event:
                _report(tree, number, f"This line {event}; it was skipped.")
            continue
        _add(tree, event, known)
    return tree


def _add(tree: Tree, event: Event, known: dict[str, int]) -> None:
    if event.kind == events.HEADER:
        if tree.header is None:
            tree.header = event
        return
    at = len(tree.lines)
    before = at - 1
    parent_id = event.parent_id
    if parent_id is None:
        parent = -1
    elif parent_id == "":
        # Files of the first versions are a plain list.
        parent = before
    else:
        parent = known.get(parent_id, -2)
        if parent == -2:
            parent = before
            _report(
                tree,
                event.line,
                "The entry that this one follows is not there; it was put behind the one before.",
            )
    if event.kind == events.COMPACTION:
        tree.kept_from[at] = known.get(events.text_of(event.fields.get("firstKeptEntryId")), at)
    tree.lines.append(event.line)
    tree.parents.append(parent)
    tree.kinds.append(_CODES.get(event.kind, 0))
    if event.id:
        known[event.id] = at


def _report(tree: Tree, line: int, told: str) -> None:
    if len(tree.problems) < MOST_PROBLEMS:
        tree.problems.append(SessionProblem(line, told))
    else:
        tree.more_problems += 1
