"""Opens what every place has: import, export, syncing, tokens, index and health, and why a memory did not answer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.access import opens
from workbench.display.health import size_words
from workbench.display.remedies import told_in_bench
from workbench.display.words import counted
from workbench.engine.errors import Cancelled, WorkbenchError
from workbench.engine.file_access import expand_writable
from workbench.tui.keys.table import COMMAND, HEALTH, IMPORT
from workbench.tui.parts.chooser import Choice
from workbench.tui.places.ask import AskPlace
from workbench.tui.sheets.paths import complete
from workbench.tui.sheets.syncing import Syncing
from workbench.tui.verbs.act import Act, quoted
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.access import AccessToken, AccessTokens
    from workbench.engine.results.transfer import Exported, ExportProgress
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame

FILE, FOLDER = "one-file", "plain-folder"
_SUFFIX = ".jsonl"
_AS = "Write memory out as"
_WAYS = (
    Choice(FILE, "One file of JSON Lines, with all that is known of each memory", _AS),
    Choice(FOLDER, "A plain folder of the files as they are", _AS),
)


class Exporting:
    """Asks as what and where to, and writes it there."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def begin(self) -> None:
        """Ask as what."""
        if self._frame.working.is_running:
            self._frame.say(self._frame.working.busy)
        else:
            self._frame.choosing.choose(
                "One file, or a folder? Either can be brought in again", _WAYS, self._where
            )

    def _where(self, way: Choice) -> None:
        frame, folder = self._frame, way.id == FOLDER
        name = f"~/{frame.working.workspace.root.name}-{frame.now():%Y-%m-%d}{'' if folder else _SUFFIX}"
        frame.editing.ask(
            "write the folder to" if folder else "write the file to",
            name,
            lambda typed: [each.path for each in complete(typed) if not each.told],
            take=lambda text: self._take(text.strip(), folder=folder),
        )

    def _take(self, target: str, *, folder: bool) -> str | None:
        if not target:
            return "Write where to; esc leaves it."
        try:
            is_there = os.path.lexists(expand_writable(target))
        except WorkbenchError as error:
            return told_in_bench(error)
        if is_there:
            return f"{quoted(target)} is there already and stays as it is; write another name."
        self._write(target, folder=folder)
        return None

    def _write(self, target: str, *, folder: bool) -> None:
        workspace = self._frame.working.workspace

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            def progress(told: ExportProgress) -> None:
                tell(f"writing {100 * told.done // told.total}%" if told.total else "writing…")

            try:
                exported = workspace.export(target, folder=folder, progress=progress, cancelled=stopped)
            except Cancelled:
                return "The export was stopped; nothing of it was kept."
            return exported_words(exported)

        self._frame.say(f"Writing memory to {target}; everything else works meanwhile.")
        self._frame.working.begin("The export", work)


def exported_words(exported: Exported) -> str:
    """Return what an export wrote, as a sentence."""
    files = counted(exported.files, "file")
    memories = f"{counted(exported.memories, 'memory', 'memories')} and "
    what = memories * bool(exported.memories) + files
    return f"Wrote {what}, {size_words(exported.size_bytes)}, to {exported.target}."


class Letting:
    """Lists the tokens, and revokes the one that is chosen."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def begin(self) -> None:
        """Show the tokens."""
        self._frame.reading.read("tokens", lambda workspace: workspace.tokens(), self._choose)

    def _choose(self, found: AccessTokens) -> None:
        choices = (
            *(Choice(each.name, self._told(each), "Agents on other machines") for each in found.tokens),
            *(Choice(name, f"{name}: cannot be read", "Cannot be read") for name in found.unreadable),
        )
        if choices:
            self._frame.choosing.choose("Revoke which token?", choices, self._revoke)
        else:
            self._frame.say("No agent on another machine has access: there is no token.")

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
            return f"Revoked the token {choice.id}. It gives no access any more."

        question = f"Revoke the token {choice.id}? Its open connections end."
        self._frame.begin(Act(revoke, question, "revoke it"))


class Sheets:
    """Opens them."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def do(self, command: str) -> bool:
        """Open the sheet of a command."""
        if command == "health":
            self._frame.go(HEALTH.name)
        elif command == "import":
            self._frame.go(IMPORT.name, spot="")
        elif command == "export":
            Exporting(self._frame).begin()
        elif command == "sync":
            Syncing(self._frame).begin()
        elif command == "tokens":
            Letting(self._frame).begin()
        elif command == "why-not":
            self._why_not()
        else:
            return False
        return True

    def take(self, key: str) -> bool:  # noqa: ARG002 - there is no line to write in
        """Take no key: nothing is written here."""
        return False

    def _why_not(self) -> None:
        place = self._frame.place
        if not isinstance(place, AskPlace) or place.results is None or not place.results.question.words:
            self._frame.say(COMMAND["why-not"].elsewhere)
            return
        question = place.results.question.words

        def take(choice: Choice) -> None:
            place.ask_why_not(Memory(choice.id, choice.store, choice.text))
            self._frame.read_card()
            self._frame.read()

        self._frame.choosing.choose_memory(f"Which memory did you expect for “{question}”?", take)
