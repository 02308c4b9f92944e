"""Why one item of an answer is dropped, while the others stay."""

from __future__ import annotations


class Unusable(ValueError):
    """An item says what it may not, or what nothing that was shown supports; its text is the reason, a clause."""
