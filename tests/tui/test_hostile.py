"""Nothing that a memory says is markup, an escape or an error on the screen."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench, core_item
from tests.tui.fake_recall import fresh_index
from tests.tui.stillness import settle
from tests.tui.test_inbox_views import hostile_items
from tests.tui.test_text import HOSTILE
from workbench import tui
from workbench.engine.errors import BudgetExceeded, NotFound, Refused
from workbench.engine.requests import SearchRequest
from workbench.engine.results.recall import (
    Cut,
    Explanation,
    Found,
    Hit,
    HitRelation,
    IndexStatus,
    Lane,
    Signals,
    WhyNot,
)
from workbench.engine.results.reviews import FilePreview, Review, ReviewPreview
from workbench.tui.bench import Alert, Memory, Outcome
from workbench.tui.decisions import Step
from workbench.tui.panes import PANES
from workbench.tui.screens.memory import MemoryScreen
from workbench.tui.widgets.item_editor import ItemEditor
from workbench.tui.widgets.virtual_list import VirtualList

CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u202e\u2066\u200b\u2028]")
EVERYTHING = " ".join(text[:60] for text in HOSTILE)


class Poisonous(FakeBench):
    """A bench whose memories, names and errors are all hostile."""

    def memory(self, memory_id: str) -> Memory:
        if memory_id.startswith("entity:"):
            raise NotFound(EVERYTHING, where=EVERYTHING, remedy=EVERYTHING)
        known = super().memory(memory_id)
        return replace(known, text="\n".join(HOSTILE), provenance=tuple(text[:90] for text in HOSTILE))

    def search(self, request: SearchRequest) -> Found:
        lanes = tuple(Lane(text[:30], at, 0.5, text) for at, text in enumerate(HOSTILE[:5], 1))
        explained = Explanation(lanes, 0.5, 0.9, tuple(HOSTILE))
        hits = tuple(
            Hit(
                text[:50], f"memory/{text[:50]}.md", 1, 3, f"{text}\n{text}", 0.5, text[:20], text[:20],
                Signals(None, None, None, None), title=text, date=text[:10], citation=text, explanation=explained,
                superseded_by=text,
                relations=(HitRelation(text[:50], text, text, text), HitRelation(text, text, text, text)),
            )
            for text in HOSTILE
        )  # fmt: skip
        cuts = tuple(Cut(text[:60], text, 1, 2, 0.1, text[:30], text) for text in HOSTILE)
        return Found(
            hits, EVERYTHING, EVERYTHING, EVERYTHING, likely_absent=None, took_ms=1.0, strategy=EVERYTHING,
            period=(EVERYTHING, EVERYTHING), stale=EVERYTHING, cuts=cuts,
        )  # fmt: skip

    def context(self, path: str, first: int, last: int) -> tuple[str, ...]:
        return tuple(HOSTILE)

    def why_not(self, query: str, memory_id: str) -> WhyNot:
        return WhyNot(EVERYTHING, 3, EVERYTHING, EVERYTHING)

    def index_status(self) -> IndexStatus:
        return replace(
            fresh_index(), provider=EVERYTHING, model=EVERYTHING, place=EVERYTHING, fallback=EVERYTHING
        )

    def review(self) -> Review:
        whole = super().review()
        return replace(
            whole, items=tuple(hostile_items()[::7]), opening=EVERYTHING, prose={text[:80]: text for text in HOSTILE},
            problems=(EVERYTHING,),
        )  # fmt: skip

    def review_preview(self) -> ReviewPreview:
        files = tuple(FilePreview(text[:90], text, f"{text}\n{text}") for text in HOSTILE)
        return replace(
            super().review_preview(),
            files=files,
            waiting={text[:30]: text for text in HOSTILE},
            applied=("x",),
        )

    def decide(self, step: Step) -> Outcome:
        raise Refused(EVERYTHING, where=EVERYTHING, remedy=EVERYTHING)

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "step"),
    [
        ((80, 24), 1),
        ((150, 40), 3),
        ((34, 8), 3),
        pytest.param((150, 40), 1, marks=pytest.mark.campaign),
        pytest.param((34, 8), 1, marks=pytest.mark.campaign),
    ],
)
async def test_every_pane_survives_every_row(running: Running, size: tuple[int, int], step: int) -> None:
    async with running(poisoned(), size) as pilot:
        for pane in "123":
            await pilot.press(pane)
            await settle(pilot)
            rows = pilot.app.query(f"#{PANES[int(pane) - 1][0]}-list").first(VirtualList)
            for _ in HOSTILE[::step]:
                for _ in range(step):
                    rows.action_move_down()
                await pilot.pause()
                clean(pilot)
            await pilot.press("enter", "tab", "y", "h")
            await settle(pilot)
            clean(pilot)
        await pilot.press("escape", "escape", "escape", "u", "1", "end")
        editor = pilot.app.query_one(ItemEditor)
        for _ in HOSTILE[:: 3 * step]:
            await pilot.press("e", "x", "enter")
            await settle(pilot)
            assert editor.text.endswith("x")
            clean(pilot)
            await pilot.press("escape", "up", "up", "up")
        await pilot.press("ctrl+p", "a")
        await settle(pilot)
        clean(pilot)
        await pilot.press("escape")
        await search_and_explain(pilot, step)
        await decide(pilot)
        pilot.app.push_screen(MemoryScreen(pilot.app.bench, "entity:x"))  # type: ignore[attr-defined]  # BenchApp
        pilot.app.notify(EVERYTHING, title=EVERYTHING)
        await settle(pilot)
        clean(pilot)


@pytest.mark.parametrize("widget", ["Static", "Label"])
def test_no_widget_reads_its_text_as_markup(widget: str) -> None:
    (folder,) = map(Path, tui.__path__)
    made = [
        (f"{place.relative_to(folder)}:{call.lineno}", call)
        for place in sorted(folder.rglob("*.py"))
        for call in ast.walk(ast.parse(place.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == widget
    ]
    assert [
        place
        for place, call in made
        if not any(
            each.arg == "markup" and isinstance(each.value, ast.Constant) and each.value.value is False
            for each in call.keywords
        )
    ] == []


async def search_and_explain(pilot: Pilot[None], step: int) -> None:
    """Look at every result, or at some, at why it is there, and at why another is not."""
    await pilot.press("4", "slash", *"words")
    await settle(pilot)
    clean(pilot)
    await pilot.press("enter")
    rows = pilot.app.query("#search-list").first(VirtualList)
    for _ in HOSTILE[::step]:
        for _ in range(step):
            rows.action_move_down()
        await pilot.pause()
        clean(pilot)
    await settle(pilot)
    await pilot.press("x")
    await settle(pilot)
    clean(pilot)
    await pilot.press("w")
    await settle(pilot)
    clean(pilot)
    await pilot.press("enter")
    await settle(pilot)
    clean(pilot)
    await pilot.press("escape", "escape", "i")
    await settle(pilot)
    clean(pilot)
    await pilot.press("escape")
    await settle(pilot)


async def decide(pilot: Pilot[None]) -> None:
    """Look at an item of every kind, decide, write in one, and look at what would be written."""
    await pilot.press("5")
    await settle(pilot)
    clean(pilot)
    rows = pilot.app.query("#inbox-list").first(VirtualList)
    for at in range(len(rows.rows)):
        if rows.rows.key(at):
            rows.go_to(rows.rows.key(at))
            await pilot.pause()
            clean(pilot)
    await pilot.press("a", "r")
    await settle(pilot)
    clean(pilot)
    await pilot.press("e", "x", "escape", "enter", "tab", "y", "escape", "A")
    await settle(pilot)
    clean(pilot)
    await pilot.press("escape")
    await settle(pilot)


def clean(pilot: Pilot[None]) -> None:
    """Check that what is drawn holds no control of its own."""
    for strip in pilot.app.screen._compositor.render_strips():
        for segment in strip:
            assert isinstance(segment, Segment)
            assert CONTROL.search(segment.text) is None, segment
