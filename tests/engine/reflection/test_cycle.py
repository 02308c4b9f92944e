"""A proposal made of what the phases came up with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.catalog.shelf import ENTITIES, Shelf
from tests.engine.reflection.snapshots import chat, snapshot
from workbench.engine.catalog.lookups import Lookups
from workbench.engine.markdown.reflection_records import RejectedClaims
from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.reflection import items, kinds
from workbench.engine.reflection.cycle import (
    check_quotes,
    number,
    run_cycle,
    select,
    tokens_of,
    with_entities,
)
from workbench.engine.reflection.model import Snapshot, Work
from workbench.engine.reflection.rules import RulesMind

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


def _run(made: Snapshot, rejected: str = "") -> tuple[ReviewItem, ...]:
    claims = RejectedClaims.parse(rejected.encode())
    return run_cycle(made, RulesMind(), Work(), rejected=claims, reflection="r-001", most=25).items


WHO = chat(
    "2026-02-01", ("user", "I'm Ada Berg, a chemist, and I prefer short answers. I moved to Bergen in May.")
)


def test_the_person_is_called_by_the_name_that_the_proposal_brings(tmp_path: Path) -> None:
    made = _run(snapshot(tmp_path, WHO))

    said = {item.target: item.text for item in made}
    assert "Name: Ada Berg" in {item.text for item in made}
    assert said["core:persona"] == "Prefers short answers"
    assert said["person--ada-berg"].startswith("Ada Berg moved to Bergen")


@pytest.mark.parametrize(
    ("speaker", "name"),
    [("Ada", "Ada Berg"), ("otter", "Ada Berg"), ("小周", "周岚")],
)
def test_who_alone_speaks_in_the_logs_is_the_person(tmp_path: Path, speaker: str, name: str) -> None:
    first = "我叫周岚" if name == "周岚" else f"I'm {name}, a chemist."
    turns = (
        (speaker, first),
        ("assistant", "Noted."),
        (speaker, "I prefer short answers."),
        (speaker, "Thanks."),
    )
    made = _run(snapshot(tmp_path, chat("2026-02-01", *turns)))

    assert f"Name: {name}" in {item.text for item in made}
    assert "Prefers short answers" in {item.text for item in made if item.target == "core:persona"}


def test_who_alone_speaks_and_gives_no_name_is_called_as_in_the_logs(tmp_path: Path) -> None:
    spoken = chat("2026-02-01", *[("Ada", each) for each in ("I moved to Bergen.", "I like rye.", "Hello.")])
    made = _run(snapshot(tmp_path, spoken))

    named = next(item for item in made if item.target == "core:identity")
    assert (named.text, named.reason) == ("Name: Ada", "Nobody else speaks to the agent in these logs.")


def test_of_two_who_speak_none_is_taken_for_the_person(tmp_path: Path) -> None:
    spoken = chat(
        "2026-02-01", *[(who, f"I moved to {at}.") for who, at in (("Ada", "Bergen"), ("Bo", "Oslo"))] * 3
    )
    made = _run(snapshot(tmp_path, spoken))

    assert not [item for item in made if item.text.startswith("Name:")]


def test_a_name_that_was_rejected_is_not_used(tmp_path: Path) -> None:
    (named,) = [item for item in _run(snapshot(tmp_path, WHO)) if item.text == "Name: Ada Berg"]
    rejected = f"- `{named.id}` {named.kind} for `{named.target}`: {named.text}\n"

    made = _run(snapshot(tmp_path / "again", WHO), rejected)

    assert {item.target.partition(":")[0] for item in made} == {"core", "person--user"}
    assert not [item for item in made if "Ada" in item.text]


def test_what_was_learned_before_a_name_was_known_stays_with_what_is_learned_now(tmp_path: Path) -> None:
    files = {
        f"{ENTITIES}/person--user.md": "# person--user\n\n<!-- Label: User -->\n\n## Facts\n- User sails ^f1\n"
    }

    made = _run(snapshot(tmp_path, WHO, files=files))

    facts = [item for item in made if item.kind == "fact"]
    assert {item.target for item in facts} == {"person--user"}
    assert facts[0].text.startswith("Ada Berg moved to Bergen")


def test_what_persona_is_told_stands_without_its_speaker(tmp_path: Path) -> None:
    said = chat(
        "2026-02-01", ("user", "My name is Tom. I hate long stand-ups, keep your summaries under five lines.")
    )

    made = _run(snapshot(tmp_path, said))

    assert {item.text for item in made if item.target == "core:persona"} == {
        "Keep your summaries under five lines"
    }
    assert not [item for item in made if "name is" in item.text]


def test_a_rule_with_an_abbreviation_and_a_name_on_a_lease_are_kept(tmp_path: Path) -> None:
    said = chat(
        "2026-02-01",
        ("user", "Always answer with bullets, i.e. no prose. My name is on the lease of the flat in Porto."),
    )

    made = [item.text for item in _run(snapshot(tmp_path, said))]

    assert "Always answer with bullets, i.e. no prose" in made
    assert not [text for text in made if text.startswith("Name:")]
