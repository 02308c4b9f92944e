"""Questions after what changed, answered from the audit log (design document §12.7): what, why, and the way back."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.catalog.terms import coverage, question_terms
from workbench.engine.errors import NotFound
from workbench.engine.history.git_objects import SHORT
from workbench.engine.history.plan import Action
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.language.periods import period_alone
from workbench.engine.memory.decay import is_archived
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.audit import Changes, Lost, WayBack, WhyForgotten
from workbench.engine.roles import Capability, require
from workbench.engine.services.audit import Audit
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import shortened
from workbench.engine.services.past import PastReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.results.audit import AuditEntry
    from workbench.engine.services.scores import Scores


_MOST_ENTRIES = 20
_MOST_MEMORIES = 5
_PAGE = 200
_SNIPPET = 160
# Seconds to wait for what changed to be read.
_PATIENCE = 10.0
# What holds fewer of the words asked for than this is not what was meant.
_LEAST_COVERAGE = 0.5
_HIDING = (Action.ARCHIVE, Action.DECAY, Action.DELETE)
_ARCHIVED_ID = lazy_pattern(r"archived (\S+)(?: “(?P<text>.*)”)?")
_AS_LEARNED = frozenset({Action.CREATE, Action.EDIT, Action.APPEND, Action.MERGE, Action.COMMIT})
_ARCHIVED = "It was archived, which hides it from search."
_RETIRED = "It no longer holds; it is kept among what was superseded."
_STANDS = "It is not forgotten."


class Questions:
    """Answers from audit log, scores and history; changes nothing."""

    def __init__(self, context: WorkspaceContext, audit: Audit, past: PastReader) -> None:
        self._context = context
        self._audit = audit
        self._past = past

    def changes(self, days: str = "", *, onwards: bool = False, learned: bool = False) -> Changes:
        """Return what changed, newest first (“What changed recently?”: the newest entries of the log).

        Args:
            days: Days in words, “last week”; the newest changes, whenever they were, if empty.
            onwards: Everything since they began.
            learned: Only what came into memory, without the books that are kept about it.
        """
        require(self._context.role, Capability.READ, doing="read the audit log")
        since, until = self._span(days, onwards=onwards)
        log = self._audit.log(
            since=since.isoformat() if since else None, until=until.isoformat() if until else None
        )
        entries = [each for each in log.entries if not learned or _is_learned(each)]
        return Changes(since, until, len(entries), tuple(entries[:_MOST_ENTRIES]))

    def why_forgotten(self, about: str) -> WhyForgotten:
        """Return why memories about something are not recalled: when they were hidden, by whom, and the way back.

        Args:
            about: What is missed, in words.
        """
        context = self._context
        require(context.role, Capability.READ, doing="read the audit log")
        context.refresh_for_reading()
        wanted = question_terms(about)
        if not wanted:
            return WhyForgotten((), ())
        hiding = [each for action in _HIDING for each in self._audit.log(action=action).entries]
        about_it = {
            index: held
            for index, each in enumerate(hiding)
            if (held := coverage(wanted, f"{each.summary} {each.file}")) >= _LEAST_COVERAGE
        }
        texts: dict[str, str] = {}
        rank: dict[str, float] = {}
        retired: set[str] = set()
        for match in context.finder.literal_matches(about, patience=_PATIENCE):
            chunk = match.chunk
            if chunk.store in MEMORY_STORES and match.coverage >= _LEAST_COVERAGE:
                texts.setdefault(chunk.memory_id, chunk.text)
                rank.setdefault(chunk.memory_id, match.coverage)
                if chunk.is_retired:
                    retired.add(chunk.memory_id)
        for index, held in about_it.items():
            if (named := _ARCHIVED_ID.match(hiding[index].summary)) and named["text"]:
                texts.setdefault(named[1], named["text"])
                rank[named[1]] = max(rank.get(named[1], 0.0), held)
        best = max((*rank.values(), *about_it.values()), default=0.0)
        scores = context.scores()
        found = [
            self._lost(memory_id, texts[memory_id], hiding, scores, is_retired=memory_id in retired)
            for memory_id, held in rank.items()
            if held == best
        ]
        found.sort(key=lambda each: (each.action is None, -(each.when.timestamp() if each.when else 0)))
        told = {each.commit for each in found}
        others = [
            hiding[index]
            for index, held in about_it.items()
            if held == best and hiding[index].action == Action.DELETE and hiding[index].commit not in told
        ]
        return WhyForgotten(tuple(found[:_MOST_MEMORIES]), tuple(others[:_MOST_ENTRIES]))

    def way_back(self, moment: str, *, from_then_on: bool = False) -> WayBack:
        """Return what going back would undo, and the command for it; nothing is done.

        Args:
            moment: A day in words, whose end is meant; of today, and of days to come, the end of the day before.
            from_then_on: What came on these days and later shall go, so that the day before them is meant.
        """
        require(self._context.role, Capability.READ, doing="read the audit log")
        today = self._context.now().date()
        period = period_alone(moment, today)
        if period is None:
            told = f"“{shortened(moment)}” names no day. Say one, or choose a moment: workbench audit log"
            return WayBack(None, None, 0, (), told)
        before = from_then_on or period.last >= today
        day = period.first - timedelta(days=1) if before else period.last
        self._context.adopt_for_reading()
        try:
            commit, asked = self._past.moment(day.isoformat(), "the moment to go back to")
        except NotFound as error:
            # A question is answered, also in a workspace that is younger than what it names.
            return WayBack(None, None, 0, (), error.told)
        undone = list(self._since(commit))
        if not undone:
            return WayBack(asked, commit, 0, (), "Nothing changed since; memory is as it was then.")
        count = len({each.group or each.commit for each in undone})
        return WayBack(
            asked,
            commit,
            count,
            tuple(undone[:_MOST_ENTRIES]),
            "Nothing was undone. A person decides on it, and the command itself can be undone.",
            f"workbench rollback --to {commit[:SHORT]}",
        )

    def _span(self, days: str, *, onwards: bool) -> tuple[datetime | None, datetime | None]:
        """Return the first and the last moment of days in words; no last one where it has not passed."""
        now = self._context.now()
        period = period_alone(days, now.date()) if days else None
        if period is None:
            return None, None
        since = datetime.combine(period.first, time.min, now.tzinfo)
        is_open = onwards or period.last >= now.date()
        return since, None if is_open else datetime.combine(period.last, time.max, now.tzinfo)

    def _since(self, commit: str) -> Iterator[AuditEntry]:
        """Yield the entries of what came after a commit, newest first."""
        later = {each.short for each in self._past.store.walk(stop=commit)}
        for page in self._audit.pages(_PAGE):
            found = [each for each in page if each.commit and each.commit[:SHORT] in later]
            if not found:
                return
            yield from found

    def _lost(
        self, memory_id: str, text: str, hiding: Sequence[AuditEntry], scores: Scores, *, is_retired: bool
    ) -> Lost:
        names_it = re.compile(rf"(?<![\w:#^-]){re.escape(memory_id)}(?![\w:#^-])")

        def newest(action: Action) -> AuditEntry | None:
            named = (each for each in hiding if each.action == action and names_it.search(each.summary))
            return max(named, key=lambda each: each.timestamp, default=None)

        snippet = shortened(text, _SNIPPET)
        entry = scores.entries.get(memory_id)
        score = scores.of(memory_id)
        status = score.status if score else "active"
        if is_archived(entry):
            cause = newest(Action.ARCHIVE)
            return _told(memory_id, snippet, "archived", Action.ARCHIVE, cause, _ARCHIVED, "restore")
        if is_retired:
            return _told(memory_id, snippet, "retired", None, None, _RETIRED, "show")
        if score is None or status in ("active", "pinned"):
            return _told(memory_id, snippet, status, None, None, _STANDS, "show")
        days, uses = score.terms["days"], score.terms["accessCount"]
        times = "once" if uses == 1 else f"{uses} times"
        reason = (
            f"It faded: not used for {days} days, and used {times} in all; its score is {score.value:.2f}."
        )
        return _told(memory_id, snippet, status, Action.DECAY, newest(Action.DECAY), reason, "reinforce")


def _told(
    memory_id: str,
    snippet: str,
    status: str,
    action: Action | None,
    cause: AuditEntry | None,
    reason: str,
    verb: str,
) -> Lost:
    return Lost(
        memory_id,
        snippet,
        status,
        reason,
        f"workbench {verb} {memory_id}",
        action and str(action),
        cause.timestamp if cause else None,
        cause.actor if cause else None,
        cause.commit if cause else None,
    )


def _is_learned(entry: AuditEntry) -> bool:
    """Return whether a change brought something into memory, rather than into the books about it."""
    books = f"{layout.META}/"
    return entry.action in _AS_LEARNED and not entry.file.startswith(books)
