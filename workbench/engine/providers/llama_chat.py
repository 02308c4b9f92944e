"""Chat with a local model file through llama.cpp in a child process."""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import (
    ChatCancelled,
    ChatMessage,
    ChatReply,
    Completion,
    JsonReply,
    answer_unless_cancelled,
)
from workbench.engine.providers.llama_models import check_model_file
from workbench.engine.providers.llama_process import ChatProcess, Trial

# Minimum tokens for an answer; a prompt that leaves less room is refused.
_LEAST_ANSWER: Final = 32
_LOOK_SECONDS: Final = 0.05


@dataclass
class _Shared:
    """The model shared by all chats on one file; the lock is held while answering."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    model: ChatProcess | None = None


class LlamaChat:
    """A chat model in a GGUF file, loaded on first use and kept open; requests take turns.

    Args:
        path: The file; never downloaded here.
        context_tokens: Maximum tokens of prompt and answer together.
        timeout_s: Seconds for one answer, including the wait for its turn.
        monotonic: Monotonic clock, in seconds.
        trials: Folder that records whether the model failed here, or None.
    """

    def __init__(
        self,
        path: Path,
        *,
        context_tokens: int = 8192,
        timeout_s: float = 20.0,
        monotonic: Callable[[], float] = time.monotonic,
        trials: Path | None = None,
    ) -> None:
        self.path = path
        self.timeout_s = timeout_s
        self._context_tokens = context_tokens
        self._monotonic = monotonic
        self._trial = Trial(path, "chat", trials)
        self._shared = _Shared()

    @property
    def name(self) -> str:
        return self.path.stem

    def within(self, timeout_s: float) -> LlamaChat:
        """Return a chat on the same open model with another time limit."""
        other = copy.copy(self)
        other.timeout_s = timeout_s
        return other

    def complete(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ChatReply:
        return self._answer(messages, None, max_tokens, lambda: False).prose(where=str(self.path))

    def complete_json(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any],
        schema_name: str,  # noqa: ARG002  # servers want one
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> JsonReply:
        written = json.dumps(schema)

        def ask(given_up: Callable[[], bool]) -> Completion:
            return self._answer(messages, written, max_tokens, given_up)

        return answer_unless_cancelled(ask, cancelled).json_reply()

    def try_again(self) -> None:
        """Run the model once, whatever the record of its trial.

        Raises:
            ProviderError: It cannot be run here.
        """
        self._trial.forget()
        self.close()
        self._answer([ChatMessage("user", "Hello")], None, 1, lambda: False)

    def close(self) -> None:
        """Free the model once unused; the next request loads it again."""
        with self._shared.lock:
            model, self._shared.model = self._shared.model, None
            if model is not None:
                model.close()

    def _answer(
        self,
        messages: Sequence[ChatMessage],
        schema: str | None,
        max_tokens: int | None,
        cancelled: Callable[[], bool],
    ) -> Completion:
        deadline = self._monotonic() + self.timeout_s

        def check() -> None:
            if cancelled():
                raise ChatCancelled
            if self._monotonic() > deadline:
                raise ProviderError(
                    f"The model “{self.name}” did not answer within {self.timeout_s:g} s.",
                    where=str(self.path),
                    remedy="Raise the model’s time-out in your settings, or use a smaller model.",
                )

        lock = self._shared.lock
        while not lock.acquire(timeout=_LOOK_SECONDS):
            check()
        try:
            check()
            model = self._shared.model
            if model is None or not model.is_running:
                check_model_file(self.path, "Set model.path to a GGUF file of a chat model.")
                self._shared.model = None
                began = self._monotonic()
                model = self._shared.model = ChatProcess(self._trial, self._context_tokens)
                # Loading has its own limit; a slow load must not take the answer's time.
                deadline += self._monotonic() - began
            return self._run(model, messages, schema, max_tokens, check)
        finally:
            lock.release()

    def _run(
        self,
        model: ChatProcess,
        messages: Sequence[ChatMessage],
        schema: str | None,
        max_tokens: int | None,
        check: Callable[[], None],
    ) -> Completion:
        prompt = model.tokens(messages)
        room = model.context_tokens - len(prompt)
        if room < _LEAST_ANSWER:
            raise ProviderError(
                f"The question has {len(prompt)} tokens, too many for a context of {model.context_tokens}.",
                where=str(self.path),
                remedy=(
                    "Raise model.context in your settings."
                    if model.context_tokens == self._context_tokens
                    else f"Set model.context to {model.context_tokens}, which is all that this model takes."
                ),
            )
        most = room if max_tokens is None else min(max_tokens, room)
        said = bytearray()
        count, ended = 0, False
        end = _ObjectEnd()
        pieces = model.generate(prompt, schema)
        try:
            for piece in pieces:
                check()
                if piece is None:
                    continue
                said += piece
                count += 1
                ended = schema is not None and end.reached(piece)
                if ended or count >= most:
                    break
            else:
                ended = True
        finally:
            pieces.close()
        return Completion(
            said.decode("utf-8", "replace"),
            self.name,
            truncated=not ended,
            prompt_tokens=len(prompt),
            completion_tokens=count,
        )


class _ObjectEnd:
    """Parses JSON byte by byte to the end of the object it begins with."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = self._escaped = False

    def reached(self, part: bytes) -> bool:
        """Consume the next bytes; return whether the object is complete."""
        for byte in part:
            if self._escaped:
                self._escaped = False
            elif self._in_string:
                self._escaped = byte == 0x5C
                self._in_string = byte != 0x22
            elif byte == 0x22:
                self._in_string = True
            elif byte in b"{[":
                self._depth += 1
            elif byte in b"}]":
                self._depth -= 1
                if self._depth == 0:
                    return True
        return False
