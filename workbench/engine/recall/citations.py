"""Whether results say how to cite them."""

from __future__ import annotations

# Others read along there; what a person's private files are called is none of their business.
_SHARED = frozenset({"group", "channel", "subagent"})


def are_citations_given(choice: str, context: str = "direct") -> bool:
    """Tell whether results carry their citation.

    Args:
        choice: `on`, `off`, or `auto`: on, but for sub-agents and where others read along.
        context: Where the answer goes: `direct`, `group`, `channel` or `subagent`.
    """
    return choice == "on" or (choice == "auto" and context not in _SHARED)
