"""Facts that no longer hold when they are learned of, and facts found by what they say rather than by id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.documents.statement import Provenance
from workbench.engine.stores.semantic import Origin, Stated, same_fact
from workbench.engine.stores.wording import clean_line, clip, text_key

if TYPE_CHECKING:
    from workbench.engine.documents.entity import EntityFile, Fact
    from workbench.engine.stores.entities import EntityFiles


def record_past_fact(
    files: EntityFiles,
    entity: str,
    text: str,
    origin: Origin,
    *,
    until: str | None = None,
    by: str | None = None,
) -> Stated:
    """Write down under `## Superseded` what held once, unless it stands there already.

    Args:
        files: The entity files of the plan.
        entity: `type--slug`; merges are followed.
        text: A sentence.
        origin: Where it comes from; its `since` is left out where None.
        until: ISO date to which it held; today where None.
        by: Block id of the fact of the same entity that took its place, or None.

    Raises:
        InvalidInput: The text cannot be kept.
        NotFound: There is no such entity.
    """
    file = files.require(entity)
    wording = clean_line(text)
    for past in file.retired:
        if text_key(past.text) == text_key(wording.text) and past.block_id:
            return Stated(f"entity:{file.id}#^{past.block_id}", file.path, fresh=False)
    confidence = origin.confidence if origin.confidence != "high" else None
    known = Provenance(since=origin.since, sources=origin.sources, confidence=confidence)
    extended = file.add_fact(wording.text, known, block_id=files.new_block(file, "f", wording.text))
    (block,) = extended.block_ids - file.block_ids
    added = next(fact for fact in extended.facts if fact.block_id == block)
    files.save(
        extended.retire_fact(added, until=until or files.today, superseded_by=by),
        f"noted that “{clip(wording.text)}” held once",
    )
    return Stated(f"entity:{file.id}#^{block}", file.path, fresh=True, warnings=wording.warnings)


def retire_stated(
    files: EntityFiles, entity: str, text: str, *, until: str | None = None, by: str | None = None
) -> Fact | None:
    """Let the fact that says a text no longer hold, whether or not it has an id; return it as it was.

    Args:
        files: The entity files of the plan.
        entity: `type--slug`; merges are followed.
        text: What it says.
        until: ISO date to which it held; today where None.
        by: Block id of the fact of the same entity that takes its place; that one is never retired.

    Raises:
        NotFound: There is no such entity.
    """
    file = files.require(entity)
    fact = same_fact(file, text)
    return retire_it(files, file, fact, until=until, by=by) if fact is not None else None


def retire_it(
    files: EntityFiles, file: EntityFile, fact: Fact, *, until: str | None = None, by: str | None = None
) -> Fact | None:
    """Let a fact of a file no longer hold; None where it is the very one that would take its place."""
    if by is not None and fact.block_id == by:
        return None
    block = None if fact.block_id else files.new_block(file, "f", fact.text)
    retired = file.retire_fact(fact, until=until or files.today, superseded_by=by, block_id=block)
    files.save(retired, f"retired fact “{clip(fact.text)}”")
    return fact
