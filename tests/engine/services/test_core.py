"""The cap of core memory: enforced before anything is written, with a word about what could go."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.services.agent_home import AgentHome, failure
from workbench.engine import Workspace, layout
from workbench.engine.errors import BudgetExceeded, InvalidInput, NotFound
from workbench.engine.tokens import count_tokens

FILLER = "The quick brown fox jumps over the lazy dog near the quiet river bank."


def fill(home: AgentHome, tokens: int = 3000) -> None:
    """Fill core memory up to a number of tokens exactly."""
    with home.open() as workspace:
        lines: list[str] = []
        size = workspace.core().tokens
        while size < tokens - 25:
            lines.append(f"- {len(lines)} {FILLER}")
            size = workspace.core().tokens + count_tokens("\n".join(lines))
        workspace.core_set("Active Context", "\n".join(lines))
        while (missing := tokens - workspace.core().tokens) > 0:
            lines[-1] += " word" * max(1, missing // 2)
            workspace.core_set("Active Context", "\n".join(lines))
        assert workspace.core().tokens == tokens


def growing(workspace: Workspace) -> list[Callable[[], object]]:
    long = " ".join([FILLER] * 12)
    item = workspace.core().blocks[0].items[0].id
    whole = (workspace.root / layout.CORE).read_text(encoding="utf-8")
    return [
        lambda: workspace.core_add("Persona", long),
        lambda: workspace.core_replace(item, long),
        lambda: workspace.core_set("Identity", f"- {long}"),
        lambda: workspace.edit(item, long),
        lambda: workspace.edit_file(layout.CORE, f"{whole}\n- {long}\n"),
        lambda: workspace.edit(f"file:{layout.CORE}", f"{whole}\n- {long}\n"),
    ]


def test_what_makes_room_moves_to_the_timeline_in_the_same_commit(settled: AgentHome) -> None:
    fill(settled)
    long = " ".join([FILLER] * 2)
    with settled.open() as workspace:
        commits = settled.commits()
        before = workspace.core_preview("Persona", long)
        assert before.tokens > before.cap
        moving = [each.id for each in before.could_go[:3]]
        said = {each.text for each in before.could_go[:3]}
        with_room = workspace.core_preview("Persona", long, moving=moving)
        assert with_room.tokens <= with_room.cap
        assert with_room.could_go == before.could_go
        changed = workspace.core_add("Persona", long, moving=moving)
        assert len(settled.commits()) == len(commits) + 1
        core = workspace.core()
        assert core.tokens == with_room.tokens
        left = {item.text for block in core.blocks for item in block.items}
        assert long in left
        assert not said & left
        assert said <= {entry.text for entry in workspace.timeline().entries}
        workspace.undo(expected=changed.commit)
        assert said <= {item.text for block in workspace.core().blocks for item in block.items}


def test_a_preview_within_the_budgets_names_nothing_that_could_go(settled: AgentHome) -> None:
    with settled.open() as workspace:
        assert workspace.core_preview("Persona", "Be kind").could_go == ()
        over = workspace.core_preview("Persona", " ".join([FILLER] * 60))
        persona = next(block for block in over.blocks if block.name == "Persona")
        assert {each.id for each in over.could_go} <= {item.id for item in persona.items}


@pytest.mark.parametrize("way", range(6))
def test_no_way_leads_past_the_cap(settled: AgentHome, way: int) -> None:
    fill(settled)
    before, commits = settled.tracked(), settled.commits()
    with settled.open() as workspace:
        with pytest.raises(BudgetExceeded) as caught:
            growing(workspace)[way]()
        candidates = {item.id for block in workspace.core().blocks for item in block.items if not item.pinned}
    assert settled.tracked() == before
    assert settled.commits() == commits
    message = str(caught.value)
    assert "3,000" in message
    named = {word.strip(";") for word in message.split() if word.startswith("core:")}
    assert named
    assert named <= candidates
    assert "(" in message
    assert "tokens)" in message


def test_the_count_is_that_of_the_whole_file(settled: AgentHome) -> None:
    with settled.open() as workspace:
        view = workspace.core()
    assert view.tokens == count_tokens(settled.text(layout.CORE).rstrip("\n"))
    assert sum(block.tokens for block in view.blocks) <= view.tokens + len(view.blocks)
    assert {block.name: block.budget for block in view.blocks} == {
        "Identity": 500,
        "Active Context": 1000,
        "Persona": 500,
        "Critical Facts": 1000,
    }


def test_what_fits_exactly_is_taken_and_one_token_more_is_not(settled: AgentHome) -> None:
    fill(settled, 2990)
    with settled.open() as workspace:
        for words in range(1, 11):
            workspace.core_set("Persona", "- Be brief" + " word" * words)
        assert workspace.core().tokens == 3000
        with pytest.raises(BudgetExceeded):
            workspace.core_set("Persona", "- Be brief" + " word" * 11)


def test_a_block_beyond_its_budget_is_a_warning(settled: AgentHome) -> None:
    with settled.open() as workspace:
        changed = workspace.core_set("Persona", "\n".join(f"- {n} {FILLER}" for n in range(40)))
    assert changed.commit
    assert any("Persona" in warning and "500" in warning for warning in changed.warnings)


def test_the_cap_is_a_setting(settled: AgentHome) -> None:
    settled.write("workbench.toml", "[core]\ncap = 200\n")
    with settled.open() as workspace:
        assert workspace.core().cap == 200
        with pytest.raises(BudgetExceeded):
            workspace.core_add("Persona", " ".join([FILLER] * 12))


def test_remembering_with_a_full_core_keeps_the_memory_elsewhere(settled: AgentHome) -> None:
    fill(settled)
    core = settled.text(layout.CORE)
    long = "Robin prefers to be asked before anything is bought, booked, or promised to anybody at all."
    with settled.open("main") as workspace:
        kept = workspace.remember(long, store="core")
        both = workspace.remember("Kim prefers letters over calls whenever there is time", block="Persona")
    assert (kept.store, kept.core_update) == ("episodic", None)
    assert both.core_update is None
    for remembered in (kept, both):
        assert remembered.commit
        assert any("3,000" in warning and "core:" in warning for warning in remembered.warnings)
    assert settled.text(layout.CORE) == core


def test_restoring_into_a_full_core_is_refused(settled: AgentHome) -> None:
    with settled.open() as workspace:
        added = workspace.core_add("Persona", " ".join([FILLER] * 6)).ids[0]
        workspace.forget(ids=[added], apply=True)
    fill(settled)
    before = settled.tracked()
    with settled.open() as workspace, pytest.raises(BudgetExceeded):
        workspace.restore(added)
    assert settled.tracked() == before


def test_remember_writes_core_and_store_in_one_commit(settled: AgentHome) -> None:
    commits = len(settled.commits())
    with settled.open("main") as workspace:
        kept = workspace.remember(
            "Robin is allergic to nuts", store="semantic", entities=["person:Robin"], block="Critical Facts"
        )
    assert len(settled.commits()) == commits + 1
    assert set(kept.files) == {layout.CORE, "memory/graph/entities/person--robin.md"}
    assert kept.core_update
    assert kept.core_update in kept.ids
    assert "Robin is allergic to nuts" in settled.text(layout.CORE)


def test_core_says_nothing_twice(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        first = workspace.core_add("Persona", "Be kind to strangers")
        again = workspace.core_add("Critical Facts", "be kind to  strangers.")
        assert again.commit is None
        assert again.ids == first.ids
        assert again.warnings


@pytest.mark.parametrize(
    "body",
    ["## Another block\n- x", "# Top", "```\nnever closed", "<!-- never closed", "- x\n\n## Persona\n- y"],
)
def test_a_block_cannot_swallow_the_others(settled: AgentHome, body: str) -> None:
    with settled.open() as workspace:
        before = [block for block in workspace.core().blocks if block.name != "Identity"]
        error = failure(lambda: workspace.core_set("Identity", body))
        assert error is None or isinstance(error, InvalidInput)
        assert [block for block in workspace.core().blocks if block.name != "Identity"] == before


def test_blocks_and_items_that_are_not_there(settled: AgentHome) -> None:
    with settled.open() as workspace:
        calls: tuple[Callable[[], object], ...] = (
            lambda: workspace.core_set("Dreams", "- x"),
            lambda: workspace.core_add("Dreams", "x"),
            lambda: workspace.core_replace("core:identity:nobody", "x"),
            lambda: workspace.core_remove("core:identity:nobody"),
        )
        for call in calls:
            with pytest.raises(NotFound):
                call()


def test_missing_blocks_are_made_when_first_written(home: AgentHome) -> None:
    home.write(layout.CORE, "# Notes of old\n\n- a stray line\n")
    with home.open("main") as workspace:
        workspace.core_add("persona", "Be kind")
        names = [block.name for block in workspace.core().blocks]
    assert "Persona" in names
    assert home.text(layout.CORE).startswith("# Notes of old\n\n- a stray line\n")
