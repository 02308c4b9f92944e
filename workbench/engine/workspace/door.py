"""Workspace: opening a folder of agent memory, and everything that can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from workbench.engine import layout
from workbench.engine.agents.roles import parse_role
from workbench.engine.clock import Clock, clock_from_environment
from workbench.engine.errors import InvalidInput, InvalidSetting, NotFound, StorageError
from workbench.engine.home_folder import from_home, to_write
from workbench.engine.results.memories import Changed
from workbench.engine.settings.loading import load_settings
from workbench.engine.settings.sections import Settings
from workbench.engine.workspace.auditing import Auditing
from workbench.engine.workspace.decay_editing import DecayEditing
from workbench.engine.workspace.exporting import Exporting
from workbench.engine.workspace.ground import Ground
from workbench.engine.workspace.holding import Holding
from workbench.engine.workspace.import_places import PlacesToImport
from workbench.engine.workspace.importing import Importing
from workbench.engine.workspace.instructing import Instructing
from workbench.engine.workspace.past_reading import PastReading
from workbench.engine.workspace.proposing import Proposing
from workbench.engine.workspace.session_browsing import SessionBrowsing
from workbench.engine.workspace.session_compacting import SessionCompacting

if TYPE_CHECKING:
    from workbench.engine.workspace.scoped import ScopedMemory

_MARKS = (layout.HISTORY, layout.SETTINGS, layout.CORE, "memory")


class Workspace(
    Holding,
    SessionCompacting,
    Importing,
    PlacesToImport,
    Exporting,
    Proposing,
    DecayEditing,
    PastReading,
    Auditing,
    Instructing,
    SessionBrowsing,
):
    """An agent's memory in a folder: a context manager, safe to use from several threads.

    Open one with `Workspace.open`; opening reads and writes nothing in the folder. The first mutation
    creates the history, `.audit`.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        role: str = "main",
        actor: str | None = None,
        clock: Clock | None = None,
        reads_refresh: bool = True,
        lock_timeout: float | None = None,
        new_id: Callable[[], str] | None = None,
        lenient: bool = False,
    ) -> Self:
        """Open a workspace.

        Args:
            path: Any folder; missing parts of the layout are made when first written.
            role: `person`, `main`, `agent:NAME` or `reader`; fixed from here on.
            actor: The actor that changes are attributed to where a call names none.
            clock: Tells the time; the system's, or `WORKBENCH_NOW`, by default.
            reads_refresh: Whether reading looks for changed files first. Turn it off where `refresh` is
                called in the background.
            lock_timeout: Seconds that a change waits for another writer; the setting’s by default.
            new_id: Gives a fresh id of lower-case letters and digits for each transaction; random by default.
            lenient: Open with the defaults where the settings are broken; `doctor` says what is wrong with them.

        Raises:
            NotFound: There is no such folder.
            InvalidSetting: A settings file does not hold what it may.
            InvalidInput: There is no such role.
        """
        root = _folder(Path(path))
        ground = Ground(
            root=root,
            role=parse_role(role),
            actor=actor,
            clock=clock or clock_from_environment(),
            settings=_settings(root, lenient=lenient),
            reads_refresh=reads_refresh,
            lock_timeout=lock_timeout,
        )
        if new_id is not None:
            ground.new_id = new_id
        return cls(ground)

    @classmethod
    def init(
        cls,
        path: str | Path,
        *,
        clock: Clock | None = None,
        timezone: str | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> Changed:
        """Lay out a new workspace, or give one that has memory its history.

        An empty folder gets the templates of the layout; in a folder with memory nothing but `.audit` and the
        time zone's setting is added, and what is found is committed. Doing it again changes nothing.

        Args:
            path: A folder; made where it does not exist.
            clock: Tells the time.
            timezone: IANA name of the zone that episodes are dated in; the system's by default.
            new_id: Gives a fresh id for each transaction; random by default.

        Raises:
            InvalidInput: There is no such time zone, or no user of the name that the path begins with.
            StorageError: The folder cannot be made or written.
        """
        from workbench.engine.workspace.initialising import initialise

        place = to_write(path)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise InvalidInput(
                "A workspace is a folder, and this is a file.", where=str(path), remedy="Name another place."
            ) from error
        except OSError as error:
            raise StorageError(
                f"The folder cannot be made: {error.strerror}.", where=str(path), remedy="Name another place."
            ) from error
        with cls.open(place, role="person", clock=clock, new_id=new_id) as workspace:
            return initialise(workspace._ground, timezone)

    @staticmethod
    def find(start: Path) -> Path | None:
        """Return the nearest workspace from a folder upward, or None.

        A workspace is a folder that holds `.audit`, `workbench.toml`, `MEMORY.md` or `memory/`.
        """
        for folder in (start, *start.parents):
            if any((folder / mark).exists() for mark in _MARKS):
                return folder
        return None

    @property
    def root(self) -> Path:
        """Return the workspace folder, absolute and real."""
        return self._ground.root

    @property
    def role(self) -> str:
        """Return the role this door was opened with."""
        return str(self._ground.role)

    @property
    def settings(self) -> Settings:
        """Return the settings as they held at opening; those of decay as the file has them now."""
        self._ground.follow_settings()
        return self._ground.settings

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return one line for each thing that did not work as it should while memory was changed."""
        history = self._ground.__dict__.get("history")
        told = (
            *self._ground.troubles,
            *self._ground.edits_told,
            *(history.warnings if history is not None else ()),
        )
        return tuple(dict.fromkeys(told))

    @property
    def state(self) -> Path:
        """Return the folder on this machine, outside the workspace, of what cannot be derived from its files."""
        return self._ground.state

    def scoped(self, scope: str) -> ScopedMemory:
        """Return the door to this memory for one person or one group; it ends with this one.

        Args:
            scope: `person:NAME`, `group:NAME`, or the key of a session that names a chat.

        Raises:
            InvalidInput: It is no such scope.
        """
        from workbench.engine.workspace.scoped import ScopedMemory

        return ScopedMemory(self, scope)

    def now(self) -> datetime:
        """Return the present moment in the workspace's zone."""
        return self._ground.now()

    def head(self) -> str | None:
        """Return the newest commit, or None where there is no history yet."""
        return self._ground.history.head() if self._ground.has_history() else None

    def refresh(
        self,
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> frozenset[str]:
        """Look at every file for changes and bring the catalog along.

        Args:
            progress: Called with files done and to do.
            cancelled: Asked between files.

        Returns:
            The paths that changed since the last look.
        """
        return self._ground.refresh(progress=progress, cancelled=cancelled).paths

    def watch(self, changed: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        """Follow changes of the files, whoever makes them; outside edits are adopted as they come.

        Args:
            changed: Called on a thread of its own with the changed paths.

        Returns:
            What ends the watching.
        """
        from workbench.engine.recall import Watcher
        from workbench.engine.workspace.following import Following

        return Watcher(self._ground.root, Following(self._ground, changed).look).stop

    def close(self) -> None:
        """Fold what is due and let go of the files."""
        self._ground.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _settings(root: Path, *, lenient: bool) -> Settings:
    try:
        settings = load_settings(root)
    except InvalidSetting as error:
        if not lenient:
            raise
        settings = Settings(broken=str(error))
    if settings.timezone:
        return settings
    from workbench.engine.workspace.initialising import recorded_timezone

    recorded = recorded_timezone(root)
    if not recorded:
        return settings
    origins = {**settings.origins, "timezone": "recorded by init"}
    return replace(settings, timezone=recorded, origins=origins)


def _folder(path: Path) -> Path:
    place = from_home(path)
    if not place.is_dir():
        raise NotFound(
            "There is no such folder.", where=str(path), remedy=f"Make one with: workbench init {path}"
        )
    return place.resolve()
