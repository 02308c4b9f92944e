"""Owns what a person does to memories wherever they are shown: pin, forget, edit, merge, and see elsewhere."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from workbench.engine.errors import WorkbenchError
from workbench.tui.bench import Link, Outcome
from workbench.tui.editor import edit_in_editor
from workbench.tui.navigation import is_memory, is_whole_entity, path_of
from workbench.tui.panes.base import Pane
from workbench.tui.text_draft import TextDraft
from workbench.tui.views.memory import sources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import App

    from workbench.tui.bench import Bench, Memory
    from workbench.tui.overlays import Overlays
    from workbench.tui.screens.merge import MergeChoice

# What stands in the vault never decays and is never put out of sight; free text has no score at all.
_DECAYING = frozenset({"core", "episode", "entity", "procedure"})


def means_something(action: str, subjects: Sequence[str], here: str, memory: Memory | None) -> bool:
    """Tell whether an action on memories makes sense.

    Args:
        action: Of a command in `ON_MEMORIES`.
        subjects: Ids of the memories that it would be about, where it can be about several.
        here: Id of the memory that it would be about otherwise; empty where there is none.
        memory: What is known of that one so far.
    """
    if action in ("pin", "forget"):
        return bool(subjects) and all(each.partition(":")[0] in _DECAYING for each in subjects)
    if action == "see_in_decay":
        return here.partition(":")[0] in (*_DECAYING, "vault")
    if action == "merge":
        return is_whole_entity(here)
    if action == "open_source":
        return memory is not None and bool(sources(memory))
    return is_memory(here)


class MemoryActions:
    """What is done to memories; the app has one.

    Args:
        app: Shows what an action asks and leads to, and tells what came of it.
    """

    def __init__(self, app: Overlays) -> None:
        self._app = app
        self._texts: dict[str, TextDraft] = {}

    @property
    def _bench(self) -> Bench:
        return self._app.bench

    @property
    def drafts(self) -> int:
        """Return how many texts are unsaved, the one being written included."""
        from workbench.tui.screens.edit import EditScreen

        kept = dict(self._texts)
        for screen in self._app.screen_stack:
            if isinstance(screen, EditScreen):
                kept[screen.draft.memory_id] = screen.draft
        return sum(draft.touched for draft in kept.values())

    # --- scores ---------------------------------------------------------------------------------------------

    def pin(
        self, ids: Sequence[str], status_of: Callable[[str], str], after: Callable[[], object] | None = None
    ) -> None:
        """Protect memories from decay; where all of them are protected, let go of them.

        Args:
            ids: Of the memories.
            status_of: Tells a memory’s status as far as it is known, else an empty string.
            after: Called once that went well.
        """

        def toggle() -> Outcome:
            return self._bench.pin(ids, pinned=not self._all(ids, "pinned", status_of))

        self._app.act(toggle, after)

    def forget(
        self, ids: Sequence[str], status_of: Callable[[str], str], after: Callable[[], object] | None = None
    ) -> None:
        """Archive memories; where all of them are archived, bring them back. Arguments as for `pin`."""

        def toggle() -> Outcome:
            if self._all(ids, "archived", status_of):
                return self._bench.restore(ids)
            return self._bench.forget(ids)

        self._app.act(toggle, after)

    def _all(self, ids: Sequence[str], status: str, status_of: Callable[[str], str]) -> bool:
        """Tell whether all memories have a status; those that are not known are read."""
        return all((status_of(each) or self._read_status(each)) == status for each in ids)

    def _read_status(self, memory_id: str) -> str:
        score = self._bench.memory(memory_id).score
        return score.status if score is not None else ""

    # --- text -----------------------------------------------------------------------------------------------

    def edit(self, memory_id: str) -> None:
        """Write a memory’s text in place, or go on with what was begun before."""
        if memory_id in self._texts:
            self._write(self._texts[memory_id])
        else:
            self._read_text(memory_id, self._write)

    def edit_in_editor(self, memory_id: str) -> None:
        """Write a memory’s text in the user’s own editor."""
        self._read_text(memory_id, self._write_in_editor)

    def _read_text(self, memory_id: str, then: Callable[[TextDraft], object]) -> None:
        def read() -> None:
            try:
                text = self._bench.memory_text(memory_id)
            except WorkbenchError as error:
                self._app.post_message(Pane.Done(None, error))
                return
            self._app.call_from_thread(then, TextDraft(memory_id, text, text))

        self._app.run_worker(read, thread=True, exclusive=True, group="edit")

    def _write(self, draft: TextDraft) -> None:
        from workbench.tui.screens.edit import EditScreen

        def written(result: Outcome | TextDraft | None) -> None:
            self._texts.pop(draft.memory_id, None)
            if isinstance(result, TextDraft):
                self._texts[draft.memory_id] = result
            elif result is not None:
                self._app.post_message(Pane.Done(result))

        self._app.push_screen(EditScreen(self._bench, draft), written)

    def _write_in_editor(self, draft: TextDraft) -> None:
        try:
            text = edit_in_editor(cast("App[object]", self._app), draft.expected, suffix=".md")
        except WorkbenchError as error:
            self._app.post_message(Pane.Done(None, error))
            return
        # Editors end a text with a line break; where there was none, none was meant.
        if text is not None and not draft.expected.endswith("\n"):
            text = text.removesuffix("\n")
        if text is not None and text != draft.expected:
            self._app.act(partial(self._bench.edit_memory, draft.memory_id, text, draft.expected))

    # --- merging --------------------------------------------------------------------------------------------

    def merge(self, memory_id: str, name: str) -> None:
        """Make one entity of two: ask which other one, then whether now or as a proposal.

        Args:
            memory_id: The one that stays, unless they change places.
            name: What it is called.
        """
        from workbench.tui.screens.merge import MergeScreen
        from workbench.tui.screens.pick import PickScreen

        def decided(choice: MergeChoice | None) -> None:
            if choice is not None:
                call = self._bench.merge if choice.now else self._bench.propose_merge
                self._app.act(partial(call, choice.keep, choice.absorb))

        def picked(other: str | None) -> None:
            if other:
                names = {row.id: row.label for row in self._bench.entities().entities}
                self._app.push_screen(
                    MergeScreen(Link(memory_id, name), Link(other, names.get(other, other))), decided
                )

        self._app.push_screen(PickScreen(self._bench, f"Merge {name} with which one?", (memory_id,)), picked)

    # --- elsewhere ------------------------------------------------------------------------------------------

    def before(self, memory_id: str, show: Callable[[str], object]) -> None:
        """Find the moment before a memory last changed.

        Args:
            memory_id: Of any store.
            show: Given the link to that moment, in the app.
        """

        def read() -> None:
            try:
                history = self._bench.history(self._bench.memory(memory_id))
                if not history:
                    # A memory of a damaged history has none, too; what reads the whole of it says so.
                    self._bench.history_line()
            except WorkbenchError as error:
                self._app.post_message(Pane.Done(None, error))
                return
            if history:
                self._app.call_from_thread(show, f"past:{memory_id}@{history[0].commit}^")
            else:
                self._app.post_message(Pane.Done(Outcome("History does not know this memory yet.")))

        self._app.run_worker(read, thread=True, exclusive=True, group="before")


def history_link(memory_id: str, memory: Memory | None) -> str:
    """Return the link to every change of a memory."""
    return f"history:{memory.path if memory is not None else path_of(memory_id)}"
