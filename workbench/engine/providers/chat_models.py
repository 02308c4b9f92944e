"""Chat with a model behind an OpenAI-compatible server, or with a local model file through llama.cpp."""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import (
    ChatCancelled,
    ChatMessage,
    Completion,
    JsonReply,
    answer_unless_cancelled,
    read_completion,
)
from workbench.engine.providers.llama_process import ChatProcess, Trial, check_model_file
from workbench.engine.providers.model_server import EndPoint, ModelServer, RefusedRequest, TimeLimit

if TYPE_CHECKING:
    import openai
    from openai._response import APIResponse


LARGEST_ANSWER_BYTES = 8_000_000
# Ways to request JSON, strictest first; a server that rejects one gets the next.
_FORMS = ("json_schema", "json_object", "text")
# Names of the length limit: OpenAI's newer models reject the old one, other servers know no other.
_LIMITS = ("max_tokens", "max_completion_tokens")
_REJECTED_FORM_STATUSES = frozenset({400, 415, 422, 501})

# Minimum tokens for an answer; a prompt that leaves less room is refused.
_LEAST_ANSWER: Final = 32
_LOOK_SECONDS: Final = 0.05


@dataclass
class OpenAICompatibleChat:
    """A chat model behind an end point; thread-safe.

    Creating one opens no connection and reads no environment variable.

    Args:
        end_point: The model; without a base URL one of OpenAI’s own.
        timeout_s: Total seconds for one answer, including retries and pauses.
        retries: Further attempts after an overload, a server fault or a lost connection.
    """

    end_point: EndPoint
    timeout_s: float = 20.0
    retries: int = 2
    _form: int = field(default=0, init=False, repr=False)
    _limit: str = field(default=_LIMITS[0], init=False, repr=False)
    _server: ModelServer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._server = ModelServer(self.end_point, "chat", LARGEST_ANSWER_BYTES, self.retries)

    @property
    def name(self) -> str:
        return self.end_point.model

    @property
    def where(self) -> str:
        """Return the end point, for messages."""
        return self._server.where

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        def ask(given_up: Callable[[], bool]) -> Completion:
            return self._ask(messages, {}, max_tokens, TimeLimit.of(self.timeout_s, given_up))

        return answer_unless_cancelled(ask, cancelled).prose(where=self.where)

    def complete_json(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any],
        schema_name: str,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> JsonReply:
        def ask(given_up: Callable[[], bool]) -> Completion:
            limit = TimeLimit.of(self.timeout_s, given_up)
            while True:
                form = self._form
                asked, options = _ask_for_json(_FORMS[form], messages, schema, schema_name)
                try:
                    return self._ask(asked, options, max_tokens, limit)
                except RefusedRequest as refused:
                    if refused.status not in _REJECTED_FORM_STATUSES or form + 1 == len(_FORMS):
                        raise
                    self._form = max(self._form, form + 1)

        return answer_unless_cancelled(ask, cancelled).json_reply()

    def close(self) -> None:
        """Close idle connections; the next call opens new ones."""
        self._server.close()

    def _ask(
        self,
        messages: Sequence[ChatMessage],
        options: Mapping[str, Any],
        max_tokens: int | None,
        limit: TimeLimit,
    ) -> Completion:
        asked: dict[str, Any] = {
            "model": self.end_point.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            **options,
        }
        if max_tokens is not None:
            asked[self._limit] = max_tokens

        def request(client: openai.OpenAI, timeout_s: float) -> AbstractContextManager[APIResponse[Any]]:
            return client.chat.completions.with_streaming_response.create(**asked, timeout=timeout_s)

        try:
            return read_completion(self._server.ask_openai(request, limit), where=self.where)
        except RefusedRequest as refused:
            if max_tokens is None or self._limit == _LIMITS[1] or _LIMITS[1] not in refused.message:
                raise
            self._limit = _LIMITS[1]
            return self._ask(messages, options, max_tokens, limit)


def _ask_for_json(
    form: str, messages: Sequence[ChatMessage], schema: Mapping[str, Any], schema_name: str
) -> tuple[list[ChatMessage], dict[str, Any]]:
    if form == "json_schema":
        asked = {"name": schema_name, "schema": dict(schema), "strict": True}
        return list(messages), {"response_format": {"type": "json_schema", "json_schema": asked}}
    told = "Answer with one JSON object and nothing else. It keeps to this JSON schema:\n" + json.dumps(
        schema, ensure_ascii=False
    )
    # Some servers accept a system message only at the start.
    if messages and messages[0].role == "system":
        first = replace(messages[0], content=f"{messages[0].content}\n\n{told}")
        with_schema = [first, *messages[1:]]
    else:
        with_schema = [ChatMessage("system", told), *messages]
    return with_schema, {"response_format": {"type": "json_object"}} if form == "json_object" else {}


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

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        def ask(given_up: Callable[[], bool]) -> Completion:
            return self._answer(messages, None, max_tokens, given_up)

        return answer_unless_cancelled(ask, cancelled).prose(where=str(self.path))

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
