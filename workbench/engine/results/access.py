"""Results about the tokens with which agents come in over the network."""

from __future__ import annotations

from datetime import datetime

from workbench.engine.values import dataclass


@dataclass(frozen=True)
class AccessToken:
    """A token, without its secret.

    Args:
        role: `main`, `agent:NAME` or `reader`.
        scope: `person:NAME` or `group:NAME`, which know only what is for them; None for the owner's memory.
        per_minute: Requests a minute that it may make.
        created: Aware.
        last_used: Aware; None if never.
        last_from: The address of the last request; None if there was none.
    """

    name: str
    role: str
    scope: str | None
    per_minute: int
    created: datetime
    last_used: datetime | None = None
    last_from: str | None = None


@dataclass(frozen=True)
class AccessTokens:
    """The tokens of a memory, by name.

    Args:
        place: The folder of the tokens and of the log of each.
        unreadable: Names of tokens whose file cannot be read; nobody comes in with them.
    """

    tokens: tuple[AccessToken, ...]
    place: str
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True)
class TokenAdded:
    """A new token.

    Args:
        secret: What the client sends; it is kept nowhere and cannot be shown again.
    """

    ok: bool
    token: AccessToken
    secret: str


@dataclass(frozen=True)
class TokenRevoked:
    """A token that nobody comes in with any more."""

    ok: bool
    name: str
