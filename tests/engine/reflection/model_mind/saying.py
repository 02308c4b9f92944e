"""Items as a model writes them, whole and sound unless a test changes something."""

from __future__ import annotations

from typing import Any


def evidence(*cited: tuple[str, str]) -> list[dict[str, str]]:
    """Return (handle, quote) pairs as the schema has them."""
    return [{"ref": ref, "quote": quote} for ref, quote in cited]


def item(kind: str, *cited: tuple[str, str], **fields: Any) -> dict[str, Any]:
    """Return an item of a kind; `from_` stands for the key `from`."""
    sure = {"confidence": "medium"} if kind not in ("archive", "restore", "vault pin", "question") else {}
    named = {name.rstrip("_"): value for name, value in fields.items()}
    return {
        "kind": kind,
        "evidence": evidence(*cited),
        "reason": "It says so.",
        **sure,
        **named,
    }


def entity(name: str, *cited: tuple[str, str], type_: str = "person", **fields: Any) -> dict[str, Any]:
    """Return a new entity."""
    return item("entity", *cited, **{"name": name, "type": type_, "aliases": [], "summary": "", **fields})


def fact(about: str, text: str, *cited: tuple[str, str], **fields: Any) -> dict[str, Any]:
    """Return a fact."""
    return item("fact", *cited, **{"about": about, "text": text, "since": "", "replaces": "", **fields})
