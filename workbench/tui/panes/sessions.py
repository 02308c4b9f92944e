"""The Sessions pane: what was said, session by session, how full each is, and what memory was drawn from it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.panes.sessions_reading import SessionsReading
from workbench.tui.screens.ask import AskScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.widgets.conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.tui.bench import Outcome

_ON_ONE = frozenset({"compact_session", "flush_session", "start_over", "mend_session"})
_COPIED = " It is another program’s: it is copied into this workspace first, and the original stays as it is."


class SessionsPane(SessionsReading):
    """Sessions of this workspace and of other programs, and the transcript of one."""

    title: ClassVar = "Sessions"
    filter_hint: ClassVar = "words  kind:  agent:  channel:  is:due  after:"
    BINDINGS: ClassVar = bindings(
        commands.CompactSession, commands.FlushSession, commands.StartOver, commands.MendSession,
        commands.LookElsewhere, commands.ReadDrawn,
    )  # fmt: skip

    class FoundWords(Message):
        """A line that says what was looked for was found, or none was."""

        def __init__(self, subject: str, line: int | None) -> None:
            super().__init__()
            self.subject = subject
            self.line = line

    # --- looking for words ----------------------------------------------------------------------------------

    @on(Conversation.Searched)
    def _searched(self, event: Conversation.Searched) -> None:
        event.stop()
        if not event.anew:
            self._look_for(backwards=event.backwards)
            return

        def answered(words: str | None) -> None:
            if words:
                self.conversation.words = words
                self._look_for(backwards=False, here=True)

        self.app.push_screen(
            AskScreen("Look for what in this transcript?", "words as they were said", _any), answered
        )

    def _look_for(self, *, backwards: bool, here: bool = False) -> None:
        step = 0 if here else -1 if backwards else 1
        self._find_words(self.conversation.words, self.conversation.number + step, backwards)

    @work(thread=True, exclusive=True, group="find")
    def _find_words(self, words: str, start: int, backwards: bool) -> None:
        from textual.worker import get_current_worker

        worker = get_current_worker()
        reader, subject = self.reader, self.subject
        if reader is None:
            return
        self.post_message(self.Working(1))
        try:
            total = reader.total()
            found = reader.find(words, start, backwards=backwards, stopped=lambda: worker.is_cancelled)
            if found is None and not worker.is_cancelled:
                # Once around: what was passed already is worth finding again.
                again = total if backwards else 1
                found = reader.find(words, again, backwards=backwards, stopped=lambda: worker.is_cancelled)
            if not worker.is_cancelled:
                self.post_message(self.FoundWords(subject, found))
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
        finally:
            self.post_message(self.Working(-1))

    @on(FoundWords)
    def _words_found(self, event: FoundWords) -> None:
        event.stop()
        if event.subject != self.subject:
            return
        if event.line is None:
            self.app.notify(f"“{self.conversation.words}” is not said here.", timeout=4)
        else:
            self.conversation.go_to(event.line)
        self.refresh_bindings()

    # --- acting ---------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for the session one is at, and nothing while one writes."""
        if action == "read_drawn":
            return self.is_mounted and self.conversation.has_focus and bool(self.drawn_here)
        if action not in _ON_ONE:
            return super().check_action(action, parameters)
        listed = self.session_here() if self.is_mounted else None
        if listed is None or self.is_writing:
            return False
        # Only what belongs to this workspace can be mended or started over.
        return listed.place is None or action in ("compact_session", "flush_session")

    def action_compact_session(self) -> None:
        self._confirm(
            "Compact {name}?",
            "A summary will stand for all but its newest messages; the transcript keeps every line.",
            "Compact",
            "c",
            lambda key, place: self.bench.compact_session(key, place),
        )

    def action_flush_session(self) -> None:
        self._confirm(
            "Flush {name} to memory now?",
            "What matters of it and was said since the last flush is saved, each with the line it comes from.",
            "Flush",
            "w",
            lambda key, place: self.bench.flush_session(key, place),
        )

    def action_start_over(self) -> None:
        self._confirm(
            "Start {name} over?",
            "What matters is saved to memory first; the next message begins a new transcript, and the old one stays.",
            "Start",
            "R",
            lambda key, _place: self.bench.start_session_over(key),
        )

    def action_mend_session(self) -> None:
        self._confirm(
            "Mend {name}?",
            "Lines that cannot be read are emptied, so that all others keep their numbers; the file as it was is kept "
            "beside it.",
            "Mend",
            "x",
            lambda key, _place: self.bench.mend_session(key),
        )

    def _confirm(
        self,
        question: str,
        consequence: str,
        verb: str,
        key: str,
        act: Callable[[str, str | None], Outcome],
    ) -> None:
        listed = self.session_here()
        if listed is None:
            return

        def decided(sure: bool | None) -> None:
            if sure:
                self.act(partial(act, listed.row.key, listed.place), self.reload)

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

    @on(Conversation.Unfolded)
    def _unfolded(self, event: Conversation.Unfolded) -> None:
        event.stop()
        self.refresh_bindings()


def _any(_text: str) -> str:
    return ""
