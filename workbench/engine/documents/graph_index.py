"""`memory/graph/index.md`: the tables of entities and edges, a projection of the entity files."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

from workbench.engine.documents.items import one_line
from workbench.engine.documents.outline import read_headings
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.source import SourceText

if TYPE_CHECKING:
    from collections.abc import Iterable

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
_CELLS: Final = re.compile(r"(?:[^|\\]|\\.)*", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\([\\|])")


@dataclass(frozen=True, slots=True)
class IndexedEntity:
    """One row of the registry; `score` is shown as written (`0.95`, `1.00 (pinned)`)."""

    id: str
    type: str
    label: str
    file: str
    score: str


@dataclass(frozen=True, slots=True)
class IndexedEdge:
    """One row of the edges; dates are ISO, empty where unknown."""

    from_: str
    relation: str
    to: str
    confidence: str
    first_seen: str
    last_accessed: str


@dataclass(frozen=True)
class GraphIndex:
    """The index as read."""

    path: str
    entities: tuple[IndexedEntity, ...]
    edges: tuple[IndexedEdge, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/graph/index.md") -> GraphIndex:
        """Read the file. Any bytes will do; a row that cannot be read is a problem."""
        source = SourceText.from_bytes(content)
        entities: list[IndexedEntity] = []
        edges: list[IndexedEdge] = []
        problems: list[Problem] = []
        for heading in read_headings(source):
            words = heading.text.casefold()
            wanted = 5 if "entit" in words else 6 if "edge" in words else 0
            rows = wanted and heading.level > 1
            for number in range(heading.body.start, heading.body.end + 1) if rows else ():
                line = source.line(number)
                if not line.lstrip().startswith("|") or not line.strip(" \t|:-"):
                    continue
                cells = _cells(line)
                if cells[0] in ("ID", "From"):
                    continue
                if len(cells) != wanted:
                    problems.append(
                        Problem(
                            path,
                            number,
                            f"This row has {len(cells)} cells, not {wanted}.",
                            "Rebuild the graph index; it is made from the entity files.",
                        )
                    )
                elif wanted == 5:
                    entities.append(IndexedEntity(*cells))
                else:
                    edges.append(IndexedEdge(*cells))
        return cls(path, tuple(entities), tuple(edges), tuple(problems))


def render_graph_index(entities: Iterable[IndexedEntity], edges: Iterable[IndexedEdge]) -> bytes:
    """Write the whole file, rows sorted by id, so that the same graph gives the same bytes."""
    rows = sorted(_row(astuple(entity)) for entity in entities)
    links = sorted(_row(astuple(edge)) for edge in edges)
    text = _HEAD + "".join(f"{row}\n" for row in rows) + _MIDDLE + "".join(f"{row}\n" for row in links)
    return text.encode("utf-8", "replace")


def update_graph_index(
    content: bytes, entity_id: str, entity: IndexedEntity | None, edges: Iterable[IndexedEdge]
) -> bytes:
    """Bring one entity's row and the edges that start from it up to date, touching nothing else.

    Args:
        content: A file that `render_graph_index` wrote; anything else is laid out anew around the given rows.
        entity_id: `type--slug`.
        entity: Its row, or None to remove it.
        edges: All edges that start from it.

    Returns:
        The same bytes that rendering the changed graph as a whole would give.
    """
    head, middle = _HEAD.encode(), _MIDDLE.encode()
    at = content.find(middle, len(head))
    if not content.startswith(head) or at < 0 or not content.endswith(b"\n"):
        known = GraphIndex.parse(content)
        return render_graph_index(
            [row for row in known.entities if row.id != entity_id] + ([entity] if entity else []),
            [row for row in known.edges if row.from_ != entity_id] + list(edges),
        )
    row = [_row(astuple(entity))] if entity else []
    prefix = f"| {_escaped(entity_id)} |".encode("utf-8", "replace")
    # From the end, so that the places before it stay where they are.
    content = _replaced(
        content, at + len(middle), len(content), prefix, [_row(astuple(edge)) for edge in edges]
    )
    return _replaced(content, len(head), at, prefix, row)


def _replaced(content: bytes, start: int, end: int, prefix: bytes, new: list[str]) -> bytes:
    """Put rows in the place of those with a prefix, among the sorted rows from one offset to another."""
    first = _first_not_before(content, start, end, prefix)
    last = first
    while last < end and content.startswith(prefix, last):
        last = content.index(b"\n", last) + 1
    rows = b"".join(sorted(f"{row}\n".encode("utf-8", "replace") for row in new))
    return content if content[first:last] == rows else b"".join((content[:first], rows, content[last:]))


def _first_not_before(content: bytes, start: int, end: int, wanted: bytes) -> int:
    """Return where the first of the sorted lines starts that does not sort before what is wanted."""
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
