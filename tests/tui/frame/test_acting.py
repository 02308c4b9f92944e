"""What is done on the thread of actions: nothing that nobody expected is lost there."""

from __future__ import annotations

import pytest

from tests.tui.frame.hands import frame_of, opened, press, said
from tests.tui.seen_workspace import LEARNED_FROM, TIMETABLE
from workbench.display.ink import plain_text
from workbench.engine.workspace import Workspace
from workbench.tui.verbs.act import Act


async def test_an_unexpected_error_ends_the_bench_with_its_trace(seen: Workspace) -> None:
    def break_down(_: Workspace) -> str:
        raise ZeroDivisionError("ours to mend")

    async def act() -> None:
        async with opened(seen) as pilot:
            frame_of(pilot).acting.act(Act(break_down))
            await press(pilot)

    with pytest.raises(ZeroDivisionError, match="ours to mend"):
        await act()


async def test_forgetting_the_only_evidence_of_a_fact_names_the_fact(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame_of(pilot).go("timeline", row=LEARNED_FROM)
        await press(pilot)
        await press(pilot, "f")
        assert (
            "Nothing else supports “The ferry sails by the tide tables of the harbour”. u brings it back."
            in said(pilot)
        )


async def test_the_score_of_what_is_pinned_says_that_the_pin_counts(seen: Workspace) -> None:
    seen.pin(TIMETABLE)
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        frame.looking.follow(TIMETABLE)
        await press(pilot, "x")
        told = [plain_text(line).strip() for line in frame.place.card.lines]
        at = told.index("pinned counts as 1.00")
        assert told[at + 1].startswith("without the pin 0.")
        assert " × " in told[at + 1]
