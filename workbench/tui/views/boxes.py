"""How a decision and a confidence look wherever something waits for a person; the boxes are those of the file."""

from __future__ import annotations

from typing import Final

from workbench.tui.decisions import APPROVED, DEFERRED, REJECTED, UNDECIDED

BOXES: Final = {UNDECIDED: "[ ]", APPROVED: "[x]", REJECTED: "[-]", DEFERRED: "[>]"}
CONFIDENCES: Final = {"high": "●●●", "medium": "●●○", "low": "●○○"}
