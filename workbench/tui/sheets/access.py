"""Shows the tokens with which agents come in from other machines, and revokes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.access import opens
from workbench.tui.parts.chooser import Choice
from workbench.tui.verbs.act import Act

if TYPE_CHECKING:
    from workbench.engine.results.access import AccessToken, AccessTokens
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame


class Letting:
    """Shows who may come in, and shuts out whom one chooses.

    Args:
        frame: In which it asks.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def begin(self) -> None:
        """Show the tokens."""
        self._frame.reading.read("tokens", lambda workspace: workspace.tokens(), self._choose)

    def _choose(self, found: AccessTokens) -> None:
        choices = (
            *(Choice(each.name, self._told(each), "Agents on other machines") for each in found.tokens),
            *(Choice(name, f"{name}: cannot be read", "Nobody comes in with") for name in found.unreadable),
        )
        if choices:
            self._frame.choosing.choose("Which token to revoke", choices, self._revoke)
        else:
            self._frame.say("No agent comes in from another machine: this memory has no token.")

    def _told(self, token: AccessToken) -> str:
        used = (
            f"last used {words.moment(token.last_used, self._frame.now())}"
            if token.last_used
            else "never used"
        )
        return f"{token.name}: {opens(token)}; {used}"

    def _revoke(self, choice: Choice) -> None:
        def revoke(workspace: Workspace) -> str:
            workspace.token_revoke(choice.id)
            return f"Revoked the token {choice.id}. Nobody comes in with it any more."

        question = f"Let nobody in with the token {choice.id} any more? What is open with it ends."
        self._frame.begin(Act(revoke, question, "revoke it"))
