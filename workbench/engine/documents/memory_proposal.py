"""One proposal of a sub-agent as `memory/meta/pending-memories.md` has it: its lines, written and read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from workbench.engine.documents.items import clean_item, item_lines, item_text, one_line, outermost_items
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.source import LineSpan, SourceText, is_blank
from workbench.engine.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.documents.outline import Heading, ListItem, Outline

DEFERRED: Final = "deferred"
"""The status of what is left to the reflection."""
RULE: Final = re.compile(r"[ \t]*---+[ \t]*$")
"""The line between two proposals."""
_FIELD: Final = re.compile(
    r"(?:\*\*([^*\n]+?)\*\*[ \t]*[:：]|\*\*([^*\n]+?)[:：]\*\*|([A-Z][\w -]{0,30}):)[ \t]*(.*)$", re.DOTALL
)
_MARKED: Final = re.compile(r"((?:episode|entity|core|procedure|vault|file):[^\s,，、]+)|#(\d{1,9})(?!\d)")
_UNSAFE_IN_MARK: Final = re.compile(r"[\s,，、%]")
_KNOWN: Final = (
    "from",
    "timestamp",
    "trigger",
    "suggested store",
    "content",
    "entities",
    "confidence",
    "core-worthy",
    "status",
)


@dataclass(frozen=True, slots=True)
class MemoryProposal:
    """One proposal.

    Args:
        number: From 1; 0 in one that is still to be appended.
        sender: The proposing agent (`From`).
        timestamp: ISO 8601 as written.
        store: The suggested store.
        status: `pending`, or as written: `conflict — see #4`, `deferred`.
        conflicts: Numbers of the proposals that the heading or the status names.
        against: Ids of the memories that they name.
        fields: Further fields, names as written.
        status_span: The lines of its status; None where it has none.
    """

    sender: str
    content: str
    timestamp: str = ""
    trigger: str = ""
    store: str = ""
    entities: tuple[str, ...] = ()
    confidence: str = ""
    core_worthy: bool = False
    status: str = "pending"
    number: int = 0
    conflicts: tuple[int, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    span: LineSpan | None = None
    against: tuple[str, ...] = ()
    status_span: LineSpan | None = None

    @property
    def is_deferred(self) -> bool:
        """Tell whether it was left to the reflection; whatever else the status says, it waits."""
        return self.status.strip().casefold() == DEFERRED

    def field(self, name: str) -> str:
        """Return what a further field says; empty where there is none."""
        return next((value for key, value in self.fields if key.casefold() == name.casefold()), "").strip()


@dataclass(frozen=True, slots=True)
class Mark:
    """What a proposal shall be marked as contradicting: other proposals by number, memories by id."""

    others: tuple[int, ...] = ()
    memories: tuple[str, ...] = ()


def proposal_lines(proposal: MemoryProposal, number: int, path: str) -> list[str]:
    """Return a proposal as lines, the rule before it included, whatever its texts hold.

    Raises:
        InvalidInput: It has no content.
    """
    if not clean_item(proposal.content):
        raise InvalidInput("The proposal has no content.", where=path, remedy="Say what to remember.")
    entities = ", ".join(re.sub(r"[\[\],]", "", one_line(entity)) for entity in proposal.entities)
    fields = [
        ("From", one_line(proposal.sender)),
        ("Timestamp", one_line(proposal.timestamp)),
        ("Trigger", one_line(proposal.trigger)),
        ("Suggested store", one_line(proposal.store)),
        ("Content", clean_item(proposal.content)),
        ("Entities", f"[{entities}]"),
        ("Confidence", one_line(proposal.confidence)),
        ("Core-worthy", "yes" if proposal.core_worthy else "no"),
        ("Status", one_line(proposal.status)),
        *((one_line(key).replace("*", ""), clean_item(value)) for key, value in proposal.fields),
    ]
    lines = ["---", heading_line(number, names_in(Mark(proposal.conflicts, proposal.against)))]
    for name, value in fields:
        lines += item_lines(f"**{name}**: {value}")
    return lines


def heading_line(number: int, named: Sequence[str]) -> str:
    """Return a proposal's heading, with what it contradicts."""
    return f"## Proposal #{number}" + (f" ⚠️ CONFLICT with {', '.join(named)}" if named else "")


def names_in(mark: Mark) -> list[str]:
    """Return what a mark names, as it is written."""
    ids = (
        _UNSAFE_IN_MARK.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), memory)
        for memory in mark.memories
    )
    return [*(f"#{number}" for number in mark.others), *ids]


def _marked(text: str) -> Iterator[int | str]:
    for match in _MARKED.finditer(text):
        yield int(match[2]) if match[2] else unquote(match[1], errors="replace")


def _field(item: ListItem) -> tuple[str, str]:
    match = _FIELD.match(item_text(item.text))
    return ((match[1] or match[2] or match[3]).strip(), match[4]) if match else ("", item_text(item.text))


def read_proposal(
    source: SourceText, outline: Outline, heading: Heading, number: int, problems: list[Problem], path: str
) -> MemoryProposal:
    """Read a proposal; the first of two fields of one name counts.

    Args:
        source: The file.
        outline: Of the file.
        heading: The proposal's.
        number: What it is taken as.
        problems: Told what of it cannot be read; added to.
        path: Of the file.
    """
    end = heading.section.end
    while end > heading.span.end and (is_blank(source.line(end)) or RULE.match(source.line(end))):
        end -= 1
    span = LineSpan(heading.span.start, end)
    known: dict[str, str] = {}
    further: list[tuple[str, str]] = []
    status_span: LineSpan | None = None
    for item in outermost_items(outline, span):
        name, value = _field(item)
        key = name.lower()
        if key in _KNOWN and key not in known:
            known[key] = value
            status_span = item.span if key == "status" else status_span
        else:
            if key in known:
                problems.append(
                    Problem(
                        path,
                        item.span.start,
                        f"“{name}” of proposal #{number} stands here a second time; the first counts.",
                        "Indent the lines that belong to the content by two spaces.",
                    )
                )
            further.append((name, value))
    if not known.get("content", "").strip():
        problems.append(
            Problem(
                path,
                heading.span.start,
                f"Proposal #{number} has no content.",
                "Add a line - **Content**: what to remember.",
            )
        )
    status = known.get("status", "").strip() or "pending"
    named = (
        list(_marked(heading.text.partition(str(number))[2])) if "conflict" in heading.text.lower() else []
    )
    if status.lower().startswith("conflict"):
        named += _marked(status)
    others = (other for other in named if isinstance(other, int) and other != number)
    return MemoryProposal(
        known.get("from", "").strip(),
        known.get("content", ""),
        known.get("timestamp", "").strip(),
        known.get("trigger", "").strip(),
        known.get("suggested store", "").strip().lower(),
        tuple(part.strip() for part in re.split(r"[\[\],，、]", known.get("entities", "")) if part.strip()),
        known.get("confidence", "").strip().lower(),
        known.get("core-worthy", "").strip().lower() in ("yes", "true", "是"),
        status,
        number,
        tuple(dict.fromkeys(others)),
        tuple(further),
        span,
        tuple(dict.fromkeys(other for other in named if isinstance(other, str))),
        status_span,
    )
