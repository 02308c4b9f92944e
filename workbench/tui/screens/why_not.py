"""Asks the engine why a memory did not come up: finds the memory by a few letters, and shows the answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.display.cells import plain
from workbench.display.matching import part_around_match
from workbench.engine.errors import WorkbenchError
from workbench.engine.requests import SearchRequest
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.navigation import is_memory
from workbench.tui.palette import RAISED
from workbench.tui.screens.choosing import ChoosingScreen
from workbench.tui.screens.find import Finding, FindRows, search
from workbench.tui.views.explanation import why_not_lines
from workbench.tui.views.hits import first_words
from workbench.tui.views.memory import markdown_lines
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from textual.app import ComposeResult

    from workbench.engine.results.recall import Cut, WhyNot
    from workbench.tui.bench import Bench
    from workbench.tui.question import Question

_AS_TYPED = "name:"
_MOST_SEARCHED = 8
_LONGEST_NAME = 100


class WhyNotScreen(ChoosingScreen):
    """Finds a memory and shows why it did not come up; gives the id of the link that was followed, or None.

    Args:
        bench: The engine.
        question: What was asked.
        cuts: What was found and left out; offered before anything is typed.
        memories: Gives every memory that the panes hold, newest first.
    """

    BINDINGS: ClassVar = bindings(commands.Leave)

    class Found(Message):
        """Memories that answer to what was typed."""

        def __init__(self, text: str, found: list[tuple[str, Sequence[Finding]]]) -> None:
            super().__init__()
            self.text = text
            self.found = found

    class Answered(Message):
        """The engine has said why, or that it cannot."""

        def __init__(self, name: str, answer: WhyNot | None, problem: str = "") -> None:
            super().__init__()
            self.name = name
            self.answer = answer
            self.problem = problem

    def __init__(
        self,
        bench: Bench,
        question: Question,
        cuts: Sequence[Cut],
        memories: Callable[[], Iterable[Finding]],
    ) -> None:
        super().__init__()
        self._bench, self._question = bench, question
        self._cuts = tuple(Finding(cut.id, _name_of(cut)) for cut in cuts if cut.id)
        self._memories = memories
        self._names: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="card"):
            yield Static(
                plain(f"What did not come up for “{self._question.words}”?", 200),
                classes="dialog-title",
                markup=False,
            )
            yield FilterBar("name the memory you expected: a few of its words, or its id")
            yield VirtualList(id="why-not-list", ground=RAISED, always_lit=True)
            yield Detail(id="why-not-answer")

    def on_mount(self) -> None:
        self.query_one(Detail).display = False
        self.query_one(FilterBar).open()
        self._find("")

    @on(FilterBar.Changed)
    def _changed(self, event: FilterBar.Changed) -> None:
        event.stop()
        self._find(event.text)

    @work(thread=True, exclusive=True, group="find")
    def _find(self, text: str) -> None:
        worker = get_current_worker()
        typed = text.strip()
        if not typed:
            self.post_message(self.Found(text, [("Left out of this answer", _unique(self._cuts))]))
            return
        words = tuple(typed.casefold().split())
        memories = (each for each in self._memories() if is_memory(each.key))
        by_letters = search(words, self._cuts, memories, lambda: worker.is_cancelled)
        seen = [*by_letters[0][1], *by_letters[1][1]]
        if worker.is_cancelled:
            return
        self.post_message(
            self.Found(
                text,
                [
                    ("Memories", _unique([*seen, *self._by_search(typed)])),
                    ("As typed", [Finding(_AS_TYPED + typed, f"“{typed}”")]),
                ],
            )
        )

    def _by_search(self, typed: str) -> Iterator[Finding]:
        """Yield what search finds, by the meaning of what was typed as well."""
        try:
            found = self._bench.search(SearchRequest(typed, max_results=_MOST_SEARCHED, include_dormant=True))
        except WorkbenchError:
            # What was typed is offered as it is; asking about that tells what is wrong.
            return
        for hit in found.results:
            words = part_around_match(first_words(hit), typed, _LONGEST_NAME)
            yield Finding(hit.id, f"{hit.date}  {words}" if hit.date else words)

    @on(Found)
    def _found(self, event: Found) -> None:
        event.stop()
        if event.text != self.query_one(FilterBar).text:
            return
        self.answered_text = event.text
        self._names = {each.key: each.text for _, findings in event.found for each in findings}
        self.query_one(VirtualList).show(FindRows(event.found), keep="")

    # --- asking ---------------------------------------------------------------------------------------------

    def choose(self, key: str) -> None:
        """Ask about the memory."""
        self._ask(key)

    @work(thread=True, exclusive=True, group="why")
    def _ask(self, key: str) -> None:
        name = key.removeprefix(_AS_TYPED)
        shown = "" if key.startswith(_AS_TYPED) else self._names.get(key, "")
        try:
            answer = self._bench.why_not(self._question.words, name)
        except WorkbenchError as error:
            self.post_message(self.Answered(name, None, f"{error.message} {error.remedy or ''}".strip()))
            return
        self.post_message(self.Answered(shown, answer))

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        event.stop()
        detail = self.query_one(Detail)
        answer = event.answer
        if answer is not None:
            detail.show(partial(why_not_lines, answer, event.name), answer.id)
        else:
            detail.show(partial(markdown_lines, event.problem), event.problem)
        self._show_answer(True)

    def _show_answer(self, shown: bool) -> None:
        detail = self.query_one(Detail)
        detail.display = shown
        self.query_one(VirtualList).display = not shown
        self.query_one(FilterBar).display = not shown
        if shown:
            detail.focus()
        else:
            self.query_one(FilterBar).open()

    @on(Detail.Followed)
    def _followed(self, event: Detail.Followed) -> None:
        event.stop()
        self.dismiss(event.link)

    def action_leave(self) -> None:
        """Go back from the answer to the memories, and from them to the results."""
        if self.query_one(Detail).display:
            self._show_answer(False)
        else:
            self.dismiss(None)


def _name_of(cut: Cut) -> str:
    words = cut.text or cut.id
    return f"{cut.date}  {words}" if cut.date else words


def _unique(findings: Iterable[Finding]) -> list[Finding]:
    return list({each.key: replace(each, sign="") for each in reversed(list(findings))}.values())[::-1]
