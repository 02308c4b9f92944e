"""Conversations parted into episodes: whole turns, a new one after a pause, on another day, or where it gets long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import tzinfo

from workbench.engine.clock import in_zone
from workbench.engine.importing.pieces import Piece, Place, Said
from workbench.engine.stores.episodic import PAUSE

MOST_CHARACTERS = 8_000
"""So long an episode is full; the turn that makes it longer begins the next one."""
_MOST_TURN = 15_000


def episodes_of(
    turns: Iterable[Said],
    place: Place,
    zone: tzinfo,
    *,
    title: str = "",
    tags: tuple[str, ...] = (),
) -> Iterator[Piece]:
    """Part a conversation; how its beginning is parted does not depend on how it goes on.

    Args:
        turns: In order; read as they come.
        place: Of the conversation.
        zone: In which a day ends.
        title: Said above each part where there is one.
        tags: Of each part.
    """
    running: list[Said] = []
    size = 0
    for turn in _cut(turns):
        if running and (size + len(turn.text) > MOST_CHARACTERS or _is_apart(running[-1], turn, zone)):
            yield _piece(running, place, title, tags)
            running, size = [], 0
        running.append(turn)
        size += len(turn.text)
    if running:
        yield _piece(running, place, title, tags)


def _is_apart(last: Said, turn: Said, zone: tzinfo) -> bool:
    if last.moment is None or turn.moment is None:
        return False
    before, after = in_zone(last.moment, zone), in_zone(turn.moment, zone)
    return after - before >= PAUSE or after.date() != before.date()


def _cut(turns: Iterable[Said]) -> Iterator[Said]:
    """Give turns, those that no memory could hold in parts."""
    for turn in turns:
        text = turn.text
        while len(text) > _MOST_TURN:
            at = max(
                text.rfind("\n", _MOST_TURN // 2, _MOST_TURN), text.rfind(" ", _MOST_TURN // 2, _MOST_TURN)
            )
            at = at if at > 0 else _MOST_TURN
            yield replace(turn, text=text[:at].rstrip())
            text = text[at:].lstrip()
        if text:
            yield replace(turn, text=text)


def _piece(turns: list[Said], place: Place, title: str, tags: tuple[str, ...]) -> Piece:
    lines = [turn.line for turn in turns if turn.line is not None]
    moment = next((turn.moment for turn in turns if turn.moment is not None), None)
    if lines:
        place = replace(place, first=lines[0], last=lines[-1])
    return Piece(title, place, moment, is_dated=moment is not None, turns=tuple(turns), tags=tags)
