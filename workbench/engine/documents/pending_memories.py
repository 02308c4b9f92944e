"""`memory/meta/pending-memories.md`: what sub-agents propose (design document §13.2, §13.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.engine.documents.items import append_lines, item_lines, one_line, remove_lines
from workbench.engine.documents.memory_proposal import (
    DEFERRED,
    RULE,
    Mark,
    MemoryProposal,
    heading_line,
    names_in,
    proposal_lines,
    read_proposal,
)
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.source import LineSpan, SourceText, is_blank
from workbench.engine.documents.template import load_template
from workbench.engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_HEADING: Final = re.compile(r"proposal[ \t]*[#＃]?[ \t]*(\d{1,9})(?![\w])(.*)$", re.IGNORECASE | re.DOTALL)
_WRITTEN: Final = re.compile(rb"^##[ \t]+proposal[ \t]*#?[ \t]*(\d{1,9})(?!\w)", re.IGNORECASE | re.MULTILINE)
# At the start of a line these may open a block that goes on to the end of the file.
_MAY_SWALLOW: Final = re.compile(rb"^ {0,3}(?:```|~~~|<(?!!--(?:(?!-->).)*-->[ \t]*$))", re.MULTILINE)
# What an item at the margin holds ends with it, whatever it opens.
_ITEM_AT_MARGIN: Final = re.compile(rb"^- .*\n(?:(?:  .*|[ \t]*)\n)*", re.MULTILINE)
_TEMPLATE: Final = "memory/meta/pending-memories.md"


@dataclass(frozen=True)
class PendingMemories:
    """All proposals in the file's order. Edits return a new one; an unknown number raises `NotFound`."""

    path: str
    source: SourceText
    proposals: tuple[MemoryProposal, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/pending-memories.md") -> PendingMemories:
        """Read the file. Any bytes will do."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        proposals: list[MemoryProposal] = []
        problems: list[Problem] = []
        taken = {int(match[1]) for head in outline.headings if (match := _HEADING.match(head.text))}
        highest, seen = max(taken, default=0), set[int]()
        for heading in outline.headings:
            match = _HEADING.match(heading.text) if heading.level == 2 else None
            if match is None:
                if heading.level == 2:
                    problems.append(
                        Problem(
                            path,
                            heading.span.start,
                            f"The heading “{heading.text[:60]}” is no proposal.",
                            "Write it as ## Proposal #1.",
                        )
                    )
                continue
            number = int(match[1])
            if number in seen:
                highest += 1
                problems.append(
                    Problem(
                        path,
                        heading.span.start,
                        f"Proposal #{number} stands here a second time; it is taken as #{highest}.",
                        "Give it a number of its own.",
                    )
                )
                number = highest
            seen.add(number)
            proposals.append(read_proposal(source, outline, heading, number, problems, path))
        return cls(path, source, tuple(proposals), tuple(problems))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def proposal(self, number: int) -> MemoryProposal | None:
        """Find a proposal by its number."""
        return next((proposal for proposal in self.proposals if proposal.number == number), None)

    def defer(self, numbers: Iterable[int]) -> PendingMemories:
        """Leave proposals to the reflection."""
        source = self.source
        for proposal in sorted(map(self._proposal, set(numbers)), key=_span, reverse=True):
            source = _with_status(source, proposal, DEFERRED)
        return self.parse(source.render(), self.path)

    def mark(self, marks: Mapping[int, Mark]) -> PendingMemories:
        """Say in heading and status what proposals contradict; an empty mark says that they contradict nothing.

        One that was deferred keeps that status.
        """
        source = self.source
        # From the end on, so that the lines of those before stay where they are.
        for proposal in sorted(map(self._proposal, marks), key=_span, reverse=True):
            named = names_in(marks[proposal.number])
            status = f"conflict — see {', '.join(named)}" if named else "pending"
            if not proposal.is_deferred:
                source = _with_status(source, proposal, status)
            start = _span(proposal).start
            source = source.splice(start, start, [heading_line(proposal.number, named)])
        return self.parse(source.render(), self.path)

    def renumber(self, numbers: Mapping[int, int]) -> PendingMemories:
        """Write other numbers into the headings of proposals.

        Args:
            numbers: The new number of each, by the number that it was taken as.
        """
        source = self.source
        for number, chosen in numbers.items():
            proposal = self._proposal(number)
            named = names_in(Mark(proposal.conflicts, proposal.against))
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
    """Return the numbers in the headings of proposals as written, without reading the file as Markdown.

    One that stands inside a fence is among them.
    """
    return [int(number) for number in _WRITTEN.findall(content)]


def append_to(
    content: bytes, proposal: MemoryProposal, number: int, path: str = "memory/meta/pending-memories.md"
) -> bytes:
    """Return the file with a proposal at its end, whatever its texts hold, without reading all of it as Markdown.

    Args:
        content: The file; empty where there is none.
        proposal: To be appended.
        number: Its number, which no other has.

    Raises:
        InvalidInput: It has no content.
    """
    lines = proposal_lines(proposal, number, path)
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
