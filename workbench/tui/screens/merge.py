"""Asks how two entities become one: which name stays, and whether now or by a proposal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from workbench.display.ink import BLANK, Span, gap, ink, wrap_line
from workbench.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.tui.bench import Link


@dataclass(frozen=True)
class MergeChoice:
    """How two entities become one.

    Args:
        keep: Id of the entity that stays.
        absorb: Id of the one that joins it.
        now: Merge at once; otherwise the merge is proposed, and waits in the Inbox.
    """

    keep: str
    absorb: str
    now: bool


def merge_lines(keep: Link, absorb: Link, width: int) -> list[Line]:
    """Draw what joins what, and what each key does."""
    lines: list[Line] = []
    for role, word, link in (("store.semantic+strong", "stays", keep), ("text", "joins it", absorb)):
        lines.append((Span(f"{word:<9}", "soft"), ink(link.text, role, max(8, width - 9))))
        lines.append((gap(9), ink(link.id.removeprefix("entity:"), "faint", max(8, width - 9))))
    text = (
        "Its facts and relations join those of the other; its name becomes another name of it. "
        "M parts them again."
    )
    lines += [BLANK, *wrap_line((Span(text, "soft"),), width), BLANK]
    keys = (
        ("w", "merge now"),
        ("p", "propose it: it waits in the Inbox"),
        ("s", "swap which one stays"),
        ("esc", "leave both"),
    )
    return [*lines, *((Span(f"{key:<5}", "strong"), Span(words, "text")) for key, words in keys)]


class MergeScreen(ModalScreen[MergeChoice | None]):
    """Two entities, and what to do with them; gives the choice, or None.

    Args:
        keep: The entity that stays.
        absorb: The entity that joins it.
    """

    BINDINGS: ClassVar = [
        ("w", "merge(True)", "Merge now"),
        ("p", "merge(False)", "Propose"),
        ("s", "swap", "Swap"),
        ("escape", "close", "Leave"),
    ]

    def __init__(self, keep: Link, absorb: Link) -> None:
        super().__init__()
        self._keep, self._absorb = keep, absorb

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Make one entity of two?", classes="dialog-title", markup=False)
            yield Lines()

    def on_mount(self) -> None:
        self._draw()

    def _draw(self) -> None:
        keep, absorb = self._keep, self._absorb
        self.query_one(Lines).show(lambda width: merge_lines(keep, absorb, width))

    def action_swap(self) -> None:
        self._keep, self._absorb = self._absorb, self._keep
        self._draw()

    def action_merge(self, now: bool) -> None:
        self.dismiss(MergeChoice(self._keep.id, self._absorb.id, now))

    def action_close(self) -> None:
        self.dismiss(None)
