"""Finds words in the transcript of a session, once around, however long it is."""

from __future__ import annotations

from textual import on, work
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui.panes.sessions_transcript import SessionsTranscript
from workbench.tui.screens.ask import AskScreen
from workbench.tui.widgets.conversation import Conversation


class SessionsFinding(SessionsTranscript):
    """The transcript of one session, and where something is said in it."""

    class FoundWords(Message):
        """A line that says what was looked for was found, or none was."""

        def __init__(self, subject: str, line: int | None) -> None:
            super().__init__()
            self.subject = subject
            self.line = line

    @on(Conversation.Searched)
    def _searched(self, event: Conversation.Searched) -> None:
        event.stop()
        if not event.anew:
            self._look_for(-1 if event.backwards else 1)
            return

        def answered(words: str | None) -> None:
            if words and words.strip():
                self.conversation.light(words.strip())
                self._look_for(0)

        self.app.push_screen(
            AskScreen(
                "Look for what in this transcript?",
                "words as they were said",
                lambda _: "",
                text=self.conversation.words,
            ),
            answered,
        )

    def _look_for(self, step: int) -> None:
        self._find_words(self.conversation.words, self.conversation.number + step, step < 0)

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
            self.conversation.go_to_words(event.line)
        self.refresh_bindings()
