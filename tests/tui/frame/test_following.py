"""What others change while the bench is open is shown, and moves no cursor."""

from __future__ import annotations

import asyncio

from tests.tui.stillness import settle
from workbench.engine import Workspace
from workbench.tui.frame.app import FrameApp


def core_items(app: FrameApp) -> list[str]:
    return [item.text for block in app.frame.place.results.blocks for item in block.items]


async def test_what_another_process_writes_appears_and_the_cursor_stays(seen: Workspace) -> None:
    app = FrameApp(seen, follow=True)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        app.frame.go("core")
        await settle(pilot)
        await pilot.press("G")
        row = app.frame.place.list.cursor_key
        memory_file = seen.root / "MEMORY.md"
        before = memory_file.read_text(encoding="utf-8")
        memory_file.write_text(
            before.replace(
                "- Short answers, numbers first", "- Short answers, numbers first\n- Written elsewhere"
            ),
            encoding="utf-8",
        )
        async with asyncio.timeout(60):
            while not any(
                "Written elsewhere" in item.text
                for block in app.frame.place.results.blocks
                for item in block.items
            ):
                await pilot.pause()
        assert app.frame.place.list.cursor_key == row
        app.frame.close()
