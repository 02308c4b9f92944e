"""Syncs memory with a git remote: names it, shows what would leave, and carries both ways while one works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.health import size_words
from workbench.display.remedies import in_bench
from workbench.display.sync import conflicts_told
from workbench.display.words import counted
from workbench.engine.errors import SecretFound
from workbench.tui.parts.chooser import Choice
from workbench.tui.verbs.act import Act, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.sync import Synced, SyncPreview, SyncStatus
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame

NOW, OTHER, STOP = "sync-now", "another-remote", "stop-syncing"
_KEPT = "what was fetched or sent until then stays"


class Syncing:
    """Asks for a remote where none is known, and syncs.

    Args:
        frame: In which it asks.
    """

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
            self._ask()
            return
        about = f"{status.device}, with {status.remote}"
        waits = f"; {counted(status.waiting, 'change')} to send" if status.waiting else ""
        choices = (
            Choice(NOW, f"Sync now{waits}", about),
            Choice(OTHER, "Name the remote again, or another one", about),
            Choice(STOP, "Stop syncing; what is here and there stays", about),
        )
        self._frame.choosing.choose("One memory on several devices", choices, self._take)

    def _take(self, choice: Choice) -> None:
        if choice.id == OTHER:
            self._ask()
        elif choice.id == STOP:
            self._frame.begin(Act(_stop))
        else:
            self._sync(None)

    def _ask(self) -> None:
        self._frame.editing.ask(
            "sync with (folder, host:path or URL)", take=lambda text: self._look(text.strip())
        )

    def _look(self, remote: str) -> str | None:
        if not remote:
            return "Write a folder, host:path or a URL; esc leaves it."

        looked: list[SyncPreview] = []

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            found = self._frame.working.workspace.sync_preview(
                remote, progress=_telling(tell), cancelled=stopped
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

        self._frame.say(f"Looking at {remote}; everything else works meanwhile.")
        self._frame.working.begin(
            "The look", work, "nothing was changed", then=lambda: self._confirm(remote, looked[0])
        )
        return None

    def _confirm(self, remote: str, found: SyncPreview) -> None:
        self._frame.begin(Act(lambda _: self._from_thread(remote), leaving(found), "sync from now on"))

    def _from_thread(self, remote: str) -> str:
        self._frame.app.call_later(self._sync, remote)
        return "Syncing."

    def _sync(self, remote: str | None) -> None:
        workspace = self._frame.working.workspace

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            synced = workspace.sync(
                remote, confirmed=remote is not None, progress=_telling(tell), cancelled=stopped
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
    return "This memory is not synced any more; what is here and at the remote stays."


def leaving(found: SyncPreview) -> str:
    """Return the question before memory leaves for a new remote, as a sentence."""
    if found.brings_memory:
        came = found.incoming
        return (
            f"Bring {counted(len(came.files), 'file')} ({size_words(came.size)}) from {quoted(found.remote)}?"
        )
    out = found.outgoing
    what = f"{counted(out.commits, 'commit')}, {counted(len(out.files), 'file')}, {size_words(out.size)}"
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
