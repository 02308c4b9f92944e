"""HTTP requests with a deadline, retries and no surprise redirects."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.engine.errors import ProviderError
from workbench.engine.providers.retries import PassingFault, checked_url, without_password

CONNECTION_FAULTS = (OSError, http.client.HTTPException)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Leaves redirects to the caller: the library would send a key on to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass(frozen=True)
class WebAnswer:
    """Status, headers and body of a response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def open_url(
    url: str, *, headers: Mapping[str, str], timeout_s: float, method: str = "GET", body: bytes | None = None
) -> http.client.HTTPResponse:
    """Open a URL without following redirects; an error status is a normal response.

    Raises:
        ProviderError: The address is invalid, or the headers cannot be sent.
        OSError: The connection failed; `http.client.HTTPException` likewise.
    """
    try:
        request = urllib.request.Request(  # noqa: S310  # the scheme is checked
            checked_url(url), data=body, headers=dict(headers), method=method
        )
        opener = urllib.request.build_opener(_NoRedirects)
        answer: http.client.HTTPResponse = opener.open(request, timeout=timeout_s)
    except urllib.error.HTTPError as error:
        # The exception is itself the response; its file is the body.
        return error  # type: ignore[return-value]  # the library gives it every method of a response
    except urllib.error.URLError as error:
        raise error.reason if isinstance(error.reason, OSError) else OSError(str(error.reason)) from error
    except ValueError as error:
        raise ProviderError(
            "The request cannot be sent: the URL or a header has characters that do not belong there.",
            where=without_password(url),
            remedy="Check the base URL, key and headers in your settings.",
        ) from error
    return answer


def exchange(
    url: str, *, headers: Mapping[str, str], body: bytes, deadline: float, largest: int
) -> WebAnswer:
    """Post a body and return the whole response.

    Args:
        url: The address.
        headers: Request headers.
        body: Request body.
        deadline: `time.monotonic` reading by which the whole response must have arrived.
        largest: Maximum bytes of a response.

    Raises:
        PassingFault: The connection failed.
        TimeoutError: It took too long.
        ProviderError: The response is too large, or the request cannot be made.
    """
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise TimeoutError
    content = bytearray()
    try:
        with open_url(url, headers=headers, timeout_s=remaining, method="POST", body=body) as answer:
            while part := answer.read1(65_536):
                content += part
                if time.monotonic() > deadline:
                    raise TimeoutError
                if len(content) > largest:
                    raise ProviderError(
                        "The server’s answer is too large.",
                        where=without_password(url),
                        remedy="Check the base URL.",
                    )
            expected = answer.headers.get("Content-Length")
            if expected is not None and expected.isdigit() and len(content) < int(expected):
                raise http.client.IncompleteRead(bytes(content), int(expected) - len(content))
            received = {name.lower(): value for name, value in answer.headers.items()}
            return WebAnswer(answer.status, received, bytes(content))
    except TimeoutError:
        raise
    except CONNECTION_FAULTS as error:
        raise PassingFault(
            ProviderError(
                f"The server cannot be reached: {type(error).__name__ if not str(error) else error}.",
                where=without_password(url),
                remedy="Check that it is running and that the base URL is right.",
            )
        ) from error
