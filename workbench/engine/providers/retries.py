"""When to retry a request, and which addresses are allowed. Loads no client."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from workbench.engine.errors import ProviderError

RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


_FIRST_PAUSE_S = 0.25


_LONGEST_PAUSE_S = 8.0


Answer = TypeVar("Answer")
_USER_INFO = re.compile(r"(//)[^/?#]*@")


class PassingFault(Exception):
    """A failure worth retrying; never leaves the providers.

    Args:
        error: Raised if no further attempt is made.
        retry_after_s: Delay that the server asks for, or None.
    """

    def __init__(self, error: ProviderError, retry_after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.retry_after_s = retry_after_s


def with_retries(
    attempt: Callable[[], Answer], *, retries: int, deadline: float, pause: Callable[[float], None]
) -> Answer:
    """Return the result of an attempt, retrying after passing faults.

    Args:
        attempt: May raise `PassingFault`; any other exception is final.
        retries: Further attempts after the first.
        deadline: `time.monotonic` reading after which no attempt begins.
        pause: Sleeps for some seconds.

    Raises:
        ProviderError: The last attempt's.
    """
    for number in range(retries + 1):
        try:
            return attempt()
        except PassingFault as fault:
            wait = pause_before(number, fault.retry_after_s)
            if number == retries or time.monotonic() + wait >= deadline:
                raise fault.error from fault.error.__cause__
            pause(wait)
    raise AssertionError("the last attempt returns or raises")


def seconds_asked_for(header: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header, or None if missing or unusable."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def one_line(text: str, *secrets: str) -> str:
    """Return a server's message on one line of at most 200 characters, without the given secrets."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"


def pause_before(attempt: int, retry_after_s: float | None) -> float:
    """Return the seconds to wait after a failed attempt (from 0): the server's request, else exponential."""
    if retry_after_s is not None:
        return retry_after_s
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0**attempt)


def without_password(url: str) -> str:
    """Return a URL for display, without user name and password."""
    return _USER_INFO.sub(r"\1", url)


def checked_url(url: str) -> str:
    """Return a base URL after checking it.

    Raises:
        ProviderError: It is not a web address.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ProviderError(
            "The model’s base URL is not a web address.",
            where=without_password(url),
            remedy="Give it with its scheme, for example http://localhost:11434/v1.",
        )
    return url
