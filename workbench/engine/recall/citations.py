"""How a result is cited, and whether it is."""

from __future__ import annotations

# Others read along there; what a person's private files are called is none of their business.
_SHARED = frozenset({"group", "channel", "subagent"})


def citation(path: str, start_line: int, end_line: int) -> str:
    """Return the place of some lines as text: `path#L3-L5`, `path#L3` for one line.

    Args:
        path: As results give it.
        start_line: First line, 1-based.
        end_line: Last line, inclusive.
    """
    return f"{path}#L{start_line}" + (f"-L{end_line}" if end_line > start_line else "")


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
