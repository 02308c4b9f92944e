"""Addresses of servers as settings give them: checked before they are asked, and fit to be shown."""

from __future__ import annotations

import re

from workbench.engine.errors import ProviderError

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
