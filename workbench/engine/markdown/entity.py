"""Entity files, `memory/graph/entities/type--slug.md`: the knowledge about one thing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from workbench.engine.errors import NotFound
from workbench.engine.identifiers import ENTITY_TYPES, entity_name, link_to, linked_entity
from workbench.engine.markdown.markup import (
    append_item,
    clean_item,
    clear_of_next,
    insert_section,
    item_lines,
    one_line,
    outermost_items,
    protect_body,
    remove_lines,
)
from workbench.engine.markdown.outline import read_headings, read_outline
from workbench.engine.markdown.source import LineSpan, Problem, SourceText, is_blank
from workbench.engine.markdown.statements import (
    SECTIONS,
    Dated,
    Fact,
    Provenance,
    Question,
    Relation,
    Statement,
    comment_text,
    doubled_ids,
    front_matter_aliases,
    front_matter_word,
    header_scope,
    known_sections,
    listed_words,
    loose_paragraphs,
    plain_text,
    read_dated,
    read_fact,
    read_header,
    read_loose_fact,
    read_question,
    read_relation,
    read_summary,
    render_statement,
    section_name,
    statement_of,
    untitled_items,
    was_relation,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.markdown.outline import ListItem

__all__ = ["SECTIONS", "Dated", "EntityFile", "Fact", "Provenance", "Question", "Relation"]

_UNKNOWN: Final = Provenance()
_LISTED: Final = re.compile(r",?\s*\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]")
_OTHER_TYPE: Final = "concept"


@dataclass(frozen=True)
class EntityFile:
    """One entity's file. Edits return a new one.

    Args:
        id: `type--slug`, from the file's name.
        type: From the header comment, else from the front matter, else from the file's name.
        label: The header's label, else a title other than the id, else the front matter's title, else a file name other
            than an id, else the first alias, else the slug in words.
        header: The fields of the header comments, keys in lower case (`type`, `created`, `decay score` …). Never
            rewritten.
        aliases: From `## Aliases`, the header, front matter, and a file name other than an id.
        facts: Current facts: under `## Facts`, and list items before the first section.
        retired: Those under `## Superseded`, including retired relations.
        others: Headings of unknown sections.
    """

    path: str
    id: str
    type: str
    label: str
    source: SourceText
    header: tuple[tuple[str, str], ...]
    aliases: tuple[str, ...]
    summary: str
    facts: tuple[Fact, ...]
    retired: tuple[Fact, ...]
    timeline: tuple[Dated, ...]
    questions: tuple[Question, ...]
    relations: tuple[Relation, ...]
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> EntityFile:
        """Parse the file. Any bytes are accepted."""
        return cls._of(SourceText.from_bytes(content), path)

    # One change parses the same file many times: for the plan, the index and the check of the result.
    @staticmethod
    @lru_cache(maxsize=64)
    def _of(source: SourceText, path: str) -> EntityFile:
        outline = read_outline(source)
        problems: list[Problem] = []
        sections = known_sections(outline)
        by_name: dict[str, list[ListItem]] = {
            name: [item for head in heads for item in outermost_items(outline, head.section)]
            for name, heads in sections.items()
        }
        stem = PurePosixPath(path).name.removesuffix(".md")
        entity = entity_name(stem)
        header = tuple(read_header(outline))
        known = dict(header)
        listed = [plain_text(item) for item in by_name["Aliases"]]
        aliases = tuple(
            dict.fromkeys(
                alias
                for alias in (
                    *listed,
                    *listed_words(known.get("aliases", "")),
                    *front_matter_aliases(source, outline),
                )
                if alias
            )
        )
        facts = [read_fact(item, retired=False) for item in (*untitled_items(outline), *by_name["Facts"])]
        facts += [
            read_loose_fact(source, part) for part in loose_paragraphs(source, outline, sections["Facts"])
        ]
        relations = []
        for item in by_name["Relations"]:
            relation = read_relation(item)
            if relation is None:
                problems.append(
                    Problem(
                        path,
                        item.span.start,
                        "This line under Relations names no entity.",
                        "Write it as - relation: [[type--name]].",
                    )
                )
            else:
                relations.append(relation)
        problems += doubled_ids(outline, path)
        title = next((heading.text for heading in outline.headings if heading.level == 1), "")
        said = front_matter_word(source, outline, "title")
        label = known.get("label") or next((name for name in (title, said) if name not in ("", entity)), "")
        if entity != stem:
            # The file name that a person gave a note is one of its names.
            label = label or one_line(stem)
            aliases = aliases if one_line(stem) in (label, *aliases) else (*aliases, one_line(stem))
        kind = known.get("type") or front_matter_word(source, outline, "type")
        kind = one_line(kind) or _type_of(stem)
        label = label or next(iter(aliases), "")
        return EntityFile(
            path,
            entity,
            kind,
            label or entity.rpartition("--")[2].replace("-", " "),
            source,
            header,
            aliases,
            read_summary(source, sections["Summary"]),
            tuple(sorted(facts, key=lambda fact: fact.span)),
            tuple(read_fact(item, retired=True) for item in by_name["Superseded"]),
            tuple(read_dated(item) for item in by_name["Timeline"]),
            tuple(read_question(item) for item in by_name["Open Questions"]),
            tuple(relations),
            tuple(h.text for h in outline.headings if h.level == 2 and section_name(h.text) is None),
            tuple(problems),
        )

    @classmethod
    def create(cls, path: str, *, label: str, created: str, scope: str | None = None) -> EntityFile:
        """Return a new entity's file with title and header only.

        Args:
            path: `memory/graph/entities/type--slug.md`.
            label: Its name for display.
            created: ISO date.
            scope: The audience of its name; None for the owner's own.
        """
        stem = PurePosixPath(path).name.removesuffix(".md")
        entity = entity_name(stem)
        fields = [("Type", _type_of(stem)), ("Label", label), ("Created", created)]
        fields += [("For", scope)] if scope else []
        words = " | ".join(f"{key}: {comment_text(value)}" for key, value in fields)
        return cls._of(SourceText().append([f"# {entity}", "", f"<!-- {words} -->"]), path)

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    @cached_property
    def block_ids(self) -> frozenset[str]:
        """Every block id in the file, in any section."""
        items = read_outline(self.source).items
        return frozenset(block for item in items if (block := statement_of(item).block_id))

    @property
    def created(self) -> str | None:
        """The date of the header, or None."""
        return dict(self.header).get("created")

    @property
    def scope(self) -> str | None:
        """The audience of its name; each fact and relation has its own."""
        return header_scope(self.header)

    @property
    def pinned(self) -> bool:
        """Whether the header says so."""
        return dict(self.header).get("pinned", "").lower() in ("yes", "true")

    def add_fact(
        self, text: str, provenance: Provenance = _UNKNOWN, *, block_id: str | None = None
    ) -> EntityFile:
        """Add a fact (it is `facts[-1]` of the result); a missing section is created."""
        return self._add(
            "Facts", item_lines(render_statement(Statement(clean_item(text), provenance, block_id)))
        )

    def replace_fact(self, block_id: str, text: str) -> EntityFile:
        """Replace a fact's text; provenance and block id stay. Raises `NotFound`."""
        item = self._item(block_id)
        return self._rewrite(item, replace(statement_of(item), text=clean_item(text)))

    def set_provenance(self, block_id: str, provenance: Provenance) -> EntityFile:
        """Replace the provenance of a fact or relation. Raises `NotFound`."""
        item = self._item(block_id)
        return self._rewrite(item, replace(statement_of(item), provenance=provenance))

    def retire_fact(
        self,
        fact: Fact,
        *,
        until: str | None = None,
        superseded_by: str | None = None,
        block_id: str | None = None,
    ) -> EntityFile:
        """Move a fact under `## Superseded`, keeping its text, sources and block id. Raises `NotFound`.

        A fact without a block id gets the given one.
        """
        if fact not in self.facts:
            raise self._missing(f"fact “{fact.text[:60]}”")
        provenance = replace(
            fact.provenance,
            until=until or fact.provenance.until,
            superseded_by=superseded_by or fact.provenance.superseded_by,
        )
        lines = item_lines(render_statement(Statement(fact.text, provenance, fact.block_id or block_id)))
        return self.remove_item(fact.span)._add("Superseded", lines)

    def retire_relation(
        self, relation: Relation, *, until: str | None = None, block_id: str | None = None
    ) -> EntityFile:
        """Move a relation under `## Superseded`, keeping its text, sources and block id. Raises `NotFound`.

        There it is a retired fact and no longer an edge. Without a block id it gets the given one.
        """
        if relation not in self.relations:
            raise self._missing(f"relation {relation.name} to {', '.join(relation.targets)}")
        text = next(statement_of(item) for item in self._items() if item.span == relation.span).text
        provenance = replace(relation.provenance, until=until or relation.provenance.until)
        lines = item_lines(render_statement(Statement(text, provenance, relation.block_id or block_id)))
        return self.remove_item(relation.span)._add("Superseded", lines)

    def restore_fact(self, block_id: str) -> EntityFile:
        """Move a retired fact back under `## Facts`, a retired relation back under `## Relations`.

        `until` and `superseded by` are removed. Raises `NotFound`.
        """
        fact = next((fact for fact in self.retired if fact.block_id == block_id), None)
        if fact is None:
            raise self._missing(f"retired fact ^{block_id}")
        provenance = replace(fact.provenance, until=None, superseded_by=None)
        lines = item_lines(render_statement(Statement(fact.text, provenance, block_id)))
        return self.remove_item(fact.span)._add("Relations" if was_relation(fact) else "Facts", lines)

    def add_relation(
        self,
        name: str,
        target: str,
        provenance: Provenance = _UNKNOWN,
        *,
        block_id: str | None = None,
        stem: str | None = None,
    ) -> EntityFile:
        """Add a relation to the entity `target` (`type--slug`); it is `relations[-1]` of the result.

        `stem` is the name of the target's file without `.md` if it differs from the id, so that the link leads there.
        """
        words = one_line(name).translate(str.maketrans("", "", ":：[]"))
        text = f"{words}: [[{link_to(target.removeprefix('entity:'), stem)}]]"
        return self._add("Relations", item_lines(render_statement(Statement(text, provenance, block_id))))

    def remove_relation(self, name: str, target: str) -> EntityFile:
        """Remove a relation; from a line with several targets, only that one. Raises `NotFound`."""
        target = target.removeprefix("entity:")
        for relation in self.relations:
            if relation.name.casefold() != name.casefold() or target not in relation.targets:
                continue
            if set(relation.targets) == {target}:
                return self.remove_item(relation.span)
            item = next(item for item in self._items() if item.span == relation.span)
            statement = statement_of(item)
            left = _LISTED.sub(
                lambda link: "" if linked_entity(link[1]) == target else link[0], statement.text
            )
            text = re.sub(r"([:：]\s*),\s*", r"\1", left)
            return self._rewrite(item, replace(statement, text=re.sub(r"[:：](?=\[\[)", ": ", text)))
        raise self._missing(f"relation {name} to {target}")

    def add_timeline(self, date: str, text: str) -> EntityFile:
        """Add a line to the timeline, at its place by date if the timeline is sorted."""
        lines = item_lines(f"{date}: {clean_item(text)}")
        later = next((entry for entry in self.timeline if (entry.date or "") > date), None)
        if later is None:
            return self._add("Timeline", lines)
        before = later.span.start - 1
        return self._of(
            self.source.insert_after(before, clear_of_next(self.source, before, lines)), self.path
        )

    def add_question(self, text: str) -> EntityFile:
        """Add an open question."""
        return self._add("Open Questions", item_lines(text))

    def add_alias(self, alias: str) -> EntityFile:
        """Add another name under `## Aliases`, unless it is there."""
        name = one_line(alias)
        if name.casefold() in (known.casefold() for known in self.aliases):
            return self
        return self._add("Aliases", item_lines(name))

    def names_for(self, scope: str) -> tuple[str, ...]:
        """Return the names under `## Aliases` marked for a scope."""
        outline = read_outline(self.source)
        heads = known_sections(outline)["Aliases"]
        said = [statement_of(item) for head in heads for item in outermost_items(outline, head.section)]
        return tuple(each.text for each in said if each.provenance.scope == scope and each.text)

    def add_name_for(self, scope: str, name: str) -> EntityFile:
        """Add a scope's name for the entity under `## Aliases`, unless it has one."""
        if self.names_for(scope):
            return self
        statement = Statement(clean_item(one_line(name)), Provenance(scope=scope))
        return self._add("Aliases", item_lines(render_statement(statement)))

    def remove_alias(self, alias: str) -> EntityFile:
        """Remove a name from `## Aliases`. Raises `NotFound` if it is not listed there."""
        outline = read_outline(self.source)
        for heading in known_sections(outline)["Aliases"]:
            for item in outermost_items(outline, heading.section):
                if plain_text(item).casefold() == alias.casefold():
                    return self.remove_item(item.span)
        raise self._missing(f"alias “{alias}”")

    def set_summary(self, text: str) -> EntityFile:
        """Replace the summary; a missing section is created."""
        lines = protect_body(text, level=6)
        heading = next(iter(known_sections(read_outline(self.source))["Summary"]), None)
        if heading is None:
            return self._with_section("Summary", lines)
        body = self.source.trimmed(heading.body)
        if body:
            return self._of(self.source.replace(body, lines), self.path)
        follows = heading.span.end < len(self.source.lines) and not is_blank(
            self.source.line(heading.span.end + 1)
        )
        return self._of(
            self.source.insert_after(heading.span.end, [*lines, *([""] if follows else [])]), self.path
        )

    def remove_block(self, block_id: str) -> EntityFile:
        """Remove the item with this block id, in any section. Raises `NotFound`."""
        return self.remove_item(self._item(block_id).span)

    def remove_item(self, span: LineSpan) -> EntityFile:
        """Remove an item that has no block id, by its lines."""
        return self._of(remove_lines(self.source, span), self.path)

    def insert_lines(self, section: str, lines: Iterable[str]) -> EntityFile:
        """Append lines to a section unchanged."""
        return self._add(section, list(lines))

    def _add(self, section: str, lines: Sequence[str]) -> EntityFile:
        outline = read_outline(self.source)
        wanted = section_name(section)
        heads = [
            head
            for head in outline.headings
            if head.level > 1 and (head.text == section or (wanted and section_name(head.text) == wanted))
        ]
        if not heads:
            return self._with_section(section, lines)
        items = outermost_items(outline, heads[0].section)
        return self._of(append_item(self.source, heads[0], items, lines), self.path)

    def _with_section(self, section: str, lines: Sequence[str]) -> EntityFile:
        wanted = section_name(section)
        later = SECTIONS[SECTIONS.index(wanted) + 1 :] if wanted else ()
        source = insert_section(
            self.source,
            read_headings(self.source),
            section,
            lines,
            lambda text: section_name(text) in later,
        )
        return self._of(source, self.path)

    def _items(self) -> tuple[ListItem, ...]:
        return read_outline(self.source).items

    def _item(self, block_id: str) -> ListItem:
        item = next((item for item in self._items() if statement_of(item).block_id == block_id), None)
        if item is None:
            raise self._missing(f"line ^{block_id}")
        return item

    def _rewrite(self, item: ListItem, statement: Statement) -> EntityFile:
        indent = self.source.line(item.span.start)[: item.indent]
        outer = len(indent) - len(indent.lstrip(" \t"))
        marker = f"{indent[outer:].rstrip()} "
        lines = [
            indent[:outer] + line if line else "" for line in item_lines(render_statement(statement), marker)
        ]
        return self._of(self.source.replace(item.span, lines), self.path)

    def _missing(self, what: str) -> NotFound:
        return NotFound(
            f"{self.id} has no {what}.", where=self.path, remedy="See `workbench show` for what it has."
        )


def _type_of(stem: str) -> str:
    """Return the type in a file's name, or the default type."""
    kind, dashes, _ = stem.partition("--")
    if dashes and (entity_name(stem) == stem or kind in ENTITY_TYPES):
        return kind
    return _OTHER_TYPE
