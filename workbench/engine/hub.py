"""Many memories in one PostgreSQL database: kept indexed there, searched at once, seen by whom they were given to."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.clock import Clock, in_zone, parse_time
from workbench.engine.errors import NotFound, ProviderError, WorkbenchError
from workbench.engine.providers.selection import choose_embedders
from workbench.engine.requests import SearchRequest
from workbench.engine.results.hub import HubChanged, HubMemories, HubMemory, HubSynced
from workbench.engine.results.memories import Score
from workbench.engine.results.recall import Found, Hit
from workbench.engine.roles import parse_door_scope
from workbench.engine.search.chunks import Within
from workbench.engine.search.finder import Finder
from workbench.engine.search.postgres.index import (
    ServerView,
    View,
    drop_collections,
    view_number,
)
from workbench.engine.search.postgres.server import Server, ServerAway
from workbench.engine.search.postgres.source import (
    ASKED,
    Collection,
    PostgresSource,
    text_hash,
    to_bytes,
    to_text,
    unqualified,
)
from workbench.engine.search.ranking.question import SearchOptions
from workbench.engine.search.ranking.search import Search, SearchQuery
from workbench.engine.services.scoped_view import ScopedView
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder
    from workbench.engine.search.postgres.server import Connection
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.settings.sections import Settings


_LEAST_SHARE: Final = 0.5
_LISTED = (
    "SELECT v.machine, v.path, v.scope, v.project, v.person, v.team,"
    " (SELECT coalesce(array_agg(g.role ORDER BY g.role), '{}') FROM grants g WHERE g.view = v.id),"
    " coalesce(c.chunks, 0), c.last_sync FROM views v LEFT JOIN LATERAL (SELECT * FROM collections o"
    " WHERE o.view = v.id ORDER BY o.complete DESC, o.id DESC LIMIT 1) c ON true"
    " WHERE v.kept OR c.id IS NOT NULL ORDER BY v.machine, v.path, v.scope"
)


@dataclass(frozen=True)
class HubLabels:
    """What memories are sorted by; None for any."""

    project: str | None = None
    person: str | None = None
    team: str | None = None

    def fits(self, *labels: bytes | None) -> bool:
        """Return whether a memory with these stored labels is meant."""
        asked = (self.project, self.person, self.team)
        return all(
            wanted is None or (own is not None and to_text(own) == wanted)
            for wanted, own in zip(asked, labels, strict=True)
        )


class HubMember:
    """One memory of a hub, as its open workspace has it.

    Args:
        context: Of the whole workspace.
    """

    def __init__(self, context: WorkspaceContext, server: Server) -> None:
        self._context = context
        self._server = server

    def sync(self, scopes: Sequence[str]) -> None:
        """Bring what these scopes see up to date in the database; "" is the owner's own.

        Raises:
            ServerAway: The server cannot be used.
        """
        whole = self._context
        whole.refresh()
        for scope in scopes:
            if not scope:
                self._bring(whole, whole, scope)
                continue
            seen = ScopedView(whole, scope)
            try:
                self._bring(whole, seen.current(), scope)
            finally:
                seen.close()

    def _bring(self, whole: WorkspaceContext, context: WorkspaceContext, scope: str) -> None:
        view = View(platform.node(), str(whole.root), scope)
        server = ServerView(self._server, view, whole.clock)
        finder = Finder(
            context.catalog,
            context.settings,
            context.derived,
            context.clock,
            context.outside.sources,
            lambda: (context.catalog.version(), context.outside.version()),
            server=server,
        )
        try:
            finder.sync()
            if server.failure is not None:
                raise ServerAway(server.failure, where=server.place, remedy="Sync again when it is back.")
        finally:
            # The connections are the hub's.
            finder.leave()
        self._tell_scores(context, view)

    def _tell_scores(self, context: WorkspaceContext, view: View) -> None:
        grades = context.scores().graded()
        with self._server.connection() as connection, connection.transaction():
            number = view_number(connection, view)
            ids = connection.execute("SELECT id FROM collections WHERE view = %s", (number,)).fetchall()
            for (collection,) in ids:
                connection.execute("DELETE FROM relevances WHERE collection = %s", (collection,))
                statement = (
                    "COPY relevances (collection, memory_hash, memory_id, value, status, day) FROM STDIN"
                )
                with connection.cursor().copy(statement) as copy:
                    for name, grade in grades.items():
                        copy.write_row(
                            (
                                *(collection, text_hash(name), to_bytes(name)),
                                *(grade.value, grade.status, context.now().date()),
                            )
                        )


class Hub:
    """A database of many memories; a context manager.

    Args:
        settings: The user's own; `hub.url` names the database, and its role decides what is seen.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._server = Server(settings.hub)
        self._machine = platform.node()
        self._embedders = choose_embedders(settings)

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of connections and embedder."""
        self._embedders.close()
        self._server.close()

    def add(self, path: Path, labels: HubLabels) -> HubChanged:
        """Have a workspace of this machine kept indexed; its labels replace those it had.

        Raises:
            ServerAway: The server cannot be used.
        """
        view = View(self._machine, str(path.resolve()))
        with self._server.connection() as connection, connection.transaction():
            connection.execute(
                "UPDATE views SET kept = true, project = %s, person = %s, team = %s WHERE id = %s",
                (
                    *map(_optional, (labels.project, labels.person, labels.team)),
                    view_number(connection, view),
                ),
            )
        return HubChanged(True, f"{view.path} is kept by the hub from its next sync.")

    def remove(self, path: Path) -> HubChanged:
        """Delete what the database has of a workspace of this machine, grants included.

        Raises:
            NotFound: It has nothing of it.
            ServerAway: The server cannot be used.
        """
        known = self._views(path)
        with self._server.connection() as connection, connection.transaction():
            rows = connection.execute(
                "SELECT id FROM collections WHERE view = ANY(%s) FOR UPDATE", (list(known.values()),)
            ).fetchall()
            drop_collections(connection, [row[0] for row in rows])
            connection.execute("DELETE FROM views WHERE id = ANY(%s)", (list(known.values()),))
        return HubChanged(True, f"The hub has nothing of {path.resolve()} any more; its files stay.")

    def grant(self, role: str, path: Path, scope: str | None) -> HubChanged:
        """Let a role of the database see a memory, or what one scope sees of it.

        Raises:
            NotFound: The hub has no such memory, or the database no such role.
            InvalidInput: It is no scope.
        """
        name = parse_door_scope(scope) if scope else ""
        view = View(self._machine, str(path.resolve()), name)
        whole = self._views(path)[""]
        with self._server.connection() as connection, connection.transaction():
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is None:
                raise NotFound(
                    f"The database has no role {role}.",
                    where=self._server.place,
                    remedy=f"Have its owner make it: CREATE ROLE {role} LOGIN.",
                )
            number = view_number(connection, view)
            connection.execute(
                "UPDATE views v SET kept = true, project = w.project, person = w.person, team = w.team"
                " FROM views w WHERE v.id = %s AND w.id = %s",
                (number, whole),
            )
            connection.execute("INSERT INTO grants VALUES (%s, %s) ON CONFLICT DO NOTHING", (role, number))
            from psycopg import sql

            for statement in (
                "GRANT USAGE ON SCHEMA workbench TO {}",
                "GRANT SELECT ON ALL TABLES IN SCHEMA workbench TO {}",
            ):
                connection.execute(sql.SQL(statement).format(sql.Identifier(role)))
        what = f"what is for {name} in {view.path}" if name else view.path
        return HubChanged(True, f"{role} sees {what} from the next sync.")

    def revoke(self, role: str, path: Path, scope: str | None) -> HubChanged:
        """Take a memory, or one scope's part of it, away from a role; raises as `grant` does."""
        name = parse_door_scope(scope) if scope else ""
        known = self._views(path)
        with self._server.connection() as connection:
            gone = connection.execute(
                "DELETE FROM grants WHERE role = %s AND view = %s", (role, known.get(name))
            ).rowcount
        if not gone:
            raise NotFound(
                f"{role} was not given this.", where=str(path), remedy="Look at `workbench hub list`."
            )
        return HubChanged(True, f"{role} no longer sees {name or path.resolve()}.")

    def memories(self) -> HubMemories:
        """Return the memories that the role of this connection sees.

        Raises:
            ServerAway: The server cannot be used.
        """
        with self._server.reading() as connection:
            rows = connection.cursor(binary=True).execute(_LISTED).fetchall()
        return HubMemories(
            self._server.place,
            tuple(
                HubMemory(
                    to_text(machine),
                    to_text(path),
                    scope or None,
                    _label(project),
                    _label(person),
                    _label(team),
                    tuple(roles),
                    chunks,
                    last_sync,
                )
                for machine, path, scope, project, person, team, roles, chunks, last_sync in rows
            ),
        )

    def sync(
        self,
        *,
        told: Callable[[str], None] = lambda _path: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> HubSynced:
        """Bring every memory that this machine has the files of up to date; one that fails keeps none from it.

        Args:
            told: Called with the folder of each before it is begun.
            cancelled: Asked before each; what is left is done the next time.

        Raises:
            ServerAway: The server cannot be used.
        """
        from workbench.engine.workspace import Workspace, context_of

        with self._server.reading() as connection:
            rows = connection.execute(
                "SELECT path, array_agg(scope ORDER BY scope) FROM views WHERE machine = %s AND kept"
                " GROUP BY path ORDER BY path",
                (to_bytes(self._machine),),
            ).fetchall()
        synced, failures = [], []
        for stored, scopes in rows:
            if cancelled():
                break
            path = to_text(stored)
            told(path)
            try:
                with Workspace.open(path, role="reader", clock=self._clock) as workspace:
                    HubMember(context_of(workspace), self._server).sync(scopes)
            except ServerAway:
                raise
            except WorkbenchError as error:
                failures.append((path, error.told))
            else:
                synced.append(path)
        return HubSynced(not failures, self._server.place, tuple(synced), tuple(failures))

    def search(self, request: SearchRequest, labels: HubLabels, *, path: Path | None = None) -> Found:
        """Answer a question from all memories that the role of this connection sees.

        Entities are found by their words and their meaning, not through the graph, and scores are those of the
        last sync.

        Args:
            path: Only of the workspace in this folder, on any machine.

        Raises:
            InvalidInput: A day cannot be read.
            ServerAway: The server cannot be used.
        """
        started = time.perf_counter()
        standing = self._embedders.turn()
        asked: dict[int, str] = {}

        def choose(connection: Connection) -> list[Collection]:
            chosen = []
            for row in connection.cursor(binary=True).execute(ASKED):
                *own, machine, folder, scope, project, person, team = row
                name = to_text(folder)
                if labels.fits(project, person, team) and path in (None, Path(name)):
                    chosen.append(Collection(*own))
                    here = to_text(machine)
                    place = name if here == self._machine else f"{here}:{name}"
                    asked[chosen[-1].view] = f"{place}#{scope}" if scope else place
            return chosen

        embedder = standing.embedder
        source = PostgresSource(
            self._server, choose, are_many=True, asked_by=embedder.fingerprint if embedder else ""
        )
        try:
            found = self._answer(request, source, embedder)
        except ProviderError as error:
            assert embedder is not None
            self._embedders.failed(embedder, error)
            found = replace(self._answer(request, source, None), fallback=error.told)
        finally:
            source.close()
        found = found.with_hits(lambda hit: _told(hit, asked))
        return replace(
            found,
            cuts=tuple(replace(cut, id=unqualified(cut.id)[0]) for cut in found.cuts),
            provider=embedder.provider if embedder else "none",
            model=embedder.model if embedder else None,
            fallback=found.fallback or standing.fallback,
            took_ms=round((time.perf_counter() - started) * 1000, 2),
        )

    def _answer(self, request: SearchRequest, source: PostgresSource, embedder: Embedder | None) -> Found:
        search, has_budget = self._settings.search, request.budget is not None
        limit, least = request.max_results, request.min_score
        options = SearchOptions(
            max_results=search.max_results if limit is None and not has_budget else limit,
            min_score=search.min_score if least is None and not has_budget else least,
            within=Within(request.store, self._day(request.after), self._day(request.before)),
            include_dormant=request.include_dormant,
            budget=request.budget,
            explain=request.explain,
            least_share=_LEAST_SHARE if not has_budget and least is None else 0.0,
        )

        def scores_of(names: Sequence[str]) -> Mapping[str, Score | None]:
            known = source.relevances(names)
            return {
                name: Score(known[name][0], known[name][0], known[name][1], {}) if name in known else None
                for name in names
            }

        now = in_zone(self._clock.now(), self._settings.zone)
        query = SearchQuery(request.query, options, now, scores_of)
        if embedder is None:
            return Search(query, source, None).found()
        texts = embedder.embed_passages if embedder.is_instant else None
        return Search(query, source, embedder.embed_query, texts).found()

    def _day(self, text: str | None) -> Any:
        return in_zone(parse_time(text), self._settings.zone).date() if text else None

    def _views(self, path: Path) -> dict[str, int]:
        """Return the views of a workspace of this machine by scope.

        Raises:
            NotFound: There is none.
        """
        folder = str(path.resolve())
        with self._server.connection() as connection:
            rows = connection.execute(
                "SELECT scope, id FROM views WHERE machine = %s AND path = %s",
                (to_bytes(self._machine), to_bytes(folder)),
            ).fetchall()
        if not any(scope == "" for scope, _ in rows):
            raise NotFound(
                "The hub does not know this workspace.",
                where=folder,
                remedy=f"Add it with `workbench hub add {folder}`.",
            )
        return dict(rows)


def _told(hit: Hit, places: Mapping[int, str]) -> Hit:
    name, view = unqualified(hit.id)

    def plain(text: str | None) -> str | None:
        return text if text is None or "\x1f" not in text else unqualified(text)[0]

    return replace(
        hit,
        id=name,
        path=unqualified(hit.path)[0],
        superseded_by=plain(hit.superseded_by),
        outdated_by=plain(hit.outdated_by),
        workspace=places[view],
    )


def _optional(text: str | None) -> bytes | None:
    return None if text is None else to_bytes(text)


def _label(stored: bytes | None) -> str | None:
    return None if stored is None else to_text(stored)
