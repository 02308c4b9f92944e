"""A real workspace in a temporary folder, with a clock that moves on by a minute with each change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from workbench.engine.clock import FixedClock
from workbench.engine.history.audit import ANYTHING, LogFilter, iterate_entries
from workbench.engine.history.history import History
from workbench.engine.history.plan import Action, Attribution, Event, FileChange, Plan
from workbench.engine.results.audit import AuditEntry

START = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
PERSON = Attribution("manual", "—", "by hand")
OWNER = replace(PERSON, may_touch_critical=True)


class Notebook:
    """A workspace, its history and its clock.

    Args:
        folder: An empty temporary folder.
    """

    def __init__(self, folder: Path) -> None:
        self.clock = FixedClock(START)
        self.root = folder / "workspace"
        self.root.mkdir(parents=True)
        self.history = History(self.root, clock=self.clock, state=folder / "state")

    def write(
        self,
        path: str,
        text: str | None,
        *,
        actor: str = "bot:trigger-remember",
        action: Action = Action.EDIT,
        summary: str = "a change",
        trailers: tuple[tuple[str, str], ...] = (),
    ) -> str:
        """Change one file in one commit; return the commit."""
        return self.write_all({path: text}, actor=actor, action=action, summary=summary, trailers=trailers)

    def write_all(
        self,
        texts: dict[str, str | None],
        *,
        actor: str = "bot:trigger-remember",
        action: Action = Action.EDIT,
        summary: str = "a change",
        trailers: tuple[tuple[str, str], ...] = (),
    ) -> str:
        """Change several files in one commit; return the commit."""
        changes = tuple(
            FileChange(path, None if text is None else text.encode(), action, summary)
            for path, text in texts.items()
        )
        plan = Plan[None](action, next(iter(texts)), summary, changes=changes, trailers=trailers)
        attribution = Attribution(actor, "auto", "test", may_touch_critical=True)
        commit = self.history.mutate(lambda _: plan, attribution).commit
        self.clock.advance(minutes=1)
        assert commit
        return commit

    def note(self, action: Action, *, actor: str = "system:test", summary: str = "noted") -> str:
        """Make a commit that changes no file; return it."""
        plan = Plan[None](action, "MEMORY.md", summary, events=(Event(action, "MEMORY.md", summary),))
        commit = self.history.mutate(lambda _: plan, Attribution(actor, "auto", "test")).commit
        self.clock.advance(minutes=1)
        assert commit
        return commit

    def entries(self, wanted: LogFilter = ANYTHING) -> list[AuditEntry]:
        """Return the entries of the audit log, newest first."""
        return list(iterate_entries(self.root, self.history.store, wanted))

    def read(self, path: str) -> str | None:
        """Return a file's text, or None where there is no such file."""
        content = self.history.now().read(path)
        return None if content is None else content.decode()

    def texts(self) -> dict[str, str]:
        """Return every tracked file's text."""
        return {path: self.read(path) or "" for path in self.history.now().list("")}
