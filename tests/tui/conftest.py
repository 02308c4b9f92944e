"""Fixtures of the bench: a real workspace, and screens that are drawn and read as fast as a test can look."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from rich.console import RenderableType
from textual import _wait
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen
from textual.widgets import Input

from tests.tui import stillness
from tests.tui.seen_workspace import seen, seen_clock, seen_folder, seen_template
from workbench.tui.frame import pressing

__all__ = ["seen", "seen_clock", "seen_folder", "seen_template"]

# By the variables of a theme: rules by their source, and styles by their words.
_read_styles: dict[tuple[tuple[str, str], ...], tuple[LRUCache[Any, Any], LRUCache[str, Any]]] = {}


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have keys act as soon as they come, and cursors not blink."""
    # Keys of a test come in one go; those that are about the rule have a clock of their own.
    monkeypatch.setattr(pressing, "INERT", 0.0)
    monkeypatch.setattr(Input, "cursor_blink", False)
    # How long the pilot looks, after each key, whether the process is idle; `settle` knows better when it is.
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", 0.002)
    monkeypatch.setattr(_wait, "SLEEP_IDLE", 0.0005)


@pytest.fixture(autouse=True)
def drawn_when_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a screen when a test looks at it; the headless driver throws every picture between away."""
    draw = Compositor.render_update

    def forget(
        compositor: Compositor,
        full: bool = False,
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,
    ) -> RenderableType | None:
        if full:  # a screenshot
            return draw(compositor, full, screen_stack, simplify)
        visible_screen_stack.set(screen_stack or [])
        compositor._dirty_regions.clear()
        return None

    monkeypatch.setattr(Compositor, "render_update", forget)


@pytest.fixture(autouse=True)
def style_sheets_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share what was read of style sheets among apps, each of which would parse the same ones."""
    begin = Stylesheet.__init__

    def begun(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
        begin(sheet, variables=variables)
        _share(sheet)

    def set_variables(sheet: Stylesheet, variables: dict[str, str]) -> None:
        sheet._variables = variables
        sheet._Stylesheet__variable_tokens = None  # type: ignore[attr-defined]
        sheet._invalid_css = set()
        _share(sheet)

    monkeypatch.setattr(Stylesheet, "__init__", begun)
    monkeypatch.setattr(Stylesheet, "set_variables", set_variables)


def _share(sheet: Stylesheet) -> None:
    sheet._parse_cache, sheet._style_parse_cache = _read_styles.setdefault(
        tuple(sorted(sheet._variables.items())), (LRUCache(1024), LRUCache(4096))
    )


@pytest.fixture(autouse=True)
def counted_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep count of what threads are at: those of a worker that was cancelled go on and may yet tell something."""
    stillness.under_way.clear()
    submit = ThreadPoolExecutor.submit

    def counted(executor: ThreadPoolExecutor, work: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        future: Future[Any] = submit(executor, work, *args, **named)
        stillness.under_way.add(future)
        future.add_done_callback(stillness.under_way.discard)
        return future

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
