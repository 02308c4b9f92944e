"""Draws what writing all ticks would do, memory by memory, and afterwards what it did, in the words of each thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.display import words
from workbench.display.card import MEASURE, Card, Section
from workbench.display.cells import wrap
from workbench.display.deciding import statement
from workbench.display.diffing import compare, diff_lines
from workbench.display.ink import BLANK, Line, Span, column, gap, ink, spread
from workbench.display.markdown import unlinked
from workbench.display.rows import budget_line, store_sign
from workbench.engine import layout
from workbench.engine.markdown.statements import parse_statement

if TYPE_CHECKING:
    from datetime import date

    from workbench.display.diffing import Piece
    from workbench.engine.results.audit import MemoryChange
    from workbench.engine.results.inbox import InboxPreview, Written
    from workbench.engine.results.memories import CoreView
    from workbench.engine.results.reviews import FilePreview

_MOST_LINES: Final = 12
_MOST_DIFF: Final = 400
_SIGNS: Final = {"added": "+", "removed": "-", "changed": "±", "scored": "±"}
_STORES: Final = {"episodic": "Timeline", "procedural": "Procedures", "vault": "Vault", "file": "Files"}


def preview_card(
    preview: InboxPreview, titles: Mapping[str, str], scored: Mapping[str, str], today: date
) -> Card:
    """Return the card of what would be written.

    Args:
        titles: Words by id: of items, of proposals as `#4`, of secrets as `held:2`, of entities.
        scored: What becomes of memories whose text stays, by id: “archived”.
    """
    sections = [
        *_listed(
            "FOR GOOD", "erased; undo cannot bring it back", _held(preview.erased), titles, role="danger"
        ),
        *_declined(preview, titles),
        *_listed("ASIDE", "until the next reflection", preview.set_aside, titles, preview.together),
        *_listed("SECRET", "stored, and allowed from then on", _held(preview.kept), titles),
        *_listed(
            "SECRET", "left out, the rest is stored; ⸨undo⸩ brings it back", _held(preview.without), titles
        ),
        *_waiting(preview.waiting, titles),
        *(
            [Section("NOTE", tuple((ink(each, "decide"),) for each in preview.notes))]
            if preview.notes
            else []
        ),
    ]
    details = [
        Section("FILE", ((ink(each.path, "soft"),),), draw=partial(_file, each)) for each in preview.files
    ]
    return Card(
        "Write",
        "",
        sections=tuple(sections),
        details=tuple(details),
        body=partial(_preview, preview, titles, scored, today),
    )


def receipt_card(written: Written, titles: Mapping[str, str]) -> Card:
    """Return the card of what was written."""
    sections = [
        *_listed("ACCEPTED", "", written.accepted, titles, written.together),
        *_declined(written, titles),
        *_listed("ASIDE", "until the next reflection", written.set_aside, titles, written.together),
        *_listed("SECRET", "stored, and allowed from now on", _held(written.kept), titles),
        *_listed("SECRET", "left out, the rest is stored", _held(written.without), titles),
        *_listed("FOR GOOD", "erased", _held(written.erased), titles, role="danger"),
        *_waiting(written.waiting, titles),
    ]
    # What goes on about the command line is said by keys here.
    if told := [each for each in written.warnings if "workbench " not in each]:
        sections.append(Section("NOTE", tuple((ink(each, "decide"),) for each in told)))
    details = [Section("FILES", tuple((ink(path, "soft"),) for path in written.files))]
    if written.commit is not None:
        details.append(Section.of("COMMIT", written.commit[:10], "soft"))
    return Card("Written", "Written", (ink(_undone(written), "soft"),), tuple(sections), tuple(details))


def written_words(written: Written) -> str:
    """Say in a sentence what was written, and what `u` takes back of it."""
    done = written.decisions
    said = f"Wrote {words.decided(done, done.erased)}." if done.total else "Nothing was written."
    left = f" {_staying(done.waiting)}." if done.waiting else ""
    return f"{said}{left} {_undone(written)}".rstrip()


def answer_words(preview: InboxPreview) -> str:
    """Say what `enter` then does: “write 7: 4 accepted, 1 declined, 1 set aside, 1 secret erased”."""
    then = preview.decisions
    left = f"; {_staying(then.waiting)}" if then.waiting else ""
    return f"write {words.decided(then, then.erased)}{left}"


def _staying(count: int) -> str:
    return f"{count} cannot be written and {'stays' if count == 1 else 'stay'} ticked"


def _undone(written: Written) -> str:
    if written.commit is None:
        return "" if not written.erased else "Undo cannot bring it back."
    but = " but what is erased" if written.erased else ""
    return f"⸨undo⸩ takes all of it back{but}."


def _held(numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"held:{number}" for number in numbers)


def _declined(of: InboxPreview | Written, titles: Mapping[str, str]) -> list[Section]:
    """Return what is declined; apart from what one declines, what only goes because its rival is taken."""
    taken = set(_by_decision(of.accepted, of.together))
    groups = _by_decision(of.declined, of.together)
    mine, rest = (
        [name for key in groups if (key in taken) == gives_way for name in groups[key]]
        for gives_way in (False, True)
    )
    return [
        *_listed("DECLINED", "not proposed again", mine, titles, of.together),
        *_listed("GIVES WAY", "to what is accepted instead", rest, titles, of.together),
    ]


def _by_decision(names: Sequence[str], together: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Return names by the first of those that are decided together."""
    first = {name: each[0] for each in together for name in each}
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(first.get(name, name), []).append(name)
    return groups


def _listed(
    label: str,
    meaning: str,
    names: Sequence[str],
    titles: Mapping[str, str],
    together: Sequence[Sequence[str]] = (),
    role: str = "text",
) -> list[Section]:
    """Return a section with a line for each decision, as they are counted."""
    if not names:
        return []
    head: list[Line] = [(ink(meaning, role if role != "text" else "soft"),)] if meaning else []
    said = [
        words.listed([words.quoted(titles.get(name, name), 100) for name in group])
        for group in _by_decision(names, together).values()
    ]
    return [Section(label, (*head, *((ink(each, role),) for each in said)))]


def _waiting(waiting: Mapping[str, str], titles: Mapping[str, str]) -> list[Section]:
    if not waiting:
        return []
    lines = tuple(
        (ink(f"{words.quoted(titles.get(name, name))}: ", "text"), ink(reason, "decide"))
        for name, reason in waiting.items()
    )
    return [Section("NOT NOW", ((Span("stays ticked", "soft"),), *lines))]


def _preview(
    preview: InboxPreview, titles: Mapping[str, str], scored: Mapping[str, str], today: date, width: int
) -> list[Line]:
    """Draw every memory as it would read, under what it belongs to."""
    files = len([each for each in preview.files if each.path not in layout.BOOKS])
    told = f"{files} file{'s' * (files != 1)}, one action" if files else ""
    measure = min(width, MEASURE)
    lines: list[Line] = [
        spread((Span("WHAT WILL BE WRITTEN", "soft+strong"),), (Span(told, "soft"),) if told else (), measure)
    ]
    if preview.is_empty:
        return [*lines, BLANK, (Span("Nothing is ticked.", "soft"),)]
    for title, changes in _grouped(preview.memories, titles).items():
        store = changes[0].store
        lines += [BLANK, (store_sign(store), ink(title, "strong"))]
        if store == "core":
            lines += _budgets(preview.core_before, preview.core_after, title, measure)
        for change in changes:
            lines += _changed(change, scored.get(change.id, ""), today, measure)
    for each in preview.files:
        if each.path == layout.EVOLUTION:
            lines += [BLANK, (Span("✦ ", "store.file"), Span("How understanding has changed", "strong"))]
            lines += _text_changes(each.before or "", each.after or "", measure, parts_apart=False)
    before, after = preview.core_before, preview.core_after
    if before.tokens != after.tokens:
        lines += [BLANK, budget_line("Core memory then", after.tokens, after.cap, measure, role="soft")]
    return lines


def _grouped(changes: Sequence[MemoryChange], titles: Mapping[str, str]) -> dict[str, list[MemoryChange]]:
    """Return changes by what they belong to: an entity, a block of core memory, a store."""
    groups: dict[str, list[MemoryChange]] = {}
    for change in changes:
        kind, _, rest = change.id.partition(":")
        if kind == "entity":
            entity = rest.partition("#^")[0]
            # One that is new has no title yet.
            title = titles.get(f"entity:{entity}", change.id)
            title = unlinked(f"[[{entity}]]") if title == change.id else title
        elif kind == "core":
            title = rest.partition(":")[0].replace("-", " ").capitalize()
        else:
            title = _STORES.get(change.store, change.title)
        groups.setdefault(title, []).append(change)
    return groups


def _budgets(before: CoreView, after: CoreView, title: str, width: int) -> list[Line]:
    was = {each.name.casefold(): each.tokens for each in before.blocks}
    for block in after.blocks:
        if block.name.casefold() == title.casefold():
            room = f" of {block.budget:,}" if block.budget is not None else ""
            over = block.budget is not None and block.tokens > block.budget
            said = f"{was.get(block.name.casefold(), 0):,} → {block.tokens:,}{room} tokens"
            return [(gap(2), ink(said, "danger" if over else "soft", width - 2))]
    return []


def _changed(change: MemoryChange, scored: str, today: date, width: int) -> list[Line]:
    sign = _SIGNS.get(change.change, "±")
    if change.change == "scored":
        return _signed(sign, f"{change.title} · {scored or 'its pin or its archiving changes'}", width)
    before, after = change.before or "", change.after or ""
    if "#^" in change.id or change.store == "core":
        return _statement(sign, before, after, today, width)
    if change.change == "changed":
        return _text_changes(before, after, width)
    is_entity = change.id.startswith("entity:")
    # The name of an entity stands above already.
    said_of_it = [
        line
        for line in (after or before).splitlines()
        if _is_said(line) and not (is_entity and line.startswith("# "))
    ]
    written = [
        _standing(line, today) if is_entity else unlinked(line.lstrip("# ")).strip() for line in said_of_it
    ] or ["nothing but its name so far"]
    # A file often begins with its name as a heading, and says it once more below.
    said = list({text.rstrip(".").casefold(): text for text in reversed(written)}.values())[::-1]
    lines = [part for text in said[:_MOST_LINES] for part in _signed(sign, text, width)]
    if (more := len(said) - _MOST_LINES) > 0:
        lines.append((gap(4), Span(f"and {more} more lines", "faint")))
    return lines


def _statement(sign: str, before: str, after: str, today: date, width: int) -> list[Line]:
    """Draw a fact or an item; of one that only ceases to hold, until when it held."""
    old, new = statement(before), statement(after)
    until = parse_statement(after.strip().removeprefix("- ")).provenance.until if after else None
    if until and (old == new or not old):
        return _signed("±", f"{new} · held until {words.day_of(until, today) or until}", width)
    if old and new and old != new:
        return [*_signed("-", old, width, "soft"), *_signed("+", new, width)]
    if old and new:
        return _signed("±", f"{new} · what is known about it changes", width)
    return _signed(sign, new or old, width, "text" if new else "soft")


def _standing(line: str, today: date) -> str:
    """Return a line of an entity as a statement, with until when it held where it does no longer."""
    until = parse_statement(line.strip().removeprefix("- ")).provenance.until
    return (
        f"{statement(line)} · held until {words.day_of(until, today) or until}" if until else statement(line)
    )


def _text_changes(before: str, after: str, width: int, *, parts_apart: bool = True) -> list[Line]:
    """Draw the lines of a text that differ.

    Args:
        parts_apart: Whether lines with an id of their own, such as facts, are drawn by themselves.
    """

    def said(pieces: Sequence[Piece]) -> str:
        text = "".join(piece.text for piece in pieces)
        own = parse_statement(text.strip().removeprefix("- ")).block_id if parts_apart else None
        return statement(text) if _is_said(text) and own is None else ""

    lines: list[Line] = []
    for row in compare(before, after, context=0):
        if row.kind in ("removed", "changed"):
            lines += _signed("-", said(row.before), width, "soft")
        if row.kind in ("added", "changed"):
            lines += _signed("+", said(row.after), width)
    return lines[:_MOST_DIFF]


def _is_said(line: str) -> bool:
    """Return whether a line of a file says something: headings of parts, comments and bare sources do not."""
    return bool(line.strip()) and not line.startswith(("## ", "<!--", "- file:", "- episode:"))


def _signed(sign: str, text: str, width: int, role: str = "text") -> list[Line]:
    if not text.strip():
        return []
    return [
        (gap(2), column(sign if not at else "", 2, "strong"), Span(part, role))
        for at, part in enumerate(wrap(text, max(8, width - 4)))
    ]


def _file(file: FilePreview, width: int) -> list[Line]:
    return diff_lines(compare(file.before, file.after)[:_MOST_DIFF], width)
