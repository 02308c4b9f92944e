"""Reads what a model says about what stands already: procedures, fading, core memory, insights and questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import slug
from workbench.engine.memory.wording import clean_name
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model_mind.dropping import Unusable
from workbench.engine.reflection.model_mind.item_context import line, reason, same
from workbench.engine.results.decay import DecayEntry
from workbench.engine.results.memories import CoreItem

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model_mind.item_context import ItemContext, Reader, Said

_MOST_STEPS: Final = 20


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
