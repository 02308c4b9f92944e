"""How a result is cited, and whether it is."""

from __future__ import annotations

from workbench.engine.results.recall import citation as citation

# Others read along there; what a person's private files are called is none of their business.
_SHARED = frozenset({"group", "channel", "subagent"})


def are_citations_given(choice: str, context: str = "direct") -> bool:
    """Tell whether results carry their citation.

    Args:
        choice: `on`, `off`, or `auto`: on, but for sub-agents and where others read along.
        context: Where the answer goes: `direct`, `group`, `channel` or `subagent`.
    """
    return choice == "on" or (choice == "auto" and context not in _SHARED)


def with_footer(snippet: str, cited: str | None) -> str:
    """Return a snippet as an agent is shown it: with a line `Source: path#L3-L5` below, where it is cited."""
    return f"{snippet}\n\nSource: {cited}" if cited else snippet
