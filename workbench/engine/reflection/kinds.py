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
        verb: What an approval does, for people: “adds a fact”.
    """

    section: str
    risk: Risk
    verb: str


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
    Kind.FACT: KindForm(KNOWLEDGE, Risk.LOW, "adds or rewords a fact"),
    Kind.ENTITY: KindForm(KNOWLEDGE, Risk.LOW, "adds an entity"),
    Kind.RELATION: KindForm(CONNECTIONS, Risk.LOW, "links two entities"),
    Kind.MERGE: KindForm(CONNECTIONS, Risk.MEDIUM, "makes two entities one"),
    Kind.SUPERSESSION: KindForm(UPDATES, Risk.MEDIUM, "puts a new value in an old one’s place"),
    Kind.CONTRADICTION: KindForm(CONTRADICTIONS, Risk.MEDIUM, "decides between two statements"),
    Kind.ARCHIVE: KindForm(ARCHIVAL, Risk.MEDIUM, "hides a faded memory"),
    Kind.RESTORE: KindForm(ARCHIVAL, Risk.LOW, "brings an archived memory back"),
    Kind.PROCEDURE: KindForm(PROCEDURES, Risk.LOW, "adds or changes a procedure"),
    Kind.CORE_CHANGE: KindForm(CORE, Risk.HIGH, "changes core memory"),
    Kind.PROMOTION: KindForm(CORE, Risk.HIGH, "puts it among the critical facts"),
    Kind.DEMOTION: KindForm(CORE, Risk.HIGH, "takes it out of core memory"),
    Kind.VAULT_PIN: KindForm(ARCHIVAL, Risk.LOW, "protects a memory from fading"),
    Kind.INSIGHT: KindForm(EVOLUTION, Risk.LOW, "adds to how understanding has evolved"),
    Kind.QUESTION: KindForm(QUESTIONS, Risk.LOW, "remembers your answer"),
}


def kind_of(text: str) -> Kind | None:
    """Return the kind that a word of the file names, in any case; None where there is no such kind."""
    try:
        return Kind(" ".join(text.split()).casefold())
    except ValueError:
        return None
