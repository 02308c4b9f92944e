"""Import: where memory may be brought in from, what would come and what not, and bringing it in.

A path is completed as it is typed: what stands in its folder and goes on so.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from workbench.display.card import Card, Section
from workbench.display.ink import ink, spread
from workbench.display.rows import beside_row
from workbench.display.transfer import (
    WAYS,
    can_come,
    imported_card,
    imported_words,
    looking_card,
    preview_card,
    refused_card,
)
from workbench.display.words import told_in_bench
from workbench.engine.errors import Cancelled, WorkbenchError
from workbench.engine.values import dataclass
from workbench.tui.parts.rows import Rows
from workbench.tui.places.place import Place
from workbench.tui.verbs.act import OTHER_VERBS

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.display.ink import Line
    from workbench.engine.results.transfer import (
        Imported,
        ImportedAs,
        ImportPlaces,
        ImportPreview,
        ImportProgress,
    )
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject

PATH = "path"
_KINDS = (
    "A workspace or state folder of OpenClaw, Moltbot or Clawdbot",
    "A CLAUDE.md, or ~/.claude",
    "An export of ChatGPT or Claude",
    "An Obsidian vault, Markdown, text, PDF",
    "What was written out from here",
)
# Bytes after which how far a look is is drawn again.
_STEP = 1_000_000
_MOST = 2_000


@dataclass(frozen=True)
class Source:
    """A row: where memory may come from, or what becomes of it.

    Args:
        id: The path, `PATH` for one that is written, or the way in which it comes.
    """

    id: str
    title: str
    beside: str = ""


@dataclass(frozen=True)
class Sources:
    """What is known without reading any of them.

    Args:
        found: Where other programs keep memory.
        head: The newest action.
    """

    found: ImportPlaces
    head: str | None


class Look:
    """A look at a source in one way: under way, refused, or with what would come."""

    def __init__(self, source: str, way: ImportedAs) -> None:
        self.source, self.way = source, way
        self.stop = threading.Event()
        self.progress: ImportProgress | None = None
        self.preview: ImportPreview | None = None
        self.imported: Imported | None = None
        self.problem = ""
        self.heads: tuple[str | None, ...] = ()
        """The newest action before it came in, and after."""

    @property
    def is_over(self) -> bool:
        """Return whether nothing of it is left to bring in."""
        if self.imported is not None:
            return self.imported.complete
        return self.preview is not None and not can_come(self.preview)

    @property
    def beside(self) -> str:
        """Return how it stands, beside its row."""
        if self.imported is not None:
            return f"{self.imported.added:,} came in"
        if self.preview is None:
            return "cannot be" if self.problem else "looking…"
        count = self.preview.episodes + self.preview.notes + self.preview.files
        return f"{count:,} new" if count else "nothing new"


class ImportPlace(Place):
    """Where memory may come from, and with one source chosen, what may become of it."""

    KEYS: ClassVar[tuple[str, ...]] = ()
    spot = ""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._looks: dict[tuple[str, ImportedAs], Look] = {}

    @property
    def labels(self) -> dict[str, str]:
        return {"open": "bring it in" if self.spot else "look"}

    def read(self, workspace: Workspace) -> Sources:
        return Sources(workspace.import_places(), workspace.head())

    def show(self, results: Sources) -> None:
        # What came in and was taken back since can come again.
        self._looks = {
            key: each
            for key, each in self._looks.items()
            if each.imported is None or results.head in each.heads
        }
        super().show(results)

    def rows(self, results: Sources) -> Rows[tuple[str, str], Source]:
        """Return where memory may come from; or for one source, what may become of it."""
        rows: Rows[tuple[str, str], Source] = Rows(
            lambda row, width: beside_row((ink("  "), ink(row.title)), row.beside, width)
        )
        if self.spot:
            for way, (title, _) in WAYS.items():
                rows.add(Source(way, title, self._beside(cast("ImportedAs", way))), way, ("Bring it in", ""))
            return rows
        for place in results.found.places:
            found = Source(place.place, place.place, place.program)
            rows.add(found, found.id, ("On this machine", "nothing of it was read"))
        rows.add(Source(PATH, "Write a path…"), PATH, ("Somewhere else", ""))
        return rows

    def _beside(self, way: ImportedAs) -> str:
        look = self._looks.get((self.spot, way))
        return look.beside if look is not None else ""

    def heading(self, results: Sources, width: int) -> Line:
        if self.spot:
            return spread((ink(self.spot, "soft"),), (ink("enter brings it in", "faint"),), width)
        count = len(results.found.places)
        told = f"{count} found on this machine" if count else "no other program keeps memory in a usual place"
        return spread((ink("Bring memory in", "soft"),), (ink(told, "faint"),), width)

    def go_to_spot(self, spot: str) -> None:
        self._stop_looking()
        self.spot = spot

    def left(self) -> None:
        self._stop_looking()
        # What another program keeps is looked at again only when one asks for it again.
        self.spot = ""

    def _stop_looking(self) -> None:
        for look in self._looks.values():
            look.stop.set()
        self._looks = {}

    # Looking.

    def rest_on(self, subject: Subject | None) -> None:
        if not (self.spot and isinstance(subject, Source) and subject.id in WAYS):
            return
        way = cast("ImportedAs", subject.id)
        if (self.spot, way) in self._looks:
            return
        look = self._looks[self.spot, way] = Look(self.spot, way)
        frame, app = self.frame, self.frame.app

        def progress(told: ImportProgress) -> None:
            before = look.progress
            look.progress = told
            if before is None or told.read - before.read >= _STEP or told.read == told.total:
                app.call_later(self._drawn_again, look)

        def read(workspace: Workspace) -> ImportPreview | None:
            try:
                preview = workspace.import_preview(
                    look.source, imported_as=way, progress=progress, cancelled=look.stop.is_set
                )
            except Cancelled:
                return None
            return None if look.stop.is_set() else preview

        def show(preview: ImportPreview | None) -> None:
            look.preview = preview
            self._drawn_again(look)

        def failed(error: WorkbenchError) -> None:
            look.problem = told_in_bench(error)
            self._drawn_again(look)

        frame.reading.read(f"look {way}", read, show, failed)

    def _drawn_again(self, look: Look) -> None:
        """Draw a look again that came further, where it is still looked at."""
        if self._looks.get((self.spot, look.way)) is look and self.frame.place is self:
            self.show(self.results)
            self.frame.read_card()

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        if not isinstance(subject, Source):
            return super().read_card(workspace, subject)
        look = self._looks.get((self.spot, cast("ImportedAs", subject.id)))
        if look is not None:
            return self._card_of(look)
        kinds = Section("WHAT CAN COME", tuple((ink(each),) for each in _KINDS))
        if subject.id == PATH:
            told = "enter writes its path; tab completes it."
            return Card(subject.title, "A file or folder of yours.", (ink(told, "soft"),), (kinds,))
        told = f"{subject.beside} keeps memory there. enter shows what would come in; that changes nothing."
        return Card(subject.title, subject.title, (ink(told, "soft"),), (kinds,))

    def _card_of(self, look: Look) -> Card:
        if look.imported is not None:
            return imported_card(look.imported)
        if look.problem:
            return refused_card(look.source, look.problem)
        if look.preview is None:
            return looking_card(look.source, look.way, look.progress)
        return preview_card(look.preview, self.frame.now())

    # Doing.

    def do(self, command: str) -> bool:
        """Choose a source, bring it in, or go back to the sources."""
        if command == "out" and self.frame.working.stop():
            return True
        if command == "out" and self.spot:
            self.frame.go(self.name or "", spot="", visit=False)
            return True
        source = self.subject(self.cursor_key)
        if command != "open" or source is None or self.visited:
            return False
        if source.id == PATH:
            self.frame.editing.ask("bring in from", "~/", _offered, take=self._take_path)
        elif not self.spot:
            self.choose(source.id)
        else:
            self._bring_in(cast("ImportedAs", source.id))
        return True

    def _take_path(self, text: str) -> str | None:
        path = text.strip()
        if not path:
            return "Write where it is; esc leaves it."
        self.frame.editing.leave_line()
        self.choose(path)
        return None

    def choose(self, source: str) -> None:
        """Look what would come in from a source; nothing is changed by that."""
        self.frame.go(self.name or "", spot=source, row="memories", visit=False)

    def _bring_in(self, way: ImportedAs) -> None:
        look = self._looks.get((self.spot, way))
        frame = self.frame
        if look is None or (look.preview is None and not look.problem):
            frame.say("Still reading what would come in.")
        elif look.problem:
            frame.say(look.problem, is_problem=True)
        elif look.is_over:
            frame.say(f"Nothing of {look.source} is new.")
        elif frame.working.is_running:
            frame.say(frame.working.busy)
        else:
            frame.say(f"Bringing in {look.source}; everything else works meanwhile, and esc here stops it.")
            frame.working.begin("The import", self._work(look))

    def _work(self, look: Look) -> Callable[[Callable[[str], None], Callable[[], bool]], str]:
        frame, app = self.frame, self.frame.app

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            def progress(told: ImportProgress) -> None:
                tell(
                    f"import {told.read / told.total:.0%}" if told.total else f"import, {told.added:,} so far"
                )

            imported = frame.working.workspace.import_from(
                look.source, imported_as=look.way, progress=progress, cancelled=stopped
            )
            app.call_later(self._came_in, look, imported, frame.working.workspace.head())
            undone = " ⸨undo⸩ takes all of it back." if imported.commits else ""
            return imported_words(imported) + undone

        return work

    def _came_in(self, look: Look, imported: Imported, head: str | None) -> None:
        look.imported, look.heads = imported, (self.results.head, head)
        # The other ways were looked at before this came in.
        self._looks = {key: each for key, each in self._looks.items() if each is look}
        self._drawn_again(look)


def _offered(typed: str) -> list[str]:
    return [each.path for each in complete(typed) if not each.told]


_NO_MEMORY = "This is not a memory; enter shows what would come in, or brings it in."
OTHER_VERBS[Source] = {name: lambda _: _NO_MEMORY for name in ("pin", "forget", "reinforce")}


@dataclass(frozen=True, slots=True)
class PathFound:
    """A file or folder.

    Args:
        path: As it would be typed; a folder ends in a slash unless it is what was typed.
        is_folder: Whether it is a folder.
        told: What it is, where it is the very path that was typed.
    """

    path: str
    is_folder: bool
    told: str = ""


def complete(typed: str) -> list[PathFound]:
    """Return what was typed, where it is there, and what it could go on to: folders first, by name.

    Hidden names come only once a full stop is typed. Takes as long as listing the folder does.

    Args:
        typed: A path, perhaps from `~` on, perhaps unfinished.
    """
    head, slash, begun = typed.rpartition("/")
    folder = head + slash
    found: list[PathFound] = []
    try:
        place = Path(typed).expanduser()
        if typed and place.exists():
            told = "this folder" if place.is_dir() else "this file"
            found.append(PathFound(typed.rstrip("/") or "/", place.is_dir(), told))
        with os.scandir(Path(folder or ".").expanduser()) as listing:
            below: list[PathFound] = []
            for each in listing:
                if len(below) >= _MOST:
                    break
                if _goes_on(each.name, begun):
                    is_folder = each.is_dir()
                    below.append(PathFound(folder + each.name + "/" * is_folder, is_folder))
    except (OSError, RuntimeError, ValueError):
        # Nothing there, no right to look, no such home: nothing to offer.
        return found
    below.sort(key=lambda each: (not each.is_folder, each.path.casefold()))
    return found + [each for each in below if each.path.rstrip("/") != typed.rstrip("/")]


def _goes_on(name: str, begun: str) -> bool:
    if name.startswith(".") and not begun.startswith("."):
        return False
    return name.casefold().startswith(begun.casefold())
