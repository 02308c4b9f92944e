"""The part of the door that does what else is done around a change: scores, the audit log, the history's shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.agents.roles import Capability, require
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.workspace.ground import Ground

_KEPT_UP = (layout.DECAY_SCORES, layout.AUDIT_ARCHIVE)


class KeepingUp:
    """What a workspace needs from time to time although nobody changes anything."""

    _ground: Ground

    def upkeep(self, *, cancelled: Callable[[], bool] = lambda: False) -> Changed:
        """Settle scores and prune the audit log where a day has begun, fold accesses and repack where that is due.

        Nothing of it is applied from a reflection, and nothing that is not due is done; every change of memory does
        the same on its way.

        Args:
            cancelled: Asked now and then; what is left is due again the next time.

        Returns:
            The files that changed: the scores, the digests of the audit log.

        Raises:
            RoleRefused: This door may not write.
        """
        from workbench.engine.workspace.upkeep import begin_day, end_session

        ground = self._ground
        require(ground.role, Capability.WRITE_MEMORY, doing="look after memory")
        before = [_content(ground.files.read(path)) for path in _KEPT_UP]
        ground.prepare_writing(cancelled=cancelled)
        ground.refresh(cancelled=cancelled)
        if not cancelled():
            begin_day(ground, cancelled)
            end_session(ground)
        files = tuple(
            path
            for path, content in zip(_KEPT_UP, before, strict=True)
            if _content(ground.files.read(path)) != content
        )
        return Changed(ground.history.head() if files else None, files)


def _content(content: bytes | None) -> bytes:
    return content or b""
