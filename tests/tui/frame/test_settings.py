"""Settings are found, changed by a line or by steps, put as made; keys are pressed to be remapped, and swapped."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from tests.tui.frame.hands import drawn, frame_of, opened, press, said
from workbench.display.cells import cell_width
from workbench.display.ink import plain_text
from workbench.display.settings import section_lines, setting_row
from workbench.engine import Workspace
from workbench.engine.settings.wording import SECTIONS
from workbench.tui.frame.app import FrameApp
from workbench.tui.places.settings import KeyRows, SettingRows

TOML = "workbench.toml"


def own_file() -> Path:
    return Path(os.environ["WORKBENCH_CONFIG"])


async def at(pilot: object, key: str) -> None:
    """Go to the row of a setting, or of what has a key."""
    frame = frame_of(pilot)  # type: ignore[arg-type]
    frame.go("settings", spot="Keys" if key.startswith("key:") else "", row=key)
    await press(pilot)  # type: ignore[arg-type]
    assert frame.place.cursor_key == key


def card(pilot: object) -> str:
    frame = frame_of(pilot)  # type: ignore[arg-type]
    return " ".join(" ".join(plain_text(line) for line in frame.place.card.lines).split())


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (240, 60)])
async def test_every_section_is_there_and_says_where_one_is(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, "comma")
        rows = frame_of(pilot).place.all_rows
        assert isinstance(rows, SettingRows)
        assert rows.sections == tuple(SECTIONS)
        await press(pilot, "}", "}")
        assert "Forgetting" in drawn(pilot, "sections")
        assert "Half-life" in drawn(pilot, "crumbs")
        assert "loses half of its relevance" in card(pilot)


@pytest.mark.parametrize("width", range(8, 200, 7))
def test_rows_and_sections_fit_every_width(seen: Workspace, width: int) -> None:
    for row in seen.settings_listed().settings:
        assert cell_width(plain_text(setting_row(row, width))) <= width
    for name in SECTIONS:
        lines = [plain_text(line) for line in section_lines(tuple(SECTIONS), name, "", width)]
        assert all(cell_width(line) <= width for line in lines)
        if width > 20:
            assert " · ".join(lines) == " · ".join(SECTIONS)


async def test_a_setting_is_written_in_a_line_and_undone(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await at(pilot, "decay.lambda")
        await press(pilot, "e")
        line = frame_of(pilot).editing
        assert line.is_asking
        await press(pilot, "ctrl+a", *"soon", "enter")
        assert "takes days, such as “23 days”" in said(pilot)
        await press(pilot, "ctrl+a", "3", "5", "space", "d", "enter")
        assert said(pilot) == f"Set “Half-life” to 35 days in {TOML}. u takes that back."
        assert "35 days" in card(pilot)
        assert f"{TOML}, line" in card(pilot)
        await press(pilot, "u")
        assert said(pilot).startswith("Took back")
        assert "23 days" in card(pilot)


async def test_choices_are_stepped_through_and_taken_with_enter(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await at(pilot, "reflection.model")
        head = seen.head()
        await press(pilot, "right")
        assert "By the model: on · ▸off" in said(pilot).replace("▸on · off", "on · ▸off")
        assert "take off" in drawn(pilot, "keys")
        await press(pilot, "p")
        assert said(pilot) == "By the model “p”: none has that in its name; backspace takes a letter away."
        await press(pilot, "backspace")
        await press(pilot, "escape")
        assert said(pilot) == "Left as it was."
        assert seen.head() == head
        await press(pilot, "e", "right", "enter")
        assert said(pilot).startswith("Set “By the model” to off")
        assert not seen.settings.reflection.model
        await press(pilot, "r")
        assert said(pilot).startswith("Put “By the model” back to its default, on")


async def test_what_only_the_person_may_set_goes_to_their_own_file(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await at(pilot, "editor")
        assert "Only you may set it" in card(pilot)
        await press(pilot, "e", "v", "i", "enter")
        assert said(pilot) == "Set “Editor” to vi in config.toml."
        assert "It takes effect when the bench is opened again." in card(pilot)
        assert tomllib.loads(own_file().read_text())["editor"] == "vi"
        await press(pilot, "o")
        evidence = frame_of(pilot).place.evidence.evidence
        assert evidence is not None
        assert evidence.lines[evidence.first - 1].text == 'editor = "vi"'


async def test_a_secret_is_never_on_the_screen(seen: Workspace) -> None:
    own_file().write_text('[model]\napi_key = "not-for-eyes"\n')
    async with opened(seen, (240, 60)) as pilot:
        await at(pilot, "model.api_key")
        await press(pilot, "x", "e")
        assert "not-for-eyes" not in pilot.app.export_screenshot()
        await press(pilot, *"zebraq", "enter")
        assert said(pilot) == "Set “Chat key” to set in config.toml."
        assert tomllib.loads(own_file().read_text())["model"]["api_key"] == "zebraq"
        await press(pilot, "o")
        assert "(not shown)" in pilot.app.export_screenshot().replace("&#160;", " ")
        assert "zebraq" not in pilot.app.export_screenshot()


async def test_what_is_refused_says_so_and_changes_nothing(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await at(pilot, "decay.archive_threshold")
        head = seen.head()
        await press(pilot, "e", "ctrl+a", *"0.9", "enter")
        assert "must not be higher than the one before" in said(pilot)
        await press(pilot, "p")
        assert said(pilot) == "A setting is not a memory; e changes it, r puts it back to its default."
        await press(pilot, "r")
        assert said(pilot) == "This is the default already."
        assert seen.head() == head


async def test_a_theme_is_tried_while_one_steps_and_kept_with_enter(seen: Workspace, tmp_path: Path) -> None:
    async with opened(seen, config_folder=tmp_path) as pilot:
        await at(pilot, "bench.theme")
        await press(pilot, "right")
        assert pilot.app.theme == "ansi"
        await press(pilot, "escape")
        assert pilot.app.theme == "workbench-dark"
        await press(pilot, "left")
        assert pilot.app.theme == "tokyo-night"
        assert (
            said(pilot)
            == "Theme: … solarized-dark · solarized-light · textual-dark · textual-light · ▸tokyo-night"
        )
        await press(pilot, *["right"] * 6, "enter")
        assert said(pilot) == "Theme is paper, in bench.toml."
        assert (tmp_path / "bench.toml").read_text() == 'theme = "paper"\n'
        await press(pilot, "r")
        assert said(pilot) == "Theme is back to its default."
        assert pilot.app.theme == "workbench-dark"
        await press(pilot, "u")
        assert drawn(pilot, "keys").strip().startswith("What was done last has no undo.")


async def test_letters_find_a_theme_and_enter_takes_only_what_is_seen(
    seen: Workspace, tmp_path: Path
) -> None:
    async with opened(seen, config_folder=tmp_path) as pilot:
        await at(pilot, "bench.theme")
        await press(pilot, "e", *"no")
        assert said(pilot) == "Theme “no”: mono · monokai · ▸nord"
        assert pilot.app.theme == "nord"
        await press(pilot, "left")
        assert pilot.app.theme == "monokai"
        await press(pilot, "z", "enter")
        assert said(pilot) == "Theme “noz”: none has that in its name; backspace takes a letter away."
        assert not (tmp_path / "bench.toml").exists()
        await press(pilot, "backspace", "escape")
        assert pilot.app.theme == "workbench-dark"
        await press(pilot, "e", *"gruv", "enter")
        assert said(pilot) == "Theme is gruvbox, in bench.toml."


async def test_a_key_is_pressed_to_be_the_new_one(seen: Workspace, tmp_path: Path) -> None:
    async with opened(seen, config_folder=tmp_path) as pilot:
        await at(pilot, "bench.keymap")
        await press(pilot, "enter")
        rows = frame_of(pilot).place.all_rows
        assert isinstance(rows, KeyRows)
        await at(pilot, "key:forget")
        await press(pilot, "e")
        assert said(pilot) == "Forget: press the new key."
        await press(pilot, "ctrl+i")
        assert frame_of(pilot).stepping.is_waiting
        await press(pilot, "X")
        assert said(pilot) == "Put “Forget” on X. r puts it back."
        assert tomllib.loads((tmp_path / "bench.toml").read_text()) == {"keys": {"forget": "X"}}
        assert "in bench.toml, [keys] forget" in card(pilot)
        await press(pilot, "4", "X")
        assert said(pilot).startswith("Archived")
        await press(pilot, "f")
        assert said(pilot).startswith("f is no key here")
        await press(pilot, "comma", "r")
        assert said(pilot) == "Forget is back to its default."
        assert frame_of(pilot).keymap.key("forget") == "f"


async def test_a_clash_is_shown_and_a_swap_offered(seen: Workspace, tmp_path: Path) -> None:
    async with opened(seen, config_folder=tmp_path) as pilot:
        await at(pilot, "key:forget")
        await press(pilot, "e", "3")
        assert said(pilot) == "3 is a key that stays where it is. Press another, or esc."
        await press(pilot, "d")
        assert said(pilot) == "d is the key of “decline”. Nothing is changed yet."
        assert "swap: decline gets f" in drawn(pilot, "keys")
        await press(pilot, "escape")
        assert said(pilot) == "Both keep their keys."
        assert not (tmp_path / "bench.toml").exists()
        await press(pilot, "e", "d", "enter")
        assert said(pilot) == "Put “Forget” on d, and “decline” on f. r puts it back."
        keymap = frame_of(pilot).keymap
        assert (keymap.key("forget"), keymap.key("decline"), keymap.problems) == ("d", "f", ())
        await press(pilot, "r")
        assert said(pilot) == "f has another use now; put that elsewhere first."


async def test_the_preset_vim_is_taken(seen: Workspace, tmp_path: Path) -> None:
    async with opened(seen, config_folder=tmp_path) as pilot:
        await at(pilot, "key:preset")
        await press(pilot, "right", "enter")
        assert said(pilot) == "The keys start from vim now."
        assert frame_of(pilot).keymap.key("history") == "H"
        await press(pilot, "escape")
        assert frame_of(pilot).place.cursor_key == "bench.keymap"


async def test_broken_tastes_are_told_on_their_cards(seen: Workspace, tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "mine.toml").write_text("name = 3")
    (tmp_path / "bench.toml").write_text('theme = "neon"\n[keys]\nforget = "d"\n')
    async with opened(seen, config_folder=tmp_path) as pilot:
        await at(pilot, "bench.theme")
        assert "3 not usable" in plain_text(frame_of(pilot).place.head.lines(60)[0])
        text = card(pilot)
        assert "mine.toml" in text
        assert "There is no theme “neon”" in text
        await at(pilot, "bench.keymap")
        assert "is the key of decline too" in card(pilot)


async def test_a_half_life_is_tried_in_decay(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await at(pilot, "core.cap")
        await press(pilot, "m", "g")
        assert said(pilot) == "Only the half-life can be tried."
        await at(pilot, "decay.lambda")
        await press(pilot, "m", "g")
        assert drawn(pilot, "crumbs").strip().startswith("Decay")
        assert "TRIAL" in plain_text(frame_of(pilot).place.head.lines(100)[0])


async def test_the_filter_goes_through_all_sections(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "comma", "l", *"token", "enter")
        place = frame_of(pilot).place
        assert 5 < place.filter.shown < place.filter.total
        assert isinstance(pilot.app, FrameApp)


async def test_a_filter_for_what_a_key_does_finds_the_way_to_all_keys(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "comma", "l", *"pin", "enter")
        place = frame_of(pilot).place
        assert "bench.keymap" in [place.list.rows.key(at) for at in range(len(place.list.rows))]


async def test_every_key_is_listed_whatever_the_settings_were_filtered_by(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await at(pilot, "bench.keymap")
        await press(pilot, "l", *"key", "enter", "enter")
        rows = frame_of(pilot).place.all_rows
        assert isinstance(rows, KeyRows)
        assert frame_of(pilot).place.list.rows is rows
