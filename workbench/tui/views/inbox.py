"""Draws what waits for decisions: who proposes, the sections with their counts, and one line for each item."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, line_width, spread
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.results.reviews import ReviewItem
from workbench.tui.decisions import (
    APPROVED,
    DEFERRED,
    REJECTED,
    UNDECIDED,
    answer_of,
    tally,
    wants_choice,
)
from workbench.tui.held import Held
from workbench.tui.verdicts import Waiting
from workbench.tui.views.boxes import BOXES, CONFIDENCES
from workbench.tui.views.held import HELD_GROUP, HeldGroup, group_line, held_line
from workbench.tui.views.memory import store_of_id
from workbench.tui.views.proposed import (
    UNREADABLE,
    Agent,
    agent_line,
    by_agent,
    proposal_line,
    unreadable_line,
)
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from workbench.tui.decisions import Tally
    from workbench.tui.query import Query

FIELDS = ("kind", "risk", "decision", "confidence", "section", "from", "store", "is")
OVERVIEW = "overview:"
SECTION_KEY = "section:"
_BOX_ROLES: Final = {UNDECIDED: "decide", APPROVED: "text", REJECTED: "faint", DEFERRED: "faint"}
_WORD_ROLES: Final = {UNDECIDED: "text", APPROVED: "soft", REJECTED: "faint", DEFERRED: "faint"}
SIGNS: Final[dict[Kind, str]] = {
    Kind.FACT: "+",
    Kind.ENTITY: "◇",
    Kind.RELATION: "→",
    Kind.MERGE: "⊕",
    Kind.SUPERSESSION: "↻",
    Kind.CONTRADICTION: "≠",
    Kind.ARCHIVE: "↓",
    Kind.RESTORE: "↑",
    Kind.PROCEDURE: "≡",
    Kind.CORE_CHANGE: "◎",
    Kind.PROMOTION: "⇑",
    Kind.DEMOTION: "⇓",
    Kind.VAULT_PIN: "▣",
    Kind.INSIGHT: "✦",
    Kind.QUESTION: "?",
}
_STORES: Final = {
    Kind.PROCEDURE: "procedural",
    Kind.CORE_CHANGE: "core",
    Kind.PROMOTION: "core",
    Kind.DEMOTION: "core",
    Kind.VAULT_PIN: "vault",
    Kind.INSIGHT: "file",
    Kind.QUESTION: "file",
}
RISKS: Final = {"low": "", "medium": "▴", "high": "▴▴"}
_KIND_WIDTH = 13
_RISK_WIDTH, _CONFIDENCE_WIDTH = 2, 3
_LINK = re.compile(r"\[\[([^\[\]|]{1,120})(?:\|([^\[\]]{1,120}))?\]\]")
# Marks that stand before the words of a heading in the file.
_ORNAMENT = re.compile(r"^[^\w\[(«“\"]+")
# More of a text than this never finds room in one line.
_LONGEST_GIST = 600


def store_of(item: ReviewItem) -> str:
    """Return the store that an item is about, for its hue."""
    kind = kind_of(item.kind)
    if kind in (Kind.ARCHIVE, Kind.RESTORE):
        return store_of_id(item.target)
    return _STORES.get(kind, "semantic") if kind is not None else "file"


def sign_of(item: ReviewItem) -> str:
    """Return the glyph of an item’s kind."""
    kind = kind_of(item.kind)
    return SIGNS[kind] if kind is not None else "·"


def section_title(heading: str) -> str:
    """Return a heading of the file without the picture before it, whose width terminals disagree about."""
    return _ORNAMENT.sub("", heading) or heading


def without_links(text: str) -> str:
    """Return a text with `[[type--slug]]` as the bare name."""
    return _LINK.sub(
        lambda found: (found[2] or found[1]).partition("--")[2] or found[2] or found[1], text[:_LONGEST_GIST]
    )


def name_of(item: ReviewItem) -> str:
    """Return what an item is about, for people: its title, or the last part of its target."""
    if item.target.startswith("core:"):
        return item.target.split(":")[1].replace("-", " ").capitalize()
    if item.title and item.title != item.target:
        return item.title
    return item.target.partition("--")[2].partition("#")[0].replace("-", " ") if "--" in item.target else ""


def gist(item: ReviewItem) -> tuple[tuple[str, str], ...]:
    """Return what an item proposes as one line, in parts: each a text, and whether it leads, is said or goes."""
    kind, name = kind_of(item.kind), name_of(item)
    said = without_links(item.after)
    # An item of core memory says itself what it is; a new one is told by its block.
    named = bool(name) and name.casefold() not in said.casefold() and item.target.count(":") != 2
    lead = (f"{name}: " if named else "", "lead")
    if kind is Kind.SUPERSESSION:
        return ((said, "said"), (f" — was {_what_went(without_links(item.before), said)}", "goes"))
    if kind is Kind.RELATION:
        return ((name, "lead"), (" ", "lead"), (said, "said"))
    if kind is Kind.MERGE:
        absorbed = _LINK.search(item.after)
        other = absorbed[1].partition("--")[2].replace("-", " ") if absorbed else said
        return ((other, "goes"), (" is ", "lead"), (name, "said"))
    if kind is Kind.DEMOTION:
        return ((item.before[:_LONGEST_GIST], "goes"),)
    if kind is Kind.QUESTION and (answer := answer_of(item)):
        return ((said, "said"), (f" — {answer}", "lead"))
    if kind is Kind.CONTRADICTION and not wants_choice(item):
        chosen = (item.fields or {}).get("resolve", "")
        words = {"both": "both hold"}.get(chosen, (item.fields or {}).get(chosen, ""))
        return ((said, "said"), (f" — {words}", "lead"))
    if kind in (Kind.ENTITY, Kind.ARCHIVE, Kind.RESTORE, Kind.VAULT_PIN, Kind.PROCEDURE, Kind.INSIGHT):
        return ((said or name, "said"),)
    return (lead, (said, "said"))


def _what_went(before: str, after: str) -> str:
    """Return the words of an old statement between those that both begin and end with; all of it where few are left."""
    old, new = before.split(), after.split()
    shared = min(len(old), len(new))
    head = next((at for at in range(shared) if old[at] != new[at]), shared)
    tail = next((at for at in range(shared - head) if old[-1 - at] != new[-1 - at]), shared - head)
    gone = old[head : len(old) - tail]
    return " ".join(gone) if gone and len(gone) * 2 <= len(old) else before


class InboxRows(SectionedRows["ReviewItem | Waiting | Agent | Held | HeldGroup | str"]):
    """What waits as rows: what was held back as a secret, then what each agent proposes below its name, then what a
    reflection does: an overview, and for each section a heading that can be chosen, its items, and a space.

    Args:
        items: In the order of the file; those of a section stand together wherever they are in the file.
        overview: A line for the whole of the reflection, or empty for none.
        waiting: What agents propose; that of one agent stands together.
        unreadable: What of their file cannot be read.
        held: What was held back as a secret.
    """

    def __init__(
        self,
        items: Sequence[ReviewItem] = (),
        overview: str = "",
        waiting: Sequence[Waiting] = (),
        unreadable: Sequence[str] = (),
        held: Sequence[Held] = (),
    ) -> None:
        super().__init__()
        if held:
            self._add_heading(HeldGroup(tuple(held)), HELD_GROUP)
            for secret in held:
                self._add(secret, secret.key)
        self._overview = overview
        self._unreadable = unreadable
        if unreadable:
            self._add(UNREADABLE, UNREADABLE)
        self.agents = by_agent(waiting)
        for agent in self.agents:
            self._add_heading(agent, agent.key)
            for each in agent.held:
                self._add(each, each.key)
        if overview and len(self):
            self._add(None)
        if overview:
            self._add(OVERVIEW, OVERVIEW)
        self.sections: dict[str, list[ReviewItem]] = {}
        for item in items:
            self.sections.setdefault(item.section, []).append(item)
        for heading, its in self.sections.items():
            self._add_heading(heading, SECTION_KEY + heading)
            for item in its:
                self._add(item, item.id)
        self.items = tuple(item for its in self.sections.values() for item in its)

    def item(self, key: str) -> ReviewItem | None:
        """Return the item of that id."""
        row = self._row(key)
        return row if isinstance(row, ReviewItem) else None

    def held(self, key: str) -> Held | None:
        """Return what was held back, of that row."""
        row = self._row(key)
        return row if isinstance(row, Held) else None

    def held_group(self, key: str) -> HeldGroup | None:
        """Return the heading of all that was held back, if a row is it."""
        row = self._row(key)
        return row if isinstance(row, HeldGroup) else None

    def waiting(self, key: str) -> Waiting | None:
        """Return the proposal of that row."""
        row = self._row(key)
        return row if isinstance(row, Waiting) else None

    def agent(self, key: str) -> Agent | None:
        """Return whose heading a row is."""
        row = self._row(key)
        return row if isinstance(row, Agent) else None

    def next_undecided(self, key: str) -> str:
        """Return the next row after one that waits, from the beginning again at the end; empty without any."""
        here = self.find(key)
        start = -1 if here is None else here
        order = (*range(start + 1, len(self)), *range(start + 1))
        return next((self._row_keys[at] for at in order if self._waits(self._rows[at])), "")

    @staticmethod
    def _waits(row: ReviewItem | Waiting | Agent | Held | HeldGroup | str | None) -> bool:
        return isinstance(row, ReviewItem | Waiting | Held) and row.decision == UNDECIDED

    def target(self, key: str) -> str:
        """Return what an item changes; empty where there is no such item."""
        item = self.item(key)
        return item.target if item is not None else ""

    def under(self, key: str) -> tuple[ReviewItem, ...]:
        """Return the items that a row stands for: itself, all of its section, or all there are."""
        if key == OVERVIEW:
            return self.items
        if key.startswith(SECTION_KEY):
            return tuple(self.sections.get(key.removeprefix(SECTION_KEY), ()))
        item = self.item(key)
        return () if item is None else (item,)

    def line(self, index: int, width: int) -> Line:
        """Draw the overview, a heading, an item, or a space."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, Waiting):
            return proposal_line(row, width)
        if isinstance(row, Agent):
            return agent_line(row, width)
        if isinstance(row, Held):
            return held_line(row, width)
        if isinstance(row, HeldGroup):
            return group_line(row, width)
        if isinstance(row, ReviewItem):
            return item_line(row, width)
        if row == UNREADABLE and self.key(index) == UNREADABLE:
            return unreadable_line(self._unreadable, width)
        if row == OVERVIEW and self.key(index) == OVERVIEW:
            return (ink(self._overview, "decide" if self._overview.startswith("!") else "soft", width),)
        return heading_line(row, tally(self.sections[row]), width)


def heading_line(heading: str, counts: Tally, width: int) -> Line:
    """Draw the heading of a section with how many items it has and how many of them wait."""
    if counts.undecided:
        words = Span(f"{counts.undecided} of {counts.total} undecided", "soft")
    else:
        words = Span(f"{counts.total} decided", "faint")
    return spread((ink(section_title(heading), "strong"),), (words,), width)


def item_line(item: ReviewItem, width: int) -> Line:
    """Draw an item: its box as in the file, glyph and word of its kind, what it says, its marks, risk, confidence."""
    role = _WORD_ROLES.get(item.decision, "text")
    roles = {"lead": "faint" if role == "faint" else "soft", "goes": "faint", "said": role}
    left: list[Span] = [
        Span(BOXES.get(item.decision, BOXES[UNDECIDED]), _BOX_ROLES.get(item.decision, "decide")),
        gap(1),
        Span(sign_of(item), f"store.{store_of(item)}"),
        gap(1),
        column(item.kind, _KIND_WIDTH, "faint" if role == "faint" else "soft"),
        gap(1),
    ]
    room = max(1, width - line_width(tuple(left)))
    left += [ink(text, roles[part], room) for text, part in gist(item) if text]
    right: list[Span] = []
    for word in marks_of(item):
        right += [Span(word, "decide"), gap(1)]
    right += [
        column(
            RISKS.get(item.risk, ""), _RISK_WIDTH, "decide" if item.risk == "high" else "soft", right=True
        ),
        gap(1),
        column(CONFIDENCES.get(item.confidence, ""), _CONFIDENCE_WIDTH, "faint"),
    ]
    return cut(spread(tuple(left), tuple(right), width), width)


def marks_of(item: ReviewItem) -> tuple[str, ...]:
    """Return what is out of the ordinary with an item, a word each."""
    words = (
        ("stale", item.stale),
        ("waits", bool(item.waits) and item.decision == APPROVED),
        ("was rejected", bool(item.resembles)),
    )
    return tuple(word for word, holds in words if holds)


def item_matches(query: Query, item: ReviewItem, day: date) -> bool:
    """Tell whether an item passes a filter."""
    if not query:
        return True
    fields = {
        "kind": (item.kind.casefold(),),
        "risk": (item.risk,),
        "decision": (item.decision,),
        "confidence": (item.confidence,),
        "section": (section_title(item.section).casefold(), *section_title(item.section).casefold().split()),
        "from": ("reflection",),
        "store": (store_of(item),),
        "is": marks_of(item),
    }
    said = (
        item.id,
        item.target,
        item.title,
        item.before,
        item.after,
        item.reason,
        *(item.fields or {}).values(),
    )
    text = "\n".join((*said, *(proof.quote for proof in item.evidence))).casefold()
    return query.matches(fields, text, day)
