from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# A thousand take hours: WORKBENCH_TEST_SYNC_RUNS=1000 pytest -m campaign tests/sync/test_lives.py
RUNS = int(os.environ.get("WORKBENCH_TEST_SYNC_RUNS", "20"))
SAMPLE = 2


@pytest.mark.slow
@pytest.mark.parametrize("way", ["plain", pytest.param("sealed", marks=pytest.mark.campaign)])
@pytest.mark.parametrize(
    "seed",
    [pytest.param(seed, marks=[pytest.mark.campaign] * (seed > SAMPLE)) for seed in range(1, RUNS + 1)],
)
def test_three_devices_end_alike_whatever_they_die_of(
    seed: int, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "sealed":
        monkeypatch.setenv("WORKBENCH_TEST_SEALED", "1")
    command = [sys.executable, "-m", "tests.sync.lives", str(seed), str(tmp_path / "life")]
    life = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (life.returncode, life.stdout, life.stderr) == (0, "", "")
