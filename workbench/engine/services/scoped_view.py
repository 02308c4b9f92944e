"""The copy of memory that one scope sees: which parts of each file, kept in a folder beside the index."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.engine import layout
from workbench.engine.errors import Locked, OutsideWorkspace, StorageError
from workbench.engine.file_access import DerivedFolder
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.episodes import SCOPE_FIELD, EpisodeLog, NewEntry, entry_lines
from workbench.engine.markdown.pages import Procedure, VaultNote
from workbench.engine.markdown.source import SourceText
from workbench.engine.markdown.statements import Provenance
from workbench.engine.memory.decay import is_archived
from workbench.engine.memory.lookup import may_be_scoped
from workbench.engine.memory.wording import CONFIDENCES, EPISODE_TYPES
from workbench.engine.process import process_lock
from workbench.engine.roles import READER, SHARED, sees
from workbench.engine.services.context import CATALOG, WorkspaceContext
from workbench.engine.services.scores import hand_on_first_seen
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.settings.sections import Settings


_SOURCES: Final = ("conversation", "user-explicit", "reflection")


@dataclass(frozen=True)
class Seen:
    """How a door of one scope sees.

    Args:
        scope: `person:SLUG` or `group:SLUG`.
        is_hidden: Tells by its id whether a memory was forgotten.
    """

    scope: str
    is_hidden: Callable[[str], bool]

    def may_see(self, scope: str | None, *ids: str) -> bool:
        """Return whether a memory is for this scope, and neither it nor what holds it is forgotten."""
        return sees(self.scope, scope) and not any(map(self.is_hidden, ids))


def may_hold(content: bytes, scope: str) -> bool:
    """Return whether anything in a file can be for a scope, without parsing it."""
    return scope.encode() in content or SHARED.encode() in content


def seen_in(path: str, content: bytes, seen: Seen) -> bytes | None:
    """Return the file as a scope sees it; None where nothing in it is for that scope.

    Nothing is carried over but what is named here: provenance, links between files, comments, aliases, summaries,
    questions, dates and retired facts say things about other memories, and stay behind.

    Args:
        path: Workspace-relative.
        content: The whole file.
        seen: By whom.
    """
    if not path.endswith(".md") or not may_hold(content, seen.scope):
        return None
    if path.startswith(layout.EPISODES + "/"):
        return _episodes(path, content, seen)
    if path.startswith(layout.ENTITIES + "/"):
        return _entity(path, content, seen)
    if path.startswith(layout.PROCEDURES + "/"):
        return _procedure(path, content, seen)
    if path.startswith(layout.VAULT + "/"):
        return _note(path, content, seen)
    return None


def _episodes(path: str, content: bytes, seen: Seen) -> bytes | None:
    log = EpisodeLog.parse(content, path)
    lines: list[str] = []
    for entry in log.entries:
        if not seen.may_see(entry.scope, entry.id):
            continue
        told = NewEntry(
            entry.time,
            entry.body,
            entry.type if entry.type in EPISODE_TYPES else "event",
            entry.confidence if entry.confidence in CONFIDENCES else "medium",
            entry.tags,
            entry.source if entry.source in _SOURCES else "conversation",
            ((SCOPE_FIELD, entry.scope or ""),),
        )
        lines += ["", *entry_lines(told, entry.number)]
    return SourceText().append([f"# {log.date} — Episode Log", *lines]).render() if lines else None


def _entity(path: str, content: bytes, seen: Seen) -> bytes | None:
    file = EntityFile.parse(content, path)
    whole = f"entity:{file.id}"
    if seen.is_hidden(whole):
        return None
    named = sees(seen.scope, file.scope)
    names = (*file.names_for(seen.scope), *file.names_for(SHARED))
    slug = file.id.partition("--")[2].replace("-", " ") or file.id
    label = file.label if named else next(iter(names), slug)
    told = EntityFile.create(path, label=label, created="")
    bare = told
    for fact in file.facts:
        known = fact.provenance
        if seen.may_see(known.scope, f"{whole}#^{fact.block_id}"):
            told = told.add_fact(fact.text, _told(known), block_id=fact.block_id)
    for relation in file.relations:
        known = relation.provenance
        if seen.may_see(known.scope, f"{whole}#^{relation.block_id}"):
            for target in relation.targets:
                block_id = relation.block_id if len(relation.targets) == 1 else None
                told = told.add_relation(relation.name, target, _told(known), block_id=block_id)
    return told.render() if told is not bare or named else None


def _told(known: Provenance) -> Provenance:
    """Return what may be told of where a fact comes from: its days, not the memories behind it."""
    return Provenance(since=known.since, until=known.until, confidence=known.confidence, scope=known.scope)


def _procedure(path: str, content: bytes, seen: Seen) -> bytes | None:
    file = Procedure.parse(content, path)
    if not seen.may_see(file.scope, file.id):
        return None
    told = Procedure.create(
        path,
        title=file.title,
        learned=dict(file.header).get("learned", ""),
        trigger=file.trigger,
        steps=file.steps,
        notes=file.notes,
        scope=file.scope,
    )
    return told.render()


def _note(path: str, content: bytes, seen: Seen) -> bytes | None:
    note = VaultNote.parse(content, path)
    if not seen.may_see(note.scope, note.id):
        return None
    return VaultNote.create(path, title=note.title, body=note.body, scope=note.scope).render()


SCOPES = "scopes"
_MEMORY = "memory"
_MANIFEST = "manifest.json"
_LOCK = "writing.lock"
_WAIT = 30.0
# Rises when what is carried over changes: every copy is then made again.
_FORM = 2


@dataclass
class _Manifest:
    """What a copy was made from: the archived memories, and each file's status with whether it concerns a scope."""

    archived: list[str]
    files: dict[str, tuple[list[int | str], bool]]


class ScopedView:
    """A workspace that holds what one scope may see and nothing else; safe from several threads.

    Whatever is asked of it cannot tell what it does not hold: neither its words, nor its statistics, nor its names.

    Args:
        context: The workspace that it is a part of.
        scope: Whose.
    """

    def __init__(self, context: WorkspaceContext, scope: str) -> None:
        self._whole = context
        self._scope = scope
        self._lock = threading.RLock()
        self._context: WorkspaceContext | None = None

    def current(self) -> WorkspaceContext:
        """Return the part as the files are now, indexed.

        Raises:
            StorageError: It can be kept nowhere.
            Locked: Another process has been at it for too long.
        """
        with self._lock:
            self._whole.refresh_for_reading()
            try:
                return self._kept_in(self._folder())
            except StorageError as error:
                failed = Path(error.where or "")
                if self._whole.derived_folder.elsewhere(failed, error.message) is None:
                    raise
            self.close()
            return self._kept_in(self._folder())

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            if self._context is not None:
                self._context.close()
                self._context = None

    def _kept_in(self, folder: Path) -> WorkspaceContext:
        with self._lock:
            with process_lock(folder / _LOCK, _WAIT) as got:
                if not got:
                    raise Locked("Another process is reading memory.", remedy="Try again.")
                self._bring_up_to_date(folder)
            is_new = self._context is None
            context = self._context = self._context or self._opened(folder)
            # What was taken away must not be found in an index that is still to be brought along.
            if context.refresh().paths or is_new:
                hand_on_first_seen(self._whole.catalog, context.catalog)
                context.finder.sync()
            return context

    def _folder(self) -> Path:
        name = hashlib.sha256(self._scope.encode()).hexdigest()[:16]
        folder = self._whole.derived / SCOPES / name
        _make(folder / _MEMORY)
        return folder

    def _opened(self, folder: Path) -> WorkspaceContext:
        whole = self._whole
        context = WorkspaceContext(
            root=folder / _MEMORY,
            role=READER,
            actor=None,
            clock=whole.clock,
            settings=_narrowed(whole.settings),
            follows_files=False,
            new_id=whole.new_id,
        )
        context.state = folder / "state"
        context.derived_folder = DerivedFolder(folder / "index", CATALOG)
        return context

    def _bring_up_to_date(self, folder: Path) -> None:
        archived = _archived(self._whole)
        known = _read_manifest(folder / _MANIFEST)
        if known is None:
            shutil.rmtree(folder / _MEMORY, ignore_errors=True)
            _make(folder / _MEMORY)
            known = _Manifest([], {})
        same_archived = known.archived == archived
        seen = Seen(self._scope, frozenset(archived).__contains__)
        screened = self._whole.lookups.screened_files()
        now: dict[str, tuple[list[int | str], bool]] = {}
        changed = not same_archived
        found = layout.tracked_files(self._whole.root)
        hidden = self._whole.masking.hidden_names(found)
        for path, status in found.items():
            if path in hidden or not may_be_scoped(path):
                continue
            stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            mark: list[int | str] = [*stamp, screened.get(path, "")]
            before = known.files.get(path)
            if before is not None and before[0] == mark and (same_archived or not before[1]):
                now[path] = before
                continue
            changed = True
            content = self._read(path)
            concerned = content is not None and may_hold(content, self._scope)
            _put(folder / _MEMORY / path, seen_in(path, content, seen) if content and concerned else None)
            now[path] = (mark, concerned)
        for path in known.files.keys() - now.keys():
            changed = True
            _put(folder / _MEMORY / path, None)
        if changed:
            said = {"form": _FORM, "archived": archived, "files": now}
            _put(folder / _MANIFEST, json.dumps(said).encode("utf-8", "surrogateescape"))

    def _read(self, path: str) -> bytes | None:
        try:
            return self._whole.files.read(path)
        except (OutsideWorkspace, StorageError):
            # One file that cannot be read hides no other.
            return None


def forget_scopes(context: WorkspaceContext) -> None:
    """Delete what was made for scopes, with its indexes."""
    shutil.rmtree(context.derived / SCOPES, ignore_errors=True)


def _narrowed(settings: Settings) -> Settings:
    """Return the settings of the part: nothing beside memory is searched, and no program is asked."""
    search = replace(settings.search, extra_paths=(), sessions=False, backend="builtin")
    # What it is made of has its secrets masked already; here there is no history to know the others by.
    secrets = replace(settings.secrets, hold_back=False)
    return replace(settings, search=search, secrets=secrets, warnings=(), foreign=(), broken="")


def _archived(context: WorkspaceContext) -> list[str]:
    file = DecayScores.parse(context.files.read(layout.DECAY_SCORES) or b"")
    return sorted(name for name, entry in file.entries.items() if is_archived(entry))


def _read_manifest(place: Path) -> _Manifest | None:
    try:
        said: Any = json.loads(place.read_bytes())
        if said["form"] != _FORM:
            return None
        files = {path: (list(mark), bool(concerned)) for path, (mark, concerned) in said["files"].items()}
        return _Manifest(list(said["archived"]), files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise _unkept(folder, error) from error


def _put(place: Path, content: bytes | None) -> None:
    """Write a file whole, or take it away."""
    try:
        if content is None:
            place.unlink(missing_ok=True)
            return
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = place.with_name(f".{place.name}.new")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        draft.replace(place)
    except OSError as error:
        raise _unkept(place.parent, error) from error


def _unkept(folder: Path, error: OSError) -> StorageError:
    return StorageError(
        f"What a scope sees cannot be kept: {error.strerror or error}.",
        where=str(folder),
        remedy="Make room there, or set paths.cache.",
    )
