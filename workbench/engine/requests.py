"""What is asked of memory, built at the door that hears it and handed on whole."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import SEARCHED_STORES


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
        explain: Also say why each result stands where it does, and what was left out.

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
            if given is not None and given < 1:
                raise InvalidInput(f"{name} is {given}.", remedy="Ask for 1 or more.")
        if self.min_score is not None and not 0 <= self.min_score <= 1:
            raise InvalidInput(f"min_score is {self.min_score}.", remedy="Scores are between 0 and 1.")
        if self.store is not None and self.store not in SEARCHED_STORES:
            raise InvalidInput(
                f"There is no store “{self.store}”.", remedy=f"Stores are {', '.join(SEARCHED_STORES)}."
            )

    @property
    def is_narrowed(self) -> bool:
        """Tell whether it leaves memories out that would answer it."""
        return any(each is not None for each in (self.store, self.after, self.before, self.min_score))
