"""Text of imports and exports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.display.changes import at_minute
from workbench.display.text import Page, safe_line
from workbench.display.words import counted
from workbench.engine.results.transfer import FORM_WORDS

if TYPE_CHECKING:
    from workbench.engine.results.transfer import (
        Exported,
        Imported,
        ImportPlaces,
        ImportPreview,
        ImportUndone,
        LeftOut,
        PreImages,
    )

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
    """Describe what an import would do."""
    form = FORM_WORDS.get(preview.form, preview.form)
    lines = [page.heading(f"Import of {safe_line(preview.source)}", form), ""]
    kind = "proposal" if preview.imported_as == "proposals" else "episode"
    counts = ((preview.episodes, kind), (preview.notes, "note"), (preview.files, "file"))
    lines += [f"{number:>8,} new {name}{'' if number == 1 else 's'}" for number, name in counts if number]
    if preview.known:
        lines.append(f"{preview.known:>8,} known already")
    if not any(number for number, _ in counts):
        lines.append("Nothing is new.")
    if preview.earliest and preview.latest:
        span = f"from {at_minute(page, preview.earliest)} to {at_minute(page, preview.latest)}"
        lines.append(page.paint(f"         {span}", "quiet"))
    if preview.samples:
        lines += ["", page.paint("For example", "strong")]
        for sample in preview.samples:
            lines += page.wrapped(safe_line(sample.text), first="  ")[:2]
            lines.append(page.paint(f"    {safe_line(sample.where)}", "place"))
    return [*lines, *_listed_lines(page, "Left out", preview.left_out, preview.left_out_count)]


def imported_lines(page: Page, imported: Imported) -> list[str]:
    """Report an import."""
    proposed = imported.imported_as == "proposals"
    what = (
        ("proposal",) if proposed else ("file",) if imported.form == "workbench" else ("memory", "memories")
    )
    if imported.added:
        mark = page.paint("✓", "good")
        lines = [f"{mark} Imported {counted(imported.added, *what)} from {safe_line(imported.source)}."]
    else:
        lines = [f"{page.paint('○', 'quiet')} Nothing of {safe_line(imported.source)} is new."]
    if imported.known:
        lines.append(page.paint(f"  {imported.known:,} known already", "quiet"))
    if not imported.complete:
        told = "There is more; decide on these and import again, and the rest comes."
        if not proposed:
            told = "It was cut off; import again, and the rest comes."
        lines += page.wrapped(told, first="  ")
    lines += _listed_lines(page, "Left out", imported.left_out, imported.left_out_count)
    if imported.commits and proposed:
        lines.append(page.paint("  Decide on what waits: workbench proposals", "quiet"))
    if imported.commits:
        told = (
            f"Take all of it back: workbench undo   Later: workbench import --undo {imported.commits[0][:7]}"
        )
        lines += page.wrapped(told, "quiet", first="  ")
    return lines


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
