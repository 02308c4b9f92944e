"""What the whole frame can do beside showing places: asking, editing, finding, copying; one object for each."""

from __future__ import annotations

from typing import Protocol


class Capability(Protocol):
    """Something that the frame can do in every place; `frame.screen` lists them."""

    def do(self, command: str) -> bool:
        """Carry out a command of `keys.table`.

        Args:
            command: Its id.

        Returns:
            Whether it is one of this capability's, and was carried out or answered.
        """
        ...

    def take(self, key: str) -> bool:
        """Act on a key before anything else does: while a line is being written, or a key is waited for.

        Args:
            key: As `keys.table.canonical` has it.

        Returns:
            Whether the key was acted on; False where the line is not this capability's, or the key is text.
        """
        ...
