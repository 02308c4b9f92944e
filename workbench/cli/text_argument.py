"""Text that stands on the command line, or comes from stdin where a `-` stands instead."""

from __future__ import annotations

import sys

import click

from workbench.engine.errors import InvalidInput


def text_of(words: tuple[str, ...], *, what: str) -> str:
    """Return the words as one text, or all of stdin where they are a single `-`.

    Args:
        words: Arguments of the command line.
        what: What is missing where there is nothing, for the usage error.
    """
    try:
        text = sys.stdin.buffer.read().decode() if words == ("-",) else " ".join(words)
        # Bytes of the command line that are no UTF-8 arrive as lone surrogates.
        text.encode()
    except UnicodeError as error:
        raise InvalidInput(f"{what} is not UTF-8.", remedy="Give it as UTF-8.") from error
    if not text.strip():
        raise click.UsageError(f"{what} is empty.", click.get_current_context(silent=True))
    return text
