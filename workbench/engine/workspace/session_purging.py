"""Takes what is purged from memory out of the own sessions too, and names the places that are not ours to change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError
from workbench.engine.workspace import session_places as places

if TYPE_CHECKING:
    from workbench.engine.history.erasure import Erasure
    from workbench.engine.sessions.lines import Lines
    from workbench.engine.sessions.purging import Erase, PurgedSessions
    from workbench.engine.workspace.ground import Ground

_CITED = re.compile(r"file:(sessions/[\w.-]+\.jsonl)#L(\d{1,9})")
_MOST_NAMED = 5


def purge_sessions(ground: Ground, erasure: Erasure, sources: Sequence[str]) -> tuple[str, ...]:
    """Purge the own sessions; return what a person should know, one sentence each.

    What cannot be purged is named rather than raised: memory has let go of it already.

    Args:
        ground: The open workspace.
        erasure: What has to go.
        sources: What may cite the lines that the memories were drawn from.
    """
    from workbench.engine.history.erasure import PURGED, erase_from_text
    from workbench.engine.sessions import purging

    def erase(text: str) -> str:
        return PURGED if text.strip().casefold() in erasure.alone else erase_from_text(erasure, text)

    purged = purging.purge_sessions(places.own_folder(ground), erase)
    return (*_told(purged, sources), *_elsewhere(ground, erase))


def _told(purged: PurgedSessions, sources: Sequence[str]) -> Iterator[str]:
    for name, numbers in purged.lines.items():
        yield f"It was said in {name} too, and taken out there: {_numbered(numbers)}."
    for problem in purged.left.values():
        yield f"May still hold it, for you to look at: {problem}"
    cited = dict.fromkeys((found[1], int(found[2])) for text in sources for found in _CITED.finditer(text))
    for name, line in cited:
        if name not in purged.left and line not in purged.lines.get(name, ()):
            yield f"file:{name}#L{line}, which it was drawn from, says it in other words and was left as it is."


def _elsewhere(ground: Ground, erase: Erase) -> Iterator[str]:
    from workbench.engine.sessions.purging import lines_with

    try:
        foreign = list(_foreign(ground))
    except WorkbenchError as error:
        yield f"May still stand where sessions were copied from: {error}"
        return
    for lines in foreign:
        try:
            numbers = tuple(lines_with(lines, erase))
        except WorkbenchError as error:
            yield f"May still hold it, for you to look at: {error}"
            continue
        if numbers:
            yield f"Still holds it, and is not ours to change: {lines.where} ({_numbered(numbers)})."


def _foreign(ground: Ground) -> Iterator[Lines]:
    """Give the transcripts of others that this workspace knows: copied, searched, or left by who was here before."""
    from workbench.engine.sessions.copying import originals
    from workbench.engine.sessions.lines import FileLines
    from workbench.engine.workspace.own_state import set_aside_beside

    yield from originals(places.own_home(ground).store)
    for former in set_aside_beside(ground.state):
        for place in sorted((former / places.FOLDER).glob("*.jsonl*")):
            yield FileLines(place)
    for name in ground.settings.search.session_paths if ground.settings.search.sessions else ():
        for place in sorted((ground.root / Path(name).expanduser()).rglob("*.jsonl")):
            yield FileLines(place)


def _numbered(numbers: Sequence[int]) -> str:
    named = ", ".join(f"L{number}" for number in numbers[:_MOST_NAMED])
    more = len(numbers) - _MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named
