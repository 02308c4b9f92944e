"""Making an answer fit a budget of tokens, and saying what was left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from workbench.engine.tokens import count_tokens

ANSWER_TOKENS = 8_000
"""What an answer may take where nobody asked for a budget; clients warn or cut at more than 10,000."""


def as_text(answer: object) -> str:
    """Write JSON values as they are sent: on one line, in their own script."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def tokens_of(answer: object) -> int:
    """Return the tokens that JSON values take as they are sent."""
    return count_tokens(as_text(answer))


def most_that_fit(build: Callable[[int], dict[str, Any]], length: int, budget: int) -> dict[str, Any]:
    """Return the longest of the answers that fits a budget, or the shortest where none does.

    Args:
        build: Makes the answer with so many parts; with more of them it is longer.
        length: Parts there are.
        budget: Tokens.
    """
    answer = build(length)
    if tokens_of(answer) <= budget:
        return answer
    fitting, beyond = 0, length
    while beyond - fitting > 1:
        middle = (fitting + beyond) // 2
        if tokens_of(build(middle)) <= budget:
            fitting = middle
        else:
            beyond = middle
    return build(fitting)


def fitted(answer: dict[str, Any], key: str, budget: int) -> dict[str, Any]:
    """Return an answer with as much of one of its lists as fits; `leftOut` says how much does not.

    Args:
        answer: JSON values.
        key: Of the list, the best first.
        budget: Tokens.
    """
    parts: list[Any] = answer[key]

    def build(length: int) -> dict[str, Any]:
        left_out = len(parts) - length
        return {**answer, key: parts[:length], **({"leftOut": left_out} if left_out else {})}

    return most_that_fit(build, len(parts), budget)


def cut_text(text: str, budget: int) -> tuple[str, bool]:
    """Return as much of a text as fits a budget, in whole lines where there is more than one; and whether it was cut.

    Args:
        text: Any.
        budget: Tokens.
    """
    # No script takes more than a few bytes for a token: what is far too long is not counted whole.
    if len(text) < budget or count_tokens(text) <= budget:
        return text, False
    fitting, beyond = 0, min(len(text), budget * 16)
    while beyond - fitting > 1:
        middle = (fitting + beyond) // 2
        if count_tokens(text[:middle]) <= budget:
            fitting = middle
        else:
            beyond = middle
    line_end = text.rfind("\n", 0, fitting)
    return text[: line_end + 1 if line_end > 0 else fitting], True
