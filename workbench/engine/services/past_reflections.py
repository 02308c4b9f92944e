"""Past reflections: what was decided on each, when it was written, and whether it was taken back."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from workbench.engine.clock import time_or_none
from workbench.engine.history.commits import CommitIndex, parse_message
from workbench.engine.history.permissions import owner_in_words, owner_of
from workbench.engine.history.revert import ITEM
from workbench.engine.reflection.files import read_log, read_pending, reflection_of
from workbench.engine.reflection.review.record import ITEMS, read_verdicts, without_verdicts
from workbench.engine.results.inbox import PastItem, PastReflection, PastReflections
from workbench.engine.roles import Capability, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.markdown.reflection_records import ReflectionRecord
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.past import PastReader

_ACTOR: Final = "reflection:"
_DECIDED: Final = frozenset({"approved", "rejected", "deferred"})


class PastReflectionReader:
    """Reads what became of reflections: what was decided from their record, the rest from history."""

    def __init__(self, context: WorkspaceContext, past: PastReader) -> None:
        self._context = context
        self._past = past

    def all(self) -> PastReflections:
        """Return every reflection on which something was written, newest first."""
        context = self._context
        require(context.role, Capability.READ)
        records = {record.id: record for record in read_log(context.files).records}
        index = self._past.line() if context.has_history() else None
        commits = _commits(index) if index is not None else {}
        waiting = reflection_of(read_pending(context.files))
        found = []
        for name in dict.fromkeys((*records, *commits)):
            record, its = records.get(name), tuple(commits.get(name, ()))
            items = _items(record.body) if record is not None else self._from_commits(its)
            applied, declined = _counts(items, record)
            if not applied + declined:
                continue
            written = time_or_none(record.time) if record is not None else None
            taken_back: tuple[datetime, str] | None = None
            if index is not None and its:
                written = _moment(index, its[0])
                taken_back = self._taken_back(index, its)
            found.append(
                PastReflection(
                    name,
                    written,
                    applied,
                    declined,
                    items,
                    without_verdicts(record.body) if record is not None else "",
                    its,
                    taken_back[0] if taken_back else None,
                    taken_back[1] if taken_back else "",
                    waits=taken_back is not None and name == waiting,
                )
            )
        beginning = datetime.min.replace(tzinfo=UTC)
        found.sort(key=lambda each: (each.written or beginning, each.id), reverse=True)
        return PastReflections(tuple(found))

    def _from_commits(self, commits: Iterable[str]) -> tuple[PastItem, ...]:
        """Return the items that commits name, where the record of their reflection is gone."""
        store = self._past.store
        said: dict[str, PastItem] = {}
        for commit in commits:
            for value in parse_message(store.commit(commit)).values(ITEM):
                name, _, decision = value.partition(" ")
                said.setdefault(name, PastItem(name, decision, "", "", ""))
        return tuple(said.values())

    def _taken_back(self, index: CommitIndex, commits: Iterable[str]) -> tuple[datetime, str] | None:
        """Return when and by whom all of some commits were taken back, or None where one of them stands."""
        by = [_undone_by(index, commit) for commit in commits]
        last = next((each for each in by if each is not None), None)
        if last is None or None in by:
            return None
        message = parse_message(self._past.store.commit(last))
        return _moment(index, last), owner_in_words(owner_of(message), message.actor)


def _commits(index: CommitIndex) -> dict[str, list[str]]:
    """Return the commits of each reflection, newest first."""
    names = {at: name.removeprefix(_ACTOR) for at, name in enumerate(index.names) if name.startswith(_ACTOR)}
    found: dict[str, list[str]] = {}
    for place in range(len(index) - 1, -1, -1):
        if (name := names.get(index.actors[place])) is not None:
            found.setdefault(name, []).append(index.commit(place))
    return found


def _undone_by(index: CommitIndex, commit: str) -> str | None:
    """Return the commit that took another back, unless that was itself taken back since."""
    by = index.undone_by(commit)
    return None if by is None or index.undone_by(by) is not None else by


def _moment(index: CommitIndex, commit: str) -> datetime:
    return datetime.fromtimestamp(index.seconds[index.place(commit) or 0], UTC)


def _counts(items: Sequence[PastItem], record: ReflectionRecord | None) -> tuple[int, int]:
    """Return how many items were written and declined; where none is named, what the heading of the record says."""
    if items or record is None:
        decisions = [item.decision for item in items]
        return decisions.count("approved"), decisions.count("rejected")
    said = re.fullmatch(r"(\d{1,6})/(\d{1,6})", dict(record.fields).get(ITEMS, ""))
    return (int(said[1]), max(0, int(said[2]) - int(said[1]))) if said else (0, 0)


def _items(body: str) -> tuple[PastItem, ...]:
    return tuple(
        PastItem(each.id, each.decision, str(each.kind) if each.kind else "", each.target, each.text)
        for each in read_verdicts(body)
        if each.decision in _DECIDED
    )
