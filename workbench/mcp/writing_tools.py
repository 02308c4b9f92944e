"""The tools by which the main agent changes memory; none of them decides what a person decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.engine.agents.roles import Capability
from workbench.engine.errors import Refused, RoleRefused
from workbench.engine.results.json_shape import to_json
from workbench.engine.results.reflection import Reflected
from workbench.mcp.declaration import LONGEST_TEXT, Call, Kind, Parameter, Tool
from workbench.mcp.fitting import ANSWER_TOKENS, fitted

if TYPE_CHECKING:
    from workbench.engine.results.reflection import Progress

STORES = ("core", "episodic", "semantic", "procedural", "vault")
TYPES = ("decision", "fact", "preference", "task", "event", "emotion", "correction")
CONFIDENCES = ("high", "medium", "low")
ENTITIES = Parameter(
    "entities",
    Kind.TEXTS,
    "Whom and what it is about, as TYPE:NAME (person:Alex, project:Apollo) or ids (person--alex).",
)
HELD_BACK = (
    "Nothing was stored. Tell the user, who alone decides on it; do not say it in other words. What is worth keeping "
    "beside it you may store without it."
)


def _remember(call: Call) -> dict[str, Any]:
    given = call.arguments
    # What the user said counts more than what was noticed by the way, which a rejection holds back, too.
    source = "user-explicit" if given["confidence"] == "high" else "conversation"
    remembered = call.door.remember(
        given["text"],
        store=given["store"],
        type=given["type"],
        tags=given["tags"] or (),
        entities=given["entities"] or (),
        confidence=given["confidence"],
        source=source,
    )
    answer = without_blanks(to_json(remembered), "ok", "commit", "files", "ids", "id", "store", "path")
    return {**answer, "next": HELD_BACK} if remembered.held_back else answer


def _forget(call: Call) -> dict[str, Any]:
    given = call.arguments
    ids = given["ids"] or ()
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


def _reflect(call: Call) -> dict[str, Any]:
    def told(progress: Progress) -> None:
        steps = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
        call.told(progress.tokens, progress.cap, f"Reflecting: {progress.phase}{steps}")

    try:
        return _reflected(call.door.reflect(progress=told, cancelled=call.cancelled))
    except RoleRefused:
        raise
    except Refused as waiting:
        remedy = "Tell the user; only they can decide on it, in the bench or with “workbench review”."
        raise Refused(waiting.message, where=waiting.where, remedy=remedy) from waiting


def _reflected(reflected: Reflected) -> dict[str, Any]:
    items = [
        {"id": item.id, "kind": item.kind, "target": item.target, "before": item.before, "after": item.after}
        for item in reflected.review.items
    ]
    answer: dict[str, Any] = {
        "ok": True,
        "commit": reflected.commit,
        "files": list(reflected.files),
        "id": reflected.id or None,
        "reason": reflected.reason,
    }
    if items:
        answer["next"] = (
            "Tell the user what is proposed. They decide, in the bench or with “workbench review”; you cannot."
        )
    return fitted({**answer, "items": items}, "items", ANSWER_TOKENS)


def without_blanks(answer: dict[str, Any], *kept: str) -> dict[str, Any]:
    """Return an answer without what says nothing, so that it costs few tokens."""
    empty: tuple[object, ...] = (None, [], "", {}, False)
    return {key: value for key, value in answer.items() if key in kept or value not in empty}


REMEMBER = Tool(
    "memory_remember",
    "Remember something",
    "Store one memory, durably and with its history. Use it when the user asks you to remember something, and when you "
    "learn something that will matter later: a decision and its reason, a preference, a fact about a person or "
    "project, how something is done. One fact or event per call, as a sentence that can be understood alone, with "
    "names and dates instead of “he” and “tomorrow”. Where it belongs is decided for you; name a store only when "
    "you must. Not for what only this session needs, nor for what memory says already. Never store passwords, keys or "
    "tokens.",
    (
        Parameter("text", Kind.TEXT, "What to remember, in any language.", required=True, most=LONGEST_TEXT),
        Parameter(
            "store",
            Kind.TEXT,
            "Where it belongs, if not where its words put it. core is for what must always be in mind and has little "
            "room; vault never fades.",
            choices=STORES,
        ),
        Parameter("type", Kind.TEXT, "What sort of thing it is.", choices=TYPES),
        Parameter("tags", Kind.TEXTS, "A few topics, in one or two words each."),
        ENTITIES,
        Parameter(
            "confidence",
            Kind.TEXT,
            "high for what the user said or asked you to remember, medium for what you gathered yourself, low for "
            "a guess.",
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
    "Hide memories that should no longer be recalled; they are archived, and a person can bring them back. Two steps: "
    "with query alone you get the matches and nothing changes; show them to the user, and once they agree call again "
    "with the ids of those they mean. To correct something, remember the correction instead.",
    (
        Parameter("query", Kind.TEXT, "What to forget, in words; with ids it says why."),
        Parameter(
            "ids", Kind.TEXTS, "Ids of matches that the user agreed to forget. These are archived at once."
        ),
    ),
    Capability.WRITE_MEMORY,
    _forget,
    writes=True,
    removes=True,
)

REFLECT = Tool(
    "memory_reflect",
    "Reflect on what is new",
    "Go through what no reflection has read yet and write down what should be learned from it, as a proposal that "
    "only a person can approve. Use it when the user asks you to reflect or to consolidate memory, or when a notice "
    "says that a reflection is due and the work is at a resting point; not to store something you know, and not while "
    "a proposal waits. It may take a minute.",
    (),
    Capability.WRITE_MEMORY,
    _reflect,
    writes=True,
    repeatable=False,
)
