"""What the bench asks about what was held back as a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.engine.results.memories import HeldBackList
    from workbench.tui.bench.answers import Outcome
    from workbench.tui.held import HeldChoice


class SecretCalls(Protocol):
    """Secrets that were held back, and deciding on them."""

    def held_back(self) -> HeldBackList:
        """Return everything that was held back, the secrets left out."""
        ...

    def reveal(self, number: int) -> str:
        """Return the words of one thing with the secret in them."""
        ...

    def choose(self, choice: HeldChoice) -> Outcome:
        """Carry out a choice at once; one undo takes it back."""
        ...
