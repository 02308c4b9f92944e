"""What is wrong with one part of a memory file, said so that a person can mend it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One part of a file that cannot be read as what it should be; the rest of the file still is.

    Args:
        path: The file, relative to the workspace.
        line: Its line, from 1, or None where the whole file is meant.
        message: What is wrong. One sentence.
        remedy: What to do about it. One sentence.
    """

    path: str
    line: int | None
    message: str
    remedy: str

    @property
    def where(self) -> str:
        """The place as `path:line`."""
        return self.path if self.line is None else f"{self.path}:{self.line}"
