"""Commands explain themselves, do not fight over keys, and fit on the bottom line."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from workbench.display.ink import line_width, plain_text
from workbench.tui.app import BenchApp
from workbench.tui.bench import Status
from workbench.tui.keymap import SECTIONS, all_commands, check_overrides
from workbench.tui.panes import PANES, pane_class
from workbench.tui.views.status import bottom_line, top_line

NOW = datetime(2026, 2, 2, tzinfo=UTC)


def test_every_command_explains_itself() -> None:
    for command in all_commands():
        assert len(command.help()) > 5, command.id
        assert command.help().endswith(".") or ":" in command.help(), command.id
        assert command.section in SECTIONS
        assert command.key


def test_no_two_commands_of_a_pane_share_a_key() -> None:
    for name, title, _ in PANES:
        pane = pane_class(name)
        assert pane.title == title
        keys = [binding.key for cls in (pane, BenchApp) for _, binding in cls._merge_bindings()]
        assert len(keys) == len(set(keys)), pane.title


def test_clashes_and_unknown_names_are_told() -> None:
    usable, problems = check_overrides({"pin": "x", "forget": "x", "none": "y"}, ["pin", "forget"])
    assert usable == {"pin": "x", "forget": "x"}
    assert len(problems) == 2


async def bottom(pilot: Pilot[None]) -> tuple[str, list[tuple[str, str]]]:
    app = pilot.app
    assert isinstance(app, BenchApp)
    line, _ = bottom_line(app.status, app.shown_keys(), 80)
    return plain_text(line), app.shown_keys()


@pytest.mark.parametrize("pane", range(len(PANES)))
async def test_what_matters_here_fits_eighty_columns_with_everything_waiting(
    bench: FakeBench, running: Running, pane: int
) -> None:
    bench.open_alerts = bench.open_alerts * 12
    bench.to_decide = 120
    bench.notices = ("The index is stale.",)
    async with running(bench, (80, 24)) as pilot:
        # Search begins in its line, where keys write.
        await pilot.press(str(pane + 1), *["escape"] * (PANES[pane][0] == "search"))
        await settle(pilot)
        text, keys = await bottom(pilot)
        assert line_width(bottom_line(pilot.app.status, keys, 80)[0]) == 80  # type: ignore[attr-defined]  # BenchApp
        assert text.rstrip().endswith("? help")
        assert "12 alerts" in text
        assert "120" in text
        for key, label in keys[:5]:
            assert f"{key} {label}" in text
        shown = [text.index(f"{key} {label}") for key, label in keys[1:5]]
        assert all(one < other for one, other in pairwise(shown))


def test_with_nothing_waiting_and_many_panes_the_lines_still_fit() -> None:
    panes = ["Core", "Timeline", "Audit", "Search", "Inbox", "Graph", "Decay", "Time machine", "Sessions"]
    status = Status("a-workspace-with-quite-a-long-name", "/x", "agent:researcher", NOW)
    for width in range(40, 200, 7):
        line = top_line(status, panes, 3, width)
        assert line_width(line) <= width
        if width >= 60:
            assert "4 Search" in plain_text(line)
            assert plain_text(line).rstrip().endswith("now")
        assert line_width(bottom_line(status, [("?", "help")] * 20, width)[0]) <= width


_TITLES = ("Core", "Timeline", "Audit", "Search", "Inbox", "Graph", "Decay", "Past", "Sessions")


@pytest.mark.parametrize(
    ("width", "told"),
    [
        (60, "1 2 3 4 Search 5 6 7 8 9"),
        (80, "1 Cor 2 Tim 3 Aud 4 Search 5 Inb 6 Gra 7 Dec 8 Pas 9 Ses"),
        (96, "1 Core 2 Timeline 3 Audit 4 Search 5 Inbox 6 Graph 7 Decay 8 Past 9 Sessions"),
        (120, "1 Core 2 Timeline 3 Audit 4 Search 5 Inbox 6 Graph 7 Decay 8 Past 9 Sessions"),
    ],
)
def test_panes_keep_of_their_names_what_there_is_room_for_and_can_be_clicked(width: int, told: str) -> None:
    line = top_line(Status("harbor", "/x", "person", NOW), _TITLES, 3, width)
    assert told in " ".join(plain_text(line).split())
    assert list(dict.fromkeys(span.link for span in line if span.link)) == [f"pane:{at}" for at in range(9)]


def test_nothing_in_the_top_line_moves_where_another_pane_is_shown() -> None:
    status = Status("workbench-demo", "/x", "person", NOW)
    for width in range(60, 200):
        lines = [plain_text(top_line(status, _TITLES, at, width)) for at in range(9)]
        assert len({line.index(" 1") for line in lines}) == 1


async def test_keys_can_be_remapped(bench: FakeBench, running: Running, tmp_path: object) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    (tmp_path / "bench.toml").write_text('[keys]\nforget = "x"\n')
    async with running(bench, config_folder=tmp_path) as pilot:
        assert ("x", "forget") in pilot.app.shown_keys()  # type: ignore[attr-defined]  # BenchApp
        await pilot.press("x")
        await settle(pilot)
        assert bench.calls[-1][0] == "remove"


async def test_help_lists_every_command_finds_by_typing_and_runs(bench: FakeBench, running: Running) -> None:
    from workbench.tui.widgets.virtual_list import VirtualList

    async with running(bench) as pilot:
        await pilot.press("question_mark")
        await settle(pilot)
        rows = pilot.app.screen.query_one(VirtualList)
        assert {rows.rows.key(at) for at in range(len(rows.rows))} >= {
            command.id for command in all_commands()
        }
        await pilot.press(*"protect")
        await settle(pilot)
        assert rows.cursor_key == "pin"
        await pilot.press("enter")
        await settle(pilot)
        assert bench.calls[-1][0] == "unpin"
