"""Draws memory as it was as rows: what differs, core memory, the graph, memories with their scores, and files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width, plain
from workbench.display.ink import BLANK, Line, Span, cut, gap, ink, line_width, score_role, spread
from workbench.tui.views.audit import store_of_path
from workbench.tui.views.core import styled_item
from workbench.tui.views.memory import STORE_SIGNS, STORE_TITLES, score_bar, store_of_id, store_sign
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.results.audit import Comparison, FileChanged, MemoryChange, PastFile, PastScore
    from workbench.engine.results.memories import CoreView
    from workbench.tui.query import Query

CHANGES, CORE, GRAPH, MEMORIES, FILES = "changes", "core", "graph", "memories", "files"
VIEWS = ((CHANGES, "Changes"), (CORE, "Core"), (GRAPH, "Graph"), (MEMORIES, "Memories"), (FILES, "Files"))
VIEW_LINK = "view:"
FIELDS = ("store", "is")
_FILE = "file:"
# What became of a memory: sign, its look, and the word that says it too.
SIGNS = {
    "added": ("+", "added.word", "came"),
    "changed": ("~", "strong", "changed"),
    "removed": ("−", "removed.word", "went"),
    "scored": ("≈", "soft", "pin or archiving"),
}
_BAR = 8
_BAR_FROM = 56
_WORD_FROM = 40


@dataclass(frozen=True, slots=True)
class PastRow:
    """One row, drawn when it is seen.

    Args:
        key: Id of the memory, or `file:` and a path.
        sign: Before the text, with its look.
        text: In one line.
        note: At the right.
        score: Makes the text as bright, and is drawn as a bar; None for none.
        labelled: The text is an item of core memory, whose label steps back.
    """

    key: str
    sign: str
    sign_role: str
    text: str
    note: str = ""
    score: float | None = None
    labelled: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading."""

    title: str
    note: str
    rows: tuple[PastRow, ...]


class PastRows(SectionedRows["Section | PastRow"]):
    """Sections as rows: for each a heading, its rows, and a space."""

    def __init__(self, sections: Sequence[Section] = ()) -> None:
        super().__init__()
        for section in sections:
            self._add_heading(section)
            for row in section.rows:
                self._add(row, row.key)
        self.shown = sum(len(section.rows) for section in sections)

    @property
    def first_key(self) -> str:
        """Return the id of the first row; empty where there is none."""
        return next((row.key for row in self._rows if isinstance(row, PastRow)), "")

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, a row, or a space."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, Section):
            return spread((ink(row.title, "strong"),), (ink(row.note, "faint", 40),), width)
        return _row_line(row, width)


def _row_line(row: PastRow, width: int) -> Line:
    right: Line = ()
    if row.score is not None and width >= _BAR_FROM:
        right = (*score_bar(row.score, _BAR), gap(2))
    if row.note and width >= _WORD_FROM:
        right = (*right, ink(row.note, "faint", width // 2))
    text = row.text if row.text.strip() else row.key
    body = styled_item(text) if row.labelled else (ink(text, score_role(row.score), width * 2),)
    return spread((Span(row.sign, row.sign_role), gap(1), *body), right, width)


def matching(sections: Iterable[Section], query: Query) -> tuple[Section, ...]:
    """Return the sections with only the rows that pass a filter; those without any go."""
    kept = (
        replace(section, rows=tuple(row for row in section.rows if _passes(row, query)))
        for section in sections
    )
    return tuple(section for section in kept if section.rows)


def _passes(row: PastRow, query: Query) -> bool:
    store = store_of_path(row.key.removeprefix(_FILE)) if row.key.startswith(_FILE) else store_of_id(row.key)
    fields = {"store": (store,), "is": tuple(row.note.casefold().split())}
    return query.holds(fields, f"{row.text}\n{row.key}".casefold())


# --- what each view shows -----------------------------------------------------------------------------------


def core_sections(core: CoreView) -> tuple[Section, ...]:
    """Return core memory, a section for each block with its tokens."""
    return tuple(
        Section(
            block.name,
            f"{block.tokens:,} of {block.budget:,} tokens" if block.budget else f"{block.tokens:,} tokens",
            tuple(
                PastRow(
                    item.id,
                    "◆" if item.pinned else "·",
                    "store.core" if item.pinned else "faint",
                    (item.text.splitlines() or [""])[0],
                    labelled=True,
                )
                for item in block.items
            ),
        )
        for block in core.blocks
    )


def entity_sections(entities: Sequence[tuple[str, str]]) -> tuple[Section, ...]:
    """Return the entities of the graph, a section for each type."""
    by_type: dict[str, list[PastRow]] = {}
    for id_, name in entities:
        kind = id_.partition(":")[2].partition("--")[0]
        by_type.setdefault(kind, []).append(PastRow(id_, STORE_SIGNS["semantic"], "store.semantic", name))
    return tuple(
        Section(plain(kind) or "Other", f"{len(rows):,}", tuple(rows))
        for kind, rows in sorted(by_type.items())
    )


def score_sections(scores: Sequence[PastScore]) -> tuple[Section, ...]:
    """Return memories with their scores, a section for each store, the strongest first."""
    by_store: dict[str, list[PastScore]] = {}
    for each in scores:
        by_store.setdefault(each.store, []).append(each)
    return tuple(
        Section(
            STORE_TITLES.get(store, store),
            f"{len(by_store[store]):,}",
            tuple(
                PastRow(
                    each.id,
                    "◆" if each.score.status == "pinned" else store_sign(each.id),
                    f"store.{store}",
                    each.title,
                    f"{each.score.status:<8} {each.score.value:.2f}",
                    each.score.value,
                )
                for each in sorted(by_store[store], key=lambda each: (-each.score.raw, each.id))
            ),
        )
        for store in _in_order(by_store)
    )


def file_sections(files: Sequence[PastFile]) -> tuple[Section, ...]:
    """Return the files, a section for each folder."""
    by_folder: dict[str, list[PastRow]] = {}
    for file in files:
        folder, _, name = file.path.rpartition("/")
        store = store_of_path(file.path)
        row = PastRow(f"file:{file.path}", STORE_SIGNS[store], f"store.{store}", name, _size(file.size))
        by_folder.setdefault(folder, []).append(row)
    return tuple(
        Section(f"{plain(folder)}/" if folder else "The folder itself", f"{len(rows):,}", tuple(rows))
        for folder, rows in sorted(by_folder.items())
    )


def change_sections(comparison: Comparison) -> tuple[Section, ...]:
    """Return what differs, a section for each store with its counts."""
    by_store: dict[str, list[MemoryChange]] = {}
    for each in comparison.memories:
        by_store.setdefault(each.store, []).append(each)
    told = {each.path for each in comparison.memories}
    files = [each for each in comparison.files if each.path not in told]
    sections = [
        Section(
            STORE_TITLES.get(store, store),
            counted_changes(Counter(each.change for each in by_store[store])),
            tuple(_change_row(each) for each in by_store[store]),
        )
        for store in _in_order(by_store)
    ]
    if files:
        counts = counted_changes(Counter(each.change for each in files))
        sections.append(Section("Files about memory", counts, tuple(map(_file_row, files))))
    return tuple(sections)


def _file_row(file: FileChanged) -> PastRow:
    sign, role, word = SIGNS.get(file.change, ("~", "strong", file.change))
    return PastRow(f"file:{file.path}", sign, role, file.path, word)


def counted_changes(counts: Counter[str]) -> str:
    """Write how many memories came, changed and went: “+2 ~3 −1”."""
    return " ".join(f"{sign}{counts[change]}" for change, (sign, _, _) in SIGNS.items() if counts[change])


def _change_row(change: MemoryChange) -> PastRow:
    sign, role, word = SIGNS.get(change.change, ("~", "strong", change.change))
    return PastRow(change_key(change), sign, role, change.title or change.id, word)


def change_key(change: MemoryChange) -> str:
    """Return the id of what changed; that of a file where it is no memory."""
    return change.id or f"file:{change.path}"


def _in_order(stores: Iterable[str]) -> list[str]:
    order = list(STORE_TITLES)
    return sorted(stores, key=lambda store: (order.index(store) if store in order else len(order), store))


def _size(size: int) -> str:
    return f"{size:,} B" if size < 10_000 else f"{size // 1000:,} kB"


def view_of(key: str) -> str:
    """Return the view in which a memory or file is found."""
    kind = key.partition(":")[0]
    return {"core": CORE, "entity": GRAPH, "file": FILES}.get(kind, MEMORIES)


# --- what stands above --------------------------------------------------------------------------------------


def views_line(current: str, words: Sequence[str], width: int, *, past: bool) -> Line:
    """Draw the views to choose from, and of which moment they are.

    Args:
        current: The one shown.
        words: Of which moment, the longest way to say it first.
        width: Cells.
        past: Whether that is not now.
    """
    tabs: list[Span] = [gap(1)]
    for name, title in VIEWS:
        tabs.append(Span(f" {title} ", "tab" if name == current else "soft", VIEW_LINK + name))
    room = width - line_width(tuple(tabs)) - 3
    fitting = next((each for each in map(plain, words) if cell_width(each) <= room), "")
    if not fitting:
        return cut(tuple(tabs), width)
    return spread(tuple(tabs), (Span(fitting, "decide" if past else "faint"), gap(1)), width)
