"""Looking at memory as it was through the door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.workspace.reading import Reading

if TYPE_CHECKING:
    from workbench.engine.past import Past
    from workbench.engine.past.units import Unit


class PastReading(Reading):
    """Memory at any moment of its history, and what differs between two."""

    def history_line(self) -> results.HistoryLine:
        """Return every commit from the first to the newest."""
        ground = self._ground
        return ground.looking_back.line().shown() if ground.has_history() else results.HistoryLine((), (), ())

    def at(self, moment: str) -> Past:
        """Return memory as it was.

        Args:
            moment: A commit, a time, or a day, whose end is meant; also `3d` (ago), `today` or `yesterday`.

        Raises:
            NotFound: There is no such commit.
            InvalidInput: This is no moment.
        """
        return self._ground.looking_back.past(moment)

    def compare(self, older: str, newer: str | None = None) -> results.Comparison:
        """Return what is different at a later moment.

        Args:
            older: As for `at`.
            newer: Likewise; the files as they are now by default.
        """
        from workbench.engine.history.stamps import find_edits
        from workbench.engine.past.comparing import compare
        from workbench.engine.past.units import units_of

        ground = self._ground
        before = self.at(older)
        store = ground.history.store
        head = store.resolve("HEAD")
        after = self.at(newer if newer is not None else head)
        pairs = {
            change.path: (
                store.read_blob(change.old_blob) if change.old_blob else None,
                store.read_blob(change.new_blob) if change.new_blob else None,
            )
            for change in store.changed_paths(
                store.commit(before.commit).tree, store.commit(after.commit).tree
            )
        }
        if newer is None:
            edits = find_edits(ground.root, store, store.commit(head).tree, ground.state)
            for path, content in edits.files.items():
                was = pairs[path][0] if path in pairs else before.files.read(path)
                pairs[path] = (was, content)
                if was == content:
                    del pairs[path]

        def find(memory_id: str) -> tuple[str, Unit] | None:
            path = after.lookups.path_of(memory_id)
            content = after.files.read(path) if path else None
            unit = (
                units_of(path, content, ground.zone).get(memory_id) if path and content is not None else None
            )
            return (path, unit) if path and unit else None

        return compare(pairs, find, ground.zone, (before.commit, None if newer is None else after.commit))
