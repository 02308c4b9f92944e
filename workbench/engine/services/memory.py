"""Memories changed: remember, do what a message asks, edit, pin, reinforce, forget and restore."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.requests import ASKED_FOR, RememberRequest
from workbench.engine.roles import Capability, require, require_by_hand
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.quarantine import held_back
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.reviews import Reviews, warnings_of_rejected

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan


_TRIGGER_CHARACTERS = 80


class Memory:
    """Everything that changes single memories; each call is one commit with its audit lines."""

    def __init__(
        self, context: WorkspaceContext, mutator: Mutator, retrieval: Retrieval, reviews: Reviews
    ) -> None:
        self._context = context
        self._retrieval = retrieval
        self._mutator = mutator
        self._reviews = reviews

    def remember(
        self,
        text: str,
        *,
        store: str | None = None,
        type: str | None = None,  # noqa: A002 - the word of the contract
        tags: Iterable[str] = (),
        entities: Iterable[str] = (),
        confidence: str | None = None,
        source: str | None = None,
        actor: str | None = None,
        block: str | None = None,
        trigger: str | None = None,
        origins: Iterable[str] = (),
        pinned: bool = False,
        dry_run: bool = False,
        scope: str | None = None,
    ) -> results.memories.Remembered:
        """Store a memory where it belongs; `remember_request` for whoever has no request at hand.

        Args:
            text: See `RememberRequest`, as for all others.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may not write; a sub-agent proposes instead.
        """
        return self.remember_request(
            RememberRequest(
                text,
                store=store,
                type=type,
                tags=tuple(tags),
                entities=tuple(entities),
                confidence=confidence,
                source=source or ASKED_FOR,
                block=block,
                origins=tuple(origins),
                pinned=pinned,
                scope=scope,
                actor=actor,
                trigger=trigger,
                dry_run=dry_run,
            )
        )

    def remember_request(self, request: RememberRequest) -> results.memories.Remembered:
        """Store a memory where it belongs: its store, the graph and, where worth it, core memory, in one commit.

        What is not given is decided by the model that is configured for it, or by rules. What an agent noticed by
        itself and the person has rejected before is noted as an episode alone, with a warning.

        Args:
            request: What to remember.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may not write; a sub-agent proposes instead.
        """
        from workbench.engine.memory.remember import plan_remember
        from workbench.engine.services.routing import route

        context, text, dry_run = self._context, request.text, request.dry_run
        require(context.role, Capability.WRITE_MEMORY, doing="write memory")
        if held := held_back(context, "remember", text, request.as_arguments(), keep=not dry_run):
            return results.memories.Remembered(None, held_back=held, dry_run=dry_run)
        rejected = () if request.is_asked_for else warnings_of_rejected(context, text)
        if rejected:
            # That it was said may be noted; it is not believed for that.
            request = replace(request, store="episodic", block=None, pinned=False)
        if dry_run:
            context.refresh_for_reading()
        else:
            self._mutator.prepare_writing()
        routing = route(context, request)

        def plan(view: FileView) -> Plan[results.memories.Remembered]:
            return plan_remember(
                view,
                request,
                routing,
                now=context.now(),
                settings=context.settings,
                lookup=context.lookups,
                standing=context.scores(),
            )

        if dry_run:
            outcome = plan(context.files).outcome
            return replace(outcome, dry_run=True, warnings=(*outcome.warnings, *rejected))
        usual = "bot:trigger-remember" if request.is_asked_for else "bot:auto-detect"
        said = f"user said “remember {_short(text)}”" if request.is_asked_for else "noticed in conversation"
        by = self._mutator.attribution(request.trigger or said, actor=usual, named=request.actor)
        receipt = self._mutator.mutate(plan, by, Capability.WRITE_MEMORY, doing="write memory")
        if receipt.commit is not None:
            self._bring_to_mind(receipt.commit, receipt.outcome.entities)
        warnings = (*receipt.outcome.warnings, *rejected)
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files, warnings=warnings)

    def forget(
        self,
        query: str | None = None,
        *,
        ids: Sequence[str] = (),
        apply: bool = False,
        hard: bool = False,
        purge_history: bool = False,
    ) -> results.memories.Forgotten:
        """Find what a query means and, with `apply`, hide it from search: score 0, out of index and core memory.

        A purge that was interrupted is finished by the next change; asked for again, it is finished at once.

        Args:
            query: What to forget, in words; left out where ids are given.
            ids: The memories to forget.
            apply: Do it; without, the matches are shown alone.
            hard: Delete them from the files instead of hiding them. A person's right.
            purge_history: Also rewrite history so that the text is truly gone. A person's right.

        Raises:
            InvalidInput: Neither a query nor ids are given.
            NotFound: An id names nothing.
            RoleRefused: This door may not do it.
        """
        from workbench.engine.services.forgetting import (
            find_matches,
            finish_forgetting,
            forget,
            forget_for_good,
            forget_without_trace,
            forgotten_before,
        )

        if not query and not ids:
            raise InvalidInput("Nothing was named to forget.", remedy="Give words or an id.")
        context = self._context
        if apply:
            require(context.role, Capability.WRITE_MEMORY, doing="forget memories")
        if hard or purge_history:
            require(context.role, Capability.HARD_DELETE, doing="delete memories for good")
        asked = [
            " ".join(words.casefold().split()) for words in (query or "", " ".join(sorted(ids))) if words
        ]
        if purge_history and (finished := finish_forgetting(context, asked)):
            return finished
        context.refresh_for_reading()
        try:
            named = [str(self._retrieval.resolve(name)) for name in ids]
            matches = find_matches(context, query, named)
        except NotFound:
            if purge_history and (finished := forgotten_before(context, asked)):
                return finished
            raise
        if not matches and purge_history and (finished := forgotten_before(context, asked)):
            return finished
        if not apply or not matches:
            return results.memories.Forgotten(matches, applied=False)
        chosen = [match.id for match in matches]
        by = self._mutator.attribution(
            f"user said “forget {_short(query or ', '.join(named))}”", actor="bot:trigger-forget"
        )
        if purge_history:
            asked.append(" ".join(sorted(named)))
            changed = forget_without_trace(context, self._mutator, chosen, by, asked=asked)
        elif hard:
            changed = forget_for_good(context, self._mutator, chosen, by)
        else:
            changed = forget(context, self._mutator, chosen, by)
        return results.memories.Forgotten(
            matches,
            applied=True,
            commit=changed.commit,
            files=changed.files,
            ids=changed.ids,
            warnings=changed.warnings,
        )

    def restore(self, id: str, *more: str) -> results.memories.Changed:  # noqa: A002 - the field's word
        """Bring archived memories back, in one commit.

        Raises:
            NotFound: There is no such memory.
            BudgetExceeded: It belongs into core memory, which is full.
        """
        from workbench.engine.memory.forget import plan_restore

        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="restore memories")
        self._mutator.prepare_writing()
        # What was archived out of core memory stands in no file that the catalog knows.
        names = [name.strip() for name in (id, *more)]
        ids = [name if name.startswith("core:") else str(self._retrieval.resolve(name)) for name in names]
        return self._mutator.change(
            lambda view: plan_restore(
                view, ids, context.now(), context.settings, context.scores().first_seen
            ),
            f"restore {', '.join(ids[:3])}",
        )

    def pin(self, id: str, *more: str) -> results.memories.Changed:  # noqa: A002 - the field's word
        """Protect memories from decay, in one commit.

        Raises:
            NotFound: There is no such memory.
        """
        return self._set_pins((id, *more), pinned=True)

    def unpin(self, id: str, *more: str) -> results.memories.Changed:  # noqa: A002 - the field's word
        """Let memories decay again, from their last access on.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It stands in the vault.
        """
        return self._set_pins((id, *more), pinned=False)

    def reinforce(self, id: str, *more: str) -> results.memories.Changed:  # noqa: A002 - the field's word
        """Count an access of memories at once, in one commit.

        Raises:
            NotFound: There is no such memory.
        """
        from workbench.engine.memory.decay_decisions import plan_reinforce
        from workbench.engine.memory.draft import plan_together

        require(self._context.role, Capability.WRITE_MEMORY, doing="reinforce memories")
        ids = [self._retrieval.known(name) for name in (id, *more)]
        steps = [self._scoring(plan_reinforce, one) for one in ids]
        summary = f"reinforced {len(ids)} memories"
        return self._mutator.change(
            lambda view: plan_together(view, steps, summary), f"reinforce {', '.join(ids[:3])}"
        )

    def message(self, text: str, *, apply: bool = True) -> results.memories.MessageOutcome:
        """Look for triggers in one message of the user's, and do what it asks (design document §8).

        Forgetting is never applied from a message: its matches come back to be confirmed. Reflecting writes a
        proposal, which a person decides on.

        Args:
            text: The message.
            apply: Do it; without, only say what it asks.
        """
        from workbench.engine.services.routing import read_message

        detection = read_message(self._context, text)
        outcome = results.memories.MessageOutcome(
            detection.kind, detection.phrase, detection.payload or None, applied=False
        )
        if detection.kind == "reflect" and apply:
            reflected = self._reviews.reflect()
            return replace(outcome, applied=bool(reflected.id), reflected=reflected)
        if not detection.payload:
            return outcome
        if detection.kind == "remember" and apply:
            said = f"user said “{_short(text)}”"
            remembered = self.remember(detection.payload, trigger=said, pinned=detection.protect)
            return replace(outcome, applied=remembered.commit is not None, remembered=remembered)
        if detection.kind == "remember":
            return replace(outcome, remembered=self.remember(detection.payload, dry_run=True))
        if detection.kind == "forget":
            return replace(outcome, forgotten=self.forget(detection.payload))
        if detection.kind == "recall":
            return replace(outcome, found=self._retrieval.search(detection.payload))
        return outcome

    def edit(self, id: str, text: str, *, expected: str | None = None) -> results.memories.Changed:  # noqa: A002
        """Replace one memory's text; an episode gets a correction beside it, since episodes are never edited.

        Args:
            id: A memory id.
            text: The new text.
            expected: The text the edit started from.

        Raises:
            NotFound: There is no such memory.
            Stale: It no longer reads `expected`.
            BudgetExceeded: Core memory would pass its cap.
        """
        from workbench.engine.memory.edit import plan_edit

        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="edit memories")
        context.refresh_for_reading()
        memory_id = str(self._retrieval.resolve(id))
        if memory_id.startswith("file:"):
            require_by_hand(context.role, layout.normalise(memory_id[5:].partition("#")[0]))
        return self._mutator.change(
            lambda view: plan_edit(view, memory_id, text, context.now(), context.settings, expected=expected),
            f"edit {memory_id}",
        )

    def edit_file(self, path: str, content: str, *, expected: str | None = None) -> results.memories.Changed:
        """Replace a whole tracked file.

        Args:
            path: Workspace-relative.
            content: All of it.
            expected: The content the edit started from.

        Raises:
            OutsideWorkspace: The path leads out of the workspace, or history does not keep such a file.
            Stale: It no longer reads `expected`.
            RoleRefused: It is a critical file, or decisions stand in it, and this door is no person's.
            BudgetExceeded: Core memory would pass its cap.
            InvalidSetting: It is the settings file, and no workspace could be opened with it.
        """
        from workbench.engine.memory.edit import plan_edit_file
        from workbench.engine.settings.layers import check_settings

        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="edit files")
        relative = layout.normalise(path)
        require_by_hand(context.role, relative)
        if (
            not relative.replace("\u3000", " ").isprintable()
            and not layout.resolve(context.root, relative).exists()
        ):
            raise InvalidInput(
                "People could not read this name.",
                where=repr(relative)[1:-1],
                remedy="Leave out control characters.",
            )
        person = context.role.may(Capability.TOUCH_CRITICAL)
        if relative == layout.SETTINGS and person:
            # A workspace whose settings are broken opens no more, so there would be no undo.
            check_settings(content.encode("utf-8", "surrogateescape"))
        return self._mutator.change(
            lambda view: plan_edit_file(
                view, relative, content, context.now(), context.settings, person=person, expected=expected
            ),
            f"edit {relative}",
        )

    def settle(self) -> results.memories.Changed:
        """Fold journalled accesses into the scores file and log what changed its status, where there is any."""
        from workbench.engine.services.mutator import settle

        require(self._context.role, Capability.WRITE_MEMORY, doing="settle scores")
        self._mutator.prepare_writing()
        return settle(self._context)

    def _bring_to_mind(self, commit: str, entities: Sequence[results.memories.EntityRef]) -> None:
        """Count a new memory about entities as an access of those known before (design document §9.4)."""
        today = self._context.now().date()
        known = (self._context.lookups.memory(entity.id) for entity in entities)
        older = {each.id: () for each in known if each and each.moment and each.moment.date() < today}
        self._mutator.count_accesses_with(commit, older)

    def _set_pins(self, names: Sequence[str], *, pinned: bool) -> results.memories.Changed:
        from workbench.engine.memory.core import plan_pin_item
        from workbench.engine.memory.decay_decisions import plan_pin, plan_unpin
        from workbench.engine.memory.draft import plan_together

        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="change pins")
        ids = [self._retrieval.known(name) for name in names]
        steps = [
            partial(plan_pin_item, item_id=one, pinned=pinned, settings=context.settings, now=context.now())
            if one.startswith("core:")
            else self._scoring(plan_pin if pinned else plan_unpin, one)
            for one in ids
        ]
        word = "pin" if pinned else "unpin"
        summary = f"{word}ned {len(ids)} memories"
        return self._mutator.change(
            lambda view: plan_together(view, steps, summary), f"{word} {', '.join(ids[:3])}"
        )

    def _scoring(
        self, planner: Callable[..., Plan[tuple[str, ...]]], memory_id: str
    ) -> Callable[[FileView], Plan[results.memories.Changed]]:
        """Return a planner of one memory's score as a planner of files."""

        def plan(view: FileView) -> Plan[results.memories.Changed]:
            scores = self._context.scores()
            record = self._context.lookups.memory(memory_id)
            wanted = planner(view, [scores.facts(record)] if record else [], scores.reckoning)
            return wanted.answering(results.memories.Changed(None, ids=wanted.outcome))

        return plan


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TRIGGER_CHARACTERS else line[: _TRIGGER_CHARACTERS - 1] + "…"
