"""Trying another rate of decay: it redraws everything, cannot be mistaken for the truth, and changes nothing."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from tests.tui.decay_hands import (
    detail,
    keys_shown,
    lines_of,
    listed,
    pane_of,
    press,
    row,
    said,
    screen,
    toasts,
)
from tests.tui.seen_workspace import looking
from tests.tui.stillness import settle
from workbench.engine import Workspace
from workbench.tui.app import BenchApp
from workbench.tui.palette import MARKED, PAPER
from workbench.tui.panes.decay_trial import parse_rate
from workbench.tui.views.decay_frame import RATES, Trial

DECISION = "episode:2026-01-12:10:05"


@pytest.mark.parametrize(
    ("typed", "rate"),
    [
        ("0.05", 0.05),
        ("0,05", 0.05),
        (" λ = 0.05 ", 0.05),
        ("0", 0.0),
        ("14d", 0.04951),
        ("14 days", 0.04951),
        ("-1", None),
        ("11", None),
        ("nan", None),
        ("inf", None),
        ("0d", None),
        ("fast", None),
        ("", None),
    ],
)
def test_a_rate_is_told_as_such_or_as_a_half_life(typed: str, rate: float | None) -> None:
    assert parse_rate(typed) == rate


def test_a_half_life_gives_the_rate_that_halves() -> None:
    rate = parse_rate("30d")
    assert rate is not None
    assert math.exp(-rate * 30) == pytest.approx(0.5, abs=1e-3)


def test_steps_go_through_the_rates_and_end_where_they_end() -> None:
    assert [Trial(0.03, 0.03).stepped(by) for by in (-1, 1)] == [0.025, 0.035]
    assert [Trial(0.0333, 0.03).stepped(by) for by in (-1, 1)] == [0.03, 0.035]
    assert Trial(RATES[0], 0.03).stepped(-1) == RATES[0]
    assert Trial(RATES[-1], 0.03).stepped(1) == RATES[-1]


async def test_a_trial_says_what_it_would_change_and_marks_it(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "L", *"0.06", "enter")
        truth = {entry.id: entry.status for entry in seen.decay().entries}
        tried = {entry.id: entry for entry in seen.decay(lambda_=0.06).entries}
        changed = {each: entry.status for each, entry in tried.items() if entry.status != truth[each]}
        assert changed
        kinds = Counter((status, truth[each]) for each, status in changed.items())
        (would, was), count = kinds.most_common(1)[0]
        banner = " ".join(lines_of(pilot, "trial").split())
        assert "TRIAL λ 0.06 · half-life 12 d" in banner
        assert "in force: λ 0.03 · half-life 23 d" in banner
        assert f"{count} would be {would} instead of {was}" in banner or len(kinds) > 1
        assert all(f"{count} " in banner for count in kinds.values())
        for memory_id, entry in tried.items():
            text = row(pilot, memory_id)
            assert f"{entry.score:.2f}" in text
            assert ("↘" in text) == (memory_id in changed)
        await press(pilot, "c")
        assert set(listed(pilot)) == set(changed)
        assert f"{len(changed)} that would change" in lines_of(pilot, "summary")
        await press(pilot, "c")
        assert set(listed(pilot)) == set(truth)
        pane_of(pilot).filter_bar.open("would:archived")
        await settle(pilot)
        assert set(listed(pilot)) == {each for each, status in changed.items() if status == "archived"}


async def test_a_lower_rate_lifts_what_it_changes(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", *["comma"] * 3)
        assert "λ 0.015" in lines_of(pilot, "trial")
        await press(pilot, "c")
        assert listed(pilot)
        assert all("↗" in row(pilot, each) for each in listed(pilot))


async def test_a_trial_cannot_be_mistaken_for_the_truth(seen: Workspace) -> None:
    for size in ((80, 24), (120, 40)):
        async with looking(seen, size) as pilot:
            await press(pilot, "7")
            heat = pane_of(pilot).list
            assert heat._plain_ground == PAPER
            assert "TRIAL" not in screen(pilot)
            await press(pilot, "full_stop", "full_stop")
            assert heat._plain_ground == MARKED
            assert "TRIAL" in screen(pilot)
            assert "esc go back" in screen(pilot)
            assert {"keep λ", "only changes"} <= set(keys_shown(pilot))
            pane_of(pilot).go_to(DECISION)
            await settle(pilot)
            assert "trial" in detail(pilot)
            assert "e^(−0.04 × 21)" in detail(pilot)
            await press(pilot, "escape")
            assert heat._plain_ground == PAPER
            assert "TRIAL" not in screen(pilot)
            assert "e^(−0.03 × 21)" in detail(pilot)
            assert not {"keep λ", "only changes"} & set(keys_shown(pilot))


async def test_leaving_a_trial_changes_nothing(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7")
        before, order = seen.audit_log().entries, listed(pilot)
        await press(pilot, "full_stop", "full_stop", "c", "comma", "escape")
        assert seen.audit_log().entries == before
        assert seen.decay().lambda_ == 0.03
        assert listed(pilot) == order


async def test_stepping_back_to_the_rate_in_force_ends_the_trial(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "full_stop", "comma")
        assert pane_of(pilot).trial is None
        assert "TRIAL" not in screen(pilot)


async def test_keeping_asks_is_one_commit_and_can_be_undone(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "full_stop", "full_stop", "enter")
        assert "Keep λ 0.04 as the rate of decay?" in screen(pilot)
        await press(pilot, "enter")
        assert seen.decay().lambda_ == 0.03
        assert pane_of(pilot).trial is not None
        lines = len(seen.audit_log().entries)
        await press(pilot, "enter", "k")
        assert seen.decay().lambda_ == 0.04
        # The settings are a critical file: the engine warns of the change and takes the person’s word for it.
        new = [entry for entry in seen.audit_log().entries[:-lines] if entry.action not in ("ALERT", "ACK")]
        assert [entry.file for entry in new if entry.actor == "manual"] == ["workbench.toml"]
        assert pane_of(pilot).trial is None
        assert "λ is 0.04 a day now." in toasts(pilot)[-1]
        assert "λ 0.04 · half-life 17 d" in lines_of(pilot, "summary")
        assert "TRIAL" not in screen(pilot)
        await press(pilot, "u")
        assert seen.decay().lambda_ == 0.03
        assert "λ 0.03 · half-life 23 d" in lines_of(pilot, "summary")


async def test_a_trial_goes_on_when_memory_changes(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "full_stop", "full_stop", "full_stop")
        seen.remember("A swan nests under the pontoon", store="episodic", source="user-explicit")
        pilot.app.post_message(BenchApp.MemoryChanged())
        await settle(pilot)
        assert "TRIAL λ 0.05" in " ".join(lines_of(pilot, "trial").split())
        assert any("swan" in row(pilot, each) for each in listed(pilot))
        await press(pilot, "escape")
        assert any("swan" in row(pilot, each) for each in listed(pilot))


async def test_nothing_decays_at_zero(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "L", "0", "enter")
        assert "λ 0 · nothing fades" in lines_of(pilot, "trial")
        pane_of(pilot).go_to(DECISION)
        await settle(pilot)
        assert "no time: nothing decays" in said(pilot)
        await press(pilot, "w")
        assert "Nothing fades in the next 30 days." in screen(pilot)
        assert "Nor does anything later" in " ".join(screen(pilot).split())


async def test_what_fades_is_that_of_the_trial(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "L", *"0.06", "enter", "w")
        assert set(listed(pilot)) == {fall.id for fall in seen.decay_falls(30, lambda_=0.06).falls}


async def test_a_rate_that_makes_no_sense_is_not_taken(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "7", "L", *"soon")
        assert "λ is a number from 0 to 10." in screen(pilot)
        await press(pilot, "enter", "escape")
        assert pane_of(pilot).trial is None
