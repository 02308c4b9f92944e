"""How the bench looks for one person: themes that can be read, tastes that are obeyed, and the terminal's ground."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual._xterm_parser import XTermParser
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.frame.hands import opened
from tests.tui.frame.test_frame import drawn, frame_app, press, said
from tests.tui.stillness import settle
from workbench.display.cells import cell_width
from workbench.display.ink import SCORE_STEPS, Span, gap, ink, plain_text, spread
from workbench.engine import Workspace
from workbench.engine.settings.sections import BenchSettings, Settings
from workbench.tui.frame.app import FrameApp
from workbench.tui.ground import LateAnswer, Notice, ground_in, understand_notices
from workbench.tui.look import keep_taste, read_look
from workbench.tui.palette import HEAT_STEPS, Palette, in_words
from workbench.tui.themes import (
    DARK,
    DIFFERENCES,
    GROUNDS,
    LIGHT,
    contrast,
    load_themes,
    packaged_themes_folder,
    too_faint,
)

OURS = {"workbench-dark", "workbench-light", "paper", "contrast", "clear", "ansi", "mono"}
COLOURED = sorted(OURS - {"ansi", "mono"})
SOURCE = (packaged_themes_folder() / f"{DARK}.toml").read_text()


@asynccontextmanager
async def looking(workspace: Workspace, folder: Path, **more: bool) -> AsyncIterator[Pilot[None]]:
    app = FrameApp(workspace, config_folder=folder, dark=more.get("dark"))
    app.remembered.place = "timeline"
    app.remembered.place = "timeline"
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        yield pilot


def test_the_themes_are_these_seven() -> None:
    themes = load_themes()
    assert set(themes.by_name) == OURS
    assert themes.problems == ()


@pytest.mark.parametrize("name", COLOURED)
def test_text_and_lines_can_be_told_from_every_ground(name: str) -> None:
    theme = load_themes().by_name[name]
    assert too_faint(theme) == []
    palette = Palette(theme)
    for step in range(SCORE_STEPS):
        colour = palette.style(f"score.{step}").color
        assert colour is not None
        assert colour.triplet is not None
        assert all(contrast(colour.triplet.hex, theme[ground]) >= 4.5 for ground in GROUNDS)
    for step in range(HEAT_STEPS):
        colour = palette.style(f"heat.episodic.{step}").color
        assert colour is not None
        assert colour.triplet is not None
        assert contrast(colour.triplet.hex, theme["ground.paper"]) >= 3
    assert len({theme[each] for each in (*GROUNDS[2:], *DIFFERENCES)}) == len(GROUNDS[2:]) + len(DIFFERENCES)


def test_contrast_goes_as_far_as_it_goes() -> None:
    theme = load_themes().by_name["contrast"]
    assert contrast(theme["ink.text"], theme["ground.paper"]) == pytest.approx(21)


@pytest.mark.parametrize("name", ["ansi", "mono"])
def test_the_cursor_row_is_one_bar_without_colours_of_ours(name: str) -> None:
    palette = Palette(load_themes().by_name[name])
    strip = palette.strip((Span("◎ ", "store.core"), ink("text"), gap(4), ink("soft", "faint")), 30, "cursor")
    styles = [segment.style for segment in strip]
    assert all(
        style is not None and style.reverse and style.color and style.color.is_default for style in styles
    )


def test_the_look_is_that_of_the_variable_then_of_bench_toml_then_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text('theme = "paper"\nplain = true\n')
    told = Settings(bench=BenchSettings(theme="clear", motion="reduced"))
    look = read_look(tmp_path, Settings(bench=told.bench, origins={"bench.motion": "config.toml:3"}))
    assert (look.wanted, look.motion, look.plain) == ("paper", "reduced", True)
    origins = {"bench.theme": "WORKBENCH_BENCH_THEME"}
    assert read_look(tmp_path, Settings(bench=told.bench, origins=origins)).wanted == "clear"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("theme = 3", "write theme ="),
        ('theme = "neon"', "no theme “neon”; there are auto, ansi"),
        ('motion = "wild"', "write motion ="),
        ('colour = "x"', "colour means nothing"),
        ("[keys]\nforget = 3", "write keys as"),
        ('[keys]\nforgte = "x"', "forgte is no command"),
        ("[[", "bench.toml"),
    ],
)
def test_a_broken_bench_toml_is_told_and_left_out(tmp_path: Path, written: str, words: str) -> None:
    (tmp_path / "bench.toml").write_text(written)
    look = read_look(tmp_path, Settings())
    assert words in look.problems[0]
    assert (look.wanted, look.motion, look.keymap.key("forget")) == ("auto", "full", "f")


def test_a_taste_is_written_and_comments_stay(tmp_path: Path) -> None:
    written = '# mine\ntheme = "paper"  # by day\n\n[keys]\npin = "X"\n'
    (tmp_path / "bench.toml").write_text(written)
    assert keep_taste(tmp_path, {"keys.forget": "d", "keys.pin": None, "motion": "reduced"}) == ""
    text = (tmp_path / "bench.toml").read_text()
    assert text.startswith('# mine\ntheme = "paper"  # by day\n')
    look = read_look(tmp_path, Settings())
    assert look.motion == "reduced"
    assert "pin" not in look.keymap.overrides
    assert keep_taste(tmp_path / "bench.toml", {"theme": "x"}).startswith("bench.toml could not be written")


@pytest.mark.parametrize(
    ("dark", "colours", "name"),
    [(None, 1 << 24, DARK), (True, 256, DARK), (False, 256, LIGHT), (False, 16, "ansi"), (True, 0, "mono")],
)
def test_auto_follows_the_terminal(tmp_path: Path, dark: bool | None, colours: int, name: str) -> None:
    assert read_look(tmp_path, Settings()).theme(dark=dark, colours=colours).name == name


@pytest.mark.parametrize(
    ("answer", "dark"),
    [
        (b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?62c", True),
        (b"\x1b]11;rgb:ff/ff/ff\x07", False),
        (b"\x1b]11;rgba:0000/0000/0000/ffff\x1b\\", True),
        (b"\x1b[?6c", None),
        (b"", None),
    ],
)
def test_the_ground_is_read_from_the_terminals_answer(answer: bytes, dark: bool | None) -> None:
    assert ground_in(answer) == dark


def test_an_answer_that_comes_late_is_no_keys() -> None:
    now, heard = [0.0], list[bool]()
    late = LateAnswer(heard.append, lambda: now[0])
    events = list(XTermParser().feed("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;c"))
    assert all(late.swallows(event.key, event.character) for event in events)  # type: ignore[attr-defined]
    assert heard == [False]
    assert not late.swallows("ctrl+q", "\x11")
    now[0] = 1.0
    assert not late.swallows("c", "c")
    now[0] = 9.0
    assert not late.swallows("circumflex_accent", "^")


def test_the_notice_of_a_change_is_a_key_of_its_own() -> None:
    understand_notices()
    events = list(XTermParser().feed("a\x1b[?997;2nb\x1b[?997;1n"))
    keys = [event.key for event in events]  # type: ignore[attr-defined]
    assert keys == ["a", Notice.LIGHT.value, "b", Notice.DARK.value]


async def test_the_bench_turns_light_when_the_terminal_does(seen: Workspace, tmp_path: Path) -> None:
    async with looking(seen, tmp_path, dark=True) as pilot:
        assert pilot.app.theme == DARK
        await press(pilot, Notice.LIGHT.value)
        assert pilot.app.theme == LIGHT
        assert frame_app(pilot).palette.theme.name == LIGHT


async def test_the_next_theme_is_kept(seen: Workspace, tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text('theme = "clear"\n')
    async with looking(seen, tmp_path) as pilot:
        await press(pilot, "ctrl+t")
        assert said(pilot) == "Theme: contrast."
    assert (tmp_path / "bench.toml").read_text() == 'theme = "contrast"\n'


async def test_no_colour_is_mono(seen: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with looking(seen, tmp_path) as pilot:
        assert pilot.app.theme == "mono"
        picture = pilot.app.export_screenshot()
        assert "Timeline" in picture


async def test_theme_and_keys_are_read_again_when_their_files_change(seen: Workspace, tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    mine = tmp_path / "themes" / "mine.toml"
    mine.write_text(SOURCE.replace(f'"{DARK}"', '"mine"'))
    (tmp_path / "bench.toml").write_text('theme = "mine"\n')
    async with looking(seen, tmp_path) as pilot:
        app = frame_app(pilot)
        mine.write_text(SOURCE.replace(f'"{DARK}"', '"mine"').replace("#14161b", "#000000"))
        app._look_again()
        await settle(pilot)
        assert app.palette.theme["ground.paper"] == "#000000"
        assert app.frame.styles.background.hex == "#000000"
        (tmp_path / "bench.toml").write_text('theme = "mine"\n[keys]\npin = "X"\n')
        app._look_again()
        await settle(pilot)
        assert "X pin" in drawn(pilot, "keys")
        await press(pilot, "X")
        assert said(pilot).startswith("Pinned")
        mine.write_text("broken")
        app._look_again()
        await settle(pilot)
        assert "mine.toml: this is not TOML" in said(pilot)
        assert app.theme == DARK


async def test_reduced_motion_lets_no_cursor_blink(
    seen: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Input, "cursor_blink", True)
    (tmp_path / "bench.toml").write_text('motion = "reduced"\n')
    async with looking(seen, tmp_path) as pilot:
        assert not frame_app(pilot).frame.query_one("#ask", Input).cursor_blink


def test_signs_are_words_for_the_ear_and_what_memory_says_stays() -> None:
    line = spread((Span("◎ ", "store.core"), ink("▲ a sign that somebody wrote ◆")), (Span("◆", "soft"),), 60)
    spoken = in_words(line, 60)
    assert plain_text(spoken).startswith("Core: ▲ a sign that somebody wrote ◆")
    assert plain_text(spoken).rstrip().endswith("pinned")
    assert cell_width(plain_text(spoken)) <= 60
    bars = in_words((ink("30 of 60 "), Span("━━━━", "store.core"), Span("────", "rule")), 20)
    assert plain_text(bars).strip() == "30 of 60"
    assert plain_text(in_words((Span("▲1"),), 20)) == "1 alert"
    assert plain_text(in_words((Span("Core"), Span(" ▸ ", "faint"), Span("Mei")), 20)) == "Core, Mei"


async def test_plain_mode_says_everything_in_words(seen: Workspace, tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text("plain = true\n")
    async with looking(seen, tmp_path) as pilot:
        app = frame_app(pilot)
        assert not app.frame.query_one("#rail").display
        assert said(pilot).startswith("Row 2 of")
        await press(pilot, "j")
        place = app.frame.place
        assert app.cursor_position == place.list.content_region.offset + Offset(0, place.list.cursor)
        await press(pilot, "enter")
        assert said(pilot).startswith("Card:")
        picture = pilot.app.export_screenshot()
        assert not set(picture) & set("◎◷◇▤▣◆▲│─━▌")


async def test_comfortable_rows_have_a_space_below_each_and_move_as_close_ones_do(
    seen: Workspace, tmp_path: Path
) -> None:
    async with opened(seen, config_folder=tmp_path) as pilot:
        rows = frame_app(pilot).frame.place.list
        close = list(filter(None, map(rows.rows.key, range(len(rows.rows)))))
        (tmp_path / "bench.toml").write_text('rows = "comfortable"\n')
        frame_app(pilot)._look_again()
        await press(pilot)
        assert list(filter(None, map(rows.rows.key, range(len(rows.rows))))) == close
        await press(pilot, "g", "g", "j")
        assert rows.cursor_key == close[1]
        assert rows.rows.owner(rows.cursor + 1) == rows.cursor
        await press(pilot, "k", "G", "{", "}")
        assert rows.cursor_key in close
