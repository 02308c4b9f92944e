"""Draws the account of a day: alerts, what waits, what became of memory while one was away, what fades soon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.ink import BLANK, Span, ink

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from workbench.display.ink import Line
    from workbench.engine.results.account import Since
    from workbench.engine.results.audit import Alert

_MOST_DIFF = 60


def last_here(since: datetime | None, now: datetime) -> str:
    """Say when one was here last."""
    if since is None:
        return "Welcome. This is what waits, and what became of memory this week."
    return f"You were last here {_on(since, now)}."


def _on(moment: datetime, now: datetime) -> str:
    local = moment.astimezone(now.tzinfo)
    days = (now.date() - local.date()).days
    if days == 0:
        return f"today at {local:%H:%M}"
    if days == 1:
        return f"yesterday at {local:%H:%M}"
    year = f" {local.year}" if local.year != now.year else ""
    return f"on {local:%A} {local.day} {local:%b}{year} at {local:%H:%M}"


def since_heading(since: datetime | None, now: datetime) -> str:
    """Return the heading above what became of memory."""
    if since is None:
        return "This week"
    days = (now.date() - since.astimezone(now.tzinfo).date()).days
    if days == 0:
        return "Since you were here"
    return f"Since {words.day(since.astimezone(now.tzinfo).date(), now.date())}"


def by_whom(since: Since) -> str:
    """Say whose how much of what changed is."""
    told: dict[str, int] = {}
    for owner, count in since.by.items():
        name = "you" if owner.startswith("person") else "agent" if owner == "main" else words.who(owner)
        told[name] = told.get(name, 0) + count
    return " · ".join(f"{name} {count}" for name, count in told.items())


def alert_title(alert: Alert) -> str:
    """Say what an alert is about."""
    rules = {"SOUL.md": "The agent's rules were", "AGENTS.md": "The agent's rules were",
             "IDENTITY.md": "Who the agent is was", "USER.md": "What it knows of you was",
             "workbench.toml": "The settings were"}  # fmt: skip
    return f"{rules.get(alert.file, f'{alert.file} was')} changed in another program"


def alert_card(alert: Alert, now: datetime, keep: str, back: str) -> Card:
    """Return the card of an alert: the change, and what each key does.

    Args:
        keep: The key that keeps the change.
        back: The key that brings the old text back.
    """
    shown = [line for line in alert.diff.splitlines() if not line.startswith(("---", "+++", "@@"))]
    lines: list[Line] = [_diff_line(line) for line in shown[:_MOST_DIFF]]
    if len(shown) > _MOST_DIFF:
        lines.append((ink(f"and {len(shown) - _MOST_DIFF} more lines", "faint"),))
    effect: tuple[Line, ...] = (
        (ink("The agent is warned at every session start until you decide."),),
        (Span(f"{keep} ", "strong"), ink("keeps the change")),
        (Span(f"{back} ", "strong"), ink("brings the old text back")),
    )
    kind = f"{alert.file} · {words.moment(alert.timestamp, now)} · {words.who(alert.actor)}"
    return Card(
        alert_title(alert),
        alert_title(alert),
        (Span("▲ ", "danger"), ink(kind, "soft")),
        (Section("CHANGE", tuple(lines) or (BLANK,)), Section("EFFECT", effect)),
    )


def _diff_line(line: str) -> Line:
    if line.startswith("+"):
        return (Span("+ ", "added"), ink(line[1:].strip(), "added"))
    if line.startswith("-"):
        return (Span("- ", "removed"), ink(line[1:].strip(), "removed"))
    return (ink(f"  {line.strip()}", "soft"),)


def notice_card(title: str, lines: Sequence[str]) -> Card:
    """Return the card of a row that leads somewhere: what one finds there."""
    return Card(title, title, (), (Section("THERE", tuple((ink(line),) for line in lines)),) if lines else ())
