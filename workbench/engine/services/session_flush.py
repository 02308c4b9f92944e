"""The memory flush: what of a session deserves lasting memory, and storing it.

The user's own command is run after somebody started a session over, with what is known of the ended one.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.errors import BudgetExceeded, InvalidInput, ProviderError, RoleRefused
from workbench.engine.history.commits import parse_message
from workbench.engine.memory.wording import clip
from workbench.engine.process import NotRunnable, absolute_search_path, end_program, find_program
from workbench.engine.providers.chat import ChatMessage
from workbench.engine.results.sessions import Flushed
from workbench.engine.roles import Capability, require, scope_of_session
from workbench.engine.services import sessions as places
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.memory import Memory
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.routing import phrases_of
from workbench.engine.services.sessions import FoundSession, Sessions
from workbench.engine.sessions import events
from workbench.engine.sessions.compaction import FLUSH_PROMPT, FLUSH_SYSTEM_PROMPT, read_answer
from workbench.engine.sessions.context import event_at, portions
from workbench.engine.sessions.events import Lines, TranscriptTurn, iso, random_access, turn_of
from workbench.engine.sessions.reader import citation
from workbench.engine.sessions.store import SessionEntry, milliseconds
from workbench.engine.sessions.transcripts import read_tree
from workbench.engine.triggers.detection import detect_all
from workbench.engine.triggers.live_text import PUNCTUATION, live_text, sentences
from workbench.engine.triggers.phrases import PhraseBook, routing_cues
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.settings.sections import FlushSettings

# More than a flush can be late for; what is older has had its turn.
_MOST_ENTRIES = 4000
SETTING = "sessions.on_reset"
_MOST_COMPLAINT = 300


class SessionFlush:
    """Flushes sessions to memory; each memory names the line that it comes from."""

    def __init__(
        self, context: WorkspaceContext, mutator: Mutator, memory: Memory, sessions: Sessions
    ) -> None:
        self._context = context
        self._mutator = mutator
        self._memory = memory
        self._sessions = sessions

    def flush(
        self, key: str, *, now: bool = False, heartbeat: bool = False, from_: str | None = None
    ) -> results.sessions.Flushed:
        """Save what matters of a session to memory, where that is due: once in each cycle between two compactions.

        With a chat model its answer is saved, else what the person asked to remember, decided, prefers or corrected.
        Only what was said since the last flush is looked at. Sessions under this key that ended by the clock and
        were not saved come first.

        Args:
            now: Save also where it is not due.
            heartbeat: Whether the turn at hand is one of the machinery's own.

        Raises:
            NotFound: There is no such session.
            RoleRefused: This door may not write memory.
        """
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="flush sessions to memory")
        found = self._sessions.own(key, from_)
        check = self._sessions.check_flush(found, heartbeat=heartbeat, estimate=True)
        if not (check.due or now):
            return results.sessions.Flushed(None, key=found.name, check=check)
        rest = replace(found, entry=found.entry.with_ended(()))
        this_one = now or self._sessions.check_flush(rest, heartbeat=heartbeat, estimate=True).due
        return replace(self.save_all(found, f"flush of {found.name}", this_one=this_one), check=check)

    def reset(
        self, key: str, *, save: bool = True, reason: str = "reset", sender: str = ""
    ) -> results.sessions.SessionBegun:
        """Start a session over under its key; what matters of it is saved to memory, and its transcript stays.

        Args:
            save: Whether to save what matters.
            reason: Why, one word.
            sender: Who asks for it, such as `telegram:42`; by default, the one this workspace was opened for.

        Raises:
            NotFound: There is no such session.
            RoleRefused: This door may not write, or `sessions.reset_senders` does not name the sender.
        """
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="reset sessions")
        if sender and not places.direct_rules(context).may_reset(places.full_key(key), sender):
            raise RoleRefused(
                f"{clip(sender)} may not start a session over.",
                where=key[:80],
                remedy="Name who may in sessions.reset_senders.",
            )
        found = places.find_session(context, key)
        flushed = self.save_all(found, f"reset of {found.name}") if save else None
        name, entry, _ = self._sessions.begin(found.key, reason)
        lines = found.lines
        warnings = run_hook(context, EndedSession(found, flushed), reason, entry.session_id)
        return results.sessions.SessionBegun(
            name,
            entry.session_id,
            found.entry.session_id or None,
            lines.where if lines.size() else None,
            reason,
            flushed,
            warnings=warnings,
        )

    def save_all(
        self, found: places.FoundSession, trigger: str, *, this_one: bool = True
    ) -> results.sessions.Flushed:
        """Save the sessions that ended under a key, and the one in use where that is wanted; there is one of them.

        All of it is one action, which one undo takes back.
        """
        with self._mutator.group.begun():
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
        undone = found.entry.undone_marks
        turns = self._not_flushed(found.lines, undone)
        noticed, by, fallback = notice(
            self._context, turns, lambda: self._not_flushed(found.readable(self._context), undone)
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
        self._mark(found, started_in, saved, self._transactions(changed), written=bool(turns))
        return flushed

    def _remember_all(
        self, found: places.FoundSession, noticed: tuple[Noticed, ...], trigger: str
    ) -> tuple[tuple[results.sessions.SavedMemory, ...], list[results.memories.Remembered]]:
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

    def _transactions(self, changed: Iterable[results.memories.Remembered]) -> tuple[str, ...]:
        commits = dict.fromkeys(each.commit for each in changed if each.commit)
        if not commits:
            return ()
        store = self._context.history.store
        return tuple(parse_message(store.commit(commit)).transaction for commit in commits)

    def _not_flushed(self, lines: Lines, undone: frozenset[str]) -> list[TranscriptTurn]:
        """Return what was said since the last flush, and before those that were taken back.

        OpenClaw starts a session over within its transcript, and tells of it then: what was said before is looked at,
        too, and nothing from before the time that it was started over earlier.
        """
        tree = read_tree(lines)
        turns: list[TranscriptTurn] = []
        left, is_flushed, resets = set(undone), False, 0
        with random_access(lines) as reader:
            for count, number in enumerate(tree.path()):
                kind = tree.kind(number)
                if kind == events.CUSTOM:
                    event = event_at(tree, reader, number)
                    if event is not None and event.fields.get("customType") == events.FLUSH_MARK:
                        is_flushed = event.id not in left
                        left.discard(event.id)
                        if is_flushed and not left:
                            break
                resets += kind == events.RESET
                if resets > 1 or count >= _MOST_ENTRIES:
                    break
                if kind == events.MESSAGE and not is_flushed:
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
        changes: tuple[str, ...],
        *,
        written: bool,
    ) -> None:
        now = self._context.now()
        data = {"cycle": cycle, "saved": [{"id": one.id, "from": one.citation} for one in saved]}
        mark = (events.CUSTOM, {"customType": events.FLUSH_MARK, "data": data})
        appended = self._sessions.writer(found.key, found.entry).append([mark], now) if written else ()
        marks = [event.id for event in appended if event.id]

        # The cycle in which the flush began: one that leads to a compaction leaves the next cycle to be flushed.
        self._sessions.change_entry(
            found.key,
            found.entry.session_id,
            lambda entry: entry.with_flush(milliseconds(now), cycle, marks, changes),
        )


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
    found: list[Noticed] = []
    for part in portions(turns, max(500, context_tokens - _ANSWER_TOKENS - _PROMPT_TOKENS)):
        told = "\n".join(f"[L{turn.line}] {turn.text}" for turn in part)
        asked = f"<conversation>\n{told}\n</conversation>\n\n{settings.prompt or FLUSH_PROMPT}"
        reply = chat.complete(
            (
                ChatMessage("system", settings.system_prompt or FLUSH_SYSTEM_PROMPT),
                ChatMessage("user", asked),
            ),
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
        turns: Of the conversation; of a secret in them a person is asked once it is to be remembered.
        masked: Gives them as a model may read them.
    """
    if not turns:
        return (), "rules", None
    phrases = phrases_of(context)
    with context.chat_model(context.settings.model.reflection_timeout) as chat:
        if chat is None:
            return notice_by_rules(turns, phrases), "rules", None
        try:
            found = notice_by_model(masked(), chat, context.settings.flush, context.settings.model.context)
        except ProviderError as error:
            return notice_by_rules(turns, phrases), "rules", error.message
    return found, "model", None


def _in_message(message: str, line: int, phrases: PhraseBook) -> Iterator[tuple[int, Noticed]]:
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
    plain = sentence.translate(PUNCTUATION)
    return next((kind for kind, pattern in routing_cues().types if pattern.search(plain)), "")


@dataclass(frozen=True)
class EndedSession:
    """A session that somebody started over.

    Args:
        found: As it was before.
        flushed: What of it was saved to memory; None where that was not wanted.
    """

    found: FoundSession
    flushed: Flushed | None

    def as_json(self, context: WorkspaceContext, reason: str, session_id: str) -> bytes:
        """Return what the command reads: one JSON object.

        Args:
            reason: `new`, `reset` or `recovered`.
            session_id: Of the session that began instead.
        """
        found, lines = self.found, self.found.lines
        saved = [
            {"id": one.id, "text": one.text, "citation": one.citation, "known": one.known}
            for one in (self.flushed.saved if self.flushed else ())
        ]
        told = {
            "event": "session-reset",
            "reason": reason,
            "at": iso(context.now()),
            "workspace": str(context.root),
            "key": found.name,
            "sessionId": session_id,
            "previousSessionId": found.entry.session_id,
            "previousTranscript": lines.where if lines.size() else None,
            "previousSessionEntry": dict(found.entry.fields),
            "saved": saved if self.flushed else None,
        }
        return json.dumps(told).encode()


def run_hook(
    context: WorkspaceContext, ended: EndedSession | None, reason: str, session_id: str
) -> tuple[str, ...]:
    """Run the command of `sessions.on_reset`, if there is one, after a session was started over (session workflow §9).

    It is run without a shell, in the user's home, so that nothing in a workspace is taken for a part of it; what it
    prints is ignored. At its limit it is killed with its children.

    Args:
        ended: The session that was started over; None where there was none.
        reason: `new`, `reset` or `recovered`.
        session_id: Of the session that began.

    Returns:
        What went wrong, one sentence; nothing it does takes the reset back.
    """
    command = context.settings.sessions.on_reset
    if not command or ended is None or not ended.found.entry.session_id:
        return ()
    try:
        _run(context, command, ended.as_json(context, reason, session_id))
    except NotRunnable as error:
        return (f"The session started over, but the command of {SETTING} did not do its work: {error}.",)
    return ()


def _run(context: WorkspaceContext, command: tuple[str, ...], told: bytes) -> None:
    program = find_program(command[0], SETTING, context.root, os.environ)
    arguments = [os.path.expanduser(each) if each.startswith("~/") else each for each in command[1:]]  # noqa: PTH111
    with TemporaryFile() as given, TemporaryFile() as complaint:
        given.write(told)
        given.seek(0)
        try:
            process = subprocess.Popen(
                [program, *arguments],
                cwd=Path.home(),
                env={**os.environ, "PATH": absolute_search_path(os.environ)},
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                start_new_session=True,
            )
        except (OSError, ValueError, RuntimeError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise NotRunnable(f"“{command[0]}” cannot be run ({why})") from error
        code = _ended(process, context.settings.sessions.on_reset_seconds)
        if code:
            complaint.seek(0)
            said = " ".join(complaint.read()[-_MOST_COMPLAINT:].decode("utf-8", "replace").split())
            raise NotRunnable(f"it ended with code {code}" + (f" ({said})" if said else ""))


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Wait for the command; return its code.

    Raises:
        NotRunnable: It takes too long, and was killed.
    """
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise NotRunnable(f"it took longer than {seconds:g} s and was ended") from error
    finally:
        if process.returncode is None:
            end_program(process)
