"""Keeps unsaved texts, by the id of what they are for, in one small file of the state folder."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, field
from typing import TYPE_CHECKING

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE_NAME = "drafts.json"


@dataclass(frozen=True)
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
        self._path = folder / FILE_NAME
        self._kept: dict[str, Draft] = {}
        with suppress(OSError, ValueError, TypeError, AttributeError):
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            self._kept = {str(key): Draft(**each) for key, each in kept.items()}

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
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_name(f".{FILE_NAME}.{os.getpid()}")
            kept = {key: asdict(each) for key, each in self._kept.items()}
            # What is pasted may hold halves of characters, which only escapes can write.
            temporary.write_text(json.dumps(kept), encoding="utf-8")
            temporary.replace(self._path)
