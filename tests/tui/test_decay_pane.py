"""The heatmap over a real workspace: rows and cells, moving in time, order, groups, filters, acting in bulk."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.tui.decay_hands import (
    detail,
    headings,
    keys_shown,
    lines_of,
    listed,
    pane_of,
    press,
    reckoned,
    row,
    rows_of,
    said,
    screen,
    toasts,
)
from tests.tui.seen_workspace import ARCHIVED, FERRY, MEI, TIDES, YUSUF, looking, open_seen
from tests.tui.stillness import settle
from workbench.display.ink import line_width, plain_text
from workbench.engine import FixedClock, Workspace
from workbench.engine.results.decay import DecayEntry, Fall
from workbench.tui.app import BenchApp
from workbench.tui.drawing.heat import GLYPHS, SCALES
from workbench.tui.panes import decay as decay_pane

VAULT = "vault:why-there-is-a-ferry.md"
DECISION = "episode:2026-01-12:10:05"


def uses(workspace: Workspace) -> dict[str, int]:
    return {entry.id: entry.access_count for entry in workspace.decay().entries}


async def test_every_memory_with_a_score_is_a_row_and_what_falls_next_comes_first(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        view, falls = seen.decay(), seen.decay_falls(3650)
        assert set(listed(pilot)) == {entry.id for entry in view.entries}
        assert listed(pilot)[0] == falls.falls[0].id
        pinned = [entry.id for entry in view.entries if entry.status == "pinned"]
        assert set(listed(pilot)[-len(pinned) :]) == set(pinned)
        assert f"{len(view.entries)} memories · by next fall · a cell is 3 days" in lines_of(pilot, "summary")
        assert "λ 0.03 · half-life 23 d" in lines_of(pilot, "summary")


async def test_rows_tell_score_and_status_and_their_cells_are_the_engine_s_course(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        view = seen.decay()
        rows = rows_of(pilot)
        begin, window = rows.cells_at(pane_of(pilot).list.row_width)
        for entry in view.entries:
            text = row(pilot, entry.id)
            assert f"{entry.score:.2f}  {entry.status}" in text
            index = rows.find(entry.id)
            assert index is not None
            assert line_width(rows.line(index, 77)) <= 77
            (point,) = seen.decay_course(view, entry, (0,))
            at = begin + window.column(0)
            # Letters of other scripts are as wide as their cells say, not as their number.
            cells = text[text.index("│") - window.column(0) + 1 :] if "│" in text else ""
            assert cells[window.column(0)] in (GLYPHS[point.status], "▾")
            assert at > 0


async def test_the_cursor_explains_a_cell_with_the_formula_written_out(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        pane_of(pilot).go_to(DECISION)
        await settle(pilot)
        (entry,) = (each for each in seen.decay().entries if each.id == DECISION)
        weight = entry.type_weight
        assert weight is not None
        for steps in (0, 1, 3):
            await press(pilot, *["right"] * (steps - (pane_of(pilot).frame.cell)))
            days = 21 + 3 * steps
            score = reckoned(entry.base, 0.03, days, entry.access_count, weight)
            text = detail(pilot)
            assert f"e^(−0.03 × {days})" in text
            assert f"= score         {score:.4f}".split() == next(
                line.split() for line in text.splitlines() if line.startswith("= score")
            )
            assert f"unused {days} d" in text
            assert f"{score:.2f}" in text
        assert "in 9 days" in detail(pilot)
        assert "Half of a score is gone in 23 days, at λ 0.03 a day." in said(pilot)
        assert "Active from 0.5, fading from 0.2, dormant from 0.05; archived below." in said(pilot)


async def test_the_detail_tells_every_fall_that_is_still_to_come(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        pane_of(pilot).go_to(DECISION)
        await settle(pilot)
        falls = [fall for fall in seen.decay_falls(3650).falls if fall.id == DECISION]
        assert len(falls) >= 2
        for fall in falls:
            assert f"in {fall.days:>3} d  {fall.on.day:>2} {fall.on:%b} {fall.on.year}" in detail(pilot)
        beyond = falls[0].days // 3 + 1
        await press(pilot, *["right"] * beyond)
        assert f"in {falls[0].days:>3} d" not in detail(pilot)
        assert f"in {falls[1].days:>3} d" in detail(pilot)


async def test_before_its_last_use_and_before_its_making_no_score_is_claimed(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        seen.reinforce(FERRY)
        pane_of(pilot).reload()
        await settle(pilot)
        pane_of(pilot).go_to(FERRY)
        await settle(pilot)
        await press(pilot, "left")
        assert "Not recorded before its last use on Mon 2 Feb" in said(pilot)
        assert "3 days ago" in detail(pilot)
        await press(pilot, *["left"] * 21)
        assert "Not made yet: that was on Thu 4 Dec 2025." in said(pilot)


async def test_what_is_pinned_archived_or_in_the_vault_stands_still_and_says_why(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        for memory_id, words in (
            (TIDES, "Pinned: it never decays"),
            (VAULT, "What is in the vault never decays."),
            (ARCHIVED, "Archived by hand: its score is 0"),
        ):
            pane_of(pilot).go_to(memory_id)
            await settle(pilot)
            assert words in said(pilot)
            assert "Nothing: its score stays as it is." in detail(pilot)


async def test_a_detail_shows_the_memory_itself_with_links_to_walk(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        pane_of(pilot).go_to(DECISION)
        await settle(pilot)
        assert "From today the ferry sails by the tide tables, not by the clock ─" not in said(pilot)
        assert said(pilot).count("From today the ferry sails by the tide tables, not by the clock") == 2
        assert "What links here" in detail(pilot)
        await press(pilot, "enter", "tab")
        assert pane_of(pilot).detail.focused_link


async def test_zooming_keeps_the_day_and_goes_from_weeks_to_years(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", *["right"] * 4)
        spans = {}
        for scale in SCALES[1:]:
            window = rows_of(pilot).cells_at(pane_of(pilot).list.row_width)[1]
            spans[scale.name] = window.days
            assert pane_of(pilot).frame.scale == scale
            assert f"a cell is {scale.name}" in lines_of(pilot, "summary")
            await press(pilot, "minus")
        assert spans["a month"][-1] > 650
        assert spans["3 months"][-1] > 730
        assert spans["3 months"][0] < -600
        assert "A cell is 3 months at most." in toasts(pilot)[-1]
        await press(pilot, *["plus"] * 5)
        assert pane_of(pilot).frame.day == 12
        assert pane_of(pilot).frame.scale == SCALES[0]
        window = rows_of(pilot).cells_at(pane_of(pilot).list.row_width)[1]
        assert len(window.days) == window.days[-1] - window.days[0] + 1


async def test_the_cursor_walks_out_of_the_window_and_goes_to_a_day(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        last = rows_of(pilot).cells_at(pane_of(pilot).list.row_width)[1].days[-1]
        await pilot.press(*["right"] * (last // 3 + 4))
        await settle(pilot)
        window = rows_of(pilot).cells_at(pane_of(pilot).list.row_width)[1]
        assert window.days[-1] == pane_of(pilot).frame.day == last + 12
        await press(pilot, "g", *"2026-02-14", "enter")
        assert pane_of(pilot).frame.day == 12
        assert "▼ Sat 14 Feb" in lines_of(pilot, "axis")


async def test_a_click_on_a_cell_explains_that_cell(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        heat = pane_of(pilot).list
        window = rows_of(pilot).cells_at(heat.row_width)[1]
        await pilot.click(heat, offset=(heat.cells_begin + window.column(5), 3))
        await settle(pilot)
        assert pane_of(pilot).frame.cell == 5
        assert heat.cursor == 3
        assert "in 15 days" in detail(pilot)


async def test_the_axis_stands_right_above_the_cells(seen: Workspace) -> None:
    for size in ((80, 24), (100, 30), (120, 40), (200, 50)):
        async with looking(seen, size) as pilot:
            await press(pilot, "7", "right", "right")
            lines = screen(pilot).splitlines()
            at = next(index for index, line in enumerate(lines) if "▼" in line)
            top = lines[at]
            begin = pane_of(pilot).list.cells_begin
            window = rows_of(pilot).cells_at(pane_of(pilot).list.row_width)[1]
            assert top.index("▼") == begin + window.column(2)
            assert lines[at - 1].index("│") == begin + window.column(0) - 1


async def test_order_and_groups_go_round(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "down", "s")
        scores = {entry.id: entry.score for entry in seen.decay().entries}
        by_score = [scores[each] for each in listed(pilot)]
        assert by_score == sorted(by_score, reverse=True)
        assert pane_of(pilot).list.cursor_key == listed(pilot)[0]
        await press(pilot, "s", "s")
        assert "by name" in lines_of(pilot, "summary")
        await press(pilot, "s", "b")
        assert [each.split()[0] for each in headings(pilot)] == [
            "Core",
            "Episodic",
            "Semantic",
            "Procedural",
            "Vault",
        ]
        episodic = [entry for entry in seen.decay().entries if entry.store == "episodic"]
        assert headings(pilot)[1].split()[1] == str(len(episodic))
        await press(pilot, "b")
        tags = {tag for entry in episodic for tag in entry.tags}
        assert {each.split()[0] for each in headings(pilot)} == {f"#{tag}" for tag in tags} | {"Without"}
        await press(pilot, "b")
        assert any(each.startswith("Ferry") for each in headings(pilot))
        await press(pilot, "b")
        assert headings(pilot) == []


async def test_a_memory_in_two_groups_keeps_the_cursor_in_its_group_when_read_again(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "b", "b")
        rows = rows_of(pilot)
        twice = next(
            at for at in range(len(rows)) if rows.key(at) and rows.key(at) in listed(pilot)[:at] and at > 12
        )
        pane_of(pilot).list._move_to(twice)
        await settle(pilot)
        group = rows.group(twice)
        pane_of(pilot).reload()
        await settle(pilot)
        heat = pane_of(pilot).list
        assert rows_of(pilot).group(heat.cursor) == group
        assert heat.cursor == twice


@pytest.mark.parametrize(
    ("typed", "passes"),
    [
        ("store:semantic", lambda entry: entry.store == "semantic"),
        ("status:dormant", lambda entry: entry.status == "dormant"),
        ("tag:radar", lambda entry: "radar" in entry.tags),
        ("entity:ferry store:episodic", lambda entry: FERRY in entry.entities and entry.store == "episodic"),
        ("陈美", lambda entry: entry.id == MEI),
        ("يوسف", lambda entry: entry.id == YUSUF),
        ("-store:episodic -store:semantic", lambda entry: entry.store not in ("episodic", "semantic")),
    ],
)
async def test_the_filter_narrows(seen: Workspace, typed: str, passes: object) -> None:
    assert callable(passes)
    async with looking(seen) as pilot:
        await press(pilot, "7")
        pane_of(pilot).filter_bar.open(typed)
        await settle(pilot)
        wanted = {entry.id for entry in seen.decay().entries if passes(entry)}
        assert wanted
        assert set(listed(pilot)) == wanted
        await press(pilot, "escape")
        assert len(listed(pilot)) == len(seen.decay().entries)


async def test_what_fades_is_listed_the_soonest_first_for_three_spans(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        for days in (30, 90, 7):
            await press(pilot, "w")
            first: dict[str, Fall] = {}
            for fall in seen.decay_falls(days).falls:
                first.setdefault(fall.id, fall)
            assert listed(pilot) == [
                fall.id
                for fall in sorted(first.values(), key=lambda fall: (fall.days, listed(pilot).index(fall.id)))
            ]
            fall = first[listed(pilot)[0]]
            text = row(pilot, fall.id)
            assert f"in {fall.days:>2} d" in text
            assert f"{GLYPHS[fall.before]}→{GLYPHS[fall.after]} {fall.after}" in text
            assert f"{len(first)} fade" in lines_of(pilot, "summary")
            assert f"[{days}]" in lines_of(pilot, "summary")
        await press(pilot, "w")
        assert len(listed(pilot)) == len(seen.decay().entries)
        await press(pilot, "w", "escape")
        assert pane_of(pilot).wanted.span == 0


async def test_a_click_chooses_the_span_the_order_and_the_scale(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "w")
        line = lines_of(pilot, "summary")
        await pilot.click("#decay-summary", offset=(line.index("90"), 0))
        await settle(pilot)
        assert "[90]" in lines_of(pilot, "summary")
        await press(pilot, "escape")
        for words in ("by next fall", "a cell is 3 days"):
            await pilot.click("#decay-summary", offset=(lines_of(pilot, "summary").index(words) + 1, 0))
            await settle(pilot)
            assert words not in lines_of(pilot, "summary")


async def test_when_nothing_fades_it_says_when_the_next_one_does(
    seen_folder: Path, seen_clock: FixedClock
) -> None:
    with open_seen(seen_folder, seen_clock) as workspace:
        workspace.reinforce(*(entry.id for entry in workspace.decay().entries if entry.store != "vault"))
        workspace.decay_keep(0.001)
        coming = workspace.decay_falls(3650).falls[0]
        async with looking(workspace) as pilot:
            await press(pilot, "7", "w")
            assert "Nothing fades in the next 30 days." in screen(pilot)
            text = " ".join(plain_text(line) for line in pane_of(pilot).teach(60))
            assert f"from {coming.before} to {coming.after} in {coming.days:,} days" in text
            assert keys_shown(pilot)["what fades"] == "w"


async def test_an_empty_workspace_says_what_the_map_is_for(tmp_path: Path, seen_clock: FixedClock) -> None:
    with open_seen(tmp_path, seen_clock) as workspace:
        async with looking(workspace, (80, 24)) as pilot:
            await press(pilot, "7")
            assert "There is nothing that could fade." in screen(pilot)
            await press(pilot, "left", "minus", "w", "s", "b", "R", "full_stop", "escape")
            assert "There is nothing that could fade." in screen(pilot)


async def test_marked_memories_are_pinned_reinforced_and_archived_in_one_commit_each(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "w", "space", "space")
        ids = pane_of(pilot).subjects()
        assert len(ids) == 2
        before = uses(seen)
        checks: tuple[tuple[str, Callable[[DecayEntry], bool]], ...] = (
            ("p", lambda entry: entry.pinned),
            ("R", lambda entry: entry.access_count == before[entry.id] + 1),
            ("f", lambda entry: entry.archived),
        )
        for key, check in checks:
            lines = len(seen.audit_log().entries)
            pane_of(pilot).list.clear_marks()
            pane_of(pilot).go_to(ids[0])
            await settle(pilot)
            heat = pane_of(pilot).list
            heat.marks.keys = frozenset(ids)
            await press(pilot, key)
            changed = {entry.id: entry for entry in seen.decay().entries}
            commits = {entry.commit for entry in seen.audit_log().entries[:-lines]}
            assert len(commits) == 1, key
            assert all(check(changed[each]) for each in ids), key
            assert "2 memories" in toasts(pilot)[-1]
            assert not heat.marks.keys
            await press(pilot, "u")
            restored = {entry.id: entry for entry in seen.decay().entries}
            assert not any(check(restored[each]) for each in ids), key


async def test_a_great_many_are_asked_about_first(seen: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decay_pane, "ASKS_FROM", 3)
    async with looking(seen) as pilot:
        await press(pilot, "7", "v", "down", "down", "down", "v", "R")
        assert "Reinforce 4 memories?" in screen(pilot)
        before = uses(seen)
        await press(pilot, "escape")
        assert uses(seen) == before
        ids = pane_of(pilot).subjects()
        await press(pilot, "R", "y")
        assert uses(seen) == {each: count + (each in ids) for each, count in before.items()}


async def test_it_keeps_its_place_when_memory_changes(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "s", "pagedown", "right", "right", "minus")
        heat = pane_of(pilot).list
        before = (heat.cursor_key, pane_of(pilot).frame, pane_of(pilot).wanted)
        seen.remember("A swan nests under the pontoon", store="episodic", source="user-explicit")
        pilot.app.post_message(BenchApp.MemoryChanged())
        await settle(pilot)
        assert any("swan" in row(pilot, each) for each in listed(pilot))
        assert (heat.cursor_key, pane_of(pilot).frame, pane_of(pilot).wanted) == before


async def test_today_moves_at_midnight(seen: Workspace, seen_clock: FixedClock) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "right")
        assert "▼ Thu 5 Feb" in lines_of(pilot, "axis")
        score = seen.decay().entries[-5].score
        seen_clock.moment += timedelta(days=1)
        pane_of(pilot)._look_at_clock()
        await settle(pilot)
        assert "▼ Fri 6 Feb" in lines_of(pilot, "axis")
        assert "in 3 days" in detail(pilot)
        assert seen.decay().entries[-5].score < score


async def test_a_reader_looks_and_changes_nothing(seen_folder: Path, seen_clock: FixedClock) -> None:
    with open_seen(seen_folder, seen_clock, role="reader") as workspace:
        before = uses(workspace)
        async with looking(workspace) as pilot:
            await press(pilot, "7", "R")
            assert "reader" in toasts(pilot)[-1].casefold() or "read" in toasts(pilot)[-1].casefold()
            assert uses(workspace) == before


async def test_a_link_from_elsewhere_leads_to_its_row_whatever_hides_it(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "w", "w", "w")
        hidden = next(each.id for each in seen.decay().entries if each.id not in listed(pilot))
        pane_of(pilot).go_to(hidden)
        await settle(pilot)
        assert pane_of(pilot).list.cursor_key == hidden
        pane_of(pilot).go_to(f"{FERRY}#^fdep")
        await settle(pilot)
        assert pane_of(pilot).list.cursor_key == FERRY


async def test_every_key_of_the_map_can_be_seen_or_looked_up(seen: Workspace) -> None:
    async with looking(seen, (80, 24)) as pilot:
        await press(pilot, "7")
        bottom = screen(pilot).splitlines()[-1]
        for words in ("w what fades", "R reinforce", "s sort", "b group", "L try λ", "? help"):
            assert words in bottom
        await press(pilot, "question_mark", *"cell")
        assert "earlier" in screen(pilot)
