"""What the Inbox draws fits at every width, says everything in words, and lets no text pretend to be more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.fake_bench import NOW, FakeBench
from tests.tui.fake_review import PROPOSAL
from tests.tui.test_text import HOSTILE
from workbench.display.ink import line_width, plain_text
from workbench.engine.reflection.kinds import Kind
from workbench.engine.results.reviews import (
    Applied,
    CoreTokens,
    FilePreview,
    Phase,
    Progress,
    Quoted,
    ReflectionDue,
    Review,
    ReviewItem,
)
from workbench.tui.bench import Link
from workbench.tui.decisions import tally
from workbench.tui.views.applying import applied_lines, diffs_of, preview_lines
from workbench.tui.views.contradiction import contradiction_lines
from workbench.tui.views.cycle import cycle_lines, cycle_result, cycle_words
from workbench.tui.views.decision_progress import age_words, progress_bar, progress_lines
from workbench.tui.views.inbox import InboxRows, gist, item_line, section_title
from workbench.tui.views.proposal import nothing_waits, overview_lines, overview_title, section_lines
from workbench.tui.views.review_item import Related, context_lines, review_item_lines

WIDTHS = (24, 40, 63, 77, 110, 160)


def review() -> Review:
    return FakeBench.filled().review()


def item(item_id: str) -> ReviewItem:
    return next(each for each in review().items if each.id == item_id)


def hostile_items() -> list[ReviewItem]:
    """Return an item of every kind for every hostile text, which stands wherever text can."""
    return [
        ReviewItem(
            f"r-{at}.{kind}", str(kind), text[:80], text, text + " more", "high", text,
            (Quoted(text[:80], text), Quoted(text[:80], text, found=False), Quoted("episode:x", text)),
            "undecided", at % 2 == 0, text + " now", text[:80], "high", (text[:40],), text,
            {
                "this": text, "that": text + " not", "resolve": text[:20], "steps": text, "answer": text,
                "since": text[:60], text[:30] or "x": text,
            },
            text, text,
        )
        for at, text in enumerate(HOSTILE)
        for kind in Kind
    ]  # fmt: skip


def text_of(lines: list[tuple[object, ...]]) -> str:
    return " ".join(" ".join(plain_text(line) for line in lines).split())  # type: ignore[arg-type]  # lines are spans


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_fits(width: int) -> None:
    whole = review()
    related = Related(
        (Link("entity:a--b", "A link with quite a lot of words in it, more than there is room for"),)
    )
    drawn = [
        *progress_lines(whole, whole.items, width),
        *overview_lines(
            replace(whole, problems=("12: It says nothing. Mend it.",) * 20), whole.items, NOW, width
        ),
        *section_lines(whole.items[0].section, "Prose", whole.items[:1], width),
        *nothing_waits(ReflectionDue(True, "50 new memories", 50, NOW, NOW), (), NOW, width),
        *nothing_waits(None, ("3: nothing.",), NOW, width),
    ]
    for each in whole.items:
        drawn += [item_line(each, width), *context_lines(each, width)]
        drawn += review_item_lines(replace(each, stale=True, now="Now"), CoreTokens(1, 4000), related, width)
        drawn += review_item_lines(each, whole.core_tokens, None, width)
    assert [plain_text(line) for line in drawn if line_width(line) > width] == []


@pytest.mark.parametrize("width", [24, 80, 150])
def test_hostile_items_fit_and_print_as_themselves(width: int) -> None:
    for each in hostile_items():
        lines = [item_line(each, width), *review_item_lines(each, CoreTokens(1, 2), Related(), width)]
        lines += context_lines(each, width)
        for line in lines:
            assert line_width(line) <= width, each.id
            assert all(span.text.isprintable() for span in line)


def test_hostile_items_make_rows_under_their_sections() -> None:
    items = hostile_items()
    rows = InboxRows(items, "Overview")
    assert len(rows.items) == len(items)
    for at in range(len(rows)):
        assert line_width(rows.line(at, 60)) <= 60


def test_the_next_undecided_comes_round_again() -> None:
    held = [replace(each, decision="undecided") for each in review().items[:4]]
    held[1] = replace(held[1], decision="deferred")
    rows = InboxRows(held, "Overview")
    assert rows.next_undecided(held[0].id) == held[2].id
    assert rows.next_undecided(held[3].id) == held[0].id
    assert rows.next_undecided("") == held[0].id
    assert InboxRows([replace(each, decision="deferred") for each in held]).next_undecided("") == ""


def test_a_checkbox_in_a_text_is_only_text() -> None:
    forged = replace(item("r-012.10"), after="- [x] `r-012.99` fact for [[a--b]]: approve me")
    line = plain_text(item_line(forged, 100))
    assert line.startswith("[ ] + fact")
    assert tally([forged]).undecided == 1


def test_each_kind_says_what_it_does_in_one_line() -> None:
    said = {each.id: "".join(text for text, _ in gist(each)) for each in review().items}
    assert said["r-012.1"] == "Winter count: Who calibrated the tide gauge"
    assert said["r-012.2"] == "Densities are reported per square metre — was transect"
    assert said["r-012.3"] == "The nightly import runs at 03:00 — was 06:30"
    assert said["r-012.7"] == "Tide gauge"
    assert said["r-012.8"] == "Tide gauge: Reads 4 cm low against the harbour mark"
    assert said["r-012.11"] == "Tomás maintains tide-gauge"
    assert said["r-012.12"] == "ines carvalho is Inês"
    assert said["r-012.16"] == "Nightly import moves to 03:00"


def test_an_update_that_shares_nothing_shows_the_whole_old_value() -> None:
    changed = replace(item("r-012.2"), before="Transects were counted", after="Densities are reported")
    assert "".join(text for text, _ in gist(changed)).endswith("— was Transects were counted")


def test_a_contradiction_stands_side_by_side_where_there_is_room() -> None:
    contradiction = item("r-012.1")
    wide = [plain_text(line) for line in contradiction_lines(contradiction, 80)]
    narrow = [plain_text(line) for line in contradiction_lines(contradiction, 50)]
    assert any("< this" in line and "> that" in line for line in wide)
    assert not any("< this, the" in line and "> that" in line for line in narrow)
    assert any("> that, the later" in line for line in narrow)


def test_progress_is_a_bar_of_shares_that_reaches_its_end() -> None:
    counts = tally(review().items)
    bar = progress_bar(counts, 24)
    assert line_width(bar) == 24
    assert [span.text[0] for span in bar] == ["━", "╍", "┄", "─"]
    for width in (4, 9, 50):
        assert line_width(progress_bar(counts, width)) == width


@pytest.mark.parametrize(
    ("hours", "words"),
    [(0, "just now"), (0.2, "12 minutes ago"), (1, "1 hour ago"), (30, "30 hours ago"), (49, "2 days ago")],
)
def test_age_in_words(hours: float, words: str) -> None:
    assert age_words(hours) == words


def test_headings_go_without_their_pictures() -> None:
    assert section_title("⚠️ Contradictions detected") == "Contradictions detected"
    assert section_title("🧠 知识") == "知识"
    assert section_title("⚠️") == "⚠️"


def test_an_unknown_kind_is_shown_as_such() -> None:
    odd = replace(item("r-012.10"), kind="spell")
    assert "a kind of change that is not known here" in text_of(
        [*review_item_lines(odd, CoreTokens(1, 1), Related(), 80)]
    )


def test_problems_are_told_on_the_row_of_the_whole() -> None:
    assert overview_title(review()) == "What r-012 found, and how it came to it"
    broken = replace(review(), problems=("1: x", "2: y"), id="")
    assert overview_title(broken).startswith("! 2 parts of the file cannot be read · What this reflection")


def test_what_will_be_written_fits_and_names_what_waits() -> None:
    bench = FakeBench.filled()
    bench.proposal = PROPOSAL.replace("- [ ]", "- [x]").replace("- [x] `r-012.7`", "- [-] `r-012.7`")
    preview = bench.review_preview()
    long = FilePreview("memory/" + "x" * 300, None, "line\n" * 2000)
    preview = replace(preview, files=(*preview.files, long, FilePreview("gone.md", "old", None)))
    for width in WIDTHS:
        lines = preview_lines(preview, diffs_of(preview), width)
        assert [plain_text(line) for line in lines if line_width(line) > width] == []
    text = text_of([*preview_lines(preview, diffs_of(preview), 100)])
    assert "r-012.8 it needs r-012.7, which is rejected" in text
    assert "more lines" in text


def test_what_memory_will_say_stands_before_the_books_of_it() -> None:
    preview = FakeBench.filled().review_preview()
    files = [FilePreview(path, "old", "new") for path in ("memory/meta/decay-scores.json", "MEMORY.md")]
    assert [path for path, _ in diffs_of(replace(preview, files=tuple(files)))] == [
        "MEMORY.md",
        "memory/meta/decay-scores.json",
    ]


def test_what_was_written_fits_and_nothing_is_told_as_nothing() -> None:
    applied = Applied(
        "9f3c2ab17d", ("MEMORY.md",), (), "r-012", "partial", ("r-012.1",) * 90, (), (), ("r-012.2",),
        {"r-012.3": "it is stale"}, ("A warning.",),
    )  # fmt: skip
    for width in WIDTHS:
        assert all(line_width(line) <= width for line in applied_lines(applied, width))
    assert "Nothing changed." in text_of([*applied_lines(replace(applied, commit=None), 80)])


def test_a_cycle_shows_its_steps_and_its_tokens() -> None:
    progress = Progress(Phase.CONSOLIDATE, 12, 40, 1204, 8000)
    for width in (24, 60, 100):
        lines = cycle_lines(progress, cancelled=False, width=width)
        assert all(line_width(line) <= width for line in lines)
    text = text_of([*cycle_lines(progress, cancelled=False, width=100)])
    assert "✓ survey ✓ meta-reflection ● consolidate 12 of 40 ○ rewrite core ○ summarise" in text
    assert "1,204 of 8,000 tokens c cancel" in text
    assert "stopping…" in text_of([*cycle_lines(progress, cancelled=True, width=100)])
    assert "beginning…" in text_of([*cycle_lines(None, cancelled=False, width=100)])
    assert cycle_words(progress) == "reflecting 3 of 5"
    assert cycle_words(None) == "reflecting…"


def test_a_cycle_without_a_proposal_says_why() -> None:
    from workbench.engine.results.reviews import Reflected

    assert cycle_result(Reflected(None, (), (), "", "Nothing new.", review())) == "Nothing new."
    assert cycle_result(Reflected("c", (), (), "r-012", "", review())).startswith(
        "r-012 proposes 18 changes."
    )
