"""Plans the restoration of one memory as of a commit."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace
from workbench.engine.history.commits import RESTORES
from workbench.engine.history.document_units import match_units, parse_units, unit_name
from workbench.engine.history.json_revert import scores_of_memory
from workbench.engine.history.revert import reverting_plan
from workbench.engine.history.structural_revert import conflict_error, try_revert
from workbench.engine.history.undo import Overlay, Reversal
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.memory.core import read_core, within_cap
from workbench.engine.memory.forget import plan_archive
from workbench.engine.memory.lookup import locate_memory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.memory.lookup import LocatedMemory
    from workbench.engine.settings.sections import Settings

_SHORT = 10


def plan_memory_rollback(
    view: FileView,
    memory_id: str,
    then: FileView,
    commit: str,
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime],
) -> Plan[Reversal]:
    """Plan to restore one memory with its pin and archiving; everything else stays.

    A memory that did not exist then is archived like a forgotten one, which undo reverts. One that does not exist now
    returns to its former predecessor.

    Args:
        view: The current files.
        memory_id: A memory of then or now.
        then: The files of the commit.
        commit: Full hash of the commit.
        now: Aware, in the workspace's zone.
        settings: They give the cap of core memory and the decay constants.
        first_seen: When memories entered the history, by id.

    Raises:
        InvalidInput: It is not an id, or names lines of a file.
        NotFound: There is no such memory then or now.
        Stale: It cannot be restored without the rest of its file.
        BudgetExceeded: Core memory would exceed its cap.
    """
    zone = settings.zone
    was, current = _placed(then, memory_id, zone), _placed(view, memory_id, zone)
    if was is None and current is None:
        raise NotFound(
            f"There was no memory {memory_id} at {commit[:_SHORT]}, and there is none now.",
            remedy=f"See what there was: workbench audit at {commit[:_SHORT]}",
        )
    if was is None:
        return _put_away(view, memory_id, commit, now, settings, first_seen)
    overlay = Overlay(view)
    if was.id.kind == "file" and "#" in was.id.name:
        raise InvalidInput(
            "Lines of a file are no memory by themselves.",
            where=memory_id,
            remedy=f"Restore the file: workbench rollback --file {was.path}@{commit[:_SHORT]}",
        )
    if _is_file(was):
        overlay.write(was.path, then.read(was.path))
    else:
        _put_in_place(overlay, was, then, current)
        if was.id.kind == "core":
            after = CoreMemory.parse(overlay.read(was.path) or b"", was.path)
            within_cap(read_core(view), after, settings)
    scores = scores_of_memory(memory_id, then.read(layout.DECAY_SCORES), view.read(layout.DECAY_SCORES))
    overlay.write(layout.DECAY_SCORES, scores)
    return reverting_plan(
        overlay, (commit,), f"restored {memory_id} as of {commit[:_SHORT]}", ((RESTORES, commit),)
    )


def _placed(view: FileView, memory_id: str, zone: ZoneInfo) -> LocatedMemory | None:
    try:
        return locate_memory(view, memory_id, zone)
    except (NotFound, OutsideWorkspace):
        return None


def _is_file(memory: LocatedMemory) -> bool:
    return memory.id.block is None and memory.id.kind not in ("core", "episode")


def _put_away(
    view: FileView,
    memory_id: str,
    commit: str,
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime],
) -> Plan[Reversal]:
    plan = plan_archive(view, [memory_id], now, settings, first_seen)
    paths = tuple(change.path for change in plan.changes)
    told = f"{memory_id} was not there at {commit[:_SHORT]}, so it was archived."
    return plan.answering(Reversal((commit,), paths, plan.summary, (told,)))


def _put_in_place(
    overlay: Overlay, was: LocatedMemory, then: FileView, current: LocatedMemory | None
) -> None:
    before, after = then.read(was.path) or b"", overlay.read(was.path) or b""
    names = _names(before, was.span.start)
    if current is not None:
        names |= _names(after, current.span.start)
    else:
        names |= _counterparts(before, after, was.span.start)
    content, conflicts = try_revert(was.path, before, after, after, only=names)
    if conflicts:
        raise conflict_error(was.path, conflicts)
    overlay.write(was.path, content)


def _names(content: bytes, line: int) -> set[str]:
    units = parse_units(content, markdown=True)
    return {unit_name(units.units[place]) for place in units.places_of(line)}


def _counterparts(before: bytes, after: bytes, line: int) -> set[str]:
    old, new = parse_units(before, markdown=True), parse_units(after, markdown=True)
    pairs = match_units(old.units, new.units)
    return {unit_name(new.units[pairs[place]]) for place in old.places_of(line) if place in pairs}
