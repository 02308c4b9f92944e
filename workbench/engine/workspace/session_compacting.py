"""The part of the door that shortens sessions, mends them, and finds a way on where one failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import Cancelled, InvalidInput
from workbench.engine.results.session_changes import (
    Compacted,
    CompactionProgress,
    SessionRecovered,
    SessionRepaired,
)
from workbench.engine.workspace import session_places as places
from workbench.engine.workspace.session_appending import SessionAppending

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.sessions.compaction import Cut
    from workbench.engine.sessions.context import Context
    from workbench.engine.sessions.entries import SessionEntry
    from workbench.engine.sessions.lines import LineReader
    from workbench.engine.sessions.steps import Steps
    from workbench.engine.sessions.summarising import Summary
    from workbench.engine.sessions.tree import Tree

FAILURES = ("overflow", "order", "damaged")


@dataclass(frozen=True)
class _Planned:
    """How a session is to be compacted; without a cut there is nothing to compact.

    Args:
        before: What a model would be shown now.
        cut: Where.
        summary: What stands for what is left.
        left: Messages that it stands for.
    """

    before: Context
    cut: Cut | None = None
    summary: Summary | None = None
    left: int = 0


class SessionCompacting(SessionAppending):
    """Compacts, repairs and recovers sessions of this workspace."""

    def session_compact(
        self,
        key: str,
        *,
        instructions: str = "",
        keep_tokens: int | None = None,
        from_: str | None = None,
        progress: Callable[[CompactionProgress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Compacted:
        """Let a summary stand for all but the newest messages of a session; the transcript keeps everything.

        The summary is written by the chat model, in stages that fit it, or made of what was said; failures of tools
        and the files they read and wrote are told in any case.

        Args:
            key: As for `session`.
            instructions: What the summary shall look at.
            keep_tokens: Of the newest messages that stay; the setting `sessions.keep_recent_tokens` by default.
            from_: As for `sessions`; what is compacted is a copy in the own store.
            progress: Told how far it has come, on the calling thread.
            cancelled: Asked often; a compaction that is called off changes nothing.

        Raises:
            NotFound: There is no such session.
            Locked: Another program writes it.
            Cancelled: It was called off.
            RoleRefused: This door may not write.
        """
        from workbench.engine.sessions.copying import drop_copy
        from workbench.engine.sessions.steps import Steps

        ground = self._ground
        require(ground.role, Capability.WRITE_MEMORY, doing="compact sessions")
        keep = ground.settings.sessions.keep_recent_tokens if keep_tokens is None else keep_tokens
        found = self._own(key, from_)
        with ground.action.resting_on(ground.history if ground.has_history() else None):
            try:
                planned = self._planned(found, keep, instructions, Steps(progress, cancelled))
            except (Cancelled, KeyboardInterrupt):
                if found.copied_from is not None:
                    drop_copy(found.key, found.entry, places.own_home(ground).store)
                raise
            if planned.cut is None or planned.summary is None:
                return _nothing(found, planned.before, keep)
            summary, left = planned.summary, planned.left
            tokens_before = found.entry.total_tokens or planned.before.total
            with ground.without_purges("system:compaction"):
                line = self._append_compaction(found, planned.cut, summary, tokens_before)
        # Counted at once: whoever is interrupted while the context is built has still a new cycle to be flushed.
        compactions = self._count_compaction(found)
        after = self._context(found, self._room(found), 0)[1]
        self._note_tokens(found, after.total)
        kept = sum(1 for placed in after.messages if placed.line is not None) - 1
        return Compacted(
            key=found.name,
            session_id=found.entry.session_id,
            line=line,
            summary=summary.text,
            by=summary.by,
            fallback=summary.fallback,
            tokens_before=tokens_before,
            tokens_after=after.total,
            summarised=left,
            kept=max(0, kept),
            compactions=compactions,
            told=f"A summary stands for {left:,} messages.",
            copied_from=found.copied_from,
        )

    def session_repair(self, key: str) -> SessionRepaired:
        """Mend a transcript: lines that cannot be read are emptied, so that all others keep their numbers.

        The file as it was is kept beside it. Calls of tools without results, and turns out of order, are put right
        whenever a model is shown the session, and told of here.

        Args:
            key: As for `session`.

        Raises:
            NotFound: There is no such session.
            Locked: Another program writes it.
            RoleRefused: This door may not write.
        """
        from workbench.engine.sessions.repair import repair_transcript

        ground = self._ground
        require(ground.role, Capability.WRITE_MEMORY, doing="repair sessions")
        found = places.find(ground, key)
        store = places.own_home(ground).store
        mended = repair_transcript(store.transcript(found.key, found.entry), ground.now())
        tree, context = self._context(found, self._room(found), 0)
        shown = tuple(f"When it is shown to a model: {repair}" for repair in context.repairs)
        return SessionRepaired(
            found.name,
            (*mended.repairs, *shown),
            mended.problems or tree.told(),
            str(mended.copy) if mended.copy else None,
        )

    def session_recover(
        self, key: str, failure: str, *, attempt: int = 1, compact: Callable[[], bool] | None = None
    ) -> SessionRecovered:
        """Find a way on for a session in which a model run failed.

        A context that overflows is compacted once and tried again; a history that no provider takes is mended once;
        whatever fails again is left: the session starts over, its transcript stays, and what matters is saved.

        Args:
            key: As for `session`.
            failure: `overflow`, `order` (of roles) or `damaged`.
            attempt: How often this run has failed by now, 1 for the first time.
            compact: Compacts in another way than `session_compact`; tells whether it did.

        Raises:
            InvalidInput: The failure is none of these.
            RoleRefused: This door may not write.
        """
        require(self._ground.role, Capability.WRITE_MEMORY, doing="recover sessions")
        if failure not in FAILURES:
            raise InvalidInput(f"“{failure[:40]}” is no failure.", remedy=f"Say {', '.join(FAILURES)}.")
        found = places.find(self._ground, key)
        session_id = found.entry.session_id
        if attempt <= 1 and failure == "overflow":
            done = compact() if compact is not None else self._compacted_smaller(key)
            if done:
                told = "The session was compacted; try again."
                return SessionRecovered(found.name, "retry", session_id, None, told)
        if attempt <= 1 and failure != "overflow":
            mended = self.session_repair(key)
            if mended.repairs:
                told = "The history was mended; go on with it."
                return SessionRecovered(found.name, "continue", session_id, None, told)
        begun = self.session_reset(key, reason="recovered")
        told = "The session starts over; what was said before stays in its transcript."
        return SessionRecovered(found.name, "rotated", begun.session_id, begun.previous_id, told)

    def _compacted_smaller(self, key: str) -> bool:
        """Compact a session so that it is smaller than before; tell whether that worked."""
        done = self.session_compact(key)
        if done.line is None:
            # All of it counts as newest: a quarter of the window is still enough to go on with.
            done = self.session_compact(key, keep_tokens=done.tokens_before // 4)
        return done.line is not None and done.tokens_after < done.tokens_before

    def _planned(self, found: places.Found, keep: int, instructions: str, steps: Steps) -> _Planned:
        from workbench.engine.sessions.compaction import plan_cut
        from workbench.engine.sessions.context import build_context
        from workbench.engine.sessions.events import MESSAGE
        from workbench.engine.sessions.lines import random_access
        from workbench.engine.sessions.tree import read_tree

        lines = found.readable(self._ground)
        tree = read_tree(lines, steps)
        with random_access(lines) as reader:
            before = build_context(tree, reader, budget=self._room(found))
            cut = plan_cut(tree, reader, keep)
            if cut is None:
                return _Planned(before)
            summary = self._summary(tree, reader, cut, instructions, steps)
        return _Planned(before, cut, summary, sum(tree.kind(number) == MESSAGE for number in cut.left))

    def _room(self, found: places.Found) -> int:
        return found.entry.context_tokens or self._ground.settings.sessions.window

    def _summary(self, tree: Tree, reader: LineReader, cut: Cut, instructions: str, steps: Steps) -> Summary:
        from workbench.engine.sessions.compaction import messages_of
        from workbench.engine.sessions.gathering import Gathered
        from workbench.engine.sessions.summarising import material_characters, summarise

        settings = self._ground.settings
        gathered = Gathered(material_characters(settings.model.context))
        for placed in messages_of(tree, reader, steps.over("gathering", cut.left, len(cut.left))):
            gathered.add(placed)
        if not settings.model.configured:
            return summarise(gathered, cut.before, chat=None, context_tokens=0)
        from workbench.engine.providers.choosing import chat_model

        chat = chat_model(settings, timeout_s=settings.model.reflection_timeout)
        try:
            return summarise(
                gathered,
                cut.before,
                chat=chat,
                context_tokens=settings.model.context,
                instructions=instructions,
                steps=steps,
            )
        finally:
            if chat is not None:
                chat.close()

    def _append_compaction(self, found: places.Found, cut: Cut, summary: Summary, tokens: int) -> int:
        from workbench.engine.sessions import events

        fields = {
            "summary": summary.text,
            "firstKeptEntryId": cut.first_kept_id,
            "tokensBefore": tokens,
            "details": {"by": summary.by},
        }
        (event,) = self._writer(found.key, found.entry).append(
            [(events.COMPACTION, fields)], self._ground.now()
        )
        return event.line

    def _count_compaction(self, found: places.Found) -> int:
        """Count a compaction; the tokens that were counted before it are no longer those of the context."""
        counted = self._change_entry(
            found, lambda entry: entry.with_fields(compactionCount=entry.compactions + 1, totalTokens=None)
        )
        return counted.compactions if counted is not None else found.entry.compactions + 1

    def _note_tokens(self, found: places.Found, tokens: int) -> None:
        self._change_entry(found, lambda entry: entry.with_fields(totalTokens=tokens))

    def _change_entry(
        self, found: places.Found, change: Callable[[SessionEntry], SessionEntry]
    ) -> SessionEntry | None:
        """Change the entry of a session, unless it has started over meanwhile; None where it has."""
        changed: SessionEntry | None = None

        def change_same(entry: SessionEntry | None) -> SessionEntry | None:
            nonlocal changed
            if entry is None or entry.session_id != found.entry.session_id:
                return entry
            changed = change(entry)
            return changed

        places.own_home(self._ground).store.change(found.key, change_same)
        return changed


def _nothing(found: places.Found, before: Context, keep: int) -> Compacted:
    return Compacted(
        key=found.name,
        session_id=found.entry.session_id,
        line=None,
        summary="",
        by="rules",
        fallback=None,
        tokens_before=before.total,
        tokens_after=before.total,
        summarised=0,
        kept=len(before.messages),
        compactions=found.entry.compactions,
        told=f"There is nothing to compact: its messages are about {before.total:,} tokens, "
        f"and the newest {keep:,} stay.",
        copied_from=found.copied_from,
    )
