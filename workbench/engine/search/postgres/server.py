"""The PostgreSQL server: connections, migrations and limits."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import InvalidSetting, StorageError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.search.postgres.signatures import SignatureMemory

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

    from workbench.engine.settings.sections import HubSettings

    Connection = psycopg.Connection[tuple[Any, ...]]


# After a failure, the server is left alone for so many seconds.
_RETRY_SECONDS = 15.0
_MIGRATING = 7_294_300
_SCRIPT = lazy_pattern(r"(\d{4})_\w+\.sql")
_SCHEMA = """
CREATE SCHEMA IF NOT EXISTS workbench;
CREATE TABLE IF NOT EXISTS workbench.schema (version integer NOT NULL);
"""


def array_of(numbers: Iterable[int]) -> str:
    """Return numbers as PostgreSQL writes an array: psycopg takes ten times as long over a list of thousands."""
    return f"{{{','.join(map(str, numbers))}}}"


class ServerAway(StorageError):
    """The server does not answer or fails; the index on this machine takes over."""


def migrations() -> list[tuple[int, str]]:
    """Return the numbered scripts that make the tables, in order."""
    folder = resources.files(__package__) / "migrations"
    return sorted(
        (int(match[1]), entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if (match := _SCRIPT.fullmatch(entry.name))
    )


class Server:
    """A database, reached through a pool of connections; safe from several threads.

    Args:
        settings: Where it is, and its limits.

    Raises:
        InvalidSetting: No server is named, or the extra is not installed.
    """

    def __init__(self, settings: HubSettings) -> None:
        if not settings.url:
            raise InvalidSetting(
                "No PostgreSQL server is named.",
                where="hub.url",
                remedy="Set WORKBENCH_HUB_URL, or hub.url in your own configuration, to postgresql://USER@HOST/DATABASE.",
            )
        self._settings = settings
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Connection] | None = None
        self._is_prepared = False
        self._knowing_vectors: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._away_until = 0.0
        self.failure: str | None = None
        self.signatures = SignatureMemory()

    @property
    def place(self) -> str:
        """Return host, port and database, without name and password."""
        from psycopg import Error
        from psycopg.conninfo import conninfo_to_dict

        try:
            given = conninfo_to_dict(self._settings.url)
        except Error:
            return "hub.url"
        host, port = given.get("host") or "localhost", given.get("port") or 5432
        return f"{host}:{port}/{given.get('dbname') or ''}"

    @property
    def is_away(self) -> bool:
        """Return whether it failed a moment ago and is not to be asked yet."""
        return time.monotonic() < self._away_until

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Yield a connection that commits each statement, or a `transaction()` of it.

        Raises:
            ServerAway: There is none to be had, or it failed.
        """
        import psycopg
        from pgvector.psycopg import register_vector
        from psycopg_pool import PoolTimeout

        if self.is_away and self.failure is not None:
            raise self._away(self.failure)
        try:
            with self._opened().connection() as connection:
                self._prepare(connection)
                if connection not in self._knowing_vectors:
                    register_vector(connection)
                    self._knowing_vectors.add(connection)
                yield connection
        except ServerAway as error:
            self._note(error.message)
            raise
        except PoolTimeout as error:
            # The next question makes another pool, and first looks whether anybody answers.
            self.close()
            seconds = self._settings.connect_seconds
            raise self._noted(f"it gave no connection within {seconds:g} seconds") from error
        except psycopg.errors.QueryCanceled as error:
            seconds = self._settings.statement_seconds
            raise self._noted(f"it took longer than {seconds:g} seconds") from error
        except psycopg.Error as error:
            raise self._noted(_first_line(error)) from error
        self.failure, self._away_until = None, 0.0

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that sees one state throughout and can change nothing; raises as `connection` does."""
        with self.connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection

    def close(self) -> None:
        """Close all connections; they are opened again on demand."""
        with self._lock:
            pool, self._pool, self._is_prepared = self._pool, None, False
        if pool is not None:
            pool.close()

    def _opened(self) -> ConnectionPool[Connection]:
        try:
            import psycopg
            from psycopg.conninfo import make_conninfo
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            raise ServerAway(
                "PostgreSQL cannot be reached: psycopg is not installed.",
                where="hub.url",
                remedy="pip install 'memory-workbench[postgres]'",
            ) from error
        # The pool would log each attempt on stderr; failures are raised here.
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        with self._lock:
            if self._pool is None:
                limits = {
                    "statement_timeout": int(self._settings.statement_seconds * 1000),
                    "lock_timeout": int(self._settings.statement_seconds * 1000),
                    "idle_in_transaction_session_timeout": 120_000,
                    "search_path": "workbench,public",
                    # Compiling a question takes longer than answering it.
                    "jit": "off",
                }
                try:
                    address = make_conninfo(
                        self._settings.url,
                        options=" ".join(f"-c {name}={value}" for name, value in limits.items()),
                        connect_timeout=max(2, int(self._settings.connect_seconds)),
                        application_name="workbench",
                    )
                except psycopg.Error as error:
                    raise InvalidSetting(
                        "The address of the PostgreSQL server cannot be read.",
                        where="hub.url",
                        remedy="It takes postgresql://USER@HOST/DATABASE.",
                    ) from error
                # Where nobody answers, a pool would try until its time is up.
                psycopg.connect(address).close()
                self._pool = ConnectionPool(
                    address,
                    min_size=0,
                    max_size=self._settings.connections,
                    timeout=self._settings.connect_seconds,
                    reconnect_timeout=self._settings.connect_seconds,
                    max_idle=60.0,
                    kwargs={"autocommit": True},
                    check=ConnectionPool.check_connection,
                    open=True,
                )
            return self._pool

    def _prepare(self, connection: Connection) -> None:
        """Bring the tables up to date, once."""
        if self._is_prepared:
            return
        import psycopg

        scripts = migrations()
        newest = scripts[-1][0]
        version = _version(connection)
        if version < newest:
            try:
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
                    connection.execute(_SCHEMA)
                    version = _version(connection)
                    for number, script in scripts:
                        if number > version:
                            connection.execute(script)
                    connection.execute("DELETE FROM workbench.schema")
                    connection.execute("INSERT INTO workbench.schema VALUES (%s)", (max(version, newest),))
            except psycopg.errors.InsufficientPrivilege as error:
                raise ServerAway(
                    f"The tables of {self.place} are missing or older than this Workbench, "
                    f"and this role may not make them: {_first_line(error)}.",
                    where=self.place,
                    remedy="Have the owner of the database run `workbench hub sync`.",
                ) from error
        if version > newest:
            raise ServerAway(
                f"The tables of {self.place} were made by a newer Workbench"
                f" (schema {version}; this one knows {newest}).",
                where=self.place,
                remedy="Update Workbench on this machine.",
            )
        self._is_prepared = True

    def _noted(self, reason: str) -> ServerAway:
        self._note(f"The PostgreSQL server {self.place} cannot be used: {reason}.")
        return self._away(self.failure or reason)

    def _note(self, message: str) -> None:
        self.failure, self._away_until = message, time.monotonic() + _RETRY_SECONDS

    def _away(self, message: str) -> ServerAway:
        return ServerAway(
            message, where=self.place, remedy="Start it, or correct hub.url or the role that it names."
        )


def _version(connection: Connection) -> int:
    if connection.execute("SELECT to_regclass('workbench.schema')").fetchone() in (None, (None,)):
        return 0
    row = connection.execute("SELECT max(version) FROM workbench.schema").fetchone()
    return int(row[0] or 0) if row else 0


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
