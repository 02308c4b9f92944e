"""Nothing that a memory says is markup, an escape or an error on the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.segment import Segment
from textual.pilot import Pilot

from tests.tui.conftest import Running, settle
from tests.tui.fake_bench import FakeBench, core_item
from tests.tui.test_text import HOSTILE
from workbench.engine.errors import BudgetExceeded, NotFound
from workbench.tui.bench import Alert, Memory, Outcome
from workbench.tui.panes import PANES
from workbench.tui.screens.memory import MemoryScreen
from workbench.tui.widgets.item_editor import ItemEditor
from workbench.tui.widgets.virtual_list import VirtualList

EVERYTHING = " ".join(text[:60] for text in HOSTILE)


class Poisonous(FakeBench):
    """A bench whose memories, names and errors are all hostile."""

    def memory(self, memory_id: str) -> Memory:
        if memory_id.startswith("entity:"):
            raise NotFound(EVERYTHING, where=EVERYTHING, remedy=EVERYTHING)
        known = super().memory(memory_id)
        return replace(known, text="\n".join(HOSTILE), provenance=tuple(text[:90] for text in HOSTILE))

    def set_core(self, item_id: str, text: str) -> Outcome:
        raise BudgetExceeded(EVERYTHING, where=EVERYTHING, remedy=EVERYTHING)


def poisoned() -> FakeBench:
    """Return the sample with hostile text wherever any can stand."""
    bench = Poisonous.filled()
    bench.name = EVERYTHING[:40]
    bench.notices = (EVERYTHING,)
    bench.blocks = {text[:40] + str(at): [core_item(str(at), text)] for at, text in enumerate(HOSTILE)}
    bench.budgets = dict.fromkeys(bench.blocks, 500)
    bench.happened = [
        replace(
            bench.happened[at % len(bench.happened)], id=f"episode:2026-02-02:10:{at:02}", text=text, type=text[:30],
            tags=(text[:100],), source=text[:50], confidence=text[:9], time=text[:5],
        )
        for at, text in enumerate(HOSTILE)
    ]  # fmt: skip
    bench.entries = [
        replace(
            bench.entries[0], summary=text, actor=text[:80], file=f"memory/{text[:80]}.md", action=text[:20]
        )
        for text in HOSTILE
    ]
    alert = bench.open_alerts[0]
    bench.open_alerts = [
        Alert(f"{at}{text[:20]}", text[:80], alert.timestamp, text[:40], text, bench.entries[0].commit)
        for at, text in enumerate(HOSTILE[:4])
    ]
    return bench


@pytest.mark.parametrize("size", [(80, 24), (150, 40), (34, 8)])
async def test_every_pane_survives_every_row(running: Running, size: tuple[int, int]) -> None:
    async with running(poisoned(), size) as pilot:
        for pane in "123":
            await pilot.press(pane)
            await settle(pilot)
            rows = pilot.app.query(f"#{PANES[int(pane) - 1][0]}-list").first(VirtualList)
            for _ in HOSTILE:
                rows.action_move_down()
                await pilot.pause()
                clean(pilot)
            await pilot.press("enter", "tab", "y", "h")
            await settle(pilot)
            clean(pilot)
        await pilot.press("escape", "escape", "escape", "u", "1", "end")
        editor = pilot.app.query_one(ItemEditor)
        for _ in HOSTILE[::3]:
            await pilot.press("e", "x", "enter")
            await settle(pilot)
            assert editor.text.endswith("x")
            clean(pilot)
            await pilot.press("escape", "up", "up", "up")
        await pilot.press("ctrl+p", "a")
        await settle(pilot)
        clean(pilot)
        await pilot.press("escape")
        pilot.app.push_screen(MemoryScreen(pilot.app.bench, "entity:x"))  # type: ignore[attr-defined]  # BenchApp
        pilot.app.notify(EVERYTHING, title=EVERYTHING)
        await settle(pilot)
        clean(pilot)


def clean(pilot: Pilot[None]) -> None:
    """Check that what is drawn holds no control of its own."""
    for strip in pilot.app.screen._compositor.render_strips():
        for segment in strip:
            assert isinstance(segment, Segment)
            assert not any(
                ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in segment.text
            ), segment
            assert not set(segment.text) & {"\u202e", "\u2066", "\u200b", "\u2028"}, segment
