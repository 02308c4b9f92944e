"""What entities had gone into by merging at a commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.engine.catalog.merged_graph import followed_up
from workbench.engine.errors import InvalidInput, OutsideWorkspace
from workbench.engine.past.files import is_entity
from workbench.engine.stores.entities import entity_path

if TYPE_CHECKING:
    from workbench.engine.past.files import PastFiles


class PastMerges:
    """Merges as the files of a commit tell them.

    Args:
        files: Of the commit.
    """

    def __init__(self, files: PastFiles) -> None:
        self._files = files
        self._known: tuple[Mapping[str, str], dict[str, str], dict[str, list[str]]] | None = None

    def whole(self, entity: str) -> str:
        """Return the entity that one had gone into; itself where it had not."""
        return self.kept().get(entity, entity)

    def parts(self, entity: str) -> list[str]:
        """Return an entity and those that had gone into it, one after the other too."""
        self.kept()
        assert self._known is not None
        return [entity, *self._known[2].get(entity, ())]

    def kept(self) -> Mapping[str, str]:
        """Return what entities had gone into, by id, followed to the one that was left."""
        differing = self._files.differing()
        if self._known is None or self._known[0] is not differing:
            kept = self._files.same.settled(self._kept)
            parts: dict[str, list[str]] = defaultdict(list)
            for entity in sorted(kept):
                parts[kept[entity]].append(entity)
            self._known = (differing, kept, parts)
        return self._known[1]

    def _kept(self) -> dict[str, str]:
        files = self._files
        into = {
            entity: keeper for path, blob, entity, keeper in files.same.merges() if files.is_same(path, blob)
        }
        for path, blob in files.differing().items():
            if is_entity(path):
                into.update(files.versions.merged(path, blob))
        return followed_up({entity: keeper for entity, keeper in into.items() if self._stood(keeper)})

    def _stood(self, entity: str) -> bool:
        try:
            return self._files.blob(entity_path(entity.removeprefix("entity:"), self._files)) is not None
        except (InvalidInput, OutsideWorkspace):
            return False
