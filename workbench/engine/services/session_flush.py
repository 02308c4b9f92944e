"""The memory flush: what of a session deserves lasting memory, and storing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.errors import BudgetExceeded, InvalidInput, ProviderError
from workbench.engine.roles import Capability, require
from workbench.engine.scopes import scope_of_session
from workbench.engine.services import sessions as places
from workbench.engine.services.memory import Memory
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.sessions import SessionService

if TYPE_CHECKING:
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.sessions.events import TranscriptTurn
    from workbench.engine.sessions.lines import Lines
    from workbench.engine.sessions.store import SessionEntry
    from workbench.engine.settings.sections import FlushSettings
    from workbench.engine.triggers.phrases import PhraseBook


# More than a flush can be late for; what is older has had its turn.
_MOST_ENTRIES = 4000


class SessionFlush:
    """Flushes sessions to memory; each memory names the line that it comes from."""

    def __init__(
        self, context: WorkspaceContext, mutator: Mutator, memory: Memory, sessions: SessionService
    ) -> None:
        self._context = context
        self._mutator = mutator
        self._memory = memory
        self._sessions = sessions

    def session_flush(
        self, key: str, *, now: bool = False, heartbeat: bool = False, from_: str | None = None
    ) -> results.sessions.Flushed:
        """Save what matters of a session to memory, where that is due: once in each cycle between two compactions.

        With a chat model its answer is saved, else what the person asked to remember, decided, prefers or corrected.
        Only what was said since the last flush is looked at. Sessions under this key that ended by the clock and
        were not saved come first.

        Args:
            key: As for `session`.
            now: Save also where it is not due.
            heartbeat: Whether the turn at hand is one of the machinery's own.
            from_: As for `sessions`; the session is copied into the own store first.

        Raises:
            NotFound: There is no such session.
            RoleRefused: This door may not write memory.
        """
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="flush sessions to memory")
        found = self._sessions.own(key, from_)
        check = self._sessions.flush_check(found, heartbeat=heartbeat, estimate=True)
        if not (check.due or now):
            return results.sessions.Flushed(None, key=found.name, check=check)
        rest = replace(found, entry=found.entry.with_ended(()))
        this_one = now or self._sessions.flush_check(rest, heartbeat=heartbeat, estimate=True).due
        return replace(self.save_all(found, f"flush of {found.name}", this_one=this_one), check=check)

    def session_reset(
        self, key: str, *, save: bool = True, reason: str = "reset"
    ) -> results.sessions.SessionBegun:
        """Start a session over under its key; what matters of it is saved to memory, and its transcript stays.

        Args:
            key: As for `session`.
            save: Whether to save what matters.
            reason: Why, one word.

        Raises:
            NotFound: There is no such session.
            RoleRefused: This door may not write.
        """
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="reset sessions")
        found = places.find_session(context, key)
        flushed = self.save_all(found, f"reset of {found.name}") if save else None
        name, entry, _ = self._sessions.begin(found.key, reason)
        lines = found.lines
        return results.sessions.SessionBegun(
            name,
            entry.session_id,
            found.entry.session_id or None,
            lines.where if lines.size() else None,
            reason,
            flushed,
        )

    def save_all(
        self, found: places.FoundSession, trigger: str, *, this_one: bool = True
    ) -> results.sessions.Flushed:
        """Save the sessions that ended under a key, and the one in use where that is wanted; there is one of them."""
        done = [self._save_ended(found, ended) for ended in found.entry.ended]
        if this_one:
            done.append(self._save(found, trigger))
        return _together(done)

    def _save_ended(self, found: places.FoundSession, ended: SessionEntry) -> results.sessions.Flushed:
        """Save a session that ended by itself under a key, and note that nothing of it is due any more."""
        done = self._save(replace(found, entry=ended), f"end of {found.name}")

        def change(entry: SessionEntry | None) -> SessionEntry | None:
            if entry is None:
                return None
            return entry.with_ended(each for each in entry.ended if each.session_id != ended.session_id)

        places.own_home(self._context).store.change(found.key, change)
        return done

    def _save(self, found: places.FoundSession, trigger: str) -> results.sessions.Flushed:
        """Save what was said since the last flush, and note in transcript and store that it was."""
        history = self._context.history if self._context.has_history() else None
        with self._mutator.group.resting_on(history):
            return self._save_what_was_said(found, trigger)

    def _save_what_was_said(self, found: places.FoundSession, trigger: str) -> results.sessions.Flushed:

        started_in = found.entry.compactions
        turns = self._since_last_flush(found.lines)
        noticed, by, fallback = notice(
            self._context, turns, lambda: self._since_last_flush(found.readable(self._context))
        )
        saved, changed = self._remember_all(found, noticed, trigger)
        flushed = results.sessions.Flushed(
            commit=next((each.commit for each in reversed(changed) if each.commit), None),
            files=tuple(dict.fromkeys(path for each in changed for path in each.files)),
            ids=tuple(one.id for one in saved if not one.known),
            warnings=tuple(dict.fromkeys(line for each in changed for line in each.warnings)),
            key=found.name,
            saved=saved,
            by=by,
            fallback=fallback,
            flushed=True,
        )
        self._mark(found, started_in, saved, written=bool(turns))
        return flushed

    def _remember_all(
        self, found: places.FoundSession, noticed: tuple[Noticed, ...], trigger: str
    ) -> tuple[tuple[results.sessions.SavedMemory, ...], list[results.memories.Remembered]]:
        from workbench.engine.sessions.reader import citation

        # What was said in somebody's chat is for them as well; the owner sees all of it.
        scope = scope_of_session(str(found.key))
        saved: list[results.sessions.SavedMemory] = []
        changed: list[results.memories.Remembered] = []
        for one in noticed:
            cited = citation(found.lines.name, one.line)
            # In a group anybody may ask for anything: it was said there, and that is all that is known.
            asked = one.explicit and not found.key.is_shared
            try:
                done = self._memory.remember(
                    one.text,
                    source="user-explicit" if asked else "conversation",
                    pinned=one.protect and asked,
                    origins=[cited],
                    trigger=f"{trigger}, {cited}",
                    scope=scope,
                )
            except (InvalidInput, BudgetExceeded) as error:
                # One that cannot be kept must not keep the others waiting for ever.
                changed.append(
                    results.memories.Remembered(None, warnings=(f"{cited} was not saved: {error.message}",))
                )
                continue
            if done.held_back is not None:
                told = f"{cited} was held back: {done.held_back.detail}"
                done = replace(done, warnings=(*done.warnings, told))
            elif done.id:
                known = done.path not in done.files
                saved.append(results.sessions.SavedMemory(done.id, one.text, cited, known))
                if known and done.commit is None:
                    continue
            changed.append(done)
        return tuple(saved), changed

    def _since_last_flush(self, lines: Lines) -> list[TranscriptTurn]:
        from workbench.engine.sessions import events
        from workbench.engine.sessions.context import event_at
        from workbench.engine.sessions.events import turn_of
        from workbench.engine.sessions.lines import random_access
        from workbench.engine.sessions.transcripts import read_tree

        tree = read_tree(lines)
        turns: list[TranscriptTurn] = []
        with random_access(lines) as reader:
            for count, number in enumerate(tree.path()):
                kind = tree.kind(number)
                if kind == events.CUSTOM:
                    event = event_at(tree, reader, number)
                    if event is not None and event.fields.get("customType") == events.FLUSH_MARK:
                        break
                if kind == events.RESET or count >= _MOST_ENTRIES:
                    break
                if kind == events.MESSAGE:
                    line = tree.lines[number]
                    turn = turn_of(line, reader.line(line))
                    if turn is not None:
                        turns.append(turn)
        turns.reverse()
        return turns

    def _mark(
        self,
        found: places.FoundSession,
        cycle: int,
        saved: tuple[results.sessions.SavedMemory, ...],
        *,
        written: bool,
    ) -> None:
        from workbench.engine.sessions import events
        from workbench.engine.sessions.store import milliseconds

        now = self._context.now()
        data = {"cycle": cycle, "saved": [{"id": one.id, "from": one.citation} for one in saved]}
        mark = (events.CUSTOM, {"customType": events.FLUSH_MARK, "data": data})
        if written:
            self._sessions.writer(found.key, found.entry).append([mark], now)

        def change(entry: SessionEntry | None) -> SessionEntry | None:
            if entry is None or entry.session_id != found.entry.session_id:
                return entry
            # The cycle in which the flush began: one that leads to a compaction leaves the next cycle to be flushed.
            return entry.with_fields(memoryFlushAt=milliseconds(now), memoryFlushCompactionCount=cycle)

        places.own_home(self._context).store.change(found.key, change)


def _together(done: Sequence[results.sessions.Flushed]) -> results.sessions.Flushed:
    """Return what several flushes did as one."""
    return replace(
        done[-1],
        commit=next((each.commit for each in reversed(done) if each.commit), None),
        files=tuple(dict.fromkeys(path for each in done for path in each.files)),
        ids=tuple(id_ for each in done for id_ in each.ids),
        warnings=tuple(dict.fromkeys(line for each in done for line in each.warnings)),
        saved=tuple(one for each in done for one in each.saved),
        fallback=next((each.fallback for each in reversed(done) if each.fallback), None),
    )


MOST_NOTICED = 12
_LENGTHS = range(12, 401)
_WORTH = {"correction": 0, "decision": 1, "preference": 2}
_ANSWER_TOKENS = 1200
_PROMPT_TOKENS = 500
_PERSON, _AGENT = "User: ", "Assistant: "
# Where `live_text` took out code or a quotation.
_CUT_OUT = "\ufffc"


@dataclass(frozen=True)
class Noticed:
    """Something worth remembering.

    Args:
        text: One or more sentences.
        line: Of the transcript that it comes from.
        explicit: Whether the person asked for it to be remembered.
        protect: Whether they asked that it never be forgotten.
    """

    text: str
    line: int
    explicit: bool = False
    protect: bool = False


def notice_by_rules(turns: Iterable[TranscriptTurn], phrases: PhraseBook) -> tuple[Noticed, ...]:
    """Return what the person asked to remember, and what they decided, prefer or corrected, in the order of the lines.

    Args:
        turns: Of the conversation; what the assistant says proves nothing about the person.
        phrases: By which somebody asks for something to be remembered.
    """
    found: list[tuple[int, Noticed]] = []
    for turn in turns:
        if turn.text.startswith(_PERSON):
            found += _in_message(turn.text.removeprefix(_PERSON), turn.line, phrases)
    unique = {noticed.text.casefold(): (rank, noticed) for rank, noticed in reversed(found)}
    best = sorted(unique.values(), key=lambda each: (each[0], -each[1].line))[:MOST_NOTICED]
    return tuple(sorted((noticed for _, noticed in best), key=lambda noticed: noticed.line))


def notice_by_model(
    turns: Sequence[TranscriptTurn], chat: ChatModel, settings: FlushSettings, context_tokens: int
) -> tuple[Noticed, ...]:
    """Ask the chat model what is worth remembering, in parts that fit it; `NO_REPLY` means nothing.

    Args:
        turns: Of the conversation.
        chat: The model.
        settings: May hold prompts of the user's own.
        context_tokens: Question and answer that the model takes at once.

    Raises:
        ProviderError: It gives no answer.
    """
    from workbench.engine.providers.chat import ChatMessage
    from workbench.engine.sessions.context import portions
    from workbench.engine.sessions.flush import PROMPT, SYSTEM_PROMPT, read_answer

    found: list[Noticed] = []
    for part in portions(turns, max(500, context_tokens - _ANSWER_TOKENS - _PROMPT_TOKENS)):
        told = "\n".join(f"[L{turn.line}] {turn.text}" for turn in part)
        asked = f"<conversation>\n{told}\n</conversation>\n\n{settings.prompt or PROMPT}"
        reply = chat.complete(
            (ChatMessage("system", settings.system_prompt or SYSTEM_PROMPT), ChatMessage("user", asked)),
            max_tokens=_ANSWER_TOKENS,
        )
        answers = read_answer(reply.text, [turn.line for turn in part])
        found += [Noticed(answered.text, answered.line or part[-1].line) for answered in answers]
    return tuple(found)


def notice(
    context: WorkspaceContext, turns: Sequence[TranscriptTurn], masked: Callable[[], Sequence[TranscriptTurn]]
) -> tuple[tuple[Noticed, ...], str, str | None]:
    """Return what is worth remembering, who decided so (`model` or `rules`), and why not the model.

    Args:
        context: The open workspace.
        turns: Of the conversation; of a secret in them a person is asked once it is to be remembered.
        masked: Gives them as a model may read them.
    """
    from workbench.engine.triggers.phrases import load_phrases

    if not turns:
        return (), "rules", None
    own = context.settings.triggers.phrases
    phrases = load_phrases((context.root / Path(own).expanduser()) if own else None)
    if not context.settings.model.configured:
        return notice_by_rules(turns, phrases), "rules", None
    from workbench.engine.providers.selection import chat_model

    chat = chat_model(context.settings, timeout_s=context.settings.model.reflection_timeout)
    if chat is None:
        return notice_by_rules(turns, phrases), "rules", None
    try:
        found = notice_by_model(masked(), chat, context.settings.flush, context.settings.model.context)
    except ProviderError as error:
        return notice_by_rules(turns, phrases), "rules", error.message
    finally:
        chat.close()
    return found, "model", None


def _in_message(message: str, line: int, phrases: PhraseBook) -> Iterator[tuple[int, Noticed]]:
    from workbench.engine.triggers.detection import detect_all

    asked = [each for each in detect_all(message, phrases) if each.kind == "remember" and each.payload]
    for each in asked:
        yield -1, Noticed(each.payload, line, explicit=True, protect=each.protect)
    if asked:
        # The rest of such a message is said around what they asked for.
        return
    for sentence in _statements(message):
        kind = _kind(sentence)
        if kind in _WORTH:
            yield _WORTH[kind], Noticed(sentence, line)


def _statements(message: str) -> Iterator[str]:
    from workbench.engine.triggers.clauses import sentences
    from workbench.engine.triggers.live_text import live_text

    live = live_text(message)
    for sentence in sentences(live):
        text = message[sentence.start : sentence.end].strip()
        if (
            not sentence.question
            and len(text) in _LENGTHS
            and _CUT_OUT not in live[sentence.start : sentence.end]
        ):
            yield text


def _kind(sentence: str) -> str:
    from workbench.engine.triggers.cues import routing_cues
    from workbench.engine.triggers.live_text import PUNCTUATION

    plain = sentence.translate(PUNCTUATION)
    return next((kind for kind, pattern in routing_cues().types if pattern.search(plain)), "")
