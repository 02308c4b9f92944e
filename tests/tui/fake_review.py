"""A proposal for tests of the bench: read from and written to the text of a file, as the engine does it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from workbench.engine.errors import NotFound, RoleRefused, Stale
from workbench.engine.markdown.review import Decision, PendingReflection
from workbench.engine.markdown.review import ReviewItem as WrittenItem
from workbench.engine.reflection.kinds import FORMS, kind_of
from workbench.engine.reflection.work import Cancelled
from workbench.engine.results.memories import HeldBackList
from workbench.engine.results.reviews import (
    Applied,
    CoreTokens,
    FilePreview,
    Phase,
    PhaseUse,
    Progress,
    Proposals,
    Quoted,
    Reflected,
    ReflectionDue,
    Review,
    ReviewItem,
    ReviewPreview,
    TokenUse,
)
from workbench.tui.bench import Outcome
from workbench.tui.decisions import Step
from workbench.tui.held import HeldChoice
from workbench.tui.verdicts import Verdict

PROPOSAL = (Path(__file__).parent / "pending-reflection.md").read_text(encoding="utf-8")
WRITTEN = datetime(2026, 2, 1, 8, 30, tzinfo=UTC)
TITLES = {
    "project--winter-count": "Winter count", "tool--survey-database": "Survey database",
    "tool--tide-gauge": "Tide gauge", "person--mira": "Mira Halvorsen", "person--tomas": "Tomás",
    "person--ines": "Inês", "entity:project--winter-count#^d4m2": "Winter count",
}  # fmt: skip
OPENING = (
    "Fourteen days of fieldwork were read. The tide gauge, the report and the imports have settled; two statements "
    "disagree."
)
PROSE = {"⚠️ Contradictions detected": "These cannot both hold. Nothing is decided for you."}


def open_gate() -> threading.Event:
    gate = threading.Event()
    gate.set()
    return gate


@dataclass
class FakeReview:
    """The half of the bench that proposes and is decided on.

    Args:
        proposal: Text of the file; empty where nothing waits.
        stale: What stands there now, by id of the items that are stale.
        unfound: Ids of items whose first quote is no longer there.
        refused: Raised instead of writing a decision.
        cycle: Held back between two steps of a cycle.
        desk: Held back before each decision is written.
    """

    role: str = "person"
    proposal: str = ""
    stale: dict[str, str] = field(default_factory=dict)
    unfound: frozenset[str] = frozenset()
    refused: Exception | None = None
    unreadable: Exception | None = None
    cycle: threading.Event = field(default_factory=open_gate)
    desk: threading.Event = field(default_factory=open_gate)
    steps: list[Step] = field(default_factory=list)
    reads: int = 0
    undone: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    listeners: list[Callable[[], object]] = field(default_factory=list)
    proposed: Proposals = field(default_factory=lambda: Proposals(()))
    verdicts: list[Verdict] = field(default_factory=list)

    def pending(self) -> PendingReflection:
        """Return the file as the engine reads it."""
        return PendingReflection.parse(self.proposal.encode("utf-8", "surrogatepass"))

    def undecided(self) -> int:
        """Count what waits."""
        return sum(item.decision == "undecided" for item in self.pending().items) if self.proposal else 0

    def _told(self) -> None:
        for listener in list(self.listeners):
            listener()

    # --- reading --------------------------------------------------------------------------------------------

    def review(self) -> Review:
        self.reads += 1
        if self.unreadable is not None:
            raise self.unreadable
        if not self.proposal:
            return Review("", None, 0.0, False, (), TokenUse(0, 8000), CoreTokens(320, 320), 0)
        pending = self.pending()
        items = tuple(self._item(item) for item in pending.items)
        by_id = {item.id: item for item in items}
        return Review(
            id=pending.reflection,
            created=WRITTEN,
            age_hours=30.0,
            ageing=True,
            items=tuple(self._waiting(item, by_id) for item in items),
            tokens=TokenUse(1204, 8000),
            core_tokens=self._core_tokens(items),
            dropped=2,
            held_back=1,
            left=4,
            opening=OPENING,
            prose=PROSE,
            phases=(
                PhaseUse("survey", "rules", 0, 0.1),
                PhaseUse("consolidate", "rules", 1204, 0.4, "the server did not answer within 30 s"),
            ),
            problems=tuple(f"{each.line}: {each.message} {each.remedy}" for each in pending.problems),
        )

    @staticmethod
    def _core_tokens(items: Sequence[ReviewItem]) -> CoreTokens:
        approved = [item for item in items if item.decision == "approved" and item.risk == "high"]
        return CoreTokens(320, 320 + 20 * len(approved))

    def _item(self, item: WrittenItem) -> ReviewItem:
        kind = kind_of(item.kind)
        evidence = tuple(
            Quoted(proof.id, proof.quote, found=at > 0 or item.id not in self.unfound)
            for at, proof in enumerate(item.evidence)
        )
        fields = dict(item.fields)
        return ReviewItem(
            item.id, item.kind, item.target, item.before, item.text, item.confidence, item.reason, evidence,
            item.decision, item.id in self.stale, self.stale.get(item.id, ""), item.section,
            str(FORMS[kind].risk) if kind else "low", item.needs, "", fields, fields.get("resembles", ""),
            TITLES.get(item.target, ""), item.span.start if item.span else 0,
        )  # fmt: skip

    @staticmethod
    def _waiting(item: ReviewItem, by_id: dict[str, ReviewItem]) -> ReviewItem:
        rejected = [each for each in item.needs if each in by_id and by_id[each].decision == "rejected"]
        return replace(item, waits=f"it needs {rejected[0]}, which is rejected") if rejected else item

    def review_preview(self) -> ReviewPreview:
        review = self.review()
        by = {
            decision: tuple(item.id for item in review.items if item.decision == decision)
            for decision in ("approved", "rejected", "deferred", "undecided")
        }
        waiting = {item.id: item.waits for item in review.items if item.waits and item.decision == "approved"}
        applied = tuple(each for each in by["approved"] if each not in waiting)
        files = tuple(
            FilePreview(f"memory/graph/entities/{each}.md", "# It\n\n- before\n", f"# It\n\n- after {each}\n")
            for each in applied
        )
        return ReviewPreview(
            applied, by["rejected"], by["deferred"], by["undecided"], waiting, files, review.core_tokens
        )

    def reflection_due(self) -> ReflectionDue:
        return ReflectionDue(False, "23 of 50 new memories since the last one", 23, WRITTEN, None)

    def review_source(self) -> str:
        return self.proposal

    def proposals(self) -> Proposals:
        return self.proposed

    def held_back(self) -> HeldBackList:
        return HeldBackList(())

    def reveal(self, number: int) -> str:
        raise NotFound(f"Nothing of the number {number} waits.")

    def choose(self, choice: HeldChoice) -> Outcome:
        raise NotFound("Nothing waits.")

    # --- acting ---------------------------------------------------------------------------------------------

    def _guard_decision(self) -> None:
        self.desk.wait()
        if self.refused is not None:
            raise self.refused
        if self.role != "person":
            raise RoleRefused("Only a person decides.", remedy="Open the workspace as a person.")

    def _rewrite(self, text: str) -> None:
        self.undone.append(self.proposal)
        self.proposal = text
        self._told()

    def decide(self, step: Step) -> Outcome:
        self._guard_decision()
        self.steps.append(step)
        pending = self.pending()
        if step.edit is not None:
            if step.edit.text is not None:
                pending = pending.reword(step.edit.item_id, step.edit.text)
            pending = _with_fields(pending, step.edit.item_id, dict(step.edit.fields))
        decisions: list[tuple[str, Decision]] = [(key, value) for key, value in step.decisions.items()]  # type: ignore[misc]  # decisions are the file's words
        self._rewrite(pending.decide(decisions).render().decode())
        return Outcome("", "abc1234", tuple(step.decisions))

    def settle(self, verdict: Verdict) -> Outcome:
        self._guard_decision()
        self.verdicts.append(verdict)
        gone = verdict.decisions
        kept = (each for each in self.proposed.proposals if each.number not in gone)
        self.proposed = replace(self.proposed, proposals=tuple(kept))
        self._told()
        return Outcome(verdict.done(), "abc1234")

    def review_apply(self) -> Applied:
        self._guard_decision()
        preview = self.review_preview()
        gone = (*preview.applied, *preview.rejected, *preview.deferred)
        self._rewrite(self.pending().remove(gone).render().decode() if preview.undecided else "")
        files = tuple(file.path for file in preview.files)
        return Applied(
            "9f3c2ab17d", files, gone, "r-012", "partial", preview.applied, preview.rejected, preview.deferred,
            preview.undecided, preview.waiting,
        )  # fmt: skip

    def set_review_source(self, source: str, expected: str) -> Outcome:
        self._guard_decision()
        if self.proposal != expected:
            raise Stale("The proposal has changed meanwhile.", remedy="Look at it again and edit anew.")
        self._rewrite(source)
        return Outcome("Saved the proposal.", "def5678")

    def take_back(self) -> bool:
        """Take back the newest change of the proposal; returns whether there was one."""
        if not self.undone:
            return False
        self.kept.append(self.proposal)
        self.proposal = self.undone.pop()
        self._told()
        return True

    def take_forward(self) -> bool:
        """Do again what was taken back."""
        if not self.kept:
            return False
        self.undone.append(self.proposal)
        self.proposal = self.kept.pop()
        self._told()
        return True

    def reflect(
        self, progress: Callable[[Progress], None], cancelled: Callable[[], bool], *, renew: bool = False
    ) -> Reflected:
        for at, phase in enumerate(Phase):
            progress(Progress(phase, at, 5, 200 * at, 8000))
            self.cycle.wait()
            if cancelled():
                raise Cancelled("The reflection was called off; nothing was written.")
        if self.proposal and not renew:
            raise NotFound("r-012 waits for decisions.", remedy="Decide on it first.")
        self._rewrite(PROPOSAL)
        review = self.review()
        return Reflected("abc", (), (), review.id, "", review)


def _with_fields(pending: PendingReflection, item_id: str, fields: dict[str, str]) -> PendingReflection:
    """Return the file with other values in an item’s fields; only single lines, as tests need them."""
    lines = pending.render().decode().splitlines(keepends=True)
    item = pending.item(item_id)
    assert item is not None
    assert item.span is not None
    for name, value in fields.items():
        at = next(
            (at for at in range(item.span.start, item.span.end) if lines[at].startswith(f"  - {name}:")), None
        )
        line = f"  - {name}: {value}\n"
        if at is None:
            lines.insert(item.span.start, line)
        else:
            lines[at] = line
    return PendingReflection.parse("".join(lines).encode())
