"""Requests to a model server: retried within a deadline, limited in size, with errors in our words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workbench.engine.errors import ProviderError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.providers.chat import ChatCancelled
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import httpx2
    import openai
    from openai._response import APIResponse

    OpenAIRequest = Callable[[openai.OpenAI, float], AbstractContextManager[APIResponse[Any]]]

OPENAI_URL = "https://api.openai.com/v1"
RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 8.0
_USER_INFO = lazy_pattern(r"(//)[^/?#]*@")


class RefusedRequest(ProviderError):
    """The server answered with a status that a retry will not change."""

    status = 0


class PassingFault(Exception):
    """A failure worth another attempt.

    Args:
        retry_after_s: Delay that the server asks for, or None.
    """

    def __init__(self, error: ProviderError, retry_after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.retry_after_s = retry_after_s

    def pause(self, attempt: int) -> float:
        """Return the seconds to wait after a failed attempt (from 0): what the server asks for, else exponential."""
        if self.retry_after_s is not None:
            return self.retry_after_s
        return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0**attempt)


@dataclass(frozen=True)
class EndPoint:
    """A model on a server.

    Args:
        base_url: For example `http://localhost:11434/v1`; empty for the provider's own.
        api_key: "" if the server wants none.
    """

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class TimeLimit:
    """The time for all attempts and pauses of a request.

    Args:
        seconds: Named in the message after a time-out.
        deadline: `time.monotonic` reading at its end.
        cancelled: Polled before each attempt and after each part of the response.
    """

    seconds: float
    deadline: float
    cancelled: Callable[[], bool]

    @classmethod
    def of(cls, seconds: float, cancelled: Callable[[], bool] = lambda: False) -> TimeLimit:
        """Return a limit that begins now."""
        return cls(seconds, monotonic() + seconds, cancelled)


@dataclass
class ModelServer:
    """Sends requests to one end point; thread-safe.

    Creating one opens no connection and reads no environment variable. The retries of the `openai` client are off,
    since it knows no deadline for all attempts together.

    Args:
        service: Its purpose, for messages: chat, embeddings.
        largest_answer_bytes: Maximum size of an answer.
        retries: Further attempts after an overload, a server fault or a lost connection.
        own_url: Base URL of the provider's own server.
    """

    end_point: EndPoint
    service: str
    largest_answer_bytes: int
    retries: int
    own_url: str = OPENAI_URL
    _http: httpx2.Client | None = field(default=None, init=False, repr=False)
    _openai: openai.OpenAI | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def base_url(self) -> str:
        return self.end_point.base_url or self.own_url

    @property
    def where(self) -> str:
        """Return the base URL without user name and password, for messages."""
        return _without_password(self.base_url)

    def ask_openai(self, request: OpenAIRequest, limit: TimeLimit) -> bytes:
        """Return the body of the answer to a request of the `openai` client.

        Args:
            request: Makes it with the client and the seconds left, as a streaming response.

        Raises:
            ChatCancelled: It was cancelled; the connection is closed.
            RefusedRequest: The server answered with a status that a retry will not change.
            ProviderError: It failed, took too long, is too large, or could not be made at all.
        """
        import openai

        def attempt(left: float) -> bytes:
            try:
                with request(self._openai_client(), left) as response:
                    return self._read(response.iter_bytes(), limit)
            except openai.APIStatusError as error:
                said = error.message.removeprefix(f"Error code: {error.status_code} - ")
                raise self._explain_status(error.response, said) from error
            except openai.APIConnectionError as error:
                # What the HTTP library raised says more.
                raise error.__cause__ or error from error
            except openai.OpenAIError as error:
                raise self._not_made(error) from error

        return self._with_retries(attempt, limit)

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str], limit: TimeLimit) -> bytes:
        """Post JSON to a path below the base URL and return the body of the answer; raises as `ask_openai`."""
        return self._send("POST", path, body, headers, limit)

    def get(self, path: str, headers: Mapping[str, str], limit: TimeLimit) -> bytes:
        """Return what a path below the base URL answers; raises as `ask_openai`."""
        return self._send("GET", path, None, headers, limit)

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        limit: TimeLimit,
    ) -> bytes:
        def attempt(left: float) -> bytes:
            url = f"{self.base_url.rstrip('/')}/{path}"
            with self._client().stream(method, url, json=body, headers=headers, timeout=left) as response:
                content = self._read(response.iter_bytes(), limit)
            if not response.is_success:
                raise self._explain_status(response, _message_of(content))
            return content

        return self._with_retries(attempt, limit)

    def without_secrets(self, text: str) -> str:
        """Return a server’s message on one line of at most 200 characters, without key and header values."""
        hidden = [value for value in self.end_point.headers.values() if len(value) > 7]
        for secret in filter(None, (self.end_point.api_key, *hidden)):
            text = text.replace(secret, "[key]")
        line = " ".join(text.split())
        return line if len(line) <= 200 else line[:199] + "…"

    def close(self) -> None:
        """Close idle connections; the next request opens new ones."""
        with self._lock:
            client, self._http, self._openai = self._http, None, None
        if client is not None:
            client.close()

    def _with_retries(self, attempt: Callable[[float], bytes], limit: TimeLimit) -> bytes:
        for pauses in range(self.retries + 1):
            if limit.cancelled():
                raise ChatCancelled
            left = limit.deadline - monotonic()
            if left <= 0:
                raise self._too_slow(limit)
            try:
                with self._translated(limit):
                    return attempt(left)
            except PassingFault as fault:
                wait = fault.pause(pauses)
                if pauses == self.retries or monotonic() + wait >= limit.deadline:
                    raise fault.error from fault.error.__cause__
                sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def _translated(self, limit: TimeLimit) -> Iterator[None]:
        """Raise the HTTP library's errors as ours."""
        import httpx2

        try:
            yield
        except httpx2.TimeoutException as error:
            raise self._too_slow(limit) from error
        except (httpx2.LocalProtocolError, UnicodeEncodeError) as error:
            raise self._not_made(error) from error
        except httpx2.HTTPError as error:
            unreachable = ProviderError(
                f"The model server cannot be reached: {self.without_secrets(str(error)) or type(error).__name__}",
                where=self.where,
                remedy="Check that it is running and that the base URL is right.",
            )
            unreachable.__cause__ = error
            raise PassingFault(unreachable) from error

    def _read(self, parts: Iterable[bytes], limit: TimeLimit) -> bytes:
        body = bytearray()
        for part in parts:
            body += part
            if limit.cancelled():
                raise ChatCancelled
            # A trickling server meets the time-out of every read, but not the deadline.
            if monotonic() > limit.deadline:
                raise self._too_slow(limit)
            if len(body) > self.largest_answer_bytes:
                raise ProviderError(
                    f"The model server’s answer is larger than any that {self.service} needs.",
                    where=self.where,
                    remedy="Check the base URL.",
                )
        return bytes(body)

    def _client(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._http is None:
                check_web_address(self.base_url)
                # Memory is sent: it goes to the configured end point and nowhere else.
                self._http = httpx2.Client(follow_redirects=False)
            return self._http

    def _openai_client(self) -> openai.OpenAI:
        import openai

        http = self._client()
        with self._lock:
            if self._openai is None:
                self._openai = openai.OpenAI(
                    base_url=self.base_url,
                    # For an empty key the client would look in the environment.
                    api_key=self.end_point.api_key or "none",
                    default_headers=dict(self.end_point.headers),
                    max_retries=0,
                    http_client=http,
                )
                # Environment settings for another server must not reach this one.
                self._openai.organization = self._openai.project = None
            return self._openai

    def _not_made(self, error: Exception) -> ProviderError:
        return ProviderError(
            f"The request to the model could not be made: {self.without_secrets(str(error))}",
            where=self.where,
            remedy="Check the model’s base URL, key and headers in your settings.",
        )

    def _too_slow(self, limit: TimeLimit) -> ProviderError:
        return ProviderError(
            f"The model “{self.end_point.model}” did not answer within {limit.seconds:g} s.",
            where=self.where,
            remedy="Raise the model’s time-out in your settings, or use a faster model.",
        )

    def _explain_status(self, response: httpx2.Response, said: str) -> Exception:
        status, said = response.status_code, self.without_secrets(said)
        message, remedy = f"The model server answered {status}: {said}", "Try again later."
        if status in (401, 403) or (status == 400 and "API key" in said):
            message, remedy = "The model server refused the key.", "Check the model’s key in your settings."
        elif 300 <= status < 400:
            onward = self.without_secrets(response.headers.get("location", "elsewhere"))
            message = f"The model server sends on to {onward}, which is not followed."
            remedy = "Set the base URL to where the server really is."
        elif status == 404:
            message = f"The model server knows no model “{self.end_point.model}”, or no {self.service} at this address."
            remedy = "Check the model’s name and base URL in your settings; the URL usually ends in /v1."
        elif status == 429:
            message = "The model server is overloaded, or its quota is used up."
        elif status < 500:
            remedy = "Check the model’s name and what the server supports."
        if status in RETRIED_STATUSES:
            return PassingFault(
                ProviderError(message, where=self.where, remedy=remedy),
                seconds_asked_for(response.headers.get("retry-after")),
            )
        refused = RefusedRequest(message, where=self.where, remedy=remedy)
        refused.status = status
        return refused


def _message_of(body: bytes) -> str:
    """Return the message of an error, as Google's servers and most others send it."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, RecursionError, KeyError, TypeError):
        return body[:400].decode("utf-8", "replace")


def seconds_asked_for(header: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header, or None if missing or unusable."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def check_web_address(url: str) -> None:
    """Check a base URL.

    Raises:
        ProviderError: It is not a web address.
    """
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ProviderError(
            "The model’s base URL is not a web address.",
            where=_without_password(url),
            remedy="Give it with its scheme, for example http://localhost:11434/v1.",
        )


def _without_password(url: str) -> str:
    return _USER_INFO.sub(r"\1", url)
