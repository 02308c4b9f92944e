"""Where a proposal lies before a person: written, decided and applied on a real workspace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from zoneinfo import ZoneInfo

from tests.engine.services.agent_home import AgentHome
from workbench.engine import layout
from workbench.engine.history.work_files import WorkFiles
from workbench.engine.markdown.review import Decision, Evidence, PendingReflection, ReviewItem, ReviewSection
from workbench.engine.reflection.review import staleness
from workbench.engine.results.reviews import Applied

BOOKS = {layout.PENDING_REFLECTION, layout.REFLECTION_LOG, layout.REJECTED}
ROBIN = "memory/graph/entities/person--robin.md"
HARBOUR = "memory/graph/entities/project--harbour.md"
BACKUPS = Evidence("episode:2026-02-01:09:15", "Backups run at midnight.")
FERRY = Evidence("episode:2026-02-01:18:40", "booked the ferry to Gotland")
BOTH = (BACKUPS, FERRY)
WHY = "It was said."


class Desk(AgentHome):
    """A furnished home with a proposal in it."""

    def propose(
        self, *items: ReviewItem, reflection: str = "r-012", meta: Iterable[tuple[str, str]] = ()
    ) -> tuple[ReviewItem, ...]:
        """Write a proposal of some items, numbered and stamped, and return them as they stand there."""
        view, zone = WorkFiles(self.root), ZoneInfo("UTC")
        numbered = tuple(
            staleness.stamp(replace(item, id=item.id or f"{reflection}.{place}"), view, zone)
            for place, item in enumerate(items, 1)
        )
        sections = dict.fromkeys(item.section or "Other" for item in numbered)
        pending = PendingReflection.create(
            reflection,
            "2026-02-02T12:00:00Z",
            [
                ReviewSection(
                    heading, tuple(item for item in numbered if (item.section or "Other") == heading)
                )
                for heading in sections
            ],
            meta,
        )
        self.write(layout.PENDING_REFLECTION, pending.render())
        return numbered

    @property
    def pending(self) -> PendingReflection:
        """Return the proposal as it stands."""
        place = self.root / layout.PENDING_REFLECTION
        return PendingReflection.parse(place.read_bytes() if place.exists() else b"")

    def tick(self, **decisions: Decision) -> None:
        """Tick boxes in the file, as an editor would: `_3="approved"` is the item numbered 3."""
        chosen = {name.lstrip("_"): decision for name, decision in decisions.items()}
        ids = {item.id.rpartition(".")[2]: item.id for item in self.pending.items}
        edited = self.pending.decide((ids[number], decision) for number, decision in chosen.items())
        self.write(layout.PENDING_REFLECTION, edited.render())

    def tick_all(self, decision: Decision = "approved") -> None:
        edited = self.pending.decide((item.id, decision) for item in self.pending.items)
        self.write(layout.PENDING_REFLECTION, edited.render())

    def apply(self) -> Applied:
        """Apply the proposal as a person."""
        with self.open() as workspace:
            return workspace.review_apply()

    def approve_all(self) -> Applied:
        """Approve everything and apply it."""
        self.tick_all()
        return self.apply()

    def revert(self, name: str) -> None:
        with self.open() as workspace:
            workspace.revert(name)

    def rollback(self, reflection: str = "r-012") -> None:
        with self.open() as workspace:
            workspace.rollback(reflection=reflection)

    def memory(self) -> dict[str, bytes]:
        """Return every tracked file but the books of reflection."""
        return {path: content for path, content in self.tracked().items() if path not in BOOKS}
