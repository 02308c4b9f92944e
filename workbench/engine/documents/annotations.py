"""Annotations in HTML comments, as OpenClaw writes them: read as values, never rewritten."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation.

    Args:
        key: `trigger`, `importance`, `project`, `observed`, `status`, `pinned`, `promotion`, `lineage`, or another
            key as written in lower case.
        value: As written; empty for a mere mark such as `<!-- pinned -->`.
        start: Where its comment starts in the text, in characters.
        end: Where its comment ends.
    """

    key: str
    value: str
    start: int
    end: int


def read_annotations(text: str) -> tuple[Annotation, ...]:
    """Return the annotations of a text in order; a comment with several (`observed | status`) gives several."""
    raise NotImplementedError


def strip_comments(text: str) -> str:
    """Return a text without its HTML comments and the white space before them."""
    raise NotImplementedError


def trailing_comments(text: str) -> str:
    """Return the HTML comments that end a text, with the white space before and between them."""
    raise NotImplementedError
