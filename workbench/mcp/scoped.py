"""The server for one person or one group: tools of that scope, its instructions, and no resources."""

from __future__ import annotations

from typing import Any, cast

from workbench.engine.memory.wording import EPISODE_TYPES
from workbench.engine.results import to_json
from workbench.engine.roles import Capability
from workbench.engine.scoped_memory import ScopedMemory
from workbench.engine.tokens import cut_to_budget
from workbench.engine.workspace import Workspace
from workbench.mcp.reading_tools import SEARCH
from workbench.mcp.server import MemoryServer
from workbench.mcp.tool import ANSWER_TOKENS, LONGEST_TEXT, Call, Kind, Parameter, Tool, fitted
from workbench.mcp.writing_tools import (
    CONFIDENCES,
    HELD_BACK,
    propose_request,
    remember_request,
    without_blanks,
)

STORES = ("episodic", "semantic")
_STORE = Parameter(
    "store",
    Kind.TEXT,
    "episodic for what happened, semantic for a fact about somebody or something; found by its wording if left out.",
    choices=STORES,
)
_ENTITIES = Parameter(
    "entities", Kind.TEXTS, "Whom and what it is about, as TYPE:NAME (person:Alex, project:Apollo)."
)
_CONFIDENCE = Parameter(
    "confidence",
    Kind.TEXT,
    "high for what was said or asked for, medium for what you gathered, low for a guess.",
    choices=CONFIDENCES,
)


def scoped_tools(door: ScopedMemory) -> tuple[Tool, ...]:
    """Return the tools for a scope, in the order in which agents see them.

    Args:
        door: Of the scope; the door of a call is ignored.
    """
    scope = door.scope

    def show(call: Call) -> dict[str, Any]:
        shown = to_json(door.show(call.arguments["id"]))
        shown["text"], was_cut = cut_to_budget(shown["text"], ANSWER_TOKENS)
        kept = {name: shown[name] for name in ("id", "store", "title", "text", "validity", "links")}
        return {**kept, "truncated": True} if was_cut else kept

    def brief(_: Call) -> dict[str, Any]:
        return fitted(to_json(door.brief()), "memories", ANSWER_TOKENS)

    def remember(call: Call) -> dict[str, Any]:
        remembered = door.remember_request(remember_request(call.arguments))
        answer = without_blanks(to_json(remembered), "ok", "id", "store")
        return {**answer, "next": HELD_BACK} if remembered.held_back else answer

    def propose(call: Call) -> dict[str, Any]:
        proposed = door.propose_request(propose_request(call.arguments))
        following = HELD_BACK if proposed.held_back else "It waits for a decision. Do not propose it again."
        return {"ok": True, "status": proposed.status, "next": following}

    def search(call: Call) -> dict[str, Any]:
        return SEARCH.answer(Call(door, call.arguments))  # type: ignore[arg-type]  # asks `search_request` alone

    return (
        Tool("memory_search", SEARCH.title, SEARCH.about, SEARCH.parameters, Capability.READ, search),
        Tool(
            "memory_show",
            "Show a memory",
            "Show one memory that memory_search found, whole, with since when it holds and what it is linked to.",
            (Parameter("id", Kind.TEXT, "Its id as results give it.", required=True, most=1000),),
            Capability.READ,
            show,
        ),
        Tool(
            "memory_brief",
            "Read what is new",
            f"Call this first in a session: the newest of what is kept for {scope}.",
            (),
            Capability.READ,
            brief,
        ),
        Tool(
            "memory_remember",
            "Remember something",
            f"Store one memory for {scope}: everybody there may be told it again. One fact or event per call, as a "
            "sentence that can be understood alone. Never store passwords, keys or tokens.",
            (
                Parameter(
                    "text", Kind.TEXT, "What to remember, in any language.", required=True, most=LONGEST_TEXT
                ),
                _STORE,
                Parameter("type", Kind.TEXT, "What sort of thing it is.", choices=EPISODE_TYPES),
                Parameter("tags", Kind.TEXTS, "A few topics, in one or two words each."),
                _ENTITIES,
                _CONFIDENCE,
            ),
            Capability.WRITE_MEMORY,
            remember,
            writes=True,
            repeatable=False,
        ),
        Tool(
            "memory_propose",
            "Propose a memory",
            f"Ask for something to be remembered for {scope}. It waits until the owner or the main agent decides.",
            (
                Parameter(
                    "content",
                    Kind.TEXT,
                    "What to remember, in any language.",
                    required=True,
                    most=LONGEST_TEXT,
                ),
                _STORE,
                _ENTITIES,
                _CONFIDENCE,
                Parameter("trigger", Kind.TEXT, "What made you propose it, in a few words.", most=1000),
            ),
            Capability.PROPOSE,
            propose,
            writes=True,
            repeatable=False,
        ),
    )


def server_for(door: Workspace | ScopedMemory) -> MemoryServer:
    """Return the server that suits a door."""
    if not isinstance(door, ScopedMemory):
        return MemoryServer(door)
    # It is asked for `role` and `instructions` alone: the tools have their own door.
    return MemoryServer(
        cast(Workspace, door),
        tools=scoped_tools(door),
        greeting=door.instructions(),
        has_resources=False,
        warm=lambda _: door.brief(),
    )
