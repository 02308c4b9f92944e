"""Facts and relations in words."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.markdown.hostile_text import texts, worded
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.markup import clean_item, item_lines
from workbench.engine.markdown.pages import Procedure
from workbench.engine.markdown.statements import (
    Provenance,
    Statement,
    WrittenAccesses,
    header_accesses,
    new_block_id,
    parse_statement,
    render_statement,
)

DATES = st.sampled_from([None, "2026", "2026-02", "2026-02-02", "2026-02-02T14:30Z"])
provenances = st.builds(
    Provenance,
    since=DATES,
    until=DATES,
    sources=st.lists(
        st.sampled_from(
            ["episode:2026-02-02:14:30#2", "vault:my note (x), and y.md", "vault:100%20 é", "file:a.md#L3-L5"]
        ),
        max_size=3,
    ).map(tuple),
    successor_block=st.sampled_from([None, "f7k2"]),
    confidence=st.sampled_from([None, "high", "medium", "low"]),
    scope=st.sampled_from([None, "shared", "group:family", "person:otto.b_2-x"]),
)

counted = st.none() | st.integers(0, 10**9 - 1)
days = st.none() | st.dates(date(1, 1, 1), date(9999, 12, 31))


@given(counted, days, st.sampled_from(["Last updated", "last used", "LAST ACCESSED"]), texts(), st.booleans())
def test_a_header_tells_of_accesses_and_the_file_stays(
    count: int | None, day: date | None, key: str, more: str, in_one: bool
) -> None:
    written = ["Type: project"]
    written += [f"{key}: {day.isoformat()}"] if day else []
    written += ["Decay score: 0.95"] + ([f"Access count: {count}"] if count is not None else [])
    text = " | ".join(written) if in_one else " -->\n<!-- ".join(written)
    content = f"# a\n\n<!-- {text} -->\n\n## Notes\n{more}\n".encode()
    entity = EntityFile.parse(content, "memory/graph/entities/project--a.md")
    known = header_accesses(entity.header, UTC)
    assert entity.render() == content
    if day is None and count is None:
        assert known is None
        return
    last = datetime.combine(day, time(), UTC) if day else None
    assert known == WrittenAccesses(max(1, count or 1), last)
    assert WrittenAccesses.read(known.render()) == known


@pytest.mark.parametrize(
    "said",
    [
        "Access count: many",
        "Access count: -3",
        "Access count: 9999999999",
        "Access count: ٣",
        "Last used: soon",
    ],
)
def test_what_is_no_count_and_no_day_is_not_read(said: str) -> None:
    content = f"# a\n\n<!-- {said} -->\n".encode()
    assert header_accesses(Procedure.parse(content, "memory/procedures/a.md").header, UTC) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "Forgetting is by decay (since 2026-02-02, from episode:2026-02-02:14:30) ^f7k2",
            Statement(
                "Forgetting is by decay",
                Provenance(since="2026-02-02", sources=("episode:2026-02-02:14:30",)),
                "f7k2",
            ),
        ),
        (
            "By hard delete (2026-01-20 to 2026-02-02, from episode:2026-01-20:10:00, superseded by ^f7k2) ^f3c1",
            Statement(
                "By hard delete",
                Provenance("2026-01-20", "2026-02-02", ("episode:2026-01-20:10:00",), "f7k2"),
                "f3c1",
            ),
        ),
        ("Core budget: ~3,000 tokens", Statement("Core budget: ~3,000 tokens")),
        ("Forgetting: decay (not hard delete)", Statement("Forgetting: decay (not hard delete)")),
        ("x (since forever) ^a", Statement("x (since forever)", block_id="a")),
        ("x (until 2026)", Statement("x", Provenance(until="2026"))),
        ("x ^f1\n- more", Statement("x\n- more", block_id="f1")),
    ],
)
def test_facts_are_read(line: str, expected: Statement) -> None:
    assert parse_statement(line) == expected


@given(text=worded, provenance=provenances)
def test_what_is_written_is_read_back(text: str, provenance: Provenance) -> None:
    statement = Statement(clean_item(text), provenance, "f7k2")
    assert parse_statement(render_statement(statement)) == statement


@given(text=texts())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(parse_statement(text).text, str)


@given(text=worded)
def test_items_are_lines_that_stay_inside_their_item(text: str) -> None:
    first, *rest = item_lines(text)
    assert first.startswith("- ")
    assert all(line == "" or line.startswith("  ") for line in rest)


def test_block_ids_are_free_and_the_same_every_time() -> None:
    first = new_block_id("f", "text", [])
    assert first == new_block_id("f", "text", ["other"])
    second = new_block_id("f", "text", [first.upper()])
    assert second != first
    assert second.startswith("f")
