"""What a place may be able to do beside showing a list and a card: it has the members of one of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject
    from workbench.tui.verbs.adding import Destination
    from workbench.tui.verbs.rewording import Writing


@runtime_checkable
class HasSpots(Protocol):
    """Has more to show than one list: an entity in the middle, a moment."""

    @property
    def spot(self) -> str:
        """Return where in the place one is; what `[` comes back to, empty for the list itself."""
        ...

    def go_to_spot(self, spot: str) -> None:
        """Be somewhere else in the place; what is shown there is read next."""
        ...


@runtime_checkable
class Leaves(Protocol):
    """Has something that holds for one visit alone."""

    def left(self) -> None:
        """Be told that another place is shown; `[` has kept the spot."""
        ...


@runtime_checkable
class RestsOn(Protocol):
    """Shows something of a row beside its card."""

    def rest_on(self, subject: Subject | None) -> None:
        """Be told what the cursor has come to rest on, or what a link opened: its card is read now."""
        ...


@runtime_checkable
class Rewords(Protocol):
    """Has rows that are no memories, which `e` edits or refuses."""

    def writing(self, workspace: Workspace, subject: Subject) -> Writing | str:
        """Read what `e` edits in a row; called on a thread. A sentence says why nothing can be edited."""
        ...


@runtime_checkable
class TakesNew(Protocol):
    """Has rows that say where a new memory belongs."""

    @property
    def destination(self) -> Destination | None:
        """Return where a new memory goes that is written here; None for where its text belongs."""
        ...


def spot_of(place: object) -> str:
    """Return where in a place one is; empty where it has a list alone."""
    return place.spot if isinstance(place, HasSpots) else ""
