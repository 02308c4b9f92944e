"""What Claude Code knows by heart: CLAUDE.md, and the memory that it keeps of a project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.errors import WorkbenchError
from workbench.engine.importing.opening import FoundFile, place_of, read_text, single, walk
from workbench.engine.importing.passages import front_matter, passages_of
from workbench.engine.importing.pieces import Item, Piece, Place, Reading, Skipped
from workbench.engine.importing.transcripts import Transcripts
from workbench.engine.importing.words import slug

NAMES = ("CLAUDE.md", "CLAUDE.local.md")
_INDEX = "MEMORY.md"
_ELSEWHERE = re.compile(r"(?<![\w@`])@(?:~?[\w.-]*/)*[\w.-]+\.\w+")


@dataclass(frozen=True)
class ClaudeMemory:
    """Memory files of Claude Code.

    Args:
        place: CLAUDE.md, the folder it stands in, a memory folder, or `~/.claude`.
    """

    place: Path
    form: str = "claude-code"

    @property
    def name(self) -> str:
        folder = self.place.parent if self.place.is_file() else self.place
        while slug(folder.name) in ("memory", "claude") and folder.parent != folder:
            folder = folder.parent
        return f"claude-{slug(folder.name)}"[:40].strip("-")

    def read(self, reading: Reading) -> Iterator[Item]:
        found: list[FoundFile] = []
        every = (
            [single(self.place)]
            if self.place.is_file()
            else walk(self.place, self._is_memory, own=reading.own, hidden=_HIDDEN)
        )
        for each in every:
            if isinstance(each, Skipped):
                yield each
            else:
                found.append(each)
        reading.total += sum(each.size for each in found)
        indexed = {each.relative.rpartition("/")[0] for each in found if not each.relative.endswith(_INDEX)}
        for each in found:
            folder, _, name = each.relative.rpartition("/")
            if name == _INDEX and folder in indexed:
                yield Skipped(str(place_of(each)), "It lists the other files of this memory.")
            else:
                yield from _memory(each)
            reading.done += each.size
        if (self.place / "projects").is_dir():
            yield from Transcripts(self.place, self.form).read(reading)

    def _is_memory(self, relative: str) -> bool:
        folder, _, name = relative.rpartition("/")
        if name in NAMES:
            return folder in ("", ".claude")
        if not name.endswith(".md"):
            return False
        return folder.split("/")[-1] == "memory" or (folder == "" and self.place.name == "memory")


_HIDDEN = frozenset({".claude"})


def _memory(found: FoundFile) -> Iterator[Item]:
    try:
        text = read_text(found)
    except WorkbenchError as error:
        yield Skipped(str(place_of(found)), error.told)
        return
    keys, _ = front_matter(text)
    about = keys.get("description") or keys.get("name") or ""
    tags = tuple(tag for tag in (keys.get("type", ""), keys.get("name", "")) if tag)
    for number, line in enumerate(text.split("\n"), 1):
        if named := _ELSEWHERE.search(line):
            told = f"It points to {named[0][1:][:80]}; nothing beside what was named is read."
            yield Skipped(str(place_of(found, number)), told)
    for passage in passages_of(text):
        said = f"{about}\n{passage.text}" if about else passage.text
        yield Piece(
            said,
            Place(place_of(found).file, passage.first, passage.last),
            found.changed,
            type="fact",
            tags=tags,
        )
