"""What an agent needs when a session begins: core memory, the newest of the log, and what waits for attention."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta, tzinfo
from typing import Final

from workbench.engine import layout, results
from workbench.engine.clock import time_or_none
from workbench.engine.errors import DocumentError, HistoryError, OutsideWorkspace, StorageError
from workbench.engine.file_access import read_state, write_state
from workbench.engine.history.commits import VERDICT, parse_message
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.memory.core import view_core
from workbench.engine.memory.proposals import Decision, overview, read_proposals
from workbench.engine.reflection.due import AGEING_HOURS
from workbench.engine.reflection.files import read_pending, reflection_of
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import shortened
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.secret_guard import waiting
from workbench.engine.services.unread import reflection_due
from workbench.engine.sessions.store import FileHome
from workbench.engine.sync.conflicts import ConflictFile
from workbench.engine.tokens import count_tokens, cut_to_budget

_MOST_ENDED: Final = 3
_MOST_CONFLICTS: Final = 3
_MOST_VERDICTS: Final = 10
_MOST_WAITING: Final = 20
_DECIDED: Final = ("committed", "rejected")
# Of an import, two days may hold thousands; the rest is counted.
_MOST_LOOKED_AT: Final = 5_000
# No entry takes more of the log than this share, so that one long conversation does not hide the rest.
_LARGEST_SHARE: Final = 4
_BRIEFED: Final = "briefed.json"


class Briefing:
    """Tells an agent at the start of a session what it needs to know."""

    def __init__(self, context: WorkspaceContext, retrieval: Retrieval) -> None:
        self._context = context
        self._retrieval = retrieval
        self._told_up_to: str | None = None

    def brief(self) -> results.audit.Brief:
        """Return core memory, the log of today and yesterday, and what waits for attention.

        What changes least comes first, so that a model server can keep its beginning.
        """
        context = self._context
        alerts: tuple[results.audit.Alert, ...] = ()
        notices: list[str] = []
        try:
            context.adopt_for_reading()
            if context.has_history():
                alerts = context.history.alerts(waiting=True)
        except HistoryError as error:
            notices.append(str(error))
        files = context.files
        view = view_core(files, context.settings)
        core = CoreMemory.parse(files.read(view.path) or b"", view.path)
        context.refresh_for_reading()
        due, unprocessed = False, 0
        log = results.audit.RecentLog()
        proposals: tuple[results.reviews.Proposal, ...] = ()
        own: tuple[results.audit.OwnProposal, ...] = ()
        review: tuple[str, ...] = ()
        # What an agent needs to know must not hang on one file, so each part is read by itself.
        with _told_in(notices):
            log = self._recent_log()
        with _told_in(notices):
            proposals = overview(read_proposals(files)).proposals
            own = self._own_proposals(proposals)
        with _told_in(notices):
            review = (*_held_back(context), *_ended_sessions(context))
        with _told_in(notices):
            review = (*review, *_waiting_review(context), *_between_devices(context))
        with _told_in(notices):
            answer = reflection_due(context, "schedule")
            due, unprocessed = answer.due, answer.unprocessed
            review = (*review, *_due_notice(answer))
        proposed = sum(proposal.status != "deferred" for proposal in proposals)
        conflicts = _conflicts(proposals)
        return results.audit.Brief(
            core=core.text,
            tokens=view.tokens,
            cap=view.cap,
            log=log,
            alerts=alerts,
            proposals_waiting=proposed,
            conflicts=tuple((one.number, other.number) for one, other in conflicts),
            own_proposals=_newest(own),
            reflection_due=due,
            unprocessed_episodes=unprocessed,
            notices=(
                *dict.fromkeys(notices),
                *_notices(view, alerts, proposed, context.zone),
                *_conflict_notices(conflicts),
                *_own_notices(own),
                *review,
            ),
        )

    def _recent_log(self) -> results.audit.RecentLog:
        """Return the episodes and flat logs of today and yesterday, newest first, as far as the budget goes.

        Once an entry does not fit, the older ones are counted by their file, so that there is no gap.
        """
        context = self._context
        budget = context.settings.brief.log_tokens
        if not budget:
            return results.audit.RecentLog()
        today = context.now().date()
        days = f"after:{today - timedelta(days=1)} before:{today}"
        found = self._retrieval.timeline(limit=_MOST_LOOKED_AT, query=days)
        kept: list[results.audit.LogEntry] = []
        omitted: Counter[str] = Counter()
        used = 0
        for entry in found.entries:
            if entry.status == "archived":
                continue
            if not omitted:
                text, was_cut = cut_to_budget(entry.text, budget // _LARGEST_SHARE)
                text = f"{text.rstrip()} …" if was_cut else text
                cost = count_tokens(f"{entry.id} {text}")
                if used + cost <= budget:
                    kept.append(
                        results.audit.LogEntry(entry.id, entry.day, entry.time, entry.path, text, was_cut)
                    )
                    used += cost
                    continue
            omitted[entry.path] += 1
        left_out = tuple(results.audit.LogOmitted(path, count) for path, count in omitted.items())
        return results.audit.RecentLog(tuple(kept), left_out, used, budget)

    def _own_proposals(
        self, proposals: Sequence[results.reviews.Proposal]
    ) -> tuple[results.audit.OwnProposal, ...]:
        """Return what this door's agent proposed: verdicts since it was last told, newest first, then what waits.

        The door tells the same again when it is asked again, as by an agent whose context was compacted.
        """
        role = self._context.role
        if role.kind not in ("agent", "main") or not self._context.has_history():
            return ()
        sender = role.name or role.kind
        waits = tuple(
            results.audit.OwnProposal(one.number, one.status, shortened(one.content))
            for one in proposals
            if one.from_ == sender
        )
        place = self._context.state / _BRIEFED
        stored = read_state(place)
        told: dict[str, str] = stored if isinstance(stored, dict) else {}
        if self._told_up_to is None:
            self._told_up_to = str(told.get(sender, ""))
        decided: dict[int, results.audit.OwnProposal] = {}
        for decision in self._decisions(self._told_up_to):
            if decision.sender == sender and all(decision.number != one.number for one in waits):
                became = results.audit.OwnProposal(
                    decision.number, decision.status, decision.content, decision.reason, decision.became
                )
                decided.setdefault(decision.number, became)
        head = self._context.history.head()
        if head and told.get(sender) != head:
            write_state(place, json.dumps({**told, sender: head}).encode())
        return (*decided.values(), *waits)

    def _decisions(self, after: str) -> Iterator[Decision]:
        """Yield the verdicts on proposals since a commit, newest first; all of them where history lacks it."""
        for commit in self._context.history.store.walk(stop=after or None):
            if f"\n{VERDICT}: " in commit.message:
                yield from filter(None, map(Decision.read, parse_message(commit).values(VERDICT)))


@contextmanager
def _told_in(notices: list[str]) -> Iterator[None]:
    """Tell of what cannot be read among the notices, and go on without it."""
    try:
        yield
    except (DocumentError, HistoryError, OutsideWorkspace, StorageError) as error:
        notices.append(str(error))


def _conflicts(
    proposals: Sequence[results.reviews.Proposal],
) -> list[tuple[results.reviews.Proposal, results.reviews.Proposal]]:
    """Return the pairs of proposals that contradict each other; what was left to a reflection is decided there."""
    waits = {f"#{one.number}": one for one in proposals if one.status != "deferred"}
    pairs = {
        tuple(sorted((one.number, waits[name].number)))
        for one in waits.values()
        for name in one.conflicts_with
        if name in waits
    }
    return [(waits[f"#{first}"], waits[f"#{second}"]) for first, second in sorted(pairs)]


def _conflict_notices(
    conflicts: Sequence[tuple[results.reviews.Proposal, results.reviews.Proposal]],
) -> Iterator[str]:
    """Say what contradicts what, so that the user is asked at the next occasion (design document §13.6)."""
    for one, other in conflicts[:_MOST_CONFLICTS]:
        a, b = one.number, other.number
        yield (
            f"2 proposals contradict each other: {_named(one)} and {_named(other)}. Ask the user which holds; a person "
            f"decides with: workbench proposals settle {a} {b} (the first holds), settle {b} {a}, or keep-both {a} {b}"
        )
    if len(conflicts) > _MOST_CONFLICTS:
        yield f"{len(conflicts) - _MOST_CONFLICTS} more contradictions between proposals: workbench proposals"


def _named(proposal: results.reviews.Proposal) -> str:
    return (
        f"#{proposal.number} “{shortened(proposal.content)}” ({shortened(proposal.from_, 40) or 'somebody'})"
    )


def _newest(own: Sequence[results.audit.OwnProposal]) -> tuple[results.audit.OwnProposal, ...]:
    """Return the newest verdicts and the newest of what waits; notices count the rest."""
    decided = [one for one in own if one.status in _DECIDED]
    waits = [one for one in own if one.status not in _DECIDED]
    return (*decided[:_MOST_VERDICTS], *waits[-_MOST_WAITING:])


def _own_notices(own: Sequence[results.audit.OwnProposal]) -> Iterator[str]:
    decided = [one for one in own if one.status in _DECIDED]
    for one in decided[:_MOST_VERDICTS]:
        told = f"Your proposal #{one.number} “{one.content}” was"
        if one.status == "committed":
            yield f"{told} stored{f' as {one.became}' if one.became else ''}."
        else:
            yield f"{told} rejected{f': {one.reason}' if one.reason else '; nobody said why.'}"
    if len(decided) > _MOST_VERDICTS:
        yield f"{len(decided) - _MOST_VERDICTS} more of your proposals were decided: workbench audit log"
    for status, told in (("deferred", "for the next reflection"), ("", "for a verdict")):
        numbers = [
            f"#{one.number}"
            for one in own
            if one not in decided and (one.status == "deferred") == (status == "deferred")
        ]
        if numbers:
            verb = "Your proposal waits" if len(numbers) == 1 else "Your proposals wait"
            yield f"{verb} {told}: {shortened(', '.join(numbers), 200)}."


def _notices(
    view: results.memories.CoreView, alerts: tuple[results.audit.Alert, ...], waiting: int, zone: tzinfo
) -> Iterator[str]:
    for alert in alerts:
        day = alert.timestamp.astimezone(zone)
        yield f"{alert.file} was changed on {day:%Y-%m-%d} by {alert.actor}. Was this intentional?"
    if view.tokens > view.cap:
        yield f"Core memory holds {view.tokens:,} tokens of {view.cap:,}: shorten it."
    if waiting:
        yield f"{waiting} {'proposals wait' if waiting > 1 else 'proposal waits'} for a decision."


def _held_back(context: WorkspaceContext) -> Iterator[str]:
    held = waiting(context)
    edits = sum(bool(each.path) for each in held)
    counts = ((len(held) - edits, "memory", "memories"), (edits, "edit of a file", "edits of files"))
    told = " and ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    if told:
        were = "was" if len(held) == 1 else "were"
        yield f"{told} {were} held back as a secret; a person decides with: workbench secrets"


def _ended_sessions(context: WorkspaceContext) -> Iterator[str]:
    if not context.settings.flush.enabled or not context.sessions_folder.is_dir():
        return
    try:
        ended = FileHome(context.sessions_folder).store.with_ended()
    except DocumentError as error:
        yield str(error)
        return
    for name in ended[:_MOST_ENDED]:
        yield f"{name} ended by the clock and is not saved to memory: workbench sessions flush {name}"
    if len(ended) > _MOST_ENDED:
        yield f"{len(ended) - _MOST_ENDED} more sessions ended and are not saved: workbench sessions"


def _due_notice(due: results.reviews.ReflectionDue) -> Iterator[str]:
    if due.due:
        yield f"A reflection is due. {due.reason}"


def _between_devices(context: WorkspaceContext) -> Iterator[str]:
    """Say how much two devices changed differently, of which a person has not decided yet."""
    many = len(ConflictFile.parse(context.files.read(layout.CONFLICTS), layout.CONFLICTS).waiting)
    if many:
        told = "1 thing that two devices changed" if many == 1 else f"{many} things that two devices changed"
        waits = "waits" if many == 1 else "wait"
        yield f"{told} differently {waits} for a person’s decision: workbench review conflicts"


def _waiting_review(context: WorkspaceContext) -> Iterator[str]:
    """Say which proposal waits, and for how long where that is more than a day (design document §10.6)."""
    pending = read_pending(context.files)
    undecided = sum(item.decision == "undecided" for item in pending.items)
    if not undecided:
        return
    written = time_or_none(pending.created)
    hours = (context.now() - written).total_seconds() / 3600 if written else 0
    age = f" It was written {hours:,.0f} hours ago." if hours > AGEING_HOURS else ""
    changes = "1 change waits" if undecided == 1 else f"{undecided} changes wait"
    name = f"Reflection {reflection_of(pending)}".rstrip()
    yield f"{name}: {changes} for a person’s decision.{age}"
