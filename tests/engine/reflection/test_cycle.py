"""A proposal made of what the phases came up with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.catalog.shelf import Shelf
from workbench.engine.catalog.lookups import Lookups
from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.reflection import items, kinds
from workbench.engine.reflection.cycle import check_quotes, number, select, tokens_of, with_entities

SOURCES = {"episode:2026-02-01:10:00": "We moved to\n  Hetzner on Friday."}
PROOF = (Evidence("episode:2026-02-01:10:00", "moved to Hetzner"),)


def _fact(text: str, *, about: str = "project--tide", needs: tuple[str, ...] = ()) -> ReviewItem:
    return items.fact(about, text, PROOF, reason="It was said.", needs=needs)


@pytest.mark.parametrize(
    ("evidence", "dropped"),
    [
        (PROOF, 0),
        ((Evidence("episode:2026-02-01:10:00", "moved to AWS"),), 1),
        ((Evidence("episode:2026-02-01:11:00", "moved to Hetzner"),), 1),
        ((*PROOF, Evidence("episode:2026-02-01:10:00", "moved to AWS")), 1),
        ((Evidence("episode:2026-02-01:10:00", " "),), 1),
        ((), 1),
    ],
)
def test_what_quotes_nothing_true_is_dropped(evidence: tuple[Evidence, ...], dropped: int) -> None:
    item = items.fact("project--tide", "Tide runs at Hetzner", evidence, reason="It was said.")

    checked = check_quotes([item], SOURCES.get)

    assert (len(checked.items), checked.dropped) == (1 - dropped, dropped)


@pytest.fixture
def graph(tmp_path: Path) -> Lookups:
    shelf = Shelf(tmp_path)
    shelf.write("memory/graph/entities/project--tide.md", "# project--tide\n")
    shelf.catalog.sync()
    return Lookups(shelf.catalog)


def test_unknown_entities_are_proposed_once_and_known_ones_not(graph: Lookups) -> None:
    first = _fact("Ines likes tea", about="person--ines", needs=("person--ines",))
    second = _fact("Ines likes rain", about="person--ines", needs=("person--ines", "project--tide"))

    settled = with_entities([first, second], graph, lambda target: target.partition("--")[2].title())

    entity, *facts = settled
    assert (entity.kind, entity.target, entity.text) == ("entity", "person--ines", "Ines")
    assert [fact.needs for fact in facts] == [("person--ines",), ("person--ines",)]


def test_an_entity_that_is_known_is_not_proposed(graph: Lookups) -> None:
    assert with_entities([items.entity("project--tide", "Tide", PROOF, reason="Named.")], graph, str) == ()


def test_a_chosen_item_brings_the_entity_it_needs() -> None:
    entity = items.entity("person--ines", "Ines", PROOF, reason="Named.")
    wanted = [_fact(f"Fact {n}") for n in range(20)] + [entity, _fact("Last", needs=("person--ines",))]

    few = select(wanted, 10, 10_000)

    assert len(few.items) == 10
    assert len(few.left) == len(wanted) - 10
    assert all(need in {item.target for item in few.items} for item in few.items for need in item.needs)


def test_no_section_crowds_out_another() -> None:
    many = [_fact(f"Fact {n}") for n in range(100)]
    asked = [items.question("Is it still true?", PROOF, reason="It is old.")]

    chosen = select([*many, *asked], 20, 10_000).items

    assert len(chosen) == 20
    assert kinds.QUESTIONS in {item.section for item in chosen}


def test_the_budget_of_tokens_is_kept() -> None:
    many = [_fact(f"Fact {n} " + "word " * 50) for n in range(30)]

    chosen = select(many, 30, 400)

    assert 0 < sum(map(tokens_of, chosen.items)) <= 400
    assert len(chosen.left) == 30 - len(chosen.items)


def test_numbers_follow_the_order_and_needs_name_items() -> None:
    entity = items.entity("person--ines", "Ines", PROOF, reason="Named.")
    fact = _fact("Ines likes tea", about="person--ines", needs=("person--ines",))

    first, second = number([entity, fact], "r-012")

    assert (first.id, second.id, second.needs) == ("r-012.1", "r-012.2", ("r-012.1",))
