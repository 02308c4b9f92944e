"""Entities found or made, and the facts and relations between them."""

from __future__ import annotations

import pytest

from tests.engine.memory.library import ALEX, NOW, SETTINGS, Library, entity
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound
from workbench.engine.memory.entities import EntityFiles, EntityName, parse_entity
from workbench.engine.memory.graph import (
    Origin,
    add_fact,
    add_relation,
    read_vocabulary,
    retire_stated,
    retire_statement,
)
from workbench.engine.memory.graph_changes import plan_link, plan_rename, plan_unlink

EPISODE = "episode:2026-02-02:14:30"
FOLDER = "memory/graph/entities/"


def library(**labels: str) -> Library:
    """Return entities by slug: `person__alex="Alex"`."""
    files = {}
    for name, label in labels.items():
        kind, _, rest = name.partition("__")
        files[f"{FOLDER}{kind}--{rest.replace('_', '-')}.md"] = entity(label, kind=kind)
    return Library(files)


def carry_out(files: EntityFiles, to: Library) -> None:
    to.apply(files.draft.plan(files.draft.changes()[0].action, "x", "x", None))


@pytest.mark.parametrize("name", ["Alex", "alex", "ALEX ", "Lexi", "AS"])
def test_names_aliases_and_acronyms_resolve(name: str) -> None:
    known = Library({ALEX: entity("Alex", "## Aliases\n- Lexi\n- Alexander Smith\n")})
    files = known.files()
    resolved = files.resolve(EntityName(name, "person"))
    assert (resolved.id, resolved.created, resolved.questions) == ("person--alex", False, ())
    assert files.draft.changes() == ()


@pytest.mark.parametrize(
    ("known", "name"),
    [("GPT-4", "GPT-5"), ("Python 3.11", "Python 3.12"), ("Python", "Python 3"), ("C", "C++")],
)
def test_versions_are_different_things_without_a_question(known: str, name: str) -> None:
    held = library(tool__known=known)
    resolved = held.files().resolve(EntityName(name, "tool"))
    assert resolved.created
    assert resolved.questions == ()


def test_a_near_name_becomes_a_question_and_never_a_merge() -> None:
    held = library(person__john_smith="John Smith")
    files = held.files()
    resolved = files.resolve(EntityName("Jon Smith", "person"))
    carry_out(files, held)
    assert resolved.id == "person--jon-smith"
    assert resolved.questions == ("Is [[person--jon-smith]] the same as [[person--john-smith]]?",)
    assert (
        held.entity_file("person--jon-smith").questions[0].text
        == "Is this the same as [[person--john-smith]]?"
    )
    assert held.entity_file("person--john-smith").questions == ()


def test_names_with_one_slug_are_kept_apart() -> None:
    held = library(tool__c="C")
    files = held.files()
    assert files.resolve(EntityName("C++", "tool")).id == "tool--c-2"
    assert files.resolve(EntityName("C#", "tool")).id == "tool--c-3"
    assert files.resolve(EntityName("C++", "tool")).id == "tool--c-2"


def test_a_name_of_another_type_is_the_known_one_only_where_the_type_was_guessed() -> None:
    held = library(concept__apollo="Apollo")
    assert held.files().resolve(EntityName("Apollo", "project")).id == "concept--apollo"
    assert held.files().resolve(EntityName("Apollo", "project", given=True)).id == "project--apollo"


def test_of_two_with_one_name_the_first_is_taken_and_a_person_asked() -> None:
    held = library(person__alex="Alex", person__alex_2="Alex")
    resolved = held.files().resolve(EntityName("Alex", "person"))
    assert resolved.id == "person--alex"
    assert "[[person--alex-2]]" in resolved.questions[0]
    with pytest.raises(Ambiguous, match="person--alex-2"):
        held.files().find("Alex")


def test_an_acronym_of_two_is_no_name_of_either() -> None:
    held = library(project__red_fox="Red Fox", project__rapid_fire="Rapid Fire")
    assert held.files().resolve(EntityName("RF", "project")).created


def test_an_entity_that_the_lookup_has_not_seen_yet_is_not_made_twice() -> None:
    held = library()
    files = held.files()
    held.contents[ALEX] = entity("Alex").encode()
    held._entities = list  # type: ignore[method-assign]  # a lookup that is behind the files
    assert not files.resolve(EntityName("Alex", "person")).created


@pytest.mark.parametrize("text", ["project:Apollo", "PROJECT: Apollo"])
def test_entities_are_given_by_type_and_name(text: str) -> None:
    assert parse_entity(text) == EntityName("Apollo", "project", given=True)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("preference:Source quality", EntityName("Source quality", "preference", given=True)),
        ("Board game: Go", EntityName("Go", "board-game", given=True)),
        ("偏好:深色模式", EntityName("深色模式", "偏好", given=True)),
        ("procedure--refactoring-workflow", EntityName("procedure--refactoring-workflow", "", given=True)),
        ("entity:note--mira-holm", EntityName("note--mira-holm", "", given=True)),
    ],
)
def test_any_short_word_is_a_type_where_somebody_names_an_entity(text: str, named: EntityName) -> None:
    assert parse_entity(text) == named


def test_a_misspelt_type_is_told() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_entity("persn:Alex")
    assert "Did you mean person:Alex?" in (refused.value.remedy or "")


@pytest.mark.parametrize(
    "text",
    [
        "Apollo", "projects:Apollo", "project:", "person--../../x", "project:[[|]]", "episode:2026-02-02:14:30",
        "core:identity:name", "vault:key", "source:import",
        "https://example.com", "9:30", f"{'long ' * 10}:Apollo",
    ],
)  # fmt: skip
def test_other_entities_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_entity(text)


def test_a_fact_says_since_when_and_where_from() -> None:
    held = library(person__alex="Alex")
    files = held.files()
    stated = add_fact(files, "person--alex", "Prefers\nhybrid approaches", Origin((EPISODE,)))
    carry_out(files, held)
    fact = held.entity_file("person--alex").facts[0]
    assert stated.id == f"entity:person--alex#^{fact.block_id}"
    assert f"- Prefers hybrid approaches (since 2026-02-02, from {EPISODE}) ^{fact.block_id}" in held.text(
        ALEX
    )


@pytest.mark.parametrize(
    "text",
    [
        "a ^f7k2",
        "a (since 2020-01-01) ^x",
        "# heading",
        "- - nested",
        "[ ] task",
        "```",
        "<!-- hidden",
        "a | b",
        "---",
    ],
)
def test_a_fact_reads_back_whatever_it_says(text: str) -> None:
    held = library(person__alex="Alex")
    files = held.files()
    add_fact(files, "person--alex", text, Origin((EPISODE,)))
    add_fact(files, "person--alex", "plain", Origin((EPISODE,)))
    carry_out(files, held)
    assert [fact.text for fact in held.entity_file("person--alex").facts] == [text, "plain"]


def test_a_fact_that_holds_is_not_stated_twice() -> None:
    held = library(person__alex="Alex")
    files = held.files()
    first = add_fact(files, "person--alex", "Likes tea.", Origin())
    again = add_fact(files, "person--alex", "likes TEA", Origin())
    assert (again.id, again.fresh) == (first.id, False)


def test_a_superseded_fact_stays_readable_and_names_its_successor() -> None:
    held = library(person__alex="Alex")
    files = held.files()
    add_fact(files, "person--alex", "Lives in Bonn", Origin((EPISODE,), since="2026-01-01"))
    new = add_fact(files, "person--alex", "Lives in Kiel", Origin((EPISODE,)))
    retire_stated(files, "person--alex", "Lives in Bonn", by=new.id.partition("#^")[2])
    carry_out(files, held)
    file = held.entity_file("person--alex")
    assert [fact.text for fact in file.facts] == ["Lives in Kiel"]
    retired = file.retired[0]
    assert (retired.provenance.since, retired.provenance.until) == ("2026-01-01", "2026-02-02")
    assert f"entity:person--alex#^{retired.provenance.successor_block}" == new.id


def test_retiring_needs_a_fact_that_holds() -> None:
    held = library(person__alex="Alex")
    files = held.files()
    fact = add_fact(files, "person--alex", "Lives in Bonn", Origin())
    retire_statement(files, fact.id)
    with pytest.raises(NotFound):
        retire_statement(files, fact.id)
    with pytest.raises(NotFound):
        retire_statement(files, "entity:person--alex#^nope")


def test_links_are_made_by_the_vocabulary_and_in_one_direction() -> None:
    held = library(person__alex="Alex", project__apollo="Apollo", tool__git="Git")
    link = plan_link(held.files(), SETTINGS, "Alex", "Develops", "Apollo", Origin((EPISODE,)))
    assert link.summary == "added relation develops → project--apollo"
    held.apply(link)
    assert "- develops: [[project--apollo]] (confidence high, since 2026-02-02" in held.text(ALEX)
    assert plan_link(held.files(), SETTINGS, "Alex", "develops", "Apollo", Origin()).changes == ()
    held.apply(plan_link(held.files(), SETTINGS, "Apollo", "uses", "Git", Origin()))
    assert plan_link(held.files(), SETTINGS, "Git", "used-by", "Apollo", Origin()).changes == ()
    with pytest.raises(InvalidInput) as caught:
        plan_link(held.files(), SETTINGS, "Alex", "mentors", "Apollo", Origin())
    assert "relations.md" in str(caught.value)
    with pytest.raises(InvalidInput, match="itself"):
        plan_link(held.files(), SETTINGS, "Alex", "uses", "person--alex", Origin())


def test_the_workspaces_own_relations_are_known() -> None:
    held = library(person__alex="Alex", project__apollo="Apollo")
    held.contents["memory/graph/relations.md"] = b"# Relation Types\n\n## Own\n- `mentors` / `mentored-by`\n"
    assert plan_link(held.files(), SETTINGS, "Alex", "mentors", "Apollo", Origin()).changes


def test_unlinking_finds_the_relation_in_whichever_file_it_is_written() -> None:
    held = library(tool__git="Git", project__apollo="Apollo")
    before = dict(held.contents)
    held.apply(plan_link(held.files(), SETTINGS, "Apollo", "uses", "Git", Origin()))
    held.apply(plan_unlink(held.files(), SETTINGS, "Git", "used-by", "Apollo"))
    assert held.entity_file("project--apollo").relations == ()
    assert held.contents["memory/graph/entities/tool--git.md"] == before["memory/graph/entities/tool--git.md"]
    with pytest.raises(NotFound):
        plan_unlink(held.files(), SETTINGS, "Apollo", "uses", "Git")


def test_an_opposite_that_stands_already_is_enough() -> None:
    held = library(tool__git="Git", project__apollo="Apollo")
    files = held.files()
    vocabulary = read_vocabulary(held, SETTINGS)
    add_relation(files, vocabulary, "project--apollo", "uses", "tool--git", Origin())
    assert not add_relation(files, vocabulary, "tool--git", "used-by", "project--apollo", Origin()).fresh


def test_a_renamed_entity_keeps_its_id_and_answers_to_its_old_name() -> None:
    held = library(person__alex="Alex")
    held.apply(plan_rename(held.files(), "Alex", "Alexandra Smith"))
    file = held.entity_file("person--alex")
    assert (file.label, file.aliases) == ("Alexandra Smith", ("Alex",))
    assert held.files().find("Alex").id == held.files().find("alexandra smith").id == "person--alex"
    held.apply(plan_rename(held.files(), "Alex", "Alex"))
    back = held.entity_file("person--alex")
    assert (back.label, back.aliases) == ("Alex", ("Alexandra Smith",))


def test_an_entity_without_a_header_can_be_renamed() -> None:
    held = Library({ALEX: "# person--alex\n\n## Facts\n- One\n"})
    held.apply(plan_rename(held.files(), "person--alex", "Alexandra"))
    file = held.entity_file("person--alex")
    assert (file.label, [fact.text for fact in file.facts]) == ("Alexandra", ["One"])


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    held = library(person__john_smith="John Smith")
    with pytest.raises(NotFound) as caught:
        held.files().find("Jon Smith")
    assert "person--john-smith" in (caught.value.remedy or "")
    assert NOW.tzinfo is not None


@pytest.mark.parametrize("text", ["Re: budget", "people:Al", "Fwd: the minutes"])
def test_subjects_of_letters_and_plurals_are_no_entity_types(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_entity(text)
