"""Reads what waits in the Inbox, lists it by source and section, and finds what memory says about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.message import Message

from workbench.display.ink import BLANK, gap, ink
from workbench.engine.errors import WorkbenchError
from workbench.engine.requests import SearchRequest
from workbench.tui.bench import Link
from workbench.tui.decisions import UNDECIDED, tally
from workbench.tui.palette import PAPER
from workbench.tui.panes.base import Pane
from workbench.tui.panes.desk import Broke, Desk, WasRead
from workbench.tui.query import Query, parse_query
from workbench.tui.views.cycle import cycle_lines
from workbench.tui.views.decision_progress import progress_lines
from workbench.tui.views.held import held_head, held_matches
from workbench.tui.views.hits import first_words
from workbench.tui.views.inbox import FIELDS, InboxRows, item_matches
from workbench.tui.views.proposal import nothing_waits, overview_title
from workbench.tui.views.proposed import agents_head, proposal_matches
from workbench.tui.views.proposed_detail import Around
from workbench.tui.views.review_item import Related
from workbench.tui.views.teaching import teach
from workbench.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.tui.bench import Bench
    from workbench.tui.overlays import Overlays
    from workbench.tui.reflection_work import ReflectionWork

# Seconds the cursor must rest before related memories are looked for.
REST_FOR_RELATED = 0.15
_MARGIN = 2
MOST_RELATED = 6
_MOST_KNOWN = 500
_LONGEST_QUESTION = 300
_NOTHING_MATCHES = teach(
    "Nothing matches.",
    "Words must all occur; kind:, risk:, decision:, confidence:, section:, from:, store: and is:stale narrow further, "
    "a minus turns a condition round.",
    ("decision:undecided -risk:low", "for example."),
    ("from:researcher is:conflict", "what one agent proposes that contradicts something."),
    ("esc", "shows everything again."),
)
_REFLECTING = teach(
    "A reflection is running.",
    "What it proposes appears here. You can go on with anything else meanwhile; nothing is written before it is done.",
    ("c", "calls it off."),
)


class InboxReading(Pane):
    """What all sources of the Inbox share: the desk, the list, the lines above it."""

    title: ClassVar = "Inbox"
    filter_hint: ClassVar = "words  kind:  risk:  decision:  from:  is:"

    class Found(Message):
        """What memory says about something that waits was found."""

        def __init__(self, key: str, reading: int, about: Around | Related) -> None:
            super().__init__()
            self.key = key
            self.reading = reading
            self.about = about

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self.desk = Desk(bench, self.post_message)
        self.rows = InboxRows()
        self._query = Query()
        self.about: dict[str, Around | Related] = {}
        self._undone = False

    def compose_head(self) -> ComposeResult:
        yield Lines(id="inbox-head", ground=PAPER)

    @property
    def reflection(self) -> ReflectionWork:
        """Return the cycle of reflection that is run from here, if any."""
        return cast("Overlays", self.app).reflection_work

    def teach(self, width: int) -> Sequence[Line]:
        if self.desk.items or self.desk.at_once:
            return _NOTHING_MATCHES(width)
        if self.desk.problem is not None:
            mend = ("E", "opens the file in your editor.")
            return teach("The proposal cannot be read.", self.desk.problem.told, mend)(width)
        if self.reflection.running:
            return _REFLECTING(width)
        problems = self.desk.review.problems if self.desk.review is not None else ()
        return nothing_waits(self.desk.due, problems, self.bench.now(), width)

    # --- reading --------------------------------------------------------------------------------------------

    @property
    def is_reading(self) -> bool:
        return self.desk.is_reading or super().is_reading

    def reload(self) -> None:
        self.desk.read()

    @on(WasRead)
    def _was_read(self, event: WasRead) -> None:
        event.stop()
        first, wanted = self.desk.review is None, self.wanted_key
        decided = {item.id for item in self.desk.items if item.decision != UNDECIDED}
        was_open = {each.key for each in self.desk.at_once if each.is_open}
        self.desk.take_in(event)
        self.has_read()
        self.about.clear()
        self.draw()
        if first and not wanted and (self.desk.at_once or tally(self.desk.items).decided):
            self.list.go_to(self.rows.next_undecided(""))
        open_again = [each.key for each in self.desk.at_once if each.is_open and each.key not in was_open]
        open_again += [
            item.id for item in self.rows.items if item.id in decided and item.decision == UNDECIDED
        ]
        if self._undone and open_again:
            self._undone = False
            self.list.go_to(open_again[0])

    def undone(self) -> None:
        """Go to what waits again, as soon as it is known: the next key is meant for it."""
        self._undone = True

    @on(Broke)
    def _broke(self, event: Broke) -> None:
        event.stop()
        raise event.error

    def apply_filter(self, text: str) -> None:
        self._query = parse_query(text, FIELDS, self.bench.now().date())
        self.draw()

    # --- drawing --------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Draw everything from what is on the desk."""
        today = self.bench.now().date()
        shown = [item for item in self.desk.items if item_matches(self._query, item, today)]
        review = self.desk.review
        overview = overview_title(review) if review is not None and review.items and not self._query else ""
        waiting = [each for each in self.desk.waiting if proposal_matches(self._query, each, today)]
        unreadable = () if self._query else self.desk.proposals.problems
        held = [each for each in self.desk.held if held_matches(self._query, each, today)]
        self.rows = InboxRows(shown, overview, waiting, unreadable, held)
        self.list.show(self.rows)
        if self.wanted_key and self.list.go_to(self.wanted_key):
            self.wanted_key = ""
        everything = len(self.desk.items) + len(self.desk.at_once)
        self.filter_bar.set_count(len(shown) + len(waiting) + len(held), everything)
        self.query_one("#inbox-head", Lines).show(self._head)
        self.show_detail(self.list.cursor_key)
        self.refresh_bindings()

    def _head(self, width: int) -> list[Line]:
        """Draw the cycle that runs, how much agents propose, and how far the decisions are."""
        review, cycle, room = self.desk.review, self.reflection, max(10, width - 2 * _MARGIN)
        lines: list[Line] = []
        if cycle.running:
            lines += [*cycle_lines(cycle.progress, cancelled=cycle.cancelled, width=room), BLANK]
        lines += held_head(self.desk.held, room)
        if self.desk.held_problem is not None:
            lines += [(ink(f"! {self.desk.held_problem.told}", "decide", room),)]
        if lines and lines[-1] and not self.desk.waiting:
            lines.append(BLANK)
        if self.desk.waiting:
            lines += [*agents_head(self.desk.waiting, room), BLANK]
            if self.desk.problem is not None:
                # Where nothing else waits the list itself says so.
                told = (
                    f"! What the reflection proposes cannot be read; E opens it. {self.desk.problem.message}"
                )
                lines += [(ink(told, "decide", room),), BLANK]
        if review is not None and review.items:
            lines += [*progress_lines(review, self.desk.items, room), BLANK]
        return [(gap(_MARGIN), *line) if line else BLANK for line in lines]

    def reflection_moved(self) -> None:
        """Be told that the cycle came further, or to an end."""
        self.query_one("#inbox-head", Lines).show(self._head)
        self.list.refresh()
        self.refresh_bindings()

    def findable(self) -> Iterator[tuple[str, str]]:
        for held in self.desk.held:
            yield f"held back as a secret: {held.memory.text}", held.key
        for each in self.desk.waiting:
            proposal = each.proposal
            yield f"proposal of {proposal.from_ or 'nobody'}: {proposal.content}", each.key
        for item in self.desk.items:
            yield f"{item.kind}: {item.after or item.before}", item.id

    # --- what memory says about it --------------------------------------------------------------------------

    def look_around(self, key: str, find: Callable[[], object]) -> None:
        """Have something looked for once the cursor rests, unless it is known already."""
        if self._asking is not None:
            self._asking.stop()
        if key not in self.about:
            self._asking = self.set_timer(REST_FOR_RELATED, find)

    def found_by(self, words: str) -> Iterator[Link]:
        """Yield what search finds by words."""
        try:
            found = self.bench.search(SearchRequest(words[:_LONGEST_QUESTION], max_results=MOST_RELATED))
        except WorkbenchError:
            # The index panel and every search say what is wrong; an item can be decided without this.
            return
        for hit in found.results:
            if hit.id:
                yield Link(hit.id, f"{hit.date}  {first_words(hit)}" if hit.date else first_words(hit))

    @on(Found)
    def _found(self, event: Found) -> None:
        event.stop()
        if event.reading != self._readings:
            return
        if len(self.about) >= _MOST_KNOWN:
            self.about.clear()
        self.about[event.key] = event.about
        if self.list.cursor_key == event.key:
            self.show_detail(event.key)
