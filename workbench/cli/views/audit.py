"""How the audit trail is drawn: entries, commits, diffs, lines with their authors, alerts."""

from __future__ import annotations

from itertools import groupby

from workbench.cli.printing import Page, clip, pad, safe, safe_line, wrap
from workbench.cli.views.times import at_minute, on_day
from workbench.engine.results import Alert, Alerts, AuditLog, Blame, CommitView, DiffView, Verified

ACTION, ACTOR = 8, 24
DIFF_STYLES = {"+": "good", "-": "bad", "@": "place"}
# What becomes of memories stands out from what is merely written.
ACTION_STYLES = {"ALERT": "accent", "DELETE": "bad", "PURGE": "bad", "REVERT": "place", "ACK": "good"}


def log_lines(page: Page, log: AuditLog) -> list[str]:
    """List entries commit by commit: when, which, who and on whose approval; then what befell which files."""
    if not log.entries:
        return ["No entries."]
    lines: list[str] = []
    for _, of_commit in groupby(log.entries, key=lambda entry: (entry.commit, entry.timestamp, entry.actor)):
        entries = list(of_commit)
        first = entries[0]
        agreed = "" if first.approval in {"auto", "—"} else f"  ({safe_line(first.approval)})"
        lines.append(
            f"{page.paint(at_minute(page, first.timestamp), 'strong')}  {(first.commit or '–')[:7]:7}  "
            f"{clip(safe_line(first.actor), ACTOR)}{agreed}"
        )
        for (action, summary), alike in groupby(entries, key=lambda entry: (entry.action, entry.summary)):
            lines += _act_lines(page, action, summary, [entry.file for entry in alike])
    return lines


def _act_lines(page: Page, action: str, summary: str, files: list[str]) -> list[str]:
    """Tell one act: the action beside each file it concerned, and once what was done."""
    margin = " " * (ACTION + 4)
    lines = []
    for number, file in enumerate(files):
        word = "" if number else pad(safe_line(action), ACTION)
        head = f"  {page.paint(word, ACTION_STYLES.get(action, ''))}  " if word else margin
        lines += [f"{head}{page.paint(safe_line(file), 'place')}"]
    said = wrap(safe_line(summary), page.width, first=margin)
    return lines + [page.paint(line, "quiet") for line in said if line.strip()]


def commit_lines(page: Page, commit: CommitView) -> list[str]:
    """Show a commit: its subject, who, on whose approval, why, and its audit entries."""
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
    lines = [page.paint(line, "strong") for line in wrap(safe_line(commit.subject), page.width)]
    lines += page.table([(f"  {page.paint(name, 'quiet')}", value) for name, value in facts])
    if commit.entries:
        lines.append("")
        lines += log_lines(page, AuditLog(commit.entries))
    elif commit.files:
        lines += ["", *(f"  {page.paint(safe_line(path), 'place')}" for path in commit.files)]
    if commit.files:
        short = commit.commit[:7]
        lines += ["", page.paint(f"What changed: workbench audit diff {short}", "quiet")]
        if not commit.undone_by:
            lines.append(page.paint(f"Take it back: workbench revert {short}", "quiet"))
    return lines


def diff_lines(page: Page, diff: DiffView) -> list[str]:
    """Show the changes of each file as a unified diff in colours."""
    if not diff.files:
        return ["No file differs."]
    lines: list[str] = []
    for file in diff.files:
        what = "created" if file.before is None else "deleted" if file.after is None else "changed"
        lines += [*([""] if lines else []), page.heading(safe_line(file.path), what)]
        lines += unified_lines(page, file.unified)
    return lines


def unified_lines(page: Page, unified: str) -> list[str]:
    """Colour a unified diff, leaving out the header that names the file twice."""
    lines: list[str] = []
    for line in safe(unified).removesuffix("\n").split("\n"):
        if line.startswith(("--- ", "+++ ")) and not any(text.startswith("@") for text in lines):
            continue
        lines.append(line)
    return [page.paint(line, DIFF_STYLES.get(line[:1], "")) for line in lines]


def blame_lines(page: Page, blame: Blame) -> list[str]:
    """Show a file's lines below the commit, day and author they are from, broken where the page ends."""
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
    """Say whether the trail is whole, and where it is not."""
    seen = f"{verified.commits:,} commits, {verified.entries:,} entries"
    count = len(verified.waiting)
    files = "1 file waits" if count == 1 else f"{count:,} files wait"
    waiting = f"{files} for a decision about secrets: {', '.join(verified.waiting)}"
    waiting_lines = wrap(safe_line(f"{waiting}. Decide with: workbench secrets"), page.width) if count else []
    if verified.ok and not verified.problems:
        return [f"{page.paint('✓', 'good')} Log, history and files agree ({seen}).", *waiting_lines]
    mark = page.paint("!", "accent") if verified.ok else page.paint("✗", "bad")
    agree = "agree, with remarks" if verified.ok else "disagree"
    lines = [f"{mark} Log, history and files {agree} ({seen})."]
    for problem in verified.problems:
        lines.append(f"  {page.paint(safe_line(problem.kind), 'accent')}  {safe_line(problem.where)}")
        lines += wrap(safe_line(problem.detail), page.width, first="    ")
    return [*lines, *waiting_lines]


def alert_lines(page: Page, alerts: Alerts) -> list[str]:
    """List alerts, those nobody has acknowledged first and with what changed."""
    open_ones = [alert for alert in alerts.alerts if not alert.acknowledged]
    seen = [alert for alert in alerts.alerts if alert.acknowledged]
    lines = [] if open_ones else [f"{page.paint('✓', 'good')} No open alerts."]
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
    """Show an alert that needs a person: what, who, the diff, and how to acknowledge it."""
    mark = page.paint("⚠", "accent")
    who = f"{at_minute(page, alert.timestamp)}  {safe_line(alert.actor)}"
    lines = [f"{mark} {page.paint(safe_line(alert.file), 'strong')}  {who}"]
    lines += wrap(safe_line(alert.summary), page.width, first="  ")
    lines += [f"  {line}" for line in unified_lines(page, alert.diff) if alert.diff]
    return [*lines, page.paint(f"  It is meant: workbench audit ack {safe_line(alert.id)}", "quiet")]
