"""Relevance: scores now and to come, what falls when, what another rate would do, and changing the rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.roles import Capability
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.retrieval import Retrieval

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan


class Decay:
    """How relevant memories are, were and will be, and the rate of decay, a setting of the workspace."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, retrieval: Retrieval) -> None:
        self._context = context
        self._mutator = mutator
        self._retrieval = retrieval

    def decay(self, *, forecast: Sequence[int] = (), lambda_: float | None = None) -> results.decay.DecayView:
        """Return every memory's score now, and at days to come.

        Args:
            forecast: Days from now to score as well.
            lambda_: Another decay rate per day, to see what it would change.
        """
        self._context.refresh_for_reading()
        return self._context.scores().view(forecast=forecast, lambda_=lambda_)

    def decay_course(
        self, view: results.decay.DecayView, entry: results.decay.DecayEntry, days: Sequence[int]
    ) -> tuple[results.decay.ScorePoint, ...]:
        """Return one memory’s scores on some days if nobody touches it; nothing is read for it.

        Args:
            view: What `decay` answered: its moment, rate and thresholds count.
            entry: One of its entries.
            days: Calendar days from the view’s, negative in the past.
        """
        from workbench.engine.memory.scores import score_course

        return score_course(view, entry, days)

    def decay_terms(
        self, view: results.decay.DecayView, entry: results.decay.DecayEntry, day: int
    ) -> results.memories.Score | None:
        """Return a score on one day with the terms of the formula; None where it is not known.

        Args:
            view: As for `decay_course`.
            entry: Likewise.
            day: Calendar days from the view’s, negative in the past.
        """
        from workbench.engine.memory.scores import score_terms

        return score_terms(view, entry, day)

    def decay_falls(self, within: int = 30, *, lambda_: float | None = None) -> results.decay.Falls:
        """Return what passes a threshold within some days if nobody touches it, the soonest first.

        Args:
            within: Calendar days from today.
            lambda_: Another rate per day to try.

        Raises:
            InvalidInput: The days lie in the past, or the rate is none.
        """
        self._context.refresh_for_reading()
        return self._context.scores().falls(within, lambda_=lambda_)

    def decay_explain(
        self,
        id: str,  # noqa: A002 - the field's word
        *,
        on: date | None = None,
        lambda_: float | None = None,
    ) -> results.decay.DecayExplained:
        """Return one memory’s score on a day, term by term, and when it passes which threshold.

        Args:
            id: A memory id, or the name of an entity; of a fact, its entity is explained.
            on: The day in the workspace’s zone; today by default.
            lambda_: Another rate per day to try.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It has no score, or the rate is none.
        """
        self._context.refresh_for_reading()
        memory_id = str(self._retrieval.resolve(id).whole)
        return self._context.scores().explained(memory_id, on, lambda_=lambda_)

    def decay_keep(self, lambda_: float) -> results.memories.Changed:
        """Make another rate of decay the workspace’s; only a person may.

        Args:
            lambda_: Per day, 0 or more.

        Raises:
            InvalidSetting: The rate is none, or `workbench.toml` cannot be read.
            RoleRefused: This door is no person’s.
        """
        from workbench.engine.settings.layers import check_settings, write_setting

        context = self._context

        def plan(view: FileView) -> Plan[results.memories.Changed]:
            from workbench.engine.history.plan import Action, FileChange, Plan

            before = view.read(layout.SETTINGS)
            after = write_setting(before or b"", "decay.lambda", lambda_)
            check_settings(after)
            action = Action.CREATE if before is None else Action.EDIT
            summary = f"decay.lambda = {lambda_:g}"
            change = FileChange(layout.SETTINGS, after, action, summary)
            return Plan(
                action,
                layout.SETTINGS,
                summary,
                (change,) if after != before else (),
                outcome=results.memories.Changed(None, ids=(f"file:{layout.SETTINGS}",)),
            )

        receipt = self._mutator.mutate(
            plan,
            self._mutator.attribution(f"keep a decay rate of {lambda_:g} a day"),
            Capability.CHANGE_SETTINGS,
            doing="change settings",
        )
        context.follow_settings()
        in_force, origin = context.settings.decay.lambda_, context.settings.origin("decay.lambda")
        warnings = receipt.outcome.warnings
        if in_force != lambda_:
            warnings += (f"{layout.SETTINGS} says {lambda_:g} now, but λ is {in_force:g}: {origin} says so.",)
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files, warnings=warnings)
