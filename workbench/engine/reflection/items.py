"""Proposed changes as the phases make them: one function for each kind, so that all are written alike.

Every item is a `ReviewItem` without an id; numbers are given when the proposal is written. What each kind puts where
is said here and nowhere else; `reflection/review` reads it the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.reflection.kinds import FORMS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Confidence = Literal["high", "medium", "low"]

SINCE: Final = "since"
"""ISO date from which a new fact, relation or value holds."""
UNTIL: Final = "until"
"""ISO date to which the old value of a supersession held; its own beginning is `HELD_SINCE`."""
HELD_SINCE: Final = "held since"
ALIASES: Final = "aliases"
"""Further names of a new entity, joined by “; ”."""
SUMMARY: Final = "summary"
THIS: Final = "this"
THAT: Final = "that"
"""The two statements of a contradiction; a person may add scope or dates to them."""
RESOLVE: Final = "resolve"
RESOLUTIONS: Final = ("ask", "this", "that", "both")
"""How a contradiction is decided. Approved with `ask`, it waits."""
WHEN: Final = "when"
STEPS: Final = "steps"
"""The steps of a procedure, one per line, numbered `1. …`."""
OF: Final = "of"
"""The memory that a promotion says in core memory."""
SCORE: Final = "score"
ANSWER: Final = "answer"
"""What the person answers to a question; becomes a memory, or what core memory says."""
UNANSWERED: Final = "…"
WRITES: Final = "writes"
"""What the answer to a question makes core memory say."""
RESEMBLES: Final = "resembles"
"""A rejected item that this one is close to, and since when there is something new to it."""
AS_OF: Final = "as of"
"""Digest of what the item would change, as it read when it was proposed (`reflection/review` writes and checks it)."""
PROPOSED: Final = "proposed"
BY_HAND: Final = "by hand"
"""Who thought of an item, where no reflection did."""
OF_PROPOSAL: Final = "of proposal"
"""The proposal of an agent, `#3`, that was left to the reflection and became the item."""


def fact(
    entity: str,
    text: str,
    evidence: Sequence[Evidence],
    *,
    reason: str,
    confidence: Confidence = "medium",
    since: str | None = None,
    before: str = "",
    needs: Sequence[str] = (),
) -> ReviewItem:
    """Propose a fact, or with `before` another wording of one.

    Args:
        entity: `type--slug` of a known or proposed entity; for another wording the fact's id
            `entity:type--slug#^block`.
        text: A sentence that can be read alone, in the third person.
        evidence: Who says so, with the words.
        reason: One sentence.
        confidence: How surely it is true and worth keeping.
        since: ISO date.
        before: What the fact says now, where it is reworded.
        needs: Targets (`type--slug`) of proposed entities that must be approved first.
    """
    return _item(Kind.FACT, entity, text, evidence, reason, confidence, before, needs, ((SINCE, since),))


def entity(
    entity_id: str,
    label: str,
    evidence: Sequence[Evidence],
    *,
    reason: str,
    confidence: Confidence = "medium",
    aliases: Iterable[str] = (),
    summary: str = "",
) -> ReviewItem:
    """Propose a new entity `type--slug` with its label; what follows from it gives that id as what it `needs`."""
    fields = ((ALIASES, "; ".join(aliases)), (SUMMARY, summary))
    return _item(Kind.ENTITY, entity_id, label, evidence, reason, confidence, fields=fields)


def relation(
    from_: str,
    name: str,
    to: str,
    evidence: Sequence[Evidence],
    *,
    reason: str,
    confidence: Confidence = "medium",
    since: str | None = None,
    needs: Sequence[str] = (),
) -> ReviewItem:
    """Propose a relation between two entities (`type--slug`), of the workspace's vocabulary."""
    text = f"{name} [[{to}]]"
    return _item(
        Kind.RELATION, from_, text, evidence, reason, confidence, needs=needs, fields=((SINCE, since),)
    )


def merge(
    keep: str,
    absorb: str,
    evidence: Sequence[Evidence],
    *,
    reason: str,
    confidence: Confidence = "medium",
) -> ReviewItem:
    """Propose that the entity `absorb` goes into `keep` (`type--slug` both)."""
    return _item(Kind.MERGE, keep, f"[[{absorb}]] is the same", evidence, reason, confidence)


def supersession(
    target: str,
    old: str,
    new: str,
    evidence: Sequence[Evidence],
    *,
    reason: str,
    confidence: Confidence = "medium",
    held_since: str | None = None,
    until: str | None = None,
    since: str | None = None,
    needs: Sequence[str] = (),
) -> ReviewItem:
    """Propose that a new value takes an old one's place.

    Args:
        target: The fact's id `entity:type--slug#^block` where the graph says the old value, else the entity
            `type--slug` that both statements are about.
        old: The old statement, a sentence.
        new: The new one.
        evidence: Both sides, the old one first.
        reason: One sentence.
        confidence: How surely the new one replaces the old.
        held_since: ISO date of the old statement.
        until: ISO date to which it held.
        since: ISO date of the new one.
        needs: As for a fact.
    """
    fields = ((HELD_SINCE, held_since), (UNTIL, until), (SINCE, since))
    return _item(Kind.SUPERSESSION, target, new, evidence, reason, confidence, old, needs, fields)


def contradiction(
    target: str,
    question: str,
    this: str,
    that: str,
    evidence: Sequence[Evidence],
    *,
    reason: str,
    confidence: Confidence = "medium",
    needs: Sequence[str] = (),
) -> ReviewItem:
    """Lay two statements that cannot both hold before the person; there is no winner by itself.

    Args:
        target: The entity `type--slug`, or the id of the recorded fact that `this` repeats.
        question: One line: what they disagree about.
        this: The earlier statement, a sentence.
        that: The later one.
        evidence: Both sides, `this` first.
        reason: One sentence.
        confidence: How surely they contradict each other.
        needs: As for a fact.
    """
    fields = ((THIS, this), (THAT, that), (RESOLVE, "ask"))
    return _item(
        Kind.CONTRADICTION, target, question, evidence, reason, confidence, needs=needs, fields=fields
    )


def archive(
    memory: str, title: str, evidence: Sequence[Evidence], *, reason: str, score: float
) -> ReviewItem:
    """Propose to hide a faded memory, by its id."""
    fields = ((SCORE, f"{score:.3f}"),)
    return _item(Kind.ARCHIVE, memory, title, evidence, reason, "medium", fields=fields)


def restore(memory: str, title: str, evidence: Sequence[Evidence], *, reason: str) -> ReviewItem:
    """Propose to bring an archived memory back, by its id."""
    return _item(Kind.RESTORE, memory, title, evidence, reason, "medium")


def procedure(
    procedure_id: str,
    title: str,
    steps: Sequence[str],
    evidence: Sequence[Evidence],
    *,
    reason: str,
    confidence: Confidence = "medium",
    when: str = "",
    steps_before: Sequence[str] = (),
) -> ReviewItem:
    """Propose a procedure `procedure:slug`, or with `steps_before` other steps for a known one."""
    fields = ((WHEN, when), (STEPS, numbered(steps)))
    before = numbered(steps_before)
    return _item(Kind.PROCEDURE, procedure_id, title, evidence, reason, confidence, before, fields=fields)


def core_change(
    target: str,
    text: str,
    evidence: Sequence[Evidence],
    *,
    reason: str,
    before: str = "",
    confidence: Confidence = "medium",
) -> ReviewItem:
    """Propose another text for an item `core:block:item`, or with the target `core:block` a new item."""
    return _item(Kind.CORE_CHANGE, target, text, evidence, reason, confidence, before)


def promotion(
    memory: str, text: str, evidence: Sequence[Evidence], *, reason: str, confidence: Confidence = "medium"
) -> ReviewItem:
    """Propose that a memory, by its id, is also said among the critical facts."""
    fields = ((OF, memory),)
    return _item(Kind.PROMOTION, "core:critical-facts", text, evidence, reason, confidence, fields=fields)


def demotion(
    item: str, before: str, evidence: Sequence[Evidence], *, reason: str, confidence: Confidence = "medium"
) -> ReviewItem:
    """Propose that an item `core:block:item` leaves core memory; it is archived and can be restored."""
    return _item(Kind.DEMOTION, item, "out of core memory, archived", evidence, reason, confidence, before)


def vault_pin(
    memory: str, title: str, evidence: Sequence[Evidence], *, reason: str, confidence: Confidence = "medium"
) -> ReviewItem:
    """Propose to protect a memory, by its id, from fading."""
    return _item(Kind.VAULT_PIN, memory, title, evidence, reason, confidence)


def insight(
    section: str, text: str, evidence: Sequence[Evidence], *, reason: str, confidence: Confidence = "medium"
) -> ReviewItem:
    """Propose an insight for a section of `evolution.md`: `Insights`, `Active Threads`, `Milestones` …"""
    return _item(Kind.INSIGHT, f"evolution:{section}", text, evidence, reason, confidence)


def question(
    text: str, evidence: Sequence[Evidence], *, reason: str, about: str = "", writes: str = ""
) -> ReviewItem:
    """Ask the person something.

    Args:
        about: The entity `type--slug` that the answer will be about; or the block of core memory (`core:block`), or
            the item of one (`core:block:item`), that the answer is written into. Without `writes`, “no” takes the
            item out, “yes” keeps it, and other words replace it.
        writes: What core memory will say, with “…” where the answer goes.
    """
    fields = ((WRITES, writes),) if writes else ()
    return _item(Kind.QUESTION, about, text, evidence, reason, "", fields=(*fields, (ANSWER, UNANSWERED)))


def fields_of(item: ReviewItem) -> dict[str, str]:
    """Return what an item says under each label, labels in small letters; of two the first counts."""
    said: dict[str, str] = {}
    for label, text in item.fields:
        said.setdefault(" ".join(label.split()).casefold(), text)
    return said


def field_of(item: ReviewItem, label: str) -> str:
    """Return what an item says under a label, in any case of the label; empty where it says nothing."""
    return fields_of(item).get(label, "").strip()


def is_by_hand(item: ReviewItem) -> bool:
    """Return whether somebody put an item before a person without a reflection."""
    return field_of(item, PROPOSED) == BY_HAND


def numbered(steps: Sequence[str]) -> str:
    """Return steps as the lines of a numbered list."""
    return "\n".join(f"{number}. {' '.join(step.split())}" for number, step in enumerate(steps, 1))


def _item(
    kind: Kind,
    target: str,
    text: str,
    evidence: Sequence[Evidence],
    reason: str,
    confidence: str,
    before: str = "",
    needs: Sequence[str] = (),
    fields: Sequence[tuple[str, str | None]] = (),
) -> ReviewItem:
    return ReviewItem(
        "",
        str(kind),
        text,
        target,
        before,
        confidence,
        reason,
        tuple(evidence),
        tuple(needs),
        tuple((label, value) for label, value in fields if value),
        section=FORMS[kind].section,
    )
