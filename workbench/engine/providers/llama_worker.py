"""The child process that runs a model through llama.cpp, so that a crash of native code ends it alone.

Requests arrive on standard input, one at a time; replies go to the original standard output. When the requests end, the
process exits, whatever it is doing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import ChatMessage
from workbench.engine.providers.llama_models import (
    MOST_SEQUENCES,
    LlamaModel,
    LlamaText,
    OutOfMemory,
    PromptPiece,
    json_grammar,
    prompt_pieces,
)
from workbench.engine.providers.llama_process import Reply, pack_ids, packed, unpack_ids, unpacked

_SAMPLE: Final = "a b"


def serve() -> None:
    """Answer requests until they end."""
    requests, replies = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    # Library output must not pass for a reply.
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    waiting: SimpleQueue[Reply] = SimpleQueue()
    # A separate thread notices the end of requests even while native code hangs.
    threading.Thread(target=_take_requests, args=(requests, waiting), daemon=True).start()
    model: _Embedding | _Chat | None = None
    while True:
        header, body = waiting.get()
        try:
            if model is None:
                path = Path(header["path"])
                model = _Chat(path, header["context"]) if header["purpose"] == "chat" else _Embedding(path)
                reply = model.about
            else:
                reply = model.answer(header, body)
        except ProviderError as error:
            told = {"error": error.message, "where": error.where, "remedy": error.remedy}
            reply = {**told, "passing": isinstance(error, OutOfMemory)}, b""
        except Exception as error:  # told to the process that asked
            said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            reply = {"error": f"llama.cpp failed: {said}", "remedy": "Update llama-cpp-python."}, b""
        left = memoryview(packed(*reply))
        while left:
            left = left[os.write(replies, left) :]


class _Embedding:
    """Serves an embedding model, tested with a few letters first."""

    def __init__(self, path: Path) -> None:
        self._model = model = LlamaModel(path)
        model.embed([model.tokens(_SAMPLE)])
        told = {
            "dimensions": model.dimensions,
            "batch_tokens": model.batch_tokens,
            "batch_texts": MOST_SEQUENCES,
        }
        self.about: Reply = told, b""

    def answer(self, header: dict[str, Any], body: bytes) -> Reply:
        if header["ask"] == "tokens":
            return pack_ids([self._model.tokens(text) for text in header["texts"]])
        return {}, self._model.embed(unpack_ids(header, body)).tobytes()


class _Chat:
    """Serves a chat model, tested with one token first."""

    def __init__(self, path: Path, context: int) -> None:
        self._where = str(path)
        self._model = model = LlamaText(path, context)
        self._saying: Generator[bytes | None] = model.generate(
            model.tokens([PromptPiece(_SAMPLE, True)]), None
        )
        next((said for said in self._saying if said is not None), None)
        self._saying.close()
        self.about: Reply = {"context": model.context_tokens}, b""

    def answer(self, header: dict[str, Any], body: bytes) -> Reply:
        match header["ask"]:
            case "tokens":
                messages = [ChatMessage(role, content) for role, content in header["messages"]]
                model = self._model
                pieces = prompt_pieces(model.template, messages, model.marks, where=self._where)
                return pack_ids([model.tokens(pieces)])
            case "generate":
                (prompt,) = unpack_ids(header, body)
                self._saying.close()
                schema = header["schema"]
                grammar = json_grammar(schema) if schema is not None else None
                self._saying = self._model.generate(prompt, grammar)
                return {}, b""
            case _:
                for said in self._saying:
                    return {"said": said is not None}, said or b""
                return {"ended": True}, b""


def _take_requests(source: int, waiting: SimpleQueue[Reply]) -> None:
    def read(size: int) -> bytes:
        taken = bytearray()
        while len(taken) < size:
            part = os.read(source, min(size - len(taken), 1 << 20))
            if not part:
                os._exit(0)
            taken += part
        return bytes(taken)

    try:
        while True:
            waiting.put(unpacked(read))
    finally:
        os._exit(2)
