"""What the scores file becomes when something is taken back: decisions go back, accesses made since stay."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from workbench.engine import layout
from workbench.engine.documents.decay_scores import (
    ACCESS_KEYS,
    MOST_CHANGES,
    DecayScores,
    EntryAccesses,
    ScoreEntry,
    latest,
)
from workbench.engine.errors import InvalidInput
from workbench.engine.history.json_revert import JsonConflict, NotJson
from workbench.engine.history.views import named_by_id
from workbench.engine.identifiers import EPISODE_ID, NOTE, MemoryId, parse_memory_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

_ARCHIVED: Final = "archived"
_ACTIVE: Final = "active"
_WATERMARKS: Final = ("folded", "checked")
_FOLLOWING: Final = ("current_score", "status")
"""Written along for people; they follow from the rest."""
_WORDS: Final = ("store", "base_relevance", "created", "type_weight", "pinned", *_FOLLOWING)
_COUNTED: Final = frozenset({"access_count", "last_accessed", *ACCESS_KEYS})


def revert_scores(
    before: bytes | None, after: bytes, now: bytes, *, only: Collection[str] | None = None
) -> bytes | None:
    """Return the scores file without what one change did to it, and with every access counted since.

    Pins, archivings and other words of an entry are set back where they are as the change left them. Counts lose
    what the change counted, whatever was counted since. What was folded and checked stays so.

    Args:
        before: None where there was no file; None is then returned when no entry is left.
        after: The file as the change left it.
        now: The file as it is.
        only: Where given, only the keys with these names are taken back (see `changed_units`).

    Raises:
        JsonConflict: A value was changed again since.
        NotJson: One of the versions is broken, or more than entries was changed by hand.
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
    scores: bytes | None, transactions: Collection[str], *, item: str | None = None
) -> bytes | None:
    """Return the scores file without the accesses that came with some changes of memory.

    Args:
        scores: The file, or None.
        transactions: Of the changes.
        item: Where given, only what came with this item of them, and with no other that stays.
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
    """Return the scores file without the entries of memories that went with what was taken back.

    Args:
        scores: The file, or None.
        gone: Tells of a memory, by its id, whether it did.
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
    transactions: Collection[str] = (),
) -> bytes | None:
    """Return the scores of then, with every access of a memory that still exists and that was counted since.

    What was pinned or archived only since goes back too, and so do accesses that came with a change since.

    Args:
        then: The scores file at the moment that is gone back to, None where there was none.
        now: The scores file as it is.
        read: Gives a file's content as it will be, or None.
        transactions: Of the changes since then.
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
    """Return the scores of now, with pins and archivings of the memories in one file as they were then.

    Args:
        path: The file that is restored.
        then: The scores file at the commit it is restored from.
        now: The scores file as it is.
        content: The restored file.
    """
    if now is None:
        return then
    current = DecayScores.parse(now)
    earlier = DecayScores.parse(then).entries if then is not None else {}

    def restored(other: str) -> bytes | None:
        return content if other == named_by_id(path) else None

    changes: dict[str, ScoreEntry | None] = {}
    for name in {**earlier, **current.entries}:
        if named_by_id(path) not in places_of(name):
            continue
        found = current.entries.get(name)
        stays = name in earlier or memory_exists(name, restored)
        entry = _restored(earlier.get(name), found, ()) if stays else None
        if entry != found:
            changes[name] = entry
    return current.update(changes).render() if changes else now


def scores_of_memory(memory_id: str, then: bytes | None, now: bytes | None) -> bytes | None:
    """Return the scores of now, with pins and archivings of one memory and its parts as they were then.

    Args:
        memory_id: Of the memory that is restored.
        then: The scores file at the commit it is restored from.
        now: The scores file as it is.
    """
    current = DecayScores.parse(now or b"")
    earlier = DecayScores.parse(then or b"").entries
    changes: dict[str, ScoreEntry | None] = {}
    for name in {**earlier, **current.entries}:
        if name != memory_id and not name.startswith(f"{memory_id}#^"):
            continue
        found = current.entries.get(name)
        entry = _restored(earlier.get(name), found, ())
        if entry != found:
            changes[name] = entry
    return current.update(changes).render() if changes else now


def _restored(
    then: ScoreEntry | None, now: ScoreEntry | None, transactions: Collection[str]
) -> ScoreEntry | None:
    """Return an entry as it was then, with the accesses of now but those that came with some changes since."""
    if now is None or then == now:
        return then
    known = now.accesses
    changes = _without(known.changes, transactions, None)
    if then is None:
        if _decided(now) or changes != known.changes:
            now = _undecided(now.with_accesses(replace(known, changes=changes)))
            return now if _is_accessed(now) else None
        return now
    was = then.accesses
    if len(known.changes) < MOST_CHANGES:
        # What was taken back since counts again.
        changes = {**was.changes, **changes}
    return then.with_accesses(
        EntryAccesses(max(was.count, known.count), latest(was.last, known.last), changes)
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
        # It was dropped, and has come again since.
        return now if before is None else _restored(before, now, ())
    was = before or _begun(after)
    words = {each: _set_back(name, each, was, after, now, only) for each in _WORDS}
    extra = dict(now.extra)
    for key in dict.fromkeys(key for entry in (was, after) for key, _ in entry.extra):
        if key not in ACCESS_KEYS:
            value = _set_back(name, key, was, after, now, only)
            extra = {known: each for known, each in extra.items() if known != key}
            extra |= {} if value is None else {key: value}
    merged = replace(now, **words, extra=tuple(extra.items()))
    if only is None or not only.isdisjoint(_COUNTED):
        merged = merged.with_accesses(_less(was.accesses, after.accesses, now.accesses))
    return merged if before is not None or _is_accessed(merged) or _decided(merged) else None


def _begun(entry: ScoreEntry) -> ScoreEntry:
    """Return the entry that a memory would have had before one was made for it: its text, and no decision."""
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
    """Return which keys of an entry are meant; None where all are."""
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


def _less(before: EntryAccesses, after: EntryAccesses, now: EntryAccesses) -> EntryAccesses:
    """Return the accesses of now without those that were counted between before and after."""
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


def _decided(entry: ScoreEntry) -> bool:
    """Return True where somebody pinned or archived the memory, which is more than counting its accesses."""
    return entry.pinned or entry.status == _ARCHIVED or bool(dict(entry.extra).get(_ARCHIVED))


def _is_accessed(entry: ScoreEntry) -> bool:
    """Return True where the memory was accessed since it was made."""
    return entry.access_count > 1


def memory_exists(name: str, read: Callable[[str], bytes | None]) -> bool:
    """Tell whether a memory stands in its file; what cannot be looked up by its id counts as there."""
    places = places_of(name)
    if not places:
        return True
    memory = parse_memory_id(name)
    contents = [content for content in map(read, places) if content is not None]
    if memory.block is not None and contents:
        return any(f"^{memory.block}".encode() in content for content in contents)
    episode = EPISODE_ID.match(name)
    if episode:
        number = f" #{episode.group(3)}" if episode.group(3) else "(?! #)"
        heading = re.compile(rf"^##\s+{episode.group(2)}{number}(?!\d)".encode(), re.MULTILINE)
        return any(heading.search(content) for content in contents)
    # A note is found by its name alone, which its id does not tell.
    return bool(contents) or (memory.kind == "entity" and memory.name.startswith(f"{NOTE}--"))


def places_of(name: str) -> tuple[str, ...]:
    """Return the files that a memory can be in, by its id; none where that cannot be told."""
    try:
        memory = parse_memory_id(name)
    except InvalidInput:
        return ()
    return _files_of(memory)


def _files_of(memory: MemoryId) -> tuple[str, ...]:
    match memory.kind:
        case "entity":
            return (f"{layout.ENTITIES}/{memory.name}.md",)
        case "procedure":
            return (f"{layout.PROCEDURES}/{memory.name}.md",)
        case "vault":
            name = memory.name.removeprefix(f"{layout.VAULT}/")
            return (f"{layout.VAULT}/{name}", f"{layout.VAULT}/{name}.md")
        case "episode":
            return (f"{layout.EPISODES}/{memory.name[:10]}.md",)
        case "core":
            return (layout.CORE,)
        case _:
            return ()
