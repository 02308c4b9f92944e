"""A hub on a real server."""

from tests.engine.search.postgres.conftest import database, postgres

__all__ = ["database", "postgres"]
