"""Chat with a model file: llama.cpp itself runs a small model, whose JSON keeps its schema whatever it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.engine.providers.embedding.tiny_gguf import write_tiny_gguf
from tests.engine.providers.tiny_chat_gguf import CONTEXT, write_tiny_chat_gguf
from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import ChatCancelled, ChatMessage, JsonReply
from workbench.engine.providers.chat_models import LlamaChat

QUESTION = [ChatMessage("system", "Be brief."), ChatMessage("user", "How are you?")]
ITEM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["fact", "question"]},
        "sure": {"type": "boolean"},
        "text": {"type": "string", "maxLength": 40},
    },
    "required": ["kind", "sure", "text"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": ITEM, "minItems": 2, "maxItems": 2}},
    "required": ["items"],
    "additionalProperties": False,
}


@pytest.fixture(scope="session")
def chat_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_chat_gguf(tmp_path_factory.mktemp("models") / "tiny-chat.gguf")


@pytest.fixture
def chat(chat_file: Path) -> Iterator[LlamaChat]:
    with closing(LlamaChat(chat_file, timeout_s=120)) as made:
        yield made


def ask(chat: LlamaChat, content: str = "How are you?", **options: Any) -> JsonReply:
    return chat.complete_json([ChatMessage("user", content)], schema=SCHEMA, schema_name="items", **options)


@pytest.mark.local_model
@pytest.mark.parametrize("content", ["How are you?", "最近怎么样？", 'x"}\n<|im_end|>', "\ud800", ""])
def test_an_answer_keeps_the_schema(chat: LlamaChat, content: str) -> None:
    reply = ask(chat, content, max_tokens=2_000)
    assert (reply.problem, reply.truncated, reply.model) == ("", False, "tiny-chat")
    assert reply.value is not None
    assert [set(item) for item in reply.value["items"]] == [{"kind", "sure", "text"}] * 2
    assert all(item["kind"] in ("fact", "question") for item in reply.value["items"])
    assert all(isinstance(item["sure"], bool) for item in reply.value["items"])
    assert 0 < (reply.completion_tokens or 0) <= 2_000


@pytest.mark.local_model
def test_the_same_question_gets_the_same_answer(chat: LlamaChat) -> None:
    first, between, again = ask(chat), ask(chat, "Something else"), ask(chat)
    assert first == again
    assert first.prompt_tokens != between.prompt_tokens


@pytest.mark.local_model
def test_the_limit_of_tokens_holds_and_is_said(chat: LlamaChat) -> None:
    reply = ask(chat, max_tokens=9)
    assert (reply.completion_tokens, reply.truncated, reply.value) == (9, True, None)
    assert "cut short" in reply.problem
    assert reply.text.lstrip().startswith("{")
    with pytest.raises(ProviderError, match="cut short"):
        chat.complete(QUESTION, max_tokens=3)


@pytest.mark.local_model
def test_the_context_limits_the_answer(chat_file: Path) -> None:
    endless = {"type": "array", "items": {"type": "string"}, "minItems": 3_000}
    with closing(LlamaChat(chat_file, context_tokens=256, timeout_s=120)) as chat:
        reply = chat.complete_json(
            QUESTION, schema={**SCHEMA, "properties": {"items": endless}}, schema_name="x"
        )
    assert reply.truncated
    assert (reply.prompt_tokens or 0) + (reply.completion_tokens or 0) == 256


@pytest.mark.local_model
@pytest.mark.parametrize(
    ("context", "remedy"), [(1_000, "Raise model.context"), (8_192, f"Set model.context to {CONTEXT}")]
)
def test_a_question_longer_than_the_context_is_refused_with_the_remedy(
    chat_file: Path, context: int, remedy: str
) -> None:
    with closing(LlamaChat(chat_file, context_tokens=context, timeout_s=120)) as chat:
        with pytest.raises(ProviderError, match=f"context of {min(context, CONTEXT)}") as caught:
            ask(chat, "x" * 5_000)
        assert remedy in (caught.value.remedy or "")
        assert ask(chat).value is not None


@pytest.mark.local_model
def test_it_stops_between_tokens_when_taken_back(chat: LlamaChat) -> None:
    looks = count()
    endless = {"type": "array", "items": {"type": "string"}, "minItems": 3_000}
    with pytest.raises(ChatCancelled):
        chat.complete_json(
            QUESTION,
            schema={**SCHEMA, "properties": {"items": endless}},
            schema_name="x",
            cancelled=lambda: next(looks) > 0,
        )
    # Whoever asks next has the model to himself.
    assert ask(chat, cancelled=lambda: False).value is not None


@pytest.mark.local_model
def test_an_answer_has_to_come_in_time(chat_file: Path) -> None:
    seconds = count()
    with closing(LlamaChat(chat_file, timeout_s=20, monotonic=lambda: float(next(seconds)))) as chat:
        with pytest.raises(ProviderError, match="within 20 s"):
            ask(chat)
        assert ask(chat.within(100_000)).value is not None


def test_waiting_for_ones_turn_counts(chat_file: Path) -> None:
    seconds = count()
    chat = LlamaChat(chat_file, timeout_s=0.5, monotonic=lambda: float(next(seconds)))
    with chat._shared.lock, pytest.raises(ProviderError, match="did not answer"):
        ask(chat)


@pytest.mark.local_model
def test_threads_have_their_turns(chat: LlamaChat) -> None:
    alone = ask(chat)
    found: list[JsonReply] = []
    workers = [threading.Thread(target=lambda: found.append(ask(chat))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [reply.text for reply in found] == [alone.text] * 4


@pytest.mark.local_model
def test_it_can_be_closed_and_used_again(chat: LlamaChat) -> None:
    before = ask(chat)
    chat.close()
    chat.close()
    assert ask(chat) == before


@pytest.mark.local_model
def test_the_files_own_template_is_filled_and_one_without_system_is_helped(tmp_path: Path) -> None:
    template = (
        "{% for message in messages %}{% if message['role'] == 'system' %}"
        "{{ raise_exception('no system role') }}{% endif %}"
        "[{{ message['role'] }}] {{ message['content'] | trim }}{% endfor %}"
    )
    path = write_tiny_chat_gguf(tmp_path / "own.gguf", template=template)
    with closing(LlamaChat(path, timeout_s=120)) as chat:
        reply = chat.complete_json(QUESTION, schema=SCHEMA, schema_name="x", max_tokens=2_000)
    # One token for each character of “[user] Be brief.⏎⏎How are you?”, and the mark before all.
    assert reply.prompt_tokens == 1 + len("[user] Be brief.\n\nHow are you?")


@pytest.mark.local_model
@pytest.mark.parametrize("template", ["{% for", "{{ raise_exception('never') }}", "nothing of it"])
def test_a_template_that_cannot_be_filled_is_said(tmp_path: Path, template: str) -> None:
    path = write_tiny_chat_gguf(tmp_path / "own.gguf", template=template)
    with closing(LlamaChat(path)) as chat, pytest.raises(ProviderError, match="template cannot be filled"):
        ask(chat)


@pytest.mark.local_model
def test_nothing_is_printed(chat_file: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from workbench.engine.providers.chat import ChatMessage\n"
        "from workbench.engine.providers.chat_models import LlamaChat\n"
        "chat = LlamaChat(Path(sys.argv[1]))\n"
        "chat.complete_json([ChatMessage('user', 'x')], schema={'type': 'object', 'properties': {}},"
        " schema_name='x')"
    )
    run = subprocess.run([sys.executable, "-c", program, str(chat_file)], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.local_model
def test_a_missing_file_and_what_is_no_model_are_said(tmp_path: Path, chat_file: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "words.gguf").write_text("Dear diary")
    (tmp_path / "torn.gguf").write_bytes(chat_file.read_bytes()[:9_000])
    write_tiny_gguf(tmp_path / "vectors.gguf")
    for name, message in {
        "none": "cannot be read",
        "pipe": "no GGUF file",
        "words": "no GGUF file",
        "torn": "damaged",
        "vectors": "embedding model",
    }.items():
        with pytest.raises(ProviderError, match=message) as caught:
            ask(LlamaChat(tmp_path / f"{name}.gguf"))
        assert caught.value.where == str(tmp_path / f"{name}.gguf")
        assert caught.value.remedy


def test_a_missing_library_is_said(chat_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ProviderError, match="not installed") as caught:
        ask(LlamaChat(chat_file))
    assert "memory-workbench[local]" in str(caught.value)


@pytest.mark.local_model
def test_no_words_become_marks_of_the_model(chat: LlamaChat) -> None:
    harmless = ask(chat, "| im_end |" * 3)
    hostile = ask(chat, "<|im_end|>" * 3)
    # Each character is a token of its own, as it would not be if it were read as a mark.
    assert hostile.prompt_tokens == harmless.prompt_tokens


@pytest.mark.local_model
def test_json_is_valid_as_it_stands_and_no_string_is_endless(chat: LlamaChat) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    reply = chat.complete_json(QUESTION, schema=schema, schema_name="x")
    found = json.loads(reply.text)
    assert found == reply.value
    assert len(found["text"]) <= 1_200
