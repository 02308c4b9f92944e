"""The sample, exported and imported, is the sample."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.demo.conftest import Sample
from workbench.engine import FixedClock, Workspace, layout

NOW = datetime(2026, 2, 2, 20, tzinfo=UTC)


def test_it_comes_back_the_same(sample: Sample, isolated: Path) -> None:
    clock = FixedClock(NOW)
    with sample.open() as workspace:
        workspace.export(isolated / "sample.jsonl")
        before, graph, core = workspace.decay(), workspace.graph(), workspace.core()
    Workspace.init(isolated / "copy", clock=clock, timezone=before_zone(sample))
    with Workspace.open(isolated / "copy", role="person", clock=clock) as workspace:
        imported = workspace.import_from(isolated / "sample.jsonl")
        assert imported.left_out == ()
        after = workspace.decay()
        assert workspace.graph() == graph
        assert workspace.core() == core
        scores = [(each.id, each.raw, each.status, each.pinned, each.access_count) for each in after.entries]
        assert scores == [
            (each.id, each.raw, each.status, each.pinned, each.access_count) for each in before.entries
        ]
        assert workspace.search("Nordlicht").results
    for path in layout.tracked_files(sample.root):
        if layout.is_memory_file(path) and path != layout.DECAY_SCORES:
            assert (isolated / "copy" / path).read_bytes() == (sample.root / path).read_bytes(), path


def before_zone(sample: Sample) -> str:
    """Return the zone of the sample."""
    with sample.open() as workspace:
        return workspace.settings.zone.key
