"""Draws the card of a memory: what it says, why it is believed, what uses it, when it fades, what became of it.

A sentence of it may name a command, `⸨undo⸩ takes that back`, and is told with the key it has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from workbench.display import words
from workbench.display.action_words import named, plainly
from workbench.display.cells import wrap
from workbench.display.diffing import diff_lines
from workbench.display.ink import BLANK, PRESS_LINK, Line, Span, gap, ink, line_width, plain_text, wrap_line
from workbench.display.markdown import markdown_lines
from workbench.display.rows import store_sign
from workbench.display.words import counted
from workbench.engine.patterns import lazy_pattern
from workbench.engine.requests import ASKED_FOR
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from workbench.display.diffing import DiffRow
    from workbench.engine.results.decay import DecayExplained
    from workbench.engine.results.memories import Saying, Shown, Validity, Why

# Prose is set no wider.
MEASURE = 88
_LABEL = 9
_TWO_COLUMNS, _APART = 68, 3
_BESIDE = 60
_LAST_CHANGES = 4
_LAST_USES = 5
_MOST_QUOTES = 3
_LONGEST_QUOTE = 240
# What begins a heading in Markdown; the card has a heading of its own look.
_COMMENT = lazy_pattern(r"<!--.*?-->", re.DOTALL)
_HEADING = lazy_pattern(r"\A#{1,6} ")
# The section of a procedure that names its sources, with its items.
_SOURCES = lazy_pattern(r"^#+[ \t]*(?:Learned From|来源)[ \t]*\n(?:[ \t]*(?:[-*+].*)?\n?)*", re.MULTILINE)
KeyOf: TypeAlias = Callable[[str], str]
"""Returns the key that runs a command, given its id, as people write it; empty if no key does."""
NAMED = lazy_pattern(r"⸨([a-z-]+)⸩")


@dataclass(frozen=True)
class Section:
    """A part of a card under a word of its own: WHY, USED BY.

    Args:
        lines: What stands beside or below it, each wrapped as it needs.
        hangs: How many spans begin a line; what follows them stays to their right where the line is wrapped.
        draw: Draws for a width what follows the lines, such as a bar.
    """

    label: str
    lines: tuple[Line, ...]
    hangs: int = 0
    draw: Callable[[int], Sequence[Line]] | None = None

    @classmethod
    def of(cls, label: str, text: str, role: str = "text", link: str = "") -> Section:
        """Return a section of one line that has one meaning; see `ink`."""
        return cls(label, ((ink(text, role, None, link),),))


@dataclass(frozen=True)
class Beside:
    """Two sections that stand beside one another where there is room, and below one another where there is not."""

    left: Section
    right: Section


@dataclass(frozen=True)
class Differs:
    """How a text differs from another, word by word: side by side where there is room, else one below the other.

    Args:
        rows: From `diffing.compare`.
    """

    label: str
    rows: tuple[DiffRow, ...]


@dataclass(frozen=True)
class Walked:
    """A fact or relation on the card of an entity.

    Args:
        link: Its id; what it says where its line has none.
        entity: Id of the entity.
        name: What the entity is called.
        pinned: Whether the entity is.
        retired: Whether it holds no longer.
        edge: From, relation and to; None for a fact.
    """

    link: str
    title: str
    entity: str
    name: str
    pinned: bool = False
    retired: bool = False
    edge: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Card:
    """What is said of one thing.

    Args:
        text: What it says, of any number of paragraphs.
        kind: One line below it: what it is and how it stands.
        sections: In order.
        details: Shown on demand: formula, id, file and lines.
        walked: What its cursor goes to line by line: the facts and relations of an entity.
        body: Draws for a width what stands instead of the text: a change, two statements.
        first: What is to be seen first: a paragraph of the text, counted from 0, or where a link stands.
    """

    title: str
    text: str
    kind: Line = BLANK
    sections: tuple[Section | Beside | Differs, ...] = ()
    details: tuple[Section, ...] = ()
    walked: tuple[Walked, ...] = ()
    body: Callable[[int], Sequence[Line]] | None = None
    first: int | str = 0


def memory_card(
    shown: Shown,
    why: Why | None,
    explained: DecayExplained | None,
    titles: Mapping[str, str],
    now: datetime,
    disputed: str = "",
    *,
    whole: bool = False,
) -> Card:
    """Return the card of a memory.

    Args:
        why: What it rests on; None to say what it names as its sources.
        explained: Its score, or None where it has none.
        titles: Titles by id, of what it names and what names it.
        disputed: What waits for a decision against it; empty where nothing does.
        whole: Whether all is listed, instead of the first few of each kind.
    """
    pinned = shown.score is not None and bool(shown.score.terms.get("pinned"))
    standing = [words.kind(shown.store)]
    if words.corrected_by(shown.text)[0]:
        standing.append("corrected")
    if shown.retired:
        standing.append("no longer holds")
    if pinned:
        standing.append("pinned")
    if shown.store == "core":
        standing.append("always with the agent")
    elif shown.score is not None and not pinned:
        standing.append(shown.score.status)
    if shown.scope is not None:
        standing.append(f"for {shown.scope}")
    kind = (store_sign(shown.store), ink(" · ".join(standing), "soft"))
    corrected, said = words.corrected_by(shown.text)
    sections = [Section.of("WAITS", disputed, "decide")] if disputed else []
    if corrected:
        before = words.without_id(titles.get(corrected) or words.origin(corrected))
        sections.append(Section.of("BEFORE", f"“{before}”", "soft+link", corrected))
    if why is not None:
        sections.append(Section("WHY", why_lines(why, now, whole=whole)))
    if why is None and shown.provenance:
        sections.append(Section("FROM", named_lines(shown.provenance, titles, whole=whole)))
    if held := _held(shown.validity, titles, now):
        sections.append(Section("HELD" if shown.retired else "HOLDS", (held,)))
    if shown.links.from_:
        sections.append(Section("USED BY", named_lines(shown.links.from_, titles, whole=whole)))
    if names := tuple(each for each in shown.links.to if each not in (*shown.provenance, corrected)):
        sections.append(Section("NAMES", named_lines(names, titles, whole=whole)))
    if explained is not None:
        sections.append(fades_section(explained))
    if shown.history:
        sections.append(Section("HISTORY", history_lines(shown, now, whole=whole), hangs=1))
    text = said if corrected else shown.text
    if shown.store == "procedural":
        # WHY says what it was learned from.
        text = _SOURCES.sub("", text).rstrip()
    return Card(
        text if corrected else shown.title or shown.text,
        text,
        kind,
        tuple(sections),
        tuple(detail_sections(shown, explained)),
        body=page_body(text),
    )


def gone_card(title: str) -> Card:
    """Return the card of a memory that is not there any more."""
    back = (ink("⸨history⸩ shows what became of it; what is taken back there is there again.", "soft"),)
    return Card(title, title, (ink("no longer in memory", "soft"),), (Section("HISTORY", (back,)),))


def unread_card(title: str, said: str) -> Card:
    """Return the card of what cannot be read.

    Args:
        said: Why, and what mends it.
    """
    return Card(title, title, (), (Section.of("CANNOT BE READ", said, "danger"),))


def page_body(text: str) -> Callable[[int], Sequence[Line]] | None:
    """Return what draws a text of several lines; None for a sentence, which a card draws as its text."""
    return partial(_page, text) if "\n" in text.strip() else None


def _page(text: str, width: int) -> Sequence[Line]:
    """Draw a text of several lines as what it means, without what files note for programs."""
    return markdown_lines(_COMMENT.sub("", text).strip(), min(width, MEASURE))


def _held(validity: Validity, titles: Mapping[str, str], now: datetime) -> Line:
    """Say since when something holds, until when it did, and what took its place; blank where nothing tells."""
    begin, end = (words.day_of(day, now.date()) for day in (validity.from_, validity.until))
    told = " ".join(part for part in (begin and f"since {begin}", end and f"until {end}") if part)
    if not validity.superseded_by:
        return (ink(told),) if told else BLANK
    by = validity.superseded_by
    named = f"“{words.without_id(titles[by])}”" if titles.get(by) else by
    return (ink(f"{told}, then replaced by ".lstrip(", ")), ink(named, "text+link", None, by))


def why_lines(why: Why, now: datetime, *, whole: bool = False) -> tuple[Line, ...]:
    """Say what a memory rests on: the words, who said them and when, or who wrote it."""
    lines: list[Line] = []
    if (last := why.reworded) is not None:
        when = words.moment(last.timestamp, now)
        lines.append((ink(f"reworded by {words.who(last.actor)}, {when}; said before that:", "soft"),))
    shown = len(why.said) if whole else _MOST_QUOTES
    for said in why.said[:shown]:
        quote = " ".join(said.quote.split())
        if len(quote) > _LONGEST_QUOTE:
            quote = quote[: _LONGEST_QUOTE - 1] + "…"
        lines.append((ink(f"“{quote}”", "text+link", None, said.id),))
        lines.append((ink(said_words(said, now, words.origin(why.told[0]) if why.told else ""), "soft"),))
    if more := max(0, len(why.said) - shown) + why.more:
        lines.append((ink(f"and {more} more sources", "faint"),))
    if lines:
        return tuple(lines)
    own = why.written is not None and words.who(why.written.actor) == "you"
    # Who wrote it says that already.
    told = [each for each in why.told if not (own and each == ASKED_FOR)]
    lines += [(ink(words.origin(each)),) for each in told]
    if why.written is not None:
        verb = (
            "found in the file ·"
            if why.basis == "adoption"
            else f"written by {words.who(why.written.actor)} ·"
        )
        lines.append((ink(f"{verb} {words.moment(why.written.timestamp, now)}", "soft"),))
    # Of a fact; an entry of a day is itself what was noted.
    if "#^" in why.id and why.told and not why.lost:
        noticed = "conversation" in why.told
        kept = "the conversation is not kept here" if noticed else "no conversation stands behind it"
        lines.append((ink(kept, "soft"),))
    if why.lost:
        lines.append((ink(f"its source is gone: {', '.join(map(words.origin, why.lost))}", "soft"),))
    return tuple(lines) or ((ink("Nobody noted where this came from.", "soft"),),)


def without_source(why: Why, now: datetime) -> str:
    """Say in a sentence what there is of a memory that rests on no words."""
    said = " · ".join(plain_text(line) for line in why_lines(why, now)).rstrip(".")
    return f"{said[:1].upper()}{said[1:]}."


def said_words(said: Saying, now: datetime, unnamed: str = "") -> str:
    """Return who said something, when and where.

    Args:
        unnamed: What stands for the speaker where nobody is named.
    """
    when = words.moment(said.moment, now) if said.moment is not None else ""
    where = f"{_said_in(said)}, line {said.line}" if said.session or said.path else ""
    return " · ".join(part for part in (words.said_by(said.speaker) or unnamed, when, where) if part)


def _said_in(said: Saying) -> str:
    """Return what a person calls the place where words were said: a session, the log of that day, a file."""
    if said.session:
        # One that was started over has left its key to the next, and goes by an id.
        return f"session {words.session(said.session)}" if ":" in said.session else "a session"
    path = said.path or ""
    is_log = said.moment is not None and path.endswith(f"/{said.moment:%Y-%m-%d}.md")
    return "that day’s log" if is_log else named(path)


def named_lines(ids: Sequence[str], titles: Mapping[str, str], *, whole: bool = False) -> tuple[Line, ...]:
    """Name the first of some memories, each to be followed, and say how many more there are."""
    lines: list[Line] = [
        (ink(words.without_id(titles.get(each) or words.origin(each)), "text+link", None, each),)
        for each in (ids if whole else ids[:_LAST_USES])
    ]
    if len(ids) > _LAST_USES and not whole:
        lines.append((ink(f"and {len(ids) - _LAST_USES} more", "faint"),))
    return tuple(lines)


def history_lines(shown: Shown, now: datetime, *, whole: bool = False) -> tuple[Line, ...]:
    """Say what was done to a memory last; only where all is listed, what was taken back again too."""
    lines: list[Line] = []
    standing = [entry for entry in shown.history if not entry.undone]
    for entry in shown.history if whole else standing[:_LAST_CHANGES]:
        day = words.day(entry.timestamp.astimezone(now.tzinfo).date(), now.date())
        when = f"{words.moment(entry.timestamp, now):<18}" if whole else f"{day:<11}"
        # What a person did through a command has the actor of that command.
        by = words.who(entry.owner if entry.owner == "person" else entry.actor)
        lines.append(
            (
                ink(f"{when} ", "soft"),
                ink(
                    f"{plainly(entry.summary)} · {by}",
                    "text",
                    None,
                    f"commit:{entry.commit[:7]}" if whole else "",
                ),
            )
        )
    if len(shown.history) > _LAST_CHANGES and not whole:
        lines.append((ink(f"⸨history⸩ lists all {len(shown.history)}", "faint"),))
    return tuple(lines)


def detail_sections(shown: Shown, explained: DecayExplained | None) -> list[Section]:
    """Return what a card shows on demand."""
    details = [
        Section.of("ID", shown.id, "soft"),
        Section.of("LINES", f"{shown.path} {shown.start_line}–{shown.end_line}", "soft"),
    ]
    score = explained.score if explained is not None else shown.score
    if score is not None:
        terms = score.terms
        named = ("base", "decay", "reinforcement", "typeWeight")
        parts = [part for name in named if isinstance(part := terms.get(name), int | float)]
        formula = " × ".join(f"{part:.3g}" for part in parts)
        capped = ", shown as 1 at most" if score.raw > 1 else ""
        lines: list[Line] = [(ink(f"{score.raw:.2f} = {formula}{capped}", "soft"),)]
        if terms.get("pinned"):
            own = f"{math.prod(parts):.2f} = {formula}"
            lines = [
                (ink(f"pinned counts as {score.raw:.2f}", "soft"),),
                (ink(f"without the pin {own}", "faint"),),
            ]
        days, uses, rate = (terms.get(name) for name in ("days", "accessCount", "lambda"))
        stays = terms.get("pinned") or terms.get("typeWeight", 0) is None or terms.get("archived")
        if (
            isinstance(rate, int | float)
            and isinstance(days, int)
            and isinstance(uses, int)
            and not stays
            and rate > 0
        ):
            lines.append((ink("base × e^(−λ · days) × log₂(uses + 1) × kind", "faint"),))
            half = f"λ {rate:g} a day: a half-life of {math.log(2) / rate:.3g} days"
            lines.append((ink(f"{half}; {counted(days, 'day')}, {counted(uses, 'use')}", "faint"),))
        details.insert(0, Section("SCORE", tuple(lines)))
    return details


def fades_section(explained: DecayExplained) -> Section:
    """Return what a card says of fading: when, and what keeps it from that."""
    lasts = words.lasts(explained)
    return Section("FADES", ((ink(words.fades(explained)),), *(((ink(lasts, "soft"),),) if lasts else ())))


def card_lines(card: Card, width: int, *, details: bool = False) -> list[Line]:
    """Draw a card.

    Args:
        width: Cells; prose takes 88 at most.
        details: Whether formula, id and lines follow.

    Returns:
        Lines of at most `width` cells.
    """
    measure = max(1, min(width, MEASURE))
    lines: list[Line] = [] if card.body is None else list(card.body(width))
    for paragraph in (_HEADING.sub("", card.text).splitlines() or [""]) if card.body is None else ():
        lines += [(Span(part, "strong"),) if part else BLANK for part in wrap(paragraph, measure)]
    if card.kind:
        lines += wrap_line(card.kind, measure)
    for section in (*card.sections, *(card.details if details else ())):
        lines.append(BLANK)
        if isinstance(section, Differs):
            lines.append((ink(section.label, "soft+strong", width),))
            lines += diff_lines(section.rows, min(width, 2 * MEASURE), numbers=False)
        else:
            lines += (
                _side_by_side(section, width) if isinstance(section, Beside) else _section(section, measure)
            )
    return lines


def first_line(card: Card, width: int) -> int:
    """Return the line that what is to be seen first begins in."""
    if isinstance(card.first, str):
        lines = enumerate(card_lines(card, width))
        return next((at for at, line in lines if any(span.link == card.first for span in line)), 0)
    measure = max(1, min(width, MEASURE))
    return sum(len(wrap(each, measure)) for each in _HEADING.sub("", card.text).splitlines()[: card.first])


def _section(section: Section, width: int) -> Sequence[Line]:
    """Put what is said beside its word where there is room, below it where there is not."""
    if width < _BESIDE or len(section.label) >= _LABEL:
        return _below(section, width)
    lines: list[Line] = []
    for part in section_lines(section, width - _LABEL):
        label = Span(" " * _LABEL) if lines else Span(f"{section.label:<{_LABEL}}", "soft+strong")
        lines.append((label, *part))
    return lines


def _below(section: Section, width: int) -> list[Line]:
    return [(Span(section.label, "soft+strong"),), *section_lines(section, width)]


def section_lines(section: Section, width: int) -> Iterator[Line]:
    """Draw what stands under the word of a section."""
    for line in section.lines:
        lead, rest = line[: section.hangs], line[section.hangs :]
        indent = line_width(lead)
        for at, part in enumerate(wrap_line(rest, width - indent)):
            yield (gap(indent), *part) if at else (*lead, *part)
    if section.draw is not None:
        yield from section.draw(width)


def _side_by_side(pair: Beside, width: int) -> list[Line]:
    """Put two sections beside one another where each has the room for half a sentence."""
    if width < _TWO_COLUMNS:
        return [*_below(pair.left, width), BLANK, *_below(pair.right, width)]
    width = min(width, 2 * MEASURE)
    room = (width - _APART) * 11 // 20
    rows = zip_longest(_below(pair.left, room), _below(pair.right, width - room - _APART), fillvalue=BLANK)
    return [(*left, gap(room + _APART - line_width(left)), *right) if right else left for left, right in rows]


def told(text: str, key_of: KeyOf) -> str:
    """Return a sentence with the keys of the commands that it names."""
    return NAMED.sub(lambda found: key_of(found[1]) or found[0], text) if "⸨" in text else text


def told_line(line: Line, key_of: KeyOf) -> Line:
    """Return a line with the keys of the commands that it names, which a click presses."""
    return tuple(part for span in line for part in _told_span(span, key_of))


def _told_span(span: Span, key_of: KeyOf) -> Iterator[Span]:
    if "⸨" not in span.text:
        # Also one without text, which stands where another line has a sign.
        yield span
        return
    for at, text in enumerate(NAMED.split(span.text)):
        key = key_of(text) if at % 2 else ""
        said = key or (f"⸨{text}⸩" if at % 2 else text)
        if said:
            yield replace(span, text=said, link=span.link or (PRESS_LINK + key if key else ""))


def told_card(card: Card, key_of: KeyOf) -> Card:
    """Return a card with the keys of the commands that its sections name."""

    def lines_of(section: Section) -> Section:
        return replace(section, lines=tuple(told_line(line, key_of) for line in section.lines))

    def part(section: Section | Beside | Differs) -> Section | Beside | Differs:
        if isinstance(section, Beside):
            return Beside(lines_of(section.left), lines_of(section.right))
        return lines_of(section) if isinstance(section, Section) else section

    return replace(
        card, kind=told_line(card.kind, key_of), sections=tuple(part(section) for section in card.sections)
    )
