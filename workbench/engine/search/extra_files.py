"""Markdown files that the settings add to the memory files: single files, folders and globs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.file_rows import MOST_BYTES, extract
from workbench.engine.catalog.records import MemoryRecord
from workbench.engine.errors import OutsideWorkspace
from workbench.engine.file_access import open_regular_file
from workbench.engine.markdown.source import Problem
from workbench.engine.search.chunks import FileRecords
from workbench.engine.search.outside_files import (
    OutsideFile,
    OutsideMask,
    SeenFile,
    SeenFiles,
    UnmaskedOutside,
    absolute,
    files_below,
    has_link,
    is_file,
    is_folder,
    matches_glob,
    single_file,
    split_glob,
)

PREFIX = "extra:"
_STORE = "extra"
MOST_FILES = 20_000
_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True)
class _Listed:
    shown: str
    file: OutsideFile


class ExtraPaths:
    """The extra Markdown files of a workspace, as a source of the index.

    A file is shown as `extra:` and its path as the settings write it, for example `extra:~/notes/team/deploy.md`.

    Args:
        root: The workspace folder, absolute.
        paths: Files, folders and globs, absolute or relative to the workspace. The settings ensure that the
            workspace's own file names only occur inside it.
        zone: Time zone of days in file names.
        memory: File that keeps what was seen between runs, or None.
        mask: Masks secrets in the files.
    """

    def __init__(
        self,
        root: Path,
        paths: Sequence[str],
        zone: ZoneInfo,
        memory: Path | None = None,
        mask: OutsideMask | None = None,
    ) -> None:
        self._root = root
        self._paths = tuple(paths)
        self._zone = zone
        self._mask = mask or UnmaskedOutside()
        self._remembered = SeenFiles(memory, self._mask.policy)
        self._problems: tuple[Problem, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Settings that could not be followed at the last listing, and files that were cut."""
        return self._problems

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every file by shown path; only files with a changed stamp are read."""
        found, problems = self._list()
        seen: dict[str, SeenFile] = {}
        for shown, listed in found.items():
            known = self._remembered.get(shown)
            if known is None or known.stamp != listed.file.stamp:
                content = self._masked(listed.file)
                if content is None:
                    continue
                known = SeenFile(listed.file.stamp, _digest(content), len(content))
            seen[shown] = known
            if listed.file.stamp.size > MOST_BYTES:
                problems.append(_cut(shown))
        self._remembered.replace(seen)
        self._problems = tuple(problems)
        return {shown: each.digest for shown, each in seen.items()}

    def read(self, paths: Sequence[str]) -> Iterable[FileRecords]:
        """Read and split these files, skipping those that are gone or not listed."""
        found, _ = self._list()
        for path in paths:
            if path in found and (content := self._masked(found[path].file)) is not None:
                yield FileRecords(path, _digest(content), self._records(path, content))

    def read_extra(self, shown_path: str) -> bytes:
        """Return one file by its shown path, unmasked, up to 4 MiB.

        Raises:
            OutsideWorkspace: The settings list no such file, or it cannot be read.
        """
        found, _ = self._list()
        listed = found.get(shown_path)
        content = _content(listed.file) if listed else None
        if content is None:
            raise OutsideWorkspace(
                "This is none of the extra files that search reads.",
                where=shown_path[:200],
                remedy="Take a path as search gives it; search.extra_paths says which files these are.",
            )
        return content

    def _masked(self, file: OutsideFile) -> bytes | None:
        content = _content(file)
        return None if content is None else self._mask.elsewhere(content)

    def _list(self) -> tuple[dict[str, _Listed], list[Problem]]:
        """Return the files by shown path, each once, and the settings that could not be followed."""
        found: dict[str, _Listed] = {}
        places: set[Path] = set()
        problems: list[Problem] = []
        for path in filter(None, self._paths):
            try:
                files = list(islice(self._files(path), MOST_FILES + 1))
            except _NotFollowed as error:
                problems.append(Problem(path[:200], None, str(error), error.remedy))
                continue
            for listed in files:
                if listed.file.place in places or self._is_memory(listed.file.place):
                    continue
                if len(found) == MOST_FILES:
                    problems.append(
                        Problem(
                            path[:200],
                            None,
                            f"There are more than {MOST_FILES:,} extra files; the rest is not searched.",
                            "Name fewer folders in search.extra_paths.",
                        )
                    )
                    return found, problems
                places.add(listed.file.place)
                found.setdefault(listed.shown, listed)
        return found, problems

    def _files(self, path: str) -> Iterator[_Listed]:
        fixed, pattern = split_glob(path)
        place = absolute(fixed or ".", self._root)
        if has_link(place, self._root if place.is_relative_to(self._root) else None):
            raise _NotFollowed(
                "A symbolic link stands on this path, and links are not followed.", "Name the real path."
            )
        shown = fixed.rstrip("/")
        if is_file(place):
            if not _is_markdown(place.name):
                raise _NotFollowed("This is no Markdown file.", "Name files that end in .md.")
            file = single_file(place)
            if file:
                yield _Listed(_shown(shown), file)
            return
        if not is_folder(place):
            raise _NotFollowed("There is no such file or folder.", "Correct search.extra_paths.")
        for file in files_below(
            place, lambda relative: _is_markdown(relative) and matches_glob(relative, pattern)
        ):
            yield _Listed(_shown(f"{shown}/{file.relative}" if fixed else file.relative), file)

    def _is_memory(self, place: Path) -> bool:
        """Return whether the catalog already has the file, or it is the engine's own."""
        if not place.is_relative_to(self._root):
            return False
        relative = place.relative_to(self._root).as_posix()
        return layout.is_tracked(relative) or relative in layout.PROJECTIONS

    def _records(self, shown: str, content: bytes) -> tuple[MemoryRecord, ...]:
        moment = _moment(shown, self._zone)
        # Seen from a neutral folder, the file's name gives it no special kind.
        found = extract(f"extra/{_name(shown).rpartition('.')[0]}.md", content, self._zone).memories
        return tuple(
            replace(
                record,
                id=f"file:{shown}#L{record.start_line}-L{record.end_line}",
                store=_STORE,
                path=shown,
                moment=moment,
            )
            for record in found
        )


class _NotFollowed(Exception):
    """A configured path that leads to no file; the text says why."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def _is_markdown(relative: str) -> bool:
    return relative.lower().endswith(_SUFFIXES)


def _shown(path: str) -> str:
    """Return a file's name for results: one line, without the character that separates line numbers."""
    plain = "".join(character if character.isprintable() else "\ufffd" for character in path)
    return PREFIX + plain.replace("#", "%23")


def _name(shown: str) -> str:
    return shown.rpartition("/")[2].removeprefix(PREFIX)


def _moment(shown: str, zone: ZoneInfo) -> datetime | None:
    day = layout.day_in_name(shown)
    return datetime.combine(day, time(), zone) if day else None


def _content(file: OutsideFile) -> bytes | None:
    try:
        with open_regular_file(file.place) as opened:
            content = opened.read(MOST_BYTES + 1)
    except OSError:
        return None
    if len(content) <= MOST_BYTES:
        return content
    return content[: content.rfind(b"\n", 0, MOST_BYTES) + 1 or MOST_BYTES]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _cut(shown: str) -> Problem:
    return Problem(
        shown,
        None,
        "This file is larger than 4 MiB; what comes after that is not searched.",
        "Part it into several files.",
    )
