"""One proposed change as a list item: how it is written, and how it is read back whatever its texts hold."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote

from workbench.engine.documents.items import clean_item, item_lines, item_text, one_line
from workbench.engine.documents.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.documents.outline import ListItem, Outline
    from workbench.engine.documents.source import LineSpan

Decision = Literal["undecided", "approved", "rejected", "deferred"]

BOXES: Final[dict[str, Decision]] = {
    " ": "undecided",
    "x": "approved",
    "X": "approved",
    "-": "rejected",
    ">": "deferred",
}
BOX_OF: Final = {decision: box for box, decision in reversed(BOXES.items())}
_ITEM: Final = re.compile(r"\[(.?)\][ \t]+`([^`\n]+)`[ \t]*(.*)$", re.DOTALL)
_BOXLESS: Final = re.compile(r"()`([^`\n]+)`[ \t]*(.*)$", re.DOTALL)
_HEAD: Final = re.compile(
    r"([^:\[`\n]{1,40}?)(?: for (?:\[\[([^\]\n]+)\]\]|`([^`\n]+)`))?[ \t]*:(?:[ \t]+|$|(?=\n))(.*)$",
    re.DOTALL,
)
_CONFIDENCE: Final = re.compile(r"\(confidence (high|medium|low)\)\Z")
_EVIDENCE: Final = re.compile(r"([^\s:]+:\S+)(?: says \"(.*)\")?$", re.DOTALL)
_FIELD: Final = re.compile(r"([^:\n]{1,60}):(?:[ \t]+|$|(?=\n))(.*)$", re.DOTALL)
_LINKABLE: Final = re.compile(r"[^\s\[\]|#:`]+--[^\s\[\]|#:`]+")
_UNSAFE_ID: Final = re.compile(r"[\s%\"]")
RESERVED: Final = frozenset({"because", "was", "text", "needs"})
"""Labels of what every item may say of itself; no further field is called so."""


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


def cited_id(memory_id: str) -> str:
    """Return a memory's id as evidence writes it: without blanks and quotation marks."""
    return _UNSAFE_ID.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), memory_id)


def nested_items(outline: Outline, span: LineSpan) -> list[ListItem]:
    """Return what is nested directly in an item: its fields and its evidence."""
    first = bisect_left(outline.items, span.start, key=lambda item: item.span.start)
    last = bisect_right(outline.items, span.end, key=lambda item: item.span.start)
    return [item for item in outline.items[first:last] if item.depth == 1]


def label_of(nested: ListItem) -> str:
    """Return the label of a nested `- label: text`, empty where it is evidence or says nothing."""
    said = item_text(nested.text)
    field = _FIELD.match(said)
    return field[1] if field and not (_EVIDENCE.match(said) and field[1] not in RESERVED) else ""


def read_item(
    outline: Outline,
    listed: ListItem,
    section: str,
    problems: list[Problem],
    path: str,
    *,
    boxed: bool = True,
) -> ReviewItem | None:
    """Read a list item as a proposed change; None where it is something else.

    Args:
        outline: Of the file.
        listed: An outermost item.
        section: The heading it stands under.
        problems: Takes what cannot be understood.
        path: The file, for problems.
        boxed: Whether it starts with a task box, as what is to be decided does.
    """
    match = (_ITEM if boxed else _BOXLESS).match(listed.own)
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
                f"Write it as - {'[ ] ' if boxed else ''}`id` fact for [[entity]]: text.",
            )
        )
        return None
    if boxed and box not in BOXES:
        problems.append(
            Problem(path, line, f"The box [{box}] of {item_id} says nothing.", "Use [ ], [x], [-] or [>].")
        )
    text, confidence = _split_confidence(head[4].strip(" \t\n"))
    found: dict[str, str] = {}
    evidence: list[Evidence] = []
    fields: list[tuple[str, str]] = []
    for child in nested_items(outline, listed.span):
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
    """Write a proposed change as one list item with its fields and evidence nested in it.

    Args:
        item: What is proposed; its span is of no account.
        marker: Of the list, with the blank behind it.
        boxed: Whether it starts with the task box of its decision.
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
    nested = [line for label, value in named if value for line in field_lines(label, value, indent)]
    for proof in item.evidence:
        source = cited_id(proof.id)
        said = f'{source} says "{clean_item(proof.quote)}"' if clean_item(proof.quote) else source
        nested += _indented(item_lines(said), indent)
    return [*item_lines(head, marker), *nested]


def field_lines(label: str, value: str, indent: str) -> list[str]:
    """Write a nested `- label: text`; the text must not be blank."""
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
