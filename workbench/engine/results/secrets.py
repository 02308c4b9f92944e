"""Answers about secrets: what was held back, and where memory holds some already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class HeldMemory:
    """Something that was not stored since it looks like a secret.

    Args:
        number: To decide on it by.
        text: What should be remembered, or the line that somebody wrote, the secrets left out.
        asked: `remember`, `propose`, or `edit` for what was written into a file from outside.
        role: Of the door that asked; `outside` for an edit.
        timestamp: When.
        kinds: What was found, for example `GitHub token`.
        digests: Under which they can be allowed.
        store: The store that was asked for, if any.
        scope: Whom it would be for besides the owner, if anybody.
        path: The file of an edit, else empty.
        line: Of the secret in it, 1-based, when it was found.
        left_out: Whether that file stays out of history; else a placeholder stands where the secret was.
    """

    number: int
    text: str
    asked: str
    role: str
    timestamp: datetime
    kinds: tuple[str, ...]
    digests: tuple[str, ...]
    store: str | None = None
    scope: str | None = None
    path: str = ""
    line: int | None = None
    left_out: bool = False


@dataclass(frozen=True)
class HeldSecret:
    """The words of something that was held back, with the secret in them: for a person’s eyes."""

    number: int
    text: str


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
