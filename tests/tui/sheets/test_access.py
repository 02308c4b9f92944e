"""Tokens in the bench: who comes in from other machines, and shutting one out."""

from __future__ import annotations

from tests.tui.frame.hands import frame_of, opened, press, said
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.engine.clock import SystemClock
from workbench.engine.services.access import TokenFolder
from workbench.tui.parts.chooser import ChooserPart


async def test_a_token_is_shown_with_its_last_use_and_revoked_once_that_is_said(seen: Workspace) -> None:
    secret = seen.token_add("scout").secret
    async with opened(seen) as pilot:
        await press(pilot, "m", "u")
        rows = frame_of(pilot).query_one("#chooser", ChooserPart).list.rows
        shown = " ".join(plain_text(rows.line(at, 100)) for at in range(len(rows)))
        assert "scout: the whole memory: reads and may propose; never used" in shown
        await press(pilot, "enter", "escape")
        assert TokenFolder(seen.state, SystemClock()).opened_by(secret)
        await press(pilot, "m", "u", "enter", "enter")
        assert said(pilot).startswith("Revoked the token scout.")
    assert seen.tokens().tokens == ()


async def test_without_tokens_that_is_said(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "m", "u")
        assert said(pilot) == "No agent on another machine has access: there is no token."
