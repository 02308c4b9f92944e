"""Draws what one could ask: what was asked before, questions that this memory can answer, and how to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, column, ink
from workbench.tui.views.dates import MONTH_NAMES
from workbench.tui.widgets.rows import KeyedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.bench import Episode

ASK_KEY = "ask:"
_MOST_EXAMPLES = 3
_MOST_REMEMBERED = 6
_ASKED_BY_TYPE = {
    "decision": "what did we decide about",
    "preference": "what is preferred for",
    "task": "what is to be done about",
    "correction": "what was corrected about",
}


def examples(episodes: Sequence[Episode]) -> tuple[str, ...]:
    """Return questions that this very memory can answer, made of what happened last.

    Args:
        episodes: Newest first.
    """
    told: list[str] = []
    used: set[str] = set()
    for episode in episodes:
        tag = next((each for each in episode.tags if each not in used), "")
        if tag and len(told) < _MOST_EXAMPLES:
            used.add(tag)
            asked = _ASKED_BY_TYPE.get(episode.type, "what happened with")
            told.append(f"{asked} {_words_of(tag)}" if tag.isascii() else tag)
    months = list(dict.fromkeys(f"{MONTH_NAMES[each.day.month - 1]} {each.day.year}" for each in episodes))
    told += [f"what happened in {month}" for month in months[: 1 if told else _MOST_EXAMPLES]]
    tags = dict.fromkeys(tag for episode in episodes for tag in episode.tags if tag.isascii())
    kinds = ("latest on {}", "{} store:semantic", "{} after:3m")
    told += [kind.format(_words_of(tag)) for kind, tag in zip(kinds, tags, strict=False)]
    return tuple(dict.fromkeys(told))


def _words_of(tag: str) -> str:
    return tag.replace("-", " ").replace("_", " ")


class AskRows(KeyedRows):
    """What can be asked: what one has asked before, and questions that this memory can answer.

    Args:
        asked: Newest first.
        offered: Examples.
    """

    def __init__(self, asked: Sequence[str], offered: Sequence[str]) -> None:
        self._rows: list[str] = []
        keys: list[str] = []
        for heading, questions in (("Asked before", asked[:_MOST_REMEMBERED]), ("For example", offered)):
            fresh = [each for each in questions if ASK_KEY + each not in keys]
            if not fresh:
                continue
            self._rows += [*([""] if keys else []), heading, *fresh]
            keys += [*([""] if keys else []), "", *(ASK_KEY + each for each in fresh)]
        super().__init__(keys, ())

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, a question, or a space."""
        text = self._rows[index]
        if not self.key(index):
            return (Span(text, "soft"),) if text else BLANK
        return (ink(text, "text", width),)


def grammar_lines(width: int) -> list[Line]:
    """Explain what can be asked and which conditions can be typed among the words."""
    width = min(width, 64)
    lines: list[Line] = [(Span("Ask in your own words.", "strong"),), BLANK]
    text = (
        "Memory is searched by words, by meaning, by what is linked to what, and by the days you name, "
        "in any language. Dates in a question count: “in May”, “last spring”, 上週."
    )
    lines += [(Span(piece, "soft"),) for piece in wrap(text, width)]
    lines += [BLANK, (Span("Conditions among the words", "soft"),)]
    for condition, what in (
        ("store:episodic", "or core, semantic, procedural, vault, file"),
        ("after:2026-01", "also feb, 3w, yesterday"),
        ("before:2026-02", "up to the end of it"),
        ("status:dormant", "what has faded; any for everything"),
    ):
        lines += _term(condition, what, 17, width)
    lines += [BLANK, (Span("With a result", "soft"),)]
    for key, what in (
        ("⏎", "reads it in its file; again for the whole memory"),
        ("x", "explains why it stands where it does"),
        ("w", "tells why another one did not come up"),
        ("y", "copies it as a citation"),
    ):
        lines += _term(key, what, 4, width)
    return lines


def _term(term: str, what: str, cells: int, width: int) -> list[Line]:
    return [
        (column(term if at == 0 else "", cells, "strong"), Span(piece, "soft"))
        for at, piece in enumerate(wrap(what, max(8, width - cells)))
    ]
