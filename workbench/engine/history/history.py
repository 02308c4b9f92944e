"""The one way to change a workspace, and to see what changed it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.clock import Clock
from workbench.engine.history.plan import Attribution, FileView, Planner, Receipt

if TYPE_CHECKING:
    from workbench.engine.history.adoption import Adopted
    from workbench.engine.history.alerts import Alert
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.transaction import Writing

T = TypeVar("T")
_INIT = Attribution("system:init", "auto", "first run")

# Given the changed paths and the files as they now are; returns untracked files to write, by path.
Projection = Callable[[Sequence[str], FileView], Mapping[str, bytes]]


class History:
    """The history of one workspace.

    Args:
        root: The workspace folder, absolute.
        clock: Tells the time of commits.
        state: This workspace's folder for derived state, outside the workspace; made when first needed.
        zone: The time zone commits are dated in.
        lock_timeout: Seconds to wait for another writer.
        projections: Further files derived from the tracked ones, written after each change.
        new_id: Gives a fresh transaction id of lower-case letters and digits.
    """

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock,
        state: Path,
        zone: tzinfo = UTC,
        lock_timeout: float = 10.0,
        projections: Sequence[Projection] = (),
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        raise NotImplementedError

    @property
    def exists(self) -> bool:
        """Tell whether the workspace has a history yet."""
        raise NotImplementedError

    @property
    def store(self) -> GitStore:
        """Return the git repository, for reading. Raises NotFound where there is none yet."""
        raise NotImplementedError

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return one line for each thing that does not work here as it should."""
        raise NotImplementedError

    def head(self) -> str | None:
        """Return the newest commit, or None."""
        raise NotImplementedError

    def now(self) -> FileView:
        """Return the files on disk, lock-free."""
        raise NotImplementedError

    def at(self, commit: str) -> FileView:
        """Return the files as of a commit (a hash or the beginning of one)."""
        raise NotImplementedError

    def init(self, attribution: Attribution = _INIT) -> Receipt[None]:
        """Create `.audit` and commit what is found."""
        raise NotImplementedError

    def mutate(
        self, planner: Planner[T], attribution: Attribution, *, may_touch_critical: bool = False
    ) -> Receipt[T]:
        """Carry out what a planner wants: whole, or not at all."""
        raise NotImplementedError

    def adopt(self, actor: str = "manual") -> Adopted:
        """Take in what was changed from outside."""
        raise NotImplementedError

    @contextmanager
    def writing(self, actor: str) -> Iterator[Writing]:
        """Hold the writer's lock, after recovery: for repacking, purging and the like."""
        raise NotImplementedError

    def alerts(self) -> list[Alert]:
        """Return every alert, newest first."""
        raise NotImplementedError

    def acknowledge(self, alert: str, attribution: Attribution) -> Receipt[None]:
        """Record that a person has seen an alert."""
        raise NotImplementedError
