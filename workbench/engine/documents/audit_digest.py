"""`memory/meta/audit-archive.md`: monthly digests of pruned audit lines (design document §12.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from workbench.engine.documents.items import append_lines, item_lines, item_text, one_line, outermost_items
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.source import LineSpan, SourceText

if TYPE_CHECKING:
    from workbench.engine.documents.outline import Heading, Outline

_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_TITLE: Final = re.compile(r"audit digest\s*[—–:-]+\s*(.*)$", re.IGNORECASE)
_EVENT: Final = re.compile(r"(\d{4}-\d{2}-\d{2})\s*[:：]\s*(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MonthlyDigest:
    """One month.

    Args:
        month: `2026-01`.
        summary: The lines of `## Summary`.
        events: ISO date and text of each line of `## Notable Events`; the date is empty where there is none.
    """

    month: str
    summary: tuple[str, ...]
    events: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AuditArchive:
    """The digests in the file's order; `spans` are their lines."""

    path: str
    source: SourceText
    digests: tuple[MonthlyDigest, ...]
    spans: tuple[LineSpan, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/audit-archive.md") -> AuditArchive:
        """Read the file. Any bytes will do."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        digests: list[MonthlyDigest] = []
        spans: list[LineSpan] = []
        problems: list[Problem] = []
        for heading in outline.headings:
            match = _TITLE.match(heading.text)
            if match is None or heading.level > 1:
                continue
            month = _month(match[1])
            if month is None or any(digest.month == month for digest in digests):
                problems.append(
                    Problem(
                        path,
                        heading.span.start,
                        f"“{match[1]}” stands here a second time." if month else f"“{match[1]}” is no month.",
                        "Write one digest for each month, as in # Audit Digest — January 2026.",
                    )
                )
                continue
            digests.append(_digest(outline, heading, month))
            spans.append(source.trimmed(heading.section))
        return cls(path, source, tuple(digests), tuple(spans), tuple(problems))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def digest(self, month: str) -> MonthlyDigest | None:
        """Find a month, `2026-01`."""
        return next((digest for digest in self.digests if digest.month == month), None)

    def put(self, digest: MonthlyDigest) -> AuditArchive:
        """Add a month at the end, or replace it where it is."""
        moment = datetime.strptime(digest.month, "%Y-%m")  # noqa: DTZ007 - a month has no zone
        lines = [f"# Audit Digest — {_MONTHS[moment.month - 1]} {moment.year}", "", "## Summary"]
        lines += [line for text in digest.summary for line in item_lines(one_line(text))]
        lines += ["", "## Notable Events"]
        for date, text in digest.events:
            lines += item_lines(f"{date}: {one_line(text)}" if date else one_line(text))
        for known, span in zip(self.digests, self.spans, strict=True):
            if known.month == digest.month:
                return self.parse(self.source.replace(span, lines).render(), self.path)
        return self.parse(append_lines(self.source, lines).render(), self.path)


def _month(text: str) -> str | None:
    words = text.strip()
    if re.fullmatch(r"\d{4}-(?:0[1-9]|1[0-2])", words):
        return words
    name, _, year = words.partition(" ")
    if name.title() in _MONTHS and re.fullmatch(r"\d{4}", year.strip()):
        return f"{year.strip()}-{_MONTHS.index(name.title()) + 1:02}"
    return None


def _digest(outline: Outline, heading: Heading, month: str) -> MonthlyDigest:
    listed: dict[str, list[str]] = {"summary": [], "notable events": []}
    for head in outline.headings:
        kept = listed.get(head.text.casefold())
        if kept is not None and head.span.start in heading.section:
            kept.extend(item_text(item.text) for item in outermost_items(outline, head.body))
    events = []
    for text in listed["notable events"]:
        match = _EVENT.match(text)
        events.append((match[1], match[2]) if match else ("", text))
    return MonthlyDigest(month, tuple(listed["summary"]), tuple(events))
