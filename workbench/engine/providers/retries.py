"""When a request is tried again, and which addresses may be asked. Loads no client."""

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


class PassingFault(Exception):
    """A failure that another attempt may not meet; never leaves the providers.

    Args:
        error: What to raise where no further attempt is made.
        retry_after_s: How long the server asks to be left alone; None where it does not say.
    """

    def __init__(self, error: ProviderError, retry_after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.retry_after_s = retry_after_s


def with_retries(
    attempt: Callable[[], Answer], *, retries: int, deadline: float, pause: Callable[[float], None]
) -> Answer:
    """Return what an attempt returns, trying again after a passing fault.

    Args:
        attempt: May raise `PassingFault`; whatever else it raises is final.
        retries: Further attempts after the first.
        deadline: Reading of `time.monotonic` after which no further attempt is begun.
        pause: Waits some seconds.

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
    """Return the seconds of a `Retry-After` header; None where it has none that can be used."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def one_line(text: str, *secrets: str) -> str:
    """Return a server's words on one line of at most 200 characters, without the secrets given."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"


def pause_before(attempt: int, retry_after_s: float | None) -> float:
    """Return the seconds to wait after a failed attempt (from 0): what the server asked for, else ever longer."""
    if retry_after_s is not None:
        return retry_after_s
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0**attempt)


_USER_INFO = re.compile(r"(//)[^/?#]*@")


def without_password(url: str) -> str:
    """Return a URL as it may be shown: without a name and password that stand in it."""
    return _USER_INFO.sub(r"\1", url)


def checked_url(url: str) -> str:
    """Return a base URL that is one.

    Raises:
        ProviderError: It is no web address.
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
