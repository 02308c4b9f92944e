"""How two contents of a file differ: as text, in numbers, and whether one came from the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.engine.history.git_objects import TreeChange
from workbench.engine.history.libgit2 import libgit2
from workbench.engine.layout import shown

SIMILAR = 60
# Similarity is looked for pair by pair; past this many, only identical content counts as a rename.
_MOST_PAIRS = 10_000


def diff_text(path: str, before: bytes | None, after: bytes | None, *, context: int = 3) -> str:
    """Return the unified difference of two contents of a file, without git's header lines.

    Args:
        path: Shown as the file's name.
        before: The older content, None where there was no file.
        after: The newer content, None where there is no file.
        context: Unchanged lines shown around each change.
    """
    name = shown(path)
    patch = libgit2().Patch.create_from(
        before, after, name, name, flag=libgit2().enums.DiffOption.FORCE_TEXT, context_lines=context
    )
    text = (patch.data if patch else b"").decode("utf-8", "replace")
    start = text.find("\n--- ") + 1
    return text[start:] if start else ""


def line_counts(before: bytes | None, after: bytes | None) -> tuple[int, int]:
    """Return how many lines one content has that the other lacks: added, removed."""
    flag = libgit2().enums.DiffOption.FORCE_TEXT
    patch = libgit2().Patch.create_from(before, after, "a", "a", flag=flag, context_lines=0)
    _, added, removed = patch.line_stats if patch else (0, 0, 0)
    return int(added), int(removed)


def similarity(before: bytes, after: bytes) -> int:
    """Return how much two contents have in common by lines, 0 to 100: shared bytes over the larger size."""
    if before == after:
        return 100
    larger = max(len(before), len(after))
    if not larger or min(len(before), len(after)) * 100 < larger * SIMILAR:
        return 0
    counts: dict[bytes, int] = {}
    for line in before.splitlines(keepends=True):
        counts[line] = counts.get(line, 0) + 1
    shared = 0
    for line in after.splitlines(keepends=True):
        if counts.get(line, 0):
            counts[line] -= 1
            shared += len(line)
    return shared * 100 // larger


def with_renames(changes: Sequence[TreeChange], read_blob: Callable[[str], bytes]) -> list[TreeChange]:
    """Join files that came with files that went where their contents are 60 % alike or more.

    Args:
        changes: Every file that differs, none of them a rename.
        read_blob: Gives a blob's content.
    """
    gone = {change.path: change for change in changes if change.new_blob is None}
    come = [change for change in changes if change.old_blob is None]
    pairs = _pairs(come, list(gone.values()), read_blob) if gone and come else {}
    sources = set(pairs.values())
    return [
        TreeChange(change.path, gone[pairs[change.path]].old_blob, change.new_blob, pairs[change.path])
        if change.path in pairs and change.old_blob is None
        else change
        for change in changes
        if not (change.new_blob is None and change.path in sources)
    ]


def _pairs(
    come: Sequence[TreeChange], gone: Sequence[TreeChange], read_blob: Callable[[str], bytes]
) -> dict[str, str]:
    """Return old path by new path, identical contents first, then the most alike; each used once."""
    pairs: dict[str, str] = {}
    by_blob: dict[str | None, list[str]] = {}
    for change in reversed(gone):
        by_blob.setdefault(change.old_blob, []).append(change.path)
    for change in come:
        if by_blob.get(change.new_blob):
            pairs[change.path] = by_blob[change.new_blob].pop()
    taken = set(pairs.values())
    left = [change for change in gone if change.path not in taken]
    new = [change for change in come if change.path not in pairs]
    if len(left) * len(new) > _MOST_PAIRS:
        return pairs
    before = {change.path: read_blob(change.old_blob or "") for change in left} if new else {}
    scored = []
    for one in new:
        after = read_blob(one.new_blob or "")
        scored += [(-similarity(content, after), one.path, path) for path, content in before.items()]
    for score, new_path, old_path in sorted(scored):
        if -score >= SIMILAR and new_path not in pairs and old_path not in taken:
            pairs[new_path] = old_path
            taken.add(old_path)
    return pairs
