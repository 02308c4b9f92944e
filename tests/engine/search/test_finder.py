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
from workbench.engine.clock import SystemClock
from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.builtin import StaticEmbedder
from workbench.engine.providers.embedding.fallback import Embedders
from workbench.engine.search.chunks import ChunkSource, Within
from workbench.engine.search.finder import Finder, SearchBackend
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


@dataclass
class Desk:
    """A shelf of memories, what makes their vectors, and a clock for failures."""

    shelf: Shelf
    moody: Moody
    finder: Finder
    seconds: list[float]

    def nearest(self) -> tuple[int, SearchBackend]:
        """Ask by meaning; return how many pieces are near, and by what means."""

        def ask(source: ChunkSource, embed: Callable[[str], FloatArray] | None) -> int:
            return len(source.by_vector(embed("violin"), 10, Within())) if embed else 0

        return self.finder.ask(ask, patience=60)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    shelf = Shelf(tmp_path)
    shelf.write("memory/episodes/2026-02-01.md", day("d", episode("09:00", "Bought a violin.")))
    shelf.sync()
    moody, seconds = Moody(), [0.0]
    embedders = Embedders(moody, StaticEmbedder(), monotonic=lambda: seconds[0])
    monkeypatch.setattr("workbench.engine.providers.selection.choose_embedders", lambda settings: embedders)
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
    assert desk.nearest()[0] == 1
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

    def words(source: ChunkSource, _: object) -> list[str]:
        numbers = [number for number, _ in source.by_keywords(["violin"], 10, Within())]
        return [stored.chunk.path for stored in source.read(numbers)]

    assert desk.finder.ask(words, patience=60)[0] == ["memory/episodes/2026-02-01.md"]


def test_what_works_is_used_and_named(desk: Desk) -> None:
    desk.finder.sync()
    assert desk.nearest() == (1, SearchBackend("openai", "moody", None, None))
    status = desk.finder.status()
    assert (status.provider, status.dimensions, status.dirty, status.pending) == ("openai", 3, False, 0)


def test_a_question_that_cannot_be_embedded_is_answered_by_what_steps_in(desk: Desk) -> None:
    desk.finder.sync()
    desk.moody.queries_fail = True
    count, means = desk.nearest()
    assert count == 1
    assert means.provider == "builtin"
    assert means.fallback is not None
    assert "The server does not answer." in means.fallback
    # Left alone for a while, then asked again.
    desk.moody.queries_fail = False
    assert desk.nearest()[1].provider == "builtin"
    desk.seconds[0] += 61
    assert desk.nearest() == (1, SearchBackend("openai", "moody", None, None))


def test_memories_that_cannot_be_embedded_are_embedded_by_what_steps_in(desk: Desk) -> None:
    desk.moody.passages_fail = True
    desk.finder.sync()
    count, means = desk.nearest()
    assert (count, means.provider) == (1, "builtin")
    assert means.fallback is not None
    assert "The server sulks." in means.fallback


def test_what_changed_is_found_by_the_next_question(desk: Desk) -> None:
    desk.finder.sync()
    desk.shelf.write("memory/episodes/2026-02-02.md", day("d", episode("09:00", "Sold the violin.")))
    desk.shelf.sync()
    assert desk.finder.status().dirty
    words = desk.finder.ask(lambda source, _: len(source.by_keywords(["violin"], 9, Within())), patience=60)[
        0
    ]
    assert words == 2


def test_destroyed_it_leaves_nothing_and_comes_back(desk: Desk, tmp_path: Path) -> None:
    desk.finder.sync()
    desk.finder.destroy()
    assert not [place for place in (tmp_path / "index").iterdir() if place.suffix == ".sqlite"]
    desk.finder.sync()
    assert desk.nearest()[0] == 1
