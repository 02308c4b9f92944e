"""How memories that were found are listed: by search, or to be forgotten."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.cli.printing import Page, clip, pad, safe, safe_line, wrap
from workbench.cli.views.changed import account_lines
from workbench.cli.views.matching import best_line, highlighted, matching_lines
from workbench.engine.results.memories import Forgotten, Match
from workbench.engine.results.recall import Cut, Explanation, Found, Hit, WhyNot

SNIPPET_LINES = 2
CUTS_SHOWN = 3
MARGIN = 6
# An archived memory that scores less is not what was meant.
LEAST_TOLD = 0.2
# A snippet is for recognising a memory; what only formats the file would fill its two lines.
_MARKUP = re.compile(r"<!--.*?-->|(?<!\S)#{1,6} ", re.DOTALL)
_FACT_END = re.compile(r"(?: \([^()]*\))?(?: \^[\w-]+)?\s*$")
_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_HEADING_OR_COMMENT = re.compile(r"^\s*(?:#{1,6} .*|<!--.*-->\s*|)$")
_FACT = re.compile(r"^\s*[-*] +(?=\S)")


def found_lines(page: Page, found: Found, *, query: str = "", explain: bool = False) -> list[str]:
    """List search results: score and id, date and place, title, then the text around what was asked for.

    Args:
        page: What is written on.
        found: The results.
        query: What was asked; its words stand out.
        explain: Whether each lane's word is shown, what was left out, and how the question was read.
    """
    lines: list[str] = []
    for hit in found.results:
        lines += _hit_lines(page, hit, query, explain=explain)
    if not found.results:
        lines.append("Nothing found so far." if found.stale else "Nothing found.")
    elif found.likely_absent:
        lines.append(page.paint("None of this may be what you look for.", "accent"))
    for remark in (found.fallback, found.stale):
        if remark:
            lines += wrap(safe_line(remark), page.width, first="! ", rest="  ")
    if explain:
        lines += _cuts_lines(page, found.cuts)
        lines += [page.paint(line, "quiet") for line in wrap(_reading(found), page.width)]
    return lines


def nothing_lines(page: Page, hidden: Found | None, *, is_narrowed: bool, is_empty: bool) -> list[str]:
    """Tell what else may be tried where nothing was found.

    Args:
        page: What is written on.
        hidden: What is found, and left out, where dormant memories are asked for as well; or None.
        is_narrowed: Whether only some memories were searched, or only good matches wanted.
        is_empty: Whether there is nothing to search at all.
    """
    faded = len(hidden.results) if hidden else 0
    archived = dict.fromkeys(
        cut.id
        for cut in (hidden.cuts if hidden else ())
        if cut.reason == "archived" and cut.score >= LEAST_TOLD
    )
    if is_empty:
        told = "There is no memory here yet. Begin with: workbench remember TEXT"
    elif faded:
        told = f"{_memories(faded)} that has nearly faded matches: --include-dormant"
        if faded > 1:
            told = f"{_memories(faded)} that have nearly faded match: --include-dormant"
    elif archived:
        one = next(iter(archived))
        told = (
            f"Archived: {_memories(len(archived))} that may be meant. Bring one back: workbench restore {one}"
        )
    elif is_narrowed:
        told = "Not everything was searched: try it without --store, --after, --before and --min-score."
    else:
        return []
    return [page.paint(line, "quiet") for line in wrap(told, page.width)]


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count:,} memories"


def why_not_lines(page: Page, why: WhyNot) -> list[str]:
    """Tell why a memory did not come up, and what would bring it up."""
    head = f"{safe_line(why.id)}  " if why.rank is None else f"{safe_line(why.id)}  result {why.rank}  "
    lines = [page.paint(head.rstrip(), "strong"), *wrap(safe_line(why.reason), page.width, first="  ")]
    if why.explanation is not None:
        lines += _explained(page, why.explanation)
    if why.remedy:
        lines += wrap(safe_line(why.remedy), page.width, first="  → ")
    return lines


def _reading(found: Found) -> str:
    """Say how the question was read, by what means it was searched, and how long that took."""
    parts = [f"read as: {found.strategy}"]
    if found.period:
        first, last = found.period
        parts.append(first if first == last else f"{first} to {last}")
    means = "words alone" if found.provider == "none" else found.provider
    parts.append(means + (f", {found.model}" if found.model else ""))
    return safe_line(" · ".join((*parts, f"{found.took_ms:.1f} ms")))


def _cuts_lines(page: Page, cuts: Sequence[Cut]) -> list[str]:
    """List what was left out under each reason, the first of it with its first words."""
    told: list[str] = []
    for detail in dict.fromkeys(cut.detail for cut in cuts):
        having = [cut for cut in cuts if cut.detail == detail]
        count = f" ({len(having):,})" if len(having) > 1 else ""
        told += wrap(safe_line(f"Left out{count}: {detail}"), page.width)
        for cut in having[:CUTS_SHOWN]:
            if cut.id:
                place = cut.place if cut.path else cut.id
                line = safe_line(f"{cut.score:.2f} {place} · {cut.text}")
                told.append(" " * MARGIN + clip(line.rstrip(" ·"), page.width - MARGIN))
    return [page.paint(line, "quiet") for line in told]


def _hit_lines(page: Page, hit: Hit, query: str, *, explain: bool) -> list[str]:
    state = "" if hit.status in (None, "active") else str(hit.status)
    first = f"{hit.score:.2f}  {page.paint(safe_line(hit.id), hit.store, 'strong')}"
    lines = [f"{first}  {page.paint(state, 'quiet')}".rstrip()]
    place = safe_line(hit.place)
    where = f"{safe_line(hit.date)} · {place}" if hit.date else place
    lines += [page.paint(line, "quiet") for line in wrap(where, page.width, first=" " * MARGIN)]
    if hit.superseded_by:
        told = f"No longer holds; superseded by {safe_line(hit.superseded_by)}"
        lines += [
            page.paint(line, "accent")
            for line in wrap(told, page.width, first=" " * MARGIN, rest=" " * MARGIN)
        ]
    is_entity = hit.id.startswith("entity:")
    said = _fact_of(hit, query) if is_entity else _MARKUP.sub("", hit.snippet)
    snippet = matching_lines(page, said, query, lines=SNIPPET_LINES, margin=MARGIN)
    # What the text below begins with is not said twice.
    title = safe_line(hit.title)
    if title and (is_entity or not safe_line(said).startswith(title.removesuffix("…"))):
        lines.append(" " * MARGIN + highlighted(page, clip(title, page.width - MARGIN), query))
    lines += snippet
    if explain and hit.explanation is not None:
        lines += _explained(page, hit.explanation)
    return lines


def _fact_of(hit: Hit, query: str) -> str:
    """Return the fact or relation of an entity that was asked for, else its first, without its bookkeeping."""
    lines = [line for line in hit.snippet.split("\n") if not _HEADING_OR_COMMENT.match(line)]
    facts = [line for line in lines if _FACT.match(line)]
    told = best_line(facts, query) or best_line(lines, query)
    if told is None or safe_line(told) in (hit.title, hit.id.removeprefix("entity:")):
        told = facts[0] if facts else lines[-1] if lines else ""
    return _LINK.sub(r"\1", _FACT_END.sub("", _FACT.sub("", told)))


def _explained(page: Page, explanation: Explanation) -> list[str]:
    """List what each lane made of a memory, then what moved it."""
    told = []
    for lane in explanation.lanes:
        place = f"{lane.rank:>4}." if lane.rank is not None else "    –"
        score = f"{lane.score:.2f}" if lane.score is not None else "    "
        told.append(f"{pad(lane.lane, 9)}{place}  {score}  {lane.detail}".rstrip())
    factor = explanation.decay_factor
    told.append(
        f"together {explanation.relevance:.2f}" + (f", × {factor:.2f} for its age and use" if factor else "")
    )
    told.extend(explanation.nudges)
    return [
        page.paint(line, "quiet")
        for text in told
        for line in wrap(
            safe(text).replace("\n", " "), page.width, first=" " * MARGIN, rest=" " * (MARGIN + 2)
        )
    ]


def match_lines(page: Page, matches: Sequence[Match]) -> list[str]:
    """List what a request to forget concerns."""
    lines = []
    for match in matches:
        store = page.paint(pad(match.store, 10), match.store)
        lines.append(f"{match.score:.2f}  {store}  {page.paint(safe_line(match.id), 'strong')}")
        said = _MARKUP.sub("", match.snippet)
        lines += matching_lines(page, said, "", lines=SNIPPET_LINES, margin=MARGIN)
    return lines


def forgotten_lines(page: Page, forgotten: Forgotten, *, hard: bool, purged: bool = False) -> list[str]:
    """Tell what was forgotten, and how to bring it back, where that is possible."""
    if forgotten.applied and not forgotten.matches:
        return [f"{page.paint('✓', 'good')} Purged.", *account_lines(page, forgotten)]
    if not forgotten.matches:
        return ["Nothing matches, so nothing was forgotten."]
    if not forgotten.applied:
        return match_lines(page, forgotten.matches)
    count = _memories(len(forgotten.matches))
    verb = "Deleted" if hard else "Archived"
    lines = [f"{page.paint('✓', 'good')} {verb} {count}:"]
    lines += [f"  {page.paint(safe_line(match.id), match.store)}" for match in forgotten.matches]
    lines += account_lines(page, forgotten)
    if purged:
        return lines
    back = (
        "Take it back, while history has it: workbench undo"
        if hard
        else "Bring one back: workbench restore ID"
    )
    return [*lines, page.paint(f"  {back}", "quiet")]
