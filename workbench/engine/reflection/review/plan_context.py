"""What the planners of the review need to know beside the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime, tzinfo
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.engine.memory.draft import EntityLookup, RelevanceLookup
from workbench.engine.settings.sections import Settings
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.triggers.model import Routing

_UNSEEN: Mapping[str, datetime] = MappingProxyType({})


def _by_rules(text: str) -> Routing:
    from workbench.engine.triggers.rules import route_by_rules

    return route_by_rules(text)


@dataclass(frozen=True)
class PlanContext:
    """What the planners need.

    Args:
        now: Aware, in the workspace’s zone.
        settings: Of the workspace.
        lookup: Finds entities by name.
        first_seen: When memories came into the history, by id, as far as their files do not say.
        standing: Where given, a full core memory names its least relevant items first.
        proposed: Gives what an item proposed before a person reworded it, by its id; None where that is unknown.
        route: Tells what kind of memory an answer is; without a network, for it runs under the writer’s lock.
    """

    now: datetime
    settings: Settings
    lookup: EntityLookup
    first_seen: Mapping[str, datetime] = field(default_factory=lambda: _UNSEEN)
    standing: RelevanceLookup | None = None
    proposed: Callable[[str], str | None] = lambda _: None
    route: Callable[[str], Routing] = _by_rules

    @property
    def zone(self) -> tzinfo:
        """Return the workspace’s zone."""
        return self.now.tzinfo or self.settings.zone
