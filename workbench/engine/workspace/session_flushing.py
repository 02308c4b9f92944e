"""The part of the door that saves what matters of a session to memory: before a compaction, and when it starts over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import BudgetExceeded, InvalidInput
from workbench.engine.results.memories import Remembered
from workbench.engine.results.session_changes import Flushed, SavedMemory, SessionBegun
from workbench.engine.scopes import scope_of_session
from workbench.engine.workspace import session_places as places
from workbench.engine.workspace.session_keeping import SessionKeeping
from workbench.engine.workspace.writing import Writing

if TYPE_CHECKING:
    from workbench.engine.sessions.entries import SessionEntry
    from workbench.engine.sessions.lines import Lines
    from workbench.engine.sessions.said import Turn
    from workbench.engine.workspace.session_noticing import Noticed

# More than a flush can be late for; what is older has had its turn.
_MOST_ENTRIES = 4000


class SessionFlushing(Writing, SessionKeeping):
    """Flushes sessions to memory; each memory names the line that it comes from."""

    def session_flush(
        self, key: str, *, now: bool = False, heartbeat: bool = False, from_: str | None = None
    ) -> Flushed:
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
        ground = self._ground
        require(ground.role, Capability.WRITE_MEMORY, doing="flush sessions to memory")
        found = self._own(key, from_)
        check = self._flush_check(found, heartbeat=heartbeat, estimate=True)
        if not (check.due or now):
            return Flushed(None, key=found.name, check=check)
        rest = replace(found, entry=found.entry.with_ended(()))
        this_one = now or self._flush_check(rest, heartbeat=heartbeat, estimate=True).due
        return replace(self._save_all(found, f"flush of {found.name}", this_one=this_one), check=check)

    def session_reset(self, key: str, *, save: bool = True, reason: str = "reset") -> SessionBegun:
        """Start a session over under its key; what matters of it is saved to memory, and its transcript stays.

        Args:
            key: As for `session`.
            save: Whether to save what matters.
            reason: Why, one word.

        Raises:
            NotFound: There is no such session.
            RoleRefused: This door may not write.
        """
        ground = self._ground
        require(ground.role, Capability.WRITE_MEMORY, doing="reset sessions")
        found = places.find(ground, key)
        flushed = self._save_all(found, f"reset of {found.name}") if save else None
        name, entry, _ = self._begin(found.key, reason)
        lines = found.lines
        return SessionBegun(
            name,
            entry.session_id,
            found.entry.session_id or None,
            lines.where if lines.size() else None,
            reason,
            flushed,
        )

    def _save_all(self, found: places.Found, trigger: str, *, this_one: bool = True) -> Flushed:
        """Save the sessions that ended under a key, and the one in use where that is wanted; there is one of them."""
        done = [self._save_ended(found, ended) for ended in found.entry.ended]
        if this_one:
            done.append(self._save(found, trigger))
        return _together(done)

    def _save_ended(self, found: places.Found, ended: SessionEntry) -> Flushed:
        """Save a session that ended by itself under a key, and note that nothing of it is due any more."""
        done = self._save(replace(found, entry=ended), f"end of {found.name}")

        def change(entry: SessionEntry | None) -> SessionEntry | None:
            if entry is None:
                return None
            return entry.with_ended(each for each in entry.ended if each.session_id != ended.session_id)

        places.own_home(self._ground).store.change(found.key, change)
        return done

    def _save(self, found: places.Found, trigger: str) -> Flushed:
        """Save what was said since the last flush, and note in transcript and store that it was."""
        history = self._ground.history if self._ground.has_history() else None
        with self._ground.action.resting_on(history):
            return self._save_what_was_said(found, trigger)

    def _save_what_was_said(self, found: places.Found, trigger: str) -> Flushed:
        from workbench.engine.workspace.session_noticing import notice

        started_in = found.entry.compactions
        turns = self._since_last_flush(found.lines)
        noticed, by, fallback = notice(
            self._ground, turns, lambda: self._since_last_flush(found.readable(self._ground))
        )
        saved, changed = self._remember_all(found, noticed, trigger)
        flushed = Flushed(
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
        self, found: places.Found, noticed: tuple[Noticed, ...], trigger: str
    ) -> tuple[tuple[SavedMemory, ...], list[Remembered]]:
        from workbench.engine.sessions.views import citation

        # What was said in somebody's chat is for them as well; the owner sees all of it.
        scope = scope_of_session(str(found.key))
        saved: list[SavedMemory] = []
        changed: list[Remembered] = []
        for one in noticed:
            cited = citation(found.lines.name, one.line)
            # In a group anybody may ask for anything: it was said there, and that is all that is known.
            asked = one.explicit and not found.key.is_shared
            try:
                done = self.remember(
                    one.text,
                    source="user-explicit" if asked else "conversation",
                    pinned=one.protect and asked,
                    origins=[cited],
                    trigger=f"{trigger}, {cited}",
                    scope=scope,
                )
            except (InvalidInput, BudgetExceeded) as error:
                # One that cannot be kept must not keep the others waiting for ever.
                changed.append(Remembered(None, warnings=(f"{cited} was not saved: {error.message}",)))
                continue
            if done.held_back is not None:
                told = f"{cited} was held back: {done.held_back.detail}"
                done = replace(done, warnings=(*done.warnings, told))
            elif done.id:
                known = done.path not in done.files
                saved.append(SavedMemory(done.id, one.text, cited, known))
                if known and done.commit is None:
                    continue
            changed.append(done)
        return tuple(saved), changed

    def _since_last_flush(self, lines: Lines) -> list[Turn]:
        from workbench.engine.sessions import events
        from workbench.engine.sessions.context import event_at
        from workbench.engine.sessions.lines import random_access
        from workbench.engine.sessions.said import turn_of
        from workbench.engine.sessions.tree import read_tree

        tree = read_tree(lines)
        turns: list[Turn] = []
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
        self, found: places.Found, cycle: int, saved: tuple[SavedMemory, ...], *, written: bool
    ) -> None:
        from workbench.engine.sessions import events
        from workbench.engine.sessions.entries import milliseconds

        now = self._ground.now()
        data = {"cycle": cycle, "saved": [{"id": one.id, "from": one.citation} for one in saved]}
        mark = (events.CUSTOM, {"customType": events.FLUSH_MARK, "data": data})
        if written:
            self._writer(found.key, found.entry).append([mark], now)

        def change(entry: SessionEntry | None) -> SessionEntry | None:
            if entry is None or entry.session_id != found.entry.session_id:
                return entry
            # The cycle in which the flush began: one that leads to a compaction leaves the next cycle to be flushed.
            return entry.with_fields(memoryFlushAt=milliseconds(now), memoryFlushCompactionCount=cycle)

        places.own_home(self._ground).store.change(found.key, change)


def _together(done: Sequence[Flushed]) -> Flushed:
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
