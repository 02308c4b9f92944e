"""The brief of a session as it was put together last, to be told again at once while nothing of memory has changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from workbench import __version__
from workbench.engine import layout
from workbench.engine.clock import Clock
from workbench.engine.file_access import read_state
from workbench.engine.settings.sections import user_settings_file, workspace_directory

NAME: Final = "session-start.json"
# Within a day, a reflection becomes due or a session ends by the clock alone.
_FRESH_SECONDS: Final = 6 * 3600
# What else a brief tells of, below the state folder.
_STATE_FILES: Final = ("held-back.json", "sessions/sessions.json", "workspace.json")


def forget(folder: Path) -> None:
    """Delete what is kept: memory has changed, and what was in it may be gone for good.

    Args:
        folder: The workspace's folder for what can be rebuilt.
    """
    with suppress(OSError):
        (folder / NAME).unlink(missing_ok=True)


def keep(
    root: Path, folder: Path, state: Path, text: str, *, zone: ZoneInfo, clock: Clock, seen: str
) -> None:
    """Keep a brief for as long as nothing that it tells of changes.

    Args:
        root: The workspace folder, absolute.
        folder: Its folder for what can be rebuilt.
        state: Its state folder.
        zone: Of its days: what it says of today holds today.
        seen: `fingerprint` before it was put together.
    """
    now = clock.now()
    watched = {str(place): _stamp(place) for place in _watched(root, state)}
    kept = {
        "version": __version__,
        "made": now.timestamp(),
        "zone": zone.key,
        "day": now.astimezone(zone).date().isoformat(),
        "seen": seen,
        "watched": watched,
        "text": text,
    }
    place = folder / NAME
    temporary = place.with_name(f".{NAME}.{os.getpid()}")
    with suppress(OSError):
        handle = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(kept, file)
        temporary.replace(place)


def kept_text(root: Path, clock: Clock, environment: Mapping[str, str], seen: str) -> str | None:
    """Return the brief that is kept, if it is still true; None otherwise.

    Args:
        root: The workspace folder, absolute and real.
        environment: Variables that may name the folder for what can be rebuilt.
        seen: `fingerprint` now.
    """
    kept: Any = read_state(workspace_directory("cache", _configured_cache(environment), root) / NAME)
    if not isinstance(kept, dict) or kept.get("version") != __version__:
        return None
    try:
        now = clock.now()
        is_today = now.astimezone(ZoneInfo(kept["zone"])).date().isoformat() == kept["day"]
        is_fresh = 0 <= now.timestamp() - kept["made"] < _FRESH_SECONDS
        same = all(_stamp(Path(place)) == stamp for place, stamp in kept["watched"].items())
        if is_today and is_fresh and same and seen == kept["seen"]:
            return str(kept["text"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return None


def fingerprint(root: Path, environment: Mapping[str, str]) -> str:
    """Return by what it is seen that nothing has changed: the files’ names, sizes and times, and variables."""
    seen = hashlib.sha256()
    for path, status in layout.tracked_files(root).items():
        seen.update(
            f"{path}\0{status.st_size} {status.st_mtime_ns} {status.st_ino}\n".encode(
                errors="surrogateescape"
            )
        )
    for name in sorted(environment):
        if name.startswith("WORKBENCH_") and name != "WORKBENCH_NOW":
            seen.update(f"{name}={environment[name]}\n".encode(errors="surrogateescape"))
    return seen.hexdigest()


def _watched(root: Path, state: Path) -> Iterable[Path]:
    yield user_settings_file(os.environ)
    yield root / layout.HISTORY / "HEAD"
    yield root / layout.HISTORY / "refs" / "heads" / "main"
    yield from (state / name for name in _STATE_FILES)


def _stamp(place: Path) -> list[int] | None:
    try:
        status = place.stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _configured_cache(environment: Mapping[str, str]) -> str:
    """Return what the user set for `paths.cache`; settings as a whole take longer to read than everything else here."""
    given = environment.get("WORKBENCH_PATHS_CACHE")
    if given is not None:
        return given
    import tomllib

    with suppress(OSError, ValueError, AttributeError):
        paths = tomllib.loads(user_settings_file(environment).read_text(encoding="utf-8")).get("paths", {})
        return str(paths.get("cache", ""))
    return ""
