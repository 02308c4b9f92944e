"""A real PostgreSQL server for this run, and an empty database of it for each test."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.engine.search.postgres.shelf import Database

_numbers = itertools.count(1)


class Standing:
    """A server of one's own, which can be stopped and started again."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            # What it finds its own folders with warns where a desktop's variables are not set.
            warnings.simplefilter("ignore")
            from pgserver.postgres_server import get_server
        # The server may run as a user of its own, from whom each run of pytest closes the folders of tests.
        self._folder = Path(tempfile.mkdtemp(prefix="workbench-pg-"))
        self._server = get_server(self._folder / "data", cleanup_mode="stop")
        self.url: str = self._server.get_uri()

    def stop(self) -> None:
        from pgserver._commands import POSTGRES_BIN_PATH

        program, data = str(POSTGRES_BIN_PATH / "pg_ctl"), str(self._server.pgdata)
        command = [program, "-D", data, "-w", "-m", "fast", "stop"]
        subprocess.run(command, check=True, capture_output=True, user=self._server.system_user)

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def end(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Give the address of a server that runs as long as the tests do."""
    server = Standing()
    yield server.url
    server.end()


@pytest.fixture
def standing() -> Iterator[Standing]:
    """A server of the test's own."""
    server = Standing()
    yield server
    server.end()


@pytest.fixture
def database(postgres: str) -> Iterator[Database]:
    name = f"hub_{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    made = Database(postgres.replace("/postgres?", f"/{name}?"))
    yield made
    made.close()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
