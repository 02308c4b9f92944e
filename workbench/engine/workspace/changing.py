"""How every change goes through the door: one plan, one transaction, one answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.agents.roles import Capability
from workbench.engine.results.memories import Changed
from workbench.engine.workspace.recalling import Recalling

if TYPE_CHECKING:
    from workbench.engine.history.plan import Attribution, FileView, Plan


class Changing(Recalling):
    """What the parts of the door that change memory share."""

    def _known(self, name: str) -> str:
        self._ground.refresh_for_reading()
        return str(self.resolve(name).whole)

    def _change(
        self,
        planner: Callable[[FileView], Plan[Changed]],
        trigger: str,
        *,
        by: Attribution | None = None,
    ) -> Changed:
        ground = self._ground
        receipt = ground.mutate(
            planner, by or ground.attribution(trigger), Capability.WRITE_MEMORY, doing="write memory"
        )
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)
