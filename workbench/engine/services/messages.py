"""What one message of a conversation asks of memory, done or answered (design document §8, §12.7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.secrets.detection import masked, with_whole_secrets
from workbench.engine.services.forget_requests import ForgetRequests
from workbench.engine.services.memory import Memory
from workbench.engine.services.mutator import shortened
from workbench.engine.services.questions import Questions
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.triggers.model import NOTHING_DETECTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.triggers.model import Detection


QUESTIONS = frozenset({"changes", "learned", "why-forgotten", "go-back"})
"""The kinds of messages that the audit log answers."""
NOTHING_KEPT = (
    "Nothing was kept: the message does not say what to remember. Say it in the same message, for example “Remember "
    "that the staging server is called Harbor”."
)


class Messages:
    """Looks for a trigger in a message, and hands what it asks to the service that does it.

    Args:
        reflect: Reflects, or presents the proposal that waits; called only where a message asks for it.
    """

    def __init__(
        self,
        memory: Memory,
        retrieval: Retrieval,
        forget_requests: ForgetRequests,
        questions: Questions,
        reflect: Callable[[], results.reviews.Reflected],
    ) -> None:
        self._memory = memory
        self._retrieval = retrieval
        self._forget_requests = forget_requests
        self._questions = questions
        self._reflect = reflect

    def message(
        self, text: str, *, apply: bool = True, session: str | None = None
    ) -> results.memories.MessageOutcome:
        """Look for triggers in one message of the user's, and do what it asks (design document §8).

        Forgetting is never applied from a message: its matches come back to be confirmed, by `forget` with their ids
        and, where they are to be deleted from disk, `hard`. Reflecting writes a proposal, which a person decides on;
        while one waits, that is what comes back. Questions after what changed are answered (§12.7); the way back is
        shown with its command, and never gone.

        Args:
            apply: Do it; without, only say what it asks.
            session: The key of the session in which it was said; “scratch that” means what was remembered there.

        Raises:
            InvalidInput: The words can be no key of a session.
        """
        # Half of a token that is broken over lines looks like none.
        text = with_whole_secrets(text)
        detection = self._forget_requests.read(text, session=session)
        if detection.kind == "forget":
            return self._forget_requests.answer(detection, session=session)
        outcome = self._answered(detection)
        if detection.kind in QUESTIONS:
            return outcome
        if detection.kind == "reflect" and apply:
            reflected = self._reflect()
            return replace(outcome, applied=bool(reflected.id) and not reflected.waits, reflected=reflected)
        if not detection.payload:
            return replace(outcome, note=NOTHING_KEPT) if detection.kind == "remember" else outcome
        if detection.kind == "remember" and apply:
            said = f"user said “{shortened(masked(text))}”"
            remembered = self._memory.remember(
                detection.payload, trigger=said, pinned=detection.protect, session=session
            )
            return replace(outcome, applied=remembered.commit is not None, remembered=remembered)
        if detection.kind == "remember":
            return replace(outcome, remembered=self._memory.remember(detection.payload, dry_run=True))
        if detection.kind == "recall":
            return replace(outcome, found=self._retrieval.search(detection.payload))
        return outcome

    def question(self, text: str) -> results.memories.MessageOutcome:
        """Answer a question after what changed, and do nothing else that a message may ask.

        Args:
            text: Any words.

        Returns:
            The kind `none` where they ask something else.
        """
        detection = self._forget_requests.read(text)
        return self._answered(detection if detection.kind in QUESTIONS else NOTHING_DETECTED)

    def _answered(self, detection: Detection) -> results.memories.MessageOutcome:
        """Return what was detected, with the answer where it is a question after what changed."""
        kind, about, onwards = detection.kind, detection.payload, detection.from_then_on
        outcome = results.memories.MessageOutcome(kind, detection.phrase, about or None, applied=False)
        if kind in ("changes", "learned"):
            changes = self._questions.changes(about, onwards=onwards, learned=kind == "learned")
            return replace(outcome, changes=changes)
        if kind == "why-forgotten":
            return replace(outcome, why_forgotten=self._questions.why_forgotten(about))
        if kind == "go-back":
            return replace(outcome, way_back=self._questions.way_back(about, from_then_on=onwards))
        return outcome
