"""Draws Markdown as people write it in chats and notes: headings, lists, code, quotes, emphasis; never obeyed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width, plain, wrap
from workbench.display.ink import BLANK, Span, gap, ink, wrap_line
from workbench.engine.identifiers import linked_entity
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from workbench.display.ink import Line

_HEADING = lazy_pattern(r"#{1,6}\s+(.*)")
_ITEM = lazy_pattern(r"(\s*)(?:[-*+]|(\d{1,4}[.)]))\s+(.*)")
_FENCE = lazy_pattern(r"\s*(?:`{3,}|~{3,})([^`]*)")
_RULE = lazy_pattern(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*")
# Every alternative ends at the next sign of its own kind, so that no text takes longer than its length.
_INLINE = lazy_pattern(
    r"(?P<tick>`+)(?P<code>[^`]+)(?P=tick)"
    r"|\*\*(?P<strong>[^*\s][^*]*)\*\*|(?<!\w)__(?P<strong_>[^_\s][^_]*)__(?!\w)"
    r"|(?<![\w*])\*(?P<em>[^*\s][^*]*)\*(?![\w*])|(?<!\w)_(?P<em_>[^_\s][^_]*)_(?!\w)"
    r"|\[\[(?P<to>[^\[\]|]{1,120})(?:\|(?P<named>[^\[\]|]{1,120}))?\]\]"
    r"|\[(?P<label>[^\[\]]{1,200})\]\((?P<url>[^()\s]{1,500})\)"
    r"|(?P<episode>episode:\d{4}-\d{2}-\d{2}:\d{2}:\d{2}(?:#\d+)?)"
)
_EMPHASIS = ("strong", "strong_", "em", "em_")
_LINK = lazy_pattern(r"\[\[([^\[\]|]{1,120})(?:\|([^\[\]]{1,120}))?\]\]")
_NARROWEST = 20


def markdown_lines(text: str, width: int, role: str = "text") -> list[Line]:
    """Draw a text line by line as it was written; what is too wide wraps, code breaks where it must.

    Returns:
        Lines of at most `width` cells; none for a text without words.
    """
    lines: list[Line] = []
    in_fence = False
    for source in text.splitlines():
        if fence := _FENCE.fullmatch(source):
            in_fence = not in_fence
            lines += [(Span(piece, "faint"),) for piece in wrap(fence[1].strip(), width) if piece]
        elif in_fence:
            lines += [(Span(piece, "code"),) for piece in wrap_code(source, width)]
        elif not source.strip():
            if lines and lines[-1]:
                lines.append(BLANK)
        elif _RULE.fullmatch(source):
            lines.append((Span("─" * min(width, 24), "rule"),))
        elif heading := _HEADING.match(source):
            lines += wrap_line(inline(heading[1], "strong"), width)
        elif item := _ITEM.match(source):
            indent = min(len(item[1].expandtabs(4)), max(0, width - _NARROWEST))
            lines += _hanging(item[3], indent, (item[2] or "•") + " ", width, role)
        elif source.lstrip().startswith(">"):
            said = source.lstrip().lstrip(">").strip()
            lines += [(Span("▏ ", "faint"), *line) for line in wrap_line(inline(said, "soft"), width - 2)]
        else:
            lines += wrap_line(inline(source.strip(), role), width)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _hanging(text: str, indent: int, bullet: str, width: int, role: str) -> list[Line]:
    before = indent + len(bullet)
    lead = Span(" " * indent + bullet, "soft")
    lines = wrap_line(inline(text, role), width - before)
    return [((lead if at == 0 else gap(before)), *line) for at, line in enumerate(lines)]


def wrap_code(source: str, width: int) -> list[str]:
    """Break a line of code at the width, keeping its spaces."""
    safe = plain(source)
    pieces: list[str] = []
    while cell_width(safe) > width:
        head = plain(safe, width + 1).removesuffix("…") or safe[:1]
        pieces.append(head)
        safe = safe[len(head) :]
    return [*pieces, safe]


def inline(text: str, role: str = "text") -> Line:
    """Return one paragraph with its emphasis, code and links; what names a memory leads to it."""
    spans: list[Span] = []
    at = 0
    for found in _INLINE.finditer(text):
        spans.append(ink(text[at : found.start()], role))
        spans += _styled(found, role)
        at = found.end()
    spans.append(ink(text[at:], role))
    return tuple(span for span in spans if span.text)


def unlinked(text: str) -> str:
    """Return a text with `[[type--slug]]` as the bare name; that of a person with capitals."""
    return _LINK.sub(_bare_name, text) if "[[" in text else text


def _bare_name(link: re.Match[str]) -> str:
    kind, _, slug = link[1].partition("--")
    name = (link[2] or slug or kind).replace("-", " ")
    return name.title() if kind == "person" and not link[2] else name


def bare(text: str) -> str:
    """Return what a text says in one line, its links as bare names and its emphasis unmarked."""
    return " ".join(unmarked(unlinked(text)).split())


def unmarked(text: str) -> str:
    """Return a text without the signs of its emphasis; links and code stay as they are written."""
    if "*" not in text and "_" not in text:
        return text
    return _INLINE.sub(
        lambda found: next((unmarked(said) for name in _EMPHASIS if (said := found[name])), found[0]), text
    )


def _styled(found: re.Match[str], role: str) -> Line:
    parts = found.groupdict()
    if parts["code"] is not None:
        return (ink(parts["code"].strip() or parts["code"], "code"),)
    if (strong := parts["strong"] or parts["strong_"]) is not None:
        return inline(strong, "strong")
    if (emphasis := parts["em"] or parts["em_"]) is not None:
        return inline(emphasis, "emphasis")
    if parts["to"] is not None:
        return (ink(parts["named"] or parts["to"], "text+link", None, _target(parts["to"].strip())),)
    if parts["label"] is not None:
        return (ink(parts["label"], role), ink(f" ({parts['url']})", "faint"))
    return (ink(parts["episode"], "text+link", None, parts["episode"]),)


def _target(link: str) -> str:
    """Return the id of the memory that a wikilink names."""
    if link.startswith(("core:", "episode:", "entity:", "procedure:", "vault:", "file:")):
        return link
    name, _, part = link.partition("#")
    return f"entity:{linked_entity(name)}" + (f"#{part}" if part.startswith("^") else "")
