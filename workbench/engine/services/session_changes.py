"""Sessions written: messages appended; sessions begun again, compacted, repaired and recovered."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine import results
from workbench.engine.errors import Cancelled, InvalidInput, WorkbenchError
from workbench.engine.memory.wording import clip
from workbench.engine.roles import Capability, require
from workbench.engine.services import sessions as places
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.session_flush import EndedSession, SessionFlush, run_hook
from workbench.engine.services.sessions import Sessions
from workbench.engine.sessions import events
from workbench.engine.sessions.compaction import (
    CompactionCut,
    SessionMaterial,
    Summary,
    material_characters,
    messages_of,
    plan_cut,
    summarise,
)
from workbench.engine.sessions.context import Context, build_context
from workbench.engine.sessions.events import MESSAGE, LineReader, random_access
from workbench.engine.sessions.foreign import drop_copy
from workbench.engine.sessions.keys import peer_of, read_trigger
from workbench.engine.sessions.store import JOINED, milliseconds, whole
from workbench.engine.sessions.transcripts import Tree, read_tree, repair_transcript
from workbench.engine.steps import Progress, Steps
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.sessions.keys import SessionKey


_CALLED_OFF = "The compaction was called off; the session is as it was."
_ROLES = ("user", "assistant", "toolResult")


def _message(text: str, role: str, message: Mapping[str, Any] | None, now: datetime) -> Mapping[str, Any]:
    if message is None:
        if role not in _ROLES:
            raise InvalidInput(f"“{role[:40]}” is no role in a session.", remedy=f"Say {', '.join(_ROLES)}.")
        if not text.strip():
            raise InvalidInput("There is nothing to write.", remedy="Give the text of the message.")
        return events.message(role, text, now)
    if not isinstance(message.get("role"), str) or not isinstance(message.get("content"), str | list):
        raise InvalidInput(
            "This is no message of a session.", remedy='Give an object with "role" and "content".'
        )
    return {"timestamp": round(now.timestamp() * 1000), **message}


FAILURES = ("overflow", "order", "damaged")


@dataclass(frozen=True)
class _Planned:
    """How a session is to be compacted; without a cut there is nothing to compact.

    Args:
        before: What a model would be shown now.
        cut: Where.
        summary: Of what is left.
        left: Messages that it replaces.
    """

    before: Context
    cut: CompactionCut | None = None
    summary: Summary | None = None
    left: int = 0


class SessionChanges:
    """Appends to sessions of this workspace, compacts, repairs and recovers them."""

    def __init__(
        self,
        context: WorkspaceContext,
        mutator: Mutator,
        sessions: Sessions,
        session_flush: SessionFlush,
    ) -> None:
        self._context = context
        self._mutator = mutator
        self._sessions = sessions
        self._session_flush = session_flush

    def append(
        self,
        key: str,
        text: str = "",
        *,
        role: str = "user",
        message: Mapping[str, Any] | None = None,
        model: str | None = None,
        total_tokens: int | None = None,
        context_tokens: int | None = None,
        label: str | None = None,
        sender: str = "",
    ) -> results.sessions.SessionAppended:
        """Write one message to a session, which begins with it, goes on, or starts over because it had ended.

        A person's message that begins with `/new` or `/reset` starts the session over; what follows the word is the
        first message of the new one. From somebody whom `sessions.reset_senders` does not name, it is a message as
        any other, and a warning says so.

        Args:
            key: A session key such as `agent:main:main`; a direct conversation such as `telegram:direct:42` joins the
                main session unless `sessions.direct_scope` says otherwise, it has a session of its own already, or
                memories are for that person.
            text: What was said.
            role: user, assistant or toolResult.
            message: The whole message as transcripts write it, instead of text and role: with calls of tools,
                results or pictures.
            model: The model that answered.
            total_tokens: Of the context, as the model counted them.
            context_tokens: Of the model's context window.
            label: What the session is called.
            sender: Who said it, such as `telegram:42`; by default, who talks alone with the agent there.

        Raises:
            InvalidInput: The key, the message or a number of tokens cannot be used.
            Locked: Another program writes this session.
            RoleRefused: This door may not write.
        """
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="write sessions")
        self._mutator.attribution("write sessions")
        said_in, now = places.full_key(key), context.now()
        parsed, joins = places.destination(context, said_in)
        written = _message(text, role, message, now)
        for tokens in (total_tokens, context_tokens):
            if tokens is not None and whole(tokens) != tokens:
                raise InvalidInput(
                    f"{tokens!r:.40} is no number of tokens.", remedy="Give a whole number, or none."
                )
        rules = places.reset_rules(context)
        trigger = (
            read_trigger(text, rules.triggers) if written.get("role") == "user" and message is None else None
        )
        warnings: list[str] = []
        ended: EndedSession | None = None
        if trigger is not None and not places.direct_rules(context).may_reset(said_in, sender):
            who = clip(sender) or peer_of(said_in) or "A sender who is not named"
            warnings.append(
                f"{who} may not start {parsed} over, so “{trigger[0]}” was written as it was said; "
                "sessions.reset_senders names who may."
            )
            trigger = None
        if trigger is not None:
            written = events.message("user", trigger[1], now)
            ended = self._save_before_new(parsed)
        name, entry, reason = self._sessions.begin(parsed, "new" if trigger else "")
        lines: tuple[Any, ...] = ()
        if trigger is None or trigger[1]:
            lines = self._sessions.writer(parsed, entry).append([(events.MESSAGE, {"message": written})], now)
        told: dict[str, Any] = {
            "model": model, "totalTokens": total_tokens, "contextTokens": context_tokens, "label": label,
        }  # fmt: skip
        if joins:
            told[JOINED] = [*entry.joined, joins]
        if fields := {field: value for field, value in told.items() if value is not None}:
            self._sessions.change_entry(
                parsed,
                entry.session_id,
                lambda known: known.with_fields(updatedAt=milliseconds(now), **fields),
            )
        if reason in ("daily", "idle"):
            self._save_after_end(parsed)
        warnings += run_hook(context, ended, reason, entry.session_id)
        return results.sessions.SessionAppended(
            name,
            entry.session_id,
            tuple(event.line for event in lines),
            tuple(event.id for event in lines),
            began=bool(reason),
            reason=reason,
            rest=trigger[1] if trigger else None,
            warnings=tuple(warnings),
        )

    def _save_before_new(self, key: SessionKey) -> EndedSession | None:
        """Save what matters of a session about to start over, and return it; None without such a session."""
        home = places.own_home(self._context)
        known = home.read().find(key)
        if known is None or not known[1].session_id:
            return None
        found = places.FoundSession(home, known[0], key, known[1])
        return EndedSession(found, self._session_flush.save_all(found, f"/new in {known[0]}"))

    def _save_after_end(self, key: SessionKey) -> None:
        """Save what ended; where a model has to be asked, or it fails, it stays noted as due."""
        if self._context.settings.model.configured or not self._context.settings.flush.enabled:
            return
        found = places.find_session(self._context, str(key))
        with contextlib.suppress(WorkbenchError):
            self._session_flush.save_all(found, "", this_one=False)

    def compact(
        self,
        key: str,
        *,
        instructions: str = "",
        keep_tokens: int | None = None,
        from_: str | None = None,
        progress: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.sessions.Compacted:
        """Replace by a summary all but the newest messages of a session; the transcript keeps everything.

        The summary is written by the chat model, in stages that fit it, or made of what was said; failures of tools
        and the files they read and wrote are told in any case.

        Args:
            instructions: What the summary shall look at.
            keep_tokens: Of the newest messages that stay; the setting `sessions.keep_recent_tokens` by default.
            progress: Told how far it has come, on the calling thread.
            cancelled: Asked often; a compaction that is called off changes nothing.

        Raises:
            NotFound: There is no such session.
            Locked: Another program writes it.
            Cancelled: It was called off.
            RoleRefused: This door may not write.
        """
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="compact sessions")
        keep = context.settings.sessions.keep_recent_tokens if keep_tokens is None else keep_tokens
        found = self._sessions.own(key, from_)
        with self._mutator.group.resting_on(context.history if context.has_history() else None):
            try:
                planned = self._planned(found, keep, instructions, Steps(_CALLED_OFF, progress, cancelled))
            except (Cancelled, KeyboardInterrupt):
                if found.copied_from is not None:
                    drop_copy(found.key, found.entry, places.own_home(context).store)
                raise
            if planned.cut is None or planned.summary is None:
                return _nothing(found, planned.before, keep)
            summary, left = planned.summary, planned.left
            tokens_before = found.entry.total_tokens or planned.before.total
            with self._mutator.without_purges("system:compaction"):
                line = self._append_compaction(found, planned.cut, summary, tokens_before)
        # Counted at once: an interruption while the context is built must leave a new cycle to be flushed.
        compactions = self._count_compaction(found)
        after = self._sessions.build_context(found, self._room(found), 0)[1]
        self._sessions.update(found, totalTokens=after.total)
        kept = sum(1 for placed in after.messages if placed.line is not None) - 1
        return results.sessions.Compacted(
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
            told=f"A summary replaces {left:,} messages.",
            copied_from=found.copied_from,
        )

    def repair(self, key: str) -> results.sessions.SessionRepaired:
        """Mend a transcript: lines that cannot be read are emptied, so that all others keep their numbers.

        The file as it was is kept beside it. Calls of tools without results, and turns out of order, are put right
        whenever a model is shown the session, and told of here.

        Raises:
            NotFound: There is no such session.
            Locked: Another program writes it.
            RoleRefused: This door may not write.
        """
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="repair sessions")
        found = places.find_session(context, key)
        store = places.own_home(context).store
        mended = repair_transcript(store.transcript(found.key, found.entry), context.now())
        tree, visible = self._sessions.build_context(found, self._room(found), 0)
        shown = tuple(f"When it is shown to a model: {repair}" for repair in visible.repairs)
        return results.sessions.SessionRepaired(
            found.name,
            (*mended.repairs, *shown),
            mended.problems or tree.told(),
            str(mended.copy) if mended.copy else None,
        )

    def recover(
        self, key: str, failure: str, *, attempt: int = 1, compact: Callable[[], bool] | None = None
    ) -> results.sessions.SessionRecovered:
        """Find a way on for a session in which a model run failed.

        A context that overflows is compacted once and tried again; a history that no provider takes is mended once;
        whatever fails again is left: the session starts over, its transcript stays, and what matters is saved.

        Args:
            failure: `overflow`, `order` (of roles) or `damaged`.
            attempt: How often this run has failed by now, 1 for the first time.
            compact: Compacts in another way than `compact`; returns whether it did.

        Raises:
            InvalidInput: The failure is none of these.
            RoleRefused: This door may not write.
        """
        require(self._context.role, Capability.WRITE_MEMORY, doing="recover sessions")
        if failure not in FAILURES:
            raise InvalidInput(f"“{failure[:40]}” is no failure.", remedy=f"Say {', '.join(FAILURES)}.")
        found = places.find_session(self._context, key)
        session_id = found.entry.session_id
        if attempt <= 1 and failure == "overflow":
            done = compact() if compact is not None else self._compacted_smaller(key)
            if done:
                told = "The session was compacted; try again."
                return results.sessions.SessionRecovered(found.name, "retry", session_id, None, told)
        if attempt <= 1 and failure != "overflow":
            mended = self.repair(key)
            if mended.repairs:
                told = "The history was mended; go on with it."
                return results.sessions.SessionRecovered(found.name, "continue", session_id, None, told)
        begun = self._session_flush.reset(key, reason="recovered")
        told = "The session starts over; what was said before stays in its transcript."
        told = " ".join((told, *begun.warnings))
        return results.sessions.SessionRecovered(
            found.name, "rotated", begun.session_id, begun.previous_id, told
        )

    def _compacted_smaller(self, key: str) -> bool:
        """Compact a session so that it is smaller than before; return whether that worked."""
        done = self.compact(key)
        if done.line is None:
            # All of it counts as newest: a quarter of the window is still enough to go on with.
            done = self.compact(key, keep_tokens=done.tokens_before // 4)
        return done.line is not None and done.tokens_after < done.tokens_before

    def _planned(self, found: places.FoundSession, keep: int, instructions: str, steps: Steps) -> _Planned:
        lines = found.readable(self._context)
        tree = read_tree(lines, steps)
        with random_access(lines) as reader:
            before = build_context(tree, reader, budget=self._room(found))
            cut = plan_cut(tree, reader, keep)
            if cut is None:
                return _Planned(before)
            summary = self._summary(tree, reader, cut, instructions, steps)
        return _Planned(before, cut, summary, sum(tree.kind(number) == MESSAGE for number in cut.left))

    def _room(self, found: places.FoundSession) -> int:
        return found.entry.context_tokens or self._context.settings.sessions.window

    def _summary(
        self, tree: Tree, reader: LineReader, cut: CompactionCut, instructions: str, steps: Steps
    ) -> Summary:
        settings = self._context.settings
        gathered = SessionMaterial(material_characters(settings.model.context))
        for placed in messages_of(tree, reader, steps.over("gathering", cut.left, len(cut.left))):
            gathered.add(placed)
        with self._context.chat_model(settings.model.reflection_timeout) as chat:
            return summarise(
                gathered,
                cut.before,
                chat=chat,
                context_tokens=settings.model.context,
                instructions=instructions,
                steps=steps,
            )

    def _append_compaction(
        self, found: places.FoundSession, cut: CompactionCut, summary: Summary, tokens: int
    ) -> int:
        fields = {
            "summary": summary.text,
            "firstKeptEntryId": cut.first_kept_id,
            "tokensBefore": tokens,
            "details": {"by": summary.by},
        }
        (event,) = self._sessions.writer(found.key, found.entry).append(
            [(events.COMPACTION, fields)], self._context.now()
        )
        return event.line

    def _count_compaction(self, found: places.FoundSession) -> int:
        """Count a compaction; the tokens that were counted before it are no longer those of the context."""
        counted = self._sessions.change_entry(
            found.key,
            found.entry.session_id,
            lambda entry: entry.with_fields(compactionCount=entry.compactions + 1, totalTokens=None),
        )
        return counted.compactions if counted is not None else found.entry.compactions + 1


def _nothing(found: places.FoundSession, before: Context, keep: int) -> results.sessions.Compacted:
    return results.sessions.Compacted(
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
