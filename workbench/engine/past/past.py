"""Memory as of one commit: queried, compared with another commit, written to a folder, or brought back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.file_rows import extract, title_of
from workbench.engine.errors import (
    Ambiguous,
    InvalidInput,
    NotFound,
    OutsideWorkspace,
)
from workbench.engine.history.commits import RESTORES, parse_message
from workbench.engine.history.differences import match_units, parse_units, unit_name
from workbench.engine.history.git_objects import SHORT, blob_hash
from workbench.engine.history.json_revert import scores_of_memory
from workbench.engine.history.plan import Action, Plan, common_pattern
from workbench.engine.history.revert import Overlay, Reversal, reverting_plan
from workbench.engine.history.structural_revert import conflict_error, try_revert
from workbench.engine.identifiers import MemoryId, parse_memory_id
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.markdown.decay_scores import decided_entries
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.memory.core import read_core, view_core, within_cap
from workbench.engine.memory.decay import DecayContext, is_archived
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.forget import plan_archive
from workbench.engine.memory.lookup import locate_memory, show_memory
from workbench.engine.past.files import PastFiles, export_files, is_entity, read_entity_head
from workbench.engine.past.lookups import PastLookups, PastScores, neighbourhood
from workbench.engine.results.audit import (
    Comparison,
    Copied,
    FileChanged,
    MemoryChange,
    Moment,
    PastFile,
    PastScore,
)
from workbench.engine.results.graph import GraphView
from workbench.engine.results.memories import CoreView, Shown
from workbench.engine.steps import UNTOLD, Steps
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.catalog.records import MemoryRecord
    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.source import LineSpan
    from workbench.engine.memory.lookup import LocatedMemory
    from workbench.engine.past.files import CatalogedFiles, Versions
    from workbench.engine.settings.sections import Settings


_ORDER = {store: place for place, store in enumerate(("core", "episodic", "semantic", "procedural", "vault"))}
_UNDECIDED = (False, False)
Pairs = Mapping[str, tuple[bytes | None, bytes | None]]
Whole = Mapping[str, Mapping[str, tuple[int, MemoryChange]]]
"""What came or went with a file, by path and id: its first line, and what it said."""
# Fewer files are read sooner than the catalog tells of all.
_MANY = 1_000

_SHORT = 10


@dataclass(frozen=True, slots=True)
class PastMemory:
    """One memory in a version of a file.

    Args:
        text: The displayed text.
        compared: The text that decides whether two versions are the same.
        line: Its first line, 1-based.
        pinned: Whether its own text or place pins it, whatever the scores file says.
        retired: Whether it is a fact that no longer holds.
    """

    id: str
    store: str
    title: str
    text: str
    compared: str
    line: int
    pinned: bool = False
    retired: bool = False


def memories_in(path: str, content: bytes, zone: ZoneInfo) -> dict[str, PastMemory]:
    """Return the memories of a file by id, in file order.

    An entity’s facts and relations with a block id are separate memories, and the entity is unchanged if only they
    differ. Flat logs, other free text and the engine's files are one memory each.
    """
    if is_entity(path):
        return dict(_entity(path, content))
    if layout.store_of(path) == "file" or not path.endswith(".md"):
        text = content.decode("utf-8", "replace")
        return {f"file:{path}": PastMemory(f"file:{path}", "file", path.rsplit("/", 1)[-1], text, text, 1)}
    found: dict[str, PastMemory] = {}
    free = f"file:{path}"
    for record in extract(path, content, zone).memories:
        # The lines of free text move with all that is written above it, so that all of it counts as one memory.
        memory_id = free if record.store == "file" else record.id
        text = f"{found[free].text}\n\n{record.text}" if memory_id == free and free in found else record.text
        first = found.get(memory_id) if memory_id == free else None
        found[memory_id] = PastMemory(
            memory_id,
            record.store,
            first.title if first else record.title,
            text,
            _compared(text),
            first.line if first else record.start_line,
            record.pinned or record.store == "vault",
        )
    return found


def whole_entity(path: str, content: bytes) -> PastMemory:
    """Return an entity without its parts; faster than `memories_in`."""
    name = path.rsplit("/", 1)[1].removesuffix(".md")
    head = read_entity_head(content, name)
    if head is None:
        return next(unit for _, unit in _entity(path, content))
    text = content.decode("utf-8", "surrogateescape")
    return PastMemory(f"entity:{name}", "semantic", head.label, text, text, 1, head.pinned)


def _entity(path: str, content: bytes) -> Iterator[tuple[str, PastMemory]]:
    file = EntityFile.parse(content, path)
    entity = f"entity:{file.id}"
    parts: list[tuple[str | None, LineSpan, str]] = [
        (fact.block_id, fact.span, fact.text) for fact in (*file.facts, *file.retired)
    ]
    parts += [
        (each.block_id, each.span, f"{each.name}: {', '.join(each.targets)}") for each in file.relations
    ]
    retired = {fact.block_id for fact in file.retired}
    named = sorted((part for part in parts if part[0]), key=lambda part: part[1].start)
    own = {line for _, span, _ in named for line in range(span.start, span.end + 1)}
    # A section is added and removed with its content.
    rest = "\n".join(
        line
        for number, line in enumerate(file.source.lines, start=1)
        if number not in own and line.strip() and not line.startswith("## ")
    )
    yield (
        entity,
        PastMemory(entity, "semantic", file.label, file.source.text, _compared(rest), 1, file.pinned),
    )
    for block, span, title in named:
        text = file.source.text_of(span)
        id_ = f"{entity}#^{block}"
        yield (
            id_,
            PastMemory(
                id_, "semantic", title_of(title), text, _compared(text), span.start, retired=block in retired
            ),
        )


def _compared(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())


class Past:
    """Memory as of a commit, with answers shaped like the workspace's current ones.

    Reads lazily.

    Args:
        asked: The time that was asked for; the commit's own if it was named.
        versions: The cache of file versions, shared with other commits.
        same: The catalog's knowledge of the current files.
        settings: The current ones; they give the cap of core memory, the decay constants and the graph's depth.
        first_seen: When memories without a date of their own entered the history.
    """

    def __init__(
        self,
        root: Path,
        store: GitStore,
        commit: Commit,
        asked: datetime,
        *,
        versions: Versions,
        same: CatalogedFiles,
        settings: Settings,
        first_seen: Mapping[str, datetime],
    ) -> None:
        self._root = root
        self._store = store
        self._units: dict[str, dict[str, PastMemory]] = {}
        self._commit = commit
        self._asked = asked
        self._settings = settings
        self._zone: ZoneInfo = settings.zone
        self.files = PastFiles(store, commit.tree, versions, same)
        moment = commit.moment.astimezone(self._zone)
        self._scores = PastScores(self.files, first_seen, DecayContext(moment, self._zone, settings.decay))
        self.lookups = PastLookups(self.files, self._scores.is_archived)

    @property
    def commit(self) -> str:
        """The full hash of the commit."""
        return self._commit.id

    @property
    def _today(self) -> str:
        """The day that was asked for, in the workspace's zone."""
        return self._asked.astimezone(self._zone).date().isoformat()

    @property
    def timestamp(self) -> datetime:
        """The time of the commit, in UTC."""
        return self._commit.moment.astimezone(UTC)

    @cached_property
    def moment(self) -> Moment:
        """Return the commit with its list of files."""
        return self._moment(tuple([PastFile(path, size, blob) for path, size, blob in self.files.sized()]))

    def moment_of(self, path: str) -> Moment:
        """Return the commit with one file and its text.

        Raises:
            NotFound: There was no such file.
        """
        content, path = self.get(path), layout.normalise(path)
        file = PastFile(path, len(content), blob_hash(content), content.decode("utf-8", "replace"))
        return self._moment((file,))

    def _moment(self, files: tuple[PastFile, ...]) -> Moment:
        message = parse_message(self._commit)
        return Moment(self._asked, self._commit.id, self.timestamp, files, message.actor, message.summary)

    def core(self) -> CoreView:
        """Return core memory."""
        return view_core(self.files, self._settings)

    def get(self, path: str) -> bytes:
        """Return a file's bytes.

        Raises:
            NotFound: There was no such file.
        """
        content = self.files.read(path)
        if content is None:
            raise NotFound(
                f"There was no such file at {self._commit.id[:SHORT]}.",
                where=path,
                remedy=f"List what there was: workbench audit at {self._commit.id[:SHORT]}",
            )
        return content

    def copy_to(self, folder: Path) -> Copied:
        """Write every file to a folder outside the workspace.

        Args:
            folder: A new or empty folder.

        Raises:
            InvalidInput: The folder is not empty.
            OutsideWorkspace: It is in the workspace.
            StorageError: It cannot be written; nothing is left of it.
        """

        contents = (
            (path, self.files.versions.content(blob)) for path, blob in sorted(self.files.blobs.items())
        )
        count, size = export_files(folder, self._root, contents)
        return Copied(self._commit.id, str(folder), count, size)

    def show(self, id: str) -> Shown:
        """Return one memory with its provenance, validity, score and links at the time; without its history.

        Raises:
            NotFound: There was no such memory.
        """
        memory_id = self._named(id)
        record = self.lookups.memory(str(memory_id.whole))
        score = self._scores.of(record) if record else None
        if score is not None and memory_id.block and self._scores.is_archived(str(memory_id)):
            score = replace(score, value=0.0, status="archived")
        return show_memory(self.files, str(memory_id), self.lookups, self._zone, self._today, score=score)

    def graph(self, entity: str, *, depth: int | None = None) -> GraphView:
        """Return an entity, by id or label, with its facts and neighbourhood.

        Args:
            depth: Hops to follow; as many as the setting `graph.depth` says now where None.

        Raises:
            NotFound: There was no such entity.
        """
        depth = self._settings.graph.depth if depth is None else depth
        if depth < 0:
            raise InvalidInput("A depth is 0 or more.", remedy="Ask for --depth 1.")
        center = str(self._named(entity).whole)
        view = neighbourhood(center, depth, self.lookups, self._scores, self._today)
        if view is None:
            raise NotFound(
                f"There was no entity “{entity}” at {self._commit.id[:SHORT]}.",
                remedy=f"See what there was: workbench audit at {self._commit.id[:SHORT]}",
            )
        return view

    def entities(self) -> Sequence[tuple[str, str]]:
        """Return id and label of every unmerged entity, by id."""
        return self.lookups.entities()

    def scores(self, ids: Sequence[str] | None = None) -> Sequence[PastScore]:
        """Return the scores at the time.

        Args:
            ids: Only these memories, which is fast; all by default.
        """
        if ids is None:
            return self._scores.all()
        found = ((record, self._scores.of(record)) for record in map(self.lookups.memory, ids) if record)
        return tuple(
            PastScore(record.id, record.store, record.title, score)
            for record, score in found
            if score is not None
        )

    def differing(
        self, other: Past, steps: Steps = UNTOLD, known: Container[str] = ()
    ) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return the contents of files that differ from another commit, here and there, by path.

        Args:
            known: Paths to leave out.
        """
        read = self.files.versions.content
        changes = self._store.changed_paths(self._commit.tree, other._commit.tree)
        changes = [change for change in changes if change.path not in known]
        return {
            change.path: (
                read(change.old_blob) if change.old_blob else None,
                read(change.new_blob) if change.new_blob else None,
            )
            for change in steps.over("reading", changes, len(changes))
        }

    def whole(self, other: Past) -> Whole:
        """Return what came or went with files on the way to another commit, as far as these read the same now.

        The catalog tells it without a file being read, which pays where there are many.
        """
        changes = self._store.changed_paths(self._commit.tree, other._commit.tree)
        came = {each.path: each.new_blob or each.old_blob for each in changes if each.old_blob is None}
        went = {each.path: each.old_blob for each in changes if each.new_blob is None}
        blobs = {**came, **went}
        found: dict[str, dict[str, tuple[int, MemoryChange]]] = defaultdict(dict)
        for path, blob, id_, store, title, text, line in (
            self.files.same.whole() if len(blobs) > _MANY else ()
        ):
            if blobs.get(path) != blob.hex():
                continue
            if is_entity(path):
                text = f"{text}\n"
                if path != f"{layout.ENTITIES}/{id_[7:]}.md" or blob_hash(text.encode()) != blobs[path]:
                    continue
            sides = ("added", None, text) if path in came else ("removed", text, None)
            found[path][id_] = (line, MemoryChange(id_, store, path, title, *sides))
        return found

    def unit(self, memory_id: str) -> tuple[str, PastMemory] | None:
        """Return a memory's file and content, or None."""
        path = self.lookups.path_of(memory_id)
        content = self.files.read(path) if path else None
        if path is None or content is None:
            return None
        if path not in self._units:
            self._units = {path: memories_in(path, content, self._zone)}
        unit = self._units[path].get(memory_id)
        return (path, unit) if unit else None

    def _label(self, entity: str) -> str:
        known = self.lookups.entity(entity)
        return known.label.casefold() if known else ""

    def _named(self, name: str) -> MemoryId:
        """Return the id for a person’s words: an id, or an entity’s name at the time."""
        try:
            return parse_memory_id(name)
        except InvalidInput:
            wanted = name.strip().casefold()
            matches = [id_ for id_, label in self.entities() if label.casefold() == wanted]
            if not matches:
                merged = self.lookups.merges.kept().items()
                matches = sorted({keeper for id_, keeper in merged if self._label(id_) == wanted})
            if not matches:
                raise
            if len(matches) > 1:
                raise Ambiguous(
                    f"“{name}” may be {', '.join(matches[:5])}.", remedy="Name one of them."
                ) from None
            return parse_memory_id(matches[0])


def compare_moments(
    pairs: Pairs,
    find: Callable[[str], tuple[str, PastMemory] | None],
    zone: ZoneInfo,
    ends: tuple[str | None, str | None],
    steps: Steps = UNTOLD,
    whole: Whole | None = None,
) -> Comparison:
    """Return the differences between two commits.

    Args:
        pairs: The content of each differing file at the first and second commit, by path; None if absent.
        find: Returns a memory’s path and content at the second commit, for files that do not differ.
        zone: The time zone of dates and times in the files.
        ends: The two commits.
        whole: What came or went with files that are not among the pairs.

    Raises:
        Cancelled: It was called off.
    """
    pairs = {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}
    files = {
        path: "added" if before is None else "removed" if after is None else "changed"
        for path, (before, after) in pairs.items()
    }
    changes: dict[str, tuple[int, MemoryChange]] = {}
    for path, found in (whole or {}).items():
        changes |= found
        files[path] = next(iter(found.values()))[1].change
    for path, (before, after) in steps.over("comparing", sorted(pairs.items()), len(pairs)):
        if path == layout.DECAY_SCORES:
            continue
        for line, change in _changes(path, before, after, zone):
            changes.setdefault(change.id, (line, change))
    for change in _scored(pairs, find, changes.keys()):
        changes[change.id] = (0, change)
    ordered = sorted(
        changes.values(),
        key=lambda row: (_ORDER.get(row[1].store, len(_ORDER)), row[1].path, row[0], row[1].id),
    )
    told = tuple([FileChanged(path, files[path]) for path in sorted(files)])
    return Comparison(*ends, told, tuple([change for _, change in ordered]))


def changes_from_now(
    pairs: Pairs, files: FileView, record: Callable[[str], MemoryRecord | None], zone: ZoneInfo
) -> tuple[MemoryChange, ...]:
    """Return how each memory reads now, and would read if some files were changed.

    Args:
        pairs: Their content now and then, by path; None if absent.
        files: As they are now.
        record: Returns where a memory is, by its id.
    """

    def find(memory_id: str) -> tuple[str, PastMemory] | None:
        known = record(memory_id)
        content = files.read(known.path) if known is not None else None
        if known is None or content is None:
            return None
        unit = memories_in(known.path, content, zone).get(memory_id)
        return (known.path, unit) if unit is not None else None

    return compare_moments(pairs, find, zone, (None, None)).memories


def _changes(
    path: str, before: bytes | None, after: bytes | None, zone: ZoneInfo
) -> Iterator[tuple[int, MemoryChange]]:
    content = after if before is None else before if after is None else None
    if content is not None and is_entity(path):
        # Its parts were added or removed with it.
        one = whole_entity(path, content)
        change, was, now = ("added", None, one.text) if before is None else ("removed", one.text, None)
        yield one.line, MemoryChange(one.id, one.store, path, one.title, change, was, now)
        return
    old = memories_in(path, before, zone) if before is not None else {}
    new = memories_in(path, after, zone) if after is not None else {}
    for id_ in dict.fromkeys((*new, *old)):
        earlier, later = old.get(id_), new.get(id_)
        told = later or earlier
        if told is None:
            continue
        change = "added" if earlier is None else "removed" if later is None else "changed"
        standing = "superseded" if earlier is None and told.retired else ""
        if earlier and later and earlier.compared == later.compared:
            if earlier.pinned == later.pinned:
                continue
            change, standing = "scored", "pinned" if later.pinned else "unpinned"
        yield (
            told.line,
            MemoryChange(
                id_,
                told.store,
                path,
                told.title,
                change,
                earlier.text if earlier else None,
                later.text if later else None,
                standing,
            ),
        )


def _scored(
    pairs: Pairs, find: Callable[[str], tuple[str, PastMemory] | None], told: Collection[str]
) -> Iterator[MemoryChange]:
    """Yield the memories that the scores file pinned, unpinned, archived or restored, with their former text."""
    before, after = pairs.get(layout.DECAY_SCORES, (None, None))
    if before == after:
        return
    old, new = decided_in(before), decided_in(after)
    for id_ in sorted({*old, *new}):
        was, now = old.get(id_, _UNDECIDED), new.get(id_, _UNDECIDED)
        if was == now or id_ in told:
            continue
        found = find(id_)
        if found is None:
            continue
        path, unit = found
        # An entry that only repeats the pin of a text that did not change decides nothing.
        if unit.pinned and was[1] == now[1]:
            continue
        words = ("restored", "archived") if was[1] != now[1] else ("unpinned", "pinned")
        standing = words[now[1] if was[1] != now[1] else now[0]]
        yield MemoryChange(id_, unit.store, path, unit.title, "scored", unit.text, unit.text, standing)


def decided_in(content: bytes | None) -> dict[str, tuple[bool, bool]]:
    """Return whether each memory is pinned and archived by a scores file, of those that are either."""
    entries = decided_entries(content or b"")
    decided = {id_: (entry.pinned, is_archived(entry)) for id_, entry in entries.items()}
    return {id_: each for id_, each in decided.items() if any(each)}


def plan_memory_rollback(
    view: FileView,
    memory_id: str,
    then: FileView,
    commit: str,
    at: datetime,
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime],
) -> Plan[Reversal]:
    """Plan to restore one memory with its pin and archiving; everything else stays.

    A memory that did not exist then is archived like a forgotten one, which undo reverts. One that does not exist now
    returns to its former predecessor.

    Args:
        memory_id: A memory of then or now.
        then: The files of the commit.
        commit: Full hash of the commit.
        at: When it was made.
        now: Aware, in the workspace's zone.
        settings: They give the cap of core memory and the decay constants.
        first_seen: When memories entered the history, by id.

    Raises:
        InvalidInput: It is not an id, or names lines of a file.
        NotFound: There is no such memory then or now.
        Stale: It cannot be restored without the rest of its file.
        BudgetExceeded: Core memory would exceed its cap.
    """
    zone = settings.zone
    was, current = _placed(then, memory_id, zone), _placed(view, memory_id, zone)
    if was is None and current is None:
        raise NotFound(
            f"There was no memory {memory_id} at {commit[:_SHORT]}, and it does not exist now.",
            remedy=f"See what there was: workbench audit at {commit[:_SHORT]}",
        )
    if was is None:
        assert current is not None
        return _put_away(view, current, commit, at, now, settings, first_seen)
    overlay = Overlay(view)
    if was.id.kind == "file" and "#" in was.id.name:
        raise InvalidInput(
            "Lines of a file are no memory by themselves.",
            where=memory_id,
            remedy=f"Restore the file: workbench rollback --file {was.path}@{commit[:_SHORT]}",
        )
    if _is_file(was):
        overlay.write(was.path, then.read(was.path))
    else:
        _put_in_place(overlay, was, then, current)
        if was.id.kind == "core":
            after = CoreMemory.parse(overlay.read(was.path) or b"", was.path)
            within_cap(read_core(view), after, settings)
    scores = scores_of_memory(memory_id, then.read(layout.DECAY_SCORES), view.read(layout.DECAY_SCORES))
    overlay.write(layout.DECAY_SCORES, scores)
    return reverting_plan(
        overlay, (commit,), f"restored {memory_id} as of {_told(commit, at, zone)}", ((RESTORES, commit),)
    )


def plan_memories_rollback(
    view: FileView,
    memory_ids: Sequence[str],
    then: FileView,
    commit: str,
    at: datetime,
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime],
) -> Plan[Reversal]:
    """Plan to restore several memories in one commit, all or none; see `plan_memory_rollback`."""
    # What was not there then goes first, so that it leaves room in core memory for what comes back.
    ids = sorted(dict.fromkeys(memory_ids), key=lambda id_: _placed(then, id_, settings.zone) is not None)
    draft = Draft(view)
    reversals = [
        draft.lay(plan_memory_rollback(draft, id_, then, commit, at, now, settings, first_seen))
        for id_ in ids
    ]
    summary = f"restored {len(ids)} memories as of {_told(commit, at, settings.zone)}"
    changes = draft.changes()
    warnings = tuple(dict.fromkeys(told for reversal in reversals for told in reversal.warnings))
    return Plan(
        Action.REVERT,
        common_pattern([change.path for change in changes]) if changes else "*",
        summary,
        changes=changes,
        trailers=((RESTORES, commit),),
        outcome=Reversal((commit,), tuple(change.path for change in changes), warnings),
    )


def _placed(view: FileView, memory_id: str, zone: ZoneInfo) -> LocatedMemory | None:
    try:
        return locate_memory(view, memory_id, zone)
    except (NotFound, OutsideWorkspace):
        return None


def _is_file(memory: LocatedMemory) -> bool:
    return memory.id.block is None and memory.id.kind not in ("core", "episode")


def _put_away(
    view: FileView,
    memory: LocatedMemory,
    commit: str,
    at: datetime,
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime],
) -> Plan[Reversal]:
    plan = plan_archive(view, [str(memory.id)], now, settings, first_seen)
    paths = tuple(change.path for change in plan.changes)
    title = title_of(memory.title or memory.text)
    then = f"{at.astimezone(settings.zone):%Y-%m-%d %H:%M}"
    told = f"“{title}” was not there on {then}, so it was archived."
    return plan.answering(Reversal((commit,), paths, (told,)))


def _told(commit: str, at: datetime, zone: ZoneInfo) -> str:
    return f"{commit[:_SHORT]} ({at.astimezone(zone):%Y-%m-%d %H:%M})"


def _put_in_place(
    overlay: Overlay, was: LocatedMemory, then: FileView, current: LocatedMemory | None
) -> None:
    before, after = then.read(was.path) or b"", overlay.read(was.path) or b""
    names = _names(before, was.span.start)
    if current is not None:
        names |= _names(after, current.span.start)
    else:
        names |= _counterparts(before, after, was.span.start)
    content, conflicts = try_revert(was.path, before, after, after, only=names)
    if conflicts:
        raise conflict_error(was.path, conflicts)
    overlay.write(was.path, content)


def _names(content: bytes, line: int) -> set[str]:
    units = parse_units(content, markdown=True)
    return {unit_name(units.units[place]) for place in units.places_of(line)}


def _counterparts(before: bytes, after: bytes, line: int) -> set[str]:
    old, new = parse_units(before, markdown=True), parse_units(after, markdown=True)
    pairs = match_units(old.units, new.units)
    return {unit_name(new.units[pairs[place]]) for place in old.places_of(line) if place in pairs}
