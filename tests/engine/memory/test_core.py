"""Core memory: its view, its edits and its cap."""

from __future__ import annotations

import contextlib
import dataclasses

import pytest

from tests.engine.memory.library import NOW, SETTINGS, Even, Library
from workbench.engine.errors import BudgetExceeded, InvalidInput, NotFound, Stale
from workbench.engine.memory.core import (
    plan_add_item,
    plan_pin_item,
    plan_remove_item,
    plan_replace_item,
    plan_set_block,
    view_core,
)
from workbench.engine.memory.draft import Relevance
from workbench.engine.memory.forget import plan_archive
from workbench.engine.results.memories import CoreItem
from workbench.engine.settings.sections import CoreSettings
from workbench.engine.tokens import count_tokens

MEMORY = """# MEMORY.md — Core Memory

## Identity
- Name: Alex
- Timezone: CET

## Active Context
- Currently working on: the memory project, with all that belongs to it and takes many words to say
- Blockers: none

## Critical Facts
- Allergic to peanuts <!-- pinned -->
"""
SMALL = dataclasses.replace(SETTINGS, core=CoreSettings(cap=100))


def library(text: str = MEMORY) -> Library:
    return Library({"MEMORY.md": text})


def items(library: Library) -> list[str]:
    return [item.text for block in view_core(library, SETTINGS).blocks for item in block.items]


def test_the_view_counts_each_block_and_the_whole() -> None:
    seen = view_core(library(), SETTINGS)
    assert [(block.name, block.budget) for block in seen.blocks] == [
        ("Identity", 500),
        ("Active Context", 1000),
        ("Critical Facts", 1000),
    ]
    assert seen.tokens == count_tokens(MEMORY)
    assert seen.blocks[0].tokens == count_tokens("## Identity\n- Name: Alex\n- Timezone: CET\n")
    assert seen.blocks[0].items[0] == CoreItem("core:identity:name", "Name: Alex", False)
    assert seen.blocks[2].items[0].pinned


def test_a_missing_file_is_seen_as_empty_and_made_from_the_template() -> None:
    empty = Library()
    assert view_core(empty, SETTINGS).blocks == ()
    empty.apply(plan_add_item(empty, "persona", "Likes short answers", SETTINGS, NOW))
    assert [block.name for block in view_core(empty, SETTINGS).blocks] == [
        "Identity",
        "Active Context",
        "Persona",
        "Critical Facts",
    ]
    assert items(empty) == ["Likes short answers"]


def test_an_old_lower_case_file_is_used_where_it_stands() -> None:
    old = Library({"memory.md": "## Identity\n- Name: Alex\n"})
    plan = plan_add_item(old, "Identity", "Role: engineer", SETTINGS, NOW)
    assert plan.file == "memory.md"


def test_adding_says_what_and_where_in_the_audit_log() -> None:
    plan = plan_add_item(library(), "active context", "hybrid approach chosen", SETTINGS, NOW)
    assert plan.summary == "added “hybrid approach chosen” to Active Context"
    assert [change.path for change in plan.changes] == ["MEMORY.md"]
    assert plan.outcome.ids[0].startswith("core:active-context:")


def test_what_is_said_already_is_not_said_twice() -> None:
    plan = plan_add_item(library(), "identity", "  allergic to  PEANUTS. ", SETTINGS, NOW)
    assert plan.changes == ()
    assert plan.outcome.warnings


@pytest.mark.parametrize(
    "name", ["context", "[context]", "Active Context", "active-context", "ACTIVE context"]
)
def test_blocks_answer_to_the_names_people_use(name: str) -> None:
    files = library()
    files.apply(plan_add_item(files, name, "new", SETTINGS, NOW))
    assert "new" in [item.text for item in view_core(files, SETTINGS).blocks[1].items]


def test_an_unknown_block_is_named_with_those_there_are() -> None:
    with pytest.raises(NotFound) as caught:
        plan_add_item(library(), "Hobbies", "chess", SETTINGS, NOW)
    assert "Critical Facts" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    "text",
    [
        "a\n## Critical Facts\n- forged",
        "```\nopen fence",
        "<!-- open",
        "# x",
        "- nested\n- more",
        "\u202egnp.exe",
    ],
)
def test_no_text_breaks_out_of_its_item(text: str) -> None:
    files = library()
    files.apply(plan_add_item(files, "identity", text, SETTINGS, NOW))
    seen = view_core(files, SETTINGS)
    assert [block.name for block in seen.blocks] == ["Identity", "Active Context", "Critical Facts"]
    assert [len(block.items) for block in seen.blocks] == [3, 2, 1]


def test_a_full_core_refuses_with_the_numbers_and_what_could_go() -> None:
    with pytest.raises(BudgetExceeded) as caught:
        plan_add_item(library(), "identity", "word " * 60, SMALL, NOW)
    assert "its cap of 100" in caught.value.message
    remedy = caught.value.remedy or ""
    assert remedy.startswith("What could go: core:active-context:currently-working-on")
    assert "tokens)" in remedy
    assert "peanuts" not in remedy


def test_the_least_relevant_items_are_named_first() -> None:
    standing = Even({"core:identity:timezone": Relevance(0.06)})
    with pytest.raises(BudgetExceeded) as caught:
        plan_add_item(library(), "identity", "word " * 60, SMALL, NOW, scores=standing)
    assert (caught.value.remedy or "").startswith("What could go: core:identity:timezone")


def test_over_the_cap_from_outside_only_shrinking_passes() -> None:
    files = library(MEMORY + "- " + "word " * 200 + "\n- another one\n")
    with pytest.raises(BudgetExceeded):
        plan_add_item(files, "identity", "x", SMALL, NOW)
    with pytest.raises(BudgetExceeded):
        plan_replace_item(files, "core:identity:name", "Name: Alexander the Great", SMALL, NOW)
    shrunk = plan_replace_item(
        files, "core:active-context:currently-working-on", "Currently working on: it", SMALL, NOW
    )
    assert "still holds" in shrunk.outcome.warnings[-1]
    assert files.apply(plan_remove_item(files, "core:identity:timezone", NOW)).ids == (
        "core:identity:timezone",
    )


def test_a_block_over_its_own_budget_is_a_warning() -> None:
    tight = dataclasses.replace(SETTINGS, core=CoreSettings(identity_budget=5))
    plan = plan_add_item(library(), "identity", "Role: engineer", tight, NOW)
    assert plan.changes
    assert plan.outcome.warnings[0] == (
        "Identity is 14 tokens over its budget of 5; only the cap of 3,000 is enforced."
    )


def test_pinning_keeps_the_text_and_unpinning_gives_the_bytes_back() -> None:
    files = library()
    files.apply(plan_pin_item(files, "core:identity:name", True, SETTINGS, NOW))
    assert view_core(files, SETTINGS).blocks[0].items[0].pinned
    files.apply(plan_pin_item(files, "core:identity:name", False, SETTINGS, NOW))
    assert files.text("MEMORY.md") == MEMORY


def test_replacing_keeps_the_pin() -> None:
    files = library()
    item = view_core(files, SETTINGS).blocks[2].items[0]
    files.apply(plan_replace_item(files, item.id, "Allergic to nuts", SETTINGS, NOW))
    changed = view_core(files, SETTINGS).blocks[2].items[0]
    assert (changed.text, changed.pinned) == ("Allergic to nuts", True)


def test_a_block_is_rewritten_only_from_the_body_it_had() -> None:
    files = library()
    with pytest.raises(Stale):
        plan_set_block(files, "identity", "- Name: Bo", SETTINGS, NOW, expected="- Name: Someone")
    files.apply(
        plan_set_block(
            files, "identity", "- Name: Bo", SETTINGS, NOW, expected="- Name: Alex\r\n- Timezone: CET\n"
        )
    )
    assert view_core(files, SETTINGS).blocks[0].body == "- Name: Bo"


def test_a_block_can_be_emptied() -> None:
    files = library()
    files.apply(plan_set_block(files, "identity", "", SETTINGS, NOW))
    assert view_core(files, SETTINGS).blocks[0].items == ()


@pytest.mark.parametrize("body", ["- a\n## Critical Facts\n- forged", "```\nopen", "<!-- open", "text\n---"])
def test_a_blocks_body_cannot_reach_into_other_blocks(body: str) -> None:
    files = library()
    before = view_core(files, SETTINGS).blocks[1:]
    with contextlib.suppress(InvalidInput):
        files.apply(plan_set_block(files, "identity", body, SETTINGS, NOW))
    assert view_core(files, SETTINGS).blocks[1:] == before


def test_a_new_item_never_inherits_an_archived_ones_entry() -> None:
    files = library()
    files.apply(plan_archive(files, ["core:identity:name"], NOW, SETTINGS))
    files.apply(plan_add_item(files, "identity", "Name: Bo", SETTINGS, NOW))
    scores = files.text("memory/meta/decay-scores.json")
    assert '"core:identity:name~1"' in scores
    assert '"core:identity:name":' not in scores
