"""Memory as one commit held it, read on demand."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.engine import results


class Past:
    """Memory as it was; what its methods answer is shaped as the workspace’s own answers about now.

    Reads no more of the commit than each question needs.
    """

    @property
    def moment(self) -> results.Moment:
        """Return which commit this is, with its files (without their texts)."""
        raise NotImplementedError

    def core(self) -> results.CoreView:
        """Return core memory."""
        raise NotImplementedError

    def get(self, path: str) -> bytes:
        """Return a file, byte for byte.

        Raises:
            NotFound: There was no such file.
        """
        raise NotImplementedError

    def show(self, id: str) -> results.Shown:  # noqa: A002 - the field's word
        """Return one memory with its provenance, validity, score and links as they were; without its history.

        Raises:
            NotFound: There was no such memory.
        """
        raise NotImplementedError

    def graph(self, entity: str, *, depth: int = 1) -> results.GraphView:
        """Return an entity with its facts and what lay around it.

        Raises:
            NotFound: There was no such entity.
        """
        raise NotImplementedError

    def entities(self) -> Sequence[tuple[str, str]]:
        """Return the id and a name of every entity, by id, without opening their files."""
        raise NotImplementedError

    def scores(self, ids: Sequence[str] | None = None) -> Sequence[results.PastScore]:
        """Return the scores as they were.

        Args:
            ids: Of these memories alone, which is quick; of all by default.
        """
        raise NotImplementedError
