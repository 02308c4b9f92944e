"""`memory/graph/relations.md`, the vocabulary of relations, and `index.md`, the tables of entities and edges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple, replace
from functools import cache
from typing import Final

from workbench.engine.errors import InvalidInput
from workbench.engine.markdown.markup import (
    one_line,
    outermost_items,
)
from workbench.engine.markdown.outline import read_headings, read_outline
from workbench.engine.markdown.source import Problem, Problems, SourceText, load_template
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_TYPE: Final = lazy_pattern(r"`([^`\n]+)`(?:\s*/\s*`([^`\n]+)`)?\s*(?:[—–-]+\s*(.*))?$", re.DOTALL)
# Two names on one line are the two directions of an edge, except for opposites.
_OPPOSITES: Final = frozenset({"confident-about", "uncertain-about"})

_TEMPLATE: Final = "memory/graph/relations.md"

_HEAD: Final = """# Semantic Graph Index

<!-- Generated from the entity files. Manual edits will be overwritten. -->

## Entity Registry
| ID | Type | Label | File | Decay Score |
|----|------|-------|------|-------------|
"""
_MIDDLE: Final = """
## Edges
| From | Relation | To | Confidence | First Seen | Last Accessed |
|------|----------|----|------------|------------|---------------|
"""
_CELLS: Final = lazy_pattern(r"(?:[^|\\]|\\.)*", re.DOTALL)
_ESCAPE: Final = lazy_pattern(r"\\([\\|])")


@dataclass(frozen=True, slots=True)
class RelationType:
    """One kind of edge.

    Args:
        name: In canonical form, `part-of`.
        inverse: Its name when read from the target, or None.
        line: Its line in the file, 0 for the built-in vocabulary.
    """

    name: str
    inverse: str | None
    line: int


@dataclass(frozen=True)
class RelationVocabulary:
    """The relation types of a workspace: those of design document §6.3 and the additions in its file."""

    path: str
    source: SourceText
    types: tuple[RelationType, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/graph/relations.md") -> RelationVocabulary:
        """Parse the file; empty content gives the built-in vocabulary."""
        source = SourceText.from_bytes(content)
        problems = Problems(path)
        types = _read(source, problems)
        named = {name for kind in types for name in (kind.name, kind.inverse) if name}
        built_in = [kind for kind in _built_in() if kind.name not in named]
        return cls(path, source, (*types, *built_in), tuple(problems.found))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def find(self, name: str) -> RelationType | None:
        """Return a type by its name or its inverse's, ignoring case, spaces and underscores (`Part of`)."""
        wanted = canonical_relation(name)
        exact = (kind for kind in self.types if kind.name == wanted)
        return next(exact, None) or next((kind for kind in self.types if kind.inverse == wanted), None)

    def inverse_of(self, name: str) -> str | None:
        """Return the name of the inverse (`used-by` for `uses`), or None."""
        kind = self.find(name)
        if kind is None or kind.inverse is None:
            return None
        return kind.inverse if kind.name == canonical_relation(name) else kind.name

    def add(self, name: str) -> RelationVocabulary:
        """Add a relation without an inverse, unless it is known. Raises `InvalidInput` for an empty name."""
        wanted = canonical_relation(name)
        if not wanted:
            raise InvalidInput(
                "A relation needs a name.", where=self.path, remedy="Use words, for example works-at."
            )
        if self.find(wanted) is not None:
            return self
        new = RelationType(wanted, None, len(self.source.lines))
        built_in = [kind for kind in self.types if not kind.line] if self.source.lines else []
        own = self.types[: len(self.types) - len(built_in)]
        return replace(self, types=(*own, new, *built_in))


def canonical_relation(name: str) -> str:
    """Return a relation's canonical name: lower case, words joined by `-`."""
    return "-".join(re.findall(r"\w+", name.casefold().replace("_", " ")))


@cache
def _built_in() -> tuple[RelationType, ...]:
    source = SourceText.from_bytes(load_template(_TEMPLATE))
    return tuple(replace(kind, line=0) for kind in _read(source, Problems(_TEMPLATE)))


def _read(source: SourceText, problems: Problems) -> list[RelationType]:
    outline = read_outline(source)
    types: list[RelationType] = []
    seen: set[str] = set()
    for item in outermost_items(outline, source.span):
        match = _TYPE.match(item.text)
        names = [canonical_relation(name) for name in match.groups()[:2] if name] if match else []
        if not match or not all(names):
            problems.add(
                item.span.start,
                "This line names no relation.",
                "Write it as - `name` / `inverse` — what it means.",
            )
            continue
        if names[0] in seen:
            problems.add(
                item.span.start,
                f"There is a second definition of the relation `{names[0]}`; the first counts.",
                "Delete one of the two lines.",
            )
            continue
        if _OPPOSITES.issuperset(names):
            types.extend(RelationType(name, None, item.span.start) for name in names)
        else:
            inverse = names[1] if len(names) > 1 else None
            types.append(RelationType(names[0], inverse, item.span.start))
        seen.update(names)
    return types


@dataclass(frozen=True, slots=True)
class IndexedEntity:
    """One row of the registry; `score` as written (`0.95`, `1.00 (pinned)`)."""

    id: str
    type: str
    label: str
    file: str
    score: str


@dataclass(frozen=True, slots=True)
class IndexedEdge:
    """One row of the edges; dates are ISO, empty if unknown."""

    from_: str
    relation: str
    to: str
    confidence: str
    first_seen: str
    last_accessed: str


def read_graph_index(content: bytes) -> tuple[list[IndexedEntity], list[IndexedEdge]]:
    """Return the rows of the file. Any bytes are accepted; what is no row is passed over."""
    source = SourceText.from_bytes(content)
    entities: list[IndexedEntity] = []
    edges: list[IndexedEdge] = []
    for heading in read_headings(source):
        words = heading.text.casefold()
        wanted = 5 if "entit" in words else 6 if "edge" in words else 0
        rows = wanted and heading.level > 1
        for number in range(heading.body.start, heading.body.end + 1) if rows else ():
            line = source.line(number)
            if not line.lstrip().startswith("|") or not line.strip(" \t|:-"):
                continue
            cells = _cells(line)
            if cells[0] in ("ID", "From") or len(cells) != wanted:
                continue
            if wanted == 5:
                entities.append(IndexedEntity(*cells))
            else:
                edges.append(IndexedEdge(*cells))
    return entities, edges


def render_graph_index(entities: Iterable[IndexedEntity], edges: Iterable[IndexedEdge]) -> bytes:
    """Format the whole file, rows sorted by id, so that equal graphs give equal bytes."""
    rows = sorted(_row(astuple(entity)) for entity in entities)
    links = sorted(_row(astuple(edge)) for edge in edges)
    text = _HEAD + "".join(f"{row}\n" for row in rows) + _MIDDLE + "".join(f"{row}\n" for row in links)
    return text.encode("utf-8", "replace")


def update_graph_index(
    content: bytes, entity_id: str, entity: IndexedEntity | None, edges: Iterable[IndexedEdge]
) -> bytes:
    """Update one entity's row and the edges from it, leaving the rest.

    Args:
        content: A file written by `render_graph_index`; any other is replaced by one with only the given rows.

    Returns:
        The same bytes as rendering the whole changed graph.
    """
    head, middle = _HEAD.encode(), _MIDDLE.encode()
    at = content.find(middle, len(head))
    if not content.startswith(head) or at < 0 or not content.endswith(b"\n"):
        rows, links = read_graph_index(content)
        return render_graph_index(
            [row for row in rows if row.id != entity_id] + ([entity] if entity else []),
            [link for link in links if link.from_ != entity_id] + list(edges),
        )
    new = [_row(astuple(entity))] if entity else []
    prefix = f"| {_escaped(entity_id)} |".encode("utf-8", "replace")
    # From the end, so that earlier positions stay valid.
    content = _replaced(
        content, at + len(middle), len(content), prefix, [_row(astuple(edge)) for edge in edges]
    )
    return _replaced(content, len(head), at, prefix, new)


def _replaced(content: bytes, start: int, end: int, prefix: bytes, new: list[str]) -> bytes:
    """Replace the rows with a prefix, among the sorted rows between two offsets."""
    first = _first_not_before(content, start, end, prefix)
    last = first
    while last < end and content.startswith(prefix, last):
        last = content.index(b"\n", last) + 1
    rows = b"".join(sorted(f"{row}\n".encode("utf-8", "replace") for row in new))
    return content if content[first:last] == rows else b"".join((content[:first], rows, content[last:]))


def _first_not_before(content: bytes, start: int, end: int, wanted: bytes) -> int:
    """Return the offset of the first sorted line that is not before the wanted one."""
    while start < end:
        middle = (content.rfind(b"\n", start, (start + end) // 2) + 1) or start
        following = content.index(b"\n", middle) + 1
        if content[middle:following] < wanted:
            start = following
        else:
            end = middle
    return start


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(cell: str) -> str:
    return one_line(cell).replace("\\", "\\\\").replace("|", "\\|")


def _cells(line: str) -> list[str]:
    inner = line.strip()[1:]
    found: list[str] = []
    at = 0
    while at < len(inner):
        match = _CELLS.match(inner, at)
        end = match.end() if match else at
        found.append(_ESCAPE.sub(r"\1", inner[at:end].strip(" \t")))
        at = end + 1
    return found or [""]
