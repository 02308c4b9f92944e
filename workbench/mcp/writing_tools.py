"""Tools that remember and forget, and what every tool that writes says and takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.requests import ASKED_FOR, RememberRequest
from workbench.engine.results import to_json
from workbench.engine.roles import Capability
from workbench.mcp.tool import ANSWER_TOKENS, LONGEST_TEXT, Call, Kind, Parameter, Tool, fitted

STORES = ("core", "episodic", "semantic", "procedural", "vault")
TYPES = ("decision", "fact", "preference", "task", "event", "emotion", "correction")
CONFIDENCES = ("high", "medium", "low")
ENTITIES = Parameter(
    "entities",
    Kind.TEXTS,
    "Whom and what it is about: person:Alex, project:Apollo, or ids.",
)
HELD_BACK = (
    "Nothing was stored. Tell the user, who alone decides on it; do not say it in other words. What is worth keeping "
    "beside it you may store without it."
)


def remember_request(given: Mapping[str, Any]) -> RememberRequest:
    """Return what a call of `memory_remember` asks for.

    Args:
        given: Its arguments, checked.
    """
    return RememberRequest(
        given["text"],
        store=given["store"],
        type=given["type"],
        tags=tuple(given["tags"] or ()),
        entities=tuple(given["entities"] or ()),
        confidence=given["confidence"],
        # What the user said counts more than what was noticed by the way, which a rejection holds back, too.
        source=ASKED_FOR if given["confidence"] == "high" else "conversation",
    )


def _remember(call: Call) -> dict[str, Any]:
    remembered = call.door.remember_request(remember_request(call.arguments))
    answer = without_blanks(to_json(remembered), "ok", "commit", "files", "ids", "id", "store", "path")
    return {**answer, "next": HELD_BACK} if remembered.held_back else answer


def _forget(call: Call) -> dict[str, Any]:
    given = call.arguments
    ids = given["ids"] or ()
    if given["query"] and not ids:
        forgotten = call.door.to_forget(given["query"])
    else:
        forgotten = call.door.forget(given["query"], ids=ids, apply=bool(ids))
    matches: list[Any] = to_json(forgotten.matches)
    answer = without_blanks(to_json(forgotten), "ok", "applied", "commit", "files", "ids")
    if not forgotten.applied:
        answer["next"] = (
            "Nothing was forgotten. Ask the user which of these they mean, then call again with their ids."
            if matches
            else "Nothing in memory means that. Try other words, or search first."
        )
    return fitted({**answer, "matches": matches}, "matches", ANSWER_TOKENS)


def without_blanks(answer: dict[str, Any], *kept: str) -> dict[str, Any]:
    """Return an answer without empty values, which cost tokens."""
    empty: tuple[object, ...] = (None, [], "", {}, False)
    return {key: value for key, value in answer.items() if key in kept or value not in empty}


REMEMBER = Tool(
    "memory_remember",
    "Remember something",
    "Store one memory for good. Use it when the user asks you to remember something, and when you learn what will "
    "matter later: a decision and its reason, a preference, a fact about a person or project, how something is done. "
    "One thing per call, as a sentence that can be understood alone, with names and dates instead of “he” and "
    "“tomorrow”. Not for what only this session needs, nor for what memory says already. Never store passwords, keys "
    "or tokens.",
    (
        Parameter("text", Kind.TEXT, "What to remember, in any language.", required=True, most=LONGEST_TEXT),
        Parameter(
            "store",
            Kind.TEXT,
            "Only where you must. core is always in mind and has little room; vault never fades.",
            choices=STORES,
        ),
        Parameter("type", Kind.TEXT, "What sort of thing it is.", choices=TYPES),
        Parameter("tags", Kind.TEXTS, "A few topics, in a word or two."),
        ENTITIES,
        Parameter(
            "confidence",
            Kind.TEXT,
            "high: the user said it; low: a guess.",
            choices=CONFIDENCES,
        ),
    ),
    Capability.WRITE_MEMORY,
    _remember,
    writes=True,
    repeatable=False,
)

FORGET = Tool(
    "memory_forget",
    "Forget something",
    "Hide memories that should no longer be recalled; they are archived, and a person can bring them back. With query "
    "alone you get the matches and nothing changes: show them to the user, and once they agree call again with the "
    "ids of those they mean. To correct something, remember the correction instead.",
    (
        Parameter(
            "query",
            Kind.TEXT,
            "What to forget; “scratch that” is what was remembered last. With ids, why.",
        ),
        Parameter("ids", Kind.TEXTS, "Matches that the user agreed to forget; archived at once."),
    ),
    Capability.WRITE_MEMORY,
    _forget,
    writes=True,
    removes=True,
)
