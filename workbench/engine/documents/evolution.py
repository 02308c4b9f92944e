"""`memory/meta/evolution.md`: how the agent's understanding has changed over its reflections (§10.4)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.documents.items import (
    append_item,
    append_section,
    clean_item,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    remove_lines,
)
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.source import LineSpan, SourceText
from workbench.engine.documents.statement import Statement, new_block_id, parse_statement, render_statement
from workbench.engine.documents.template import load_template
from workbench.engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.documents.problems import Problem


@dataclass(frozen=True, slots=True)
class Insight:
    """One item of a section, for example of `Active Threads`; nested lines included."""

    section: str
    text: str
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True)
class Evolution:
    """The sections and their insights in the file's order."""

    path: str
    source: SourceText
    sections: tuple[str, ...]
    insights: tuple[Insight, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/evolution.md") -> Evolution:
        """Read the file. Any bytes will do."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        sections = [heading for heading in outline.headings if heading.level > 1]
        insights: list[Insight] = []
        for item in outermost_items(outline, source.span):
            at = bisect_left(sections, item.span.start, key=lambda heading: heading.span.start)
            found = parse_statement(item_text(item.text))
            insights.append(
                Insight(sections[at - 1].text if at else "", found.text, found.block_id, item.span)
            )
        return cls(path, source, tuple(heading.text for heading in sections), tuple(insights))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def add(self, section: str, text: str, was_given: Callable[[str], bool] = lambda _: False) -> Evolution:
        """Add an insight with a block id at the end of a section, which is made where it is missing.

        Args:
            section: Its heading.
            text: What it says.
            was_given: Returns True for a block id that must not be given again.
        """
        source = self.source if self.source.lines else SourceText.from_bytes(load_template(_PATH))
        taken = [insight.block_id for insight in self.insights if insight.block_id]
        block = new_block_id("e", text, taken, was_given)
        lines = item_lines(render_statement(Statement(clean_item(text), block_id=block)))
        outline = read_outline(source)
        wanted = one_line(section)
        heading = next(
            (h for h in outline.headings if h.level > 1 and h.text.casefold() == wanted.casefold()), None
        )
        if heading is None:
            source = append_section(source, wanted, lines)
        else:
            source = append_item(source, heading, outermost_items(outline, heading.section), lines)
        return self.parse(source.render(), self.path)

    def remove(self, block_id: str) -> Evolution:
        """Remove an insight. Raises `NotFound`."""
        insight = next((insight for insight in self.insights if insight.block_id == block_id), None)
        if insight is None:
            raise NotFound(
                f"There is no insight ^{block_id}.", where=self.path, remedy="See the ids in the file."
            )
        return self.parse(remove_lines(self.source, insight.span).render(), self.path)


_PATH = "memory/meta/evolution.md"
