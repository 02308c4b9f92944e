"""Cuts two versions of a text around where they differ, so that a summary of a change says what changed."""

from __future__ import annotations

from itertools import takewhile

from workbench.engine.stores.wording import clip

_CONTEXT = 20


def clip_difference(before: str, after: str, limit: int = 40) -> tuple[str, str]:
    """Return both texts as single lines; those too long are cut around the part in which they differ.

    Args:
        before: The text as it was.
        after: The text as it is.
        limit: Characters up to which both are given whole.

    Returns:
        The differing part of each with up to 20 characters of what they share on either side, broken at spaces
        where there are any; an ellipsis stands for what was cut. A part longer than twice the limit is cut too.
    """
    old, new = (clip(text, len(text) + 1) for text in (before, after))
    if max(len(old), len(new)) <= limit:
        return old, new
    shared_start = _shared(old, new)
    shared_end = _shared(old[shared_start:][::-1], new[shared_start:][::-1])
    return _around(old, shared_start, shared_end, 2 * limit), _around(
        new, shared_start, shared_end, 2 * limit
    )


def _shared(one: str, other: str) -> int:
    """Count the characters that two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _around(text: str, shared_start: int, shared_end: int, limit: int) -> str:
    differs_until = len(text) - shared_end
    start = max(shared_start - _CONTEXT, 0)
    if start:
        space = text.find(" ", start, shared_start)
        start = space + 1 if space >= 0 else start
    stop = min(differs_until + _CONTEXT, len(text))
    if stop < len(text):
        space = text.rfind(" ", differs_until, stop)
        stop = space if space >= 0 else stop
    part = f"{'…' if start else ''}{text[start:stop]}"
    return part + "…" if stop < len(text) and len(part) < limit else clip(part, limit)
