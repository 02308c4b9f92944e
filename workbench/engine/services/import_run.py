"""One import carried out: what is new, known or left out; stored in batches."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.engine import results
from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.engine.roles import Capability

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.plan import Attribution, FileView, Plan, Planner
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.mutator import Mutator
    from workbench.engine.transfer.plan import Batch, Import, ImportAccount, Ledger, Written
    from workbench.engine.transfer.source import Note, Piece, ReadingProgress, Skipped, Source, StoredFile


WAYS: Final = ("memories", "episodes", "proposals")
MOST_TOLD: Final = 200


@dataclass
class ImportTally:
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
        if len(self.left_out) < MOST_TOLD:
            self.left_out.append(results.transfer.LeftOut(skipped.where, skipped.reason))


def check_way(imported_as: str) -> None:
    """Let pass what is a way to import.

    Raises:
        InvalidInput: It is none.
    """
    if imported_as not in WAYS:
        raise InvalidInput(
            f"“{imported_as[:40]}” is no way to import.", remedy=f"Ways are {', '.join(WAYS)}."
        )


def masked_but(text: str, allowed: Collection[str]) -> str:
    """Return a text without what looks like a secret, but for those that a person lets in."""
    from workbench.engine.secrets.detection import find_secrets

    for secret in reversed(find_secrets(text)):
        if secret.digest not in allowed:
            text = f"{text[: secret.start]}[secret left out]{text[secret.start + len(secret.text) :]}"
    return text


def tell_secrets(item: Piece | Note, allowed: Collection[str], tally: ImportTally) -> None:
    """Tell of every secret in an item that it is left out."""
    from workbench.engine.secrets.detection import find_secrets
    from workbench.engine.transfer.source import Note, Skipped

    for secret in find_secrets(item.text if isinstance(item, Note) else item.body):
        if secret.digest not in allowed:
            told = f"What looks like a secret ({secret.kind}) is left out of it; the rest is stored."
            tally.leave_out(Skipped(str(item.place), told))


def has_no_secret_name(item: Piece | Note | StoredFile, allowed: Collection[str], tally: ImportTally) -> bool:
    """Tell whether memory may say where an item is from: what is named with a secret stays out, and is told."""
    from workbench.engine.secrets.detection import find_secrets
    from workbench.engine.transfer.source import Skipped

    name = str(item.place)
    found = [secret for secret in find_secrets(name) if secret.digest not in allowed]
    for secret in found:
        told = (
            f"Its name holds what looks like a secret ({secret.kind}). Rename it; or a person lets it in: "
            "workbench secrets allow "
        )
        tally.leave_out(Skipped(masked_but(name, allowed), told + secret.digest))
    return not found


def holds_no_secret(item: StoredFile, allowed: Collection[str], tally: ImportTally) -> bool:
    """Tell whether a file may be brought back; one with a secret may not, since files come back whole or not at all."""
    from workbench.engine.secrets.detection import find_secrets, text_of
    from workbench.engine.transfer.source import Skipped

    found = [secret for secret in find_secrets(text_of(item.content)) if secret.digest not in allowed]
    for secret in found:
        told = f"It holds what looks like a secret ({secret.kind}). A person lets it in: workbench secrets allow "
        tally.leave_out(Skipped(str(item.place), told + secret.digest))
    return not found


def new_in(
    item: Piece | Note | StoredFile, ledger: Ledger, read: Callable[[str], bytes | None], *, note: bool = True
) -> tuple[str, str, datetime | None]:
    """Tell what kind of new thing an item is, with its text and moment; an empty kind where it is known.

    Args:
        item: What was read.
        ledger: The account.
        read: Reads a file of the workspace.
        note: Whether the item counts as known from now on.
    """
    from workbench.engine.transfer.source import Note, Piece

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


MOST_PROPOSALS: Final = 100
"""So many proposals come from one import; nobody decides on more in one go. The rest waits for the next one."""
_BATCH_PIECES: Final = 500
# Half a second's work: so long it takes until an import stops that was called off.
_BATCH_CHARACTERS: Final = 1_000_000
_BATCH_FILES: Final = 2_000
_BATCH_PROPOSALS: Final = 20
_DOING: Final = "import memory"

Progress = Callable[[results.transfer.ImportProgress], None]


@dataclass
class ImportRun:
    """An import, and what it has come to.

    Args:
        context: The open workspace.
        mutator: What changes it.
        source: What is read.
        about: What the import is called.
        reading: How far the reading is.
        imported_as: `memories`, `episodes` or `proposals`.
        progress: Told how far it is.
        cancelled: Asked between items.
    """

    context: WorkspaceContext
    mutator: Mutator
    source: Source
    about: Import
    reading: ReadingProgress
    imported_as: results.transfer.ImportedAs
    progress: Progress | None = None
    cancelled: Callable[[], bool] = lambda: False
    tally: ImportTally = field(default_factory=ImportTally, init=False)

    def new_ledger(self) -> Ledger:
        """Return the account of what was imported before."""
        from workbench.engine.transfer.plan import Ledger

        return Ledger.of(self.context.files)

    def items(self) -> Iterator[Piece | Note | StoredFile]:
        """Yield what is read, in the form that is wanted; what is left out is noted."""
        from workbench.engine.transfer.documents import pieces_of
        from workbench.engine.transfer.source import Note, Skipped

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
        from workbench.engine.transfer.plan import Batch
        from workbench.engine.transfer.source import StoredFile

        ledger, read = self.new_ledger(), self.context.raw_files.read
        tally, allowed = self.tally, self.context.settings.secrets.allow
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

    def propose_all(self, propose: Callable[[Piece], results.reviews.Proposed], by: Attribution) -> None:
        """Propose everything that is new, up to as much as somebody decides on.

        Args:
            propose: Proposes one thing.
            by: Who notes in the account that it was proposed.
        """
        from workbench.engine.transfer.plan import ImportAccount
        from workbench.engine.transfer.source import Piece, Skipped

        ledger, account, tally = self.new_ledger(), ImportAccount(), self.tally
        allowed = self.context.settings.secrets.allow
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
                account = ImportAccount()
            self.tell(tally.added)
        self._note(account, by)

    def _batch_planner(self, batch: Batch, ledger: Ledger) -> Planner[Written]:
        from workbench.engine.transfer.plan import plan_batch

        clean = partial(masked_but, allowed=self.context.settings.secrets.allow)
        return lambda view: plan_batch(view, batch, self.about, lambda: copy.deepcopy(ledger), clean)

    def _files_planner(self, files: list[StoredFile], ledger: Ledger) -> Planner[Written]:
        from workbench.engine.markdown.template import TEMPLATES, load_template
        from workbench.engine.transfer.plan import RestoreRights, plan_restore_files

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
        from workbench.engine.history.plan import Action
        from workbench.engine.memory.draft import Draft
        from workbench.engine.transfer.plan import FOLDER, record_in_ledger

        if not account.pieces:
            return

        def plan(view: FileView) -> Plan[None]:
            draft = Draft(view)
            record_in_ledger(draft, account, self.about)
            told = f"noted what was proposed from {self.about.source}"
            return draft.plan(Action.PROPOSE, FOLDER, told, None)

        self.mutator.mutate(plan, by, Capability.PROPOSE, doing=_DOING)
