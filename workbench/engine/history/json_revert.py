"""Reverts one change of a JSON file key by key; in the scores file, decisions revert and accesses stay."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.history.work_files import files_of_memory, memory_exists, named_by_id
from workbench.engine.markdown.decay_scores import (
    ACCESS_KEYS,
    MOST_CHANGES,
    DecayScores,
    EntryAccesses,
    ScoreEntry,
    latest_moment,
)
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping


_MOVING = frozenset(
    {
        "access_count",
        "current_score",
        "decay_score",
        "last_accessed",
        "last_updated",
        "last_used",
        "modified",
        "updated",
    }
)

ABSENT: Final = object()
_INDENT = lazy_pattern(r"[\[{]\r?\n([ \t]+)")
_SEPARATOR = " / "
_RECORDS_DEPTH = 2
_BLANKS = (" ", "\n", "\r", "\t")

_ARCHIVED: Final = "archived"
_ACTIVE: Final = "active"
_WATERMARKS: Final = ("folded", "checked")
_FOLLOWING: Final = ("current_score", "status")
"""Derived values, written for readers."""
_WORDS: Final = ("store", "base_relevance", "created", "type_weight", "pinned", *_FOLLOWING)
_COUNTED: Final = frozenset({"access_count", "last_accessed", *ACCESS_KEYS})


def is_bookkeeping(name: str) -> bool:
    """Return True if a key or field holds a date or counter that advances with every change."""
    return re.sub(r"[\s-]+", "_", name.strip().casefold()) in _MOVING


class NotJson(Exception):
    """The content is not a JSON object, so its keys cannot be reverted."""


class JsonConflict(Exception):
    """A key was changed again after the change to revert.

    Args:
        key: The path of keys, joined by ` / `.
        left_as: The value after the change, as JSON; None if the change removed it.
        now: The current value, as JSON; None if it is gone.
    """

    def __init__(self, key: str, left_as: object, now: object) -> None:
        super().__init__(key)
        self.key = key
        self.left_as = _shown(left_as)
        self.now = _shown(now)


def revert_json(
    before: bytes | None, after: bytes, now: bytes, *, only: Collection[str] | None
) -> bytes | None:
    """Return the file with a change to its keys reverted.

    Lists and scalars are single values. Bookkeeping that advanced since stays. The file keeps its indentation, its
    escapes and its final line end.

    Args:
        before: None if there was no file; the result is then None if nothing else is left.
        only: If given, revert only keys with these names, or below them.

    Raises:
        JsonConflict: A value was changed again.
        NotJson: A version is not a JSON object.
    """
    old = parse_json(before) if before is not None else ABSENT
    merged = _merge(old, parse_json(after), parse_json(now), (), only)
    if merged is ABSENT:
        return None if before is None else b"{}\n"
    return render_json(merged, now, before)


def changed_keys(before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """Return the innermost keys whose values differ, each as its path of keys joined by ` / `."""
    old = parse_json(before) if before is not None else {}
    new = parse_json(after) if after is not None else {}
    return tuple(_SEPARATOR.join(path) for path in _differing(old, new, ()))


def _differing(old: object, new: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    # Records that come or go with their container are named one by one, so that they can be told apart.
    if old is ABSENT and _holds_records(new):
        old = {}
    elif new is ABSENT and _holds_records(old):
        new = {}
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _differing(old.get(key, ABSENT), new.get(key, ABSENT), (*path, key))
    elif not is_same(old, new):
        yield path


def _holds_records(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(each, dict) for each in value.values())


def _merge(before: Any, after: Any, now: Any, path: tuple[str, ...], only: Collection[str] | None) -> Any:
    selected = only is None or any(_SEPARATOR.join(path[:n]) in only for n in range(1, len(path) + 1))
    if is_same(before, after) or is_same(now, before):
        return now
    if selected and is_same(now, after):
        return before
    if isinstance(after, dict) and isinstance(now, dict) and (before is ABSENT or isinstance(before, dict)):
        return _merge_objects(
            before if isinstance(before, dict) else {}, after, now, path, only, before is ABSENT
        )
    if not selected or (after is not ABSENT and now is ABSENT and before is ABSENT):
        return now
    if path and is_bookkeeping(path[-1]):
        return now
    raise JsonConflict(_SEPARATOR.join(path) or "the whole file", after, now)


def _merge_objects(
    before: dict[str, Any],
    after: dict[str, Any],
    now: dict[str, Any],
    path: tuple[str, ...],
    only: Collection[str] | None,
    created: bool,
) -> Any:
    merged: dict[str, Any] = {}
    for key, value in now.items():
        result = _merge(before.get(key, ABSENT), after.get(key, ABSENT), value, (*path, key), only)
        if result is not ABSENT:
            merged[key] = result
    for key in (k for k in {**before, **after} if k not in now):
        result = _merge(before.get(key, ABSENT), after.get(key, ABSENT), ABSENT, (*path, key), only)
        if result is not ABSENT:
            merged = _put_behind(merged, key, result, list(before))
    if created and all(is_bookkeeping(key) for key in merged):
        return ABSENT
    own = [key for key, value in merged.items() if not isinstance(value, dict) and not is_bookkeeping(key)]
    if created and own and only is None and not any(isinstance(value, dict) for value in after.values()):
        # Whatever remains of a record to be removed was added since.
        raise JsonConflict(_SEPARATOR.join(path), after, now)
    return merged


def _put_behind(merged: dict[str, Any], key: str, value: Any, order: list[str]) -> dict[str, Any]:
    """Put a key back after its former predecessor."""
    previous = next((k for k in reversed(order[: order.index(key)]) if k in merged), None)
    items = list(merged.items())
    position = list(merged).index(previous) + 1 if previous is not None else 0
    items.insert(position, (key, value))
    return dict(items)


def is_same(one: object, other: object) -> bool:
    """Return whether two values are written alike, or both are absent."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def parse_json(content: bytes) -> dict[str, Any]:
    """Return a file's object.

    Raises:
        NotJson: It is none.
    """
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error
    if not isinstance(value, dict):
        raise NotJson("not an object")
    return value


def render_json(value: object, like: bytes, before: bytes | None) -> bytes:
    """Format a value in a file's style; values unchanged from it, or from the version before, keep their source."""
    text = like.decode("utf-8-sig")
    indent = _INDENT.search(text)
    compact = indent is None and '": ' not in text
    ascii_only = text.isascii() and "\\u" in text
    if indent is None:
        separators = (",", ":") if compact else None
        rendered = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    else:
        files = [text] if before is None else [text, before.decode("utf-8-sig")]
        sources = [_sources(source.replace("\r\n", "\n")) for source in files]
        rendered = _written(value, (), indent.group(1), ascii_only, sources)
    tail = text[len(text.rstrip()) :]
    if "\r\n" in text:
        rendered = rendered.replace("\n", "\r\n")
    mark = "\ufeff" if like.startswith(b"\xef\xbb\xbf") else ""
    return (mark + rendered + tail).encode("utf-8", "surrogatepass")


def _written(
    value: Any,
    path: tuple[str, ...],
    indent: str,
    ascii_only: bool,
    sources: list[dict[tuple[str, ...], str]],
) -> str:
    for source in sources:
        known = source.get(path)
        if known is not None and is_same(json.loads(known), value):
            return known
    inner, outer = "\n" + indent * (len(path) + 1), "\n" + indent * len(path)
    if not isinstance(value, dict) or not value:
        written = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        return written.replace("\n", outer)
    members = (
        f"{json.dumps(key, ensure_ascii=ascii_only)}: "
        f"{_written(each, (*path, key), indent, ascii_only, sources)}"
        for key, each in value.items()
    )
    return "{" + inner + ("," + inner).join(members) + outer + "}"


def _sources(text: str) -> dict[tuple[str, ...], str]:
    """Return the source text of every value down to the records, by key path."""
    found: dict[tuple[str, ...], str] = {}
    decoder = json.JSONDecoder()

    def read(at: int, path: tuple[str, ...]) -> None:
        at = _past_blanks(text, at + 1)
        while text[at] == '"':
            key, at = decoder.raw_decode(text, at)
            at = _past_blanks(text, _past_blanks(text, at) + 1)
            value, end = decoder.raw_decode(text, at)
            found[*path, key] = text[at:end]
            if isinstance(value, dict) and len(path) < _RECORDS_DEPTH:
                read(at, (*path, key))
            at = _past_blanks(text, end)
            if text[at] != ",":
                return
            at = _past_blanks(text, at + 1)

    read(_past_blanks(text, 0), ())
    return found


def _past_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at


def _shown(value: object) -> str | None:
    if value is ABSENT:
        return None
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else text[:399] + "…"


def revert_scores(
    before: bytes | None, after: bytes, now: bytes, *, only: Collection[str] | None
) -> bytes | None:
    """Return the scores file with one change reverted, keeping every access counted since.

    Pins, archivings and other decisions that are still as the change left them are reset. The change's own
    accesses are subtracted, whatever was counted since. Folded and checked accesses stay.

    Args:
        before: None if there was no file; the result is then None if no entry is left.
        only: If given, revert only the keys with these names (see `changed_units`).

    Raises:
        JsonConflict: A value was changed again.
        NotJson: A version is broken, or more than entries was changed by hand.
    """
    old, new, current = (DecayScores.parse(content or b"") for content in (before, after, now))
    if any(each.problems for each in (old, new, current)):
        raise NotJson("not every entry can be read")
    if _by_hand(old) != _by_hand(new) and before is not None:
        raise NotJson("more than entries was changed")
    changes: dict[str, ScoreEntry | None] = {}
    for name in {**old.entries, **new.entries}:
        was, left_as, found = old.entries.get(name), new.entries.get(name), current.entries.get(name)
        if was != left_as:
            merged = _reverted(name, was, left_as, found, None if only is None else _keys_of(name, only))
            if merged != found:
                changes[name] = merged
    if any(
        each is not None and name in current.entries and not current.is_complete(name)
        for name, each in changes.items()
    ):
        raise NotJson("an entry was shortened by hand")
    if before is None and not current.entries.keys() - {key for key, each in changes.items() if each is None}:
        return None
    moved_on = current.last_updated != new.last_updated
    updated = None if moved_on or before is None or only is not None else old.last_updated or None
    return current.update(changes, last_updated=updated).render() if changes or updated else now


def withdraw_accesses(
    scores: bytes | None, transactions: Collection[str], *, item: str | None
) -> bytes | None:
    """Return the scores file without the accesses recorded by some changes.

    Args:
        transactions: Ids of the changes.
        item: If given, only the accesses from this item of the changes, and from no other that stays.
    """
    if scores is None:
        return None
    current = DecayScores.parse(scores)
    changes: dict[str, ScoreEntry | None] = {}
    for name, entry in current.entries.items():
        known = entry.accesses
        left = _without(known.changes, transactions, item)
        if left != known.changes:
            changes[name] = entry.with_accesses(replace(known, changes=left))
    return current.update(changes).render() if changes else scores


def drop_entries(scores: bytes | None, gone: Callable[[str], bool]) -> bytes | None:
    """Return the scores file without the entries of reverted memories.

    Args:
        gone: Returns True for the id of a reverted memory.
    """
    if scores is None:
        return None
    current = DecayScores.parse(scores)
    dropped = {name: None for name in current.entries if gone(name)}
    return current.update(dropped).render() if dropped else scores


def merge_scores(
    then: bytes | None,
    now: bytes | None,
    read: Callable[[str], bytes | None],
    transactions: Collection[str],
) -> bytes | None:
    """Return an earlier scores file with every later access of the memories that still exist.

    Later pins, archivings and accesses that belong to later changes are dropped.

    Args:
        then: The scores file at the moment to return to, None if there was none.
        read: Returns a file's content after the rollback, or None.
        transactions: Ids of the later changes.
    """
    if now is None or then == now:
        return then
    current, earlier = DecayScores.parse(now), DecayScores.parse(then or b"")
    restored: dict[str, ScoreEntry | None] = {}
    for name in {**earlier.entries, **current.entries}:
        was, found = earlier.entries.get(name), current.entries.get(name)
        stays = was is not None or memory_exists(name, read)
        restored[name] = _restored(was, found, transactions) if stays else None
    if then is None:
        if not any(restored.values()):
            return None
        changes = {name: each for name, each in restored.items() if each != current.entries[name]}
        return current.update(changes).render() if changes else now
    changes = {name: each for name, each in restored.items() if each != earlier.entries.get(name)}
    kept = {
        key: current.extra[key]
        for key in _WATERMARKS
        if key in current.extra and current.extra[key] != earlier.extra.get(key)
    }
    return earlier.update(changes, extra=kept).render() if changes or kept else then


def scores_of_file(path: str, then: bytes | None, now: bytes | None, content: bytes) -> bytes | None:
    """Return the current scores with the pins and archivings of one file's memories as they were then.

    Args:
        path: The restored file.
        then: The scores file of the commit to restore from.
        now: The current scores file.
        content: The restored file.
    """
    if now is None:
        return then
    own = named_by_id(path)

    def restored(other: str) -> bytes | None:
        return content if other == own else None

    return _with_earlier(
        then, now, lambda name: own in files_of_memory(name), lambda name: memory_exists(name, restored)
    )


def scores_of_memory(memory_id: str, then: bytes | None, now: bytes | None) -> bytes | None:
    """Return the current scores with the pins and archivings of one memory and its parts as they were then.

    Args:
        memory_id: The restored memory.
        then: The scores file of the commit to restore from.
        now: The current scores file.
    """
    parts = f"{memory_id}#^"
    return _with_earlier(then, now, lambda name: name == memory_id or name.startswith(parts), lambda _: True)


def _with_earlier(
    then: bytes | None, now: bytes | None, belongs: Callable[[str], bool], stays: Callable[[str], bool]
) -> bytes | None:
    current = DecayScores.parse(now or b"")
    earlier = DecayScores.parse(then or b"").entries
    changes: dict[str, ScoreEntry | None] = {}
    for name in filter(belongs, {**earlier, **current.entries}):
        found = current.entries.get(name)
        entry = _restored(earlier.get(name), found, ()) if name in earlier or stays(name) else None
        if entry != found:
            changes[name] = entry
    return current.update(changes).render() if changes else now


def _restored(
    then: ScoreEntry | None, now: ScoreEntry | None, transactions: Collection[str]
) -> ScoreEntry | None:
    """Return an earlier entry with the current accesses, except those recorded by some changes."""
    if now is None or then == now:
        return then
    known = now.accesses
    changes = _without(known.changes, transactions, None)
    if then is None:
        if _is_decided(now) or changes != known.changes:
            now = _undecided(now.with_accesses(replace(known, changes=changes)))
            return now if _is_accessed(now) else None
        return now
    was = then.accesses
    if len(known.changes) < MOST_CHANGES:
        # Reverted changes count again.
        changes = {**was.changes, **changes}
    return then.with_accesses(
        EntryAccesses(max(was.count, known.count), latest_moment(was.last, known.last), changes)
    )


def _reverted(
    name: str,
    before: ScoreEntry | None,
    after: ScoreEntry | None,
    now: ScoreEntry | None,
    only: frozenset[str] | None,
) -> ScoreEntry | None:
    if now == after and only is None:
        return before
    if now is None:
        return None
    if after is None:
        # It was dropped and has come back since.
        return now if before is None else _restored(before, now, ())
    was = before or _initial_entry(after)
    words = {each: _set_back(name, each, was, after, now, only) for each in _WORDS}
    extra = dict(now.extra)
    for key in dict.fromkeys(key for entry in (was, after) for key, _ in entry.extra):
        if key not in ACCESS_KEYS:
            value = _set_back(name, key, was, after, now, only)
            extra = {known: each for known, each in extra.items() if known != key}
            extra |= {} if value is None else {key: value}
    merged = replace(now, **words, extra=tuple(extra.items()))
    if only is None or not only.isdisjoint(_COUNTED):
        merged = merged.with_accesses(_subtracted(was.accesses, after.accesses, now.accesses))
    return merged if before is not None or _is_accessed(merged) or _is_decided(merged) else None


def _initial_entry(entry: ScoreEntry) -> ScoreEntry:
    """Return the initial entry of a memory: its text, and no decision."""
    if entry.access_count > 1:
        entry = entry.with_accesses(EntryAccesses(1, entry.created))
    return _undecided(entry)


def _undecided(entry: ScoreEntry) -> ScoreEntry:
    extra = tuple((key, value) for key, value in entry.extra if key != _ARCHIVED)
    status = _ACTIVE if entry.status == _ARCHIVED else entry.status
    return replace(entry, pinned=False, status=status, extra=extra)


def _set_back(
    name: str,
    key: str,
    before: ScoreEntry,
    after: ScoreEntry,
    now: ScoreEntry,
    only: frozenset[str] | None,
) -> Any:
    was, left_as, found = (
        dict(each.extra).get(key, getattr(each, key, None)) for each in (before, after, now)
    )
    if was in (left_as, found) or (only is not None and key not in only):
        return found
    if found != left_as and key not in _FOLLOWING:
        raise JsonConflict(f"entries / {name} / {key}", left_as, found)
    return was if found == left_as else found


def _keys_of(name: str, only: Collection[str]) -> frozenset[str] | None:
    """Return the keys of an entry to revert; None for all."""
    place = f"entries / {name}"
    if place in only or "entries" in only:
        return None
    inside = f"{place} / "
    return frozenset(
        each.removeprefix(inside).partition(" / ")[0] for each in only if each.startswith(inside)
    )


def _without(changes: Mapping[str, str], transactions: Collection[str], item: str | None) -> dict[str, str]:
    left: dict[str, str] = {}
    for change, time in changes.items():
        transaction, *items = change.split()
        if transaction not in transactions or (item is not None and item not in items):
            left[change] = time
        elif item is not None and (others := [each for each in items if each != item]):
            left[" ".join((transaction, *others))] = time
    return left


def _by_hand(scores: DecayScores) -> dict[str, Any]:
    return {key: value for key, value in scores.extra.items() if key not in _WATERMARKS}


def _subtracted(before: EntryAccesses, after: EntryAccesses, now: EntryAccesses) -> EntryAccesses:
    """Return the current accesses without those counted between before and after."""
    changes = {
        key: time for key, time in now.changes.items() if key in before.changes or key not in after.changes
    }
    changes |= {
        key: time for key, time in before.changes.items() if key not in after.changes and key not in changes
    }
    counted = after.count - before.count
    last = now.last
    if counted and now.count <= after.count and now.last == after.last:
        last = before.last
    return EntryAccesses(max(1, now.count - counted), last, changes)


def _is_decided(entry: ScoreEntry) -> bool:
    """Return True if the entry is pinned or archived."""
    return entry.pinned or entry.status == _ARCHIVED or bool(dict(entry.extra).get(_ARCHIVED))


def _is_accessed(entry: ScoreEntry) -> bool:
    """Return True if the memory was accessed after its creation."""
    return entry.access_count > 1
