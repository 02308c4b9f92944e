"""What one message of a conversation asks of memory, done or answered (design document §8, §12.7).

What it asks to forget (§8.3) is named by a model or by rules, or was remembered last; not all is offered to everybody.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.catalog.terms import question_terms
from workbench.engine.history.commits import REMEMBERED, SESSION, parse_message
from workbench.engine.history.permissions import owner_of
from workbench.engine.roles import Capability
from workbench.engine.secrets.detection import masked, with_whole_secrets
from workbench.engine.services.memory import Memory
from workbench.engine.services.mutator import shortened
from workbench.engine.services.questions import Questions
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.routing import read_message
from workbench.engine.services.sessions import full_key
from workbench.engine.triggers.model import NOTHING_DETECTED, Surroundings
from workbench.engine.triggers.model_routing import target_by_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.forgetting import Forgetting
    from workbench.engine.services.mutator import Mutator
    from workbench.engine.triggers.model import Detection

QUESTIONS = frozenset({"changes", "learned", "why-forgotten", "go-back"})
"""The kinds of messages that the audit log answers."""
NOTHING_KEPT = (
    "Nothing was kept: the message does not say what to remember. Say it in the same message, for example “Remember "
    "that the staging server is called Harbor”."
)
# A session that is named lasts a day, as sessions do by default; without one, “scratch that” follows soon or is about
# something else.
_IN_A_SESSION = timedelta(days=1)
_WITHOUT_A_SESSION = timedelta(hours=1)
_MOST_COMMITS = 2000
_FEWEST_TERMS = 2
_NO_LAST = (
    "Nothing was remembered in this conversation of late that is still there. Name what is meant: “forget about …”, or "
    "`workbench forget WORDS`."
)
_DELETES = (
    "Deleting takes it out of the files: restoring cannot bring it back, only undo can, while history has it. "
    "`workbench forget ID --hard --purge-history` takes it out of history too, which nothing can take back."
)
_PERSON_DELETES = (
    "Only a person may delete for good: `workbench forget ID --hard`. Archived instead, it is hidden, and can be "
    "restored."
)
_OTHERS_FORGET = (
    "This door may not forget; ask the person, who deletes for good with `workbench forget ID --hard`."
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


class ForgetRequests:
    """Finds what a message asks to forget. It only looks: a person confirms what it found."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, forgetting: Forgetting) -> None:
        self._context = context
        self._mutator = mutator
        self._forgetting = forgetting

    def read(self, text: str, *, session: str | None = None) -> Detection:
        """Return what a message asks of memory, with what is known of its conversation and of memory.

        Args:
            session: The key of its session; None where that is not known.
        """
        around = Surroundings(lambda: bool(self._remembered_last(session).matches), self._knows)
        return read_message(self._context, text, around)

    def answer(self, detection: Detection, *, session: str | None = None) -> results.memories.MessageOutcome:
        """Return what a message asks to forget, as a preview to be confirmed; nothing is changed.

        Args:
            detection: Of kind `forget`.
            session: The key of its session; None where that is not known.
        """
        role = self._context.role
        if detection.refers_back:
            asked, found = "", self._remembered_last(session)
            found = replace(found, router="rules")
        else:
            asked, found = self._named(detection)
        note = None
        if detection.refers_back and not found.matches:
            note = _NO_LAST
        elif detection.permanently and found.matches:
            note = (
                _DELETES
                if role.may(Capability.HARD_DELETE)
                else _PERSON_DELETES
                if role.may(Capability.WRITE_MEMORY)
                else _OTHERS_FORGET
            )
        deletes = detection.permanently and role.may(Capability.HARD_DELETE)
        return results.memories.MessageOutcome(
            detection.kind,
            detection.phrase,
            asked or None,
            applied=False,
            forgotten=replace(found, hard=deletes),
            permanently=detection.permanently,
            note=note,
        )

    def to_forget(self, words: str, *, session: str | None = None) -> results.memories.Forgotten:
        """Return what some words mean to forget, as a preview: what a request names, or what “scratch that” means.

        Args:
            words: The user’s own, or what they want forgotten.
            session: The key of the session in which they were said.

        Raises:
            InvalidInput: There are no words, or the key belongs to no session.
        """
        # Whoever gives them wants something forgotten, so that “never mind” can mean nothing else.
        detection = read_message(self._context, words, Surroundings(lambda: True, self._knows))
        if detection.kind != "forget":
            return self._forgetting.forget(words)
        if detection.refers_back:
            return self._remembered_last(session)
        return self._forgetting.forget(detection.payload)

    def _remembered_last(self, session: str | None) -> results.memories.Forgotten:
        """Return what “scratch that” means, as a preview to be confirmed: the last memory of this conversation.

        That is what was remembered last in the session within a day; without a session, what was remembered last
        through a door of this role within an hour. If that is archived or gone already, nothing is meant.

        Args:
            session: The key of the session; None where that is not known.

        Raises:
            InvalidInput: The words can be no key of a session.
        """
        context = self._context
        if not context.has_history():
            return results.memories.Forgotten((), applied=False)
        key = None if session is None else str(full_key(session))
        earliest = context.now() - (_WITHOUT_A_SESSION if key is None else _IN_A_SESSION)
        asker = self._mutator.asker()
        for commit in islice(context.history.store.walk(), _MOST_COMMITS):
            if commit.moment < earliest:
                break
            message = parse_message(commit)
            ids = message.values(REMEMBERED)
            is_ours = owner_of(message) == asker if key is None else message.trailer(SESSION) == key
            if ids and is_ours:
                return self._forgetting.standing(ids)
        return results.memories.Forgotten((), applied=False)

    def _named(self, detection: Detection) -> tuple[str, results.memories.Forgotten]:
        """Return what is meant, in words, and what matches it; the model’s words count only where memory has them."""
        with self._context.chat_model() as chat:
            target = None if chat is None else target_by_model(masked(_request(detection)), chat)
        if target is not None and target.query:
            found = self._forgetting.forget(target.query)
            if found.matches:
                return target.query, replace(found, router="model")
        why = None
        if target is not None:
            why = target.problem or f"Nothing in memory matches what the model named: “{target.query}”."
        found = self._forgetting.forget(detection.payload)
        return detection.payload, replace(found, router="rules", fallback=why)

    def _knows(self, words: str) -> bool:
        """Return whether memory knows what words name: an entity by its name, or a memory with all of several words."""
        if not words:
            return False
        self._context.refresh_for_reading()
        if self._context.lookups.named(words) is not None:
            return True
        if len(question_terms(words)) < _FEWEST_TERMS:
            return False
        return any(match.score == 1 for match in self._forgetting.forget(words).matches)


def _request(detection: Detection) -> str:
    """Return the request alone: what else a message quotes or tells is kept from the model."""
    return f"{detection.phrase or ''} {detection.payload}".strip()
