"""Reads what somebody prefers, has switched to, no longer does, and where he lives or works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import stem
from workbench.engine.reflection.claims.choice_patterns import PATTERNS, PREFERS, STOPPED, SWITCHED
from workbench.engine.reflection.claims.clauses import Mode
from workbench.engine.reflection.claims.denials import telling
from workbench.engine.reflection.claims.model import Choice, Span
from workbench.engine.reflection.claims.vocabulary import CLEAR_CHANGE, FAINT_CHANGE
from workbench.engine.reflection.english import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.clauses import Clause
    from workbench.engine.reflection.claims.model import Origin

_NO_FAVOURITE = words("part memory thing moment way time one feature aspect pastime")


def choices(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    """Yield the choices that a clause states; at most one.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if clause.asked:
        return
    for kind, pattern in PATTERNS:
        found = pattern.search(clause.text)
        if found is None or clause.mode_at(clause.start + found.start()) is Mode.SUPPOSES:
            continue
        chosen, against = _stems(clause, found, "chosen"), _stems(clause, found, "against")
        about = _stems(clause, found, "about")
        if about & _NO_FAVOURITE or not (chosen or against):
            return
        change = 2 if CLEAR_CHANGE.search(clause.text) or kind in (SWITCHED, STOPPED) else 0
        change = change or (1 if FAINT_CHANGE.search(clause.text) else 0)
        verb = frozenset((stem(found["verb"].casefold()),)) if kind == STOPPED else frozenset()
        rest = telling([t for t in clause.tokens if t.start >= clause.start + found.end()])
        span = Span(clause.start, clause.end, clause.start + found.start())
        yield Choice(
            origin, kind, chosen, against, about or (rest if kind == PREFERS else verb), change, span
        )
        return


def _stems(clause: Clause, found: re.Match[str], group: str) -> frozenset[str]:
    if group not in found.re.groupindex or found[group] is None:
        return frozenset()
    start, end = clause.start + found.start(group), clause.start + found.end(group)
    return telling([token for token in clause.tokens if start <= token.start and token.end <= end])
