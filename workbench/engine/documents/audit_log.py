"""`memory/meta/audit.log`: one line for each change (design document §12.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from workbench.engine.documents.problems import Problem


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line: when (aware), what, on which file, by whom, on whose approval, and in words."""

    timestamp: datetime
    action: str
    file: str
    actor: str
    approval: str
    summary: str


@dataclass(frozen=True)
class AuditLogFile:
    """The log as read.

    Args:
        lines: Those that can be read, in the file's order.
        numbers: The file's line of each of them, from 1.
        torn: Whether the last line has no end, as after a crash; where it can be read it is in `lines` too.
    """

    path: str
    lines: tuple[AuditLine, ...]
    numbers: tuple[int, ...]
    torn: bool
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/audit.log") -> AuditLogFile:
        """Read the file. Any bytes will do; a line that is none is a problem."""
        raise NotImplementedError


def parse_audit_line(text: str) -> AuditLine | None:
    """Read one line without its end; None where it is no audit line."""
    raise NotImplementedError


def render_audit_line(line: AuditLine) -> str:
    """Write one line without its end. `parse_audit_line` gives it back, whatever the fields hold.

    Times are written in UTC, to the minute where there are no seconds (`2026-02-02T15:30Z`).
    """
    raise NotImplementedError


def render_audit_fields(fields: Iterable[str]) -> str:
    """Join fields with ` | `, each escaped, as in an audit line or an `Audit:` trailer."""
    raise NotImplementedError


def parse_audit_fields(text: str) -> tuple[str, ...]:
    """Take apart what `render_audit_fields` joined."""
    raise NotImplementedError


def read_audit_tail(file: Path, count: int) -> tuple[AuditLine, ...]:
    """Return the last `count` readable lines, oldest first, reading the file backwards in blocks.

    A missing file has none.
    """
    raise NotImplementedError


def iterate_audit_backwards(file: Path) -> Iterator[AuditLine]:
    """Yield readable lines newest first without loading the file; a missing file has none."""
    raise NotImplementedError
