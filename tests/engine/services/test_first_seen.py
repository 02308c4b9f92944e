"""When adopted memories came into the history: recorded bit by bit, whatever comes between."""

from __future__ import annotations

from pathlib import Path

from tests.engine.services.agent_home import AgentHome
from workbench.engine.catalog.catalog import Catalog
from workbench.engine.history.git_store import GitStore
from workbench.engine.services.first_seen import FirstSeen, note_first_seen


def test_a_recording_that_was_called_off_goes_on_where_it_was(settled: AgentHome, tmp_path: Path) -> None:
    for number in range(4):
        settled.write(f"memory/procedures/step-{number}.md", f"# Step {number}\n\nDo it.\n")
        with settled.open() as workspace:
            workspace.adopt()
            zone = workspace.settings.zone
    store = GitStore(settled.root / ".audit")

    def recorded(name: str, *most: int) -> dict[str, object]:
        """Record in turns, each called off when it has asked so often; return what is known after the last."""
        catalog = Catalog(settled.root, tmp_path / name, zone)
        catalog.sync()
        for times in most:
            asked = iter(range(times))
            note_first_seen(catalog, store, cancelled=lambda asked=asked: next(asked, None) is None)  # type: ignore[misc]  # mypy knows no defaults of lambdas
        found = FirstSeen(catalog).everything()
        catalog.close()
        return dict(found)

    whole = recorded("whole", 1_000)
    assert sum("step-" in name for name in whole) == 4
    walked = sum(1 for _ in store.walk())
    assert recorded("nothing", walked - 1) == {}
    part = recorded("part", walked + 2)
    assert 0 < len(part) < len(whole)
    assert recorded("goes-on", walked + 2, walked + 1, 1_000) == whole
