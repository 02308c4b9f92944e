"""Answers about secrets: what was held back, and where memory holds some already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class HeldMemory:
    """Something that was not stored since it looks like a secret.

    Args:
        number: To decide on it by.
        text: What should be remembered, the secrets left out.
        asked: `remember` or `propose`.
        role: Of the door that asked.
        timestamp: When.
        kinds: What was found, for example `GitHub token`.
        digests: Under which they can be allowed.
    """

    number: int
    text: str
    asked: str
    role: str
    timestamp: datetime
    kinds: tuple[str, ...]
    digests: tuple[str, ...]


@dataclass(frozen=True)
class HeldBackList:
    """Everything that waits for a person's decision because it looks like a secret."""

    held: tuple[HeldMemory, ...]


@dataclass(frozen=True)
class SecretPlace:
    """Where a memory file holds what looks like a secret.

    Args:
        path: Workspace-relative.
        line: 1-based.
        kind: What it looks like.
        digest: Under which it can be allowed.
        allowed: Whether it is.
    """

    path: str
    line: int
    kind: str
    digest: str
    allowed: bool


@dataclass(frozen=True)
class SecretScan:
    """What looks like a secret in the memory files, and how many files were looked at."""

    places: tuple[SecretPlace, ...]
    files: int
