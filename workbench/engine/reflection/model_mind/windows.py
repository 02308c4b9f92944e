"""Cuts new passages, oldest first, into windows that fit one question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.reflection.model import Passage


@dataclass(frozen=True, slots=True)
class Window:
    """A run of passages by their indices, the end not included."""

    start: int
    end: int


def cut_windows(passages: Sequence[Passage], start: int, tokens: int, frame: int) -> Iterator[Window]:
    """Yield the windows from a passage on; one that is too long alone has a window of its own, and is cut there.

    Args:
        passages: Oldest first.
        start: Index of the first passage.
        tokens: Most tokens of a window.
        frame: Tokens that stand around a passage.
    """
    begin, held = start, 0
    for at in range(start, len(passages)):
        cost = count_tokens(passages[at].text) + frame
        if at > begin and held + cost > tokens:
            yield Window(begin, at)
            begin, held = at, 0
        held += cost
    if begin < len(passages):
        yield Window(begin, len(passages))
