"""A model file through llama.cpp thinks through a whole cycle; its weights are random, so rules do the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.engine.providers.tiny_chat_gguf import write_tiny_chat_gguf
from tests.engine.reflection.model_mind.conftest import MakeSnapshot
from tests.engine.reflection.model_mind.running import consolidate, run
from tests.engine.reflection.model_mind.scripted import StubMind
from workbench.engine.providers.chat_models import LlamaChat
from workbench.engine.reflection.model import Cancelled, Work
from workbench.engine.reflection.model_mind import ModelMind
from workbench.engine.results.reviews import Phase

# One token for each character: a prompt takes far more tokens than the cycle counts with.
CONTEXT = 60_000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaChat]:
    path = write_tiny_chat_gguf(tmp_path_factory.mktemp("models") / "tiny-chat.gguf", context=CONTEXT)
    with closing(LlamaChat(path, context_tokens=CONTEXT, timeout_s=150)) as chat:
        yield chat


@pytest.mark.local_model
def test_a_cycle_with_a_model_file(model: LlamaChat, made: MakeSnapshot) -> None:
    work = Work(cap=2_000)
    ran = run(ModelMind(model, StubMind()), made(), work)
    assert [exchange.phase for exchange in work.exchanges] == list(Phase)
    for exchange in work.exchanges:
        assert exchange.model == "tiny-chat"
        assert exchange.answer.lstrip().startswith("{")
        assert exchange.prompt_tokens
        assert exchange.completion_tokens
    assert 0 < work.spent <= 2_000
    # What random words cite does not stand in any memory.
    assert [made.text for made in ran.items] in ([], ["By rules?"])


@pytest.mark.local_model
def test_a_cycle_with_a_model_file_can_be_called_off(model: LlamaChat, made: MakeSnapshot) -> None:
    looks: list[bool] = []

    def cancelled() -> bool:
        looks.append(True)
        return len(looks) > 3

    with pytest.raises(Cancelled):
        consolidate(ModelMind(model, StubMind()), made(), Work(cancelled=cancelled))


def test_a_missing_file_is_a_reason_to_fall_back(tmp_path: Path, made: MakeSnapshot) -> None:
    work = Work()
    items = consolidate(ModelMind(LlamaChat(tmp_path / "none.gguf"), StubMind()), made(), work)
    assert [made.text for made in items] == ["By rules?"]
    assert "cannot be read" in (work.accounts[-1].fallback or "")
