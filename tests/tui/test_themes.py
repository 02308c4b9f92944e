"""Our themes can be read by everybody; a broken one is named and replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.display.ink import SCORE_STEPS
from workbench.engine.settings.sections import Settings
from workbench.tui.look import borrow, borrowed_names, read_look
from workbench.tui.palette import Palette
from workbench.tui.themes import (
    DARK,
    LIGHT,
    BrokenTheme,
    contrast,
    load_themes,
    packaged_themes_folder,
    parse_theme,
    too_faint,
)

SOURCE = (packaged_themes_folder() / f"{DARK}.toml").read_text()


@pytest.mark.parametrize("name", [DARK, LIGHT])
def test_brightness_grows_with_the_score(name: str) -> None:
    theme = load_themes().by_name[name]
    palette = Palette(theme)
    steps = [palette.style(f"score.{step}").color for step in range(SCORE_STEPS)]
    values = [contrast(c.triplet.hex, theme["ground.paper"]) for c in steps if c and c.triplet]
    assert values == sorted(values)
    assert len(set(values)) == SCORE_STEPS
    assert values[0] >= 2.5


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (SOURCE.replace('paper = "#14161b"', 'paper = "black"'), "ground.paper is no colour"),
        (SOURCE.replace("soft =", "sofd ="), "did you mean ink.soft?"),
        (SOURCE.replace('danger = "#f0807a"', ""), "meaning.danger is missing"),
        (SOURCE.replace("dark = true", 'dark = "yes"'), "dark = true or dark = false"),
        ("name = [", "this is not TOML"),
        ("name = " + "9" * 5_000, "this is not TOML"),
        ("", "give the theme a name"),
        (SOURCE.replace("[store]", "[stores]"), "did you mean store?"),
    ],
)
def test_a_broken_theme_says_what_to_mend(source: str, complaint: str) -> None:
    with pytest.raises(BrokenTheme, match=r"mine\.toml") as caught:
        parse_theme(source, "mine.toml")
    assert complaint in str(caught.value)


def test_a_users_theme_is_found_and_a_broken_one_does_not_hide_the_rest(tmp_path: Path) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    (folder / "mine.toml").write_text(SOURCE.replace(f'"{DARK}"', '"mine"'))
    (folder / "broken.toml").write_text("name = 3")
    (tmp_path / "bench.toml").write_text('theme = "mine"\n')
    look = read_look(tmp_path, Settings())
    assert look.theme(dark=True, colours=1 << 24).name == "mine"
    assert any("broken.toml" in problem for problem in look.problems)


def test_an_unknown_theme_falls_back_with_a_word(tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text('theme = "neon"\n')
    look = read_look(tmp_path, Settings())
    assert look.theme(dark=True, colours=1 << 24).name == DARK
    assert any("neon" in problem for problem in look.problems)


@pytest.mark.parametrize("name", borrowed_names())
def test_what_textual_brings_can_be_read_as_ours(name: str) -> None:
    theme = borrow(name)
    assert set(theme.colours) == set(load_themes().by_name[DARK].colours)
    assert too_faint(theme) == []
