"""What ties the entities of a view together, and which of them share a box where there are too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.display.cells import plain
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.results.graph import GraphNode, GraphView

OUTWARD, INWARD, BOTH, APART = ">", "<", "=", "-"


@dataclass(frozen=True)
class Ties:
    """A view, read for drawing.

    Args:
        nodes: Entities by id, each once.
        center: Id of the centre; empty where there is no entity at all.
        words: What the relations from one entity to another are called, safe and each once.
    """

    nodes: dict[str, GraphNode]
    center: str
    words: dict[tuple[str, str], tuple[str, ...]]

    def words_between(self, inner: str, outer: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what the relations are called from an entity to another, and back."""
        return self.words.get((inner, outer), ()), self.words.get((outer, inner), ())

    def direction(self, inner: str, outer: str) -> str:
        """Return whether relations lead outward, inward or both ways between two entities, or are not there."""
        there, back = self.words_between(inner, outer)
        if there and back:
            return BOTH
        return OUTWARD if there else INWARD if back else APART

    @cached_property
    def neighbours(self) -> dict[str, list[str]]:
        """The entities that each one is related to, either way, without itself."""
        found: dict[str, list[str]] = {each: [] for each in self.nodes}
        for from_, to in self.words:
            if from_ != to:
                found[from_].append(to)
                if (to, from_) not in self.words:
                    found[to].append(from_)
        return found

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """A tree over all entities, the most relevant first; what nothing leads to hangs on the centre, last."""
        if not self.center:
            return {}
        grown: dict[str, tuple[str, ...]] = {}
        reached = {self.center}
        ring = [self.center]
        while ring:
            outer: list[str] = []
            for each in ring:
                fresh = [other for other in self.neighbours[each] if other not in reached]
                grown[each] = tuple(sorted(fresh, key=self.relevance))
                reached.update(fresh)
                outer.extend(grown[each])
            ring = outer
        apart = sorted((each for each in self.nodes if each not in reached), key=self.relevance)
        grown.update(dict.fromkeys(apart, ()))
        grown[self.center] += tuple(apart)
        return grown

    @cached_property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """The centre’s neighbours by direction and relation; the most relevant come first in a class and of classes."""
        found: dict[str, list[str]] = {}
        for id_ in self.children[self.center]:
            there, back = self.words_between(self.center, id_)
            name = self.direction(self.center, id_) + ", ".join((*there, *back))
            found.setdefault(name, []).append(id_)
        return {name: tuple(members) for name, members in found.items()}

    def relevance(self, id_: str) -> tuple[float, str, str]:
        """Return what entities are sorted by: the highest score first."""
        node = self.nodes[id_]
        return (-node.score, node.label.casefold(), id_)

    def beyond(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Return all that hangs on some entities, near before far."""
        found: list[str] = []
        ring: list[str] = list(ids)
        while ring:
            ring = [child for each in ring for child in self.children[each]]
            found.extend(ring)
        return tuple(found)


def read_ties(view: GraphView) -> Ties:
    """Read a view for drawing; a relation with an end that is not among the entities is left out."""
    nodes: dict[str, GraphNode] = {}
    for node in view.nodes:
        nodes.setdefault(node.id, node)
    center = view.center if view.center in nodes else next(iter(nodes), "")
    words: dict[tuple[str, str], dict[str, None]] = {}
    for edge in view.edges:
        if edge.from_ in nodes and edge.to in nodes:
            words.setdefault((edge.from_, edge.to), {})[plain(edge.relation).strip()] = None
    return Ties(nodes, center or "", {pair: tuple(each) for pair, each in words.items()})


# The share of the boxes that the first ring may take where there is a second one.
_FIRST_RING = 0.6
_OTHERS = "*"


@dataclass(frozen=True, slots=True)
class Group:
    """A box that stands for several entities.

    Args:
        direction: How they are related to the box that they hang on.
        beyond: How many entities hang on these in turn.
    """

    key: str
    direction: str
    name: str
    beyond: int = 0


Shown = Mapping[str, Sequence[str | Group]]


def whole(ties: Ties) -> Shown:
    """Return what hangs on each entity with a box for every one; the same relations stand together."""
    return {inner: _together(ties, inner, outer) for inner, outer in ties.children.items()}


def _together(ties: Ties, inner: str, outer: Sequence[str]) -> tuple[str, ...]:
    kinds: dict[object, list[str]] = {}
    for id_ in outer:
        kinds.setdefault(ties.words_between(inner, id_), []).append(id_)
    return tuple(id_ for ids in kinds.values() for id_ in ids)


def grouped(ties: Ties, boxes: int) -> Shown:
    """Return what hangs on each entity that gets a box, in about `boxes` boxes beside the centre’s.

    The centre’s neighbours share a box by relation and direction; the most relevant ones stay single. What hangs
    on any other entity shares one box, likewise.
    """
    classes = _classes_of_centre(ties, boxes)
    single = {name: 1 if len(members) == 1 else 0 for name, members in classes.items()}
    children = ties.children
    class_of = {id_: name for name, members in classes.items() for id_ in members}
    rank = {id_: at for members in classes.values() for at, id_ in enumerate(members)}
    relevance = {id_: at for at, id_ in enumerate(children[ties.center])}
    cost = sum(1 + (len(members) == 1 and bool(children[members[0]])) for members in classes.values())
    deeper = any(children[id_] for id_ in children[ties.center])
    # Each kind in turn, so that none takes all the room.
    for id_ in sorted(children[ties.center], key=lambda id_: (rank[id_], relevance[id_])):
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
    _fill_outer_rings(ties, shown, ring, boxes - len(hung))
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


def hidden_relations(ties: Ties, shown: Shown) -> int:
    """Return how many relations are neither drawn, nor told in a box, nor meant by a group."""
    single = {ties.center, *(each for hung in shown.values() for each in hung if isinstance(each, str))}
    meant = {frozenset((inner, outer)) for inner, hung in ties.children.items() for outer in hung}
    return sum(
        len(words)
        for pair, words in ties.words.items()
        if frozenset(pair) not in meant and not single.issuperset(pair)
    )


def members_in(ties: Ties, key: str) -> tuple[str, ...]:
    """Return the ids that a group’s key stands for, and then of all that hangs on them; none for any other key."""
    parts = _parts(key)
    if parts is None or not ties.center:
        return ()
    count, inner, name = parts
    if inner not in ties.nodes:
        return ()
    members: Sequence[str] = ()
    if inner != ties.center:
        members = ties.children[inner] if name == _OTHERS else ()
    elif name.startswith(_OTHERS):
        kept = name.removeprefix(_OTHERS)
        members = _rest(ties.classes, int(kept)) if kept.isascii() and kept.isdigit() else ()
    else:
        members = ties.classes.get(name, ())
    found = tuple(members[count:])
    return (*found, *ties.beyond(found))


def same_group(key: str, keys: Sequence[str]) -> str:
    """Return the one of some keys that names the same group with another number of single ones, or nothing."""
    wanted = _parts(key)
    return next((each for each in keys if wanted and (_parts(each) or ())[1:] == wanted[1:]), "")


def _parts(key: str) -> tuple[int, str, str] | None:
    """Return what a group’s key says: how many of its kind are single, whose neighbours they are, and the kind."""
    kind, count, rest = (*key.split(":", 2), "", "")[:3]
    if kind != "group" or not count.isascii() or not count.isdigit():
        return None
    inner, _, name = rest.partition("|")
    return int(count), inner, name


def _rest(classes: dict[str, tuple[str, ...]], kept: int) -> tuple[str, ...]:
    return tuple(id_ for members in list(classes.values())[kept:] for id_ in members)


def _classes_of_centre(ties: Ties, boxes: int) -> dict[str, tuple[str, ...]]:
    """Return the classes, the last of them thrown together where there are more than half of the boxes."""
    classes = ties.classes
    most = max(1, boxes // 2)
    if len(classes) <= most:
        return classes
    kept = dict(list(classes.items())[: most - 1])
    return {**kept, f"{_OTHERS}{len(kept)}": _rest(classes, len(kept))}


def _group(ties: Ties, inner: str, name: str, count: int, members: Sequence[str]) -> Group:
    rest = tuple(members[count:])
    # All of a class are of one kind; only what is thrown together may be of several.
    told = rest if name.startswith(_OTHERS) else rest[:1]
    kinds = {(ties.direction(inner, id_), ties.words_between(inner, id_)) for id_ in told}
    directions = {direction for direction, _ in kinds}
    direction = directions.pop() if len(directions) == 1 else BOTH
    if direction == APART:
        label = f"{len(rest)} apart"
    elif len(kinds) == 1:
        there, back = next(iter(kinds))[1]
        label = f"{len(rest)} × {', '.join((*there, *back))}"
    else:
        label = f"{len(rest)} more"
    return Group(f"group:{count}:{inner}|{name}", direction, label, len(ties.beyond(rest)))
