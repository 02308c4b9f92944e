"""What the Past pane draws: exact widths, nothing with power, and words beside every sign."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from tests.tui.test_text import HOSTILE
from workbench.display.cells import plain
from workbench.display.diffing import compare
from workbench.display.ink import Line, line_width, plain_text
from workbench.engine.errors import InvalidInput
from workbench.engine.results.audit import (
    CommitView,
    Comparison,
    FileChanged,
    MemoryChange,
    PastFile,
    PastScore,
)
from workbench.engine.results.memories import CoreBlock, CoreItem, CoreView, Links, Score, Shown, Validity
from workbench.tui.query import Query, parse_query
from workbench.tui.views.going_back import going_back_lines
from workbench.tui.views.past import (
    CHANGES,
    FIELDS,
    VIEWS,
    PastRows,
    Section,
    change_sections,
    core_sections,
    counted_changes,
    entity_sections,
    file_sections,
    matching,
    score_sections,
    view_of,
    views_line,
)
from workbench.tui.views.past_detail import (
    as_it_was,
    change_as_it_was,
    file_as_it_was,
    memory_as_it_was,
    memory_of,
    trouble_lines,
)
from workbench.tui.views.past_moment import commit_line

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
WIDTHS = (38, 57, 90, 160)


def changed(id_: str, store: str, change: str, title: str = "A title") -> MemoryChange:
    before = None if change == "added" else "It was so."
    after = None if change == "removed" else "It is so."
    return MemoryChange(id_, store, "memory/a.md", title, change, before, after)


COMPARISON = Comparison(
    "a" * 40,
    None,
    (FileChanged("memory/a.md", "changed"), FileChanged("memory/meta/decay-scores.json", "changed")),
    (
        changed("core:a:b", "core", "changed"),
        changed("episode:2026-02-02:14:30", "episodic", "added"),
        changed("episode:2026-02-02:14:31", "episodic", "added"),
        changed("entity:a--b", "semantic", "removed"),
        changed("entity:a--c", "semantic", "scored"),
    ),
)


def text_of(sections: tuple[Section, ...], width: int = 80) -> str:
    rows = PastRows(sections)
    return "\n".join(plain_text(rows.line(at, width)) for at in range(len(rows)))


def hostile_sections() -> list[tuple[Section, ...]]:
    score = Score(0.5, 0.5, HOSTILE[3], {})
    return [
        core_sections(
            CoreView(
                tuple(CoreBlock(text[:50], 3, None, (CoreItem(text[:50], text, False),)) for text in HOSTILE),
                1,
                1,
            )
        ),
        entity_sections([(f"entity:{text[:50]}--x", text) for text in HOSTILE]),
        score_sections([PastScore(text[:50], text[:20], text, score) for text in HOSTILE]),
        file_sections([PastFile(f"{text[:40]}/{text[:40]}", 10, "b") for text in HOSTILE]),
        change_sections(
            Comparison(
                None,
                None,
                tuple(FileChanged(f"f{text[:40]}", text[:20]) for text in HOSTILE),
                tuple(
                    MemoryChange(text[:50], text[:20], text, text, text[:9], text, text) for text in HOSTILE
                ),
            )
        ),
    ]


def safe(lines: list[Line], width: int) -> None:
    for line in lines:
        text = plain_text(line)
        assert text == plain(text)
        assert line_width(line) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_hostile_texts_keep_their_width(width: int) -> None:
    for sections in hostile_sections():
        rows = PastRows(sections)
        safe([rows.line(at, width) for at in range(len(rows))], width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_details_of_hostile_texts_keep_their_width(text: str, width: int) -> None:
    text = text[:20_000]
    head = as_it_was(text, width, past=True)
    shown = Shown(
        text[:60], "episodic", text[:60], 1, 2, text, None, (text[:60],), Validity(text[:9], text[:9], text[:9]),
        Links((text[:60],), (text[:60],)), (),
    )  # fmt: skip
    safe(memory_as_it_was(memory_of(shown), (), head, width), width)
    safe(file_as_it_was(f"{text[:60]}.json", text, head, width), width)
    change = MemoryChange(text[:60], "file", text[:60], text, "changed", text, f"{text} more")
    safe(change_as_it_was(change, compare(change.before, change.after), text[:40], text[:40], width), width)
    safe(trouble_lines(InvalidInput(text[:200], where=text[:90], remedy=text[:200]), width), width)
    said = CommitView("c" * 40, NOW, text[:90], text[:90], text, text, (), (), ())
    safe([commit_line(said, text[:90], "1 of 2", width, went_back=True)], max(width, 24))
    safe([views_line(CHANGES, (text[:400], text[:40]), max(width, 60), past=True)], max(width, 60))


def test_what_differs_is_told_by_sign_word_and_count() -> None:
    text = text_of(change_sections(COMPARISON))
    for words in ("Core memory", "~1", "Episodes", "+2", "Graph", "−1 ≈1", "came", "went", "changed"):
        assert words in text
    assert "Files about memory" in text
    assert "memory/meta/decay-scores.json" in text
    assert text.count("memory/a.md") == 0
    assert counted_changes(Counter(added=2, removed=1)) == "+2 −1"


def test_a_filter_keeps_the_rows_that_hold_every_word() -> None:
    sections = entity_sections(
        [("entity:tool--radar", "Radar"), ("entity:tool--radio", "Radio"), ("entity:a--b", "B")]
    )
    kept = matching(sections, parse_query("tool radi", FIELDS, None))
    assert [row.text for section in kept for row in section.rows] == ["Radio"]
    assert matching(sections, Query()) == sections


@pytest.mark.parametrize(
    ("typed", "count"),
    [("store:episodic", 2), ("is:went", 1), ("is:came -store:episodic", 0), ("-is:came store:core", 1)],
)
def test_what_differs_is_filtered_by_store_and_by_what_became_of_it(typed: str, count: int) -> None:
    kept = matching(change_sections(COMPARISON), parse_query(typed, FIELDS, None))
    assert sum(len(section.rows) for section in kept) == count


def test_the_strongest_come_first_in_each_store() -> None:
    scores = [
        PastScore("entity:a--a", "semantic", "Weak", Score(0.2, 0.2, "dormant", {})),
        PastScore("episode:x", "episodic", "Older", Score(0.5, 0.5, "fading", {})),
        PastScore("entity:a--b", "semantic", "Strong", Score(1.0, 1.8, "active", {})),
    ]
    text = text_of(score_sections(scores))
    assert text.index("Older") < text.index("Strong") < text.index("Weak")
    assert "dormant  0.20" in text


def test_going_back_is_told_in_what_comes_and_what_goes() -> None:
    text = "\n".join(plain_text(line) for line in going_back_lines("21 Oct 2026, 09:50", COMPARISON, 58))
    assert "Go back to 21 Oct 2026, 09:50?" in text
    assert "−2 go" in text
    assert "+1 come back" in text
    assert "2 files are written, in one commit" in text
    assert "u takes it all back" in text


@pytest.mark.parametrize(
    ("key", "view"),
    [
        ("core:identity:name", "core"),
        ("entity:a--b#^f1", "graph"),
        ("episode:2026-02-02:14:30", "memories"),
        ("procedure:x", "memories"),
        ("file:SOUL.md", "files"),
    ],
)
def test_where_a_memory_is_found(key: str, view: str) -> None:
    assert view_of(key) == view
    assert view in dict(VIEWS)


def test_of_which_moment_a_list_is_stands_beside_the_views_as_long_as_it_fits() -> None:
    words = ("as it was 21 Oct 2026, 09:50", "as it was 21 Oct 2026")
    assert plain_text(views_line(CHANGES, words, 80, past=True)).endswith("09:50 ")
    assert plain_text(views_line(CHANGES, words, 66, past=True)).endswith("2026 ")
    assert "as it was" not in plain_text(views_line(CHANGES, words, 50, past=True))
