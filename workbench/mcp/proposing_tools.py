"""The tool by which a sub-agent, which writes nothing, asks for something to be remembered."""

from __future__ import annotations

from typing import Any

from workbench.engine.agents.roles import Capability
from workbench.engine.results.json_shape import to_json
from workbench.engine.results.proposals import Proposed
from workbench.mcp.declaration import LONGEST_TEXT, Call, Kind, Parameter, Tool
from workbench.mcp.writing_tools import CONFIDENCES, ENTITIES, HELD_BACK, STORES, without_blanks


def _propose(call: Call) -> dict[str, Any]:
    given = call.arguments
    proposed = call.door.propose(
        given["content"],
        store=given["store"],
        entities=given["entities"] or (),
        confidence=given["confidence"],
        trigger=given["trigger"] or "",
        core_worthy=given["core_worthy"],
    )
    answer = without_blanks(to_json(proposed), "ok", "commit", "files", "ids", "number", "status")
    return {**answer, "next": _what_follows(proposed)}


def _what_follows(proposed: Proposed) -> str:
    if proposed.held_back:
        return HELD_BACK
    if proposed.status == "committed":
        return "It is remembered."
    if proposed.duplicate_of is not None and proposed.commit is None:
        return "The same waits already; there is nothing more to do."
    if proposed.conflicts_with:
        against = ", ".join(proposed.conflicts_with)
        return f"It waits for a decision and contradicts {against}. Tell whoever gave you the task, and which is right."
    return "It waits for a decision. Do not rely on it as remembered yet, and do not propose it again."


PROPOSE = Tool(
    "memory_propose",
    "Propose a memory",
    "Ask for something to be remembered. It waits until the main agent or a person decides, so that all agents keep "
    "one coherent memory. Use it when you learn something that will matter later: a fact, a decision, a preference, "
    "how something is done. One thing per call, as a sentence that can be understood alone, with names and dates. "
    "Search first: what memory says already needs no proposal; and where you have memory_remember, use that for what "
    "you are sure of. The answer says what it contradicts, if anything.",
    (
        Parameter(
            "content", Kind.TEXT, "What to remember, in any language.", required=True, most=LONGEST_TEXT
        ),
        Parameter(
            "store",
            Kind.TEXT,
            "Where it belongs: episodic (what happened), semantic (a fact about somebody or something), procedural "
            "(how to do it), vault or core. Found by its wording if left out.",
            choices=STORES,
        ),
        ENTITIES,
        Parameter(
            "confidence",
            Kind.TEXT,
            "high for what you were told or verified, medium for what you gathered, low for a guess.",
            choices=CONFIDENCES,
            default="medium",
        ),
        Parameter("trigger", Kind.TEXT, "What made you propose it, in a few words.", most=1000),
        Parameter(
            "core_worthy",
            Kind.SWITCH,
            "Whether it should always be in mind; there is little room for that.",
            default=False,
        ),
    ),
    Capability.PROPOSE,
    _propose,
    writes=True,
    repeatable=False,
)
