"""A database, and indexes in it of the files of a bookshelf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from tests.engine.search.index.bookshelf import MemoryFiles, WordEmbedder
from workbench.engine.clock import FixedClock
from workbench.engine.search.chunks import ChunkSize
from workbench.engine.search.index.files import IndexShape
from workbench.engine.search.postgres.index import PostgresIndex, View
from workbench.engine.search.postgres.server import Server
from workbench.engine.settings.sections import HubSettings


class Database:
    """A database of its own, and what is opened of it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.files = MemoryFiles()
        self.embedder: WordEmbedder | None = WordEmbedder()
        self._servers: list[Server] = []

    def server(self, **settings: Any) -> Server:
        server = Server(HubSettings(url=settings.pop("url", self.url), connect_seconds=2.0, **settings))
        self._servers.append(server)
        return server

    def index(
        self,
        path: str = "/a",
        *,
        server: Server | None = None,
        size: ChunkSize | None = None,
        embedder: WordEmbedder | None = None,
    ) -> PostgresIndex:
        own = embedder or self.embedder
        shape = IndexShape(size or ChunkSize(), own.fingerprint if own else "", "test")
        view = View("here", path)
        return PostgresIndex(server or self.server(), view, shape=shape, embedder=own, clock=FixedClock())

    def write(self, path: str, *texts: str, day: str | None = None) -> None:
        self.files.files[path] = list(texts)
        if day:
            self.files.days[path] = day

    def rows(self, question: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url) as connection:
            connection.execute("SET search_path = workbench, public")
            return connection.execute(question, values).fetchall()

    def close(self) -> None:
        for server in self._servers:
            server.close()
