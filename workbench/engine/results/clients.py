"""Results of connecting: which programs are here, what is connected, and what a connection changes."""

from __future__ import annotations

from workbench.engine.values import dataclass


@dataclass(frozen=True)
class Connection:
    """A server of ours in a client's configuration.

    Args:
        server: What the client calls it.
        command: The command line that starts it, as it is written there.
        workspace: The folder that it serves.
        agent: Name of the sub-agent that it is for; None for the main agent.
        scope: `user` or `project`.
        hooks: Moments at which the client runs a command of ours: `session-start` and so on.
    """

    server: str
    command: tuple[str, ...]
    workspace: str
    agent: str | None
    scope: str
    path: str
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClientState:
    """A client on this machine.

    Args:
        name: As it is typed.
        installed: Whether anything of it was found.
        path: Its configuration of the user's.
        problem: Why its configuration cannot be read, or None.
    """

    name: str
    title: str
    installed: bool
    path: str
    connections: tuple[Connection, ...] = ()
    problem: str | None = None


@dataclass(frozen=True)
class Clients:
    """Every client that can be connected."""

    clients: tuple[ClientState, ...]


@dataclass(frozen=True)
class FileChange:
    """What becomes of one file.

    Args:
        action: `create`, `change` or `delete`.
        diff: Unified, with secrets of others masked; for people.
        copy: Where the file is kept as it was, or None where nothing is.
        own: Whether the file as a whole is ours, such as a command.
    """

    path: str
    action: str
    diff: str
    copy: str | None = None
    own: bool = False


@dataclass(frozen=True)
class ConnectionChange:
    """What connecting or disconnecting a client changes.

    Args:
        ok: Whether it is as it was asked for, or would be.
        applied: Whether the files were written.
        notes: What else there is to know, one sentence each.
    """

    client: str
    title: str
    applied: bool
    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()
    ok: bool = True
