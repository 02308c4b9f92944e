"""What keys act on in History, and what is done to it: actions, alerts, memory as it was, and whether all agrees."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.action_words import brought_back, sentence, taken_back
from workbench.display.actions import asks_first, by_name, obstacle_words
from workbench.display.card import Card, Section
from workbench.display.ink import Span, ink
from workbench.display.memory_changes import effect_words
from workbench.display.words import counted, in_bench, quoted
from workbench.engine.errors import BudgetExceeded, InvalidInput, NotFound, Refused, RoleRefused, Stale
from workbench.engine.values import dataclass
from workbench.tui.keys.table import COMMAND
from workbench.tui.verbs.act import OTHER_VERBS, Act
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.engine.results.account import SinceChange
    from workbench.engine.results.audit import Action, MemoryChange, VerifyProblem
    from workbench.engine.results.memories import Changed
    from workbench.engine.steps import Progress
    from workbench.engine.workspace import Workspace

COMMIT = "commit:"
"""Begins the link to an action."""
HISTORY_OF = "of:"
"""What stands before a memory's id in the spot of History that shows its changes alone."""
MOMENT, AGAINST = "at:", ".."
"""What stands before and after a moment in the spot of History that compares it."""
_REFLECTION = "reflection:"
_STAYS = "History stays as it was; ⸨bring-back⸩ takes an action back."
_CHANGED_SINCE = (Stale, NotFound, InvalidInput, Refused, RoleRefused, BudgetExceeded)
_MOST = 8
# What each kind of problem is, and what mends it.
_SAID = {
    "broken-object": ("Parts of history are missing or broken.",
                      "Memory itself is whole. Restore .audit from a backup."),
    "misleading": ("Git shows a different history.",
                   "Remove what is named here; the history itself is whole."),
    "unfinished": ("A change was cut short.", "The next change finishes it; nothing is lost."),
    "behind": ("Something made from memory is out of date.", "The next change brings it up to date."),
    "rewritten": ("History was rewritten by somebody else.",
                  "The next change raises an alert; ⸨go-alert⸩ goes there, ⸨accept⸩ keeps it."),
    "foreign-commit": ("Another program wrote into history.", "⸨bring-back⸩ on that action takes it back."),
    "missing-trailer": ("A change does not say who made it.", "⸨bring-back⸩ on that action takes it back."),
    "author": ("A change names two authors.", "⸨bring-back⸩ on that action takes it back."),
    "unreadable": ("A file cannot be read.", "Check its permissions in the folder."),
    "log-line": ("The audit log has lines that cannot be read.", "It is a copy: delete it, and it is rebuilt."),
    "log-missing": ("The audit log misses lines.", "It is a copy: delete it, and it is rebuilt."),
    "log-extra": ("The audit log has lines that no change wrote.", "It is a copy: delete it, and it is rebuilt."),
    "log-order": ("Lines of the audit log are out of order.", "It is a copy: delete it, and it is rebuilt."),
    "outside-edit": ("Files were changed in another program.", "The next change takes them in; nothing is lost."),
    "unaccounted": ("A change touched files that it does not list.", "enter on that action shows them."),
}  # fmt: skip


@dataclass(frozen=True)
class Happened:
    """An action."""

    action: Action
    title: str

    @property
    def id(self) -> str:
        """Return `commit:` and the hash of its first commit."""
        return COMMIT + self.action.id


@dataclass(frozen=True)
class Differing(Memory):
    """A memory of a past moment.

    Args:
        commit: The moment that it can be brought back from.
        change: How it reads otherwise at the other moment; None where it is the same.
        by: Who changed it last, where that is known.
    """

    commit: str = ""
    then: str = ""
    change: MemoryChange | None = None
    by: SinceChange | None = None


@dataclass(frozen=True)
class Several:
    """All that differs in a block, in a part of memory, or altogether.

    Args:
        title: What it is called.
    """

    id: str
    title: str
    members: tuple[Differing, ...]


def take_back(happened: tuple[Happened, ...]) -> Act | str:
    """Take an action back, a reflection or an import whole; or bring back what was taken back."""
    if len(happened) > 1:
        return "Actions are taken back one at a time."
    action, said = happened[0].action, happened[0].title
    if action.undone_by is not None:
        call = partial(_again, action.undone_by, said)
        return (
            Act(call) if action.own else Act(call, f"{_not_by_hand(action)}: bring it back?", "bring it back")
        )
    if not action.reversible:
        return "It changed no memory that could be brought back."
    call = partial(_take_back, action, said)
    if not asks_first(action):
        return Act(call)
    if action.own:
        named = words.listed([*action.critical])
        return Act(
            call, f"This changes {named}, which is critical: take back {quoted(said)}?", "take it back"
        )
    size = f", {action.memories:,} memories" if action.memories > 1 else ""
    return Act(call, f"{_not_by_hand(action, size)}: take back {quoted(said)}?", "take it back")


def _not_by_hand(action: Action, size: str = "") -> str:
    """Say whose an action is that one did not do oneself; what a reflection wrote was accepted by somebody."""
    by = by_name(action)
    return f"Written by {by}{size}" if by == "a reflection" else f"Not yours ({by}{size})"


def _take_back(action: Action, said: str, workspace: Workspace) -> str:
    # What an older action did is not what one saw last: say what became of it.
    effect = effect_words(workspace.action(action.id).back) if asks_first(action) else ""
    try:
        if action.actor.startswith(_REFLECTION):
            changed = workspace.rollback(reflection=action.actor.removeprefix(_REFLECTION))
        else:
            changed = workspace.revert(action.id, whole=action.commits > 1)
    except _CHANGED_SINCE as error:
        raise Refused(obstacle_words(in_bench(error.message))) from error
    return _told(changed, *_turned(taken_back(said), effect))


def _again(commit: str, said: str, workspace: Workspace) -> str:
    try:
        changed = workspace.revert(commit)
    except _CHANGED_SINCE as error:
        raise Refused(obstacle_words(in_bench(error.message))) from error
    return _told(changed, *_turned(brought_back(said)))


def _turned(said: str, effect: str = "") -> tuple[str, str]:
    """Return what is said of what was taken or brought back, and of the way back from there."""
    back = "⸨undo⸩ brings it back." if said.startswith("Took") else "⸨undo⸩ takes that back."
    return f"{said.rstrip('.')}.", f"{effect} {back}".strip()


def acknowledge(happened: tuple[Happened, ...]) -> Act | str:
    """Keep the change behind an alert."""
    waiting = [(each.action.files[0], alert) for each in happened for alert in each.action.waiting]
    return keep(waiting) if waiting else COMMAND["accept"].elsewhere


def keep(waiting: Sequence[tuple[str, str]]) -> Act:
    """Keep the changes behind alerts, once that was asked: undo passes it over.

    Args:
        waiting: The file of each, and the id of its alert.
    """
    what, it = (
        (f"the change of {waiting[0][0]}", "it") if len(waiting) == 1 else (f"{len(waiting)} changes", "them")
    )

    def call(workspace: Workspace) -> str:
        workspace.acknowledge(*(alert for _, alert in waiting))
        return f"Kept {what}. ⸨bring-back⸩ on {it} in History brings the old text back."

    return Act(call, f"Keep {what}? ⸨undo⸩ does not bring the alert back.", f"keep {it}")


def refuse_to_decline(happened: tuple[Happened, ...]) -> str:
    """Say which keys decide on an alert."""
    if any(each.action.waiting for each in happened):
        return "⸨bring-back⸩ brings the old text back, ⸨accept⸩ keeps the new one."
    return COMMAND["decline"].elsewhere


def bring_back(differing: tuple[Differing, ...]) -> Act | str:
    """Bring memories back as they were, in one action."""
    wanted = tuple(each for each in differing if each.change is not None)
    if not wanted:
        return f"Already the same {differing[0].then}."
    what = quoted(wanted[0].title) if len(wanted) == 1 else f"{len(wanted)} memories"
    call = partial(_bring_back, tuple(f"{each.id}@{each.commit}" for each in wanted), what, wanted[0].then)
    others = {each.by.owner: each.by for each in wanted if each.by is not None and each.by.owner != "person"}
    if not others:
        return Act(call)
    last = max(others.values(), key=lambda each: each.timestamp)
    by = " and others" if len(others) > 1 else ""
    changed = f"{_owner(last)}{by} changed {'it' if len(wanted) == 1 else 'some of them'} since"
    return Act(call, f"{changed}: bring {what} back {wanted[0].then}?", "bring back")


def _owner(by: SinceChange) -> str:
    said = words.who(by.owner) if by.owner != "main" else "the agent"
    return said[:1].upper() + said[1:]


def bring_all_back(several: tuple[Several, ...]) -> Act | str:
    """Bring back all that differs under a heading; ask first, for that is a good deal."""
    members = tuple(dict.fromkeys(member for each in several for member in each.members))
    if not members:
        return "Nothing differs; there is nothing to bring back."
    then = members[0].then
    what = several[0].title if len(several) == 1 else f"{len(several)} parts"
    count = counted(len(members), "memory", "memories")
    call = partial(
        _bring_back, tuple(f"{each.id}@{each.commit}" for each in members), f"{what}, {count},", then
    )
    others = any(each.by is not None and each.by.owner != "person" for each in members)
    if len(members) == 1 and not others:
        return Act(call)
    return Act(
        call, f"Bring {what} back {then}: {count}{', others’ work too' if others else ''}?", "bring back"
    )


def _bring_back(ids: tuple[str, ...], what: str, then: str, workspace: Workspace) -> str:
    try:
        changed = workspace.rollback(memory=ids)
    except _CHANGED_SINCE as error:
        raise Refused(in_bench(error.message)) from error
    if changed.commit is None:
        return f"Already the same {then}."
    return _told(changed, f"Brought back {what} {then}.", "⸨undo⸩ takes that back.")


def _told(changed: Changed, said: str, undone: str) -> str:
    if changed.commit is None:
        return "Nothing had to change."
    warnings = " ".join(in_bench(each) for each in changed.warnings)
    return " ".join(filter(None, (said, warnings, undone)))


def _past(differing: tuple[Differing, ...]) -> str:
    return f"This is memory {differing[0].then}; ⸨last⸩ returns to now."


def happened(action: Action) -> Happened:
    """Return what keys act on, given an action."""
    return Happened(action, sentence(action))


OTHER_VERBS[Happened] = {
    "bring-back": take_back,
    "accept": acknowledge,
    "decline": refuse_to_decline,
    "pin": lambda _: _STAYS,
    "forget": lambda _: "⸨bring-back⸩ takes an action back.",
    "reinforce": lambda _: COMMAND["reinforce"].elsewhere,
}
OTHER_VERBS[Differing] = {"bring-back": bring_back, "pin": _past, "forget": _past, "reinforce": _past}
OTHER_VERBS[Several] = {"bring-back": bring_all_back}


def read_verified(workspace: Workspace, tell: Callable[[str], None], stopped: Callable[[], bool]) -> Card:
    """Check, and return the card that says what was found; called on a thread.

    Args:
        tell: Told in a word or two how far it is.
        stopped: Asked all the while whether it was called off.
    """

    def progress(told: Progress) -> None:
        steps = f" {told.done:,} of {told.total:,}" if told.total else ""
        tell(f"checking {told.phase}{steps}")

    verified = workspace.audit_verify(progress=progress, cancelled=stopped)
    if verified.ok and not verified.commits:
        return Card("There is no history to check yet.", "There is no history to check yet.")
    checked = f"{counted(verified.commits, 'commit')}, {counted(verified.entries, 'line')} of the log"
    if verified.ok:
        waits = (
            f"{len(verified.waiting)} files wait for a decision on the secrets in them."
            if verified.waiting
            else ""
        )
        return Card("History, log and files agree.", "History, log and files agree.", (ink(checked, "soft"),),
                    (Section.of("WAITS", waits),) if waits else ())  # fmt: skip
    problems = sorted(verified.problems, key=lambda each: each.kind)
    sections = tuple(
        _section(kind, list(alike)) for kind, alike in groupby(problems, key=lambda each: each.kind)
    )
    count = len(problems)
    title = f"{counted(count, 'problem was', 'problems were')} found in the history."
    return Card(title, title, (ink(checked, "soft"),), sections)


def _section(kind: str, problems: list[VerifyProblem]) -> Section:
    what, remedy = _SAID.get(kind, ("Something does not agree.", ""))
    lines = [(Span("", "text"), ink(what, "danger"))]
    for each in problems[:_MOST]:
        said = in_bench(each.detail)
        lines.append((Span("· ", "soft"), ink(f"{each.where}: {said}" if said else each.where, "soft")))
    if len(problems) > _MOST:
        lines.append((Span("· ", "soft"), Span(f"and {len(problems) - _MOST:,} more", "faint")))
    if remedy:
        lines.append((Span("", "text"), ink(remedy)))
    return Section("PROBLEM", tuple(lines), hangs=1)
