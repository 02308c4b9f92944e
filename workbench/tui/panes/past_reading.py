"""Reads memory as it was for the Past pane: what a view lists, and one thing of it; called from threads."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from workbench.display.course import prepare_course
from workbench.display.diffing import compare
from workbench.display.graph_drawing.neighbourhood import draw_neighbourhood
from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.results.audit import MemoryChange
from workbench.tui.query import Query
from workbench.tui.views import past as views
from workbench.tui.views import past_detail
from workbench.tui.views.past import PastRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workbench.display.course import Course
    from workbench.display.ink import Line
    from workbench.engine.past.past import Past
    from workbench.engine.results.audit import CommitView
    from workbench.engine.results.graph import GraphView
    from workbench.engine.results.memories import Shown
    from workbench.tui.bench import Bench, Memory
    from workbench.tui.views.past import Section

_MOST_MOMENTS = 6
_MOST_LISTS = 24
_MOST_ROWS = 100_000
_LEAST_DRAWING = 9
_NARROWEST_DRAWING = 30


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list is wanted of.

    Args:
        view: One of `views.VIEWS`.
        commit: The moment.
        older: The earlier of two moments to compare; empty where there is none.
        newer: The later one; that of now is the newest commit, which is far quicker to compare than the files, and
            the bench takes in what was edited from outside as soon as it notices.
        query: What rows must hold; see `views.FIELDS`.
    """

    view: str
    commit: str
    older: str = ""
    newer: str = ""
    query: Query = field(default_factory=Query)


@dataclass(frozen=True)
class Listed:
    """What a view lists.

    Args:
        sections: What passes the filter.
        rows: The same, to be shown.
        total: How many rows there are without it.
        said: What the commit did; None where that cannot be read.
        changes: What differs, by the ids of the rows.
        trouble: Why it could not be read.
    """

    sections: tuple[Section, ...] = ()
    rows: PastRows = field(default_factory=PastRows)
    total: int = 0
    said: CommitView | None = None
    changes: Mapping[str, MemoryChange] = field(default_factory=dict)
    trouble: WorkbenchError | None = None


@dataclass(frozen=True)
class Thing:
    """One thing of a list: what draws it for a width, and the memory it is where it is one."""

    draw: Callable[[int], Sequence[Line]]
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """How the moments are called.

    Args:
        moment: Heads what is shown of it.
        past: Whether that is not now.
        older: The earlier of two moments that are compared.
        newer: The later one.
    """

    moment: str
    past: bool
    older: str = ""
    newer: str = ""


class PastReader:
    """Memory as it was; keeps what was read last, since one steps to and fro.

    Args:
        bench: The engine.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._lock = Lock()
        self._moments: OrderedDict[str, Past] = OrderedDict()
        self._lists: OrderedDict[Wanted, Listed] = OrderedDict()

    def course(self) -> Course:
        """Return the whole history, prepared for a ribbon.

        Raises:
            WorkbenchError: It cannot be read.
        """
        line = self._bench.history_line()
        return prepare_course(line.commits, line.seconds, line.actors)

    def remembered(self, wanted: Wanted) -> Listed | None:
        """Return a list that has been read already."""
        with self._lock:
            return self._lists.get(wanted)

    def listed(self, wanted: Wanted) -> Listed:
        """Return what a view lists; trouble is told in it, for other moments may be whole."""
        everything = replace(wanted, query=Query())
        listed = self.remembered(everything)
        if listed is None:
            try:
                listed = self._read(wanted)
            except WorkbenchError as error:
                return Listed(said=self._said(wanted.commit), trouble=error)
            self._keep(everything, listed)
        if wanted.query:
            passed = views.matching(listed.sections, wanted.query)
            listed = replace(listed, sections=passed, rows=_indexed(passed))
            self._keep(wanted, listed)
        return listed

    def _keep(self, wanted: Wanted, listed: Listed) -> None:
        with self._lock:
            self._lists[wanted] = listed
            kept = sum(each.total for each in self._lists.values())
            while len(self._lists) > _MOST_LISTS or (kept > _MOST_ROWS and len(self._lists) > 1):
                kept -= self._lists.popitem(last=False)[1].total

    def _read(self, wanted: Wanted) -> Listed:
        changes: dict[str, MemoryChange] = {}
        if wanted.view == views.CHANGES:
            sections: tuple[Section, ...] = ()
            if wanted.older:
                comparison = self._bench.compare(wanted.older, wanted.newer)
                sections = views.change_sections(comparison)
                changes = {views.change_key(each): each for each in comparison.memories}
        else:
            past = self._past(wanted.commit)
            if wanted.view == views.CORE:
                sections = views.core_sections(past.core())
            elif wanted.view == views.GRAPH:
                sections = views.entity_sections(past.entities())
            elif wanted.view == views.MEMORIES:
                sections = views.score_sections(past.scores())
            else:
                sections = views.file_sections(past.moment.files)
        total = sum(len(section.rows) for section in sections)
        return Listed(sections, _indexed(sections), total, self._said(wanted.commit), changes)

    def _said(self, commit: str) -> CommitView | None:
        try:
            return self._bench.moment(commit)
        except WorkbenchError:
            # The list says what is wrong with a moment that cannot be read; the ribbon knows when it was.
            return None

    def _past(self, commit: str) -> Past:
        with self._lock:
            known = self._moments.get(commit)
        if known is None:
            known = self._bench.past(commit)
            with self._lock:
                self._moments[commit] = known
                if len(self._moments) > _MOST_MOMENTS:
                    self._moments.popitem(last=False)
        return known

    # --- one thing ------------------------------------------------------------------------------------------

    def thing(self, wanted: Wanted, key: str, words: Words, size: tuple[int, int]) -> Thing:
        """Return one thing of a list, drawn already for a size.

        Args:
            wanted: The list.
            key: Of the row.
            words: How the moments are called.
            size: Cells of the place where it is shown, width and height.
        """
        try:
            found = self._find(wanted, key, words, size[1])
        except WorkbenchError as error:
            trouble = error
            return Thing(lambda width: past_detail.trouble_lines(trouble, width))
        # What takes longest is drawn here, not where keys are waited for.
        drawn = {size[0]: found.draw(size[0])} if size[0] > 0 else {}

        def draw(width: int) -> Sequence[Line]:
            if width not in drawn:
                drawn[width] = found.draw(width)
            return drawn[width]

        return Thing(draw, found.memory)

    def _find(self, wanted: Wanted, key: str, words: Words, height: int) -> Thing:
        if wanted.view == views.CHANGES:
            change = self.listed(replace(wanted, query=Query())).changes.get(key) or self._file_change(
                wanted, key
            )
            rows = compare(change.before, change.after)
            return Thing(
                partial(past_detail.change_as_it_was, change, rows, words.older, words.newer),
            )
        past = self._past(wanted.commit)
        head = partial(past_detail.as_it_was, words.moment, past=words.past)
        if key.startswith("file:") and wanted.view == views.FILES:
            path = key.removeprefix("file:")
            text = past.get(path).decode("utf-8", "replace")
            return Thing(lambda width: past_detail.file_as_it_was(path, text, head(width), width))
        shown = past.show(key)
        around = past.graph(key, depth=1) if wanted.view == views.GRAPH else None
        return _memory_thing(shown, around, head, height)

    def _file_change(self, wanted: Wanted, key: str) -> MemoryChange:
        """Return how a file differs that holds no memories."""
        path = key.removeprefix("file:")
        before = self._text(wanted.older, path)
        after = self._text(wanted.newer, path)
        change = "added" if before is None else "removed" if after is None else "changed"
        return MemoryChange(key, "file", path, path, change, before, after)

    def _text(self, commit: str, path: str) -> str | None:
        try:
            return self._past(commit).get(path).decode("utf-8", "replace")
        except NotFound:
            return None


def _indexed(sections: tuple[Section, ...]) -> PastRows:
    """Return rows that are known by their ids already, so that no key has to wait for that."""
    rows = PastRows(sections)
    rows.find(rows.first_key)
    return rows


def _memory_thing(
    shown: Shown, around: GraphView | None, head: Callable[[int], list[Line]], height: int
) -> Thing:
    memory = past_detail.memory_of(shown)

    def draw(width: int) -> Sequence[Line]:
        drawn: Sequence[Line] = ()
        if around is not None and around.edges:
            if width >= _NARROWEST_DRAWING:
                drawn = draw_neighbourhood(around, width, max(_LEAST_DRAWING, height * 3 // 5)).lines
            else:
                drawn = past_detail.neighbours(around, width)
        return past_detail.memory_as_it_was(memory, drawn, head(width), width)

    return Thing(draw, memory)
