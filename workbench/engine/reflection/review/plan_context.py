"""What the planners of the review work with: the files, and what they need to know beside them.

Each document that several items ask for is parsed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime, tzinfo
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.engine.markdown.entity import EntityFile
from workbench.engine.memory.core import archived_items, read_core
from workbench.engine.memory.draft import EntityLookup, RelevanceLookup
from workbench.engine.memory.entities import entity_path
from workbench.engine.memory.scores_file import read_scores
from workbench.engine.settings.sections import Settings
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import builtins

    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.core import CoreMemory
    from workbench.engine.markdown.decay_scores import ScoreEntry
    from workbench.engine.memory.core import ArchivedItem
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


class ParsedFiles:
    """A view of files that must not change meanwhile, with what was read out of them.

    Args:
        view: The files.
    """

    def __init__(self, view: FileView) -> None:
        self._view = view

    @classmethod
    def of(cls, view: FileView) -> ParsedFiles:
        """Return the view itself where it is one of these."""
        return view if isinstance(view, cls) else cls(view)

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None where there is none."""
        return self._view.read(path)

    def list(self, folder: str) -> builtins.list[str]:
        """Return the tracked paths below a folder, sorted."""
        return self._view.list(folder)

    @cached_property
    def core(self) -> CoreMemory:
        """Return core memory."""
        return read_core(self._view)

    @cached_property
    def entries(self) -> dict[str, ScoreEntry]:
        """Return what the scores file says, by memory id."""
        return dict(read_scores(self._view).entries)

    @cached_property
    def archived_items(self) -> dict[str, ArchivedItem]:
        """Return the archived items of core memory by id."""
        return archived_items(self._view)

    def entity(self, entity: str) -> EntityFile | None:
        """Return an entity’s own file by `type--slug`; merges are not followed."""
        path = entity_path(entity, self)
        content = self.read(path)
        return EntityFile.parse(content, path) if content is not None else None
