"""Checks that history, log and files agree, and says of each problem what mends it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from workbench.display.card import Card, Section
from workbench.display.ink import Span, ink
from workbench.display.remedies import in_bench
from workbench.display.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.audit import VerifyProblem
    from workbench.engine.steps import Progress
    from workbench.engine.workspace import Workspace

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
                    (Section("WAITS", ((ink(waits),),)),) if waits else ())  # fmt: skip
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
