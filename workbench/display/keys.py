"""Keys within sentences. A sentence names a command, `⸨undo⸩ takes that back`, and is told with the key it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from workbench.display.card import Beside, Card, Differs, Section
from workbench.display.ink import Line
from workbench.engine.patterns import lazy_pattern

KeyOf: TypeAlias = Callable[[str], str]
"""Given the id of a command: the key that a person has it on, as it is written; empty for what is none."""
NAMED = lazy_pattern(r"⸨([a-z-]+)⸩")


def told(text: str, key_of: KeyOf) -> str:
    """Return a sentence with the keys of the commands that it names."""
    return NAMED.sub(lambda found: key_of(found[1]) or found[0], text) if "⸨" in text else text


def told_line(line: Line, key_of: KeyOf) -> Line:
    """Return a line with the keys of the commands that it names."""
    return tuple(replace(span, text=told(span.text, key_of)) for span in line)


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
