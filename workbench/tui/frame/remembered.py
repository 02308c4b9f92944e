"""Remembers where a person was in a workspace and what they left unsaved, in two small files of the state folder."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Self

from workbench.engine import values
from workbench.engine.file_access import read_state, write_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_WHERE, _DRAFTS = "frame.json", "drafts.json"


@dataclass
class Remembered:
    """Where one was.

    Args:
        place: Id of the place.
        rows: Id of the row under the cursor, by place.
        spots: Where in a place one was, by place.
        kept: What else a place keeps, by place and name: its filter, its order, its splits.
        asked: The last questions, the newest first.
        last_here: When the last visit of more than a minute ended, ISO 8601; empty before that.
    """

    place: str = ""
    rows: dict[str, str] = field(default_factory=dict)
    spots: dict[str, str] = field(default_factory=dict)
    kept: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    last_here: str = ""

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what was kept; a file that is missing or broken is nothing to remember."""
        kept = read_state(folder / _WHERE)
        if not isinstance(kept, dict):
            return cls()
        asked = kept.get("asked")
        return cls(
            place=str(kept.get("place", "")),
            rows=_texts(kept.get("rows")),
            spots=_texts(kept.get("spots")),
            kept={str(place): _texts(each) for place, each in _entries(kept.get("kept"))},
            last_here=str(kept.get("last_here", "")),
            asked=[str(each) for each in asked] if isinstance(asked, list) else [],
        )

    def keep(self, folder: Path) -> None:
        """Write it; a folder that cannot be written is no reason to complain on leaving."""
        write_state(folder / _WHERE, json.dumps(asdict(self)).encode())


def _entries(kept: object) -> Iterable[tuple[object, object]]:
    return kept.items() if isinstance(kept, dict) else ()


def _texts(kept: object) -> dict[str, str]:
    return {str(key): str(value) for key, value in _entries(kept)}


@values.dataclass(frozen=True)
class Draft:
    """An unsaved text.

    Args:
        title: The words of what it is for.
        texts: What has been written, by name of its field.
        expected: What was there when it was begun, in the same way.
        day: When it was left, as a date.
    """

    title: str
    texts: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)
    day: str = ""


class Drafts:
    """All drafts of a workspace.

    Args:
        folder: The state folder; a file in it that is missing or broken holds none.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _DRAFTS
        self._kept: dict[str, Draft] = {}
        with suppress(OSError, ValueError, TypeError, AttributeError):
            self._kept = {
                str(key): Draft(**each) for key, each in json.loads(self._path.read_bytes()).items()
            }

    def get(self, key: str) -> Draft | None:
        """Return the draft of a thing, if it has one."""
        return self._kept.get(key)

    @property
    def titles(self) -> tuple[str, ...]:
        """Return the words of what has a draft, the one left last first."""
        return tuple(draft.title for draft in reversed(self._kept.values()))

    def __contains__(self, key: str) -> bool:
        return key in self._kept

    def keep(self, key: str, draft: Draft) -> None:
        """Keep a draft in the place of the one before."""
        self._kept.pop(key, None)
        self._kept[key] = draft
        self._write()

    def drop(self, key: str) -> None:
        """Throw a draft away; nothing happens where there is none."""
        if self._kept.pop(key, None) is not None:
            self._write()

    def _write(self) -> None:
        # What is pasted may hold halves of characters, which only escapes can write.
        kept = {key: asdict(each) for key, each in self._kept.items()}
        write_state(self._path, json.dumps(kept).encode())
