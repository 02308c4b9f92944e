"""Starting a server as a client starts it, to see whether it answers."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from workbench import __version__
from workbench.engine.process import end_program
from workbench.engine.results.audit import Check
from workbench.engine.results.clients import ClientState, Connection

_SECONDS: Final = 15.0
_VERSION: Final = "2025-06-18"
_LONGEST_LINE: Final = 8_000_000
_MOST_COMPLAINT: Final = 300
_AT_ONCE: Final = 4


class Unanswered(Exception):
    """A server did not answer; the message says why, for a person."""


def check_connections(clients: Iterable[ClientState]) -> Iterator[Check]:
    """Start each server that a client of the user's starts, with the very command that is written there.

    A project's configuration may be anybody's, so what it names is not started.
    """
    named: list[tuple[ClientState, Connection]] = []
    for client in clients:
        if client.problem is not None:
            yield Check(client.title, "degraded", client.problem)
        named += ((client, each) for each in client.connections if each.scope == "user")
    commands = list(dict.fromkeys(connection.command for _, connection in named))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        outcomes = dict(zip(commands, pool.map(_outcome, commands), strict=True))
    for client, connection in named:
        yield _check(client, connection, outcomes[connection.command])


def _outcome(command: tuple[str, ...]) -> str | Unanswered:
    """Return what a server answered, in a few words, or why it did not."""
    began = time.monotonic()
    try:
        tools = tools_of(command)
    except Unanswered as error:
        return error
    return f"{len(tools)} tools after {time.monotonic() - began:.1f} s"


def _check(client: ClientState, connection: Connection, outcome: str | Unanswered) -> Check:
    hooks = f"; hooks: {', '.join(connection.hooks)}" if connection.hooks else ""
    served = f"{connection.server} serves {connection.workspace}"
    if isinstance(outcome, str):
        return Check(client.title, "ok", f"{served}: {outcome}{hooks}")
    again = f"workbench connect {client.name}" + (f" --agent {connection.agent}" if connection.agent else "")
    told = f"{served}, but its server does not answer: {outcome}"
    return Check(client.title, "broken", told, f"Write its entry again: {again}")


def tools_of(command: tuple[str, ...], seconds: float = _SECONDS) -> list[str]:
    """Return the names of the tools that a server offers over stdin and stdout.

    Args:
        command: What starts it.
        seconds: The longest that all of it may take.

    Raises:
        Unanswered: It cannot be started, ends, answers with an error or takes too long.
    """
    until = time.monotonic() + seconds
    with TemporaryFile() as complaint:
        try:
            process = subprocess.Popen(
                command,
                cwd=Path.home(),
                env=os.environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaint,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise Unanswered(f"{command[0]} cannot be run ({why}).") from error
        try:
            return _talk(process, until)
        except Unanswered as error:
            end_program(process)
            complaint.seek(0)
            said = " ".join(complaint.read()[-_MOST_COMPLAINT:].decode("utf-8", "replace").split())
            raise Unanswered(f"{error}{f' It says: {said}' if said else ''}") from error
        finally:
            _end(process)


def _talk(process: subprocess.Popen[bytes], until: float) -> list[str]:
    assert process.stdin is not None
    assert process.stdout is not None
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    told = {
        "protocolVersion": _VERSION,
        "capabilities": {},
        "clientInfo": {"name": "doctor", "version": __version__},
    }
    _send(process.stdin, {"id": 1, "method": "initialize", "params": told})
    _answer(lines, 1, until)
    _send(process.stdin, {"method": "notifications/initialized"})
    _send(process.stdin, {"id": 2, "method": "tools/list", "params": {}})
    tools = _answer(lines, 2, until).get("tools")
    names = [each.get("name") for each in tools if isinstance(each, dict)] if isinstance(tools, list) else []
    if not names:
        raise Unanswered("It offers no tools.")
    return [str(name) for name in names]


def _send(stream: IO[bytes], message: dict[str, Any]) -> None:
    try:
        stream.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        stream.flush()
    except OSError as error:
        raise Unanswered("It ended at once.") from error


def _read(stream: IO[bytes], lines: queue.Queue[bytes]) -> None:
    with suppress(OSError, ValueError):
        while line := stream.readline(_LONGEST_LINE):
            lines.put(line)
    lines.put(b"")


def _answer(lines: queue.Queue[bytes], number: int, until: float) -> dict[str, Any]:
    while True:
        try:
            line = lines.get(timeout=max(until - time.monotonic(), 0.0))
        except queue.Empty:
            raise Unanswered("It took too long.") from None
        if not line:
            raise Unanswered("It ended at once.")
        try:
            said = json.loads(line)
        except ValueError:
            raise Unanswered("It wrote something that is no message.") from None
        if isinstance(said, dict) and said.get("id") == number:
            if not isinstance(said.get("result"), dict):
                raise Unanswered("It answered with an error.")
            result: dict[str, Any] = said["result"]
            return result


def _end(process: subprocess.Popen[bytes]) -> None:
    """Hang up, as clients do, and end what goes on all the same."""
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        end_program(process)
    finally:
        if process.stdout is not None:
            with suppress(OSError):
                process.stdout.close()
