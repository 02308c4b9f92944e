"""A page of text: what is drawn before it has its place is drawn for the width that it then has."""

from __future__ import annotations

from textual.app import App, ComposeResult

from workbench.display.ink import ink, wrap_line
from workbench.tui.palette import Palette
from workbench.tui.parts.page import PagePart
from workbench.tui.themes import DARK, load_themes


class PageApp(App[None]):
    """An app with a page and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.palette = Palette(load_themes().by_name[DARK])

    def compose(self) -> ComposeResult:
        yield PagePart()


async def test_lines_of_another_width_are_never_painted() -> None:
    app = PageApp()
    async with app.run_test(size=(40, 5)):
        page = app.query_one(PagePart)
        page.show_lines(lambda width: wrap_line((ink("The colours of the bench"),), width))
        page.lines, page._drawn_for = [(ink("Th"),), (ink("e"),)], 2
        assert page.render_line(0).text.strip() == "The colours of the bench"
