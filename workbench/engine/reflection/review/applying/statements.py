"""Values that change and statements that contradict each other, as decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput, Stale
from workbench.engine.markdown.statements import Provenance, parse_statement
from workbench.engine.memory.draft import Stored
from workbench.engine.memory.graph import (
    add_fact,
    find_fact,
    record_past_fact,
    retire,
    retire_stated,
    same_fact,
)
from workbench.engine.memory.wording import clean_line, clip, text_key
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.memory.graph import Origin
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.item_changes import Deciding, Superseding

_OLD, _NEW = slice(0, 1), slice(1, None)


def supersede(step: Step, change: Superseding) -> None:
    """Replace an old value by a new one, which keeps its line with the days to which it held.

    Raises:
        InvalidInput: Both say the same.
        Stale: The recorded old value no longer holds.
        NotFound: There is no such entity or fact.
    """
    if change.old and text_key(change.old) == text_key(change.new):
        raise InvalidInput(
            "The old and the new value say the same.", remedy="Reword one, or reject the item."
        )
    files = step.files
    recorded = _recorded(step, change.fact)
    origin = step.origin(change.since, _NEW)
    proposed = step.corrected(_NEW)
    stated = add_fact(files, change.entity, change.new, step.own_origin() if proposed else origin)
    block = _block(stated)
    if proposed:
        step.ids.append(record_past_fact(files, change.entity, proposed, origin, by=block).id)
    until = change.until or change.since or origin.since
    step.ids.append(stated.id)
    step.warnings.extend(stated.warnings)
    if recorded:
        file, fact = find_fact(files, recorded)
        if fact.block_id != block:
            retire(files, file, fact, until=until, by=block)
    elif retire_stated(files, change.entity, change.old, until=until, by=block) is None:
        was = replace(step.origin(change.held_since, _OLD), since=change.held_since)
        past = record_past_fact(files, change.entity, change.old, was, until=until, by=block)
        step.ids.append(past.id)


def decide(step: Step, change: Deciding) -> None:
    """Let the chosen statements hold, and a recorded one that lost hold no longer.

    Raises:
        Stale: The recorded statement no longer holds.
        NotFound: There is no such entity or fact.
        InvalidInput: A statement cannot be kept.
    """
    recorded = _recorded(step, change.fact)
    this = _chosen(step, change.this, _OLD) if change.resolve in ("this", "both") else None
    that = _chosen(step, change.that, _NEW) if change.resolve in ("that", "both") else None
    winner: Stored | None = None
    since: str | None = None
    if this is not None:
        winner = _state(step, change.entity, this, recorded)
        since = this.origin.since
    if that is not None:
        winner = _state(step, change.entity, that, None)
        since = that.origin.since
    if winner is None or change.resolve == "both":
        return
    block, files = _block(winner), step.files
    if change.resolve == "that" and recorded:
        file, fact = find_fact(files, recorded)
        if fact.block_id != block:
            retire(files, file, fact, until=since, by=block)
    else:
        loser = change.that if change.resolve == "this" else change.this
        if loser:
            retire_stated(files, change.entity, _bare(loser), until=since, by=block)


@dataclass(frozen=True)
class _Chosen:
    """A statement that shall hold: its words, and dates that the person wrote into it."""

    text: str
    since: str | None
    until: str | None
    origin: Origin


def _chosen(step: Step, text: str, part: slice) -> _Chosen:
    known = parse_statement(text)
    since, until = known.provenance.since, known.provenance.until
    return _Chosen(known.text, since, until, step.origin(since, part))


def _bare(text: str) -> str:
    return parse_statement(text).text


def _state(step: Step, entity: str, chosen: _Chosen, recorded: str | None) -> Stored:
    """Record a statement, as another wording of the recorded one where there is one."""
    files = step.files
    over = chosen.until is not None and chosen.until <= step.today[: len(chosen.until)]
    if recorded is not None:
        file, fact = find_fact(files, recorded)
        known = replace(
            fact.provenance,
            since=chosen.since or fact.provenance.since,
            until=chosen.until or fact.provenance.until,
        )
        stated = Stored(recorded, file.path, fresh=False)
        text = clean_line(chosen.text).text
        if text_key(text) != text_key(fact.text) or known != fact.provenance:
            block = fact.block_id or ""
            changed = file.replace_fact(block, text).set_provenance(block, known)
            files.save(changed, f"changed “{clip(fact.text, 60)}” to “{clip(text, 60)}”")
        if over:
            file, fact = find_fact(files, recorded)
            retire(files, file, fact, until=chosen.until)
    elif over:
        stated = record_past_fact(files, entity, chosen.text, chosen.origin, until=chosen.until)
    else:
        stated = add_fact(files, entity, chosen.text, chosen.origin)
        if chosen.until is not None and stated.fresh:
            _hold_until(step, stated, chosen)
    step.ids.append(stated.id)
    step.warnings.extend(stated.warnings)
    return stated


def _hold_until(step: Step, stated: Stored, chosen: _Chosen) -> None:
    files = step.files
    file, fact = find_fact(files, stated.id)
    known: Provenance = replace(fact.provenance, until=chosen.until)
    files.save(file.set_provenance(fact.block_id or "", known), f"dated “{clip(fact.text, 60)}”")


def _recorded(step: Step, fact_id: str | None) -> str | None:
    """Return the id of the recorded fact, where the item names one.

    Raises:
        Stale: It no longer holds.
    """
    if fact_id is None:
        return None
    file, fact = find_fact(step.files, fact_id)
    if fact.retired or same_fact(file, fact.text) is None:
        raise Stale(
            f"“{clip(fact.text)}” no longer holds already.",
            where=file.path,
            remedy="Reject the item, or let it be about the entity instead of that fact.",
        )
    return fact_id


def _block(stated: Stored) -> str | None:
    return stated.id.rpartition("#^")[2] if "#^" in stated.id else None
