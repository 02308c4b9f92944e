"""Draws an action of History as a row, and as a card: what it did, memory by memory, why, and the way back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.action_words import (
    OUTSIDE,
    REFLECTION,
    brief,
    by_whom,
    faded,
    is_outside,
    named,
    plainly,
    sentence,
    who,
    why,
)
from workbench.display.card import Card, Differs, Section
from workbench.display.ink import TEXT_FIRST, Span, gap, ink, line_width, spread
from workbench.display.memory_changes import change_lines, differing
from workbench.engine import layout
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from workbench.display.ink import Line
    from workbench.engine.results.audit import Action, ActionDone

ALERT = "▲"
_MOST_MEMORIES = 40
_HELD = {
    layout.DECAY_SCORES: "scores and pins",
    layout.PENDING_REFLECTION: "what a reflection proposes",
    layout.PENDING_MEMORIES: "what agents propose",
    layout.REFLECTION_LOG: "the list of reflections",
    layout.REJECTED: "what was declined",
    layout.EVOLUTION: "how the agent changed",
}
_REWRITTEN = (
    "What is listed here is what history says now; what was in it before may be missing.",
    "A backup of .audit from before brings it back. ⸨verify-history⸩ checks history, log and files.",
)
_WARNED = "The agent is warned at every session start until you decide."
_AGAIN = lazy_pattern("(?:“(.*?)”|(The file)) was changed again since", re.DOTALL)
_LATER = lazy_pattern(r"(.*) \(by (.*), (\d{4})-(\d\d)-(\d\d) (\d\d:\d\d), [0-9a-f]+\)", re.DOTALL)
_LONGEST = 48
# Lines of what taking an action back would do.
_MOST_EFFECTS = 30


def action_row(action: Action, now: datetime, width: int) -> Line:
    """Draw an action in a list: what was done, how much of memory it touched, and when.

    Most of what is done is noting something: there its own words stand, and at the right who noted them.
    """
    role = "soft" if action.upkeep or action.undone_by else "text"
    alert: Line = ()
    if action.alerts:
        alert = (Span(f"{ALERT} ", "danger.strong" if action.waiting else "faint"),)
    told, by = brief(action)
    said = ink(told, role)
    left, state = (*alert, said), "taken back" if action.undone_by else ""
    touched = f"{action.memories:,} memories" if action.memories > 1 and not state else ""
    beside = [each for each in (touched, by) if each]

    def right() -> str:
        at = f"{action.timestamp.astimezone(now.tzinfo):%H:%M}"
        return "  ".join(filter(None, (state, *beside, at)))

    while beside and width - len(right()) - 2 < min(TEXT_FIRST, line_width(left)):
        beside.pop(0)
    return spread(left, (ink(right(), "soft"),), width)


def changes_of(title: str, actions: Sequence[Action]) -> str:
    """Say how many changes of a memory stand, and how many were taken back."""
    did = [each for each in actions if not each.returns]
    back = sum(bool(each.undone_by) for each in did)
    taken = f", {back:,} taken back" if back else ""
    return f"{words.counted(len(did) - back, 'change')} of “{title}”{taken}"


def action_card(done: ActionDone, now: datetime) -> Card:
    """Return the card of an action: what it did, memory by memory, why, and how it is taken back."""
    action = done.action
    when = words.moment(action.timestamp, now)
    standing = [f"{OUTSIDE.capitalize() if is_outside(action) else who(action)}, {when}"]
    if action.device:
        standing.append(f"on {action.device}")
    if done.undone is not None:
        standing.append(f"taken back {_by(done.undone, now)}")
    sections: list[Section | Differs] = []
    if action.waiting:
        sections.append(Section.of("ALERT", _WARNED, "danger"))
    sections.append(_did(done))
    if reason := why(action):
        sections.append(Section.of("WHY", reason))
    sections.append(_back(done))
    return Card(
        sentence(action),
        sentence(action),
        (ink(" · ".join(standing), "soft"),),
        tuple(sections),
        _details(done),
    )


def _back(done: ActionDone) -> Section:
    """Say how an action is taken back, and where that asks first, what would go and what would come back."""
    said = ink(back(done), "soft")
    effect = (
        [line for change in done.back for line in change_lines(change)] if asks_first(done.action) else []
    )
    if not effect:
        return Section("BACK", ((said,),))
    lines = [(gap(0), said), *effect[:_MOST_EFFECTS]]
    if more := len(effect) - _MOST_EFFECTS:
        lines += [(gap(2), Span(f"and {more:,} more lines", "faint"))] if more > 0 else []
    return Section("BACK", tuple(lines), hangs=1)


def asks_first(action: Action) -> bool:
    """Return whether taking an action back asks: it is somebody else's, or changes a critical file.

    An alert that waits asks already whether the old text shall come back.
    """
    return not action.own or bool(action.critical and not action.waiting)


def _by(action: Action, now: datetime) -> str:
    return f"by {by_name(action)}, {words.moment(action.timestamp, now)}"


def by_name(action: Action) -> str:
    """Return who did it within a sentence; a name keeps its capital."""
    if action.owner.startswith(REFLECTION):
        return "a reflection"
    by = who(action)
    return by[:1].lower() + by[1:] if by.startswith(("You", "The agent")) else by


def unread_card(action: Action, now: datetime) -> Card:
    """Return the card of an action that the audit log tells of, where history itself cannot be read."""
    standing = f"{who(action)}, {words.moment(action.timestamp, now)}"
    files = tuple((ink(path, "soft"),) for path in action.files[:_MOST_MEMORIES])
    said = Section.of(
        "IT DID", "What it changed cannot be read any more: history is damaged there.", "danger"
    )
    back = Section.of(
        "BACK", "A backup of .audit brings it back; ⸨verify-history⸩ says what is broken.", "soft"
    )
    title = sentence(action)
    return Card(title, title, (ink(standing, "soft"),), (said, Section("FILES", files), back))


def _did(done: ActionDone) -> Section | Differs:
    """Say what an action did, memory by memory; one memory alone word by word."""
    shown = done.memories[:_MOST_MEMORIES]
    if len(done.memories) == 1 and (shown[0].change == "changed" or shown[0].store == "file"):
        return Differs("IT DID", differing(shown[0], 2))
    lines = [line for change in shown for line in change_lines(change)]
    if more := len(done.memories) - len(shown):
        lines.append(
            (gap(2), Span(f"and {more:,} more memories; ⸨compare⸩ compares before and after", "faint"))
        )
    if not lines:
        lines = _beside_memory(done)
    return Section("IT DID", tuple(lines), hangs=1)


def _beside_memory(done: ActionDone) -> list[Line]:
    """Say what an action did that changed what no memory says."""
    if done.action.kind == "PROPOSE":
        return [(gap(0), Span("Nothing yet: what was proposed is decided in the Inbox, 2.", "soft"))]
    if done.action.kind == "ALERT":
        return [(gap(0), Span(each, "soft")) for each in _REWRITTEN]
    lines: list[Line] = []
    for word, ids in faded(done.action.summary):
        lines.append((gap(0), ink(f"{word}:", "soft")))
        lines += [(Span("  "), ink(named(each), "text+link", None, each)) for each in ids]
    if lines:
        return lines
    held = [(gap(0), ink(f"{_held(each.path)}: {each.change}", "soft")) for each in done.bookkeeping]
    return [(gap(0), Span("No memory reads differently.", "soft")), *held]


def _held(path: str) -> str:
    return _HELD.get(path, path.rpartition("/")[2])


def _details(done: ActionDone) -> tuple[Section, ...]:
    action = done.action
    said = [("ACTOR", action.actor), ("APPROVAL", action.approval), ("TRIGGER", action.trigger),
            ("LOG SAYS", action.summary)]  # fmt: skip
    commits = (
        action.id[:12]
        if action.commits == 1
        else f"{action.id[:12]} … {action.newest[:12]}, {action.commits:,}"
    )
    files = [(ink(path, "soft"),) for path in action.files[:_MOST_MEMORIES]]
    if more := len(action.files) - len(files):
        files.append((Span(f"and {more:,} more", "faint"),))
    return (
        *(Section.of(label, value, "soft") for label, value in said if value.strip(" —")),
        Section.of("COMMIT", commits, "soft"),
        Section("FILES", tuple(files)),
    )


def back(done: ActionDone) -> str:
    """Say how an action is taken back, or why it cannot be."""
    action = done.action
    if done.undone is not None:
        return "⸨bring-back⸩ brings it back."
    if done.obstacle:
        return f"It cannot be taken back as a whole: {obstacle_words(done.obstacle)}"
    if action.waiting:
        kept = "⸨accept⸩ says that you know of it." if action.kind == "ALERT" else ""
        return kept or "⸨accept⸩ keeps the new text; ⸨bring-back⸩ brings the old text back."
    if action.kind == "SYNC":
        return "It only joined what two devices did; ⸨bring-back⸩ takes back what came with it, row by row."
    if not action.reversible:
        return "It changed no memory that could be brought back."
    what = "all of it" if action.commits > 1 or action.memories > 1 or action.accepted > 1 else "it"
    asks = ", asking first" if asks_first(action) else ""
    if action.own and asks:
        asks += f": {words.listed([*action.critical])} is critical"
    elif asks and not action.upkeep:
        asks += f": {by_name(action)} did it"
    return f"⸨bring-back⸩ takes {what} back{asks}."


def obstacle_words(text: str) -> str:
    """Say in words what the engine refuses for."""
    head, _, rest = text.partition(" A later action rests on it: ")
    told = _AGAIN.match(head)
    said = f"{quoted(told[1]) if told[1] else told[2]} was changed again since." if told else head
    later = _LATER.match(rest)
    if later is None:
        return said
    on = f"{int(later[5])} {words.MONTHS[int(later[4]) % 13]} {later[3]}, {later[6]}"
    return f"{said} What came later: {plainly(later[1])} ({by_whom(later[2])}, {on})."


def quoted(text: str) -> str:
    """Return some words in quotes, cut where they are long."""
    short = " ".join(text.split())
    return f"“{short if len(short) <= _LONGEST else short[: _LONGEST - 1] + '…'}”"
