"""Imports: places of other programs, a preview, taking in batch by batch, and taking back."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from workbench.engine import results
from workbench.engine.errors import InvalidInput, RoleRefused, WorkbenchError
from workbench.engine.file_access import printable_path
from workbench.engine.history.plan import Action, Attribution, FileView, Plan, Planner
from workbench.engine.markdown.source import TEMPLATES, load_template
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.proposals import without
from workbench.engine.memory.wording import text_key
from workbench.engine.roles import Capability, require
from workbench.engine.secrets.detection import LEFT_OUT, Secret, find_secrets, text_of
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.past import PastReader
from workbench.engine.services.proposals import Proposals
from workbench.engine.services.scores import RESTORING
from workbench.engine.transfer.agent_memory import PreImageSource, choose_pre_image, find_database, pre_images
from workbench.engine.transfer.documents import pieces_of
from workbench.engine.transfer.plan import (
    FOLDER,
    IMPORT_OF,
    Batch,
    Import,
    ImportAccount,
    ImportUndo,
    Ledger,
    RestoreRights,
    Written,
    citation,
    commits_of_import,
    plan_batch,
    plan_import_undo,
    plan_restore_files,
    record_in_ledger,
)
from workbench.engine.transfer.recognition import known_places, open_source
from workbench.engine.transfer.source import Note, Piece, ReadingProgress, Skipped, Source, StoredFile, slug

_WAYS: Final = ("memories", "episodes", "proposals")
_MOST_TOLD: Final = 200
MOST_PROPOSALS: Final = 100
"""So many proposals come from one import; nobody decides on more in one go. The rest waits for the next one."""
_BATCH_PIECES: Final = 500
# Half a second's work: so long it takes until an import stops that was called off.
_BATCH_CHARACTERS: Final = 1_000_000
_BATCH_FILES: Final = 2_000
_BATCH_PROPOSALS: Final = 20
_DOING: Final = "import memory"

Progress = Callable[["results.transfer.ImportProgress"], None]
_UNDOING: Final = "take an import back"
_SAMPLES: Final = 5
_SAMPLE_CHARACTERS: Final = 160


def _trigger(about: Import) -> str:
    return f"{IMPORT_OF}{about.source}"


class Imports:
    """What brings memory in that was kept elsewhere."""

    def __init__(
        self, context: WorkspaceContext, mutator: Mutator, proposals: Proposals, past: PastReader
    ) -> None:
        self._context = context
        self._mutator = mutator
        self._proposals = proposals
        self._past = past

    def preview(
        self,
        source: str | Path,
        *,
        form: str | None = None,
        imported_as: results.transfer.ImportedAs = "memories",
        name: str | None = None,
        pre_image: int | None = None,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.transfer.ImportPreview:
        """Tell what an import would bring in, and what it would leave out; changes nothing.

        Args:
            source: A file or folder.
            form: What it is; found by looking at it if left out.
            progress: Told how far the reading is.

        Raises:
            NotFound: There is nothing.
            InvalidInput: Nothing in it can be imported.
            RoleRefused: This door may only read memory.
        """
        context = self._context
        _require_way(imported_as)
        require(context.role, Capability.PROPOSE, doing="import memory")
        run = self._run(source, form, name, pre_image, imported_as, progress, cancelled)
        about, tally, ledger = run.about, run.tally, Ledger.of(self._context.files)
        counts = {"episodes": 0, "notes": 0, "files": 0}
        moments: list[datetime] = []
        samples: list[results.transfer.ImportSample] = []
        for item in run.items():
            if cancelled():
                tally.complete = False
                break
            kind, text, moment = _new_in(item, ledger, context.raw_files.read)
            tally.known += not kind
            run.tell(sum(counts.values()) + bool(kind))
            if not kind:
                continue
            counts[kind] += 1
            if moment is not None:
                moments = [min([moment, *moments[:1]]), max([moment, *moments[1:]])]
            if len(samples) < _SAMPLES and kind != "files":
                shown = " ".join(run.masked(text[: _SAMPLE_CHARACTERS * 4]).split())[:_SAMPLE_CHARACTERS]
                samples.append(results.transfer.ImportSample(run.masked(str(item.place)), shown, moment))
        return results.transfer.ImportPreview(
            source=about.source,
            form=about.form,
            name=about.name,
            imported_as=imported_as,
            **counts,
            known=tally.known,
            earliest=moments[0] if moments else None,
            latest=moments[-1] if moments else None,
            left_out=tuple(tally.left_out),
            left_out_count=tally.left_out_count,
            samples=tuple(samples),
            complete=tally.complete,
        )

    def run(
        self,
        source: str | Path,
        *,
        form: str | None = None,
        imported_as: results.transfer.ImportedAs = "memories",
        name: str | None = None,
        pre_image: int | None = None,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.transfer.Imported:
        """Bring in memory that was kept elsewhere, in batches of one commit each.

        What was imported before, also what was changed or removed since, does not come again. An import that was
        cut off goes on where it was when it is started again. What looks like a secret is left out of what is stored.

        Args:
            source: A file or folder; nothing else is read.
            form: What it is; found by looking at it if left out.
            imported_as: `memories` makes of each what fits it: episodes of what was said and noted, notes of
                documents. `episodes` makes episodes of documents too, passage by passage. `proposals` asks for
                everything, at most 100 things at once; that is all that a sub-agent may do.
            name: Under which its notes are kept and its actor is known; the source's own by default.
            pre_image: The number of a copy of MEMORY.md in a database of OpenClaw, to be read in place of the source.
            cancelled: Asked between items; what is stored by then is kept.

        Raises:
            NotFound: There is nothing.
            InvalidInput: Nothing in it can be imported.
            RoleRefused: This door may not write; a sub-agent imports as proposals.
        """
        self._require_import(imported_as)
        run = self._run(source, form, name, pre_image, imported_as, progress, cancelled)
        about, tally, context = run.about, run.tally, self._context
        if imported_as != "proposals":
            # Refused before anything is written where the door was opened for an actor that an agent cannot be.
            self._mutator.attribution("import")
        self._mutator.prepare_writing()
        with self._mutator.group.begun():
            if imported_as == "proposals":
                run.propose_all(partial(self._propose_piece, run), self._proposals.proposer(_trigger(about)))
            else:
                run.store_all(self._importer(about))
        # From now on what came in is as young as its import.
        if cancelled():
            context.refresh_later()
        elif tally.commits:
            context.refresh()
        return results.transfer.Imported(
            commit=tally.commits[-1] if tally.commits else None,
            files=tuple(tally.files),
            ids=tuple(tally.ids),
            source=about.source,
            form=about.form,
            name=about.name,
            imported_as=imported_as,
            added=tally.added,
            known=tally.known,
            commits=tuple(tally.commits),
            proposals=tuple(tally.proposals),
            complete=tally.complete,
            left_out=tuple(tally.left_out),
            left_out_count=tally.left_out_count,
        )

    def undo(self, commit: str, *, dry_run: bool = False) -> results.transfer.ImportUndone:
        """Take back what an import brought, whenever that was, in one commit that `undo` takes back.

        What was changed or decided on since stays and is named. Its account goes too, so that it can come again.

        Args:
            commit: Any commit of the import.
            dry_run: Say what would be done, and do nothing.

        Raises:
            NotFound: There is no such commit.
            InvalidInput: It is no import's, or that was taken back already.
            RoleRefused: This door may not take changes back.
        """
        context = self._context
        require(context.role, Capability.ROLLBACK, doing=_UNDOING)
        by = self._mutator.attribution(f"import --undo {commit}")
        looking = self._past
        commits, source = commits_of_import(looking.store, looking.line(), commit)

        def plan(view: FileView) -> Plan[ImportUndo]:
            return plan_import_undo(
                view, looking.store, commits, f"took back the import of {source}", without
            )

        receipt = None
        if not dry_run:
            receipt = self._mutator.mutate(plan, by, Capability.ROLLBACK, doing=_UNDOING)
        done = plan(context.raw_files).outcome if receipt is None else receipt.outcome
        return results.transfer.ImportUndone(
            commit=receipt.commit if receipt else None,
            files=receipt.files if receipt else (),
            ids=commits,
            source=source,
            removed=done.removed,
            kept=tuple(results.transfer.LeftOut(each.where, each.reason) for each in done.kept[:_MOST_TOLD]),
            kept_count=len(done.kept),
            dry_run=dry_run,
        )

    def pre_images(self, source: str | Path) -> results.transfer.PreImages:
        """List the copies of MEMORY.md that OpenClaw took before it rewrote it, with what they say and memory does not.

        One of them comes in with `import_from(source, pre_image=NUMBER)`.

        Args:
            source: OpenClaw's state folder, or its `openclaw.sqlite`, which is read and never written.

        Raises:
            NotFound: There is no such database.
            DocumentError: It is damaged, or holds none.
            RoleRefused: This door may only read memory.
        """
        context = self._context
        require(context.role, Capability.PROPOSE, doing="import memory")
        database = find_database(Path(source))
        context.refresh_for_reading()
        known = {text_key(record.text.lstrip("-*+ ")) for record in context.lookups.memories()}
        rows = []
        for image in pre_images(database):
            items = PreImageSource(image).read(ReadingProgress(context.zone))
            said = [item.text for item in items if isinstance(item, Piece)]
            missing = tuple(text for text in said if text_key(text) not in known)
            rows.append(
                results.transfer.PreImageRow(
                    image.number,
                    image.created,
                    printable_path(image.workspace),
                    len(image.content),
                    len(said),
                    missing,
                )
            )
        return results.transfer.PreImages(printable_path(database.name), tuple(rows))

    # Inner parts

    def _require_import(self, imported_as: str) -> None:
        _require_way(imported_as)
        role = self._context.role
        require(role, Capability.PROPOSE, doing="import memory")
        if imported_as != "proposals" and not role.may(Capability.WRITE_MEMORY):
            raise RoleRefused(
                f"The agent {role.name} may not write memory.",
                where=str(role),
                remedy="Import it as proposals; the main agent or the person decides.",
            )

    def _run(
        self,
        source: str | Path,
        form: str | None,
        name: str | None,
        pre_image: int | None,
        imported_as: results.transfer.ImportedAs,
        progress: Progress | None,
        cancelled: Callable[[], bool],
    ) -> _ImportRun:
        context = self._context
        place = Path(source)
        resolved = place.expanduser().resolve()
        if form != "workbench" and (resolved == context.root or context.root in resolved.parents):
            raise InvalidInput(
                "This lies in the workspace itself, which reads MEMORY.md and memory/ without an import.",
                where=printable_path(str(source)),
                remedy="Notes elsewhere in it are searched where they are once search.extra_paths names them; "
                "to make memory of them, move them below memory/.",
            )
        if pre_image is None:
            opened = open_source(place, form)
        else:
            database = find_database(place)
            opened = PreImageSource(
                choose_pre_image(pre_images(database), pre_image, printable_path(str(source)))
            )
        now = context.now()
        about = Import(
            name=slug(name) if name else opened.name,
            form=opened.form,
            source=printable_path(resolved.name),
            started=now,
            zone=context.zone,
        )
        return _ImportRun(
            context,
            self._mutator,
            opened,
            about,
            ReadingProgress(context.zone, context.root),
            imported_as,
            progress,
            cancelled,
        )

    def _propose_piece(self, run: _ImportRun, piece: Piece) -> results.reviews.Proposed:
        return self._proposals.propose(
            run.masked(piece.body),
            store=piece.store,
            confidence=piece.confidence if piece.confidence in ("high", "medium", "low") else "medium",
            trigger=_trigger(run.about),
            tags=piece.tags,
            origins=(citation(run.about.name, piece.place),),
        )

    def _importer(self, about: Import) -> Attribution:
        actor = f"{RESTORING if about.form == 'workbench' else 'import:'}{about.name}"
        person = self._context.role.kind == "person"
        approval = "approved" if person else "auto"
        return Attribution(actor, approval, _trigger(about), self._mutator.asker())

    def places(self) -> results.transfer.ImportPlaces:
        """Return the folders of the user in which other programs keep memory; of what they hold only names are read.

        Raises:
            RoleRefused: This door may only read memory.
        """
        require(self._context.role, Capability.PROPOSE, doing="import memory")
        return results.transfer.ImportPlaces(tuple(known_places(os.environ, Path.home(), self._context.root)))


def _require_way(imported_as: str) -> None:
    if imported_as not in _WAYS:
        raise InvalidInput(
            f"“{imported_as[:40]}” is no way to import.", remedy=f"Ways are {', '.join(_WAYS)}."
        )


@dataclass
class _Tally:
    """What an import has come to."""

    added: int = 0
    known: int = 0
    left_out: list[results.transfer.LeftOut] = field(default_factory=list)
    left_out_count: int = 0
    commits: list[str] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    proposals: list[int] = field(default_factory=list)
    complete: bool = True

    def leave_out(self, skipped: Skipped) -> None:
        """Note that something is left out; the first 200 are told one by one."""
        self.left_out_count += 1
        if len(self.left_out) < _MOST_TOLD:
            self.left_out.append(results.transfer.LeftOut(skipped.where, skipped.reason))


def _new_in(
    item: Piece | Note | StoredFile, ledger: Ledger, read: Callable[[str], bytes | None], *, note: bool = True
) -> tuple[str, str, datetime | None]:
    """Tell what kind of new thing an item is, with its text and moment; an empty kind where it is known.

    Args:
        read: Reads a file of the workspace.
        note: Whether the item counts as known from now on.
    """
    if isinstance(item, Note):
        known = ledger.knows(item)
        if note:
            ledger.notes[item.key] = ""
        return "" if known else "notes", item.text, item.moment
    if isinstance(item, Piece):
        rest = ledger.new_part(item)
        if note:
            ledger.pieces[item.key] = item.standing() if item.turns else ""
        return ("", "", None) if rest is None else ("episodes", rest.body, rest.moment)
    if item.key in ledger.pieces:
        return "", "", None
    try:
        same = read(item.path) == item.content
    except WorkbenchError:
        same = False
    return "" if same else "files", "", None


@dataclass
class _ImportRun:
    """An import, and what it has come to.

    Args:
        about: What the import is called.
        reading: How far the reading is.
        imported_as: `memories`, `episodes` or `proposals`.
    """

    context: WorkspaceContext
    mutator: Mutator
    source: Source
    about: Import
    reading: ReadingProgress
    imported_as: results.transfer.ImportedAs
    progress: Progress | None
    cancelled: Callable[[], bool]
    tally: _Tally = field(default_factory=_Tally, init=False)

    @property
    def allowed(self) -> Collection[str]:
        """Return the digests of the secrets that a person lets in."""
        return self.context.settings.secrets.allow

    def masked(self, text: str) -> str:
        """Return a text without what looks like a secret, but for those that a person lets in."""
        for secret in reversed(self._secrets_in(text)):
            text = f"{text[: secret.start]}{LEFT_OUT}{text[secret.start + len(secret.text) :]}"
        return text

    def items(self) -> Iterator[Piece | Note | StoredFile]:
        """Yield what is read, in the form that is wanted; what is left out is noted."""
        for item in self.source.read(self.reading):
            if isinstance(item, Skipped):
                self.tally.leave_out(item)
            elif isinstance(item, Note) and self.imported_as != "memories":
                yield from pieces_of(item)
            else:
                yield item

    def tell(self, added: int) -> None:
        """Say how far it is.

        Args:
            added: How much is new so far.
        """
        if self.progress is not None:
            reading = self.reading
            self.progress(
                results.transfer.ImportProgress(reading.done, reading.total, added, self.tally.known)
            )

    def store_all(self, by: Attribution) -> None:
        """Store everything that is new, in batches of one commit each."""
        ledger, read = Ledger.of(self.context.files), self.context.raw_files.read
        tally = self.tally
        batch, files = Batch(), list[StoredFile]()

        def store() -> None:
            nonlocal batch, files
            if batch:
                self._count(self._batch_planner(batch, ledger), by)
            if files:
                self._count(self._files_planner(files, ledger), by)
            if batch or files:
                ledger.catch_up(self.context.files)
            batch, files = Batch(), []
            self.tell(tally.added)

        for item in self.items():
            if self.cancelled():
                tally.complete = False
                break
            if not _new_in(item, ledger, read, note=False)[0]:
                tally.known += 1
            elif self._is_named_with_a_secret(item):
                continue
            elif isinstance(item, StoredFile):
                if not self._holds_a_secret(item):
                    files.append(item)
            else:
                self._tell_secrets(item)
                batch.add(item)
            if (
                len(batch) >= _BATCH_PIECES
                or batch.characters >= _BATCH_CHARACTERS
                or len(files) >= _BATCH_FILES
            ):
                store()
            else:
                self.tell(tally.added + len(batch) + len(files))
        store()

    def propose_all(self, propose: Callable[[Piece], results.reviews.Proposed], by: Attribution) -> None:
        """Propose everything that is new, up to as much as somebody decides on.

        Args:
            propose: Proposes one thing.
            by: Who notes in the account that it was proposed.
        """
        ledger, account, tally = Ledger.of(self.context.files), ImportAccount(), self.tally
        for item in self.items():
            if not isinstance(item, Piece):
                tally.leave_out(Skipped(str(item.place), "Files of a workspace cannot be proposed."))
                continue
            rest = ledger.new_part(item)
            if rest is None:
                tally.known += 1
                continue
            if self._is_named_with_a_secret(item):
                continue
            if self.cancelled() or len(tally.proposals) >= MOST_PROPOSALS:
                tally.complete = False
                break
            try:
                proposed = propose(rest)
            except InvalidInput as error:
                tally.leave_out(Skipped(str(item.place), error.told))
                continue
            account.add(item)
            ledger.pieces[item.key] = account.pieces[item.key]
            account.became[item.key] = f"#{proposed.number}"
            if proposed.commit is None:
                tally.known += 1
            else:
                tally.added += 1
                tally.proposals.append(proposed.number)
                tally.commits.append(proposed.commit)
                tally.files |= dict.fromkeys(proposed.files)
            if len(account.pieces) >= _BATCH_PROPOSALS:
                self._note(account, by)
                account = ImportAccount()
            self.tell(tally.added)
        self._note(account, by)

    def _secrets_in(self, text: str) -> list[Secret]:
        return [secret for secret in find_secrets(text) if secret.digest not in self.allowed]

    def _tell_secrets(self, item: Piece | Note) -> None:
        for secret in self._secrets_in(item.text if isinstance(item, Note) else item.body):
            told = f"What looks like a secret ({secret.kind}) is left out of it; the rest is stored."
            self.tally.leave_out(Skipped(str(item.place), told))

    def _is_named_with_a_secret(self, item: Piece | Note | StoredFile) -> bool:
        """Leave an item out, and say so, if memory may not say where it is from."""
        name = str(item.place)
        found = self._secrets_in(name)
        for secret in found:
            told = (
                f"Its name holds what looks like a secret ({secret.kind}). Rename it; or a person lets it in: "
                "workbench secrets allow "
            )
            self.tally.leave_out(Skipped(self.masked(name), told + secret.digest))
        return bool(found)

    def _holds_a_secret(self, item: StoredFile) -> bool:
        """Leave a file with a secret out, and say so: files come back whole or not at all."""
        found = self._secrets_in(text_of(item.content))
        for secret in found:
            told = f"It holds what looks like a secret ({secret.kind}). A person lets it in: workbench secrets allow "
            self.tally.leave_out(Skipped(str(item.place), told + secret.digest))
        return bool(found)

    def _batch_planner(self, batch: Batch, ledger: Ledger) -> Planner[Written]:
        return lambda view: plan_batch(view, batch, self.about, lambda: copy.deepcopy(ledger), self.masked)

    def _files_planner(self, files: list[StoredFile], ledger: Ledger) -> Planner[Written]:
        rights = RestoreRights(
            critical=self.context.role.may(Capability.TOUCH_CRITICAL),
            blank=frozenset((path, load_template(path)) for path in TEMPLATES),
        )
        return lambda view: plan_restore_files(view, files, self.about, rights, lambda: copy.deepcopy(ledger))

    def _count(self, planner: Planner[Written], by: Attribution) -> None:
        receipt = self.mutator.mutate(planner, by, Capability.WRITE_MEMORY, doing=_DOING)
        written, tally = receipt.outcome, self.tally
        tally.added += written.added
        tally.known += written.known
        tally.ids.extend(written.ids)
        tally.files |= dict.fromkeys(receipt.files)
        for skipped in written.skipped:
            tally.leave_out(skipped)
        if receipt.commit is not None:
            tally.commits.append(receipt.commit)

    def _note(self, account: ImportAccount, by: Attribution) -> None:
        if not account.pieces:
            return

        def plan(view: FileView) -> Plan[None]:
            draft = Draft(view)
            record_in_ledger(draft, account, self.about)
            told = f"noted what was proposed from {self.about.source}"
            return draft.plan(Action.PROPOSE, FOLDER, told, None)

        self.mutator.mutate(plan, by, Capability.PROPOSE, doing=_DOING)
