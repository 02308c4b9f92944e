"""Questions about memories, facts, relations, links and problems."""

from __future__ import annotations

import pytest

from tests.engine.catalog.shelf import ENTITIES, Shelf, day, entity, episode, furnish


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    furnish(shelf)
    return shelf


def test_memories_by_id_store_and_file(filled: Shelf) -> None:
    assert filled.memory("core:identity:name").text == "Name: Ada"
    assert filled.lookups.memory("core:identity:nobody") is None
    assert [each.id for each in filled.lookups.memories() if each.store == "core"] == [
        "core:identity:name",
        "core:persona:writes-short-answers",
    ]
    assert [r.start_line for r in filled.lookups.memories_in("memory/episodes/2026-02-02.md")] == [3, 6, 9]
    assert filled.lookups.count() == len(filled.ids()) == 8
    assert filled.lookups.count("episodic") == 3


def test_titles_are_of_the_stores_that_are_asked_for(filled: Shelf) -> None:
    wanted = [each for each in filled.lookups.memories() if each.store in ("semantic", "vault")]
    assert any(each.store == "semantic" for each in wanted)
    assert filled.lookups.titles(("semantic", "vault")) == {each.id: each.title for each in wanted}
    assert filled.lookups.titles(()) == {}


def test_a_record_comes_back_as_it_was_read(filled: Shelf) -> None:
    from workbench.engine.catalog.file_rows import extract

    for path in ("MEMORY.md", "memory/episodes/2026-02-02.md", f"{ENTITIES}/project--apollo.md"):
        rows = extract(path, (filled.root / path).read_bytes(), filled.catalog.zone)
        stored = filled.lookups.memories_in(path)
        assert [repr(record) for record in stored] == [
            repr(record).replace(repr(record.moment), repr(stored[at].moment))
            for at, record in enumerate(rows.memories)
        ]
        assert [record.moment for record in stored] == [record.moment for record in rows.memories]
        assert [filled.lookups.entity(known.id) for known in rows.entities] == list(rows.entities)
        assert [fact for known in rows.entities for fact in filled.lookups.facts_of(known.id)] == list(
            rows.facts
        )


def test_facts_keep_what_is_known_of_them(filled: Shelf) -> None:
    facts = filled.lookups.facts_of("entity:project--apollo")
    assert [(fact.id.partition("#")[2], fact.retired) for fact in facts] == [
        ("^f1", False),
        ("^f2", False),
        ("^f0", True),
    ]
    old = filled.lookups.fact("entity:project--apollo#^f0")
    assert old is not None
    assert (old.since, old.until, old.superseded_by) == (
        "2026-01-01",
        "2026-02-01",
        "entity:project--apollo#^f1",
    )
    assert filled.lookups.fact("entity:project--apollo#^f9") is None


def test_relations_are_seen_from_both_ends(filled: Shelf) -> None:
    around = [(edge.from_, edge.to) for edge in filled.lookups.edges_of("entity:project--apollo")]
    assert around == [
        ("entity:project--apollo", "entity:tool--git"),
        ("entity:project--apollo", "entity:project--moon"),
        ("entity:tool--git", "entity:project--apollo"),
    ]
    assert len(filled.lookups.edges()) == 3
    asked = ["entity:tool--git", "entity:project--apollo", "entity:nobody"]
    assert filled.lookups.edges_among(asked) == filled.lookups.edges()
    assert filled.lookups.edges_among(asked[:1]) == filled.lookups.edges_of(asked[0])
    assert filled.lookups.edges_among(asked[2:]) == ()
    assert filled.lookups.entities_of(asked) == {each: filled.lookups.entity(each) for each in asked[:2]}


def test_names_are_found_by_pieces_of_them(shelf: Shelf) -> None:
    shelf.write(f"{ENTITIES}/project--tern.md", entity("Tern Ledger System"))
    shelf.write(f"{ENTITIES}/project--tide.md", entity("潮汐观测系统"))
    shelf.write(f"{ENTITIES}/project--old.md", entity("Old Ledger", header="Merged into: [[project--tern]]"))
    shelf.sync()

    def held(*pieces: str) -> list[tuple[str, str]]:
        return [(entity_id, name) for name, entity_id, _ in shelf.lookups.names_with(pieces)]

    assert held("tern") == [("entity:project--tern", "Tern Ledger System")]
    assert sorted(held("ledger")) == [
        ("entity:project--tern", "Old Ledger"),
        ("entity:project--tern", "Tern Ledger System"),
    ]
    assert {kind for _, _, kind in shelf.lookups.names_with(["ledger"])} == {"project"}
    assert held("观测") == held("观测系") == [("entity:project--tide", "潮汐观测系统")]
    assert held("tern", "ledger")[0] == ("entity:project--tern", "Tern Ledger System")
    assert held('"; DROP', "\0", "x", "") == held() == []


def test_links_and_mentions(filled: Shelf) -> None:
    assert filled.lookups.mentions("entity:project--apollo") == (
        "entity:tool--git",
        "episode:2026-02-02:11:00",
    )
    assert filled.lookups.mentioning_files("entity:project--apollo") == (
        "memory/episodes/2026-02-02.md",
        f"{ENTITIES}/tool--git.md",
    )
    assert filled.lookups.links_from("episode:2026-02-02:11:00") == (
        "entity:project--apollo",
        "episode:2026-01-01:09:00",
    )
    assert filled.lookups.mentions("episode:2026-02-02:09:00") == (
        "entity:project--apollo",
        "entity:project--apollo#^f1",
    )


def test_facts_are_found_by_what_they_cite(filled: Shelf) -> None:
    filled.write(
        f"{ENTITIES}/person--mo.md",
        "# person--mo\n\n## Facts\n"
        "- Sings (from file:memory/2026-01-01.md#L3-L4) ^s1\n"
        "- Rows (from file:memory/2026-01-01.md.md#L3) ^s2\n\n"
        "## Superseded\n- Runs (from file:memory/2026-01-01.md#L9-L10 and episode:2026-02-02:09:00) ^s3\n",
    )
    filled.sync()

    def found(lines: list[tuple[str, int, int]], *memories: str) -> set[str]:
        return {fact.id.rpartition("#")[2] for fact in filled.lookups.facts_citing(lines, memories)}

    log = "memory/2026-01-01.md"
    assert found([(log, 1, 9)]) == {"^s1", "^s3"}
    assert found([(log, 4, 8)]) == {"^s1"}
    assert found([(log, 5, 8)]) == found([("memory/2026-01-01", 1, 9)], log) == found([]) == set()
    assert found([(log, 9, 9)], "episode:2026-02-02:09:00") == {"^f1", "^s3"}


def test_merged_entities_mention_nothing_but_their_files_do(filled: Shelf) -> None:
    filled.write(
        f"{ENTITIES}/project--ap.md",
        entity("Ap", header="Merged into: [[project--apollo]]") + "\n[[project--apollo]]\n",
    )
    filled.sync()
    assert "entity:project--ap" not in filled.lookups.mentions("entity:project--apollo")
    assert f"{ENTITIES}/project--ap.md" in filled.lookups.mentioning_files("entity:project--apollo")
    assert filled.lookups.count_unmerged() == len(filled.lookups.entities())


def test_ids_that_stand_twice_are_both_there_and_reported(filled: Shelf) -> None:
    filled.write("memory/episodes/old/2026-02-02.md", day("2026-02-02", episode("09:00", "Twin.")))
    filled.sync()
    twins = [r for r in filled.lookups.memories() if r.id == "episode:2026-02-02:09:00"]
    assert [r.path for r in twins] == ["memory/episodes/2026-02-02.md", "memory/episodes/old/2026-02-02.md"]
    assert filled.memory("episode:2026-02-02:09:00").path == "memory/episodes/2026-02-02.md"
    assert filled.found("twin") == ["episode:2026-02-02:09:00"]
    ((path, line, message, remedy),) = filled.lookups.problems()
    assert (path, line) == ("memory/episodes/old/2026-02-02.md", 3)
    assert "episode:2026-02-02:09:00" in message
    assert "memory/episodes/2026-02-02.md" in message
    assert remedy


def test_problems_say_where(filled: Shelf) -> None:
    filled.write("memory/episodes/2026-02-03.md", "# x\n\n## nonsense\n\n## 09:00 | fact\nFine\n")
    filled.write(f"{ENTITIES}/tool--bad.md", "# Bad\n\n## Relations\n- leads nowhere\n")
    filled.sync()
    assert [(path, line) for path, line, _, _ in filled.lookups.problems()] == [
        ("memory/episodes/2026-02-03.md", 3),
        (f"{ENTITIES}/tool--bad.md", 4),
    ]
    assert filled.found("fine") == ["episode:2026-02-03:09:00"]


def test_an_openclaw_workspace_is_read_as_it_is(shelf: Shelf) -> None:
    shelf.write(
        "MEMORY.md",
        "# Long-term\n\n## People\n- Bo: likes tea <!-- observed: 3 | status: promoted -->\n\nLoose words.\n",
    )
    shelf.write("SOUL.md", "# Soul\n\nBe kind.\n")
    shelf.write("USER.md", "Ada, Berlin\n")
    shelf.write("HEARTBEAT.md", "")
    shelf.write("memory/2026-02-01.md", "- 09:00 Ada: hello\n- 09:05 Bot: hi\n- 12:00 Ada: again\n")
    shelf.write("memory/heartbeat-state.json", "{}")
    shelf.write("memory/.dreams/secret.md", "hidden")
    shelf.write("src/main.md", "no memory")
    shelf.write("memory/topics/cats.md", "# Cats\n\nPurr.\n")
    shelf.sync()
    assert shelf.ids() == [
        "core:people:bo",
        "core:people:loose-words",
        "file:SOUL.md#L1-L3",
        "file:USER.md#L1-L1",
        "file:memory/2026-02-01.md#L1-L2",
        "file:memory/2026-02-01.md#L3-L3",
        "file:memory/topics/cats.md#L1-L3",
    ]
