"""The lines of a transcript without the secrets in them, for readers who may not see those."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from workbench.engine.sessions.lines import Lines

Mask = Callable[[str], str]


class MaskedLines:
    """A transcript as it may be read; its lines keep their numbers, and stay JSON.

    Args:
        lines: As they are.
        mask: Masks the secrets in a text.
    """

    def __init__(self, lines: Lines, mask: Mask) -> None:
        self.unmasked: Final = lines
        self._mask = mask

    @property
    def name(self) -> str:
        return self.unmasked.name

    @property
    def where(self) -> str:
        return self.unmasked.where

    def size(self) -> int:
        return self.unmasked.size()

    def stamp(self) -> tuple[int, ...] | None:
        return self.unmasked.stamp()

    def count(self) -> int:
        return self.unmasked.count()

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        for number, line in self.unmasked.read(first, most):
            yield number, masked_line(line, self._mask)


def masked_line(line: bytes, mask: Mask) -> bytes:
    """Return one line of a transcript as it may be read, the very same object where no secret is in it.

    Args:
        line: Of JSON, or of anything; with or without its end.
        mask: Masks the secrets in a text.
    """
    text = line.decode("utf-8", "surrogateescape")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        masked = mask(text)
        return line if masked == text else masked.encode("utf-8", "surrogateescape")
    # Most lines have none: one look at all that is said in them is enough.
    everything = "\n\n".join(_texts_in(said))
    if mask(everything) == everything:
        return line
    end = line[len(line.rstrip(b"\r\n")) :]
    return json.dumps(_masked(said, mask), ensure_ascii=True, separators=(",", ":")).encode() + end


def _texts_in(said: Any) -> Iterator[str]:
    waiting = [said]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, Mapping):
            for name, value in each.items():
                if isinstance(value, str):
                    yield f"{name}: {value}"
                else:
                    yield name
                    waiting.append(value)


def _masked(said: Any, mask: Mask) -> Any:
    if isinstance(said, str):
        return mask(said)
    if isinstance(said, list):
        return [_masked(each, mask) for each in said]
    if isinstance(said, Mapping):
        return {mask(name): _named(name, each, mask) for name, each in said.items()}
    return said


def _named(name: str, value: Any, mask: Mask) -> Any:
    """Mask a value; what it is called may say that it is a secret, as in `"password": "…"`."""
    if not isinstance(value, str):
        return _masked(value, mask)
    label = f"{name}: "
    told = mask(label + value)
    return told.removeprefix(label) if told.startswith(label) else mask(value)
