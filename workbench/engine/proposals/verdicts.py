"""What somebody decides about proposals, and what it takes to carry that out (design document §13.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from workbench.engine.proposals.storing import Wishes, sender_tag

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.history.plan import FileView
    from workbench.engine.proposals.comparing import Compare
    from workbench.engine.settings.sections import Settings
    from workbench.engine.stores.lookups import EntityLookup, StandingLookup
    from workbench.engine.triggers.model import Routing

_MOST_NAMED: Final = 4


@dataclass(frozen=True)
class Verdicts:
    """What somebody decided.

    Args:
        commit: Numbers of what shall be stored.
        reject: Numbers of what shall not.
        defer: Numbers of what is left to the reflection.
        reason: Why something is rejected; empty where nothing is said.
        wishes: What shall be otherwise than proposed.
        both: Whether what is stored contradicts each other and is linked as such.
        replacing: Whether what is stored takes the place of the memories that it contradicts.
        named: Ids of those memories, where they were named; none where all of them are meant.
        expected: Texts that proposals had when somebody looked at them, by number.
    """

    commit: tuple[int, ...] = ()
    reject: tuple[int, ...] = ()
    defer: tuple[int, ...] = ()
    reason: str = ""
    wishes: Wishes = field(default_factory=Wishes)
    both: bool = False
    replacing: bool = False
    named: frozenset[str] = frozenset()
    expected: Mapping[int, str] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return every number."""
        return (*self.commit, *self.reject, *self.defer)

    def in_place_of(self, replacing: bool | Collection[str]) -> Verdicts:
        """Return these verdicts, with what is stored taking the place of what it contradicts.

        Args:
            replacing: Whether of all of it; or the ids of what is meant.
        """
        if isinstance(replacing, bool):
            return replace(self, replacing=replacing)
        named = frozenset([replacing] if isinstance(replacing, str) else replacing)
        return replace(self, replacing=bool(named), named=named)


@dataclass(frozen=True)
class Prepared:
    """Where a text belongs, found out before anything is locked.

    Args:
        text: The text.
        routing: Where it belongs.
        rejected: What a person has rejected of it, one sentence each.
    """

    text: str
    routing: Routing
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Means:
    """What verdicts need beside the files.

    Args:
        now: Aware, in the workspace's zone.
        settings: Of the workspace.
        lookup: Finds entities by name.
        standing: Knows what matters in core memory.
        prepared: Of what is to be stored, by number.
        given: The highest number that history knows of.
        compare: Tells how two texts stand to each other.
        first_seen: When memories came into the history, by id.
        remember_rejections: Gives the file of rejections with some more; None where no person decides.
        trusting: Whether a person decides, who may store what was rejected before.
    """

    now: datetime
    settings: Settings
    lookup: EntityLookup
    standing: StandingLookup | None
    prepared: Mapping[int, Prepared]
    given: Callable[[], int]
    compare: Compare
    first_seen: Mapping[str, datetime]
    remember_rejections: Callable[[FileView, Sequence[MemoryProposal]], bytes] | None = None
    trusting: bool = False


def actor_of(senders: Iterable[str]) -> str:
    """Return the actor of what the main agent stores for others: `bot:commit-from:NAME`, a name for each sender."""
    names = list(dict.fromkeys(map(sender_tag, senders)))
    more = ["more"] if len(names) > _MOST_NAMED else []
    return ":".join(["bot:commit-from", *names[:_MOST_NAMED], *more])
