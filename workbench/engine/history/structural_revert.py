"""Takes one change of a file back out of what the file has become since, by units instead of text hunks."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import Stale
from workbench.engine.history.document_units import take_apart, unit_name
from workbench.engine.history.json_revert import JsonConflict, NotJson, changed_keys, revert_json
from workbench.engine.history.scores_rollback import revert_scores
from workbench.engine.history.unit_matching import match_units, moved_units
from workbench.engine.history.unit_revert import Conflict, UnitRevert

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_SHOWN = 400


def revert_content(
    path: str,
    before: bytes | None,
    after: bytes | None,
    now: bytes | None,
    *,
    only: Collection[str] | None = None,
) -> bytes | None:
    """Return a file without what one change did to it, and with everything that was done since.

    What the change added is removed, what it removed is put back behind what it stood behind, and what it
    changed or moved is set back, each provided that it still is as the change left it. A heading that the
    change added stays while something stands under it. Dates and counters of a file's own bookkeeping
    (`Last updated` and the like) that moved on are left alone.

    Args:
        path: Workspace-relative; its ending decides the structure (.md, .json, else lines as in TOML).
        before: The file before the change; None where there was none.
        after: The file as the change left it; None where it was deleted.
        now: The file as it is.
        only: Where given, only the units with these names (see `changed_units`) are taken back.

    Returns:
        The content, or None where there shall be no file.

    Raises:
        Stale: A unit was changed again since; the message names it and gives both versions.
    """
    content, conflicts = try_revert(path, before, after, now, only=only)
    if conflicts:
        raise stale(path, conflicts)
    return content


def try_revert(
    path: str,
    before: bytes | None,
    after: bytes | None,
    now: bytes | None,
    *,
    only: Collection[str] | None = None,
) -> tuple[bytes | None, tuple[Conflict, ...]]:
    """As `revert_content`, but give the conflicts back instead of raising; the content is then `now`."""
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
            return now, (Conflict(conflict.key, conflict.left_as, conflict.now),)
        except NotJson:
            pass  # A broken file still has lines.
    return UnitRevert(before, after, now, markdown=path.endswith(".md"), only=only).run()


def stale(path: str, conflicts: Sequence[Conflict]) -> Stale:
    """Return the error that names the first of the conflicts, with both versions."""
    first, *others = conflicts
    more = f" ({len(others)} more like it)" if others else ""
    left_as = f"left it “{first.left_as}”" if first.left_as is not None else "removed it"
    now = f"now it is “{first.now}”" if first.now is not None else "now it is gone"
    return Stale(
        f"{first.unit} was changed again since: the change {left_as}, {now}{more}.",
        where=path,
        remedy="Revert the later change first, or edit the file to what it should say.",
    )


def changed_units(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """Name the units that a change added, changed, moved or removed.

    These are the names that `only` and the `Item-Unit:` trailers take: a block id (`^f7k2`), else the unit's
    first line under its section (`Facts / - Likes tea`), as it was and as it became; for JSON and TOML the
    keys on the way (`entries / entity:person--alex / pinned`).
    """
    if before == after:
        return ()
    if path.endswith(".json"):
        try:
            return changed_keys(before, after)
        except NotJson:
            pass  # A broken file still has lines.
    markdown = path.endswith(".md")
    old = take_apart(before or b"", markdown=markdown).units
    new = take_apart(after or b"", markdown=markdown).units
    pairs = match_units(old, new)
    moved, paired = moved_units(old, new, pairs), set(pairs.values())
    names = [unit_name(unit) for j, unit in enumerate(new) if j not in paired]
    for i, unit in enumerate(old):
        if i not in pairs:
            names.append(unit_name(unit))
        elif i in moved or unit.meaning != new[pairs[i]].meaning:
            # Beside other changes the two may no longer be found to be one unit; then each is taken back.
            names += [unit_name(new[pairs[i]]), unit_name(unit)]
    return tuple(dict.fromkeys(names))


def is_scaffold(path: str, unit: str) -> bool:
    """Tell whether the name of a unit is that of a heading or comment, or of a value that stands above the records.

    Such a unit came for the sake of what stands below it; a revert removes it where it is bare.
    """
    if path.endswith(".json"):
        return " / " not in unit
    return unit.rpartition(" / ")[2].startswith(("#", "<!--"))


def _shown(content: bytes) -> str:
    text = content.decode("utf-8", "replace").strip()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
