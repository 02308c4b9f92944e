"""The Sessions pane: what was said, session by session, how full each is, and what memory was drawn from it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.message import Message

from workbench.tui import commands
from workbench.tui.compaction_work import CompactionWork
from workbench.tui.keymap import bindings
from workbench.tui.panes.sessions_reading import SessionsReading
from workbench.tui.screens.ask import AskScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.compaction import compaction_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.notifications import SeverityLevel

    from workbench.display.ink import Line
    from workbench.tui.bench import Bench, Outcome
    from workbench.tui.views.sessions import Listed

_ON_ONE = frozenset({"compact_session", "flush_session", "start_over", "mend_session"})
_COPIED = " It is another program’s: it is copied into this workspace first, and the original stays as it is."
# Seconds that the end of a compaction is told.
_TOLD = 8


class SessionsPane(SessionsReading):
    """Sessions of this workspace and of other programs, and the transcript of one."""

    title: ClassVar = "Sessions"
    filter_hint: ClassVar = "words  kind:  agent:  channel:  is:due  after:"
    BINDINGS: ClassVar = bindings(
        commands.CompactSession, commands.CancelCompaction, commands.FlushSession, commands.StartOver,
        commands.MendSession, commands.LookElsewhere, commands.ReadDrawn,
    )  # fmt: skip

    class CompactionMoved(Message):
        """A compaction came further, or to an end."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, SessionsPane.CompactionMoved)

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._compaction = CompactionWork(bench, lambda: self.post_message(self.CompactionMoved()))
        self._compacting = False

    def on_unmount(self) -> None:
        self._compaction.cancel()

    # --- compacting -----------------------------------------------------------------------------------------

    def under_way(self, width: int) -> list[Line]:
        """Draw the compaction that runs, whichever session one reads meanwhile."""
        work = self._compaction
        if not self._compacting:
            return []
        return compaction_lines(work.name, work.progress, cancelled=work.cancelled, width=width)

    def action_compact_session(self) -> None:
        def begin(listed: Listed) -> None:
            self._compacting = True
            self.post_message(self.Working(1))
            self._compaction.begin(listed.name, listed.row.key, listed.place)

        self._confirm(
            "Compact {name}?",
            "A summary will stand for all but its newest messages; the transcript keeps every line.",
            "Compact",
            "c",
            begin,
        )

    def action_cancel_compaction(self) -> None:
        self._compaction.cancel()
        self.draw_head()

    @on(CompactionMoved)
    def _compaction_moved(self, event: CompactionMoved) -> None:
        event.stop()
        work = self._compaction
        if self._compacting and not work.running:
            self._compacting = False
            self.post_message(self.Working(-1))
            if work.outcome is not None:
                self.post_message(self.Done(work.outcome))
                self.reload()
            else:
                severity: SeverityLevel = "information" if work.cancelled else "error"
                self.app.notify(work.problem, severity=severity, timeout=_TOLD)
        self.draw_head()
        self.refresh_bindings()

    # --- acting ---------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for the session one is at, and nothing while one writes."""
        if action == "read_drawn":
            return self.is_mounted and self.conversation.has_focus and bool(self.drawn_here)
        if action == "cancel_compaction":
            return self._compacting
        if action == "compact_session" and self._compacting:
            return False
        if action not in _ON_ONE:
            return super().check_action(action, parameters)
        listed = self.session_here() if self.is_mounted else None
        if listed is None or self.is_writing:
            return False
        # Only what belongs to this workspace can be mended or started over.
        return listed.place is None or action in ("compact_session", "flush_session")

    def action_flush_session(self) -> None:
        self._confirm(
            "Flush {name} to memory now?",
            "What matters of it and was said since the last flush is saved, each with the line it comes from.",
            "Flush",
            "w",
            self._acting(lambda key, place: self.bench.flush_session(key, place)),
        )

    def action_start_over(self) -> None:
        self._confirm(
            "Start {name} over?",
            "What matters is saved to memory first; the next message begins a new transcript, and the old one stays.",
            "Start",
            "R",
            self._acting(lambda key, _place: self.bench.start_session_over(key)),
        )

    def action_mend_session(self) -> None:
        self._confirm(
            "Mend {name}?",
            "Lines that cannot be read are emptied, so that all others keep their numbers; the file as it was is kept "
            "beside it.",
            "Mend",
            "x",
            self._acting(lambda key, _place: self.bench.mend_session(key)),
        )

    def _acting(self, act: Callable[[str, str | None], Outcome]) -> Callable[[Listed], None]:
        return lambda listed: self.act(partial(act, listed.row.key, listed.place), self.reload)

    def _confirm(
        self,
        question: str,
        consequence: str,
        verb: str,
        key: str,
        begin: Callable[[Listed], None],
    ) -> None:
        listed = self.session_here()
        if listed is None:
            return

        def decided(sure: bool | None) -> None:
            if sure:
                begin(listed)

        told = consequence + (_COPIED if listed.place else "")
        name = f"“{listed.name}”"
        self.app.push_screen(ConfirmScreen(question.format(name=name), told, verb, key), decided)

    def action_look_elsewhere(self) -> None:
        def answered(place: str | None) -> None:
            if place:
                self.look_at(place.strip())

        self.app.push_screen(
            AskScreen(
                "Look at the sessions of which place?",
                "~/.openclaw · sessions.json · *.sqlite · *.jsonl",
                _any,
            ),
            answered,
        )

    def action_read_drawn(self) -> None:
        if drawn := self.drawn_here:
            self.post_message(self.GoTo(drawn[0]))

    def action_copy_id(self) -> None:
        if self.conversation.has_focus and self.citation:
            self.app.copy_to_clipboard(self.citation)
            self.notify(f"Copied {self.citation}", markup=False)
            return
        super().action_copy_id()

    def findable(self) -> Iterator[tuple[str, str]]:
        for listed in self.all_listed():
            yield f"{listed.name} · session {listed.row.key}", f"session:{listed.key}"


def _any(_text: str) -> str:
    return ""
