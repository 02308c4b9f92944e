"""Reverts one change of a file by a reverse three-way merge over its units instead of text hunks."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import Stale
from workbench.engine.history.differences import (
    HEADINGS,
    LINE_END,
    DocumentUnits,
    Unit,
    match_units,
    moved_units,
    parse_units,
    unit_name,
    with_text,
)
from workbench.engine.history.json_revert import (
    JsonConflict,
    NotJson,
    changed_keys,
    is_bookkeeping,
    revert_json,
    revert_scores,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


_TITLES = ("title", "heading")
# A comment of metadata, and one field of it.
_COMMENT = lazy_pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# What begins a heading, a quotation, an item of a list or one with a box to tick.
_MARKER = lazy_pattern(r"^(?:(?:#+|[-*+>]|\d+[.)])\s+)+(?:\[[^\]]\]\s+)?")
_BLOCK_ID = lazy_pattern(r"\s\^[\w-]+$", re.MULTILINE)
_WIKILINK = lazy_pattern(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]")
_FIELDS = lazy_pattern(r"^<!--\s*(.*?)\s*-->$", re.DOTALL)
_FIELD = lazy_pattern(r"^\s*([^:|]+?)\s*:\s*(.*?)\s*$", re.DOTALL)

_SHOWN = 400
_MOST_WORDS = 120


@dataclass(frozen=True)
class Conflict:
    """A unit changed again after the change to revert.

    Args:
        unit: A short description.
        left_as: Its text after the change; None if the change removed it.
        now: Its current text; None if it is gone.
        names: What `changed_units` calls it, then and now; empty for the whole file.
        wanted: What would be there; None if it would be gone.
        kind: The unit's kind; empty for the whole file.
    """

    unit: str
    left_as: str | None
    now: str | None
    names: tuple[str, ...] = ()
    wanted: str | None = None
    kind: str = ""


Settle = Callable[[Unit, str, str, str], "str | None"]
"""Given a unit as it is now and its meaning before, after and now, returns what it shall be, or None: a conflict."""


@dataclass(eq=False)
class _Place:
    """A unit of the result, with its position in `now` or `before`."""

    unit: Unit
    now: int | None = None
    before: int | None = None


class UnitRevert:
    """A file's three versions, and the result, built from the current one.

    Args:
        before: The file before the change; None if there was none.
        markdown: Whether to read Markdown structure.
        only: If given, the names of the only units to revert.
        settle: Decides what a unit shall be that was changed again.
    """

    def __init__(
        self,
        before: bytes | None,
        after: bytes,
        now: bytes,
        *,
        markdown: bool,
        only: Collection[str] | None = None,
        settle: Settle | None = None,
    ) -> None:
        self._joins = settle is not None
        self._settle = settle or _settle_bookkeeping
        self._created = before is None
        self._now_content = now
        self._markdown = markdown
        self._only = only
        versions = (parse_units(content, markdown=markdown) for content in (before or b"", after, now))
        self._before, self._after, self._now = map(_with_header, versions) if settle else versions
        self._back = self._of_one_kind(match_units(self._before.units, self._after.units))
        self._since = match_units(self._after.units, self._now.units)
        self._run_on = {} if settle else self._find_run_on()
        self._since.update(self._run_on)
        self._places = {n: _Place(unit, now=n) for n, unit in enumerate(self._now.units)}
        self._result = list(self._places.values())
        for b, a in self._back.items():
            if a in self._since:
                self._places[self._since[a]].before = b
        self._scaffold: set[_Place] = set()
        self._conflicts: list[Conflict] = []

    def run(self) -> tuple[bytes | None, tuple[Conflict, ...]]:
        """Return the content and no conflicts, or the current content and the conflicts."""
        content = self._restore()
        if not self._conflicts:
            if not self._result and self._created:
                return None, ()
            if content is not None:
                return content, ()
            for a, n in self._run_on.items():
                self._conflict(self._after.units[a], self._after.units[a], self._now.units[n], None)
            if not self._conflicts:
                self._conflicts.append(Conflict("The structure of the file", None, None))
        return self._now_content, tuple(self._conflicts)

    def run_on(self) -> tuple[bytes | None, tuple[Conflict, ...]]:
        """Return the content with all that conflicts as it is now, and the conflicts; None if it cannot be written."""
        content = self._restore()
        return content, tuple(self._conflicts)

    def _restore(self) -> bytes | None:
        put_back = self._set_back()
        self._remove_added()
        for b in put_back:
            if self._representative(b) is None:
                self._put_back(b)
        self._remove_bare_scaffold()
        for roomy in (False, True):
            joined = self._joined(roomy=roomy)
            if self._reads_as_meant(joined):
                return joined.render()
        return None

    def _find_run_on(self) -> dict[int, int]:
        """Pair the units that lines written right below have become a part of with what they are together."""
        taken, free = set(self._since.values()), dict[str, list[int]]()
        for n, unit in enumerate(self._now.units):
            if n not in taken and "\n" in unit.meaning:
                free.setdefault(unit.meaning.split("\n", 1)[0], []).append(n)
        found = dict[int, int]()
        for a, unit in enumerate(self._after.units):
            candidates = free.get(unit.meaning.split("\n", 1)[0], [])
            if a in self._since or unit.kind not in ("item", "text"):
                continue
            for n in candidates:
                if self._now.units[n].meaning.startswith(unit.meaning + "\n"):
                    found[a] = n
                    candidates.remove(n)
                    break
        return found

    def _ran_on(self, a: int, now: Unit) -> str | None:
        """Return the lines written right below a unit, or None if they are a list nested in it."""
        lines = LINE_END.split(now.text)[len(LINE_END.split(self._after.units[a].text)) :]
        rest = self._now.newline.join(lines)
        kinds = {
            unit.kind for unit in parse_units(rest.encode("utf-8", "surrogateescape"), markdown=True).units
        }
        return rest if kinds == {"text"} else None

    def _of_one_kind(self, pairs: dict[int, int]) -> dict[int, int]:
        """Split pairs that only look like one changed unit into a unit to revert and a unit that stays."""
        if self._only is None:
            return pairs
        old, new = self._before.units, self._after.units
        return {
            b: a
            for b, a in pairs.items()
            if old[b].key or old[b].meaning == new[a].meaning or self._wanted(old[b]) == self._wanted(new[a])
        }

    def _wanted(self, unit: Unit) -> bool:
        return self._only is None or unit_name(unit) in self._only

    def _conflict(self, unit: Unit, left_as: Unit | None, now: Unit | None, wanted: Unit | None) -> None:
        then, is_now, would = (
            version.text.strip() if version else None for version in (left_as, now, wanted)
        )
        names = tuple(unit_name(each) for each in (unit, left_as, now) if each)
        self._conflicts.append(Conflict(unit.name, then, is_now, names, would, unit.kind))

    def _set_back(self) -> list[int]:
        """Restore changed units in place; return the units of `before` that must be put back."""
        old, new, now = self._before.units, self._after.units, self._now.units
        moved = moved_units(old, new, self._back)
        put_back = []
        for b, unit in enumerate(old):
            a = self._back.get(b)
            if a is None:
                if self._wanted(unit) and self._still_removed(b):
                    put_back.append(b)
                continue
            if (unit.meaning == new[a].meaning and b not in moved) or not self._wanted(new[a]):
                continue
            n = self._since.get(a)
            if n is None:
                if self._find_beyond_after(unit) is None:
                    self._conflict(new[a], new[a], None, unit)
                    if self._joins:
                        put_back.append(b)
                continue
            if self._joins and now[n].meaning == unit.meaning and now[n].section == unit.section:
                continue
            restored = self._restored(unit, new[a], now[n])
            if restored is None or (b in moved and not self._under_same_heading(a, n)):
                self._conflict(new[a], new[a], now[n], unit)
            elif b in moved:
                self._result.remove(self._places.pop(n))
                put_back.append(b)
            else:
                self._places[n].unit = restored
                self._places[n].before = b
        return put_back

    def _restored(self, before: Unit, after: Unit, now: Unit) -> Unit | None:
        """Return the restored version of a changed unit, or None if it was changed again."""
        if now.meaning == before.meaning:
            return now
        if now.meaning == after.meaning:
            return self._adapted_unit(before)
        merged = self._settle(now, before.meaning, after.meaning, now.meaning)
        return None if merged is None else self._adapted_unit(with_text(now, merged))

    def _under_same_heading(self, a: int, n: int) -> bool:
        owner = self._after.units[a].owner
        return (self._since.get(owner, -2) if owner >= 0 else -1) == self._now.units[n].owner

    def _find_beyond_after(self, unit: Unit) -> int | None:
        """Find a unit of `before` among the units of `now` that `after` lacked; return its position."""
        kept = set(self._since.values())
        for n, candidate in enumerate(self._now.units):
            same = candidate.section == unit.section and candidate.meaning == unit.meaning
            if n not in kept and (candidate.key == unit.key if unit.key else same):
                return n
        return None

    def _still_removed(self, b: int) -> bool:
        unit = self._before.units[b]
        n = self._find_beyond_after(unit)
        if n is None:
            return True
        found, place = self._now.units[n], self._places[n]
        if self._joins and unit.kind == "entry" and found.meaning != unit.meaning:
            # What happened in the same minute on two devices happened twice.
            return True
        if place.before is None:
            place.before = b
        if found.meaning == unit.meaning or (self._joins and unit.kind == "heading"):
            return False
        merged = self._settle(found, unit.meaning, "", found.meaning) if self._joins else None
        if merged is None:
            self._conflict(unit, None, found, unit)
        else:
            place.unit = self._adapted_unit(with_text(found, merged))
        return False

    def _remove_added(self) -> None:
        old = set(self._back.values())
        for a, unit in enumerate(self._after.units):
            n = self._since.get(a)
            if a in old or n is None or not self._wanted(unit):
                continue
            current = self._now.units[n]
            if self._came_to_hold(unit, old):
                self._scaffold.add(self._places[n])
            elif a in self._run_on and (rest := self._ran_on(a, current)):
                self._places[n].unit = replace(current, kind="text", text=rest)
            elif current.meaning == unit.meaning or self._only_bookkeeping_moved(unit, current):
                self._result.remove(self._places.pop(n))
            else:
                self._conflict(unit, unit, current, None)

    def _only_bookkeeping_moved(self, after: Unit, now: Unit) -> bool:
        return self._settle(now, after.meaning, after.meaning, now.meaning) == now.meaning

    def _came_to_hold(self, unit: Unit, old: Collection[int]) -> bool:
        """Return True if an added unit is a heading, or came with a heading or the file and stays with it."""
        if unit.kind in _TITLES:
            return True
        if unit.kind not in ("comment", "front"):
            return False
        return self._created if unit.owner < 0 else unit.owner not in old

    def _remove_bare_scaffold(self) -> None:
        """Remove added headings left empty, with the comments that came with them."""
        kept: set[_Place] = set()
        for position in reversed(range(len(self._result))):
            heading = self._result[position]
            if heading not in self._scaffold or heading.unit.kind not in _TITLES:
                continue
            following = self._result[position + 1 :]
            inside = list(takewhile(lambda p: not 0 < p.unit.level <= heading.unit.level, following))  # noqa: B023 - used up at once
            if any(p not in self._scaffold or p in kept for p in inside):
                kept.add(heading)
                kept.update(p for p in inside if p.unit.owner == heading.now and p.unit.kind == "comment")
        if any(p not in self._scaffold for p in self._result):
            kept.update(p for p in self._scaffold if p.unit.owner < 0 and p.unit.kind not in _TITLES)
        self._result = [p for p in self._result if p not in self._scaffold or p in kept]

    def _representative(self, b: int) -> _Place | None:
        """Return the unit of the result for a unit of `before`, whether it stayed or was put back."""
        for place in self._result:
            if place.before == b:
                return place
        a = self._back.get(b)
        n = self._since.get(a) if a is not None else None
        return self._places.get(n) if n is not None else None

    def _put_back(self, b: int) -> None:
        """Put a removed unit back after its former predecessor, within its section."""
        unit = self._before.units[b]
        if unit.owner >= 0 and self._representative(unit.owner) is None:
            self._put_back(unit.owner)
        anchor = None
        for previous in range(b - 1, -1, -1):
            anchor = self._representative(previous)
            if anchor is not None or (previous == unit.owner and unit.kind not in HEADINGS):
                break
        if self._joins:
            anchor = self._earlier_entry(unit, anchor) or anchor
        position = self._result.index(anchor) + 1 if anchor is not None else self._before_what_follows(b)
        if unit.kind in HEADINGS and anchor is not None:
            while position < len(self._result) and not 0 < self._result[position].unit.level <= unit.level:
                position += 1
        self._result.insert(position, _Place(self._adapted_unit(unit), before=b))

    def _earlier_entry(self, unit: Unit, anchor: _Place | None) -> _Place | None:
        """Return the last entry behind a place that is of no later a time than an entry to put back."""
        found = None
        for place in self._result[0 if anchor is None else self._result.index(anchor) + 1 :]:
            if (
                place.unit.kind != "entry"
                or place.unit.level != unit.level
                or _time(place.unit) > _time(unit)
            ):
                break
            found = place
        return found

    def _before_what_follows(self, b: int) -> int:
        for following in range(b + 1, len(self._before.units)):
            place = self._representative(following)
            if place is not None:
                return self._result.index(place)
        return 0

    def _joined(self, *, roomy: bool) -> DocumentUnits:
        """Join the result; `roomy` puts a blank line between units that are newly adjacent."""
        if not self._result:
            return DocumentUnits((), (self._now.gaps[0],), self._now.mark, self._now.newline)
        gaps = [self._edge(self._result[0], first=True)]
        for one, other in zip(self._result, self._result[1:], strict=False):
            gaps.append(self._gap(one, other, roomy=roomy))
        gaps.append(self._edge(self._result[-1], first=False))
        units = tuple(place.unit for place in self._result)
        return DocumentUnits(units, tuple(gaps), self._now.mark, self._now.newline)

    def _edge(self, place: _Place, *, first: bool) -> str:
        """Return the text before the first or after the last unit."""
        if place.now is None and place.before == (0 if first else len(self._before.units) - 1):
            return self._adapted(self._before.gaps[0 if first else -1])
        return self._now.gaps[0 if first else -1]

    def _gap(self, one: _Place, other: _Place, *, roomy: bool) -> str:
        n = other.now
        stood = one.now is not None and n == one.now + 1
        if stood and n is not None and other.unit.kind == self._now.units[n].kind:
            return self._now.gaps[n]
        if one.before is not None and other.before == one.before + 1 and not roomy:
            return self._adapted(self._before.gaps[other.before])
        before, after = self._gap_beside(other, 0), self._gap_beside(one, 1)
        if other.unit.kind in HEADINGS:
            gap = before or after
        elif one.unit.kind in HEADINGS:
            gap = after or before
        else:
            gap = min((g for g in (before, after) if g), key=len, default=None)
        gap = self._adapted(gap or self._now.newline)
        would_run_on = one.unit.kind in ("item", "text") and other.unit.kind == "text"
        if self._markdown and (roomy or would_run_on) and len(LINE_END.findall(gap)) < 2:
            return self._now.newline * 2
        return gap

    def _gap_beside(self, place: _Place, step: int) -> str | None:
        """Return the text before (0) or after (1) a unit in its original version; None at the edges."""
        source, index = (self._now, place.now) if place.now is not None else (self._before, place.before)
        assert index is not None
        return source.gaps[index + step] if 0 < index + step < len(source.units) else None

    def _reads_as_meant(self, joined: DocumentUnits) -> bool:
        """Return True if the result parses into the units it was made of, each under its own heading."""
        again = parse_units(joined.render(), markdown=self._markdown).units
        if [unit.meaning for unit in again] != [place.unit.meaning for place in self._result]:
            return False
        for unit, place in zip(again, self._result, strict=True):
            if place.now is None:
                continue
            owner = self._now.units[place.now].owner
            if owner >= 0 and (unit.owner < 0 or self._result[unit.owner].now != owner):
                return False
        return True

    def _adapted_unit(self, unit: Unit) -> Unit:
        return with_text(unit, self._adapted(unit.text))

    def _adapted(self, text: str) -> str:
        return LINE_END.sub(self._now.newline, text)


def try_revert(
    path: str,
    before: bytes | None,
    after: bytes | None,
    now: bytes | None,
    *,
    only: Collection[str] | None = None,
) -> tuple[bytes | None, tuple[Conflict, ...]]:
    """Return a file with one change reverted and everything done since kept.

    What the change added is removed, what it removed returns to its former predecessor, and what it changed or
    moved is restored, each only if it is still as the change left it. A heading that the change added stays
    while there is something under it. Dates and counters of a file's bookkeeping (`Last updated` and the like)
    that advanced since are left alone.

    Args:
        path: Workspace-relative; its ending decides the structure (.md, .json, else lines as in TOML).
        before: The file before the change; None if there was none.
        after: The file after the change; None if it was deleted.
        only: If given, revert only the units with these names (see `changed_units`).

    Returns:
        The content, None if the file is to be deleted, and the conflicts: units that were changed again since. With
        any, the content is `now`.
    """
    if before == after or (now == before and only is None):
        return now, ()
    if now == after and only is None:
        return before, ()
    if after is None:
        if now is None:
            return before, ()
        return now, (Conflict("The file", None, _shown(now)),)
    if now is None:
        return (None, ()) if before is None else (None, (Conflict("The file", _shown(after), None),))
    if path.endswith(".json"):
        try:
            with suppress(NotJson):
                if path == layout.DECAY_SCORES:
                    return revert_scores(before, after, now, only=only), ()
            return revert_json(before, after, now, only=only), ()
        except JsonConflict as conflict:
            return now, (Conflict(conflict.key, conflict.left_as, conflict.now, (conflict.key,)),)
        except NotJson:
            pass  # A broken file still has lines.
    return UnitRevert(before, after, now, markdown=path.endswith(".md"), only=only).run()


def in_words(text: str) -> str:
    """Return what a piece of a file says on one line, without the Markdown around it."""
    words = _COMMENT.sub(" ", text)
    words = _MARKER.sub("", words.strip() or text.strip().strip("<!->"))
    words = _WIKILINK.sub(r"\1", _BLOCK_ID.sub("", words))
    words = " ".join(words.replace("**", "").replace("`", "").split())
    return words if len(words) <= _MOST_WORDS else words[: _MOST_WORDS - 1] + "…"


def conflict_error(path: str, conflicts: Sequence[Conflict]) -> Stale:
    """Return the error for the first conflict, with both versions."""
    first, *others = conflicts
    more = f" ({len(others)} more like it)" if others else ""
    then, now = (in_words(text) if text is not None else None for text in (first.left_as, first.now))
    # A block id means nothing to a person; what it names does.
    unit = (then or now or first.unit) if first.unit.startswith("^") else in_words(first.unit)
    left_as = (
        "the change removed it, "
        if then is None
        else ""
        if then == unit
        else f"the change left it “{then}”, "
    )
    is_now = f"now it is “{now}”" if now is not None else "now it is gone"
    return Stale(
        f"{f'“{unit}”' if first.names else unit} was changed again since: {left_as}{is_now}{more}.",
        where=path,
        remedy="Revert the later change first, or edit the file to what it should say.",
    )


def changed_units(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """Return the names of the units that a change added, changed, moved or removed.

    `only` and the `Item-Unit:` trailers use these names: a block id (`^f7k2`), else the unit's first line under
    its section (`Facts / - Likes tea`), before and after; for JSON and TOML the path of keys
    (`entries / entity:person--alex / pinned`).
    """
    if before == after:
        return ()
    if path.endswith(".json"):
        try:
            return changed_keys(before, after)
        except NotJson:
            pass  # A broken file still has lines.
    markdown = path.endswith(".md")
    old = parse_units(before or b"", markdown=markdown).units
    new = parse_units(after or b"", markdown=markdown).units
    pairs = match_units(old, new)
    moved, paired = moved_units(old, new, pairs), set(pairs.values())
    names = [unit_name(unit) for j, unit in enumerate(new) if j not in paired]
    for i, unit in enumerate(old):
        if i not in pairs:
            names.append(unit_name(unit))
        elif i in moved or unit.meaning != new[pairs[i]].meaning:
            # Among other changes the two may no longer pair; then each is reverted.
            names += [unit_name(new[pairs[i]]), unit_name(unit)]
    return tuple(dict.fromkeys(names))


def is_scaffold(path: str, unit: str) -> bool:
    """Return True if a unit's name is that of a heading, a comment, or a value above the records.

    Such a unit was added for the content below it; a revert removes it if nothing is left.
    """
    if path.endswith(".json"):
        return " / " not in unit
    return unit.rpartition(" / ")[2].startswith(("#", "<!--"))


def _shown(content: bytes) -> str:
    text = content.decode("utf-8", "replace").strip()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _with_header(document: DocumentUnits) -> DocumentUnits:
    """Return a document in which the only comment of metadata above the sections is known as such."""
    found = [
        at
        for at, unit in enumerate(document.units)
        if unit.kind == "comment" and not unit.section and comment_fields(unit.text)
    ]
    if len(found) != 1:
        return document
    units = list(document.units)
    units[found[0]] = replace(units[found[0]], key=("header",))
    return replace(document, units=tuple(units))


def _time(unit: Unit) -> tuple[int, ...]:
    """Return the time that an entry is headed by, and its number within the minute."""
    if unit.key is None or unit.key[0] != "entry":
        return ()
    return (*map(int, unit.key[1].split(":")), int(unit.key[2]))


def _settle_bookkeeping(unit: Unit, before: str, after: str, now: str) -> str | None:
    return _merge_bookkeeping(before, after, now, kind=unit.kind)


def _merge_bookkeeping(before: str, after: str, now: str, *, kind: str) -> str | None:
    """Revert a metadata comment or front matter key; None if more than bookkeeping was changed again since."""
    if kind == "front":
        return now if is_bookkeeping(now.partition(":")[0]) else None
    if kind != "comment":
        return None
    old, new, current = map(comment_fields, (before, after, now))
    if old is None or new is None or current is None:
        return None
    merged = dict(current)
    for name in {**old, **new, **current}:
        was, left_as, found = old.get(name), new.get(name), current.get(name)
        if was == left_as or found == was:
            continue
        if found == left_as:
            if was is None:
                merged.pop(name, None)
            else:
                merged[name] = was
        elif not is_bookkeeping(name):
            return None
    return "<!-- " + " | ".join(f"{name}: {value}" for name, value in merged.items()) + " -->"


def comment_fields(comment: str) -> dict[str, str] | None:
    """Return the fields of a comment of metadata, or None for any other."""
    inside = _FIELDS.match(comment.strip())
    if not inside:
        return None
    found = [_FIELD.match(part) for part in inside.group(1).split("|")]
    fields = {match.group(1): match.group(2) for match in found if match}
    return fields if len(fields) == len(found) else None
