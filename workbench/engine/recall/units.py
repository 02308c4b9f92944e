"""Cuts a chunk into the units that are scored and handed over: a turn, a fact, a line."""

from __future__ import annotations


def units_of(text: str) -> list[tuple[int, int]]:
    """Return the units of a chunk's text as first and last line, counted from 0, in order.

    The same text always gives the same units: the index keeps one vector for each.

    Args:
        text: Lines joined by line feeds.
    """
    return [(number, number) for number, line in enumerate(text.split("\n")) if line.strip()]
