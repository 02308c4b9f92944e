"""Makes proposed changes of a model's answer, item by item; what does not hold is dropped with the reason.

By a name or an id a model means a known entity, or one that the same reflection proposes. Its words are made fit to be
kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.catalog.records import FactRecord
from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import entity_id, slug
from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import clean_line, clean_name, clip, one_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.reflection.model import Passage
from workbench.engine.reflection.model_mind.showing import item_schema, problem_with
from workbench.engine.results.decay import DecayEntry
from workbench.engine.results.memories import CoreItem
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.model_mind.showing import Shown, Source, What

_MOST_ALIASES: Final = 8
_MOST_STEPS: Final = 20
Said = dict[str, Any]
Reader = Callable[["ItemContext", Said], "ReviewItem"]
"""Makes an item of what keeps the schema of its kind; raises `Unusable` or `InvalidInput` where it does not hold."""

_LONGEST: Final = 500
_LONGEST_REASON: Final = 240
_DAY: Final = lazy_pattern(r"\d{4}-\d{2}-\d{2}")
_OWNER_WORDS: Final = frozenset({"user", "the user", "owner", "the owner"})
_NOBODY: Final = frozenset({"user", "assistant", "system", "tool", "bot", "ai"})


@dataclass(frozen=True)
class Read:
    """What came of an answer: items in its order, entities first, and why others were dropped, a clause each."""

    items: tuple[ReviewItem, ...]
    dropped: tuple[str, ...]


def read_items(said: Iterable[object], context: ItemContext, kinds: Sequence[Kind]) -> Read:
    """Make items of what a model said, each checked against its schema and against what was shown.

    Args:
        said: As JSON gives it.
        context: What it is read against.
        kinds: That were asked for.
    """
    items: list[ReviewItem] = []
    dropped: list[str] = []
    # What is about a new entity may stand before it.
    for each in sorted(said, key=lambda item: not _is_entity(item)):
        try:
            items.append(_one(each, context, kinds))
        except Unusable as reason:
            dropped.append(f"{_named(each)}: {reason}")
        except InvalidInput as error:
            dropped.append(f"{_named(each)}: {error.message}")
    return Read(tuple(items), tuple(dropped))


def _one(said: object, context: ItemContext, kinds: Sequence[Kind]) -> ReviewItem:
    named = said.get("kind") if isinstance(said, dict) else None
    kind = kind_of(named) if isinstance(named, str) else None
    if not isinstance(said, dict) or kind is None or kind not in kinds:
        raise Unusable("it is none of the kinds that were asked for")
    problem = problem_with(said, item_schema(kind, context.snapshot.relations))
    if problem:
        raise Unusable(problem)
    return _READERS[kind](context, said)


def _is_entity(item: object) -> bool:
    return isinstance(item, dict) and item.get("kind") == Kind.ENTITY


def _named(item: object) -> str:
    """Return what a dropped item is called in the account of an answer."""
    if not isinstance(item, dict):
        return "an item"
    kind, *said = (item.get(key) for key in ("kind", "text", "name", "new", "question", "title"))
    about = next((text for text in said if isinstance(text, str) and text.strip()), "")
    name = kind[:20] if isinstance(kind, str) else "an item"
    return one_line(f"{name} “{about[:60]}”" if about else name)


# Reads what a model says about the world: entities, facts, relations, merges, updates and contradictions.


def _entity(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    name = clean_name(said["name"])
    if not any(name.casefold() in _words_of(source) for source in context.cited(said)):
        raise Unusable("what it cites does not name it")
    aliases = [clean_name(alias) for alias in said["aliases"][:_MOST_ALIASES] if alias.strip()]
    return forms.entity(
        context.targets.propose(name, said["type"]),
        name,
        evidence,
        reason=reason(said),
        confidence=said["confidence"],
        aliases=[alias for alias in dict.fromkeys(aliases) if alias.casefold() != name.casefold()],
        summary=line(said["summary"]) if said["summary"].strip() else "",
    )


def _fact(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    text = line(said["text"])
    if said["replaces"].strip():
        source = context.source(said["replaces"], "fact")
        if "#^" not in source.id:
            raise Unusable("the fact that it replaces has no id of its own")
        if same(source.text, text):
            raise Unusable("it replaces a fact by itself")
        return forms.fact(
            source.id,
            text,
            evidence,
            reason=reason(said),
            confidence=said["confidence"],
            since=day(said["since"]),
            before=source.text,
        )
    target = context.targets.find(said["about"])
    known = context.snapshot.graph.facts_of(f"entity:{target.id}") if not target.proposed else ()
    if any(same(fact.text, text) for fact in known):
        raise Unusable("the fact is recorded already")
    return forms.fact(
        target.id,
        text,
        evidence,
        reason=reason(said),
        confidence=said["confidence"],
        since=day(said["since"]),
        needs=target.needs,
    )


def _relation(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    start, end = context.targets.find(said["from"]), context.targets.find(said["to"])
    if start.id == end.id:
        raise Unusable("it relates an entity to itself")
    if not start.proposed and any(
        (edge.relation, edge.to) == (said["relation"], f"entity:{end.id}")
        for edge in context.snapshot.graph.edges_of(f"entity:{start.id}")
    ):
        raise Unusable("the relation is recorded already")
    return forms.relation(
        start.id,
        said["relation"],
        end.id,
        evidence,
        reason=reason(said),
        confidence=said["confidence"],
        since=day(said["since"]),
        needs=(*start.needs, *end.needs),
    )


def _merge(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    keep, absorb = context.targets.find(said["keep"]), context.targets.find(said["absorb"])
    if keep.id == absorb.id or keep.proposed or absorb.proposed:
        raise Unusable("it does not merge two entities that are known")
    return forms.merge(keep.id, absorb.id, evidence, reason=reason(said), confidence=said["confidence"])


def _supersession(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said, least=2)
    old, new = line(said["old"]), line(said["new"])
    if same(old, new):
        raise Unusable("old and new are the same")
    first, *_, last = context.cited(said)
    target = _recorded(first)
    since = day(said["since"]) or day_of(last)
    about = target or context.targets.find(said["about"])
    return forms.supersession(
        about.id,
        one_line(first.text) if target else old,
        new,
        evidence,
        reason=reason(said),
        confidence=said["confidence"],
        held_since=day_of(first),
        until=since,
        since=since,
        needs=about.needs,
    )


def _contradiction(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said, least=2)
    this, that = line(said["this"]), line(said["that"])
    if same(this, that):
        raise Unusable("both statements are the same")
    about = _recorded(context.cited(said)[0]) or context.targets.find(said["about"])
    return forms.contradiction(
        about.id,
        line(said["question"]),
        this,
        that,
        evidence,
        reason=reason(said),
        confidence=said["confidence"],
        needs=about.needs,
    )


def _recorded(source: Source) -> Target | None:
    """Return the fact of the graph that is cited, where it has an id of its own."""
    return Target(source.id, proposed=False) if source.what == "fact" and "#^" in source.id else None


def _words_of(source: Source) -> str:
    """Return all that a memory says, folded: its text, and who says it under which tags."""
    record = source.record
    names = (record.speaker, *record.tags) if isinstance(record, Passage) else ()
    return one_line(" ".join((source.text, *names))).casefold()


KNOWLEDGE_READERS: Final[Mapping[Kind, Reader]] = {
    Kind.ENTITY: _entity,
    Kind.FACT: _fact,
    Kind.RELATION: _relation,
    Kind.MERGE: _merge,
    Kind.SUPERSESSION: _supersession,
    Kind.CONTRADICTION: _contradiction,
}
"""How each kind is read."""


# Reads what a model says about what stands already: procedures, fading, core memory, insights and questions.


def _procedure(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    title = clean_name(said["title"], what="The title of a procedure")
    steps = [line(step) for step in said["steps"][:_MOST_STEPS]]
    if len(steps) < 2:
        raise Unusable("it has fewer than two steps")
    known = {procedure.id: procedure for procedure in context.snapshot.procedures}
    wanted = said["changes"].strip()
    if wanted and wanted not in known:
        raise Unusable(f"{wanted[:60]!r} is no procedure")
    target = wanted or f"procedure:{slug(title)}"
    before = known[target].steps if target in known else ()
    if list(before) == steps:
        raise Unusable("the procedure is recorded already")
    return forms.procedure(
        target,
        title,
        steps,
        evidence,
        reason=reason(said),
        confidence=said["confidence"],
        when=line(said["when"]) if said["when"].strip() else "",
        steps_before=before,
    )


def _archive(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    source = context.source(said["memory"], "memory")
    entry = source.record
    if not isinstance(entry, DecayEntry) or entry.pinned:
        raise Unusable("it is protected from fading")
    return forms.archive(source.id, context.title(source), evidence, reason=reason(said), score=entry.score)


def _restore(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    source = context.source(said["memory"], "archived")
    return forms.restore(source.id, context.title(source), evidence, reason=reason(said))


def _vault_pin(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    source = context.source(said["memory"], "memory", "often")
    if isinstance(source.record, DecayEntry) and source.record.pinned:
        raise Unusable("it is protected already")
    return forms.vault_pin(source.id, context.title(source), evidence, reason=reason(said))


def _core_change(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    text = line(said["text"])
    if said["replaces"].strip():
        source = context.source(said["replaces"], "core")
        if same(source.text, text):
            raise Unusable("core memory says so already")
        return forms.core_change(
            source.id,
            text,
            evidence,
            reason=reason(said),
            before=source.text,
            confidence=said["confidence"],
        )
    _not_in_core(context, text)
    return forms.core_change(
        f"core:{said['block']}", text, evidence, reason=reason(said), confidence=said["confidence"]
    )


def _promotion(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    source = context.source(said["memory"], "passage", "fact", "memory", "often")
    text = line(said["text"])
    _not_in_core(context, text)
    return forms.promotion(source.id, text, evidence, reason=reason(said), confidence=said["confidence"])


def _demotion(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    source = context.source(said["item"], "core")
    if isinstance(source.record, CoreItem) and source.record.pinned:
        raise Unusable("it is protected")
    return forms.demotion(
        source.id, source.text, evidence, reason=reason(said), confidence=said["confidence"]
    )


def _insight(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    text = line(said["text"])
    if any(same(insight.text, text) for insight in context.snapshot.insights):
        raise Unusable("it stands in evolution.md already")
    return forms.insight(said["section"], text, evidence, reason=reason(said), confidence=said["confidence"])


def _question(context: ItemContext, said: Said) -> ReviewItem:
    evidence = context.evidence(said)
    known = context.targets.known(said["about"]) if said["about"].strip() else None
    about = known.id.removeprefix("entity:") if known else ""
    return forms.question(line(said["text"]), evidence, reason=reason(said), about=about)


def _not_in_core(context: ItemContext, text: str) -> None:
    if any(same(item.text, text) for block in context.snapshot.core.blocks for item in block.items):
        raise Unusable("core memory says so already")


STANDING_READERS: Final[Mapping[Kind, Reader]] = {
    Kind.PROCEDURE: _procedure,
    Kind.ARCHIVE: _archive,
    Kind.RESTORE: _restore,
    Kind.VAULT_PIN: _vault_pin,
    Kind.CORE_CHANGE: _core_change,
    Kind.PROMOTION: _promotion,
    Kind.DEMOTION: _demotion,
    Kind.INSIGHT: _insight,
    Kind.QUESTION: _question,
}
"""How each kind is read."""

_READERS: Final[Mapping[Kind, Reader]] = {**KNOWLEDGE_READERS, **STANDING_READERS}


@dataclass(frozen=True)
class ItemContext:
    """Where an answer's items come from.

    Args:
        snapshot: What the reflection looks at.
        shown: What the model was shown.
        targets: Finds entities; learns those that are proposed.
    """

    snapshot: Snapshot
    shown: Shown
    targets: Targets

    def evidence(self, said: Said, least: int = 1) -> tuple[Evidence, ...]:
        """Return what an item cites, of so many different memories at least."""
        return read_evidence(said["evidence"], self.shown, least=least)

    def cited(self, said: Said) -> list[Source]:
        """Return the memories that an item cites, in its order."""
        return [source for each in said["evidence"] if (source := self.shown.find(each["ref"])) is not None]

    def source(self, ref: str, *whats: What) -> Source:
        """Return what a handle stands for.

        Raises:
            Unusable: It was not shown, or stands for something else than is wanted.
        """
        source = self.shown.find(ref)
        if source is None or source.what not in whats:
            raise Unusable(f"{ref[:20]!r} is nothing that this can be done to")
        return source

    def title(self, source: Source) -> str:
        """Return a line that names a memory."""
        return one_line(self.snapshot.titles(source.id)) or one_line(source.text)[:80]


def line(text: str) -> str:
    """Return a statement as one line without what must not be kept.

    Raises:
        InvalidInput: It is empty or too long.
    """
    return clean_line(text, what="What it says", limit=_LONGEST).text


def reason(said: Said) -> str:
    """Return an item's reason as one line, cut where it is long.

    Raises:
        InvalidInput: It is empty.
    """
    return clip(clean_line(said["reason"], what="Its reason").text, _LONGEST_REASON)


def same(one: str, other: str) -> bool:
    """Return whether two statements differ in no more than case, blanks and a final stop."""
    return one_line(one).casefold().rstrip(" .。") == one_line(other).casefold().rstrip(" .。")


def day(text: str) -> str | None:
    """Return an ISO date; None for what is none."""
    if _DAY.fullmatch(text.strip()) is None:
        return None
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        return None


def day_of(source: Source) -> str | None:
    """Return the ISO date since which a memory says what it says; None where nothing tells."""
    record = source.record
    if isinstance(record, FactRecord):
        return record.since
    return getattr(record, "day", None) or None


_LONGEST_QUOTE: Final = 200
_MOST: Final = 6
# Models write these as the other, one character for one.
_ALIKE: Final = str.maketrans("’‘“”–—\u00a0", "''\"\"-- ")
_AROUND: Final = " \"'“”‘’….,;"


def read_evidence(cited: Sequence[dict[str, Any]], shown: Shown, *, least: int = 1) -> tuple[Evidence, ...]:
    """Return what an item cites.

    Args:
        cited: Handles and quotes, as the schema of evidence has them.
        shown: What the model was shown.
        least: Different memories that have to be cited.

    Raises:
        Unusable: A handle was not shown, a quote is not in its memory, or there are too few.
    """
    found: dict[tuple[str, str], Evidence] = {}
    for each in cited[:_MOST]:
        source = shown.find(each["ref"])
        if source is None:
            raise Unusable(f"{each['ref'][:20]!r} was not shown")
        text = shown.text_of(source.id)
        quote = verbatim(each["quote"], source.text if text is None else text)
        if not quote:
            raise Unusable(f"{each['ref']} does not say “{one_line(each['quote'])[:60]}”")
        found.setdefault((source.id, quote), Evidence(source.id, quote))
    if len({evidence.id for evidence in found.values()}) < least:
        raise Unusable("it cites nothing" if least == 1 else "it does not cite both sides")
    return tuple(found.values())


def verbatim(quote: str, text: str) -> str:
    """Return a quote as the text has it, where only case, quotation marks, dashes or white space differ.

    Returns:
        Words of the text, at most 200 characters of them, on one line; empty where it does not say them.
    """
    whole = one_line(text)
    for wanted in (one_line(quote), one_line(quote).strip(_AROUND)):
        if not wanted:
            continue
        for fold in (str, _alike):
            at = fold(whole).find(fold(wanted))
            if at >= 0:
                return _shortened(whole[at : at + len(wanted)])
    return ""


def _alike(text: str) -> str:
    lowered = text.lower()
    # Some letters have a small form of two characters, and places would no longer match.
    return (lowered if len(lowered) == len(text) else text).translate(_ALIKE)


def _shortened(quote: str) -> str:
    if len(quote) <= _LONGEST_QUOTE:
        return quote.strip()
    cut = quote.rfind(" ", 0, _LONGEST_QUOTE + 1)
    return quote[: cut if cut > 0 else _LONGEST_QUOTE].strip()


@dataclass(frozen=True, slots=True)
class Target:
    """An entity `type--slug`, and whether a person has yet to approve that there is one."""

    id: str
    proposed: bool

    @property
    def needs(self) -> tuple[str, ...]:
        """Return what has to be approved before anything about it."""
        return (self.id,) if self.proposed else ()


def speakers_of(passages: Iterable[Passage]) -> frozenset[str]:
    """Return the people who speak in some passages; “user” and “assistant” are no names."""
    return frozenset(
        passage.speaker
        for passage in passages
        if passage.speaker and passage.speaker.casefold() not in _NOBODY
    )


@dataclass
class Targets:
    """Finds entities, and keeps those that this reflection proposes.

    Args:
        graph: Knows the entities there are.
        owner: The person's name; empty where core memory does not say.
        speakers: Who says something in what is new, as the labels have it.
        proposed: Labels of the proposed ones by their ids `type--slug`.
    """

    graph: Lookups
    owner: str
    speakers: frozenset[str]
    proposed: dict[str, str] = field(default_factory=dict)

    def known(self, name: str) -> EntityRecord | None:
        """Return the entity of the graph by that id or name, or None."""
        meant = self._meant(name)
        if "--" in meant and (found := self.graph.entity(f"entity:{meant}")) is not None:
            return found
        return self.graph.named(meant)

    def find(self, name: str) -> Target:
        """Return the entity that a name or id means.

        Who speaks is a person, whether or not one is proposed.

        Raises:
            Unusable: There is none, and none is proposed.
        """
        known = self.known(name)
        if known is not None:
            return Target(known.id.removeprefix("entity:"), proposed=False)
        meant = self._meant(name)
        for target, label in self.proposed.items():
            if meant == target or meant.casefold() == label.casefold():
                return Target(target, proposed=True)
        for person in (self.owner, *sorted(self.speakers)):
            target = str(entity_id("person", person)).removeprefix("entity:") if person else ""
            if target and meant.casefold() in (person.casefold(), target):
                return Target(target, proposed=True)
        raise Unusable(f"“{meant[:60]}” is no known or proposed entity")

    def propose(self, name: str, entity_type: str) -> str:
        """Return the id `type--slug` of a new entity.

        Raises:
            Unusable: There is one already.
        """
        target = str(entity_id(entity_type, name)).removeprefix("entity:")
        known = self.known(name) or self.known(target)
        if known is not None:
            raise Unusable(f"“{name}” is known already as {known.id.removeprefix('entity:')}")
        if target in self.proposed:
            raise Unusable(f"“{name}” is proposed already")
        self.proposed[target] = name
        return target

    def _meant(self, name: str) -> str:
        bare = name.strip().removeprefix("[[").removesuffix("]]").removeprefix("entity:")
        return self.owner if bare.casefold() in _OWNER_WORDS and self.owner else bare


class Unusable(ValueError):
    """An item says what it may not, or what nothing that was shown supports; its text is the reason, a clause."""
