"""One import while it is carried out: read item by item, stored batch by batch, proposed thing by thing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.engine.agents.roles import Capability
from workbench.engine.errors import InvalidInput
from workbench.engine.results.importing import ImportedAs, ImportProgress
from workbench.engine.results.proposals import Proposed
from workbench.engine.workspace.import_tally import (
    Tally,
    has_no_secret_name,
    holds_no_secret,
    masked_but,
    new_in,
    tell_secrets,
)

if TYPE_CHECKING:
    from workbench.engine.history.plan import Attribution, FileView, Plan, Planner
    from workbench.engine.importing import Note, Piece, StoredFile
    from workbench.engine.importing.ledger import Account, Ledger
    from workbench.engine.importing.pieces import Reading, Source
    from workbench.engine.importing.planning import Batch, Import, Written
    from workbench.engine.workspace.ground import Ground

MOST_PROPOSALS: Final = 100
"""So many proposals come from one import; nobody decides on more in one go. The rest waits for the next one."""
_BATCH_PIECES: Final = 500
# Half a second's work: so long it takes until an import stops that was called off.
_BATCH_CHARACTERS: Final = 1_000_000
_BATCH_FILES: Final = 2_000
_BATCH_PROPOSALS: Final = 20
_DOING: Final = "import memory"

Progress = Callable[[ImportProgress], None]


@dataclass
class ImportRun:
    """An import, and what it has come to.

    Args:
        ground: The open workspace.
        source: What is read.
        about: What the import is called.
        reading: How far the reading is.
        imported_as: `memories`, `episodes` or `proposals`.
        progress: Told how far it is.
        cancelled: Asked between items.
    """

    ground: Ground
    source: Source
    about: Import
    reading: Reading
    imported_as: ImportedAs
    progress: Progress | None = None
    cancelled: Callable[[], bool] = lambda: False
    tally: Tally = field(default_factory=Tally, init=False)

    def new_ledger(self) -> Ledger:
        """Return the account of what was imported before."""
        from workbench.engine.importing.ledger import Ledger

        return Ledger.of(self.ground.files)

    def items(self) -> Iterator[Piece | Note | StoredFile]:
        """Yield what is read, in the form that is wanted; what is left out is noted."""
        from workbench.engine.importing import Note, Skipped
        from workbench.engine.importing.documents import pieces_of

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
            self.progress(ImportProgress(reading.done, reading.total, added, self.tally.known))

    def store_all(self, by: Attribution) -> None:
        """Store everything that is new, in batches of one commit each."""
        from workbench.engine.importing import StoredFile
        from workbench.engine.importing.planning import Batch

        ledger, read = self.new_ledger(), self.ground.raw_files.read
        tally, allowed = self.tally, self.ground.settings.secrets.allow
        batch, files = Batch(), list[StoredFile]()

        def store() -> None:
            nonlocal batch, files
            if batch:
                self._count(self._batch_planner(batch, ledger), by)
            if files:
                self._count(self._files_planner(files, ledger), by)
            if batch or files:
                ledger.catch_up(self.ground.files)
            batch, files = Batch(), []
            self.tell(tally.added)

        for item in self.items():
            if self.cancelled():
                tally.complete = False
                break
            if not new_in(item, ledger, read, note=False)[0]:
                tally.known += 1
            elif not has_no_secret_name(item, allowed, tally):
                continue
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
            else:
                self.tell(tally.added + len(batch) + len(files))
        store()

    def propose_all(self, propose: Callable[[Piece], Proposed], by: Attribution) -> None:
        """Propose everything that is new, up to as much as somebody decides on.

        Args:
            propose: Proposes one thing.
            by: Who notes in the account that it was proposed.
        """
        from workbench.engine.importing import Piece, Skipped
        from workbench.engine.importing.ledger import Account

        ledger, account, tally = self.new_ledger(), Account(), self.tally
        allowed = self.ground.settings.secrets.allow
        for item in self.items():
            if not isinstance(item, Piece):
                tally.leave_out(Skipped(str(item.place), "Files of a workspace cannot be proposed."))
                continue
            rest = ledger.new_part(item)
            if rest is None:
                tally.known += 1
                continue
            if not has_no_secret_name(item, allowed, tally):
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
                account = Account()
            self.tell(tally.added)
        self._note(account, by)

    def _batch_planner(self, batch: Batch, ledger: Ledger) -> Planner[Written]:
        from workbench.engine.importing.planning import plan_batch

        clean = partial(masked_but, allowed=self.ground.settings.secrets.allow)
        return lambda view: plan_batch(view, batch, self.about, lambda: copy.deepcopy(ledger), clean)

    def _files_planner(self, files: list[StoredFile], ledger: Ledger) -> Planner[Written]:
        from workbench.engine.documents.template import TEMPLATES, load_template
        from workbench.engine.importing.restoring import Rights, plan_restore_files

        rights = Rights(
            critical=self.ground.role.may(Capability.TOUCH_CRITICAL),
            blank=frozenset((path, load_template(path)) for path in TEMPLATES),
        )
        return lambda view: plan_restore_files(view, files, self.about, rights, lambda: copy.deepcopy(ledger))

    def _count(self, planner: Planner[Written], by: Attribution) -> None:
        receipt = self.ground.mutate(planner, by, Capability.WRITE_MEMORY, doing=_DOING)
        written, tally = receipt.outcome, self.tally
        tally.added += written.added
        tally.known += written.known
        tally.ids.extend(written.ids)
        tally.files |= dict.fromkeys(receipt.files)
        for skipped in written.skipped:
            tally.leave_out(skipped)
        if receipt.commit is not None:
            tally.commits.append(receipt.commit)

    def _note(self, account: Account, by: Attribution) -> None:
        from workbench.engine.history.plan import Action
        from workbench.engine.importing.ledger import FOLDER
        from workbench.engine.importing.planning import note
        from workbench.engine.stores.drafting import Draft

        if not account.pieces:
            return

        def plan(view: FileView) -> Plan[None]:
            draft = Draft(view)
            note(draft, account, self.about)
            told = f"noted what was proposed from {self.about.source}"
            return draft.plan(Action.PROPOSE, FOLDER, told, None)

        self.ground.mutate(plan, by, Capability.PROPOSE, doing=_DOING)
