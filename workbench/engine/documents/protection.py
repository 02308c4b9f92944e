"""Free text under a heading, written so that nothing in it reads as the structure around it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.documents.outline import headings_need_parser, parse_blocks
from workbench.engine.documents.source import is_blank, text_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.documents.source import SourceText

_OPENERS: Final = r"(?:#|```|~~~|<|=+[ \t]*$|-+[ \t]*$)"
_ESCAPED: Final = re.compile(r"( {0,3})\\+(?=" + _OPENERS + ")")
_ESCAPABLE: Final = re.compile(r" {0,3}\\*(?=" + _OPENERS + ")")
_ROUNDS: Final = 8
_HTML_ENDS: Final = (
    ("<!--", "-->"),
    ("<?", "?>"),
    ("<![CDATA[", "]]>"),
    ("<script", "</script>"),
    ("<pre", "</pre>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<!", ">"),
)


def protect_body(text: str, level: int = 2, *, source: bool = False) -> list[str]:
    """Return the lines that stand for a text under a heading.

    A backslash, which Markdown does not show, goes before what would start a heading of the given level or
    higher, or what would open a block that the text does not close. `unprotect_body` takes it away.

    Args:
        text: Any text; see `text_lines` for what of it is kept.
        level: The deepest level of headings that part the file.
        source: The text is Markdown source as it shall stand in the file, with its own escapes: only what
            would break out is escaped, and what `protect_body` gave comes back unchanged.
    """
    lines = text_lines(text)
    if not any(_ESCAPABLE.match(line) for line in lines):
        return lines
    marked: set[int] = set()
    for _ in range(_ROUNDS):
        if not source:
            literal = _literal(_escape(lines, marked))
            marked |= {at for at, line in enumerate(lines) if at not in literal and _ESCAPED.match(line)}
        written = _escape(lines, marked)
        offending = _offending(written, level) - marked
        if not offending:
            break
        marked |= offending
    written = _escape(lines, marked)
    if _offending(written, level) or not (source or unprotect_body(written) == "\n".join(lines)):
        # With everything escaped no fence is left in which a backslash could mean itself.
        marked = {at for at, line in enumerate(lines) if _ESCAPABLE.match(line)}
        if source:
            marked = {at for at in marked if not _ESCAPED.match(lines[at])}
        written = _escape(lines, marked)
    return written


def unprotect_body(lines: Sequence[str]) -> str:
    """Return the text that some lines stand for, joined by `\\n`, without blank lines at its ends."""
    first, last = 0, len(lines)
    while first < last and is_blank(lines[first]):
        first += 1
    while last > first and is_blank(lines[last - 1]):
        last -= 1
    kept = list(lines[first:last])
    if any(_ESCAPED.match(line) for line in kept):
        literal = _literal(kept)
        for at, line in enumerate(kept):
            match = None if at in literal else _ESCAPED.match(line)
            if match:
                kept[at] = match[1] + line[match.end(1) + 1 :]
    return "\n".join(kept)


def closing_lines(source: SourceText) -> list[str]:
    """Return the lines that must be added before a heading can be appended: none for most files.

    A fence or comment that a person left open would swallow whatever is appended.
    """
    if not headings_need_parser(source.lines):
        return []
    blocks = parse_blocks([*source.lines, "", "# x"])
    last = blocks[-1] if blocks else None
    if last is None or last.type not in ("fence", "html_block") or last.map is None:
        return []
    if last.map[1] <= len(source.lines) + 1:
        return []
    if last.type == "fence":
        return [last.markup]
    opener = source.lines[last.map[0]].lstrip().lower()
    return [next((end for start, end in _HTML_ENDS if opener.startswith(start.lower())), "")]


def _escape(lines: list[str], marked: set[int]) -> list[str]:
    written = list(lines)
    for at in marked:
        indent = len(lines[at]) - len(lines[at].lstrip(" "))
        written[at] = f"{lines[at][:indent]}\\{lines[at][indent:]}"
    return written


def _literal(lines: list[str]) -> set[int]:
    """Return the lines, from 0, in which a backslash means itself."""
    found: set[int] = set()
    for token in parse_blocks(["# x", *lines]):
        if token.level == 0 and token.type in ("fence", "html_block") and token.map:
            found.update(range(token.map[0] - 1, token.map[1] - 1))
    return found


def _offending(lines: list[str], level: int) -> set[int]:
    """Return the lines, from 0, that would part the file or swallow what comes after them."""
    found: set[int] = set()
    sentinel = len(lines) + 2
    for token in parse_blocks(["# x", *lines, "", "# x"]):
        if token.level or token.map is None:
            continue
        start, end = token.map
        if token.type == "heading_open" and int(token.tag[1]) <= level and 0 < start < sentinel:
            found.add((start if token.markup.startswith("#") else end - 1) - 1)
        elif token.type in ("fence", "html_block") and end > sentinel:
            found.add(start - 1)
    return found
