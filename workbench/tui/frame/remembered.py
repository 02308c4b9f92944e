"""Remembers where a person was in a workspace, in one small file of the state folder."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE_NAME = "frame.json"


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
        try:
            kept = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls()
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
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            temporary = folder / f".{FILE_NAME}.{os.getpid()}"
            temporary.write_text(json.dumps(asdict(self), ensure_ascii=False), encoding="utf-8")
            temporary.replace(folder / FILE_NAME)


def _entries(kept: object) -> Iterable[tuple[object, object]]:
    return kept.items() if isinstance(kept, dict) else ()


def _texts(kept: object) -> dict[str, str]:
    return {str(key): str(value) for key, value in _entries(kept)}
