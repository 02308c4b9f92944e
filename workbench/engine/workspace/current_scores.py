"""Scores as they are now, with what was reckoned of them before for as long as nothing that they depend on changes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.workspace.known_scores import KnownScores

if TYPE_CHECKING:
    from workbench.engine.documents.decay_scores import DecayScores
    from workbench.engine.workspace.ground import Ground
    from workbench.engine.workspace.scores import Scores


class CurrentScores:
    """Asked again and again by one open workspace, from any thread."""

    def __init__(self) -> None:
        self._file: DecayScores | None = None
        self._known = KnownScores()
        self._lock = threading.Lock()

    def now(self, ground: Ground) -> Scores:
        """Return the relevance of memories at this moment.

        Args:
            ground: The open workspace, its settings and catalog up to date.
        """
        from workbench.engine.decay.folding import pending
        from workbench.engine.decay.records import Reckoning
        from workbench.engine.documents.decay_scores import DecayScores
        from workbench.engine.history.views import read_work_file
        from workbench.engine.workspace.first_seen import FirstSeen
        from workbench.engine.workspace.scores import Scores

        content = read_work_file(ground.root, layout.DECAY_SCORES) or b""
        file = self._file
        if file is None or content != file.content:
            file = self._file = DecayScores.parse(content)
        accesses, now, constants = pending(file, ground.accesses()), ground.now(), ground.settings.decay
        # Scores change with the day, the memories, the scores file and the journal, and with nothing else.
        settled = (now.date(), ground.catalog.version(), content, constants)
        basis = (settled, frozenset(accesses.items()))
        with self._lock:
            if basis != self._known.basis:
                self._known = KnownScores(basis, self._known.settled, self._known.memories)
            known = self._known
        return Scores(
            catalog=ground.catalog,
            lookups=ground.lookups,
            entries=file.entries,
            pending=accesses,
            first_seen=FirstSeen(ground.catalog),
            reckoning=Reckoning(now, ground.zone, constants),
            known=known,
        )
