"""`memory/graph/relations.md`: the vocabulary of edges, with their inverses and the workspace's own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from workbench.engine.documents.items import (
    append_item,
    append_section,
    item_lines,
    one_line,
    outermost_items,
)
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.source import SourceText
from workbench.engine.documents.template import load_template
from workbench.engine.errors import InvalidInput

_TYPE: Final = re.compile(r"`([^`\n]+)`(?:\s*/\s*`([^`\n]+)`)?\s*(?:[—–-]+\s*(.*))?$", re.DOTALL)
# Two names on one line are the two directions of an edge, except where they are opposites.
_OPPOSITES: Final = frozenset({"confident-about", "uncertain-about"})


@dataclass(frozen=True, slots=True)
class RelationType:
    """One kind of edge.

    Args:
        name: In canonical form, `part-of`.
        inverse: The name it has when read from its target, or None where it has none of its own.
        group: The heading it stands under: `Structural`, `Temporal`, `Qualitative` or the workspace's own.
        description: What follows the dash.
        line: Its line in the file, 0 for one of the built-in vocabulary.
    """

    name: str
    inverse: str | None
    group: str
    description: str
    line: int = 0


@dataclass(frozen=True)
class RelationVocabulary:
    """The relation types of a workspace: those of design document §6.3 and what its file adds."""

    path: str
    source: SourceText
    types: tuple[RelationType, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/graph/relations.md") -> RelationVocabulary:
        """Read the file; with empty content the vocabulary is the built-in one alone."""
        source = SourceText.from_bytes(content)
        types, problems = _read(source, path)
        named = {name for kind in types for name in (kind.name, kind.inverse) if name}
        built_in = [kind for kind in _built_in() if kind.name not in named]
        return cls(path, source, (*types, *built_in), tuple(problems))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def find(self, name: str) -> RelationType | None:
        """Find a type by its name or its inverse's, tolerant of case, spaces and underscores (`Part of`)."""
        wanted = canonical_relation(name)
        exact = (kind for kind in self.types if kind.name == wanted)
        return next(exact, None) or next((kind for kind in self.types if kind.inverse == wanted), None)

    def inverse_of(self, name: str) -> str | None:
        """Return the name of the opposite direction (`used-by` for `uses`), or None."""
        kind = self.find(name)
        if kind is None or kind.inverse is None:
            return None
        return kind.inverse if kind.name == canonical_relation(name) else kind.name

    def add(
        self, name: str, *, inverse: str | None = None, description: str = "", group: str = "Workspace"
    ) -> RelationVocabulary:
        """Add a type; one that is known already changes nothing. Raises `InvalidInput` for an empty name."""
        wanted = canonical_relation(name)
        if not wanted:
            raise InvalidInput(
                "A relation needs a name.", where=self.path, remedy="Use words, for example works-at."
            )
        if self.find(wanted) is not None:
            return self
        names = f"`{wanted}`"
        if inverse and canonical_relation(inverse):
            names += f" / `{canonical_relation(inverse)}`"
        words = one_line(description)
        lines = item_lines(f"{names} — {words}" if words else names)
        source = self.source if self.source.lines else SourceText.from_bytes(load_template(_TEMPLATE))
        outline = read_outline(source)
        heading = next((head for head in outline.headings if head.level == 2 and head.text == group), None)
        if heading is None:
            source = append_section(source, one_line(group) or "Workspace", lines)
        else:
            source = append_item(source, heading, outermost_items(outline, heading.section), lines)
        return self.parse(source.render(), self.path)


def canonical_relation(name: str) -> str:
    """Return a relation's name in canonical form: lower case, words joined by `-`."""
    return "-".join(re.findall(r"\w+", name.casefold().replace("_", " ")))


_TEMPLATE: Final = "memory/graph/relations.md"


@cache
def _built_in() -> tuple[RelationType, ...]:
    types, _ = _read(SourceText.from_bytes(load_template(_TEMPLATE)), _TEMPLATE)
    return tuple(replace(kind, line=0) for kind in types)


def _read(source: SourceText, path: str) -> tuple[list[RelationType], list[Problem]]:
    outline = read_outline(source)
    types: list[RelationType] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for item in outermost_items(outline, source.span):
        group = next(
            (head.text for head in reversed(outline.headings) if item.span.start in head.section), ""
        )
        match = _TYPE.match(item.text)
        names = [canonical_relation(name) for name in match.groups()[:2] if name] if match else []
        if not match or not all(names):
            problems.append(
                Problem(
                    path,
                    item.span.start,
                    "This line names no relation.",
                    "Write it as - `name` / `inverse` — what it means.",
                )
            )
            continue
        if names[0] in seen:
            problems.append(
                Problem(
                    path,
                    item.span.start,
                    f"The relation `{names[0]}` is defined a second time; the first counts.",
                    "Delete one of the two lines.",
                )
            )
            continue
        words = match[3] or ""
        if _OPPOSITES.issuperset(names):
            types.extend(RelationType(name, None, group, words, item.span.start) for name in names)
        else:
            inverse = names[1] if len(names) > 1 else None
            types.append(RelationType(names[0], inverse, group, words, item.span.start))
        seen.update(names)
    return types, problems
