"""A workspace whose local models crash: something else answers, people are told, and may have it tried again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.providers.stand_in_llama import install, model_file
from tests.engine.services.agent_home import AgentHome

LOADING = "STAND_IN_LLAMA"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both models are local and crash; the size of the file is the number of processes."""
    model = str(model_file(tmp_path))
    monkeypatch.setenv("WORKBENCH_EMBEDDING_PROVIDER", "local")
    monkeypatch.setenv("WORKBENCH_EMBEDDING_MODEL_PATH", model)
    monkeypatch.setenv("WORKBENCH_MODEL_PATH", model)
    return install(tmp_path / "site", monkeypatch, loading="SIGILL")


def test_everything_goes_on_and_each_model_is_tried_once(settled: AgentHome, runs: Path) -> None:
    for _ in range(2):
        with settled.open("person") as workspace:
            found = workspace.search("backups midnight")
            assert found.results
            assert found.provider == "builtin"
            assert "illegal instruction" in (found.fallback or "")
            assert "GGML_NATIVE=OFF" in (found.fallback or "")
            kept = workspace.remember("Sam reviews the backend on Thursdays")
            assert kept.router == "rules"
            assert "illegal instruction" in (kept.fallback or "")
            assert workspace.index().provider == "builtin"
    with settled.open("person") as workspace:
        phases = workspace.reflect().review.phases
        assert {phase.mind for phase in phases} == {"rules"}
        assert any("illegal instruction" in (phase.fallback or "") for phase in phases)
        status = workspace.index_status()
    assert (status.provider, status.dirty) == ("builtin", True)
    assert "illegal instruction" in (status.fallback or "")
    assert runs.stat().st_size == 2


def test_doctor_tries_again_and_says_how_that_went(
    settled: AgentHome, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open("person") as workspace:
        workspace.search("backups")
        checks = {check.name: check for check in workspace.doctor().checks}
        for name in ("search", "model"):
            assert checks[name].state == "degraded"
            assert "illegal instruction" in checks[name].detail
        assert "GGML_NATIVE=OFF" in (checks["model"].remedy or "")
        assert runs.stat().st_size == 3
    monkeypatch.setenv(LOADING, "")
    with settled.open("person") as workspace:
        assert workspace.index_status().provider == "builtin"
        checks = {check.name: check for check in workspace.doctor().checks}
        assert "illegal instruction" not in checks["search"].detail
        found = workspace.search("backups")
    assert (found.provider, found.fallback) == ("local", None)


def test_building_the_index_by_force_tries_again(
    settled: AgentHome, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open("person") as workspace:
        assert workspace.index().provider == "builtin"
        monkeypatch.setenv(LOADING, "")
        assert workspace.index().provider == "builtin"
        status = workspace.index(force=True)
    assert (status.provider, status.model, status.fallback) == ("local", "model.gguf", None)
    assert runs.stat().st_size == 2


@pytest.mark.parametrize("failure", ["SIGSEGV", "EXIT"])
def test_a_crash_in_the_middle_of_indexing_is_survived(
    failure: str, settled: AgentHome, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOADING, "")
    monkeypatch.setenv("WORKBENCH_MODEL_PATH", "")
    with settled.open("person") as workspace:
        assert workspace.index().provider == "local"
        workspace.remember(f"What {failure} does to the Tuesday backups", store="episodic")
        status = workspace.index()
        assert status.provider == "builtin"
        assert "llama.cpp" in (status.fallback or "")
        assert workspace.search("Tuesday").results
    # The model as such runs, so the next process asks it again.
    with settled.open("person") as workspace:
        assert workspace.index_status().provider == "local"
