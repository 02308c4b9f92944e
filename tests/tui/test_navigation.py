"""Every link leads to the pane that shows it, and the trail leads back."""

from __future__ import annotations

import pytest

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.tui.navigation import destination, layout_for, link_of_target, memory_of_file
from workbench.tui.panes.base import Pane
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.memory import MemoryScreen
from workbench.tui.trail import Place, Trail
from workbench.tui.widgets.status_line import StatusLine


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("core:identity:name", Place("core", "core:identity:name")),
        ("episode:2026-02-02:13:55", Place("timeline", "episode:2026-02-02:13:55")),
        ("file:MEMORY.md#L3", Place("core")),
        ("file:memory/episodes/2026-02-02.md", Place("timeline", "day:2026-02-02")),
        ("file:memory/2023-05-08.md#L3-L9", Place("timeline", "file:memory/2023-05-08.md#L3-L9")),
        ("commit:0123456789abcdef", Place("audit", "", "commit:0123456789")),
        ("history:SOUL.md", Place("audit", "", "file:SOUL.md")),
        ("alerts", Place("audit", "alert:")),
        ("entity:person--alex", Place("graph", "entity:person--alex")),
        ("decay:entity:person--alex", Place("decay", "entity:person--alex")),
        ("past:0123456789abcdef^", Place("past", "0123456789abcdef^")),
        ("past:vault:a@b.md@0123456789", Place("past", "vault:a@b.md@0123456789")),
        ("procedure:deploy", None),
        ("", None),
    ],
)
def test_where_links_lead(link: str, place: Place | None) -> None:
    assert destination(link) == place


@pytest.mark.parametrize(
    ("target", "link"),
    [
        ("person--alex", "entity:person--alex"),
        ("memory/graph/entities/person--alex.md", "entity:person--alex"),
        ("./memory/procedures/deploy.md", "procedure:deploy"),
        ("SOUL.md", "file:SOUL.md"),
        ("episode:2026-02-02:13:55", "episode:2026-02-02:13:55"),
        ("", ""),
    ],
)
def test_what_people_open_the_bench_at(target: str, link: str) -> None:
    assert link_of_target(target) == link


def test_a_file_that_is_one_memory_is_that_memory() -> None:
    assert memory_of_file("file:memory/vault/x.md") == "file:memory/vault/x.md"


def test_the_trail_forgets_what_lay_ahead() -> None:
    one, two, three = Place("core"), Place("timeline"), Place("audit")
    trail = Trail().visit(one).visit(two)
    trail, place = trail.step(-1)
    assert place == one
    trail = trail.amend(Place("core", "x")).visit(three)
    assert trail.step(1) == (trail, None)
    assert trail.step(-1)[1] == Place("core", "x")


def test_layouts() -> None:
    assert "-single" in layout_for(80, 24)
    assert "-below" in layout_for(100, 40)
    assert "-beside" in layout_for(101, 24)


async def test_the_bench_opens_at_a_memory(bench: FakeBench, running: Running) -> None:
    async with running(bench, target="episode:2026-01-15:10:40") as pilot:
        assert pilot.app.pane.list.cursor_key == "episode:2026-01-15:10:40"  # type: ignore[attr-defined]  # BenchApp
    async with running(bench, target="procedure:winter-count") as pilot:
        assert isinstance(pilot.app.screen, MemoryScreen)
    async with running(bench, target="project--winter-count") as pilot:
        assert pilot.app.pane.id == "graph"  # type: ignore[attr-defined]  # BenchApp
    async with running(bench, target="memory/episodes/2026-01-15.md") as pilot:
        assert pilot.app.pane.list.cursor_key == "episode:2026-01-15:10:40"  # type: ignore[attr-defined]  # BenchApp
    async with running(bench, target="alerts") as pilot:
        assert pilot.app.query("#core")


async def test_work_that_ends_below_a_question_is_not_said_to_go_on(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (120, 40)) as pilot:
        bottom = pilot.app.screen.query_one("#bottom", StatusLine)
        keys = plain_text(bottom.line)
        pilot.app.post_message(Pane.Working(1))
        await settle(pilot)
        assert "working" in plain_text(bottom.line)
        pilot.app.push_screen(ConfirmScreen("Go back?", "All of it.", "Go", "R"))
        await settle(pilot)
        assert "working" in plain_text(bottom.line)
        pilot.app.post_message(Pane.Working(-1))
        await settle(pilot)
        assert plain_text(bottom.line) == keys
