"""What is searched beside the workspace's own memory is told what changed in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.engine.search.qmd.stand_in import answering, result, write_stand_in
from tests.engine.services.agent_home import AgentHome
from workbench.engine.search.qmd import QmdAnswer

SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA3"


@dataclass
class Told:
    """A back end that counts what it is told and finds nothing."""

    changes: list[str] = field(default_factory=list)

    def changed(self) -> None:
        self.changes.append("changed")

    def is_due(self) -> bool:
        return False

    def search(self, *asked: object) -> QmdAnswer:
        return QmdAnswer((), "search")


def test_qmd_is_told_of_changes_by_whoever_made_them(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_SEARCH_BACKEND", "qmd")
    told = Told()
    with settled.open("main") as workspace:
        monkeypatch.setattr(workspace._context.outside, "_qmd", told)
        for expected in (1, 1):
            assert workspace.search("ferry").provider == "qmd"
            assert len(told.changes) == expected
        workspace.remember("The ferry leaves at nine", store="episodic")
        workspace.search("ferry")
        assert len(told.changes) == 2


def test_out_of_its_scope_qmd_is_not_asked_and_the_answer_says_so(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_SEARCH_BACKEND", "qmd")
    monkeypatch.setenv("WORKBENCH_QMD_SCOPE", "allow group,deny")
    with settled.open("main") as workspace:
        monkeypatch.setattr(workspace._context.outside, "_qmd", Told())
        found = workspace.search("ferry")
        assert found.provider != "qmd"
        assert "qmd.scope" in (found.fallback or "")


def test_with_qmd_transcripts_are_copied_masked_for_it_alone(
    settled: AgentHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {
        "type": "message",
        "message": {"role": "user", "content": f"The key is {SECRET}, the zeppelin waits."},
    }
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/a.jsonl").write_text(json.dumps(said) + "\n")
    program = write_stand_in(tmp_path / "stand-in", answering(result("sessions/a.md")))
    for name, value in (
        ("SEARCH_BACKEND", "qmd"),
        ("SEARCH_SESSION_PATHS", str(tmp_path / "theirs")),
        ("QMD_COMMAND", str(program)),
        ("QMD_TIMEOUT_MS", "30000"),
        ("QMD_TRANSCRIPTS", "true"),
    ):
        monkeypatch.setenv(f"WORKBENCH_{name}", value)
    with settled.open("main") as workspace:
        found = workspace.search("zeppelin")
        assert found.fallback is None
        (hit,) = found.results
        text = workspace.get(hit.path).text
    assert (hit.path, hit.store) == ("qmd/sessions/a.md", "session")
    assert "zeppelin" in text
    assert SECRET not in text
