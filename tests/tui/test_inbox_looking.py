"""The Inbox pane: what it shows of a proposal and of one item."""

from __future__ import annotations

import pytest

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.fake_review import PROPOSAL
from tests.tui.inbox_hands import decisions, detail, go, head, listed, pane, press, toasts
from tests.tui.stillness import settle
from tests.tui.test_proposed_views import PLAIN
from workbench.display.ink import plain_text
from workbench.engine.errors import DocumentError
from workbench.engine.results.reviews import Proposals
from workbench.tui.widgets.status_line import StatusLine


async def test_what_waits_is_listed_by_section_with_progress_and_age(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (120, 60)) as pilot:
        await press(pilot, "5")
        text = listed(pilot)
        assert "Contradictions detected" in text
        assert (
            text.index("Contradictions detected")
            < text.index("Core memory changes")
            < text.index("Questions")
        )
        assert "3 of 4 undecided" in text
        assert "[ ] ≠ contradiction" in text
        assert "[x] ↻ supersession  The nightly import runs at 03:00" in text
        assert "[-] + fact" in text
        assert "[>] ▣ vault pin" in text
        assert "written 30 hours ago — ageing" in head(pilot)
        assert "3 of 18 decided · 1 approved · 1 rejected · 1 deferred" in head(pilot)


async def test_one_begins_at_what_is_undecided_and_every_pane_tells_of_it(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        bottom = plain_text(pilot.app.query_one("#bottom", StatusLine).line)
        assert "◆ 15" in bottom
        await pilot.click("#bottom", offset=(bottom.index("◆"), 0))
        await settle(pilot)
        assert pane(pilot).display
        assert pane(pilot).list.cursor_key == "r-012.1"


async def test_a_proposal_nobody_touched_begins_with_its_overview(bench: FakeBench, running: Running) -> None:
    bench.proposal = PROPOSAL.replace("- [x]", "- [ ]").replace("- [-]", "- [ ]").replace("- [>]", "- [ ]")
    async with running(bench) as pilot:
        await press(pilot, "5")
        text = " ".join(detail(pilot).split())
        assert "Fourteen days of fieldwork were read." in text
        assert "2 items whose quotes were not found" in text
        assert "1 item that was rejected before" in text
        assert "rules stood in: the server did not answer within 30 s" in text


async def test_it_opens_at_the_item_that_was_named(bench: FakeBench, running: Running) -> None:
    async with running(bench, target="r-012.14") as pilot:
        assert pane(pilot).display
        assert pane(pilot).list.cursor_key == "r-012.14"


async def test_an_item_shows_its_change_reason_and_evidence_and_what_is_related(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.2")
        text = detail(pilot)
        assert "- Densities are reported per transect" in text.replace("−", "-")
        assert "+ Densities are reported per square metre" in text
        assert "A decision replaces how densities were reported until then." in text
        assert "“per transect”" in text
        assert "episode:2026-02-02:13:55" in text
        assert "until       2026-02-02" in text
        assert "Related" in text
        assert "looking…" not in text


async def test_core_changes_show_the_budget_with_everything_approved(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        assert "as approved" in detail(pilot)
        await press(pilot, "a")
        await go(pilot, "r-012.5")
        now, then = (line for line in detail(pilot).splitlines() if "/ 3,000" in line)
        assert "320 /" in now
        assert "340 /" in then


async def test_a_stale_item_shows_both_versions_and_a_lost_quote_says_so(
    bench: FakeBench, running: Running
) -> None:
    bench.stale = {"r-012.2": "Densities are reported per hectare"}
    bench.unfound = frozenset({"r-012.2"})
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        assert "stale" in listed(pilot)
        await go(pilot, "r-012.2")
        text = detail(pilot)
        assert "Stale: what it changes has changed since." in text
        assert "per hectare" in text
        assert "per transect" in text
        assert "per square metre" in text
        assert "no longer says so" in text


async def test_what_was_rejected_before_is_told(bench: FakeBench, running: Running) -> None:
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        assert "was rejected" in listed(pilot)
        await go(pilot, "r-012.9")
        assert "r-009.4, rejected on 12 January" in " ".join(detail(pilot).split())


async def test_an_approved_item_that_needs_a_rejected_one_says_what_it_waits_for(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.7")
        await press(pilot, "r", "a")
        await go(pilot, "r-012.8")
        assert "Waits: it needs r-012.7, which is rejected" in detail(pilot)
        assert "waits" in listed(pilot)


async def test_the_source_is_one_key_away_and_the_way_back_too(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.2")
        await press(pilot, "o")
        app = pilot.app
        assert app.pane.list.cursor_key == "episode:2025-12-19:17:25"  # type: ignore[attr-defined]  # BenchApp
        await press(pilot, "left_square_bracket")
        assert pane(pilot).display
        assert pane(pilot).list.cursor_key == "r-012.2"
        await pilot.press("enter", "tab", "tab", "tab")
        assert pane(pilot).detail.focused_link == "episode:2026-02-02:13:55"
        await press(pilot, "o")
        assert app.pane.list.cursor_key == "episode:2026-02-02:13:55"  # type: ignore[attr-defined]  # BenchApp


async def test_the_target_and_the_file_are_links(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.5")
        await press(pilot, "enter", "tab", "enter")
        assert pilot.app.pane.title == "Core"  # type: ignore[attr-defined]  # BenchApp


async def test_history_and_ids(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        await press(pilot, "y")
        assert any("Copied r-012.4" in toast for toast in toasts(pilot))
        await press(pilot, "h")
        assert pilot.app.pane.filter_bar.text == "file:MEMORY.md"  # type: ignore[attr-defined]  # BenchApp
        await press(pilot, "5")
        await go(pilot, "r-012.7")
        await press(pilot, "h")
        assert "pending-reflection.md" in pilot.app.pane.filter_bar.text  # type: ignore[attr-defined]  # BenchApp


async def test_a_filter_narrows_what_is_shown_and_what_a_heading_decides(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "slash", *"kind:fact tide", "enter")
        assert [item.id for item in pane(pilot).rows.items] == ["r-012.8"]
        await go(pilot, "section:🧠 New knowledge extracted")
        await press(pilot, "a")
        assert decisions(bench) == [("r-012.8", "approved")]
        await press(pilot, "escape")
        assert len(pane(pilot).rows.items) == 18


async def test_parts_of_the_file_that_say_nothing_are_listed(bench: FakeBench, running: Running) -> None:
    start = PROPOSAL.index("- [ ] `r-012.2`")
    end = PROPOSAL.index("\n", start)
    bench.proposal = f"{PROPOSAL[:start]}- [?] `r-012.2` nothing{PROPOSAL[end:]}"
    async with running(bench) as pilot:
        await press(pilot, "5")
        assert "! 1 part of the file cannot be read" in listed(pilot)
        await go(pilot, "overview:")
        assert "does not say what it does" in " ".join(detail(pilot).split())
        assert "opens the file in your editor" in detail(pilot)


async def test_a_file_that_cannot_be_read_says_why(bench: FakeBench, running: Running) -> None:
    bench.unreadable = DocumentError(
        "The file holds no text.", where="pending-reflection.md", remedy="Restore it."
    )
    async with running(bench) as pilot:
        await press(pilot, "5")
        assert "The proposal cannot be read." in listed(pilot)
        assert "The file holds no text. Restore it." in listed(pilot)


async def test_where_agents_propose_a_file_that_cannot_be_read_is_told_above(
    bench: FakeBench, running: Running
) -> None:
    bench.unreadable = DocumentError("The file holds no text.", where="pending-reflection.md")
    bench.proposed = Proposals((PLAIN,))
    async with running(bench, (160, 40)) as pilot:
        await press(pilot, "5")
        assert "What the reflection proposes cannot be read; E opens it." in head(pilot)
        await press(pilot, "a")
        assert [each.keep for each in bench.verdicts] == [(PLAIN,)]


async def test_a_thousand_items_are_decided_without_losing_one(bench: FakeBench, running: Running) -> None:
    lines = [
        f"- [ ] `r-012.{at}` fact for [[person--mira]]: Knows thing number {at} (confidence high)\n"
        for at in range(1, 1001)
    ]
    bench.proposal = (
        "# Reflection\n\n<!-- reflection: r-012 -->\n\n## 🧠 New knowledge extracted\n\n" + "".join(lines)
    )
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.1")
        await press(pilot, *"ar" * 5)
        assert "10 of 1000 decided · 5 approved · 5 rejected" in head(pilot)
        await go(pilot, "section:🧠 New knowledge extracted")
        await press(pilot, "d")
        assert bench.undecided() == 0


async def test_an_error_of_ours_is_not_swallowed(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_step: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr(bench, "decide", fail)
    with pytest.raises(ZeroDivisionError):
        async with running(bench) as pilot:
            await press(pilot, "5", "d")
