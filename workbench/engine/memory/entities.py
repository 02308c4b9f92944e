"""Entities during planning: resolving names, reading files, and creating new entities."""

from __future__ import annotations

import difflib
from datetime import datetime

from workbench.engine import layout
from workbench.engine.catalog.records import EntityMatch
from workbench.engine.catalog.terms import may_be_same, same_name
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound
from workbench.engine.history.plan import Action, FileView
from workbench.engine.history.work_files import entity_file, stem_of
from workbench.engine.identifiers import (
    ENTITY_TYPES,
    RESERVED_KINDS,
    entity_id,
    entity_type,
    link_to,
    linked_entity,
    parse_memory_id,
)
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.memory.draft import Draft, EntityLookup
from workbench.engine.memory.wording import clean_name, clip, numbered
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_MOST_MERGES = 16
# How much a type has to look like one of the five to be a slip of the pen.
_LIKE = 0.85
_PLURALS = {"people": "person", "persons": "person"}
# “Re: budget” is the subject of a letter.
_SUBJECT_MARKS = frozenset({"re", "fw", "fwd", "aw", "wg"})
_LINK = lazy_pattern(r"^\[\[([^\[\]|#]+)(?:[|#].*)?\]\]$")


@dataclass(frozen=True)
class EntityName:
    """An entity as named in a request.

    Args:
        name: Its name or id (`person--alex`).
        type: One of the five types or another word, or empty if the name is an id or the type is open.
        given: Whether a person or agent named it, rather than the text.
    """

    name: str
    type: str
    given: bool = False


@dataclass(frozen=True)
class ResolvedEntity:
    """The entity that a name means; `questions` are similar names for a person to settle."""

    id: str
    type: str
    label: str
    path: str
    created: bool = False
    questions: tuple[str, ...] = ()


def parse_entity(text: str) -> EntityName:
    """Parse `TYPE:NAME`, such as `project:Apollo`, or an id, `project--apollo` or `entity:project--apollo`.

    Raises:
        InvalidInput: It is neither, or the type is a misspelt one of the five.
    """
    before, colon, name = text.strip().partition(":")
    bare = name if before == "entity" else text.strip()
    kind, dashes, rest = bare.partition("--")
    if dashes and rest and entity_type(kind) == kind and ":" not in bare:
        return EntityName(parse_memory_id(f"entity:{bare}").name, "", given=True)
    kind = entity_type(before)
    near = difflib.get_close_matches(kind, ENTITY_TYPES, 1, _LIKE) if kind not in ENTITY_TYPES else []
    near = [_PLURALS[kind]] if kind in _PLURALS else near
    # What begins like the id of another memory or like an address names no entity.
    if (
        colon
        and kind
        and not near
        and kind not in RESERVED_KINDS
        and kind not in _SUBJECT_MARKS
        and not name.lstrip().startswith(("/", "\\"))
    ):
        return EntityName(clean_name(name), kind, given=True)
    meant = f"Did you mean {near[0]}:{name.strip()}? " if near else ""
    raise InvalidInput(
        f"“{clip(text)}” does not name an entity.",
        remedy=f"{clip(meant)} Write it as TYPE:NAME, for example project:Apollo; types are "
        f"{', '.join(ENTITY_TYPES)}, or another word such as preference.".strip(),
    )


def entity_path(entity: str, view: FileView) -> str:
    """Return the path of an entity's file, existing or new, by its id, `type--slug` or `entity:type--slug`.

    Raises:
        InvalidInput: It is not such an id.
    """
    memory_id = parse_memory_id(entity if entity.startswith("entity:") else f"entity:{entity}")
    return entity_file(memory_id.name, view)


def merged_into(file: EntityFile) -> str | None:
    """Return the id (`type--slug`) of the entity that this one was merged into, or None."""
    value = next((value for key, value in file.header if key == "merged into"), None)
    if value is None:
        return None
    link = _LINK.match(value.strip())
    name = (link.group(1) if link else value).strip()
    return linked_entity(name) if name else None


class EntityFiles:
    """The entity files of a draft.

    Args:
        now: Aware, in the workspace's zone; its date is the date of additions.
        scope: The audience of additions. With a scope, `lookup` may know only what this audience can see; a name then
            means the entity they see, else the file that such a name gets, whatever it contains.
    """

    def __init__(
        self, draft: Draft, lookup: EntityLookup, now: datetime, *, scope: str | None = None
    ) -> None:
        self.draft = draft
        self.scope = scope
        self.today = f"{now:%Y-%m-%d}"
        self._lookup = lookup
        self._made: list[ResolvedEntity] = []
        self._parsed: dict[str, tuple[bytes, EntityFile]] = {}

    def read(self, entity: str) -> EntityFile | None:
        """Return an entity's file as drafted, or None if there is none."""
        path = entity_path(entity, self.draft)
        content = self.draft.read(path)
        if content is None:
            return None
        known = self._parsed.get(path)
        if known is None or known[0] != content:
            known = self._parsed[path] = (content, EntityFile.parse(content, path))
        return known[1]

    def new_block(self, file: EntityFile, prefix: str, seed: str) -> str:
        """Return a block id for a fact (`f`) or relation (`r`) that the file never had."""
        return self.draft.new_block(file, prefix, seed)

    def stem(self, entity: str) -> str | None:
        """Return the name of an entity's file, as used in links; None if it has none."""
        file = self.read(entity)
        return stem_of(file.path) if file is not None else None

    def require(self, entity: str) -> EntityFile:
        """Return an entity's file, following merges.

        Raises:
            NotFound: There is no such entity.
        """
        file = self.read(entity)
        for _ in range(_MOST_MERGES):
            target = merged_into(file) if file is not None else None
            if target is None:
                break
            file = self.read(target)
        if file is None:
            raise NotFound(
                f"There is no entity {clip(entity)}.",
                where=entity_path(entity, self.draft),
                remedy="`workbench graph` lists the entities.",
            )
        return file

    def save(self, file: EntityFile, summary: str, action: Action = Action.EDIT) -> None:
        content = file.render()
        self._parsed[file.path] = (content, file)
        self.draft.write(file.path, content, action, summary)

    def find(self, text: str) -> EntityFile:
        """Return the entity that a person means by an id or a name.

        Raises:
            NotFound: No entity has this name; the remedy suggests similar ones.
            Ambiguous: Several have it.
        """
        text = _writable(text).strip()
        if "--" in text:
            return self.require(text.removeprefix("entity:"))
        matches = self._lookup.resolve(text)
        sure = {file.id: file for match in matches if match.how != "near" and (file := self._live(match))}
        if len(sure) == 1:
            return next(iter(sure.values()))
        if sure:
            raise Ambiguous(
                f"“{clip(text)}” may be {', '.join(sorted(sure))}.", remedy="Name the entity by its id."
            )
        near = ", ".join(match.entity.id.removeprefix("entity:") for match in matches)
        raise NotFound(
            f"There is no entity “{clip(text)}”.",
            where=layout.ENTITIES,
            remedy=f"Did you mean {near}?" if near else "`workbench graph` lists the entities.",
        )

    def resolve(self, named: EntityName) -> ResolvedEntity:
        """Return the entity that a name means; a new one if no match is certain.

        An exact name, an alias or an acronym resolves. A similar name, or an acronym of several entities, creates a new
        entity with a question for a person. Of several entities with the same name the first is used, with a
        question.
        """
        if self.scope is not None:
            return self._resolve_in_scope(self.scope, *_type_and_label(named))
        if not named.type:
            return _resolved(self.require(named.name))
        label = clean_name(named.name)
        for made in self._made:
            if made.type == named.type and same_name(made.label, label):
                return made
        matches = self._lookup.resolve(label, named.type)
        if not any(self._sure(match, label) for match in matches) and not named.given:
            # The type was only guessed from the text; a name known under another type means that one.
            matches = (*(m for m in self._lookup.resolve(label) if m.how in ("exact", "alias")), *matches)
        sure = self._sure_files(matches, label)
        if sure:
            return self._choose(label, sure)
        return self._create(label, named.type, matches)

    def _resolve_in_scope(self, scope: str, entity_type: str, label: str) -> ResolvedEntity:
        """Return the entity that a name means within a scope, ignoring everything hidden from it."""
        known = self._seen_in_scope(entity_type, label)
        if known is not None:
            return known
        entity, file = next(
            (entity, file)
            for entity in numbered(entity_id(entity_type, label).name)
            if (file := self.read(entity)) is None or merged_into(file) is None
        )
        path = entity_path(entity, self.draft)
        if file is None:
            file = EntityFile.create(path, label=label, created=self.today, scope=scope)
            self.save(file, f"new entity “{label}” ({entity_type})", Action.CREATE)
        elif file.scope != scope:
            # Its audience may not learn the entity's stored name, only their own name for it.
            self.save(file.add_name_for(scope, label), f"called “{clip(label)}” by {scope}")
        made = ResolvedEntity(entity, entity_type, label, path)
        self._made.append(made)
        return made

    def _seen_in_scope(self, entity_type: str, label: str) -> ResolvedEntity | None:
        for made in self._made:
            if made.type == entity_type and same_name(made.label, label):
                return made
        for match in self._lookup.resolve(label, entity_type):
            if match.how != "exact" or not self._sure(match, label):
                continue
            entity = match.entity.id.removeprefix("entity:")
            file = self.read(entity)
            if file is not None and merged_into(file) is None:
                return ResolvedEntity(entity, entity_type, label, file.path)
        return None

    def called(self, name: str) -> list[EntityMatch]:
        """Return the entities of any type with a name."""
        matches = self._lookup.resolve(name)
        return [match for match in matches if match.how in ("exact", "alias") and self._sure(match, name)]

    def make(self, entity_type: str, name: str) -> ResolvedEntity:
        """Create an entity; similar names become questions.

        Args:
            entity_type: One of the usual types, or another word.

        Raises:
            InvalidInput: The type or the name is invalid, or an entity of that type has this name.
        """
        label = clean_name(name)
        kind = _type_word(entity_type)
        matches = self._lookup.resolve(label, kind)
        named = [match for match in matches if match.how in ("exact", "alias") and self._sure(match, label)]
        files = [file for match in named if (file := self._live(match))]
        made = _resolved(files[0]) if files else self._create(label, kind, matches)
        if not made.created:
            raise InvalidInput(
                f"[[{made.id}]] is called “{label}” already.",
                where=made.path,
                remedy="Give the other one a name that tells the two apart, for example with a place or a year.",
            )
        return made

    def known(self, named: EntityName) -> ResolvedEntity | None:
        """Return the entity that a name certainly means, or None; creates nothing."""
        if self.scope is not None:
            return self._seen_in_scope(*_type_and_label(named))
        if not named.type:
            return _resolved(self.require(named.name))
        label = clean_name(named.name)
        sure = self._sure_files(self._lookup.resolve(label, named.type), label)
        return _resolved(next(iter(sure.values()))) if sure else None

    def _sure(self, match: EntityMatch, label: str) -> bool:
        if match.how == "acronym":
            return True
        names = (match.entity.label, *match.entity.aliases)
        return match.how in ("exact", "alias") and any(same_name(label, name) for name in names)

    def _sure_files(self, matches: tuple[EntityMatch, ...], label: str) -> dict[str, EntityFile]:
        named = [match for match in matches if match.how != "acronym" and self._sure(match, label)]
        named.sort(key=lambda match: (match.how != "exact", match.entity.id))
        files = {file.id: file for match in named if (file := self._live(match))}
        if files:
            return files
        acronyms = {file.id: file for m in matches if m.how == "acronym" and (file := self._live(m))}
        return acronyms if len(acronyms) == 1 else {}

    def _live(self, match: EntityMatch) -> EntityFile | None:
        try:
            return self.require(match.entity.id)
        except NotFound:
            # The lookup may lag behind the files, which are authoritative.
            return None

    def _choose(self, label: str, files: dict[str, EntityFile]) -> ResolvedEntity:
        chosen = _resolved(next(iter(files.values())))
        if len(files) == 1:
            return chosen
        others = " or ".join(f"[[{entity}]]" for entity in files if entity != chosen.id)
        question = f"“{label}” was taken to be [[{chosen.id}]]. Was {others} meant?"
        return ResolvedEntity(chosen.id, chosen.type, chosen.label, chosen.path, questions=(question,))

    def _create(self, label: str, entity_type: str, matches: tuple[EntityMatch, ...]) -> ResolvedEntity:
        entity, known = self._free_id(entity_type, label)
        if known is not None:
            return _resolved(known)
        path = entity_path(entity, self.draft)
        file = EntityFile.create(path, label=label, created=self.today)
        near = dict.fromkeys(
            match.entity.id.removeprefix("entity:")
            for match in matches
            if any(may_be_same(label, name) for name in (match.entity.label, *match.entity.aliases))
        )
        questions = []
        for other in near:
            file = file.add_question(f"Is this the same as [[{link_to(other, self.stem(other))}]]?")
            questions.append(f"Is [[{entity}]] the same as [[{other}]]?")
        self.save(file, f"new entity “{label}” ({entity_type})", Action.CREATE)
        made = ResolvedEntity(entity, entity_type, label, path, created=True, questions=tuple(questions))
        self._made.append(made)
        return made

    def _free_id(self, entity_type: str, label: str) -> tuple[str, EntityFile | None]:
        """Return an unused id, or the entity of that very name that the lookup missed."""
        entities = numbered(entity_id(entity_type, label).name)
        while True:
            entity = next(entities)
            file = self.read(entity)
            if file is None:
                return entity, None
            if merged_into(file) is None and any(same_name(label, n) for n in (file.label, *file.aliases)):
                return entity, file


def _writable(text: str) -> str:
    """Remove characters that no file name or catalog can hold: NUL and surrogates."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _type_and_label(named: EntityName) -> tuple[str, str]:
    """Return the type and label contained in a name; an id gives its type and the words of its slug."""
    if named.type:
        return named.type, clean_name(named.name)
    kind, _, rest = named.name.partition("--")
    return kind, clean_name(rest.replace("-", " "))


def _type_word(text: str) -> str:
    """Return a type as used in ids: `board-game`."""
    word = entity_type(text)
    if not word:
        raise InvalidInput(
            f"“{clip(text, 40)}” is no type of entity.",
            remedy=f"Use {', '.join(ENTITY_TYPES)}, or another short word.",
        )
    return word


def _resolved(file: EntityFile) -> ResolvedEntity:
    return ResolvedEntity(file.id, file.type, file.label, file.path)
