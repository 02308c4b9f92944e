"""Tells which paths fit a glob, in which `**` spans folders."""

from __future__ import annotations

from fnmatch import fnmatchcase


def parted(path: str) -> tuple[str, str]:
    """Part a path before its first component with a wildcard; the second part is empty where there is none."""
    parts = path.split("/")
    first = next((at for at, part in enumerate(parts) if any(mark in part for mark in "*?[")), None)
    if first is None:
        return path, ""
    fixed = "/".join(parts[:first])
    return (fixed or "/") if path.startswith("/") else fixed, "/".join(parts[first:])


def fits(relative: str, pattern: str) -> bool:
    """Tell whether a path fits; a folder that fits stands for everything in it, an empty pattern for everything.

    Args:
        relative: POSIX path of a file below the folder that the glob begins at.
        pattern: Components with `*`, `?` and `[…]`, or `**` for any number of folders.
    """
    wanted = [part for part in pattern.split("/") if part not in ("", ".")]
    reached = _onward({0}, wanted)
    for name in relative.split("/"):
        if len(wanted) in reached:
            return True
        stepped = {at if wanted[at] == "**" else at + 1 for at in reached if _takes(wanted[at], name)}
        reached = _onward(stepped, wanted)
    return len(wanted) in reached


def _takes(part: str, name: str) -> bool:
    return part == "**" or fnmatchcase(name, part)


def _onward(reached: set[int], wanted: list[str]) -> set[int]:
    """Add the places behind each `**`, which may span no folder at all."""
    further = set(reached)
    for at in sorted(reached):
        while at < len(wanted) and wanted[at] == "**":
            at += 1
            further.add(at)
    return further
