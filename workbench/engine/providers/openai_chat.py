"""Chat through any server that speaks OpenAI’s chat completions."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.engine.providers.answers import Completion, read_completion
from workbench.engine.providers.calling_off import answer_unless_cancelled
from workbench.engine.providers.chat import ChatMessage, ChatReply, JsonReply
from workbench.engine.providers.openai_connection import OpenAIConnection, RefusedRequest
from workbench.engine.providers.retrying import with_retries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    import openai
    from openai._response import APIResponse

LARGEST_ANSWER_BYTES = 8_000_000

# The ways to ask for JSON, from the strictest; a server that rejects one is asked by the next.
_FORMS = ("json_schema", "json_object", "text")
# The names of the answer's limit: OpenAI's newer models reject the old one, other servers know no other.
_LIMITS = ("max_tokens", "max_completion_tokens")
_REJECTED_FORM_STATUSES = frozenset({400, 415, 422, 501})


@dataclass
class OpenAICompatibleChat:
    """A chat model behind an end point; safe to use from several threads.

    Making one opens no connection and reads no environment variable.

    Args:
        base_url: For example `http://localhost:11434/v1`; empty for OpenAI’s own.
        api_key: Its key; empty where the server wants none.
        model: The model’s name.
        headers: Further request headers.
        timeout_s: Seconds that one answer may take, all attempts and pauses between them included.
        retries: Further attempts after an overload, a server fault or a lost connection.
        pause: Waits some seconds between attempts.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = 20.0
    retries: int = 2
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)
    _form: int = field(default=0, init=False, repr=False)
    _limit: str = field(default=_LIMITS[0], init=False, repr=False)
    _connection: OpenAIConnection = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._connection = OpenAIConnection(
            self.base_url,
            self.api_key,
            self.model,
            self.headers,
            self.timeout_s,
            service="chat",
            largest_answer_bytes=LARGEST_ANSWER_BYTES,
        )

    @property
    def name(self) -> str:
        return self.model

    @property
    def where(self) -> str:
        """Return the end point, for messages."""
        return self._connection.where

    def complete(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ChatReply:
        deadline = time.monotonic() + self.timeout_s
        return self._ask(messages, {}, max_tokens, deadline).prose(where=self.where)

    def complete_json(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any],
        schema_name: str,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> JsonReply:
        deadline = time.monotonic() + self.timeout_s

        def ask(given_up: Callable[[], bool]) -> Completion:
            while True:
                form = self._form
                asked, options = _ask_for_json(_FORMS[form], messages, schema, schema_name)
                try:
                    return self._ask(asked, options, max_tokens, deadline, given_up)
                except RefusedRequest as refused:
                    if refused.status not in _REJECTED_FORM_STATUSES or form + 1 == len(_FORMS):
                        raise
                    self._form = max(self._form, form + 1)

        return answer_unless_cancelled(ask, cancelled).json_reply()

    def close(self) -> None:
        """Close idle connections; the next call opens new ones."""
        self._connection.close()

    def _ask(
        self,
        messages: Sequence[ChatMessage],
        options: Mapping[str, Any],
        max_tokens: int | None,
        deadline: float,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Completion:
        asked: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            **options,
        }
        if max_tokens is not None:
            asked[self._limit] = max_tokens

        def request(client: openai.OpenAI, timeout_s: float) -> AbstractContextManager[APIResponse[Any]]:
            return client.chat.completions.with_streaming_response.create(**asked, timeout=timeout_s)

        def attempt() -> Completion:
            body = self._connection.fetch(request, deadline, cancelled=cancelled)
            return read_completion(body, where=self.where)

        try:
            return with_retries(attempt, retries=self.retries, deadline=deadline, pause=self.pause)
        except RefusedRequest as refused:
            if max_tokens is None or self._limit == _LIMITS[1] or _LIMITS[1] not in refused.message:
                raise
            self._limit = _LIMITS[1]
            return self._ask(messages, options, max_tokens, deadline, cancelled)


def _ask_for_json(
    form: str, messages: Sequence[ChatMessage], schema: Mapping[str, Any], schema_name: str
) -> tuple[list[ChatMessage], dict[str, Any]]:
    if form == "json_schema":
        asked = {"name": schema_name, "schema": dict(schema), "strict": True}
        return list(messages), {"response_format": {"type": "json_schema", "json_schema": asked}}
    told = "Answer with one JSON object and nothing else. It keeps to this JSON schema:\n" + json.dumps(
        schema, ensure_ascii=False
    )
    # Some servers take a system message in the first place only.
    if messages and messages[0].role == "system":
        first = replace(messages[0], content=f"{messages[0].content}\n\n{told}")
        with_schema = [first, *messages[1:]]
    else:
        with_schema = [ChatMessage("system", told), *messages]
    return with_schema, {"response_format": {"type": "json_object"}} if form == "json_object" else {}
