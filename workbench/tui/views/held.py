"""Draws what was held back as a secret: its heading, one line for each, and one in full with the secret masked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.display.cells import plain, wrap
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, line_width, spread
from workbench.engine.clock import in_zone
from workbench.tui.decisions import REJECTED
from workbench.tui.views.boxes import BOXES
from workbench.tui.views.dates import how_long_ago, short_moment
from workbench.tui.views.memory import link_role
from workbench.tui.views.scopes import knowers
from workbench.tui.views.verdict_lines import key_lines, text_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from workbench.engine.results.memories import HeldMemory
    from workbench.tui.held import Held
    from workbench.tui.query import Query

HELD_GROUP: Final = "held-back:"
HELD_SIGN: Final = "⊘"
_WIDTH = 13
_LABEL = 13
_KINDS = 40
_LONGEST_GIST = 600


@dataclass(frozen=True)
class HeldGroup:
    """Everything that was held back, as one heading."""

    held: tuple[Held, ...]

    @property
    def undecided(self) -> int:
        """Return how many wait."""
        return sum(each.is_open for each in self.held)


def what_of(memory: HeldMemory) -> str:
    """Return in a word what somebody wanted: the store, or that a file was edited."""
    return "edit" if memory.path else memory.store or memory.asked


def who_of(memory: HeldMemory) -> str:
    """Return who wanted what, in words."""
    if memory.path:
        return "Somebody wrote it into a file"
    name = {"person": "You", "main": "The main agent"}.get(memory.role, memory.role.removeprefix("agent:"))
    wanted = "proposed" if memory.asked == "propose" else "wanted to remember"
    return f"{plain(name, 40)} {wanted} it"


def group_line(group: HeldGroup, width: int) -> Line:
    """Draw the heading, with how many wait."""
    total = len(group.held)
    words = f"{group.undecided} of {total} undecided" if group.undecided else f"{total} decided"
    left = (
        Span(f"{HELD_SIGN} ", "decide" if group.undecided else "faint"),
        Span("Held back as secrets", "strong"),
    )
    return spread(left, (Span(words, "soft" if group.undecided else "faint"),), width)


def held_line(held: Held, width: int) -> Line:
    """Draw one: its box, what was wanted, what it says without the secret, and what the secret looks like."""
    memory, faint = held.memory, held.decision == REJECTED
    left: list[Span] = [
        Span(BOXES[held.decision], "decide" if held.is_open else "faint" if faint else "text"),
        gap(1),
        Span(HELD_SIGN, "decide" if held.is_open else "faint"),
        gap(1),
        column(what_of(memory), _WIDTH, "faint" if faint else "soft"),
        gap(1),
    ]
    room = max(1, width - line_width(tuple(left)))
    said = memory.text or memory.path
    left.append(ink(said[:_LONGEST_GIST], "faint" if faint else "text", room))
    right = (ink(" and ".join(memory.kinds), "decide" if held.is_open else "faint", _KINDS), gap(1))
    return cut(spread(tuple(left), (*right, Span(f"#{memory.number}", "faint")), width), width)


def held_head(held: Sequence[Held], width: int) -> list[Line]:
    """Draw how much was held back, and that only a person lets it in."""
    count = sum(each.is_open for each in held)
    if not held:
        return []
    told = f"{count} held back"
    rest = (Span(" · ", "faint"), Span("only you can let one in", "soft"))
    return [cut((Span("Secrets ", "strong"), Span(told, "text"), *rest), width)]


def held_lines(held: Held, revealed: str | None, now: datetime, width: int) -> list[Line]:
    """Draw one in full.

    Args:
        held: What was held back, and what is decided about it already.
        revealed: Its words with the secret in them, while somebody wants to see them.
        now: In the workspace's zone.
        width: Cells.
    """
    memory = held.memory
    moment = in_zone(memory.timestamp, now.tzinfo)
    kinds = " and ".join(memory.kinds)
    told = (Span(f"{HELD_SIGN} ", "decide"), ink(f"Looks like a secret: {kinds}", "strong", width))
    state = Span(f"{BOXES[held.decision]} {held.decision}", "decide" if held.is_open else "strong")
    lines: list[Line] = [
        spread(told, (Span(f"#{memory.number}", "faint"),), width),
        (state,),
        BLANK,
        *text_lines(
            memory.text if revealed is None else revealed, width, "text" if revealed is None else "match"
        ),
        BLANK,
        *key_lines(_verbs(held, revealed is not None), width),
        BLANK,
        *_fact("who", who_of(memory), width),
        *_fact("when", f"{how_long_ago(moment, now)}, {short_moment(moment)}", width),
    ]
    if memory.store:
        lines += _fact("where", f"{memory.store} memory", width)
    if memory.scope:
        lines += _fact("for", knowers(memory.scope), width)
    return [*lines, *_place_lines(memory, width)] if memory.path else lines


def group_lines(group: HeldGroup, width: int) -> list[Line]:
    """Draw what was held back as a whole: why, how many, and what a decision here reaches."""
    why = (
        "History remembers everything, so what looks like a key, a token or a password is not stored before you say "
        "so. It waits outside the memory folder, in a file that only you can read."
    )
    lines: list[Line] = [
        cut((Span(f"{HELD_SIGN} ", "decide"), Span("Held back as secrets", "strong")), width),
        (Span(f"{group.undecided} of {len(group.held)} undecided", "soft"),),
        BLANK,
        *((Span(piece, "soft"),) for piece in wrap(why, width)),
    ]
    if group.undecided:
        lines += [
            BLANK,
            *key_lines(
                (
                    ("a", "lets in what is undecided, secrets and all"),
                    ("m", "stores it without the secrets"),
                    ("r", "drops it"),
                ),
                width,
            ),
        ]
    return lines


def held_matches(query: Query, held: Held, day: date) -> bool:
    """Tell whether something that was held back passes a filter."""
    if not query:
        return True
    memory = held.memory
    fields = {
        "kind": ("secret", *(kind.casefold() for kind in memory.kinds)),
        "decision": (held.decision,),
        "from": (memory.role.casefold(), memory.role.casefold().removeprefix("agent:")),
        "store": ((memory.store or "").casefold(),),
        "is": ("secret",),
    }
    said = (f"#{memory.number}", memory.text, memory.path, memory.role, *memory.kinds)
    return query.matches(fields, "\n".join(said).casefold(), day)


def _place_lines(memory: HeldMemory, width: int) -> list[Line]:
    """Draw the file that somebody wrote into, and what stands there now."""
    link = f"file:{memory.path}" + (f"#L{memory.line}" if memory.line else "")
    place = ink(link.removeprefix("file:"), link_role(link), max(1, width - _LABEL), link)
    now = (
        "the file is as it was written, and that edit stays out of history"
        if memory.left_out
        else "a placeholder stands there"
    )
    return [cut((column("where", _LABEL, "faint"), place), width), *_fact("now", now, width)]


def _fact(label: str, words: str, width: int) -> list[Line]:
    return [
        (column(label if at == 0 else "", _LABEL, "faint"), Span(piece, "soft"))
        for at, piece in enumerate(wrap(words, max(8, width - _LABEL), limit=4))
    ]


def _verbs(held: Held, revealed: bool) -> list[tuple[str, str]]:
    """Return what each key would do, in the words of what it would do here."""
    see = ("x", "mask it again" if revealed else "show the secret, on this screen alone")
    if held.memory.path:
        keep = (
            "let it in: history takes the edit as it is"
            if held.memory.left_out
            else "put it back into the file"
        )
        leave = "take it out of the file" if held.memory.left_out else "leave it out for good"
        return [
            ("a", f"{keep}; the secret is allowed from then on"),
            ("m", f"{leave}: “[secret left out]” stands there then"),
            ("r", "the same"),
            ("o", "look at the file"),
            see,
        ]
    return [
        ("a", "store it as asked; the secret is allowed from then on"),
        ("m", "store it with “[secret left out]” in its place"),
        ("r", "drop all of it, without a trace"),
        see,
    ]
