"""The Inbox pane: settling contradictions, answering, rewording, applying, reflecting."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.fake_review import PROPOSAL
from tests.tui.inbox_hands import decisions, detail, go, head, listed, pane, press, toasts
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine.errors import Locked
from workbench.tui.decisions import Edit, Step
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.widgets.item_editor import DraftArea
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.parts_editor import PartsEditor
from workbench.tui.widgets.status_line import StatusLine


@pytest.mark.parametrize(
    ("key", "resolution"),
    [("less_than_sign", "this"), ("greater_than_sign", "that"), ("equals_sign", "both")],
)
async def test_a_contradiction_is_settled_with_one_key(
    bench: FakeBench, running: Running, key: str, resolution: str
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", key)
        assert bench.steps == [Step({"r-012.1": "approved"}, Edit("r-012.1", fields={"resolve": resolution}))]
        await go(pilot, "r-012.1")
        assert detail(pilot).count("✓ taken") == (2 if resolution == "both" else 1)


async def test_a_contradiction_is_not_approved_without_a_choice(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "a")
        assert not bench.steps
        assert "Say which holds" in toasts(pilot)[-1]
        await press(pilot, "d")
        assert decisions(bench) == [("r-012.1", "deferred")]


async def test_both_statements_can_be_reworded(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "e", *" in 2025", "tab", *" in 2026", "enter")
        assert bench.steps == [
            Step(
                {},
                Edit(
                    "r-012.1",
                    None,
                    {
                        "this": "The tide gauge was calibrated by the supplier in 2025",
                        "that": "The tide gauge was calibrated by Tomás in 2026",
                    },
                ),
            )
        ]
        assert "by Tomás in 2026" in " ".join(detail(pilot).split())
        assert pane(pilot).list.has_focus


async def test_a_question_is_answered_in_place(bench: FakeBench, running: Running) -> None:
    async with running(bench, (180, 40)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.18")
        await press(pilot, "a", "enter")
        assert "An answer needs some text." in " ".join(
            plain_text(line) for line in pane(pilot).query_one("#parts-problem", Lines).lines(200)
        )
        await press(pilot, *"Yes", "enter")
        assert bench.steps == [Step({"r-012.18": "approved"}, Edit("r-012.18", None, {"answer": "Yes"}))]
        await go(pilot, "r-012.18")
        assert "— Yes" in listed(pilot)


async def test_a_draft_is_kept_and_asked_about(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.10")
        await press(pilot, "e", "!", "escape")
        assert not bench.steps
        assert pane(pilot).drafts() == 1
        await press(pilot, "e")
        assert pane(pilot).query_one("#part-0", DraftArea).text.endswith("council!")
        await press(pilot, "escape", "ctrl+q")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await press(pilot, "escape", "e", "enter")
        assert pane(pilot).drafts() == 0
        assert bench.steps == [
            Step({}, Edit("r-012.10", "Prefers short tables over charts in reports to the council!", {}))
        ]


async def test_rewording_core_memory_moves_its_budget(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.5")
        await press(pilot, "e")
        bar = pane(pilot).query_one(PartsEditor).query_one("#parts-bar", StatusLine)
        before = plain_text(bar.line)
        await press(pilot, *"wordsword")
        assert plain_text(bar.line) != before
        assert "Core memory" in before


async def test_the_whole_file_opens_in_an_editor(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(_app: object, text: str, *, suffix: str) -> str:
        assert suffix == ".md"
        return text.replace("- [ ]", "- [x]")

    monkeypatch.setattr("workbench.tui.panes.inbox.edit_in_editor", write)
    async with running(bench) as pilot:
        await press(pilot, "5", "E")
        assert bench.undecided() == 0
        assert "18 of 18 decided" in head(pilot)
        assert "Saved the proposal." in toasts(pilot)


def shown(pilot: Pilot[None]) -> str:
    from workbench.tui.widgets.detail import Detail

    lines: Sequence[object] = pilot.app.screen.query_one(Detail)._lines
    return "\n".join(plain_text(line) for line in lines)  # type: ignore[arg-type]  # lines of the detail


async def test_applying_shows_what_will_be_written_then_the_commit_and_can_be_undone(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.7")
        await press(pilot, "r", "a")
        await press(pilot, "A")
        text = shown(pilot)
        assert "1 applied" in text
        assert "2 rejected" in text
        assert "13 undecided" in text
        assert "it needs r-012.7, which is rejected" in text
        assert "memory/graph/entities/r-012.3.md" in text
        await press(pilot, "A", "enter")
        assert bench.undecided() == 13
        assert bench.pending().item("r-012.3") is not None
        await press(pilot, "w")
        assert "✓ Written" in shown(pilot)
        assert "9f3c2ab17d" in shown(pilot)
        assert bench.pending().item("r-012.3") is None
        await press(pilot, "u")
        assert len(pilot.app.screen_stack) == 1
        assert bench.pending().item("r-012.3") is not None
        assert pane(pilot).rows.item("r-012.3") is not None


async def test_nothing_decided_is_nothing_to_write(bench: FakeBench, running: Running) -> None:
    bench.proposal = PROPOSAL.replace("- [x]", "- [ ]").replace("- [-]", "- [ ]").replace("- [>]", "- [ ]")
    async with running(bench) as pilot:
        await press(pilot, "5", "A")
        assert "Nothing is decided yet" in shown(pilot)
        await press(pilot, "w", "escape")
        assert bench.pending().item("r-012.3") is not None
        assert len(pilot.app.screen_stack) == 1


async def test_what_keeps_it_from_being_written_is_told(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "A")
        bench.refused = Locked("Another process is writing.", remedy="Try again.")
        await press(pilot, "w")
        assert "Another process is writing. Try again." in " ".join(shown(pilot).split())


async def test_after_the_last_decision_one_is_told_how_to_go_on(bench: FakeBench, running: Running) -> None:
    bench.proposal = PROPOSAL.replace("- [ ]", "- [x]").replace("- [x] `r-012.10`", "- [ ] `r-012.10`")
    async with running(bench) as pilot:
        await press(pilot, "5")
        assert pane(pilot).list.cursor_key == "r-012.10"
        await press(pilot, "r")
        assert "Everything is decided. A shows what will be written." in toasts(pilot)


async def over(pilot: Pilot[None]) -> None:
    """Wait until the cycle is over."""
    while pane(pilot).reflection.running:
        await pilot.pause(0.005)
    await settle(pilot)


async def test_an_empty_inbox_teaches_and_runs_a_cycle_that_lands_in_the_list(
    bench: FakeBench, running: Running
) -> None:
    bench.proposal = ""
    bench.cycle.clear()
    async with running(bench) as pilot:
        await press(pilot, "5")
        text = listed(pilot)
        assert "Nothing waits for your decision." in text
        assert "/actor:reflection" in text
        assert "23 of 50 new memories since the last one" in text
        await press(pilot, "R")
        assert "● survey" in head(pilot)
        assert "○ consolidate" in head(pilot)
        assert "0 of 8,000 tokens" in head(pilot)
        assert "A reflection is running." in listed(pilot)
        assert "reflecting 1 of 5" in plain_text(pilot.app.query_one("#bottom", StatusLine).line)
        bench.cycle.set()
        await over(pilot)
        assert "r-012 proposes 18 changes." in toasts(pilot)[-1]
        assert "Contradictions detected" in listed(pilot)


async def test_a_cycle_is_called_off(bench: FakeBench, running: Running) -> None:
    bench.proposal = ""
    bench.cycle.clear()
    async with running(bench) as pilot:
        await press(pilot, "5", "R")
        await press(pilot, "c")
        assert "stopping…" in head(pilot)
        bench.cycle.set()
        await over(pilot)
        assert "called off; nothing was written" in toasts(pilot)[-1]
        assert "Nothing waits for your decision." in listed(pilot)


async def test_a_cycle_beside_a_waiting_proposal_asks_first(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "R")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await press(pilot, "R", "escape")
        assert not pane(pilot).reflection.running
        await press(pilot, "R", "b")
        await over(pilot)
        assert "r-012 proposes 18 changes." in toasts(pilot)[-1]
