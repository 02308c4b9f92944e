"""What is asked of memory, built at the door that hears it and handed on whole."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final, Self

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.roles import parse_scope
from workbench.engine.values import dataclass

ASKED_FOR: Final = "user-explicit"
"""The source of what a person asked to be remembered; `conversation` is that of what was noticed."""
MOST_ASKED: Final = 1_000_000_000
"""The most results or tokens that may be asked for: more than any memory has, and a number that SQLite counts to."""


@dataclass(frozen=True)
class SearchRequest:
    """A question, and which answers are wanted.

    Args:
        query: What is looked for; none of it is read as a search language.
        max_results: Most results; the setting `search.max_results` unless a budget is given.
        min_score: Least score, 0–1; the setting `search.min_score` unless a budget is given.
        store: core, episodic, semantic, procedural, vault, file, extra or session.
        after: First day, `2026-02-01`.
        before: Last day.
        include_dormant: Also give dormant memories.
        budget: Tokens to fill with what is handed over.
        explain: Also say why each result ranks where it does, and what was left out.

    Raises:
        InvalidInput: A limit or the store makes no sense.
    """

    query: str
    max_results: int | None = None
    min_score: float | None = None
    store: str | None = None
    after: str | None = None
    before: str | None = None
    include_dormant: bool = False
    budget: int | None = None
    explain: bool = False

    def __post_init__(self) -> None:
        for name, given in (("max_results", self.max_results), ("budget", self.budget)):
            if given is not None and not 1 <= given <= MOST_ASKED:
                raise InvalidInput(f"{name} is {given:,}.", remedy=f"Ask for 1 to {MOST_ASKED:,}.")
        if self.min_score is not None and not 0 <= self.min_score <= 1:
            raise InvalidInput(f"min_score is {self.min_score}.", remedy="Scores are between 0 and 1.")
        if self.store is not None and self.store not in SEARCHED_STORES:
            raise InvalidInput(
                f"There is no store “{self.store}”.", remedy=f"Stores are {', '.join(SEARCHED_STORES)}."
            )

    @property
    def is_narrowed(self) -> bool:
        """Return True if it leaves out memories that would answer it."""
        return any(each is not None for each in (self.store, self.after, self.before, self.min_score))


_KEPT: Final = (
    "text", "store", "type", "tags", "entities", "block", "confidence", "source", "origins", "pinned", "scope",
    "on",
)  # fmt: skip


@dataclass(frozen=True)
class RememberRequest:
    """What somebody asks to be remembered; what is None or empty is left to the routing.

    Args:
        text: What to remember; any language, kept as it is.
        store: core, episodic, semantic, procedural or vault.
        type: decision, fact, preference, task, event, emotion or correction.
        tags: Topical tags, in place of the routing's.
        entities: What it is about: `TYPE:NAME`, or ids.
        confidence: high, medium or low.
        source: `user-explicit` (asked for), `conversation` (noticed), or another word; empty for the first.
        block: A block of core memory that shall say it as well.
        origins: Ids of memories that it was learned from, such as `episode:2026-02-02:14:30`.
        pinned: Whether it shall never decay.
        scope: Whom it is for besides the owner: `person:NAME`, `group:NAME` or `shared`; None for the owner alone.
        actor: An actor tag; `bot:trigger-remember`, or `bot:auto-detect` for what was noticed.
        trigger: What set it off, for the audit log.
        dry_run: Say what would be done, and do nothing.
        session: The key of the session in which it was said, so that “scratch that” there means it.
        on: The day under which an episode is logged, `2026-02-02`; None for today.
        by_rules: Leave to rules what is not given, even where a model is configured.

    Raises:
        InvalidInput: The scope or the day cannot be read.
    """

    text: str
    store: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    confidence: str | None = None
    source: str = ASKED_FOR
    block: str | None = None
    origins: tuple[str, ...] = ()
    pinned: bool = False
    scope: str | None = None
    actor: str | None = None
    trigger: str | None = None
    dry_run: bool = False
    session: str | None = None
    on: str | None = None
    by_rules: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", self.source or ASKED_FOR)
        if self.on is not None:
            try:
                object.__setattr__(self, "on", date.fromisoformat(self.on).isoformat())
            except ValueError as error:
                raise InvalidInput(f"“{self.on}” is no day.", remedy="Give it as 2026-02-02.") from error
        if self.scope is not None:
            object.__setattr__(self, "scope", parse_scope(self.scope))

    @property
    def is_asked_for(self) -> bool:
        """Return True if a person asked for it, False if it was noticed."""
        return self.source == ASKED_FOR

    def as_arguments(self) -> dict[str, Any]:
        """Return what is kept of it while it waits for a person's decision."""
        return {name: getattr(self, name) for name in _KEPT}

    @classmethod
    def from_arguments(cls, text: str, arguments: Mapping[str, Any]) -> Self:
        """Return a request that was kept.

        Args:
            text: In place of the one that was kept.
            arguments: As read from JSON; unknown keys are ignored.

        Raises:
            InvalidInput: The scope cannot be read.
        """
        kept: dict[str, Any] = {name: arguments[name] for name in _KEPT if arguments.get(name)}
        lists = {name: tuple(each) for name, each in kept.items() if isinstance(each, list)}
        return cls(**{**kept, **lists, "text": text})


@dataclass(frozen=True)
class ProposeRequest:
    """What somebody asks others to decide on: that something is remembered.

    Args:
        content: What to remember; any language, kept as it is.
        store: core, episodic, semantic, procedural or vault; found by its wording if left out.
        entities: What it is about: `TYPE:NAME`, or ids.
        confidence: high, medium or low.
        trigger: What set it off.
        core_worthy: Whether it should be in core memory as well.
        type: decision, fact, preference, task, event, emotion or correction; None to leave that open.
        tags: Topical tags.
        origins: Ids of memories or sources that it was learned from.
        scope: Whom it would be for besides the owner: `person:NAME`, `group:NAME` or `shared`. It then waits for a
            verdict in every mode.

    Raises:
        InvalidInput: The scope cannot be read.
    """

    content: str
    store: str | None = None
    entities: tuple[str, ...] = ()
    confidence: str = "medium"
    trigger: str = ""
    core_worthy: bool = False
    type: str | None = None
    tags: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    scope: str | None = None

    def __post_init__(self) -> None:
        if self.scope is not None:
            object.__setattr__(self, "scope", parse_scope(self.scope))

    def as_arguments(self) -> dict[str, Any]:
        """Return what is kept of it while it waits for a person's decision."""
        return dict(vars(self))
