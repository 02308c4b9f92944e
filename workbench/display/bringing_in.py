"""Draws what an import would bring in and leave out, how far it is, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.health import size_words
from workbench.display.ink import column, ink
from workbench.display.remedies import in_bench
from workbench.engine.results.transfer import FORM_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from workbench.display.ink import Line
    from workbench.engine.results.transfer import Imported, ImportPreview, ImportProgress, LeftOut

WAYS = {
    "memories": (
        "As what each is",
        "What was said and noted becomes episodes on their days; documents are kept as notes.",
    ),
    "episodes": ("As episodes", "Documents become episodes as well, passage by passage."),
    "proposals": (
        "As proposals",
        "Each waits in the Inbox for your word, 100 at once; bring in again once they are decided on.",
    ),
}
"""What becomes of an import: the words of the row, and what they mean."""
_COUNT = 8
_MOST_LEFT_OUT = 60
_ONCE_MORE = "What came in stays; bring it in again, and the rest comes."


def how_far(progress: ImportProgress | None) -> str:
    """Return how far an import is, in a few words."""
    if progress is None:
        return "opening…"
    read = size_words(progress.read)
    if progress.total:
        read = f"{min(1.0, progress.read / progress.total):.0%}, {read} of {size_words(progress.total)}"
    return f"{read} · {progress.added:,} new · {progress.known:,} known"


def looking_card(source: str, way: str, progress: ImportProgress | None) -> Card:
    """Return the card of a source that is still being looked at."""
    title, told = WAYS[way]
    lines = (Section("LOOKING", ((ink(how_far(progress)),),)),)
    return Card(source, f"{title}: {source}", (ink(told, "soft"),), lines)


def refused_card(source: str, problem: str) -> Card:
    """Return the card of a source that cannot be brought in."""
    return Card(
        source, f"{source} cannot be brought in.", (), (Section("WHY", ((ink(problem, "danger"),),)),)
    )


def preview_card(preview: ImportPreview, now: datetime) -> Card:
    """Return the card of what would come in.

    Args:
        preview: What would.
        now: In the workspace's zone.
    """
    proposed = preview.imported_as == "proposals"
    counts = (
        (preview.episodes, "proposal" if proposed else "episode", _span(preview, now)),
        (preview.notes, "note", f"kept in memory/imports/{preview.name}/"),
        (preview.files, "file", "put back where they stood"),
    )
    fresh = [_count(number, word, told) for number, word, told in counts if number]
    lines = list(fresh) or [(ink("Nothing of it is new.", "strong"),)]
    if preview.known:
        lines.append(_count(preview.known, "known", "already, and do not come again"))
    sections = [Section("NEW", tuple(lines), hangs=1 if fresh else 0)]
    if samples := preview.samples:
        told = tuple(
            line
            for sample in samples
            for line in ((ink(sample.text),), (ink(_where(sample.moment, sample.where, now), "faint"),))
        )
        sections.append(Section("SUCH AS", told))
    sections += _left_out(preview.left_out, preview.left_out_count)
    form = FORM_WORDS.get(preview.form, preview.form)
    title, told_way = WAYS[preview.imported_as]
    kind = f"{form[:1].upper()}{form[1:]}"
    if preview.form != "workbench":
        kind = f"{kind}. {title}: {told_way[:1].lower()}{told_way[1:]}"
    return Card(preview.source, preview.source, (ink(kind, "soft"),), tuple(sections))


def can_come(preview: ImportPreview) -> bool:
    """Return whether anything of it is new."""
    return bool(preview.episodes or preview.notes or preview.files)


def imported_card(imported: Imported) -> Card:
    """Return the card of what came of an import."""
    proposed = imported.imported_as == "proposals"
    lines: list[Line] = []
    if proposed and imported.added:
        lines.append((ink("They wait in the Inbox."),))
    elif imported.ids:
        lines.append((ink("The last of them", "text+link", None, imported.ids[-1]),))
    if imported.known:
        lines.append((ink(f"{imported.known:,} were known already, and did not come again.", "soft"),))
    if not imported.complete:
        more = "There is more: decide on these and bring it in again, and the rest comes."
        lines.append((ink(more if proposed else _ONCE_MORE, "decide"),))
    lines += [(ink(in_bench(each), "decide"),) for each in imported.warnings]
    sections = [Section("CAME IN", tuple(lines))] if lines else []
    if imported.commits:
        sections.append(Section("UNDO", ((ink("⸨undo⸩ takes all of it back."),),)))
    sections += _left_out(imported.left_out, imported.left_out_count)
    return Card(imported.source, imported_words(imported), (), tuple(sections))


def imported_words(imported: Imported) -> str:
    """Return what came of an import, as a sentence."""
    if not imported.added:
        return (
            f"Nothing of {imported.source} is new."
            if imported.complete
            else f"Nothing of {imported.source} came in."
        )
    noun = (
        ("proposal", "proposals")
        if imported.imported_as == "proposals"
        else ("file", "files")
        if imported.form == "workbench"
        else ("memory", "memories")
    )
    left_out = f", {imported.left_out_count:,} left out" if imported.left_out_count else ""
    said = f"Brought in {imported.added:,} {noun[imported.added != 1]} from {imported.source}{left_out}."
    return said if imported.complete or imported.imported_as == "proposals" else f"{said} {_ONCE_MORE}"


def _span(preview: ImportPreview, now: datetime) -> str:
    if preview.earliest is None or preview.latest is None:
        return ""
    first, last = words.day(preview.earliest.date(), now.date()), words.day(preview.latest.date(), now.date())
    return f"of {first}" if first == last else f"from {first} to {last}"


def _where(moment: datetime | None, where: str, now: datetime) -> str:
    return f"{words.moment(moment, now)} · {where}" if moment is not None else where


def _count(number: int, word: str, told: str) -> Line:
    plural = "" if number == 1 or word == "known" else "s"
    return (column(f"{number:,} ", _COUNT, "strong", right=True), ink(f"{word}{plural} {told}"))


def _left_out(left_out: Sequence[LeftOut], count: int) -> list[Section]:
    """Return what does not come, and why: places with the same reason stand together."""
    if not count:
        return []
    by_reason: dict[str, list[str]] = {}
    for each in left_out:
        by_reason.setdefault(in_bench(each.reason), []).append(each.where)
    lines: list[Line] = []
    for reason, places in by_reason.items():
        lines.append((ink(f"{len(places):,} · {reason}" if len(places) > 1 else reason),))
        lines += [
            (ink(f"  {where}", "soft"),) for where in places[: max(1, _MOST_LEFT_OUT // len(by_reason))]
        ]
    if count > len(left_out):
        lines.append((ink(f"and {count - len(left_out):,} more", "faint"),))
    return [Section("LEFT OUT", tuple(lines))]
