"""How many tokens messages take, counted or told from their characters, and portions of them that fit a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from workbench.engine.sessions.events import parts_of
from workbench.engine.tokens import count_tokens

MESSAGE_TOKENS = 4
# Who speaks, and the line.
_TURN_TOKENS = 8
IMAGE_TOKENS = 1200
# Counted exactly up to here; a transcript of a hundred megabytes would take a minute.
EXACT_CHARACTERS = 2_000_000
_ONE_EXACT = 40_000
_CHARACTERS_PER_TOKEN = 4.0
_NO_TEXT = frozenset({"image", "input_image", "image_url"})


class HasText(Protocol):
    """Something with words."""

    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=HasText)


def portions(turns: Iterable[T], room: int) -> Iterator[list[T]]:
    """Give turns in portions that a model takes at once, in order; one that is too long for any stands alone.

    Args:
        turns: Of a conversation.
        room: Most tokens of a portion.
    """
    portion: list[T] = []
    used = 0
    for turn in turns:
        tokens = count_tokens(turn.text) + _TURN_TOKENS
        if portion and used + tokens > room:
            yield portion
            portion, used = [], 0
        portion.append(turn)
        used += tokens
    if portion:
        yield portion


class TokenEstimate:
    """Estimates one message after the other."""

    def __init__(self) -> None:
        self._characters = 0
        self._tokens = 0

    def of(self, message: Mapping[str, Any]) -> int:
        """Return the tokens of a message: its texts, calls of tools, results, thoughts and pictures."""
        return MESSAGE_TOKENS + self._of_content(message.get("content"))

    def of_text(self, text: str) -> int:
        """Return the tokens of a text."""
        if len(text) <= _ONE_EXACT and self._characters < EXACT_CHARACTERS:
            tokens = count_tokens(text)
            self._characters += len(text)
            self._tokens += tokens
            return tokens
        share = self._characters / self._tokens if self._tokens > 1000 else _CHARACTERS_PER_TOKEN
        return -int(-len(text) // share)

    def _of_content(self, content: object) -> int:
        total = 0
        for part in parts_of(content):
            kind = part.get("type")
            if kind in _NO_TEXT:
                total += IMAGE_TOKENS
            elif isinstance(text := part.get("text", part.get("thinking")), str):
                total += self.of_text(text)
            elif isinstance(part.get("content"), str | list):
                total += self._of_content(part["content"])
            else:
                given = part.get("arguments", part.get("input", part.get("partialJson", "")))
                written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
                total += self.of_text(f"{part.get('name', '')} {written}")
        return total
