"""Audit lines of any content, and the tail of a long log."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.markdown.hostile_text import texts
from workbench.engine.markdown.audit_log import (
    AuditLine,
    AuditLogFile,
    iterate_audit_backwards,
    parse_audit_fields,
    parse_audit_line,
    render_audit_fields,
    render_audit_line,
)

any_text = st.one_of(
    texts(), st.text(st.characters(), max_size=12), st.text(alphabet="\\|nrsu0123 \ud800\n", max_size=12)
)
moments = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive


@given(st.builds(AuditLine, moments, any_text, any_text, any_text, any_text, any_text))
def test_any_line_reads_back(line: AuditLine) -> None:
    written = render_audit_line(line)
    assert not {"\n", "\r", "\u2028", "\u0085"} & set(written)
    written.encode()
    assert parse_audit_line(written) == line


@given(st.lists(any_text, min_size=1, max_size=5))
def test_fields_of_a_trailer_read_back(fields: list[str]) -> None:
    assert parse_audit_fields(render_audit_fields(fields)) == tuple(fields)


@given(st.text(max_size=40))
def test_any_text_can_be_asked(text: str) -> None:
    parse_audit_line(text)
    parse_audit_line("2026-02-02T15:30Z | " + text)


def test_the_format_is_that_of_the_design_document() -> None:
    text = "2026-02-02T15:30Z | EDIT | MEMORY.md | bot:trigger-remember | auto | added “hybrid” to Active Context"
    line = parse_audit_line(text)
    assert line is not None
    assert line.timestamp == datetime(2026, 2, 2, 15, 30, tzinfo=UTC)
    assert render_audit_line(line) == text


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("2026-02-03T10:15:09Z | PROPOSE | a.md | subagent:coder      | pending  | x", "x"),
        ("2026-02-03T10:15+01:00 | EDIT | a.md | manual | — | one | two", "one | two"),
        (r"2026-02-03T10:15Z | EDIT | a.md | manual | — | C:\dir \| x", r"C:\dir | x"),
    ],
)
def test_foreign_lines_are_read(text: str, summary: str) -> None:
    line = parse_audit_line(text)
    assert line is not None
    assert line.summary == summary


def test_unknown_and_torn_lines_hide_nothing() -> None:
    content = b"# log\n2026-02-02T15:30Z | EDIT | a | b | c | d\n\n2026-02-02T15:3"
    log = AuditLogFile.parse(content)
    assert (log.numbers, log.torn, [problem.line for problem in log.problems]) == ((2,), True, [1, 4])


def test_the_tail_is_read_from_the_end(tmp_path: Path) -> None:
    lines = [
        AuditLine(datetime(2026, 1, 1, tzinfo=UTC), "EDIT", f"file-{n}.md", "manual", "—", "é" * (n % 97))
        for n in range(5_000)
    ]
    file = tmp_path / "audit.log"
    file.write_text(
        "".join(render_audit_line(line) + "\n" for line in lines) + "2026-01-01T", encoding="utf-8"
    )
    assert list(iterate_audit_backwards(file)) == lines[::-1]
    assert list(iterate_audit_backwards(tmp_path / "none.log")) == []
    assert list(iterate_audit_backwards(file / "no folder.log")) == []
    kept = [line for line in lines if line.file.endswith("7.md")]
    taken = iterate_audit_backwards(file, lambda raw: b"7.md" in raw)
    assert list(taken) == [line for line in lines[::-1] if line in kept or line in (lines[0], lines[-1])], (
        "the newest and the oldest are told in any case"
    )
