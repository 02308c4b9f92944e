"""The bench’s calls about one memory, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.workspace_bench.door import Door, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.tui import bench


class WorkspaceMemory(Door):
    """The part of a workspace that is the text of a memory."""

    def titles(self, stores: Sequence[str]) -> Mapping[str, str]:
        """Return the line that names each memory of some stores, by its id."""
        return self._workspace.titles(*stores)

    def memory_text(self, memory_id: str) -> str:
        """Return the text that correcting a memory starts from."""
        return self._workspace.show(memory_id, count_access=False, history=False).text

    def edit_memory(self, memory_id: str, text: str, expected: str) -> bench.Outcome:
        """Let a memory say something else; an episode stays and gets a correction beside it."""
        changed = self._workspace.edit(memory_id, text, expected=expected)
        corrected = memory_id.startswith("episode:")
        summary = "The correction stands beside what it corrects." if corrected else "Saved."
        return self._did(summary, changed)

    def restore(self, memory_ids: Sequence[str]) -> bench.Outcome:
        """Bring archived memories back."""
        changed = self._workspace.restore(*memory_ids)
        return self._did(f"Brought back {counted(memory_ids, 'memory')}.", changed)
