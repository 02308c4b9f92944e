"""Tools that tell what is remembered: search, memory files, graph, core memory and audit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.requests import SearchRequest
from workbench.engine.results import to_json
from workbench.engine.results.graph import GraphView
from workbench.engine.results.recall import Hit
from workbench.engine.roles import Capability
from workbench.engine.tokens import cut_to_budget
from workbench.mcp.tool import (
    ANSWER_TOKENS,
    LONGEST_QUERY,
    Call,
    Kind,
    Parameter,
    Tool,
    fitted,
    most_that_fit,
    tokens_of,
)

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
        "likelyAbsent": found.likely_absent,
    }
    if found.faded.count:
        answer["faded"] = {"count": found.faded.count, "results": [_hit(hit) for hit in found.faded.results]}
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
    if hit.retired:
        shaped["retired"] = True
    if hit.until:
        shaped["until"] = hit.until
    if hit.superseded_by:
        shaped["supersededBy"] = hit.superseded_by
    if hit.relations:
        shaped["relations"] = [
            {"from": each.from_, "relation": each.relation, "to": each.to, "label": each.label}
            for each in hit.relations
        ]
    if hit.outdated_by:
        shaped["outdatedBy"] = hit.outdated_by
    if hit.outdated_since:
        shaped["outdatedSince"] = hit.outdated_since
    if hit.approved_as:
        shaped["approvedAs"] = hit.approved_as
    if hit.citation:
        shaped["citation"] = hit.citation
        shaped["snippet"] += f"\n\nSource: {hit.citation}"
    return shaped


def _get(call: Call) -> dict[str, Any]:
    given = call.arguments
    excerpt = call.door.get(given["path"], from_=given["from"], lines=given["lines"])
    text, was_cut = cut_to_budget(excerpt.text, ANSWER_TOKENS)
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
    view = call.door.graph(given["entity"], depth=given["depth"])
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
                "retired": fact.retired,
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
    text, was_cut = cut_to_budget(brief.core, ANSWER_TOKENS)
    answer: dict[str, Any] = to_json(brief)
    answer["core"] = text
    if was_cut:
        answer["truncated"] = True
    for alert in answer["alerts"]:
        alert["diff"], _ = cut_to_budget(alert["diff"], _DIFF_TOKENS)
    # What warns goes last: the log can be read elsewhere.
    most = 2 * ANSWER_TOKENS
    rest = tokens_of({**answer, "log": {}})
    answer["log"] = fitted(answer["log"], "entries", max(most - rest, 0))
    return fitted(answer, "alerts", most)


def _audit(call: Call) -> dict[str, Any]:
    given = call.arguments
    query = (given["query"] or "").strip()
    asked = call.door.question(query)
    told = asked.changes or asked.why_forgotten or asked.way_back
    answer: dict[str, Any] = to_json(told or call.door.audit_log(text=query or None, limit=given["limit"]))
    answer["entries"] = answer["entries"][: given["limit"]]
    return fitted(answer, "entries", ANSWER_TOKENS)


SEARCH = Tool(
    "memory_search",
    "Search memory",
    "Search everything remembered: past decisions, facts about people and projects, preferences, procedures, daily "
    "notes. Use it before you answer what may depend on earlier work or on what the user told you, unless "
    "core memory says it. Ask in whole words, in any language; “when did we…”, “last week” and relations are "
    "understood. Results have their place (path, startLine, endLine), an id and a score; what no longer holds is "
    "retired, with until (its last day) and supersededBy (what holds instead). outdatedBy names the approved fact "
    "that holds instead of these lines, approvedAs the one that rests on them. Where nothing answers, say that you "
    "looked and are not sure; stale says what is not searched yet. Read more around a result with memory_get.",
    (
        Parameter("query", Kind.TEXT, "What you want to know.", required=True),
        Parameter("max_results", Kind.WHOLE, "At most so many.", least=1, most=1000),
        Parameter("min_score", Kind.NUMBER, "Leave out results below this score.", least=0, most=1),
        Parameter(
            "budget",
            Kind.WHOLE,
            "Tokens for the answer; the best that fit.",
            least=_LEAST_BUDGET,
            most=_MOST_BUDGET,
        ),
        Parameter(
            "store",
            Kind.TEXT,
            "One store alone: core (always in mind), episodic (what happened), semantic (facts), procedural (how to do "
            "things), vault (kept for ever), file, extra, session.",
            choices=SEARCHED_STORES,
        ),
    ),
    Capability.READ,
    _search,
)

GET = Tool(
    "memory_get",
    "Read a memory file",
    "Read lines of a memory file exactly as they are, such as those around a result of memory_search. No other files. "
    "Where the answer says truncated, go on from nextFrom.",
    (
        Parameter(
            "path",
            Kind.TEXT,
            "As results give it; path#L3-L5 names lines, too.",
            required=True,
        ),
        Parameter("from", Kind.WHOLE, "First line; from 1.", least=1, most=10**9, default=1),
        Parameter("lines", Kind.WHOLE, "How many; else to the end.", least=1, most=10**9),
    ),
    Capability.READ,
    _get,
)

GRAPH = Tool(
    "memory_graph",
    "Look at the knowledge graph",
    "Look at a person, project or other entity: what is known of it, since when that holds, and how it is related to "
    "others. For questions such as “who works on…” or “what depends on…”; memory_search finds what was said or done.",
    (
        Parameter(
            "entity",
            Kind.TEXT,
            "Its name or id: Alex, person--alex. Without it, the whole graph as far as it fits.",
            most=LONGEST_QUERY // 10,
        ),
        Parameter(
            "depth",
            Kind.WHOLE,
            "Relations to follow: 1 for neighbours.",
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
    "Call this first in every session, unless core memory is in your context already: what you should always have in "
    "mind about the user and the work, the log of today and yesterday, newest first, and notices. Tell the user of "
    "every alert (a file that steers you was changed) with its diff, and ask whether that was intended; where "
    "proposals contradict each other, ask which holds; mention what waits. ownProposals says what became of yours.",
    (),
    Capability.READ,
    _core,
)

AUDIT = Tool(
    "memory_audit",
    "Ask what changed in memory",
    "Find out who changed what in memory, when, and on whose approval; newest first. Use it when the user asks where "
    "something in memory comes from or went. It takes their own question as well: what changed recently, what you "
    "learned this week, why you forgot something, the way back to yesterday.",
    (
        Parameter("query", Kind.TEXT, "Words of the summary, a file, an actor, or a question."),
        Parameter("limit", Kind.WHOLE, "At most so many.", least=1, most=1000, default=_ENTRIES),
    ),
    Capability.READ,
    _audit,
)
