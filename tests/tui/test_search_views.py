"""What the Search pane draws: the answer, results, their place in the file, why each stands where it does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.fake_bench import NOW, FakeBench
from tests.tui.fake_recall import explanation, found, hit
from workbench.display.ink import line_width, plain_text
from workbench.engine.results.recall import Cut, HitRelation
from workbench.tui.question import Question
from workbench.tui.views.answer import answer_lines, period_words
from workbench.tui.views.asking import examples
from workbench.tui.views.explanation import explanation_lines, ordinal
from workbench.tui.views.hit_in_file import context_lines, hit_head
from workbench.tui.views.hits import HitRows, gist_of


def test_the_answer_says_what_to_think_of_it() -> None:
    answer = found(
        hit(),
        provider="none",
        fallback="The server at localhost does not answer.",
        stale="2 files are not read yet.",
        strategy="when",
        period=("2026-01-01", "2026-01-31"),
    )
    for width in (30, 60, 120):
        lines = answer_lines(Question("x"), answer, 1, width, searching=False)
        assert all(line_width(line) <= width for line in lines)
    text = "\n".join(plain_text(line) for line in lines)
    assert "1 result  asking when · 1–31 Jan 2026" in text
    assert "words alone · 3 ms" in text
    assert "! The server at localhost does not answer." in text
    assert "! 2 files are not read yet." in text


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("2026-01-05", "2026-01-05", "5 Jan 2026"),
        ("2026-01-05", "2026-01-09", "5–9 Jan 2026"),
        ("2025-12-05", "2026-01-09", "5 Dec 2025 – 9 Jan 2026"),
        ("some day", "another", "some day – another"),
    ],
)
def test_periods_in_words(first: str, last: str, words: str) -> None:
    assert period_words(first, last) == words


def test_a_gist_goes_on_where_the_title_ends() -> None:
    assert gist_of(hit()) == "More of it"
    assert gist_of(hit(snippet="Something else")) == "Something else"
    assert gist_of(hit(snippet="Tide")) == ""


def test_a_gist_has_no_headings_links_or_ids_of_lines() -> None:
    entity = "# tool--tide\n\n## Relations\n- decided-on: [[tool--fastapi]] (confidence high) ^rja4\n- old"
    assert gist_of(hit(snippet=entity)) == "decided-on: tool--fastapi (confidence high) old"


def test_explanations_fit_and_name_reasons_in_words() -> None:
    cuts = [
        Cut("entity:tool--gauge", "memory/graph/entities/tool--gauge.md", 1, 3, 0.3, reason, f"why {reason}")
        for reason in ("near-duplicate", "over-budget", "dormant", "unheard-of")
    ] * 5
    told = hit(explanation=explanation(0.8, 1, words=("tide", "gauge")))
    for width in (24, 50, 90):
        lines = explanation_lines(told, 1, cuts, width)
        assert all(line_width(line) <= width for line in lines)
    text = "\n".join(plain_text(line) for line in lines)
    assert "Says nearly the same" in text
    assert "unheard-of" in text
    assert text.count("Says nearly the same") == 1


def test_places_in_words() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 21, 112, 113)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th", "113th",
    ]  # fmt: skip


def test_examples_are_made_of_what_there_is(bench: FakeBench) -> None:
    assert examples(()) == ()
    plain = [replace(each, tags=(), type="log") for each in bench.happened]
    assert examples(plain) == (
        "what happened in February 2026", "what happened in January 2026", "what happened in December 2025",
    )  # fmt: skip


def test_of_free_text_the_words_stand_first() -> None:
    told = hit(
        store="file",
        title="Session at 15:14",
        snippet="- 15:15 Maria: I adopted a pup\n- 15:16 John: How cute",
    )
    rows = HitRows([told, hit()], "adopted", NOW.date())
    above, below = (plain_text(rows.line(at, 60)) for at in (0, 1))
    assert above.startswith("▤ 15:15 Maria: I adopted")
    assert below.split("  ")[1].strip() == "Session at 15:14"
    assert below.endswith("Today")
    assert plain_text(rows.line(2, 60)).startswith("◷ Tide ")


def test_of_a_very_long_line_the_part_that_was_found_is_shown() -> None:
    told = hit(start_line=2, end_line=2, snippet="…the gauge reads low…")
    lines = ["x" * 9000, "word " * 100_000 + "the gauge reads low" + " word" * 100_000]
    drawn = [plain_text(line) for line in context_lines(told, 1, lines, "gauge", 60)]
    assert len(drawn) < 60
    assert drawn[-1].startswith("▌ 2  …the gauge reads low…")


def test_the_relations_of_an_entity_lead_to_the_other_one() -> None:
    ann, tern = "entity:person--ann", "entity:project--tern"
    of_tern = hit(
        id=tern,
        relations=(HitRelation(tern, "built-on", ann, "Ann"), HitRelation(ann, "leads", tern, "Ann" * 40)),
    )
    for width in (24, 60):
        lines = hit_head(of_tern, NOW.date(), width)[-2:]
        assert plain_text(lines[0]).strip() == "built-on › Ann"
        assert [span.link for line in lines for span in line if span.link] == [ann, ann]
        assert all(line_width(line) <= width for line in lines)
