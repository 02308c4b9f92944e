"""`memory/meta/pending-memories.md`: proposals of sub-agents (design document §13.2, §13.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.markdown.markup import (
    append_lines,
    clean_item,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    remove_lines,
)
from workbench.engine.markdown.outline import Heading, ListItem, Outline, read_outline
from workbench.engine.markdown.source import LineSpan, Problem, Problems, SourceText, is_blank, load_template
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

DEFERRED: Final = "deferred"
"""The status of proposals left to the reflection."""
RULE: Final = lazy_pattern(r"[ \t]*---+[ \t]*$")
"""The line between two proposals."""
_FIELD: Final = lazy_pattern(
    r"(?:\*\*([^*\n]+?)\*\*[ \t]*[:：]|\*\*([^*\n]+?)[:：]\*\*|([A-Z][\w -]{0,30}):)[ \t]*(.*)$", re.DOTALL
)
_MARKED: Final = lazy_pattern(r"((?:episode|entity|core|procedure|vault|file):[^\s,，、]+)|#(\d{1,9})(?!\d)")
_UNSAFE_IN_MARK: Final = lazy_pattern(r"[\s,，、%]")
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

_HEADING: Final = lazy_pattern(r"proposal[ \t]*[#＃]?[ \t]*(\d{1,9})(?![\w])(.*)$", re.IGNORECASE | re.DOTALL)
_WRITTEN: Final = lazy_pattern(
    rb"^##[ \t]+proposal[ \t]*#?[ \t]*(\d{1,9})(?!\w)", re.IGNORECASE | re.MULTILINE
)
# At the start of a line these may open a block that extends to the end of the file.
_MAY_SWALLOW: Final = lazy_pattern(rb"^ {0,3}(?:```|~~~|<(?!!--(?:(?!-->).)*-->[ \t]*$))", re.MULTILINE)
# The content of an item at the margin ends with it, whatever it opens.
_ITEM_AT_MARGIN: Final = lazy_pattern(rb"^- .*\n(?:(?:  .*|[ \t]*)\n)*", re.MULTILINE)
_TEMPLATE: Final = "memory/meta/pending-memories.md"


@dataclass(frozen=True, slots=True)
class MemoryProposal:
    """One proposal.

    Args:
        number: From 1; 0 before it is appended.
        sender: The proposing agent (`From`).
        timestamp: ISO 8601 as written.
        store: The suggested store.
        status: `pending`, or as written: `conflict — see #4`, `deferred`.
        conflicts: Numbers of the proposals in the heading or the status.
        against: Ids of the memories in them.
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
        """Return True if it was left to the reflection; whatever else the status says, it waits."""
        return self.status.strip().casefold() == DEFERRED

    def field(self, name: str) -> str:
        """Return the value of a further field; empty if there is none."""
        return next((value for key, value in self.fields if key.casefold() == name.casefold()), "").strip()


@dataclass(frozen=True, slots=True)
class Mark:
    """The contradictions of a proposal: other proposals by number, memories by id."""

    others: tuple[int, ...] = ()
    memories: tuple[str, ...] = ()


def _proposal_lines(proposal: MemoryProposal, number: int) -> list[str]:
    """Return a proposal as lines, including the rule before it; its texts may be anything.

    Raises:
        InvalidInput: It has no content.
    """
    if not clean_item(proposal.content):
        raise InvalidInput(
            "The proposal has no content.", where=layout.PENDING_MEMORIES, remedy="Say what to remember."
        )
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
    lines = ["---", heading_line(number, _names_in(Mark(proposal.conflicts, proposal.against)))]
    for name, value in fields:
        lines += item_lines(f"**{name}**: {value}")
    return lines


def heading_line(number: int, named: Sequence[str]) -> str:
    """Return a proposal's heading with its contradictions."""
    return f"## Proposal #{number}" + (f" ⚠️ CONFLICT with {', '.join(named)}" if named else "")


def _names_in(mark: Mark) -> list[str]:
    """Return the names in a mark as written."""
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


def _read_proposal(
    source: SourceText, outline: Outline, heading: Heading, number: int, problems: Problems
) -> MemoryProposal:
    """Parse a proposal; of two fields with one name the first counts."""
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
                problems.add(
                    item.span.start,
                    f"There is a second “{name}” in proposal #{number}; the first counts.",
                    "Indent the lines that belong to the content by two spaces.",
                )
            further.append((name, value))
    if not known.get("content", "").strip():
        problems.add(
            heading.span.start,
            f"Proposal #{number} has no content.",
            "Add a line - **Content**: what to remember.",
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


@dataclass(frozen=True)
class PendingMemories:
    """All proposals in file order. Edits return a new one; an unknown number raises `NotFound`."""

    path: str
    source: SourceText
    proposals: tuple[MemoryProposal, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/pending-memories.md") -> PendingMemories:
        """Parse the file. Any bytes are accepted."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        proposals: list[MemoryProposal] = []
        problems = Problems(path)
        taken = {int(match[1]) for head in outline.headings if (match := _HEADING.match(head.text))}
        highest, seen = max(taken, default=0), set[int]()
        for heading in outline.headings:
            match = _HEADING.match(heading.text) if heading.level == 2 else None
            if match is None:
                if heading.level == 2:
                    problems.add(
                        heading.span.start,
                        f"The heading “{heading.text[:60]}” is not a proposal.",
                        "Write it as ## Proposal #1.",
                    )
                continue
            number = int(match[1])
            if number in seen:
                highest += 1
                problems.add(
                    heading.span.start,
                    f"There is a second proposal #{number}; it is taken as #{highest}.",
                    "Give it a number of its own.",
                )
                number = highest
            seen.add(number)
            proposals.append(_read_proposal(source, outline, heading, number, problems))
        return cls(path, source, tuple(proposals), tuple(problems.found))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def proposal(self, number: int) -> MemoryProposal | None:
        """Return a proposal by its number."""
        return next((proposal for proposal in self.proposals if proposal.number == number), None)

    def defer(self, numbers: Iterable[int]) -> PendingMemories:
        """Leave proposals to the reflection."""
        source = self.source
        for proposal in sorted(map(self._proposal, set(numbers)), key=_span, reverse=True):
            source = _with_status(source, proposal, DEFERRED)
        return self.parse(source.render(), self.path)

    def mark(self, marks: Mapping[int, Mark]) -> PendingMemories:
        """Write the contradictions of proposals into heading and status; an empty mark removes them.

        Deferred proposals keep that status.
        """
        source = self.source
        # From the end, so that earlier lines stay valid.
        for proposal in sorted(map(self._proposal, marks), key=_span, reverse=True):
            named = _names_in(marks[proposal.number])
            status = f"conflict — see {', '.join(named)}" if named else "pending"
            if not proposal.is_deferred:
                source = _with_status(source, proposal, status)
            start = _span(proposal).start
            source = source.splice(start, start, [heading_line(proposal.number, named)])
        return self.parse(source.render(), self.path)

    def renumber(self, numbers: Mapping[int, int]) -> PendingMemories:
        """Change the numbers in the headings of proposals.

        Args:
            numbers: The new number by effective number.
        """
        source = self.source
        for number, chosen in numbers.items():
            proposal = self._proposal(number)
            named = _names_in(Mark(proposal.conflicts, proposal.against))
            start = _span(proposal).start
            source = source.splice(start, start, [heading_line(chosen, named)])
        return self.parse(source.render(), self.path)

    def remove(self, numbers: Iterable[int]) -> PendingMemories:
        """Remove proposals with the rule before them."""
        source = self.source
        for span in sorted((_span(self._proposal(number)) for number in set(numbers)), reverse=True):
            start = span.start
            while start > 1 and is_blank(source.line(start - 1)):
                start -= 1
            start = start - 1 if start > 1 and RULE.match(source.line(start - 1)) else span.start
            source = remove_lines(source, LineSpan(start, span.end))
        return self.parse(source.render(), self.path)

    def _proposal(self, number: int) -> MemoryProposal:
        proposal = self.proposal(number)
        if proposal is None:
            raise NotFound(
                f"There is no proposal #{number}.",
                where=self.path,
                remedy="See `workbench proposals` for the list.",
            )
        return proposal


def written_numbers(content: bytes) -> list[int]:
    """Return the numbers in the headings of proposals as written, without parsing the file as Markdown.

    Numbers inside fences are included.
    """
    return [int(number) for number in _WRITTEN.findall(content)]


def append_to(content: bytes, proposal: MemoryProposal, number: int) -> bytes:
    """Return the file with a proposal at its end, without parsing all of it as Markdown; its texts may be anything.

    Raises:
        InvalidInput: It has no content.
    """
    lines = _proposal_lines(proposal, number)
    content = content or load_template(_TEMPLATE)
    if b"\r" in content or _MAY_SWALLOW.search(_ITEM_AT_MARGIN.sub(b"", content)):
        return append_lines(SourceText.from_bytes(content), lines).render()
    gap = b"" if content.endswith(b"\n\n") else b"\n" if content.endswith(b"\n") else b"\n\n"
    return content + gap + "".join(f"{line}\n" for line in lines).encode()


def _span(proposal: MemoryProposal) -> LineSpan:
    assert proposal.span is not None
    return proposal.span


def _with_status(source: SourceText, proposal: MemoryProposal, status: str) -> SourceText:
    lines = item_lines(f"**Status**: {one_line(status)}")
    if proposal.status_span is not None:
        return source.replace(proposal.status_span, lines)
    return source.insert_after(_span(proposal).end, lines)
