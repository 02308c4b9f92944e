"""One embedder stands in for another: at once, with the reason, for a while, and never mixing their vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.engine.providers.embedding.asking import ask
from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.fallback import Embedders

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


@dataclass
class Scripted:
    """An embedder that works or fails as a test says."""

    provider: str
    works: bool = True
    asked: int = 0
    closed: bool = False
    model: str = "m"
    dimensions: int | None = 2
    is_instant: bool = False
    wait: Callable[[], object] = field(default=lambda: None)

    @property
    def fingerprint(self) -> str:
        return f"{self.provider} m"

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        self.asked += 1
        self.wait()
        if not self.works:
            raise ProviderError(f"{self.provider} is out.")
        return np.ones((len(texts), 2), np.float32)

    def embed_query(self, text: str) -> FloatArray:
        row: FloatArray = self.embed_passages([text])[0]
        return row

    def close(self) -> None:
        self.closed = True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def first() -> Scripted:
    return Scripted("openai")


@pytest.fixture
def second() -> Scripted:
    return Scripted("builtin")


@pytest.fixture
def both(first: Scripted, second: Scripted, clock: Clock) -> Embedders:
    return Embedders(first, second, monotonic=clock)


def test_the_first_answers_while_it_works(both: Embedders, first: Scripted, second: Scripted) -> None:
    answer = ask(both)
    assert (answer.provider, answer.fingerprint, answer.fallback) == ("openai", "openai m", None)
    assert (first.asked, second.asked) == (1, 0)
    assert both.standing().embedder is first


def test_the_second_steps_in_at_once_and_says_why(both: Embedders, first: Scripted) -> None:
    first.works = False
    for answer in (ask(both), ask(both)):
        assert (answer.provider, answer.fingerprint) == ("builtin", "builtin m")
        assert answer.fallback == "The embedder openai failed, builtin answers instead: openai is out."
    assert first.asked == 1


def test_the_first_is_asked_again_after_a_minute(both: Embedders, first: Scripted, clock: Clock) -> None:
    first.works = False
    ask(both)
    clock.now += 59.9
    ask(both)
    assert first.asked == 1
    clock.now += 0.2
    assert ask(both).fallback is not None
    assert first.asked == 2
    first.works = True
    clock.now += 59.9
    assert ask(both).provider == "builtin"
    clock.now += 0.2
    assert ask(both).fallback is None
    assert both.standing().fallback is None
    assert ask(both).provider == "openai"


def test_while_one_thread_tries_again_others_do_not_wait(
    both: Embedders, first: Scripted, clock: Clock
) -> None:
    first.works = False
    ask(both)
    clock.now += 61
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(5)

    first.wait, first.works = wait, True
    trying = threading.Thread(target=lambda: ask(both))
    trying.start()
    assert begun.wait(5)
    assert ask(both).provider == "builtin"
    go_on.set()
    trying.join()
    assert ask(both).provider == "openai"


def test_where_both_fail_the_error_is_that_of_the_second(
    both: Embedders, first: Scripted, second: Scripted
) -> None:
    first.works = second.works = False
    with pytest.raises(ProviderError, match="builtin is out"):
        ask(both)


def test_where_both_are_out_only_keywords_are_left(
    both: Embedders, first: Scripted, second: Scripted, clock: Clock
) -> None:
    for embedder in (first, second):
        both.failed(embedder, ProviderError(f"{embedder.provider} is out."))
    standing = both.standing()
    assert standing.embedder is None
    said = (
        "The embedder openai and builtin failed, only keywords are searched: openai is out. builtin is out."
    )
    assert standing.fallback == said
    clock.now += 61
    assert both.standing().embedder is first


def test_without_a_second_the_error_stays_for_the_while(first: Scripted, clock: Clock) -> None:
    alone = Embedders(first, None, monotonic=clock)
    first.works = False
    for _ in range(3):
        with pytest.raises(ProviderError, match="openai is out"):
            ask(alone)
    assert first.asked == 1
    assert alone.standing().embedder is None
    assert "only keywords" in str(alone.standing().fallback)


def test_with_nothing_configured_nothing_is_asked() -> None:
    nothing = Embedders(None, Scripted("builtin"))
    assert nothing.standing().embedder is None
    assert nothing.standing().fallback is None
    assert nothing.turn() == nothing.standing()


def test_failures_of_direct_use_count(
    both: Embedders, first: Scripted, second: Scripted, clock: Clock
) -> None:
    both.failed(second, ProviderError("no matter"))
    both.worked(second)
    assert both.standing().embedder is first
    both.failed(first, ProviderError("openai is out."))
    assert both.standing().embedder is second
    assert "openai is out" in str(both.standing().fallback)
    clock.now += 61
    assert both.standing().embedder is first
    both.worked(first)
    assert ask(both).fallback is None


def test_closing_closes_both(both: Embedders, first: Scripted, second: Scripted) -> None:
    both.close()
    assert first.closed
    assert second.closed
