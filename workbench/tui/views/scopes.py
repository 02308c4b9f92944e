"""Says for whom a memory is, beside the owner."""

from __future__ import annotations

SCOPE_FROM = 60
"""So wide, in cells, is a row that has room for it."""
_EVERYBODY = "everybody"


def knowers(scope: str) -> str:
    """Return who may know a memory beside the owner: “Mara”, “the group family”, “everybody”.

    Args:
        scope: As memories carry it: `person:mara`, `group:family`, `shared`.
    """
    kind, _, name = scope.partition(":")
    if kind == "person":
        return " ".join(word.capitalize() for word in name.replace("_", "-").split("-") if word) or name
    return f"the group {name}" if kind == "group" else _EVERYBODY


def scope_words(scope: str) -> str:
    """Return for whom a memory is, as it stands in a row: “for Mara”, “for group family”."""
    return f"for {knowers(scope).removeprefix('the ')}"
