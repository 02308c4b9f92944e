"""The timeline page by page, and what people type to narrow it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.catalog.shelf import Shelf, day, entity, episode
from workbench.engine.catalog.lookups import Condition, TimelineFilter, parse_filter


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write(
        "memory/episodes/2026-02-01.md",
        day(
            "2026-02-01",
            episode(
                "09:00", "Chose blue green.", kind="decision", rest=" | confidence:high | tags:[Deploy, auth]"
            ),
            episode("09:00", "100% sure_thing", kind="fact", rest=" | confidence:low | tags:[Größe]"),
            episode("23:59", "Überlegung zum Café", kind="event", rest=" | source:user-explicit"),
        ),
    )
    shelf.write("memory/episodes/2026-01-15.md", day("2026-01-15", episode("10:00", "Old [news] of blue.")))
    shelf.write("memory/2026-02-01.md", "# Log\n\n## 09:00 Standup\nTalked about blue.\n")
    shelf.write("memory/2026-01-20-trip.md", "Went to Rome.\n")
    shelf.write("memory/episodes/2026-99-99.md", day("2026-99-99", episode("10:00", "No such day.")))
    shelf.write("memory/graph/entities/person--a.md", entity("A", header="Created: 2026-01-01"))
    shelf.sync()
    return shelf


def narrowed(shelf: Shelf, text: str) -> list[str]:
    rows = shelf.lookups.timeline(parse_filter(text), before=None, limit=100)
    assert len(rows) == shelf.lookups.timeline_length(parse_filter(text))
    return [record.text.split("\n")[-1] for _, record in rows]


def test_newest_first_with_flat_logs_among_the_episodes(filled: Shelf) -> None:
    assert narrowed(filled, "") == [
        "Überlegung zum Café",
        "100% sure_thing",
        "Chose blue green.",
        "Talked about blue.",
        "Went to Rome.",
        "Old [news] of blue.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("type:decision", ["Chose blue green."]),
        ("type:dec", ["Chose blue green."]),
        ("type:decision,fact", ["100% sure_thing", "Chose blue green."]),
        ("TYPE:Decision tag:DEPLOY", ["Chose blue green."]),
        ("tag:deploy tag:auth", ["Chose blue green."]),
        ("tag:eploy", []),
        ("tag:grosse", ["100% sure_thing"]),
        ("tag:trip", ["Went to Rome."]),
        ("confidence:low", ["100% sure_thing"]),
        ("source:user", ["Überlegung zum Café"]),
        ("blue -green -talked", ["Old [news] of blue."]),
        ("-type:event -type:log -type:decision", ["100% sure_thing"]),
        ('"blue green"', ["Chose blue green."]),
        ('"blue gr', ["Chose blue green."]),
        ("100%", ["100% sure_thing"]),
        ("sure_thing", ["100% sure_thing"]),
        ("sure%thing", []),
        ("[news]", ["Old [news] of blue."]),
        ("überlegung", ["Überlegung zum Café"]),
        ("CAFÉ", ["Überlegung zum Café"]),
        ("on:2026-01-15", ["Old [news] of blue."]),
        ("before:2026-01-15", ["Old [news] of blue."]),
        ("until:2026-01", ["Went to Rome.", "Old [news] of blue."]),
        ("after:2026-01-16 before:2026-01-31", ["Went to Rome."]),
        ("since:2026-02 type:fact", ["100% sure_thing"]),
        ("after:2027", []),
        ("nothing-holds-this", []),
    ],
)
def test_filters(filled: Shelf, text: str, expected: list[str]) -> None:
    assert narrowed(filled, text) == expected


@pytest.mark.parametrize(
    "text", ["type:", "tag: ", "after:", "after:x", "after:yesterday", "-", '"', "type:,", "on:2026-2-2-2"]
)
def test_what_is_half_typed_narrows_nothing_yet(filled: Shelf, text: str) -> None:
    assert parse_filter(text) == TimelineFilter()
    assert len(narrowed(filled, text)) == 6


def test_a_filter_is_taken_apart() -> None:
    assert parse_filter('type:a,b -tag:Ä "two words" http://x 12:30') == TimelineFilter(
        (
            Condition("type", ("a", "b")),
            Condition("tag", ("a",), negated=True),
            Condition("", ("two words",)),
            Condition("", ("http://x",)),
            Condition("", ("12:30",)),
        )
    )


@given(text=st.text(max_size=60) | st.text(alphabet="type:ag\"'-%_\\ \0,2026", max_size=60))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_anything_may_be_typed(filled: Shelf, text: str) -> None:
    assert len(narrowed(filled, text)) <= 6


def test_without_bounds_is_bounded(filled: Shelf) -> None:
    assert narrowed(filled, "type:" + "x," * 5_000 + " ".join(f"-w{n}" for n in range(5_000))) == []
    assert narrowed(filled, "y" * 100_000) == []


@given(times=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), max_size=25), limit=st.integers(1, 7))
@settings(max_examples=25)
def test_every_row_comes_exactly_once(
    tmp_path_factory: pytest.TempPathFactory, times: list[tuple[int, int]], limit: int
) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("pages"))
    for number in {number for number, _ in times}:
        entries = [episode(f"09:0{minute}", "x") for which, minute in times if which == number]
        shelf.write(f"memory/episodes/2026-02-0{number}.md", day("d", *entries))
        shelf.write(f"memory/2026-02-0{number}.md", "## 09:00 a\nx\n\n## 09:01 b\ny\n")
    shelf.sync()
    pages: list[str] = []
    before: str | None = None
    while page := shelf.lookups.timeline(TimelineFilter(), before=before, limit=limit):
        assert len(page) <= limit
        pages.extend(record.id for _, record in page)
        before = page[-1][0]
    everything = [r.id for _, r in shelf.lookups.timeline(TimelineFilter(), before=None, limit=1_000)]
    assert pages == everything
    assert sorted(pages) == sorted(shelf.ids())
    shelf.catalog.close()


def test_a_page_goes_on_where_the_last_ended_though_files_were_read_again(filled: Shelf) -> None:
    first = filled.lookups.timeline(TimelineFilter(), before=None, limit=3)
    filled.catalog.update(["memory/episodes/2026-02-01.md", "memory/2026-02-01.md"])
    rest = filled.lookups.timeline(TimelineFilter(), before=first[-1][0], limit=100)
    assert len({record.id for _, record in (*first, *rest)}) == 6


def test_a_cursor_begins_with_the_day(filled: Shelf) -> None:
    cursors = [cursor for cursor, _ in filled.lookups.timeline(TimelineFilter(), before=None, limit=100)]
    assert [cursor.partition("T")[0] for cursor in cursors[-2:]] == ["2026-01-20", "2026-01-15"]


def test_a_cursor_that_is_none_gives_no_error(filled: Shelf, tmp_path: Path) -> None:
    assert filled.lookups.timeline(TimelineFilter(), before="", limit=5) == []
    assert len(filled.lookups.timeline(TimelineFilter(), before="z", limit=50)) == 6
