"""Finding the memories whose status has changed with time, and logging that in one line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path

from workbench.engine.clock import in_zone, parse_time, render_time
from workbench.engine.decay.folding import Folded, FoldedEntries, fold_entries, plan_scores
from workbench.engine.decay.journal import Page
from workbench.engine.decay.records import SCORED_STORES, MemoryFacts, Reckoning, compose
from workbench.engine.decay.scores_file import checked_of, read_scores, rescored
from workbench.engine.decay.statuses import transition_of
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import FileView, Plan
from workbench.engine.history.state_files import write_state

MARK = "decay-checked"


def plan_transitions(
    view: FileView, page: Page, memories: Mapping[str, MemoryFacts], reckoning: Reckoning
) -> Plan[Folded]:
    """Plan to log every status transition since the last one logged; carry it out as `system:decay`.

    Journalled accesses are folded in with it; the file keeps how far it has read the journal, so that a crash before
    the journal is dropped counts nothing twice. Where no status has changed and no access waits, the file is
    left alone.

    Args:
        view: The files.
        page: What stands in the journal.
        memories: All memories by id.
        reckoning: The moment and the constants.

    Raises:
        DocumentError: The scores file's outer structure is broken.
    """
    scores = read_scores(view)
    fold = fold_entries(scores, page, memories.get, reckoning)
    checked = checked_of(scores)
    entries = dict(fold.entries)
    transitions = list(fold.transitions)
    for facts in memories.values():
        if facts.store not in SCORED_STORES or facts.id in fold.entries:
            continue
        standing = scores.entries.get(facts.id)
        record = compose(facts, standing, None, reckoning)
        transition = transition_of(facts, standing, record, checked, reckoning)
        if transition is None:
            continue
        transitions.append(transition)
        # A memory without an entry gets none by this: its status follows from the moment of the check.
        if standing is not None:
            entries[facts.id] = rescored(standing, record, reckoning)
    whole = FoldedEntries(entries, tuple(transitions), fold.accesses)
    return plan_scores(scores, page, whole, {"checked": render_time(reckoning.now)}, reckoning)


def check_is_due(folder: Path, now: datetime, zone: tzinfo) -> bool:
    """Tell whether a calendar day has begun since transitions were last looked for here.

    Args:
        folder: This workspace's state directory.
        now: Aware.
        zone: The workspace's time zone.
    """
    try:
        last = parse_time((folder / MARK).read_text("utf-8"))
    except (OSError, InvalidInput, UnicodeDecodeError):
        return True
    return in_zone(last, zone).date() != now.astimezone(zone).date()


def mark_checked(folder: Path, now: datetime) -> None:
    """Note that transitions have been looked for; without the note they are looked for again."""
    write_state(folder / MARK, render_time(now).encode())
