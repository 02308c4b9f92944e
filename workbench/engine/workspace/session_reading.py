"""The part of the door that reads sessions: the workspace's own, and other programs', which are never written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import InvalidInput
from workbench.engine.results.sessions import (
    ContextMessage,
    FlushCheck,
    SessionContext,
    SessionRow,
    Sessions,
    SessionView,
)
from workbench.engine.workspace import session_places as places
from workbench.engine.workspace.ground import Ground

if TYPE_CHECKING:
    from workbench.engine.sessions.context import Context
    from workbench.engine.sessions.policy import ResetRules
    from workbench.engine.sessions.tree import Tree

_PAGE = 200


class SessionReading:
    """Lists sessions, shows what was said in them, and tells what a model would be shown."""

    _ground: Ground

    def sessions(self, *, from_: str | None = None) -> Sessions:
        """Return all sessions of a store, the latest first.

        Args:
            from_: A folder, `sessions.json`, database or transcript of OpenClaw, Moltbot, Clawdbot or Claude Code;
                the own store by default.

        Raises:
            NotFound: There are no sessions at that place.
            DocumentError: The store cannot be read.
        """
        from workbench.engine.sessions.keys import parse_key

        ground = self._ground
        require(ground.role, Capability.READ, doing="read sessions")
        home = places.home(ground, from_)
        content = home.read()
        rules = home.rules or places.rules(ground)
        rows = [
            self._row(places.Found(home, name, parse_key(name), entry), rules)
            for name, entry in content.entries.items()
        ]
        rows.sort(key=lambda row: (-(row.updated.timestamp() if row.updated else 0.0), row.key))
        return Sessions(tuple(rows), home.where, home.source, content.problems)

    def session(
        self, key: str, *, from_: str | None = None, line: int | None = None, limit: int = _PAGE
    ) -> SessionView:
        """Return one session with lines of its transcript, however long that is.

        Args:
            key: A session key, a session id, or the citation of a line, `file:sessions/ID.jsonl#L12`.
            from_: As for `sessions`.
            line: First line, 1-based; that of the citation, else 1. A negative one counts from the end.
            limit: Most lines.

        Raises:
            NotFound: There is no such session.
        """
        from workbench.engine.sessions.browsing import TranscriptReader

        ground = self._ground
        require(ground.role, Capability.READ, doing="read sessions")
        if limit < 1:
            raise InvalidInput(f"limit is {limit}.", remedy="Ask for 1 or more.")
        found = places.find(ground, key, from_)
        lines = found.shown(ground)
        total = lines.count()
        first = line if line is not None else found.line or 1
        first = max(1, total + first + 1) if first < 0 else max(1, first)
        page = TranscriptReader(lines, dict).page(first, limit)
        behind = first + limit
        return SessionView(
            self._row(found, found.home.rules or places.rules(ground)),
            page.lines,
            first,
            behind if behind <= total else None,
            total,
            page.problems,
        )

    def session_context(
        self, key: str, *, from_: str | None = None, budget: int | None = None, turns: int | None = None
    ) -> SessionContext:
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
        from workbench.engine.sessions.views import citation

        ground = self._ground
        require(ground.role, Capability.READ, doing="read sessions")
        if budget is not None and budget < 1:
            raise InvalidInput(f"budget is {budget}.", remedy="Ask for 1 or more.")
        found = places.find(ground, key, from_)
        window = found.entry.context_tokens or ground.settings.sessions.window
        tree, context = self._context(found, budget or window, turns)
        name = found.lines.name
        messages = tuple(
            ContextMessage(
                placed.role,
                placed.line,
                citation(name, placed.line) if placed.line is not None else "",
                tokens,
                placed.message,
                synthetic=placed.line is None or placed.line == context.summary_line,
            )
            for placed, tokens in zip(context.messages, context.tokens, strict=True)
        )
        return SessionContext(
            found.name,
            found.entry.session_id,
            messages,
            context.total,
            window,
            context.summary_line,
            context.left_out,
            context.repairs,
            tree.told(),
        )

    def session_flush_check(
        self, key: str, *, from_: str | None = None, heartbeat: bool = False
    ) -> FlushCheck:
        """Tell whether a session's memory should be flushed now, and how far it is from that.

        Args:
            key: As for `session`.
            from_: As for `sessions`.
            heartbeat: Whether the turn at hand is one of the machinery's own.

        Raises:
            NotFound: There is no such session.
        """
        require(self._ground.role, Capability.READ, doing="read sessions")
        found = places.find(self._ground, key, from_)
        return self._flush_check(found, heartbeat=heartbeat, estimate=True)

    def _flush_check(
        self, found: places.Found, *, heartbeat: bool = False, estimate: bool = False
    ) -> FlushCheck:
        from workbench.engine.sessions.flush import check_flush

        settings = self._ground.settings
        tokens = found.entry.total_tokens
        estimated = tokens is None and estimate
        if estimated:
            # Past the window it does not matter how far.
            window = found.entry.context_tokens or settings.sessions.window
            tokens = self._context(found, window, 0)[1].total
        return check_flush(
            found.entry,
            settings.flush,
            window=found.entry.context_tokens or settings.sessions.window,
            tokens=tokens,
            estimated=estimated,
            heartbeat=heartbeat,
            writable=self._ground.role.may(Capability.WRITE_MEMORY),
        )

    def _context(self, found: places.Found, budget: int | None, turns: int | None) -> tuple[Tree, Context]:
        from workbench.engine.sessions.context import build_context
        from workbench.engine.sessions.lines import random_access
        from workbench.engine.sessions.tree import read_tree

        settings = self._ground.settings.sessions
        if turns is None:
            turns = settings.history_turns
            if found.key.kind == "direct" and settings.direct_history_turns:
                turns = settings.direct_history_turns
        lines = found.readable(self._ground)
        tree = read_tree(lines)
        with random_access(lines) as reader:
            return tree, build_context(tree, reader, budget=budget, turns=turns)

    def _row(self, found: places.Found, rules: ResetRules) -> SessionRow:
        from workbench.engine.sessions.policy import freshness

        entry, key = found.entry, found.key
        state = freshness(entry.updated, self._ground.now(), self._ground.zone, rules.of(key))
        try:
            lines = found.lines
            where, size = lines.where, lines.size()
        except InvalidInput:
            # Its id could be no file's name; the store's problems say so.
            where, size = None, 0
        return SessionRow(
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
            flush=self._flush_check(found),
            source=found.home.source,
            shared=key.is_shared,
        )
