"""Changing how memory decays through the door."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.agents.roles import Capability
from workbench.engine.results.memories import Changed
from workbench.engine.workspace.changing import Changing
from workbench.engine.workspace.decay_reading import DecayReading

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan


class DecayEditing(Changing, DecayReading):
    """The rate of decay, which is a setting of the workspace."""

    def decay_keep(self, lambda_: float) -> Changed:
        """Make another rate of decay the workspace’s; only a person may.

        Args:
            lambda_: Per day, 0 or more.

        Raises:
            InvalidSetting: The rate is none, or `workbench.toml` cannot be read.
            RoleRefused: This door is no person’s.
        """
        from workbench.engine.settings.editing import write_setting
        from workbench.engine.settings.loading import check_settings

        ground = self._ground

        def plan(view: FileView) -> Plan[Changed]:
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
                outcome=Changed(None, ids=(f"file:{layout.SETTINGS}",)),
            )

        receipt = ground.mutate(
            plan,
            ground.attribution(f"keep a decay rate of {lambda_:g} a day"),
            Capability.CHANGE_SETTINGS,
            doing="change settings",
        )
        ground.follow_settings()
        in_force, origin = ground.settings.decay.lambda_, ground.settings.origin("decay.lambda")
        warnings = receipt.outcome.warnings
        if in_force != lambda_:
            warnings += (f"{layout.SETTINGS} says {lambda_:g} now, but λ is {in_force:g}: {origin} says so.",)
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files, warnings=warnings)
