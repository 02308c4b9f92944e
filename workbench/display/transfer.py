"""Draws imports and exports: what would come in and be left out, how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from workbench.display import words
from workbench.display.card import Card, Section, card_lines, told_card
from workbench.display.changes import at_minute
from workbench.display.health import size_words
from workbench.display.ink import column, ink
from workbench.display.text import Page, safe_line
from workbench.display.words import counted, in_bench
from workbench.engine.results.transfer import FORM_WORDS

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.display.ink import Line
    from workbench.engine.results.transfer import (
        Exported,
        Imported,
        ImportPlaces,
        ImportPreview,
        ImportProgress,
        ImportUndone,
        LeftOut,
        PreImages,
    )

Told: TypeAlias = Callable[[str], str]
WAYS = {
    "memories": (
        "As what each is",
        "What was said and noted becomes episodes on their days; documents are kept as notes.",
    ),
    "episodes": ("As episodes", "Documents become episodes as well, passage by passage."),
    "proposals": (
        "As proposals",
        "Each waits in the Inbox, 100 at a time; import again once those are decided.",
    ),
}
"""What becomes of an import: the words of the row, and what they mean."""
_COUNT = 8
_MOST_LEFT_OUT = 60
_ONCE_MORE = "What came in stays; import again for the rest."


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
    lines = (Section.of("LOOKING", how_far(progress)),)
    return Card(source, f"{title}: {source}", (ink(told, "soft"),), lines)


def refused_card(source: str, problem: str) -> Card:
    """Return the card of a source that cannot be brought in."""
    return Card(source, f"{source} cannot be brought in.", (), (Section.of("WHY", problem, "danger"),))


def preview_card(preview: ImportPreview, now: datetime, told: Told = in_bench) -> Card:
    """Return the card of what would come in.

    Args:
        told: What becomes of a notice of the engine.
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
        lines.append(_count(preview.known, "known", "already"))
    sections = [Section("NEW", tuple(lines), hangs=1 if fresh else 0)]
    if samples := preview.samples:
        lines = [
            line
            for sample in samples
            for line in ((ink(sample.text),), (ink(_where(sample.moment, sample.where, now), "faint"),))
        ]
        sections.append(Section("SUCH AS", tuple(lines)))
    sections += _left_out(preview.left_out, preview.left_out_count, told)
    form = FORM_WORDS.get(preview.form, preview.form)
    title, told_way = WAYS[preview.imported_as]
    kind = f"{form[:1].upper()}{form[1:]}"
    if preview.form != "workbench":
        kind = f"{kind}. {title}: {told_way[:1].lower()}{told_way[1:]}"
    return Card(preview.source, preview.source, (ink(kind, "soft"),), tuple(sections))


def can_come(preview: ImportPreview) -> bool:
    """Return whether anything of it is new."""
    return bool(preview.episodes or preview.notes or preview.files)


def imported_card(imported: Imported, told: Told = in_bench) -> Card:
    """Return the card of what came of an import.

    Args:
        told: What becomes of a notice of the engine.
    """
    proposed = imported.imported_as == "proposals"
    lines: list[Line] = []
    if proposed and imported.added:
        lines.append((ink("They wait in the Inbox."),))
    elif imported.ids:
        lines.append((ink("The last of them", "text+link", None, imported.ids[-1]),))
    if imported.known:
        lines.append(
            (ink(f"{imported.known:,} {'was' if imported.known == 1 else 'were'} known already.", "soft"),)
        )
    if not imported.complete:
        more = "There is more: decide on these, then import again."
        lines.append((ink(more if proposed else _ONCE_MORE, "decide"),))
    lines += [(ink(told(each), "decide"),) for each in imported.warnings]
    sections = [Section("CAME IN", tuple(lines))] if lines else []
    if imported.commits:
        sections.append(Section.of("UNDO", "⸨undo⸩ takes all of it back."))
    sections += _left_out(imported.left_out, imported.left_out_count, told)
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
    said = f"Imported {imported.added:,} {noun[imported.added != 1]} from {imported.source}{left_out}."
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


def _left_out(left_out: Sequence[LeftOut], count: int, told: Told) -> list[Section]:
    """Return what does not come, and why: places with the same reason stand together."""
    if not count:
        return []
    by_reason: dict[str, list[str]] = {}
    for each in left_out:
        by_reason.setdefault(told(each.reason), []).append(each.where)
    lines: list[Line] = []
    for reason, places in by_reason.items():
        lines.append((ink(f"{len(places):,} · {reason}" if len(places) > 1 else reason),))
        lines += [
            (ink(f"  {where}", "soft"),) for where in places[: max(1, _MOST_LEFT_OUT // len(by_reason))]
        ]
    if count > len(left_out):
        lines.append((ink(f"and {count - len(left_out):,} more", "faint"),))
    return [Section("LEFT OUT", tuple(lines))]


_NAMED = 12
_MISSING = 4


def places_lines(page: Page, found: ImportPlaces) -> list[str]:
    """List where other programs keep memory on this machine."""
    places = found.places
    if not places:
        return [
            "No other agent keeps memory in a usual place. Name a file or folder: workbench import SOURCE"
        ]
    lines = [page.heading("On this machine", "nothing of it was read"), ""]
    width = max(len(each.place) for each in places)
    lines += [
        f"  {safe_line(each.place).ljust(width)}  {page.paint(each.program, 'quiet')}" for each in places
    ]
    told = f"See what would come in: workbench import {safe_line(places[0].place)} --dry-run"
    return [*lines, "", page.paint(told, "quiet")]


def preview_lines(page: Page, preview: ImportPreview) -> list[str]:
    """Describe what an import would do, as its card in the bench."""
    lines = _card_lines(page, preview_card(preview, page.now, str))
    return [page.heading(safe_line(preview.source), "a preview; nothing came in"), *lines[1:]]


def imported_lines(page: Page, imported: Imported) -> list[str]:
    """Report an import, as its card in the bench."""
    lines = _card_lines(page, imported_card(imported, str))
    lines[0] = page.done(lines[0]) if imported.added else f"{page.paint('○', 'quiet')} {lines[0]}"
    if not imported.commits:
        return lines
    if imported.imported_as == "proposals":
        lines.append(page.paint("Decide on what waits: workbench proposals", "quiet"))
    later = f"Take it back later: workbench import --undo {imported.commits[0][:7]}"
    return [*lines, page.paint(later, "quiet")]


def _card_lines(page: Page, card: Card) -> list[str]:
    shown = card_lines(told_card(card, lambda command: f"workbench {command}"), page.width)
    return page.printed(shown, ids=True)


def undone_lines(page: Page, undone: ImportUndone) -> list[str]:
    """Report an undone import, or a preview of it."""
    source, number = safe_line(undone.source), f"{undone.removed:,}"
    if undone.dry_run:
        lines = [page.heading(f"The import of {source}, taken back", f"{number} would go")]
    elif undone.commit is None:
        lines = [f"{page.paint('○', 'quiet')} Nothing is left of the import of {source} that could go."]
    else:
        lines = [page.done(f"Took back the import of {source}: {number} gone.")]
    lines += _listed_lines(page, "Stays", undone.kept, undone.kept_count)
    if undone.commit is not None:
        lines.append(page.paint("  Have it again: workbench undo", "quiet"))
    return lines


def pre_images_lines(page: Page, found: PreImages) -> list[str]:
    """List copies of MEMORY.md with what they say and memory does not."""
    if not found.images:
        return [f"{safe_line(found.source)} holds no copy of MEMORY.md."]
    lines = [page.heading("Copies of MEMORY.md", safe_line(found.source)), ""]
    for image in found.images:
        when = at_minute(page, image.created) if image.created else "at some time"
        about = f"{image.items:,} items · {len(image.missing):,} not in memory · {safe_line(image.workspace)}"
        lines.append(f"{page.paint(f'{image.number:>3}', 'strong')}  {when}  {page.paint(about, 'quiet')}")
        for text in image.missing[:_MISSING]:
            lines += page.wrapped(safe_line(text), first="       - ")[:2]
        if len(image.missing) > _MISSING:
            lines.append(page.paint(f"       … and {len(image.missing) - _MISSING:,} more", "quiet"))
    return [*lines, "", page.paint("Propose what one says: workbench import SOURCE --pre-image N", "quiet")]


def exported_lines(page: Page, exported: Exported) -> list[str]:
    """Report an export."""
    parts = [counted(exported.files, "file")]
    if exported.memories:
        parts.append(counted(exported.memories, "memory", "memories"))
    told = f"Exported {' and '.join(parts)} to {safe_line(exported.target or 'stdout')}."
    return [page.done(told)]


def _listed_lines(page: Page, what: str, left_out: Sequence[LeftOut], count: int) -> list[str]:
    if not count:
        return []
    lines = ["", page.paint(f"{what}: {count:,}", "strong")]
    for one in left_out[:_NAMED]:
        told = f"{safe_line(one.where)}: {safe_line(one.reason)}"
        lines += page.wrapped(told, first="  ", rest="    ")
    if count > _NAMED:
        lines.append(page.paint(f"  … and {count - _NAMED:,} more; --json names up to 200", "quiet"))
    return lines
