"""`memory/meta/audit.log`, one line per change, and `audit-archive.md`, its monthly digests (§12.4, §12.6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from workbench.engine.language.calendar import MONTH_NAMES
from workbench.engine.markdown.markup import append_lines, item_lines, item_text, one_line, outermost_items
from workbench.engine.markdown.outline import Heading, Outline, read_outline
from workbench.engine.markdown.source import LineSpan, Problem, Problems, SourceText, is_blank
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_SPECIAL: Final = lazy_pattern("[\\\\|\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|^ | $")
_ESCAPED: Final = lazy_pattern(r"\\(?:([\\|nrs])|u([0-9a-f]{4}))")
_LETTERS: Final = {"\\": "\\\\", "|": "\\|", "\n": "\\n", "\r": "\\r", " ": "\\s"}
_MEANINGS: Final = {"\\": "\\", "|": "|", "n": "\n", "r": "\r", "s": " "}
_FIELD: Final = lazy_pattern(r"(?:[^|\\]|\\.|\\$)*", re.DOTALL)
_BLOCK: Final = 65536

_TITLE: Final = lazy_pattern(r"audit digest\s*[—–:-]+\s*(.*)$", re.IGNORECASE)
_EVENT: Final = lazy_pattern(r"(\d{4}-\d{2}-\d{2})\s*[:：]\s*(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line: time (aware), action, file, actor, approval and summary."""

    timestamp: datetime
    action: str
    file: str
    actor: str
    approval: str
    summary: str


@dataclass(frozen=True)
class AuditLogFile:
    """The parsed log.

    Args:
        lines: The readable lines in file order.
        numbers: Their line numbers, from 1.
        torn: Whether the last line has no line end, as after a crash; if readable, it is in `lines` too.
    """

    path: str
    lines: tuple[AuditLine, ...]
    numbers: tuple[int, ...]
    torn: bool
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/audit.log") -> AuditLogFile:
        """Parse the file. Any bytes are accepted; an unreadable line is a problem."""
        source = SourceText.from_bytes(content)
        lines: list[AuditLine] = []
        numbers: list[int] = []
        problems = Problems(path)
        for number, text in enumerate(source.lines, 1):
            line = parse_audit_line(text)
            if line is not None:
                lines.append(line)
                numbers.append(number)
            elif not is_blank(text):
                problems.add(
                    number,
                    "This is not a line of the audit log.",
                    "Delete the log: it is rebuilt from the history.",
                )
        torn = bool(source.endings) and not source.endings[-1]
        return cls(path, tuple(lines), tuple(numbers), torn, tuple(problems.found))


def parse_audit_line(text: str) -> AuditLine | None:
    """Parse one line without its end; None if it is not an audit line."""
    parts = text.split("|", 1)
    if len(parts) < 2:
        return None
    try:
        moment = datetime.fromisoformat(parts[0].strip())
    except ValueError:
        return None
    fields = parse_audit_fields(parts[1])
    if len(fields) < 5 or moment.tzinfo is None:
        return None
    # An unescaped bar belongs to the summary.
    summary = fields[4] if len(fields) == 5 else " | ".join(fields[4:])
    return AuditLine(moment.astimezone(UTC), fields[0], fields[1], fields[2], fields[3], summary)


def render_audit_line(line: AuditLine) -> str:
    """Format one line without its end, so that `parse_audit_line` returns the same fields.

    Times are written in UTC, to the minute if they have no seconds (`2026-02-02T15:30Z`).
    """
    moment = line.timestamp.astimezone(UTC)
    spec = "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    time = moment.replace(tzinfo=None).isoformat(timespec=spec) + "Z"
    return f"{time} | " + render_audit_fields(
        (line.action, line.file, line.actor, line.approval, line.summary)
    )


def render_audit_fields(fields: Iterable[str]) -> str:
    """Join fields with ` | `, each escaped, as in audit lines and `Audit:` trailers."""
    return " | ".join(_SPECIAL.sub(_escape, text) for text in fields)


def parse_audit_fields(text: str) -> tuple[str, ...]:
    """Split fields joined by `render_audit_fields`."""
    found: list[str] = []
    at = 0
    while at <= len(text):
        match = _FIELD.match(text, at)
        end = match.end() if match else at
        found.append(_ESCAPED.sub(_unescape, text[at:end].strip(" \t")))
        at = end + 1
    return tuple(found)


def iterate_audit_backwards(
    file: Path, takes: Callable[[bytes], bool] = lambda _: True
) -> Iterator[AuditLine]:
    """Yield readable lines newest first without loading the file; a missing file has none.

    Args:
        takes: Told a line as it stands; what it does not take is passed over unread, but for the newest line and the
            oldest.
    """
    try:
        stream = file.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        return
    with stream:
        at = stream.seek(0, 2)
        rest, is_newest = b"", True
        while at > 0:
            size = min(_BLOCK, at)
            at -= size
            stream.seek(at)
            rest, *whole = (stream.read(size) + rest).split(b"\n")
            for raw in reversed(whole):
                if is_newest or takes(raw):
                    for line in _readable(raw):
                        is_newest = False
                        yield line
        yield from _readable(rest)


def _readable(raw: bytes) -> Iterator[AuditLine]:
    line = parse_audit_line(raw.decode("utf-8", "surrogateescape").strip("\r"))
    if line is not None:
        yield line


def _escape(match: re.Match[str]) -> str:
    return _LETTERS.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _unescape(match: re.Match[str]) -> str:
    return _MEANINGS[match[1]] if match[1] else chr(int(match[2], 16))


@dataclass(frozen=True, slots=True)
class MonthlyDigest:
    """One month.

    Args:
        month: `2026-01`.
        summary: The lines of `## Summary`.
        events: ISO date and text of each line of `## Notable Events`; the date may be empty.
    """

    month: str
    summary: tuple[str, ...]
    events: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AuditArchive:
    """The digests in file order, with the `spans` of their lines."""

    path: str
    source: SourceText
    digests: tuple[MonthlyDigest, ...]
    spans: tuple[LineSpan, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/audit-archive.md") -> AuditArchive:
        """Parse the file. Any bytes are accepted."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        digests: list[MonthlyDigest] = []
        spans: list[LineSpan] = []
        problems = Problems(path)
        for heading in outline.headings:
            match = _TITLE.match(heading.text)
            if match is None or heading.level > 1:
                continue
            month = _month(match[1])
            if month is None or any(digest.month == month for digest in digests):
                problems.add(
                    heading.span.start,
                    f"There is a second digest for “{match[1]}”."
                    if month
                    else f"“{match[1]}” is not a month.",
                    "Write one digest for each month, as in # Audit Digest — January 2026.",
                )
                continue
            digests.append(_digest(outline, heading, month))
            spans.append(source.trimmed(heading.section))
        return cls(path, source, tuple(digests), tuple(spans), tuple(problems.found))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def digest(self, month: str) -> MonthlyDigest | None:
        """Return a month's digest, by `2026-01`."""
        return next((digest for digest in self.digests if digest.month == month), None)

    def put(self, digest: MonthlyDigest) -> AuditArchive:
        """Replace a month's digest, or add it at the end."""
        moment = datetime.strptime(digest.month, "%Y-%m")  # noqa: DTZ007 - a month has no zone
        lines = [f"# Audit Digest — {MONTH_NAMES[moment.month - 1]} {moment.year}", "", "## Summary"]
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
    if name.title() in MONTH_NAMES and re.fullmatch(r"\d{4}", year.strip()):
        return f"{year.strip()}-{MONTH_NAMES.index(name.title()) + 1:02}"
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
