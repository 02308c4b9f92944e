"""The bench’s calls about what was held back as a secret, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui import bench
from workbench.tui.held import DROP, WITHOUT
from workbench.tui.workspace_bench.door import Door

if TYPE_CHECKING:
    from workbench.engine.results.memories import HeldBackList
    from workbench.tui.held import HeldChoice


class WorkspaceSecrets(Door):
    """The part of a workspace in which secrets wait for a person."""

    def held_back(self) -> HeldBackList:
        """Return everything that was held back, the secrets left out."""
        return self._workspace.secrets_held()

    def held_waiting(self) -> int:
        """Return how much was held back."""
        return len(self._workspace.secrets_held().held)

    def reveal(self, number: int) -> str:
        """Return the words of one thing with the secret in them."""
        return self._workspace.secrets_reveal(number).text

    def choose(self, choice: HeldChoice) -> bench.Outcome:
        """Carry out a choice at once; one undo takes it back."""
        numbers = [each.number for each in choice.held]
        try:
            if choice.choice == DROP:
                self._workspace.secrets_drop(*numbers)
                return bench.Outcome(choice.done())
            stored = self._workspace.secrets_store(*numbers, leave_out=choice.choice == WITHOUT)
        finally:
            # What was decided before one failed stands.
            self._tell()
        return bench.Outcome(" ".join((choice.done(), *stored.warnings)), stored.commit)
