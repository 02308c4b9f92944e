"""What is searched beside the workspace's own memory is told what changed in it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine.search.qmd_results import QmdAnswer


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
