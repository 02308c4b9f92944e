"""Reviews: what reflections propose is read, decided on and applied; nobody but a person decides.

Of past reflections it tells what was decided on each, when it was written, and whether it was taken back.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from workbench.engine import results
from workbench.engine.clock import time_or_none
from workbench.engine.errors import HistoryError, InvalidInput, NotFound, OutsideWorkspace
from workbench.engine.history.commits import TICKING, CommitIndex, parse_message
from workbench.engine.history.permissions import owner_in_words, owner_of
from workbench.engine.history.plan import Action, Attribution, FileChange, FileView, Plan
from workbench.engine.history.revert import ITEM
from workbench.engine.history.undo import continued_plan, going_on_plan
from workbench.engine.memory.core import view_core
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.proposals import without_proposals
from workbench.engine.reflection.files import read_log, read_pending, reflection_of
from workbench.engine.reflection.review.deciding import plan_decide, plan_edit_item
from workbench.engine.reflection.review.overview import Standing, overview
from workbench.engine.reflection.review.plan import checked_reflection, plan_apply, preview, still_relevant
from workbench.engine.reflection.review.plan_context import PlanContext
from workbench.engine.reflection.review.record import ITEMS, read_verdicts, without_verdicts
from workbench.engine.reflection.review.rehearsal import rehearse
from workbench.engine.reflection.submissions import numbers_of
from workbench.engine.results.inbox import PastItem, PastReflection, PastReflections
from workbench.engine.roles import Capability, require
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.past import PastReader
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.routing import answers_by_rules, rejected_claims
from workbench.engine.services.unread import reflection_due

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.history.git_store import GitStore
    from workbench.engine.markdown.reflection_records import ReflectionRecord
    from workbench.engine.markdown.review import PendingReflection

REFLECTING = "bot:reflection"
"""Who is named as having proposed what a reflection proposes."""
_ACTOR: Final = "reflection:"
_DECIDED: Final = frozenset({"approved", "rejected", "deferred"})


def _pending(context: WorkspaceContext) -> PendingReflection:
    return read_pending(context.files)


def _plan_context(context: WorkspaceContext, proposed: Callable[[str], str | None]) -> PlanContext:
    scores = context.scores()
    return PlanContext(
        context.now(),
        context.settings,
        context.lookups,
        first_seen=scores.first_seen,
        standing=scores,
        proposed=proposed,
        route=answers_by_rules(context),
    )


class _Proposed:
    """What items proposed before a person reworded them, as the newest reflection wrote them; read when first asked."""

    def __init__(self, context: WorkspaceContext, past: PastReader) -> None:
        self._context = context
        self._past = past
        self._read: tuple[str, Mapping[str, str]] = "", {}

    def __call__(self, item_id: str) -> str | None:
        commit = ""
        # Where the history is damaged or there is none, an approval counts as it is written.
        with contextlib.suppress(HistoryError, NotFound):
            line = self._past.line()
            actor = line.names.index(REFLECTING) if REFLECTING in line.names else -1
            at = next((at for at in range(len(line) - 1, -1, -1) if line.actors[at] == actor), None)
            commit = line.commit(at) if at is not None else ""
            if commit and commit != self._read[0]:
                pending = read_pending(self._context.history.at(commit))
                self._read = commit, {item.id: item.text for item in pending.items}
        return self._read[1].get(item_id) if commit == self._read[0] else None


def _texts(context: WorkspaceContext) -> Callable[[str], str | None]:
    """Return what gives a memory's words by its id; of lines that moved, all words of their file."""

    @lru_cache(maxsize=1024)
    def text_of(memory_id: str) -> str | None:
        lookups = context.lookups
        known = lookups.fact(memory_id) if "#^" in memory_id else lookups.memory(memory_id)
        if known is not None:
            return known.text
        try:
            return locate_memory(context.files, memory_id, context.zone).text
        except (NotFound, InvalidInput, OutsideWorkspace):
            return None

    return text_of


class Reviews:
    """What reflections propose; everybody may read it, and nobody but a person decides."""

    def __init__(
        self, context: WorkspaceContext, mutator: Mutator, retrieval: Retrieval, past: PastReader
    ) -> None:
        self._context = context
        self._mutator = mutator
        self._retrieval = retrieval
        self._past = past
        self._proposed = _Proposed(context, past)

    def review(self) -> results.reviews.Review:
        """Return the proposal that waits, item by item; one without items where none does."""
        context = self._context
        context.refresh_for_reading()
        pending = _pending(context)
        return overview(
            pending, self._standing(pending), context.now(), context.settings.reflection.token_budget
        )

    def waiting(self) -> int:
        """Return how many items nobody has decided on; quick."""
        return sum(item.decision == "undecided" for item in _pending(self._context).items)

    def due(self, *, trigger: str = "schedule") -> results.reviews.ReflectionDue:
        """Return whether a reflection should run, and why.

        Args:
            trigger: The occasion: `schedule` or `session-end`.
        """
        # Without its history memory can still be asked.
        with contextlib.suppress(HistoryError):
            self._context.adopt_for_reading()
        self._context.refresh_for_reading()
        return reflection_due(self._context, trigger)

    def decide(
        self,
        decisions: Mapping[str, str],
        resolved: Mapping[str, str] | None = None,
        *,
        ticking: bool = False,
    ) -> results.memories.Changed:
        """Tick the boxes of items, in one commit; only a person may.

        Args:
            decisions: undecided, approved, rejected or deferred, by item id.
            resolved: Of contradictions among them, which side holds, by item id: this, that, both or ask.
            ticking: One tick of several: those that follow one another are one action, undone tick by tick.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: The proposal has no item of that id, or there is no proposal.
            InvalidInput: A word is no decision, or resolves nothing.
        """
        return self._decide(
            lambda view: plan_decide(view, decisions, resolved), "decided on a reflection", ticking=ticking
        )

    def edit(
        self,
        id: str,
        text: str | None = None,
        fields: Mapping[str, str] | None = None,
        decision: str | None = None,
        *,
        ticking: bool = False,
    ) -> results.memories.Changed:
        """Change what an item proposes, and with it the decision, in one commit; only a person may.

        Args:
            id: The item's.
            text: What it shall propose instead.
            fields: Text by field, for example `answer`, `resolve`, `this`, `steps` or `since`; a blank one
                takes the field out.
            decision: undecided, approved, rejected or deferred; left as it is by default.
            ticking: As for `decide`.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: The proposal has no item of that id.
            InvalidInput: There is no such field, or the words make no sense there.
        """
        return self._decide(
            lambda view: plan_edit_item(view, id, text=text, fields=fields, decision=decision),
            f"edited {id[:40]}",
            ticking=ticking,
        )

    def preview(self, decisions: Mapping[str, str] | None = None) -> results.reviews.ReviewPreview:
        """Return what applying would do now, file by file, which is nothing where no proposal waits.

        Args:
            decisions: What would be decided first, as for `decide`.

        Raises:
            DocumentError: The file does not say which reflection it is of.
            NotFound: The proposal has no item of an id in the decisions.
            InvalidInput: A word in the decisions is no decision.
        """
        self._context.refresh_for_reading()
        return self.preview_over(self._context.files, decisions or {})

    def preview_over(self, view: FileView, decisions: Mapping[str, str]) -> results.reviews.ReviewPreview:
        """Return what applying would do to some files; as `preview`."""
        context = self._context
        if not read_pending(view).items:
            core = view_core(view, context.settings)
            tokens = results.reviews.CoreTokens(core.tokens, core.tokens, core.cap)
            return results.reviews.ReviewPreview((), (), (), (), {}, (), tokens)
        return preview(view, _plan_context(context, self._proposed), decisions)

    def set_aside(self) -> frozenset[str]:
        """Return the ids of items that wait for the next reflection: deferred, and written so."""
        deferred = [item.id for item in _pending(self._context).items if item.decision == "deferred"]
        if not deferred:
            return frozenset()
        record = read_log(self._context.files).record(deferred[0].partition(".")[0])
        said = read_verdicts(record.body) if record is not None else ()
        return frozenset(deferred).intersection(each.id for each in said if each.decision == "deferred")

    def apply(self) -> results.reviews.Applied:
        """Apply what is approved and remember what is rejected, in one commit; only a person may.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: There is no proposal.
            DocumentError: The file does not say which reflection it is of.
        """
        context = self._context
        doing = "apply a reflection"
        require(context.role, Capability.DECIDE_REVIEW, doing=doing)
        self._mutator.prepare_writing()
        context.adopt()
        context.refresh()
        pending = _pending(context)
        name = checked_reflection(pending) if pending.items else "none"
        by = Attribution(f"reflection:{name}", "approved", "review applied", self._mutator.asker())

        def plan(view: FileView) -> Plan[results.reviews.Applied]:
            wanted = plan_apply(view, _plan_context(context, self._proposed))
            decided = {*wanted.outcome.applied, *wanted.outcome.rejected}
            applied = frozenset(wanted.outcome.applied)
            items = [item for item in read_pending(view).items if item.id in decided]
            accepted = numbers_of(item for item in items if item.id in applied)
            cleared = without_proposals(wanted, view, numbers_of(items), accepted)
            # Few reflections are applied bit by bit; the others need no walk through all of history. What is written
            # together with other things is an action with those.
            has_begun = not self._mutator.group.is_open and by.actor in self._past.line().names
            return continued_plan(cleared, context.history, by.actor) if has_begun else cleared

        receipt = self._mutator.mutate(plan, by, Capability.DECIDE_REVIEW, doing=doing)
        applied = set(receipt.outcome.applied)
        if receipt.commit is not None:
            found = still_relevant(item for item in pending.items if item.id in applied)
            self._mutator.count_accesses_with(receipt.commit, found)
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)

    def rejected(self) -> results.reviews.Rejections:
        """Return what a person rejected, and what therefore is not proposed again without new evidence."""
        found = rejected_claims(self._context.files)
        return results.reviews.Rejections(
            tuple(
                results.reviews.Rejection(
                    claim.id,
                    claim.item.kind,
                    claim.item.target,
                    claim.item.text,
                    claim.item.before,
                    tuple(proof.id for proof in claim.item.evidence),
                    claim.reflection,
                    claim.time,
                    claim.item.span.start if claim.item.span else 0,
                )
                for claim in found.claims
            ),
            tuple(f"{problem.line}: {problem.message} {problem.remedy}" for problem in found.problems),
            found.path,
        )

    def allow(self, id: str, *more: str) -> results.memories.Changed:
        """Withdraw rejections, so that the same may be proposed again; only a person may.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: Nothing was rejected by that id.
        """
        ids = tuple(dict.fromkeys((id, *more)))

        def plan(view: FileView) -> Plan[results.memories.Changed]:
            before = rejected_claims(view)
            told = f"withdrew the rejection of {', '.join(ids)}"
            change = FileChange(before.path, before.remove(ids).render(), Action.EDIT, told)
            return Plan(
                Action.EDIT, before.path, told, (change,), outcome=results.memories.Changed(None, ids=ids)
            )

        return self._decide(plan, f"withdrew {len(ids)} rejections")

    def _standing(self, pending: PendingReflection) -> Standing:
        context = self._context
        rehearsed = rehearse(context.files, pending.items, _plan_context(context, self._proposed))
        return Standing(
            rehearsed.core_tokens,
            waits=rehearsed.waiting,
            stale={
                item_id: (found.now, found.reason)
                for item_id, found in rehearsed.stale.items()
                if found.stale
            },
            title=self._retrieval.title,
            text_of=_texts(context),
        )

    def _decide(
        self,
        planner: Callable[[FileView], Plan[results.memories.Changed]],
        trigger: str,
        *,
        ticking: bool = False,
    ) -> results.memories.Changed:
        doing = "decide on a reflection"
        require(self._context.role, Capability.DECIDE_REVIEW, doing=doing)
        by = self._mutator.attribution(TICKING if ticking else trigger, named="manual")

        def plan(view: FileView) -> Plan[results.memories.Changed]:
            planned = planner(view)
            return going_on_plan(planned, self._context.history, by) if ticking else planned

        return self._mutator.change(plan, by, Capability.DECIDE_REVIEW, doing=doing)


_NAMES_ITEMS = f"\n{ITEM}: ".encode()


class PastReflectionReader:
    """Reads what became of reflections: what was decided from their record, the rest from history."""

    def __init__(self, context: WorkspaceContext, past: PastReader) -> None:
        self._context = context
        self._past = past
        # Commits stay as they are, and a long life has thousands of them that reflections made.
        self._named: dict[tuple[str, ...], tuple[PastItem, ...]] = {}

    def all(self) -> PastReflections:
        """Return every reflection on which something was written, newest first."""
        context = self._context
        require(context.role, Capability.READ)
        records = {record.id: record for record in read_log(context.files).records}
        index = self._past.line() if context.has_history() else None
        commits = _commits(index) if index is not None else {}
        store = self._past.store if commits else None
        waiting = reflection_of(read_pending(context.files))
        found = []
        for name in dict.fromkeys((*records, *commits)):
            record, its = records.get(name), tuple(commits.get(name, ()))
            items = _items(record.body) if record is not None else self._from_commits(its, store)
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

    def _from_commits(self, commits: tuple[str, ...], store: GitStore | None) -> tuple[PastItem, ...]:
        """Return the items that commits name, where the record of their reflection is gone."""
        if (known := self._named.get(commits)) is not None or store is None:
            return known or ()
        said: dict[str, PastItem] = {}
        for commit in commits:
            if _NAMES_ITEMS not in store.raw_object(commit):
                continue
            for value in parse_message(store.commit(commit)).values(ITEM):
                name, _, decision = value.partition(" ")
                said.setdefault(name, PastItem(name, decision, "", "", ""))
        return self._named.setdefault(commits, tuple(said.values()))

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
