"""Reflecting by a model that fails: rules stand in, people are told, and what it was asked can be read afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import openai  # noqa: F401  # loaded before any time-out is measured
import pytest

from tests.engine.providers.model_server import ModelServer, completion, failure
from tests.engine.services.agent_home import AgentHome

EPISODE = "episode:2026-02-01:09:15"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with closing(ModelServer()) as running:
        monkeypatch.setenv("WORKBENCH_MODEL_BASE_URL", running.url)
        monkeypatch.setenv("WORKBENCH_MODEL_API_KEY", "sk-secret-1")
        monkeypatch.setenv("WORKBENCH_MODEL_NAME", "small")
        yield running


def test_a_model_that_refuses_is_replaced_and_the_proposal_says_so(
    settled: AgentHome, server: ModelServer
) -> None:
    server.answers = [failure(403, "no")]
    with settled.open("person") as workspace:
        reflected = workspace.reflect()
        text = workspace.get("memory/meta/pending-reflection.md").text

    assert reflected.id == "r-001"
    phases = reflected.review.phases
    assert all(phase.mind == "rules" for phase in phases)
    assert any(phase.fallback for phase in phases)
    assert "**Thought by**: rules (" in text


def test_what_a_model_was_asked_is_kept_and_goes_with_a_purge(
    settled: AgentHome, server: ModelServer
) -> None:
    server.answers = [completion('{"nothing": "useful"}')]
    with settled.open("person") as workspace:
        reflected = workspace.reflect()
        asked = workspace.reflection_trace(reflected.id)
        workspace.forget(ids=[EPISODE], apply=True, hard=True, purge_history=True)

        assert "Backups run at midnight" in str(asked)
        assert "sk-secret-1" not in str(asked)
        assert asked[0]["phase"] == "survey"
        assert workspace.reflection_trace(reflected.id) == ()


def test_what_was_kept_of_a_model_may_be_damaged(settled: AgentHome, server: ModelServer) -> None:
    server.answers = [completion('{"nothing": "useful"}')]
    with settled.open("person") as workspace:
        reflected = workspace.reflect()
        (place,) = (settled.root.parent / "cache").rglob(f"{reflected.id}.json")
        place.write_bytes(b'[{"phase": "sur')

        assert workspace.reflection_trace(reflected.id) == ()


def test_no_model_is_asked_where_the_settings_say_so(
    settled: AgentHome, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_REFLECTION_MODEL", "false")
    with settled.open("person") as workspace:
        reflected = workspace.reflect()

        assert server.requests == []
        assert workspace.reflection_trace(reflected.id) == ()


def test_a_model_that_wastes_the_budget_costs_nothing_of_what_rules_find(
    settled: AgentHome, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wasteful = completion("I would rather talk about tea.")
    body = wasteful.body.replace(b'"completion_tokens": 7', b'"completion_tokens": 1000000')
    assert body != wasteful.body
    server.answers = [replace(wasteful, body=body)]
    with settled.open("person") as workspace:
        wasted = workspace.reflect()
        workspace.undo()
        monkeypatch.setenv("WORKBENCH_REFLECTION_MODEL", "false")
    with settled.open("person") as workspace:
        by_rules = workspace.reflect()

    assert len(wasted.ids) == len(by_rules.ids) > 0
    tokens = wasted.review.tokens
    assert 0 < tokens.used <= tokens.cap
