"""`memory/meta/pending-reflection.md`: a reflection's proposed changes, with a person's decisions."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, get_args
from urllib.parse import unquote

from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.markdown.markup import (
    clean_item,
    clear_of_next,
    insert_lines,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    protect_body,
    remove_lines,
    unprotect_body,
)
from workbench.engine.markdown.outline import ListItem, Outline, read_outline
from workbench.engine.markdown.source import LineSpan, Problem, Problems, SourceText, is_blank
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

Decision = Literal["undecided", "approved", "rejected", "deferred"]

BOXES: Final[dict[str, Decision]] = {
    " ": "undecided",
    "x": "approved",
    "X": "approved",
    "-": "rejected",
    ">": "deferred",
}
BOX_OF: Final = {decision: box for box, decision in reversed(BOXES.items())}
_ITEM: Final = lazy_pattern(r"\[(.?)\][ \t]+`([^`\n]+)`[ \t]*(.*)$", re.DOTALL)
_BOXLESS: Final = lazy_pattern(r"()`([^`\n]+)`[ \t]*(.*)$", re.DOTALL)
_HEAD: Final = lazy_pattern(
    r"([^:\[`\n]{1,40}?)(?: for (?:\[\[([^\]\n]+)\]\]|`([^`\n]+)`))?[ \t]*:(?:[ \t]+|$|(?=\n))(.*)$",
    re.DOTALL,
)
_CONFIDENCE: Final = lazy_pattern(r"\(confidence (high|medium|low)\)\Z")
_EVIDENCE: Final = lazy_pattern(r"([^\s:]+:\S+)(?: says \"(.*)\")?$", re.DOTALL)
_FIELD: Final = lazy_pattern(r"([^:\n]{1,60}):(?:[ \t]+|$|(?=\n))(.*)$", re.DOTALL)
_LINKABLE: Final = lazy_pattern(r"[^\s\[\]|#:`]+--[^\s\[\]|#:`]+")
_UNSAFE_ID: Final = lazy_pattern(r"[\s%\"]")
RESERVED: Final = frozenset({"because", "was", "text", "needs"})
"""Labels that every item may use; further fields may not have these names."""

# A box after list markers; free text may not turn into an item.
_BOX_LIKE: Final = lazy_pattern(r"^((?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*)(?=\[)")
_BOX_ESCAPED: Final = lazy_pattern(_BOX_LIKE.pattern.removesuffix(r"(?=\[)") + r"\\(?=\[)")
_RULE: Final = lazy_pattern(r"-{3,}[ \t]*")
_META: Final = lazy_pattern(r"\*\*([^*\n]+?)\*\*[ \t]*[:：][ \t]*(.*)$|\*\*([^*\n]+?)[:：]\*\*[ \t]*(.*)$")
_MARKER: Final = lazy_pattern(r"(?:[-*+]|\d{1,9}[.)]) ")
# A mistyped item: its id after a marker, a box, or the remains of them. The content of items is indented and
# therefore never matches.
_MEANT_AS_ITEM: Final = lazy_pattern(
    r"(?=[-*+\[])(?:[-*+][ \t]*)?(?:\[[^\]`\\\n]{0,3}\]?[ \t]*)?`(r-\d+\.\d+)`"
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory's id and its quoted text (may be empty)."""

    id: str
    quote: str


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One proposed change.

    Args:
        id: `r-012.1`.
        kind: The operation in lower-case words: `fact`, `relation`, `archive`, `core change` …
        target: The id of what it changes, `person--alex` or `core:identity:name`; may be empty.
        before: The current text; empty for an addition.
        confidence: high, medium, low or empty.
        fields: Further `- label: text` lines, in order.
    """

    id: str
    kind: str
    text: str
    target: str = ""
    before: str = ""
    confidence: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    needs: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    decision: Decision = "undecided"
    section: str = ""
    span: LineSpan | None = None


def cited_id(memory_id: str) -> str:
    """Return a memory's id as written in evidence: without blanks and quotation marks."""
    return _UNSAFE_ID.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), memory_id)


def _nested_items(outline: Outline, span: LineSpan) -> list[ListItem]:
    """Return the items directly nested in an item: its fields and its evidence."""
    first = bisect_left(outline.items, span.start, key=lambda item: item.span.start)
    last = bisect_right(outline.items, span.end, key=lambda item: item.span.start)
    return [item for item in outline.items[first:last] if item.depth == 1]


def label_of(nested: ListItem) -> str:
    """Return the label of a nested `- label: text`, empty for evidence or an empty item."""
    said = item_text(nested.text)
    field = _FIELD.match(said)
    return field[1] if field and not (_EVIDENCE.match(said) and field[1] not in RESERVED) else ""


def read_item(
    outline: Outline,
    listed: ListItem,
    section: str,
    problems: Problems,
    *,
    boxed: bool = True,
) -> ReviewItem | None:
    """Parse a list item as a proposed change; None if it is something else.

    Args:
        boxed: Whether it starts with a task box, as undecided items do.
    """
    match = (_ITEM if boxed else _BOXLESS).match(listed.own)
    if match is None:
        return None
    box, item_id, rest = match.groups()
    head = _HEAD.match(rest)
    line = listed.span.start
    if head is None:
        problems.add(
            line,
            f"The item {item_id} does not say what it does.",
            f"Write it as - {'[ ] ' if boxed else ''}`id` fact for [[entity]]: text.",
        )
        return None
    if boxed and box not in BOXES:
        problems.add(line, f"The box [{box}] of {item_id} says nothing.", "Use [ ], [x], [-] or [>].")
    text, confidence = _split_confidence(head[4].strip(" \t\n"))
    found: dict[str, str] = {}
    evidence: list[Evidence] = []
    fields: list[tuple[str, str]] = []
    for child in _nested_items(outline, listed.span):
        said = item_text(child.text)
        proof, field = _EVIDENCE.match(said), _FIELD.match(said)
        if field and field[1] in RESERVED and field[1] not in found:
            found[field[1]] = field[2]
        elif proof:
            evidence.append(Evidence(unquote(proof[1]), proof[2] or ""))
        elif field:
            fields.append((field[1], field[2]))
    needs = tuple(part.strip(" `") for part in found.get("needs", "").split(",") if part.strip(" `"))
    return ReviewItem(
        item_id,
        " ".join(head[1].split()),
        found.get("text", text),
        head[2] or head[3] or "",
        found.get("was", ""),
        confidence,
        found.get("because", ""),
        tuple(evidence),
        needs,
        tuple(fields),
        BOXES.get(box, "undecided"),
        section,
        listed.span,
    )


def review_item_lines(item: ReviewItem, *, marker: str = "- ", boxed: bool = True) -> list[str]:
    """Format a proposed change as one list item with its fields and evidence nested in it.

    Args:
        marker: The list marker with the blank after it.
        boxed: Whether it starts with the task box for its decision.
    """
    target = ""
    if item.target:
        link = _LINKABLE.fullmatch(item.target)
        target = f" for [[{item.target}]]" if link else f" for `{one_line(item.target).replace('`', '')}`"
    text = clean_item(item.text)
    whole = text if "\n" in text else ""
    if whole:
        text = ""
    ending = _CONFIDENCE.search(text)
    if ending:
        text = text[: ending.start()] + "\\" + text[ending.start() :]
    confidence = f" (confidence {item.confidence})" if item.confidence in ("high", "medium", "low") else ""
    box = f"[{BOX_OF[item.decision]}] " if boxed else ""
    head = f"{box}`{item.id}` {item.kind}{target}: {text}".rstrip(" ") + confidence
    named = [
        ("text", whole),
        ("was", clean_item(item.before)),
        ("because", clean_item(item.reason)),
        ("needs", ", ".join(item.needs)),
        *((label + "-" if label in RESERVED else label, clean_item(value)) for label, value in item.fields),
    ]
    indent = " " * len(marker)
    nested = [line for label, value in named if value for line in _field_lines(label, value, indent)]
    for proof in item.evidence:
        source = cited_id(proof.id)
        said = f'{source} says "{clean_item(proof.quote)}"' if clean_item(proof.quote) else source
        nested += _indented(item_lines(said), indent)
    return [*item_lines(head, marker), *nested]


def _field_lines(label: str, value: str, indent: str) -> list[str]:
    """Format a nested `- label: text`; the text may not be blank."""
    return _indented(item_lines(f"{one_line(label).replace(':', '-')}: {clean_item(value)}"), indent)


def _indented(lines: Sequence[str], indent: str) -> list[str]:
    return [indent + line if line else "" for line in lines]


def _split_confidence(text: str) -> tuple[str, str]:
    match = _CONFIDENCE.search(text)
    confidence = ""
    if match and text[: match.start()][-1:] != "\\":
        text, confidence = text[: match.start()].rstrip(" \t\n"), match[1]
        match = _CONFIDENCE.search(text)
    if match and text[: match.start()][-1:] == "\\":
        text = text[: match.start() - 1] + text[match.start() :]
    return text, confidence


@dataclass(frozen=True, slots=True)
class ReviewSection:
    """A section to write: its heading, items, and free text (escaped, so that it cannot forge items)."""

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
    """

    path: str
    source: SourceText
    outline: Outline
    reflection: str
    created: str
    items: tuple[ReviewItem, ...]
    meta: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/pending-reflection.md") -> PendingReflection:
        """Parse the file. Any bytes are accepted; two items with one id are a problem, and the first counts."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        sections = [heading for heading in outline.headings if heading.level == 2]
        problems = Problems(path)
        items: dict[str, ReviewItem] = {}
        for heading in sections:
            for listed in outermost_items(outline, heading.section):
                item = read_item(outline, listed, heading.text, problems)
                if item is None:
                    continue
                if item.id in items:
                    problems.add(
                        listed.span.start,
                        f"There is a second item {item.id}; the first counts.",
                        "Delete one of the two.",
                    )
                items.setdefault(item.id, item)
        _report_mistyped(source, items, problems)
        header: dict[str, str] = {}
        for comment in outline.comments:
            if not sections or comment.span.start < sections[0].span.start:
                for part in comment.text.split("|"):
                    key, _, value = part.partition(":")
                    header.setdefault(key.strip().lower(), value.strip())
        return cls(
            path,
            source,
            outline,
            header.get("reflection", ""),
            header.get("created", ""),
            tuple(items.values()),
            _read_meta(source, outline),
            tuple(problems.found),
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
        """Write a proposal from which parsing returns the same items, whatever their texts contain."""
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
        """Return an item by its id."""
        return next((item for item in self.items if item.id == item_id), None)

    def prose(self) -> dict[str, str]:
        """Return the free text above the items of each section that has any, without escapes, by its heading."""
        outline = self.outline
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
                    f"“{decision}” is not a decision.",
                    where=item_id,
                    remedy="Say approved, rejected, deferred or undecided.",
                )
            at = self._span(item_id).start - 1
            before, _, after = lines[at].partition("[")
            lines[at] = f"{before}[{BOX_OF[decision]}]{after.partition(']')[2]}"
        ticked = SourceText(tuple(lines), self.source.endings, self.source.bom)
        return self.parse(ticked.render(), self.path)

    def reword(self, item_id: str, text: str) -> PendingReflection:
        """Replace an item's proposed text; its evidence stays."""
        span = self._span(item_id)
        item = self.item(item_id)
        assert item is not None
        bare = replace(item, text=text, before="", reason="", evidence=(), needs=(), fields=())
        kept = [
            line
            for child in _nested_items(self.outline, span)
            if label_of(child) != "text"
            for line in self.source.lines_of(child.span)
        ]
        marker = _MARKER.match(self.source.line(span.start))
        lines = review_item_lines(bare, marker=marker[0] if marker else "- ")
        return self.parse(self.source.replace(span, [*lines, *kept]).render(), self.path)

    def set_fields(self, item_id: str, fields: Mapping[str, str]) -> PendingReflection:
        """Replace the text of some of an item’s fields; all else stays.

        Args:
            fields: Text by label; a blank one removes the field, a new one is added.
        """
        changed = self
        for label, value in fields.items():
            changed = changed._set_field(item_id, one_line(label), clean_item(value))
        return changed

    def _set_field(self, item_id: str, label: str, value: str) -> PendingReflection:
        span = self._span(item_id)
        outline = read_outline(self.source)
        nested = _nested_items(outline, span)
        # A person may have written the label in another case, which is kept.
        old = next((child for child in nested if label_of(child).casefold() == label.casefold()), None)
        label = label_of(old) if old is not None else label
        beside = old or (nested[0] if nested else None)
        if beside is not None:
            first = self.source.line(beside.span.start)
            indent = first[: len(first) - len(first.lstrip(" \t"))]
        else:
            listed = next(item for item in outline.items if item.span.start == span.start)
            indent = " " * listed.indent
        lines = _field_lines(label, value, indent) if value else []
        if old is not None:
            source = self.source.replace(old.span, lines)
        else:
            proofs = (child.span.start for child in nested if not label_of(child))
            source = self.source.insert_after(next(proofs, span.end + 1) - 1, lines)
        return self.parse(source.render(), self.path)

    def add(self, item: ReviewItem, later: Iterable[str] = ()) -> PendingReflection:
        """Add an item at the end of its section; the metadata at the end of the file stays there.

        Args:
            later: Headings before which a new section belongs.
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
        return self.parse(insert_lines(self.source, last, new).render(), self.path)

    def _last_of(self, outline: Outline, span: LineSpan) -> int:
        """Return the last line in a span that is neither blank nor metadata."""
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


def _report_mistyped(source: SourceText, items: Mapping[str, ReviewItem], problems: Problems) -> None:
    """Report each line that begins with an item's id but was not parsed as an item."""
    known = {problem.line for problem in problems.found}
    for number, line in enumerate(source.lines, start=1):
        meant = _MEANT_AS_ITEM.match(line)
        if meant is not None and meant[1] not in items and number not in known:
            problems.add(
                number,
                f"The line of {meant[1]} is not read as an item, so nothing comes of it.",
                f"Write it as - [ ] `{meant[1]}` with both blanks, below a heading, or delete it.",
            )


def _read_meta(source: SourceText, outline: Outline) -> tuple[tuple[str, str], ...]:
    """Read the last paragraph if it consists of `**Key**: value` lines."""
    if not outline.paragraphs:
        return ()
    lines = source.lines_of(source.trimmed(outline.paragraphs[-1]))
    found = [_META.match(line) for line in lines]
    pairs = [(match[1] or match[3], match[2] or match[4] or "") for match in found if match]
    return tuple((key, value.strip()) for key, value in pairs) if len(pairs) == len(lines) else ()
