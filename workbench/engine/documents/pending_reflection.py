"""`memory/meta/pending-reflection.md`: what a reflection proposes, with a person's decisions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args
from urllib.parse import unquote

from workbench.engine.documents.items import (
    clean_item,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    remove_lines,
)
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.protection import protect_body
from workbench.engine.documents.source import LineSpan, SourceText
from workbench.engine.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.outline import ListItem, Outline

_BOXES: Final[dict[str, Decision]] = {
    " ": "undecided",
    "x": "approved",
    "X": "approved",
    "-": "rejected",
    ">": "deferred",
}
_BOX_OF: Final = {decision: box for box, decision in reversed(_BOXES.items())}
_ITEM: Final = re.compile(r"\[(.?)\][ \t]+`([^`\n]+)`[ \t]*(.*)$", re.DOTALL)
_HEAD: Final = re.compile(
    r"([^:\[`\n]{1,40}?)(?: for (?:\[\[([^\]\n]+)\]\]|`([^`\n]+)`))?[ \t]*:(?:[ \t]+|$|(?=\n))(.*)$",
    re.DOTALL,
)
_CONFIDENCE: Final = re.compile(r"\(confidence (high|medium|low)\)\Z")
_EVIDENCE: Final = re.compile(r"([^\s:]+:\S+)(?: says \"(.*)\")?$", re.DOTALL)
_FIELD: Final = re.compile(r"([^:\n]{1,60}):(?:[ \t]+|$|(?=\n))(.*)$", re.DOTALL)
_LINKABLE: Final = re.compile(r"[^\s\[\]|#:`]+--[^\s\[\]|#:`]+")
_UNSAFE_ID: Final = re.compile(r"[\s%\"]")
# A box behind list markers; in free text it must not become an item.
_BOX_LIKE: Final = re.compile(r"^((?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*)(?=\[)")
_META: Final = re.compile(r"\*\*([^*\n]+?)\*\*[ \t]*[:：][ \t]*(.*)$|\*\*([^*\n]+?)[:：]\*\*[ \t]*(.*)$")
_RESERVED: Final = frozenset({"because", "was", "text", "needs"})


Decision = Literal["undecided", "approved", "rejected", "deferred"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory's id and what it says, word for word (empty where nothing is quoted)."""

    id: str
    quote: str


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One proposed change.

    Args:
        id: `r-012.1`.
        kind: The operation in lower-case words: `fact`, `relation`, `archive`, `core change` …
        target: The id of what it changes, `person--alex` or `core:identity:name`; empty where it has none.
        text: What shall stand there.
        before: What stands there now; empty where it adds.
        confidence: high, medium, low or empty.
        reason: Why; empty where none is given.
        needs: Ids of items that must be applied before this one.
        fields: Further `- label: text` lines, in their order.
        section: The heading it stands under.
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
                item = _read_item(outline, listed, heading.text, problems, path)
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
                lines += [*(_BOX_LIKE.sub(r"\1\\", line, count=1) for line in prose), ""]
            for item in section.items:
                lines += _item_lines(item)
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

    def decide(self, decisions: Iterable[tuple[str, Decision]]) -> PendingReflection:
        """Tick the boxes of several items; nothing else changes."""
        source = self.source
        for item_id, decision in decisions:
            if decision not in get_args(Decision):
                raise InvalidInput(
                    f"“{decision}” is no decision.",
                    where=item_id,
                    remedy="Say approved, rejected, deferred or undecided.",
                )
            start = self._span(item_id).start
            before, _, after = source.line(start).partition("[")
            line = f"{before}[{_BOX_OF[decision]}]{after.partition(']')[2]}"
            source = source.splice(start, start, [line])
        return self.parse(source.render(), self.path)

    def reword(self, item_id: str, text: str) -> PendingReflection:
        """Replace what an item proposes; its evidence stays."""
        span = self._span(item_id)
        item = self.item(item_id)
        assert item is not None
        outline = read_outline(self.source)
        nested = _nested(outline, span)
        bare = replace(item, text=text, before="", reason="", evidence=(), needs=(), fields=())
        kept = [
            line
            for child in nested
            if not re.match(r"text:(?:[ \t]|$|\n)", child.text)
            for line in self.source.lines_of(child.span)
        ]
        return self.parse(self.source.replace(span, [*_item_lines(bare), *kept]).render(), self.path)

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


def _nested(outline: Outline, span: LineSpan) -> list[ListItem]:
    return [item for item in outline.items if item.depth == 1 and item.span.start in span]


def _read_item(
    outline: Outline, listed: ListItem, section: str, problems: list[Problem], path: str
) -> ReviewItem | None:
    match = _ITEM.match(listed.own)
    if match is None:
        return None
    box, item_id, rest = match.groups()
    head = _HEAD.match(rest)
    line = listed.span.start
    if head is None:
        problems.append(
            Problem(
                path,
                line,
                f"The item {item_id} does not say what it does.",
                "Write it as - [ ] `id` fact for [[entity]]: text.",
            )
        )
        return None
    if box not in _BOXES:
        problems.append(
            Problem(path, line, f"The box [{box}] of {item_id} says nothing.", "Use [ ], [x], [-] or [>].")
        )
    text, confidence = _split_confidence(head[4].strip(" \t\n"))
    found: dict[str, str] = {}
    evidence: list[Evidence] = []
    fields: list[tuple[str, str]] = []
    for child in _nested(outline, listed.span):
        said = item_text(child.text)
        proof, field = _EVIDENCE.match(said), _FIELD.match(said)
        if field and field[1] in _RESERVED and field[1] not in found:
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
        _BOXES.get(box, "undecided"),
        section,
        listed.span,
    )


def _split_confidence(text: str) -> tuple[str, str]:
    match = _CONFIDENCE.search(text)
    confidence = ""
    if match and text[: match.start()][-1:] != "\\":
        text, confidence = text[: match.start()].rstrip(" \t\n"), match[1]
        match = _CONFIDENCE.search(text)
    if match and text[: match.start()][-1:] == "\\":
        text = text[: match.start() - 1] + text[match.start() :]
    return text, confidence


def _item_lines(item: ReviewItem) -> list[str]:
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
    head = f"[{_BOX_OF[item.decision]}] `{item.id}` {item.kind}{target}: {text}".rstrip(" ") + confidence
    lines = item_lines(head)
    named = [
        ("text", whole),
        ("was", clean_item(item.before)),
        ("because", clean_item(item.reason)),
        ("needs", ", ".join(item.needs)),
        *((label + "-" if label in _RESERVED else label, clean_item(value)) for label, value in item.fields),
    ]
    nested = [f"{one_line(label).replace(':', '-')}: {value}" for label, value in named if value]
    for proof in item.evidence:
        source = _UNSAFE_ID.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), proof.id)
        nested.append(f'{source} says "{clean_item(proof.quote)}"' if clean_item(proof.quote) else source)
    return [*lines, *("  " + line if line else "" for part in nested for line in item_lines(part))]


def _read_meta(source: SourceText, outline: Outline) -> tuple[tuple[str, str], ...]:
    """Read the last paragraph where all of it is `**Key**: value` lines."""
    if not outline.paragraphs:
        return ()
    lines = source.lines_of(source.trimmed(outline.paragraphs[-1]))
    found = [_META.match(line) for line in lines]
    pairs = [(match[1] or match[3], match[2] or match[4] or "") for match in found if match]
    return tuple((key, value.strip()) for key, value in pairs) if len(pairs) == len(lines) else ()
