"""Scopes: how they are named, and who sees whose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.episodes import SCOPE_FIELD, EpisodeLog, NewEntry
from workbench.engine.markdown.pages import Procedure, VaultNote
from workbench.engine.roles import (
    parse_door_scope,
    parse_scope,
    scope_of_session,
    sees,
    within,
    written_scope,
)

scopes = st.from_regex(r"\A(person|group):[a-z0-9][a-z0-9._-]{0,63}\Z")


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("group:family", "group:family"),
        (" person:otto.b ", "person:otto.b"),
        ("shared", "shared"),
        ("all", "shared"),
        ("agent:main:telegram:group:123", "group:telegram-123"),
        ("agent:main:slack:channel:c01", "group:slack-c01"),
        ("agent:main:telegram:dm:42", "person:telegram-42"),
    ],
)
def test_names(text: str, scope: str) -> None:
    assert parse_scope(text) == scope


@pytest.mark.parametrize(
    "text", ["", "family", "group:", "Group:x", "group:a b", "group:ä", "agent:main:main", "*"]
)
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_scope(text)
    assert written_scope(text) is None


def test_no_two_chats_share_a_scope() -> None:
    keys = (
        "agent:main:telegram:group:-123", "agent:main:telegram:group:123", "agent:main:telegram:group:a/b",
        "agent:main:telegram:group:a-b", "agent:main:telegram:group:a:b", "agent:main:whatsapp:group:123",
        "agent:main:telegram:channel:123:thread:9", "agent:main:telegram:group:123:thread:9",
        "agent:main:telegram-x:group:1", "agent:main:telegram:group:x-1", "agent:main:telegram:group:" + "9" * 80,
        "agent:main:telegram:group:" + "9" * 81,
    )  # fmt: skip
    named = [scope_of_session(key) for key in keys]
    assert len(set(named)) == len(keys)
    assert all(name is not None and parse_door_scope(name) == name for name in named)


@given(st.text(max_size=60))
def test_any_key_gives_a_scope_or_none(rest: str) -> None:
    scope = scope_of_session(f"agent:main:{rest}")
    assert scope is None or parse_door_scope(scope) == scope


@given(scopes, scopes)
def test_who_sees_whose(door: str, other: str) -> None:
    assert sees(door, door)
    assert sees(door, "shared")
    assert not sees(door, None)
    assert sees(door, other) == (door == other)


def test_the_surroundings_only_narrow() -> None:
    assert within(None, None) is None
    assert within("group:a", None) == "group:a"
    assert within(None, "group:a") == within("group:a", "group:a") == "group:a"
    with pytest.raises(RoleRefused):
        within("group:b", "group:a")
    for wrong in ("shared", "nobody"):
        with pytest.raises(InvalidInput):
            within(None, wrong)


@given(scopes | st.just("shared"))
def test_files_say_whom_they_are_for(scope: str) -> None:
    entry = NewEntry("10:00", "for:group:other", extra=((SCOPE_FIELD, scope),))
    log = EpisodeLog.parse(b"", "memory/episodes/2026-02-02.md").append_entries([entry])
    assert EpisodeLog.parse(log.render(), log.path).entries[0].scope == scope
    file = EntityFile.create(
        "memory/graph/entities/person--a.md", label="A", created="2026-02-02", scope=scope
    )
    assert EntityFile.parse(file.render(), file.path).scope == scope
    procedure = Procedure.create("memory/procedures/a.md", title="A", learned="2026-02-02", scope=scope)
    assert Procedure.parse(procedure.render(), procedure.path).scope == scope
    note = VaultNote.create("memory/vault/a.md", title="A", body="for: group:other", scope=scope)
    assert (note.scope, note.body) == (scope, "for: group:other")
