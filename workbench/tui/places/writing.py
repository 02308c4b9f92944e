"""Writing all ticks: what would be written in the card, one question, and a receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.display.conflicts import conflict_title
from workbench.display.deciding import held_title, item_title
from workbench.display.writing import answer_words, written_words
from workbench.engine.errors import WorkbenchError
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.values import dataclass
from workbench.tui.keys.table import COMMAND
from workbench.tui.verbs.act import Act

if TYPE_CHECKING:
    from workbench.engine.results.inbox import Inbox, InboxPreview, Written
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame

_SCORED: Final = {
    Kind.ARCHIVE: "no longer recalled on its own",
    Kind.RESTORE: "recalled again",
    Kind.VAULT_PIN: "never fades",
}


@dataclass(frozen=True)
class Preview:
    """What would be written, as it is shown in the card.

    Args:
        titles: Words by id.
        scored: What becomes of memories whose text stays, by id.
    """

    preview: InboxPreview
    titles: Mapping[str, str]
    scored: Mapping[str, str]
    id: str = "write"
    title: str = "Write"


@dataclass(frozen=True)
class Receipt:
    """What was written, as it is shown in the card."""

    written: Written
    titles: Mapping[str, str] = field(default_factory=dict)
    id: str = "written"
    title: str = "Written"


class WritingTicks:
    """Writes what is ticked, from any place.

    Args:
        frame: Whose Inbox shows what would be written.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self.is_busy = False
        """Whether keys wait: what would be written is being read."""
        self.commits: set[str] = set()
        """First commits of what was written here: it is taken back without a question."""

    def do(self, command: str) -> bool:
        """Show what would be written, and ask."""
        if command != "write":
            return False
        self.is_busy = True
        # Behind the ticks that are still being kept.
        self._frame.begin(Act(self._look, only_looks=True))
        return True

    def _look(self, workspace: Workspace) -> str:
        app = self._frame.app
        try:
            preview, inbox = workspace.inbox_preview(), workspace.inbox()
            titles = _titles(workspace, inbox, preview)
        except WorkbenchError:
            app.call_later(self._over)
            raise
        if preview.is_empty:
            app.call_later(self._over)
            reason = next(iter(preview.waiting.values()), "")
            return f"Nothing can be written now: {reason}" if reason else COMMAND["write"].elsewhere
        app.call_later(self._ask, Preview(preview, titles, _scored(inbox)))
        return "This is what will be written."

    def _over(self) -> None:
        self.is_busy = False

    def _ask(self, shown: Preview) -> None:
        self.is_busy = False
        frame = self._frame
        if frame.place.name != "inbox":
            frame.go("inbox")
        frame.place.visited.append(shown)
        frame.read()
        frame.read_card()
        frame.begin(
            Act(
                partial(self._write, shown.titles),
                "Write this?",
                answer_words(shown.preview),
                leave=self._leave,
            )
        )

    def _leave(self) -> None:
        """Go back from what would be written to the list."""
        frame = self._frame
        frame.place.visited[:] = [each for each in frame.place.visited if not isinstance(each, Preview)]
        frame.remove_class("-reading")
        frame.focus_place()
        frame.read_card()

    def _write(self, titles: Mapping[str, str], workspace: Workspace) -> str:
        written = workspace.inbox_write()
        self._frame.app.call_later(self._wrote, Receipt(written, titles))
        return written_words(written)

    def _wrote(self, receipt: Receipt) -> None:
        if receipt.written.commit is not None:
            self.commits.add(receipt.written.commit)
        self._leave()
        self._frame.place.visited.append(receipt)


def _titles(workspace: Workspace, inbox: Inbox, preview: InboxPreview) -> dict[str, str]:
    """Return words for everything that a preview names by its id."""
    titles = {item.id: item_title(item) for item in inbox.review.items}
    titles |= {f"#{each.number}": each.content for group in inbox.proposals for each in group}
    titles |= {f"held:{each.number}": held_title(each) for each in inbox.held}
    titles |= {each.id: conflict_title(each) for each in inbox.conflicts}
    for change in preview.memories:
        entity = change.id.partition("#^")[0]
        if entity.startswith("entity:") and entity not in titles:
            try:
                titles[entity] = workspace.title(entity)
            except WorkbenchError:
                titles[entity] = entity.partition("--")[2].replace("-", " ")
    return titles


def _scored(inbox: Inbox) -> dict[str, str]:
    return {
        item.target: words
        for item in inbox.review.items
        if (kind := kind_of(item.kind)) is not None and (words := _SCORED.get(kind))
    }
