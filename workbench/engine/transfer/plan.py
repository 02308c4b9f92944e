"""Plans an import: what becomes of each piece, and what taking an import back removes."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from workbench.engine import layout
from workbench.engine.clock import in_zone
from workbench.engine.errors import DocumentError, InvalidInput, WorkbenchError
from workbench.engine.history.alerts import CRITICAL_CHANGED
from workbench.engine.history.commits import CONTINUES, REVERTS, parse_message
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.history.revert import Overlay, commits_since, reverting_plan, take_back_accesses
from workbench.engine.history.structural_revert import try_revert
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.episodes import EpisodeLog, NewEntry
from workbench.engine.markdown.markup import remove_lines
from workbench.engine.markdown.proposals import PendingMemories
from workbench.engine.markdown.source import LineSpan
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.stores import episode_path, read_log
from workbench.engine.memory.wording import CONFIDENCES, EPISODE_TYPES, clean_memory, clean_tags, text_key
from workbench.engine.results.memories import Changed
from workbench.engine.transfer.source import Note, Piece, Skipped, SourcePlace, StoredFile, digest
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.history.commits import CommitIndex
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.markdown.episodes import EpisodeEntry


FOLDER = f"{layout.META}/imports"
NOTES = "memory/imports"
_LONGEST_COUNT = 9
"""Maximum digits of a count in a ledger; longer ones were not written here."""
IMPORT_OF: Final = "import of "
"""Prefix of the trigger of every import commit."""
_ONE_MEMORY: Final = (f"{NOTES}/", f"{layout.VAULT}/", f"{layout.PROCEDURES}/")
_CHANGED: Final = "It was changed since."
_NOWHERE: Final = LineSpan(1, 1)


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
        source: What the user named, for display.
        started: Start time in the workspace's zone.
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
        ledger: Returns a fresh ledger, which the plan may change.
        clean: Removes from a text what must not be stored.
    """
    writing = _Writing(view, about, ledger())
    ids = [*writing.episodes(batch.pieces, clean), *writing.notes(batch.notes, clean)]
    many = "memory" if len(ids) == 1 else "memories"
    told = f"imported {len(ids):,} {many} from {about.source}"
    account = writing.account
    if account.pieces or account.notes:
        record_in_ledger(writing.draft, account, about)
    files = [change.path for change in writing.draft.changes()]
    file = files[0] if len(files) == 1 else "memory/*"
    return writing.draft.plan(Action.CREATE, file, told, writing.outcome(ids, len(batch)))


def record_in_ledger(draft: Draft, account: ImportAccount, about: Import) -> None:
    """Record in the ledger what a commit imports.

    Args:
        account: What it imports.
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


class _Writing:
    """What one commit of an import writes.

    Args:
        known: The ledger, which is brought up to date.
    """

    def __init__(self, view: FileView, about: Import, known: Ledger) -> None:
        known.catch_up(view)
        self.draft = Draft(view)
        self.account = ImportAccount()
        self.known = known
        self.about = about
        self.skipped: list[Skipped] = []

    def skip(self, place: SourcePlace, reason: str) -> None:
        self.skipped.append(Skipped(str(place), reason))

    def outcome(self, ids: Sequence[str], given: int) -> Written:
        """Return what came of the pieces, notes or files that were given."""
        skipped = tuple(self.skipped)
        known = given - len(ids) - len(skipped)
        return Written(None, ids=tuple(ids), added=len(ids), known=known, skipped=skipped)

    def episodes(self, pieces: Iterable[Piece], clean: Callable[[str], str]) -> list[str]:
        """Write what is new of the pieces into the logs of their days; return the ids."""
        days: dict[str, tuple[EpisodeLog, set[str], list[tuple[datetime, Piece, NewEntry]]]] = {}
        for piece in pieces:
            rest = self.known.new_part(piece)
            if rest is None:
                continue
            try:
                text = clean_memory(clean(rest.body), what="This").text
            except InvalidInput as error:
                self.skip(rest.place, error.told)
                continue
            moment = in_zone(rest.moment or self.about.started, self.about.zone)
            path = episode_path(moment)
            if path not in days:
                log = read_log(self.draft, moment)
                days[path] = (log, {text_key(entry.body) for entry in log.entries}, [])
            _, said, new = days[path]
            self.account.add(piece)
            self.known.pieces[piece.key] = self.account.pieces[piece.key]
            key = text_key(text)
            if key not in said:
                said.add(key)
                new.append((moment, piece, as_entry(rest, self.about, text)))
        ids: list[str] = []
        for path in sorted(days):
            log, _, new = days[path]
            if not new:
                continue
            new.sort(key=lambda each: each[0])
            extended = log.append_entries((entry for _, _, entry in new), self.draft.was_given)
            added = extended.entries[-len(new) :]
            ids.extend(entry.id for entry in added)
            self.account.became |= {
                piece.key: entry.id for (_, piece, _), entry in zip(new, added, strict=True)
            }
            self.draft.write(
                path, extended.render(), Action.APPEND, f"imported {len(new):,} from {self.about.source}"
            )
        return ids

    def notes(self, notes: Sequence[Note], clean: Callable[[str], str]) -> list[str]:
        """Write the new documents; return their ids."""
        kept = []
        for note in notes:
            if self.known.knows(note):
                continue
            path = f"{NOTES}/{self.about.name}/{note.path}"
            before = self.draft.read(path)
            written = self.known.written.get(path)
            if written is not None and before is None:
                self.skip(note.place, "It was removed here since it was imported.")
                continue
            if before is not None and written != digest(before.decode("utf-8", "replace")):
                self.skip(note.place, f"{path} was edited here since, or is another's; it stays.")
                continue
            text = with_origin(clean(note.text), str(note.place))
            self.draft.write(
                path, text.encode("utf-8", "replace"), Action.EDIT, f"imported from {self.about.source}"
            )
            self.account.notes[note.key] = path
            self.account.written[path] = digest(text)
            self.known.notes[note.key], self.known.written[path] = path, self.account.written[path]
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
    blank: frozenset[tuple[str, bytes]]


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
        stored: Content of the export.
        rights: Of the importing role.
        ledger: Returns a fresh ledger.
    """
    writing = _Writing(view, about, ledger())
    draft, known = writing.draft, writing.known
    added: list[str] = []
    for each in stored:
        try:
            path = checked_path(each, rights)
            if path == layout.DECAY_SCORES:
                # An invalid one would block every later pin, archive and restore.
                DecayScores.parse(each.content, path).update({})
        except WorkbenchError as error:
            writing.skip(each.place, error.message)
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
            writing.skip(each.place, f"{path} says something else here; it stays as it is.")
            continue
        added.append(path)
        writing.account.pieces[each.key] = ""
    count = len(added)
    told = f"brought back {count:,} {'file' if count == 1 else 'files'} from {about.source}"
    if added:
        record_in_ledger(draft, writing.account, about)
    outcome = writing.outcome([f"file:{path}" for path in added], len(stored))
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


Dropping = Callable[[PendingMemories, Sequence[int]], PendingMemories]
"""Removes proposals from the file of pending ones."""


@dataclass
class ImportUndo:
    """Outcome of undoing an import.

    Args:
        removed: Number of memories, proposals and files removed.
        kept: What stays, and why.
        settled: Proposals that the import stored at once.
    """

    removed: int = 0
    kept: list[Skipped] = field(default_factory=list)
    settled: set[int] = field(default_factory=set)

    def keep(self, where: str, reason: str) -> None:
        self.kept.append(Skipped(where, reason))


def commits_of_import(store: GitStore, line: CommitIndex, commit: str) -> tuple[tuple[str, ...], str]:
    """Return the commits of an import, newest first, and what it imported.

    Args:
        line: Reference to its newest commit.
        commit: Hash of any commit of the import, or its first digits.

    Raises:
        NotFound: There is no such commit.
        InvalidInput: It belongs to no import, or that was undone already.
    """
    named = store.resolve(commit)
    first = parse_message(store.commit(named)).trailer(CONTINUES) or named
    trigger = parse_message(store.commit(first)).trigger
    if not trigger.startswith(IMPORT_OF):
        raise InvalidInput(
            "This commit is no import’s.",
            where=commit,
            remedy="See them with: workbench audit log --actor 'import:*'",
        )
    undone_by = line.undone_by(first)
    if undone_by is not None and line.undone_by(undone_by) is None:
        raise InvalidInput(
            "This import was taken back already.",
            where=commit,
            remedy=f"Have it again with: workbench revert {undone_by[:10]}",
        )
    source = trigger.removeprefix(IMPORT_OF).removesuffix(CRITICAL_CHANGED)
    return commits_since(first, store.walk()), source


def plan_import_undo(
    files: FileView, store: GitStore, commits: Sequence[str], told: str, drop: Dropping
) -> Plan[ImportUndo]:
    """Plan to undo an import.

    Args:
        commits: Of the import, newest first.
        told: Description for the audit log.
        drop: Removes proposals.
    """
    overlay, undone = Overlay(files), ImportUndo()
    accounts: list[str] = []
    for commit in commits:
        for change in store.changes(commit):
            before, after = store.contents(change)
            now = overlay.read(change.path)
            # What was removed since stays removed.
            if now is None or after is None:
                continue
            if change.path.startswith(f"{FOLDER}/"):
                accounts.append(change.path)
            else:
                content = _without(change.path, before, after, now, undone, drop)
                overlay.write(change.path, content)
    take_back_accesses(overlay, store, commits)
    # What stays is not imported again unchanged; all else may be.
    kept = {each.where for each in undone.kept}
    for path in accounts:
        overlay.write(path, ledger_file(overlay.read(path) or b"", kept))
    trailers = tuple((REVERTS, commit) for commit in commits)
    return reverting_plan(overlay, tuple(commits), told, trailers).answering(undone)


def _without(
    path: str, before: bytes | None, after: bytes, now: bytes, undone: ImportUndo, drop: Dropping
) -> bytes | None:
    """Return a file without what one commit of an import did to it."""
    if path.startswith(f"{layout.EPISODES}/"):
        return _without_entries(path, before, after, now, undone)
    if path == layout.PENDING_MEMORIES:
        return _without_proposals(before, after, now, undone, drop)
    if now != after and path.startswith(_ONE_MEMORY):
        undone.keep(path, _CHANGED)
        return now
    content, conflicts = try_revert(path, before, after, now)
    if conflicts:
        undone.keep(path, _CHANGED)
    elif not path.startswith(f"{layout.META}/"):
        undone.removed += 1
    return content


def _without_entries(
    path: str, before: bytes | None, after: bytes, now: bytes, undone: ImportUndo
) -> bytes | None:
    known = {entry.id for entry in EpisodeLog.parse(before or b"", path).entries}
    brought = {
        entry.id: _said(entry) for entry in EpisodeLog.parse(after, path).entries if entry.id not in known
    }
    log = EpisodeLog.parse(now, path)
    source, removed = log.source, 0
    for entry in reversed(log.entries):
        if entry.id in brought and brought[entry.id] == _said(entry):
            source = remove_lines(source, entry.span)
            removed += 1
        elif entry.id in brought:
            undone.keep(entry.id, _CHANGED)
    undone.removed += removed
    if now == after:
        return before
    return None if before is None and removed == len(log.entries) else source.render()


def _said(entry: EpisodeEntry) -> EpisodeEntry:
    return replace(entry, span=_NOWHERE)


def _without_proposals(
    before: bytes | None, after: bytes, now: bytes, undone: ImportUndo, drop: Dropping
) -> bytes | None:
    known = {each.number for each in PendingMemories.parse(before or b"").proposals}
    left = {each.number: each for each in PendingMemories.parse(after).proposals}
    undone.settled |= known - left.keys()
    pending = PendingMemories.parse(now)
    going = []
    for number in left.keys() - known - undone.settled:
        found = pending.proposal(number)
        if found is None:
            undone.keep(f"#{number}", "It was decided on since; what became of it stays.")
        elif (found.content, found.is_deferred) != (left[number].content, False):
            undone.keep(f"#{number}", _CHANGED)
        else:
            going.append(number)
    undone.removed += len(going)
    return before if now == after else drop(pending, going).render()
