"""Draws what agents propose to remember as lines of the Inbox: who proposes, and one line for each proposal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.display.cells import plain
from workbench.display.ink import Line, Span, column, cut, gap, ink, line_width, spread
from workbench.engine.identifiers import MEMORY_STORES, entity_id, entity_type
from workbench.tui.decisions import DEFERRED, REJECTED
from workbench.tui.views.boxes import BOXES, CONFIDENCES
from workbench.tui.views.memory import STORE_SIGNS
from workbench.tui.views.scopes import SCOPE_FROM, scope_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from workbench.engine.results.reviews import Proposal
    from workbench.tui.query import Query
    from workbench.tui.verdicts import Waiting

AGENT_KEY: Final = "agent:"
UNREADABLE: Final = "unreadable:"
AGENT_SIGN: Final = "⇢"
_WIDTH = 13
_NAME = 40
_LONGEST_GIST = 600


@dataclass(frozen=True)
class Agent:
    """Who proposes, with everything it proposes.

    Args:
        name: As the file says; may be empty, and may be `main` or `person`.
        held: In the order of the file.
    """

    name: str
    held: tuple[Waiting, ...]

    @property
    def key(self) -> str:
        """Return the id of its row."""
        return AGENT_KEY + self.name

    @property
    def undecided(self) -> int:
        """Return how many wait."""
        return sum(each.is_open for each in self.held)


def by_agent(waiting: Iterable[Waiting]) -> tuple[Agent, ...]:
    """Return proposals by who sent them, in the order in which each first did."""
    held: dict[str, list[Waiting]] = {}
    for each in waiting:
        held.setdefault(each.proposal.from_, []).append(each)
    return tuple(Agent(name, tuple(theirs)) for name, theirs in held.items())


def agent_title(name: str) -> str:
    """Return who proposes, in words."""
    if name == "person":
        return "You propose"
    if name == "main":
        return "The main agent proposes"
    return f"{plain(name, _NAME)} proposes" if name.strip() else "Nobody named proposes"


def store_of(proposal: Proposal) -> str:
    """Return the store that is suggested; `file`, which is none, where that makes no sense."""
    return proposal.store if proposal.store in MEMORY_STORES else "file"


def entity_link(named: str) -> str:
    """Return the link to an entity that a proposal is about: an id, or `TYPE:NAME`; empty for what is neither."""
    bare = named.strip().removeprefix("entity:")
    if "--" in bare:
        return f"entity:{bare}"
    kind, colon, name = bare.partition(":")
    return str(entity_id(kind, name)) if colon and name.strip() and entity_type(kind) else ""


def agent_line(agent: Agent, width: int) -> Line:
    """Draw the heading of what one agent proposes, with how many of it wait."""
    total = len(agent.held)
    if agent.undecided:
        words = Span(f"{agent.undecided} of {total} undecided", "soft")
    else:
        words = Span(f"{total} decided", "faint")
    left = (
        Span(f"{AGENT_SIGN} ", "decide" if agent.undecided else "faint"),
        ink(agent_title(agent.name), "strong"),
    )
    return spread(left, (words,), width)


def proposal_line(waiting: Waiting, width: int) -> Line:
    """Draw a proposal: its box, glyph and word of its store, what it says, what is out of the ordinary, how sure."""
    proposal, faint = waiting.proposal, waiting.decision in (REJECTED, DEFERRED)
    store = store_of(proposal)
    left: list[Span] = [
        Span(BOXES[waiting.decision], "decide" if waiting.is_open else "faint" if faint else "text"),
        gap(1),
        Span(STORE_SIGNS[store], f"store.{store}"),
        gap(1),
        column(proposal.store or "any store", _WIDTH, "faint" if faint else "soft"),
        gap(1),
    ]
    room = max(1, width - line_width(tuple(left)))
    left.append(ink(proposal.content[:_LONGEST_GIST], "faint" if faint else "text", room))
    right: list[Span] = []
    if proposal.scope and width >= SCOPE_FROM:
        right += [ink(scope_words(proposal.scope), "soft", _NAME), gap(1)]
    for word in marks_of(proposal):
        right += [Span(word, "decide"), gap(1)]
    right += [Span(f"#{proposal.number}", "faint"), gap(1)]
    right.append(column(CONFIDENCES.get(proposal.confidence, ""), 3, "faint"))
    return cut(spread(tuple(left), tuple(right), width), width)


def marks_of(proposal: Proposal) -> tuple[str, ...]:
    """Return what is out of the ordinary with a proposal, a word each."""
    words = (
        ("≠ conflict", bool(proposal.conflicts_with)),
        ("= known", proposal.repeats is not None),
        ("◎ core", proposal.core_worthy),
    )
    return tuple(word for word, holds in words if holds)


def proposal_matches(query: Query, waiting: Waiting, day: date) -> bool:
    """Tell whether a proposal passes a filter."""
    if not query:
        return True
    proposal = waiting.proposal
    fields = {
        "kind": ("proposal", proposal.type.casefold()),
        "decision": (waiting.decision,),
        "confidence": (proposal.confidence,),
        "from": (proposal.from_.casefold(),),
        "store": (proposal.store.casefold(),),
        "section": (proposal.from_.casefold(),),
        "is": tuple(word.partition(" ")[2] for word in marks_of(proposal)),
    }
    said: Sequence[str] = (
        f"#{proposal.number}",
        proposal.content,
        proposal.from_,
        proposal.trigger,
        *proposal.entities,
        *proposal.tags,
    )
    return query.matches(fields, "\n".join(said).casefold(), day)


def unreadable_line(problems: Sequence[str], width: int) -> Line:
    """Draw the row that stands for the parts of the file which cannot be read."""
    what = "one part" if len(problems) == 1 else f"{len(problems)} parts"
    return (ink(f"! {what} of what agents propose cannot be read", "decide", width),)


def agents_head(waiting: Sequence[Waiting], width: int) -> list[Line]:
    """Draw how many proposals of agents wait, and that a verdict on them takes effect at once."""
    count = sum(each.is_open for each in waiting)
    if not waiting:
        return []
    if not count:
        words = f"{len(waiting)} left to the next reflection" if waiting else ""
        return [cut((Span("Agents ", "strong"), Span(words, "soft")), width)]
    told = f"{count} proposal{'s' * (count != 1)} wait{'s' * (count == 1)}"
    full = (Span(" · ", "faint"), Span("a", "strong"), Span(" stores at once, ", "soft"), Span("u", "strong"))
    return [cut((Span("Agents ", "strong"), Span(told, "text"), *full, Span(" undoes", "soft")), width)]
