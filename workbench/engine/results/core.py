"""Answers about core memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CoreItem:
    """One item of a core block."""

    id: str
    text: str
    pinned: bool


@dataclass(frozen=True)
class CoreBlock:
    """One block of core memory; `budget` is None for a block beyond the four."""

    name: str
    tokens: int
    budget: int | None
    items: tuple[CoreItem, ...]
    body: str = ""


@dataclass(frozen=True)
class CoreView:
    """Core memory with its token budget."""

    blocks: tuple[CoreBlock, ...]
    tokens: int
    cap: int
    path: str = "MEMORY.md"
