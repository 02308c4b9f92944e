"""Who writes the vault: the main agent as the setting says, a person always (design document §12.1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.errors import RoleRefused

NOTE = "memory/vault/promise.md"
WRITES: dict[str, Callable[[Workspace], object]] = {
    "remember": lambda w: w.remember("The house number is seven", store="vault"),
    "dry run": lambda w: w.remember("The house number is seven", store="vault", dry_run=True),
    "message": lambda w: w.message("Never forget that the house number is seven"),
    "edit": lambda w: w.edit("vault:promise.md", "# Promise\n\nBe kind.\n"),
    "commit a proposal": lambda w: w.proposal_commit([1], store="vault"),
    "undo": lambda w: w.undo(),
}


def close(home: AgentHome) -> None:
    home.write("workbench.toml", "[vault]\nmain_writes = false\n")


@pytest.fixture
def prepared(settled: AgentHome) -> AgentHome:
    """A home with a proposal, in which the main agent has written the vault last."""
    with settled.open("agent:researcher") as workspace:
        workspace.propose("The bridge opens at nine")
    with settled.open("main") as workspace:
        workspace.remember("The gate is painted green", store="vault")
    return settled


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_the_main_agent_writes_the_vault_unless_the_setting_says_otherwise(
    prepared: AgentHome, write: Callable[[Workspace], object]
) -> None:
    with prepared.open("main") as workspace:
        assert write(workspace)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_where_the_vault_is_a_persons_the_main_agent_is_told_why_and_what_to_do(
    prepared: AgentHome, monkeypatch: pytest.MonkeyPatch, write: Callable[[Workspace], object]
) -> None:
    monkeypatch.setenv("WORKBENCH_VAULT_MAIN_WRITES", "false")
    before = prepared.tracked()
    with prepared.open("main") as workspace, pytest.raises(RoleRefused) as refused:
        write(workspace)
    assert "vault.main_writes is false" in refused.value.message
    assert "workbench remember --store vault" in (refused.value.remedy or "")
    assert (refused.value.where or "").startswith("memory/vault")
    assert prepared.tracked() == before


def test_a_person_writes_it_either_way_and_the_rest_stays_open(prepared: AgentHome) -> None:
    close(prepared)
    with prepared.open() as workspace:
        workspace.remember("The house number is seven", store="vault")
        workspace.edit("vault:promise.md", "# Promise\n\nBe kind.\n")
    assert "Be kind." in prepared.text(NOTE)
    with prepared.open("main") as workspace:
        assert workspace.remember("The crane arrived", store="episodic").commit
        assert "only the user can: `workbench remember --store vault`" in workspace.instructions()
