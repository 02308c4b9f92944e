"""Memories found by the very words of a description, in any script, never read as a search language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.catalog.shelf import Shelf, furnish
from workbench.engine.catalog.terms import telling_terms
from workbench.engine.clock import SystemClock
from workbench.engine.search.finder import Finder
from workbench.engine.search.ranking.question import LiteralMatch
from workbench.engine.settings.sections import EmbeddingSettings, Settings


class Told(Shelf):
    """A shelf with what answers questions about it, by words alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        words_alone = Settings(embedding=EmbeddingSettings(provider="none"))
        self.finder = Finder(self.catalog, words_alone, folder / "index", SystemClock())

    def matches(self, words: str) -> list[LiteralMatch]:
        """Return what holds any of the words."""
        return self.finder.literal_matches(words, patience=60)

    def found(self, query: str) -> list[str]:
        """Return the ids of what holds any of the words, best first."""
        return [match.chunk.memory_id for match in self.matches(query)]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Told]:
    shelf = Told(tmp_path)
    yield shelf
    shelf.finder.close()
    shelf.catalog.close()


@pytest.fixture
def filled(shelf: Told) -> Told:
    furnish(shelf)
    return shelf


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("near", ["episode:2026-02-02:09:00"]),
        ('NEAR("memory search", 5)', ["episode:2026-02-02:09:00"]),
        ("memory_search", ["episode:2026-02-02:09:00"]),
        ("search", ["episode:2026-02-02:09:00"]),
        ("login.py", ["episode:2026-02-02:09:00"]),
        ("server", ["episode:2026-02-02:11:00"]),
        ("httpserver", ["episode:2026-02-02:11:00"]),
        ("zoe", ["vault:letter.md"]),
        ("ZOË tea*", ["vault:letter.md"]),
        ("te*", []),
        ("混合检索", ["episode:2026-02-02:10:00"]),
        ("检索方案怎么样", ["episode:2026-02-02:10:00"]),
        ("猫", ["episode:2026-02-02:10:00"]),
        ("了", ["episode:2026-02-02:10:00"]),
        ("睡觉", []),
        ("title:letter", ["vault:letter.md"]),
        ("-tea", ["vault:letter.md"]),
        ("ada OR short", ["core:identity:name", "core:persona:writes-short-answers"]),
        ("", []),
        ('"', []),
    ],
)
def test_words_find_memories(filled: Told, query: str, expected: list[str]) -> None:
    assert sorted(filled.found(query)) == sorted(expected)


@given(query=st.text(max_size=80) | st.text(alphabet="NEARANDOT\"'*():^{}+-, \0w", max_size=80))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_description_is_answered(filled: Told, query: str) -> None:
    for match in filled.matches(query):
        assert 0 <= match.coverage <= 1


@given(text=st.text(min_size=1, max_size=40).filter(str.strip))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_found_by_its_own_words(filled: Told, text: str) -> None:
    from workbench.engine.markdown.episodes import EpisodeLog, NewEntry

    path = "memory/episodes/2026-03-03.md"
    log = EpisodeLog.parse(b"", path).append_entries([NewEntry("09:00", text)])
    filled.write(path, log.render())
    filled.catalog.update([path])
    if telling_terms(filled.memory("episode:2026-03-03:09:00").text):
        assert "episode:2026-03-03:09:00" in filled.found(text)


def test_what_holds_most_of_the_words_stands_first(filled: Told) -> None:
    best = filled.matches("dear tea server")[0]
    assert best.chunk.memory_id == "vault:letter.md"
    assert best.coverage == pytest.approx(2 / 3)
