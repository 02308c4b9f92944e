"""Which entities a name means: for sure, perhaps, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.catalog.shelf import ENTITIES, Shelf, entity
from workbench.engine.catalog.terms import NEAR, similarity


def fill(shelf: Shelf, **labels: str) -> None:
    for name, label in labels.items():
        shelf.write(f"{ENTITIES}/{name.replace('__', '--')}.md", entity(label))
    shelf.sync()


def resolved(shelf: Shelf, name: str, entity_type: str | None = None) -> list[tuple[str, str]]:
    matches = shelf.lookups.resolve(name, entity_type)
    return [(match.entity.id.removeprefix("entity:"), match.how) for match in matches]


@pytest.mark.parametrize("name", ["Alex Chen", "alex  chen", "ALEX CHEN", "Álex Chen", "Alex-Chen"])
def test_case_accents_and_spacing_do_not_count(shelf: Shelf, name: str) -> None:
    fill(shelf, person__alex="Alex Chen")
    assert resolved(shelf, name) == [("person--alex", "exact")]


def test_an_id_names_its_entity_with_or_without_its_kind(shelf: Shelf) -> None:
    fill(shelf, person__alex="Alex Chen")
    assert resolved(shelf, "person--alex") == [("person--alex", "exact")]
    assert resolved(shelf, "entity:person--alex") == [("person--alex", "exact")]
    assert resolved(shelf, "person--alex", "project") == []


def test_aliases_resolve_after_labels(shelf: Shelf) -> None:
    shelf.write(f"{ENTITIES}/person--alex.md", entity("Alex Chen", aliases=("Apollo",)))
    fill(shelf, project__apollo="Apollo")
    assert resolved(shelf, "apollo") == [("project--apollo", "exact"), ("person--alex", "alias")]
    assert resolved(shelf, "apollo", "person") == [("person--alex", "alias")]


def test_acronyms_resolve_both_ways(shelf: Shelf) -> None:
    fill(shelf, concept__mcp="Model Context Protocol", tool__pkce="PKCE")
    assert resolved(shelf, "MCP") == [("concept--mcp", "acronym")]
    assert resolved(shelf, "mcp") == [("concept--mcp", "acronym")]
    assert resolved(shelf, "Proof Key for Code Exchange") == [("tool--pkce", "acronym")]


def test_a_name_wins_over_an_acronym(shelf: Shelf) -> None:
    fill(shelf, tool__api="API", person__api="Anna Petra Illing")
    assert resolved(shelf, "API") == [("tool--api", "exact")]


def test_two_initials_are_an_acronym_in_capitals_alone(shelf: Shelf) -> None:
    fill(shelf, person__it="Ivan Turgenev")
    assert resolved(shelf, "it") == []
    assert resolved(shelf, "IT") == [("person--it", "acronym")]


def test_several_of_one_name_are_all_given(shelf: Shelf) -> None:
    fill(shelf, person__paris="Paris", place__paris="Paris")
    assert resolved(shelf, "Paris") == [("person--paris", "exact"), ("place--paris", "exact")]
    assert resolved(shelf, "Paris", "place") == [("place--paris", "exact")]
    assert shelf.lookups.named("Paris") is None


@pytest.mark.parametrize(
    ("known", "asked", "near"),
    [
        ("GPT-4", "GPT-5", False),
        ("GPT-4", "GPT-4o", False),
        ("GPT-4", "GPT-4 Turbo", False),
        ("iPhone 12 Pro", "iPhone 12 mini", False),
        ("Postgres 16 cluster", "Postgres 16 clustr", True),
        ("GPT-4", "GPT", False),
        ("Python 3.11", "Python 3.12", False),
        ("Python 3.11", "Python", False),
        ("OAuth PKCE", "OAuth2 PKCE flow", True),
        ("OAuth2 PKCE flow", "OAuth PKCE", True),
        ("Rocky II", "Rocky III", False),
        ("Henry IV", "Henry VI", False),
        ("C++ standard", "C# standard", False),
        ("Melanie Weber", "Melany Weber", True),
        ("Kubernetes", "Kubernets", True),
        ("Alex Chen", "Alex", True),
        ("Alex Chen", "Robert Chen", False),
        ("Garden plan", "Budget plan", False),
        ("Größenwahn", "Grossenwahn", False),
        ("混合检索方案", "混合检索方", True),
        ("An A", "a", False),
    ],
)
def test_near_names(shelf: Shelf, known: str, asked: str, near: bool) -> None:
    fill(shelf, concept__known=known)
    found = resolved(shelf, asked)
    assert [how for _, how in found if how == "near"] == (["near"] if near else [])


def test_near_names_are_no_answer_where_one_fits(shelf: Shelf) -> None:
    fill(shelf, tool__one="Kubernetes", tool__two="Kubernets")
    assert resolved(shelf, "kubernets") == [("tool--two", "exact")]


def test_near_names_are_found_among_many(shelf: Shelf) -> None:
    for number in range(300):
        shelf.write(f"{ENTITIES}/concept--{number}.md", entity(f"Memory garden {number:03}a plan"))
    fill(shelf, person__m="Melanie Weber")
    assert resolved(shelf, "Melany Weber") == [("person--m", "near")]
    assert len(resolved(shelf, "Memory garden plans")) <= 5


@pytest.mark.parametrize("name", ["", " ", "?!", "--", "a--b", "entity:", "x" * 100_000, '"', "\0", "ab"])
def test_what_is_no_name_means_nothing(shelf: Shelf, name: str) -> None:
    fill(shelf, person__alex="Alex Chen")
    assert resolved(shelf, name) == []
    assert shelf.lookups.named(name) is None


def test_a_name_of_symbols_is_a_name(shelf: Shelf) -> None:
    fill(shelf, concept__heart="❤️")
    assert resolved(shelf, "❤️") == [("concept--heart", "exact")]
    assert resolved(shelf, "💔") == []


def test_marks_tell_languages_apart(shelf: Shelf) -> None:
    fill(shelf, tool__c="C", tool__cpp="C++", tool__csharp="C#")
    assert resolved(shelf, "c++") == [("tool--cpp", "exact")]
    assert resolved(shelf, "C") == [("tool--c", "exact")]


class TestMerged:
    @pytest.fixture
    def merged(self, shelf: Shelf) -> Shelf:
        shelf.write(f"{ENTITIES}/person--alex.md", entity("Alex Chen", aliases=("Lexi",)))
        shelf.write(f"{ENTITIES}/person--lexi.md", entity("Lexi", header="Merged into: [[person--alex]]"))
        shelf.write(f"{ENTITIES}/person--lex.md", entity("Lexington", header="Merged into: [[person--lexi]]"))
        shelf.sync()
        return shelf

    def test_its_names_lead_to_the_one_that_is_left(self, merged: Shelf) -> None:
        assert resolved(merged, "Lexi") == [("person--alex", "alias")]
        assert resolved(merged, "Lexington") == [("person--alex", "alias")]
        named = merged.lookups.named("lexi")
        assert named is not None
        assert named.id == "entity:person--alex"

    def test_it_is_listed_no_more_but_found_by_its_id(self, merged: Shelf) -> None:
        assert [record.id for record in merged.lookups.entities()] == ["entity:person--alex"]
        assert merged.lookups.entity("entity:person--lexi") is not None
        assert resolved(merged, "person--lexi") == [("person--lexi", "exact")]
        assert merged.lookups.absorbed("person--alex") == ("entity:person--lexi",)
        assert merged.lookups.absorbed("entity:person--lexi") == ("entity:person--lex",)

    def test_it_is_no_memory(self, merged: Shelf) -> None:
        assert merged.ids() == ["entity:person--alex"]
        assert merged.found("Lexington") == []

    def test_a_circle_of_merges_ends(self, shelf: Shelf) -> None:
        shelf.write(f"{ENTITIES}/person--a.md", entity("Anna", header="Merged into: [[person--b]]"))
        shelf.write(f"{ENTITIES}/person--b.md", entity("Bea", header="Merged into: [[person--a]]"))
        shelf.sync()
        assert len(resolved(shelf, "Anna")) == 1

    def test_merged_into_nothing_it_stands_for_itself(self, shelf: Shelf) -> None:
        shelf.write(f"{ENTITIES}/person--a.md", entity("Anna", header="Merged into: [[person--gone]]"))
        shelf.sync()
        assert resolved(shelf, "Anna") == [("person--a", "alias")]

    def test_taken_apart_again_it_is_itself(self, merged: Shelf) -> None:
        merged.write(f"{ENTITIES}/person--lexi.md", entity("Lexi Two"))
        merged.sync()
        assert resolved(merged, "Lexi Two") == [("person--lexi", "exact")]
        assert resolved(merged, "Lexington") == [("person--lexi", "alias")]


@given(st.text(max_size=30), st.text(max_size=30))
def test_similarity_is_a_share_and_the_same_both_ways_round_about(one: str, other: str) -> None:
    there, back = similarity(one, other), similarity(other, one)
    assert 0 <= there <= 1
    assert (there == 0.0) == (back == 0.0)


@given(st.text(alphabet="abcdefg ", min_size=3, max_size=20), st.integers(0, 999), st.integers(0, 999))
def test_names_that_differ_in_a_number_are_never_near(name: str, one: int, other: int) -> None:
    assert (similarity(f"{name} {one}", f"{name} {other}") < NEAR) or one == other
