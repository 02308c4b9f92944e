"""Chat through any server that speaks OpenAI’s chat completions."""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import ProviderError
from workbench.engine.providers.answers import read_completion, read_json_object
from workbench.engine.providers.chat import ChatMessage, ChatReply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import openai
    from openai._response import APIResponse

DEFAULT_BASE_URL = "https://api.openai.com/v1"
LARGEST_ANSWER_BYTES = 8_000_000

# The ways to ask for JSON, from the strictest; a server that rejects one is asked by the next.
_FORMS = ("json_schema", "json_object", "text")
_RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_REJECTED_FORM_STATUSES = frozenset({400, 415, 422, 501})
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 8.0


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
    _client: openai.OpenAI | None = field(default=None, init=False, repr=False)
    _making_client: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def name(self) -> str:
        return self.model

    @property
    def where(self) -> str:
        """Return the end point, for messages."""
        return self.base_url or DEFAULT_BASE_URL

    def complete(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ChatReply:
        deadline = time.monotonic() + self.timeout_s
        return self._ask(messages, {}, max_tokens, deadline)

    def complete_json(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any],
        schema_name: str,
        max_tokens: int | None = None,
    ) -> dict[str, Any]:
        deadline = time.monotonic() + self.timeout_s
        while True:
            form = self._form
            asked, options = _ask_for_json(_FORMS[form], messages, schema, schema_name)
            try:
                reply = self._ask(asked, options, max_tokens, deadline)
            except _RejectedForm as rejected:
                if form + 1 == len(_FORMS):
                    raise rejected.error from rejected.error.__cause__
                self._form = max(self._form, form + 1)
                continue
            return read_json_object(reply.text, where=self.where)

    def close(self) -> None:
        """Close idle connections; the next call opens new ones."""
        with self._making_client:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _ask(
        self,
        messages: Sequence[ChatMessage],
        options: Mapping[str, Any],
        max_tokens: int | None,
        deadline: float,
    ) -> ChatReply:
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            **options,
        }
        if max_tokens is not None:
            request["max_tokens"] = max_tokens
        for attempt in range(self.retries + 1):
            try:
                return read_completion(self._fetch(request, deadline), where=self.where)
            except _PassingFault as fault:
                wait = _pause_before(attempt, fault.retry_after_s)
                if attempt == self.retries or time.monotonic() + wait >= deadline:
                    raise fault.error from fault.error.__cause__
                self.pause(wait)
        raise AssertionError("the last attempt returns or raises")

    def _fetch(self, request: Mapping[str, Any], deadline: float) -> bytes:
        import openai

        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise self._too_slow()
        completions = self._connect().chat.completions.with_streaming_response
        try:
            with completions.create(**request, timeout=remaining) as response:
                return self._read_body(response, deadline)
        except openai.APIStatusError as error:
            raise self._explain_status(error, with_form="response_format" in request) from error
        except openai.APITimeoutError as error:
            raise self._too_slow() from error
        except openai.APIConnectionError as error:
            raise _PassingFault(self._unreachable(error)) from error
        except (openai.OpenAIError, UnicodeEncodeError) as error:
            raise ProviderError(
                f"The request to the model could not be made: {_one_line(str(error), self.api_key)}",
                where=self.where,
                remedy="Check the model’s base URL, key and headers in your settings.",
            ) from error

    def _read_body(self, response: APIResponse[Any], deadline: float) -> bytes:
        # The client lets its HTTP library’s own errors through here, and versions differ in the library.
        library: Any = sys.modules[type(response.http_response).__module__.partition(".")[0]]
        body = bytearray()
        try:
            for part in response.iter_bytes():
                body += part
                # A server that trickles keeps every single read within its time-out, but not the whole.
                if time.monotonic() > deadline:
                    raise self._too_slow()
                if len(body) > LARGEST_ANSWER_BYTES:
                    raise ProviderError(
                        "The model server’s answer is larger than any completion.",
                        where=self.where,
                        remedy="Check that the base URL is that of an OpenAI-compatible server.",
                    )
        except library.TimeoutException as error:
            raise self._too_slow() from error
        except library.HTTPError as error:
            raise _PassingFault(self._unreachable(error)) from error
        return bytes(body)

    def _connect(self) -> openai.OpenAI:
        import openai

        with self._making_client:
            if self._client is None:
                client = openai.OpenAI(
                    base_url=_checked_url(self.where),
                    # The client takes an empty key as leave to look for one in the environment.
                    api_key=self.api_key or "none",
                    default_headers=dict(self.headers),
                    max_retries=0,
                )
                # Set by the environment for another server, they would be told to this one.
                client.organization = client.project = None
                self._client = client
            return self._client

    def _too_slow(self) -> ProviderError:
        return ProviderError(
            f"The model “{self.model}” did not answer within {self.timeout_s:g} s.",
            where=self.where,
            remedy="Raise the model’s time-out in your settings, or use a faster model.",
        )

    def _unreachable(self, error: Exception) -> ProviderError:
        cause = error.__cause__ or error
        return ProviderError(
            f"The model server cannot be reached: {_one_line(str(cause), self.api_key)}",
            where=self.where,
            remedy="Check that it is running and that the base URL is right.",
        )

    def _explain_status(self, error: openai.APIStatusError, *, with_form: bool) -> Exception:
        status = error.status_code
        said = _one_line(error.message, self.api_key)
        message, remedy = f"The model server answered {status}: {said}", "Try again later."
        if status in (401, 403):
            message, remedy = "The model server refused the key.", "Check the model’s key in your settings."
        elif status == 404:
            message = f"The model server knows no model “{self.model}”, or no chat at this address."
            remedy = "Check the model’s name and base URL in your settings; the URL usually ends in /v1."
        elif status == 429:
            message = "The model server is overloaded, or its quota is used up."
        elif status < 500:
            remedy = "Check the model’s name and what the server supports."
        explained = ProviderError(message, where=self.where, remedy=remedy)
        explained.__cause__ = error
        if with_form and status in _REJECTED_FORM_STATUSES:
            return _RejectedForm(explained)
        if status in _RETRIED_STATUSES:
            return _PassingFault(explained, _seconds(error.response.headers.get("retry-after")))
        return explained


class _PassingFault(Exception):
    """A failure that another attempt may not meet; never leaves this module."""

    def __init__(self, error: ProviderError, retry_after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.retry_after_s = retry_after_s


class _RejectedForm(Exception):
    """The server does not take this way of asking for JSON; never leaves this module."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(error.message)
        self.error = error


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


def _checked_url(url: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ProviderError(
            "The model’s base URL is not a web address.",
            where=url,
            remedy="Give it with its scheme, for example http://localhost:11434/v1.",
        )
    return url


def _pause_before(attempt: int, retry_after_s: float | None) -> float:
    if retry_after_s is not None:
        return retry_after_s
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0**attempt)


def _seconds(header: str | None) -> float | None:
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _one_line(text: str, secret: str) -> str:
    if secret:
        text = text.replace(secret, "[key]")
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"
