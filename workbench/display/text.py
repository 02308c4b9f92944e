"""How text reaches a terminal: made safe, measured in columns, coloured only where that can be seen."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Self

from workbench.display.ink import BLANK, links_in
from workbench.engine.clock import in_zone
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.display.ink import Line

# What could move the cursor, recolour, hide or reorder text: controls except tab and newline, marks of
# direction, invisible and tag characters, line separators, lone surrogates.
_UNSAFE = lazy_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_COLOURS = lazy_pattern("\x1b\\[[0-9;]*m")
_ELLIPSIS = "…"
_STYLES = {
    "strong": "1",
    "quiet": "2",
    "good": "32",
    "bad": "31",
    "accent": "33",
    "place": "36",
    # One hue for each store, the same in every list.
    "core": "35",
    "episodic": "34",
    "semantic": "32",
    "procedural": "36",
    "vault": "33",
    # Brightness stands for the score.
    "active": "1",
    "fading": "",
    "dormant": "2",
    "archived": "2;9",
    "pinned": "1",
    # What spans of drawn lines mean.
    "match": "1",
    "soft": "2",
    "faint": "2",
    "rule": "2",
    "danger": "31",
    "decide": "33",
    "added": "32",
    "removed": "31",
}
# A role names several: `soft+strong`, `store.core`.
_STYLE_OF = lazy_pattern(r"store\.|[.+]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds between two tellings.
_PAUSE = 0.1


def safe(text: str) -> str:
    """Return text that can do nothing to a terminal but be read.

    Control characters become their pictures (`␛`), whatever is invisible or changes the direction of
    writing becomes its number (`⟨U+202E⟩`). Newlines stay, tabs become four spaces.
    """
    return _UNSAFE.sub(_picture, text.replace("\r\n", "\n")).replace("\t", "    ")


def safe_line(text: str) -> str:
    """Return text made safe and brought onto one line, runs of white space as one space."""
    return " ".join(safe(text).split())


def unsafe_characters(text: str) -> Iterable[re.Match[str]]:
    """Find every character that `safe` would replace, tabs excepted."""
    return _UNSAFE.finditer(text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩"


def display_width(text: str) -> int:
    """Return how many columns a line takes: wide characters two, combining ones and colours none."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    return sum(_columns(character) for character in _COLOURS.sub("", text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clip(text: str, width: int) -> str:
    """Cut a line without colours to a width in columns; what was cut shows as an ellipsis."""
    if display_width(text) <= width:
        return text
    room = max(width - 1, 0)
    kept: list[str] = []
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + (_ELLIPSIS if width > 0 else "")


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill a line up to a width in columns, on its left where it is to be aligned `right`."""
    fill = " " * max(width - display_width(text), 0)
    return fill + text if right else text + fill


def wrap(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Break text into lines of at most a width in columns; its own line breaks are kept.

    Args:
        text: Safe text without colours.
        width: Columns of a whole line, `first` or `rest` included.
        first: What the first line begins with.
        rest: What every further line begins with; as many spaces as `first` is wide by default.
    """
    rest = " " * display_width(first) if rest is None else rest
    lines: list[str] = []
    for paragraph in text.split("\n"):
        start = rest if lines else first
        line, empty = start, True
        for word in paragraph.split(" "):
            for piece in _pieces(word, max(width - display_width(rest), 1)):
                if not empty and display_width(line) + 1 + display_width(piece) > width:
                    lines.append(line)
                    line, empty = rest, True
                line += piece if empty else " " + piece
                empty = False
        lines.append(line.rstrip() if line.strip() else "")
    return lines


def _pieces(word: str, width: int) -> list[str]:
    """Cut a word that fits no line, which is how scripts without spaces are written, into parts that do."""
    if display_width(word) <= width:
        return [word]
    pieces, piece, used = [], "", 0
    for character in word:
        columns = _columns(character)
        if used + columns > width and piece:
            pieces.append(piece)
            piece, used = "", 0
        piece += character
        used += columns
    return [*pieces, piece]


def bar(share: float, width: int) -> str:
    """Draw a share of a whole as a bar of `width` columns, to an eighth of a column; over one it is full."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    whole, part = divmod(eighths, 8)
    drawn = "█" * whole + (" ▏▎▍▌▋▊▉"[part] if part else "")
    return pad(drawn, width).replace(" ", "·")


@dataclass(frozen=True)
class Page:
    """What is written on: how wide it is, whether colours show, and whose clock it goes by.

    Args:
        colour: Whether colours are written.
        zone: The time zone that moments are written in.
    """

    width: int = 80
    colour: bool = False
    zone: tzinfo = UTC
    at: datetime = _EPOCH

    @property
    def now(self) -> datetime:
        """Return the present in the zone of the page; days near to it are told by their names."""
        return in_zone(self.at, self.zone)

    def paint(self, text: str, *styles: str) -> str:
        """Return text in styles by name (`strong`, `quiet`, a store, a status); unknown names do nothing."""
        codes = ";".join(code for style in styles if (code := _STYLES.get(style)))
        return f"\x1b[{codes}m{text}\x1b[0m" if self.colour and codes and text else text

    def wrapped(self, text: str, *styles: str, first: str = "", rest: str | None = None) -> list[str]:
        """Return text broken into lines of the page, each in styles by name; see `wrap`."""
        return [self.paint(line, *styles) for line in wrap(text, self.width, first=first, rest=rest)]

    def printed(self, lines: Iterable[Line], *, ids: bool = False) -> list[str]:
        """Return drawn lines as they are printed, coloured by what their spans mean.

        Args:
            lines: Of any width; none is broken.
            ids: Whether a line that leads somewhere ends with the id of what it leads to, for there is no cursor.
        """
        printed: list[str] = []
        drawn = list(lines)
        for line, after in zip_longest(drawn, drawn[1:], fillvalue=BLANK):
            text = "".join(self.paint(span.text, *_STYLE_OF.sub(" ", span.role).split()) for span in line)
            printed.append(text.rstrip())
            goes_on = {span.link for span in after}
            for _, link in links_in(line) if ids else ():
                if ":" not in link or link in text or link in goes_on:
                    continue
                told = safe_line(link)
                if display_width(printed[-1]) + display_width(told) + 2 <= self.width:
                    printed[-1] += f"  {self.paint(told, 'quiet')}"
                else:
                    printed.append(self.paint(f"    {told}", "quiet"))
        return printed

    def done(self, said: str) -> str:
        """Return a line that reports what was done."""
        return f"{self.paint('✓', 'good')} {said}"

    def heading(self, text: str, aside: str = "") -> str:
        """Return a heading with a quiet remark at the right margin, or after it where both do not fit."""
        gap = max(self.width - display_width(text) - display_width(aside), 2)
        return self.paint(text, "strong") + (" " * gap + self.paint(aside, "quiet") if aside else "")

    def table(self, rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
        """Line up cells in columns, two spaces between; the last cell of a row is left as it is.

        Args:
            rows: Rows of equal length; cells are safe single lines, coloured or not.
            right: Columns whose cells are at the right, as numbers do.
        """
        if not rows:
            return []
        widths = [max(display_width(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = []
        for row in rows:
            cells = [pad(cell, widths[column], right=column in right) for column, cell in enumerate(row[:-1])]
            last = pad(row[-1], widths[-1], right=True) if len(row) - 1 in right else row[-1]
            lines.append("  ".join([*cells, last]).rstrip())
        return lines


def page_for(stream: IO[str]) -> Page:
    """Return the page that a stream is: colours and the real width only on a terminal."""
    terminal = stream.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    width = shutil.get_terminal_size((80, 24)).columns if terminal else 80
    return Page(width=max(40, min(width, 100)), colour=terminal and not plain)


def write(lines: Iterable[str], *, to_errors: bool = False) -> None:
    """Print lines; of all that could control a terminal only colours pass, whatever a view has overlooked.

    Characters that the stream cannot encode show as question marks.
    """
    stream = sys.stderr if to_errors else sys.stdout
    encoding = stream.encoding or "utf-8"
    for line in lines:
        parts = _COLOURS.split(line)
        guarded = safe(parts[0])
        if len(parts) > 1:
            colours = _COLOURS.findall(line)
            guarded += "".join(colour + safe(part) for colour, part in zip(colours, parts[1:], strict=True))
        stream.write(guarded.encode(encoding, "replace").decode(encoding) + "\n")
    stream.flush()


class ProgressLine:
    """Tells how far something has come; leaving it takes the line away again."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0.0
        self._wrote = False

    def tell(self, line: str, *, at_once: bool = False) -> None:
        """Show a line in place of the one before, unless that was a moment ago.

        Args:
            at_once: Show it however short ago the last one was.
        """
        now = time.monotonic()
        if self._shown and (at_once or now - self._last >= _PAUSE):
            self._last = now
            self._wrote = True
            # A line that wraps could not be taken back.
            line = clip(line, shutil.get_terminal_size((80, 24)).columns - 1)
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away; the next one is shown as the first was."""
        if self._wrote:
            self._wrote = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
