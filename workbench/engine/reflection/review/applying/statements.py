"""Values that change and statements that contradict each other, as decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput, Stale
from workbench.engine.markdown.statements import Provenance, parse_statement
from workbench.engine.memory.graph import (
    StoredStatement,
    add_fact,
    find_fact,
    record_past_fact,
    retire_it,
    retire_stated,
    same_fact,
)
from workbench.engine.memory.wording import clean_line, clip, text_key

if TYPE_CHECKING:
    from workbench.engine.memory.graph import Origin
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.asked import Deciding, Superseding

_OLD, _NEW = slice(0, 1), slice(1, None)


def supersede(step: Step, asked: Superseding) -> None:
    """Put a new value in the place of an old one, which keeps its line with the days to which it held.

    Raises:
        InvalidInput: Both say the same.
        Stale: The recorded old value no longer holds.
        NotFound: There is no such entity or fact.
    """
    if asked.old and text_key(asked.old) == text_key(asked.new):
        raise InvalidInput(
            "The old and the new value say the same.", remedy="Reword one, or reject the item."
        )
    files = step.files
    recorded = _recorded(step, asked.fact)
    origin = step.origin(asked.since, _NEW)
    stated = add_fact(files, asked.entity, asked.new, origin)
    block = _block(stated)
    until = asked.until or asked.since or origin.since
    step.ids.append(stated.id)
    step.warnings.extend(stated.warnings)
    if recorded:
        file, fact = find_fact(files, recorded)
        retire_it(files, file, fact, until=until, by=block)
    elif retire_stated(files, asked.entity, asked.old, until=until, by=block) is None:
        was = replace(step.origin(asked.held_since, _OLD), since=asked.held_since)
        past = record_past_fact(files, asked.entity, asked.old, was, until=until, by=block)
        step.ids.append(past.id)


def decide(step: Step, asked: Deciding) -> None:
    """Let the chosen statements hold, and a recorded one that lost hold no longer.

    Raises:
        Stale: The recorded statement no longer holds.
        NotFound: There is no such entity or fact.
        InvalidInput: A statement cannot be kept.
    """
    recorded = _recorded(step, asked.fact)
    this = _chosen(step, asked.this, _OLD) if asked.resolve in ("this", "both") else None
    that = _chosen(step, asked.that, _NEW) if asked.resolve in ("that", "both") else None
    winner: StoredStatement | None = None
    since: str | None = None
    if this is not None:
        winner = _state(step, asked.entity, this, recorded)
        since = this.origin.since
    if that is not None:
        winner = _state(step, asked.entity, that, None)
        since = that.origin.since
    if winner is None or asked.resolve == "both":
        return
    block, files = _block(winner), step.files
    if asked.resolve == "that" and recorded:
        file, fact = find_fact(files, recorded)
        retire_it(files, file, fact, until=since, by=block)
    else:
        loser = asked.that if asked.resolve == "this" else asked.this
        if loser:
            retire_stated(files, asked.entity, _bare(loser), until=since, by=block)


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


def _state(step: Step, entity: str, chosen: _Chosen, recorded: str | None) -> StoredStatement:
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
        stated = StoredStatement(recorded, file.path, fresh=False)
        text = clean_line(chosen.text).text
        if text_key(text) != text_key(fact.text) or known != fact.provenance:
            block = fact.block_id or ""
            changed = file.replace_fact(block, text).set_provenance(block, known)
            files.save(changed, f"changed “{clip(fact.text, 60)}” to “{clip(text, 60)}”")
        if over:
            file, fact = find_fact(files, recorded)
            retire_it(files, file, fact, until=chosen.until)
    elif over:
        stated = record_past_fact(files, entity, chosen.text, chosen.origin, until=chosen.until)
    else:
        stated = add_fact(files, entity, chosen.text, chosen.origin)
        if chosen.until is not None and stated.fresh:
            _hold_until(step, stated, chosen)
    step.ids.append(stated.id)
    step.warnings.extend(stated.warnings)
    return stated


def _hold_until(step: Step, stated: StoredStatement, chosen: _Chosen) -> None:
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


def _block(stated: StoredStatement) -> str | None:
    return stated.id.rpartition("#^")[2] if "#^" in stated.id else None
