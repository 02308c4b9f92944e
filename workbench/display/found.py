"""Draws what a question found: rows of results, why each ranks where it does, and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.cells import plain
from workbench.display.ink import Span, at_right, column, gap, ink, line_width, spread
from workbench.display.markdown import unlinked
from workbench.display.matching import ITEM_GAP, best_line, lit, matches_in, one_line, part_around_match
from workbench.display.rows import store_sign
from workbench.engine.markdown.statements import parse_statement
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from workbench.display.ink import Line
    from workbench.engine.results.recall import Cut, Explanation, Found, Hit, WhyNot
    from workbench.engine.results.reviews import Proposal, ReviewItem

FREE_TEXT = frozenset({"file", "extra", "session"})
MEMORIES = ("core:", "episode:", "entity:", "procedure:", "vault:")
_WAITS = "waits in the Inbox"
_LANES = {"keywords": "words", "meaning": "meaning", "graph": "graph", "dates": "dates"}
_REASONS = {
    "archived": "Archived, and matches less",
    "dormant": "Faded, and matches less",
    "near-duplicate": "Says nearly the same as a result above",
    "below-minimum": "Scores too low",
    "weak": "Hardly answers",
    "other-days": "Not of the days asked for",
    "over-budget": "No room in the budget",
    "over-limit": "Beyond the last result",
}
_MOST_OF_A_REASON = 5
_FACT_ID = lazy_pattern(r":? [a-z]+:\S+#\^\w+")
_HEADING_OR_COMMENT = lazy_pattern(r"^\s*(?:#{1,6} .*|<!--.*-->\s*|)$")
_ITEM = lazy_pattern(r"^\s*[-*+] +(?=\S)")
_RELATION = lazy_pattern(r"(?<=[-*+] )([\w-]+): (?=\[\[)")
_LINK = lazy_pattern(r"\[\[([^\]|]+)")
_DAY = len("2026-02-02")
# A row that says no more than this many times what there is room for keeps its beginning.
_TWICE = 2
_BAR = 12


def hit_key(hit: Hit) -> str:
    """Return the id of a row: a long memory can come up with several of its parts."""
    return f"{hit.id}@{hit.start_line}-{hit.end_line}"


def hit_title(hit: Hit) -> str:
    """Return what a result is called: the words of free text, the title of all else."""
    if hit.store in FREE_TEXT or not hit.title:
        return items_in_line(hit.snippet) or one_line(hit.title) or hit.id
    return words.corrected_by(one_line(hit.title))[1]


def items_in_line(text: str) -> str:
    """Return free text as one line, its list items held apart."""
    parts: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if _ITEM.match(line) or not parts:
            parts.append(line)
        else:
            parts[-1] += f"\n{line}"
    return ITEM_GAP.join(filter(None, map(readable, parts)))


def hit_words(hit: Hit, question: str) -> str:
    """Return what a result says in one line: of an entity the fact that answers, named where the fact does not."""
    title = hit_title(hit)
    line = answering_line(hit, question)
    if related := _RELATION.search(line):
        target = f"entity:{linked[1]}" if (linked := _LINK.match(line, related.end())) else ""
        label = next((each.label for each in hit.relations if each.to == target), "")
        return f"{title} {related[1].replace('-', ' ')} {label or readable(line[related.end() :])}"
    fact = readable(line)
    if not fact or fact == title:
        return title
    return fact if title.casefold() in fact.casefold() else f"{title}: {fact}"


def hit_day(hit: Hit, question: str) -> str | None:
    """Return the ISO date of a result: of an entity the one since which what answers holds."""
    since = _since(answering_line(hit, question))
    return since[:_DAY] if len(since) >= _DAY else hit.date


def answering_id(hit: Hit, question: str) -> str:
    """Return the id of the fact or relation that answers; empty where the row is about all of its memory."""
    line = answering_line(hit, question)
    if not _ITEM.match(line) or hit.status == "archived":
        return ""
    if block := parse_statement(line).block_id:
        return f"{hit.id}#^{block}"
    lines = hit.snippet.split("\n")
    if _RELATION.search(line) or len(lines) != hit.end_line - hit.start_line + 1:
        return ""
    return f"file:{hit.path}#L{hit.start_line + lines.index(line)}"


def answering_edge(hit: Hit, question: str) -> tuple[str, str, str] | None:
    """Return from, relation and to of the relation that answers; None for a fact."""
    line = answering_line(hit, question)
    related = _RELATION.search(line)
    linked = _LINK.match(line, related.end()) if related else None
    return (hit.id, related[1], f"entity:{linked[1]}") if related and linked else None


def answering_line(hit: Hit, question: str) -> str:
    """Return the line of an entity with the fact or relation that answers best, else its first; of all else none.

    It is looked for in what search found to match best, then in the rest. What holds comes before what held; of those
    that answer alike, facts before relations, and the newest first.
    """
    if not hit.id.startswith("entity:"):
        return ""
    lines = [line for line in hit.snippet.split("\n") if not _HEADING_OR_COMMENT.match(line)]
    items = _in_order(lines)
    holding = [line for line in items if not _is_over(line)]
    for among in (_in_order(_matched(hit)), holding, items, lines):
        best = best_line(among, question, hit.title)
        if best is not None and one_line(best) not in (hit.title, hit.id.removeprefix("entity:")):
            # A fact that says as much tells more than that two things are joined.
            facts = (
                ()
                if _RELATION.search(best) is None
                else (line for line in holding if not _RELATION.search(line))
            )
            return best_line((*facts, best), question, hit.title) or best
    return next(iter((*_in_order(_matched(hit)), *items, *reversed(lines))), "")


def _matched(hit: Hit) -> list[str]:
    """Return the lines of what search found to match best; none where that is not known, or the snippet is cut."""
    lines = hit.snippet.split("\n")
    if hit.matched is None or len(lines) != hit.end_line - hit.start_line + 1:
        return []
    first, last = (at - hit.start_line for at in hit.matched)
    return lines[max(0, first) : last + 1]


def _in_order(lines: Iterable[str]) -> list[str]:
    """Return facts and relations, those first that answer rather where others answer as much."""
    items = sorted((line for line in lines if _ITEM.match(line)), key=_since, reverse=True)
    return sorted(items, key=lambda line: (_is_over(line), _RELATION.search(line) is not None))


def _since(item: str) -> str:
    return parse_statement(item).provenance.since or ""


def _is_over(item: str) -> bool:
    return parse_statement(item).provenance.until is not None


def readable(text: str) -> str:
    """Return the text of a memory as one line, without marks, ids and notes on where it comes from."""
    return one_line("\n".join(unlinked(parse_statement(line).text) for line in text.splitlines()))


def standing(hit: Hit) -> str:
    """Return the word for what is the matter with a result; empty where nothing is."""
    if hit.retired or hit.outdated_by:
        return "no longer holds" if hit.retired and not hit.superseded_by else "outdated"
    return hit.status or "" if hit.status in ("fading", "dormant", "archived") else ""


def hit_row(hit: Hit, question: str, today: date, width: int, *, contested: bool = False) -> Line:
    """Draw a result: what it says around the words of the question, then how it stands and its day.

    Args:
        contested: Whether a decision against it waits.
    """
    faded = standing(hit) not in ("", "fading")
    day = words.day_of(hit_day(hit, question), today)
    said, sign = hit_words(hit, question), store_sign(hit.store)
    state = standing(hit) or ("contested" if contested else "")
    right = at_right(line_width((sign, ink(said))), state, day, width, role="faint")
    room = max(1, width - line_width(right) - (2 if right else 0) - 2)
    # A fact begins with whom it is about, which is what is asked for as often as not.
    near = any(begin < room for begin, _ in matches_in(said, question)[:1])
    begins = hit.id.startswith("entity:") and (near or len(said) <= _TWICE * room)
    role = "soft" if faded else "text"

    def part(room: int) -> Line:
        text = said if begins else part_around_match(said, question, room)
        return (sign, *lit(plain(text, room), question, role))

    return spread(part(room), right, width, part(3 * room))


def is_near_at_best(hit: Hit) -> bool:
    """Tell whether nothing but meaning leads to a result: none of the words asked, no relation, no day."""
    lanes = hit.explanation.lanes if hit.explanation is not None else ()
    return bool(lanes) and all(lane.score is None for lane in lanes if lane.lane != "meaning")


def faded_heading(found: Found) -> str:
    """Return the words of the divider above what has faded."""
    count = found.faded.count
    first = found.faded.results[0].score if found.faded.results else 0.0
    better = bool(found.results) and first > found.results[0].score
    more = "; the first better than all above" if better else ""
    return f"{count} faded {'memory matches' if count == 1 else 'memories match'} too{more}"


def found_words(found: Found, shown: int) -> str:
    """Return how much was found, beside the question."""
    faded = f" + {found.faded.count} faded" if found.faded.count else ""
    return f"{shown}{faded} · {found.took_ms:.0f} ms"


def text_card(hit: Hit, today: date) -> Card:
    """Return the card of free text: the lines that were found, and where they stand."""
    text = "\n".join(line.lstrip("# ") if line.startswith("#") else line for line in hit.snippet.splitlines())
    where = f"{hit.path}, lines {hit.start_line}–{hit.end_line}"
    kind = " · ".join(part for part in (words.kind(hit.store), words.day_of(hit.date, today), where) if part)
    return Card(
        hit_title(hit),
        text,
        (ink(kind, "soft"),),
        details=(Section.of("ID", hit.id, "soft"),),
    )


def rank_section(hit: Hit, rank: int) -> Section:
    """Return why a result ranks where it does."""
    head: Line = (ink(f"{words.ordinal(rank)} result, score {min(hit.score, 1):.2f}"),)
    if hit.explanation is None:
        return Section("RANK", (head,))
    return Section("RANK", (head, *explanation_lines(hit.explanation)))


def explanation_lines(explanation: Explanation, *, ids: bool = False) -> list[Line]:
    """Draw what each way of looking made of a memory, then what moved the sum of them.

    Args:
        ids: Whether sentences name facts by their ids, which only a terminal has a use for.
    """
    lines: list[Line] = []
    for lane in explanation.lanes:
        share = min(1.0, max(0.0, lane.score or 0.0))
        filled = max(round(_BAR * share), 1 if share else 0)
        place = words.ordinal(lane.rank) if lane.rank is not None else "–"
        lines.append(
            (
                column(_LANES.get(lane.lane, lane.lane), 8, "soft"),
                Span("━" * filled, "text"),
                Span("─" * (_BAR - filled), "rule"),
                column("" if lane.score is None else f"{lane.score:.2f}", 5, "soft", right=True),
                column(place, 5, "soft", right=True),
                gap(2),
                ink(lane.detail, "faint"),
            )
        )
    if explanation.decay_factor is not None:
        lines.append((ink(f"age and use × {explanation.decay_factor:.2f}", "soft"),))
    lines += [(ink(nudge if ids else _FACT_ID.sub("", nudge), "soft"),) for nudge in explanation.nudges]
    return lines


def left_out(found: Found) -> tuple[Cut, ...]:
    """Return what was found and is nowhere shown: neither among the results nor among what has faded."""
    shown = [hit for hit in (*found.results, *found.faded.results) if not hit.workspace]
    return tuple(
        cut
        for cut in found.cuts
        if not any(
            cut.path == hit.path and cut.start_line <= hit.end_line and hit.start_line <= cut.end_line
            for hit in shown
        )
    )


def disputed(items: Iterable[ReviewItem], proposals: Iterable[Proposal]) -> dict[str, str]:
    """Return what waits for a decision against memories, by the id of the memory or fact.

    Args:
        items: What a reflection proposes.
        proposals: What agents propose.
    """
    found: dict[str, str] = {}
    for item in items:
        if item.decision == "rejected" or item.kind not in ("contradiction", "supersession"):
            continue
        told = f"contradicted, {_WAITS}" if item.kind == "contradiction" else f"an update {_WAITS}"
        # An entry that speaks for a change is not itself what changes.
        facts = (quoted.id for quoted in item.evidence if quoted.id.startswith("entity:"))
        for each in (item.target, *facts):
            is_entity = each.startswith("entity:") and "#" not in each
            if each.startswith(MEMORIES) and not is_entity:
                found.setdefault(each, told)
    for proposal in proposals:
        for each in proposal.conflicts_with:
            if each.startswith(MEMORIES):
                found.setdefault(each, f"contradicted by {proposal.from_}, {_WAITS}")
    return found


def cuts_section(cuts: Sequence[Cut]) -> Section:
    """Return what was found and left out, under its reasons."""
    by_reason: dict[str, list[Cut]] = {}
    for each in cuts:
        by_reason.setdefault(each.reason, []).append(each)
    lines: list[Line] = []
    for reason in sorted(by_reason, key=lambda each: list(_REASONS).index(each) if each in _REASONS else 99):
        left_out = by_reason[reason]
        lines.append((ink(f"{_REASONS.get(reason, reason)}: {len(left_out)}", "soft+strong"),))
        lines += [
            (ink(readable(each.text) or each.place, "text+link", None, each.id or f"file:{each.place}"),)
            for each in left_out[:_MOST_OF_A_REASON]
        ]
        if len(left_out) > _MOST_OF_A_REASON:
            lines.append((ink(f"and {len(left_out) - _MOST_OF_A_REASON} more", "faint"),))
    return Section("LEFT OUT", tuple(lines) or ((ink("Nothing that was found.", "soft"),),))


def why_not_card(answer: WhyNot, title: str, remedy: str) -> Card:
    """Return why a memory is not among the results, and what would bring it there.

    Args:
        remedy: As the door that shows it says it; empty where nothing helps.
    """
    place = f"It is there: the {words.ordinal(answer.rank)} result." if answer.rank is not None else ""
    sections = [Section.of("WHY NOT", place or answer.reason)]
    if remedy:
        sections.append(Section.of("REMEDY", remedy, "strong"))
    if answer.explanation is not None:
        sections.append(Section("LOOKED AT", tuple(explanation_lines(answer.explanation))))
    return Card(title, title, (), tuple(sections))
