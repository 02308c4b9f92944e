"""What a filter keeps: the rows that hold every word and no forbidden one, each under its heading."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.parts.queries import passes
from workbench.display.ink import Line, ink
from workbench.tui.parts.filter import Filterable, RowFilter, parse_query
from workbench.tui.parts.rows import AnyRows, Rows

TODAY = date(2026, 2, 2)
FIELDS = ("type",)
TEXTS = st.text("aAbßİ \n", max_size=6)
WORDS = st.builds("{}{}".format, st.sampled_from(["", "-"]), st.text("abi", min_size=1, max_size=2))
DAYS = st.integers(0, 3).map(lambda days: f"since:{days}d")
TYPES = st.sampled_from(["type:a", "-type:a", "type:ab,b"])


class Listed(Rows[str, str]):
    def __init__(self, sections: list[list[str]]) -> None:
        super().__init__()
        for number, texts in enumerate(sections):
            self.add_heading(f"section {number}")
            for at, text in enumerate(texts):
                self.add(text, f"{number}:{at}")

    def draw(self, row: str, width: int) -> Line:
        return (ink(row, "text", width),)


def look(rows: AnyRows, index: int) -> Filterable:
    assert isinstance(rows, Listed)
    text = rows.row_at(index) or ""
    return Filterable(text, {"type": (text[:2],)}, TODAY - timedelta(len(text)))


@given(st.lists(st.lists(TEXTS, max_size=4), max_size=3), st.lists(WORDS | DAYS | TYPES, max_size=3))
def test_the_rows_that_pass_are_kept_under_their_headings(
    sections: list[list[str]], typed: list[str]
) -> None:
    rows, filter_ = Listed(sections), RowFilter(FIELDS, look)
    filter_.set(" ".join(typed), TODAY)
    kept = filter_.apply(rows)
    query = parse_query(" ".join(typed), FIELDS, TODAY)
    expected = {
        f"{number}:{at}"
        for number, texts in enumerate(sections)
        for at, text in enumerate(texts)
        if passes(query, {"type": (text[:2].casefold(),)}, text.casefold(), TODAY - timedelta(len(text)))
    }
    assert [kept.key(at) for at in range(len(kept)) if kept.key(at)] == sorted(expected)
    assert (filter_.shown, filter_.total) == (len(expected), sum(map(len, sections)))
    for at in range(len(kept)):
        heading = kept.heading(at)
        if kept.key(at) and isinstance(kept, Listed) and heading is not None:
            assert kept.head(heading) == f"section {kept.key(at)[0]}"
