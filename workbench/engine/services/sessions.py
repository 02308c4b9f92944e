"""Sessions read: which store is meant, what was said, transcripts; and the copies that are ours to write."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine import results
from workbench.engine.errors import InvalidInput, InvalidSetting, NotFound
from workbench.engine.roles import Capability, require
from workbench.engine.services.context import WorkspaceContext

if TYPE_CHECKING:
    from workbench.engine.sessions.context import Context
    from workbench.engine.sessions.keys import SessionKey
    from workbench.engine.sessions.lines import Lines
    from workbench.engine.sessions.reader import TranscriptReader
    from workbench.engine.sessions.reset_policy import ResetPolicy, ResetRules
    from workbench.engine.sessions.store import FileHome, SessionEntry, SessionHome
    from workbench.engine.sessions.transcripts import TranscriptWriter, Tree


SESSIONS_FOLDER = "sessions"
_CITED = "file:sessions/"


@dataclass(frozen=True)
class FoundSession:
    """A session that somebody named.

    Args:
        home: Where it is.
        name: The key as the store writes it.
        key: The key, taken apart.
        entry: What the store says.
        line: The line that was named with it; None for none.
        copied_from: The foreign transcript that it was copied from just now; None where it was not.
    """

    home: SessionHome
    name: str
    key: SessionKey
    entry: SessionEntry
    line: int | None = None
    copied_from: str | None = None

    @property
    def lines(self) -> Lines:
        """Return the lines of its transcript, secrets and all."""
        return self.home.lines(self.key, self.entry)

    def readable(self, context: WorkspaceContext) -> Lines:
        """Return the lines of its transcript as models and agents may read them: with secrets masked."""
        return context.masking.transcript(self.lines)

    def shown(self, context: WorkspaceContext) -> Lines:
        """Return the lines as this door may read them: a person, whose they are, reads all of them."""
        return self.lines if context.role.kind == "person" else self.readable(context)


def own_home(context: WorkspaceContext) -> FileHome:
    """Return the store of this workspace's own sessions, which need not exist yet."""
    from workbench.engine.sessions.store import FileHome

    return FileHome(own_folder(context))


def own_folder(context: WorkspaceContext) -> Path:
    """Return the folder of this workspace's own sessions, which need not exist yet."""
    given = context.settings.sessions.path
    return context.root / Path(given).expanduser() if given else context.state / SESSIONS_FOLDER


def session_home(context: WorkspaceContext, place: str | None) -> SessionHome:
    """Return the store that is meant.

    Args:
        context: The open workspace.
        place: A folder, file or database of another program; None for the own store.

    Raises:
        NotFound: There are no sessions.
    """
    if place is None:
        return own_home(context)
    from workbench.engine.sessions.foreign import foreign_home

    return foreign_home(Path(place))


def find_session(context: WorkspaceContext, name: str, place: str | None = None) -> FoundSession:
    """Return the session that a person's words mean: a key, a session id, or the citation of a line.

    Raises:
        NotFound: There is no such session.
        InvalidInput: The words can mean none.
    """
    from workbench.engine.sessions.keys import is_session_id, parse_key

    store = session_home(context, place)
    content = store.read()
    wanted, _, rest = name.strip().removeprefix(_CITED).removeprefix("sessions/").partition("#")
    line = _line(rest) if rest else None
    stem = wanted.removesuffix(".jsonl")
    if is_session_id(stem) and ":" not in stem:
        for known, entry in content.entries.items():
            if entry.session_id == stem or _transcript_name(store, known, entry) == stem:
                return FoundSession(store, known, parse_key(known), entry, line)
        if (unlisted := _unlisted(store, stem)) is not None:
            return FoundSession(store, unlisted[0], parse_key(unlisted[0]), unlisted[1], line)
    found = content.find(parse_key(name)) or content.find(full_key(name))
    if found is None:
        raise NotFound(
            f"There is no session “{name[:80]}”.",
            where=store.where,
            remedy="List them with: workbench sessions",
        )
    return FoundSession(store, found[0], parse_key(found[0]), found[1])


def full_key(name: str) -> SessionKey:
    """Return the key that a person's words mean; what names no agent is a session of the main one.

    Raises:
        InvalidInput: The words can be no key.
    """
    from workbench.engine.sessions.keys import parse_key

    key = parse_key(name)
    return parse_key(f"agent:main:{key}") if key.kind == "other" and not key.agent else key


def reset_rules(context: WorkspaceContext) -> ResetRules:
    """Return when sessions end, as the settings say.

    Raises:
        InvalidSetting: One of them is no policy.
    """
    from workbench.engine.sessions.reset_policy import ResetRules

    settings = context.settings.sessions
    return ResetRules(
        _policy("sessions.reset", settings.reset),
        _policies("sessions.reset_by_type", settings.reset_by_type),
        _policies("sessions.reset_by_channel", settings.reset_by_channel),
        settings.reset_triggers,
    )


def _policies(key: str, table: Mapping[str, str]) -> dict[str, ResetPolicy]:
    return {name.lower(): _policy(f"{key}.{name}", text) for name, text in table.items()}


def _policy(key: str, text: str) -> ResetPolicy:
    from workbench.engine.sessions.reset_policy import parse_policy

    try:
        return parse_policy(text)
    except InvalidInput as error:
        raise InvalidSetting(error.message, where=key, remedy=error.remedy) from error


def _line(text: str) -> int:
    number = text.removeprefix("L").partition("-")[0]
    if not number.isascii() or not number.isdecimal() or len(number) > 12:
        raise InvalidInput("This names no line.", where=f"#{text[:40]}", remedy="Write #L12.")
    return max(1, int(number))


def _transcript_name(store: SessionHome, name: str, entry: SessionEntry) -> str:
    from workbench.engine.sessions.keys import parse_key

    if not entry.session_id and "sessionFile" not in entry.fields:
        return ""
    try:
        lines = store.lines(parse_key(name), entry)
    except InvalidInput:
        return ""
    return lines.name.removeprefix("sessions/").removesuffix(".jsonl")


def _unlisted(store: SessionHome, stem: str) -> tuple[str, SessionEntry] | None:
    """Return a transcript that no session uses any more, under its own id as key."""
    from workbench.engine.sessions.keys import parse_key
    from workbench.engine.sessions.store import SessionEntry

    entry = SessionEntry({"sessionId": stem})
    return (stem.lower(), entry) if store.lines(parse_key(stem), entry).size() else None


_PAGE = 200


_LINE = "#L"


class SessionService:
    """Lists and reads sessions, and writes to those of this workspace; those of other programs are never written."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def sessions(self, *, from_: str | None = None) -> results.sessions.Sessions:
        """Return all sessions of a store, the latest first.

        Args:
            from_: A folder, `sessions.json`, database or transcript of OpenClaw, Moltbot, Clawdbot or Claude Code;
                the own store by default.

        Raises:
            NotFound: There are no sessions at that place.
            DocumentError: The store cannot be read.
        """
        from workbench.engine.sessions.keys import parse_key

        context = self._context
        require(context.role, Capability.READ, doing="read sessions")
        home = session_home(context, from_)
        content = home.read()
        rules = home.rules or reset_rules(context)
        rows = [
            self._row(FoundSession(home, name, parse_key(name), entry), rules)
            for name, entry in content.entries.items()
        ]
        rows.sort(key=lambda row: (-(row.updated.timestamp() if row.updated else 0.0), row.key))
        return results.sessions.Sessions(tuple(rows), home.where, home.source, content.problems)

    def session(
        self, key: str, *, from_: str | None = None, line: int | None = None, limit: int = _PAGE
    ) -> results.sessions.SessionView:
        """Return one session with lines of its transcript, however long that is.

        Args:
            key: A session key, a session id, or the citation of a line, `file:sessions/ID.jsonl#L12`.
            from_: As for `sessions`.
            line: First line, 1-based; that of the citation, else 1. A negative one counts from the end.
            limit: Most lines.

        Raises:
            NotFound: There is no such session.
        """
        from workbench.engine.sessions.reader import TranscriptReader

        context = self._context
        require(context.role, Capability.READ, doing="read sessions")
        if limit < 1:
            raise InvalidInput(f"limit is {limit}.", remedy="Ask for 1 or more.")
        found = find_session(context, key, from_)
        lines = found.shown(context)
        total = lines.count()
        first = line if line is not None else found.line or 1
        first = max(1, total + first + 1) if first < 0 else max(1, first)
        page = TranscriptReader(lines, dict).page(first, limit)
        behind = first + limit
        return results.sessions.SessionView(
            self._row(found, found.home.rules or reset_rules(context)),
            page.lines,
            first,
            behind if behind <= total else None,
            total,
            page.problems,
        )

    def session_context(
        self, key: str, *, from_: str | None = None, budget: int | None = None, turns: int | None = None
    ) -> results.sessions.SessionContext:
        """Return what a model would be shown of a session: its branch with the summary of what was compacted.

        Secrets in it are masked. Damaged histories are put right: results without calls, calls without results, turns
        out of order.

        Args:
            key: As for `session`.
            from_: As for `sessions`.
            budget: Most tokens; the session's context window by default.
            turns: Most turns of the person's; the setting `sessions.history_turns` by default.

        Raises:
            NotFound: There is no such session.
        """
        from workbench.engine.sessions.reader import citation

        context = self._context
        require(context.role, Capability.READ, doing="read sessions")
        if budget is not None and budget < 1:
            raise InvalidInput(f"budget is {budget}.", remedy="Ask for 1 or more.")
        found = find_session(context, key, from_)
        window = found.entry.context_tokens or context.settings.sessions.window
        tree, shown = self.context(found, budget or window, turns)
        name = found.lines.name
        messages = tuple(
            results.sessions.ContextMessage(
                placed.role,
                placed.line,
                citation(name, placed.line) if placed.line is not None else "",
                tokens,
                placed.message,
                synthetic=placed.line is None or placed.line == shown.summary_line,
            )
            for placed, tokens in zip(shown.messages, shown.tokens, strict=True)
        )
        return results.sessions.SessionContext(
            found.name,
            found.entry.session_id,
            messages,
            shown.total,
            window,
            shown.summary_line,
            shown.left_out,
            shown.repairs,
            tree.told(),
        )

    def session_flush_check(
        self, key: str, *, from_: str | None = None, heartbeat: bool = False
    ) -> results.sessions.FlushCheck:
        """Tell whether a session's memory should be flushed now, and how far it is from that.

        Args:
            key: As for `session`.
            from_: As for `sessions`.
            heartbeat: Whether the turn at hand is one of the machinery's own.

        Raises:
            NotFound: There is no such session.
        """
        require(self._context.role, Capability.READ, doing="read sessions")
        found = find_session(self._context, key, from_)
        return self.flush_check(found, heartbeat=heartbeat, estimate=True)

    def flush_check(
        self, found: FoundSession, *, heartbeat: bool = False, estimate: bool = False
    ) -> results.sessions.FlushCheck:
        from workbench.engine.sessions.flush import check_flush

        settings = self._context.settings
        tokens = found.entry.total_tokens
        estimated = tokens is None and estimate
        if estimated:
            # Past the window it does not matter how far.
            window = found.entry.context_tokens or settings.sessions.window
            tokens = self.context(found, window, 0)[1].total
        return check_flush(
            found.entry,
            settings.flush,
            window=found.entry.context_tokens or settings.sessions.window,
            tokens=tokens,
            estimated=estimated,
            heartbeat=heartbeat,
            writable=self._context.role.may(Capability.WRITE_MEMORY),
        )

    def context(self, found: FoundSession, budget: int | None, turns: int | None) -> tuple[Tree, Context]:
        from workbench.engine.sessions.context import build_context
        from workbench.engine.sessions.lines import random_access
        from workbench.engine.sessions.transcripts import read_tree

        settings = self._context.settings.sessions
        if turns is None:
            turns = settings.history_turns
            if found.key.kind == "direct" and settings.direct_history_turns:
                turns = settings.direct_history_turns
        lines = found.readable(self._context)
        tree = read_tree(lines)
        with random_access(lines) as reader:
            return tree, build_context(tree, reader, budget=budget, turns=turns)

    def _row(self, found: FoundSession, rules: ResetRules) -> results.sessions.SessionRow:
        from workbench.engine.sessions.reset_policy import freshness

        entry, key = found.entry, found.key
        state = freshness(entry.updated, self._context.now(), self._context.zone, rules.of(key))
        try:
            lines = found.lines
            where, size = lines.where, lines.size()
        except InvalidInput:
            # Its id could be no file's name; the store's problems say so.
            where, size = None, 0
        return results.sessions.SessionRow(
            key=found.name,
            kind=key.kind,
            agent=key.agent,
            channel=key.channel,
            session_id=entry.session_id,
            label=entry.label,
            model=entry.model,
            created=entry.started,
            updated=entry.updated,
            fresh=state.fresh,
            expires=state.expires,
            transcript=where if size else None,
            size_bytes=size,
            flush=self.flush_check(found),
            source=found.home.source,
            shared=key.is_shared,
        )

    def session_places(self) -> tuple[results.sessions.SessionPlace, ...]:
        """Return where other programs keep sessions on this machine; nothing is written there."""
        from workbench.engine.sessions.foreign import installs

        require(self._context.role, Capability.READ, doing="read sessions")
        return tuple(
            results.sessions.SessionPlace(str(each.folder), each.world, each.agents)
            for each in installs(os.environ, Path.home())
        )

    def session_reader(self, key: str, *, from_: str | None = None) -> TranscriptReader:
        """Open a transcript to read pages of it, however long it is; nothing is read yet.

        Args:
            key: As for `session`.
            from_: As for `sessions`.

        Raises:
            NotFound: There is no such session.
        """
        from workbench.engine.sessions.reader import TranscriptReader

        require(self._context.role, Capability.READ, doing="read sessions")
        lines = find_session(self._context, key, from_).shown(self._context)
        return TranscriptReader(lines, lambda: self._drawn_from(lines.name))

    def _drawn_from(self, name: str) -> Mapping[int, tuple[str, ...]]:
        self._context.refresh_for_reading()
        found: dict[int, list[str]] = {}
        for memory_id, target in self._context.lookups.citing(f"file:{name}{_LINE}"):
            digits = target.rpartition(_LINE)[2].partition("-")[0]
            if digits.isascii() and digits.isdecimal():
                found.setdefault(int(digits), []).append(memory_id)
        return {line: tuple(ids) for line, ids in found.items()}

    def own(self, key: str, from_: str | None) -> FoundSession:
        """Return a session of the own store; one of another program is copied there first."""
        from workbench.engine.sessions.foreign import copy_session
        from workbench.engine.sessions.keys import parse_key

        context = self._context
        found = find_session(context, key, from_)
        if from_ is None:
            return found
        # A copy that is there already has its own life by then.
        context.claim_state()
        home = own_home(context)
        name, entry, copied = copy_session(found.lines, found.key, found.entry, home.store, context.now())
        copied_from = found.lines.where if copied else None
        return FoundSession(home, name, parse_key(name), entry, found.line, copied_from)

    def begin(self, key: SessionKey, reason: str = "") -> tuple[str, SessionEntry, str]:
        """Go on with a session, or begin one where there is none, it has ended, or that is asked for.

        Returns:
            The key as the store writes it, the entry, and why it was begun; empty where it goes on.
        """
        from workbench.engine.sessions.keys import checked_session_id
        from workbench.engine.sessions.reset_policy import freshness
        from workbench.engine.sessions.store import SessionEntry, milliseconds

        context = self._context
        now, policy = context.now(), reset_rules(context).of(key)
        why = ""

        def change(entry: SessionEntry | None) -> SessionEntry:
            nonlocal why
            if entry is None or not entry.session_id:
                why = reason or "first"
            else:
                why = reason or freshness(entry.updated, now, context.zone, policy).reason
            if entry is not None and not why:
                return entry.with_fields(updatedAt=milliseconds(now))
            before = entry or SessionEntry()
            begun = before.begun_anew(checked_session_id(context.new_id()), now)
            if why in ("daily", "idle"):
                # Noted in the same breath, so that whatever happens next nothing of it is forgotten.
                begun = begun.with_ended((*before.ended, before.noted_as_ended()))
            return begun.with_fields(sessionStartedAt=milliseconds(now))

        context.claim_state()
        name, entry = own_home(context).store.change(key, change)
        assert entry is not None
        return name, entry, why

    def update(self, key: SessionKey, entry: SessionEntry, fields: Mapping[str, Any]) -> None:
        """Lay fields over the entry, unless the session has started over meanwhile."""
        from workbench.engine.sessions.store import milliseconds

        now = milliseconds(self._context.now())

        def change(known: SessionEntry | None) -> SessionEntry | None:
            if known is None or known.session_id != entry.session_id:
                return known
            return known.with_fields(updatedAt=now, **fields)

        if fields:
            own_home(self._context).store.change(key, change)

    def writer(self, key: SessionKey, entry: SessionEntry) -> TranscriptWriter:
        from workbench.engine.sessions.transcripts import TranscriptWriter

        context = self._context
        place = own_home(context).store.transcript(key, entry)
        return TranscriptWriter(place, entry.session_id, str(context.root), context.new_id)
