"""Looking at memory as it was through the door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.results.past import Comparison, HistoryLine
from workbench.engine.workspace.reading import Reading

if TYPE_CHECKING:
    from workbench.engine.past import Past


class PastReading(Reading):
    """Memory at any moment of its history, and what differs between two."""

    def history_line(self) -> HistoryLine:
        """Return every commit from the first to the newest."""
        ground = self._ground
        return ground.looking_back.line().shown() if ground.has_history() else HistoryLine((), (), ())

    def at(self, moment: str) -> Past:
        """Return memory as it was.

        Args:
            moment: A commit, a time, or a day, whose end is meant; also `3d` (ago), `today` or `yesterday`.

        Raises:
            NotFound: There is no such commit.
            InvalidInput: This is no moment.
        """
        return self._ground.looking_back.past(moment)

    def compare(self, older: str, newer: str | None = None) -> Comparison:
        """Return what is different at a later moment.

        An entity that came or went is told whole; where only facts or relations with a block id differ, these are told
        and the entity is not. Where `older` is the later of the two, it is told what going back would change.

        Args:
            older: As for `at`.
            newer: Likewise; the files as they are now, committed or not, by default.
        """
        from workbench.engine.past.comparing import compare

        ground = self._ground
        before = ground.looking_back.past(older, "older")
        after = ground.looking_back.past("HEAD" if newer is None else newer, "newer")
        pairs = before.differing(after)
        if newer is None:
            from workbench.engine.history.stamps import find_edits

            store = ground.history.store
            edits = find_edits(ground.root, store, store.commit(after.commit).tree, ground.state)
            hidden = ground.masking.hidden_names(edits.files)
            for path, content in edits.files.items():
                if path in hidden:
                    continue
                now = None if content is None else ground.masking.content(path, content)
                pairs[path] = (before.files.read(path), now)
        ends = (before.commit, None if newer is None else after.commit)
        return compare(pairs, after.unit, ground.zone, ends)
