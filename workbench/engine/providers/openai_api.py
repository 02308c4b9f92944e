"""OpenAI-compatible servers: the connection to one, and chat over it."""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import (
    ChatCancelled,
    ChatMessage,
    ChatReply,
    Completion,
    JsonReply,
    answer_unless_cancelled,
    read_completion,
)
from workbench.engine.providers.retries import (
    RETRIED_STATUSES,
    PassingFault,
    checked_url,
    one_line,
    seconds_asked_for,
    with_retries,
    without_password,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import openai
    from openai._response import APIResponse


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import openai
    from openai._response import APIResponse

    Request = Callable[["openai.OpenAI", float], AbstractContextManager["APIResponse[Any]"]]

DEFAULT_BASE_URL = "https://api.openai.com/v1"
LARGEST_ANSWER_BYTES = 8_000_000
# Ways to request JSON, strictest first; a server that rejects one gets the next.
_FORMS = ("json_schema", "json_object", "text")
# Names of the length limit: OpenAI's newer models reject the old one, other servers know no other.
_LIMITS = ("max_tokens", "max_completion_tokens")
_REJECTED_FORM_STATUSES = frozenset({400, 415, 422, 501})


class RefusedRequest(ProviderError):
    """The server answered with a status that a retry will not change."""

    status = 0


@dataclass
class OpenAIConnection:
    """Sends requests through the `openai` client; thread-safe.

    Creating one opens no connection and reads no environment variable.

    Args:
        base_url: For example `http://localhost:11434/v1`; empty for OpenAI’s own.
        api_key: Its key; "" if the server wants none.
        model: The model’s name.
        headers: Further request headers.
        timeout_s: Named in the message after a time-out.
        service: Its purpose, for messages: chat, embeddings.
        largest_answer_bytes: Maximum size of an answer.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    headers: Mapping[str, str] = field(repr=False)
    timeout_s: float
    service: str
    largest_answer_bytes: int
    _client: openai.OpenAI | None = field(default=None, init=False, repr=False)
    _making_client: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def where(self) -> str:
        """Return the endpoint, for messages."""
        return without_password(self.base_url or DEFAULT_BASE_URL)

    def fetch(
        self,
        request: Request,
        deadline: float,
        *,
        allowed_s: float | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> bytes:
        """Make one request and return the response body.

        Args:
            request: Makes it with the client and the seconds left, as a streaming response.
            deadline: `time.monotonic` reading by which the whole response must have arrived.
            allowed_s: Named in the message after a time-out, instead of `timeout_s`.
            cancelled: Polled before the request and after each part of the response.

        Raises:
            ChatCancelled: `cancelled` returned true; the connection is closed.
            PassingFault: An overload, a server error or a lost connection.
            RefusedRequest: Any other unsuccessful status.
            ProviderError: It took too long, is too large, or could not be made at all.
        """
        import openai

        if cancelled():
            raise ChatCancelled
        too_slow = partial(self._too_slow, self.timeout_s if allowed_s is None else allowed_s)
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise too_slow()
        client = self._connect()
        try:
            with request(client, remaining) as response:
                return self._read_body(response, deadline, too_slow, cancelled)
        except openai.APIStatusError as error:
            raise self._explain_status(error) from error
        except openai.APITimeoutError as error:
            raise too_slow() from error
        except openai.APIConnectionError as error:
            raise PassingFault(self._unreachable(error)) from error
        except (openai.OpenAIError, UnicodeEncodeError) as error:
            raise ProviderError(
                f"The request to the model could not be made: {self.without_secrets(str(error))}",
                where=self.where,
                remedy="Check the model’s base URL, key and headers in your settings.",
            ) from error

    def without_secrets(self, text: str) -> str:
        """Return a server’s message on one line, without key and header values."""
        return one_line(text, self.api_key, *(value for value in self.headers.values() if len(value) > 7))

    def close(self) -> None:
        """Close idle connections; the next request opens new ones."""
        with self._making_client:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _read_body(
        self,
        response: APIResponse[Any],
        deadline: float,
        too_slow: Callable[[], ProviderError],
        cancelled: Callable[[], bool],
    ) -> bytes:
        # The client passes its HTTP library’s errors through here, and the library varies by version.
        library: Any = sys.modules[type(response.http_response).__module__.partition(".")[0]]
        body = bytearray()
        try:
            for part in response.iter_bytes():
                body += part
                if cancelled():
                    raise ChatCancelled
                # A trickling server meets the time-out of every read, but not the deadline.
                if time.monotonic() > deadline:
                    raise too_slow()
                if len(body) > self.largest_answer_bytes:
                    raise ProviderError(
                        f"The model server’s answer is larger than any that {self.service} needs.",
                        where=self.where,
                        remedy="Check that the base URL is that of an OpenAI-compatible server.",
                    )
        except library.TimeoutException as error:
            raise too_slow() from error
        except library.HTTPError as error:
            raise PassingFault(self._unreachable(error)) from error
        return bytes(body)

    def _connect(self) -> openai.OpenAI:
        import openai

        with self._making_client:
            if self._client is None:
                client = openai.OpenAI(
                    base_url=checked_url(self.base_url or DEFAULT_BASE_URL),
                    # For an empty key the client would look in the environment.
                    api_key=self.api_key or "none",
                    default_headers=dict(self.headers),
                    max_retries=0,
                    # Memory is sent: it goes to the configured endpoint and nowhere else.
                    http_client=openai.DefaultHttpxClient(follow_redirects=False),
                )
                # Environment settings for another server must not reach this one.
                client.organization = client.project = None
                self._client = client
            return self._client

    def _too_slow(self, allowed_s: float) -> ProviderError:
        return ProviderError(
            f"The model “{self.model}” did not answer within {allowed_s:g} s.",
            where=self.where,
            remedy="Raise the model’s time-out in your settings, or use a faster model.",
        )

    def _unreachable(self, error: Exception) -> ProviderError:
        cause = error.__cause__ or error
        return ProviderError(
            f"The model server cannot be reached: {self.without_secrets(str(cause))}",
            where=self.where,
            remedy="Check that it is running and that the base URL is right.",
        )

    def _explain_status(self, error: openai.APIStatusError) -> Exception:
        status = error.status_code
        said = self.without_secrets(error.message.removeprefix(f"Error code: {status} - "))
        message, remedy = f"The model server answered {status}: {said}", "Try again later."
        if status in (401, 403):
            message, remedy = "The model server refused the key.", "Check the model’s key in your settings."
        elif 300 <= status < 400:
            onward = self.without_secrets(error.response.headers.get("location", "elsewhere"))
            message = f"The model server sends on to {onward}, which is not followed."
            remedy = "Set the base URL to where the server really is."
        elif status == 404:
            message = f"The model server knows no model “{self.model}”, or no {self.service} at this address."
            remedy = "Check the model’s name and base URL in your settings; the URL usually ends in /v1."
        elif status == 429:
            message = "The model server is overloaded, or its quota is used up."
        elif status < 500:
            remedy = "Check the model’s name and what the server supports."
        if status in RETRIED_STATUSES:
            passing = ProviderError(message, where=self.where, remedy=remedy)
            passing.__cause__ = error
            return PassingFault(passing, seconds_asked_for(error.response.headers.get("retry-after")))
        refused = RefusedRequest(message, where=self.where, remedy=remedy)
        refused.status = status
        return refused


@dataclass
class OpenAICompatibleChat:
    """A chat model behind an endpoint; thread-safe.

    Creating one opens no connection and reads no environment variable.

    Args:
        base_url: For example `http://localhost:11434/v1`; empty for OpenAI’s own.
        api_key: Its key; "" if the server wants none.
        model: The model’s name.
        headers: Further request headers.
        timeout_s: Total seconds for one answer, including retries and pauses.
        retries: Further attempts after an overload, a server fault or a lost connection.
        pause: Sleeps between attempts.
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
        """Return the endpoint, for messages."""
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
    # Some servers accept a system message only at the start.
    if messages and messages[0].role == "system":
        first = replace(messages[0], content=f"{messages[0].content}\n\n{told}")
        with_schema = [first, *messages[1:]]
    else:
        with_schema = [ChatMessage("system", told), *messages]
    return with_schema, {"response_format": {"type": "json_object"}} if form == "json_object" else {}
