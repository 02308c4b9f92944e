"""A mask that hides nothing."""

from __future__ import annotations


class Unmasked:
    def policy(self) -> str:
        return ""

    def elsewhere(self, content: bytes) -> bytes:
        return content

    def text(self, text: str) -> str:
        return text
