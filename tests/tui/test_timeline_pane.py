"""The Timeline pane: days and episodes, filters, dates, and the way to what was learned."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import NOW, FakeBench, many_episodes
from tests.tui.stillness import settle
from workbench.display.ink import line_width, plain_text
from workbench.tui.panes.timeline import TimelinePane
from workbench.tui.query import parse_query
from workbench.tui.views.timeline import FIELDS, TimelineRows, episode_matches, ribbon_day, ribbon_line
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.status_line import StatusLine


def pane(pilot: Pilot[None]) -> TimelinePane:
    return pilot.app.query_one(TimelinePane)


def listed(pilot: Pilot[None], lines: int = 30) -> str:
    return "\n".join(pane(pilot).list.render_line(y).text for y in range(lines))


def read(pilot: Pilot[None]) -> str:
    detail = pilot.app.screen.query_one(Detail) if len(pilot.app.screen_stack) > 1 else pane(pilot).detail
    return "\n".join(detail.render_line(y).text for y in range(30))


async def test_days_and_episodes_newest_first_with_density(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("2")
        await settle(pilot)
        text = listed(pilot)
        shown = [text.index(each) for each in ("February 2026", "Today", "09:05", "Sun  1", "January 2026")]
        assert shown == sorted(shown)
        pane(pilot).list.go_to("episode:2026-02-02:11:20")
        await settle(pilot)
        assert "#tide-gauge" in read(pilot)
        ribbon = plain_text(pane(pilot).query_one("#timeline-ribbon", StatusLine).line)
        assert ribbon.strip().startswith("Dec 2025")
        assert ribbon.strip().endswith("Feb 2026")


async def test_filter_as_you_type_by_field_and_word(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("2")
        await settle(pilot)
        await pilot.press("slash", *"type:dec")
        await settle(pilot)
        assert listed(pilot).count("decision") == 2
        assert "2 of 12" in str(pane(pilot).filter_bar.query_one("#filter-count").render())
        await pilot.press("space", *"nightly")
        await settle(pilot)
        assert pane(pilot).list.cursor_key == "episode:2026-01-15:10:40"
        await pilot.press(*"zzz")
        await settle(pilot)
        assert "Nothing matches" in listed(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert pane(pilot).list.has_focus
        assert "Today" in listed(pilot)


async def test_jump_to_a_date_and_say_when_it_is_none(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("2")
        await settle(pilot)
        await pilot.press("g", *"smarch")
        await settle(pilot)
        assert "no day that I know" in str(pilot.app.screen.query_one("#ask-problem").render())
        await pilot.press("enter", *["backspace"] * 6, *"jan 2026", "enter")
        await settle(pilot)
        assert pane(pilot).list.cursor_key == "episode:2026-01-30:16:10"


async def test_links_lead_to_what_was_learned_and_back(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("2")
        await settle(pilot)
        assert "What was learned from it" in read(pilot)
        await pilot.press("enter", "tab")
        assert pane(pilot).detail.focused_link == "entity:project--winter-count"
        await pilot.press("tab")
        assert pane(pilot).detail.focused_link == "entity:project--winter-count#^d4m2"
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.query_one("#graph").display
        await pilot.press("left_square_bracket")
        await settle(pilot)
        assert pane(pilot).list.cursor_key == "episode:2026-02-02:13:55"
        await pilot.press("enter", "tab")
        assert pane(pilot).detail.focused_link.startswith("core:")
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.query_one("#core").display
        await pilot.press("left_square_bracket")
        await settle(pilot)
        assert pane(pilot).display
        assert pane(pilot).list.cursor_key == "episode:2026-02-02:13:55"
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert pilot.app.query_one("#core").display


async def test_one_at_a_time_on_a_small_terminal(bench: FakeBench, running: Running) -> None:
    async with running(bench, (80, 24)) as pilot:
        await pilot.press("2")
        await settle(pilot)
        assert not pane(pilot).detail.parent.display  # type: ignore[union-attr]  # it has one
        await pilot.press("enter")
        await settle(pilot)
        assert "Appendix B" in read(pilot)
        assert not pane(pilot).list.is_on_screen or pane(pilot).list.size.width == 0
        await pilot.press("escape")
        await settle(pilot)
        assert pane(pilot).list.has_focus
        await pilot.resize_terminal(96, 40)
        await settle(pilot)
        assert pane(pilot).detail.region.y > pane(pilot).list.region.y
        await pilot.resize_terminal(140, 40)
        await settle(pilot)
        assert pane(pilot).detail.region.x > pane(pilot).list.region.x
        await pilot.press("z")
        await settle(pilot)
        assert pane(pilot).list.size.width > 130
        await pilot.press("escape")
        await settle(pilot)
        assert pane(pilot).list.size.width < 90


async def test_pin_and_forget_leave_flat_logs_alone(bench: FakeBench, running: Running) -> None:
    log = replace(
        bench.happened[0],
        id="file:memory/2026-02-03.md#L1-L9",
        day=date(2026, 2, 3),
        time="",
        type="log",
        score=None,
    )
    bench.happened.insert(0, log)
    async with running(bench) as pilot:
        await pilot.press("2")
        await settle(pilot)
        assert "log" in listed(pilot)
        await pilot.press("f", "p")
        await settle(pilot)
        assert not bench.calls
        await pilot.press("down", "f")
        await settle(pilot)
        assert bench.calls == [("forget", ("episode:2026-02-02:13:55",))]
        assert "13:55" not in listed(pilot)


async def test_an_empty_timeline_teaches(running: Running) -> None:
    async with running(FakeBench.empty()) as pilot:
        await pilot.press("2")
        await settle(pilot)
        assert "Nothing has happened yet" in listed(pilot)
        assert "workbench remember" in listed(pilot)


async def test_twenty_thousand_episodes_arrive_while_the_first_can_be_read(running: Running) -> None:
    bench = FakeBench.empty()
    bench.happened = many_episodes(20_000)
    async with running(bench) as pilot:
        await pilot.press("2")
        await settle(pilot)
        assert "Note number 0 " in listed(pilot)
        await pilot.press("end")
        assert pane(pilot).list.cursor_key == bench.happened[-1].id


def test_filtering_twenty_thousand() -> None:
    episodes = many_episodes(20_000)
    query = parse_query("type:fact tag:tag-3 station", FIELDS, NOW.date())
    rows = TimelineRows(NOW.date())
    rows.extend(each for each in episodes if episode_matches(query, each))
    assert 0 < rows.shown < 2000


def test_the_ribbon_fits_and_leads_where_it_shows() -> None:
    rows = TimelineRows(NOW.date())
    rows.extend(many_episodes(900))
    days = {day: len(episodes) for day, episodes in rows.days.items()}
    for width in (30, 41, 80, 133, 400):
        assert line_width(ribbon_line(days, None, width)) <= width
        for x in range(width):
            day = ribbon_day(days, x, width)
            assert day is None or min(days) <= day <= max(days)
    assert ribbon_day({}, 10, 80) is None
