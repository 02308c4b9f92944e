"""Configurations of other programs: read, changed whole or not at all, and put back as they were."""

from __future__ import annotations

import codecs
import difflib
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

from workbench.engine.clients.json_text import Unreadable
from workbench.engine.clients.known import Format, Machine
from workbench.engine.errors import DocumentError, OutsideWorkspace, Refused, Stale, StorageError
from workbench.engine.file_access import flush_to_disk, read_state, write_all, write_state
from workbench.engine.results.clients import FileChange
from workbench.engine.values import dataclass

COPY_SUFFIX: Final = ".before-workbench"
_LARGEST: Final = 50_000_000
_BOM: Final = codecs.BOM_UTF8.decode()
_LONGEST_LINE: Final = 400


@dataclass(frozen=True)
class Configuration:
    """A file of a client's as it was found, and as it shall be.

    Args:
        before: What it holds; None where there is none.
        after: What it shall hold; None where there shall be none.
        format: How it is written; None of a file that is ours as a whole.
        made: Paths of the objects that were made on the way to what was added.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    format: Format | None
    made: tuple[tuple[str, ...], ...] = ()

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    def text(self) -> str:
        """Return what it shall hold, without the mark of its byte order.

        Raises:
            DocumentError: It is not UTF-8.
        """
        try:
            return (self.after or b"").decode().removeprefix(_BOM)
        except UnicodeDecodeError as error:
            line = (self.after or b"").count(b"\n", 0, error.start) + 1
            raise DocumentError(
                "This is not UTF-8.", where=f"{self.path}:{line}", remedy="Save it as UTF-8, then ask again."
            ) from error

    def value(self) -> Any:
        """Return the value of what it shall hold.

        Raises:
            DocumentError: It is broken; the error names the line.
        """
        assert self.format is not None
        with named(self.path):
            return self.format.parse(self.text())

    def with_text(self, text: str) -> Configuration:
        """Return the same file with another text."""
        bom = codecs.BOM_UTF8 if (self.before or b"").startswith(codecs.BOM_UTF8) else b""
        return replace(self, after=bom + text.encode())


def read(path: Path, machine: Machine, format_: Format | None = None) -> Configuration:
    """Return a file of a client's as it is.

    Raises:
        OutsideWorkspace: It is not below the folders of the user's, or leads to another file.
        Refused: It is not to be written.
        StorageError: It cannot be read.
    """
    parent = path.parent.resolve()
    if not any(parent.is_relative_to(root.resolve()) for root in machine.roots()):
        raise OutsideWorkspace(
            "Only what is below your home folder is changed.",
            where=str(path),
            remedy="Use --scope user, or write the entry by hand: workbench agents-md --mcp json",
        )
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return Configuration(path, None, None, format_)
    if stat.S_ISLNK(status.st_mode):
        raise OutsideWorkspace(
            f"This is a link to {path.readlink()}, and links are not followed.",
            where=str(path),
            remedy="Write the entry there by hand: workbench agents-md --mcp json",
        )
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
        raise Refused("This is no configuration.", where=str(path), remedy="Move it away, then ask again.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StorageError(
            f"The file cannot be read: {error.strerror}.",
            where=str(path),
            remedy="Give yourself the right to read it.",
        ) from error
    return Configuration(path, content, content, format_)


def refuse_read_only(configuration: Configuration) -> None:
    """Refuse to replace a file that nobody may write.

    Raises:
        Refused: It is read-only.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        if not configuration.path.lstat().st_mode & stat.S_IWUSR or not os.access(
            configuration.path, os.W_OK
        ):
            raise Refused(
                "The file is read-only.",
                where=str(configuration.path),
                remedy=f"Make it writable first: chmod u+w {configuration.path}",
            )


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Turn what is wrong in a text into what is wrong in a file.

    Raises:
        DocumentError: The text is broken.
    """
    try:
        yield
    except Unreadable as error:
        raise DocumentError(
            error.why if error.why.endswith(".") else f"{error.why}.",
            where=f"{path}:{error.line}",
            remedy="Mend this line, or write the entry by hand: workbench agents-md --mcp json",
        ) from error


def change_of(configuration: Configuration, machine: Machine, *, is_kept: bool) -> FileChange:
    """Return what becomes of a file, for people to see.

    Args:
        is_kept: Whether it is kept beside as it was.
    """
    before, after = configuration.before, configuration.after
    action = "create" if before is None else "delete" if after is None else "change"
    shown = short(configuration.path, machine)
    copy = str(copy_of(configuration.path)) if before and is_kept else None
    diff = "".join(_diff(before, after, shown))
    return FileChange(str(configuration.path), action, diff, copy, own=configuration.format is None)


def copy_of(path: Path) -> Path:
    """Return where a file is kept as it was before anything of ours was in it."""
    return path.with_name(path.name + COPY_SUFFIX)


def short(path: Path, machine: Machine) -> str:
    """Return a path with the home folder as `~`."""
    return f"~/{path.relative_to(machine.home)}" if path.is_relative_to(machine.home) else str(path)


def _diff(before: bytes | None, after: bytes | None, name: str) -> Iterator[str]:
    from workbench.engine.secrets.detection import masked

    old, new = ((each or b"").decode("utf-8", "replace").splitlines() for each in (before, after))
    files = ("/dev/null" if before is None else name, "/dev/null" if after is None else name)
    for number, line in enumerate(difflib.unified_diff(old, new, *files, lineterm="")):
        told = line if number < 2 else line[0] + masked(line[1:])
        yield (told if len(told) <= _LONGEST_LINE else told[: _LONGEST_LINE - 1] + "…") + "\n"


def digest(content: bytes | None) -> str | None:
    """Return by what a content is known again."""
    return None if content is None else hashlib.sha256(content).hexdigest()


@dataclass
class Ledger:
    """What was written into which file, so that it can be taken out again; kept with the user's state.

    Args:
        place: A JSON file. It may be lost: then what is ours is known by its form.
    """

    place: Path
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, place: Path) -> Ledger:
        """Return what is recorded; nothing where the record is missing or broken."""
        kept = read_state(place)
        kept = kept if isinstance(kept, dict) else {}
        files, folders = kept.get("files"), kept.get("folders")
        found = files.items() if isinstance(files, dict) else ()
        made = [each for each in folders if isinstance(each, str)] if isinstance(folders, list) else []
        return cls(place, {path: dict(record) for path, record in found if isinstance(record, dict)}, made)

    def record(self, path: Path) -> dict[str, Any]:
        """Return what is known of a file; empty where nothing is."""
        return self.files.get(str(path), {})

    def note(self, path: Path, record: dict[str, Any] | None) -> None:
        """Note something of a file, or that nothing of ours is in it any more."""
        if record is None:
            self.files.pop(str(path), None)
        else:
            self.files[str(path)] = record

    def save(self) -> bool:
        """Write it; return whether that worked."""
        kept = {"files": self.files, "folders": self.folders}
        return write_state(self.place, json.dumps(kept, indent=1, sort_keys=True).encode())

    def remove_folders(self) -> None:
        """Delete the folders that were made and hold nothing any more."""
        for folder in sorted(self.folders, key=len, reverse=True):
            with suppress(OSError):
                Path(folder).rmdir()
        self.folders = [folder for folder in self.folders if Path(folder).is_dir()]


def write(configuration: Configuration, *, copy: bytes | None) -> None:
    """Replace a file, or delete it, whole or not at all.

    Args:
        copy: What is kept beside it; None keeps the present copy, or none.

    Raises:
        Stale: It changed since it was read.
        StorageError: It cannot be written; the present file is unchanged.
    """
    path = configuration.path
    try:
        now = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        now = None
    except OSError as error:
        raise _unwritable(path, error) from error
    if now != configuration.before:
        raise Stale("The file has changed meanwhile.", where=str(path), remedy="Ask again.")
    missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=0o700)
        if configuration.after is None:
            path.unlink()
        else:
            mode = stat.S_IMODE(path.stat().st_mode) if now is not None else 0o600
            if copy is not None:
                _replace(copy_of(path), copy, mode)
            _replace(path, configuration.after, mode)
        flush_to_disk(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def _replace(path: Path, content: bytes, mode: int) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        handle = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        try:
            os.fchmod(handle, mode)
            write_all(handle, content)
            os.fsync(handle)
        finally:
            os.close(handle)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The file cannot be written: {error.strerror or error}.",
        where=str(path),
        remedy="Make room there, or give yourself the right to write.",
    )
