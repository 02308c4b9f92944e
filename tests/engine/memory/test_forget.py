"""Archiving, restoring, and deleting for good."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime

import pytest

from tests.engine.memory.library import ALEX, NOW, SETTINGS, Library, entity
from workbench.engine.errors import BudgetExceeded, InvalidInput, NotFound, Refused
from workbench.engine.history.plan import Action
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.memory.forget import plan_archive, plan_erase, plan_restore
from workbench.engine.memory.graph_changes import plan_merge
from workbench.engine.settings.sections import CoreSettings

DAY = "memory/episodes/2026-02-01.md"
EPISODE = "episode:2026-02-01:10:00"
FACT = "entity:person--alex#^f1aa"
SCORES = "memory/meta/decay-scores.json"
APOLLO = "memory/graph/entities/project--apollo.md"


@pytest.fixture
def files() -> Library:
    return Library(
        {
            "MEMORY.md": "# Core\n\n## Identity\n- Name: Alex <!-- pinned -->\n- Drank tea\n\n"
            "## Critical Facts\n- Other\n",
            DAY: "# 2026-02-01 — Episode Log\n\n## 10:00 | event | confidence:high\nDrank tea.\n\n"
            "## 11:00 | event | confidence:high\nWith [[person--alex]].\n",
            ALEX: entity(
                "Alex",
                "## Facts\n- Likes tea (since 2026-02-01, from episode:2026-02-01:10:00) ^f1aa\n"
                "- Lives in Kiel ^f2bb\n\n## Superseded\n"
                "- Likes coffee (until 2026-02-01, superseded by ^f1aa) ^f3cc\n",
            ),
            APOLLO: entity(
                "Apollo",
                "## Open Questions\n- Is this the same as [[person--alex]]?\n- Other?\n\n"
                "## Relations\n- part-of: [[project--zeus]]\n- used-by: [[person--alex]]\n",
                "project",
            ),
            "memory/procedures/how-to-deploy.md": "# How to deploy\n\n## Steps\n1. Test\n",
            "memory/vault/promise.md": "# Promise\n\nNever give up.\n",
            "memory/2026-02-01.md": "one\ntwo\nthree\n",
            "SOUL.md": "soul\n",
        }
    )


def entries(files: Library) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(files.text(SCORES))["entries"]
    return found


def test_archiving_zeroes_the_score_and_retires_a_fact(files: Library) -> None:
    before = dict(files.contents)
    plan = plan_archive(files, [FACT], NOW, SETTINGS)
    assert plan.action is Action.ARCHIVE
    assert files.apply(plan).ids == (FACT,)
    assert plan.changes[0].summary == f"archived {FACT} “Likes tea”"
    assert (entries(files)[FACT]["current_score"], entries(files)[FACT]["status"]) == (0, "archived")
    facts, _, retired = files.text(ALEX).partition("## Superseded")
    assert "Likes tea" not in facts
    assert "Likes tea" in retired
    assert "2026-02-02" in retired
    files.apply(plan_restore(files, [FACT], NOW, SETTINGS))
    assert sorted(files.text(ALEX).split()) == sorted(before[ALEX].decode().split())


def test_archiving_an_episode_leaves_its_file(files: Library) -> None:
    before = dict(files.contents)
    files.apply(plan_archive(files, [EPISODE], NOW, SETTINGS))
    assert files.contents[DAY] == before[DAY]


def test_a_memory_without_a_date_is_as_old_as_its_place_in_the_history(files: Library) -> None:
    seen = {"core:critical-facts:other": datetime(2025, 12, 1, 8, 0, tzinfo=UTC)}
    files.apply(plan_archive(files, list(seen), NOW, SETTINGS, seen))
    entry = entries(files)["core:critical-facts:other"]
    assert (entry["created"], entry["base_relevance"]) == ("2025-12-01T08:00:00Z", 1.0)


def test_core_memory_no_longer_says_what_was_forgotten(files: Library) -> None:
    outcome = files.apply(plan_archive(files, [EPISODE], NOW, SETTINGS))
    assert outcome.ids == (EPISODE, "core:identity:drank-tea")
    assert "Drank tea" not in files.text("MEMORY.md")
    assert "Drank tea." in files.text(DAY)


@pytest.mark.parametrize(
    "wanted", [(EPISODE,), ("core:identity:drank-tea",), (EPISODE, "core:identity:drank-tea")]
)
def test_restoring_gives_back_files_and_core_memory(files: Library, wanted: tuple[str, ...]) -> None:
    before = dict(files.contents)
    files.apply(plan_archive(files, list(wanted), NOW, SETTINGS))
    outcome = files.apply(plan_restore(files, [wanted[0]], NOW, SETTINGS))
    assert set(outcome.ids) == {*wanted, "core:identity:drank-tea"}
    assert {path: content for path, content in files.contents.items() if path != SCORES} == before
    assert all(entry["status"] != "archived" for entry in entries(files).values())
    assert "core_item" not in files.text(SCORES)


def test_a_pinned_item_comes_back_pinned(files: Library) -> None:
    files.apply(plan_archive(files, ["core:identity:name"], NOW, SETTINGS))
    assert "Name: Alex" not in files.text("MEMORY.md")
    files.apply(plan_restore(files, ["core:identity:name"], NOW, SETTINGS))
    assert "- Name: Alex <!-- pinned -->" in files.text("MEMORY.md")


def test_restoring_into_a_full_core_memory_is_refused_or_said(files: Library) -> None:
    tight = dataclasses.replace(SETTINGS, core=CoreSettings(cap=10))
    files.apply(plan_archive(files, [EPISODE], NOW, SETTINGS))
    with pytest.raises(BudgetExceeded):
        plan_restore(files, ["core:identity:drank-tea"], NOW, tight)
    outcome = files.apply(plan_restore(files, [EPISODE], NOW, tight))
    assert outcome.ids == (EPISODE,)
    assert "stays archived" in outcome.warnings[0]


def test_what_is_archived_already_is_said(files: Library) -> None:
    files.apply(plan_archive(files, [FACT], NOW, SETTINGS))
    plan = plan_archive(files, [FACT], NOW, SETTINGS)
    assert plan.changes == ()
    assert plan.outcome.warnings == (f"{FACT} is archived already.",)
    files.apply(plan_restore(files, [FACT], NOW, SETTINGS))
    assert plan_restore(files, [FACT], NOW, SETTINGS).changes == ()


def test_free_text_has_no_score_to_archive(files: Library) -> None:
    with pytest.raises(InvalidInput, match="Free text"):
        plan_archive(files, ["file:memory/2026-02-01.md#L2"], NOW, SETTINGS)
    outcome = plan_archive(files, ["file:memory/2026-02-01.md#L2", FACT], NOW, SETTINGS).outcome
    assert outcome.ids == (FACT,)
    assert "free text" in outcome.warnings[0]


@pytest.mark.parametrize("missing", [f"{EPISODE}#7", "entity:person--bo", f"{FACT}x", "core:identity:nope"])
def test_what_does_not_exist_is_named(files: Library, missing: str) -> None:
    for planner in (plan_archive, plan_restore):
        with pytest.raises(NotFound):
            planner(files, [missing], NOW, SETTINGS)


def test_a_deleted_episode_is_gone_everywhere(files: Library) -> None:
    files.apply(plan_archive(files, [EPISODE], NOW, SETTINGS))
    files.contents["memory/meta/pending-reflection.md"] = (
        b"# Reflection Summary\n\n- [ ] `r-1.1` fact for [[person--alex]]: Likes tea\n"
        b"  - episode:2026-02-01:10:00 says \xe2\x80\x9cDrank tea.\xe2\x80\x9d\n  - because: of it\n- other\n"
    )
    files.contents["memory/meta/pending-memories.md"] = (
        b"# Pending Memory Proposals\n\n---\n## Proposal #1\n- **From**: coder\n- **Content**: drank tea\n"
        b"- **Status**: pending\n"
    )
    outcome = files.apply(plan_erase(files, [EPISODE], files, NOW, SETTINGS))
    for path, content in files.contents.items():
        assert b"rank tea" not in content, path
    assert [entry.time for entry in EpisodeLog.parse(files.contents[DAY], DAY).entries] == ["11:00"]
    assert "- other" in files.text("memory/meta/pending-reflection.md")
    assert "because: of it" in files.text("memory/meta/pending-reflection.md")
    assert "Proposal #1" not in files.text("memory/meta/pending-memories.md")
    assert entries(files) == {}
    assert outcome.texts == ("Drank tea.",)
    assert set(outcome.ids) == {EPISODE, "core:identity:drank-tea"}


def test_the_summary_of_a_deletion_does_not_repeat_it(files: Library) -> None:
    plan = plan_erase(files, [EPISODE, FACT], files, NOW, SETTINGS)
    assert plan.action is Action.DELETE
    for said in (plan.summary, *(change.summary for change in plan.changes)):
        assert "tea" not in said


def test_the_last_entry_takes_its_log_along(files: Library) -> None:
    files.apply(plan_erase(files, [EPISODE, "episode:2026-02-01:11:00"], files, NOW, SETTINGS))
    assert DAY not in files.contents


def test_a_deleted_fact_leaves_no_pointer(files: Library) -> None:
    files.apply(plan_erase(files, [FACT], files, NOW, SETTINGS))
    assert "Likes tea" not in files.text(ALEX)
    assert "f1aa" not in files.text(ALEX)
    assert "Lives in Kiel" in files.text(ALEX)
    assert "Likes coffee" in files.text(ALEX)


def test_a_deleted_entity_takes_relations_questions_and_scores_along(files: Library) -> None:
    files.apply(plan_archive(files, [FACT], NOW, SETTINGS))
    outcome = files.apply(plan_erase(files, ["entity:person--alex"], files, NOW, SETTINGS))
    assert ALEX not in files.contents
    assert "person--alex" not in files.text(APOLLO)
    assert "part-of: [[project--zeus]]" in files.text(APOLLO)
    assert "Other?" in files.text(APOLLO)
    assert entries(files) == {}
    assert outcome.warnings == ("Still named by episode:2026-02-01:11:00.",)


def test_a_deleted_memory_is_gone_from_what_a_merge_kept(files: Library) -> None:
    other = "memory/graph/entities/person--alexander.md"
    files.contents[other] = entity("Alexander", "## Facts\n- Wears a secret hat ^f9zz\n").encode()
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    files.apply(plan_erase(files, ["entity:person--alex#^f9zz"], files, NOW, SETTINGS))
    assert all(b"secret hat" not in content for content in files.contents.values())
    files.apply(plan_erase(files, ["entity:person--alex"], files, NOW, SETTINGS))
    assert other not in files.contents


@pytest.mark.parametrize(
    ("memory_id", "path"),
    [
        ("procedure:how-to-deploy", "memory/procedures/how-to-deploy.md"),
        ("vault:promise.md", "memory/vault/promise.md"),
        ("vault:promise", "memory/vault/promise.md"),
        ("file:memory/2026-02-01.md", "memory/2026-02-01.md"),
    ],
)
def test_whole_files_are_deleted(files: Library, memory_id: str, path: str) -> None:
    files.apply(plan_erase(files, [memory_id], files, NOW, SETTINGS))
    assert path not in files.contents


def test_lines_of_free_text_are_deleted_by_their_numbers(files: Library) -> None:
    both = ["file:memory/2026-02-01.md#L1", "file:memory/2026-02-01.md#L3"]
    files.apply(plan_erase(files, both, files, NOW, SETTINGS))
    assert files.text("memory/2026-02-01.md") == "two\n"


def test_core_memory_and_critical_files_are_not_deleted_whole(files: Library) -> None:
    with pytest.raises(InvalidInput):
        plan_erase(files, ["file:MEMORY.md"], files, NOW, SETTINGS)
    with pytest.raises(Refused):
        plan_erase(files, ["file:SOUL.md"], files, NOW, SETTINGS)
