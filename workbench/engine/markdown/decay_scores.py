"""`memory/meta/decay-scores.json`: the state of each memory's decay that cannot be derived."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, replace
from functools import lru_cache
from typing import Any, Final

from workbench.engine.clock import parse_time
from workbench.engine.errors import DocumentError, InvalidInput
from workbench.engine.markdown.source import Problem, load_template
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_SPACE: Final = lazy_pattern(r"[ \t\n\r]*")
_LIKELY_ENTRY: Final = lazy_pattern(
    r'"(?=(?:core|episode|entity|procedure|vault|file):)(?:[^"\\\n]|\\.)*"[ \t\n\r]*:[ \t\n\r]*(?=\{)'
)
_DECODER: Final = json.JSONDecoder()
_SURROGATE: Final = lazy_pattern("[\ud800-\udfff]")
_MEND: Final = "Repair the file, or delete it: the last commit has it."
_CHANGES: Final = "accessed_by_changes"
_OTHERWISE: Final = "accessed_otherwise"
ACCESS_KEYS: Final = frozenset({_CHANGES, _OTHERWISE})
MOST_CHANGES: Final = 32
"""The number of changes listed in an entry; accesses by older ones are merged with the rest."""

_NUMBERS: Final = {"base_relevance": 1.0, "type_weight": 1.0, "current_score": 0.0}
_TEXTS: Final = {"store": "", "created": "", "last_accessed": "", "status": "active"}


@dataclass(frozen=True, slots=True)
class EntryAccesses:
    """The origins of an entry's accesses.

    Args:
        count: Accesses not caused by a change of memory, the first one included.
        last: The time of the last of these as written; empty if missing.
        changes: Accesses caused by a change of memory, such as an applied reflection: the transaction, with its items
            if any (`3f0c r-012.1 r-012.2`), and the time as written.
    """

    count: int
    last: str
    changes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoreEntry:
    """One memory's entry (design document §9.3).

    Args:
        store: core, episodic, semantic, procedural or vault.
        base_relevance: 0 to 1.
        created: ISO 8601 time as written; empty if missing.
        last_accessed: ISO 8601 time as written; empty if missing.
        access_count: From 1.
        type_weight: Multiplier of the store.
        current_score: The score when it was last computed; for readers only.
        status: active, fading, dormant or archived.
        extra: Further keys with their JSON values, in order.
    """

    store: str
    base_relevance: float
    created: str
    last_accessed: str
    access_count: int
    type_weight: float
    current_score: float
    status: str = "active"
    pinned: bool = False
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def accesses(self) -> EntryAccesses:
        """Return the accesses, separating those caused by changes of memory."""
        told = dict(self.extra)
        changes, otherwise = told.get(_CHANGES), told.get(_OTHERWISE)
        if not isinstance(changes, dict) or not isinstance(otherwise, str):
            return EntryAccesses(self.access_count, self.last_accessed)
        named = {key: time for key, time in changes.items() if isinstance(time, str)}
        if len(named) >= self.access_count:
            # The count was edited by hand, which takes precedence.
            return EntryAccesses(self.access_count, self.last_accessed)
        return EntryAccesses(self.access_count - len(named), otherwise, named)

    def with_accesses(self, accesses: EntryAccesses) -> ScoreEntry:
        """Return the entry with other accesses; the oldest of too many changes are merged."""
        changes = dict(sorted(accesses.changes.items(), key=lambda each: _moment(each[1])))
        extra = {key: value for key, value in self.extra if key not in ACCESS_KEYS}
        last = latest_moment(accesses.last, *changes.values())
        count, otherwise = accesses.count + len(changes), accesses.last
        for oldest in list(changes)[: max(0, len(changes) - MOST_CHANGES)]:
            otherwise = latest_moment(otherwise, changes.pop(oldest))
        if changes:
            extra |= {_CHANGES: changes, _OTHERWISE: otherwise}
        return replace(self, access_count=count, last_accessed=last, extra=tuple(extra.items()))


def latest_moment(*times: str) -> str:
    return max(times, key=_moment)


def _moment(time: str) -> float:
    try:
        return parse_time(time).timestamp()
    except (InvalidInput, OverflowError):
        return -math.inf


@dataclass(frozen=True, slots=True)
class _Member:
    """One member of a JSON object: its key, the positions of key and value in the text, and the value as it is read.

    Once an entry was read, all that is kept as its value is whether it has every key that the engine writes.
    """

    key: str
    start: int
    value_start: int
    end: int
    value: Any


@dataclass(frozen=True, slots=True)
class _Layout:
    """The positions of the file's parts in its text; None for missing ones."""

    text: str = ""
    whole: tuple[int, int] | None = None
    entries: tuple[int, int] | None = None
    members: tuple[_Member, ...] = ()
    outer: tuple[_Member, ...] = ()
    broken: int | None = None


@dataclass(frozen=True)
class DecayScores:
    """The scores file. Edits return a new one and keep all other bytes.

    Args:
        entries: By memory id, in file order.
        extra: Further keys of the outer object with their JSON values, such as `folded` and `checked`.
    """

    path: str
    content: bytes
    version: int
    last_updated: str
    entries: Mapping[str, ScoreEntry]
    problems: tuple[Problem, ...]
    extra: Mapping[str, Any]
    _layout: _Layout = field(default_factory=lambda: _Layout(), repr=False, compare=False)

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/decay-scores.json") -> DecayScores:
        """Parse the file. Any bytes are accepted; an unreadable entry is a problem and hides no other."""
        return cls._of(content, path)

    # A change of many memories parses the same file, and its next version, for each of them.
    @staticmethod
    @lru_cache(maxsize=2)
    def _of(content: bytes, path: str) -> DecayScores:
        text = content.decode("utf-8", "surrogateescape")
        reader = _Reader(text, path)
        layout, version, last_updated = reader.read()
        entries: dict[str, ScoreEntry] = {}
        for member in layout.members:
            if member.key in entries:
                reader.report(member.start, f"There is a second entry {member.key}; the last counts.")
            found = _read_entry(member.value)
            if isinstance(found, str):
                reader.report(member.start, f"The entry {member.key} cannot be read: {found}.")
            else:
                entries[member.key] = found
        extra = {
            member.key: member.value
            for member in layout.outer
            if member.key not in ("version", "last_updated", "entries")
        }
        problems = tuple(reader.problems)
        # The values as JSON take five times the room of all else, and nobody looks at them again.
        layout = replace(
            layout,
            members=tuple(replace(each, value=_is_complete(each.value)) for each in layout.members),
            outer=tuple(replace(each, value=None) for each in layout.outer),
        )
        return DecayScores(path, content, version, last_updated, entries, problems, extra, layout)

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.content

    def is_complete(self, name: str) -> bool:
        """Return True if an entry has every key that the engine writes; False for one shortened by hand."""
        return any(member.key == name and member.value for member in self._layout.members)

    def update(
        self,
        changes: Mapping[str, ScoreEntry | None],
        *,
        last_updated: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> DecayScores:
        """Set, append or remove (None) entries together, and `last_updated` if given.

        `extra` sets or adds further keys of the outer object; others stay.

        Keys of an entry in the file that `ScoreEntry.extra` lacks are dropped: keep `extra` by using
        `dataclasses.replace`.

        Raises:
            DocumentError: The file's outer structure is broken, so that writing could lose data.
        """
        if not self.content.strip(b" \t\r\n\xef\xbb\xbf"):
            base = self.parse(load_template("memory/meta/decay-scores.json"), self.path)
            return base.update(changes, last_updated=last_updated, extra=extra)
        layout = self._layout
        if layout.broken is not None or layout.whole is None:
            line = layout.text.count("\n", 0, layout.broken or 0) + 1
            raise DocumentError(
                "The scores file is broken, so it cannot be changed.",
                where=f"{self.path}:{line}",
                remedy=_MEND,
            )
        edits: list[tuple[int, int, str]] = []
        added: list[str] = []
        outer = {member.key: member for member in layout.outer}
        values = dict(extra or {})
        if last_updated is not None:
            values = {"last_updated": last_updated, **values}
        for key, value in values.items():
            written = _json(value, indent=None)
            if key in outer:
                edits.append((outer[key].value_start, outer[key].end, written))
            else:
                added.append(f"{_json(key)}: {written}")
        if layout.entries is not None:
            edits.append((*layout.entries, _entries_text(layout, changes)))
        elif changes:
            added.append('"entries": ' + _entries_text(_Layout(), changes))
        if added:
            # Before the entries, so that a reader finds them at the top.
            at = outer["entries"].start if "entries" in outer else layout.whole[0] + 1
            lines = ",\n  ".join(added)
            if "entries" in outer:
                edits.append((at, at, f"{lines},\n  "))
            else:
                edits.append((at, at, f"\n  {lines}{_comma(layout, at)}"))
        text = layout.text
        for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
            text = text[:start] + new + text[end:]
        return self.parse(text.encode("utf-8", "surrogateescape"), self.path)


class _Reader:
    """A JSON reader that continues after unreadable parts."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.problems: list[Problem] = []
        self.broken: int | None = None

    def report(self, at: int, message: str) -> None:
        self.problems.append(Problem(self.path, self.text.count("\n", 0, at) + 1, message, _MEND))

    def read(self) -> tuple[_Layout, int, str]:
        text = self.text
        start = self._skip(1 if text.startswith("\ufeff") else 0)
        version, last_updated = 1, ""
        if start == len(text):
            return _Layout(text), version, last_updated
        if text[start] != "{":
            self._break(start, "The file is not a JSON object.")
            return self._salvaged(start), version, last_updated
        entries: tuple[int, int] | None = None
        members: list[_Member] = []
        outer: list[_Member] = []
        end = start
        for member in self._members(start, descend="entries"):
            end = member.end
            outer.append(member)
            if member.key == "entries" and text[member.value_start] == "{":
                entries, members = (member.value_start, member.end), member.value
            elif member.key == "last_updated":
                last_updated = member.value if isinstance(member.value, str) else ""
            elif member.key == "version" and isinstance(member.value, int):
                version = member.value
            elif member.key in ("entries", "version"):
                self._break(member.start, f"“{member.key}” is not of the right kind.")
        if self.broken is not None:
            known = {member.key for member in members}
            rest = [member for member in self._salvaged(self.broken).members if member.key not in known]
            members = [*members, *rest]
        else:
            close = self._skip(end if end > start else start + 1)
            tail = self._skip(close + 1)
            if tail < len(text):
                self._break(tail, "There is something after the end of the JSON object.")
        return (
            _Layout(text, (start, end), entries, tuple(members), tuple(outer), self.broken),
            version,
            last_updated,
        )

    def _members(self, start: int, descend: str | None = None) -> Iterator[_Member]:
        """Yield the members of the object that starts at `start`, up to the first broken one."""
        text = self.text
        at = self._skip(start + 1)
        if text[at : at + 1] == "}":
            self.end = at + 1
            return
        while True:
            key_start = at
            try:
                if text[at : at + 1] != '"':
                    raise json.JSONDecodeError("a name in double quotes is missing", text, at)
                key, at = _DECODER.raw_decode(text, at)
                at = self._skip(at)
                if text[at : at + 1] != ":":
                    raise json.JSONDecodeError("“:” is missing", text, at)
                at = value_start = self._skip(at + 1)
                if key == descend and text[at : at + 1] == "{":
                    value: Any = list(self._members(at))
                    if self.broken is not None:
                        yield _Member(key, key_start, value_start, len(text), value)
                        return
                    end = self.end
                else:
                    value, end = _DECODER.raw_decode(text, at)
            except json.JSONDecodeError as error:
                self._break(error.pos, f"This is not valid JSON: {error.msg}.")
                return
            except (ValueError, RecursionError):
                self._break(at, "This value is too large to read.")
                return
            yield _Member(key, key_start, value_start, end, value)
            at = self._skip(end)
            mark = text[at : at + 1]
            if mark == "}":
                self.end = at + 1
                return
            if mark != ",":
                self._break(at, "A comma or a closing brace is missing here.")
                return
            at = self._skip(at + 1)

    def _salvaged(self, start: int) -> _Layout:
        """Read everything that looks like an entry after a broken part."""
        members: list[_Member] = []
        at = start
        while match := _LIKELY_ENTRY.search(self.text, at):
            at = match.end()
            try:
                key, _ = _DECODER.raw_decode(self.text, match.start())
                value, at = _DECODER.raw_decode(self.text, match.end())
            except (ValueError, RecursionError):
                self.report(match.start(), "This entry is not valid JSON.")
                continue
            members.append(_Member(key, match.start(), match.end(), at, value))
        return _Layout(self.text, members=tuple(members), broken=self.broken)

    def _break(self, at: int, message: str) -> None:
        if self.broken is None:
            self.broken = at
            self.report(at, message)

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at


def decided_entries(content: bytes) -> Mapping[str, ScoreEntry]:
    """Return the entries that may pin or archive a memory, a tenth of the time of parsing the file.

    Args:
        content: Of a version of the file; of a broken one all entries are returned that can be read.
    """
    try:
        likely = {
            key: value
            for key, value in json.loads(content)["entries"].items()
            if value.get("pinned") or "archived" in value or "archived" in value.get("status", "")
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return DecayScores.parse(content).entries
    found = {key: _read_entry(value) for key, value in likely.items()}
    return {key: entry for key, entry in found.items() if isinstance(entry, ScoreEntry)}


_KNOWN: Final = tuple(part.name for part in fields(ScoreEntry) if part.name != "extra")


def _read_entry(value: object) -> ScoreEntry | str:
    """Parse one entry's JSON, or return what is wrong with it."""
    if not isinstance(value, dict):
        return "it is not an object"
    read: dict[str, Any] = {}
    for name, default in _NUMBERS.items():
        number = value.get(name, default)
        if isinstance(number, bool) or not isinstance(number, int | float) or not _finite(number):
            return f"“{name}” must be a number"
        read[name] = float(number)
    for name, text in _TEXTS.items():
        found = value.get(name, text)
        if found is None:
            found = text
        if not isinstance(found, str):
            return f"“{name}” must be text"
        read[name] = found
    count, pinned = value.get("access_count", 1), value.get("pinned", False)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        return "“access_count” must be a whole number"
    if not isinstance(pinned, bool):
        return "“pinned” must be true or false"
    extra = tuple((key, more) for key, more in value.items() if key not in _KNOWN)
    return ScoreEntry(**read, access_count=count, pinned=pinned, extra=extra)


def _is_complete(value: object) -> bool:
    return isinstance(value, dict) and value.keys() >= set(_KNOWN)


def _finite(number: int | float) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _entries_text(layout: _Layout, changes: Mapping[str, ScoreEntry | None]) -> str:
    """Return the object of entries with changes, keeping all other entries and white space."""
    text = layout.text
    start, end = layout.entries or (0, 0)
    members = layout.members
    pretty = "\n" in text[start:end] or not members
    before = text[start + 1 : members[0].start] if members else "\n    "
    after = text[members[-1].end : end - 1] if members else "\n  "
    gap = text[members[-2].end : members[-1].start] if len(members) > 1 else "," + before
    parts: list[str] = []
    for at, member in enumerate(members):
        if member.key in changes:
            changed = changes[member.key]
            if changed is None:
                continue
            piece = text[member.start : member.value_start] + _entry_text(changed, pretty)
        else:
            piece = text[member.start : member.end]
        lead = text[members[at - 1].end : member.start] if at else ""
        parts.append((lead if parts else before) + piece)
    known = {member.key for member in members}
    for key, entry in changes.items():
        if entry is not None and key not in known:
            parts.append((gap if parts else before) + f"{_json(key)}: {_entry_text(entry, pretty)}")
    return "{" + "".join(parts) + after + "}" if parts else "{}"


def _entry_text(entry: ScoreEntry, pretty: bool) -> str:
    value = {name: getattr(entry, name) for name in _KNOWN} | dict(entry.extra)
    return _json(value, indent=2 if pretty else None).replace("\n", "\n    ")


def _json(value: Any, indent: int | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # Lone surrogates can be written only as escapes.
    return text if text.isascii() else _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _comma(layout: _Layout, at: int) -> str:
    match = _SPACE.match(layout.text, at)
    following = match.end() if match else at
    return "" if layout.text[following : following + 1] == "}" else ","
