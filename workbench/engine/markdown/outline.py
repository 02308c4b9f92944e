"""The block structure of a Markdown file: its headings, list items, comments, annotations and fences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from workbench.engine.markdown.source import LineSpan, SourceText, is_blank
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_PAIR: Final = lazy_pattern(r"[ \t]*(\w[\w -]{0,60}?)[ \t]*:[ \t]*(.*?)[ \t]*$", re.DOTALL)
_MACHINE: Final = lazy_pattern(r"openclaw-memory-(promotion|lineage):(.*)$", re.DOTALL)

_ATX: Final = lazy_pattern(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$", re.DOTALL)
_ATX_CLOSE: Final = lazy_pattern(r"(?:^|[ \t])#+[ \t]*$")
_YAML_KEY: Final = lazy_pattern(r"[\w\"'.-]+[ \t]*:(?:[ \t]|$)")
_MARKER: Final = lazy_pattern(r"[ \t>]*([-+*]|\d{1,9}[.)])(?:([ \t]+)|$)")
_RISKY_FOR_HEADINGS: Final = lazy_pattern(
    r"^(?: {1,3}#| {0,3}(?:```|~~~|=+[ \t]*$|(-+[ \t]*$)|<(?!!--(?:(?!-->).)*-->)))", re.MULTILINE
)
# Containers nest at most one level per column of a line's prefix, so a bound on the prefix bounds the parser's
# recursion; anything deeper is leaf text.
_DEEPEST_COLUMN: Final = 40
_LONG_PREFIX: Final = lazy_pattern(r"^(?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])){10,}", re.MULTILINE)
_RULE: Final = lazy_pattern(r"[ \t]*([-*_])(?:[ \t]*\1)*[ \t]*$")
_PLAIN_ITEM: Final = lazy_pattern(
    r"([-*+]) (?![-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|[ \t>#<=]|```|~~~|[-*_][-*_ \t]*$)(?=.)", re.DOTALL
)
_NOT_PLAIN: Final = lazy_pattern(r"[ \t<>=]|```|~~~|\d{1,9}[.)]|[-*+_][-*_ \t]*$|[-+*](?:[ \t]|$)|\[(?!\[)")


def comment_offsets(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each closed HTML comment of a text, in characters."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            return
        yield start, end + 3
        start = text.find("<!--", end + 3)


def read_annotations(text: str) -> tuple[tuple[str, str], ...]:
    """Return the annotations of a text in order, as key and value; `observed | status` in one comment gives two.

    Keys are `trigger`, `importance`, `project`, `observed`, `status`, `pinned`, `promotion`, `lineage`, or others in
    lower case. Values are as written, empty for a mark such as `<!-- pinned -->`.
    """
    found: list[tuple[str, str]] = []
    for start, end in comment_offsets(text):
        inner = text[start + 4 : end - 3].strip()
        machine = _MACHINE.match(inner)
        if machine:
            found.append((machine[1], machine[2]))
            continue
        for part in inner.split("|"):
            pair = _PAIR.match(part)
            key, value = (pair[1], pair[2]) if pair else (part.strip(), "")
            if key:
                found.append((key.lower(), value))
    return tuple(found)


def strip_comments(text: str) -> str:
    """Return a text without its HTML comments and the white space before them."""
    kept: list[str] = []
    at = 0
    for start, end in comment_offsets(text):
        kept.append(text[at:start].rstrip(" \t"))
        at = end
    kept.append(text[at:])
    return "".join(kept)


def trailing_comments(text: str) -> str:
    """Return the HTML comments at the end of a text, with the white space before and between them."""
    tail = len(text)
    for start, end in reversed(list(comment_offsets(text))):
        if text[end:tail].strip():
            break
        tail = start
    return text[len(text[:tail].rstrip()) :] if tail < len(text) else ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside lists, quotes, fences, comments and HTML.

    Args:
        level: 1 to 6.
        text: Its text as written, without marks and outer white space.
        span: Its own lines (several for a setext heading).
        section: From the heading to before the next one of its level or higher.
        body: From after the heading to before the next one of any level.
    """

    level: int
    text: str
    span: LineSpan
    section: LineSpan
    body: LineSpan


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list item outside quotes.

    Args:
        span: All its lines, nested ones included, without trailing blank lines.
        depth: 0 for an item of an outermost list.
        indent: The column of its content, counted in characters.
        text: Its whole content, nested lines included, without marker and indentation, lines joined by `\\n`.
        own: Like `text`, up to its first nested item.
    """

    span: LineSpan
    depth: int
    indent: int
    text: str
    own: str


@dataclass(frozen=True, slots=True)
class Comment:
    """An HTML comment: its lines, and the text between the marks without outer white space."""

    span: LineSpan
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The structure of a whole file, in line order.

    Args:
        front_matter: The YAML front matter with its `---` lines, or None.
        paragraphs: Outermost blocks other than headings, lists, comments, fences and rules.
    """

    front_matter: LineSpan | None
    headings: tuple[Heading, ...]
    items: tuple[ListItem, ...]
    comments: tuple[Comment, ...]
    fences: tuple[LineSpan, ...]
    paragraphs: tuple[LineSpan, ...]


def read_outline(source: SourceText) -> Outline:
    """Return a file's structure. Accepts any text; linear in its length."""
    matter = find_front_matter(source)
    if matter is None:
        plain = _plain_outline(source.lines)
        if plain is not None:
            return plain
    lines = _without(source.lines, matter)
    return _Walk(lines, parse_blocks(lines)).outline(matter)


def read_headings(source: SourceText) -> tuple[Heading, ...]:
    """Return only a file's headings: like `read_outline(source).headings`, but faster on plain files."""
    matter = find_front_matter(source)
    lines = _without(source.lines, matter)
    if headings_need_parser(lines):
        return _Walk(lines, parse_blocks(lines)).outline(matter).headings
    found = [
        (len(match[1]), _atx_text(match), LineSpan(number, number))
        for number, line in enumerate(lines, 1)
        if line.startswith("#") and (match := _ATX.match(line))
    ]
    return _with_sections(found, len(lines))


def stretches(headings: Sequence[Heading], last: int) -> Iterator[tuple[Heading, LineSpan]]:
    """Yield each of some headings with its lines and those up to the next one."""
    ends = [*(heading.span.start - 1 for heading in headings[1:]), last]
    for heading, end in zip(headings, ends, strict=False):
        yield heading, LineSpan(heading.span.start, end)


def find_front_matter(source: SourceText) -> LineSpan | None:
    """Return the lines of the YAML front matter with its `---` lines, or None.

    It is at the very start, its first line is `key: …`, and it contains no Markdown heading: this excludes files that
    start with a rule.
    """
    lines = source.lines
    if not lines or lines[0].rstrip() != "---":
        return None
    begun = False
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in ("---", "..."):
            return LineSpan(1, number) if begun else None
        if _ATX.match(line) or not (begun or is_blank(line) or _YAML_KEY.match(line)):
            return None
        begun = begun or bool(_YAML_KEY.match(line))
    return None


def parse_blocks(lines: Sequence[str]) -> list[Token]:
    """Return markdown-it-py's block tokens; their line numbers start at 0."""
    return _parser().parse("\n".join(_without_depth(lines)))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 10 * _DEEPEST_COLUMN})
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _without(lines: tuple[str, ...], matter: LineSpan | None) -> tuple[str, ...]:
    return lines if matter is None else ("",) * matter.end + lines[matter.end :]


def _without_depth(lines: Sequence[str]) -> Iterable[str]:
    for line in lines:
        match = _LONG_PREFIX.match(line)
        if match is None or is_blank(line):
            yield line
            continue
        column = 0
        for at, character in enumerate(line[: match.end()]):
            column += 4 if character == "\t" else 1
            if column > _DEEPEST_COLUMN:
                yield line if _RULE.match(line) else line[:at] + "x"
                break
        else:
            yield line


def headings_need_parser(lines: Sequence[str]) -> bool:
    """Return True if headings depend on more than a line's first character, as with fences."""
    text = "\n".join(lines)
    for match in _RISKY_FOR_HEADINGS.finditer(text):
        if match[1] is None:
            return True
        # A line of hyphens is a rule after a blank line, and turns text before it into a heading.
        before = text[text.rfind("\n", 0, max(match.start() - 1, 0)) + 1 : max(match.start() - 1, 0)]
        if not is_blank(before):
            return True
    return False


def _atx_text(match: re.Match[str]) -> str:
    return _ATX_CLOSE.sub("", match[2] or "", count=1).strip()


def _with_sections(found: list[tuple[int, str, LineSpan]], last: int) -> tuple[Heading, ...]:
    made: list[Heading] = []
    # The start of the next heading of each level or higher, walking backwards.
    next_of = [last + 1] * 7
    next_any = last + 1
    for level, text, span in reversed(found):
        section = LineSpan(span.start, next_of[level] - 1)
        made.append(Heading(level, text, span, section, LineSpan(span.end + 1, next_any - 1)))
        next_any = span.start
        for deeper in range(level, 7):
            next_of[deeper] = span.start
    return tuple(reversed(made))


def _plain_outline(lines: tuple[str, ...]) -> Outline | None:
    """Parse a file of flat lists, paragraphs, headings and one-line comments; None for any other."""
    found: list[tuple[int, str, LineSpan]] = []
    items: list[ListItem] = []
    comments: list[Comment] = []
    paragraphs: list[LineSpan] = []
    previous = "blank"
    for number, line in enumerate(lines, 1):
        here = LineSpan(number, number)
        if is_blank(line):
            previous = "blank"
        elif match := _ATX.match(line) if line[0] == "#" else None:
            found.append((len(match[1]), _atx_text(match), here))
            previous = "heading"
        elif match := _PLAIN_ITEM.match(line):
            text = line[2:].rstrip(" \t")
            items.append(ListItem(here, 0, 2, text, text))
            comments.extend(_inline_comments(line, number))
            previous = "item"
        elif line.startswith("<!--") and "-->" in line[4:]:
            comments.extend(_inline_comments(line, number))
            previous = "comment"
        elif (
            line.startswith("---") and not line.strip("- \t") and previous in ("blank", "heading", "comment")
        ):
            if number == 1:
                return None
            previous = "rule"
        elif previous == "item" or _NOT_PLAIN.match(line):
            return None
        else:
            comments.extend(_inline_comments(line, number))
            if previous == "paragraph":
                here = LineSpan(paragraphs.pop().start, number)
            paragraphs.append(here)
            previous = "paragraph"
    return Outline(
        None, _with_sections(found, len(lines)), tuple(items), tuple(comments), (), tuple(paragraphs)
    )


def _inline_comments(line: str, number: int) -> list[Comment]:
    if "<!--" not in line:
        return []
    return [
        Comment(LineSpan(number, number), line[start + 4 : end - 3].strip())
        for start, end in comment_offsets(line)
    ]


class _Walk:
    """One pass over the parser's tokens, collecting an outline."""

    def __init__(self, lines: tuple[str, ...], tokens: list[Token]) -> None:
        self.lines = lines
        self.found: list[tuple[int, str, LineSpan]] = []
        self.items: list[ListItem] = []
        self.comments: list[Comment] = []
        self.fences: list[LineSpan] = []
        self.paragraphs: list[LineSpan] = []
        self.literal: set[int] = set()
        quotes = 0
        open_items: list[tuple[LineSpan, int, list[int]]] = []
        for token in tokens:
            if token.type == "blockquote_close":
                quotes -= 1
            elif token.type == "list_item_close" and not quotes:
                self._close_item(*open_items.pop(), depth=len(open_items))
            if token.map is None:
                continue
            span = LineSpan(token.map[0] + 1, min(token.map[1], len(lines)))
            if token.type == "blockquote_open":
                quotes += 1
            elif token.type == "list_item_open" and not quotes:
                if open_items:
                    open_items[-1][2].append(span.start)
                inside = open_items[-1][1] if open_items and open_items[-1][0].start == span.start else 0
                open_items.append((span, _content_column(lines[span.start - 1], inside), []))
            self._block(token, span)

    def _block(self, token: Token, span: LineSpan) -> None:
        if token.type == "heading_open":
            if token.level == 0:
                self._heading(int(token.tag[1]), span)
        elif token.type == "fence":
            self.fences.append(span)
            self.literal.update(range(span.start, span.end + 1))
        elif token.type == "html_block":
            text = "\n".join(self.lines[span.start - 1 : span.end])
            start = text.find("<!--")
            if text.lstrip(" >").startswith("<!--"):
                end = text.find("-->", start + 4)
                self.comments.append(Comment(span, text[start + 4 : end if end >= 0 else None].strip()))
                for more, after in comment_offsets(text[end + 3 :]) if end >= 0 else ():
                    line = span.start + text.count("\n", 0, end + 3 + more)
                    inner = text[end + 3 + more + 4 : end + 3 + after - 3]
                    self.comments.append(Comment(LineSpan(line, line + inner.count("\n")), inner.strip()))
            elif token.level == 0:
                self.paragraphs.append(span)
            self.literal.update(range(span.start, span.end + 1))
        elif token.type == "code_block":
            self.literal.update(range(span.start, span.end + 1))
        if token.level == 0 and token.type in ("paragraph_open", "code_block", "blockquote_open"):
            self.paragraphs.append(span)

    def _heading(self, level: int, span: LineSpan) -> None:
        match = _ATX.match(self.lines[span.start - 1]) if len(span) == 1 else None
        lines = self.lines[span.start - 1 : span.end - 1]
        text = _atx_text(match) if match else " ".join(line.strip() for line in lines)
        self.found.append((level, text, span))

    def _close_item(self, span: LineSpan, indent: int, nested: list[int], *, depth: int) -> None:
        end = span.end
        while end > span.start and is_blank(self.lines[end - 1]):
            end -= 1
        first = self.lines[span.start - 1][indent:]
        content = [first, *(_dedented(line, indent) for line in self.lines[span.start : end])]
        own = content[: nested[0] - span.start] if nested else content
        self.items.append(ListItem(LineSpan(span.start, end), depth, indent, _joined(content), _joined(own)))

    def outline(self, matter: LineSpan | None) -> Outline:
        for number, line in enumerate(self.lines, 1):
            if "<!--" in line and number not in self.literal:
                self.comments.extend(_inline_comments(line, number))
        starts = [(item.span.start, item.depth) for item in self.items]
        order = sorted(range(len(starts)), key=starts.__getitem__)
        return Outline(
            matter,
            _with_sections(self.found, len(self.lines)),
            tuple(self.items[at] for at in order),
            tuple(sorted(self.comments, key=lambda comment: comment.span)),
            tuple(self.fences),
            tuple(self.paragraphs),
        )


def _joined(lines: list[str]) -> str:
    return "\n".join("" if is_blank(line) else line for line in lines).rstrip(" \t\n")


def _content_column(line: str, inside: int) -> int:
    """Return the column of an item's content, given that of the item it is in."""
    match = _MARKER.match(line, inside)
    if match is None:
        return inside
    gap = match[2] or ""
    # Five or more spaces after the marker start indented code, one column in.
    wide = len(gap) > 4 or "\t" in gap[1:]
    return match.end(1) + (1 if gap and wide else len(gap))


def _dedented(line: str, indent: int) -> str:
    column = at = 0
    while at < len(line) and column < indent and line[at] in " \t":
        column += 4 - column % 4 if line[at] == "\t" else 1
        at += 1
    return line[at:]
