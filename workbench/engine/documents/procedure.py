"""Procedures, `memory/procedures/*.md`: when a learned workflow applies and what its steps are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import SourceText


@dataclass(frozen=True)
class Procedure:
    """One procedure. Edits return a new one.

    Args:
        id: `procedure:<file name without .md>`.
        header: What the header comments say, keys in lower case.
        steps: In order, without numbers.
    """

    path: str
    id: str
    title: str
    source: SourceText
    header: tuple[tuple[str, str], ...]
    trigger: str
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    learned_from: tuple[str, ...]
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> Procedure:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    @classmethod
    def create(
        cls,
        path: str,
        *,
        title: str,
        learned: str,
        trigger: str = "",
        steps: Iterable[str] = (),
        notes: Iterable[str] = (),
        learned_from: Iterable[str] = (),
    ) -> Procedure:
        """Return a new procedure; `learned` is its ISO date, `learned_from` ids of memories."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def set_trigger(self, text: str) -> Procedure:
        """Replace when it applies."""
        raise NotImplementedError

    def set_steps(self, steps: Iterable[str]) -> Procedure:
        """Replace the steps."""
        raise NotImplementedError

    def add_step(self, text: str) -> Procedure:
        """Add a last step."""
        raise NotImplementedError

    def add_note(self, text: str) -> Procedure:
        """Add a note."""
        raise NotImplementedError

    def add_learned_from(self, source: str) -> Procedure:
        """Add where it was learned; one that is listed already changes nothing."""
        raise NotImplementedError
