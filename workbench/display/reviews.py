"""Text of reviews: reflections, their items, what applying writes, and proposals of agents."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from workbench.display.audit import unified_lines
from workbench.display.card import card_lines, told_card
from workbench.display.cells import cell_width, plain
from workbench.display.changes import account_lines, at_minute, held_back_lines
from workbench.display.deciding import BOXES, Cited, item_card, item_tick, past_row, waiting_lines
from workbench.display.ink import column
from workbench.display.text import Page, clip, safe, safe_line
from workbench.display.words import counted
from workbench.engine import layout

if TYPE_CHECKING:
    from workbench.engine.results.inbox import Inbox, PastReflections
    from workbench.engine.results.reviews import (
        Applied,
        FilePreview,
        HandedOut,
        Proposal,
        Proposals,
        Proposed,
        Reflected,
        ReflectionDue,
        Rejections,
        Review,
        ReviewItem,
        ReviewPreview,
        Settled,
    )

_COMMANDS = {
    "merge": "workbench graph unmerge",
    "bring-back": "workbench restore",
    "edit": "workbench review answer",
}
_LONG_DIFF = 40
_MOST_LINES_OF_TEXT = 12


def review_lines(page: Page, review: Review) -> list[str]:
    """List the items by section, with the progress of decisions and facts of the cycle."""
    if not review.items:
        return [
            "Nothing waits for decisions.",
            page.paint("Let a reflection propose something: workbench reflect", "quiet"),
        ]
    waited = f"proposed {_age(review.age_hours)} ago" if review.created else ""
    lines = [page.heading(f"Reflection {safe_line(review.id)}", waited)]
    if review.ageing:
        lines.append(page.paint("It has waited for more than a day; nothing applies itself.", "accent"))
    if review.opening:
        lines += ["", *page.wrapped(safe(review.opening))]
    prose = review.prose or {}
    for section, items in groupby(review.items, key=lambda item: item.section):
        lines += ["", page.paint(clip(safe_line(section), page.width), "strong")]
        if section in prose:
            lines += page.wrapped(safe(prose[section]), "quiet", first="  ")
        for item in items:
            lines += page.printed(waiting_lines(item, page.width))
    lines += ["", *_standing_lines(page, review)]
    for problem in review.problems:
        lines += page.wrapped(safe_line(f"{review.path}:{problem}"), first="! ")
    return lines


def waiting_elsewhere_lines(page: Page, inbox: Inbox) -> list[str]:
    """Tell what else waits in the Inbox, and by which command it is decided; nothing where nothing does."""
    proposed = [f"#{each.number}" for group in inbox.proposals for each in group]
    waiting = [name for name in proposed if name not in inbox.set_aside]
    differing = len(inbox.conflicts) + bool(inbox.unreadable)
    counts = (
        (len(waiting), "proposal of an agent", "proposals of agents", "workbench proposals"),
        (len(inbox.held), "secret held back", "secrets held back", "workbench secrets"),
        (
            differing,
            "change differs between devices",
            "changes differ between devices",
            "workbench review conflicts",
        ),
    )
    told = [f"{counted(count, one, many)}: {command}" for count, one, many, command in counts if count]
    if not told:
        return []
    head = "Also waiting" if inbox.review.items else "No reflection waits, but this does"
    return ["", page.paint(head, "strong"), *(page.paint(f"  {line}", "accent") for line in told)]


def progress_line(review: Review) -> str:
    """Summarise the progress of decisions in one line."""
    counts = [
        (sum(item.decision == decision for item in review.items), decision)
        for decision in ("undecided", "approved", "rejected", "deferred")
    ]
    return " · ".join(f"{count} {decision}" for count, decision in counts if count)


def item_lines(page: Page, item: ReviewItem) -> list[str]:
    """Show one item in full as its card in the bench, with its number and what has been decided."""
    answers = {"older": "this", "newer": "that", "both": "both"}

    def key(command: str) -> str:
        if command in answers:
            return f"workbench review resolve {item.id} {answers[command]}"
        return _COMMANDS.get(command, "")

    card = item_card(item, [Cited(each) for each in item.evidence], None, page.now, key, whole=True)
    shown = card_lines(told_card(card, key), page.width, details=True)
    decided = f"{BOXES[item_tick(item)]} {item.decision}"
    return [page.heading(safe_line(item.id), decided), "", *page.printed(shown, ids=True)]


def _standing_lines(page: Page, review: Review) -> Iterable[str]:
    core = review.core_tokens
    facts = [
        progress_line(review),
        f"core memory {core.before:,} → {core.after:,} of {core.cap:,} tokens",
        f"{review.tokens.used:,} of {review.tokens.cap:,} tokens spent" if review.tokens.used else "",
        f"{review.dropped} dropped, their quotes were not found" if review.dropped else "",
        f"{review.held_back} held back, rejected before" if review.held_back else "",
        f"{review.left} more come with the next" if review.left else "",
    ]
    for fact in facts:
        if fact:
            yield page.paint(clip(fact, page.width), "quiet")
    first = safe_line(review.items[0].id)
    yield page.paint(f"One in full: workbench review show {first}", "quiet")
    yield page.paint(
        "Decide: workbench review approve|reject|defer ID…   then: workbench review apply", "quiet"
    )


def _age(hours: float) -> str:
    if hours < 1:
        return f"{round(hours * 60)} min"
    return f"{round(hours)} h" if hours < 48 else f"{round(hours / 24)} days"


def preview_lines(page: Page, preview: ReviewPreview) -> list[str]:
    """Show what applying would change, file by file, as a diff."""
    counts = [
        (preview.applied, "would be applied"),
        (preview.rejected, "would be remembered as rejected"),
        (preview.deferred, "would come again with the next reflection"),
        (preview.undecided, "would stay undecided"),
    ]
    lines = []
    for ids, what in counts:
        if ids:
            lines += page.wrapped(f"{len(ids)} {what}: {', '.join(map(safe_line, ids))}", rest="  ")
    for item_id, reason in preview.waiting.items():
        lines += page.wrapped(safe_line(f"{item_id} waits: {reason}"), first="! ")
    for file in sorted(preview.files, key=lambda file: file.path in layout.BOOKS):
        lines += ["", *_file_lines(page, file)]
    before, after = preview.core_tokens.before, preview.core_tokens.after
    if before != after:
        lines += ["", f"Core memory: {before:,} → {after:,} of {preview.core_tokens.cap:,} tokens."]
    return lines or ["Nothing is decided, so nothing would change."]


def applied_lines(page: Page, applied: Applied) -> list[str]:
    """Report what was applied, in which commit, and how to undo it."""
    if applied.commit is None:
        lines = ["Nothing was applied: nothing is decided that could be."]
    else:
        lines = [page.done(f"{_applied(applied)}.")]
        names = ", ".join(safe_line(path) for path in applied.files)
        account = page.wrapped(f"commit {applied.commit[:7]} · {names}", first="  ")
        lines += [page.paint(line, "quiet") for line in account]
    for item_id, reason in applied.waiting.items():
        lines += page.wrapped(safe_line(f"{item_id} waits: {reason}"), first="! ")
    left = [
        f"{len(ids)} {word}"
        for ids, word in ((applied.undecided, "undecided"), (applied.deferred, "deferred"))
        if ids
    ]
    if left:
        stay = "item stays" if len(applied.undecided) + len(applied.deferred) == 1 else "items stay"
        lines.append(f"  {' and '.join(left)} {stay} in the proposal.")
    if applied.commit is not None:
        name = safe_line(applied.reflection)
        lines.append(page.paint(f"  Take all of it back: workbench rollback --reflection {name}", "quiet"))
        if applied.applied:
            one = safe_line(applied.applied[0])
            lines.append(page.paint(f"  Take one back: workbench revert {one}", "quiet"))
    return lines


def rejections_lines(page: Page, rejected: Rejections) -> list[str]:
    """List rejections, newest last, each with its day."""
    if not rejected.rejections:
        return ["Nothing was rejected so far."]
    lines = [page.heading("Rejected", counted(len(rejected.rejections), "claim"))]
    for claim in rejected.rejections:
        of = f" for {safe_line(claim.target)}" if claim.target else ""
        day = safe_line(claim.time[:10])
        lines.append(clip(f"{safe_line(claim.id)}  {day}  {safe_line(claim.kind)}{of}", page.width))
        lines += page.wrapped(safe_line(claim.text or claim.before), first="  ")
    for problem in rejected.problems:
        lines += page.wrapped(safe_line(f"{rejected.path}:{problem}"), first="! ")
    hint = "Allow one to be proposed again: workbench review rejected --forget ID"
    return [*lines, "", page.paint(hint, "quiet")]


def past_lines(page: Page, found: PastReflections) -> list[str]:
    """List past reflections, newest first, each with what was decided and whether it was taken back."""
    if not found.reflections:
        return ["No reflection was decided on so far."]
    lines = [page.heading("Past reflections", str(len(found.reflections)))]
    room = max(cell_width(plain(each.id)) for each in found.reflections) + 2
    for each in found.reflections:
        lines += page.printed([(column(each.id, room), *past_row(each, page.now, page.width - room))])
        for text in [item.text for item in each.items if item.decision == "approved"] or [each.summary]:
            lines += page.wrapped(safe_line(text), first="  ") if text else []
    hint = "Take one back whole: workbench rollback --reflection ID"
    return [*lines, "", page.paint(hint, "quiet")]


def _applied(applied: Applied) -> str:
    name = safe_line(applied.reflection)
    if not applied.applied and applied.rejected:
        return f"Remembered {counted(len(applied.rejected), 'item')} of {name} as rejected"
    more = f", remembered {len(applied.rejected)} as rejected" if applied.rejected else ""
    return f"Applied {counted(len(applied.applied), 'item')} of {name}{more}"


def _file_lines(page: Page, file: FilePreview) -> list[str]:
    what = "new" if file.before is None else "deleted" if file.after is None else "changed"
    before, after = ((text or "").split("\n") for text in (file.before, file.after))
    diff = list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]
    # A person need not read these line by line.
    if file.path in layout.BOOKS:
        sides = [sum(line.startswith(sign) for line in diff) for sign in "+-"]
        return [page.heading(safe_line(file.path), f"{what}: +{sides[0]} −{sides[1]} lines")]
    lines = unified_lines(page, "\n".join(diff))
    left = len(lines) - _LONG_DIFF
    more = [page.paint(f"  … and {left} more lines", "quiet")] if left > 0 else []
    return [page.heading(safe_line(file.path), what), *lines[:_LONG_DIFF], *more]


# Maximum number of left-out lines to name.
_MOST_FILES, _MOST_LINES = 5, 8


def handed_out_lines(page: Page, task: HandedOut) -> list[str]:
    """Print a task for the agent's own model: what to do, what to read, and the form of the answer."""
    lines = [
        page.paint(f"Task {task.task}: {task.phase}; at most {task.remaining} more after it.", "strong"),
        "",
    ]
    lines += [safe_line(line) for line in task.instructions.splitlines()]
    for part in task.material:
        lines += ["", f"## {safe_line(part.id)}", *(safe_line(line) for line in part.text.splitlines())]
    return [*lines, "", "## schema", safe_line(json.dumps(task.schema, ensure_ascii=False))]


def reflected_lines(page: Page, reflected: Reflected) -> list[str]:
    """List what was proposed, by section, and where to decide."""
    if not (reflected.id or reflected.waits):
        return [*page.wrapped(safe_line(reflected.reason)), *_left_out_lines(page, reflected)]
    review = reflected.review
    lines = page.wrapped(
        safe_line(reflected.reason if reflected.waits else f"{reflected.id}: {reflected.reason}")
    )
    lines += [f"  {count:>4}  {safe_line(section)}" for section, count in review.sections.items()]
    if reflected.waits:
        return [
            *lines,
            *page.wrapped("Decide first, then the next reflection can run: workbench review, or the bench."),
        ]
    tokens = review.tokens
    told = [f"{tokens.used:,} of {tokens.cap:,} tokens"]
    if review.dropped:
        told.append(f"{review.dropped:,} dropped, since what they quote is not in their sources")
    if review.held_back:
        told.append(f"{review.held_back:,} held back, since you rejected them before")
    if review.left:
        told.append(f"{review.left:,} left for the next reflection")
    lines += page.wrapped("; ".join(told) + ".")
    for phase in review.phases:
        if phase.fallback:
            lines += page.wrapped(safe_line(f"{phase.phase}: rules stood in. {phase.fallback}"), first="! ")
    lines += _left_out_lines(page, reflected)
    return [*lines, *page.wrapped("Nothing is applied until you decide: workbench review, or the bench.")]


def _left_out_lines(page: Page, reflected: Reflected) -> list[str]:
    """Name the lines skipped because of secrets in them."""
    count = sum(len(each.lines) for each in reflected.left_out)
    if not count:
        return []
    places = "; ".join(
        f"{each.path}:{','.join(map(str, each.lines[:_MOST_LINES]))}{',…' * (len(each.lines) > _MOST_LINES)}"
        for each in reflected.left_out[:_MOST_FILES]
    )
    more = len(reflected.left_out) - _MOST_FILES
    besides = f"; and {counted(more, 'more file')}" if more > 0 else ""
    were = counted(count, "line that looks like a secret was", "lines that look like secrets were")
    told = f"{were} left out ({places}{besides}). Decide with: workbench secrets"
    return page.wrapped(safe_line(told), first="! ")


def due_lines(page: Page, due: ReflectionDue) -> list[str]:
    """Report whether a reflection is due, and when the next is planned."""
    lines = page.wrapped(f"{'Due' if due.due else 'Not due'}: {safe_line(due.reason)}")
    lines.append(f"unread   {due.unprocessed:,} entries")
    lines.append(f"last     {at_minute(page, due.last) if due.last else 'never'}")
    if due.next:
        lines.append(f"planned  {at_minute(page, due.next)}")
    return lines


def trace_lines(page: Page, exchanges: Iterable[Mapping[str, object]]) -> list[str]:
    """Print every question to the model and its answer as plain text."""
    lines: list[str] = []
    for number, exchange in enumerate(exchanges, 1):
        tokens = f"{exchange['prompt_tokens'] or '?'} tokens in, {exchange['completion_tokens'] or '?'} out"
        lines += ["", f"── {number}. {exchange['phase']} · {safe_line(str(exchange['model']))} · {tokens}"]
        messages = exchange["messages"]
        for role, content in messages if isinstance(messages, list) else ():
            lines += [f"{role}:", *_indented(str(content))]
        lines += ["answer:", *_indented(str(exchange["answer"]))]
        if exchange["problem"]:
            lines += page.wrapped(safe_line(str(exchange["problem"])), first="! ")
    return lines[1:] or ["Nothing is kept of what a model was asked in it; rules ask no model."]


def _indented(text: str) -> list[str]:
    return [f"  {safe_line(line)}" for line in text.split("\n")]


def proposals_lines(page: Page, found: Proposals) -> list[str]:
    """List pending proposals: number, sender, and conflicts or repetitions."""
    lines: list[str] = []
    for proposal in found.proposals:
        lines += [*_proposal_lines(page, proposal), ""]
    for problem in found.problems:
        lines += page.wrapped(safe_line(problem), first="! ")
    if not found.proposals:
        return ["No proposal waits.", *lines]
    told = ["Store: workbench proposals commit N   Refuse: workbench proposals reject N"]
    if any(other.startswith("#") for proposal in found.proposals for other in proposal.conflicts_with):
        told.append(
            "Store N and refuse M: workbench proposals settle N M   Store both: workbench proposals keep-both N M"
        )
    if any(not other.startswith("#") for proposal in found.proposals for other in proposal.conflicts_with):
        told.append("Store N in place of that memory: workbench proposals commit N --replacing")
    hints = [page.paint(line, "quiet") for text in told for line in page.wrapped(text)]
    return [page.heading("Proposals", counted(len(found.proposals), "proposal")), "", *lines, *hints]


def _proposal_lines(page: Page, proposal: Proposal) -> list[str]:
    who = f"from {safe_line(proposal.from_) or 'nobody'}"
    when = f" · {at_minute(page, proposal.timestamp)}" if proposal.timestamp else ""
    head = f"#{proposal.number}"
    about = [
        safe_line(proposal.store) or "any store",
        f"confidence {safe_line(proposal.confidence) or 'unknown'}",
    ]
    if proposal.core_worthy:
        about.append("core-worthy")
    if proposal.status == "deferred":
        about.append("left to the reflection")
    told = clip(f"{who}{when} · {' · '.join(about)}", page.width - len(head) - 1)
    lines = [f"{page.paint(head, 'strong')} {page.paint(told, 'quiet')}"]
    said = [line for part in safe(proposal.content).split("\n") for line in page.wrapped(part, first="  ")]
    lines += said[:_MOST_LINES_OF_TEXT]
    if len(said) > _MOST_LINES_OF_TEXT:
        lines.append(page.paint(f"  … and {len(said) - _MOST_LINES_OF_TEXT} more lines", "quiet"))
    if proposal.entities:
        told = f"about {', '.join(map(safe_line, proposal.entities))}"
        lines += page.wrapped(told, "quiet", first="  ")
    if proposal.trigger:
        told = f"because: {safe_line(proposal.trigger)}"
        lines += page.wrapped(told, "quiet", first="  ")
    lines += _standing(page, proposal.conflicts_with, proposal.repeats)
    return lines


def _standing(page: Page, conflicts: Iterable[str], repeats: str | None) -> list[str]:
    lines = []
    named = ", ".join(map(safe_line, conflicts))
    if named:
        told = page.wrapped(f"contradicts {named}", first="  ⚠ ", rest="    ")
        lines += [page.paint(line, "accent") for line in told]
    if repeats:
        lines += page.wrapped(f"says the same as {safe_line(repeats)}", first="  = ")
    return lines


def proposed_lines(page: Page, proposed: Proposed) -> list[str]:
    """Report the outcome of one proposal."""
    if proposed.held_back is not None:
        return held_back_lines(page, proposed.held_back, dry_run=False)
    if proposed.commit is None:
        return [f"{page.paint('○', 'quiet')} The same waits already, as proposal #{proposed.number}."]
    mark = page.paint("✓", "good")
    if proposed.status == "committed":
        named = ", ".join(map(safe_line, proposed.committed))
        lines = [f"{mark} Stored at once: {named}"]
    else:
        lines = [f"{mark} Proposed as {page.paint(f'#{proposed.number}', 'strong')}; it waits for a verdict."]
    lines += _standing(page, proposed.conflicts_with, proposed.duplicate_of)
    return [*lines, *account_lines(page, proposed)]


def settled_lines(page: Page, settled: Settled) -> list[str]:
    """Report decisions."""
    lines = []
    for verb, numbers in (
        ("Stored", settled.committed),
        ("Refused", settled.rejected),
        ("Left to the next reflection:", settled.deferred),
    ):
        if numbers:
            named = ", ".join(f"#{number}" for number in numbers)
            lines.append(page.done(f"{verb} {named}."))
    for memory in settled.ids:
        lines += page.wrapped(safe_line(memory), "place", first="  ")
    for memory in settled.retired:
        lines += page.wrapped(f"No longer holds: {safe_line(memory)}", first="  ", rest="    ")
    lines += account_lines(page, settled)
    if settled.commit is not None:
        lines.append(page.paint("  Take it back: workbench undo", "quiet"))
    return lines
