"""`memory/meta/sync-conflicts.json`: what two devices changed differently, and what a person decided about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from workbench.engine.clock import parse_time, render_time
from workbench.engine.errors import DocumentError, InvalidInput
from workbench.engine.history.differences import parse_units
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_DIGITS: Final = 10
_CONFLICTS: Final = "conflicts"
_KEPT: Final = timedelta(days=183)
_ID: Final = lazy_pattern(rf"c-[0-9a-f]{{{_DIGITS}}}")


class Decision(StrEnum):
    """What a person decided: what stands in the file, what waits, or both."""

    THIS = "this"
    THAT = "that"
    BOTH = "both"


@dataclass(frozen=True)
class Version:
    """One side of a conflict.

    Args:
        text: Its text; None if it was deleted there.
        device: The device that it is from.
        moment: When its side was last changed, aware.
    """

    text: str | None
    device: str
    moment: datetime


@dataclass(frozen=True)
class ConflictRecord:
    """What two devices changed differently, or one changed and the other deleted.

    Args:
        id: `c-` and hex digits, the same on every device for the same conflict.
        path: The file.
        unit: The unit's name in its file (see `history.structural_revert.changed_units`); empty for the whole file.
        base: Its text before both changes; None if there was none.
        stands: What is in the file until the decision.
        waits: What the other side has.
        decision: What was decided; None as long as nothing was.
    """

    id: str
    path: str
    unit: str
    base: str | None
    stands: Version
    waits: Version
    decision: Decision | None = None


def conflict_id(path: str, unit: str, *texts: str | None) -> str:
    """Return the id of a conflict, the same for the same texts."""
    said = json.dumps([path, unit, *texts])
    return "c-" + sha256(said.encode()).hexdigest()[:_DIGITS]


def is_conflict_id(name: str) -> bool:
    """Return True for what `conflict_id` returns."""
    return _ID.fullmatch(name) is not None


def texts_kept(record: ConflictRecord, content: bytes | None) -> tuple[str, ...]:
    """Return what a conflict keeps and its file does not say: the items, entries or values of its versions.

    Args:
        content: The file as it is.
    """
    standing = set(_parts(record.path, (content or b"").decode("utf-8", "surrogateescape")))
    versions = (record.waits.text, record.stands.text, record.base)
    parts = (part for text in versions for part in _parts(record.path, text or ""))
    return tuple(dict.fromkeys(part for part in parts if part not in standing))


def _parts(path: str, text: str) -> Iterator[str]:
    if path.endswith(".json"):
        try:
            yield from _strings(json.loads(text.removeprefix("\ufeff")))
        except ValueError:
            yield from filter(None, map(str.strip, text.splitlines()))
        return
    units = parse_units(text.encode("utf-8", "surrogateescape"), markdown=path.endswith(".md")).units
    yield from (said for unit in units if (said := unit.text.strip()))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


@dataclass(frozen=True)
class ConflictFile:
    """All conflicts by id; those that were decided stay for half a year, so that a device that was away learns of it.

    Args:
        extra: Further keys of the file, kept.
    """

    records: Mapping[str, ConflictRecord]
    extra: Mapping[str, Any]

    @classmethod
    def parse(cls, content: bytes | None, path: str = "memory/meta/sync-conflicts.json") -> ConflictFile:
        """Parse the file; None is an empty one.

        Raises:
            DocumentError: It is broken, so that a conflict might be lost.
        """
        if content is None or not content.strip():
            return cls({}, {})
        try:
            found = json.loads(content.decode("utf-8-sig"))
            rows = found.pop(_CONFLICTS, {})
            records = {name: _read(name, row) for name, row in rows.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInput) as error:
            raise DocumentError(
                f"The file of conflicts between devices cannot be read: {error}",
                where=path,
                remedy="Repair it, or roll it back: workbench rollback --file memory/meta/sync-conflicts.json",
            ) from error
        return cls(records, found)

    @property
    def waiting(self) -> tuple[ConflictRecord, ...]:
        """Return what nobody has decided yet, oldest first."""
        open_ones = (each for each in self.records.values() if each.decision is None)
        return tuple(
            sorted(open_ones, key=lambda each: (max(each.stands.moment, each.waits.moment), each.id))
        )

    def without_old(self, now: datetime) -> ConflictFile:
        """Return the file without what was decided and is older than half a year."""
        kept = {
            name: each
            for name, each in self.records.items()
            if each.decision is None or now - max(each.stands.moment, each.waits.moment) < _KEPT
        }
        return replace(self, records=kept)

    def with_records(self, records: Iterable[ConflictRecord]) -> ConflictFile:
        """Return the file with some records put in, in place of those with the same ids."""
        return replace(self, records={**self.records, **{each.id: each for each in records}})

    def render(self) -> bytes:
        """Return the file's bytes; the same for the same records, whatever their order."""
        rows = {name: _row(self.records[name]) for name in sorted(self.records)}
        value = {**self.extra, _CONFLICTS: rows}
        try:
            return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
        except UnicodeEncodeError:
            # Bytes that are no UTF-8.
            return (json.dumps(value, indent=2) + "\n").encode()


def join_conflicts(base: bytes | None, first: bytes | None, second: bytes | None) -> bytes | None:
    """Join two versions of the file: a decision on either side holds on both.

    Two that contradict each other open the conflict again, with what now stands in the file.
    """
    if first is None and second is None:
        return None
    was, mine, theirs = (ConflictFile.parse(content) for content in (base, first, second))
    joined: dict[str, ConflictRecord] = {}
    for name in {**mine.records, **theirs.records}:
        then, one, other = (each.records.get(name) for each in (was, mine, theirs))
        found = one if other == then else other if one == then else _joined(one, other)
        if found is not None:
            joined[name] = found
    return ConflictFile(joined, {**theirs.extra, **mine.extra}).render()


def _joined(one: ConflictRecord | None, other: ConflictRecord | None) -> ConflictRecord | None:
    if one is None or other is None or one == other:
        return one or other
    if one.decision is None or other.decision is None:
        return other if one.decision is None else one
    if Decision.BOTH in (one.decision, other.decision):
        return replace(one, decision=Decision.BOTH)
    # One side left what stands, the other put what waits in its place: that is what the joined file has.
    return replace(one, stands=one.waits, waits=one.stands, decision=None)


def _row(record: ConflictRecord) -> dict[str, Any]:
    return {
        "path": record.path,
        "unit": record.unit,
        "base": record.base,
        "stands": _version_row(record.stands),
        "waits": _version_row(record.waits),
        "decision": record.decision,
    }


def _version_row(version: Version) -> dict[str, Any]:
    return {
        "device": version.device,
        "time": render_time(version.moment.astimezone(UTC)),
        "text": version.text,
    }


def _read(name: str, row: Mapping[str, Any]) -> ConflictRecord:
    decision = row.get("decision")
    return ConflictRecord(
        name,
        str(row["path"]),
        str(row["unit"]),
        _words(row.get("base")),
        _read_version(row["stands"]),
        _read_version(row["waits"]),
        None if decision is None else Decision(decision),
    )


def _read_version(row: Mapping[str, Any]) -> Version:
    return Version(_words(row.get("text")), str(row["device"]), parse_time(str(row["time"])))


def _words(value: object) -> str | None:
    return None if value is None else str(value)
