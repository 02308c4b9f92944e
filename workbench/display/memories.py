"""Text of memories found, shown, stored and forgotten, for the owner and for one scope."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.audit import log_lines
from workbench.display.card import (
    Card,
    Section,
    card_lines,
    memory_card,
    named_lines,
    section_lines,
    why_lines,
)
from workbench.display.changes import account_lines, at_minute, held_back_lines
from workbench.display.found import (
    FREE_TEXT,
    answering_line,
    explanation_lines,
    hit_day,
    hit_words,
    items_in_line,
    left_out,
    why_not_card,
)
from workbench.display.matching import lit, part_around_match
from workbench.display.reviews import reflected_lines
from workbench.display.text import Page, clip, pad, safe_line
from workbench.display.words import counted
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.audit import AuditLog

if TYPE_CHECKING:
    from workbench.engine.results.audit import Changes, ScopedBrief, WayBack, WhyForgotten
    from workbench.engine.results.memories import (
        Forgotten,
        Match,
        MessageOutcome,
        Remembered,
        Shown,
        Why,
    )
    from workbench.engine.results.recall import Cut, Explanation, Found, Hit, WhyNot
    from workbench.engine.results.reviews import Proposed

SNIPPET_LINES = 2
CUTS_SHOWN = 3
MARGIN = 6
# An archived memory with a lower score is not the one meant.
LEAST_TOLD = 0.2
# A snippet is for recognising a memory; markup would fill its two lines.
_MARKUP = lazy_pattern(r"<!--.*?-->|(?<!\S)#{1,6} ", re.DOTALL)
_LINK_TO = lazy_pattern(r"\[\[([^\[\]|\s]+)\]\]")
_QUESTIONS = {
    "changes": "what changed",
    "learned": "what was learned",
    "why-forgotten": "why something is not recalled",
    "go-back": "to go back",
}
_ROUTES = {"rules": "by its wording", "model": "by the model", "given": "as you said"}


def matching_lines(page: Page, text: str, query: str, *, lines: int, margin: int) -> list[str]:
    """Return a text as a few lines around its matches, with matching words highlighted.

    Args:
        text: Any text; joined to one line first.
        margin: Columns left free before each line.
    """
    line = safe_line(text)
    room = lines * (page.width - margin) // (1 if line.isascii() else 2)
    part = part_around_match(line, query, room)
    wrapped = page.wrapped(part, first=" " * margin)
    # Wrapping at words may need one line more than the columns suggest.
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], clip(f"{wrapped[lines - 1]} {wrapped[lines].strip()}…", page.width)]
    return page.printed(lit(each, query) for each in wrapped if each.strip())


def found_lines(
    page: Page,
    found: Found,
    *,
    query: str = "",
    explain: bool = False,
    against: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """List search results: score and id, date and place, title, then the text around the matches.

    Args:
        query: The question, whose words are highlighted.
        explain: Whether to show each lane's contribution, what was left out, and how the question was read.
        against: What waits for a decision against memories, by the id of the memory or fact.
    """
    lines: list[str] = []
    for hit in found.results:
        lines += _hit_lines(page, hit, query, against, explain=explain)
    if not found.results:
        lines.append("Nothing found so far." if found.stale else "Nothing found.")
    for remark in (found.fallback, found.stale):
        if remark:
            lines += page.wrapped(safe_line(remark), first="! ")
    if found.faded.count:
        lines += _faded_lines(page, found, query, against, explain=explain)
    if explain:
        lines += _cuts_lines(page, left_out(found))
        lines += page.wrapped(_reading(found), "quiet")
    return lines


def _faded_lines(
    page: Page, found: Found, query: str, against: Mapping[str, str], *, explain: bool
) -> list[str]:
    """List the faded memories that match as well, apart from the results."""
    faded = found.faded
    told = counted(faded.count, "faded memory matches", "faded memories match")
    lines = page.wrapped(f"{told} as well; to bring one back: workbench reinforce ID", "accent")
    for hit in faded.results:
        lines += _hit_lines(page, hit, query, against, explain=explain)
    return lines


def nothing_lines(page: Page, hidden: Found | None, *, is_narrowed: bool, is_empty: bool) -> list[str]:
    """Suggest what to try when nothing was found.

    Args:
        hidden: The same results with what was left out, or None.
        is_narrowed: Whether the search was filtered or had a minimum score.
        is_empty: Whether there is nothing to search.
    """
    archived = dict.fromkeys(
        cut.id
        for cut in (hidden.cuts if hidden else ())
        if cut.reason == "archived" and cut.score >= LEAST_TOLD
    )
    if is_empty:
        told = "There is no memory here yet. Begin with: workbench remember TEXT"
    elif archived:
        count = counted(len(archived), "memory", "memories")
        one = next(iter(archived))
        told = f"Archived: {count} that may be meant. Bring one back: workbench restore {one}"
    elif is_narrowed:
        told = "Not everything was searched: try it without --store, --after, --before and --min-score."
    else:
        return []
    return page.wrapped(told, "quiet")


def why_not_lines(page: Page, why: WhyNot) -> list[str]:
    """Explain why a memory did not come up, and what would bring it up, as its card in the bench does."""
    return page.printed(card_lines(why_not_card(why, why.id, why.remedy or ""), page.width))


def _reading(found: Found) -> str:
    """Describe how the question was read, the backend, and the time taken."""
    parts = [f"read as: {found.strategy}"]
    if found.period:
        first, last = found.period
        parts.append(first if first == last else f"{first} to {last}")
    means = "words alone" if found.provider == "none" else found.provider
    parts.append(means + (f", {found.model}" if found.model else ""))
    return safe_line(" · ".join((*parts, f"{found.took_ms:.1f} ms")))


def _cuts_lines(page: Page, cuts: Sequence[Cut]) -> list[str]:
    """List what was left out by reason, with the beginning of the first."""
    told: list[str] = []
    for detail in dict.fromkeys(cut.detail for cut in cuts):
        having = [cut for cut in cuts if cut.detail == detail]
        count = f" ({len(having):,})" if len(having) > 1 else ""
        told += page.wrapped(safe_line(f"Left out{count}: {detail}"))
        for cut in having[:CUTS_SHOWN]:
            if cut.id:
                place = cut.place if cut.path else cut.id
                line = safe_line(f"{cut.score:.2f} {place} · {cut.text}")
                told.append(" " * MARGIN + clip(line.rstrip(" ·"), page.width - MARGIN))
    return [page.paint(line, "quiet") for line in told]


def _hit_lines(page: Page, hit: Hit, query: str, against: Mapping[str, str], *, explain: bool) -> list[str]:
    state = "" if hit.status in (None, "active") else str(hit.status)
    first = f"{hit.score:.2f}  {page.paint(safe_line(hit.id), hit.store, 'strong')}"
    lines = [f"{first}  {page.paint(state, 'quiet')}".rstrip()]
    place = safe_line(hit.place)
    day = hit_day(hit, query)
    where = f"{safe_line(day)} · {place}" if day else place
    lines += page.wrapped(where, "quiet", first=" " * MARGIN)
    if hit.workspace:
        lines += page.wrapped(safe_line(hit.workspace), "quiet", first=" " * MARGIN, rest=" " * MARGIN)
    if hit.retired:
        told = no_longer_holds(hit.until, hit.superseded_by)
        lines += page.wrapped(told, "accent", first=" " * MARGIN, rest=" " * MARGIN)
    elif hit.outdated_by:
        told = outdated(hit.outdated_by, hit.outdated_since)
        lines += page.wrapped(told, "accent", first=" " * MARGIN, rest=" " * MARGIN)
    fact = answering_line(hit, query)
    is_entity = hit.id.startswith("entity:")
    if is_entity:
        said = hit_words(hit, query)
    elif hit.store in FREE_TEXT:
        said = items_in_line(hit.snippet)
    else:
        said = _MARKUP.sub("", hit.snippet)
    # Do not repeat how the text below begins.
    title = safe_line(hit.title)
    if title and not is_entity and not safe_line(said).startswith(title.removesuffix("…")):
        lines.append(" " * MARGIN + page.printed([lit(clip(title, page.width - MARGIN), query)])[0])
    lines += matching_lines(page, said, query, lines=SNIPPET_LINES, margin=MARGIN)
    shown = f"{hit.id}#{fact.split()[-1]}" if fact.strip() and "#" not in hit.id else hit.id
    if waits := against.get(shown):
        told = safe_line(f"{waits}: workbench review")
        lines += page.wrapped(told, "accent", first=" " * MARGIN, rest=" " * MARGIN)
    if hit.relations:
        told = " · ".join(safe_line(each.told(hit.id)) for each in hit.relations)
        lines += page.wrapped(told, "quiet", first=" " * MARGIN, rest=" " * MARGIN)
    if explain and hit.explanation is not None:
        lines += _explained(page, hit.explanation)
    return lines


def no_longer_holds(until: str | None, by: str | None) -> str:
    """Say that something no longer holds, until when it did, and what replaced it, as far as that is known.

    Args:
        until: ISO date.
        by: The id of its successor.
    """
    told = f"No longer holds (until {until})" if until else "No longer holds"
    return safe_line(f"{told}; superseded by {by}" if by else told)


def outdated(by: str, since: str | None) -> str:
    """Say that an approved fact holds instead of what some lines say.

    Args:
        by: The id of the fact.
        since: ISO date from which it holds, as far as it is known.
    """
    return safe_line(
        f"Outdated since {since}; {by} holds instead" if since else f"Outdated; {by} holds instead"
    )


def _explained(page: Page, explanation: Explanation) -> list[str]:
    """Show what each lane made of a memory, then the nudges."""
    lines = explanation_lines(explanation, ids=True)
    drawn = section_lines(Section("", tuple(lines)), page.width - MARGIN)
    return [" " * MARGIN + line for line in page.printed(drawn)]


def match_lines(page: Page, matches: Sequence[Match]) -> list[str]:
    """List what a request to forget matches."""
    lines = []
    for match in matches:
        store = page.paint(pad(match.store, 10), match.store)
        lines.append(f"{match.score:.2f}  {store}  {page.paint(safe_line(match.id), 'strong')}")
        said = _MARKUP.sub("", match.snippet)
        lines += matching_lines(page, said, "", lines=SNIPPET_LINES, margin=MARGIN)
    return lines


def forgotten_lines(page: Page, forgotten: Forgotten, *, hard: bool, purged: bool = False) -> list[str]:
    """Report what was forgotten, and how to restore it if possible."""
    if forgotten.applied and not forgotten.matches:
        return [page.done("Purged."), *account_lines(page, forgotten)]
    if not forgotten.matches:
        return ["Nothing matches, so nothing was forgotten."]
    if not forgotten.applied:
        return match_lines(page, forgotten.matches)
    count = counted(len(forgotten.matches), "memory", "memories")
    verb = "Deleted" if hard else "Archived"
    lines = [page.done(f"{verb} {count}:")]
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


def shown_lines(page: Page, shown: Shown) -> list[str]:
    """Show one memory as its card in the bench, with all details and ids."""
    card = memory_card(shown, None, None, {}, page.now, whole=True)
    return page.printed(card_lines(card, page.width, details=True), ids=True)


def believed_lines(page: Page, why: Why) -> list[str]:
    """Show why a memory is believed, what names it, and when it fades."""
    sections = [Section("WHY", why_lines(why, page.now, whole=True))]
    if why.used_by:
        sections.append(Section("USED BY", named_lines(why.used_by, {}, whole=True)))
    sections += [
        Section.of(
            "FADES", f"becomes {fall.after} {words.on_day(fall.on, page.now.date())} unless it is used"
        )
        for fall in why.falls[:1]
    ]
    title = why.title or why.id
    return page.printed(card_lines(Card(title, title, sections=tuple(sections)), page.width), ids=True)


def remembered_lines(
    page: Page, remembered: Remembered, audience: str | None = None, *, undone: bool = True
) -> list[str]:
    """Report where a text was or would be stored, its audience unless the owner, and what was derived.

    Args:
        audience: Its scope, unless the owner's.
        undone: Whether undo reverts it.
    """
    if remembered.held_back is not None:
        return held_back_lines(page, remembered.held_back, dry_run=remembered.dry_run)
    written = remembered.commit is not None
    verb = "Remembered" if written else "Would remember" if remembered.dry_run else "Known already:"
    mark = page.paint("✓", "good") if written else page.paint("○", "quiet")
    lines = [f"{mark} {verb} {page.paint(safe_line(remembered.id), remembered.store, 'strong')}"]
    if remembered.summary:
        lines += page.wrapped(safe_line(remembered.summary), first="  ")
    route = _ROUTES.get(remembered.router, f"by {safe_line(remembered.router)}")
    facts = [
        ("store", f"{page.paint(remembered.store, remembered.store)} {page.paint(f'({route})', 'quiet')}"),
        ("file", page.paint(safe_line(remembered.path), "place")),
        ("for", safe_line(audience or "") if written or remembered.dry_run else ""),
        ("tags", safe_line(", ".join(remembered.tags))),
        ("confidence", safe_line(remembered.confidence)),
        (
            "entities",
            safe_line(", ".join(f"{entity.name} ({entity.type})" for entity in remembered.entities)),
        ),
        (
            "relations",
            "; ".join(safe_line(f"{it.from_} {it.relation} {it.to}") for it in remembered.relations),
        ),
        ("core", safe_line(remembered.core_update or "")),
    ]
    lines += page.table([(f"  {page.paint(name, 'quiet')}", value) for name, value in facts if value])
    if remembered.fallback:
        lines += page.wrapped(safe_line(remembered.fallback), first="  The rules decided: ", rest="  ")
    for question in remembered.questions:
        lines += _question_lines(page, question)
    lines += account_lines(page, remembered)
    if remembered.dry_run:
        lines.append(page.paint("  Nothing was written: this was a dry run.", "quiet"))
    elif written and undone:
        lines.append(page.paint("  Take it back: workbench undo", "quiet"))
    return lines


def _question_lines(page: Page, question: str) -> list[str]:
    """Show a question that the engine leaves to a person, and how to answer."""
    told = safe_line(question)
    lines = page.wrapped(_LINK_TO.sub(r"\1", told), first="  ? ")
    two = _LINK_TO.findall(told)
    if len(two) == 2:
        lines.append(page.paint(f"    If so: workbench graph merge {two[1]} {two[0]}", "quiet"))
    return lines


def message_lines(page: Page, outcome: MessageOutcome) -> list[str]:
    """Report what a message asked of memory, and the outcome."""
    if outcome.kind == "none":
        return ["This message asks nothing of memory."]
    phrase = f" (“{safe_line(outcome.phrase)}”)" if outcome.phrase else ""
    asks = _QUESTIONS.get(outcome.kind, f"to {outcome.kind}")
    lines = [page.paint(f"It asks {asks}{phrase}.", "quiet")]
    if outcome.remembered is not None:
        lines += remembered_lines(page, outcome.remembered)
    if outcome.forgotten is not None:
        forgotten = outcome.forgotten
        if forgotten.matches or outcome.note is None:
            lines += forgotten_lines(page, forgotten, hard=forgotten.hard)
    if outcome.note and not (outcome.applied and outcome.forgotten and outcome.forgotten.hard):
        lines += page.wrapped(safe_line(outcome.note))
    if outcome.forgotten is not None and outcome.forgotten.fallback:
        lines += page.wrapped(
            safe_line(outcome.forgotten.fallback), first="  The rules named it: ", rest="  "
        )
    if outcome.found is not None:
        lines += found_lines(page, outcome.found, query=outcome.content or "")
    if outcome.reflected is not None:
        lines += reflected_lines(page, outcome.reflected)
    if outcome.changes is not None:
        lines += changes_lines(page, outcome.changes)
    if outcome.why_forgotten is not None:
        lines += why_forgotten_lines(page, outcome.why_forgotten)
    if outcome.way_back is not None:
        lines += way_back_lines(page, outcome.way_back)
    return lines


def changes_lines(page: Page, changes: Changes) -> list[str]:
    """List the newest changes of the days that were asked for."""
    since, until = (at_minute(page, each) if each else "" for each in (changes.since, changes.until))
    span = f" since {since}" if since else ""
    span = f" from {since} to {until}" if until else span
    if not changes.entries:
        return page.wrapped(f"Nothing changed{span}.")
    lines = page.wrapped(
        f"{counted(changes.total, 'entry', 'entries')} of the audit log{span}, the newest first:"
    )
    lines += log_lines(page, AuditLog(changes.entries))
    if changes.total > len(changes.entries):
        lines += page.wrapped("Older ones: workbench audit log")
    return lines


def why_forgotten_lines(page: Page, why: WhyForgotten) -> list[str]:
    """Tell of each memory that is missed why it is, since when, and the command that brings it back."""
    lines: list[str] = []
    for memory in why.memories:
        lines += [page.paint(safe_line(memory.id), "strong") + f"  {memory.status}"]
        lines += page.wrapped(safe_line(memory.snippet), "quiet", first="  ")
        lines += page.wrapped(safe_line(memory.reason), first="  ")
        if memory.when is not None:
            by = f"{at_minute(page, memory.when)} by {memory.actor}, commit {(memory.commit or '–')[:7]}"
            lines += page.wrapped(safe_line(f"{memory.action} on {by}"), first="  ")
        lines.append(f"  {safe_line(memory.remedy)}")
    if why.entries:
        lines += [*page.wrapped("Deleted; history still has it:"), *log_lines(page, AuditLog(why.entries))]
    return lines or page.wrapped("Neither memory nor the audit log knows anything of that.")


def way_back_lines(page: Page, way: WayBack) -> list[str]:
    """List what going back would undo, and the command; nothing is done."""
    lines: list[str] = []
    if way.moment is not None and way.entries:
        count = counted(way.actions, "change")
        lines += page.wrapped(
            f"Going back to {at_minute(page, way.moment)} would undo {count}, the newest first:"
        )
        lines += log_lines(page, AuditLog(way.entries))
    lines += page.wrapped(safe_line(way.reason))
    return [*lines, f"  {way.command}"] if way.command else lines


def scoped_brief_lines(page: Page, brief: ScopedBrief) -> list[str]:
    """List the newest memories of a scope."""
    lines = [page.paint(f"For {safe_line(brief.scope)}: {brief.total:,} memories", "strong")]
    for memory in brief.memories:
        head = f"{memory.date or '—'}  "
        lines += page.wrapped(safe_line(memory.text), first=head, rest=" " * len(head))
    return lines


def scoped_remembered_lines(page: Page, remembered: Remembered, scope: str) -> list[str]:
    """Report the id of a stored memory, and its scope."""
    if remembered.held_back is not None:
        return held_back_lines(page, remembered.held_back, dry_run=remembered.dry_run)
    verb = "Would remember" if remembered.dry_run else "Remembered"
    lines = [page.done(f"{verb} for {scope}: {safe_line(remembered.id)}")]
    return lines + page.wrapped(safe_line(remembered.summary), first="  ")


def scoped_proposed_lines(page: Page, proposed: Proposed, scope: str) -> list[str]:
    """Report a pending proposal."""
    if proposed.held_back is not None:
        return held_back_lines(page, proposed.held_back, dry_run=False)
    return [page.done(f"Proposed for {scope}; it waits for a verdict.")]


def scoped_message_lines(page: Page, outcome: MessageOutcome, scope: str) -> list[str]:
    """Report what a message asked for, and the outcome."""
    if outcome.remembered is not None:
        return scoped_remembered_lines(page, outcome.remembered, scope)
    if outcome.note:
        return page.wrapped(safe_line(outcome.note))
    if outcome.found is not None:
        return found_lines(page, outcome.found)
    if outcome.kind in _QUESTIONS:
        return [f"It asks {_QUESTIONS[outcome.kind]}; that is the owner’s to know."]
    if outcome.kind in ("forget", "reflect"):
        return [f"It asks to {outcome.kind}; that is the owner’s to do."]
    return ["It asks nothing of memory."]
