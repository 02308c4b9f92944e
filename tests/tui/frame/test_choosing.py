"""Help and finding anything: narrowed as one types, and what is chosen is done."""

from __future__ import annotations

import pytest

from tests.tui.frame.test_frame import drawn, frame_app, opened, press, said
from tests.tui.seen_workspace import FERRY
from workbench.engine import Workspace
from workbench.tui.parts.chooser import Choice, ChooserPart, narrowed
from workbench.tui.places.graph import GraphPlace


@pytest.mark.parametrize("size", [(80, 24), (160, 40)])
async def test_help_lists_the_keys_of_the_place_and_does_what_is_chosen(
    seen: Workspace, size: tuple[int, int]
) -> None:
    async with opened(seen, size) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "3", "?")
        chooser = frame.query_one("#chooser", ChooserPart)
        assert chooser.chosen is not None
        assert chooser.chosen.section == "Here"
        await press(pilot, *"timeline", "enter")
        assert drawn(pilot, "crumbs").strip().startswith("Timeline")


async def test_what_only_one_place_can_do_is_found_anywhere_and_done_there(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3", "?", *"rate at", "enter")
        assert drawn(pilot, "crumbs").strip().startswith("Decay")
        assert "A trial" in said(pilot)
        await press(pilot, "escape", "?", *"draw", "enter")
        place = frame_app(pilot).frame.place
        assert isinstance(place, GraphPlace)
        assert place.at.is_drawn


async def test_a_memory_is_found_by_any_of_its_words(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "ctrl+p", *"beaufort", "enter")
        assert drawn(pilot, "crumbs").strip().startswith("Core")
        await press(pilot, "ctrl+p", *"no such words", "enter")
        assert said(pilot) == "Nothing was chosen."
        assert frame.place.list.has_focus


async def test_a_setting_is_found_by_its_name_and_gone_to(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, ",", "l", *"theme", "enter")
        await press(pilot, "3", "ctrl+p", *"half-life", "up")
        chooser = frame_app(pilot).frame.query_one("#chooser", ChooserPart)
        assert chooser.list.rows.find("go:settings#decay.lambda") is not None
        chooser.list.go_to("go:settings#decay.lambda")
        await press(pilot, "enter")
        assert drawn(pilot, "crumbs").strip().startswith("Settings")
        assert frame_app(pilot).frame.place.cursor_key == "decay.lambda"


async def test_escape_closes_and_keys_are_commands_again(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "ctrl+p", *"3", "escape", "3")
        assert drawn(pilot, "crumbs").strip().startswith("Core")


def test_every_word_that_is_typed_narrows() -> None:
    choices = [Choice("run:pin", "Keep from fading.", "Do", "p"), Choice(FERRY, "Ferry", "Memories")]
    assert narrowed(choices, "") == choices
    assert narrowed(choices, "FADING keep") == choices[:1]
    assert narrowed(choices, "fading ferry") == []
