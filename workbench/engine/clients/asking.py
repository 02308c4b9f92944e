"""How a hook asks the daemon, which has memory open already. Imports little: a person waits while this starts."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import sys
import time
from typing import Any, Final

from workbench import __version__

QUICK_MOMENTS: Final = ("session-start", "prompt")
"""Moments that are only told something; the others write."""
LONGEST_REQUEST: Final = 64_000
_LONGEST_ANSWER: Final = 256_000
_LONGEST_PROMPT: Final = 4_000
# Without an answer by then, the hook looks for itself.
_PATIENCE: Final = 0.4
# Kernels take 104 or 108 bytes.
_LONGEST_ADDRESS: Final = 100
# What else decides which settings, folders and days hold.
_PLACES: Final = ("HOME", "TZ", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
# These say who asks and of what, which a request says itself.
_OF_THE_REQUEST: Final = ("WORKBENCH_ROLE", "WORKBENCH_WORKSPACE")


class NotPrivate(OSError):
    """A folder for sockets is open to others."""


def address_of(root: str) -> str:
    """Return where the daemon of a workspace listens.

    Args:
        root: The workspace folder, absolute and real.
    """
    base = os.environ.get("WORKBENCH_PATHS_STATE", "")
    if base:
        base = os.path.expanduser(base)  # noqa: PTH111 - pathlib takes longer to start than all else here
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support/workbench")  # noqa: PTH111
    else:
        home = os.environ.get("XDG_STATE_HOME", "").strip() or os.path.expanduser("~/.local/state")  # noqa: PTH111
        base = f"{home}/workbench"
    place = f"{base}/sockets/{_digest(os.fsencode(root))}"
    if len(os.fsencode(place)) <= _LONGEST_ADDRESS:
        return place
    return f"/tmp/workbench-{os.getuid()}/{_digest(os.fsencode(place))}"  # noqa: S108 - a folder of the user's own


def require_private(folder: str) -> None:
    """Refuse a folder in which somebody else could put a socket.

    Raises:
        NotPrivate: It is somebody else's, open to others, or no folder.
        OSError: It is not there.
    """
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise NotPrivate(f"{folder} is not a folder of yours alone")


def surroundings() -> str:
    """Return what tells one set of settings from another: two processes that agree in it see the same memory."""
    told = [
        f"{name}={value}"
        for name, value in sorted(os.environ.items())
        if name in _PLACES or (name.startswith("WORKBENCH_") and name not in _OF_THE_REQUEST)
    ]
    return _digest("\0".join(told).encode(errors="surrogateescape"))


def ask(root: str, moment: str, client: str, role: str, given: bytes) -> tuple[bool, dict[str, Any] | None]:
    """Return whether the daemon answered, and what a client is told; nothing is raised.

    Args:
        root: The workspace folder, absolute and real.
        moment: One of `QUICK_MOMENTS`.
        role: Of the agent.
        given: What the client wrote to stdin.
    """
    until = time.monotonic() + _PATIENCE
    try:
        place = address_of(root)
        require_private(os.path.dirname(place))  # noqa: PTH120
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE)
            connection.connect(place)
            connection.sendall(_request(moment, client, role, given))
            connection.shutdown(socket.SHUT_WR)
            answer = _received(connection, until)
        if isinstance(answer, dict) and answer.get("ok") is True:
            told = answer.get("told")
            return True, told if isinstance(told, dict) else None
    except (OSError, ValueError, RecursionError):
        pass
    return False, None


def written(told: dict[str, Any]) -> str:
    """Write what a client is told as a line of JSON in ASCII; U+FFFD stands for half a character alone.

    Files may hold bytes that are not UTF-8, which are read as such halves.
    """
    said = json.dumps(told, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.dumps(json.loads(said)) + "\n"


def _request(moment: str, client: str, role: str, given: bytes) -> bytes:
    found = json.loads(given) if given.strip() else {}
    texts = {
        name: found[name][:_LONGEST_PROMPT]
        for name in ("hook_event_name", "prompt")
        if isinstance(found, dict) and isinstance(found.get(name), str)
    }
    asked = {"version": __version__, "in": surroundings(), "moment": moment, "client": client, "role": role}
    return json.dumps({**asked, "given": texts}).encode()


def _received(connection: socket.socket, until: float) -> Any:
    parts: list[bytes] = []
    while sum(map(len, parts)) <= _LONGEST_ANSWER:
        connection.settimeout(max(until - time.monotonic(), 0.001))
        part = connection.recv(65_536)
        if not part:
            return json.loads(b"".join(parts))
        parts.append(part)
    return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]
