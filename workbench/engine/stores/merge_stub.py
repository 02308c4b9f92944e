"""What stays of an entity that was merged into another: a pointer, the file as it was, and the way back."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from dataclasses import dataclass

from workbench.engine.documents.entity import EntityFile
from workbench.engine.errors import DocumentError

_BACKTICKS = re.compile(rb"`{3,}")
_RECORD = re.compile(rb"^<!-- Unmerge: (\{.*\}) -->\r?\n\r?\n(`{4,})markdown\r?\n", re.MULTILINE)


@dataclass(frozen=True)
class MergeRecord:
    """How to take a merge back.

    Args:
        digest: Of the kept entity's file right after the merge.
        undo: Runs of lines of that file with what stood there before: first line (from 0), end (not
            included), and the lines before, with their ends.
        aliases: Names that the kept entity got by the merge.
        answered: Open questions of the kept entity that the merge settled.
        original: The absorbed entity's file as it was.
    """

    digest: str
    undo: tuple[tuple[int, int, tuple[str, ...]], ...]
    aliases: tuple[str, ...]
    answered: tuple[str, ...]
    original: bytes


def record_merge(
    before: bytes, after: bytes, original: bytes, aliases: tuple[str, ...], answered: tuple[str, ...]
) -> MergeRecord:
    """Note how the kept entity's file changed, so that it can be given back to the byte.

    Args:
        before: The kept entity's file before the merge.
        after: The same file with what the absorbed entity brought.
        original: The absorbed entity's file.
        aliases: Names that were added.
        answered: Open questions that were removed.
    """
    old, new = _lines(before), _lines(after)
    matcher = difflib.SequenceMatcher(None, new, old, autojunk=False)
    undo = tuple(
        (start, end, tuple(old[from_:to]))
        for kind, start, end, from_, to in matcher.get_opcodes()
        if kind != "equal"
    )
    return MergeRecord(digest(after), undo, aliases, answered, original)


def undo_merge(content: bytes, record: MergeRecord) -> bytes | None:
    """Return the kept entity's file as it was before the merge; None where it has changed since."""
    if digest(content) != record.digest:
        return None
    lines = _lines(content)
    for start, end, old in reversed(record.undo):
        lines[start:end] = old
    return "".join(lines).encode("utf-8", "surrogateescape")


def render_stub(absorbed: EntityFile, keep: str, today: str, record: MergeRecord) -> bytes:
    """Write the file that stands in an absorbed entity's place.

    Args:
        absorbed: The entity as it was.
        keep: What a link names that leads to the entity it was merged into.
        today: ISO date.
        record: The way back.
    """
    head = EntityFile.create(absorbed.path, label=absorbed.label, created=absorbed.created or today).render()
    final_newline = record.original.endswith(b"\n")
    written = json.dumps(
        {
            "digest": record.digest,
            "undo": record.undo,
            "aliases": record.aliases,
            "answered": record.answered,
            "finalNewline": final_newline,
        }
    )
    # A comment ends at the first arrow, and a header comment is parted by bars.
    written = written.replace(">", "\\u003e").replace("|", "\\u007c")
    longest = max((len(run) for run in _BACKTICKS.findall(record.original)), default=3)
    fence = b"`" * max(4, longest + 1)
    text = (
        f"<!-- Merged into: [[{keep}]] -->\n\nMerged into [[{keep}]] on {today}. "
        f"What stood here before is kept below.\n\n<!-- Unmerge: {written} -->\n\n"
    )
    body = record.original + (b"" if final_newline else b"\n")
    return head.rstrip(b"\r\n") + b"\n" + text.encode() + fence + b"markdown\n" + body + fence + b"\n"


def read_stub(content: bytes, path: str) -> MergeRecord:
    """Read the way back out of a stub.

    Raises:
        DocumentError: It was edited so that the way back is lost.
    """
    match = _RECORD.search(content)
    try:
        if match is None:
            raise ValueError("there is no record of the merge")
        end = content.rindex(b"\n" + match.group(2))
        known = json.loads(match.group(1))
        original = content[match.end() : end + 1] if end >= match.end() else b""
        return MergeRecord(
            digest=str(known["digest"]),
            undo=tuple((int(a), int(b), tuple(map(str, lines))) for a, b, lines in known["undo"]),
            aliases=tuple(map(str, known["aliases"])),
            answered=tuple(map(str, known["answered"])),
            original=original if known["finalNewline"] else original[:-1],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DocumentError(
            "The record of this merge has been edited and cannot be read.",
            where=path,
            remedy="Revert the merge in the history instead: `workbench audit log` finds its commit.",
        ) from error


def digest(content: bytes) -> str:
    """Return a short digest of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


def _lines(content: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", content.decode("utf-8", "surrogateescape"))
