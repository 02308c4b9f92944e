"""The things that an item of the proposal can ask: one value for each."""

from __future__ import annotations

from workbench.engine.values import dataclass


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact for an entity (`type--slug`) that holds since a day."""

    entity: str
    text: str
    since: str | None


@dataclass(frozen=True, slots=True)
class OtherWording:
    """Other words for a recorded fact, by its id."""

    fact: str
    text: str


@dataclass(frozen=True, slots=True)
class NewEntity:
    """An entity that there is none of yet."""

    entity: str
    label: str
    aliases: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class NewRelation:
    """A relation between two entities."""

    from_: str
    name: str
    to: str
    since: str | None


@dataclass(frozen=True, slots=True)
class Merging:
    """An entity that goes into another."""

    keep: str
    absorb: str


@dataclass(frozen=True, slots=True)
class Superseding:
    """A new value that replaces an old one.

    Args:
        entity: What both are about.
        fact: Id of the recorded fact that says the old one; None where none does.
        old: The old statement.
        new: The new one.
        held_since: Day from which the old one held.
        until: Day to which it held.
        since: Day from which the new one holds.
    """

    entity: str
    fact: str | None
    old: str
    new: str
    held_since: str | None
    until: str | None
    since: str | None


@dataclass(frozen=True, slots=True)
class Deciding:
    """Which of two statements hold: `ask` (not yet), `this`, `that` or `both`; `fact` is as for `Superseding`."""

    entity: str
    fact: str | None
    this: str
    that: str
    resolve: str


@dataclass(frozen=True, slots=True)
class Archiving:
    """A memory to hide."""

    memory: str


@dataclass(frozen=True, slots=True)
class Restoring:
    """An archived memory to bring back."""

    memory: str


@dataclass(frozen=True, slots=True)
class Pinning:
    """A memory to protect from fading."""

    memory: str


@dataclass(frozen=True, slots=True)
class NewProcedure:
    """A way of working that is not written down yet."""

    procedure: str
    title: str
    when: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherSteps:
    """Other steps for a known procedure."""

    procedure: str
    when: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CoreWording:
    """Another text for an item of core memory."""

    item: str
    text: str


@dataclass(frozen=True, slots=True)
class CoreAddition:
    """A new item of a block of core memory; `of` is the memory that it says again, or empty."""

    block: str
    text: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Demoting:
    """An item that leaves core memory."""

    item: str


@dataclass(frozen=True, slots=True)
class Confirming:
    """An item of core memory that holds as it is: it stays, and counts as used."""

    item: str


@dataclass(frozen=True, slots=True)
class NewInsight:
    """Something for a section of `evolution.md`."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Answering:
    """What the person answers; empty while they do not. `about` is an entity, or empty."""

    question: str
    answer: str
    about: str


ItemChange = (
    NewFact
    | OtherWording
    | NewEntity
    | NewRelation
    | Merging
    | Superseding
    | Deciding
    | Archiving
    | Restoring
    | Pinning
    | NewProcedure
    | OtherSteps
    | CoreWording
    | CoreAddition
    | Demoting
    | Confirming
    | NewInsight
    | Answering
)


def targets(change: ItemChange) -> tuple[str, ...]:
    """Return the ids of what is to be changed; empty where nothing is but added to."""
    match change:
        case OtherWording(fact=fact):
            return (fact,)
        case Superseding(fact=fact) | Deciding(fact=fact):
            return (fact,) if fact else ()
        case Merging(keep=keep, absorb=absorb):
            return (keep, absorb)
        case Archiving(memory=memory) | Restoring(memory=memory) | Pinning(memory=memory):
            return (memory,)
        case OtherSteps(procedure=procedure):
            return (procedure,)
        case CoreWording(item=item) | Demoting(item=item) | Confirming(item=item):
            return (item,)
        case CoreAddition(of=of):
            return (of,) if of else ()
        case _:
            return ()


def creates(change: ItemChange) -> str | None:
    """Return the entity (`type--slug`) that an item would make, None for all others."""
    return change.entity if isinstance(change, NewEntity) else None


def lacks_words(change: ItemChange) -> str:
    """Return why an approval alone does not do, for what needs a person’s words as well; else empty."""
    match change:
        case Deciding(resolve="ask"):
            return "It asks which of two statements holds: set resolve to this, that or both."
        case Answering(answer=""):
            return "It has no answer yet."
        case _:
            return ""


def may_change_nothing(change: ItemChange) -> bool:
    """Return whether an item is settled by being decided, though the memory says so already."""
    return isinstance(change, Deciding | Answering | Confirming)
