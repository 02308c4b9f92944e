"""What a query lets pass, condition by condition: what the filter does with all rows at once must come to the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from workbench.tui.parts.filter import Query


def passes(query: Query, fields: Mapping[str, Sequence[str]], text: str, day: date) -> bool:
    """Return whether something passes.

    Args:
        fields: Lower-case values by name of field.
        text: Everything that words are looked for in, lower-case.
    """
    if (query.since and day < query.since) or (query.until and day > query.until):
        return False
    for condition in query.conditions:
        if condition.field:
            owned = fields.get(condition.field, ())
            found = any(value.startswith(wanted) for wanted in condition.values for value in owned)
        else:
            found = condition.values[0] in text
        if found == condition.negated:
            return False
    return True
