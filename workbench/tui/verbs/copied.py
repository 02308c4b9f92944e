"""What can be copied of a thing: its words, where it stands, what was said, and its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace


@dataclass(frozen=True)
class Copied:
    """What can be copied of a thing; empty where it has none.

    Args:
        quote: What was said, by whom and when.
        id: Its id.
    """

    text: str
    citation: str = ""
    quote: str = ""
    id: str = ""


def copied_memory(workspace: Workspace, memory_id: str) -> Copied:
    """Read what can be copied of a memory; called on a thread."""
    shown = workspace.show(memory_id, count_access=False, history=False)
    lines = f"{shown.start_line}" + (f"-{shown.end_line}" if shown.end_line != shown.start_line else "")
    quote = ""
    for saying in workspace.why(memory_id).said:
        if saying.quote:
            by = words.speaker(saying.speaker) if saying.speaker is not None else ""
            when = words.moment(saying.moment, workspace.now()) if saying.moment is not None else ""
            told = ", ".join(filter(None, (by, when)))
            quote = f"“{saying.quote}” ({told})" if told else f"“{saying.quote}”"
            break
    return Copied(shown.text, f"{shown.path}:{lines}", quote, shown.id)
