"""One memory laid open, and for whom it is."""

from __future__ import annotations

import pytest

from tests.engine.memory.library import ALEX, ZONE, Library, entity
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.memory.lookup import links_in, may_be_scoped, scopes_in, show_memory
from workbench.engine.results.memories import Links, Validity

DAY = "memory/episodes/2026-02-01.md"
EPISODE = "episode:2026-02-01:10:00"


@pytest.fixture
def files() -> Library:
    return Library(
        {
            DAY: "# 2026-02-01 — Episode Log\n\n## 10:00 | event | confidence:high | source:user-explicit\n"
            "Met [[person--alex|Alex]] after episode:2026-01-31:09:00.\n",
            ALEX: entity(
                "Alex",
                f"## Facts\n- Likes tea (since 2026-02-01, from {EPISODE}) ^f1aa\n- Plain\n\n## Superseded\n"
                f"- Likes coffee (2026-01-01 to 2026-02-01, from {EPISODE} and source:user-explicit, "
                "superseded by ^f1aa) ^f2bb\n\n## Relations\n- uses: [[tool--git]] (since 2026-01-05) ^r1aa\n",
            ),
            "memory/procedures/deploy.md": "# Deploy\n\n## Steps\n1. Test\n\n## Learned From\n- "
            + EPISODE
            + "\n",
        }
    )


def test_a_retired_fact_says_when_it_held_and_what_took_its_place(files: Library) -> None:
    shown = show_memory(files, "entity:person--alex#^f2bb", files, ZONE, "2026-02-10")
    assert shown.text == "Likes coffee"
    assert shown.validity == Validity("2026-01-01", "2026-02-01", "entity:person--alex#^f1aa")
    assert shown.provenance == (EPISODE, "user-explicit")
    assert shown.links.to == (EPISODE,)
    assert files.text(ALEX).splitlines()[shown.start_line - 1].startswith("- Likes coffee")


def test_an_episode_names_others_and_is_named(files: Library) -> None:
    shown = show_memory(files, EPISODE, files, ZONE, "2026-02-10")
    assert shown.provenance == ("user-explicit",)
    assert shown.links.to == ("entity:person--alex", "episode:2026-01-31:09:00")
    assert "entity:person--alex#^f1aa" in shown.links.from_
    assert (shown.store, shown.path, shown.start_line, shown.end_line) == ("episodic", DAY, 3, 4)


def test_an_entity_comes_from_all_that_its_facts_come_from(files: Library) -> None:
    shown = show_memory(files, "person--alex", files, ZONE, "2026-02-10")
    assert (shown.id, shown.title) == ("entity:person--alex", "Alex")
    assert shown.provenance == (EPISODE, "user-explicit")
    assert "entity:tool--git" in shown.links.to
    assert EPISODE in shown.links.from_


def test_a_procedure_comes_from_what_it_was_learned_from(files: Library) -> None:
    shown = show_memory(files, "procedure:deploy", files, ZONE, "2026-02-10")
    assert (shown.provenance, shown.title, shown.links) == ((EPISODE,), "Deploy", Links((EPISODE,), ()))


def test_a_relation_has_a_text_and_a_beginning(files: Library) -> None:
    shown = show_memory(files, "entity:person--alex#^r1aa", files, ZONE, "2026-02-10")
    assert (shown.text, shown.validity.from_) == ("uses: [[tool--git]]", "2026-01-05")


def test_links_are_read_in_every_form() -> None:
    text = (
        "[[person--a]] [[entities/person--b.md|B]] [[person--c#^f1]] [[no entity]] entity:person--d#^f2, "
        "episode:2026-02-01:10:00#2. procedure:x core:identity:name [[person--a]]"
    )
    assert links_in(text) == (
        "entity:person--a",
        "entity:person--b",
        "entity:person--c#^f1",
        "entity:note--no-entity-04zdv4",
        "entity:person--d#^f2",
        "episode:2026-02-01:10:00#2",
        "procedure:x",
        "core:identity:name",
    )


EPISODES = """# 2026-02-01 — Episode Log

## 09:00 | type:fact | confidence:high | for:group:family
The ferry sails at nine.

## 10:00 | type:fact | confidence:high
The owner writes “for:group:family” in his own note.

## 11:00 | type:fact | confidence:high | for:group:Not a scope
This is nobody’s.
"""
MIRA = """# Mira

## Facts
- Rows (for person:mira) ^f001
- Owes money ^f002
- Sails (since 2026-01-01, for shared) ^f003

## Superseded
- Rides (for person:mira, until 2026-01-01) ^f004

## Relations
- knows → [[person--robin]] (for group:crew) ^r001
"""
FILES = {
    "memory/episodes/2026-02-01.md": (EPISODES, {"episode:2026-02-01:09:00": "group:family"}),
    "memory/graph/entities/person--mira.md": (
        MIRA,
        {
            "entity:person--mira#^f001": "person:mira",
            "entity:person--mira#^f003": "shared",
            "entity:person--mira#^f004": "person:mira",
            "entity:person--mira#^r001": "group:crew",
        },
    ),
    "memory/vault/rules.md": (
        "---\nfor: shared\n---\n\n# Rules\n\nShoes off.\n",
        {"vault:rules.md": "shared"},
    ),
    "memory/vault/spaced.md": (
        "---\nFor :  'person:mira' \n---\n\n# Spaced\n\nShoes off.\n",
        {"vault:spaced.md": "person:mira"},
    ),
    "memory/procedures/how-to-moor.md": (
        "# How to moor\n\n<!-- Type: how-to | FOR： group:crew -->\n\n## Steps\n1. Slow down\n",
        {"procedure:how-to-moor": "group:crew"},
    ),
    "memory/vault/own.md": ("# Own\n\nWe shared a boat with group:family.\n", {}),
    "MEMORY.md": ("# M\n\n- A thing (for shared)\n", {}),
}


@pytest.mark.parametrize("path", FILES)
def test_whom_the_memories_of_a_file_are_for(path: str) -> None:
    content, scopes = FILES[path]
    assert scopes_in(path, content.encode()) == scopes
    assert may_be_scoped(path) == (path != "MEMORY.md")


def test_a_file_that_only_speaks_of_somebody_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EpisodeLog, "parse", None)
    said = "# 2026-02-01\n\n## 09:00 | event | tags:[person:mira]\nA shared table, with group:family.\n"
    assert scopes_in("memory/episodes/2026-02-01.md", said.encode()) == {}


@pytest.mark.parametrize("path", [path for path in FILES if path != "MEMORY.md"])
def test_what_is_no_text_is_nobodys(path: str) -> None:
    assert scopes_in(path, b"\xff\xfe for:group:family \x00 person:mira\n") == {}
