"""Results about many memories in one database."""

from __future__ import annotations

from datetime import datetime

from workbench.engine.values import dataclass


@dataclass(frozen=True)
class HubMemory:
    """A memory in the database, as one scope sees it.

    Args:
        path: Its folder on that machine.
        scope: `person:NAME` or `group:NAME`; None for the owner's own.
        roles: The roles of the database that may see it, beside the owner of the tables.
        last_sync: When it last held every file, aware; None if never.
    """

    machine: str
    path: str
    scope: str | None
    project: str | None
    person: str | None
    team: str | None
    roles: tuple[str, ...]
    chunks: int
    last_sync: datetime | None


@dataclass(frozen=True)
class HubMemories:
    """What a role sees of the database.

    Args:
        place: Host, port and database.
    """

    place: str
    memories: tuple[HubMemory, ...]


@dataclass(frozen=True)
class HubSynced:
    """Outcome of bringing memories up to date in the database.

    Args:
        failures: Path and reason of each memory that could not be brought up to date.
    """

    ok: bool
    place: str
    synced: tuple[str, ...]
    failures: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class HubChanged:
    """A change of what the database keeps or who sees it; nothing in any workspace.

    Args:
        said: What was done, one sentence.
    """

    ok: bool
    said: str
