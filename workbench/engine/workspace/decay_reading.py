"""Looking at relevance through the door: scores now and to come, what falls when, and what another rate would do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from workbench.engine.results.decay import DecayEntry, DecayExplained, DecayView, Falls, ScorePoint
from workbench.engine.results.memories import Score
from workbench.engine.workspace.reading import Reading


class DecayReading(Reading):
    """How relevant memories are, were and will be."""

    def decay(self, *, forecast: Sequence[int] = (), lambda_: float | None = None) -> DecayView:
        """Return every memory's score now, and at days to come.

        Args:
            forecast: Days from now to score as well.
            lambda_: Another decay rate per day, to see what it would change.
        """
        self._ground.refresh_for_reading()
        return self._ground.scores().view(forecast=forecast, lambda_=lambda_)

    def decay_course(self, view: DecayView, entry: DecayEntry, days: Sequence[int]) -> tuple[ScorePoint, ...]:
        """Return one memory’s scores on some days if nobody touches it; nothing is read for it.

        Args:
            view: What `decay` answered: its moment, rate and thresholds count.
            entry: One of its entries.
            days: Calendar days from the view’s, negative in the past.
        """
        from workbench.engine.decay.course import course

        return course(view, entry, days)

    def decay_terms(self, view: DecayView, entry: DecayEntry, day: int) -> Score | None:
        """Return a score on one day with the terms of the formula; None where it is not known.

        Args:
            view: As for `decay_course`.
            entry: Likewise.
            day: Calendar days from the view’s, negative in the past.
        """
        from workbench.engine.decay.course import terms

        return terms(view, entry, day)

    def decay_falls(self, within: int = 30, *, lambda_: float | None = None) -> Falls:
        """Return what passes a threshold within some days if nobody touches it, the soonest first.

        Args:
            within: Calendar days from today.
            lambda_: Another rate per day to try.

        Raises:
            InvalidInput: The days lie in the past, or the rate is none.
        """
        self._ground.refresh_for_reading()
        return self._ground.scores().falls(within, lambda_=lambda_)

    def decay_explain(
        self,
        id: str,  # noqa: A002 - the field's word
        *,
        on: date | None = None,
        lambda_: float | None = None,
    ) -> DecayExplained:
        """Return one memory’s score on a day, term by term, and when it passes which threshold.

        Args:
            id: A memory id, or the name of an entity; of a fact, its entity is explained.
            on: The day in the workspace’s zone; today by default.
            lambda_: Another rate per day to try.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It has no score, or the rate is none.
        """
        self._ground.refresh_for_reading()
        memory_id = str(self.resolve(id).whole)
        return self._ground.scores().explained(memory_id, on, lambda_=lambda_)
