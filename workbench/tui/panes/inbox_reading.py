"""Shows what waits in the Inbox: reads it, lists it by section, and lays one item out with what it has to do with."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.message import Message

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError
from workbench.tui.bench import Link
from workbench.tui.decisions import UNDECIDED, tally
from workbench.tui.ink import BLANK, gap, ink
from workbench.tui.palette import PAPER
from workbench.tui.panes.base import Pane
from workbench.tui.panes.desk import Broke, Desk, WasRead
from workbench.tui.query import Query, parse_query
from workbench.tui.verdicts import contradicted_memories, key_of
from workbench.tui.views.cycle import cycle_lines
from workbench.tui.views.decision_progress import progress_lines
from workbench.tui.views.held import group_lines, held_head, held_lines, held_matches
from workbench.tui.views.hits import first_words
from workbench.tui.views.inbox import FIELDS, OVERVIEW, SECTION_KEY, InboxRows, item_matches
from workbench.tui.views.proposal import nothing_waits, overview_lines, overview_title, section_lines
from workbench.tui.views.proposed import UNREADABLE, agents_head, entity_link, proposal_matches
from workbench.tui.views.proposed_detail import Around, agent_lines, proposal_lines, unreadable_lines
from workbench.tui.views.review_item import Related, link_of, review_item_lines
from workbench.tui.views.teaching import teach
from workbench.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import ComposeResult

    from workbench.engine.results import Proposal, ReviewItem
    from workbench.tui.bench import Bench
    from workbench.tui.ink import Line
    from workbench.tui.overlays import Overlays
    from workbench.tui.reflection_work import ReflectionWork
    from workbench.tui.verdicts import Waiting

# Seconds the cursor must rest before related memories are looked for.
REST_FOR_RELATED = 0.15
_MARGIN = 2
_MOST_RELATED = 6
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
    """The half of the Inbox that changes nothing."""

    title: ClassVar = "Inbox"
    filter_hint: ClassVar = "words  kind:  risk:  decision:  from:  is:"

    class FoundAround(Message):
        """What memory says about a proposal was found."""

        def __init__(self, key: str, reading: int, around: Around) -> None:
            super().__init__()
            self.key = key
            self.reading = reading
            self.around = around

    class FoundRelated(Message):
        """Memories that have to do with an item were found."""

        def __init__(self, item_id: str, reading: int, related: Related) -> None:
            super().__init__()
            self.item_id = item_id
            self.reading = reading
            self.related = related

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self.desk = Desk(bench, self.post_message)
        self.rows = InboxRows()
        self._query = Query()
        self._related: dict[str, Related] = {}
        self._around: dict[str, Around] = {}
        self._undone = False
        self._revealed: tuple[str, str] | None = None

    def compose_head(self) -> ComposeResult:
        yield Lines(id="inbox-head", ground=PAPER)

    @property
    def reflection(self) -> ReflectionWork:
        """Return the cycle of reflection that is run from here, if any."""
        return cast("Overlays", self.app).reflection_work

    @property
    def item(self) -> ReviewItem | None:
        """Return the item under the cursor."""
        return self.rows.item(self.list.cursor_key)

    @property
    def waiting(self) -> Waiting | None:
        """Return the proposal of an agent under the cursor."""
        return self.rows.waiting(self.list.cursor_key)

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
        self._related.clear()
        self._around.clear()
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

    def show_detail(self, key: str) -> None:
        review, item = self.desk.review, self.rows.item(key)
        if self._show_held(key) or self._show_proposed(key):
            return
        if review is None:
            self.detail.show(lambda _width: ())
        elif item is not None:
            related = self._related.get(item.id)
            self.detail.show(partial(review_item_lines, item, review.core_tokens, related), key)
            self._look_for_related(item)
        elif key == OVERVIEW:
            self.detail.show(partial(overview_lines, review, self.desk.items, self.bench.now()), key)
        elif key.startswith(SECTION_KEY):
            heading = key.removeprefix(SECTION_KEY)
            prose = (review.prose or {}).get(heading, "")
            self.detail.show(partial(section_lines, heading, prose, self.rows.under(key)), key)
        else:
            self.detail.show(lambda _width: ())

    def _show_held(self, key: str) -> bool:
        """Show what was held back, if that is what the row is about; a secret is masked again once one moves on."""
        if self._revealed is not None and self._revealed[0] != key:
            self._revealed = None
        if held := self.rows.held(key):
            shown = self._revealed[1] if self._revealed is not None else None
            self.detail.show(partial(held_lines, held, shown, self.bench.now()), key)
        elif group := self.rows.held_group(key):
            self.detail.show(partial(group_lines, group), key)
        else:
            return False
        return True

    def _show_proposed(self, key: str) -> bool:
        """Show what an agent proposes, if that is what the row is about."""
        now, by_number = self.bench.now(), self.desk.by_number
        if waiting := self.rows.waiting(key):
            around = self._around.get(key)
            self.detail.show(partial(proposal_lines, waiting, by_number, around, now), key)
            self._look_around(waiting)
        elif agent := self.rows.agent(key):
            self.detail.show(partial(agent_lines, agent), key)
        elif key == UNREADABLE:
            problems = self.desk.proposals.problems
            self.detail.show(partial(unreadable_lines, problems, layout.PENDING_MEMORIES), key)
        else:
            return False
        return True

    def findable(self) -> Iterator[tuple[str, str]]:
        for held in self.desk.held:
            yield f"held back as a secret: {held.memory.text}", held.key
        for each in self.desk.waiting:
            proposal = each.proposal
            yield f"proposal of {proposal.from_ or 'nobody'}: {proposal.content}", each.key
        for item in self.desk.items:
            yield f"{item.kind}: {item.after or item.before}", item.id

    # --- what a proposal has to do with ---------------------------------------------------------------------

    def _look_around(self, waiting: Waiting) -> None:
        if self._asking is not None:
            self._asking.stop()
        if waiting.key not in self._around:
            self._asking = self.set_timer(REST_FOR_RELATED, partial(self._find_around, waiting.proposal))

    @work(thread=True, exclusive=True, group="related")
    def _find_around(self, proposal: Proposal) -> None:
        reading = self._readings
        repeats = (proposal.repeats,) if proposal.repeats and not proposal.repeats.startswith("#") else ()
        asked = (*contradicted_memories(proposal), *repeats)
        about = (entity_link(each) for each in proposal.entities)
        said = {link: self._said(link) for link in (*map(link_of, asked), *about) if link}
        found = {link.id: link for link in self._found(proposal.content)}
        for known in (*said, *proposal.origins):
            found.pop(known, None)
        around = Around(said, tuple(found.values()))
        self.post_message(self.FoundAround(key_of(proposal.number), reading, around))

    def _said(self, memory_id: str) -> str:
        """Return what a memory says; empty where there is none."""
        try:
            return self.bench.memory(memory_id).text
        except WorkbenchError:
            # An entity may be new with the proposal, and a memory may be gone since: the detail says so.
            return ""

    @on(FoundAround)
    def _found_around(self, event: FoundAround) -> None:
        event.stop()
        if event.reading != self._readings:
            return
        if len(self._around) >= _MOST_KNOWN:
            self._around.clear()
        self._around[event.key] = event.around
        if self.list.cursor_key == event.key:
            self.show_detail(event.key)

    # --- what an item has to do with ------------------------------------------------------------------------

    def _look_for_related(self, item: ReviewItem) -> None:
        if self._asking is not None:
            self._asking.stop()
        if item.id not in self._related:
            self._asking = self.set_timer(REST_FOR_RELATED, partial(self._find_related, item))

    @work(thread=True, exclusive=True, group="related")
    def _find_related(self, item: ReviewItem) -> None:
        reading = self._readings
        found = {link.id: link for link in (*self._linked(item), *self._alike(item))}
        for known in (item.target, link_of(item.target), *(proof.id for proof in item.evidence)):
            found.pop(known, None)
        related = Related(tuple(found.values())[:_MOST_RELATED])
        self.post_message(self.FoundRelated(item.id, reading, related))

    def _linked(self, item: ReviewItem) -> Iterator[Link]:
        """Yield what the target of an item is linked with."""
        link = link_of(item.target)
        if not link:
            return
        try:
            memory = self.bench.memory(link)
        except WorkbenchError:
            # What an item proposes may not be there yet; that is no error.
            return
        yield from (*memory.links_from[: _MOST_RELATED // 2], *memory.links_to[: _MOST_RELATED // 2])

    def _alike(self, item: ReviewItem) -> Iterator[Link]:
        """Yield what search finds by an item’s words."""
        yield from self._found(item.after or item.before)

    def _found(self, words: str) -> Iterator[Link]:
        """Yield what search finds by words."""
        try:
            found = self.bench.search(words[:_LONGEST_QUESTION], max_results=_MOST_RELATED)
        except WorkbenchError:
            # The index panel and every search say what is wrong; an item can be decided without this.
            return
        for hit in found.results:
            if hit.id:
                yield Link(hit.id, f"{hit.date}  {first_words(hit)}" if hit.date else first_words(hit))

    @on(FoundRelated)
    def _found_related(self, event: FoundRelated) -> None:
        event.stop()
        if event.reading != self._readings:
            return
        if len(self._related) >= _MOST_KNOWN:
            self._related.clear()
        self._related[event.item_id] = event.related
        if self.list.cursor_key == event.item_id:
            self.show_detail(event.item_id)
