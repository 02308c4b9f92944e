"""The tools that agents are offered by role, and calling one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import NotFound, Refused, RoleRefused
from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.requests import ASKED_FOR, ProposeRequest, RememberRequest, SearchRequest
from workbench.engine.results.graph import GraphView
from workbench.engine.results.json_shape import to_json
from workbench.engine.results.recall import Hit
from workbench.engine.results.reviews import Proposed, Reflected
from workbench.engine.roles import Capability, Role, require
from workbench.mcp.tool import (
    ANSWER_TOKENS,
    LONGEST_QUERY,
    LONGEST_TEXT,
    Call,
    Kind,
    Parameter,
    Tool,
    cut_text,
    fitted,
    most_that_fit,
    read_arguments,
)

if TYPE_CHECKING:
    from workbench.engine.results.reviews import Progress


_LEAST_BUDGET = 100
_MOST_BUDGET = 200_000
_DIFF_TOKENS = 1_000
_DEEPEST = 6
# No answer has room for more, however little each says.
_MOST_NODES = 400
_ENTRIES = 20


def _search(call: Call) -> dict[str, Any]:
    # The parameters are called as the request calls them.
    request = SearchRequest(**call.arguments)
    found = call.door.search_request(request)
    answer: dict[str, Any] = {
        "results": [_hit(hit) for hit in found.results],
        "provider": found.provider,
        "model": found.model,
        "fallback": found.fallback,
        # Before everything has been read, nothing can be said to be missing.
        "likelyAbsent": found.likely_absent and not found.stale,
    }
    if found.stale:
        answer["stale"] = found.stale
    return fitted(answer, "results", request.budget or ANSWER_TOKENS)


def _hit(hit: Hit) -> dict[str, Any]:
    shaped: dict[str, Any] = {
        "path": hit.path,
        "startLine": hit.start_line,
        "endLine": hit.end_line,
        "score": round(hit.score, 4),
        "snippet": hit.snippet,
        "source": "sessions" if hit.store == "session" else "memory",
        "id": hit.id,
        "store": hit.store,
    }
    if hit.date:
        shaped["date"] = hit.date
    if hit.title and hit.title not in hit.snippet:
        shaped["title"] = hit.title
    if hit.status and hit.status != "active":
        shaped["status"] = hit.status
    if hit.superseded_by:
        shaped["supersededBy"] = hit.superseded_by
    if hit.citation:
        shaped["citation"] = hit.citation
    return shaped


def _get(call: Call) -> dict[str, Any]:
    given = call.arguments
    excerpt = call.door.get(given["path"], from_=given["from"], lines=given["lines"])
    text, was_cut = cut_text(excerpt.text, ANSWER_TOKENS)
    answer: dict[str, Any] = {
        "path": excerpt.path,
        "text": text,
        "from": excerpt.from_,
        "lines": excerpt.lines,
    }
    if was_cut:
        lines = len(text.splitlines())
        answer |= {"lines": lines, "truncated": True, "nextFrom": excerpt.from_ + lines}
    return answer


def _graph(call: Call) -> dict[str, Any]:
    given = call.arguments
    depth = call.door.settings.graph.depth if given["depth"] is None else given["depth"]
    view = call.door.graph(given["entity"], depth=depth)
    order = sorted(view.nodes, key=lambda node: (node.hop, -node.score))[:_MOST_NODES]
    among = {node.id for node in order}
    edges = tuple(edge for edge in view.edges if edge.from_ in among and edge.to in among)
    small = replace(
        view, edges=edges, nodes=tuple(order), omitted=view.omitted + len(view.nodes) - len(order)
    )

    def build(length: int) -> dict[str, Any]:
        return _shaped_graph(small, {node.id for node in order[: max(length, 1)]})

    answer = most_that_fit(build, len(order), ANSWER_TOKENS)
    facts = answer.get("facts", [])
    return most_that_fit(
        lambda length: {**answer, **({"facts": facts[:length]} if facts else {})}, len(facts), ANSWER_TOKENS
    )


def _shaped_graph(view: GraphView, kept: set[str]) -> dict[str, Any]:
    omitted = view.omitted + len(view.nodes) - len(kept)
    answer: dict[str, Any] = {
        "center": view.center,
        "summary": view.summary,
        "aliases": list(view.aliases),
        "facts": [
            {
                "id": fact.id,
                "text": fact.text,
                "from": fact.validity.from_,
                "until": fact.validity.until,
                "supersededBy": fact.validity.superseded_by,
                "provenance": list(fact.provenance),
            }
            for fact in sorted(view.facts, key=lambda fact: fact.retired)
        ],
        "nodes": [
            {
                "id": node.id,
                "type": node.type,
                "label": node.label,
                "score": round(node.score, 4),
                "hop": node.hop,
            }
            for node in view.nodes
            if node.id in kept
        ],
        "edges": [
            {"from": edge.from_, "relation": edge.relation, "to": edge.to, "confidence": edge.confidence}
            for edge in view.edges
            if edge.from_ in kept and edge.to in kept
        ],
        "events": [{"date": event.date, "text": event.text} for event in view.events],
        "questions": list(view.questions),
    }
    answer["facts"] = [{key: value for key, value in fact.items() if value} for fact in answer["facts"]]
    slim = {key: value for key, value in answer.items() if value or key in ("center", "nodes", "edges")}
    return {**slim, "omitted": omitted} if omitted else slim


def _core(call: Call) -> dict[str, Any]:
    brief = call.door.brief()
    text, was_cut = cut_text(brief.core, ANSWER_TOKENS)
    answer: dict[str, Any] = to_json(brief)
    answer["core"] = text
    if was_cut:
        answer["truncated"] = True
    for alert in answer["alerts"]:
        alert["diff"], _ = cut_text(alert["diff"], _DIFF_TOKENS)
    return fitted(answer, "alerts", 2 * ANSWER_TOKENS)


def _audit(call: Call) -> dict[str, Any]:
    given = call.arguments
    query = (given["query"] or "").strip()
    log = call.door.audit_log(text=query or None, limit=given["limit"])
    return fitted(to_json(log), "entries", ANSWER_TOKENS)


SEARCH = Tool(
    "memory_search",
    "Search memory",
    "Search everything remembered: past decisions, facts about people and projects, preferences, procedures, daily "
    "notes. Use it before you answer anything that may depend on earlier work or on what the user told you, unless "
    "core memory says it already. Ask in whole words, in any language; questions about time (“when did we…”, "
    "“last week”) and about relations are understood. Each result has the lines it stands in (path, startLine, "
    "endLine), an id, a score from 0 to 1 and, where it no longer holds, supersededBy. likelyAbsent true means that "
    "nothing found deserves belief: say that you looked and are not sure; stale says what is not searched yet. Read "
    "more around a result with memory_get.",
    (
        Parameter("query", Kind.TEXT, "What you want to know, as words or a question.", required=True),
        Parameter("max_results", Kind.WHOLE, "At most so many results.", least=1, most=1000),
        Parameter("min_score", Kind.NUMBER, "Leave out results below this score.", least=0, most=1),
        Parameter(
            "budget",
            Kind.WHOLE,
            "Tokens you can spare for the answer: it is filled with the best results, as many as fit.",
            least=_LEAST_BUDGET,
            most=_MOST_BUDGET,
        ),
        Parameter(
            "store",
            Kind.TEXT,
            "Search one store alone: core (always in mind), episodic (what happened), semantic (facts and entities), "
            "procedural (how to do things), vault (kept for ever), file, extra or session.",
            choices=SEARCHED_STORES,
        ),
    ),
    Capability.READ,
    _search,
)

GET = Tool(
    "memory_get",
    "Read a memory file",
    "Read lines of one memory file exactly as they are, for example those around a result of memory_search. Not for "
    "other files, nor to look for something: search first. Where the answer says truncated, go on from nextFrom.",
    (
        Parameter(
            "path",
            Kind.TEXT,
            "The file as results give it, such as memory/episodes/2026-02-02.md; path#L3-L5 names lines as well.",
            required=True,
        ),
        Parameter("from", Kind.WHOLE, "First line, counted from 1.", least=1, most=10**9, default=1),
        Parameter("lines", Kind.WHOLE, "How many lines; to the end if left out.", least=1, most=10**9),
    ),
    Capability.READ,
    _get,
)

GRAPH = Tool(
    "memory_graph",
    "Look at the knowledge graph",
    "Look at a person, project or other entity: what is known of it (facts with since when they hold), and how it is "
    "related to others. Use it for questions such as “who works on…” or “what depends on…”; what was said or done is "
    "found by memory_search.",
    (
        Parameter(
            "entity",
            Kind.TEXT,
            "Its name or id, such as Alex or person--alex; without it you get the whole graph as far as it fits.",
            most=LONGEST_QUERY // 10,
        ),
        Parameter(
            "depth",
            Kind.WHOLE,
            "Relations to follow from there: 1 for its neighbours.",
            least=0,
            most=_DEEPEST,
        ),
    ),
    Capability.READ,
    _graph,
)

CORE = Tool(
    "memory_core",
    "Read core memory and notices",
    "Call this first in every session, unless core memory is in your context already: it gives what you should always "
    "have in mind about the user and the work, and notices. Tell the user of every alert (a critical file that was "
    "changed, with its diff) and ask whether that was intended; mention proposals and reflections that wait.",
    (),
    Capability.READ,
    _core,
)

AUDIT = Tool(
    "memory_audit",
    "Ask what changed in memory",
    "Find out who changed what in memory, when, and on whose approval; newest first. Use it when the user asks where "
    "something in memory comes from or went, not to find out what memory says.",
    (
        Parameter("query", Kind.TEXT, "Words of the summary, file or actor; everything if left out."),
        Parameter("limit", Kind.WHOLE, "At most so many entries.", least=1, most=1000, default=_ENTRIES),
    ),
    Capability.READ,
    _audit,
)


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


def propose_request(given: Mapping[str, Any]) -> ProposeRequest:
    """Return what a call of `memory_propose` asks for.

    Args:
        given: Its arguments, checked.
    """
    return ProposeRequest(
        given["content"],
        store=given["store"],
        entities=tuple(given["entities"] or ()),
        confidence=given["confidence"] or "medium",
        trigger=given["trigger"] or "",
        core_worthy=given.get("core_worthy", False),
    )


def _propose(call: Call) -> dict[str, Any]:
    proposed = call.door.propose_request(propose_request(call.arguments))
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


TOOLS: tuple[Tool, ...] = (SEARCH, GET, REMEMBER, FORGET, REFLECT, PROPOSE, GRAPH, CORE, AUDIT)
"""Every tool there is, in the order in which agents see them."""


def tools_for(role: Role, tools: tuple[Tool, ...] = TOOLS) -> tuple[Tool, ...]:
    """Return the tools that a role is offered: those that it may use."""
    return tuple(tool for tool in tools if role.may(tool.needs))


def tool_called(name: str, role: Role, tools: tuple[Tool, ...] = TOOLS) -> Tool:
    """Return a tool by its name.

    Args:
        name: As agents call it.
        role: Of whoever calls.
        tools: Those that there are.

    Raises:
        NotFound: There is none.
        RoleRefused: It is not for this role.
    """
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        offered = ", ".join(each.name for each in tools_for(role, tools))
        raise NotFound("There is no such tool.", where=name[:100], remedy=f"There are {offered}.")
    require(role, tool.needs)
    return tool


def checked_call(tool: Tool, call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments of a call and answer it.

    Raises:
        WorkbenchError: The arguments make no sense, or the workspace says no.
    """
    arguments = read_arguments(tool, given)
    return tool.answer(Call(call.door, arguments, call.told, call.cancelled))


def openai_functions(role: Role) -> list[dict[str, Any]]:
    """Return the tools of a role as OpenAI function-calling takes them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.about, "parameters": tool.schema},
        }
        for tool in tools_for(role)
    ]
