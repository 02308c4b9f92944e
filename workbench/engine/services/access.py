"""Tokens with which agents come in over the network: giving them out, revoking them, knowing who shows one.

They are in the user's own state: a folder that is copied or synced takes none along. Each has a file, and a log of its
uses. A token reads NAME.wbt_SECRET, and of the secret only its SHA-256 is kept: it is 256 random bits, so a slow hash,
which protects what people make up, would protect nothing here and slow every request.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.engine.clock import render_time, time_or_none
from workbench.engine.errors import InvalidInput, NotFound, StorageError, WorkbenchError
from workbench.engine.file_access import flush_to_disk, read_regular_file
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.access import AccessToken, AccessTokens, TokenAdded, TokenRevoked
from workbench.engine.roles import AGENT_NAME, Capability, Role, parse_door_scope, parse_role, require
from workbench.engine.secrets.detection import find_secrets
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.clock import Clock
    from workbench.engine.services.context import WorkspaceContext

PER_MINUTE: Final = 120
MOST_PER_MINUTE: Final = 60_000
_FOLDER: Final = "tokens"
_REFUSED: Final = "refused.log"
_SHOWN: Final = lazy_pattern(r"([a-z0-9][a-z0-9_-]{0,63})\.wbt_([0-9a-f]{64})", re.ASCII)
_NOTHING: Final = "0" * 64
# What memory is changed by under these names is the engine's own.
_TAKEN: Final = frozenset(
    {
        "main",
        "refused",
        "person",
        "agent",
        "reader",
        "reflection",
        "auto-detect",
        "trigger-remember",
        "trigger-forget",
    }
)
_MOST_BYTES: Final = 4096
_LOG_BYTES: Final = 1 << 20
_TAIL_BYTES: Final = 4096


@dataclass(frozen=True)
class Grant:
    """What a token opens.

    Args:
        scope: As of `AccessToken`.
        digest: SHA-256 of the secret, in hex.
    """

    name: str
    role: Role
    scope: str | None
    per_minute: int
    created: datetime
    digest: str

    @property
    def actor(self) -> str | None:
        """Return whom changes are attributed to; None for a sub-agent, whose role names it."""
        return None if self.role.kind == "agent" else f"bot:{self.name}"


class TokenFolder:
    """The tokens of one memory on disk; safe for several processes, since each token is a file of its own.

    Args:
        state: The state folder of the workspace.
    """

    def __init__(self, state: Path, clock: Clock) -> None:
        self.place = state / _FOLDER
        self._clock = clock
        self._writing = threading.Lock()

    def add(self, name: str, role: Role, scope: str | None, per_minute: int) -> TokenAdded:
        """Make a token, and return it with its secret.

        Raises:
            InvalidInput: There is one of this name.
            StorageError: It cannot be kept.
        """
        secret = secrets.token_hex(32)
        grant = Grant(name, role, scope, per_minute, self._clock.now(), _digest(secret))
        content = {
            "role": str(role),
            "scope": scope,
            "perMinute": per_minute,
            "created": render_time(grant.created),
            "sha256": grant.digest,
        }
        temporary = self.place / f".{name}.{secrets.token_hex(8)}.tmp"
        try:
            self.place.mkdir(parents=True, exist_ok=True)
            self.place.chmod(0o700)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(content).encode())
                file.flush()
                os.fsync(handle)
            # Of two processes that add one name at once, one makes the link.
            os.link(temporary, self._file(name))
            flush_to_disk(self.place)
        except FileExistsError:
            raise InvalidInput(
                f"There is a token named {name} already.",
                where=str(self.place),
                remedy=f"Name another, or revoke it first: workbench mcp token revoke {name}",
            ) from None
        except OSError as error:
            raise StorageError(
                f"The token cannot be kept: {error.strerror or error}.",
                where=str(self.place),
                remedy="Make room there, or give yourself the right to write.",
            ) from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        self.note(name, {"event": "added", "role": str(role), "scope": scope})
        return TokenAdded(True, _told(grant), f"{name}.wbt_{secret}")

    def all(self) -> AccessTokens:
        """Return every token, by name.

        Raises:
            StorageError: The folder cannot be read.
        """
        try:
            names = sorted(each.stem for each in self.place.iterdir() if each.suffix == ".json")
        except FileNotFoundError:
            names = []
        except OSError as error:
            raise StorageError(
                f"Who may come in cannot be read: {error.strerror or error}.",
                where=str(self.place),
                remedy="Give yourself the right to read that folder.",
            ) from error
        grants = {name: self.grant(name) for name in names}
        found = (_told(grant, *self._last_use(grant)) for grant in grants.values() if grant is not None)
        unreadable = (name for name, grant in grants.items() if grant is None)
        return AccessTokens(tuple(found), str(self.place), tuple(unreadable))

    def revoke(self, name: str) -> TokenRevoked:
        """Let nobody in with a token from now on; its log stays.

        Raises:
            NotFound: No token has this name.
            StorageError: It cannot be removed, and still opens memory.
        """
        try:
            if not AGENT_NAME.fullmatch(name):
                raise FileNotFoundError
            self._file(name).unlink()
            flush_to_disk(self.place)
        except FileNotFoundError:
            raise NotFound(
                f"There is no token named “{name[:80]}”.",
                where=str(self.place),
                remedy="Look at `workbench mcp token list`.",
            ) from None
        except OSError as error:
            raise StorageError(
                f"The token cannot be revoked: {error.strerror or error}. It still opens this memory.",
                where=str(self._file(name)),
                remedy="Delete that file.",
            ) from error
        self.note(name, {"event": "revoked"})
        return TokenRevoked(True, name)

    def opened_by(self, shown: str) -> Grant | None:
        """Return what a client comes in to with what it shows; None if that is no token of this memory.

        How much of a secret is right makes no difference to how long this takes.
        """
        found = _SHOWN.fullmatch(shown)
        name, secret = found.groups() if found else ("-", "")
        grant = self.grant(name) if found else None
        is_right = hmac.compare_digest(_digest(secret), grant.digest if grant else _NOTHING)
        return grant if is_right else None

    def stands(self, grant: Grant) -> bool:
        """Return whether a token is still the one that was shown: neither revoked nor replaced.

        Where that cannot be told just now, for want of descriptors say, it stands.
        """
        try:
            self._file(grant.name).read_bytes()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return self.grant(grant.name) == grant

    def grant(self, name: str) -> Grant | None:
        """Return what a token opens; None if there is none, or its file cannot be read."""
        try:
            content = read_regular_file(self._file(name), _MOST_BYTES)
            kept = json.loads(content) if content else None
        except (OSError, ValueError):
            return None
        with suppress(WorkbenchError):
            match kept:
                case {
                    "role": str(role),
                    "scope": str() | None as scope,
                    "perMinute": int(per_minute),
                    "created": str(created),
                    "sha256": str(digest),
                }:
                    parsed, moment = parse_role(role), time_or_none(created)
                    if moment is None or parsed.kind == "person" or per_minute < 1:
                        return None
                    seen_by = parse_door_scope(scope) if scope is not None else None
                    return Grant(name, parsed, seen_by, per_minute, moment, digest)
        return None

    def note(self, name: str | None, said: Mapping[str, object]) -> bool:
        """Write a line into the log of a token, or into that of refusals without one; return whether it is there.

        Args:
            said: What happened; texts may be anybody's.
        """
        head = {"at": render_time(self._clock.now()), **({"token": name} if name else {})}
        text = _line({**head, **said})
        file = self.place / (f"{name}.log" if name else _REFUSED)
        with self._writing, suppress(OSError):
            with suppress(FileNotFoundError):
                if file.stat().st_size > _LOG_BYTES:
                    earlier = file.with_suffix(".log.1")
                    file.replace(earlier)
                    text = _line({**head, "event": "continued", "earlier": earlier.name}) + text
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, text.encode())
                return True
            finally:
                os.close(handle)
        return False

    def _last_use(self, grant: Grant) -> tuple[datetime | None, str | None]:
        for name in (f"{grant.name}.log", f"{grant.name}.log.1"):
            lines: list[bytes] = []
            with suppress(OSError), (self.place / name).open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
                lines = file.read().splitlines()
            for line in reversed(lines):
                with suppress(ValueError):
                    match json.loads(line):
                        case {"event": "added"}:
                            return None, None
                        case {"at": str(at), "status": int(), **rest}:
                            return time_or_none(at), str(rest["from"]) if "from" in rest else None
        return None, None

    def _file(self, name: str) -> Path:
        return self.place / f"{name}.json"


class Access:
    """Who may come into this memory over the network; a person's to say."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def tokens(self) -> AccessTokens:
        """Return the tokens of this memory, with the last use of each.

        Raises:
            RoleRefused: This door is no person's.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="see the tokens of this memory")
        return self._folder().all()

    def add(
        self, name: str, *, role: str = "agent", scope: str | None = None, per_minute: int = PER_MINUTE
    ) -> TokenAdded:
        """Make a token with which an agent comes in over the network; nothing in the workspace changes.

        Args:
            name: Up to 64 of a-z, 0-9, - and _. What is done with the token is done in this name.
            role: `main`, `agent` (the sub-agent of the token's name) or `reader`.
            scope: `person:NAME` or `group:NAME`, to open only what is for them.
            per_minute: Requests a minute that it may make.

        Raises:
            InvalidInput: The name, the role or the scope makes no sense, or there is a token of this name.
            RoleRefused: This door is no person's.
            StorageError: It cannot be kept outside the workspace.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="let agents in over the network")
        if not AGENT_NAME.fullmatch(name) or name in _TAKEN or find_secrets(name):
            raise InvalidInput(
                f"“{name[:80]}” cannot be the name of a token.",
                remedy="A name has up to 64 of a-z, 0-9, - and _, starts with a letter or digit, and is no role.",
            )
        if not 1 <= per_minute <= MOST_PER_MINUTE:
            raise InvalidInput(
                f"{per_minute} requests a minute are no limit.", remedy=f"Give 1 to {MOST_PER_MINUTE:,}."
            )
        seen_by = parse_door_scope(scope) if scope is not None else None
        return self._folder().add(name, _role_of_token(role, name), seen_by, per_minute)

    def revoke(self, name: str) -> TokenRevoked:
        """Let nobody in with a token any more: its next request is refused, and what it has open ends.

        Raises:
            NotFound: No token has this name.
            RoleRefused: This door is no person's.
            StorageError: It cannot be removed.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="revoke a token")
        return self._folder().revoke(name)

    def _folder(self) -> TokenFolder:
        context = self._context
        if context.state.is_relative_to(context.root):
            raise StorageError(
                "Tokens are not kept in the workspace, where a copy would take them along.",
                where=str(context.state),
                remedy="Set paths.state to a folder elsewhere.",
            )
        return TokenFolder(context.state, context.clock)


def _role_of_token(role: str, name: str) -> Role:
    """Return the role that a token is for: an agent bears the token's name.

    Raises:
        InvalidInput: It is a person's, another agent's, or none.
    """
    wanted = parse_role(f"agent:{name}" if role == "agent" else role)
    if wanted.kind == "person":
        raise InvalidInput(
            "No token is a person’s.", where=role, remedy="Name main, agent or reader as its role."
        )
    if wanted.kind == "agent" and wanted.name != name:
        raise InvalidInput(
            f"The token {name} cannot be the agent {wanted.name}’s: what is proposed with it bears its own name.",
            where=role,
            remedy=f"Name the token {wanted.name}, or say agent as its role.",
        )
    return wanted


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _line(said: Mapping[str, object]) -> str:
    return json.dumps({key: _short(value) for key, value in said.items() if value is not None}) + "\n"


def _short(value: object) -> object:
    return value[:200] if isinstance(value, str) else value


def _told(grant: Grant, last_used: datetime | None = None, last_from: str | None = None) -> AccessToken:
    return AccessToken(
        grant.name, str(grant.role), grant.scope, grant.per_minute, grant.created, last_used, last_from
    )
