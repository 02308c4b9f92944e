"""What a reflection leaves on this machine for the next, beside memory."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.file_access import read_state, write_state
from workbench.engine.reflection.leftovers import Backlog, ReadMark, parse_backlog, render_backlog

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Exchange
    from workbench.engine.services.context import WorkspaceContext


# Of the backlog a cycle takes up this many times what fits one proposal.
_BACKLOG_SHARE = 2


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
