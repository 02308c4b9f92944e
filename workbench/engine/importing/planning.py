"""One batch of an import as a plan: episodes on the days they happened, notes where they are kept, and the account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from urllib.parse import quote

from workbench.engine.clock import in_zone
from workbench.engine.documents.episodes import EpisodeLog, NewEntry
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.importing.ledger import FOLDER, NOTES, Account, Ledger
from workbench.engine.importing.pieces import Note, Piece, Place, Skipped, digest
from workbench.engine.results.memories import Changed
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.episodic import episode_path, read_log
from workbench.engine.stores.wording import CONFIDENCES, EPISODE_TYPES, clean_memory, clean_tags, text_key


@dataclass(frozen=True)
class Import:
    """An import that is under way.

    Args:
        name: Short, for folders and sources.
        form: What was recognised.
        source: What was named, as it is told.
        started: When it began; in the workspace's zone.
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
        """Take one more in."""
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
    """What became of one batch.

    Args:
        added: How many memories and notes are new.
        known: How many were there already.
        skipped: What was left aside.
    """

    added: int = 0
    known: int = 0
    skipped: tuple[Skipped, ...] = ()


def plan_batch(
    view: FileView, batch: Batch, about: Import, ledger: Callable[[], Ledger], clean: Callable[[str], str]
) -> Plan[Written]:
    """Plan to store a batch, and to note in the ledger that it was.

    Args:
        view: The files.
        batch: What is to be stored.
        about: The import it belongs to.
        ledger: Gives a fresh copy of the account, which the plan may change.
        clean: Takes out of a text what may not be stored.
    """
    draft, account, known = Draft(view), Account(), ledger()
    known.catch_up(view)
    skipped: list[Skipped] = []
    ids = _episodes(draft, batch.pieces, about, known, account, clean, skipped)
    kept = _notes(draft, batch.notes, about, known, account, clean, skipped)
    changed = bool(account.pieces or account.notes)
    count = len(ids) + len(kept)
    told = f"imported {count:,} {'memory' if count == 1 else 'memories'} from {about.source}"
    if changed:
        note(draft, account, about)
    outcome = Written(
        None,
        ids=(*ids, *kept),
        added=count,
        known=len(batch) - count - len(skipped),
        skipped=tuple(skipped),
    )
    files = [change.path for change in draft.changes()]
    return draft.plan(Action.CREATE, files[0] if len(files) == 1 else "memory/*", told, outcome)


def note(draft: Draft, account: Account, about: Import) -> None:
    """Add to the ledger what a commit imports.

    Args:
        draft: Of the commit.
        account: What it imports.
        about: The import.
    """
    said = account.render(form=about.form, name=about.name, source=about.source, at=about.started.isoformat())
    name = f"{about.started:%Y%m%dT%H%M%S}-{about.name}-{digest(said.decode())[:8]}.json"
    draft.write(
        f"{FOLDER}/{name}", said, Action.CREATE, "noted what was imported, so that it does not come twice"
    )


def citation(name: str, place: Place) -> str:
    """Return where an imported memory stood, as an id: `import:NAME/PATH#L3-L5`."""
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
    account: Account,
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
    account: Account,
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
    """Return a document whose front matter says where it came from; all else stays as it is."""
    lines = text.split("\n")
    said = f"imported-from: {quote(where, safe='/#:.-_~ ')}"
    if lines[0].rstrip() == "---" and any(line.rstrip() in ("---", "...") for line in lines[1:200]):
        return "\n".join([lines[0], said, *lines[1:]])
    return "\n".join(["---", said, "---", "", *lines])
