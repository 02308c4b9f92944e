"""The Search pane: a question, what answers it while one types, and why."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.engine.identifiers import OUTSIDE_STORES
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import PAPER
from workbench.tui.panes.base import EVERY_PANE
from workbench.tui.panes.on_memories import ON_MEMORIES, OnMemories
from workbench.tui.question import Question, parse_question
from workbench.tui.views.answer import answer_lines
from workbench.tui.views.asking import ASK_KEY, AskRows, examples, grammar_lines
from workbench.tui.views.explanation import explanation_lines
from workbench.tui.views.hit_in_file import AFTER, BEFORE, hit_lines
from workbench.tui.views.hits import HitRows, citation
from workbench.tui.views.teaching import IMPORT, teach
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from textual.app import ComposeResult
    from textual.timer import Timer

    from workbench.display.ink import Line
    from workbench.engine.results.recall import Found, Hit
    from workbench.tui.bench import Bench, Memory
    from workbench.tui.overlays import Overlays

# Seconds after the last key before what has been typed is searched for.
CALM = 0.12
# Seconds after which a search that is still under way is worth a word.
LONG = 0.3
MOST_RESULTS = 20
_MOST_ASKED = 50
_MOST_PLACES = 200
_WHILE_NOT_WRITING = frozenset({"explain_result", "copy_id", "ask_why_not", "ask", "open_source"})
_NOTHING_THERE = teach(
    "There is nothing to find yet.",
    "As soon as the agent has noted something down, it can be asked for here, in plain words.",
    ('workbench remember "We ship on Fridays"', "writes a memory."),
    # Here one writes a question, and letters are no keys.
    ("^p import", *IMPORT[1:]),
    ("workbench demo", "builds a sample workspace to look around in."),
)
_READING = teach("Reading the files for the first time.", "Search finds what has been read so far.")
_ONLY_CONDITIONS = teach("What is it about?", "A condition narrows a search; some words begin one.")
_NOTHING_FOUND = teach(
    "Nothing found.",
    "No memory has anything to do with this. Other words may do better: a name, a day, a part of a word.",
    ("status:any", "lets what has faded come up as well."),
    ("w", "tells why a memory that you expected did not come up."),
    ("esc", "begins again; your question is kept above the examples."),
)
_NOTHING_WITHIN = teach(
    "Nothing found.",
    "No memory that meets the conditions has anything to do with this. Without store:, after: or before: "
    "everything is searched.",
    ("status:any", "lets what has faded come up as well."),
    ("w", "tells why a memory that you expected did not come up."),
)


_NOTHING_YET = (
    "Nothing found so far.",
    "The index does not know everything yet. This question is asked again by itself as soon as it does.",
    ("i", "shows how far it is."),
)


class SearchPane(OnMemories, inherit_bindings=False):
    """A question, its results, and one of them in its file."""

    title: ClassVar = "Search"
    filter_hint: ClassVar = "ask in your own words  store:  after:  before:  status:"
    BINDINGS: ClassVar = bindings(
        *(command for command in EVERY_PANE if command is not commands.Filter), commands.Ask,
        commands.ExplainResult, commands.AskWhyNot, *ON_MEMORIES,
    )  # fmt: skip

    class Answered(Message):
        """A search is over."""

        def __init__(self, number: int, question: Question, found: Found) -> None:
            super().__init__()
            self.number = number
            self.question = question
            self.found = found

    class Failed(Message):
        """A search is over without an answer."""

        def __init__(self, number: int, question: Question, error: WorkbenchError) -> None:
            super().__init__()
            self.number = number
            self.question = question
            self.error = error

    class Offered(Message):
        """Questions that this memory can answer were made up."""

        def __init__(self, offered: Sequence[str]) -> None:
            super().__init__()
            self.offered = offered

    class PlaceRead(Message):
        """The lines around a result were read."""

        def __init__(self, key: str, first: int, lines: Sequence[str]) -> None:
            super().__init__()
            self.key = key
            self.first = first
            self.lines = lines

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._today: date = bench.now().date()
        self._question = Question()
        self._found: Found | None = None
        self._rows = HitRows((), "", self._today)
        self._number = 0
        self._asked_last = Question()
        self._searching = False
        self._problem = ""
        self._calming: Timer | None = None
        self._asked: list[str] = []
        self._offered: Sequence[str] = ()
        self._places: dict[str, tuple[int, Sequence[str]]] = {}
        self._explaining = False
        self._explained_from_list = False

    def compose_below_filter(self) -> ComposeResult:
        yield Lines(id="search-answer", ground=PAPER)

    def teach(self, width: int) -> Sequence[Line]:
        if self._is_first_search:
            return ()
        if self._question.words:
            stale = self._found.stale if self._found is not None else None
            nothing = _NOTHING_WITHIN if self._question.is_narrowed else _NOTHING_FOUND
            return (teach(*_NOTHING_YET) if stale else nothing)(width)
        if self.filter_bar.text.strip():
            return _ONLY_CONDITIONS(width)
        return _READING(width) if self.bench.progress() is not None else _NOTHING_THERE(width)

    def focus_list(self) -> None:
        """Let keys move the results; where there are none yet, write the question."""
        if self._question.words or self.filter_bar.text:
            super().focus_list()
        else:
            self.filter_bar.open()
            self.focus_once_laid_out(self.filter_bar.field)

    # --- asking ---------------------------------------------------------------------------------------------

    def reload(self) -> None:
        self._today = self.bench.now().date()
        self._places.clear()
        self._offer()
        self._ask()

    def apply_filter(self, text: str) -> None:
        """Search for what the line says once one stops typing for a moment."""
        if self._calming is not None:
            self._calming.stop()
        if parse_question(text, self._today) != self._asked_last:
            self._calming = self.set_timer(CALM, self._ask)

    @property
    def is_behind(self) -> bool:
        """Return True while what is listed answers another question than the line asks."""
        bars = self.query(FilterBar)
        return any(parse_question(bar.text, self._today) != self._question for bar in bars)

    def _ask(self) -> None:
        question = self._asked_last = parse_question(self.filter_bar.text, self._today)
        self._number += 1
        if not question.words:
            self._question, self._found, self._searching, self._problem = question, None, False, ""
            self._show_offered()
            return
        self._searching = True
        self.set_timer(LONG, self._draw_answer)
        self._search(self._number, question)

    @work(thread=True, exclusive=True, group="search")
    def _search(self, number: int, question: Question) -> None:
        try:
            found = self.bench.search(question.request(MOST_RESULTS))
        except WorkbenchError as error:
            self.post_message(self.Failed(number, question, error))
            return
        self.post_message(self.Answered(number, question, found))

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        event.stop()
        if event.number == self._number:
            self._searching = False
            self._problem = f"{event.error.message} {event.error.remedy or ''}".strip()
            if event.question != self._question:
                # What was found for another question is no answer to this one.
                self._question, self._found = event.question, None
                self._rows = HitRows((), "", self._today)
                self.list.show(self._rows)
                self.show_detail(self.list.cursor_key)
            self._draw_answer()
            self.has_read()

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        event.stop()
        # An answer to what was typed before would only replace a newer one.
        if event.number != self._number:
            return
        same = event.question == self._question
        self._searching, self._problem = False, ""
        self._question, self._found = event.question, event.found
        self._rows = HitRows(
            [hit for hit in event.found.results if event.question.shows(hit.status)],
            event.question.words,
            self._today,
        )
        self.has_read()
        first = self._rows.key(0) if len(self._rows) else ""
        self.list.show(self._rows, keep=None if same else first)
        if not same:
            self.list.clear_marks()
            self.list.scroll_to(y=0, animate=False, force=True)
        self._find_wanted()
        self._draw_answer()
        self.show_detail(self.list.cursor_key)
        self.refresh_bindings()

    def _find_wanted(self) -> None:
        if self.wanted_key and self.list.go_to(self.wanted_key):
            self.wanted_key = ""

    @property
    def _is_first_search(self) -> bool:
        """Return True while there is no older answer to be seen meanwhile."""
        return self._searching and self._found is None

    def _draw_answer(self) -> None:
        shown = len(self._rows) // 2
        self.query_one("#search-answer", Lines).show(
            partial(
                answer_lines,
                self._asked_last if self._is_first_search else self._question,
                self._found,
                shown,
                searching=self._searching,
                problem=self._problem,
            )
        )

    # --- what one could ask ---------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="offer")
    def _offer(self) -> None:
        try:
            episodes = next(iter(self.bench.episodes()), ())
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            return
        self.post_message(self.Offered(examples(episodes)))

    @on(Offered)
    def _were_offered(self, event: Offered) -> None:
        event.stop()
        self._offered = event.offered
        if not self._question.words:
            self._show_offered()
            self.has_read()

    def _show_offered(self) -> None:
        self._rows = HitRows((), "", self._today)
        offered = () if self.filter_bar.text.strip() else self._offered
        asked = () if self.filter_bar.text.strip() else self._asked
        self.list.show(AskRows(asked, offered))
        self._draw_answer()
        self.show_detail(self.list.cursor_key)
        self.refresh_bindings()

    def _remember(self) -> None:
        """Keep the question among those that were asked before."""
        text = self.filter_bar.text.strip()
        if text and self._found is not None:
            self._asked = [text, *(each for each in self._asked if each != text)][:_MOST_ASKED]

    def ask(self, text: str) -> None:
        """Ask a question at once."""
        self.filter_bar.set_text(text)
        self._ask()
        self.list.focus()

    def go_in(self, key: str) -> None:
        """Ask the question under the cursor, or read the result."""
        if key.startswith(ASK_KEY):
            self.ask(key.removeprefix(ASK_KEY))
            return
        self._remember()
        super().go_in(key)

    def keep_filter(self) -> None:
        """Go on in the results, or ask the question that is chosen below the empty line."""
        if not self.filter_bar.text.strip() and self.list.cursor_key.startswith(ASK_KEY):
            self.go_in(self.list.cursor_key)
            return
        self._remember()
        self.list.focus()

    def clear_filter(self) -> None:
        """Begin again: from the line to what one could ask, from the results to an empty line."""
        from_line = self.is_writing
        self._remember()
        self.filter_bar.set_text("")
        self._explaining = False
        self._ask()
        if from_line:
            self.list.focus()
        else:
            self.focus_list()

    # --- one result -----------------------------------------------------------------------------------------

    def _hit(self) -> Hit | None:
        return self._rows.hit(self.list.cursor_key)

    def show_detail(self, key: str) -> None:
        hit = self._rows.hit(key)
        if hit is None:
            self.detail.show(grammar_lines)
            return
        if self._explaining and self._found is not None:
            self.detail.show(
                partial(explanation_lines, hit, self._rows.rank(key), self._found.cuts), f"why {key}"
            )
            return
        memory, words = self.known(hit.id), self._question.words
        self.detail.show(partial(hit_lines, hit, self._places.get(key), memory, words, self._today), key)
        if key not in self._places:
            self._read_place(key, hit)
        if hit.store not in OUTSIDE_STORES:
            self.ask_about(hit.id)

    @work(thread=True, exclusive=True, group="place")
    def _read_place(self, key: str, hit: Hit) -> None:
        first = max(1, hit.start_line - BEFORE)
        try:
            lines = self.bench.context(hit.path, first, hit.end_line + AFTER)
        except WorkbenchError:
            # What lies outside of the memory files, or is gone meanwhile, is shown as it was found.
            lines = ()
        self.post_message(self.PlaceRead(key, first, lines))

    @on(PlaceRead)
    def _place_read(self, event: PlaceRead) -> None:
        event.stop()
        if len(self._places) >= _MOST_PLACES:
            self._places.clear()
        self._places[event.key] = (event.first, event.lines)
        if event.key == self.list.cursor_key:
            self.show_detail(event.key)

    def know(self, memory: Memory) -> None:
        hit = self._hit()
        if hit is not None and hit.id == memory.id:
            self.show_detail(self.list.cursor_key)

    # --- acting ---------------------------------------------------------------------------------------------

    def _chosen_hits(self) -> list[Hit]:
        found = (self._rows.hit(key) for key in self.list.chosen_keys)
        return [hit for hit in found if hit is not None]

    def subject_keys(self) -> tuple[str, ...]:
        """Return the citations of the results that an action is about."""
        return tuple(citation(hit) for hit in self._chosen_hits())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for the result under the cursor, and nothing while one writes."""
        if action not in _WHILE_NOT_WRITING:
            return super().check_action(action, parameters)
        if not self.is_mounted or self.is_writing:
            return False
        if action == "ask":
            return True
        if action == "ask_why_not":
            return bool(self._question.words)
        return bool(self.memory_here()) if action == "open_source" else self._hit() is not None

    def subjects(self) -> tuple[str, ...]:
        """Return the ids of the memories behind the results that are chosen; what lies outside is none."""
        return tuple(dict.fromkeys(hit.id for hit in self._chosen_hits() if hit.store not in OUTSIDE_STORES))

    def memory_here(self) -> str:
        hit = self._hit()
        return hit.id if hit is not None and hit.store not in OUTSIDE_STORES else ""

    def status_of(self, memory_id: str) -> str:
        hits = self._found.results if self._found is not None else ()
        return next((hit.status or "" for hit in hits if hit.id == memory_id), "")

    def action_ask(self) -> None:
        self.action_filter()

    def action_explain_result(self) -> None:
        self._explaining = not self._explaining
        if self._explaining:
            self._remember()
            self._explained_from_list = self.list.has_focus
            if not self._list_stays():
                super().go_in(self.list.cursor_key)
        self.show_detail(self.list.cursor_key)

    def _list_stays(self) -> bool:
        """Tell whether the list can be seen beside the detail or above it."""
        return not self.app.screen_stack[0].has_class("-single")

    def action_leave(self) -> None:
        """Come back by one step, out of the explanation before anything else of the pane's own."""
        if not self._explaining or self.has_class("-zoom"):
            super().action_leave()
            return
        self._explaining = False
        self.show_detail(self.list.cursor_key)
        if self._explained_from_list and not self.list.has_focus:
            super().action_leave()

    def action_open_source(self) -> None:
        hit = self._hit()
        if hit is not None:
            self._remember()
            self.post_message(self.GoTo(hit.id))

    def action_open_memory(self) -> None:
        """Go where the memory stands among others; there it opens with all there is to know of it."""
        self.action_open_source()

    async def action_ask_why_not(self) -> None:
        from workbench.tui.screens.why_not import WhyNotScreen

        app = cast("Overlays", self.app)
        self._remember()
        app.read_titles()
        await app.mount_findable_panes()
        cuts = self._found.cuts if self._found is not None else ()
        app.push_screen(WhyNotScreen(self.bench, self._question, cuts, app.memories), app.open_link)
