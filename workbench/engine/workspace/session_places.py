"""Which store of sessions is meant, and what the settings say about its sessions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput, InvalidSetting, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.engine.sessions.entries import SessionEntry
    from workbench.engine.sessions.homes import FileHome, SessionHome
    from workbench.engine.sessions.keys import SessionKey
    from workbench.engine.sessions.lines import Lines
    from workbench.engine.sessions.policy import ResetPolicy, ResetRules
    from workbench.engine.workspace.ground import Ground

FOLDER = "sessions"
_CITED = "file:sessions/"


@dataclass(frozen=True)
class Found:
    """A session that somebody named.

    Args:
        home: Where it is.
        name: The key as the store writes it.
        key: The key, taken apart.
        entry: What the store says.
        line: The line that was named with it; None for none.
        copied_from: The foreign transcript that it was copied from just now; None where it was not.
    """

    home: SessionHome
    name: str
    key: SessionKey
    entry: SessionEntry
    line: int | None = None
    copied_from: str | None = None

    @property
    def lines(self) -> Lines:
        """Return the lines of its transcript, secrets and all."""
        return self.home.lines(self.key, self.entry)

    def readable(self, ground: Ground) -> Lines:
        """Return the lines of its transcript as models and agents may read them: with secrets masked."""
        return ground.masking.transcript(self.lines)

    def shown(self, ground: Ground) -> Lines:
        """Return the lines as this door may read them: a person, whose they are, reads all of them."""
        return self.lines if ground.role.kind == "person" else self.readable(ground)


def own_home(ground: Ground) -> FileHome:
    """Return the store of this workspace's own sessions, which need not exist yet."""
    from workbench.engine.sessions.homes import FileHome

    return FileHome(own_folder(ground))


def own_folder(ground: Ground) -> Path:
    """Return the folder of this workspace's own sessions, which need not exist yet."""
    given = ground.settings.sessions.path
    return ground.root / Path(given).expanduser() if given else ground.state / FOLDER


def home(ground: Ground, place: str | None) -> SessionHome:
    """Return the store that is meant.

    Args:
        ground: The open workspace.
        place: A folder, file or database of another program; None for the own store.

    Raises:
        NotFound: There are no sessions.
    """
    if place is None:
        return own_home(ground)
    from workbench.engine.sessions.foreign import foreign_home

    return foreign_home(Path(place))


def find(ground: Ground, name: str, place: str | None = None) -> Found:
    """Return the session that a person's words mean: a key, a session id, or the citation of a line.

    Raises:
        NotFound: There is no such session.
        InvalidInput: The words can mean none.
    """
    from workbench.engine.sessions.keys import is_session_id, parse_key

    store = home(ground, place)
    content = store.read()
    wanted, _, rest = name.strip().removeprefix(_CITED).removeprefix("sessions/").partition("#")
    line = _line(rest) if rest else None
    stem = wanted.removesuffix(".jsonl")
    if is_session_id(stem) and ":" not in stem:
        for known, entry in content.entries.items():
            if entry.session_id == stem or _transcript_name(store, known, entry) == stem:
                return Found(store, known, parse_key(known), entry, line)
        if (unlisted := _unlisted(store, stem)) is not None:
            return Found(store, unlisted[0], parse_key(unlisted[0]), unlisted[1], line)
    found = content.find(parse_key(name)) or content.find(full_key(name))
    if found is None:
        raise NotFound(
            f"There is no session “{name[:80]}”.",
            where=store.where,
            remedy="List them with: workbench sessions",
        )
    return Found(store, found[0], parse_key(found[0]), found[1])


def full_key(name: str) -> SessionKey:
    """Return the key that a person's words mean; what names no agent is a session of the main one.

    Raises:
        InvalidInput: The words can be no key.
    """
    from workbench.engine.sessions.keys import parse_key

    key = parse_key(name)
    return parse_key(f"agent:main:{key}") if key.kind == "other" and not key.agent else key


def rules(ground: Ground) -> ResetRules:
    """Return when sessions end, as the settings say.

    Raises:
        InvalidSetting: One of them is no policy.
    """
    from workbench.engine.sessions.policy import ResetRules

    settings = ground.settings.sessions
    return ResetRules(
        _policy("sessions.reset", settings.reset),
        _policies("sessions.reset_by_type", settings.reset_by_type),
        _policies("sessions.reset_by_channel", settings.reset_by_channel),
        settings.reset_triggers,
    )


def _policies(key: str, table: Mapping[str, str]) -> dict[str, ResetPolicy]:
    return {name.lower(): _policy(f"{key}.{name}", text) for name, text in table.items()}


def _policy(key: str, text: str) -> ResetPolicy:
    from workbench.engine.sessions.policy import parse_policy

    try:
        return parse_policy(text)
    except InvalidInput as error:
        raise InvalidSetting(error.message, where=key, remedy=error.remedy) from error


def _line(text: str) -> int:
    number = text.removeprefix("L").partition("-")[0]
    if not number.isascii() or not number.isdecimal() or len(number) > 12:
        raise InvalidInput("This names no line.", where=f"#{text[:40]}", remedy="Write #L12.")
    return max(1, int(number))


def _transcript_name(store: SessionHome, name: str, entry: SessionEntry) -> str:
    from workbench.engine.sessions.keys import parse_key

    if not entry.session_id and "sessionFile" not in entry.fields:
        return ""
    try:
        lines = store.lines(parse_key(name), entry)
    except InvalidInput:
        return ""
    return lines.name.removeprefix("sessions/").removesuffix(".jsonl")


def _unlisted(store: SessionHome, stem: str) -> tuple[str, SessionEntry] | None:
    """Return a transcript that no session uses any more, under its own id as key."""
    from workbench.engine.sessions.entries import SessionEntry
    from workbench.engine.sessions.keys import parse_key

    entry = SessionEntry({"sessionId": stem})
    return (stem.lower(), entry) if store.lines(parse_key(stem), entry).size() else None
