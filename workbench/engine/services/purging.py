"""What a purge takes out of other places: sessions, requests held back, and all that is derived from the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError
from workbench.engine.history.erasure import PURGED, Erasure, erase_from_text
from workbench.engine.history.recovery import PurgeSteps
from workbench.engine.patterns import lazy_pattern
from workbench.engine.services import kept_brief
from workbench.engine.services.context import SESSIONS_FOLDER, WorkspaceContext
from workbench.engine.services.inbox_ticks import Ticks
from workbench.engine.services.past import PastReader
from workbench.engine.services.scoped_view import forget_scopes
from workbench.engine.services.secret_guard import purge_held_back
from workbench.engine.services.sessions import own_home
from workbench.engine.services.state_folder import set_aside_beside
from workbench.engine.services.unread import forget_leftovers
from workbench.engine.sessions import transcripts
from workbench.engine.sessions.events import FileLines
from workbench.engine.sessions.foreign import originals

if TYPE_CHECKING:
    from workbench.engine.sessions.events import Lines
    from workbench.engine.sessions.transcripts import Erase, PurgedSessions

_CITED = lazy_pattern(r"file:(sessions/[\w.-]+\.jsonl)#L(\d{1,9})")
_MOST_NAMED = 5


class Remains:
    """What holds memories besides the files and their history: sessions, requests held back, and all that is derived.

    Args:
        past: Keeps texts of former versions.
    """

    def __init__(self, context: WorkspaceContext, past: PastReader) -> None:
        self._context = context
        self._past = past

    def purge(self, purging: PurgeSteps) -> tuple[str, ...]:
        """Take what is purged out of it; return what a person should know, one sentence each."""
        context, erasure = self._context, purging.erasure
        # The files are rid of the texts already: a kill from here on leaves no copy of them.
        self._destroy_derived()
        context.journal.scrub(purging.names)
        Ticks(context.state).purge(lambda text: erase_from_text(erasure, text))
        cache = context.settings.cache_directory(context.root)
        unwritable = cache.exists() and not cache.samefile(context.derived)
        return (
            *purge_sessions(context, erasure, (*purging.sources, *purging.texts)),
            *purge_held_back(context, lambda text: erase_from_text(erasure, text)),
            *((f"May still hold it, and cannot be written: {cache}",) if unwritable else ()),
        )

    def forget_derived(self) -> None:
        """Delete everything derived, and read the files again."""
        self._destroy_derived()
        self._context.refresh()

    def _destroy_derived(self) -> None:
        context = self._context
        kept_brief.forget(context.derived)
        context.finder.destroy()
        context.catalog.destroy()
        context.outside.destroy()
        self._past.forget()
        forget_leftovers(context)
        forget_scopes(context)


def purge_sessions(context: WorkspaceContext, erasure: Erasure, sources: Sequence[str]) -> tuple[str, ...]:
    """Purge the own sessions; return what a person should know, one sentence each.

    What cannot be purged is named rather than raised: memory has let go of it already.

    Args:
        erasure: What has to go.
        sources: What may cite the lines that the memories were drawn from.
    """

    def erase(text: str) -> str:
        return PURGED if text.strip().casefold() in erasure.alone else erase_from_text(erasure, text)

    purged = transcripts.purge_sessions(context.sessions_folder, erase)
    return (*_told(purged, sources), *_elsewhere(context, erase))


def _told(purged: PurgedSessions, sources: Sequence[str]) -> Iterator[str]:
    for name, numbers in purged.lines.items():
        yield f"It was said in {name} too, and taken out there: {_numbered(numbers)}."
    for problem in purged.left.values():
        yield f"May still hold it, for you to look at: {problem}"
    cited = dict.fromkeys((found[1], int(found[2])) for text in sources for found in _CITED.finditer(text))
    for name, line in cited:
        if name not in purged.left and line not in purged.lines.get(name, ()):
            yield f"file:{name}#L{line}, which it was drawn from, says it in other words and was left as it is."


def _elsewhere(context: WorkspaceContext, erase: Erase) -> Iterator[str]:
    try:
        foreign = list(_foreign(context))
    except WorkbenchError as error:
        yield f"May still be where sessions were copied from: {error}"
        return
    for lines in foreign:
        try:
            numbers = tuple(transcripts.lines_with(lines, erase))
        except WorkbenchError as error:
            yield f"May still hold it, for you to look at: {error}"
            continue
        if numbers:
            yield f"Still holds it, and is not ours to change: {lines.where} ({_numbered(numbers)})."


def _foreign(context: WorkspaceContext) -> Iterator[Lines]:
    """Yield the transcripts of others that this workspace knows: copied, searched, or left by who was here before."""
    yield from originals(own_home(context).store)
    for former in set_aside_beside(context.state):
        for place in sorted((former / SESSIONS_FOLDER).glob("*.jsonl*")):
            yield FileLines(place)
    settings = context.settings
    is_read = settings.search.sessions or settings.qmd.transcripts
    for name in settings.search.session_paths if is_read else ():
        for place in sorted((context.root / Path(name).expanduser()).rglob("*.jsonl")):
            yield FileLines(place)


def _numbered(numbers: Sequence[int]) -> str:
    named = ", ".join(f"L{number}" for number in numbers[:_MOST_NAMED])
    more = len(numbers) - _MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named
