"""Memory from elsewhere, through the door: looked at first, taken in by batches, never twice."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.engine import results
from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.workspace.import_tally import (
    Tally,
    check_way,
    holds_no_secret,
    masked_but,
    new_in,
    tell_secrets,
)
from workbench.engine.workspace.proposing import Proposing

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history import Attribution, Plan, Receipt
    from workbench.engine.history.plan import FileView
    from workbench.engine.importing import Note, Piece, StoredFile
    from workbench.engine.importing.ledger import Account, Ledger
    from workbench.engine.importing.pieces import Reading, Source
    from workbench.engine.importing.planning import Batch, Import, Written

MOST_PROPOSALS: Final = 100
"""So many proposals come from one import; nobody decides on more in one go. The rest waits for the next one."""
_BATCH_PIECES: Final = 500
_BATCH_CHARACTERS: Final = 4_000_000
_BATCH_FILES: Final = 2_000
_BATCH_PROPOSALS: Final = 20
_SAMPLES: Final = 5
_SAMPLE_CHARACTERS: Final = 160

Progress = Callable[[results.ImportProgress], None]


class Importing(Proposing):
    """What brings memory in that was kept elsewhere."""

    def import_preview(
        self,
        source: str | Path,
        *,
        form: str | None = None,
        imported_as: results.ImportedAs = "memories",
        name: str | None = None,
        pre_image: int | None = None,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.ImportPreview:
        """Tell what an import would bring in, and what it would leave out; changes nothing.

        Args:
            source: A file or folder.
            form: What it is; found by looking at it if left out.
            imported_as: As for `import_from`.
            name: As for `import_from`.
            pre_image: As for `import_from`.
            progress: Told how far the reading is.
            cancelled: Asked between items.

        Raises:
            NotFound: There is nothing.
            InvalidInput: Nothing in it can be imported.
            RoleRefused: This door may only read memory.
        """
        ground = self._ground
        check_way(imported_as)
        require(ground.role, Capability.PROPOSE, doing="import memory")
        opened, about, reading = self._opened(source, form, name, pre_image)
        ledger, tally = self._ledger(), Tally()
        counts = {"episodes": 0, "notes": 0, "files": 0}
        moments: list[datetime] = []
        samples: list[results.ImportSample] = []
        for item in self._items(opened, reading, imported_as, tally):
            if cancelled():
                break
            kind, text, moment = new_in(item, ledger, ground.files.read)
            if not kind:
                tally.known += 1
                continue
            counts[kind] += 1
            if moment is not None:
                moments = [min([moment, *moments[:1]]), max([moment, *moments[1:]])]
            if len(samples) < _SAMPLES and kind != "files":
                shown = " ".join(text[: _SAMPLE_CHARACTERS * 2].split())[:_SAMPLE_CHARACTERS]
                samples.append(results.ImportSample(str(item.place), shown, moment))
            if progress is not None:
                progress(
                    results.ImportProgress(reading.done, reading.total, sum(counts.values()), tally.known)
                )
        return results.ImportPreview(
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
        )

    def import_from(
        self,
        source: str | Path,
        *,
        form: str | None = None,
        imported_as: results.ImportedAs = "memories",
        name: str | None = None,
        pre_image: int | None = None,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.Imported:
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
            progress: Told how far it is.
            cancelled: Asked between items; what stands then is kept.

        Raises:
            NotFound: There is nothing.
            InvalidInput: Nothing in it can be imported.
            RoleRefused: This door may not write; a sub-agent imports as proposals.
        """
        self._require_import(imported_as)
        opened, about, reading = self._opened(source, form, name, pre_image)
        tally = Tally()
        if imported_as != "proposals":
            self._importer(about)
        self._ground.prepare_writing()
        if imported_as == "proposals":
            self._propose_all(opened, about, reading, tally, progress, cancelled)
        else:
            self._store_all(opened, about, reading, imported_as, tally, progress, cancelled)
        if tally.commits:
            # From now on what came in is as young as its import.
            self._ground.refresh()
        return results.Imported(
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

    def import_pre_images(self, source: str | Path) -> results.PreImages:
        """List the copies of MEMORY.md that OpenClaw took before it rewrote it, with what they say and memory does not.

        One of them comes in with `import_from(source, pre_image=NUMBER)`.

        Args:
            source: OpenClaw's state folder, or its `openclaw.sqlite`, which is read and never written.

        Raises:
            NotFound: There is no such database.
            DocumentError: It is damaged, or holds none.
            RoleRefused: This door may only read memory.
        """
        from workbench.engine.importing import Piece
        from workbench.engine.importing.opening import shown
        from workbench.engine.importing.pieces import Reading
        from workbench.engine.importing.pre_images import PreImageSource, find_database, pre_images
        from workbench.engine.stores import text_key

        ground = self._ground
        require(ground.role, Capability.PROPOSE, doing="import memory")
        database = find_database(Path(source))
        ground.refresh_for_reading()
        known = {text_key(record.text.lstrip("-*+ ")) for record in ground.lookups.memories()}
        rows = []
        for image in pre_images(database):
            items = PreImageSource(image).read(Reading(ground.zone))
            said = [item.text for item in items if isinstance(item, Piece)]
            missing = tuple(text for text in said if text_key(text) not in known)
            rows.append(
                results.PreImageRow(
                    image.number,
                    image.created,
                    shown(image.workspace),
                    len(image.content),
                    len(said),
                    missing,
                )
            )
        return results.PreImages(shown(database.name), tuple(rows))

    # Inner parts

    def _require_import(self, imported_as: str) -> None:
        check_way(imported_as)
        role = self._ground.role
        require(role, Capability.PROPOSE, doing="import memory")
        if imported_as != "proposals" and not role.may(Capability.WRITE_MEMORY):
            raise RoleRefused(
                f"The agent {role.name} may not write memory.",
                where=str(role),
                remedy="Import it as proposals; the main agent or the person decides.",
            )

    def _opened(
        self, source: str | Path, form: str | None, name: str | None, pre_image: int | None
    ) -> tuple[Source, Import, Reading]:
        from workbench.engine.importing import open_source
        from workbench.engine.importing.opening import shown
        from workbench.engine.importing.pieces import Reading
        from workbench.engine.importing.planning import Import
        from workbench.engine.importing.words import slug

        ground = self._ground
        place = Path(source)
        resolved = place.expanduser().resolve()
        if form != "workbench" and (resolved == ground.root or ground.root in resolved.parents):
            raise InvalidInput(
                "This lies in the workspace itself, where it is memory already.",
                where=shown(str(source)),
                remedy="Name a file or folder elsewhere.",
            )
        if pre_image is None:
            opened = open_source(place, form)
        else:
            from workbench.engine.importing.pre_images import (
                PreImageSource,
                choose,
                find_database,
                pre_images,
            )

            database = find_database(place)
            opened = PreImageSource(choose(pre_images(database), pre_image, shown(str(source))))
        now = ground.now()
        about = Import(
            name=slug(name) if name else opened.name,
            form=opened.form,
            source=shown(resolved.name),
            started=now,
            zone=ground.zone,
        )
        return opened, about, Reading(ground.zone)

    def _ledger(self) -> Ledger:
        from workbench.engine.importing.ledger import Ledger

        return Ledger.of(self._ground.files)

    def _items(
        self, opened: Source, reading: Reading, imported_as: str, tally: Tally
    ) -> Iterator[Piece | Note | StoredFile]:
        from workbench.engine.importing import Note, Skipped
        from workbench.engine.importing.documents import pieces_of

        for item in opened.read(reading):
            if isinstance(item, Skipped):
                tally.leave_out(item)
            elif isinstance(item, Note) and imported_as != "memories":
                yield from pieces_of(item)
            else:
                yield item

    def _store_all(
        self,
        opened: Source,
        about: Import,
        reading: Reading,
        imported_as: str,
        tally: Tally,
        progress: Progress | None,
        cancelled: Callable[[], bool],
    ) -> None:
        from workbench.engine.importing import StoredFile
        from workbench.engine.importing.planning import Batch

        ledger, files_read = self._ledger(), self._ground.files.read
        by = self._importer(about)
        batch, files = Batch(), list[StoredFile]()
        allowed = self._ground.settings.secrets.allow

        def store() -> None:
            nonlocal batch, files
            if batch:
                self._store(batch, about, by, ledger, tally)
            if files:
                self._bring_back(files, about, by, ledger, tally)
            if batch or files:
                ledger.catch_up(self._ground.files)
            batch, files = Batch(), list[StoredFile]()
            if progress is not None:
                progress(results.ImportProgress(reading.done, reading.total, tally.added, tally.known))

        for item in self._items(opened, reading, imported_as, tally):
            if cancelled():
                tally.complete = False
                break
            if not new_in(item, ledger, files_read, note=False)[0]:
                tally.known += 1
            elif isinstance(item, StoredFile):
                if holds_no_secret(item, allowed, tally):
                    files.append(item)
            else:
                tell_secrets(item, allowed, tally)
                batch.add(item)
            if (
                len(batch) >= _BATCH_PIECES
                or batch.characters >= _BATCH_CHARACTERS
                or len(files) >= _BATCH_FILES
            ):
                store()
            elif progress is not None:
                progress(
                    results.ImportProgress(
                        reading.done, reading.total, tally.added + len(batch) + len(files), tally.known
                    )
                )
        store()

    def _store(self, batch: Batch, about: Import, by: Attribution, ledger: Ledger, tally: Tally) -> None:
        from workbench.engine.importing.planning import plan_batch

        clean = partial(masked_but, allowed=self._ground.settings.secrets.allow)

        def plan(view: FileView) -> Plan[Written]:
            return plan_batch(view, batch, about, lambda: copy.deepcopy(ledger), clean)

        self._count(self._ground.mutate(plan, by, Capability.WRITE_MEMORY, doing="import memory"), tally)

    def _bring_back(
        self, files: list[StoredFile], about: Import, by: Attribution, ledger: Ledger, tally: Tally
    ) -> None:
        from workbench.engine.documents import TEMPLATES, load_template
        from workbench.engine.importing.restoring import Rights, plan_restore_files

        rights = Rights(
            critical=self._ground.role.may(Capability.TOUCH_CRITICAL),
            blank=frozenset((path, load_template(path)) for path in TEMPLATES),
        )

        def plan(view: FileView) -> Plan[Written]:
            return plan_restore_files(view, files, about, rights, lambda: copy.deepcopy(ledger))

        self._count(self._ground.mutate(plan, by, Capability.WRITE_MEMORY, doing="import memory"), tally)

    def _count(self, receipt: Receipt[Written], tally: Tally) -> None:
        written = receipt.outcome
        tally.added += written.added
        tally.known += written.known
        tally.ids.extend(written.ids)
        tally.files |= dict.fromkeys(receipt.files)
        for skipped in written.skipped:
            tally.leave_out(skipped)
        if receipt.commit is not None:
            tally.commits.append(receipt.commit)

    def _propose_all(
        self,
        opened: Source,
        about: Import,
        reading: Reading,
        tally: Tally,
        progress: Progress | None,
        cancelled: Callable[[], bool],
    ) -> None:
        from workbench.engine.importing import Piece, Skipped
        from workbench.engine.importing.ledger import Account
        from workbench.engine.importing.planning import citation

        ledger, account, by = self._ledger(), Account(), self._proposer(f"import of {about.source}")
        for item in self._items(opened, reading, "proposals", tally):
            if not isinstance(item, Piece):
                tally.leave_out(Skipped(str(item.place), "Files of a workspace cannot be proposed."))
                continue
            rest = ledger.new_part(item)
            if rest is None:
                tally.known += 1
                continue
            if cancelled() or len(tally.proposals) >= MOST_PROPOSALS:
                tally.complete = False
                break
            try:
                proposed = self.propose(
                    masked_but(rest.body, self._ground.settings.secrets.allow),
                    store=rest.store,
                    confidence=rest.confidence if rest.confidence in ("high", "medium", "low") else "medium",
                    trigger=f"import of {about.source}",
                    tags=rest.tags,
                    origins=(citation(about.name, rest.place),),
                )
            except InvalidInput as error:
                tally.leave_out(Skipped(str(item.place), error.told))
                continue
            account.add(item)
            ledger.pieces[item.key] = account.pieces[item.key]
            if proposed.commit is None:
                tally.known += 1
            else:
                tally.added += 1
                tally.proposals.append(proposed.number)
                tally.commits.append(proposed.commit)
                tally.files |= dict.fromkeys(proposed.files)
            if len(account.pieces) >= _BATCH_PROPOSALS:
                self._note(account, about, by)
                account = Account()
            if progress is not None:
                progress(results.ImportProgress(reading.done, reading.total, tally.added, tally.known))
        self._note(account, about, by)

    def _note(self, account: Account, about: Import, by: Attribution) -> None:
        from workbench.engine.history.plan import Action
        from workbench.engine.importing.ledger import FOLDER
        from workbench.engine.importing.planning import note
        from workbench.engine.stores import Draft

        if not account.pieces:
            return

        def plan(view: FileView) -> Plan[None]:
            draft = Draft(view)
            note(draft, account, about)
            return draft.plan(Action.PROPOSE, FOLDER, f"noted what was proposed from {about.source}", None)

        self._ground.mutate(plan, by, Capability.PROPOSE, doing="import memory")

    def _importer(self, about: Import) -> Attribution:
        from workbench.engine.history import Attribution
        from workbench.engine.workspace.first_seen import RESTORING

        # Refused here already where the door was opened for an actor that an agent cannot be.
        self._ground.attribution("import")
        actor = f"{RESTORING if about.form == 'workbench' else 'import:'}{about.name}"
        person = self._ground.role.kind == "person"
        return Attribution(actor, "approved" if person else "auto", f"import of {about.source}")
