"""Index, embedder and what they fall back to, put together."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from tests.engine.catalog.shelf import Shelf, day, episode
from tests.engine.search.ranking.memory_source import NOW
from workbench.engine.clock import SystemClock
from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.embedder import StaticEmbedder
from workbench.engine.providers.selection import Embedders
from workbench.engine.results.recall import citation
from workbench.engine.search.chunks import Within
from workbench.engine.search.finder import Finder
from workbench.engine.search.ranking.question import SearchOptions
from workbench.engine.search.ranking.search import SearchQuery
from workbench.engine.services.retrieval import are_citations_given
from workbench.engine.settings.sections import EmbeddingSettings, Settings

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


@dataclass
class Moody:
    """An embedder that works or does not."""

    passages_fail: bool = False
    queries_fail: bool = False
    embedded: list[str] = field(default_factory=list)
    provider: str = "openai"
    model: str = "moody"
    fingerprint: str = "openai moody"
    dimensions: int | None = 3
    is_instant: bool = False

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        if self.passages_fail:
            raise ProviderError("The server sulks.")
        self.embedded.extend(texts)
        return np.tile(np.asarray([1, 0, 0], np.float32), (len(texts), 1))

    def embed_query(self, text: str) -> FloatArray:
        if self.queries_fail:
            raise ProviderError("The server does not answer.")
        return np.asarray([1, 0, 0], np.float32)

    def close(self) -> None:
        self.embedded.clear()


@dataclass(frozen=True)
class Near:
    """How many pieces are near a question, and by what means they were found."""

    count: int
    provider: str
    model: str | None
    fallback: str | None
    stale: str | None


@dataclass
class Desk:
    """A shelf of memories, what makes their vectors, and a clock for failures."""

    shelf: Shelf
    moody: Moody
    finder: Finder
    seconds: list[float]

    def nearest(self) -> Near:
        """Ask by meaning."""
        for index in self.finder.attempts(60):
            with index:
                embed = index.embed_query
                count = len(index.source.by_vector(embed("violin"), 10, Within())) if embed else 0
                return Near(count, index.provider, index.model, index.fallback, index.stale)
        raise AssertionError("Nothing answered.")

    def with_violin(self) -> list[str]:
        """Return the paths of pieces that hold the word."""
        for index in self.finder.attempts(60):
            with index:
                numbers = [number for number, _ in index.source.by_keywords(["violin"], 10, Within())]
                return [stored.chunk.path for stored in index.source.read(numbers)]
        raise AssertionError("Nothing answered.")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    shelf = Shelf(tmp_path)
    shelf.write("memory/episodes/2026-02-01.md", day("d", episode("09:00", "Bought a violin.")))
    shelf.sync()
    moody, seconds = Moody(), [0.0]
    embedders = Embedders(moody, StaticEmbedder(), monotonic=lambda: seconds[0])
    monkeypatch.setattr("workbench.engine.search.finder.choose_embedders", lambda settings: embedders)
    settings = Settings(embedding=EmbeddingSettings(provider="openai"))
    finder = Finder(shelf.catalog, settings, tmp_path / "index", SystemClock())
    yield Desk(shelf, moody, finder, seconds)
    finder.close()
    shelf.catalog.close()


@pytest.mark.parametrize("harm", ["deleted", "damaged", "garbled", "folder"])
def test_an_index_lost_between_two_questions_is_there_again_for_the_second(
    desk: Desk, tmp_path: Path, harm: str
) -> None:
    desk.finder.sync()
    assert desk.nearest().count == 1
    (place,) = (tmp_path / "index").glob("recall-*-1.sqlite")
    match harm:
        case "deleted":
            place.unlink()
        case "damaged":
            place.write_bytes(b"no database" * 10_000)
        case "garbled":
            connection = apsw.Connection(str(place))
            connection.execute("UPDATE texts SET tags = 'x'")
            connection.close()
        case _:
            shutil.rmtree(tmp_path / "index")
    assert desk.with_violin() == ["memory/episodes/2026-02-01.md"]


def test_what_works_is_used_and_named(desk: Desk) -> None:
    desk.finder.sync()
    assert desk.nearest() == Near(1, "openai", "moody", None, None)
    status = desk.finder.status()
    assert (status.provider, status.dimensions, status.dirty, status.pending) == ("openai", 3, False, 0)


def test_a_question_that_cannot_be_embedded_is_answered_by_what_steps_in(desk: Desk) -> None:
    desk.finder.sync()
    desk.moody.queries_fail = True
    near = desk.nearest()
    assert (near.count, near.provider) == (1, "builtin")
    assert near.fallback is not None
    assert "The server does not answer." in near.fallback
    # Left alone for a while, then asked again.
    desk.moody.queries_fail = False
    assert desk.nearest().provider == "builtin"
    desk.seconds[0] += 61
    assert desk.nearest() == Near(1, "openai", "moody", None, None)


def test_memories_that_cannot_be_embedded_are_embedded_by_what_steps_in(desk: Desk) -> None:
    desk.moody.passages_fail = True
    desk.finder.sync()
    near = desk.nearest()
    assert (near.count, near.provider) == (1, "builtin")
    assert near.fallback is not None
    assert "The server sulks." in near.fallback


def test_what_changed_is_found_by_the_next_question(desk: Desk) -> None:
    desk.finder.sync()
    desk.shelf.write("memory/episodes/2026-02-02.md", day("d", episode("09:00", "Sold the violin.")))
    desk.shelf.sync()
    assert desk.finder.status().dirty
    assert len(desk.with_violin()) == 2


@pytest.mark.parametrize("unread", [(), ("memory/episodes/2026-02-02.md",)])
def test_an_answer_says_that_files_are_unread(tmp_path: Path, unread: tuple[str, ...]) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("memory/episodes/2026-02-01.md", day("d", episode("09:00", "Bought a violin.")))
    shelf.sync()
    by_words = Settings(embedding=EmbeddingSettings(provider="none"))
    finder = Finder(shelf.catalog, by_words, tmp_path / "index", SystemClock(), unread=lambda: unread)
    finder.take_in(cancelled=lambda: False)
    found = finder.search(SearchQuery("tungsten carbide", SearchOptions(), NOW, dict.fromkeys), patience=0)
    finder.close()
    shelf.catalog.close()
    assert bool(found.stale) == bool(unread)


def test_destroyed_it_leaves_nothing_and_comes_back(desk: Desk, tmp_path: Path) -> None:
    desk.finder.sync()
    desk.finder.destroy()
    assert not [place for place in (tmp_path / "index").iterdir() if place.suffix == ".sqlite"]
    desk.finder.sync()
    assert desk.nearest().count == 1


def test_one_line_and_several_are_cited() -> None:
    assert citation("memory/2026-02-01.md", 3, 3) == "memory/2026-02-01.md#L3"
    assert citation("memory/2026-02-01.md", 3, 5) == "memory/2026-02-01.md#L3-L5"


@pytest.mark.parametrize(
    ("choice", "context", "given"),
    [
        ("on", "direct", True),
        ("on", "group", True),
        ("off", "direct", False),
        ("auto", "direct", True),
        ("auto", "group", False),
        ("auto", "channel", False),
        ("auto", "subagent", False),
    ],
)
def test_who_is_given_citations(choice: str, context: str, given: bool) -> None:
    assert are_citations_given(choice, context) is given
