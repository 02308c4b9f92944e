"""Entity files, `memory/graph/entities/type--slug.md`: the knowledge about one thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Final

from workbench.engine.errors import NotFound
from workbench.engine.identifiers import ENTITY_TYPES, entity_name, link_to, linked_entity
from workbench.engine.markdown.markup import (
    append_item,
    clean_item,
    clear_of_next,
    insert_section,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    paragraphs_within,
    protect_body,
    remove_lines,
    set_section,
    unprotect_body,
)
from workbench.engine.markdown.outline import Heading, ListItem, Outline, read_headings, read_outline
from workbench.engine.markdown.source import LineSpan, Problem, Problems, SourceText
from workbench.engine.markdown.statements import (
    Provenance,
    Statement,
    header_scope,
    parse_statement,
    read_header,
    render_statement,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

SECTIONS: Final = (
    "Aliases",
    "Summary",
    "Facts",
    "Superseded",
    "Timeline",
    "Open Questions",
    "Relations",
)


_SECTION_NAMES: Final = {
    "aliases": "Aliases",
    "alias": "Aliases",
    "also known as": "Aliases",
    "summary": "Summary",
    "facts": "Facts",
    "superseded": "Superseded",
    "superseded facts": "Superseded",
    "timeline": "Timeline",
    "open questions": "Open Questions",
    "questions": "Open Questions",
    "relations": "Relations",
    "别名": "Aliases",
    "摘要": "Summary",
    "概述": "Summary",
    "事实": "Facts",
    "已取代": "Superseded",
    "时间线": "Timeline",
    "待解问题": "Open Questions",
    "关系": "Relations",
}


_LINK: Final = lazy_pattern(r"\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")


_RELATION: Final = lazy_pattern(r"\s*([^:：\[\]]{1,80}?)\s*[:：]\s*(?=.*\[\[)", re.DOTALL)


# Only a name and links; block ids generated for facts start with this letter.
_BARE_RELATION: Final = lazy_pattern(
    r"[^:：\[\]]{1,80}[:：]\s*\[\[[^\[\]]+\]\](?:\s*[,，、]\s*\[\[[^\[\]]+\]\])*"
)


_FACT_BLOCK: Final = "f"


_DATED: Final = lazy_pattern(r"(\d{4}(?:-\d{2}(?:-\d{2})?)?)\s*(?:[:：]|[—–-]\s)\s*(.*)$", re.DOTALL)
_UNKNOWN: Final = Provenance()
_LISTED: Final = lazy_pattern(r",?\s*\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]")
_OTHER_TYPE: Final = "concept"


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact.

    Args:
        text: The sentence, without provenance and block id.
        block_id: Without `^`; None if it has none.
    """

    text: str
    provenance: Provenance
    block_id: str | None
    retired: bool
    span: LineSpan


@dataclass(frozen=True, slots=True)
class Relation:
    """One line of `## Relations`.

    Args:
        name: As written: `develops`, `Inspired by`.
        targets: Entity ids (`type--slug`) of its wikilinks, one for a line written by the engine.
    """

    name: str
    targets: tuple[str, ...]
    provenance: Provenance
    block_id: str | None
    span: LineSpan

    @property
    def text(self) -> str:
        """Its name and links: `uses: [[tool--git]]`."""
        return f"{self.name}: {', '.join(f'[[{target}]]' for target in self.targets)}"


@dataclass(frozen=True, slots=True)
class Dated:
    """One line of `## Timeline`: a date (or None) and what happened."""

    date: str | None
    text: str
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True, slots=True)
class Question:
    """One line of `## Open Questions`."""

    text: str
    block_id: str | None
    span: LineSpan


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
    others: tuple[str, ...]
    problems: tuple[Problem, ...]

    @classmethod
    def parse(cls, content: bytes, path: str) -> EntityFile:
        """Parse the file. Any bytes are accepted."""
        return cls._of(SourceText.from_bytes(content), path)

    # One change parses the same file many times: for the plan, the index and the check of the result.
    @staticmethod
    @lru_cache(maxsize=64)
    def _of(source: SourceText, path: str) -> EntityFile:
        outline = read_outline(source)
        problems = Problems(path)
        sections = _known_sections(outline)
        by_name: dict[str, list[ListItem]] = {
            name: [item for head in heads for item in outermost_items(outline, head.section)]
            for name, heads in sections.items()
        }
        stem = PurePosixPath(path).name.removesuffix(".md")
        entity = entity_name(stem)
        header = tuple(read_header(outline))
        known = dict(header)
        listed = [_plain_text(item) for item in by_name["Aliases"]]
        aliases = tuple(
            dict.fromkeys(
                alias
                for alias in (
                    *listed,
                    *_listed_words(known.get("aliases", "")),
                    *_front_matter_aliases(source, outline),
                )
                if alias
            )
        )
        facts = [_fact_of(item) for item in (*_untitled_items(outline), *by_name["Facts"])]
        loose = [part for head in sections["Facts"] for part in paragraphs_within(outline, head.section)]
        facts += [_fact(parse_statement(source.text_of(part)), part) for part in map(source.trimmed, loose)]
        relations = []
        for item in by_name["Relations"]:
            relation = _read_relation(item)
            if relation is None:
                problems.add(
                    item.span.start,
                    "This line under Relations names no entity.",
                    "Write it as - relation: [[type--name]].",
                )
            else:
                relations.append(relation)
        _report_doubled_ids(outline, problems)
        about = next(iter(sections["Summary"]), None)
        summary = unprotect_body(source.lines_of(about.body)) if about else ""
        title = next((heading.text for heading in outline.headings if heading.level == 1), "")
        said = _front_matter_word(source, outline, "title")
        label = known.get("label") or next((name for name in (title, said) if name not in ("", entity)), "")
        if entity != stem:
            # The file name that a person gave a note is one of its names.
            label = label or one_line(stem)
            aliases = aliases if one_line(stem) in (label, *aliases) else (*aliases, one_line(stem))
        kind = known.get("type") or _front_matter_word(source, outline, "type")
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
            summary,
            tuple(sorted(facts, key=lambda fact: fact.span)),
            tuple(_fact_of(item, retired=True) for item in by_name["Superseded"]),
            tuple(_read_dated(item) for item in by_name["Timeline"]),
            tuple(_read_question(item) for item in by_name["Open Questions"]),
            tuple(relations),
            tuple(h.text for h in outline.headings if h.level == 2 and _section_name(h.text) is None),
            tuple(problems.found),
        )

    @classmethod
    def create(cls, path: str, *, label: str, created: str, scope: str | None = None) -> EntityFile:
        """Return a new entity's file with title and header only.

        Args:
            scope: The audience of its name; None for the owner's own.
        """
        stem = PurePosixPath(path).name.removesuffix(".md")
        entity = entity_name(stem)
        fields = [("Type", _type_of(stem)), ("Label", label), ("Created", created)]
        fields += [("For", scope)] if scope else []
        words = " | ".join(f"{key}: {_comment_text(value)}" for key, value in fields)
        return cls._of(SourceText().append([f"# {entity}", "", f"<!-- {words} -->"]), path)

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    @cached_property
    def block_ids(self) -> frozenset[str]:
        """Every block id in the file, in any section."""
        items = read_outline(self.source).items
        return frozenset(block for item in items if (block := _statement_of(item).block_id))

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
        return self._state("Facts", clean_item(text), provenance, block_id)

    def replace_fact(self, block_id: str, text: str) -> EntityFile:
        """Replace a fact's text; provenance and block id stay. Raises `NotFound`."""
        item = self._item(block_id)
        return self._rewrite(item, replace(_statement_of(item), text=clean_item(text)))

    def set_provenance(self, block_id: str, provenance: Provenance) -> EntityFile:
        """Replace the provenance of a fact or relation. Raises `NotFound`."""
        item = self._item(block_id)
        return self._rewrite(item, replace(_statement_of(item), provenance=provenance))

    def retire(
        self,
        found: Fact | Relation,
        *,
        until: str | None = None,
        by: str | None = None,
        block_id: str | None = None,
    ) -> EntityFile:
        """Move a fact or relation under `## Superseded`, keeping its text, sources and block id. Raises `NotFound`.

        There a relation is a retired fact and no longer an edge.

        Args:
            until: ISO date until which it held; None for what its line says.
            by: Block id of the fact or relation that holds instead; None for what its line says.
            block_id: For one that has none.
        """
        if found not in (*self.facts, *self.relations):
            raise self._missing(f"fact or relation “{found.text[:60]}”")
        text = found.text
        if isinstance(found, Relation):
            text = next(_statement_of(item) for item in self._items() if item.span == found.span).text
        known = found.provenance
        known = replace(known, until=until or known.until, successor_block=by or known.successor_block)
        left = self.remove_item(found.span)
        return left._state("Superseded", text, known, found.block_id or block_id)

    def restore_fact(self, block_id: str) -> EntityFile:
        """Move a retired fact back under `## Facts`, a retired relation back under `## Relations`.

        `until` and `superseded by` are removed. Raises `NotFound`.
        """
        fact = next((fact for fact in self.retired if fact.block_id == block_id), None)
        if fact is None:
            raise self._missing(f"retired fact ^{block_id}")
        provenance = replace(fact.provenance, until=None, successor_block=None)
        section = "Relations" if _was_relation(fact) else "Facts"
        return self.remove_item(fact.span)._state(section, fact.text, provenance, block_id)

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
        return self._state("Relations", text, provenance, block_id)

    def remove_relation(self, name: str, target: str) -> EntityFile:
        """Remove a relation; from a line with several targets, only that one. Raises `NotFound`."""
        target = target.removeprefix("entity:")
        for relation in self.relations:
            if relation.name.casefold() != name.casefold() or target not in relation.targets:
                continue
            if set(relation.targets) == {target}:
                return self.remove_item(relation.span)
            item = next(item for item in self._items() if item.span == relation.span)
            statement = _statement_of(item)
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
        heads = _known_sections(outline)["Aliases"]
        said = [_statement_of(item) for head in heads for item in outermost_items(outline, head.section)]
        return tuple(each.text for each in said if each.provenance.scope == scope and each.text)

    def add_name_for(self, scope: str, name: str) -> EntityFile:
        """Add a scope's name for the entity under `## Aliases`, unless it has one."""
        if self.names_for(scope):
            return self
        return self._state("Aliases", clean_item(one_line(name)), Provenance(scope=scope), None)

    def remove_alias(self, alias: str) -> EntityFile:
        """Remove a name from `## Aliases`. Raises `NotFound` if it is not listed there."""
        outline = read_outline(self.source)
        for heading in _known_sections(outline)["Aliases"]:
            for item in outermost_items(outline, heading.section):
                if _plain_text(item).casefold() == alias.casefold():
                    return self.remove_item(item.span)
        raise self._missing(f"alias “{alias}”")

    def set_summary(self, text: str) -> EntityFile:
        """Replace the summary; a missing section is created."""
        lines = protect_body(text, level=6)
        heading = next(iter(_known_sections(read_outline(self.source))["Summary"]), None)
        if heading is None:
            return self._with_section("Summary", lines)
        return self._of(set_section(self.source, heading.body, lines), self.path)

    def remove_block(self, block_id: str) -> EntityFile:
        """Remove the item with this block id, in any section. Raises `NotFound`."""
        return self.remove_item(self._item(block_id).span)

    def remove_item(self, span: LineSpan) -> EntityFile:
        """Remove an item that has no block id, by its lines."""
        return self._of(remove_lines(self.source, span), self.path)

    def insert_lines(self, section: str, lines: Iterable[str]) -> EntityFile:
        """Append lines to a section unchanged."""
        return self._add(section, list(lines))

    def _state(self, section: str, text: str, provenance: Provenance, block_id: str | None) -> EntityFile:
        return self._add(section, item_lines(render_statement(Statement(text, provenance, block_id))))

    def _add(self, section: str, lines: Sequence[str]) -> EntityFile:
        outline = read_outline(self.source)
        wanted = _section_name(section)
        heads = [
            head
            for head in outline.headings
            if head.level > 1 and (head.text == section or (wanted and _section_name(head.text) == wanted))
        ]
        if not heads:
            return self._with_section(section, lines)
        return self._of(append_item(self.source, outline, heads[0], lines), self.path)

    def _with_section(self, section: str, lines: Sequence[str]) -> EntityFile:
        wanted = _section_name(section)
        later = SECTIONS[SECTIONS.index(wanted) + 1 :] if wanted else ()
        source = insert_section(
            self.source,
            read_headings(self.source),
            section,
            lines,
            lambda text: _section_name(text) in later,
        )
        return self._of(source, self.path)

    def _items(self) -> tuple[ListItem, ...]:
        return read_outline(self.source).items

    def _item(self, block_id: str) -> ListItem:
        item = next((item for item in self._items() if _statement_of(item).block_id == block_id), None)
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


# All files have the same few headings.
@lru_cache(maxsize=256)
def _section_name(heading: str) -> str | None:
    """Return the canonical name of a known section, or None."""
    words = "".join(char if char.isalnum() else " " for char in heading.casefold()).split()
    return _SECTION_NAMES.get(" ".join(words))


def _known_sections(outline: Outline) -> dict[str, list[Heading]]:
    found: dict[str, list[Heading]] = {name: [] for name in SECTIONS}
    for heading in outline.headings:
        name = _section_name(heading.text) if heading.level > 1 else None
        if name:
            found[name].append(heading)
    return found


def _untitled_items(outline: Outline) -> Iterator[ListItem]:
    """Yield the list items before the first section: statements of a note."""
    first = next((head.span.start for head in outline.headings if head.level > 1), None)
    for item in outline.items:
        if first is not None and item.span.start > first:
            return
        if item.depth == 0:
            yield item


def _comment_text(text: str) -> str:
    """Return a text that cannot end its comment or field."""
    return one_line(text).replace("|", "/").replace("--", "–").replace(">", "›")


def _listed_words(text: str) -> list[str]:
    """Return the words of a list on one line."""
    return [word.strip(" \"'[]") for word in re.split(r"[,，、;；]", text)]


def _front_matter_word(source: SourceText, outline: Outline, name: str) -> str:
    """Return a one-line value of the front matter; empty if it is missing."""
    if outline.front_matter is None:
        return ""
    for line in source.lines_of(outline.front_matter)[1:-1]:
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() == name:
            return value.strip().strip("\"'").strip()
    return ""


def _front_matter_aliases(source: SourceText, outline: Outline) -> list[str]:
    if outline.front_matter is None:
        return []
    lines = source.lines_of(outline.front_matter)[1:-1]
    for at, line in enumerate(lines):
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() in ("aliases", "alias"):
            if value.strip():
                return _listed_words(value.strip().strip("[]"))
            following = []
            for more in lines[at + 1 :]:
                if not more.lstrip().startswith("- "):
                    break
                following.append(more.lstrip()[2:].strip(" \"'"))
            return following
    return []


def _statement_of(item: ListItem) -> Statement:
    return parse_statement(item_text(item.text))


def _plain_text(item: ListItem) -> str:
    """Return an item's text without provenance and block id."""
    return _statement_of(item).text


def _fact_of(item: ListItem, *, retired: bool = False) -> Fact:
    return _fact(_statement_of(item), item.span, retired=retired)


def _fact(found: Statement, span: LineSpan, *, retired: bool = False) -> Fact:
    return Fact(found.text, found.provenance, found.block_id, retired, span)


def _read_relation(item: ListItem) -> Relation | None:
    """Parse one item of `## Relations`; None if it names no entity."""
    found = _statement_of(item)
    targets = tuple(dict.fromkeys(linked_entity(match) for match in _LINK.findall(found.text)))
    if not targets:
        return None
    name = _RELATION.match(found.text)
    return Relation(name[1] if name else "relates-to", targets, found.provenance, found.block_id, item.span)


def _was_relation(fact: Fact) -> bool:
    """Return True if a line under `## Superseded` was a relation."""
    was_fact = (fact.block_id or "").startswith(_FACT_BLOCK)
    return fact.retired and not was_fact and _BARE_RELATION.fullmatch(fact.text) is not None


def _read_dated(item: ListItem) -> Dated:
    found = _statement_of(item)
    match = _DATED.match(found.text)
    return Dated(match[1] if match else None, match[2] if match else found.text, found.block_id, item.span)


def _read_question(item: ListItem) -> Question:
    found = _statement_of(item)
    return Question(found.text, found.block_id, item.span)


def _report_doubled_ids(outline: Outline, problems: Problems) -> None:
    """Report each block id that occurs twice in the file."""
    seen: dict[str, int] = {}
    for item in outline.items:
        block = _statement_of(item).block_id
        if block is None or (item.depth and block in seen):
            continue
        if block in seen:
            problems.add(
                item.span.start,
                f"The block id ^{block} is also on line {seen[block]}.",
                "Give one of the two lines another id.",
            )
        seen.setdefault(block, item.span.start)
