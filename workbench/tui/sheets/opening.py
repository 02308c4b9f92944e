"""Opens what every place has: import, export, syncing, tokens, index and health, and why a memory did not answer.

Syncing names a git remote, shows what would leave, and carries both ways while one works on.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.connections import opens
from workbench.display.health import size_words
from workbench.display.sync import conflicts_told, keys_told, readers
from workbench.display.words import counted, in_bench, quoted, told_in_bench
from workbench.engine.errors import Cancelled, SecretFound, WorkbenchError
from workbench.engine.file_access import expand_writable
from workbench.engine.sync.devices import without_login
from workbench.tui.keys.table import COMMAND, HEALTH, IMPORT
from workbench.tui.parts.chooser import Choice
from workbench.tui.places.ask import AskPlace
from workbench.tui.sheets.importing import complete
from workbench.tui.verbs.act import Act
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.access import AccessToken, AccessTokens
    from workbench.engine.results.sync import Synced, SyncKey, SyncPreview, SyncStatus
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
NOW, OTHER, STOP = "sync-now", "another-remote", "stop-syncing"
SEALED, LET_IN, KEY = "sealed-remote", "let-in", "own-key"
_OWN_KEY = "Show this device’s key, to let it in elsewhere"
_KEPT = "what was fetched or sent stays"


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


class Syncing:
    """Asks for a remote where none is known, and syncs."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def begin(self) -> None:
        """Ask what to do, or where to sync with."""
        if self._frame.working.is_running:
            self._frame.say(self._frame.working.busy)
        else:
            self._frame.reading.read("sync", lambda workspace: workspace.sync_status(), self._choose)

    def _choose(self, status: SyncStatus) -> None:
        if status.remote is None:
            about = "One memory on several devices, through a remote of yours"
            choices: tuple[Choice, ...] = (
                Choice(OTHER, "Name a remote: a folder, host:path or URL", about),
                Choice(SEALED, "Name a remote that nobody has to trust; what is sent is sealed", about),
                Choice(KEY, _OWN_KEY, "For a sealed remote: a device that is in lets this one in by it"),
            )
            self._frame.choosing.choose("One memory on several devices", choices, self._take)
            return
        sealed = f", sealed: {keys_told(status.keys)}" if status.sealed else ""
        about = f"{status.device}, with {status.remote}{sealed}"
        waits = f"; {counted(status.waiting, 'change')} to send" if status.waiting else ""
        choices = (
            Choice(NOW, f"Sync now{waits}", about),
            *((Choice(LET_IN, "Let another device in, by its key", about),) if status.sealed else ()),
            Choice(SEALED if status.sealed else OTHER, "Name the remote again, or another one", about),
            *((Choice(KEY, _OWN_KEY, about),) if status.sealed else ()),
            Choice(STOP, "Stop syncing; what is here and there stays", about),
        )
        self._frame.choosing.choose("One memory on several devices", choices, self._take)

    def _take(self, choice: Choice) -> None:
        if choice.id in (OTHER, SEALED):
            self._ask(sealed=choice.id == SEALED)
        elif choice.id == LET_IN:
            self._frame.editing.ask(
                "the key of the other device (age1…)", take=lambda text: self._let_in(text.strip())
            )
        elif choice.id == KEY:
            self._frame.reading.read("sync", lambda workspace: workspace.sync_key(), self._show_key)
        elif choice.id == STOP:
            self._frame.begin(Act(_stop))
        else:
            self._sync(None)

    def _show_key(self, key: SyncKey) -> None:
        about = "Give it to a device that is in: there, m y and “Let another device in”"
        self._frame.choosing.choose(
            f"The key of {key.device}; enter copies it",
            (Choice(key.key, key.key, about),),
            lambda choice: self._frame.copying.copy(choice.id, "this device’s key"),
        )

    def _ask(self, *, sealed: bool) -> None:
        label = "sync sealed with" if sealed else "sync with"
        self._frame.editing.ask(
            f"{label} (folder, host:path or URL)", take=lambda text: self._look(text.strip(), sealed=sealed)
        )

    def _let_in(self, key: str) -> str | None:
        if not key:
            return "Write the key that the other device shows; esc leaves it."
        workspace = self._frame.working.workspace

        def work(tell: Callable[[str], None], _: Callable[[], bool]) -> str:
            tell("encrypting everything again…")
            return f"Encrypted again, for {keys_told(workspace.sync_allow(key).keys)}."

        self._frame.working.begin("The sealing", work, "the remote stays as it was")
        return None

    def _look(self, remote: str, *, sealed: bool) -> str | None:
        if not remote:
            return "Write a folder, host:path or a URL; esc leaves it."

        looked: list[SyncPreview] = []

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            found = self._frame.working.workspace.sync_preview(
                remote, sealed=sealed, progress=_telling(tell), cancelled=stopped
            )
            if found.secrets:
                first = found.secrets[0]
                raise SecretFound(
                    f"Nothing was sent: {counted(len(found.secrets), 'thing')} in what would leave "
                    f"{'looks' if len(found.secrets) == 1 else 'look'} like a secret, first in "
                    f"{first.path or 'the message of a commit'}.",
                    remedy="Forget it for good with its history, or allow it; then sync again.",
                )
            looked.append(found)
            return f"Looked at {quoted(found.remote)}."

        self._frame.say(f"Looking at {without_login(remote)}; everything else works meanwhile.")
        self._frame.working.begin(
            "The look",
            work,
            "nothing was changed",
            then=lambda: self._confirm(remote, looked[0], sealed=sealed),
        )
        return None

    def _confirm(self, remote: str, found: SyncPreview, *, sealed: bool) -> None:
        def begin(_: Workspace) -> str:
            self._frame.app.call_later(self._sync, remote, sealed)
            return "Syncing."

        self._frame.begin(Act(begin, leaving(found), "sync from now on"))

    def _sync(self, remote: str | None, sealed: bool = False) -> None:
        workspace = self._frame.working.workspace

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            synced = workspace.sync(
                remote,
                confirmed=remote is not None,
                sealed=sealed,
                progress=_telling(tell),
                cancelled=stopped,
            )
            return synced_words(synced)

        self._frame.say("Syncing; everything else works meanwhile, and esc in Today stops it.")
        self._frame.working.begin("The sync", work, _KEPT)


def _telling(tell: Callable[[str], None]) -> Callable[[str, int, int], None]:
    def progress(what: str, done: int, total: int) -> None:
        tell(f"{what.lower()} {100 * done // total}%" if total else f"{what.lower()}…")

    return progress


def _stop(workspace: Workspace) -> str:
    workspace.sync_forget()
    return "This memory is no longer synced; what is here and at the remote stays."


def leaving(found: SyncPreview) -> str:
    """Return the question before memory leaves for a new remote, as a sentence."""
    if found.brings_memory:
        came = found.incoming
        return (
            f"Bring {counted(len(came.files), 'file')} ({size_words(came.size)}) from {quoted(found.remote)}?"
        )
    out = found.outgoing
    what = f"{counted(out.commits, 'commit')}, {counted(len(out.files), 'file')}, {size_words(out.size)}"
    if found.keys:
        # First what matters most: a long line is cut.
        return f"Seal for {readers(found.keys)} alone; send {what} to {quoted(found.remote)} as “{found.device}”?"
    return f"Send {what} to {quoted(found.remote)} as “{found.device}”?"


def synced_words(synced: Synced) -> str:
    """Return what a sync did, as a sentence or two."""
    if not synced.sent and not synced.received and not synced.purged:
        return "Nothing is new on either side."
    parts = [
        *((f"{counted(synced.sent, 'commit')} sent",) if synced.sent else ()),
        *((f"{counted(synced.received, 'commit')} received",) if synced.received else ()),
        *(("what another device purged is gone here too",) if synced.purged else ()),
    ]
    conflicts = (f"{conflicts_told(synced.conflicts)}.",) if synced.conflicts else ()
    return " ".join((f"Synced: {', '.join(parts)}.", *conflicts, *map(in_bench, synced.warnings)))
