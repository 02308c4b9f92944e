"""Cutting a text that is too long for a model."""

from __future__ import annotations


def cut_to_bytes(text: str, limit: int) -> str:
    """Return a text's beginning that takes at most so many bytes of UTF-8, lone surrogates replaced."""
    content = text.encode("utf-8", "replace")
    return content[:limit].decode("utf-8", "ignore")
