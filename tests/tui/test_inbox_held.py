"""The Inbox pane: what was held back as a secret, masked, and decided on by a person, over a real workspace."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.tui.held_workspace import (
    ANTHROPIC,
    ASKED,
    AWS,
    IN_NOTES,
    IN_TOOLS,
    NOTES,
    PASSWORD,
    PROPOSED,
    TOKEN,
    held,
)
from tests.tui.inbox_hands import detail, head, listed, pane
from tests.tui.seen_screen import file_text, press, screen_text, toasts
from tests.tui.seen_workspace import NOW, looking, open_seen
from tests.tui.stillness import settle
from workbench.engine import FixedClock, Workspace
from workbench.engine.services.quarantine import FILE
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.held import HELD_GROUP

__all__ = ["held"]


def numbers(workspace: Workspace) -> list[int]:
    return [each.number for each in workspace.secrets_held().held]


async def at(pilot: Pilot[None], number: int) -> None:
    if not pane(pilot).list.go_to(f"held:{number}"):
        raise AssertionError(number)
    await settle(pilot)


async def test_secrets_are_the_first_source_and_masked(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        assert "◆ 5" in screen_text(pilot)
        await press(pilot, "5")
        text = listed(pilot)
        assert (
            text.index("Held back as secrets") < text.index("guest Wi-Fi") < text.index("researcher proposes")
        )
        assert "4 of 4 undecided" in text
        assert "Secrets 4 held back" in head(pilot)
        assert pane(pilot).list.cursor_key == "held:1"
        shown = detail(pilot)
        assert "Looks like a secret: GitHub token" in shown
        assert "researcher proposed it" in shown
        for secret in (TOKEN, PASSWORD, ANTHROPIC, AWS):
            assert secret not in screen_text(pilot)


async def test_a_key_shows_it_and_moving_on_masks_it(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5", "x")
        assert f"the token {TOKEN}" in " ".join(detail(pilot).split())
        await press(pilot, "x")
        assert TOKEN not in screen_text(pilot)
        await press(pilot, "x", "j", "k")
        assert TOKEN not in screen_text(pilot)
        await at(pilot, IN_TOOLS)
        await press(pilot, "x")
        assert AWS in detail(pilot)


async def test_it_is_stored_without_the_secret(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, ASKED)
        await press(pilot, "m")
        assert numbers(held) == [PROPOSED, IN_TOOLS, IN_NOTES]
        (hit,) = held.search("guest Wi-Fi", store="vault", max_results=1).results
        assert "[secret left out]" in hit.snippet
        assert "stored without the secret" in toasts(pilot)
        assert pane(pilot).list.cursor_key.startswith("held:")
        await press(pilot, "u")
        assert held.audit_log(limit=1).entries[0].action == "REVERT"


async def test_a_person_lets_it_in_after_a_question(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, IN_NOTES)
        assert "a placeholder stands there" in detail(pilot)
        await press(pilot, "a")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        assert ANTHROPIC not in file_text(held, NOTES)
        await press(pilot, "s")
        assert ANTHROPIC in file_text(held, NOTES)
        assert numbers(held) == [PROPOSED, ASKED, IN_TOOLS]


async def test_it_is_dropped_after_a_question(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5", "r", "escape")
        assert len(numbers(held)) == 4
        await press(pilot, "r", "d")
        assert numbers(held) == [ASKED, IN_TOOLS, IN_NOTES]
        assert TOKEN not in (held.state / FILE).read_text()
        await at(pilot, IN_NOTES)
        await press(pilot, "r", "d")
        assert "wants [secret left out] in its header" in file_text(held, NOTES)


async def test_a_file_that_was_left_alone_is_let_in(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, IN_TOOLS)
        assert "stays out of history" in " ".join(detail(pilot).split())
        await press(pilot, "a", "s")
        assert IN_TOOLS not in numbers(held)
        assert held.adopt().files == ()
        assert AWS in file_text(held, "TOOLS.md")


async def test_a_file_that_was_left_alone_is_rid_of_it(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5")
        await at(pilot, IN_TOOLS)
        await press(pilot, "m")
        assert "stands there then" in screen_text(pilot)
        await press(pilot, "s")
        assert IN_TOOLS not in numbers(held)
        assert "deploy key: [secret left out]" in file_text(held, "TOOLS.md")


async def test_a_heading_speaks_for_all_below_it(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5")
        pane(pilot).list.go_to(HELD_GROUP)
        await settle(pilot)
        assert "History remembers everything" in detail(pilot)
        await press(pilot, "m")
        assert "Store all 4" in screen_text(pilot)
        await press(pilot, "s")
        assert numbers(held) == []
        assert "4 are stored without the secret" in toasts(pilot)
        await press(pilot, "u")
        assert "[secret left out]" not in file_text(held, NOTES)
        assert held.search("guest Wi-Fi", store="vault").results == ()


async def test_marks_make_it_many(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5", "space", "space", "r")
        assert "Drop all 2" in screen_text(pilot)
        await press(pilot, "d")
        assert numbers(held) == [IN_TOOLS, IN_NOTES]


async def test_an_agent_decides_nothing(held: Workspace) -> None:
    with open_seen(held.root, FixedClock(NOW), "main") as workspace:
        async with looking(workspace, (160, 48)) as pilot:
            await press(pilot, "5")
            for key in ("a", "m", "r", "x"):
                await press(pilot, key)
                assert "Only a person decides" in toasts(pilot)
            assert len(numbers(workspace)) == 4


async def test_the_filter_knows_them(held: Workspace) -> None:
    async with looking(held, (160, 48)) as pilot:
        await press(pilot, "5", "slash", *"kind:secret from:outside", "enter")
        text = listed(pilot)
        assert "deploy key" in text
        assert "guest Wi-Fi" not in text
        assert "harbour office" not in text


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_damaged_file_is_told(held: Workspace, size: tuple[int, int]) -> None:
    (held.state / FILE).write_text("5")
    async with looking(held, size) as pilot:
        await press(pilot, "5")
        assert "damaged" in head(pilot)
        assert "researcher proposes" in listed(pilot)
