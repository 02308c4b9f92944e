"""Changing how memory decays through the door."""

from __future__ import annotations

from workbench.engine import results
from workbench.engine.workspace.changing import Changing
from workbench.engine.workspace.decay_reading import DecayReading


class DecayEditing(Changing, DecayReading):
    """The rate of decay, which is a setting of the workspace."""

    def decay_keep(self, lambda_: float) -> results.Changed:
        """Make another rate of decay the workspace’s; only a person may.

        Args:
            lambda_: Per day, 0 or more.

        Raises:
            InvalidSetting: The rate is none, or `workbench.toml` cannot be read.
            RoleRefused: This door is no person’s.
        """
        raise NotImplementedError
