"""Many processes propose at once while the main agent decides; `tests/benchmarks/proposing.py` does it at full size."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.proposing import run
from tests.isolation import isolate


@pytest.mark.slow
def test_every_proposal_gets_one_verdict_whoever_writes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(tmp_path, monkeypatch, timezone="Europe/Stockholm")
    # It checks numbers, verdicts, file and history itself, and ends with an error where one is wrong.
    assert run(tmp_path / "agent", agents=4, each=6)["proposals"] == 24
