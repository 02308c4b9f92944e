"""Reads the question line: words to search for, and among them conditions in the grammar of the filters."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.requests import SearchRequest
from workbench.engine.values import dataclass
from workbench.tui.parts.query import FIRST, LAST, parse_days, pieces

if TYPE_CHECKING:
    from datetime import date

STATUSES = ("active", "fading", "dormant", "pinned", "any")
_FIELDS = ("store", "status", *FIRST, *LAST)


@dataclass(frozen=True)
class Question:
    """What a question line says.

    Args:
        words: What is asked, as it was typed, without the conditions.
        store: Search this store alone, or None.
        after: First day, or None.
        before: Last day, or None.
        status: Show only memories of this status; `any` lets dormant ones come up as well; empty for the usual.
        problems: Conditions that make no sense, one sentence each.
    """

    words: str = ""
    store: str | None = None
    after: date | None = None
    before: date | None = None
    status: str = ""
    problems: tuple[str, ...] = field(default=())

    @property
    def include_dormant(self) -> bool:
        """Tell whether dormant memories may come up."""
        return self.status in ("dormant", "any")

    @property
    def is_narrowed(self) -> bool:
        """Tell whether only some memories are searched."""
        return bool(self.store or self.after or self.before)

    def request(self, most: int) -> SearchRequest:
        """Return what search is asked, explained.

        Args:
            most: Results.
        """
        return SearchRequest(
            self.words,
            max_results=most,
            store=self.store,
            after=self.after.isoformat() if self.after else None,
            before=self.before.isoformat() if self.before else None,
            include_dormant=self.include_dormant,
            explain=True,
        )

    def shows(self, status: str | None) -> bool:
        """Tell whether a result of that status is to be shown."""
        return self.status in ("", "any") or (status or "active") == self.status


def parse_question(text: str, today: date) -> Question:
    """Read what was typed into the question line; anything makes sense, since people are still typing.

    Args:
        text: For example `what did we decide store:episodic after:2026-01 status:dormant`.
        today: For days that are told from today.
    """
    store: str | None = None
    after = before = None
    status = ""
    problems: list[str] = []
    words: list[str] = []
    for piece in pieces(text, _FIELDS):
        name, value = piece.field, piece.value.strip().casefold()
        if not name or piece.negated:
            words.append(piece.typed)
            continue
        if not value:
            continue
        if name in ("store", "status"):
            known = SEARCHED_STORES if name == "store" else STATUSES
            chosen = next((each for each in known if each.startswith(value)), "")
            if not chosen:
                problems.append(f"{name}:{value} is none of {', '.join(known)}.")
            elif name == "store":
                store = chosen
            else:
                status = chosen
            continue
        days = parse_days(value, today)
        if days is None:
            problems.append(f"{name}:{value} is no day; write 2026-02-14, feb, 3w or yesterday.")
        elif name in FIRST:
            after = days[0]
        else:
            before = days[1]
    return Question(" ".join(" ".join(words).split()), store, after, before, status, tuple(problems))
