"""Files as planners see them, changed by carrying out plans."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from workbench.engine import layout
from workbench.engine.history.plan import Plan

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)


class Files:
    """Files in memory, changed by carrying out plans."""

    def __init__(self, contents: Mapping[str, bytes] | None = None) -> None:
        self.contents = dict(contents or {})

    def read(self, path: str) -> bytes | None:
        return self.contents.get(path)

    def list(self, folder: str) -> list[str]:
        return sorted(path for path in self.contents if path.startswith(folder + "/"))

    def carry_out(self, plan: Plan[Any]) -> None:
        for file in plan.changes:
            assert file.content is not None
            self.contents[file.path] = file.content

    @property
    def scores(self) -> Any:
        """Return the scores file as JSON."""
        return json.loads(self.contents[layout.DECAY_SCORES])

    @scores.setter
    def scores(self, value: Any) -> None:
        self.contents[layout.DECAY_SCORES] = json.dumps(value, indent=2).encode()
