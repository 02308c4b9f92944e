"""Sessions read: which store is meant, what was said, transcripts; and the copies that are ours to write."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.engine import layout, results
from workbench.engine.errors import (
    DocumentError,
    InvalidInput,
    InvalidSetting,
    Locked,
    NotFound,
    OutsideWorkspace,
    StorageError,
)
from workbench.engine.memory.lookup import may_be_scoped
from workbench.engine.roles import Capability, require, scope_of_session
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.sessions.compaction import check_flush
from workbench.engine.sessions.context import Context, Target, build_context
from workbench.engine.sessions.events import Lines, MaskedLines, random_access
from workbench.engine.sessions.foreign import copy_session, foreign_home, installs
from workbench.engine.sessions.keys import (
    DirectRules,
    ResetPolicy,
    ResetRules,
    SessionKey,
    checked_session_id,
    freshness,
    is_key,
    is_session_id,
    parse_key,
    parse_policy,
    peer_of,
)
from workbench.engine.sessions.reader import TranscriptReader, citation
from workbench.engine.sessions.store import FileHome, SessionEntry, SessionHome, StoreContent, milliseconds
from workbench.engine.sessions.transcripts import TranscriptWriter, Tree, read_tree
from workbench.engine.settings.sections import DIRECT_SCOPES
from workbench.engine.values import dataclass

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
        return MaskedLines(self.lines, context.masking.text)

    def shown(self, context: WorkspaceContext) -> Lines:
        """Return the lines as this door may read them: a person, whose they are, reads all of them."""
        return self.lines if context.role.kind == "person" else self.readable(context)


def own_home(context: WorkspaceContext) -> FileHome:
    """Return the store of this workspace's own sessions, which need not exist yet."""
    return FileHome(context.sessions_folder)


def follow_flushes(context: WorkspaceContext, changes: Mapping[str, bool]) -> tuple[str, ...]:
    """Let what a flush saved be flushed again once it is taken back; return a warning where that fails.

    Args:
        changes: Whether each change of memory stands now, by its transaction.
    """
    try:
        own_home(context).store.follow(changes)
    except (DocumentError, Locked, StorageError) as error:
        # The commit is made all the same.
        return (f"Sessions do not follow: {error}",)
    return ()


def session_home(context: WorkspaceContext, place: str | None) -> SessionHome:
    """Return the store that is meant.

    Args:
        place: A folder, file or database of another program; None for the own store.

    Raises:
        NotFound: There are no sessions.
    """
    if place is None:
        return own_home(context)
    return foreign_home(Path(place))


def find_session(context: WorkspaceContext, name: str, place: str | None = None) -> FoundSession:
    """Return the session that a person's words mean: a key, a session id, or the citation of a line.

    Raises:
        NotFound: There is no such session.
        InvalidInput: The words can mean none.
    """
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
    found = content.find(parse_key(name))
    if found is None:
        meant = full_key(name)
        found = content.find(meant if place is not None else destination(context, meant)[0])
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
    key = parse_key(name)
    return parse_key(f"agent:main:{key}") if key.kind == "other" and not key.agent else key


def destination(context: WorkspaceContext, key: SessionKey) -> tuple[SessionKey, str]:
    """Return the session that what is said in a conversation goes to, and whose conversation joins it by that.

    A direct conversation stays apart where it has a session of its own already, and where memories are for that
    person, who is then somebody else than the owner.

    Args:
        key: Of the conversation, with its agent.

    Returns:
        The session's key, and `CHANNEL:ID` of who joins it; "" for nobody new.

    Raises:
        InvalidSetting: A setting of `sessions.direct_scope` and the like cannot be followed.
    """
    rules = direct_rules(context)
    wanted = rules.of(key)
    if str(wanted) == str(key):
        return key, ""
    known = own_home(context).read()
    if key.kind != "direct":
        return _main(known, rules, key), ""
    decided = rules.decides(key)
    # A topic, or another account of ours, is still a conversation with the same person.
    bare = replace(key, suffix="", suffix_id="")
    if not decided and (known.find(key) is not None or known.find(bare) is not None):
        return key, ""
    if wanted.kind != "main":
        return wanted, ""
    wanted, peer = _main(known, rules, key), peer_of(key)
    found = known.find(wanted)
    if found is not None and peer in found[1].joined:
        return wanted, ""
    spoken = {scope_of_session(str(each)) for each in (key, bare, replace(bare, account=""))}
    scopes = {*spoken, f"person:{rules.link(key)}" if rules.link(key) else None}
    if not decided and _has_memories(context, tuple(filter(None, scopes))):
        return key, ""
    return wanted, peer


def _main(known: StoreContent, rules: DirectRules, key: SessionKey) -> SessionKey:
    """Return the main session of a key's agent; one of the usual name goes on until there is one of the new name."""
    named, usual = rules.main_of(key), DirectRules().main_of(key)
    return usual if known.find(named) is None and known.find(usual) is not None else named


def _has_memories(context: WorkspaceContext, scopes: tuple[str, ...]) -> bool:
    """Return whether one of these scopes is written anywhere in the files of memory."""
    if not scopes:
        return False
    named = b"|".join(re.escape(scope.encode()) for scope in scopes)
    written = re.compile(rb"\b(?:" + named + rb")(?![a-z0-9._-])")
    for path in filter(may_be_scoped, layout.tracked_files(context.root)):
        with contextlib.suppress(OutsideWorkspace, StorageError):
            if written.search(context.raw_files.read(path) or b""):
                return True
    return False


def direct_rules(context: WorkspaceContext) -> DirectRules:
    """Return which sessions direct conversations belong to, as the settings say.

    Raises:
        InvalidSetting: One of them cannot be followed.
    """
    settings = context.settings.sessions
    main = settings.main_key.strip().lower()
    if ":" in main or not is_key(f"agent:main:{main}"):
        raise InvalidSetting(
            f"“{main[:60]}” cannot be the name of a session.",
            where="sessions.main_key",
            remedy="Write a short name without a colon, such as main.",
        )
    for peer, scope in settings.direct_scope_by_peer.items():
        if scope not in DIRECT_SCOPES:
            raise InvalidSetting(
                f"“{scope[:60]}” is no scope of direct conversations.",
                where=f"sessions.direct_scope_by_peer.{peer[:60]}",
                remedy=f"Write one of {', '.join(DIRECT_SCOPES)}.",
            )
    for account, name in settings.identity_links.items():
        if ":" in name or not is_key(f"agent:main:direct:{name}"):
            raise InvalidSetting(
                f"“{name[:60]}” cannot be a person’s name in a session’s key.",
                where=f"sessions.identity_links.{account[:60]}",
                remedy="Write a short name without a colon, such as mira.",
            )
    return DirectRules(
        settings.direct_scope,
        {peer.strip().lower(): scope for peer, scope in settings.direct_scope_by_peer.items()},
        {account.strip().lower(): name.strip().lower() for account, name in settings.identity_links.items()},
        main,
        settings.reset_senders,
    )


def reset_rules(context: WorkspaceContext) -> ResetRules:
    """Return when sessions end, as the settings say.

    Raises:
        InvalidSetting: One of them is no policy.
    """
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
    if not entry.session_id and "sessionFile" not in entry.fields:
        return ""
    try:
        lines = store.lines(parse_key(name), entry)
    except InvalidInput:
        return ""
    return lines.name.removeprefix("sessions/").removesuffix(".jsonl")


def _unlisted(store: SessionHome, stem: str) -> tuple[str, SessionEntry] | None:
    """Return a transcript that no session uses any more, under its own id as key."""
    entry = SessionEntry({"sessionId": stem})
    return (stem.lower(), entry) if store.lines(parse_key(stem), entry).size() else None


_PAGE = 200


_LINE = "#L"


class Sessions:
    """Lists and reads sessions, and writes to those of this workspace; those of other programs are never written."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def all(self, *, from_: str | None = None) -> results.sessions.Sessions:
        """Return all sessions of a store, the latest first.

        Args:
            from_: A folder, `sessions.json`, database or transcript of OpenClaw, Moltbot, Clawdbot or Claude Code;
                the own store by default.

        Raises:
            NotFound: There are no sessions at that place.
            DocumentError: The store cannot be read.
        """
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

    def view(
        self, key: str, *, from_: str | None = None, line: int | None = None, limit: int = _PAGE
    ) -> results.sessions.SessionView:
        """Return one session with lines of its transcript, however long that is.

        Args:
            key: A session key, a session id, or the citation of a line, `file:sessions/ID.jsonl#L12`.
            line: First line, 1-based; that of the citation, else 1. A negative one counts from the end.

        Raises:
            NotFound: There is no such session.
        """
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

    def context(
        self,
        key: str,
        *,
        from_: str | None = None,
        budget: int | None = None,
        turns: int | None = None,
        provider: str = "",
        model: str = "",
    ) -> results.sessions.SessionContext:
        """Return what a model would be shown of a session: its branch with the summary of what was compacted.

        Secrets in it are masked. Damaged histories are put right: results without calls, calls without results, turns
        out of order. With a provider or model it is made fit for that one: reasoning of others becomes text, what
        only they could read is left out, and turns stand in the order that Google asks for.

        Args:
            budget: Most tokens; the session's context window by default.
            turns: Most turns of the person's; the setting `sessions.history_turns` by default.
            provider: Who is handed it, such as `google`, `anthropic` or `openai`.
            model: The model that is handed it.

        Raises:
            NotFound: There is no such session.
        """
        context = self._context
        require(context.role, Capability.READ, doing="read sessions")
        if budget is not None and budget < 1:
            raise InvalidInput(f"budget is {budget}.", remedy="Ask for 1 or more.")
        found = find_session(context, key, from_)
        window = found.entry.context_tokens or context.settings.sessions.window
        target = Target(provider.strip(), model.strip()) if provider.strip() or model.strip() else None
        tree, shown = self.build_context(found, budget or window, turns, target)
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

    def flush_check(
        self, key: str, *, from_: str | None = None, heartbeat: bool = False
    ) -> results.sessions.FlushCheck:
        """Return whether a session's memory should be flushed now, and how far it is from that.

        Args:
            heartbeat: Whether the turn at hand is one of the machinery's own.

        Raises:
            NotFound: There is no such session.
        """
        require(self._context.role, Capability.READ, doing="read sessions")
        found = find_session(self._context, key, from_)
        return self.check_flush(found, heartbeat=heartbeat, estimate=True)

    def check_flush(
        self, found: FoundSession, *, heartbeat: bool = False, estimate: bool = False
    ) -> results.sessions.FlushCheck:
        settings = self._context.settings
        tokens = found.entry.total_tokens
        estimated = tokens is None and estimate
        if estimated:
            # Past the window it does not matter how far.
            window = found.entry.context_tokens or settings.sessions.window
            tokens = self.build_context(found, window, 0)[1].total
        return check_flush(
            found.entry,
            settings.flush,
            window=found.entry.context_tokens or settings.sessions.window,
            tokens=tokens,
            estimated=estimated,
            heartbeat=heartbeat,
            writable=self._context.role.may(Capability.WRITE_MEMORY),
        )

    def build_context(
        self, found: FoundSession, budget: int | None, turns: int | None, target: Target | None = None
    ) -> tuple[Tree, Context]:
        settings = self._context.settings.sessions
        if turns is None:
            turns = settings.history_turns
            if found.key.kind == "direct" and settings.direct_history_turns:
                turns = settings.direct_history_turns
        lines = found.readable(self._context)
        tree = read_tree(lines)
        with random_access(lines) as reader:
            return tree, build_context(tree, reader, budget=budget, turns=turns, target=target)

    def _row(self, found: FoundSession, rules: ResetRules) -> results.sessions.SessionRow:
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
            kind="main" if found.home.source == "own" and self._is_main(key) else key.kind,
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
            flush=self.check_flush(found),
            source=found.home.source,
            shared=key.is_shared,
        )

    def _is_main(self, key: SessionKey) -> bool:
        return DirectRules(main=self._context.settings.sessions.main_key.strip().lower()).is_main(key)

    def places(self) -> tuple[results.sessions.SessionPlace, ...]:
        """Return where other programs keep sessions on this machine; nothing is written there."""
        require(self._context.role, Capability.READ, doing="read sessions")
        return tuple(
            results.sessions.SessionPlace(str(each.folder), each.world, each.agents)
            for each in installs(os.environ, Path.home())
        )

    def reader(self, key: str, *, from_: str | None = None) -> TranscriptReader:
        """Open a transcript to read pages of it, however long it is; nothing is read yet.

        Raises:
            NotFound: There is no such session.
        """
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
        """Go on with a session; begin one if it is missing, has ended, or shall start over.

        Returns:
            The key as the store writes it, the entry, and why it was begun; empty where it goes on.
        """
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

    def change_entry(
        self, key: SessionKey, session_id: str, change: Callable[[SessionEntry], SessionEntry]
    ) -> SessionEntry | None:
        """Change the entry of a session, unless it has started over meanwhile; None where it has."""
        changed: SessionEntry | None = None

        def change_same(entry: SessionEntry | None) -> SessionEntry | None:
            nonlocal changed
            if entry is None or entry.session_id != session_id:
                return entry
            changed = change(entry)
            return changed

        own_home(self._context).store.change(key, change_same)
        return changed

    def update(self, found: FoundSession, **fields: Any) -> None:
        """Lay fields over the entry of a session, unless it has started over meanwhile."""
        self.change_entry(found.key, found.entry.session_id, lambda entry: entry.with_fields(**fields))

    def writer(self, key: SessionKey, entry: SessionEntry) -> TranscriptWriter:
        context = self._context
        place = own_home(context).store.transcript(key, entry)
        return TranscriptWriter(place, entry.session_id, str(context.root), context.new_id)
