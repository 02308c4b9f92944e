"""Asks which entity, or which of a few words, is meant: a few letters narrow the list, enter chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.display.cells import plain
from workbench.display.ink import Line, ink
from workbench.engine.errors import WorkbenchError
from workbench.tui.palette import RAISED
from workbench.tui.screens.choosing import ChoosingScreen
from workbench.tui.views.graph_filter import parse_graph_filter
from workbench.tui.views.graph_table import EntityRows, in_order, matching
from workbench.tui.views.teaching import teach
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.rows import KeyedRows
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from workbench.engine.results.graph import EntityRow
    from workbench.tui.bench import Bench
    from workbench.tui.widgets.rows import RowSource

_NOTHING = teach("Nothing matches.", "Fewer letters find more.")
_LONGEST_QUESTION = 200


class _Picking(ChoosingScreen):
    """A question over a line to type in, over what is left of a list."""

    class Found(Message):
        """What is left of the list by what has been typed."""

        def __init__(self, text: str, rows: RowSource) -> None:
            super().__init__()
            self.text = text
            self.rows = rows

    BINDINGS: ClassVar = [("escape", "close", "Close")]

    def __init__(self, question: str, hint: str) -> None:
        super().__init__()
        self._question, self._hint = plain(question, _LONGEST_QUESTION), hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="card"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield FilterBar(self._hint)
            yield VirtualList(id="pick-list", ground=RAISED, always_lit=True, empty=_NOTHING)

    def on_mount(self) -> None:
        self.query_one(VirtualList).waiting = True
        self.query_one(FilterBar).open()
        self._find("")

    @on(FilterBar.Changed)
    def _changed(self, event: FilterBar.Changed) -> None:
        event.stop()
        self._find(event.text)

    @work(thread=True, exclusive=True)
    def _find(self, text: str) -> None:
        worker = get_current_worker()
        rows = self.find(text)
        if not worker.is_cancelled:
            self.post_message(self.Found(text, rows))

    def find(self, text: str) -> RowSource:
        """Return what is left of the list; called in a thread."""
        raise NotImplementedError

    @on(Found)
    def _found(self, event: Found) -> None:
        event.stop()
        if event.text != self.query_one(FilterBar).text:
            return
        self.answered_text = event.text
        self.query_one(VirtualList).show(event.rows, keep="")

    def choose(self, key: str) -> None:
        """Give what was chosen to whoever asked."""
        self.dismiss(key)


class PickScreen(_Picking):
    """Gives the id of the entity that was chosen, or None.

    Args:
        bench: The engine.
        question: What it is chosen for.
        without: Ids of entities that are not offered.
    """

    def __init__(self, bench: Bench, question: str, without: tuple[str, ...] = ()) -> None:
        super().__init__(question, "a few letters of its name  type:  relation:")
        self._bench = bench
        self._today = bench.now().date()
        self._without = frozenset(without)
        self._entities: Sequence[EntityRow] | None = None

    def find(self, text: str) -> RowSource:
        """Return the entities that match, those whose name begins so before the others, then the best connected."""
        if self._entities is None:
            try:
                entities = self._bench.entities().entities
            except WorkbenchError as error:
                self.app.call_from_thread(self.notify, error.message, severity="error", markup=False)
                entities = ()
            self._entities = in_order((row for row in entities if row.id not in self._without), "relations")
        wanted = parse_graph_filter(text, self._today)
        found = matching(self._entities, wanted)
        words = wanted.words.words
        if words:
            found.sort(key=lambda row: not row.label.casefold().startswith(words[0]))
        return EntityRows(found, self._today)


class _WordRows(KeyedRows):
    """Words as rows."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        super().__init__(words, ())

    def line(self, index: int, width: int) -> Line:
        """Draw a word."""
        return (ink(self._words[index], "text", width),)


class WordScreen(_Picking):
    """Gives the word that was chosen, a relation for example, or None.

    Args:
        words: To choose from.
        question: What it is chosen for.
    """

    def __init__(self, words: Sequence[str], question: str) -> None:
        super().__init__(question, "a few letters")
        self._words = words

    def find(self, text: str) -> RowSource:
        """Return the words that hold what was typed, those that begin with it first."""
        wanted = text.strip().casefold()
        found = [each for each in self._words if wanted in each.casefold()]
        return _WordRows(sorted(found, key=lambda each: not each.casefold().startswith(wanted)))
