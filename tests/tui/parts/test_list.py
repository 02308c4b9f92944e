"""The one list: any number of rows, its cursor where it was, two lines repainted for a step."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Region

from tests.tui.stillness import settle
from workbench.display.ink import Line, Span, broken, plain_text, spread
from workbench.tui.keys.table import COMMANDS, canonical
from workbench.tui.palette import Palette
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.rows import Rows, nearest, repeated_heading, step_from
from workbench.tui.themes import DARK, load_themes


class Numbered(Rows[str, str]):
    """Rows that say their key; every tenth is a heading."""

    def __init__(self, keys: Sequence[str], every: int = 10) -> None:
        grouped = ["" if every and at % every == 0 else key for at, key in enumerate(keys)]
        self.drawn = 0
        super().__init__()
        for at, key in enumerate(grouped):
            self.add(key, key)
            if not key:
                self._headings.append(at)

    def line(self, index: int, width: int) -> Line:
        self.drawn += 1
        return (Span(f"row {index}"[:width]),)


class ListApp(App[None]):
    """An app with a list and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.palette = Palette(load_themes().by_name[DARK])
        self.last: str = ""

    def compose(self) -> ComposeResult:
        yield ListPart()

    def on_key(self, event: events.Key) -> None:
        self.list.do(next(each.id for each in COMMANDS if canonical(event.key) in each.keys))

    def on_list_part_moved(self, event: ListPart.Moved) -> None:
        self.last = f"moved {event.key}"

    def on_list_part_chosen(self, event: ListPart.Chosen) -> None:
        self.last = f"chosen {event.key}"

    @property
    def list(self) -> ListPart:
        return self.query_one(ListPart)


def keys(count: int) -> list[str]:
    return [f"k{at}" for at in range(count)]


async def test_a_hundred_thousand_rows_are_there_at_once() -> None:
    app = ListApp()
    async with app.run_test(size=(120, 40)) as pilot:
        rows = Numbered(keys(100_000))
        app.list.show(rows)
        app.list.go_to("k99999")
        await pilot.pause()
        assert rows.drawn <= 80, "only what is in sight is drawn"
        assert app.list.cursor_key == "k99999"
        assert "row 99999" in app.list.render_line(39).text


async def test_a_step_repaints_two_lines_only() -> None:
    app = ListApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.list.show(Numbered(keys(1000)))
        await pilot.pause()
        painted: list[Region] = []
        refresh = app.list.refresh

        def spy(*regions: Region, **options: bool) -> ListPart:
            painted.extend(regions or (app.list.size.region,))
            return refresh(*regions, **options)

        app.list.refresh = spy  # type: ignore[method-assign]  # watches what is repainted
        app.list.do("move-down")
        assert [region.height for region in painted] == [1, 1]


async def test_keys_move_over_headings_and_stop_at_the_ends() -> None:
    app = ListApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.list.show(Numbered(keys(30)))
        await pilot.press("up")
        assert app.list.cursor == 1
        await pilot.press("j", "k", "down")
        assert app.list.cursor == 2
        await pilot.press("end")
        assert app.list.cursor == 29
        await pilot.press("pageup")
        assert app.list.cursor == 7
        await pilot.press("home")
        assert app.list.cursor == 1
        assert app.list.scroll_y == 0
        await pilot.pause()
        assert app.last == "moved k1"


async def test_the_cursor_stays_on_its_id_and_its_line_when_rows_change() -> None:
    app = ListApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.list.show(Numbered(keys(200), every=0))
        app.list.go_to("k100")
        await pilot.pause()
        line = app.list.cursor - app.list.scroll_y
        app.list.show(Numbered(["new1", "new2", *keys(200)], every=0))
        await pilot.pause()
        assert app.list.cursor_key == "k100"
        assert app.list.cursor - app.list.scroll_y == line
        app.list.show(Numbered([key for key in keys(200) if key != "k100"], every=0))
        assert app.list.cursor_key == "k103" or app.list.cursor == 102
        app.list.show(Numbered([], every=0))
        assert app.list.cursor_key == ""


async def test_marks_ranges_and_the_mouse() -> None:
    app = ListApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.list.show(Numbered(keys(60)))
        await pilot.press("space", "space")
        assert list(app.list.chosen_keys) == ["k1", "k2"]
        app.list.clear_marks()
        await pilot.press("V", "down", "down", "V", "down")
        assert list(app.list.chosen_keys) == ["k3", "k4", "k5"]
        app.list.clear_marks()
        await pilot.click(ListPart, offset=(5, 12))
        assert app.list.cursor_key == "k12"
        await pilot.click(ListPart, offset=(5, 14), shift=True)
        assert list(app.list.chosen_keys) == ["k12", "k13", "k14"]
        await pilot.click(ListPart, offset=(5, 20))
        assert app.list.cursor_key == "k14", "a heading cannot be chosen"
        await pilot.click(ListPart, offset=(5, 15), times=2)
        await pilot.pause()
        assert app.last == "chosen k15"


async def test_the_heading_of_what_is_in_sight_stays_in_sight() -> None:
    app = ListApp()
    async with app.run_test(size=(80, 10)) as pilot:
        app.list.show(Numbered(keys(100)))
        app.list.go_to("k55")
        await pilot.pause()
        app.list.scroll_to(y=53, animate=False)
        await pilot.pause()
        assert "row 50" in app.list.render_line(0).text
        app.list.go_to("k52")
        await pilot.pause()
        assert app.list.cursor - round(app.list.scroll_y) >= 1, "the sticky heading does not cover the cursor"


def test_pure_steps() -> None:
    rows = Numbered(keys(11))
    assert nearest(rows, 0) == 1
    assert nearest(rows, 10) == 9
    assert step_from(rows, 9, 1) == 9
    assert nearest(Numbered([]), 0) == -1


class TwoLines(Rows[str, str]):
    """Rows of two lines each."""

    def __init__(self, count: int) -> None:
        super().__init__()
        for at in range(count):
            self.add("", f"k{at}")
            self.add("")

    def owner(self, index: int) -> int:
        return index - index % 2

    def line(self, index: int, width: int) -> Line:
        return (Span(f"{index // 2}{'ab'[index % 2]}"[:width]),)


async def test_rows_of_two_lines_move_and_light_as_one() -> None:
    app = ListApp()
    async with app.run_test(size=(30, 7)) as pilot:
        rows = app.query_one(ListPart)
        rows.show(TwoLines(20))
        await pilot.press("down", "down", "down")
        await pilot.pause()
        assert rows.cursor_key == "k3"
        # Both lines of the row are in sight, and both stand on the ground of the cursor.
        top = round(rows.scroll_y)
        assert 6 >= top + 7 - 8 >= 0
        lit = [
            strip.text.strip("▌ ") for strip in map(rows.render_line, range(7)) if strip.text.startswith("▌")
        ]
        assert lit == ["3a", "3b"]
        await pilot.press("up", "up")
        assert rows.cursor_key == "k1"
        await pilot.click(ListPart, offset=(5, 3))
        await pilot.pause()
        assert rows.cursor_key == f"k{(3 + round(rows.scroll_y)) // 2}"
        await pilot.press("end")
        await pilot.pause()
        assert "19b" in rows.render_line(6).text


class Words(Rows[str, str]):
    """Words under their first letters; the section of x can be chosen itself."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        for letter in dict.fromkeys(word[0] for word in words):
            self.add_heading(letter, "section:x" if letter == "x" else "")
            for word in words:
                if word.startswith(letter):
                    self.add(word, word)

    def line(self, index: int, width: int) -> Line:
        return (Span((self._rows[index] or "")[:width]),)


def test_sections_begin_with_a_heading_and_all_but_the_first_with_a_space() -> None:
    rows = Words("apt", "arc", "bay", "xis")
    assert [rows.key(at) for at in range(len(rows))] == [
        "",
        "apt",
        "arc",
        "",
        "",
        "bay",
        "",
        "section:x",
        "xis",
    ]
    assert [rows.heading(at) for at in (1, 2, 5, 8)] == [0, 0, 4, 7]
    assert [repeated_heading(rows, at) for at in (1, 2, 8)] == [0, None, 7], "no heading stands over a space"
    assert [step_from(rows, at, 1) for at in (2, 5)] == [5, 7]
    assert (rows.row("arc"), rows.row("section:x"), rows.row("nothing")) == ("arc", None, None)


def said(app: ListApp) -> list[str]:
    return [
        "".join(each.text for each in app.list.render_line(y)).rstrip() for y in range(app.list.size.height)
    ]


def sentence(text: str, width: int) -> Line:
    return spread((Span("◷ "), Span(text)), (Span("today"),), width)


async def test_what_is_cut_is_broken_into_lines_as_long_as_every_row_fits() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        rows: Rows[str, str] = Rows(sentence)
        rows.add("A sentence that is longer than the row it stands in", "long", "First")
        rows.add("A short one", "short", "Second")
        app.list.show(rows)
        whole = said(app)
        assert whole[:6] == [
            "  FIRST",
            "▌ ◷ A sentence that is longer     today",
            "▌   than the row it stands in",
            "",
            "  SECOND",
            "  ◷ A short one                   today",
        ]
        await pilot.press("j")
        assert app.list.cursor_key == "short"
        await pilot.press("k")
        assert app.list.cursor_key == "long"
        await pilot.press("j")
        await pilot.click(ListPart, offset=(6, 2))
        assert app.list.cursor_key == "long"
        await pilot.resize_terminal(40, 4)
        await settle(pilot)
        assert said(app)[1] == "▌ ◷ A sentence that is longer …  today"
        assert len(app.list.rows) == 5
        await pilot.resize_terminal(40, 12)
        await settle(pilot)
        assert said(app) == whole
        assert app.list.cursor_key == "long"


@pytest.mark.parametrize(("height", "lines"), [(12, 1), (20, 2), (70, 1)])
async def test_rows_that_scroll_anyway_take_two_lines_in_a_tall_list(height: int, lines: int) -> None:
    rows: Rows[str, str] = Rows(sentence)
    for at in range(60):
        rows.add(f"{at} is a sentence that is longer than the row it stands in", f"{at}")
    app = ListApp()
    async with app.run_test(size=(40, height)):
        app.list.show(rows)
        # One glance over all of them counts more than whole sentences.
        assert len(app.list.rows) == 60 * lines
        assert ("…" in said(app)[0]) is (lines == 1)
        app.list.do("last")
        assert app.list.cursor_key == "59"


def test_a_heading_is_repeated_over_the_end_of_a_row_and_never_over_its_beginning() -> None:
    rows: Rows[str, str] = Rows(sentence)
    for at in range(3):
        rows.add(f"{at} is a sentence that is longer than the row it stands in", f"{at}", "Heading")
    rows = rows.unfolded(38)
    # The heading, then three rows of two lines.
    assert [repeated_heading(rows, line) for line in range(6)] == [None, None, 0, None, 0, None]


def test_what_goes_on_below_takes_the_whole_width_and_stands_in_where_no_sign_leads() -> None:
    line = spread(
        (Span("The museum orders a thousand copies, and a second edition"),), (Span("yesterday"),), 36
    )
    assert [plain_text(each).rstrip() for each in broken(line, 2)] == [
        "The museum orders a        yesterday",
        "  thousand copies, and a second …",
    ]


async def test_a_text_that_would_take_more_lines_than_there_are_ends_where_they_end() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)):
        rows: Rows[str, str] = Rows(sentence)
        rows.add("word " * 60, "long")
        app.list.show(rows)
        assert [line[-6:] for line in said(app)[:4]] == [" today", "d word", " word…", ""]
        app.list.show(rows.spaced())
        assert len(app.list.rows) == 4
        assert not said(app)[3].strip("▌ ")
