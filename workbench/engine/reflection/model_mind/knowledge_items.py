"""Reads what a model says about the world: entities, facts, relations, merges, updates and contradictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from workbench.engine.memory.wording import clean_name, one_line
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Passage
from workbench.engine.reflection.model_mind.dropping import Unusable
from workbench.engine.reflection.model_mind.item_context import day, day_of, line, reason, same
from workbench.engine.reflection.model_mind.targets import Target

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model_mind.item_context import ItemContext, Reader, Said
    from workbench.engine.reflection.model_mind.showing import Source

_MOST_ALIASES: Final = 8


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
