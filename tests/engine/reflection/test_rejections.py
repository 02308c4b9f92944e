"""What a person rejected stays away, whatever it comes back as, until something new speaks for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given

from tests.engine.markdown.hostile_text import worded
from workbench.engine.markdown.reflection_records import RejectedClaims
from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.reflection import items
from workbench.engine.reflection.rejections import (
    claim_key,
    hold_back,
    moment_in_id,
    rejected_before,
    remember,
    warnings_of,
)

OLD = Evidence("episode:2026-02-01:10:00", "I prefer tea")
ALSO_OLD = Evidence("episode:2026-01-20:10:00", "tea for me")
NEWER = Evidence("episode:2026-02-05:09:30", "tea again")
WHEN = "2026-02-03T09:00:00+01:00"


def numbered(item: ReviewItem, number: int = 2) -> ReviewItem:
    return replace(item, id=f"r-003.{number}", decision="rejected")


def rejecting(*rejected: ReviewItem) -> RejectedClaims:
    numbers = [numbered(item, at) for at, item in enumerate(rejected, 2)]
    return RejectedClaims.parse(remember(None, numbers, "r-003", WHEN))


def tea(
    text: str = "Prefers tea over coffee", *evidence: Evidence, subject: str = "person--alex"
) -> ReviewItem:
    return items.fact(subject, text, evidence or (OLD,), reason="said so")


@pytest.mark.parametrize(
    "again",
    [
        tea(),
        tea("prefers TEA, over coffee!"),
        tea("Over coffee, Alex prefers tea."),
        tea("The user currently prefers tea over coffee"),
        tea("Prefers tea over coffee", ALSO_OLD),
        items.supersession("person--alex", "Prefers coffee", "Prefers tea over coffee", [OLD], reason="x"),
        items.supersession(
            "entity:person--alex#^f1", "Prefers coffee", "Prefers tea over coffee", [OLD], reason="x"
        ),
        items.core_change("core:identity", "Prefers tea over coffee", [OLD], reason="x"),
        items.core_change("core:identity:drink", "Alex prefers tea over coffee", [OLD], reason="x"),
        items.promotion("entity:person--alex#^f1", "Alex prefers tea over coffee", [OLD], reason="x"),
        items.insight("Insights", "Alex prefers tea over coffee.", [OLD], reason="x"),
        items.contradiction(
            "person--alex", "Tea?", "Drinks coffee", "Prefers tea over coffee", [OLD], reason="x"
        ),
    ],
    ids=lambda item: f"{item.kind}: {item.text}",
)
def test_no_other_words_and_no_other_kind_bring_it_back(again: ReviewItem) -> None:
    found = hold_back([again], rejecting(tea()))
    assert found.kept == ()
    assert found.held == (again,)


@pytest.mark.parametrize(
    "other",
    [
        tea("Does not prefer tea over coffee"),
        tea(subject="person--maria"),
        tea("Owns three bicycles"),
        items.archive("episode:2026-02-01:10:00", "Prefers tea over coffee", [], reason="x", score=0.01),
        items.question("Where does Alex live?", [OLD], reason="x"),
    ],
    ids=lambda item: f"{item.kind}: {item.text}",
)
def test_another_claim_is_none_of_its_business(other: ReviewItem) -> None:
    assert [item.text for item in hold_back([other], rejecting(tea())).kept] == [other.text]


def test_numbers_tell_claims_apart() -> None:
    rejected = rejecting(tea("The deadline is 15 March"))
    near = hold_back([tea("The deadline is 30 March")], rejected)
    assert dict(near.kept[0].fields)[items.RESEMBLES] == (
        "r-003.2 on 2026-02-03, rejected: “The deadline is 15 March”"
    )
    assert hold_back([tea("Deadline: March 15th")], rejected).kept == ()
    rich = rejecting(tea("It cost 10,000 crowns"))
    assert hold_back([tea("It cost 10000 crowns")], rich).kept == ()
    assert hold_back([tea("It cost 1,000 crowns")], rich).held == ()


def test_new_evidence_brings_it_back_with_a_flag() -> None:
    found = hold_back([tea("Alex prefers tea over coffee", OLD, NEWER)], rejecting(tea()))
    assert found.held == ()
    assert dict(found.kept[0].fields)[items.RESEMBLES] == (
        "rejected as r-003.2 on 2026-02-03; new: episode:2026-02-05:09:30"
    )
    assert hold_back(found.kept, rejecting(tea())).kept == found.kept


def test_an_old_memory_that_was_never_cited_is_no_new_evidence() -> None:
    assert hold_back([tea("Prefers tea over coffee", ALSO_OLD)], rejecting(tea())).kept == ()


def test_evidence_without_a_time_is_not_new_unless_somebody_knows_its_time() -> None:
    undated = Evidence("file:memory/notes.md#L3-L3", "tea")
    again = tea("Prefers tea over coffee", undated)
    assert hold_back([again], rejecting(tea())).kept == ()
    later = datetime(2026, 2, 4, tzinfo=UTC)
    assert len(hold_back([again], rejecting(tea()), lambda _: later).kept) == 1
    assert hold_back([again], rejecting(tea()), lambda _: None).kept == ()


def test_rejected_twice_it_takes_evidence_newer_than_both() -> None:
    first = remember(None, [numbered(tea())], "r-003", WHEN)
    second = remember(
        first, [replace(tea("Prefers tea over coffee", NEWER), id="r-004.1")], "r-004", "2026-02-06"
    )
    rejected = RejectedClaims.parse(second)
    assert [claim.id for claim in rejected.claims] == ["r-003.2", "r-004.1"]
    assert hold_back([tea("Prefers tea over coffee", NEWER)], rejected).kept == ()
    newest = Evidence("episode:2026-02-07:09:30", "tea!")
    assert len(hold_back([tea("Prefers tea over coffee", newest)], rejected).kept) == 1


def test_what_has_no_date_stays_away_for_good() -> None:
    by_hand = RejectedClaims.parse(b"- `mine` fact for [[person--alex]]: Prefers tea over coffee\n")
    assert hold_back([tea("Prefers tea over coffee", NEWER)], by_hand).kept == ()


def test_what_needs_a_rejected_entity_stays_away_with_it() -> None:
    entity = items.entity("tool--kettle", "Kettle", [OLD], reason="x")
    fact = items.fact("tool--kettle", "Boils in a minute", [OLD], reason="x", needs=["tool--kettle"])
    link = items.relation("person--alex", "uses", "tool--kettle", [OLD], reason="x", needs=["tool--kettle"])
    rejected = rejecting(entity)
    together = hold_back([entity, fact, link], rejected)
    assert together.kept == ()
    # Nobody proposes the entity this time, and still nothing of it comes.
    assert hold_back([fact, link], rejected).kept == ()
    renamed = items.entity("tool--the-kettle", "The Kettle", [OLD], reason="x")
    assert hold_back([renamed], rejected).kept == ()
    other_type = items.entity("concept--kettle", "Kettle", [OLD], reason="x")
    assert items.RESEMBLES in dict(hold_back([other_type], rejected).kept[0].fields)


def test_a_merge_is_no_way_around() -> None:
    rejected = rejecting(tea(subject="person--al"))
    merged = {"person--alex": ("entity:person--al",)}
    assert hold_back([tea()], rejected).held == ()
    assert hold_back([tea()], rejected, absorbed=lambda name: merged.get(name, ())).kept == ()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (items.merge("a--x", "a--y", [OLD], reason="x"), items.merge("a--y", "a--x", [OLD], reason="x")),
        (
            items.archive("episode:2025-12-15:10:00", "CSS bug", [], reason="x", score=0.04),
            items.archive("episode:2025-12-15:10:00", "That bug", [], reason="x", score=0.03),
        ),
        (
            items.demotion("core:active-context:old", "The old plan", [], reason="x"),
            items.archive("core:active-context:old", "The old plan", [], reason="x", score=0.02),
        ),
        (
            items.relation("person--alex", "prefers", "drink--tea", [OLD], reason="x"),
            items.fact("person--alex", "Prefers tea", [OLD], reason="x"),
        ),
        (
            items.contradiction(
                "person--alex", "Which?", "Lives in Oslo", "Lives in Bergen", [OLD], reason="x"
            ),
            items.supersession("person--alex", "Lives in Bergen", "Lives in Oslo", [OLD], reason="x"),
        ),
        (
            items.procedure("procedure:tea", "Make tea", ["Boil", "Pour"], [OLD], reason="x"),
            items.procedure("procedure:making-tea", "Make tea", ["Boil", "Pour"], [ALSO_OLD], reason="x"),
        ),
        (
            items.vault_pin("episode:1", "a", [], reason="x"),
            items.vault_pin("episode:1", "b", [], reason="x"),
        ),
        (items.question("Still relevant?", [], reason="x"), items.question("still relevant", [], reason="y")),
    ],
    ids=lambda item: item.kind,
)
def test_every_kind_knows_itself_again(first: ReviewItem, again: ReviewItem) -> None:
    assert hold_back([again], rejecting(first)).kept == ()


def test_a_claim_key_is_shared_by_what_says_the_same() -> None:
    keys = {claim_key(item) for item in (tea(), tea("Over coffee, Alex prefers tea"))}
    assert len(keys) == 1
    assert claim_key(tea("Prefers coffee")) not in keys
    assert claim_key(items.archive("episode:1", "x", [], reason="", score=0)) != claim_key(
        items.archive("episode:2", "x", [], reason="", score=0)
    )


def test_whoever_says_it_again_is_told() -> None:
    rejected = rejecting(tea())
    text = "We met at noon. Alex prefers tea over coffee. The ferry was late."
    (claim,) = rejected_before(text, ["entity:person--alex"], rejected)
    assert warnings_of([claim]) == (
        "This was rejected by the person as r-003.2 on 2026-02-03: “Prefers tea over coffee”.",
    )
    assert rejected_before("Alex prefers tea over coffee", [], rejected) == (claim,)
    assert rejected_before("Maria prefers tea over coffee", ["person--maria"], rejected) == ()
    assert rejected_before("The ferry was late", [], rejected) == ()


def test_the_file_keeps_ids_and_dates_but_no_words_of_the_evidence() -> None:
    content = remember(None, [numbered(tea())], "r-003", WHEN).decode()
    assert "I prefer tea" not in content
    (claim,) = RejectedClaims.parse(content.encode()).claims
    assert (claim.id, claim.time, claim.reflection) == ("r-003.2", WHEN, "r-003")
    assert claim.item.evidence == (Evidence("episode:2026-02-01:10:00", ""),)
    assert (claim.item.kind, claim.item.target, claim.item.text) == ("fact", "person--alex", tea().text)
    again = remember(content.encode(), [numbered(tea())], "r-003", WHEN)
    assert again.decode() == content


def test_ids_tell_when_a_memory_was_made() -> None:
    assert moment_in_id("episode:2026-02-05:09:30#2") == datetime(2026, 2, 5, 9, 30)  # noqa: DTZ001 - local
    assert moment_in_id("file:memory/2026-02-05.md#L3-L5") == datetime(2026, 2, 5)  # noqa: DTZ001 - local
    for other in ("file:memory/notes.md", "core:identity:name", "episode:2026-99-99:09:30", "nonsense"):
        assert moment_in_id(other) is None


@given(text=worded, other=worded)
def test_any_words_are_known_again(text: str, other: str) -> None:
    rejected = rejecting(tea(text))
    assert hold_back([tea(text)], rejected).kept == ()
    found = hold_back([tea(other)], rejected)
    assert len(found.kept) + len(found.held) == 1
    rejected_before(other, ["person--alex"], rejected)
