"""The kinds of change that a reflection may propose: how each is written, where it stands and how much is at risk."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from workbench.engine.values import dataclass


class Kind(StrEnum):
    """The operation of an item, as it stands in `pending-reflection.md` before “for”."""

    FACT = "fact"
    ENTITY = "entity"
    RELATION = "relation"
    MERGE = "merge"
    SUPERSESSION = "supersession"
    CONTRADICTION = "contradiction"
    ARCHIVE = "archive"
    RESTORE = "restore"
    PROCEDURE = "procedure"
    CORE_CHANGE = "core change"
    PROMOTION = "promotion"
    DEMOTION = "demotion"
    VAULT_PIN = "vault pin"
    INSIGHT = "insight"
    QUESTION = "question"


class Risk(StrEnum):
    """How much an approval by mistake would cost: `low` adds, `medium` changes or hides, `high` alters core memory."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class KindForm:
    """How items of a kind are written (the grammar of `reflection/items.py` and of `reflection/review`).

    Args:
        section: The heading of `pending-reflection.md` it stands under (design document §10.5).
        risk: See `Risk`.
    """

    section: str
    risk: Risk


SUMMARY: Final = "Summary"
"""The heading of what a person reads before the items."""
KNOWLEDGE: Final = "🧠 New knowledge extracted"
CONNECTIONS: Final = "🔗 New connections"
UPDATES: Final = "🔁 What has changed"
CONTRADICTIONS: Final = "⚠️ Contradictions detected"
PROCEDURES: Final = "🛠️ Ways of working"
ARCHIVAL: Final = "📦 Proposed archival"
CORE: Final = "✏️ Core memory changes"
EVOLUTION: Final = "🌱 Philosophical evolution"
QUESTIONS: Final = "❓ Questions for you"

SECTIONS: Final = (
    CONTRADICTIONS,
    UPDATES,
    CORE,
    KNOWLEDGE,
    CONNECTIONS,
    PROCEDURES,
    ARCHIVAL,
    EVOLUTION,
    QUESTIONS,
)
"""The headings in the order of the file: what needs judgement first."""

FORMS: Final[dict[Kind, KindForm]] = {
    Kind.FACT: KindForm(KNOWLEDGE, Risk.LOW),
    Kind.ENTITY: KindForm(KNOWLEDGE, Risk.LOW),
    Kind.RELATION: KindForm(CONNECTIONS, Risk.LOW),
    Kind.MERGE: KindForm(CONNECTIONS, Risk.MEDIUM),
    Kind.SUPERSESSION: KindForm(UPDATES, Risk.MEDIUM),
    Kind.CONTRADICTION: KindForm(CONTRADICTIONS, Risk.MEDIUM),
    Kind.ARCHIVE: KindForm(ARCHIVAL, Risk.MEDIUM),
    Kind.RESTORE: KindForm(ARCHIVAL, Risk.LOW),
    Kind.PROCEDURE: KindForm(PROCEDURES, Risk.LOW),
    Kind.CORE_CHANGE: KindForm(CORE, Risk.HIGH),
    Kind.PROMOTION: KindForm(CORE, Risk.HIGH),
    Kind.DEMOTION: KindForm(CORE, Risk.HIGH),
    Kind.VAULT_PIN: KindForm(ARCHIVAL, Risk.LOW),
    Kind.INSIGHT: KindForm(EVOLUTION, Risk.LOW),
    Kind.QUESTION: KindForm(QUESTIONS, Risk.LOW),
}


def kind_of(text: str) -> Kind | None:
    """Return the kind that a word of the file names, in any case; None where there is no such kind."""
    try:
        return Kind(" ".join(text.split()).casefold())
    except ValueError:
        return None
