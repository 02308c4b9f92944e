"""One value as a text gives it, and when two are the same."""

from __future__ import annotations

from typing import Final

from workbench.engine.values import dataclass

APPOINTED_DIMENSIONS: Final = frozenset(("date", "clock", "weekday"))


@dataclass(frozen=True, slots=True)
class Value:
    """One value as a text gives it.

    Args:
        start: Its place in the text.
        end: Behind its unit and rate.
        dimension: time, share, bytes, money …, `count` for a number of things, `date`, `clock`, `weekday`, `version`.
        amount: In the dimension's own unit; a date as YYYYMMDD, without a year 0000MMDD; a time of day in minutes.
        per: What it is a rate of, singular; empty where it is none.
        bound: Whether it is a limit rather than a value (“under 250ms”).
        tool: What a version is of, folded.
        written: As it stands.
    """

    start: int
    end: int
    dimension: str
    amount: float
    per: str = ""
    bound: bool = False
    tool: str = ""
    written: str = ""

    def same_as(self, other: Value) -> bool:
        """Return whether both may be one value; a date without a year agrees with one that has it."""
        if self.dimension == "date":
            return self.amount % 10000 == other.amount % 10000
        if self.dimension == "version":
            short, long = sorted((self.written.lstrip("v"), other.written.lstrip("v")), key=len)
            return long == short or long.startswith(short + ".")
        return abs(self.amount - other.amount) <= 1e-9 * max(1.0, abs(self.amount))
