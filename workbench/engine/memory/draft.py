"""Drafts of plans: the files as changed so far by one action, what its steps store, and the lookups they may use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Protocol, TypeVar

from workbench.engine import layout
from workbench.engine.catalog.records import EdgeRecord, EntityMatch, EntityRecord, MemoryRecord
from workbench.engine.errors import NotFound
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.history.spent_ids import is_spent
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.statements import new_block_id
from workbench.engine.results.memories import Changed
from workbench.engine.values import dataclass

T = TypeVar("T")
_SUMMARY_CHARACTERS = 1000


@dataclass(frozen=True)
class Stored:
    """The memory that holds what was to be stored; `fresh` is False if it already existed."""

    id: str
    path: str
    fresh: bool
    warnings: tuple[str, ...] = ()


class Draft:
    """Files of a view with changes on top; itself a view, so that steps can build on each other."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._contents: dict[str, bytes | None] = {}
        self._actions: dict[str, Action] = {}
        self._summaries: dict[str, dict[str, list[str]]] = {}
        self._actor = ""

    def acting(self, actor: str) -> None:
        """Name the actor of what is drafted from here on; empty for the actor of the commit."""
        self._actor = actor

    def read(self, path: str) -> bytes | None:
        """Return a file's drafted or else current content; None if there is none."""
        return self._contents[path] if path in self._contents else self._view.read(path)

    def was_given(self, memory_id: str) -> bool:
        """Return True if an id was used and is gone; it may not be used again."""
        return is_spent(self.read(layout.SPENT_IDS), memory_id)

    def new_block(self, file: EntityFile, prefix: str, seed: str) -> str:
        """Return a block id for a fact (`f`) or relation (`r`) that the file never had."""
        return new_block_id(prefix, seed, file.block_ids, lambda block: self._had_block(file, block))

    def moved_block(self, file: EntityFile, prefix: str, seed: str, block: str | None) -> str:
        """Return the block id for content from another file: its own, unless this file ever had it."""
        if block is None or block in file.block_ids or self._had_block(file, block):
            return self.new_block(file, prefix, seed)
        return block

    def _had_block(self, file: EntityFile, block: str) -> bool:
        return self.was_given(f"entity:{file.id}#^{block}")

    def require(self, path: str, what: str) -> bytes:
        """Return a file that has to exist.

        Raises:
            NotFound: There is no such file; `what` names what was looked for in it.
        """
        content = self.read(path)
        if content is None:
            raise NotFound(f"There is no {what}.", where=path, remedy="Look for it with `workbench search`.")
        return content

    def list(self, folder: str) -> list[str]:
        """Return the paths below a folder, including drafted ones, sorted."""
        prefix = f"{folder.rstrip('/')}/" if folder else ""
        drafted = {path: content for path, content in self._contents.items() if path.startswith(prefix)}
        paths = self._view.list(folder)
        if not drafted:
            return list(paths)
        left = {path for path in paths if drafted.get(path, b"") is not None}
        return sorted(left.union(path for path, content in drafted.items() if content is not None))

    def write(self, path: str, content: bytes, action: Action, summary: str) -> None:
        """Draft a file's new content; a second change of a file extends its summary.

        Args:
            content: The whole file. If it equals the present content, nothing is drafted.
            action: Its action in the audit log; for a new file always CREATE.
        """
        before = self.read(path)
        if before == content:
            return
        if self._view.read(path) is None and action in (Action.EDIT, Action.APPEND):
            action = Action.CREATE
        self._put(path, content, action, summary)

    def delete(self, path: str, summary: str) -> None:
        """Draft a file's deletion."""
        if self.read(path) is not None:
            self._put(path, None, Action.DELETE, summary)

    def _put(self, path: str, content: bytes | None, action: Action, summary: str) -> None:
        self._contents[path] = content
        earlier = self._actions.get(path)
        if (
            earlier is None
            or Action.DELETE in (earlier, action)
            or (earlier, action) == (Action.APPEND, Action.EDIT)
        ):
            self._actions[path] = action
        self.tell(path, summary)

    def tell(self, path: str, summary: str) -> None:
        """Say more in the audit log of a file that is drafted, under the actor that is named now."""
        summaries = self._summaries.setdefault(path, {}).setdefault(self._actor, [])
        if summary not in summaries:
            summaries.append(summary)

    def lay(self, plan: Plan[T], *, action: Action | None = None, summary: str = "", note: str = "") -> T:
        """Draft the changes of a plan made on this draft; return its outcome.

        Args:
            action: Replaces the actions of what is written; without one they stay.
            summary: Replaces the summaries of its changes; without one they stay.
            note: Stands behind each summary.
        """
        for change in plan.changes:
            told = "; ".join(each for each in (summary or change.summary, note) if each)
            if change.content is None:
                self.delete(change.path, told)
            else:
                self.write(change.path, change.content, action or change.action, told)
        return plan.outcome

    def changes(self) -> tuple[FileChange, ...]:
        """Return the changes in the order in which they were first drafted."""
        return tuple(
            FileChange(path, content, self._actions[path], _joined(self._all_told(path)), self._told_by(path))
            for path, content in self._contents.items()
            if content != self._view.read(path)
        )

    def _all_told(self, path: str) -> Sequence[str]:
        return tuple(dict.fromkeys(each for told in self._summaries[path].values() for each in told))

    def _told_by(self, path: str) -> tuple[tuple[str, str], ...]:
        told = self._summaries[path]
        return tuple((actor, _joined(each)) for actor, each in told.items()) if any(told) else ()

    def plan(self, action: Action, file: str, summary: str, outcome: T) -> Plan[T]:
        """Return the plan of everything drafted; it has no changes if nothing differs."""
        return Plan(action, file, summary, self.changes(), outcome=outcome)


def _joined(summaries: Sequence[str]) -> str:
    """Join a file's summaries into one readable line."""
    kept: list[str] = []
    for summary in summaries:
        if kept and sum(map(len, kept)) + len(summary) > _SUMMARY_CHARACTERS:
            return "; ".join([*kept, f"and {len(summaries) - len(kept)} more"])
        kept.append(summary)
    return "; ".join(kept)


def plan_together(
    view: FileView, planners: Sequence[Callable[[FileView], Plan[Changed]]], summary: str
) -> Plan[Changed]:
    """Plan for several planners, each seeing the changes of those before it.

    Args:
        summary: The common summary, used if there are several planners.
    """
    draft = Draft(view)
    plans = []
    for planner in planners:
        plan = planner(draft)
        draft.lay(plan)
        plans.append(plan)
    ids = tuple(dict.fromkeys(one for plan in plans for one in plan.outcome.ids))
    warnings = tuple(dict.fromkeys(one for plan in plans for one in plan.outcome.warnings))
    first = plans[0]
    line = summary if len(plans) > 1 else first.summary
    return draft.plan(first.action, first.file, line, Changed(None, ids=ids, warnings=warnings))


class EntityLookup(Protocol):
    """Finds entities and their neighbours without opening every file."""

    def resolve(self, name: str, entity_type: str | None = None) -> tuple[EntityMatch, ...]:
        """Return the entities a name may mean, best first: exact, alias and acronym before similar."""
        ...

    def entity(self, entity: str) -> EntityRecord | None:
        """Return the entity by its id `entity:type--slug`."""
        ...

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        """Return the relations from or to an entity."""
        ...

    def absorbed(self, entity: str) -> tuple[str, ...]:
        """Return the ids of the entities merged into this one."""
        ...


class MemoryLookup(EntityLookup, Protocol):
    """Finds any memory, and the places that mention it."""

    def memory(self, memory_id: str) -> MemoryRecord | None:
        """Return the memory by its id."""
        ...

    def mentions(self, target: str) -> tuple[str, ...]:
        """Return the ids of memories that link to a memory or give it as their source."""
        ...

    def mentioning_files(self, target: str) -> tuple[str, ...]:
        """Return the paths of files that link to a memory or give it as their source."""
        ...


@dataclass(frozen=True)
class Relevance:
    """The present relevance of a memory.

    Args:
        score: 0-1.
        last_accessed: The day, in the workspace's zone, or None if unknown.
    """

    score: float
    pinned: bool = False
    archived: bool = False
    last_accessed: date | None = None


class RelevanceLookup(Protocol):
    """Looks up the relevance of memories."""

    def relevance(self, memory_id: str) -> Relevance:
        """Return the relevance of a memory by its id."""
        ...
