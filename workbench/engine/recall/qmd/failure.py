"""Why QMD could not answer."""

from __future__ import annotations


class QmdFailed(Exception):
    """QMD did not do what it was asked; search goes on without it.

    Args:
        reason: What happened, in one sentence without a full stop.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
