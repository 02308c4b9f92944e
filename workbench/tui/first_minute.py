"""What one may begin with where there is no workspace: a sample, memory that is on this machine, or a new folder."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import App
from textual.widgets import Input

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Span, gap, ink, line_width, spread
from workbench.display.words import counted
from workbench.engine import layout
from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.engine.file_access import expand_writable
from workbench.engine.settings.layers import USUAL_PLACE, load_settings, remember_usual
from workbench.engine.settings.sections import user_settings_file
from workbench.engine.transfer.recognition import known_places
from workbench.engine.values import dataclass
from workbench.tui.frame.working import break_with
from workbench.tui.ground import Ground
from workbench.tui.look import read_look
from workbench.tui.palette import Palette
from workbench.tui.parts.line import DrawnLines, PromptLine
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.rows import Rows
from workbench.tui.themes import textual_theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from textual import events
    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.tui.look import Look
    from workbench.tui.themes import ThemeFile

SAMPLE, OPEN, BRING, WRITE = "sample", "open", "bring", "write"
_MEASURE = 76
# Files of a folder that are looked through for notes, at most.
_MOST_LISTED = 5_000


@dataclass(frozen=True)
class Offer:
    """Something to begin with.

    Args:
        kind: `sample` is built, `open` is opened as it is, `bring` is brought into a new folder, and for `write` one
            writes which folder.
        place: The folder; of `bring`, the one that is brought in.
    """

    kind: str
    title: str
    about: str
    place: Path


@dataclass(frozen=True)
class Begun:
    """What was chosen, made where it had to be.

    Args:
        brings: What is to be brought into it; None for nothing.
        is_usual: Whether it is to be opened from now on where no other is near.
    """

    place: Path
    brings: Path | None = None
    is_usual: bool = True


def offers(environment: Mapping[str, str], home: Path, here: Path, sample: Path) -> tuple[Offer, ...]:
    """Return what one may begin with on this machine; names of files tell, and none is opened.

    Args:
        environment: Its variables may name folders of other programs.
        sample: Where the sample would be built.
    """
    return tuple(_offers(environment, home, here, sample))


def _offers(environment: Mapping[str, str], home: Path, here: Path, sample: Path) -> Iterator[Offer]:
    yield Offer(
        SAMPLE,
        "Look at a sample",
        f"Four months of one invented person, built in {_at_home(here / sample, home)}.",
        sample,
    )
    for found in known_places(environment, home, here):
        place = Path(found.place).expanduser()
        spaces = [each for each in (place, *sorted(place.glob("workspace*"))) if _is_memory(each)]
        for space in spaces:
            told = f"{_at_home(space, home)}, as it is; looking changes nothing."
            yield Offer(OPEN, f"Open the memory of {found.program}", told, space)
        if not spaces:
            told = f"{found.place}, into a folder of its own; you see first what comes."
            yield Offer(BRING, f"Bring in the memory of {found.program}", told, place)
    if here != home and (notes := _count_notes(here)):
        told = f"{counted(notes, 'note')} in {_at_home(here, home)}, as they are."
        yield Offer(OPEN, "Open this folder", told, here)
    yield Offer(
        WRITE,
        "Another folder, or a new one",
        "One that is there is opened as it is, another one is made.",
        here,
    )


def _is_memory(folder: Path) -> bool:
    return (folder / layout.CORE).is_file() or (folder / "memory").is_dir()


def _count_notes(folder: Path) -> int:
    count = 0
    for at, path in enumerate(folder.glob("*.md")):
        count += path.is_file()
        if at >= _MOST_LISTED:
            break
    return count


def _at_home(place: Path, home: Path) -> str:
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) and place != home else str(place)


class _OfferRows(Rows[str, Offer]):
    """Offers, two lines each and one between."""

    def __init__(self, found: Sequence[Offer]) -> None:
        super().__init__()
        self._offers = found
        for at, offer in enumerate(found):
            self.add(offer, str(at))
            self.add(offer)
            self.add(None)

    def owner(self, index: int) -> int:
        """Return the first line of an offer; the space after it is nobody's."""
        return index if index % 3 == 2 else index - index % 3

    def line(self, index: int, width: int) -> Line:
        """Draw a line."""
        offer = self._offers[index // 3]
        if index % 3 == 0:
            return (Span(f"{index // 3 + 1}  ", "soft"), ink(offer.title, "strong", width - 3))
        return (gap(3), ink(offer.about, "soft", width - 3)) if index % 3 == 1 else BLANK


class FirstMinute(App[Begun], inherit_bindings=False):
    """A choice of what to begin with; ends with it, or with None where one leaves.

    Args:
        found: What there is to choose from.
        look: How the bench is to look.
        build: Builds the sample in a folder and tells how far it is.
        make: Makes a folder a workspace.
    """

    TITLE = "Workbench"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    FirstMinute Screen { background: $background; }
    #head { height: auto; }
    #offers { height: 1fr; }
    #said, #keys { height: 1; }
    """
    BINDINGS: ClassVar = []

    def __init__(
        self,
        found: Sequence[Offer],
        look: Look,
        *,
        build: Callable[[Path, Callable[[int, int], object]], object],
        make: Callable[[Path], object],
        theme: ThemeFile,
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self._found, self._build, self._make = found, build, make
        self.palette = Palette(theme, plain=look.plain)
        self.register_theme(textual_theme(theme))
        self.theme = theme.name
        self._list = ListPart(id="offers")
        self._said, self._keys = DrawnLines(id="said"), DrawnLines(id="keys")
        self._prompt = PromptLine()
        self._brings: Path | None = None
        self._worker = ThreadPoolExecutor(1, "begin")
        self._is_busy = False

    def compose(self) -> ComposeResult:
        head = DrawnLines(id="head", ground="paper")
        head.show(_head)
        yield head
        yield self._list
        yield self._said
        yield self._keys
        yield self._prompt

    def on_mount(self) -> None:
        self._list.show(_OfferRows(self._found))
        self._list.do("first")
        self._list.focus()
        self._tell("What you choose is opened from now on wherever no other memory is near.")
        self._keys.show(_keys)

    def _tell(self, said: str, *, is_problem: bool = False) -> None:
        self._said.show(
            lambda width: ((gap(1), ink(said, "danger" if is_problem else "soft", width - 2), gap(1)),)
        )

    def on_key(self, event: events.Key) -> None:
        """Move, choose, or leave."""
        if event.key in ("ctrl+q", "ctrl+c") or (event.key == "escape" and not self._prompt.display):
            self.exit(None)
        elif event.key == "escape":
            self._close_prompt()
        elif self._is_busy or self._prompt.display:
            return
        elif event.key in ("j", "down", "k", "up"):
            self._list.do("move-down" if event.key in ("j", "down") else "move-up")
        elif event.key.isdecimal() and 0 < int(event.key) <= len(self._found):
            self._list.go_to(str(int(event.key) - 1))
            self._choose()
        elif event.key == "enter":
            self._choose()
        else:
            self._tell("enter chooses, esc leaves.")
        event.stop()

    @on(ListPart.Chosen)
    def _choose(self) -> None:
        offer = self._found[int(self._list.cursor_key or 0)]
        if offer.kind == SAMPLE:
            self._work(lambda: self._build(offer.place, self._built), Begun(offer.place, is_usual=False))
        elif offer.kind == OPEN:
            self.exit(Begun(offer.place))
        else:
            self._brings = offer.place if offer.kind == BRING else None
            self._prompt.open("Folder", USUAL_PLACE, "enter takes it   esc leaves")
            self._keys.display = False
            self._prompt.line.focus()

    def _close_prompt(self) -> None:
        self._prompt.close()
        self._keys.display = True
        self._list.focus()

    @on(Input.Submitted)
    def _take_path(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        try:
            place = expand_writable(text or USUAL_PLACE)
        except InvalidInput as error:
            self._tell(error.message, is_problem=True)
            return
        if place.exists() and not place.is_dir():
            self._tell("That is a file; memory is a folder.", is_problem=True)
        elif place.is_dir() and any(place.iterdir()) and self._brings is None:
            self.exit(Begun(place))
        else:
            self._close_prompt()
            self._work(lambda: self._make(place), Begun(place, self._brings))

    def _work(self, act: Callable[[], object], begun: Begun) -> None:
        """Do what takes its time on a thread, and end with what was begun."""
        self._is_busy = True
        self._tell("One moment…")

        def work() -> None:
            try:
                act()
            except WorkbenchError as error:
                self.call_from_thread(self._failed, f"{error.message} {error.remedy or ''}".strip())
            except OSError as error:
                self.call_from_thread(self._failed, f"{begun.place}: {error.strerror}.")
            else:
                self.call_from_thread(self.exit, begun)

        self._worker.submit(work).add_done_callback(partial(break_with, self))

    def _failed(self, said: str) -> None:
        self._is_busy = False
        self._tell(said, is_problem=True)

    def _built(self, done: int, total: int) -> None:
        self.call_from_thread(self._tell, f"Building the sample: {100 * done // max(total, 1)} %")


def _head(width: int) -> list[Line]:
    said = "Memory for AI agents that you can see, correct and trust. There is none here; choose what to begin with."
    lines: list[Line] = [BLANK, (gap(2), Span("Workbench", "strong"))]
    lines += [(gap(2), Span(part, "soft")) for part in wrap(said, min(width - 4, _MEASURE))]
    return [*lines, BLANK]


def _keys(width: int) -> list[Line]:
    left: Line = (
        Span("enter", "strong"), Span(" choose   ", "soft"), Span("↓ ↑", "strong"), Span(" move", "soft"),
    )  # fmt: skip
    right: Line = (Span("esc", "strong"), Span(" leave", "soft"))
    return [(gap(1), *spread(left, right if line_width(left) + 12 < width else (), width - 2), gap(1))]


def first_minute(
    sample: Path,
    *,
    build: Callable[[Path, Callable[[int, int], object]], object],
    make: Callable[[Path], object],
) -> Begun | None:
    """Let a person choose what to begin with; None where they leave.

    Args:
        sample: Where the sample would be built.
        make: Makes a folder a workspace.
    """
    user_file = user_settings_file(os.environ)
    with Ground(os.environ) as ground:
        look = read_look(user_file.parent, load_settings(None))
        found = offers(os.environ, Path.home(), Path.cwd(), sample)
        dark = ground.answer().dark
    theme = look.theme(dark=dark, colours=0 if os.environ.get("NO_COLOR") else 1 << 24)
    begun = FirstMinute(found, look, build=build, make=make, theme=theme).run()
    if begun is not None and begun.is_usual:
        remember_usual(user_file, begun.place)
    return begun
