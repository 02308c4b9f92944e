"""What two devices changed differently: what waits for a person, and carrying out what is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import DocumentError, InvalidInput, NotFound, WorkbenchError
from workbench.engine.history.plan import Action
from workbench.engine.memory.draft import Draft
from workbench.engine.results.inbox import (
    ConflictChoice,
    ConflictsDecided,
    DeviceVersion,
    SyncConflict,
    SyncConflicts,
)
from workbench.engine.roles import Capability
from workbench.engine.sync.conflicts import ConflictFile, Decision
from workbench.engine.sync.deciding import decided_content, line_of, may_keep_both, stands_there

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.mutator import Mutator
    from workbench.engine.sync.conflicts import ConflictRecord, Version

_DOING: Final = "decide what two devices changed differently"
_SHOWN: Final = 60


class Conflicts:
    """What two devices changed differently, of one workspace."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator) -> None:
        self._context = context
        self._mutator = mutator

    def waiting(self) -> SyncConflicts:
        """Return what nobody has decided yet, oldest first.

        Raises:
            DocumentError: The file of conflicts cannot be read.
        """
        files = self._context.files
        return SyncConflicts(tuple(_shown(each, files) for each in _read(files).waiting))

    def count(self) -> int:
        """Return how many wait; quick. A file that cannot be read counts as one."""
        try:
            return len(_read(self._context.files).waiting)
        except DocumentError:
            return 1

    def settle(self, id: str, choice: str) -> ConflictsDecided:
        """Decide on one in a commit of its own, which one undo takes back; the decision holds on every device.

        Args:
            choice: `this` keeps what is in the file, `that` puts what waits in its place, `both` keeps both.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: There is no such conflict, or it was decided already.
            InvalidInput: The choice is none, or both cannot stand beside each other there.
            Stale: The file was changed again since.
        """
        if choice not in tuple(Decision):
            raise InvalidInput(f"“{choice[:20]}” is no decision.", remedy="Say this, that or both.")
        decision = Decision(choice)

        def plan(view: FileView) -> Plan[ConflictsDecided]:
            draft = Draft(view)
            _decide(draft, _waiting(draft, id), decision, self._context.now())
            return _planned(draft, (id,), {})

        by = f"decided {choice} on {id}"
        return self._mutator.change(plan, by, Capability.DECIDE_REVIEW, doing=_DOING)

    def settle_all(self, choices: Mapping[str, ConflictChoice]) -> ConflictsDecided:
        """Carry out several decisions in one commit; what cannot be decided so is left, with the reason."""
        return self._mutator.change(
            lambda view: self.draft_all(view, choices),
            "decided in the Inbox",
            Capability.DECIDE_REVIEW,
            doing=_DOING,
        )

    def draft_all(self, view: FileView, choices: Mapping[str, ConflictChoice]) -> Plan[ConflictsDecided]:
        """Return what decisions change; what cannot be decided so is left, with the reason."""
        draft = Draft(view)
        decided: list[str] = []
        waiting: dict[str, str] = {}
        for name, choice in choices.items():
            try:
                _decide(draft, _waiting(draft, name), Decision(choice), self._context.now())
            except WorkbenchError as error:
                waiting[name] = error.message
            else:
                decided.append(name)
        return _planned(draft, decided, waiting)


def _planned(draft: Draft, decided: Sequence[str], waiting: Mapping[str, str]) -> Plan[ConflictsDecided]:
    what = decided[0] if len(decided) == 1 else f"{len(decided)} changes"
    path = next((change.path for change in draft.changes()), layout.CONFLICTS)
    told = f"decided {what} that differed between devices"
    return draft.plan(
        Action.MERGE, path, told, ConflictsDecided(None, decided=tuple(decided), waiting=waiting)
    )


def _read(files: FileView) -> ConflictFile:
    return ConflictFile.parse(files.read(layout.CONFLICTS), layout.CONFLICTS)


def _waiting(files: FileView, name: str) -> ConflictRecord:
    record = _read(files).records.get(name)
    if record is None or record.decision is not None:
        raise NotFound(
            f"No {name[:20]} waits for a decision.",
            where=layout.CONFLICTS,
            remedy="It may have been decided on another device. See what waits: workbench review conflicts",
        )
    return record


def _decide(draft: Draft, record: ConflictRecord, decision: Decision, now: datetime) -> None:
    content = decided_content(record, decision, draft.read(record.path))
    told = f"took {decision} of what {record.stands.device} and {record.waits.device} changed"
    if content is None:
        draft.delete(record.path, told)
    else:
        draft.write(record.path, content, Action.EDIT, told)
    kept = _read(draft).without_old(now).with_records([replace(record, decision=decision)])
    draft.write(layout.CONFLICTS, kept.render(), Action.EDIT, f"decided {record.id}")


def _shown(record: ConflictRecord, files: FileView) -> SyncConflict:
    content = files.read(record.path)
    return SyncConflict(
        record.id,
        record.path,
        record.unit,
        record.base,
        _version(record.stands),
        _version(record.waits),
        _reason(record),
        may_keep_both(record, content),
        not stands_there(record, content),
        line_of(record, content),
    )


def _version(version: Version) -> DeviceVersion:
    return DeviceVersion(version.text, version.device, version.moment)


def _reason(record: ConflictRecord) -> str:
    this, that = record.stands, record.waits
    if that.text is None and layout.is_decided(record.path):
        return f"{this.device} decided on it, and {that.device} had written it or declined it already."
    if that.text is None:
        return f"{this.device} changed it, and {that.device} deleted it, before either knew of the other."
    if record.base is None:
        return f"{this.device} and {that.device} each wrote it, not alike, before either knew of the other."
    said = " ".join(record.base.split()).removeprefix("- ")
    shown = said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
    return f"{this.device} and {that.device} both changed “{shown}” before either knew of the other."
