"""Records of reflections: `reflection-log.md`, `evolution.md` and `rejected.md` in `memory/meta/`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from workbench.engine.errors import NotFound
from workbench.engine.markdown.episodes import clean_field, split_fields
from workbench.engine.markdown.markup import (
    append_lines,
    append_to_section,
    clean_item,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    protect_body,
    remove_lines,
    unprotect_body,
)
from workbench.engine.markdown.outline import read_headings, read_outline, stretches
from workbench.engine.markdown.review import ReviewItem, read_item, review_item_lines
from workbench.engine.markdown.source import LineSpan, Problem, Problems, SourceText, is_blank, load_template
from workbench.engine.markdown.statements import Statement, new_block_id, parse_statement, render_statement
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_ID: Final = lazy_pattern(r"r-\d+")

_PATH = "memory/meta/evolution.md"
_REJECTED: Final = "rejected"
_OPENING: Final = (
    "# Rejected",
    "",
    "<!-- What you rejected is not proposed again without new evidence. Delete an item to allow it again. -->",
    "",
)


@dataclass(frozen=True, slots=True)
class ReflectionRecord:
    """One reflection, under the heading `## r-012 | 2026-02-03T03:00:00Z | approved | key:value …`.

    Args:
        id: `r-012`.
        time: ISO 8601 as written.
        outcome: approved, partial, rejected or another word.
        fields: Further `key:value` fields of the heading, for example `("items", "7/8")`.
        body: The summary, any Markdown, without escapes.
    """

    id: str
    time: str
    outcome: str
    body: str
    fields: tuple[tuple[str, str], ...]
    span: LineSpan | None = None


@dataclass(frozen=True)
class ReflectionLog:
    """All records in file order."""

    path: str
    source: SourceText
    records: tuple[ReflectionRecord, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/reflection-log.md") -> ReflectionLog:
        """Parse the file. Any bytes are accepted."""
        source = SourceText.from_bytes(content)
        tops = [heading for heading in read_headings(source) if heading.level <= 2]
        records: list[ReflectionRecord] = []
        seen: set[str] = set()
        problems = Problems(path)
        for heading, lines in stretches(tops, len(source.lines)):
            fields = split_fields(heading.text)
            name = fields[0][1] if fields and not fields[0][0] else ""
            if not _ID.fullmatch(name) or name in seen:
                if heading.level == 2:
                    problems.add(
                        heading.span.start,
                        f"The heading “{heading.text[:60]}” names no reflection of its own.",
                        "Write it as ## r-012 | time | outcome.",
                    )
                continue
            seen.add(name)
            bare = [heading_part.strip() for heading_part in re.split(r"[|｜]", heading.text)[1:]]
            span = source.trimmed(lines)
            records.append(
                ReflectionRecord(
                    name,
                    bare[0] if bare else "",
                    bare[1].lower() if len(bare) > 1 else "",
                    unprotect_body(source.lines_of(LineSpan(heading.span.end + 1, span.end))),
                    tuple(split_fields("|".join(bare[2:]))),
                    span,
                )
            )
        return cls(path, source, tuple(records), tuple(problems.found))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def record(self, reflection_id: str) -> ReflectionRecord | None:
        """Return a record by its id."""
        return next((record for record in self.records if record.id == reflection_id), None)

    def append(self, record: ReflectionRecord) -> ReflectionLog:
        """Append a record; its `span` is ignored."""
        source = self.source
        if not source.lines:
            source = SourceText.from_bytes(load_template("memory/meta/reflection-log.md"))
        return self.parse(append_lines(source, _record_lines(record)).render(), self.path)

    def put(self, record: ReflectionRecord) -> ReflectionLog:
        """Replace the record with the same id, or append it."""
        known = self.record(record.id)
        if known is None or known.span is None:
            return self.append(record)
        return self.parse(self.source.replace(known.span, _record_lines(record)).render(), self.path)

    def remove(self, reflection_id: str) -> ReflectionLog:
        """Remove a record. Raises `NotFound`."""
        record = self.record(reflection_id)
        if record is None or record.span is None:
            raise NotFound(
                f"There is no reflection {reflection_id}.",
                where=self.path,
                remedy="See the headings of the file.",
            )
        return self.parse(remove_lines(self.source, record.span).render(), self.path)


def _record_lines(record: ReflectionRecord) -> list[str]:
    fields = [record.id, record.time, record.outcome]
    fields += [f"{key.replace(':', '-')}:{value}" if key else value for key, value in record.fields]
    heading = "## " + " | ".join(clean_field(text) for text in fields)
    return [heading, *protect_body(record.body)]


@dataclass(frozen=True, slots=True)
class Insight:
    """One item of a section, for example of `Active Threads`, with nested lines."""

    section: str
    text: str
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True)
class Evolution:
    """The insights of all sections in file order."""

    path: str
    source: SourceText
    insights: tuple[Insight, ...]

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/evolution.md") -> Evolution:
        """Parse the file. Any bytes are accepted."""
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
        return cls(path, source, tuple(insights))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def add(self, section: str, text: str, was_given: Callable[[str], bool] = lambda _: False) -> Evolution:
        """Add an insight with a block id at the end of a section, which is created if missing."""
        source = self.source if self.source.lines else SourceText.from_bytes(load_template(_PATH))
        taken = [insight.block_id for insight in self.insights if insight.block_id]
        block = new_block_id("e", text, taken, was_given)
        lines = item_lines(render_statement(Statement(clean_item(text), block_id=block)))
        outline = read_outline(source)
        wanted = one_line(section)
        heading = next(
            (h for h in outline.headings if h.level > 1 and h.text.casefold() == wanted.casefold()), None
        )
        source = append_to_section(source, outline, heading, wanted, lines)
        return self.parse(source.render(), self.path)

    def remove(self, block_id: str) -> Evolution:
        """Remove an insight. Raises `NotFound`."""
        insight = next((insight for insight in self.insights if insight.block_id == block_id), None)
        if insight is None:
            raise NotFound(
                f"There is no insight ^{block_id}.", where=self.path, remedy="See the ids in the file."
            )
        return self.parse(remove_lines(self.source, insight.span).render(), self.path)


@dataclass(frozen=True, slots=True)
class RejectedClaim:
    """One claim that a person rejected.

    Args:
        time: When it was rejected, ISO 8601 as written; empty if unknown.
        reflection: Its reflection, `r-003`; empty if unknown.
    """

    item: ReviewItem
    time: str
    reflection: str

    @property
    def id(self) -> str:
        """Return the item's id, `r-003.2`."""
        return self.item.id

    @property
    def day(self) -> str:
        """Return the day of the rejection, ISO 8601."""
        return self.time[:10]


@dataclass(frozen=True)
class RejectedClaims:
    """All rejected claims in file order; edits return a new file."""

    path: str
    source: SourceText
    claims: tuple[RejectedClaim, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/rejected.md") -> RejectedClaims:
        """Parse the file. Any bytes are accepted; of two claims with one id the first counts."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        problems = Problems(path)
        found: dict[str, RejectedClaim] = {}
        for listed in outermost_items(outline, source.span):
            item = read_item(outline, listed, "", problems, boxed=False)
            if item is not None:
                found.setdefault(item.id, _claim(item))
        return cls(path, source, tuple(found.values()), tuple(problems.found))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def claim(self, claim_id: str) -> RejectedClaim | None:
        """Return a claim by its id."""
        return next((claim for claim in self.claims if claim.id == claim_id), None)

    def add(self, claims: Iterable[RejectedClaim]) -> RejectedClaims:
        """Add claims at the end; one with an existing id replaces the old one."""
        new = {claim.id: claim for claim in claims}
        if not new:
            return self
        known = {claim.id for claim in self.claims}
        source = self.remove(known & new.keys()).source
        lines = [line for claim in new.values() for line in _lines(claim)]
        if all(is_blank(line) for line in source.lines):
            return self.parse(source.append([*_OPENING, *lines]).render(), self.path)
        ends_in_list = any(
            claim.item.span is not None and claim.item.span.end == source.trimmed(source.span).end
            for claim in self.parse(source.render()).claims
        )
        if ends_in_list:
            last = source.trimmed(source.span).end
            return self.parse(source.insert_after(last, lines).render(), self.path)
        return self.parse(append_lines(source, lines).render(), self.path)

    def remove(self, claim_ids: Iterable[str]) -> RejectedClaims:
        """Remove claims, so that they may be proposed again. Raises `NotFound`."""
        spans = sorted((self._span(claim_id) for claim_id in set(claim_ids)), reverse=True)
        source = self.source
        for span in spans:
            source = remove_lines(source, span)
        return self.parse(source.render(), self.path) if spans else self

    def _span(self, claim_id: str) -> LineSpan:
        claim = self.claim(claim_id)
        if claim is None or claim.item.span is None:
            raise NotFound(
                f"Nothing was rejected as {claim_id}.",
                where=self.path,
                remedy="List what was rejected with: workbench review rejected",
            )
        return claim.item.span


def _claim(item: ReviewItem) -> RejectedClaim:
    said = dict(item.fields).get(_REJECTED, "")
    time, _, reflection = said.partition(" in ")
    fields = tuple(field for field in item.fields if field[0] != _REJECTED)
    return RejectedClaim(replace(item, fields=fields, decision="rejected"), time.strip(), reflection.strip())


def _lines(claim: RejectedClaim) -> list[str]:
    said = f"{claim.time} in {claim.reflection}" if claim.reflection else claim.time
    fields = ((_REJECTED, said), *(field for field in claim.item.fields if field[0] != _REJECTED))
    return review_item_lines(replace(claim.item, fields=fields), boxed=False)
