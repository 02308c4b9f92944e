"""What a verb does to a subject: a call of the engine with its sentence, a question first, or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

LONGEST_QUOTE = 60
"""Characters of what is quoted in a sentence."""


class Subject(Protocol):
    """What keys act on: a frozen value of its kind."""

    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...


@dataclass(frozen=True)
class Act:
    """What is done.

    Args:
        call: Does it on the thread of actions and returns the sentence of the status line.
        question: Asked first; empty where undo takes it back.
        answer: What `enter` then does, in words.
        leave: Called where the question is answered with no.
        stays: Whether its sentence holds wherever one goes on to; else it is about the row alone.
    """

    call: Callable[[Workspace], str]
    question: str = ""
    answer: str = ""
    leave: Callable[[], object] = lambda: None
    stays: bool = True


def quoted(title: str) -> str:
    """Return the words of a thing in quotes, cut where they are long."""
    words = " ".join(title.split())
    return f"“{words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + '…'}”"


Verb: TypeAlias = "Callable[[tuple[Any, ...]], Act | str]"
OTHER_VERBS: dict[type, Mapping[str, Verb]] = {}
"""Verbs of what is no memory, by its kind; the module of that kind puts them in. Any other says its `elsewhere`."""
