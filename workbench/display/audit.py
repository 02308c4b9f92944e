"""Text of the audit trail: entries, commits, diffs, authors, alerts, and past states of memory."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from workbench.display import memory_changes, words
from workbench.display.action_words import sentence
from workbench.display.card import Section, section_lines
from workbench.display.changes import at_minute, on_day
from workbench.display.text import Page, clip, pad, safe, safe_line, wrap
from workbench.display.words import counted
from workbench.engine import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.results.account import Since
    from workbench.engine.results.audit import (
        Actions,
        Alert,
        Alerts,
        AuditEntry,
        AuditLog,
        Blame,
        CommitView,
        Comparison,
        Copied,
        DiffView,
        Moment,
        PastScores,
        Verified,
    )
    from workbench.engine.results.memories import CoreView


ACTION, ACTOR = 8, 24
MARGIN = " " * (ACTION + 4)
# Maximum acts per action of several commits, and files per act, in the log.
ACTS_SHOWN = 3
# Maximum files of an action of one commit, in the log.
FILES_OF_ACTION = 5
DIFF_STYLES = {"+": "good", "-": "bad", "@": "place"}
# Changes to memories stand out from mere writes.
ACTION_STYLES = {"ALERT": "accent", "DELETE": "bad", "PURGE": "bad", "REVERT": "place", "ACK": "good"}
FILES_SHOWN = 30
_KINDS = (
    ("core", "core memory"),
    ("episodic", "days of episodes"),
    ("semantic", "files of the graph"),
    ("procedural", "procedures"),
    ("vault", "vault notes"),
    ("file", "other files"),
)


def log_lines(page: Page, log: AuditLog, *, most: int | None = None) -> list[str]:
    """List actions: time, commit, actor, approval, and the files affected.

    Args:
        most: Maximum actions; all by default.
    """
    if not log.entries:
        return ["No entries."]
    # Entries of one action are mostly adjacent; upkeep may come between.
    by_action: dict[object, list[AuditEntry]] = {}
    for entry in log.entries:
        by_action.setdefault(entry.group or (entry.commit, entry.timestamp, entry.actor), []).append(entry)
    lines = [line for entries in list(by_action.values())[:most] for line in _action_lines(page, entries)]
    if most is not None and len(by_action) > most:
        lines.append(page.paint(f"Older ones: --limit {most * 5}, or --until.", "quiet"))
    return lines


def _action_lines(page: Page, entries: Sequence[AuditEntry]) -> list[str]:
    """Describe one action; for several commits, its first act and the number of others."""
    first = entries[0]
    commits = first.action_commits
    lines = [_head_line(page, first, f"  {commits:,} commits" if commits > 1 else "")]
    name = (first.group or first.commit or "")[:7]
    if commits == 1:
        by_actor: dict[str, list[AuditEntry]] = {}
        for entry in entries[:FILES_OF_ACTION]:
            by_actor.setdefault(entry.actor, []).append(entry)
        for actor, own in by_actor.items():
            if actor != first.actor:
                lines.append(clip(f"{MARGIN}by {safe_line(actor)}", page.width))
            lines += _acts_lines(page, own)
        if further := len({entry.file for entry in entries[FILES_OF_ACTION:]}):
            where = f": workbench audit show {name}" if name else ""
            lines.append(page.paint(f"{MARGIN}… and {counted(further, 'more file')}{where}", "quiet"))
        return lines
    acts = [list(alike) for _, alike in groupby(reversed(entries), key=_act)]
    lines += _acts_lines(page, [entry for act in acts[:ACTS_SHOWN] for entry in act[:ACTS_SHOWN]])
    return [*lines, page.paint(f"{MARGIN}All of it: workbench audit show {name}", "quiet")]


def _head_line(page: Page, entry: AuditEntry, more: str = "") -> str:
    agreed = "" if entry.approval in {"auto", "—"} else f"  ({safe_line(entry.approval)})"
    return (
        f"{page.paint(at_minute(page, entry.timestamp), 'strong')}  {(entry.commit or '–')[:7]:7}  "
        f"{clip(safe_line(entry.actor), ACTOR)}{agreed}{more}"
    )


def _act(entry: AuditEntry) -> tuple[str, str]:
    return entry.action, entry.summary


def _acts_lines(page: Page, entries: Iterable[AuditEntry]) -> list[str]:
    lines: list[str] = []
    for (action, summary), alike in groupby(entries, key=_act):
        lines += _act_lines(page, action, summary, [entry.file for entry in alike])
    return lines


def _act_lines(page: Page, action: str, summary: str, files: list[str]) -> list[str]:
    """Describe one act: its summary once, and the action beside each file."""
    lines = []
    for number, file in enumerate(files):
        word = "" if number else pad(safe_line(action), ACTION)
        head = f"  {page.paint(word, ACTION_STYLES.get(action, ''))}  " if word else MARGIN
        lines += [f"{head}{page.paint(safe_line(file), 'place')}"]
    said = page.wrapped(safe_line(summary), first=MARGIN)
    return lines + [page.paint(line, "quiet") for line in said if line.strip()]


def actions_lines(page: Page, found: Actions) -> list[str]:
    """List actions: when, in which commit, and what was done, in plain words."""
    if not found.actions:
        return ["Nothing was done."]
    lines: list[str] = []
    if found.damaged:
        told = f"{found.damaged} Older changes come from the audit log."
        lines += [page.paint(line, "bad") for line in page.wrapped(safe_line(told))]
    for action in found.actions:
        mark, taken = ("⚠ " if action.waiting else ""), ("  taken back" if action.undone_by else "")
        when = f"{page.paint(at_minute(page, action.timestamp), 'strong')}  {action.id[:7]}"
        said = clip(safe_line(sentence(action)), max(20, page.width - 27 - len(mark) - len(taken)))
        lines.append(f"{when}  {page.paint(mark, 'accent') if mark else ''}{said}"
                     f"{page.paint(taken, 'quiet') if taken else ''}")  # fmt: skip
    if found.more:
        lines += ["", page.paint("Older ones: --offset, or --until.", "quiet")]
    return lines


def commit_lines(page: Page, commit: CommitView) -> list[str]:
    """Show a commit: subject, actor, approval, trigger, and its audit entries."""
    facts = [
        ("commit", commit.commit),
        ("when", at_minute(page, commit.timestamp)),
        ("actor", safe_line(commit.actor)),
        ("approval", safe_line(commit.approval)),
        ("trigger", safe_line(commit.trigger)),
    ]
    told = {"Actor", "Approval", "Trigger", "Audit"}
    facts += [(safe_line(name), safe_line(value)) for name, value in commit.trailers if name not in told]
    if commit.undone_by:
        facts.append(("undone by", commit.undone_by[:7]))
    lines = page.wrapped(safe_line(commit.subject), "strong")
    lines += page.table([(f"  {page.paint(name, 'quiet')}", value) for name, value in facts])
    if commit.entries:
        lines += ["", _head_line(page, commit.entries[0]), *_acts_lines(page, commit.entries)]
    elif commit.files:
        lines += ["", *(f"  {page.paint(safe_line(path), 'place')}" for path in commit.files)]
    if len(commit.action) > 1:
        lines += ["", page.paint(f"One action in {len(commit.action):,} commits, newest first", "strong")]
        for each in commit.action:
            mark = "▸" if each.commit == commit.commit else " "
            subject = safe_line(each.subject)
            lines.append(
                clip(f"{mark} {each.commit[:7]}  {at_minute(page, each.timestamp)}  {subject}", page.width)
            )
    if commit.files:
        short = commit.commit[:7]
        lines += ["", page.paint(f"What changed: workbench audit diff {short}", "quiet")]
        if not commit.undone_by:
            if len(commit.action) > 1 and commit.actor.startswith("reflection:"):
                whole = f"workbench rollback --reflection {safe_line(commit.actor.partition(':')[2])}"
                lines.append(page.paint(f"Take the whole reflection back: {whole}", "quiet"))
            lines.append(page.paint(f"Take it back: workbench revert {short}", "quiet"))
    return lines


def diff_lines(page: Page, diff: DiffView) -> list[str]:
    """Show each file's changes as a coloured unified diff."""
    if not diff.files:
        return ["No file differs."]
    lines: list[str] = []
    for file in diff.files:
        what = "created" if file.before is None else "deleted" if file.after is None else "changed"
        lines += [*([""] if lines else []), page.heading(safe_line(file.path), what)]
        lines += unified_lines(page, file.unified)
    return lines


def unified_lines(page: Page, unified: str) -> list[str]:
    """Colour a unified diff, without the header that repeats the file name."""
    lines: list[str] = []
    for line in safe(unified).removesuffix("\n").split("\n"):
        if line.startswith(("--- ", "+++ ")) and not any(text.startswith("@") for text in lines):
            continue
        lines.append(line)
    return [page.paint(line, DIFF_STYLES.get(line[:1], "")) for line in lines]


def blame_lines(page: Page, blame: Blame) -> list[str]:
    """Show a file's lines under the commit, day and author they come from, wrapped to the page."""
    lines: list[str] = []
    digits = max((len(str(line.line)) for line in blame.lines), default=0)
    for _, of_commit in groupby(blame.lines, key=lambda line: (line.commit, line.timestamp, line.actor)):
        alike = list(of_commit)
        first = alike[0]
        author = clip(safe_line(first.actor), ACTOR)
        lines.append(f"{first.commit[:7]}  {page.paint(on_day(page, first.timestamp), 'strong')}  {author}")
        for line in alike:
            number = pad(str(line.line), digits + 2, right=True)
            text = safe(line.text).replace("\n", " ")
            told, *rest = wrap(text, page.width - digits - 4)
            lines.append(f"{page.paint(number, 'quiet')}  {told}".rstrip())
            lines += [" " * (digits + 4) + part for part in rest]
    return lines or ["The file is empty."]


def verified_lines(page: Page, verified: Verified) -> list[str]:
    """Report whether the trail is intact, and where it is not."""
    seen = f"{counted(verified.commits, 'commit')}, {counted(verified.entries, 'entry', 'entries')}"
    count = len(verified.waiting)
    files = counted(count, "file waits", "files wait")
    waiting = f"{files} for a decision about secrets: {', '.join(verified.waiting)}"
    waiting_lines = page.wrapped(safe_line(f"{waiting}. Decide with: workbench secrets")) if count else []
    if verified.ok and not verified.problems and not verified.commits:
        told = "There is no history to compare with yet. Begin one with: workbench init"
        return [*page.wrapped(told), *waiting_lines]
    if verified.ok and not verified.problems:
        return [page.done(f"Log, history and files agree ({seen})."), *waiting_lines]
    mark = page.paint("!", "accent") if verified.ok else page.paint("✗", "bad")
    agree = "agree, with remarks" if verified.ok else "disagree"
    if {problem.kind for problem in verified.problems} == {"rewritten"}:
        agree = "agree, but this is not the history that was last seen"
    if verified.commits or {problem.kind for problem in verified.problems} != {"rewritten"}:
        lines = [f"{mark} Log, history and files {agree} ({seen})."]
    else:
        lines = [f"{mark} There was a history here, and it is gone."]
    for problem in verified.problems:
        lines.append(f"  {page.paint(safe_line(problem.kind), 'accent')}  {safe_line(problem.where)}")
        lines += page.wrapped(safe_line(problem.detail), first="    ")
    return [*lines, *waiting_lines]


def alert_lines(page: Page, alerts: Alerts) -> list[str]:
    """List alerts, unacknowledged ones first and with their changes."""
    open_ones = [alert for alert in alerts.alerts if not alert.acknowledged]
    seen = [alert for alert in alerts.alerts if alert.acknowledged]
    lines = [] if open_ones else [page.done("No open alerts.")]
    for alert in open_ones:
        lines += [*([""] if lines else []), *open_alert_lines(page, alert)]
    if seen:
        lines += ["", page.paint("Acknowledged", "strong")]
        lines += [
            page.paint(
                safe_line(
                    f"{alert.id[:12]} · {on_day(page, alert.timestamp)} · {alert.file} · {alert.actor}"
                ),
                "quiet",
            )
            for alert in seen
        ]
    return lines


def open_alert_lines(page: Page, alert: Alert) -> list[str]:
    """Show an open alert: event, actor, diff, and how to acknowledge it."""
    mark = page.paint("⚠", "accent")
    who = f"{at_minute(page, alert.timestamp)}  {safe_line(alert.actor)}"
    lines = [f"{mark} {page.paint(safe_line(alert.file), 'strong')}  {who}"]
    lines += page.wrapped(safe_line(alert.summary), first="  ")
    lines += [f"  {line}" for line in unified_lines(page, alert.diff) if alert.diff]
    if alert.file == layout.HISTORY:
        lines.append(page.paint("  Examine it: workbench audit verify", "quiet"))
    return [*lines, page.paint(f"  Keep it: workbench audit ack {safe_line(alert.id)}", "quiet")]


def moment_lines(page: Page, moment: Moment, core: CoreView | None) -> list[str]:
    """Describe a commit and memory at that time: core memory and the files of each store."""
    if moment.commit is None:
        return [f"History begins later than {at_minute(page, moment.time)}."]
    stood = moment.timestamp or moment.time
    lines = [page.heading(f"Memory at {at_minute(page, moment.time)}", f"commit {moment.commit[:7]}")]
    said = f"{at_minute(page, stood)}  {safe_line(moment.actor)}: {safe_line(moment.summary)}"
    lines += page.wrapped(said)
    if core is not None:
        count = sum(len(block.items) for block in core.blocks)
        lines.append(f"core memory: {counted(count, 'item')}, {core.tokens:,} of {core.cap:,} tokens")
    stores = Counter(layout.store_of(file.path) for file in moment.files)
    sizes = Counter[str]()
    for file in moment.files:
        sizes[layout.store_of(file.path)] += file.size
    head = tuple(page.paint(word, "quiet") for word in ("files", "bytes", ""))
    rows = [(f"{stores[store]:,}", f"{sizes[store]:,}", told) for store, told in _KINDS if stores[store]]
    lines += ["", *page.table([head, *rows], right=frozenset({0, 1}))]
    if len(moment.files) <= FILES_SHOWN:
        lines += ["", *(page.paint(f"  {safe_line(file.path)}", "place") for file in moment.files)]
    short = moment.commit[:7]
    told = f"One file as it was: --path PATH. What is different now: workbench audit at {short} --against now"
    return [*lines, "", *page.wrapped(told, "quiet")]


def scores_lines(page: Page, scores: PastScores) -> list[str]:
    """List memories with their past scores, highest first."""
    if not scores.scores:
        return ["None of these had a score then."]
    lines = [page.heading(f"Scores at {at_minute(page, scores.timestamp)}", f"commit {scores.commit[:7]}")]
    ordered = sorted(scores.scores, key=lambda one: (-one.score.value, one.id))
    rows = [
        (
            f"{one.score.value:.2f}",
            page.paint(one.score.status, one.score.status),
            page.paint(clip(safe_line(one.id), page.width - 18), one.store),
        )
        for one in ordered
    ]
    return [*lines, *page.table(rows)]


def copied_lines(page: Page, copied: Copied) -> list[str]:
    """Report what was written out, and where."""
    size = f"{counted(copied.files, 'file')}, {copied.bytes:,} bytes"
    return page.wrapped(f"{size}, as of {copied.commit[:7]}: {safe_line(copied.folder)}")


def comparison_lines(page: Page, compared: Comparison) -> list[str]:
    """Describe the differences memory by memory, as the bench does."""
    start = compared.from_[:7] if compared.from_ else "nothing"
    end = compared.to[:7] if compared.to else "now"
    if not compared.memories and not compared.files:
        return [f"Nothing differs between {start} and {end}."]
    told = (
        memory_changes.counted(compared.memories) if compared.memories else f"{len(compared.files):,} files"
    )
    lines = [page.heading(f"From {start} to {end}", told)]
    for store, changes in groupby(compared.memories, key=lambda change: change.store):
        lines += ["", page.paint(memory_changes.SECTIONS.get(store, store), "strong")]
        for change in changes:
            differs = Section("", tuple(memory_changes.change_lines(change)), hangs=1)
            lines += page.printed(section_lines(differs, page.width), ids=True)
    return lines


def since_lines(page: Page, since: Since, most: int) -> list[str]:
    """List what was learned, changed, forgotten and faded since a moment.

    Args:
        most: Rows shown of each.
    """
    by = ", ".join(f"{words.who(safe_line(owner))} {count:,}" for owner, count in since.by.items())
    groups = (
        ("Learned", "+", "good", since.learned),
        ("Changed", "~", "accent", since.changed),
        ("Forgotten", "−", "bad", since.forgotten),
    )
    lines = [page.heading(f"Since {at_minute(page, since.since)}", by)]
    for name, sign, style, changes in groups:
        lines += ["", page.paint(f"{name} {len(changes):,}", "strong")] if changes else []
        for change in changes[:most]:
            done = "" if change.change in ("added", "changed", "removed") else f", {change.change}"
            beside = f"  {words.who(safe_line(change.owner))}{done}, {on_day(page, change.timestamp)}"
            title = clip(safe_line(change.title or change.id), max(8, page.width - 2 - len(beside)))
            lines.append(f"{page.paint(sign, style)} {title}{page.paint(beside, 'quiet')}")
        lines += _more(page, len(changes) - most)
    if since.faded:
        lines += ["", page.paint(f"Faded out of recall {len(since.faded):,}", "strong")]
        for fall in since.faded[:most]:
            beside = f"  {fall.after}, {fall.on}"
            title = clip(safe_line(fall.title or fall.id), max(8, page.width - 2 - len(beside)))
            lines.append(f"{page.paint('↓', 'quiet')} {title}{page.paint(beside, 'quiet')}")
        lines += _more(page, len(since.faded) - most)
    return lines if len(lines) > 1 else [f"Nothing has changed since {at_minute(page, since.since)}."]


def _more(page: Page, more: int) -> list[str]:
    return [page.paint(f"  … and {more:,} more: --limit", "quiet")] if more > 0 else []
