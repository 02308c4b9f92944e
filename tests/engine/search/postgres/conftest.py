"""A real PostgreSQL server for this run, and an empty database of it for each test."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.engine.search.postgres.shelf import Database

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Give the address of a server that runs as long as the tests do."""
    with warnings.catch_warnings():
        # What it finds its own folders with warns where a desktop's variables are not set.
        warnings.simplefilter("ignore")
        from pgserver.postgres_server import get_server
    # The server may run as a user of its own, from whom each run of pytest closes the folders of tests.
    folder = Path(tempfile.mkdtemp(prefix="workbench-pg-"))
    server = get_server(folder / "data", cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


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
