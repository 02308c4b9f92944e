"""Draws an import: where there may be something, what would come in, how far it is, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.budget import problem_lines
from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, spread
from workbench.engine.results.transfer import FORM_WORDS, ImportPlace
from workbench.tui.navigation import REVIEW
from workbench.tui.views.dates import long_day, short_moment
from workbench.tui.views.index import FULL, REST, size_words
from workbench.tui.views.memory import section
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.transfer import (
        Exported,
        Imported,
        ImportPreview,
        ImportProgress,
        ImportSample,
        LeftOut,
    )
    from workbench.tui.import_work import ImportWork
    from workbench.tui.paths import PathFound

_COUNT, _WORD = 8, 10
_PLACE = 34
_WAYS = {
    "memories": (
        "as memories",
        "What was said and noted becomes episodes on their days; documents are kept as notes.",
    ),
    "episodes": ("as episodes", "Documents become episodes as well, passage by passage."),
    "proposals": (
        "as proposals",
        "Each waits in the Inbox for your word, 100 at once; import again once they are decided on.",
    ),
}


class SourceRows(SectionedRows["ImportPlace | PathFound | str"]):
    """What can be imported from: known places, and what goes on as the path that was typed.

    Args:
        places: Folders of other programs.
        paths: What was typed, and what it could go on to.
    """

    def __init__(self, places: Sequence[ImportPlace], paths: Sequence[PathFound]) -> None:
        super().__init__()
        if places:
            self._add_heading("On this machine")
            for place in places:
                self._add(place, place.place)
        if paths:
            if places:
                self._add_heading("Files and folders")
            for path in paths:
                self._add(path, path.path)

    @property
    def first_key(self) -> str:
        """Return the key of the first row that is no heading."""
        return next(filter(None, self._row_keys), "")

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, a place, or a space."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, str):
            return (Span(row, "soft"),)
        if isinstance(row, ImportPlace):
            return spread((ink(row.place, "text", width),), (ink(row.program, "soft"),), width)
        return _path_line(row, width)


def _path_line(row: PathFound, width: int) -> Line:
    if row.told:
        return spread((ink(row.path, "strong", width),), (Span(row.told, "soft"),), width)
    return (ink(row.path, "text" if row.is_folder else "soft", width),)


def import_lines(work: ImportWork, width: int) -> list[Line]:
    """Draw an import, wherever it is: looked at, shown before it is brought in, brought in, or failed."""
    if work.imported is not None:
        return _imported_lines(work.imported, work.source, width)
    if work.running:
        return _running_lines(work, width)
    if work.problem:
        head = "The import stopped" if work.storing else "This cannot be imported"
        tail = _paragraph("What came in before stays; import again, and the rest comes.", "soft", width)
        lines = [_head(head, work.source, width), BLANK, *problem_lines(work.problem, width)]
        return [*lines, BLANK, *tail] if work.storing else lines
    return _preview_lines(work.preview, work.source, width) if work.preview is not None else []


def _head(title: str, source: str, width: int, told: str = "") -> Line:
    return spread(
        (Span(title, "strong"), gap(2), ink(source, "soft", max(8, width - len(title) - 2))),
        (Span(told, "soft"),) if told else (),
        width,
    )


def _running_lines(work: ImportWork, width: int) -> list[Line]:
    if work.cancelled:
        told = "stopping…"
    elif work.storing:
        told = "It goes on when this is closed; the line at the bottom says how far it is."
    else:
        told = "Looking what would come in. Nothing is changed."
    lines = [_head("Bringing in" if work.storing else "Import", work.source, width), BLANK]
    filled = round(width * (work.share or 0.0))
    lines.append((Span(FULL * filled, "soft"), Span(REST * (width - filled), "rule")))
    lines.append(cut((Span(_how_far(work.progress), "strong"),), width))
    return [*lines, BLANK, *_paragraph(told, "soft", width)]


def _how_far(progress: ImportProgress | None) -> str:
    if progress is None:
        return "opening…"
    read = size_words(progress.read)
    if progress.total:
        read = f"{min(1.0, progress.read / progress.total):.0%} · {read} of {size_words(progress.total)}"
    return f"{read} · {progress.added:,} new · {progress.known:,} known"


def _preview_lines(preview: ImportPreview, source: str, width: int) -> list[Line]:
    lines = [_head("Import", source, width, FORM_WORDS.get(preview.form, preview.form)), BLANK]
    proposed = preview.imported_as == "proposals"
    span = ""
    if preview.earliest and preview.latest:
        first, last = long_day(preview.earliest), long_day(preview.latest)
        span = f"of {first}" if first == last else f"from {first} to {last}"
    counts = (
        (preview.episodes, "proposal" if proposed else "episode", span),
        (preview.notes, "note", f"kept in memory/imports/{preview.name}/"),
        (preview.files, "file", "put back where they stood"),
    )
    fresh = [_count_line(number, word, told, width) for number, word, told in counts if number]
    lines += fresh or [(Span("Nothing of it is new.", "strong"),)]
    if preview.known:
        lines.append(
            _count_line(preview.known, "known", "already, and do not come again", width, role="soft")
        )
    if preview.left_out_count:
        lines.append(_count_line(preview.left_out_count, "left out", "told below, with the reasons", width))
    if fresh and preview.form != "workbench":
        way, told = _WAYS[preview.imported_as]
        lines += [
            BLANK,
            *_paragraph(f"{way[0].upper()}{way[1:]}: {told[0].lower()}{told[1:]}", "soft", width),
        ]
    if preview.samples:
        lines += section("For example")
        for at, sample in enumerate(preview.samples):
            lines += [*([BLANK] if at else []), *_sample_lines(sample, width)]
    return [*lines, *_left_out_lines(preview.left_out, preview.left_out_count, width)]


def way_words(imported_as: str) -> str:
    """Return what an import in that way is called: “as episodes”."""
    return _WAYS[imported_as][0]


def _sample_lines(sample: ImportSample, width: int) -> list[Line]:
    lines: list[Line] = [(Span(piece),) for piece in wrap(sample.text, width, limit=2)]
    when = f"{short_moment(sample.moment)} · " if sample.moment else ""
    lines.append(cut((Span(when, "faint"), ink(sample.where, "faint", width)), width))
    return lines


def _imported_lines(imported: Imported, source: str, width: int) -> list[Line]:
    proposed = imported.imported_as == "proposals"
    what = _many(imported.added, _noun(imported)) if imported.added else "Nothing new"
    title = f"✓ {what} came in" if imported.added else f"{what} came in"
    lines = [_head(title, source, width), BLANK]
    if imported.commits:
        lines.append(cut(_commits_line(imported.commits), width))
    if proposed and imported.added:
        lines.append((Span("They wait in the Inbox", "store.file+link", REVIEW),))
    elif imported.ids:
        lines.append((Span("Read the last of them", "store.file+link", imported.ids[-1]),))
    if imported.known:
        lines.append(
            _count_line(imported.known, "known", "already, and did not come again", width, role="soft")
        )
    if not imported.complete:
        told = "There is more: decide on these and import again, and the rest comes."
        if not proposed:
            told = "It was stopped; what came in by then stays. Import again, and the rest comes."
        lines += [BLANK, *_paragraph(told, "decide", width)]
    for warning in imported.warnings:
        lines += [BLANK, *_paragraph(f"! {warning}", "decide", width)]
    return [*lines, *_left_out_lines(imported.left_out, imported.left_out_count, width)]


def _commits_line(commits: Sequence[str]) -> Line:
    last = ink(commits[-1][:10], "store.file+link", link=f"commit:{commits[-1]}")
    told = "commit " if len(commits) == 1 else f"{len(commits):,} commits, the last "
    return (Span(told, "soft"), last, gap(3), Span("u", "strong"), Span(" takes all of it back", "soft"))


def exported_words(exported: Exported) -> str:
    """Say what an export wrote."""
    parts = [_many(exported.files, "file")]
    if exported.memories:
        parts.append(_many(exported.memories, "memory"))
    return f"Exported {' and '.join(parts)}, {size_words(exported.size_bytes)}, to {exported.target}."


def import_words(work: ImportWork) -> str:
    """Say in a sentence what came of an import."""
    if work.imported is None:
        return work.problem
    imported = work.imported
    what = _many(imported.added, f"new {_noun(imported)}")
    left_out = f", {imported.left_out_count:,} left out" if imported.left_out_count else ""
    return f"Imported {what} from {imported.source}{left_out}."


def _noun(imported: Imported) -> str:
    if imported.imported_as == "proposals":
        return "proposal"
    return "file" if imported.form == "workbench" else "memory"


def _left_out_lines(left_out: Sequence[LeftOut], count: int, width: int) -> list[Line]:
    if not count:
        return []
    lines = section(f"Left out: {count:,}")
    beside = width > 2 * _PLACE
    for each in left_out:
        room = width - _PLACE - 2 if beside else width - 2
        pieces = wrap(each.reason, max(8, room))
        if not beside:
            lines.append((ink(each.where, "text", width),))
            lines += [(gap(2), Span(piece, "soft")) for piece in pieces]
            continue
        lines += [
            (column(each.where if at == 0 else "", _PLACE), gap(2), Span(piece, "soft"))
            for at, piece in enumerate(pieces)
        ]
    if count > len(left_out):
        lines.append((Span(f"and {count - len(left_out):,} more", "faint"),))
    return lines


def _count_line(number: int, word: str, told: str, width: int, *, role: str = "strong") -> Line:
    plural = "" if number == 1 or word in ("known", "left out") else "s"
    return cut(
        (
            column(f"{number:,}", _COUNT, role, right=True),
            gap(1),
            column(f"{word}{plural}", _WORD, "text"),
            ink(told, "soft"),
        ),
        width,
    )


def _many(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"1 {noun}" if number == 1 else f"{number:,} {plural}"


def _paragraph(text: str, role: str, width: int) -> list[Line]:
    return [(Span(piece, role),) for piece in wrap(text, max(8, width))]
