"""Commits: messages, trailers and audit lines; the index of all commits, and the commit at a given time."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import sys
from array import array
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.file_access import write_state
from workbench.engine.history.git_objects import Commit, parse_commit
from workbench.engine.markdown.audit_log import parse_audit_fields, render_audit_fields
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.engine.history.git_store import GitStore


RESERVED = frozenset({"Actor", "Approval", "Trigger", "Transaction", "Audit"})

_KEY = lazy_pattern(r"^[A-Za-z][A-Za-z0-9-]*$")
_SUBJECT = lazy_pattern(r"^\[([A-Z]+)\] (.*?) — (.*)$")
# Control characters, line and paragraph separators, and surrogates.
_UNSAFE = lazy_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")
_ESCAPED = lazy_pattern(r"\\(\\|n|x[0-9a-f]{2}|u[0-9a-f]{4})")

UNDOES = "Undoes"
REDOES = "Redoes"
REVERTS = "Reverts"
REVERTS_ITEM = "Reverts-Item"
RESTORES = "Restores"
SPENT_IDS = "Retired"
"""Digests of the ids that a commit removed from the files; they are never assigned again."""
ASKED_BY = "Asked-By"
"""Names the role through which an action was requested; see `Attribution.asker`."""
CONTINUES = "Continues"
"""Names the first commit of an action that spans several; they are undone together."""
VERDICT = "Verdict"
"""What became of a proposal, as fields: number, sender, committed or rejected, content, reason, memory."""
DECIDED = "Decided"
"""What a person decided in the Inbox: its name there, and approved, rejected or deferred."""
REMEMBERED = "Remembered"
"""Names a memory that a commit stored since somebody in a conversation wanted it; “scratch that” means the last one."""
SESSION = "Session"
"""Names the session of that conversation, where it is known."""
DEVICE = "Device"
"""Names the device on which a commit was made, where memory is synced."""
INDEX_FILE = "history-line"
SETTLED_BY_ITSELF = "changed or taken back by the same person"
"""Why an alert was acknowledged that nobody had to look at: the trigger of that commit, which is upkeep."""
TICKING = "ticked in the Inbox"
"""Why a box of a proposal was ticked there: the trigger of that commit. Such commits are one row, undone one by one."""
_MAGIC = b"workbench-line-5\n"
_DIGEST = 16
_HASH = 20
# Fast path for the common case of `parse_commit` and `parse_message`, which take most of the time.
_HEAD = lazy_pattern(
    rb"tree [0-9a-f]{40}\n(?:parent ([0-9a-f]{40})\n)?author [^\n]* <[^>\n]*> (\d+) [+-]\d{4}\n"
)
# What a commit is to its index: all before it is what it rests on; it is on the line of first parents.
_WHOLE, _MAIN = 1, 2
_NAMING = frozenset({UNDOES, REDOES, REVERTS, CONTINUES})
_NAMED = lazy_pattern(rb"\n(Undoes|Redoes|Reverts|Continues): ([0-9a-f]{40})(?=\n|$)")
_ACTOR = lazy_pattern(rb"\nActor: ([^\\\n]*)\n")
_SETTLES = f"\nTrigger: {SETTLED_BY_ITSELF}\n".encode()


@dataclass(frozen=True)
class AuditTrailer:
    """The part of an audit line that its commit does not imply; an empty actor is the commit's."""

    action: str
    file: str
    approval: str
    summary: str
    actor: str = ""


@dataclass(frozen=True)
class CommitMessage:
    """The message of a history commit.

    Args:
        action: From the subject.
        file: From the subject; a path or a pattern.
        summary: From the subject, one line.
        actor: The actor's tag.
        approval: The approval.
        trigger: What caused the change, one line.
        transaction: The transaction's id.
        entries: The audit lines.
        trailers: Other trailers in order; keys may repeat.
    """

    action: str
    file: str
    summary: str
    actor: str
    approval: str
    trigger: str
    transaction: str
    entries: tuple[AuditTrailer, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()

    def trailer(self, key: str) -> str | None:
        """Return the first other trailer with a key, or None."""
        return next((value for name, value in self.trailers if name == key), None)

    def actor_of(self, file: str) -> str:
        """Return who changed a file, by its audit lines; the commit's actor where these do not name just one."""
        actors = {entry.actor or self.actor for entry in self.entries if entry.file == file}
        return actors.pop() if len(actors) == 1 else self.actor

    def values(self, key: str) -> tuple[str, ...]:
        """Return the values of every other trailer with a key, in order."""
        return tuple(value for name, value in self.trailers if name == key)


def render_message(message: CommitMessage) -> str:
    """Format a commit's message. No field can start a line of its own.

    Raises:
        InvalidInput: A trailer has a reserved or malformed key.
    """
    # The first dash in a subject ends the file name, so the name itself may not contain one.
    file = _one_line(message.file).replace("—", "\\u2014")
    lines = [
        f"[{message.action}] {file} — {_one_line(message.summary)}",
        "",
        f"Actor: {_one_line(message.actor)}",
        f"Approval: {_one_line(message.approval)}",
        f"Trigger: {_one_line(message.trigger)}",
        f"Transaction: {_one_line(message.transaction)}",
    ]
    for key, value in message.trailers:
        if key in RESERVED or not _KEY.match(key):
            raise InvalidInput(
                f"“{key[:40]}” cannot be a trailer of a commit.", remedy="Choose another name."
            )
        lines.append(f"{key}: {_one_line(value)}")
    for entry in message.entries:
        fields = (entry.action, entry.file, entry.approval, entry.summary)
        own = (entry.actor,) if entry.actor else ()
        lines.append(f"Audit: {render_audit_fields((*fields, *own))}")
    return "\n".join(lines) + "\n"


def taken_back(messages: Iterable[tuple[str, CommitMessage]]) -> frozenset[str]:
    """Return which commits were taken back and not done again since, together with those that took them back.

    Args:
        messages: Of commits, by their ids, the newest first.
    """
    gone: set[str] = set()
    again: set[str] = set()
    for commit, message in messages:
        if commit in gone:
            continue
        redone = message.values(REDOES)
        if not gone.isdisjoint(redone):
            # Done again, and then taken back once more.
            gone.add(commit)
            continue
        again.update(redone)
        undone = {*message.values(UNDOES), *message.values(REVERTS)}
        if undone:
            gone.update((commit, *(undone - again)))
    return frozenset(gone)


def parse_message(commit: Commit) -> CommitMessage:
    """Parse a commit's message; for a commit not made by the engine, return what can be inferred."""
    subject, _, body = commit.message.partition("\n")
    matched = _SUBJECT.match(subject)
    action, file, summary = matched.groups() if matched else ("EDIT", "*", subject)
    known: dict[str, str] = {}
    entries: list[AuditTrailer] = []
    trailers: list[tuple[str, str]] = []
    for line in body.split("\n"):
        key, separator, value = line.partition(": ")
        if not separator or not _KEY.match(key):
            continue
        if key == "Audit":
            fields = parse_audit_fields(value)
            if len(fields) in (4, 5):
                entries.append(AuditTrailer(*fields))
        elif key in RESERVED:
            known.setdefault(key, _unescape(value))
        else:
            trailers.append((key, _unescape(value)))
    ours = "Transaction" in known
    approval = known.get("Approval", "—")
    file, summary = _unescape(file), _unescape(summary)
    return CommitMessage(
        action=action,
        file=file,
        summary=summary,
        actor=known.get("Actor", commit.author) if ours else commit.author,
        approval=approval,
        trigger=known.get("Trigger", "—"),
        transaction=known.get("Transaction", ""),
        entries=tuple(entries) if ours else (AuditTrailer(action, file, "—", summary),),
        trailers=tuple(trailers),
    )


def author_of(actor: str) -> tuple[str, str]:
    """Return the git author name and e-mail address for an actor's tag."""
    name = re.sub(r"[\x00-\x1f\x7f<>]", "", _valid(actor)).strip(" .,:;\"'") or "unknown"
    local = re.sub(r"[^a-z0-9-]+", "-", actor.partition(":")[0].casefold()).strip("-") or "unknown"
    return name, f"{local}@workbench.invalid"


def _one_line(text: str) -> str:
    return _UNSAFE.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character == "\n":
        return "\\n"
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _unescape(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found[1]
        if code == "\\":
            return "\\"
        return "\n" if code == "n" else chr(int(code[1:], 16))

    return _ESCAPED.sub(character, text)


def _valid(text: str) -> str:
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)


@dataclass(frozen=True)
class CommitIndex:
    """All commits, oldest first; those of devices that worked side by side in the order of time.

    Args:
        ids: The 20 bytes of each commit's hash, concatenated.
        seconds: The time of each commit, seconds since 1970 UTC.
        actors: The position of each commit's actor in `names`.
        lines: A byte for each commit: 1 if all before it is what it rests on, and 2 if it is on the line of first
            parents, in one of which memory stood at any time on the device that joined them.
        names: Actors.
        taken_back: Which commits undid, redid or reverted which: position, trailer and full hash, oldest first.
        going_on: Which commits continue an action: position, and full hash of the action's first, oldest first.
        settling: Positions of the commits that acknowledged an alert by themselves, oldest first.
    """

    ids: bytes
    seconds: array[int]
    actors: array[int]
    lines: bytes
    names: tuple[str, ...]
    taken_back: tuple[tuple[int, str, str], ...] = ()
    going_on: tuple[tuple[int, str], ...] = ()
    settling: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def head(self) -> str | None:
        """Return the newest commit, or None if there is none."""
        return self.commit(len(self) - 1) if self.seconds else None

    def commit(self, place: int) -> str:
        """Return the full hash of a commit by its position, from 0."""
        return self.ids[_HASH * place : _HASH * (place + 1)].hex()

    def at(self, moment: datetime) -> str | None:
        """Return the full hash of the newest commit not later than a time, or None if every commit is later.

        “Newest” means by history order along first parents, not by date: if the clock was set back between two
        commits, the later in order wins, because it was made with knowledge of the other. What another device did
        counts from the commit that joined it.

        Args:
            moment: Aware. Commits are dated to the second, so fractions are ignored.
        """
        latest = moment.timestamp()
        for place in range(len(self.seconds) - 1, -1, -1):
            if self.seconds[place] <= latest and self.lines[place] & _MAIN:
                return self.commit(place)
        return None

    def latest_by(self, commit: str) -> datetime | None:
        """Return the latest commit time up to and including a commit; None if it is not in the index."""
        place = self.place(commit)
        return None if place is None else datetime.fromtimestamp(max(self.seconds[: place + 1]), UTC)

    def place(self, commit: str) -> int | None:
        """Return the position of a commit by its full hash; None if it is not in the index."""
        wanted = bytes.fromhex(commit)
        at = self.ids.find(wanted)
        while at >= 0 and at % _HASH:
            at = self.ids.find(wanted, at + 1)
        return at // _HASH if at >= 0 else None

    def by(self, actor: str) -> tuple[str, ...]:
        """Return the full hashes of an actor's commits, newest first."""
        if actor not in self.names:
            return ()
        own = self.names.index(actor)
        return tuple(
            [self.commit(place) for place in range(len(self) - 1, -1, -1) if self.actors[place] == own]
        )

    def going_on_from(self, first: str) -> tuple[str, ...]:
        """Return the full hashes of a commit and of those that continue its action, newest first."""
        return (*[self.commit(place) for place, begun in reversed(self.going_on) if begun == first], first)

    def actions(self) -> list[int]:
        """Return for each commit the position of its action's first commit.

        An action is a commit and its continuations. The commits of one reflection form one action as long as only
        the system's upkeep comes between them.
        """
        first = list(range(len(self)))
        # The many commits of an import all continue the same first commit.
        place_of = cache(self.place)
        continued = {place: place_of(commit) for place, commit in self.going_on}
        reflections = [name if name.startswith("reflection:") else None for name in self.names]
        upkeep = [name.startswith("system:") for name in self.names]
        at_work, begun = None, 0
        for place, actor in enumerate(self.actors):
            before = continued.get(place)
            if before is not None and before < place:
                first[place] = first[before]
            if upkeep[actor]:
                continue
            if reflections[actor] is None or actor != at_work:
                at_work, begun = (None if reflections[actor] is None else actor), first[place]
            elif first[place] == place:
                first[place] = begun
        return first

    def undone_by(self, commit: str) -> str | None:
        """Return the commit that undid or reverted another, by full hash, unless it was redone since."""
        for place, trailer, target in reversed(self.taken_back):
            if target == commit:
                return None if trailer == REDOES else self.commit(place)
        return None

    def shown(self) -> results.audit.HistoryLine:
        """Return the line of first parents as a result value."""
        digits, names = self.ids.hex(), self.names
        commits = [digits[start : start + 2 * _HASH] for start in range(0, len(digits), 2 * _HASH)]
        main = [bool(line & _MAIN) for line in self.lines]
        return results.audit.HistoryLine(
            tuple(compress(commits, main)),
            tuple(compress(self.seconds, main)),
            tuple([names[place] for place in compress(self.actors, main)]),
        )


EMPTY_INDEX = CommitIndex(b"", array("q"), array("I"), b"", ())


def read_commit_index(store: GitStore, known: CommitIndex = EMPTY_INDEX) -> CommitIndex:
    """Return the index of all commits up to the newest.

    Args:
        known: An earlier index; the part that is still valid is not read again.

    Raises:
        HistoryDamaged: A commit is missing or broken.
    """
    head = store.head()
    if head == known.head:
        return known
    places = {known.ids[at : at + _HASH]: at // _HASH for at in range(0, len(known.ids), _HASH)}
    new: list[_Row] = []
    kept = 0
    oid, main = head, head
    while oid is not None:
        place = places.get(bytes.fromhex(oid))
        if place is not None and oid == main and known.lines[place] == _WHOLE | _MAIN:
            # A commit's hash covers its ancestors, so a known commit vouches for everything before it.
            kept = place + 1
            break
        row, parents = _row(oid, store.raw_object(oid))
        new.append(replace(row, line=_WHOLE | (_MAIN if oid == main else 0)))
        main = (parents or (None,))[0] if oid == main else main
        if len(parents) < 2:
            oid = parents[0] if parents else None
            continue
        oid = store.common_base(parents)
        for commit in store.beside(parents, oid):
            row, parents = _row(commit, store.raw_object(commit))
            new.append(replace(row, line=_MAIN if commit == main else 0))
            main = (parents or (None,))[0] if commit == main else main
    new.reverse()
    names = {name: place for place, name in enumerate(known.names)}
    actors = known.actors[:kept]
    actors.extend(names.setdefault(row.actor, len(names)) for row in new)
    seconds = known.seconds[:kept]
    seconds.extend(row.second for row in new)
    ids = known.ids[: _HASH * kept] + b"".join(row.id for row in new)
    lines = known.lines[:kept] + bytes(row.line for row in new)
    taken_back = [row for row in known.taken_back if row[0] < kept]
    going_on = [row for row in known.going_on if row[0] < kept]
    settling = [place for place in known.settling if place < kept]
    for at, each in enumerate(new, kept):
        settling += [at] * each.settles
        taken_back += [(at, key, commit) for key, commit in each.named if key != CONTINUES]
        going_on += [(at, commit) for key, commit in each.named if key == CONTINUES]
    rows = (tuple(taken_back), tuple(going_on), tuple(settling))
    return CommitIndex(ids, seconds, actors, lines, tuple(names), *rows)


@dataclass(frozen=True, slots=True)
class _Row:
    """A commit's hash, time in seconds and actor, the commits that it names with their trailers, and its line.

    Args:
        settles: Whether it acknowledged an alert by itself.
    """

    id: bytes
    second: int
    actor: str
    named: tuple[tuple[str, str], ...]
    settles: bool = False
    line: int = 0


def _row(oid: str, raw: bytes) -> tuple[_Row, tuple[str, ...]]:
    """Return a commit's row, and its parents."""
    head, subject = _HEAD.match(raw), raw.find(b"\n", raw.find(b"\n\n") + 2)
    said = _ACTOR.search(raw, subject) if subject > 0 else None
    try:
        if head and said and raw.find(b"\nTransaction: ", subject) > 0:
            named = tuple((key.decode(), commit.decode()) for key, commit in _NAMED.findall(raw, subject))
            parents = (head[1].decode(),) if head[1] else ()
            settles = _SETTLES in raw
            return _Row(bytes.fromhex(oid), int(head[2]), said[1].decode(), named, settles), parents
    except UnicodeDecodeError:
        pass
    commit = parse_commit(oid, raw)
    message = parse_message(commit)
    named = tuple((key, value) for key, value in message.trailers if key in _NAMING)
    settles = message.trigger == SETTLED_BY_ITSELF
    row = _Row(bytes.fromhex(oid), int(commit.moment.timestamp()), message.actor, named, settles)
    return row, commit.parents


def save_commit_index(place: Path, index: CommitIndex) -> bool:
    """Write an index to a file; return whether it succeeded."""
    seconds, actors = array("q", index.seconds), array("I", index.actors)
    if sys.byteorder == "big":
        seconds.byteswap()
        actors.byteswap()
    rest = json.dumps([index.names, index.settling, index.taken_back, index.going_on]).encode()
    body = (
        struct.pack("<Q", len(index)) + index.ids + seconds.tobytes() + actors.tobytes() + index.lines + rest
    )
    digest = hashlib.blake2b(body, digest_size=_DIGEST).digest()
    return write_state(place, _MAGIC + digest + body)


def load_commit_index(place: Path) -> CommitIndex:
    """Load a saved index; the empty one if it is missing or damaged."""
    try:
        content = place.read_bytes()
    except OSError:
        return EMPTY_INDEX
    start = len(_MAGIC) + _DIGEST
    body = content[start:]
    digest = content[len(_MAGIC) : start]
    if not content.startswith(_MAGIC) or hashlib.blake2b(body, digest_size=_DIGEST).digest() != digest:
        return EMPTY_INDEX
    seconds, actors = array("q"), array("I")
    (count,) = struct.unpack_from("<Q", body)
    at = 8 + _HASH * count
    ids = body[8:at]
    seconds.frombytes(body[at : at + seconds.itemsize * count])
    at += seconds.itemsize * count
    actors.frombytes(body[at : at + actors.itemsize * count])
    at += actors.itemsize * count
    lines = body[at : at + count]
    at += count
    if sys.byteorder == "big":
        seconds.byteswap()
        actors.byteswap()
    names, settling, *rows = json.loads(body[at:])
    taken_back, going_on = (tuple((*row,) for row in each) for each in rows)
    return CommitIndex(ids, seconds, actors, lines, tuple(names), taken_back, going_on, tuple(settling))


class CachedCommitIndex:
    """The commit index, cached in a file of derived state that may be deleted at any time."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._index: CommitIndex | None = None

    def read(self, store: GitStore) -> CommitIndex:
        """Return the index of all commits; raises like `read_commit_index`."""
        known = self._index
        if known is None:
            known = load_commit_index(self._place)
        index = read_commit_index(store, known)
        if index is not known:
            save_commit_index(self._place, index)
        self._index = index
        return index


def history_begins_later(moment: datetime) -> NotFound:
    """Return the error for a time before the first commit."""
    return NotFound(
        f"The history begins after {moment.isoformat()}.",
        remedy="See its commits with: workbench audit log",
    )
