"""Writes list items, sections and free text as lines that parse to the same content."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from workbench.engine.errors import InvalidInput
from workbench.engine.markdown.outline import Heading, ListItem, Outline, headings_need_parser, parse_blocks
from workbench.engine.markdown.source import LineSpan, SourceText, is_blank, text_lines
from workbench.engine.patterns import lazy_pattern

_OPENERS: Final = r"(?:#|```|~~~|<|=+[ \t]*$|-+[ \t]*$)"
_ESCAPED: Final = lazy_pattern(r"( {0,3})\\+(?=" + _OPENERS + ")")
_ESCAPABLE: Final = lazy_pattern(r" {0,3}\\*(?=" + _OPENERS + ")")
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

# After a list marker these would turn the line into a rule.
_RULE_LIKE: Final = lazy_pattern(r"\\*-[ \t-]*$")
_RULE_ESCAPED: Final = lazy_pattern(r"\\+-[ \t-]*$")


def protect_body(text: str, level: int = 2, *, source: bool = False) -> list[str]:
    """Return the lines that represent a text under a heading.

    A backslash, which Markdown does not show, precedes anything that would start a heading of the given level or
    higher, or open a block that the text does not close. `unprotect_body` removes it.

    Args:
        level: The deepest level of headings that divide the file.
        source: The text is Markdown source with its own escapes: only breakouts are escaped, and the result of
            `protect_body` is unchanged.
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
        # Once everything is escaped, no fence is left in which a backslash is literal.
        marked = {at for at, line in enumerate(lines) if _ESCAPABLE.match(line)}
        if source:
            marked = {at for at in marked if not _ESCAPED.match(lines[at])}
        written = _escape(lines, marked)
    return written


def unprotect_body(lines: Sequence[str]) -> str:
    """Return the text that some lines represent, joined by `\\n`, without outer blank lines."""
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


def _closing_lines(source: SourceText) -> list[str]:
    """Return the lines needed before a heading can be appended: none for most files.

    An unclosed fence or comment would swallow anything appended.
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
    """Return the lines, from 0, in which a backslash is literal."""
    found: set[int] = set()
    for token in parse_blocks(["# x", *lines]):
        if token.level == 0 and token.type in ("fence", "html_block") and token.map:
            found.update(range(token.map[0] - 1, token.map[1] - 1))
    return found


def _offending(lines: list[str], level: int) -> set[int]:
    """Return the lines, from 0, that would divide the file or swallow later lines."""
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


def clean_item(text: str) -> str:
    """Return a text as it will read once written as a list item.

    Like `text_lines`, without white space at its ends and on blank lines.
    """
    lines = ["" if is_blank(line) else line for line in text_lines(text)]
    return "\n".join(lines).strip(" \t\n")


def one_line(text: str) -> str:
    """Return a text on one line: every run of white space becomes a space."""
    return " ".join(" ".join(text_lines(text)).split())


def item_lines(text: str, marker: str = "- ") -> list[str]:
    """Format a text as one list item that none of its lines can leave.

    Args:
        marker: The beginning of the first line; further lines are indented by the width of its list marker.

    Raises:
        InvalidInput: The text is blank.
    """
    cleaned = clean_item(text)
    if not cleaned:
        raise InvalidInput("There is no text to write.", remedy="Give at least one word.")
    first, *rest = cleaned.split("\n")
    if _RULE_LIKE.match(first):
        first = "\\" + first
    indent = " " * (marker.index(" ") + 1)
    return [marker + first, *(indent + line if line else "" for line in rest)]


def item_text(text: str) -> str:
    """Return the text of an item from `ListItem.text`, undoing the escapes of `item_lines`."""
    first, newline, rest = text.partition("\n")
    if _RULE_ESCAPED.match(first):
        first = first[1:]
    return first + newline + rest


def outermost_items(outline: Outline, span: LineSpan) -> list[ListItem]:
    """Return the outermost list items that start in a span."""
    first = bisect_left(outline.items, span.start, key=lambda item: item.span.start)
    last = bisect_right(outline.items, span.end, key=lambda item: item.span.start)
    return [item for item in outline.items[first:last] if item.depth == 0]


def paragraphs_within(outline: Outline, span: LineSpan) -> Sequence[LineSpan]:
    """Return the outermost paragraphs that start in a span."""
    first = bisect_left(outline.paragraphs, span.start, key=lambda part: part.start)
    last = bisect_right(outline.paragraphs, span.end, key=lambda part: part.start)
    return outline.paragraphs[first:last]


def append_item(source: SourceText, outline: Outline, heading: Heading, lines: Sequence[str]) -> SourceText:
    """Insert an item's lines, from `item_lines`, at the end of a section."""
    section = source.trimmed(heading.section)
    closing = _closing_lines(source) if heading.section.end == len(source.lines) else []
    items = outermost_items(outline, heading.section)
    joins = any(item.span.end == section.end for item in items) or section.end == heading.span.end
    last = source.line(section.end)
    joins = joins or (last.startswith("<!--") and last.rstrip().endswith("-->"))
    gap = [] if joins and not closing else [""]
    return insert_lines(source, section.end, [*closing, *gap, *clear_of_next(source, section.end, lines)])


def append_to_section(
    source: SourceText, outline: Outline, heading: Heading | None, title: str, lines: Sequence[str]
) -> SourceText:
    """Insert an item's lines at the end of a section; a missing section is added at the end of the file."""
    if heading is None:
        return append_section(source, title, lines)
    return append_item(source, outline, heading, lines)


def insert_lines(source: SourceText, after: int, lines: Sequence[str]) -> SourceText:
    """Insert lines after a line (0: before all), and a blank line between them and text that follows."""
    follows = after < len(source.lines) and not is_blank(source.line(after + 1))
    return source.insert_after(after, [*lines, *([""] if follows else [])])


def set_section(source: SourceText, body: LineSpan, lines: Sequence[str]) -> SourceText:
    """Replace what a section says, given all lines below its heading."""
    said = source.trimmed(body)
    return source.replace(said, lines) if said else insert_lines(source, body.start - 1, lines)


def clear_of_next(source: SourceText, line: int, lines: Sequence[str]) -> Sequence[str]:
    """Return an item's lines, indented so that the text after line `line` stays outside the item.

    A following line indented as deep as the item's content would belong to the item: then the content is indented
    further.
    """
    following = next((text for text in source.lines[line:] if not is_blank(text)), "")
    indent = len(following) - len(following.lstrip(" "))
    content = len(lines[0]) - len(lines[0].lstrip(" ")) + lines[0].lstrip(" ").index(" ") + 1
    if not content <= indent <= 3:
        return lines
    extra = " " * (indent + 1 - content)
    return [
        lines[0][:content] + extra + lines[0][content:],
        *(extra + text if text else "" for text in lines[1:]),
    ]


def append_section(source: SourceText, title: str, lines: Sequence[str]) -> SourceText:
    """Add a heading of level 2 with some lines at the end of a file."""
    return append_lines(source, [f"## {title}", *lines])


def append_lines(source: SourceText, lines: Sequence[str]) -> SourceText:
    """Add lines that start with a heading at the end of a file, after one blank line.

    An unclosed construct (a fence, a comment) is closed first, because it would swallow them.
    """
    before = _closing_lines(source)
    last = before[-1] if before else source.lines[-1] if source.lines else ""
    return source.append([*before, *([] if is_blank(last) else [""]), *lines])


def insert_section(
    source: SourceText,
    headings: Sequence[Heading],
    title: str,
    lines: Sequence[str],
    follows: Callable[[str], bool],
) -> SourceText:
    """Add a section of level 2 before the first section that follows it in the usual order.

    Args:
        follows: Returns True for a heading that comes after the new one in the usual order.
    """
    for heading in headings:
        if heading.level == 2 and follows(heading.text):
            return source.splice(heading.span.start, heading.span.start - 1, [f"## {title}", *lines, ""])
    return append_section(source, title, lines)


def remove_lines(source: SourceText, span: LineSpan) -> SourceText:
    """Remove lines, and one of two blank lines that would become adjacent."""
    start, end = span.start, span.end
    blank_before = start == 1 or is_blank(source.line(start - 1))
    blank_after = end == len(source.lines) or is_blank(source.line(end + 1))
    if blank_before and blank_after:
        if end < len(source.lines):
            end += 1
        elif start > 1:
            start -= 1
    return source.splice(start, end, ())
