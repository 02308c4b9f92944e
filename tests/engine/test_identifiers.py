from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import entity_id, parse_memory_id, slug

GOOD = [
    "episode:2026-02-02:14:30",
    "episode:2026-02-02:14:30#2",
    "entity:person--alex",
    "entity:person--alex#^f7k2",
    "procedure:how-to-deploy",
    "core:critical-facts:never-on-friday",
    "vault:notes/a b.md",
    "file:memory/2026-02-01.md",
    "file:memory/2026-02-01.md#L3-L5",
]


@pytest.mark.parametrize("text", GOOD)
def test_an_id_reads_back_as_it_was_written(text: str) -> None:
    assert str(parse_memory_id(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alex",
        "episode:yesterday",
        "episode:2026-02-02:14:30#0",
        "entity:alex",
        "entity:../person--alex",
        "procedure:../../etc/passwd",
        "core:identity",
        "vault:",
        "vault:a\nb",
        "nothing:x",
        "core:a:b#^f1",
    ],
)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_memory_id(text)


def test_a_bare_entity_name_is_an_entity() -> None:
    assert str(parse_memory_id("person--alex")) == "entity:person--alex"


def test_the_whole_of_a_fact_is_its_entity() -> None:
    assert str(parse_memory_id("entity:person--alex#^f7k2").whole) == "entity:person--alex"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("José Müller", "jose-muller"),
        ("OAuth2 PKCE", "oauth2-pkce"),
        ("Straße", "strasse"),
        ("Ødegård", "odegard"),
        ("张伟", "张伟"),
        ("東京タワー", "東京タワー"),
        ("Sam’s garden", "sams-garden"),
        ("a -- b", "a-b"),
        ("…", "untitled"),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


@given(st.text(max_size=200))
def test_a_slug_is_stable_and_safe_in_a_file_name(text: str) -> None:
    made = slug(text)
    assert slug(made) == made
    assert 1 <= len(made) <= 60
    assert len(made.encode()) <= 180
    assert "--" not in made
    assert not set(made) & set("/\\:.\0 \n")


@given(st.sampled_from(["person", "project"]), st.text(min_size=1, max_size=40))
def test_every_name_makes_an_id(kind: str, name: str) -> None:
    made = entity_id(kind, name)
    assert parse_memory_id(str(made)) == made
