"""The counts beside the places: true, quick, and read later where they take their time."""

from __future__ import annotations

import pytest

from tests.tui.frame.test_frame import drawn, frame_app, opened, press
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.engine.errors import StorageError
from workbench.engine.results.decay import Falls
from workbench.tui.frame.edges import rail


async def test_each_count_is_what_its_place_lists(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        counts = frame_app(pilot).frame.counts.by_place
        assert counts["graph"] == str(len(seen.graph_entities().entities))
        assert counts["timeline"] == str(seen.timeline().total)
        assert counts["history"] == str(seen.action_count())
        assert counts["inbox"] == str(seen.inbox().waiting or "")


async def test_what_takes_its_time_is_counted_after_the_rest(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(seen) as pilot:
        counts = frame_app(pilot).frame.counts
        asked: list[int] = []

        def falls(days: int) -> object:
            asked.append(days)
            return Falls(seen.now(), 0.03, days, ())

        monkeypatch.setattr(Workspace, "decay_falls", property(lambda _: falls))
        counts.read()
        await settle(pilot)
        assert asked == []
        counts.catch_up()
        counts.catch_up()
        await settle(pilot)
        assert asked == [7]
        assert counts.by_place["decay"] == ""


async def test_the_rail_says_how_much_the_agent_carries(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        core = seen.core()
        rail = drawn(pilot, "rail")
        assert f"{core.tokens:,} of {core.cap:,}" in rail
        assert len(rail.splitlines()[-1].strip().strip("━╸─")) == 0 < len(rail.splitlines()[-1].strip())
        seen.core_add(core.blocks[0].name, "Carries an umbrella")
        frame_app(pilot).frame.read_again()
        await settle(pilot)
        assert f"{seen.core().tokens:,} of {core.cap:,}" in drawn(pilot, "rail")
        await press(pilot, "3")


def test_a_large_count_is_shortened_before_the_name_of_its_place() -> None:
    counts = {"timeline": "20,000", "graph": "20,000", "history": "49,077", "sessions": "0"}
    shown = "\n".join(map(plain_text, rail("large", counts, "today", ("", ""), (0, 0), 18)))
    assert "…" not in shown
    for place, count in (("Timeline", "20k"), ("Graph", "20,000"), ("History", "49,077"), ("Sessions", "0")):
        assert any(place in line and line.rstrip().endswith(count) for line in shown.splitlines())


def test_hundreds_stand_whole_beside_the_narrowest_rail() -> None:
    counts = {"timeline": "153", "graph": "999", "history": "49,077", "sessions": "1,200"}
    shown = "\n".join(map(plain_text, rail("large", counts, "today", ("", ""), (0, 0), 16)))
    assert "…" not in shown
    for place, count in (("Timeline", "153"), ("Graph", "999"), ("History", "49k"), ("Sessions", "1k")):
        assert any(place in line and line.rstrip().endswith(count) for line in shown.splitlines())


async def test_a_count_that_cannot_be_had_is_left_out(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Workspace) -> int:
        raise StorageError("The sessions cannot be read.")

    monkeypatch.setattr(Workspace, "action_count", property(lambda self: lambda: fail(self)))
    async with opened(seen) as pilot:
        counts = frame_app(pilot).frame.counts.by_place
        assert counts["history"] == ""
        assert counts["sessions"]
