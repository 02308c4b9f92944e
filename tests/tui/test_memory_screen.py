"""The detail of one memory on a screen of its own, over a real workspace."""

from __future__ import annotations

from tests.tui.seen_workspace import looking
from workbench.engine import Workspace


async def test_the_workspace_opens(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        assert pilot.app.screen
