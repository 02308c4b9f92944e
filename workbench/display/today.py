"""Draws the account of a day: alerts, what waits, what became of memory while one was away, what fades soon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.cells import cell_width
from workbench.display.ink import BLANK, Span, ink
from workbench.display.markdown import bare
from workbench.display.words import counted
from workbench.engine import layout
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from workbench.display.ink import Line
    from workbench.engine.results.account import NotedLine, Notes, Since
    from workbench.engine.results.audit import Alert

_MOST_DIFF = 60
_LONGEST = 200
# Of more nobody reads the titles on a card; where the row leads, all are listed.
_MOST_HELD = 12
_SAYS = {
    "SOUL.md": "the agent's rules",
    "AGENTS.md": "the agent's rules",
    "IDENTITY.md": "who the agent is",
    "USER.md": "what it knows of you",
    layout.SETTINGS: "the settings",
}
_HUNK = lazy_pattern(r"@@ -\S+ \+(\d+)")
# Behind the sign of a difference; a list's own sign would read as something that went.
_LIST = lazy_pattern(r"^([ +-]) *[-*+] +(?=\S)")
_BOLD = lazy_pattern(r"(\*\*|__)(.+?)\1")
# Bytes of notes that are read in some seconds, and in less than a minute.
_SHORT, _LONG = 150_000, 3_000_000


def fitting(width: int, *sayings: str) -> str:
    """Return the first that fits a width; the last where none does."""
    return next((each for each in sayings if cell_width(each) <= width), sayings[-1])


def greeting(since: datetime | None, now: datetime, width: int) -> str:
    """Greet by the hour, and say when one was here last."""
    hello = (
        "Good morning" if 4 <= now.hour < 12 else "Good afternoon" if 12 <= now.hour < 18 else "Good evening"
    )
    if since is None:
        return fitting(width, f"{hello}. This is what waits, and what changed this week.",
                       f"{hello}. What waits, and this week.", "What waits, and this week.")  # fmt: skip
    said = f"ou were last here {_on(since, now)}."
    return fitting(width, f"{hello}. Y{said}", f"Y{said}", f"Last here {_on(since, now)}.")


def unread_heading(notes: Notes, width: int) -> str:
    """Say that nobody has read the notes."""
    count = counted(notes.files, "note")
    here = "is" if notes.files == 1 else "are"
    return fitting(
        width,
        f"{count} {here} here. Nothing has been learned from them yet.",
        f"{count}, nothing learned yet.",
    )


def passages_of(notes: Notes) -> str:
    """Say how many passages there are in how many notes."""
    more = "" if notes.whole else "more than "
    passages = f"{more}{counted(notes.passages, 'passage')}"
    return f"{passages} in {counted(notes.files, 'note')}"


def days_of(notes: Notes) -> str:
    """Return the days that notes are of: “8 May – 22 Oct 2023”; empty where they name none."""
    first, last = notes.first, notes.last
    if first is None or last is None:
        return ""
    end = f"{last.day} {last:%b} {last.year}"
    if first.date() == last.date():
        return end
    return f"{first.day} {first:%b}{f' {first.year}' if first.year != last.year else ''} – {end}"


def names_of(notes: Notes) -> str:
    """Say whom notes name most."""
    return "named most: " + ", ".join(f"{name} {count:,}" for name, count in notes.named)


def reading_time(size: int) -> str:
    """Estimate how long rules take for notes of so many bytes: 2 s for 70 KB, 5 s for 500 KB, 12 s for 1.8 MB.

    Another machine may take three times as long, and the words leave room for that.
    """
    if size < _SHORT:
        return "a few seconds"
    return "less than a minute" if size < _LONG else "a minute or more"


def _on(moment: datetime, now: datetime) -> str:
    local = moment.astimezone(now.tzinfo)
    days = (now.date() - local.date()).days
    if days == 0:
        return f"today at {local:%H:%M}"
    if days == 1:
        return f"yesterday at {local:%H:%M}"
    year = f" {local.year}" if local.year != now.year else ""
    return f"on {local:%A} {local.day} {local:%b}{year} at {local:%H:%M}"


def since_heading(since: datetime, now: datetime) -> str:
    """Return the heading above what became of memory since one was last here."""
    local = since.astimezone(now.tzinfo)
    if local.date() == now.date():
        return f"Since {local:%H:%M}"
    return f"Since {words.day(local.date(), now.date())}"


def by_whom(since: Since) -> str:
    """Say whose how much of what changed is."""
    told: dict[str, int] = {}
    for owner, count in since.by.items():
        name = "you" if owner.startswith("person") else "agent" if owner == "main" else words.who(owner)
        name = "reflection" if owner.startswith("reflection:") else name
        told[name] = told.get(name, 0) + count
    return " · ".join(f"{name} {count}" for name, count in told.items())


def alert_title(alert: Alert) -> str:
    """Say what an alert is about."""
    if alert.file == layout.HISTORY:
        return "The history itself was changed by something else"
    return f"{alert.file} was changed in another program"


def alert_card(alert: Alert, now: datetime) -> Card:
    """Return the card of an alert: the change, and what each key does."""
    shown = _in_words(
        [
            line
            for line in alert.diff.splitlines()
            if line.strip() and not line.startswith(("---", "+++", "@@"))
        ]
    )
    lines: list[Line] = [_diff_line(line) for line in shown[:_MOST_DIFF]]
    if len(shown) > _MOST_DIFF:
        lines.append((ink(f"and {len(shown) - _MOST_DIFF} more lines", "faint"),))
    effect: tuple[Line, ...] = (
        (ink("The agent is warned at every session start until you decide."),),
        (Span("⸨accept⸩", "strong"), ink(" keeps the change")),
    )
    if alert.file == layout.HISTORY:
        effect = (
            *effect,
            (ink("It cannot be taken back here; a backup of .audit from before brings it back."),),
        )
    else:
        effect = (*effect, (Span("⸨bring-back⸩", "strong"), ink(" brings the old text back")))
    # By whom an edit from outside was, nobody knows: that is what is asked.
    by = "" if alert.actor == "manual" else f" · {words.who(alert.actor)}"
    kind = f"{_SAYS.get(alert.file, alert.file)} · {words.moment(alert.timestamp, now)}{by}"
    return Card(
        alert_title(alert),
        alert_title(alert),
        (Span("▲ ", "danger"), ink(kind, "soft")),
        (Section("CHANGE", tuple(lines) or (BLANK,)), Section("EFFECT", effect)),
    )


def changed_lines(alert: Alert) -> tuple[int, int]:
    """Return the first lines that came with what an alert tells of; where lines only went, the one after them."""
    at = went = 0
    came: list[int] = []
    for line in alert.diff.splitlines():
        if hunk := _HUNK.match(line):
            at = int(hunk[1])
        elif at and line.startswith("+"):
            came.append(at)
        if came and not line.startswith("+"):
            break
        went = went or (at if at and line.startswith("-") else 0)
        at += 1 if at and line.startswith(("+", " ")) else 0
    return (came[0], came[-1]) if came else (max(1, went), max(1, went))


def _in_words(lines: list[str]) -> list[str]:
    """Return a difference as it is read, without marks of bold and lists; with them where nothing else differs."""
    plain = [_BOLD.sub(r"\2", _LIST.sub(r"\1", line)) for line in lines]
    gone, come = ({line[1:] for line in plain if line.startswith(sign)} for sign in "-+")
    return lines if gone & come else plain


def _diff_line(line: str) -> Line:
    if line.startswith("+"):
        return (Span("+ ", "added"), ink(line[1:].strip(), "added"))
    if line.startswith("-"):
        return (Span("- ", "removed"), ink(line[1:].strip(), "removed"))
    return (ink(f"  {line.strip()}", "soft"),)


def notice_card(
    title: str,
    lines: Sequence[str],
    now: datetime,
    *,
    holds: Sequence[str],
    opening: Sequence[NotedLine],
) -> Card:
    """Return the card of a row that leads somewhere: what it stands for, what one finds there, how the notes begin.

    Args:
        lines: What one finds there, or what it does.
        holds: Titles of what it stands for.
        opening: The first passages of notes.
    """
    sections = []
    if holds:
        named: list[Line] = [(Span("· ", "faint"), ink(bare(each))) for each in holds[:_MOST_HELD]]
        if len(holds) > _MOST_HELD:
            named.append((Span("· ", "faint"), ink(f"and {len(holds) - _MOST_HELD:,} more", "faint")))
        sections.append(Section("THESE", tuple(named), hangs=1))
    if lines:
        sections.append(Section("EFFECT", tuple((ink(line),) for line in lines)))
    if opening:
        said: list[Line] = []
        first = opening[0].moment
        if first is not None:
            said.append((ink(words.moment(first, now), "soft"),))
        for each in opening:
            speaker: Line = (ink(f"{each.speaker}: ", "soft+strong"),) if each.speaker else ()
            said.append((*speaker, ink(_cut(each.text), "text", None, each.id)))
        sections.append(Section("BEGINS", tuple(said)))
    return Card(title, title, (), tuple(sections))


def _cut(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
