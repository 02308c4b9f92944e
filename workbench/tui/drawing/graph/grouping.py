"""Decides which entities get a box of their own and which share one, where there are too many for the space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.drawing.graph.ties import APART, BOTH
from workbench.tui.drawing.graph.tree import Group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.drawing.graph.ties import Ties

# The share of the boxes that the first ring may take where there is a second one.
_FIRST_RING = 0.6
_OTHERS = "*"
# Follows the count in the key of what hangs on the entities of a group.
_BEYOND = "+"


def whole(ties: Ties) -> dict[str, Sequence[str | Group]]:
    """Return what hangs on each entity with a box for every one; the same relations stand together."""
    return {inner: _together(ties, inner, outer) for inner, outer in ties.children.items()}


def _together(ties: Ties, inner: str, outer: Sequence[str]) -> tuple[str, ...]:
    kinds: dict[object, list[str]] = {}
    for id_ in outer:
        kinds.setdefault(ties.words_between(inner, id_), []).append(id_)
    return tuple(id_ for ids in kinds.values() for id_ in ids)


def grouped(ties: Ties, boxes: int) -> dict[str, Sequence[str | Group]]:
    """Return what hangs on each entity that gets a box, in about `boxes` boxes beside the centre’s.

    The centre’s neighbours share a box by relation and direction; the most relevant ones stay single. What hangs
    on any other entity shares one box, likewise.
    """
    classes = _classes_of_centre(ties, boxes)
    single = {name: 1 if len(members) == 1 else 0 for name, members in classes.items()}
    children = ties.children
    class_of = {id_: name for name, members in classes.items() for id_ in members}
    cost = sum(1 + (any(children[id_] for id_ in members)) for members in classes.values())
    deeper = any(children[id_] for id_ in children[ties.center])
    for id_ in children[ties.center]:
        name = class_of[id_]
        members = classes[name]
        if id_ not in members[single[name] :]:
            continue
        cost += 1 + bool(children[id_])
        if cost > boxes * (_FIRST_RING if deeper else 1):
            break
        single[name] += 1
        if len(members) - single[name] == 1:
            single[name] += 1
    shown: dict[str, Sequence[str | Group]] = {}
    ring: list[str] = []
    hung: list[str | Group] = []
    for name, members in classes.items():
        kept = members[: single[name]]
        ring.extend(kept)
        hung.extend(kept)
        if len(kept) < len(members):
            hung.append(_group(ties, ties.center, name, len(kept), members))
    shown[ties.center] = hung
    room = boxes - len(hung) - sum(1 for each in hung if isinstance(each, Group) and each.under)
    _fill_outer_rings(ties, shown, ring, room)
    return shown


def _fill_outer_rings(
    ties: Ties, shown: dict[str, Sequence[str | Group]], ring: list[str], room: int
) -> None:
    """Show what hangs on the entities of a ring, one more of each in turn while there is room."""
    while ring:
        kept = {id_: 0 for id_ in ring if ties.children[id_]}
        room -= len(kept)
        growing = True
        while growing and room > 0:
            growing = False
            for id_, count in kept.items():
                left = len(ties.children[id_]) - count
                if left > 1 and room > 0:
                    kept[id_] = count + (2 if left == 2 else 1)
                    room -= 1
                    growing = True
        outer: list[str] = []
        for id_, count in kept.items():
            members = ties.children[id_]
            if len(members) - count == 1:
                count += 1
            singles = members[:count]
            rest = [] if count == len(members) else [_group(ties, id_, _OTHERS, count, members)]
            shown[id_] = [*singles, *rest]
            outer.extend(singles)
        ring = outer


def members_of(ties: Ties, key: str) -> tuple[str, ...]:
    """Return the ids that a group’s key stands for; none where it is no such key."""
    kind, count, rest = (*key.split(":", 2), "", "")[:3]
    beyond = count.endswith(_BEYOND)
    count = count.removesuffix(_BEYOND)
    if kind != "group" or not count.isascii() or not count.isdigit() or not ties.center:
        return ()
    inner, _, name = rest.partition("|")
    if inner not in ties.nodes:
        return ()
    if inner != ties.center:
        members: Sequence[str] = ties.children[inner] if name == _OTHERS else ()
    elif name.startswith(_OTHERS):
        kept = name.removeprefix(_OTHERS)
        members = _rest(_classes(ties), int(kept)) if kept.isascii() and kept.isdigit() else ()
    else:
        members = _classes(ties).get(name, ())
    found = tuple(members[int(count) :])
    return ties.beyond(found) if beyond else found


def same_group(key: str, keys: Sequence[str]) -> str:
    """Return the one of some keys that names the same group with another number of single ones, or nothing."""
    wanted = _parts(key)
    return next((each for each in keys if wanted and _parts(each) == wanted), "")


def _parts(key: str) -> tuple[bool, str] | None:
    """Return what a group’s key says but for the count, or None."""
    kind, count, rest = (*key.split(":", 2), "", "")[:3]
    return (count.endswith(_BEYOND), rest) if kind == "group" else None


def _classes(ties: Ties) -> dict[str, tuple[str, ...]]:
    """Sort the centre’s neighbours by direction and relation; the most relevant first in each class and of classes."""
    found: dict[str, list[str]] = {}
    for id_ in ties.children[ties.center]:
        direction = ties.direction(ties.center, id_)
        there, back = ties.words_between(ties.center, id_)
        found.setdefault(direction + ", ".join((*there, *back)), []).append(id_)
    return {name: tuple(members) for name, members in found.items()}


def _rest(classes: dict[str, tuple[str, ...]], kept: int) -> tuple[str, ...]:
    return tuple(id_ for members in list(classes.values())[kept:] for id_ in members)


def _classes_of_centre(ties: Ties, boxes: int) -> dict[str, tuple[str, ...]]:
    """Return the classes, the last of them thrown together where there are more than half of the boxes."""
    classes = _classes(ties)
    most = max(1, boxes // 2)
    if len(classes) <= most:
        return classes
    kept = dict(list(classes.items())[: most - 1])
    return {**kept, f"{_OTHERS}{len(kept)}": _rest(classes, len(kept))}


def _group(ties: Ties, inner: str, name: str, count: int, members: Sequence[str]) -> Group:
    rest = tuple(members[count:])
    key, key_beyond = f"group:{count}:{inner}|{name}", f"group:{count}{_BEYOND}:{inner}|{name}"
    kinds = {(ties.direction(inner, id_), ties.words_between(inner, id_)) for id_ in rest}
    directions = {direction for direction, _ in kinds}
    direction = directions.pop() if len(directions) == 1 else BOTH
    if len(kinds) == 1 and direction != APART:
        there, back = next(iter(kinds))[1]
        label = f"{len(rest)} × {', '.join((*there, *back))}"
    else:
        label = f"{len(rest)} apart" if direction == APART else f"{len(rest)} more"
    under = ties.beyond(rest)
    further = (
        Group(key_beyond, _direction_under(ties, rest), f"{len(under)} beyond", under) if under else None
    )
    return Group(key, direction, label, rest, further)


def _direction_under(ties: Ties, inner: Sequence[str]) -> str:
    directions = {ties.direction(id_, child) for id_ in inner for child in ties.children[id_]}
    if len(directions) == 1:
        return directions.pop()
    return BOTH
