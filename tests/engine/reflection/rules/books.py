"""Books of reflection for tests: a log of many records, and what has evolved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

LOG = "memory/meta/reflection-log.md"
EVOLUTION = "memory/meta/evolution.md"


def log(*bodies: str, outcome: str = "approved", items: str = "3/4") -> str:
    """Return a log with one record for each body, a week apart."""
    start = date(2024, 1, 1)
    records = [
        f"## r-{number:03} | {start + timedelta(weeks=number)}T03:00:00+01:00 | {outcome} | items:{items}\n{body}\n"
        for number, body in enumerate(bodies, 1)
    ]
    return "# Reflection Log\n\n" + "\n".join(records)


def evolution(
    *, insights: Sequence[str] = (), threads: Sequence[str] = (), questions: Sequence[str] = ()
) -> str:
    """Return an evolution file."""
    sections = {"Insights": insights, "Active Threads": threads, "Open Questions": questions}
    number = iter(range(1000))
    return "# Evolution\n" + "".join(
        f"\n## {name}\n" + "".join(f"- {text} ^e{next(number):03}\n" for text in texts)
        for name, texts in sections.items()
    )
