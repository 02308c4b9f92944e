"""The bench in a real browser: seen, typed into and resized there, and nothing asked of anybody else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.tui.test_web import served

pytestmark = pytest.mark.clients

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_CELLS = "document.querySelector('.xterm-rows, .xterm-screen canvas') !== null"


@pytest.fixture
def page() -> Iterator[Page]:
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    assert program, "Chromium is missing: install it, as .ci/run does."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1200, "height": 800})
        browser.close()


def test_what_is_typed_in_a_browser_is_remembered(seen_folder: Path, page: Page) -> None:
    asked, complaints = list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    with served(seen_folder) as address:
        page.goto(address)
        page.wait_for_selector("body.-first-byte", state="attached")
        page.wait_for_function(_CELLS)
        page.keyboard.press("n")
        page.keyboard.type("Drinks tea only before noon.")
        page.set_viewport_size({"width": 700, "height": 500})
        page.keyboard.press("Control+s")
        _until_written(page, seen_folder, "Drinks tea only before noon.")
        page.keyboard.press("Control+q")
        page.wait_for_selector("body.-closed", state="attached")
        assert page.locator(".ended").is_visible()
        assert [url for url in asked if not url.startswith(address)] == []
        assert complaints == []


def _until_written(page: Page, folder: Path, text: str) -> None:
    """Wait, as long as a test may take, until a memory file holds a text."""
    while not any(text in path.read_text(encoding="utf-8") for path in (folder / "memory").rglob("*.md")):
        page.wait_for_timeout(50)
