"""Who changed what and why, memory as it was, and taking changes back."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.errors import HistoryDamaged, InvalidInput, Locked, NotFound, StorageError
from workbench.engine.history.actions import decisions_of
from workbench.engine.history.audit import (
    Actions,
    LogFilter,
    blame,
    diff,
    iterate_entries,
    newest_actions,
    prune,
    show_commit,
)
from workbench.engine.history.commits import ASKED_BY, DECIDED, REVERTS, CommitMessage, parse_message
from workbench.engine.history.maintenance import verify
from workbench.engine.history.outside_edits import find_edits
from workbench.engine.history.permissions import PERSON, owner_in_words, refuse_others_since
from workbench.engine.history.revert import (
    Reversal,
    plan_action_revert,
    plan_any_revert,
    plan_reflection_rollback,
    revert,
    revert_action,
    rollback_file,
    rollback_reflection,
    rollback_to_commit,
)
from workbench.engine.history.undo import (
    UndoStep,
    next_redo,
    next_undo,
    redo,
    standing_changes,
    undo,
)
from workbench.engine.history.work_files import files_of_memory
from workbench.engine.roles import Capability, require, require_by_hand
from workbench.engine.secrets.detection import masked
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.inbox_ticks import Ticks
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.past import PastReader, read_time
from workbench.engine.services.secret_guard import follow_held_back, waiting
from workbench.engine.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.plan import FileView, Plan, Planner, Receipt
    from workbench.engine.past.past import Past
    from workbench.engine.steps import Progress

# Commits of one action that are read for what was decided in them.
_MOST_DECISIONS = 100


def _at_commit(text: str, form: str) -> tuple[str, str]:
    """Split what is to be restored from the commit to restore it from."""
    name, at, commit = text.rpartition("@")
    if not at or not name or not commit:
        what = "file" if form.startswith("PATH") else "memory"
        raise InvalidInput(f"This names no {what} at a commit.", where=text, remedy=f"Write {form}.")
    return name, commit


class Audit:
    """The history and memory at any moment of it; looking takes in outside edits first, where the role may."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, past: PastReader) -> None:
        self._context = context
        self._mutator = mutator
        self._past = past
        self._steps: tuple[tuple[str | None, str], tuple[results.audit.NextSteps, str | None]] | None = None

    def log(
        self,
        *,
        actor: str | None = None,
        action: str | None = None,
        file: str | None = None,
        since: str | None = None,
        until: str | None = None,
        text: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        actions: int | None = None,
    ) -> results.audit.AuditLog:
        """Return what changed, newest first; entries of one action name the same `group`.

        Args:
            actor: An actor tag or pattern, `reflection:*`.
            action: A word of the audit vocabulary.
            file: A path or pattern, `memory/graph/*`.
            since: Earliest time or day, also `3d` (ago), `12h`, `2w`, `today` or `yesterday`.
            until: Latest time or day, that day included.
            text: Words of the summary, file or actor.
            offset: Entries to pass over.
            actions: Most actions; all of their entries are given.

        Raises:
            InvalidInput: A time cannot be read, or a number is negative.
            HistoryDamaged: There was a history here, and it is gone.
        """
        for name, number in (("limit", limit), ("offset", offset), ("actions", actions)):
            if number is not None and number < 0:
                raise InvalidInput(f"{name} is {number}.", remedy="Give a number from 0 on.")
        self._context.adopt_for_reading()
        wanted = LogFilter(
            actor, action, file, self._time(since, "since"), self._time(until, "until", end=True), text
        )
        self._context.history.refuse_gone()
        if not self._context.has_history():
            return results.audit.AuditLog(())
        root, store, told = self._context.root, self._context.history.store, self._told_by_action()
        if actions is not None:
            found = newest_actions(map(told, iterate_entries(root, store)), wanted, actions)
        else:
            found = map(told, iterate_entries(root, store, wanted))
        end = sys.maxsize if limit is None else min(offset + limit, sys.maxsize)
        return results.audit.AuditLog(tuple(islice(found, min(offset, sys.maxsize), end)))

    def _told_by_action(self) -> Callable[[results.audit.AuditEntry], results.audit.AuditEntry]:
        """Return what adds to an entry the action it belongs to; in a damaged history each commit is one of its own."""
        try:
            return Actions(self._past.line()).told
        except HistoryDamaged:
            return lambda entry: replace(entry, group=entry.commit)

    def pages(self, size: int) -> Iterator[tuple[results.audit.AuditEntry, ...]]:
        """Yield the whole log, newest first, in pages, reading no further than is asked for.

        Args:
            size: Entries of a page, 1 or more.

        Raises:
            HistoryDamaged: There was a history here, and it is gone.
        """
        self._context.history.refuse_gone()
        if self._context.has_history():
            told = self._told_by_action()
            entries = map(told, iterate_entries(self._context.root, self._context.history.store))
            while page := tuple(islice(entries, size)):
                yield page

    def show(self, commit: str) -> results.audit.CommitView:
        """Return one commit with everything that accounts for it.

        Raises:
            NotFound: There is no such commit.
        """
        looking = self._past
        return show_commit(looking.store, looking.line(), commit)

    def diff(self, commit: str, *, path: str | None = None) -> results.audit.DiffView:
        """Return what one commit changed, or what changed between two.

        Args:
            commit: `abc1234`, or `abc1234..def5678`.
            path: Only this file.

        Raises:
            NotFound: There is no such commit.
        """
        self._context.history.refuse_gone()
        return diff(self._context.history.store, commit, path=path)

    def blame(self, path: str) -> results.audit.Blame:
        """Return who wrote each line of a file, and when.

        Raises:
            NotFound: The history does not know the file.
        """
        self._context.adopt_for_reading()
        self._context.history.refuse_gone()
        return blame(self._context.root, self._context.history.store, layout.normalise(path))

    def moment(self, time: str, *, path: str | None = None) -> results.audit.Moment:
        """Return memory as it was: the files of a commit, or of the newest commit not later than a time.

        Args:
            time: A time, a day, whose end is meant, or a commit.
            path: Give this file alone, with its text.

        Raises:
            NotFound: There is no such commit, or there was no such file.
            InvalidInput: It is neither a commit nor a time.
        """
        looking = self._past
        commit, asked = looking.found(time, "time")
        if commit is None:
            return results.audit.Moment(asked or self._context.now(), None, None, ())
        past = looking.of(commit, asked)
        return past.moment if path is None else past.moment_of(path)

    def verify(
        self,
        *,
        deep: bool = False,
        progress: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.audit.Verified:
        """Check that audit log, git history and files agree.

        A file that stays out of history until a person decides on a secret in it is no problem; it is named.

        Args:
            deep: Read every object of the history as well, which takes the git program.
            progress: Told now and then how far it has come.
            cancelled: Asked all the while.

        Raises:
            Cancelled: It was called off.
            HistoryError: The git program is needed and missing.
        """
        # What is damaged is what this is asked for: it is listed, and keeps nothing from being looked at.
        with suppress(HistoryDamaged, StorageError, Locked):
            self._context.adopt()
        verified = verify(self._context.history, deep=deep, progress=progress, cancelled=cancelled)
        if not any(each.kind == "outside-edit" for each in verified.problems):
            return verified
        left_out = {each.path for each in waiting(self._context) if each.is_left_out}
        waits = [each for each in verified.problems if each.kind == "outside-edit" and each.where in left_out]
        problems = tuple(
            replace(each, where=masked(each.where)) for each in verified.problems if each not in waits
        )
        return replace(
            verified,
            ok=not problems,
            problems=problems,
            waiting=tuple(masked(each.where) for each in waits),
        )

    def alerts(self) -> results.audit.Alerts:
        """Return the alerts of changed critical files, newest first.

        Raises:
            HistoryDamaged: There was a history here, and it is gone.
        """
        self._context.adopt_for_reading()
        self._context.history.refuse_gone()
        return results.audit.Alerts(
            tuple(self._context.history.alerts()) if self._context.has_history() else ()
        )

    def alerts_waiting(self) -> tuple[results.audit.Alert, ...]:
        """Return the alerts that nobody has acknowledged, newest first; quick."""
        return self._context.history.alerts(waiting=True) if self._context.has_history() else ()

    def acknowledge(self, alert: str, *more: str) -> results.memories.Changed:
        """Say that the change behind an alert, or behind several, has been seen, in one action; only a person may.

        Raises:
            NotFound: There is no such alert.
            RoleRefused: This door is no person's.
        """
        require(self._context.role, Capability.ACKNOWLEDGE, doing="acknowledge alerts")
        by, group = self._mutator.attribution("acknowledged an alert"), self._mutator.group
        commits = []
        with group.begun():
            for each in (alert, *more):
                receipt = self._context.history.acknowledge(each, by, group.trailers)
                group.note(receipt.commit)
                commits.append(receipt.commit)
        first = next((each for each in commits if each is not None), None)
        return results.memories.Changed(first, (), (alert, *more))

    def prune(self) -> results.memories.Changed:
        """Summarise what is older than the retention into monthly digests, out of the audit log."""
        require(self._context.role, Capability.WRITE_MEMORY, doing="prune the audit log")
        receipt = prune(self._context.history, self._context.settings.audit.retention_days)
        return results.memories.Changed(receipt.commit, receipt.files)

    def revert(
        self, commit_or_item: str, *, whole: bool = False, dry_run: bool = False
    ) -> results.memories.Changed:
        """Take back what one commit, or one item of a reflection (`r-012.3`), changed.

        Later changes elsewhere in the same files stay.

        Args:
            commit_or_item: Which.
            whole: Take back every commit of the action that this one belongs to, such as an import.
            dry_run: Say what would be done, and do nothing.

        Raises:
            NotFound: There is no such commit or item.
            Stale: What it changed was changed again since; names the later action.
        """
        told = f"revert {commit_or_item}"
        if dry_run:
            plan = plan_action_revert if whole else plan_any_revert
            return self._look(told, lambda: plan(self._context.history, commit_or_item))
        act = revert_action if whole else revert
        return self._take_back(
            told, lambda: act(self._context.history, commit_or_item, self._mutator.attribution(told))
        )

    def rollback(
        self,
        *,
        to: str | None = None,
        file: str | None = None,
        memory: str | Sequence[str] | None = None,
        reflection: str | None = None,
        dry_run: bool = False,
    ) -> results.memories.Changed:
        """Go back: the whole memory to a time, one file or one memory to a commit, or to before a reflection.

        Args:
            to: A time, a day, whose end is meant, or a commit.
            file: `PATH@COMMIT`.
            memory: `ID@COMMIT`: this memory alone reads again as it did then; or several of one commit, all or none.
            reflection: The reflection's id, `r-012`.
            dry_run: With a reflection: say what would be done, and do nothing.

        Raises:
            InvalidInput: Not exactly one of the four is given.
            NotFound: There is no such time, commit, file or reflection in the history.
            Stale: What the reflection changed was changed again since; names the later action.
        """
        require(self._context.role, Capability.ROLLBACK, doing="roll back")
        if sum(option is not None for option in (to, file, memory, reflection)) != 1:
            raise InvalidInput(
                "A rollback goes one way.", remedy="Give one of --to, --file, --memory and --reflection."
            )
        history = self._context.history

        def commits_by(actor: str) -> tuple[str, ...]:
            return self._past.line().by(actor)

        if dry_run:
            if reflection is None:
                raise InvalidInput("Only a reflection can be tried.", remedy="Leave out dry_run.")
            return self._look("roll back", lambda: plan_reflection_rollback(history, reflection, commits_by))
        if to is not None:
            return self._rollback_to(to)
        if memory is not None:
            return self._rollback_memories([memory] if isinstance(memory, str) else memory)
        if file is not None:
            path, commit = _at_commit(file, "PATH@COMMIT")
            path = layout.normalise(path)
            require_by_hand(self._context.role, path)
            by = self._mutator.attribution(f"rollback of {file}")
            return self._take_back("roll back", lambda: rollback_file(history, path, commit, by))
        by = self._mutator.attribution(f"rollback of reflection {reflection}")
        return self._take_back(
            "roll back", lambda: rollback_reflection(history, str(reflection), by, commits_by)
        )

    def _rollback_to(self, to: str) -> results.memories.Changed:
        by = self._mutator.attribution(f"rollback to {to}")

        def act() -> Receipt[Reversal]:
            commit, asked = self._past.moment(to, "to")
            return rollback_to_commit(self._context.history, commit, by, moment=asked)

        return self._take_back("roll back", act)

    def _rollback_memories(self, memories: Sequence[str]) -> results.memories.Changed:
        from workbench.engine.past.past import plan_memories_rollback, plan_memory_rollback
        from workbench.engine.services.scores import FirstSeen

        context = self._context
        named = [_at_commit(each, "ID@COMMIT") for each in memories]
        names, commit = [name for name, _ in named], named[0][1]
        if any(each != commit for _, each in named):
            raise InvalidInput(
                "Several memories come back as of one commit.", remedy="Name the same for all."
            )
        told = memories[0] if len(names) == 1 else f"{len(names)} memories"
        by = self._mutator.attribution(f"rollback of {told}")

        def act() -> Receipt[Reversal]:
            then = self._past.commit(commit)
            if not by.may_touch_critical:
                for name in names:
                    refuse_others_since(context.history.store, by.asker, then, files_of_memory(name))
            before, seen = context.history.at(then), FirstSeen(context.catalog)

            def plan(view: FileView) -> Plan[Reversal]:
                at = context.history.store.commit(then).moment
                rest = (before, then, at, context.now(), context.settings, seen)
                if len(names) == 1:
                    return plan_memory_rollback(view, names[0], *rest)
                return plan_memories_rollback(view, names, *rest)

            return context.history.mutate(plan, by)

        return self._take_back("roll back", act)

    def undo(
        self, *, mine: bool = False, confirmed: bool = False, expected: str | None = None
    ) -> results.memories.Changed:
        """Take back the newest action that is not undone yet, an import as a whole; again walks further back.

        Yours is what was asked for at a door of this role without naming another actor; a person's too is what was
        edited outside. What a reflection changed is the reflection's, even where a person approved it.

        Args:
            mine: Take back your own newest action, whatever others did since.
            confirmed: The newest action may be somebody else's; an agent takes back its own alone all the same.
            expected: A commit of the action that is meant.

        Raises:
            NotFound: There is nothing to undo.
            Refused: The newest action is a purge, which cannot be taken back.
            ConfirmationNeeded: The newest action is somebody else's, and nothing was changed.
            RoleRefused: It is somebody else's, and this door is no person's.
            Stale: Something of it was changed again since, or it is not the action that is meant.
        """
        asks = not confirmed and self._context.role.kind == "person"
        return self._take_back(
            "undo",
            lambda: undo(
                self._context.history,
                self._mutator.attribution("undo"),
                mine=mine,
                asks=asks,
                expected=expected,
            ),
        )

    def redo(self, *, confirmed: bool = False, expected: str | None = None) -> results.memories.Changed:
        """Do again what was undone last.

        Args:
            confirmed: Somebody else may have done it, or undone it.
            expected: A commit of the action that is meant.

        Raises:
            NotFound: There is nothing to redo.
            ConfirmationNeeded, RoleRefused, Stale: As for `undo`.
        """
        asks = not confirmed and self._context.role.kind == "person"
        return self._take_back(
            "redo",
            lambda: redo(
                self._context.history, self._mutator.attribution("redo"), asks=asks, expected=expected
            ),
        )

    def next_steps(self) -> results.audit.NextSteps:
        """Return what undo and redo would do now, edits from outside that nobody has taken in yet left out."""
        if not self._context.has_history():
            return results.audit.NextSteps()
        store, asker = self._context.history.store, self._mutator.asker()
        # Asked after every change of any file, of which few are commits; one commit may name every file there is.
        basis = (store.head(), asker)
        if self._steps is None or self._steps[0] != basis:
            self._steps = (basis, self._read_steps(store, asker))
        steps, newest = self._steps[1]
        return replace(steps, tick=self._last_tick(newest)) if asker == PERSON else steps

    def _last_tick(self, newest: str | None) -> results.audit.NextStep | None:
        """Return the newest tick beside the workspace, unless what undo takes back was done since.

        Args:
            newest: The last commit of what undo takes back; where that was done again, the commit that did it.
        """
        last = Ticks(self._context.state).last()
        if last is None or not last.is_newer_than(newest, self._context.history.store):
            return None
        moment = last.moment.astimezone(self._context.zone)
        return results.audit.NextStep(last.id, "you", moment, last.told, own=True)

    def _read_steps(self, store: GitStore, asker: str) -> tuple[results.audit.NextSteps, str | None]:
        """Return what undo and redo would do now, and the last commit of what undo takes back."""

        def shown(step: UndoStep | None) -> results.audit.NextStep | None:
            if step is None:
                return None
            by, moment = owner_in_words(step.owner, step.actor), step.moment.astimezone(self._context.zone)
            own = step.owner == asker
            return results.audit.NextStep(
                step.action[-1], by, moment, step.told, own, layout.shown(step.file),
                *_decisions(store, step.action),
            )  # fmt: skip

        last = next_undo(store)
        steps = results.audit.NextSteps(
            shown(last), shown(next_undo(store, asker)), shown(next_redo(store, asker))
        )
        return steps, last.carried_out[0] if last is not None else None

    def adopt(self) -> results.memories.Changed:
        """Take in now what was edited from outside, as the actor `manual`."""
        require(self._context.role, Capability.WRITE_MEMORY, doing="take in outside edits")
        adopted = self._context.adopt()
        if adopted is None:
            return results.memories.Changed(None)
        commit = adopted.commits[-1] if adopted.commits else None
        warnings = (*adopted.warnings, *self._core_warnings(adopted.files))
        return results.memories.Changed(commit, adopted.files, adopted.alerts, warnings)

    def set_aside_history(self) -> Path:
        """Move a history that cannot be used out of the way, so that a new one can begin; nothing is deleted.

        Returns:
            Where it is now.

        Raises:
            NotFound: There is no history.
            RoleRefused: This door is no person's.
        """
        require(self._context.role, Capability.PURGE, doing="set the history aside")
        if not self._context.has_history():
            raise NotFound(
                "There is no history to set aside.",
                where=layout.HISTORY,
                remedy="The next change begins one.",
            )
        return self._context.history.set_aside()

    def _core_warnings(self, changed: tuple[str, ...]) -> tuple[str, ...]:
        """Return a warning if an edit from outside left core memory over its cap."""
        from workbench.engine.memory.core import view_core

        view = view_core(self._context.files, self._context.settings)
        if view.path not in changed or view.tokens <= view.cap:
            return ()
        return (f"Core memory holds {view.tokens:,} tokens, more than its cap of {view.cap:,}: shorten it.",)

    def _look(self, doing: str, planner: Callable[[], Planner[Reversal]]) -> results.memories.Changed:
        """Return what taking back would do, or raise what it would be refused for."""
        self._require_past(doing)
        would = planner()(self._context.history.now()).outcome
        return results.memories.Changed(None, would.files, would.commits, would.warnings)

    def _require_past(self, doing: str) -> None:
        require(self._context.role, Capability.ROLLBACK, doing=doing)
        if not self._context.has_history():
            self._context.history.refuse_gone()
            raise NotFound("There is no history here to go back in.", remedy="The next change begins one.")

    def _take_back(self, doing: str, act: Callable[[], Receipt[Reversal]]) -> results.memories.Changed:
        from workbench.engine.services.sessions import follow_flushes

        self._require_past(doing)
        self._context.adopt()
        receipt = act()
        told: tuple[str, ...] = ()
        if receipt.commit is not None:
            changes = standing_changes(self._context.history.store, receipt.commit, receipt.outcome.since)
            # A journal that cannot be written costs a count, never the answer: the commit is made.
            with suppress(StorageError):
                self._context.journal.record_standing(changes)
            told = (*follow_held_back(self._context, changes), *follow_flushes(self._context, changes))
        outcome = receipt.outcome
        # What nobody asked for at a door has to be looked at again once it is back.
        if doing != "undo" or not self._brings_back_foreign(outcome.commits):
            self._mutator.answer_alerts(receipt, outcome.commits)
        warnings = (*outcome.warnings, *told)
        return results.memories.Changed(receipt.commit, receipt.files, outcome.commits, warnings)

    def _brings_back_foreign(self, undone: Sequence[str]) -> bool:
        """Return whether any of the commits that were undone had taken back what was changed outside the engine."""
        store = self._context.history.store

        def message(commit: str) -> CommitMessage:
            return parse_message(store.commit(commit))

        reverted = [each for commit in undone for each in message(commit).values(REVERTS)]
        return any(store.has_object(each) and not message(each).trailer(ASKED_BY) for each in reverted)

    def _time(self, text: str | None, name: str, *, end: bool = False) -> datetime | None:
        return None if text is None else read_time(text, name, self._context.now(), end=end)

    def history_line(self) -> results.audit.HistoryLine:
        """Return every commit from the first to the newest."""
        context = self._context
        return self._past.line().shown() if context.has_history() else results.audit.HistoryLine((), (), ())

    def at(self, moment: str) -> Past:
        """Return memory as it was.

        Args:
            moment: A commit, a time, or a day, whose end is meant; also `3d` (ago), `today` or `yesterday`.

        Raises:
            NotFound: There is no such commit.
            InvalidInput: This is no moment.
        """
        return self._past.past(moment)

    def compare(
        self,
        older: str,
        newer: str | None = None,
        *,
        progress: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.audit.Comparison:
        """Return what is different at a later moment.

        An entity that came or went is told whole; where only facts or relations with a block id differ, these are told
        and the entity is not. Where `older` is the later of the two, it is told what going back would change.

        Args:
            older: A moment, as for `at`.
            newer: Another; the files as they are now, committed or not, by default.
            progress: Told how far it has come, on the calling thread.
            cancelled: Asked often; nothing is changed in any case.

        Raises:
            NotFound: There is no such commit.
            InvalidInput: This is no moment.
            Cancelled: It was called off.
        """
        from workbench.engine.past.past import compare_moments

        context = self._context
        before = self._past.past(older, "older")
        after = self._past.past("HEAD" if newer is None else newer, "newer")
        steps = Steps("The comparison was called off; it changes nothing.", progress, cancelled)
        whole = before.whole(after) if newer is not None else {}
        pairs = before.differing(after, steps, whole)
        if newer is None:
            store = context.history.store
            edits = find_edits(context.root, store, store.commit(after.commit).tree, context.state)
            hidden = context.masking.hidden_names(edits.files)
            for path, content in edits.files.items():
                if path in hidden:
                    continue
                now = None if content is None else context.masking.content(path, content)
                pairs[path] = (before.files.read(path), now)
        ends = (before.commit, None if newer is None else after.commit)
        return compare_moments(pairs, after.unit, context.zone, ends, steps, whole)


def _decisions(store: GitStore, action: Sequence[str]) -> tuple[int, int, int]:
    """Return how many decisions an action accepted, declined and set aside; 0 where it is one, or not that alone."""
    if len(action) > _MOST_DECISIONS:
        return 0, 0, 0
    messages = [parse_message(store.commit(commit)) for commit in action]
    found = [*decisions_of(messages).values()]
    is_reflection = len(messages) == 1 and not messages[0].values(DECIDED)
    if is_reflection or len(found) == 1 or not all(decisions_of((each,)) for each in messages):
        return 0, 0, 0
    return found.count("approved"), found.count("rejected"), found.count("deferred")
