"""The user's own command, run after somebody started a session over, with what is known of the ended one."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryFile

from workbench.engine.process import NotRunnable, absolute_search_path, end_program, find_program
from workbench.engine.results.sessions import Flushed
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.sessions import FoundSession
from workbench.engine.sessions.events import iso
from workbench.engine.values import dataclass

SETTING = "sessions.on_reset"
_MOST_COMPLAINT = 300


@dataclass(frozen=True)
class EndedSession:
    """A session that somebody started over.

    Args:
        found: As it was before.
        flushed: What of it was saved to memory; None where that was not wanted.
    """

    found: FoundSession
    flushed: Flushed | None

    def as_json(self, context: WorkspaceContext, reason: str, session_id: str) -> bytes:
        """Return what the command reads: one JSON object.

        Args:
            reason: `new`, `reset` or `recovered`.
            session_id: Of the session that began instead.
        """
        found, lines = self.found, self.found.lines
        saved = [
            {"id": one.id, "text": one.text, "citation": one.citation, "known": one.known}
            for one in (self.flushed.saved if self.flushed else ())
        ]
        told = {
            "event": "session-reset",
            "reason": reason,
            "at": iso(context.now()),
            "workspace": str(context.root),
            "key": found.name,
            "sessionId": session_id,
            "previousSessionId": found.entry.session_id,
            "previousTranscript": lines.where if lines.size() else None,
            "previousSessionEntry": dict(found.entry.fields),
            "saved": saved if self.flushed else None,
        }
        return json.dumps(told).encode()


def run_hook(
    context: WorkspaceContext, ended: EndedSession | None, reason: str, session_id: str
) -> tuple[str, ...]:
    """Run the command of `sessions.on_reset`, if there is one, after a session was started over (session workflow §9).

    It is run without a shell, in the user's home, so that nothing in a workspace is taken for a part of it; what it
    prints is ignored. At its limit it is killed with its children.

    Args:
        ended: The session that was started over; None where there was none.
        reason: `new`, `reset` or `recovered`.
        session_id: Of the session that began.

    Returns:
        What went wrong, one sentence; nothing it does takes the reset back.
    """
    command = context.settings.sessions.on_reset
    if not command or ended is None or not ended.found.entry.session_id:
        return ()
    try:
        _run(context, command, ended.as_json(context, reason, session_id))
    except NotRunnable as error:
        return (f"The session started over, but the command of {SETTING} did not do its work: {error}.",)
    return ()


def _run(context: WorkspaceContext, command: tuple[str, ...], told: bytes) -> None:
    program = find_program(command[0], SETTING, context.root, os.environ)
    arguments = [os.path.expanduser(each) if each.startswith("~/") else each for each in command[1:]]  # noqa: PTH111
    with TemporaryFile() as given, TemporaryFile() as complaint:
        given.write(told)
        given.seek(0)
        try:
            process = subprocess.Popen(
                [program, *arguments],
                cwd=Path.home(),
                env={**os.environ, "PATH": absolute_search_path(os.environ)},
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                start_new_session=True,
            )
        except (OSError, ValueError, RuntimeError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise NotRunnable(f"“{command[0]}” cannot be run ({why})") from error
        code = _ended(process, context.settings.sessions.on_reset_seconds)
        if code:
            complaint.seek(0)
            said = " ".join(complaint.read()[-_MOST_COMPLAINT:].decode("utf-8", "replace").split())
            raise NotRunnable(f"it ended with code {code}" + (f" ({said})" if said else ""))


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Wait for the command; return its code.

    Raises:
        NotRunnable: It takes too long, and was killed.
    """
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise NotRunnable(f"it took longer than {seconds:g} s and was ended") from error
    finally:
        if process.returncode is None:
            end_program(process)
