"""The inbox: all that waits for a person, ticked alike, looked at before it is written, and written as one action.

What two devices changed differently waits here too.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from workbench.engine import layout, results
from workbench.engine.errors import DocumentError, InvalidInput, NotFound, Stale, StorageError, WorkbenchError
from workbench.engine.history.commits import DECIDED
from workbench.engine.history.plan import Action
from workbench.engine.history.undo import next_undo
from workbench.engine.memory.core import view_core
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.verdicts import Verdicts
from workbench.engine.past.past import changes_from_now
from workbench.engine.reflection.files import read_pending
from workbench.engine.results.inbox import (
    ConflictChoice,
    ConflictsDecided,
    DeviceVersion,
    InboxPreview,
    ProposalTick,
    SecretTick,
    SyncConflict,
    SyncConflicts,
    Written,
    decisions_by_name,
)
from workbench.engine.results.inbox import Inbox as InboxResult
from workbench.engine.roles import Capability, require
from workbench.engine.services.inbox_ticks import (
    LastTick,
    Ticks,
    told_of_conflicts,
    told_of_items,
    told_of_proposals,
    told_of_secrets,
)
from workbench.engine.services.secret_guard import waiting as held_back
from workbench.engine.sync.conflicts import ConflictFile, Decision
from workbench.engine.sync.deciding import decided_content, line_of, may_keep_both, stands_there

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.results.reviews import Applied, FilePreview, Proposal, Settled
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.mutator import Mutator
    from workbench.engine.services.proposals import Proposals
    from workbench.engine.services.reviews import Reviews
    from workbench.engine.services.secrets import Secrets
    from workbench.engine.sync.conflicts import ConflictRecord, Version

T = TypeVar("T")
_DOING: Final = "decide on what waits"
_DECIDING_CONFLICTS: Final = "decide what two devices changed differently"
_SHOWN: Final = 60


class Inbox:
    """What waits for a person: items of a reflection, proposals, secrets, and what devices changed differently.

    Args:
        undo: Takes back the newest action, which has this commit.
    """

    def __init__(
        self,
        context: WorkspaceContext,
        mutator: Mutator,
        reviews: Reviews,
        proposals: Proposals,
        secrets: Secrets,
        undo: Callable[[str], object],
    ) -> None:
        self._context = context
        self._mutator = mutator
        self._reviews = reviews
        self._proposals = proposals
        self._secrets = secrets
        self._undo = undo
        self.conflicts = Conflicts(context, mutator)

    def view(self) -> InboxResult:
        """Return all that waits, with what is ticked."""
        review, found, held = (
            self._reviews.review(),
            self._proposals.waiting(),
            self._secrets.held().held,
        )
        conflicts, unreadable = self._read_conflicts()
        ticks = self._ticks
        proposal_ticks = ticks.on_proposals(found.proposals)
        aside = self._set_aside(found.proposals, proposal_ticks)
        together = decided_together(found.proposals)
        return InboxResult(
            review,
            together,
            held,
            proposal_ticks,
            ticks.on_secrets(each.number for each in held),
            aside,
            _count((item.id for item in review.items), together, held, aside) + len(conflicts),
            found.problems,
            conflicts,
            ticks.on_conflicts(each.id for each in conflicts),
            unreadable,
        )

    def _read_conflicts(self) -> tuple[tuple[SyncConflict, ...], str]:
        try:
            return self.conflicts.waiting().conflicts, ""
        except DocumentError as error:
            return (), error.message

    def waiting(self) -> int:
        """Return how many decisions wait to be written, as `view` counts them; quick."""
        found = self._proposals.waiting().proposals
        aside = self._set_aside(found, self._ticks.on_proposals(found))
        items = (item.id for item in read_pending(self._context.files).items)
        # What was just edited outside is asked about once it was taken in, which costs a look at every file.
        counted = _count(items, decided_together(found), held_back(self._context), aside)
        return counted + self.conflicts.count()

    def tick(
        self,
        *,
        items: Mapping[str, str] | None = None,
        resolved: Mapping[str, str] | None = None,
        proposals: Mapping[int, ProposalTick | None] | None = None,
        secrets: Mapping[int, SecretTick | None] | None = None,
        conflicts: Mapping[str, ConflictChoice | None] | None = None,
    ) -> results.memories.Changed:
        """Tick what waits, of whatever kind, in one step of undo; nothing is written by that but a reflection's boxes.

        Args:
            items: Decisions on items of the reflection, as for `review_decide`.
            resolved: Of contradictions among them, which side holds, by item id.
            proposals: Ticks on proposals as they read now, by number; None takes one away.
            secrets: Ticks on secrets that were held back, by number.
            conflicts: Ticks on what devices changed differently, by id.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: One of them does not wait.
            InvalidInput: A word is no decision, or resolves nothing.
            StorageError: The state folder cannot be written.
        """
        require(self._context.role, Capability.DECIDE_REVIEW, doing=_DOING)
        items, proposals, secrets, conflicts = items or {}, proposals or {}, secrets or {}, conflicts or {}
        told = [told_of_items([*items.values()])] if items else []
        chosen: list[tuple[Proposal, ProposalTick | None]] = []
        if proposals:
            waiting = {each.number: each for each in self._proposals.waiting().proposals}
            _refuse_decided(proposals, waiting, "proposal #")
            chosen = [(waiting[number], tick) for number, tick in proposals.items()]
            told.append(told_of_proposals(chosen))
        if secrets:
            _refuse_decided(secrets, {each.number for each in self._secrets.held().held}, "secret ")
            told.append(told_of_secrets([*secrets.values()]))
        if conflicts:
            _refuse_decided(conflicts, {each.id for each in self.conflicts.waiting().conflicts}, "conflict ")
            told.append(told_of_conflicts([*conflicts.values()]))
        changed = results.memories.Changed(None)
        if items:
            changed = self._reviews.decide(items, resolved, ticking=True)
        if chosen or secrets or conflicts:
            step = self._step("; ".join(told), changed.commit or "")
            self._ticks.tick(step, chosen, secrets, conflicts)
        return changed

    def tick_proposals(self, ticks: Mapping[int, ProposalTick | None]) -> None:
        """Tick proposals alone, as `tick`."""
        self.tick(proposals=ticks)

    def tick_secrets(self, ticks: Mapping[int, SecretTick | None]) -> None:
        """Tick secrets alone, as `tick`."""
        self.tick(secrets=ticks)

    def tick_conflicts(self, ticks: Mapping[str, ConflictChoice | None]) -> None:
        """Tick what devices changed differently alone, as `tick`."""
        self.tick(conflicts=ticks)

    def _step(self, told: str, commit: str) -> LastTick:
        head = self._context.history.head() if self._context.has_history() else None
        return LastTick(f"tick:{self._context.new_id()}", told, self._context.now(), head or "", commit)

    def undo_tick(self, expected: str) -> None:
        """Take back the newest tick beside the workspace, and what was ticked of a reflection together with it.

        Args:
            expected: Its id, as `next_steps` gives it.

        Raises:
            RoleRefused: This door is no person's.
            Stale: Another is the newest by now, or something was done since, such as writing what was ticked.
        """
        require(self._context.role, Capability.DECIDE_REVIEW, doing=_DOING)
        last, history = self._ticks.last(), self._context.history
        newest = next_undo(history.store) if self._context.has_history() else None
        if (
            last is None
            or last.id != expected
            or not (newest is None or last.is_newer_than(newest.carried_out[0], history.store))
        ):
            raise Stale("Another tick is the newest by now.", remedy="Look at it, then say it again.")
        # It may have been undone by itself, by its commit.
        if newest is not None and last.commit in newest.action:
            self._undo(last.commit)
        self._ticks.take_back()

    def preview(self) -> InboxPreview:
        """Return what `write` would do now: every memory as it would read, file by file, and what is erased.

        Raises:
            DocumentError: The file of the reflection does not say which it is of.
        """
        self._context.refresh_for_reading()
        files = self._context.files
        choices = self._secret_choices()
        draft = Draft(files)
        decided = self.conflicts.draft_all(draft, self._conflict_choices())
        draft.lay(decided)
        planned = self._proposals.draft_all(draft, self._verdicts())
        together = draft.lay(planned)
        review = self._reviews.preview_over(draft, {})
        settled, aside = together.settled, self._reviews.set_aside()
        after = {change.path: change.content for change in (*decided.changes, *planned.changes)}
        after |= {each.path: _encoded(each.after) for each in review.files}
        pairs = {path: (files.read(path), content) for path, content in sorted(after.items())}
        written = Draft(files)
        for path, content in after.items():
            if content is None:
                written.delete(path, "")
            else:
                written.write(path, content, Action.EDIT, "")
        return InboxPreview(
            accepted=(*decided.outcome.decided, *_named(settled.committed), *review.applied),
            declined=(*_named(settled.rejected), *review.rejected),
            set_aside=(*_named(settled.deferred), *(each for each in review.deferred if each not in aside)),
            kept=choices["keep"],
            without=choices["without"],
            erased=choices["drop"],
            waiting=dict(decided.outcome.waiting) | _refused(together.refused) | dict(review.waiting),
            memories=self._memories(pairs),
            files=tuple(_file(path, *pair) for path, pair in pairs.items() if pair[0] != pair[1]),
            core_before=view_core(files, self._context.settings),
            core_after=view_core(written, self._context.settings),
            together=self._together(),
            notes=review.notes,
        )

    def write(self) -> Written:
        """Write all that is ticked, in one action that one undo takes back; only a person may.

        What is to be erased goes first and for good. Then come secrets, proposals and the reflection, each in commits
        of its own, so that the reflection can be taken back whole later. What cannot be written stays ticked.

        Raises:
            RoleRefused: This door is no person's.
            WorkbenchError: Nothing could be written.
        """
        require(self._context.role, Capability.DECIDE_REVIEW, doing=_DOING)
        writing = _Writing(self._together())
        for number in self._secret_choices()["drop"]:
            if writing.tried(f"held:{number}", partial(self._secrets.drop, number)) is not None:
                writing.erased.append(number)
        with self._mutator.group.begun():
            self._write_secrets(writing)
            self._write_conflicts(writing)
            self._write_proposals(writing)
            self._write_review(writing)
        written = writing.written()
        try:
            # The other ticks are taken back one by one, as those of a reflection are, once the writing was undone.
            self._ticks.forget_steps(writing.erased)
        except StorageError as error:
            # All is written by now: it must not look as if it had failed.
            told = f"What was ticked is written, but undo still offers the ticks: {error.where} cannot be written."
            return replace(written, warnings=(*written.warnings, f"{told} {error.remedy}"))
        return written

    def _together(self) -> tuple[tuple[str, ...], ...]:
        groups = decided_together(self._proposals.waiting().proposals)
        return tuple(_named(each.number for each in group) for group in groups if len(group) > 1)

    def _write_secrets(self, writing: _Writing) -> None:
        ticks = self._ticks.on_secrets(each.number for each in self._secrets.held().held)
        for number, tick in ticks.items():
            if tick.choice == "drop":
                continue
            without = tick.choice == "without"
            store = partial(self._secrets.store, number, leave_out=without, store=tick.store)
            with self._mutator.group.deciding(f"held:{number}"):
                stored = writing.tried(f"held:{number}", store)
            if stored is not None:
                writing.add(stored)
                (writing.without if without else writing.kept).append(number)

    def _write_conflicts(self, writing: _Writing) -> None:
        choices = self._conflict_choices()
        decided = writing.tried("conflicts", lambda: self.conflicts.settle_all(choices)) if choices else None
        if decided is not None:
            writing.add(decided)
            writing.accepted += decided.decided
            writing.waiting |= decided.waiting

    def _conflict_choices(self) -> dict[str, ConflictChoice]:
        return self._ticks.on_conflicts(each.id for each in self._read_conflicts()[0])

    def _write_proposals(self, writing: _Writing) -> None:
        verdicts = self._verdicts()
        if not verdicts:
            return

        def decisions(settled: Settled) -> Mapping[str, str]:
            return decisions_by_name(
                _named(settled.committed),
                _named(settled.rejected),
                _named(settled.deferred),
                writing.together,
            )

        together = writing.tried("proposals", lambda: self._proposals.settle_all(verdicts, decisions))
        if together is not None:
            settled = together.settled
            writing.add(settled)
            writing.accepted += _named(settled.committed)
            writing.declined += _named(settled.rejected)
            writing.set_aside += _named(settled.deferred)
            writing.waiting |= _refused(together.refused)

    def _write_review(self, writing: _Writing) -> None:
        items = read_pending(self._context.files).items
        aside = self._reviews.set_aside()
        if not any(item.decision != "undecided" and item.id not in aside for item in items):
            return
        applied = writing.tried("reflection", self._reviews.apply)
        if applied is not None:
            writing.apply(applied, aside)

    @property
    def _ticks(self) -> Ticks:
        return Ticks(self._context.state)

    def _secret_choices(self) -> dict[str, tuple[int, ...]]:
        found = self._ticks.on_secrets(each.number for each in self._secrets.held().held)
        return {
            choice: tuple(number for number, tick in found.items() if tick.choice == choice)
            for choice in ("keep", "without", "drop")
        }

    def _set_aside(self, proposals: Iterable[Proposal], ticks: Mapping[int, ProposalTick]) -> frozenset[str]:
        left = (
            f"#{each.number}"
            for each in proposals
            if each.status == "deferred"
            and (each.number not in ticks or ticks[each.number].choice == "aside")
        )
        return self._reviews.set_aside() | frozenset(left)

    def _verdicts(self) -> list[Verdicts]:
        """Return what is ticked on proposals as verdicts, those that are decided on together in one."""
        found = self._proposals.waiting().proposals
        ticks = self._ticks.on_proposals(found)
        aside = self._set_aside(found, ticks)
        ticked = [each for each in found if each.number in ticks and f"#{each.number}" not in aside]
        both = [each for each in ticked if ticks[each.number].choice == "both"]
        # What is declined no longer speaks against what is accepted.
        alone = sorted(
            (each for each in ticked if each not in both),
            key=lambda each: ticks[each.number].choice != "decline",
        )
        return [_verdict(group, ticks) for group in (*([each] for each in alone), *_connected(both))]

    def _memories(
        self, pairs: Mapping[str, tuple[bytes | None, bytes | None]]
    ) -> tuple[results.audit.MemoryChange, ...]:
        context = self._context
        told = {path: pair for path, pair in pairs.items() if path not in _KEPT_APART}
        return changes_from_now(told, context.files, context.lookups.memory, context.zone)


# What follows from the decisions themselves is no memory of its own.
_KEPT_APART: Final = (layout.BOOKS | {layout.PENDING_MEMORIES}) - {layout.DECAY_SCORES}


class _Writing:
    """What was written so far."""

    def __init__(self, together: tuple[tuple[str, ...], ...]) -> None:
        self.together = together
        self.accepted: list[str] = []
        self.declined: list[str] = []
        self.set_aside: list[str] = []
        self.kept: list[int] = []
        self.without: list[int] = []
        self.erased: list[int] = []
        self.waiting: dict[str, str] = {}
        self._changed: list[results.memories.Changed] = []
        self._error: WorkbenchError | None = None

    def tried(self, name: str, act: Callable[[], T]) -> T | None:
        """Do a part of it; what fails is noted, and the other parts go on."""
        try:
            return act()
        except WorkbenchError as error:
            self.waiting[name] = error.message
            self._error = self._error or error
            return None

    def add(self, changed: results.memories.Changed) -> None:
        """Note what a part changed."""
        self._changed.append(changed)

    def apply(self, applied: Applied, aside: frozenset[str]) -> None:
        """Note what was applied of the reflection."""
        self.add(results.memories.Changed(applied.commit, applied.files, applied.ids, applied.warnings))
        self.accepted += applied.applied
        self.declined += applied.rejected
        self.set_aside += [each for each in applied.deferred if each not in aside]
        self.waiting |= applied.waiting

    def written(self) -> Written:
        """Return all of it; raise what went wrong where nothing else was done."""
        if self._error is not None and not (self._changed or self.erased):
            raise self._error
        done = self._changed
        return Written(
            next((each.commit for each in done if each.commit is not None), None),
            tuple(dict.fromkeys(path for each in done for path in each.files)),
            tuple(dict.fromkeys(name for each in done for name in each.ids)),
            tuple(dict.fromkeys(line for each in done for line in each.warnings)),
            accepted=tuple(self.accepted),
            declined=tuple(self.declined),
            set_aside=tuple(self.set_aside),
            kept=tuple(self.kept),
            without=tuple(self.without),
            erased=tuple(self.erased),
            waiting=self.waiting,
            together=self.together,
        )


def decided_together(proposals: Sequence[Proposal]) -> tuple[tuple[Proposal, ...], ...]:
    """Return proposals as they are decided on: two that contradict each other and nothing else are one decision."""
    by_name = {f"#{each.number}": each for each in proposals}
    found: list[tuple[Proposal, ...]] = []
    taken: set[int] = set()
    for each in proposals:
        if each.number in taken:
            continue
        rival = by_name.get(each.conflicts_with[0]) if len(each.conflicts_with) == 1 else None
        if rival is not None and rival is not each and rival.conflicts_with == (f"#{each.number}",):
            found.append((each, rival))
            taken.add(rival.number)
        else:
            found.append((each,))
    return tuple(found)


def _connected(proposals: Sequence[Proposal]) -> list[list[Proposal]]:
    """Return those that contradict one another, directly or by others, as groups."""
    groups: list[list[Proposal]] = []
    for each in proposals:
        name = f"#{each.number}"
        near = [
            group
            for group in groups
            if any(
                f"#{other.number}" in each.conflicts_with or name in other.conflicts_with for other in group
            )
        ]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), each])
    return groups


def _verdict(group: Sequence[Proposal], ticks: Mapping[int, ProposalTick]) -> Verdicts:
    first = group[0]
    tick, numbers = ticks[first.number], tuple(each.number for each in group)
    preferred = [name for name in first.conflicts_with if name[0] == "#" and _choice(ticks, name) == "accept"]
    reason = f"decided against, for {', '.join(preferred)}" if preferred else ""
    return Verdicts(
        commit=numbers if tick.choice in ("accept", "both") else (),
        reject=numbers if tick.choice == "decline" else (),
        defer=numbers if tick.choice == "aside" else (),
        reason=reason if tick.choice == "decline" else "",
        store=tick.store,
        text=tick.text if len(group) == 1 else None,
        both=tick.choice == "both",
        expected={each.number: each.content for each in group},
    ).in_place_of(tick.replacing)


def _choice(ticks: Mapping[int, ProposalTick], name: str) -> str:
    tick = ticks.get(int(name[1:])) if name[1:].isdecimal() else None
    return tick.choice if tick is not None else ""


def _count(
    items: Iterable[str],
    together: Iterable[Sequence[Proposal]],
    held: Sequence[object],
    aside: frozenset[str],
) -> int:
    proposals = sum(not all(f"#{each.number}" in aside for each in group) for group in together)
    return sum(item not in aside for item in items) + proposals + len(held)


def _named(numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"#{number}" for number in numbers)


def _refused(refused: Mapping[int, str]) -> dict[str, str]:
    return {f"#{number}": reason for number, reason in refused.items()}


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _file(path: str, before: bytes | None, after: bytes | None) -> FilePreview:
    def text(content: bytes | None) -> str | None:
        return None if content is None else content.decode("utf-8", "surrogateescape")

    return results.reviews.FilePreview(path, text(before), text(after))


def _refuse_decided(asked: Iterable[object], waiting: Container[object], kind: str) -> None:
    """Refuse what does not wait, named by its kind and number or id."""
    for name in asked:
        if name not in waiting:
            raise NotFound(f"No {kind}{name} waits.", remedy="It may have been decided on elsewhere.")


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
        return self._mutator.change(plan, by, Capability.DECIDE_REVIEW, doing=_DECIDING_CONFLICTS)

    def settle_all(self, choices: Mapping[str, ConflictChoice]) -> ConflictsDecided:
        """Carry out several decisions in one commit; what cannot be decided so is left, with the reason."""
        return self._mutator.change(
            lambda view: self.draft_all(view, choices),
            "decided in the Inbox",
            Capability.DECIDE_REVIEW,
            doing=_DECIDING_CONFLICTS,
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
    outcome = ConflictsDecided(None, decided=tuple(decided), waiting=waiting)
    trailers = tuple((DECIDED, f"{name} approved") for name in decided)
    return replace(draft.plan(Action.MERGE, path, told, outcome), trailers=trailers)


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
