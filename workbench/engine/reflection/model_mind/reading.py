"""Makes proposed changes of a model's answer, item by item; what does not hold is dropped with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import slug
from workbench.engine.memory.wording import clean_name, one_line
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.reflection.model import Passage
from workbench.engine.reflection.model_mind.dropping import Unusable
from workbench.engine.reflection.model_mind.item_context import day, day_of, line, reason, same
from workbench.engine.reflection.model_mind.schemas import item_schema, problem_with
from workbench.engine.reflection.model_mind.targets import Target
from workbench.engine.results.decay import DecayEntry
from workbench.engine.results.memories import CoreItem
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model_mind.item_context import ItemContext, Reader, Said
    from workbench.engine.reflection.model_mind.showing import Source

_MOST_ALIASES: Final = 8
_MOST_STEPS: Final = 20


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
