"""Imports: places of other programs, a preview, taking in, and taking back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.engine import results
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.file_access import expand_home, printable_path
from workbench.engine.roles import Capability, require
from workbench.engine.services.import_run import MOST_TOLD, ImportRun, Progress, check_way, masked_but, new_in
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.proposals import ProposalService

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.plan import Attribution, FileView, Plan
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.transfer.plan import Import
    from workbench.engine.transfer.source import Piece
    from workbench.engine.transfer.undo import ImportUndo


_UNDOING: Final = "take an import back"
_SAMPLES: Final = 5
_SAMPLE_CHARACTERS: Final = 160


def _trigger(about: Import) -> str:
    from workbench.engine.transfer.undo import IMPORT_OF

    return f"{IMPORT_OF}{about.source}"


_PROGRAMS: Final = {
    "openclaw": "OpenClaw",
    "clawdbot": "Clawdbot",
    "moltbot": "Moltbot",
    "moldbot": "Moltbot",
    "clawd": "Clawdbot",
    "claude": "Claude Code",
}
_PATTERNS: Final = (
    ".openclaw",
    ".openclaw-*",
    ".clawdbot",
    ".moltbot",
    ".moldbot",
    "clawd",
    "clawd-*",
    ".claude",
)
_VARIABLES: Final = (
    "OPENCLAW_STATE_DIR",
    "OPENCLAW_WORKSPACE_DIR",
    "MOLTBOT_STATE_DIR",
    "CLAWDBOT_STATE_DIR",
    "CLAUDE_CONFIG_DIR",
)


class Imports:
    """What brings memory in that was kept elsewhere."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, proposals: ProposalService) -> None:
        self._context = context
        self._mutator = mutator
        self._proposals = proposals

    def import_preview(
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
        context = self._context
        check_way(imported_as)
        require(context.role, Capability.PROPOSE, doing="import memory")
        run = self._run(source, form, name, pre_image, imported_as, progress, cancelled)
        about, tally, ledger = run.about, run.tally, run.new_ledger()
        counts = {"episodes": 0, "notes": 0, "files": 0}
        moments: list[datetime] = []
        samples: list[results.transfer.ImportSample] = []
        for item in run.items():
            if cancelled():
                tally.complete = False
                break
            kind, text, moment = new_in(item, ledger, context.raw_files.read)
            tally.known += not kind
            run.tell(sum(counts.values()) + bool(kind))
            if not kind:
                continue
            counts[kind] += 1
            if moment is not None:
                moments = [min([moment, *moments[:1]]), max([moment, *moments[1:]])]
            if len(samples) < _SAMPLES and kind != "files":
                safe = partial(masked_but, allowed=context.settings.secrets.allow)
                shown = " ".join(safe(text[: _SAMPLE_CHARACTERS * 4]).split())[:_SAMPLE_CHARACTERS]
                samples.append(results.transfer.ImportSample(safe(str(item.place)), shown, moment))
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

    def import_from(
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
            progress: Told how far it is.
            cancelled: Asked between items; what stands then is kept.

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
                run.propose_all(
                    partial(self._propose_piece, about), self._proposals.proposer(_trigger(about))
                )
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

    def import_undo(self, commit: str, *, dry_run: bool = False) -> results.transfer.ImportUndone:
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
        from workbench.engine.memory.proposals import without
        from workbench.engine.transfer.undo import commits_of_import, plan_import_undo

        context = self._context
        require(context.role, Capability.ROLLBACK, doing=_UNDOING)
        by = self._mutator.attribution(f"import --undo {commit}")
        looking = context.looking_back
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
            kept=tuple(results.transfer.LeftOut(each.where, each.reason) for each in done.kept[:MOST_TOLD]),
            kept_count=len(done.kept),
            dry_run=dry_run,
        )

    def import_pre_images(self, source: str | Path) -> results.transfer.PreImages:
        """List the copies of MEMORY.md that OpenClaw took before it rewrote it, with what they say and memory does not.

        One of them comes in with `import_from(source, pre_image=NUMBER)`.

        Args:
            source: OpenClaw's state folder, or its `openclaw.sqlite`, which is read and never written.

        Raises:
            NotFound: There is no such database.
            DocumentError: It is damaged, or holds none.
            RoleRefused: This door may only read memory.
        """
        from workbench.engine.memory.wording import text_key
        from workbench.engine.transfer.agent_memory import PreImageSource, find_database, pre_images
        from workbench.engine.transfer.source import Piece, ReadingProgress

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
        check_way(imported_as)
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
    ) -> ImportRun:
        from workbench.engine.transfer.plan import Import
        from workbench.engine.transfer.recognition import open_source
        from workbench.engine.transfer.source import ReadingProgress, slug

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
            from workbench.engine.transfer.agent_memory import (
                PreImageSource,
                choose_pre_image,
                find_database,
                pre_images,
            )

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
        return ImportRun(
            context,
            self._mutator,
            opened,
            about,
            ReadingProgress(context.zone, context.root),
            imported_as,
            progress,
            cancelled,
        )

    def _propose_piece(self, about: Import, piece: Piece) -> results.reviews.Proposed:
        from workbench.engine.transfer.plan import citation

        return self._proposals.propose(
            masked_but(piece.body, self._context.settings.secrets.allow),
            store=piece.store,
            confidence=piece.confidence if piece.confidence in ("high", "medium", "low") else "medium",
            trigger=_trigger(about),
            tags=piece.tags,
            origins=(citation(about.name, piece.place),),
        )

    def _importer(self, about: Import) -> Attribution:
        from workbench.engine.history.plan import Attribution
        from workbench.engine.services.first_seen import RESTORING

        actor = f"{RESTORING if about.form == 'workbench' else 'import:'}{about.name}"
        person = self._context.role.kind == "person"
        approval = "approved" if person else "auto"
        return Attribution(actor, approval, _trigger(about), self._mutator.asker())

    def import_places(self) -> results.transfer.ImportPlaces:
        """Return the folders of the user in which other programs keep memory; none of them is looked into.

        Raises:
            RoleRefused: This door may only read memory.
        """
        require(self._context.role, Capability.PROPOSE, doing="import memory")
        return results.transfer.ImportPlaces(tuple(known_places(os.environ, Path.home(), self._context.root)))


def known_places(
    environment: Mapping[str, str], home: Path, workspace: Path
) -> Iterator[results.transfer.ImportPlace]:
    """Give the folders that are there, each once.

    Args:
        environment: Its variables may name folders of other programs.
        home: The user's folder.
        workspace: Never offered to itself, nor anything in it.
    """
    named = [
        (expand_home(environment[name]), name.split("_")[0].lower())
        for name in _VARIABLES
        if environment.get(name)
    ]
    usual = [
        (place, place.name.removeprefix(".").split("-")[0])
        for pattern in _PATTERNS
        for place in sorted(home.glob(pattern))
    ]
    seen = {workspace}
    for place, program in (*named, *usual):
        if not place.is_dir():
            continue
        real = place.resolve()
        if real in seen or workspace in real.parents:
            continue
        seen.add(real)
        yield results.transfer.ImportPlace(_at_home(place, home), _PROGRAMS[program])


def _at_home(place: Path, home: Path) -> str:
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)
