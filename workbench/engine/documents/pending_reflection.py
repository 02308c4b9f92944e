"""`memory/meta/pending-reflection.md`: what a reflection proposes, with a person's decisions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, get_args

from workbench.engine.documents.items import (
    clean_item,
    clear_of_next,
    one_line,
    outermost_items,
    remove_lines,
)
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.protection import protect_body, unprotect_body
from workbench.engine.documents.review_item import (
    BOX_OF,
    Decision,
    ReviewItem,
    field_lines,
    label_of,
    nested_items,
    read_item,
    review_item_lines,
)
from workbench.engine.documents.source import LineSpan, SourceText, is_blank
from workbench.engine.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbench.engine.documents.outline import Outline

# A box behind list markers; in free text it must not become an item.
_BOX_LIKE: Final = re.compile(r"^((?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*)(?=\[)")
_BOX_ESCAPED: Final = re.compile(_BOX_LIKE.pattern.removesuffix(r"(?=\[)") + r"\\(?=\[)")
_RULE: Final = re.compile(r"-{3,}[ \t]*")
_META: Final = re.compile(r"\*\*([^*\n]+?)\*\*[ \t]*[:：][ \t]*(.*)$|\*\*([^*\n]+?)[:：]\*\*[ \t]*(.*)$")
_MARKER: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)]) ")
# What was meant as an item, however it was mistyped: its id behind a marker, a box, or what is left of them. What items
# say stands indented below them, and so is never meant.
_MEANT_AS_ITEM: Final = re.compile(
    r"(?=[-*+\[])(?:[-*+][ \t]*)?(?:\[[^\]`\\\n]{0,3}\]?[ \t]*)?`(r-\d+\.\d+)`"
)


@dataclass(frozen=True, slots=True)
class ReviewSection:
    """A section to be written: its heading, items, and free text (escaped, so that it forges nothing)."""

    heading: str
    items: tuple[ReviewItem, ...] = ()
    prose: str = ""


@dataclass(frozen=True)
class PendingReflection:
    """The proposal. Edits return a new one and raise `NotFound` for an unknown item.

    Args:
        reflection: `r-012`, or empty in an empty file.
        created: ISO 8601 time, or empty.
        meta: The `**Key**: value` lines at the end (design document §10.5), keys as written.
        sections: Headings in the file's order.
    """

    path: str
    source: SourceText
    reflection: str
    created: str
    items: tuple[ReviewItem, ...]
    meta: tuple[tuple[str, str], ...]
    sections: tuple[str, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/pending-reflection.md") -> PendingReflection:
        """Read the file. Any bytes will do; two items with one id are a problem, and the first counts."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        sections = [heading for heading in outline.headings if heading.level == 2]
        problems: list[Problem] = []
        items: dict[str, ReviewItem] = {}
        for heading in sections:
            for listed in outermost_items(outline, heading.section):
                item = read_item(outline, listed, heading.text, problems, path)
                if item is None:
                    continue
                if item.id in items:
                    problems.append(
                        Problem(
                            path,
                            listed.span.start,
                            f"The item {item.id} stands here a second time; the first counts.",
                            "Delete one of the two.",
                        )
                    )
                items.setdefault(item.id, item)
        problems += _mistyped(source, items, {problem.line for problem in problems}, path)
        header: dict[str, str] = {}
        for comment in outline.comments:
            if not sections or comment.span.start < sections[0].span.start:
                for part in comment.text.split("|"):
                    key, _, value = part.partition(":")
                    header.setdefault(key.strip().lower(), value.strip())
        return cls(
            path,
            source,
            header.get("reflection", ""),
            header.get("created", ""),
            tuple(items.values()),
            _read_meta(source, outline),
            tuple(heading.text for heading in sections),
            tuple(problems),
        )

    @classmethod
    def create(
        cls,
        reflection: str,
        created: str,
        sections: Iterable[ReviewSection],
        meta: Iterable[tuple[str, str]] = (),
        path: str = "memory/meta/pending-reflection.md",
    ) -> PendingReflection:
        """Write a proposal, so that a parse gives the items back, whatever their texts hold."""
        lines = [
            f"# Reflection Summary — {created[:10]}",
            "",
            f"<!-- reflection: {reflection} | created: {created} -->",
            "<!-- Tick to decide: [x] approve, [-] reject, [>] defer. Reword or delete as you like. -->",
        ]
        for section in sections:
            lines += ["", f"## {one_line(section.heading)}"]
            prose = protect_body(section.prose, level=2)
            if prose:
                lines += (_BOX_LIKE.sub(r"\1\\", line, count=1) for line in prose)
                lines += [""] if section.items else []
            for item in section.items:
                lines += review_item_lines(item)
        pairs = [f"**{one_line(key)}**: {one_line(value)}" for key, value in meta]
        if pairs:
            lines += ["", "---", "", *pairs]
        return cls.parse(SourceText().append(lines).render(), path)

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def item(self, item_id: str) -> ReviewItem | None:
        """Find an item by its id."""
        return next((item for item in self.items if item.id == item_id), None)

    def prose(self) -> dict[str, str]:
        """Return the free text above the items of each section that has any, escapes undone, by its heading."""
        outline = read_outline(self.source)
        starts = sorted(item.span.start for item in self.items if item.span)
        last = outline.paragraphs[-1] if self.meta else None
        found: dict[str, str] = {}
        for heading in (each for each in outline.headings if each.level == 2):
            items = (start for start in starts if start in heading.section)
            end = next(items, heading.section.end + 1) - 1
            before_meta = last is not None and last.start in LineSpan(heading.span.end + 1, end)
            if last and before_meta:
                end = last.start - 1
            lines = list(self.source.lines_of(self.source.trimmed(LineSpan(heading.span.end + 1, end))))
            if before_meta and lines and _RULE.fullmatch(lines[-1]):
                lines.pop()
            text = unprotect_body([_BOX_ESCAPED.sub(r"\1", line, count=1) for line in lines])
            if text:
                found.setdefault(heading.text, text)
        return found

    def decide(self, decisions: Iterable[tuple[str, Decision]]) -> PendingReflection:
        """Tick the boxes of several items; nothing else changes."""
        lines = list(self.source.lines)
        for item_id, decision in decisions:
            if decision not in get_args(Decision):
                raise InvalidInput(
                    f"“{decision}” is no decision.",
                    where=item_id,
                    remedy="Say approved, rejected, deferred or undecided.",
                )
            at = self._span(item_id).start - 1
            before, _, after = lines[at].partition("[")
            lines[at] = f"{before}[{BOX_OF[decision]}]{after.partition(']')[2]}"
        ticked = SourceText(tuple(lines), self.source.endings, self.source.bom)
        return self.parse(ticked.render(), self.path)

    def reword(self, item_id: str, text: str) -> PendingReflection:
        """Replace what an item proposes; its evidence stays."""
        span = self._span(item_id)
        item = self.item(item_id)
        assert item is not None
        bare = replace(item, text=text, before="", reason="", evidence=(), needs=(), fields=())
        kept = [
            line
            for child in nested_items(read_outline(self.source), span)
            if label_of(child) != "text"
            for line in self.source.lines_of(child.span)
        ]
        marker = _MARKER.match(self.source.line(span.start))
        lines = review_item_lines(bare, marker=marker[0] if marker else "- ")
        return self.parse(self.source.replace(span, [*lines, *kept]).render(), self.path)

    def set_fields(self, item_id: str, fields: Mapping[str, str]) -> PendingReflection:
        """Replace the text of some of an item’s fields; all else stays as it is.

        Args:
            item_id: Which.
            fields: Text by label; a blank one takes the field out, one that is not there yet is added.
        """
        changed = self
        for label, value in fields.items():
            changed = changed._set_field(item_id, one_line(label), clean_item(value))
        return changed

    def _set_field(self, item_id: str, label: str, value: str) -> PendingReflection:
        span = self._span(item_id)
        outline = read_outline(self.source)
        nested = nested_items(outline, span)
        # A person may have written the label in another case; it stays theirs.
        old = next((child for child in nested if label_of(child).casefold() == label.casefold()), None)
        label = label_of(old) if old is not None else label
        beside = old or (nested[0] if nested else None)
        if beside is not None:
            first = self.source.line(beside.span.start)
            indent = first[: len(first) - len(first.lstrip(" \t"))]
        else:
            listed = next(item for item in outline.items if item.span.start == span.start)
            indent = " " * listed.indent
        lines = field_lines(label, value, indent) if value else []
        if old is not None:
            source = self.source.replace(old.span, lines)
        else:
            proofs = (child.span.start for child in nested if not label_of(child))
            source = self.source.insert_after(next(proofs, span.end + 1) - 1, lines)
        return self.parse(source.render(), self.path)

    def add(self, item: ReviewItem, later: Iterable[str] = ()) -> PendingReflection:
        """Add an item at the end of the section that it names; the account at the end of the file stays there.

        Args:
            item: With its id and section.
            later: Headings that a new section stands before.
        """
        lines = review_item_lines(item)
        outline = read_outline(self.source)
        heads = [heading for heading in outline.headings if heading.level == 2]
        own = next((heading for heading in heads if heading.text == item.section), None)
        if own is not None:
            last = self._last_of(outline, own.section)
            beside = any(each.span and each.span.end == last for each in self.items) or last == own.span.end
            new = [*([] if beside else [""]), *clear_of_next(self.source, last, lines)]
        else:
            wanted = frozenset(later)
            following = next((heading for heading in heads if heading.text in wanted), None)
            before = following.span.start - 1 if following else len(self.source.lines)
            last = self._last_of(outline, LineSpan(1, before)) if before else 0
            new = [*([""] if last else []), f"## {one_line(item.section)}", *lines]
        if last < len(self.source.lines) and not is_blank(self.source.line(last + 1)):
            new.append("")
        return self.parse(self.source.insert_after(last, new).render(), self.path)

    def _last_of(self, outline: Outline, span: LineSpan) -> int:
        """Return the last line within some lines that says something and is none of the account."""
        account = outline.paragraphs[-1].start if self.meta else len(self.source.lines) + 1
        for number in range(min(span.end, account - 1), span.start - 1, -1):
            line = self.source.line(number)
            if not is_blank(line) and not (account <= len(self.source.lines) and _RULE.fullmatch(line)):
                return number
        return span.start

    def remove(self, item_ids: Iterable[str]) -> PendingReflection:
        """Remove items with their evidence."""
        source = self.source
        for span in sorted((self._span(item_id) for item_id in set(item_ids)), reverse=True):
            source = remove_lines(source, span)
        return self.parse(source.render(), self.path)

    def _span(self, item_id: str) -> LineSpan:
        item = self.item(item_id)
        if item is None or item.span is None:
            raise NotFound(
                f"There is no item {item_id} to review.",
                where=self.path,
                remedy="See `workbench review` for the list.",
            )
        return item.span


def _mistyped(
    source: SourceText, items: Mapping[str, ReviewItem], known: set[int | None], path: str
) -> Iterable[Problem]:
    """Yield a problem for each line that names an item at its beginning and was not read as one."""
    for number, line in enumerate(source.lines, start=1):
        meant = _MEANT_AS_ITEM.match(line)
        if meant is not None and meant[1] not in items and number not in known:
            yield Problem(
                path,
                number,
                f"The line of {meant[1]} is not read as an item, so nothing comes of it.",
                f"Write it as - [ ] `{meant[1]}` with both blanks, below a heading, or delete it.",
            )


def _read_meta(source: SourceText, outline: Outline) -> tuple[tuple[str, str], ...]:
    """Read the last paragraph where all of it is `**Key**: value` lines."""
    if not outline.paragraphs:
        return ()
    lines = source.lines_of(source.trimmed(outline.paragraphs[-1]))
    found = [_META.match(line) for line in lines]
    pairs = [(match[1] or match[3], match[2] or match[4] or "") for match in found if match]
    return tuple((key, value.strip()) for key, value in pairs) if len(pairs) == len(lines) else ()
