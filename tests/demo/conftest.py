"""The sample, built once for all tests, with state, cache and settings of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.isolation import isolate
from workbench.demo.sample import build
from workbench.engine import FixedClock, Workspace

NOW = datetime(2026, 2, 2, 20, tzinfo=UTC)
# How far memories have faded does not change with the default.
SETTINGS = "decay.lambda = 0.03\n"


@dataclass(frozen=True)
class Sample:
    """Where a sample stands, and what can be read in it."""

    root: Path

    def open(self, role: str = "reader") -> Workspace:
        return Workspace.open(self.root, role=role, clock=FixedClock(NOW))

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def files(self) -> dict[str, bytes]:
        """Return every file outside the history."""
        found = (path for path in self.root.rglob("*") if path.is_file())
        named = ((path.relative_to(self.root), path) for path in found)
        return {str(name): path.read_bytes() for name, path in named if name.parts[0] != ".audit"}


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch, settings=SETTINGS)
        build(folder / "sample", clock=FixedClock(NOW))
        yield Sample(folder / "sample")


@pytest.fixture
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own, with the settings of the sample and none from outside."""
    isolate(tmp_path, monkeypatch, settings=SETTINGS)
    return tmp_path
