"""What no reflection has read, whether one is due, and what one leaves on this machine for the next."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.clock import time_or_none
from workbench.engine.errors import HistoryDamaged, HistoryError
from workbench.engine.file_access import read_state, write_state
from workbench.engine.reflection.due import Situation, is_due, next_scheduled
from workbench.engine.reflection.files import (
    READ_FIELD,
    is_of_another_tool,
    read_account,
    read_log,
    read_pending,
    reflection_of,
)
from workbench.engine.reflection.items import BY_HAND, PROPOSED, is_by_hand
from workbench.engine.reflection.leftovers import Backlog, ReadMark, order_of, parse_backlog, render_backlog
from workbench.engine.reflection.leftovers import unread_passages as passages_after
from workbench.engine.reflection.model import Passage
from workbench.engine.reflection.passages import count_entries, holds_passages
from workbench.engine.secrets.detection import masked, masked_lines
from workbench.engine.services.secret_guard import waiting
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Exchange
    from workbench.engine.services.context import WorkspaceContext

# Of the backlog a cycle takes up this many times what fits one proposal.
_BACKLOG_SHARE = 2


@dataclass(frozen=True)
class Unread:
    """What no reflection has read.

    Args:
        head: The commit that was looked at; empty where there is no history.
        mark: How far was read before.
        passages: Oldest first.
        backlog: Items that were found before and had no room.
        waiting: What was read of files that wait for a decision about secrets, by path.
        left_out: Lines that were not read for the secrets in them.
    """

    head: str
    mark: ReadMark
    passages: tuple[Passage, ...]
    backlog: Backlog
    waiting: Mapping[str, bytes]
    left_out: tuple[results.reviews.LinesLeftOut, ...]

    @property
    def entries(self) -> int:
        """Return how many episodes and sections of logs they come from."""
        return count_entries(self.passages)

    def mark_after(self, first_unread: int | None, *, left_over: bool) -> ReadMark:
        """Return the mark for when these have been read.

        Args:
            first_unread: Index of the first passage that there was no budget to read; None where all were read.
            left_over: Whether items found no room, and wait in the backlog.
        """
        before = replace(self.mark, otherwise=None)
        lost = self.mark.otherwise if self.backlog.items and self.mark.otherwise else before
        if first_unread is None:
            mark = ReadMark(self.head)
        elif first_unread == 0:
            mark = before
        else:
            mark = ReadMark(self.mark.base, self.head, order_of(self.passages[first_unread - 1]))
        return replace(mark, otherwise=lost) if left_over else mark


class WithWaiting:
    """The files of a commit, and in their place those that wait for a decision about secrets, as they may be read.

    Args:
        committed: The files as of the commit.
        waiting: What may be read of the others now, by path.
    """

    def __init__(self, committed: FileView, waiting: Mapping[str, bytes]) -> None:
        self._committed = committed
        self._waiting = waiting

    def read(self, path: str) -> bytes | None:
        """Return what may be read of a file, or None where there is no such file."""
        content = self._waiting.get(path)
        return self._committed.read(path) if content is None else content

    def list(self, folder: str) -> list[str]:
        """Return the paths below a folder, sorted."""
        waiting = (path for path in self._waiting if not folder or path.startswith(f"{folder}/"))
        return sorted({*self._committed.list(folder), *waiting})


def files_waiting(context: WorkspaceContext) -> dict[str, bytes]:
    """Return what may be read of the files with passages that wait, out of history, for a decision about secrets."""
    paths = sorted({each.path for each in waiting(context) if each.is_left_out and holds_passages(each.path)})
    files = context.files
    # Of a file whose name holds a secret nobody may know, nor a note on this machine.
    hidden = context.masking.hidden_names(paths)
    paths = [path for path in paths if path not in hidden]
    return {path: content for path in paths if (content := files.read(path)) is not None}


def unread_passages(
    context: WorkspaceContext,
    view: FileView,
    head: str,
    *,
    outside: Mapping[str, bytes] | None = None,
    check: Callable[[], None] = lambda: None,
) -> Unread:
    """Return the passages that no reflection has read; only files that changed since are opened.

    Args:
        view: The files as of the commit.
        head: That commit.
        outside: What may be read of files that wait out of history, as `files_waiting` gives them.
        check: Called before each file; may raise.
    """
    mark, backlog = _last_mark(context, view)
    store = context.history.store
    base = store.tree_of(mark.base)
    files = outside or {}
    read_before = read_while_waiting(context)
    left_out: list[results.reviews.LinesLeftOut] = []

    def changed() -> Iterator[tuple[str, bytes]]:
        for change in store.changed_paths(base, store.commit(head).tree):
            if change.new_blob is not None and holds_passages(change.path) and change.path not in files:
                check()
                yield change.path, store.read_blob(change.new_blob)
        known = read_before.get(mark.base, {})
        yield from ((path, content) for path, content in files.items() if known.get(path) != content)

    def contents() -> Iterator[tuple[str, bytes]]:
        for path, content in changed():
            if lines := masked_lines(content.decode("utf-8", "replace")):
                left_out.append(results.reviews.LinesLeftOut(masked(path), lines))
            yield path, content

    def file_at(commit: str, path: str) -> bytes | None:
        kept = read_before.get(commit, {}).get(path)
        return store.file_at(commit, path) if kept is None else kept

    found = passages_after(contents(), mark, file_at, context.zone)
    passages = tuple(sorted(found, key=order_of))
    return Unread(head, mark, passages, backlog, files, tuple(left_out))


def count_unread(context: WorkspaceContext) -> int:
    """Return how many entries no reflection has read, looking only into files that changed since the last one."""
    try:
        head = context.history.head() if context.has_history() else None
        if head is not None and _last_mark(context, context.files)[0].base:
            outside = files_waiting(context)
            return unread_passages(context, context.history.at(head), head, outside=outside).entries
    except HistoryError:
        # A damaged history, of which `doctor` tells, no longer says what was read.
        return context.lookups.count_entries()
    return context.lookups.count_entries()


def _last_mark(context: WorkspaceContext, view: FileView) -> tuple[ReadMark, Backlog]:
    """Return how far reflection has read, with the backlog that belongs to it.

    The mark is kept with the proposal, and goes into the log with its decisions: a proposal that somebody deletes
    was never read. Without its backlog, it is the mark from which that can be found again; where the history no longer
    knows its commits, nothing was read.
    """
    written = [(record.id, dict(record.fields).get(READ_FIELD, "")) for record in read_log(view).records]
    pending = read_pending(view)
    written.append((pending.reflection, read_account(pending.meta).mark))
    reflection, text = next((each for each in reversed(written) if each[1]), ("", ""))
    mark = ReadMark.parse(text)
    backlog = Backlog()
    if mark.otherwise is not None:
        kept = read_backlog(context, reflection)
        mark, backlog = (mark.otherwise, backlog) if kept is None else (mark, kept)
    if all(_is_known(context, commit) for commit in (mark.base, mark.head) if commit):
        return mark, backlog
    return ReadMark(), Backlog()


def _is_known(context: WorkspaceContext, commit: str) -> bool:
    if not context.has_history():
        return False
    try:
        # People can edit the file that holds the mark: it may name any object, or none.
        context.history.store.commit(commit)
    except HistoryDamaged:
        return False
    return True


def reflection_due(context: WorkspaceContext, occasion: str) -> results.reviews.ReflectionDue:
    """Return whether a reflection should run, and why.

    Args:
        occasion: `schedule` or `session-end`.
    """
    settings = context.settings.reflection
    unread = count_unread(context)
    last = _last_written(context)
    waiting = waiting_proposal(context)
    answer = is_due(Situation(context.now(), last, unread, waiting, occasion), settings)
    planned = next_scheduled(context.now(), settings)
    return results.reviews.ReflectionDue(answer.due, answer.reason, unread, last, planned, waiting)


def _last_written(context: WorkspaceContext) -> datetime | None:
    """Return when a reflection wrote something last; what was proposed by hand is no reflection."""
    records, pending = read_log(context.files).records, read_pending(context.files)
    times = [record.time for record in records if dict(record.fields).get(PROPOSED) != BY_HAND]
    if not pending.items or not all(map(is_by_hand, pending.items)):
        times.append(pending.created)
    # A clock that was wrong once must not put off every reflection until then.
    known = (time for text in times if (time := time_or_none(text)) is not None and time <= context.now())
    return max(known, default=None)


def waiting_proposal(context: WorkspaceContext) -> str:
    """Return the id of a proposal that is not yet decided; empty where none is, or all of it was put off.

    What somebody proposed by hand does not wait in this sense: the next reflection takes it into its own proposal.
    """
    pending = read_pending(context.files)
    if is_of_another_tool(pending):
        return "A proposal written by something else"
    is_open = any(item.decision != "deferred" and not is_by_hand(item) for item in pending.items)
    return (reflection_of(pending) or "A proposal") if is_open else ""


def keep_trace(context: WorkspaceContext, reflection: str, exchanges: Sequence[Exchange]) -> None:
    """Keep what a model was asked and answered, so that people can look at it; it is no part of memory."""
    if not exchanges:
        return
    content = json.dumps([asdict(exchange) for exchange in exchanges], ensure_ascii=False, indent=1)
    write_state(_trace(context, reflection), content.encode("utf-8", "replace"))


def read_trace(context: WorkspaceContext, reflection: str) -> tuple[dict[str, object], ...]:
    """Return what `keep_trace` kept of a reflection, in order; nothing where it is gone or unreadable."""
    kept = read_state(_trace(context, reflection))
    return tuple(kept) if isinstance(kept, list) else ()


def keep_backlog(
    context: WorkspaceContext, reflection: str, left: Sequence[ReviewItem], later: Sequence[bytes]
) -> None:
    """Keep what found no room until the next reflection; what cannot be kept is found again by reading again."""
    place = _backlog(context)
    if left or later:
        write_state(place, render_backlog(reflection, left, later))
    else:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)


def read_backlog(context: WorkspaceContext, reflection: str) -> Backlog | None:
    """Return what a reflection had no room for; None where that is lost.

    A long backlog is not read to its end: what a reflection costs shall not grow with it.
    """
    try:
        content = _backlog(context).read_bytes()
    except OSError:
        return None
    return parse_backlog(content, reflection, _BACKLOG_SHARE * context.settings.reflection.items)


def keep_read_while_waiting(
    context: WorkspaceContext, mark: ReadMark, head: str, files: Mapping[str, bytes]
) -> None:
    """Keep what was read of files that history does not have; what cannot be kept is read again.

    Args:
        mark: How far was read.
        head: The commit that was looked at.
        files: What was read beside it, by path.
    """
    named, each = set[str](), mark
    while True:
        named |= {each.base, each.head}
        if each.otherwise is None:
            break
        each = each.otherwise
    known = {commit: kept for commit, kept in read_while_waiting(context).items() if commit in named}
    if files and head in named:
        known[head] = files
    place = _while_waiting(context)
    if known:
        said = {
            commit: {path: content.decode("utf-8", "surrogateescape") for path, content in kept.items()}
            for commit, kept in known.items()
        }
        write_state(place, json.dumps(said).encode())
    else:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)


def read_while_waiting(context: WorkspaceContext) -> Mapping[str, Mapping[str, bytes]]:
    """Return what was read of files that history did not have, by the commit that was looked at and the path."""
    kept = read_state(_while_waiting(context))
    if not isinstance(kept, dict):
        return {}
    return {
        str(commit): {
            str(path): content.encode("utf-8", "surrogateescape")
            for path, content in files.items()
            if isinstance(content, str)
        }
        for commit, files in kept.items()
        if isinstance(files, dict)
    }


def forget_leftovers(context: WorkspaceContext) -> None:
    """Delete all of it; it may quote what is to be gone."""
    shutil.rmtree(_folder(context), ignore_errors=True)


def _trace(context: WorkspaceContext, reflection: str) -> Path:
    return _folder(context) / f"{reflection}.json"


def _backlog(context: WorkspaceContext) -> Path:
    return _folder(context) / "backlog.json"


def _while_waiting(context: WorkspaceContext) -> Path:
    return _folder(context) / "read-while-waiting.json"


def handed_out(context: WorkspaceContext) -> Path:
    """Return the file of what an agent answered of a reflection that it has not finished."""
    return _folder(context) / "handed-out.json"


def _folder(context: WorkspaceContext) -> Path:
    return context.derived / "reflections"
