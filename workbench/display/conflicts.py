"""Draws what two devices changed differently: in a row, on a card beside each other, and for the command line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.contradiction import Side, clash_lines, clash_title
from workbench.display.deciding import statement
from workbench.display.text import safe, safe_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from workbench.display.text import Page
    from workbench.engine.results.inbox import DeviceVersion, SyncConflict, SyncConflicts

HEAD: Final = "Changed on two devices"
DELETED: Final = "(deleted)"
_MOST: Final = 600


def conflict_title(conflict: SyncConflict) -> str:
    """Return what is asked, in one line."""
    if not conflict.unit:
        kept = "both changed" if conflict.that.text is not None else "changed or deleted"
        return f"{conflict.path}: {kept}?"
    older, newer = (version_words(each).partition("\n")[0] for each in (conflict.older, conflict.newer))
    if DELETED in (older, newer):
        return f"Keep or delete {words.quoted(older if newer == DELETED else newer)}"
    if older == newer:
        return f"Two versions of {words.quoted(older)}"
    return " ".join(clash_title([older], newer).split())


def version_words(version: DeviceVersion) -> str:
    """Return what a device made of it, without what only the file needs."""
    if version.text is None:
        return DELETED
    text = version.text.strip()
    if not text.startswith("- "):
        return text
    first, newline, rest = text.partition("\n")
    return statement(first) + newline + rest


def conflict_card(conflict: SyncConflict, now: datetime, key: Callable[[str], str]) -> Card:
    """Return the card of what two devices changed differently.

    Args:
        key: Gives the key of a command, as it is written.
    """
    place = f"file:{conflict.path}#L{conflict.line}"
    sections = [
        Section.of("WHY", conflict.reason, "soft"),
        Section.of("WHERE", f"{conflict.path}, line {conflict.line}", "text+link", place),
    ]
    if conflict.before is not None and conflict.unit:
        before = statement(conflict.before) if conflict.before.startswith("- ") else conflict.before
        sections.append(Section.of("BEFORE", " ".join(before.split())[:_MOST], "soft"))
    if conflict.stale:
        told = "The file was changed again since. Write there what it should say, then keep what stands."
        sections.insert(0, Section.of("NOTE", told, "decide"))
    body = partial(
        clash_lines,
        _side(conflict, conflict.older, now),
        _side(conflict, conflict.newer, now),
        conflict_outcomes(conflict, key),
        head=HEAD,
    )
    details = (
        Section.of("ID", conflict.id, "soft"),
        *((Section.of("UNIT", conflict.unit, "soft"),) if conflict.unit else ()),
    )
    return Card(conflict_title(conflict), "", sections=tuple(sections), details=details, body=body)


def conflict_outcomes(conflict: SyncConflict, key: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """Say what each key does."""
    rows = [
        (key(command), _outcome(conflict, version))
        for command, version in (("older", conflict.older), ("newer", conflict.newer))
    ]
    both = ((key("both"), "keep both, one below the other"),) if conflict.may_keep_both else ()
    return (*rows, *both)


def _outcome(conflict: SyncConflict, version: DeviceVersion) -> str:
    if version.text is None:
        return f"delete it, as {version.device} did"
    done = "; it is there now" if version is conflict.this else ""
    return f"keep what {version.device} wrote{done}"


def _side(conflict: SyncConflict, version: DeviceVersion, now: datetime) -> Side:
    there = " · there now" if version is conflict.this else ""
    text = version_words(version)
    return Side(text[:_MOST], f"{version.device} · {words.moment(version.timestamp, now)}{there}")


def conflicts_lines(page: Page, found: SyncConflicts) -> list[str]:
    """List what two devices changed differently, with how each is decided."""
    if not found.conflicts:
        return ["No changes differ between devices."]
    lines: list[str] = []
    for each in found.conflicts:
        place = safe_line(f"{each.path}:{each.line}")
        lines += ["", page.heading(safe_line(f"{each.id}  {conflict_title(each)}"), place)]
        for word, version in (("this", each.this), ("that", each.that)):
            told = f"{version.device}, {version.timestamp:%Y-%m-%d %H:%M}"
            lines.append(page.paint(f"  {word}  {safe_line(told)}", "quiet"))
            lines += page.wrapped(safe(version_words(version)[:_MOST]), first="    ", rest="    ")
        lines += page.wrapped(safe_line(each.reason), "quiet", first="  ", rest="  ")
        if each.stale:
            lines += page.wrapped("The file was changed again since; only “this” can be said.", first="! ")
    first = found.conflicts[0].id
    hint = f"This is in the file now. Decide with: workbench review settle {first} this, that or both"
    return [*lines[1:], "", page.paint(hint, "quiet")]
