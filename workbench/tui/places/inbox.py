"""Inbox: all that waits for a person in one list, ticked alike, and what became of past reflections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on

from workbench.display import words
from workbench.display.actions import obstacle_words
from workbench.display.card import said_words
from workbench.display.conflicts import conflict_card
from workbench.display.contradiction import Side, outcomes
from workbench.display.deciding import (
    Cited,
    block_in,
    held_card,
    item_card,
    past_card,
    past_row,
    past_title,
    proposal_card,
    source_words,
    statement,
    unreadable_card,
    waiting_row,
)
from workbench.display.ink import BLANK, PRESS_LINK, Span, ink, spread
from workbench.display.words import in_bench, quoted
from workbench.display.writing import preview_card, receipt_card
from workbench.engine.errors import WorkbenchError
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.values import dataclass
from workbench.tui.keys.table import COMMAND
from workbench.tui.parts.evidence import evidence_at, evidence_of_sources
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.rows import Rows
from workbench.tui.places.place import Place
from workbench.tui.places.rewording import file_writing, waiting_writing
from workbench.tui.places.ticks import (
    ANSWER,
    ASIDE,
    PAST,
    SECRETS,
    TICKS,
    UNREADABLE,
    Reflected,
    Unreadable,
    Waiting,
    cannot,
    elsewhere,
    memories_against,
    rivals,
    take_back,
    tick,
    ticked,
    unreadable_files,
    waiting_rows,
)
from workbench.tui.places.writing import Preview, Receipt
from workbench.tui.verbs.act import Act
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.display.card import Card
    from workbench.display.ink import Line
    from workbench.display.transcript import Evidence
    from workbench.engine.results.inbox import Inbox, PastReflection
    from workbench.engine.results.memories import CoreView, Why
    from workbench.engine.results.reviews import Proposal, ReflectionDue, ReviewItem
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject
    from workbench.tui.verbs.rewording import Writing

_MOST_CITED = 4
_NOT_HERE = {
    "pin": "A proposal can be pinned once it is stored.",
    "forget": "⸨decline⸩ declines a proposal.",
    "bring-back": "This is as it is now; there is nothing to bring back.",
    "reinforce": "Only memories are reinforced.",
}
_TEACH = (
    ("Nothing waits for your decision.", "strong"),
    ("", "text"),
    ("What a reflection finds, what agents propose and what looks like a secret waits here.", "soft"),
    ("None of it enters memory until you accept it.", "soft"),
    ("", "text"),
    ("⸨reflect⸩ reads what is new and proposes what to learn from it.", "text"),
    ("", "text"),
    ("Past reflections are listed here by day; ⸨bring-back⸩ takes one back whole.", "soft"),
)


@dataclass(frozen=True)
class Waits:
    """What the place reads.

    Args:
        past: Past reflections, newest first.
        due: Whether a reflection should run.
        said: The words of memories that proposals contradict, by id.
    """

    inbox: Inbox
    past: tuple[PastReflection, ...]
    due: ReflectionDue
    said: Mapping[str, str]
    now: datetime


def words_contradicted(workspace: Workspace, inbox: Inbox) -> dict[str, str]:
    """Return the words of the memories that proposals contradict, by id; called on a thread."""
    against = {each for group in inbox.proposals for one in group for each in memories_against(one)}
    return {each: text for each in against if (text := _words_of(workspace, each))}


class InboxRows(Rows["str", "Waiting | Reflected | Unreadable"]):
    """What waits under what it asks, and past reflections below.

    Args:
        accepts: The key that a click on a box presses.
    """

    def __init__(
        self,
        waiting: Sequence[Waiting],
        past: Sequence[PastReflection],
        now: datetime,
        unreadable: Sequence[Unreadable],
        accepts: str,
    ) -> None:
        super().__init__()
        self._accepts = accepts
        self.waiting = waiting
        self._now = now
        for file in unreadable:
            self.add(file, file.id, UNREADABLE)
        for row in waiting:
            self.add(row, row.id, row.group)
        for each in past:
            reflected = Reflected(f"past:{each.id}", past_title(each, now), each)
            self.add(reflected, reflected.id, PAST)

    def next_open(self, key: str, by: int) -> str:
        """Return the next row after one, or before it, that is not ticked, and round; empty without any."""
        here = self.find(key)
        count = len(self)
        start = (-1 if by > 0 else count) if here is None else here
        for step in range(1, count + 1):
            at = (start + by * step) % count
            row = self.row_at(at)
            if isinstance(row, Waiting) and row.group != ASIDE and not row.tick:
                return row.id
        return ""

    def draw(self, row: Waiting | Reflected | Unreadable, width: int) -> Line:
        """Draw a row."""
        if isinstance(row, Reflected):
            return past_row(row.past, self._now, width)
        if isinstance(row, Unreadable):
            return spread((Span("! ", "danger"), ink(row.title)), (), width)
        tick = "aside" if row.group == ASIDE and not row.tick else row.tick
        # A secret is not stored by a click on a box.
        press = "" if row.held is not None else PRESS_LINK + self._accepts
        return waiting_row(tick, row.words, row.who, width, press)


class InboxPlace(Place):
    """The Inbox."""

    FILTER_KEYS: ClassVar[tuple[str, ...]] = ("from", "kind", "is")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._ticking: dict[str, Waiting] = {}
        self._under_way = 0
        self._revealed = ("", "")
        self._receipt_shown = False
        self._came_to = ""
        self._refusals: dict[str, str] = {}

    # Reading and rows.

    def read(self, workspace: Workspace) -> Waits:
        inbox = workspace.inbox()
        return Waits(
            inbox,
            workspace.reflections().reflections,
            workspace.reflection_due(),
            words_contradicted(workspace, inbox),
            workspace.now(),
        )

    def rows(self, results: Waits) -> InboxRows:
        rows = waiting_rows(results.inbox, results.said)
        shown = [self._ticking.get(row.id, row) for row in rows]
        unreadable = unreadable_files(results.inbox)
        return InboxRows(shown, results.past, results.now, unreadable, self.key("accept"))

    def show(self, results: Waits) -> None:
        if not self._under_way:
            self._ticking.clear()
        if self._receipt_shown:
            # What was done since has an account of its own.
            self.visited[:] = [each for each in self.visited if not isinstance(each, Receipt)]
        super().show(results)
        self._receipt_shown = any(isinstance(each, Receipt) for each in self.visited)
        self._came_to = self.cursor_key if self.visited else ""

    def heading(self, results: Waits, width: int) -> Line:
        rows = self.shown or self.rows(results)
        waiting = [row for row in rows.waiting if row.group != ASIDE or row.tick]
        done = sum(bool(row.tick) for row in waiting)
        if not waiting:
            return (ink("Nothing waits.", "soft"),)
        said = f"{len(waiting)} wait{'s' * (len(waiting) == 1)} · {done} ticked"
        right: Line = ()
        if done:
            right = (Span(self.key("write"), "strong"), ink(f" writes {done}", "decide"))
        return spread((ink(said, "soft"),), right, width)

    @property
    def shown(self) -> InboxRows | None:
        """Return the rows, whatever the filter hides."""
        return self.all_rows if isinstance(self.all_rows, InboxRows) else None

    def empty(self) -> list[Line]:
        if self.filter.text or self.results is None:
            return super().empty()
        due = self.results.due
        reason = words.with_days(due.reason, self.results.now)
        said = f"A reflection is due. {reason}" if due.due else reason
        return [*((ink(line, role),) for line, role in _TEACH), BLANK, (ink(said, "soft"),)]

    def filterable(self, row: Waiting | Reflected | Unreadable) -> Filterable | None:
        if not isinstance(row, Waiting):
            return None
        kind = (
            row.item.kind
            if row.item is not None
            else "secret"
            if row.held is not None
            else "devices"
            if row.conflict is not None
            else "proposal"
        )
        stale = row.item is not None and row.item.stale
        states = ("ticked" if row.tick else "open", *(("stale",) if stale else ()))
        who = row.who or ("reflection" if row.item is not None else "secret")
        return Filterable(f"{row.title} {who}", {"from": (who,), "kind": (kind,), "is": states})

    def key(self, command: str) -> str:
        """Return the key of a command as it is written."""
        return self.frame.keymap.key(command)

    # Keys.

    @property
    def keys(self) -> tuple[str, ...]:
        subject = self.current
        if isinstance(subject, Reflected):
            return ("bring-back", "write", "reflect", "details")
        if isinstance(subject, Unreadable):
            return ("edit", "evidence", "write")
        if not isinstance(subject, Waiting):
            return ("reflect", "write")
        if subject.conflict is not None:
            both = ("both",) if subject.conflict.may_keep_both else ()
            return ("older", "newer", *both, "evidence", "write", "edit", "next")
        if subject.is_clash and subject.item is not None and subject.item.stale:
            return ("decline", "evidence", "write", "next")
        if subject.is_clash:
            return ("older", "newer", "both", "set-aside", "evidence", "write", "edit", "next")
        middle = () if subject.held is not None else ("edit", "set-aside")
        both = ("both",) if subject.is_several else ()
        return ("accept", "decline", *both, *middle, "evidence", "write", "next", "range", "accept-group")

    @property
    def labels(self) -> Mapping[str, str]:
        labels = {"next": "next", "bring-back": "take back", "range": "range"}
        if done := sum(bool(row.tick) for row in self.shown.waiting) if self.shown is not None else 0:
            labels["write"] = f"write {done}"
        subject = self.current
        if isinstance(subject, Waiting) and subject.held is not None:
            labels |= {"accept": "store", "decline": "erase"}
        elif isinstance(subject, Waiting) and cannot(subject, "accept") == ANSWER:
            labels["accept"] = "answer"
        return {command: label for command, label in labels.items() if command in self.keys}

    def do(self, command: str) -> bool:
        subject = self.current
        if command in ("next", "previous"):
            self._go_on(1 if command == "next" else -1, say=True)
        elif isinstance(subject, Reflected) and command == "bring-back":
            refusal = self._refusals.get(subject.past.id, "")
            self.frame.begin(f"It cannot be taken back whole. {refusal}" if refusal else take_back(subject))
        elif isinstance(subject, Memory):
            # What a link of a card opened is a memory like any other.
            return False
        elif command == "accept" and [cannot(row, "accept") for row in self._chosen] == [ANSWER]:
            self.frame.run_named("edit")
        elif command in TICKS:
            self._tick(self._chosen, TICKS[command], COMMAND[command].elsewhere)
        elif command == "accept-group":
            self._tick_group()
        elif command == "reveal":
            self._reveal()
        elif command == "store-elsewhere":
            self._store_elsewhere()
        elif command == "forget" and isinstance(subject, Waiting) and subject.is_clash:
            self.frame.say("Decide between the two with ⸨older⸩ ⸨newer⸩ ⸨both⸩.")
        elif command in _NOT_HERE:
            self.frame.say(_NOT_HERE[command])
        else:
            return False
        return True

    @property
    def _chosen(self) -> tuple[Waiting, ...]:
        return tuple(each for each in self.subjects if isinstance(each, Waiting))

    def _tick(self, rows: tuple[Waiting, ...], wanted: str, elsewhere: str) -> None:
        if not rows:
            self.frame.say(elsewhere)
            return
        answer, self.reworded = tick(rows, wanted, self.reworded), ""
        if isinstance(answer, str):
            self.frame.say(answer)
            return
        done = ticked(rows, wanted)
        self.list.clear_marks()
        self._ticking |= {row.id: row for row in done}
        if any(row.is_several for row in done):
            # What becomes of its rivals is known once it is read.
            self._ticking.clear()
        self._act(answer)
        self._draw_rows()
        if len(done) == 1 and done[0].tick and not rows[0].tick:
            self._go_on(1, say=False)

    def _act(self, act: Act) -> None:
        """Have something kept; what is shown of it counts until it is read again."""
        call, app = act.call, self.app
        self._under_way += 1

        def keep(workspace: Workspace) -> str:
            try:
                return call(workspace)
            finally:
                app.call_later(self._is_over)

        self.frame.begin(replace(act, call=keep))

    def _is_over(self) -> None:
        self._under_way -= 1

    def _draw_rows(self) -> None:
        if self.results is not None:
            self.all_rows = self.rows(self.results)
            self.show_rows()
            self.head.refresh()

    def _tick_group(self) -> None:
        subject = self.subject(self.cursor_key)
        if not isinstance(subject, Waiting) or self.shown is None:
            self.frame.say(COMMAND["accept-group"].elsewhere)
            return
        of_group = [row for row in self.shown.waiting if row.group == subject.group]
        # What was decided stays as it was decided; with nothing left to accept, the key takes its ticks away.
        rows = tuple(row for row in of_group if not row.tick) or tuple(
            row for row in of_group if row.tick == "accept"
        )
        if subject.group == SECRETS:
            self.frame.say("Decide on each secret separately.")
        elif not rows:
            self.frame.say("All of these are decided.")
        else:
            self._tick(rows, "accept", COMMAND["accept"].elsewhere)

    def _go_on(self, by: int, *, say: bool) -> None:
        rows = self.shown
        following = rows.next_open(self.cursor_key, by) if rows is not None else ""
        if following and following != self.cursor_key:
            self.reveal(following)
        elif say:
            self.frame.say(
                "This is the only row that is not ticked."
                if following
                else f"Everything here is decided; {self.key('write')} writes it."
                if rows is not None and any(row.tick for row in rows.waiting)
                else "Everything here is decided."
            )

    # Secrets.

    def _reveal(self) -> None:
        subject = self.current
        if not isinstance(subject, Waiting) or subject.held is None:
            self.frame.say(COMMAND["reveal"].elsewhere)
            return
        number, title = subject.held.number, quoted(subject.title)
        if self._revealed[0] == subject.id:
            self._mask()
            self.frame.say(f"Masked {title} again.")
            return

        def show(workspace: Workspace) -> str:
            text = workspace.secrets_reveal(number).text
            self.app.call_later(self._was_revealed, subject.id, text)
            return f"Shows {title} until you move on."

        self.frame.begin(Act(show, "Show the secret on this screen, until you move on?", "show it"))

    def _was_revealed(self, key: str, text: str) -> None:
        if key == self.cursor_key:
            self._revealed = (key, text)

    def _mask(self) -> None:
        if self._revealed[0]:
            self._revealed = ("", "")
            self.frame.read_card()

    @on(ListPart.Moved)
    def _moved_on(self, event: ListPart.Moved) -> None:
        if self.visited and event.key == self._came_to:
            # Rows came or went; nobody moved.
            event.stop()
        else:
            self._mask()

    def _store_elsewhere(self) -> None:
        subject = self.current
        is_one = isinstance(subject, Waiting) and (subject.held is not None or len(subject.proposals) == 1)
        if not isinstance(subject, Waiting) or not is_one or (subject.held is not None and subject.held.path):
            self.frame.say(COMMAND["store-elsewhere"].elsewhere)
            return
        row = subject

        def take(text: str) -> Act | str | None:
            store = text.strip().casefold()
            if store not in MEMORY_STORES:
                return f"There is no store “{store[:20]}”; there are {', '.join(MEMORY_STORES)}."
            self._act(elsewhere(row, store))
            return None

        self.frame.editing.ask(
            "Store in",
            complete=lambda text: [each for each in MEMORY_STORES if each.startswith(text.casefold())],
            take=take,
        )

    # Cards.

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        now = workspace.now()
        if isinstance(subject, Preview):
            return preview_card(subject.preview, subject.titles, subject.scored, now.date())
        if isinstance(subject, Receipt):
            return receipt_card(subject.written, subject.titles)
        if isinstance(subject, Reflected):
            refusal = ""
            if subject.past.taken_back is None:
                try:
                    workspace.rollback(reflection=subject.past.id, dry_run=True)
                except WorkbenchError as error:
                    refusal = obstacle_words(in_bench(error.message))
            self._refusals[subject.past.id] = refusal
            return past_card(subject.past, refusal, now, self.key)
        if isinstance(subject, Unreadable):
            return unreadable_card(subject.path, subject.problems, self.key)
        if not isinstance(subject, Waiting):
            return super().read_card(workspace, subject)
        if subject.held is not None:
            revealed = self._revealed[1] if self._revealed[0] == subject.id else ""
            return held_card(subject.held, revealed, self._held_keys(subject), now)
        if subject.conflict is not None:
            return conflict_card(subject.conflict, now, self.key)
        if subject.item is not None:
            item = subject.item
            cited = [Cited(each, _why(workspace, each.id)) for each in item.evidence[:_MOST_CITED]]
            cited += [Cited(each) for each in item.evidence[_MOST_CITED:]]
            return item_card(item, cited, _core_with(workspace, item), now, self.key)
        return self._proposal_card(workspace, subject, now)

    def _held_keys(self, row: Waiting) -> list[tuple[str, str]]:
        held = row.held
        assert held is not None
        if held.path:
            keep = "let history take the edit as it is" if held.left_out else "put it back into the file"
            rest = "the file then says “[secret left out]”"
        else:
            keep, rest = "store it, secret and all", "store the rest, “[secret left out]” in its place"
        keys = [
            (self.key("accept"), f"{keep}; the secret is allowed from then on"),
            (self.key("store-without"), rest),
            (self.key("decline"), f"erase it for good{'; ' + rest if held.path else ''}"),
            (self.key("reveal"), "show the secret, or mask it again"),
        ]
        return keys if not held.path else [*keys, (self.key("evidence"), "look at the file")]

    def _proposal_card(self, workspace: Workspace, row: Waiting, now: datetime) -> Card:
        first = row.proposals[0]
        sides: list[Side] = []
        keys: Sequence[tuple[str, str]] = ()
        effect = ""
        if len(row.proposals) == 2:
            sides = [_proposal_side(each, now) for each in row.proposals]
            keys = outcomes(
                sides[0].text, sides[1].text, "declined, and stays declined", self.key, "stays declined"
            )
        elif row.is_clash and memories_against(first):
            memory = memories_against(first)[0]
            sides = [_memory_side(workspace, memory, now), _proposal_side(first, now)]
            keys = outcomes(sides[0].text, sides[1].text, _becomes(memory), self.key, "stays declined")
        elif row.is_several:
            # Today shows the card before anybody has been here.
            inbox = self.results.inbox if self.results is not None else workspace.inbox()
            waiting = {each.number: each for group in inbox.proposals for each in group}
            sides = [
                _proposal_side(first, now),
                *(_memory_side(workspace, each, now) for each in memories_against(first)),
                *(_proposal_side(waiting[each], now) for each in rivals(first) if each in waiting),
            ]
            keys = (
                (self.key("accept"), "take this; the others are declined, and memory drops what they say"),
                (self.key("decline"), "decline this one alone"),
                (self.key("both"), "keep all, marked as contradicting"),
            )
        else:
            effect = _effect(row)
        return proposal_card(row.proposals, sides, effect, keys, now)

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | str | None:
        if isinstance(subject, Waiting):
            return evidence_of_sources(workspace, subject.sources)
        if isinstance(subject, Unreadable):
            return evidence_at(workspace, f"file:{subject.path}#L{subject.line}")
        if isinstance(subject, Memory):
            return super().read_evidence(workspace, subject)
        return None

    def writing(self, workspace: Workspace, subject: Subject) -> Writing | str:
        if isinstance(subject, Waiting):
            return waiting_writing(workspace, subject)
        if isinstance(subject, Unreadable):
            return file_writing(workspace, subject)
        return (
            "History stays as it was."
            if isinstance(subject, Reflected)
            else super().writing(workspace, subject)
        )


def _words_of(workspace: Workspace, memory_id: str) -> str:
    """Return what a memory says, without what is known about it; empty where it is gone."""
    with suppress(WorkbenchError):
        return statement(workspace.show(memory_id, count_access=False, history=False).text)
    return ""


def _why(workspace: Workspace, memory_id: str) -> Why | None:
    with suppress(WorkbenchError):
        return workspace.why(memory_id)
    return None


def _memory_side(workspace: Workspace, memory_id: str, now: datetime) -> Side:
    why = _why(workspace, memory_id)
    by = said_words(why.said[0], now) if why is not None and why.said else source_words(memory_id, now)
    text = _words_of(workspace, memory_id) or "It is no longer there."
    quote = why.said[0].quote if why is not None and why.said and why.said[0].id != memory_id else ""
    return Side(text, f"memory · {by}", quote, memory_id)


def _proposal_side(proposal: Proposal, now: datetime) -> Side:
    when = f" · {words.moment(proposal.timestamp, now)}" if proposal.timestamp is not None else ""
    return Side(
        proposal.content,
        f"{proposal.from_ or 'nobody'}{when}",
        proposal.trigger,
        next(iter(proposal.origins), ""),
    )


def _becomes(memory_id: str) -> str:
    if "#^" in memory_id:
        return "kept as what held until today"
    return "taken out of core memory" if memory_id.startswith("core:") else "archived"


def _effect(row: Waiting) -> str:
    proposal = row.proposals[0]
    store = row.store or proposal.store
    said = {
        "semantic": "It becomes a fact in the Graph",
        "episodic": "It goes into the Timeline",
        "procedural": "It becomes a procedure",
        "vault": "It goes into the vault and never fades",
        "core": "It is always with the agent",
    }.get(store, "It is stored where it belongs")
    core = ", and is always with the agent" if proposal.core_worthy and store != "core" else ""
    yours = f" In your words: {quoted(row.text)}" if row.text else ""
    return f"{said}{core}.{yours}"


def _core_with(workspace: Workspace, item: ReviewItem) -> tuple[CoreView, CoreView] | None:
    """Return core memory as it is, and as it would be with an item in it."""
    if kind_of(item.kind) not in (Kind.CORE_CHANGE, Kind.PROMOTION):
        return None
    core = workspace.core()
    block = block_in(core, item.target)
    if block is None:
        return None
    with suppress(WorkbenchError):
        return core, workspace.core_preview(
            block, item.after, id=item.target if item.target.count(":") == 2 else None
        )
    return None
