"""Commits, items, files, reflections and times can be gone back on, and what is not meant stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.engine.history.notebook import OWNER, PERSON, Notebook
from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, RoleRefused, Stale
from workbench.engine.history.audit import show_commit
from workbench.engine.history.commits import read_commit_index
from workbench.engine.history.plan import Action
from workbench.engine.history.revert import (
    item_trailers,
    revert,
    rollback_file,
    rollback_reflection,
    rollback_to_commit,
)

ALEX = "memory/graph/entities/person--alex.md"
FACTS = "# person--alex\n\n## Facts\n- One ^aaaa\n"


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def scores(entries: dict[str, int]) -> str:
    rows = {
        name: {
            "store": "semantic",
            "base_relevance": 0.7,
            "created": "2026-01-20T10:00:00Z",
            "last_accessed": "2026-01-20T10:00:00Z",
            "access_count": count,
            "type_weight": 1.2,
            "current_score": 0.52,
            "status": "active",
            "pinned": False,
        }
        for name, count in entries.items()
    }
    return (
        json.dumps({"version": 1, "last_updated": "2026-02-02T00:00:00Z", "entries": rows}, indent=2) + "\n"
    )


def counts(notebook: Notebook) -> dict[str, int]:
    text = notebook.read(layout.DECAY_SCORES)
    assert text
    return {name: entry["access_count"] for name, entry in json.loads(text)["entries"].items()}


def test_a_commit_is_reverted_though_others_followed(notebook: Notebook) -> None:
    notebook.write(ALEX, FACTS)
    commit = notebook.write(ALEX, FACTS + "- Two ^bbbb\n", summary="learned two")
    notebook.write(ALEX, FACTS + "- Two ^bbbb\n- Three ^cccc\n")
    receipt = revert(notebook.history, commit[:9], PERSON)
    assert notebook.read(ALEX) == FACTS + "- Three ^cccc\n"
    assert receipt.outcome.files == (ALEX,)
    assert receipt.commit
    shown = show_commit(notebook.history.store, read_commit_index(notebook.history.store), receipt.commit)
    assert shown.entries[0].action == "REVERT"
    assert ("Reverts", commit) in shown.trailers
    assert (
        show_commit(notebook.history.store, read_commit_index(notebook.history.store), commit).undone_by
        == receipt.commit
    )


def test_a_revert_can_be_reverted_and_is_done_once(notebook: Notebook) -> None:
    notebook.write(ALEX, FACTS)
    commit = notebook.write(ALEX, FACTS + "- Two ^bbbb\n")
    first = revert(notebook.history, commit, PERSON)
    assert revert(notebook.history, commit, PERSON).commit is None
    assert first.commit
    revert(notebook.history, first.commit, PERSON)
    assert notebook.read(ALEX) == FACTS + "- Two ^bbbb\n"


def test_what_cannot_be_reverted_says_why(notebook: Notebook) -> None:
    first = notebook.write("MEMORY.md", "one\n")
    empty = notebook.note(Action.ALERT)
    prune = notebook.write(layout.AUDIT_ARCHIVE, "digest\n", action=Action.PRUNE)
    with pytest.raises(InvalidInput, match="first commit"):
        revert(notebook.history, first, PERSON)
    with pytest.raises(InvalidInput, match="changed no file"):
        revert(notebook.history, empty, PERSON)
    with pytest.raises(InvalidInput, match="PRUNE"):
        revert(notebook.history, prune, PERSON)
    with pytest.raises(NotFound):
        revert(notebook.history, "abcdef12", PERSON)


def test_a_critical_file_is_reverted_by_a_person_only(notebook: Notebook) -> None:
    notebook.write("SOUL.md", "kind\n", actor="manual")
    commit = notebook.write("SOUL.md", "cruel\n", actor="skill:x")
    with pytest.raises(RoleRefused):
        revert(notebook.history, commit, PERSON)
    revert(notebook.history, commit, OWNER)
    assert notebook.read("SOUL.md") == "kind\n"


def test_one_item_of_a_reflection_is_taken_back_alone(notebook: Notebook) -> None:
    before = {ALEX: FACTS, "MEMORY.md": "# Core\n\n## Identity\n- Name: Alex\n"}
    notebook.write_all(dict(before))
    one = FACTS + "- Two ^bbbb\n"
    two = one + "- Three ^cccc\n"
    core = before["MEMORY.md"].replace("- Name: Alex", "- Name: Alexandra")
    trailers = (
        *item_trailers("r-012.1", "approved", {ALEX: (FACTS.encode(), one.encode())}),
        *item_trailers(
            "r-012.2",
            "approved",
            {
                ALEX: (one.encode(), two.encode()),
                "MEMORY.md": (before["MEMORY.md"].encode(), core.encode()),
            },
        ),
        *item_trailers("r-012.3", "rejected", {}),
    )
    notebook.write_all({ALEX: two, "MEMORY.md": core}, actor="reflection:r-012", trailers=trailers)
    notebook.write(ALEX, two + "- Four ^dddd\n")
    revert(notebook.history, "r-012.2", OWNER)
    assert notebook.texts() == {ALEX: one + "- Four ^dddd\n", "MEMORY.md": before["MEMORY.md"]}
    revert(notebook.history, "r-012.1", OWNER)
    assert notebook.read(ALEX) == FACTS + "- Four ^dddd\n"
    with pytest.raises(NotFound, match="applied item"):
        revert(notebook.history, "r-012.3", OWNER)
    with pytest.raises(NotFound):
        revert(notebook.history, "r-099.1", OWNER)


def test_one_file_goes_back_and_accesses_of_its_memories_since_are_kept(notebook: Notebook) -> None:
    alex, tool = "entity:person--alex", "entity:tool--x"
    then = notebook.write_all({ALEX: FACTS, layout.DECAY_SCORES: scores({alex: 1, f"{alex}#^aaaa": 2})})
    later = scores({alex: 9, f"{alex}#^aaaa": 2, f"{alex}#^bbbb": 4, tool: 3})
    notebook.write_all({ALEX: FACTS + "- Two ^bbbb\n", layout.DECAY_SCORES: later})
    rollback_file(notebook.history, ALEX, then, PERSON)
    assert notebook.read(ALEX) == FACTS
    assert counts(notebook) == {alex: 9, f"{alex}#^aaaa": 2, tool: 3}


def test_a_file_goes_back_only_to_where_it_was(notebook: Notebook) -> None:
    first = notebook.write("MEMORY.md", "one\n")
    notebook.write(ALEX, FACTS)
    with pytest.raises(NotFound, match="did not exist"):
        rollback_file(notebook.history, ALEX, first, PERSON)
    with pytest.raises(InvalidInput):
        rollback_file(notebook.history, "other.txt", first, PERSON)
    notebook.write("MEMORY.md", None)
    rollback_file(notebook.history, "MEMORY.md", first[:7], PERSON)
    assert notebook.read("MEMORY.md") == "one\n"


def test_a_whole_reflection_is_rolled_back_and_its_record_stays(notebook: Notebook) -> None:
    notebook.write(ALEX, FACTS)
    notebook.write_all(
        {ALEX: FACTS + "- Two ^bbbb\n", layout.REFLECTION_LOG: "# Log\n\n- r-012 applied\n"},
        actor="reflection:r-012",
    )
    notebook.write(ALEX, FACTS + "- Two ^bbbb\n- Three ^cccc\n")
    notebook.write("USER.md", "tz\n", actor="reflection:r-012")
    receipt = rollback_reflection(notebook.history, "r-012", OWNER)
    assert notebook.texts() == {
        ALEX: FACTS + "- Three ^cccc\n",
        layout.REFLECTION_LOG: "# Log\n\n- r-012 applied\n",
    }
    assert len(receipt.outcome.commits) == 2
    with pytest.raises(NotFound):
        rollback_reflection(notebook.history, "r-013", PERSON)


def test_a_conflict_anywhere_in_a_reflection_changes_nothing(notebook: Notebook) -> None:
    notebook.write(ALEX, FACTS)
    notebook.write(ALEX, FACTS.replace("One", "Uno"), actor="reflection:r-012")
    notebook.write("USER.md", "tz\n", actor="reflection:r-012")
    notebook.write(ALEX, FACTS.replace("One", "Eins"))
    before = notebook.texts()
    with pytest.raises(Stale):
        rollback_reflection(notebook.history, "r-012", PERSON)
    assert notebook.texts() == before


def test_memory_goes_back_to_a_commit_but_not_its_accounts(notebook: Notebook) -> None:
    alex, tool, new_one = "entity:person--alex", "entity:tool--x", "entity:person--new"
    old = scores({tool: 1})
    then = notebook.write_all(
        {ALEX: FACTS, "memory/graph/entities/tool--x.md": "# tool--x\n", layout.DECAY_SCORES: old}
    )
    rejected = "memory/meta/rejected.md"
    new = scores({tool: 7, alex: 5, new_one: 2})
    notebook.write_all(
        {
            ALEX: None,
            "memory/graph/entities/person--new.md": "# new\n",
            layout.DECAY_SCORES: new,
            rejected: "- no\n",
            layout.AUDIT_ARCHIVE: "digest\n",
        }
    )
    (notebook.root / "memory/vault").mkdir()
    (notebook.root / "memory/vault/outside.md").write_text("not seen yet\n")
    receipt = rollback_to_commit(notebook.history, then, OWNER)
    assert set(notebook.texts()) == {
        ALEX,
        "memory/graph/entities/tool--x.md",
        layout.DECAY_SCORES,
        rejected,
        layout.AUDIT_ARCHIVE,
    }
    assert counts(notebook) == {tool: 7, alex: 5}
    assert receipt.commit
    revert(notebook.history, receipt.commit, OWNER)
    assert "memory/vault/outside.md" in notebook.texts()
    assert counts(notebook) == {tool: 7, alex: 5, new_one: 2}
