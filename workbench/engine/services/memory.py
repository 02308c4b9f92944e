"""Memories changed: remember, edit, pin and reinforce."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.catalog.file_rows import links_in
from workbench.engine.errors import InvalidInput
from workbench.engine.history.commits import REMEMBERED, SESSION
from workbench.engine.memory.core import plan_pin_item
from workbench.engine.memory.decay import SCORED_STORES
from workbench.engine.memory.draft import plan_together
from workbench.engine.memory.edit import plan_edit, plan_edit_file
from workbench.engine.memory.remember import plan_remember
from workbench.engine.memory.scores_file import Decision, plan_decision
from workbench.engine.memory.wording import check_memory
from workbench.engine.requests import ASKED_FOR, RememberRequest
from workbench.engine.roles import Capability, require, require_by_hand, require_vault
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator, settle, shortened
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.routing import route, warnings_of_rejected
from workbench.engine.services.secret_guard import held_back
from workbench.engine.services.sessions import full_key
from workbench.engine.settings.layers import check_settings

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan


class Memory:
    """Everything that changes single memories; each call is one commit with its audit lines."""

    def __init__(
        self,
        context: WorkspaceContext,
        mutator: Mutator,
        retrieval: Retrieval,
    ) -> None:
        self._context = context
        self._mutator = mutator
        self._retrieval = retrieval

    def remember(
        self,
        text: str,
        *,
        store: str | None = None,
        type: str | None = None,
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
        session: str | None = None,
    ) -> results.memories.Remembered:
        """Store a memory where it belongs; `remember_request` with the fields of the request as arguments.

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
                session=session,
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
        context, text, dry_run = self._context, request.text, request.dry_run
        require(context.role, Capability.WRITE_MEMORY, doing="write memory")
        check_memory(text)
        if (request.store or "").strip().lower() == "vault":
            require_vault(layout.VAULT, may_write=self._mutator.may_write_vault)
        key = None if request.session is None else str(full_key(request.session))
        let_in = self._mutator.group.let_in
        if held := held_back(
            context, "remember", text, request.as_arguments(), keep=not dry_run, let_in=let_in
        ):
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
            planned = plan_remember(
                view,
                request,
                routing,
                now=context.now(),
                settings=context.settings,
                lookup=context.lookups,
                scores=context.scores(),
            )
            return replace(
                planned, trailers=(*planned.trailers, *_of_conversation(request, planned.outcome, key))
            )

        if dry_run:
            outcome = plan(context.files).outcome
            return replace(outcome, dry_run=True, warnings=(*outcome.warnings, *rejected))
        usual = "bot:trigger-remember" if request.is_asked_for else "bot:auto-detect"
        said = (
            f"user said “remember {shortened(text)}”" if request.is_asked_for else "noticed in conversation"
        )
        by = self._mutator.attribution(request.trigger or said, actor=usual, named=request.actor)
        remembered = self._mutator.change(plan, by)
        if remembered.commit is not None:
            self._bring_to_mind(remembered.commit, remembered, request)
        return replace(remembered, warnings=(*remembered.warnings, *rejected))

    def pin(self, id: str, *more: str) -> results.memories.Changed:
        """Protect memories from decay, in one commit.

        Raises:
            NotFound: There is no such memory.
        """
        return self._set_pins((id, *more), pinned=True)

    def unpin(self, id: str, *more: str) -> results.memories.Changed:
        """Let memories decay again, from their last access on.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is in the vault.
        """
        return self._set_pins((id, *more), pinned=False)

    def reinforce(self, id: str, *more: str) -> results.memories.Changed:
        """Count an access of memories at once, in one commit.

        Raises:
            NotFound: There is no such memory.
        """
        require(self._context.role, Capability.WRITE_MEMORY, doing="reinforce memories")
        ids = [self._retrieval.known(name) for name in (id, *more)]
        steps = [self._scoring(Decision.REINFORCE, one) for one in ids]
        summary = f"reinforced {len(ids)} memories"
        return self._mutator.change(
            lambda view: plan_together(view, steps, summary), f"reinforce {', '.join(ids[:3])}"
        )

    def edit(self, id: str, text: str, *, expected: str | None = None) -> results.memories.Changed:
        """Replace one memory's text; an episode gets a correction beside it, since episodes are never edited.

        Args:
            expected: The text the edit started from.

        Raises:
            NotFound: There is no such memory.
            Stale: It no longer reads `expected`.
            BudgetExceeded: Core memory would pass its cap.
        """
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
            expected: The content the edit started from.

        Raises:
            OutsideWorkspace: The path leads out of the workspace, or history does not keep such a file.
            Stale: It no longer reads `expected`.
            RoleRefused: It is a critical file, or decisions are in it, and this door is no person's.
            BudgetExceeded: Core memory would pass its cap.
            InvalidSetting: It is the settings file, and no workspace could be opened with it.
        """
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
        require(self._context.role, Capability.WRITE_MEMORY, doing="settle scores")
        self._mutator.prepare_writing()
        return settle(self._context)

    def _bring_to_mind(
        self, commit: str, remembered: results.memories.Remembered, request: RememberRequest
    ) -> None:
        """Count a new memory as an access of those that it cites, and of entities known before that it is about.

        Design document §9.4: a memory is reinforced when a new one references it or connects to it.
        """
        today = self._context.now().date()
        cited = {*links_in(request.text), *request.origins} - {remembered.id}
        named = {entity.id for entity in remembered.entities}
        # An entity of today may have come with this very memory.
        older = {
            each.id: ()
            for each in self._context.lookups.outlines(sorted(cited | named))
            if each.store in SCORED_STORES
            and (each.store != "semantic" or (each.moment and each.moment.date() < today))
        }
        self._mutator.count_accesses_with(commit, older)

    def _set_pins(self, names: Sequence[str], *, pinned: bool) -> results.memories.Changed:
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="change pins")
        ids = [self._retrieval.known(name) for name in names]
        steps = [
            partial(plan_pin_item, item_id=one, pinned=pinned, settings=context.settings, now=context.now())
            if one.startswith("core:")
            else self._scoring(Decision.PIN if pinned else Decision.UNPIN, one)
            for one in ids
        ]
        word = "pin" if pinned else "unpin"
        summary = f"{word}ned {len(ids)} memories"
        return self._mutator.change(
            lambda view: plan_together(view, steps, summary), f"{word} {', '.join(ids[:3])}"
        )

    def _scoring(
        self, decision: Decision, memory_id: str
    ) -> Callable[[FileView], Plan[results.memories.Changed]]:
        """Return a planner of a decision about one memory's decay."""

        def plan(view: FileView) -> Plan[results.memories.Changed]:
            scores = self._context.scores()
            record = self._context.lookups.memory(memory_id)
            facts = [scores.facts(record)] if record else []
            wanted = plan_decision(view, decision, facts, scores.reckoning)
            return wanted.answering(results.memories.Changed(None, ids=wanted.outcome))

        return plan


def _of_conversation(
    request: RememberRequest, remembered: results.memories.Remembered, key: str | None
) -> tuple[tuple[str, str], ...]:
    """Return the trailers that tell what “scratch that” means; none for what was drawn from elsewhere."""
    if request.origins:
        return ()
    ids = dict.fromkeys((remembered.id, *((remembered.core_update,) if remembered.core_update else ())))
    return (*((REMEMBERED, each) for each in ids), *(((SESSION, key),) if key else ()))
