"""Many memories in one database: each role sees what it was given, and nothing else by any question."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

from tests.engine.search.postgres.shelf import Database
from workbench.engine.clock import FixedClock
from workbench.engine.errors import NotFound
from workbench.engine.hub import Hub, HubLabels
from workbench.engine.requests import SearchRequest
from workbench.engine.search.postgres.server import ServerAway
from workbench.engine.settings.sections import HubSettings, Settings
from workbench.engine.workspace import Workspace

_ANY = HubLabels()
# A word that is in one memory for one scope alone; the shared one is in what each scope sees.
_SCOPES = {"": "owner", "person:mira": "mira", "group:crew": "crew", "shared": "common"}
_MEMORIES = ("apollo", "borneo")
_roles = itertools.count(1)


def log(memory: str) -> str:
    """Return a day's log with an entry for each scope, all about the same thing."""
    lines = ["# 2026-02-01 — Episode Log", ""]
    for hour, (scope, word) in enumerate(_SCOPES.items(), 8):
        field = f" | for:{scope}" if scope else ""
        lines += [
            f"## {hour:02}:00 | decision | confidence:high{field}",
            "",
            f"The lantern is kept by quill{memory}{word} in the boat house.",
            "",
        ]
    return "\n".join(lines)


@dataclass
class Fleet:
    """Two workspaces in a hub, and roles that were given different parts of them.

    Args:
        given: For each role, the words of `log` that it may see.
    """

    database: Database
    folder: Path
    given: dict[str, set[str]]

    def hub(self, role: str = "") -> Hub:
        url = self.url(role)
        return Hub(Settings(hub=HubSettings(url=url, connect_seconds=2.0)), FixedClock())

    def url(self, role: str) -> str:
        return (
            self.database.url.replace("//postgres:@", f"//{quote(role, safe='')}:@")
            if role
            else self.database.url
        )

    def found(self, role: str, question: str = "Who keeps the lantern?", **labels: str) -> set[str]:
        with self.hub(role) as hub:
            found = hub.search(SearchRequest(question, max_results=50, min_score=0.0), HubLabels(**labels))
        return {word for hit in found.results for word in hit.snippet.split() if word.startswith("quill")}


def words(memory: str, *scopes: str) -> set[str]:
    return {f"quill{memory}{_SCOPES[scope]}" for scope in scopes}


@pytest.fixture
def fleet(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    for name in ("CACHE", "STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    folder = tmp_path / "fleet"
    for memory in _MEMORIES:
        episodes = folder / memory / "memory" / "episodes"
        episodes.mkdir(parents=True)
        (episodes / "2026-02-01.md").write_text(log(memory), encoding="utf-8")
    number = next(_roles)
    given: dict[str, set[str]] = {}
    fleet = Fleet(database, folder, given)
    parts: dict[str, list[tuple[str, str]]] = {
        f"stranger_{number}": [],
        f"mira_{number}": [("apollo", "person:mira")],
        f"crew_{number}": [("apollo", "group:crew"), ("borneo", "group:crew")],
        f"keeper_{number}": [("apollo", ""), ("borneo", "person:mira")],
        f'"odd"; DROP_{number}': [("borneo", "")],
    }
    with psycopg.connect(database.url, autocommit=True) as connection:
        for role in parts:
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
    with fleet.hub() as hub:
        hub.add(folder / "apollo", HubLabels(project="boats", team="shore"))
        hub.add(folder / "borneo", HubLabels(project="trees"))
        for role, granted in parts.items():
            given[role] = set()
            for memory, scope in granted:
                hub.grant(role, folder / memory, scope or None)
                seen = _SCOPES if not scope else (scope, "shared")
                given[role] |= words(memory, *seen)
        assert hub.sync().ok
    yield fleet
    with psycopg.connect(database.url, autocommit=True) as connection:
        for role in parts:
            own = sql.Identifier(role)
            connection.execute(sql.SQL("DROP OWNED BY {}").format(own))
            connection.execute(sql.SQL("DROP ROLE {}").format(own))


def test_the_owner_finds_what_is_in_any_memory_and_where(fleet: Fleet) -> None:
    with fleet.hub() as hub:
        found = hub.search(SearchRequest("Who keeps the lantern?", min_score=0.0), _ANY)
        listed = hub.memories()
    assert {hit.workspace for hit in found.results} == {str(fleet.folder / name) for name in _MEMORIES}
    assert {hit.path for hit in found.results} == {"memory/episodes/2026-02-01.md"}
    assert all(hit.id.startswith("episode:2026-02-01:") for hit in found.results)
    assert found.results[0].status == "active"
    assert {(Path(each.path).name, each.scope, each.project) for each in listed.memories} == {
        ("apollo", None, "boats"),
        ("apollo", "person:mira", "boats"),
        ("apollo", "group:crew", "boats"),
        ("borneo", None, "trees"),
        ("borneo", "group:crew", "trees"),
        ("borneo", "person:mira", "trees"),
    }


def test_labels_narrow_what_is_searched(fleet: Fleet) -> None:
    assert fleet.found("", project="boats") == words("apollo", *_SCOPES)
    assert fleet.found("", team="shore") == words("apollo", *_SCOPES)
    assert fleet.found("", project="boats", team="nobody") == set()


# Whatever a role may run, in each of its forms; the tables are looked through row by row beside it.
_QUESTIONS = (
    "Who keeps the lantern?",
    "boat house",
    "quillborneoowner",
    "quillapollomira",
    "2026-02-01",
    "quill*",
)


def test_no_role_reads_a_row_of_what_it_was_not_given(fleet: Fleet) -> None:
    every = {word for memory in _MEMORIES for word in words(memory, *_SCOPES)}
    for role, given in fleet.given.items():
        if not given:
            with pytest.raises(ServerAway, match="permission denied"):
                fleet.found(role)
            assert everything(fleet, role) == []
            continue
        assert fleet.found(role) == given
        for question in _QUESTIONS:
            assert fleet.found(role, question) <= given, (role, question)
        for label in ("boats", "trees"):
            assert fleet.found(role, project=label) <= given
        seen = everything(fleet, role)
        told = b"\n".join(seen).lower()
        held = {word for word in every if word.encode() in told}
        assert held == given, role


def test_a_role_changes_nothing(fleet: Fleet) -> None:
    tables = [row[0] for row in fleet.database.rows("SELECT relname FROM pg_class WHERE relkind = 'r'"
              " AND relnamespace = 'workbench'::regnamespace")]  # fmt: skip
    for role, table in itertools.product(fleet.given, tables):
        with psycopg.connect(fleet.url(role), autocommit=True) as connection:
            name = sql.Identifier("workbench", table)
            for statement in ("DELETE FROM {}", "TRUNCATE {}", "ALTER TABLE {} DISABLE ROW LEVEL SECURITY"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(sql.SQL(statement).format(name))


def everything(fleet: Fleet, role: str) -> list[bytes]:
    """Return every value of every row of every table that a role can read."""
    values: list[bytes] = []
    with psycopg.connect(fleet.url(role), autocommit=True) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'workbench'::regnamespace"
        ).fetchall()
        assert len(tables) >= 9
        for (table,) in tables:
            try:
                rows = connection.execute(
                    sql.SQL("SELECT * FROM {}").format(sql.Identifier("workbench", table))
                ).fetchall()
            except psycopg.errors.InsufficientPrivilege:
                # Nothing was ever granted to it.
                assert not fleet.given[role]
                continue
            values += [as_bytes(value) for row in rows for value in row]
    return values


def as_bytes(value: Any) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()


def test_what_was_taken_away_is_seen_no_more(fleet: Fleet) -> None:
    role = next(name for name in fleet.given if name.startswith("mira"))
    with fleet.hub() as hub:
        hub.revoke(role, fleet.folder / "apollo", "person:mira")
        with pytest.raises(NotFound, match="was not given this"):
            hub.revoke(role, fleet.folder / "apollo", "person:mira")
    assert fleet.found(role) == set()
    assert not any(b"quill" in value for value in everything(fleet, role))


def test_what_changes_or_is_removed_is_followed(fleet: Fleet) -> None:
    (fleet.folder / "apollo" / "memory" / "episodes" / "2026-02-01.md").write_text(
        log("apollo").replace("quillapolloowner", "quillzebra"), encoding="utf-8"
    )
    with fleet.hub() as hub:
        hub.sync()
        assert "quillzebra" in fleet.found("")
        hub.remove(fleet.folder / "borneo")
        assert fleet.found("") == words("apollo", "person:mira", "group:crew", "shared") | {"quillzebra"}
        with pytest.raises(NotFound, match="does not know this workspace"):
            hub.remove(fleet.folder / "borneo")
    stored = fleet.database.rows("SELECT text FROM chunks")
    assert not any(b"borneo" in bytes(text) for (text,) in stored)


def test_one_memory_that_cannot_be_read_keeps_none_from_the_hub(fleet: Fleet) -> None:
    shutil.rmtree(fleet.folder / "apollo")
    with fleet.hub() as hub:
        done = hub.sync()
    assert not done.ok
    assert [Path(path).name for path, _ in done.failures] == ["apollo"]
    assert [Path(path).name for path in done.synced] == ["borneo"]


def test_a_role_or_memory_that_is_not_there_is_named(fleet: Fleet) -> None:
    with fleet.hub() as hub:
        with pytest.raises(NotFound, match="no role nobody"):
            hub.grant("nobody", fleet.folder / "apollo", None)
        with pytest.raises(NotFound, match="does not know this workspace"):
            hub.grant(next(iter(fleet.given)), fleet.folder, None)
    with Hub(Settings(hub=HubSettings(url="postgresql://127.0.0.1:1/none")), FixedClock()) as hub:
        for ask in (hub.memories, hub.sync):
            with pytest.raises(ServerAway, match="refused"):
                ask()


def test_a_workspace_of_the_hub_is_searched_by_itself_as_before(fleet: Fleet) -> None:
    with Workspace.open(fleet.folder / "apollo", role="reader", clock=FixedClock()) as workspace:
        found = workspace.search("Who keeps the lantern?", min_score=0.0)
    assert {hit.workspace for hit in found.results} == {None}
    assert len(found.results) == len(_SCOPES)


def test_each_table_of_a_memory_is_closed_row_by_row(fleet: Fleet) -> None:
    closed = {
        name: bool(is_closed)
        for name, is_closed in fleet.database.rows(
            "SELECT relname, relrowsecurity FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'workbench'::regnamespace"
        )
    }
    # The version of the tables is for all to know.
    assert {name for name, is_closed in closed.items() if not is_closed} == {"schema"}
