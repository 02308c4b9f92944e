"""Whose words a passage holds: the person of the workspace, somebody else, or an agent who is not listened to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import entity_id
from workbench.engine.search.chunks import AGENT, PERSON
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.reflection.model import Passage, Snapshot

_NOBODY: Final = frozenset(
    (
        "system",
        "tool",
        "function",
        "note",
        "notes",
        "todo",
        "summary",
        "error",
        "warning",
        "unknown",
        "session",
    )
)
_NO_OWNER: Final = "User"
_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class Voice:
    """The one who says “I” in a passage.

    Args:
        entity: `person--maria`.
        label: The entity's label: “Maria Lund”.
        name: As sentences call the person: “Maria”.
        known: Whether the graph has the entity.
        is_owner: Whether it is the person whose memory it is, who talks to an agent.
    """

    entity: str
    label: str
    name: str
    known: bool
    is_owner: bool = False


class Voices:
    """Tells who speaks; each label is looked up in the graph once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._by_label: dict[str, Voice | None] = {}

    def of(self, passage: Passage) -> Voice | None:
        """Return who says “I” in a passage; None where an agent or no person speaks."""
        label = passage.speaker.strip()
        if label not in self._by_label:
            self._by_label[label] = self._voice(label)
        return self._by_label[label]

    @property
    def owner(self) -> Voice:
        """Return the person whose memory it is."""
        owner = self._snapshot.owner.strip() or _NO_OWNER
        return replace(self._person(owner), is_owner=True)

    def names(self) -> frozenset[str]:
        """Return what everybody who speaks is called, folded, first names included."""
        found = {
            voice.name.casefold() for voice in map(self.of, self._snapshot.passages) if voice is not None
        }
        return frozenset(found | {name.split(" ")[0] for name in found})

    def _voice(self, label: str) -> Voice | None:
        folded = label.casefold()
        if folded in AGENT or folded in _NOBODY or len(label) > _LONGEST_NAME:
            return None
        owner = self._snapshot.owner.strip()
        if not label or folded in PERSON or folded in (owner.casefold(), owner.split(" ")[0].casefold()):
            return self.owner
        return self._person(label)

    def _person(self, label: str) -> Voice:
        record = self._snapshot.graph.named(label) or self._snapshot.graph.called(label)
        if record is not None and record.type == "person":
            return Voice(record.id.removeprefix("entity:"), record.label, label, known=True)
        made = entity_id("person", label).name
        known = self._snapshot.graph.entity(f"entity:{made}")
        return Voice(made, known.label if known else label, label, known is not None)
