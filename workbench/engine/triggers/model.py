"""What a message asks of memory and where a memory belongs, as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Literal

from workbench.engine.values import dataclass

TriggerKind = Literal[
    "remember", "forget", "reflect", "recall", "changes", "learned", "why-forgotten", "go-back", "none"
]
Store = Literal["core", "episodic", "semantic", "procedural", "vault"]
MemoryType = Literal["decision", "fact", "preference", "task", "event", "emotion", "correction"]
EntityType = Literal["person", "project", "concept", "tool", "place"]
Confidence = Literal["high", "medium", "low"]
CoreBlockName = Literal["Identity", "Active Context", "Persona", "Critical Facts"]
RouterName = Literal["rules", "model"]


@dataclass(frozen=True)
class Detection:
    """What one message asks of memory (design document §8.1).

    Args:
        kind: `none` where the message asks nothing, or only mentions the words of a trigger.
        payload: What to remember, forget, search for or reflect on, without the phrase and what joins it
            to the rest; empty where the message names nothing (“consolidate your memories”). Of `changes`, `learned`
            and `go-back` (design document §12.7) the time that is meant.
        phrase: The words that triggered, as they stand in the message.
        span: Where the phrase stands: start and end in characters of the message.
        permanently: Deletion from disk was asked for (§8.3, “permanently delete”).
        protect: Protection from decay was asked for (“never forget …”, “pin this”).
        refers_back: The payload is what was said before this message (“remember this”, “scratch that”); it is
            empty then.
        from_then_on: What came in that time and after it is meant (“since Monday”, “undo what you learned today”).
        needs_time: It asks nothing where the payload is no time (“what changed since the last release”).
    """

    kind: TriggerKind
    payload: str = ""
    phrase: str | None = None
    span: tuple[int, int] | None = None
    permanently: bool = False
    protect: bool = False
    refers_back: bool = False
    from_then_on: bool = False
    needs_time: bool = False


NOTHING_DETECTED = Detection("none")


@dataclass(frozen=True)
class Surroundings:
    """What a message stands in; each is asked only where a phrase depends on it.

    Args:
        just_remembered: Returns whether something was remembered in this conversation that “never mind” can mean.
        known: Returns whether memory knows what some words name; “permanently delete the temp folder” is none of
            its business.
    """

    just_remembered: Callable[[], bool] = lambda: False
    known: Callable[[str], bool] = lambda _words: False


ALONE = Surroundings()


@dataclass(frozen=True)
class EntityMention:
    """An entity that a text names.

    Args:
        name: As it should be labelled; not an id.
        type: Of the five types of §8.2 where the text alone tells it; else any that the entity has.
        marked: Whether the text marks it as a name (a link, `@`, quotation marks, CamelCase, “project X”), the
            caller gave it, or it exists already; else it was told from where it stands. Does not count when
            two mentions are compared.
    """

    name: str
    type: str
    marked: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class RelationMention:
    """A relation that a text states, between names; `relation` is of the vocabulary of §6.3."""

    from_: str
    relation: str
    to: str


@dataclass(frozen=True)
class FactStatement:
    """One sentence about one entity.

    Args:
        subject: The entity's name as in the routing's entities; None where it has no subject.
        text: A sentence that can be read alone.
    """

    subject: str | None
    text: str


@dataclass(frozen=True)
class ProcedureOutline:
    """A way of doing something, taken apart for a procedure file (§7).

    Args:
        title: For example `How to deploy`.
        trigger: When it applies, one sentence.
        steps: In their order, without numbers; one or more.
    """

    title: str
    trigger: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Routing:
    """Where one memory belongs and what it is about (§8.2).

    Args:
        store: The store it is written to.
        type: What an episode of it would be.
        tags: Two to five topical tags in lower case.
        confidence: How surely it is worth storing.
        summary: One line of at most 100 characters.
        entities: Every entity named, each once; also the ends of every relation.
        relations: Between names of `entities`.
        facts: The text by subject, for the semantic store; empty for other stores.
        core_update: Whether core memory changes as well.
        core_block: The block it belongs to; None unless `store` is core or `core_update` holds.
        procedure: For the procedural store, else None.
        router: Who decided.
        fallback: Why the rules decided though a model was asked, else None.
    """

    store: Store
    type: MemoryType
    tags: tuple[str, ...]
    confidence: Confidence
    summary: str
    entities: tuple[EntityMention, ...] = ()
    relations: tuple[RelationMention, ...] = ()
    facts: tuple[FactStatement, ...] = ()
    core_update: bool = False
    core_block: CoreBlockName | None = None
    procedure: ProcedureOutline | None = None
    router: RouterName = "rules"
    fallback: str | None = None


# Gives the entity that a case-folded name stands for. Called for every run of up to four words, so it
# should be cheap; the `get` of a dictionary will do.
NameLookup = Callable[[str], EntityMention | None]


@dataclass(frozen=True)
class RoutingHints:
    """What the caller knows beyond the text.

    Args:
        owner: The name of the person whose memory it is; the subject of “I …” and “my …”.
        known: Finds entities that exist already.
        called: Finds the one known person of a first name; called for single words that begin with a capital.
        protect: Protection from decay was asked for, so it goes to the vault.
        explicit: The user asked for it (confidence high) rather than the agent noticing it (medium).
        store: The store that was asked for. The rest is told to fit it, and core memory is left alone unless
            it is the core that was asked for.
        entities: What the caller says it is about.
        relations: Relations of the workspace beyond those of §6.3.
    """

    owner: str = "User"
    known: NameLookup | None = None
    called: NameLookup | None = None
    protect: bool = False
    explicit: bool = True
    store: Store | None = None
    entities: tuple[EntityMention, ...] = ()
    relations: tuple[str, ...] = ()
