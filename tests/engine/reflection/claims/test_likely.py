"""What is raised by the fitted model: the same said in other words, among much that is about something else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.engine.reflection.snapshots import chat, check_quotes, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.claims import find_conflicts, likely
from workbench.engine.reflection.claims.clauses import clauses_of
from workbench.engine.reflection.claims.likely import FEATURES, compare, family_of
from workbench.engine.reflection.claims.reading import read_claims
from workbench.engine.reflection.claims.values import values_in
from workbench.engine.reflection.model import Work

BESIDES = (
    "I water the basil on the balcony in the evening.", "The cellar door sticks when it rains.",
    "I read a long novel about lighthouses.", "My neighbour plays the trumpet.", "We painted the fence green.",
    "I bake bread with rye flour.", "The tram was full again.", "I lent the ladder to Otto.",
    "We walked around the lake.", "The printer is out of paper.", "I repaired the old radio.",
    "My desk faces the window.", "The kettle whistles too loudly.", "I cleaned the bicycle chain.",
    "We planted tulips by the gate.", "The library closes early.", "I sharpen the kitchen knives myself.",
    "The stairs creak at night.", "I collect stamps with birds.", "We listened to the thunderstorm.",
)  # fmt: skip


def raised(folder: Path, before: str, after: str) -> tuple[ReviewItem, ...]:
    """Return what is raised when one of many statements is followed by another a week later."""
    first = chat("2026-01-01", *(("user", text) for text in (*BESIDES, before)))
    made = snapshot(folder, (*first, *chat("2026-01-08", ("user", after))))
    items = find_conflicts(made, Work())
    check_quotes(made, items)
    return items


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("My resting heart rate is 63.", "My resting pulse has come down to 54.", "supersession"),
        (
            "My violin lesson is with Mr. Tanaka.",
            "My violin lessons are with Ms. Orlova now.",
            "supersession",
        ),
        ("I met Leonie at the pottery course.", "I've never met Leonie at any course.", "contradiction"),
    ],
)
def test_what_is_said_in_other_words_is_raised(tmp_path: Path, before: str, after: str, kind: str) -> None:
    (item,) = raised(tmp_path, before, after)
    assert item.kind == kind
    assert len(item.evidence) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I have never eaten oysters.", "My husband ate oysters in Brittany."),
        ("Sprint 1 ends with 12 open tickets.", "Sprint 2 ends with 9 open tickets."),
        ("My score is 94%.", "My score improved from 80% to 93%."),
        ("The kettle holds 2 litres.", "The bath is warm now."),
    ],
)
def test_what_is_of_something_else_is_not(tmp_path: Path, before: str, after: str) -> None:
    assert raised(tmp_path, before, after) == ()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("The archive has 1 TB.", "Raised to 2 TB.", "The archive: raised to 2 TB"),
        ("Upload limit: 20 MB per file.", "Cut to 15 MB per file.", "Upload limit: cut to 15 MB per file"),
        ("I have 20 GB of space.", "Raised to 30 GB of space.", "The user said: “Raised to 30 GB of space”"),
        ("It has 1 TB of space.", "Raised to 2 TB of space.", "The user said: “Raised to 2 TB of space”"),
    ],
)
def test_what_has_no_subject_gets_that_of_the_statement_before(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    first, second = chat("2026-01-01", ("user", before)), chat("2026-01-08", ("user", after))
    assert [item.text for item in find_conflicts(snapshot(tmp_path, (*first, *second)), Work())] == [told]


def test_what_a_colon_announces_is_told(tmp_path: Path) -> None:
    text = "The market day moves now: the council wants it on Tuesday."
    claims = read_claims(snapshot(tmp_path, chat("2026-01-08", ("user", text))), Work())
    assert next(text[each.span.start : each.span.end] for each in claims.said) == text


def test_each_statement_is_in_one_item_at_most(tmp_path: Path) -> None:
    days = [
        chat("2026-01-01", *(("user", text) for text in BESIDES)),
        *(
            chat(f"2026-01-0{day}", ("user", f"My resting {word} is {rate} now."))
            for day, word, rate in ((2, "pulse", 63), (3, "heart rate", 58), (4, "pulse", 54))
        ),
    ]
    claims = read_claims(snapshot(tmp_path, [each for day in days for each in day]), Work())
    found = likely.find_likely(claims.said, claims.weights)
    assert found
    used = [id(each) for pair in found for each in (pair.earlier, pair.later)]
    assert len(used) == len(set(used))


def test_nobody_is_held_to_what_another_says(tmp_path: Path) -> None:
    said = (
        *chat("2026-01-01", ("Ann", "My rent is 900 euros.")),
        *chat("2026-01-02", ("Ben", "My rent is 950 euros.")),
    )
    claims = read_claims(snapshot(tmp_path, said), Work())
    assert list(compare(claims.said, claims.weights)) == []


def test_what_is_older_replaces_nothing(tmp_path: Path) -> None:
    said = (
        *chat("2026-02-01", ("user", "My rent is 950 euros.")),
        *chat("2026-01-01", ("user", "My rent is 900 euros now.")),
    )
    claims = read_claims(snapshot(tmp_path, said), Work())
    assert list(compare(claims.said, claims.weights)) == []


@pytest.mark.parametrize(
    ("before", "after", "family"),
    [
        ("The rent is 900 euros.", "The rent is 950 euros.", "values"),
        ("The rent is 900 euros.", "The rent is 900 euros now.", "words"),
        ("The rent is 900 euros.", "The rent is high.", ""),
        ("I love coffee.", "I can't stand coffee.", "denials"),
        ("I've never been to Rome.", "I was in Rome.", "denials"),
        ("I've never been so happy.", "I was happy.", ""),
        ("我喜欢喝绿茶。", "她不喜欢喝绿茶。", ""),
        ("I live in Graz.", "My brother moved to Linz.", ""),
        # Nobody could tell later what was 900 euros.
        ("It is 900 euros for the rent.", "The rent is 950 euros now.", ""),
    ],
)
def test_two_clauses_differ_by_values_by_a_denial_or_by_words_of_change(
    tmp_path: Path, before: str, after: str, family: str
) -> None:
    said = (*chat("2026-01-01", ("user", before)), *chat("2026-01-02", ("user", after)))
    earlier, later = read_claims(snapshot(tmp_path, said), Work()).said
    assert family_of(earlier, later) == family


def test_every_weight_is_of_a_feature_that_is_worked_out() -> None:
    table = tomllib.loads(Path(likely.__file__).with_name("likely.toml").read_text(encoding="utf-8"))
    for family in ("values", "denials", "words"):
        assert set(table["model"][family]["weights"]) <= set(FEATURES)


def test_a_name_within_chinese_is_a_word() -> None:
    (clause,) = clauses_of("项目不用Quarkus了")
    assert "quarkus" in {token.stem for token in clause.tokens}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("31 March 2026", "31 March 2028", False),
        ("31 March 2026", "31 March", True),
        ("31 March", "30 March", False),
    ],
)
def test_the_same_day_of_another_year_is_another_date(one: str, other: str, same: bool) -> None:
    (first,), (second,) = values_in(one), values_in(other)
    assert first.same_as(second) is same
