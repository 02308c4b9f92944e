"""What the bench asks about one memory of any store, and how it corrects it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.tui.bench.answers import Outcome


class MemoryCalls(Protocol):
    """The text of a memory, and what it is called."""

    def titles(self, stores: Sequence[str]) -> Mapping[str, str]:
        """Return the line that names each memory of some stores, by its id."""
        ...

    def memory_text(self, memory_id: str) -> str:
        """Return the text that correcting a memory starts from; looking here counts as no access."""
        ...

    def edit_memory(self, memory_id: str, text: str, expected: str) -> Outcome:
        """Let a memory say something else; an episode stays and gets a correction beside it.

        Args:
            memory_id: Of any store.
            text: What it shall say.
            expected: What `memory_text` gave; refused as stale when it no longer reads so.
        """
        ...

    def restore(self, memory_ids: Sequence[str]) -> Outcome:
        """Bring archived memories back."""
        ...
