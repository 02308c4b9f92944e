"""A file's bytes as lines and back again, exactly; problems with parts of it; and the files of a new workspace."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_LINE_END: Final = lazy_pattern(r"\r\n|\n|\r")
_BOM: Final = "\ufeff"
# Surrogates that decoding cannot produce; they cannot be written as UTF-8.
_UNWRITABLE: Final = lazy_pattern("[\ud800-\udc7f\udd00-\udfff]")
_ANY_SURROGATE: Final = lazy_pattern("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class LineSpan:
    """Lines `start` to `end` of a file, from 1, inclusive; empty if `end` is `start - 1`."""

    start: int
    end: int

    def __len__(self) -> int:
        return max(0, self.end - self.start + 1)

    def __contains__(self, line: int) -> bool:
        return self.start <= line <= self.end

    def __bool__(self) -> bool:
        return self.end >= self.start


@dataclass(frozen=True)
class SourceText:
    """The lines of a file, with everything needed to reproduce its bytes.

    Only `\\n`, `\\r\\n` and `\\r` end a line. Bytes that are not UTF-8 are kept as lone surrogates.

    Args:
        lines: The lines without their ends; none for an empty file.
        endings: The end of each line; only the last may be empty.
        bom: Whether the file starts with a byte order mark (not part of `lines`).
    """

    lines: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    bom: bool = False

    @classmethod
    def from_bytes(cls, content: bytes) -> SourceText:
        """Decode a file's content. Any bytes are accepted."""
        return cls.from_text(content.decode("utf-8", "surrogateescape"))

    @classmethod
    def from_text(cls, text: str) -> SourceText:
        """Split text that is already decoded."""
        bom = text.startswith(_BOM)
        if bom:
            text = text[1:]
        if "\r" not in text:
            lines = text.split("\n")
            endings = ["\n"] * (len(lines) - 1)
        else:
            lines = _LINE_END.split(text)
            endings = _LINE_END.findall(text)
        if lines[-1]:
            endings.append("")
        else:
            lines.pop()
        return cls(tuple(lines), tuple(endings), bom)

    def render(self) -> bytes:
        return self.text.encode("utf-8", "surrogateescape")

    @cached_property
    def text(self) -> str:
        """The whole text with its own line ends and byte order mark."""
        body = "".join(part for pair in zip(self.lines, self.endings, strict=True) for part in pair)
        return _BOM + body if self.bom else body

    @cached_property
    def newline(self) -> str:
        """The line end for new lines: the file's most common one, or `\\n`."""
        counts = {end: self.endings.count(end) for end in ("\n", "\r\n", "\r")}
        best = max(counts, key=lambda end: counts[end])
        return best if counts[best] else "\n"

    @property
    def span(self) -> LineSpan:
        return LineSpan(1, len(self.lines))

    def line(self, number: int) -> str:
        """Return one line without its end; `number` counts from 1."""
        return self.lines[number - 1]

    def lines_of(self, span: LineSpan) -> tuple[str, ...]:
        """Return the lines of a span without their ends."""
        return self.lines[span.start - 1 : span.end]

    def text_of(self, span: LineSpan) -> str:
        """Return a span's lines joined by `\\n`, whatever their line ends in the file."""
        return "\n".join(self.lines_of(span))

    def raw_of(self, span: LineSpan) -> str:
        """Return a span's text with the file's own line ends."""
        first, last = span.start - 1, span.end
        pairs = zip(self.lines[first:last], self.endings[first:last], strict=True)
        return "".join(part for pair in pairs for part in pair)

    def trimmed(self, span: LineSpan) -> LineSpan:
        """Return a span without the blank lines at its start and end."""
        start, end = span.start, span.end
        while start <= end and is_blank(self.lines[start - 1]):
            start += 1
        while end >= start and is_blank(self.lines[end - 1]):
            end -= 1
        return LineSpan(start, end)

    def splice(self, start: int, end: int, lines: Iterable[str]) -> SourceText:
        """Return the text with lines `start` to `end` replaced.

        Args:
            start: First line to replace, from 1; `len(lines) + 1` appends.
            end: Last line to replace; `start - 1` replaces none, so that the new lines go before `start`.
            lines: The new lines without ends. A line that contains line ends becomes several.

        A line that replaces an old one keeps its line end; all others get `newline`. A missing line end of the last
        line stays missing if one line replaces it, and is added if lines follow it.
        """
        new = [part for line in lines for part in _LINE_END.split(_UNWRITABLE.sub("\ufffd", line))]
        old_ends = self.endings[start - 1 : max(end, start - 1)]
        new_ends = [
            old_ends[i] if i < len(old_ends) and (old_ends[i] or len(new) == len(old_ends)) else self.newline
            for i in range(len(new))
        ]
        before, after = list(self.endings[: start - 1]), list(self.endings[max(end, start - 1) :])
        if before and not before[-1] and (new or after):
            before[-1] = self.newline
        if new_ends and not new_ends[-1] and after:
            new_ends[-1] = self.newline
        lines_after = self.lines[max(end, start - 1) :]
        ends = [*before, *new_ends, *after]
        changed = (*self.lines[: start - 1], *new, *lines_after)
        if changed and not changed[-1] and not ends[-1]:
            ends[-1] = self.newline
        # A lone CR and the LF of an empty line after it would read as one line end.
        at = max(len(before), 1)
        while at < len(ends) and (at <= len(before) + len(new_ends) or not changed[at]):
            if ends[at - 1] == "\r" and ends[at] == "\n" and not changed[at]:
                ends[at] = "\r"
            at += 1
        return SourceText(changed, tuple(ends), self.bom)

    def replace(self, span: LineSpan, lines: Iterable[str]) -> SourceText:
        """Return the text with a span's lines replaced; see `splice`."""
        return self.splice(span.start, span.end, lines)

    def insert_after(self, line: int, lines: Iterable[str]) -> SourceText:
        """Return the text with new lines after line `line` (0: before all)."""
        return self.splice(line + 1, line, lines)

    def append(self, lines: Iterable[str]) -> SourceText:
        """Return the text with new lines at its end."""
        return self.insert_after(len(self.lines), lines)


def is_blank(line: str) -> bool:
    """Return True if a line contains only spaces and tabs, as Markdown defines it."""
    return not line.strip(" \t")


def text_lines(text: str) -> list[str]:
    """Split outside text into lines that survive writing and reading.

    All three kinds of line ends split; lone surrogates, which UTF-8 cannot represent, become U+FFFD. Blank lines at
    the start and the end are dropped.
    """
    lines = _LINE_END.split(_ANY_SURROGATE.sub("\ufffd", text))
    while lines and is_blank(lines[-1]):
        lines.pop()
    while lines and is_blank(lines[0]):
        lines.pop(0)
    return lines


@dataclass(frozen=True, slots=True)
class Problem:
    """One unreadable part of a file; the rest of the file is still read.

    Args:
        path: The file, relative to the workspace.
        line: Its line, from 1, or None for the whole file.
    """

    path: str
    line: int | None
    message: str
    remedy: str

    @property
    def where(self) -> str:
        """The place as `path:line`."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Problems:
    """Collects the problems of one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: list[Problem] = []

    def add(self, line: int | None, message: str, remedy: str) -> None:
        """Add a problem; see `Problem`."""
        self.found.append(Problem(self.path, line, message, remedy))


TEMPLATES: Final = {
    "MEMORY.md": "MEMORY.md",
    "memory/graph/relations.md": "relations.md",
    "memory/meta/decay-scores.json": "decay-scores.json",
    "memory/meta/evolution.md": "evolution.md",
    "memory/meta/reflection-log.md": "reflection-log.md",
    "memory/meta/pending-memories.md": "pending-memories.md",
    "memory/meta/pending-reflection.md": "pending-reflection.md",
}
"""Workspace path of each file that `init` creates, with the name of its template."""


def load_template(path: str) -> bytes:
    """Return the initial content of the file at a workspace path.

    Raises:
        KeyError: There is no template for it.
    """
    from importlib import resources

    return resources.files(__package__).joinpath("templates", TEMPLATES[path]).read_bytes()
