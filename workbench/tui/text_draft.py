"""Owns what an unsaved text of a memory is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextDraft:
    """An unsaved text.

    Args:
        memory_id: Of what it is to become the text.
        text: What has been written.
        expected: What the memory said when it was begun.
    """

    memory_id: str
    text: str
    expected: str

    @property
    def touched(self) -> bool:
        """Tell whether anything would be lost with it."""
        return self.text != self.expected
