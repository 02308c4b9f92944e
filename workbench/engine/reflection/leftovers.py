"""What is left for the next reflection: passages that none has read, and items for which a proposal had no room.

Passages are told from the history, so that no old one is looked at again. Items are kept beside the index: a line for
the reflection, then one for each item, best first; lines that are not yet their turn are handed on unread. Losing
that file costs time only: the mark in the reflection log then says from where to read again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.markdown.source import SourceText
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.passages import passages_of
from workbench.engine.search.chunks import turn_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.reflection.model import Passage

_COMMIT = r"[0-9a-f]{40}"
_UNFIT = lazy_pattern(r"[\s|｜:;]")
_ITEM = lazy_pattern(r"\s*(?:[-*+•]|\d+[.)])\s+")
_ELSE = ", without backlog "
_MARK = lazy_pattern(rf"({_COMMIT}|nothing)(?:, ({_COMMIT}) through (\S+))?")

FileAt = Callable[[str, str], bytes | None]
"""Gives a file as it was at a commit: (commit, path)."""


@dataclass(frozen=True)
class ReadMark:
    """How far reflection has read, as it is kept in the reflection log.

    Args:
        base: Everything in this commit has been read; empty where nothing has.
        head: A later commit, of which the passages up to `through` have been read as well; empty where there is none.
        through: The place of that passage in the order of reading.
        otherwise: The mark that holds instead where the backlog was lost: what had no room in a proposal has to be
            found again then. None where nothing was left over.
    """

    base: str = ""
    head: str = ""
    through: str = ""
    otherwise: ReadMark | None = None

    def render(self) -> str:
        """Write the mark as one line."""
        more = f", {self.head} through {self.through}" if self.head and self.through else ""
        return (
            (self.base or "nothing") + more + (f"{_ELSE}{self.otherwise.render()}" if self.otherwise else "")
        )

    @classmethod
    def parse(cls, text: str) -> ReadMark:
        """Read a mark; what is none of them marks nothing as read."""
        first, *others = (_MARK.fullmatch(part) for part in text.strip().split(_ELSE)[:2])
        if first is None:
            return cls()
        return replace(cls._of(first), otherwise=cls._of(others[0]) if others else None)

    @classmethod
    def _of(cls, match: re.Match[str] | None) -> ReadMark:
        if match is None:
            return cls()
        return cls("" if match[1] == "nothing" else match[1], match[2] or "", match[3] or "")


def order_of(passage: Passage) -> str:
    """Return what passages are sorted by: the oldest first, then as they stand in the files."""
    # It stands in the heading of a record, where a bar parts fields.
    moment = f"{passage.moment:%Y%m%dT%H%M}" if passage.moment else "0"
    return f"{moment};{_UNFIT.sub('_', passage.path)};{passage.start_line:08}"


def unread_passages(
    changed: Iterable[tuple[str, bytes]], mark: ReadMark, file_at: FileAt, zone: ZoneInfo
) -> Iterator[Passage]:
    """Yield the passages that were not read, file by file.

    Args:
        changed: Path and content of the files with passages that differ from the mark's base; others hold nothing new.
        mark: How far was read.
        file_at: Gives older contents.
        zone: The workspace's.
    """
    for path, content in changed:
        before = _lines(file_at(mark.base, path)) if mark.base else frozenset()
        later = _lines(file_at(mark.head, path)) if mark.head else frozenset()
        for passage in passages_of(path, content, zone):
            own = {line for line in passage.text.split("\n") if line.strip()}
            if own <= before:
                continue
            if later and order_of(passage) <= mark.through and own <= later:
                continue
            yield passage


def _lines(content: bytes | None) -> frozenset[str]:
    """Return the lines of a file, and what each says behind its list mark, and behind its time and speaker."""
    lines = SourceText.from_bytes(content or b"").lines
    items = (line[mark.end() :] for line in lines if (mark := _ITEM.match(line)))
    return frozenset(lines) | frozenset(items) | frozenset(turn_of(line).text for line in lines)


@dataclass(frozen=True)
class Backlog:
    """What waits.

    Args:
        items: Those whose turn it is, best first.
        later: The lines of the others.
    """

    items: tuple[ReviewItem, ...] = ()
    later: tuple[bytes, ...] = ()


def render_backlog(reflection: str, items: Iterable[ReviewItem], later: Iterable[bytes] = ()) -> bytes:
    """Write the items as lines of JSON.

    Args:
        reflection: The one that had no room for them, `r-012`.
        items: Best first.
        later: Lines of a backlog that come behind them.
    """
    lines = [_line(reflection), *(_line(asdict(item)) for item in items), *later]
    return b"\n".join(lines)


def parse_backlog(content: bytes, reflection: str, most: int) -> Backlog | None:
    """Read items back; None where the file is damaged or belongs to another reflection.

    Args:
        content: As `render_backlog` wrote it.
        reflection: The newest one that was written.
        most: Items to read; the others are later.
    """
    head, *lines = content.split(b"\n")
    try:
        if json.loads(head) != reflection:
            return None
        return Backlog(tuple(_item(json.loads(line)) for line in lines[:most]), tuple(lines[most:]))
    except (ValueError, KeyError, TypeError):
        return None


def _line(value: object) -> bytes:
    return json.dumps(value).encode()


def _item(held: object) -> ReviewItem:
    if not isinstance(held, dict):
        raise TypeError("an item is an object")
    return ReviewItem(
        id=_text(held["id"]),
        kind=_text(held["kind"]),
        text=_text(held["text"]),
        target=_text(held["target"]),
        before=_text(held["before"]),
        confidence=_text(held["confidence"]),
        reason=_text(held["reason"]),
        evidence=tuple(Evidence(_text(each["id"]), _text(each["quote"])) for each in _list(held["evidence"])),
        needs=tuple(map(_text, _list(held["needs"]))),
        fields=tuple((_text(label), _text(value)) for label, value in _list(held["fields"])),
        section=_text(held["section"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("an item's words are text")
    return value


def _list(value: object) -> Sequence[dict[str, object]]:
    if not isinstance(value, list):
        raise TypeError("an item's parts are lists")
    return value
