"""`memory/meta/reflection-log.md`: one record for each decided reflection."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from workbench.engine.documents.episodes import clean_field, split_fields
from workbench.engine.documents.items import append_lines, remove_lines
from workbench.engine.documents.outline import read_headings
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.protection import protect_body, unprotect_body
from workbench.engine.documents.source import LineSpan, SourceText
from workbench.engine.documents.template import load_template
from workbench.engine.errors import NotFound

_ID: Final = re.compile(r"r-\d+")


@dataclass(frozen=True, slots=True)
class ReflectionRecord:
    """One reflection, headed `## r-012 | 2026-02-03T03:00:00Z | approved | key:value …`.

    Args:
        id: `r-012`.
        time: ISO 8601 as written.
        outcome: approved, partial, rejected or another word.
        fields: Further `key:value` fields of the heading, for example `("items", "7/8")`.
        body: The summary, any Markdown; escapes undone.
    """

    id: str
    time: str
    outcome: str
    body: str
    fields: tuple[tuple[str, str], ...] = ()
    span: LineSpan | None = None


@dataclass(frozen=True)
class ReflectionLog:
    """All records in the file's order."""

    path: str
    source: SourceText
    records: tuple[ReflectionRecord, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/reflection-log.md") -> ReflectionLog:
        """Read the file. Any bytes will do."""
        source = SourceText.from_bytes(content)
        tops = [heading for heading in read_headings(source) if heading.level <= 2]
        records: list[ReflectionRecord] = []
        seen: set[str] = set()
        problems: list[Problem] = []
        for at, heading in enumerate(tops):
            fields = split_fields(heading.text)
            name = fields[0][1] if fields and not fields[0][0] else ""
            if not _ID.fullmatch(name) or name in seen:
                if heading.level == 2:
                    problems.append(
                        Problem(
                            path,
                            heading.span.start,
                            f"The heading “{heading.text[:60]}” names no reflection of its own.",
                            "Write it as ## r-012 | time | outcome.",
                        )
                    )
                continue
            seen.add(name)
            bare = [heading_part.strip() for heading_part in re.split(r"[|｜]", heading.text)[1:]]
            end = tops[at + 1].span.start - 1 if at + 1 < len(tops) else len(source.lines)
            span = source.trimmed(LineSpan(heading.span.start, end))
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
        return cls(path, source, tuple(records), tuple(problems))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def record(self, reflection_id: str) -> ReflectionRecord | None:
        """Find a record by its id."""
        return next((record for record in self.records if record.id == reflection_id), None)

    def append(self, record: ReflectionRecord) -> ReflectionLog:
        """Append a record; `span` of the given one is of no account."""
        source = self.source
        if not source.lines:
            source = SourceText.from_bytes(load_template("memory/meta/reflection-log.md"))
        return self.parse(append_lines(source, _record_lines(record)).render(), self.path)

    def put(self, record: ReflectionRecord) -> ReflectionLog:
        """Write a record in the place of the one with its id; append it where there is none."""
        known = self.record(record.id)
        if known is None or known.span is None:
            return self.append(record)
        return self.parse(self.source.replace(known.span, _record_lines(record)).render(), self.path)

    def remove(self, reflection_id: str) -> ReflectionLog:
        """Take a record out again. Raises `NotFound`."""
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
