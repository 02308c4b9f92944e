"""Trying another rate of decay on the heatmap: nothing changes until a person keeps it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import on

from workbench.tui.panes.decay_reading import DecayReading
from workbench.tui.screens.ask import AskScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.decay_frame import Trial, consequence, half_life

if TYPE_CHECKING:
    from workbench.tui.views.decay_rows import Reading

_HIGHEST: Final = 10.0
_HALF_LIFE: Final = re.compile(r"^(\d+(?:[.,]\d+)?)\s*(?:d|days?)$")


def parse_rate(text: str) -> float | None:
    """Read a rate of decay, or the half-life that it gives.

    Args:
        text: `0.05` is λ a day, `14d` or `14 days` a half-life.

    Returns:
        λ per day, or None where it is neither.
    """
    text = text.casefold().lstrip(" λ=").strip()
    if found := _HALF_LIFE.match(text):
        days = float(found[1].replace(",", "."))
        return float(f"{math.log(2) / days:.4g}") if days * _HIGHEST >= math.log(2) else None
    try:
        rate = float(text.replace(",", "."))
    except ValueError:
        return None
    return rate if 0 <= rate <= _HIGHEST else None


class DecayTrial(DecayReading):
    """The part of the heatmap that tries other rates."""

    def trial_changed(self) -> None:
        """Draw what a trial changes: its banner, the ground of the rows, the detail."""
        raise NotImplementedError

    def begin_trial(self, rate: float) -> None:
        """Try a rate; the rate in force ends the trial."""
        if self.truth is None:
            return
        in_force = self.truth.view.lambda_
        if math.isclose(rate, in_force, rel_tol=1e-9, abs_tol=1e-12):
            self.end_trial()
            return
        only = self.trial.only_changes if self.trial is not None else False
        self.trial = Trial(rate, in_force, self._as_if(rate), only_changes=only)
        self.trial_changed()
        self.try_out(rate)

    def _as_if(self, rate: float) -> Reading | None:
        """Return what is shown with its scores already under another rate, until the rest is reckoned."""
        last = self.reading
        if last is None:
            return None
        return replace(last, view=replace(last.view, lambda_=rate), truth=last.truth or {})

    def truth_changed(self) -> None:
        """Go on with the trial on what was read anew."""
        if self.trial is not None:
            self.begin_trial(self.trial.rate)

    def end_trial(self) -> None:
        """Show the truth again."""
        if self.trial is not None:
            self.trial = None
            self.wanted = replace(self.wanted, changes=False)
            self.trial_changed()
            self.rearrange()

    @on(DecayReading.Tried)
    def _was_tried(self, event: DecayReading.Tried) -> None:
        event.stop()
        if self.trial is None or event.rate != self.trial.rate:
            return
        self.trial = replace(self.trial, reading=event.reading, changes=event.changes)
        self.trial_changed()
        self.rearrange()

    # --- keys -----------------------------------------------------------------------------------------------

    def action_try_rate(self) -> None:
        if self.truth is None:
            return
        in_force = self.truth.view.lambda_

        def begin(answer: str | None) -> None:
            rate = parse_rate(answer) if answer else None
            if rate is not None:
                self.begin_trial(rate)

        self.app.push_screen(
            AskScreen(
                f"Try which λ? In force is {in_force:g}, {half_life(in_force)}.",
                "0.05 · or a half-life: 14d",
                lambda text: "" if parse_rate(text) is not None else f"λ is a number from 0 to {_HIGHEST:g}.",
            ),
            begin,
        )

    def action_lower_rate(self) -> None:
        self._step(-1)

    def action_raise_rate(self) -> None:
        self._step(1)

    def _step(self, by: int) -> None:
        if self.truth is not None:
            in_force = self.truth.view.lambda_
            self.begin_trial((self.trial or Trial(in_force, in_force)).stepped(by))

    def action_only_changes(self) -> None:
        if self.trial is not None:
            self.trial = replace(self.trial, only_changes=not self.trial.only_changes)
            self.wanted = replace(self.wanted, changes=self.trial.only_changes)
            self.trial_changed()
            self.rearrange()

    def keep_trial(self) -> None:
        """Make the rate that is tried the workspace’s, after a question."""
        trial = self.trial
        if trial is None or trial.changes is None:
            return

        def keep(sure: bool | None) -> None:
            if sure:
                self.act(partial(self.bench.keep_rate, trial.rate), self._kept)

        self.app.push_screen(
            ConfirmScreen(
                f"Keep λ {trial.rate:g} as the rate of decay?", consequence(trial), "Keep", "enter"
            ),
            keep,
        )

    def _kept(self) -> None:
        self.end_trial()
        self.reload()
