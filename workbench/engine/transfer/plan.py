"""Plans one batch of an import: episodes, notes, restored files, and the ledger of what was imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from urllib.parse import quote

from workbench.engine import layout
from workbench.engine.clock import in_zone
from workbench.engine.errors import DocumentError, InvalidInput, WorkbenchError
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.episodes import EpisodeLog, NewEntry
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.episodes import episode_path, read_log
from workbench.engine.memory.wording import CONFIDENCES, EPISODE_TYPES, clean_memory, clean_tags, text_key
from workbench.engine.results.memories import Changed
from workbench.engine.transfer.source import Note, Piece, Skipped, SourcePlace, StoredFile, digest

FOLDER = f"{layout.META}/imports"
NOTES = "memory/imports"
_LONGEST_COUNT = 9
"""Maximum digits of a count in a ledger; longer ones were not written here."""


@dataclass
class Ledger:
    """The record of all imports.

    Args:
        pieces: By key, how far a conversation was imported; empty for other pieces.
        notes: Path of each document, by key.
        written: Digest of each note as last written, by path.
    """

    pieces: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, view: FileView) -> Ledger:
        """Read the ledger, ignoring damaged files."""
        ledger = cls()
        ledger.catch_up(view)
        return ledger

    def catch_up(self, view: FileView) -> None:
        """Add what another import recorded meanwhile."""
        for path in view.list(FOLDER):
            if path not in self._read:
                self._read.add(path)
                self._take(view.read(path) or b"")

    def _take(self, content: bytes) -> None:
        said = _read(content)
        pieces, notes, written = (_texts(said.get(name)) for name in ("pieces", "notes", "written"))
        for key, standing in pieces.items():
            if _turns(standing) >= _turns(self.pieces.get(key, "")):
                self.pieces[key] = standing
        self.notes |= notes
        self.written |= written

    def new_part(self, piece: Piece) -> Piece | None:
        """Return the part of a piece not imported before: all of it, the rest of a conversation, or None."""
        known = self.pieces.get(piece.key)
        if known is None:
            return piece
        count = _turns(known)
        if not piece.turns or count == 0:
            return None
        if len(piece.turns) <= count:
            # Another export of the same conversation may end earlier.
            return None
        return piece.after(count) if piece.standing(count) == known else piece

    def knows(self, note: Note) -> bool:
        """Return whether a document was already imported with the same content."""
        return note.key in self.notes


@dataclass
class ImportAccount:
    """The additions of one commit to the ledger."""

    pieces: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    became: dict[str, str] = field(default_factory=dict)
    """By piece key, the id of its memory, or `#` and the number of its proposal."""

    def add(self, piece: Piece) -> None:
        """Record that a piece was imported completely."""
        self.pieces[piece.key] = piece.standing() if piece.turns else ""

    def render(self, **about: str) -> bytes:
        """Return the file's bytes.

        Args:
            about: What was imported, and when.
        """
        return _rendered(
            {
                **about,
                "pieces": self.pieces,
                "notes": self.notes,
                "written": self.written,
                "became": self.became,
            }
        )


def ledger_file(content: bytes, kept: Collection[str]) -> bytes | None:
    """Return a ledger file reduced to what was kept; None if nothing was.

    Args:
        content: As it was written.
        kept: Ids of memories, numbers of proposals with `#`, and paths of notes.
    """
    said = _read(content)
    became = {key: what for key, what in _texts(said.get("became")).items() if what in kept}
    notes = {key: path for key, path in _texts(said.get("notes")).items() if path in kept}
    if not became and not notes:
        return None
    pieces = {key: standing for key, standing in _texts(said.get("pieces")).items() if key in became}
    written = {path: each for path, each in _texts(said.get("written")).items() if path in kept}
    return _rendered({**said, "pieces": pieces, "notes": notes, "written": written, "became": became})


def _read(content: bytes) -> Mapping[str, object]:
    """Return the content of a ledger file; empty if damaged."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, Mapping) else {}


def _rendered(said: Mapping[str, object]) -> bytes:
    return (json.dumps(said, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {key: said for key, said in value.items() if isinstance(key, str) and isinstance(said, str)}


def _turns(standing: str) -> int:
    count = standing.partition(":")[0]
    return int(count) if count.isdecimal() and len(count) <= _LONGEST_COUNT else 0


@dataclass(frozen=True)
class Import:
    """An import in progress.

    Args:
        name: Short, for folders and sources.
        form: The recognised format.
        source: What the user named, for display.
        started: Start time in the workspace's zone.
        zone: The workspace's.
    """

    name: str
    form: str
    source: str
    started: datetime
    zone: tzinfo


@dataclass
class Batch:
    """What one commit imports."""

    pieces: list[Piece] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    characters: int = 0

    def add(self, item: Piece | Note) -> None:
        if isinstance(item, Note):
            self.notes.append(item)
            self.characters += len(item.text)
        else:
            self.pieces.append(item)
            self.characters += len(item.body)

    def __len__(self) -> int:
        return len(self.pieces) + len(self.notes)


@dataclass(frozen=True)
class Written(Changed):
    """Outcome of one batch.

    Args:
        added: Number of new memories and notes.
        known: Number already present.
        skipped: What was skipped.
    """

    added: int = 0
    known: int = 0
    skipped: tuple[Skipped, ...] = ()


def plan_batch(
    view: FileView, batch: Batch, about: Import, ledger: Callable[[], Ledger], clean: Callable[[str], str]
) -> Plan[Written]:
    """Plan to store a batch and record it in the ledger.

    Args:
        view: The files.
        batch: What to store.
        about: The import it belongs to.
        ledger: Returns a fresh ledger, which the plan may change.
        clean: Removes from a text what must not be stored.
    """
    draft, account, known = Draft(view), ImportAccount(), ledger()
    known.catch_up(view)
    skipped: list[Skipped] = []
    ids = _episodes(draft, batch.pieces, about, known, account, clean, skipped)
    kept = _notes(draft, batch.notes, about, known, account, clean, skipped)
    changed = bool(account.pieces or account.notes)
    count = len(ids) + len(kept)
    told = f"imported {count:,} {'memory' if count == 1 else 'memories'} from {about.source}"
    if changed:
        record_in_ledger(draft, account, about)
    outcome = Written(
        None,
        ids=(*ids, *kept),
        added=count,
        known=len(batch) - count - len(skipped),
        skipped=tuple(skipped),
    )
    files = [change.path for change in draft.changes()]
    return draft.plan(Action.CREATE, files[0] if len(files) == 1 else "memory/*", told, outcome)


def record_in_ledger(draft: Draft, account: ImportAccount, about: Import) -> None:
    """Record in the ledger what a commit imports.

    Args:
        draft: The commit's draft.
        account: What it imports.
        about: The import.
    """
    said = account.render(form=about.form, name=about.name, source=about.source, at=about.started.isoformat())
    name = f"{about.started:%Y%m%dT%H%M%S}-{about.name}-{digest(said.decode())[:8]}.json"
    draft.write(
        f"{FOLDER}/{name}", said, Action.CREATE, "noted what was imported, so that it does not come twice"
    )


def citation(name: str, place: SourcePlace) -> str:
    """Return the origin of an imported memory as an id: `import:NAME/PATH#L3-L5`."""
    return f"import:{name}/{quote(str(place), safe='/#:.-_~')}"


def as_entry(piece: Piece, about: Import, text: str) -> NewEntry:
    """Return a piece as the entry of an episode log."""
    moment = in_zone(piece.moment or about.started, about.zone)
    return NewEntry(
        f"{moment:%H:%M}",
        text,
        type=piece.type if piece.type in EPISODE_TYPES else "event",
        confidence=piece.confidence if piece.confidence in CONFIDENCES else "medium",
        tags=clean_tags(piece.tags),
        source="conversation" if piece.turns else f"import:{about.name}",
        extra=(("from", f"[{citation(about.name, piece.place)}]"),),
    )


def _episodes(
    draft: Draft,
    pieces: Iterable[Piece],
    about: Import,
    known: Ledger,
    account: ImportAccount,
    clean: Callable[[str], str],
    skipped: list[Skipped],
) -> list[str]:
    days: dict[str, tuple[EpisodeLog, set[str], list[tuple[datetime, Piece, NewEntry]]]] = {}
    for piece in pieces:
        rest = known.new_part(piece)
        if rest is None:
            continue
        try:
            text = clean_memory(clean(rest.body), what="This").text
        except InvalidInput as error:
            skipped.append(Skipped(str(rest.place), error.told))
            continue
        moment = in_zone(rest.moment or about.started, about.zone)
        path = episode_path(moment)
        if path not in days:
            log = read_log(draft, moment)
            days[path] = (log, {text_key(entry.body) for entry in log.entries}, [])
        _, said, new = days[path]
        account.add(piece)
        known.pieces[piece.key] = account.pieces[piece.key]
        key = text_key(text)
        if key not in said:
            said.add(key)
            new.append((moment, piece, as_entry(rest, about, text)))
    ids: list[str] = []
    for path in sorted(days):
        log, _, new = days[path]
        if not new:
            continue
        new.sort(key=lambda each: each[0])
        extended = log.append_entries((entry for _, _, entry in new), draft.was_given)
        added = extended.entries[-len(new) :]
        ids.extend(entry.id for entry in added)
        account.became |= {piece.key: entry.id for (_, piece, _), entry in zip(new, added, strict=True)}
        draft.write(path, extended.render(), Action.APPEND, f"imported {len(new):,} from {about.source}")
    return ids


def _notes(
    draft: Draft,
    notes: Sequence[Note],
    about: Import,
    known: Ledger,
    account: ImportAccount,
    clean: Callable[[str], str],
    skipped: list[Skipped],
) -> list[str]:
    kept = []
    for note in notes:
        if known.knows(note):
            continue
        path = f"{NOTES}/{about.name}/{note.path}"
        before = draft.read(path)
        written = known.written.get(path)
        if written is not None and before is None:
            skipped.append(Skipped(str(note.place), "It was removed here since it was imported."))
            continue
        if before is not None and written != digest(before.decode("utf-8", "replace")):
            skipped.append(
                Skipped(str(note.place), f"{path} was edited here since, or is another's; it stays.")
            )
            continue
        text = with_origin(clean(note.text), str(note.place))
        draft.write(path, text.encode("utf-8", "replace"), Action.EDIT, f"imported from {about.source}")
        account.notes[note.key] = path
        account.written[path] = digest(text)
        known.notes[note.key], known.written[path] = path, account.written[path]
        kept.append(f"file:{path}")
    return kept


def with_origin(text: str, where: str) -> str:
    """Return a document with its origin in the front matter, otherwise unchanged."""
    lines = text.split("\n")
    said = f"imported-from: {quote(where, safe='/#:.-_~ ')}"
    if lines[0].rstrip() == "---" and any(line.rstrip() in ("---", "...") for line in lines[1:200]):
        return "\n".join([lines[0], said, *lines[1:]])
    return "\n".join(["---", said, "---", "", *lines])


@dataclass(frozen=True)
class RestoreRights:
    """What the importing role may write.

    Args:
        critical: Files that steer the agent or record people's decisions.
        blank: Files still untouched, which may be replaced.
    """

    critical: bool
    blank: frozenset[tuple[str, bytes]] = frozenset()


def checked_path(stored: StoredFile, rights: RestoreRights) -> str:
    """Return the path where a stored file may be written.

    Raises:
        WorkbenchError: It leaves the workspace, is not a memory file, or this role may not write it.
    """
    path = layout.normalise(stored.path)
    if path != stored.path or not layout.is_memory_file(path) or path in layout.PROJECTIONS:
        raise DocumentError("It is no file of memory.", where=path)
    if not rights.critical and (layout.is_critical(path) or layout.is_decided(path)):
        raise DocumentError("Only a person may bring it back.", where=path)
    return path


def plan_restore_files(
    view: FileView,
    stored: Sequence[StoredFile],
    about: Import,
    rights: RestoreRights,
    ledger: Callable[[], Ledger],
) -> Plan[Written]:
    """Plan to restore files. Present files with other content stay; logs and scores are merged.

    What was restored before and changed or removed since is not restored again.

    Args:
        view: The files.
        stored: Content of the export.
        about: The import.
        rights: Of the importing role.
        ledger: Returns a fresh ledger.
    """
    draft, account, known = Draft(view), ImportAccount(), ledger()
    known.catch_up(view)
    skipped: list[Skipped] = []
    added: list[str] = []
    for each in stored:
        try:
            path = checked_path(each, rights)
            if path == layout.DECAY_SCORES:
                # An invalid one would block every later pin, archive and restore.
                DecayScores.parse(each.content, path).update({})
        except WorkbenchError as error:
            skipped.append(Skipped(str(each.place), error.message))
            continue
        before = draft.read(path)
        if before == each.content or each.key in known.pieces:
            continue
        told = f"brought back from {about.source}"
        if before is None or (path, before) in rights.blank:
            draft.write(path, each.content, Action.RESTORE if before is not None else Action.CREATE, told)
        elif path.startswith(layout.EPISODES + "/") and path.endswith(".md"):
            joined = _joined_logs(draft, before, each.content, path)
            if joined == before:
                continue
            draft.write(path, joined, Action.APPEND, told)
        elif path == layout.DECAY_SCORES:
            joined = _joined_scores(before, each.content)
            if joined == before:
                continue
            draft.write(path, joined, Action.EDIT, told)
        else:
            skipped.append(Skipped(str(each.place), f"{path} says something else here; it stays as it is."))
            continue
        added.append(path)
        account.pieces[each.key] = ""
    count = len(added)
    told = f"brought back {count:,} {'file' if count == 1 else 'files'} from {about.source}"
    if added:
        record_in_ledger(draft, account, about)
    outcome = Written(
        None,
        ids=tuple(f"file:{path}" for path in added),
        added=count,
        known=len(stored) - count - len(skipped),
        skipped=tuple(skipped),
    )
    return draft.plan(Action.RESTORE, added[0] if count == 1 else "memory/*", told, outcome)


def _joined_logs(draft: Draft, before: bytes, content: bytes, path: str) -> bytes:
    log, other = EpisodeLog.parse(before, path), EpisodeLog.parse(content, path)
    said = {text_key(entry.body) for entry in log.entries}
    new = [
        NewEntry(entry.time, entry.body, entry.type, entry.confidence, entry.tags, entry.source, entry.extra)
        for entry in other.entries
        if entry.body.strip() and text_key(entry.body) not in said
    ]
    return log.append_entries(new, draft.was_given).render() if new else before


def _joined_scores(before: bytes, content: bytes) -> bytes:
    scores, other = DecayScores.parse(before), DecayScores.parse(content)
    new = {name: entry for name, entry in other.entries.items() if name not in scores.entries}
    return scores.update(dict(new)).render() if new else before
