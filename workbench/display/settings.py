"""Draws settings and keys: a row with its value and who says so, and the card that explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.card import Card, Section
from workbench.display.cells import plain
from workbench.display.ink import Span, column, gap, ink, line_width, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.display.ink import Line
    from workbench.engine.results.settings import SettingRow

_SAYS_SO = {
    "default": "default",
    "workspace": "this workspace",
    "user": "you",
    "environment": "a variable",
    "program": "other program",
    "init": "as begun",
}
# Cells of the column that names who says so, and the width from which there is one.
_WHO, _WITH_WHO = 14, 44
# A value takes this share of its row at most.
_SHARE = 2


def value_row(title: str, value: str, who: str, width: int, *, is_usual: bool) -> Line:
    """Draw something that has a value.

    Args:
        title: What it is called.
        who: Who says so; left out where there is little room, and where nobody does.
        is_usual: Whether the value is the default, and so said quietly.
    """
    role = "soft" if is_usual else "strong"
    beside: Line = ()
    if width >= _WITH_WHO:
        beside = (gap(2), column("" if is_usual else who, _WHO, "soft", right=True))
    room = max(8, (width - line_width(beside)) // _SHARE)
    return spread((ink(title),), (ink(value, role, room), *beside), width)


def setting_row(row: SettingRow, width: int) -> Line:
    """Draw a setting."""
    return value_row(row.title, row.said, who_says(row), width, is_usual=row.source == "default")


def who_says(row: SettingRow) -> str:
    """Return in a word or two who says so."""
    if row.source == "program":
        return row.origin.partition(" ")[0].rpartition("/")[2] or _SAYS_SO["program"]
    return _SAYS_SO[row.source]


def setting_card(row: SettingRow, user_file: str) -> Card:
    """Return the card of a setting.

    Args:
        user_file: The user's own file, where what only they may set is written.
    """
    usual = "" if row.said == row.usual else f"default: {row.usual}"
    value: list[Line] = [(ink(row.said, "strong"), ink(f"   {usual}" if usual else "", "soft"))]
    if row.waits:
        value.append((ink("It takes effect when the bench is opened again.", "decide"),))
    if row.choices:
        takes: list[Line] = [
            (ink(", ".join("on" if c == "true" else "off" if c == "false" else c for c in row.choices)),)
        ]
    else:
        takes = [(ink(row.takes),)]
    return Card(
        row.title,
        row.title,
        (ink(row.explanation),),
        (
            Section("VALUE", tuple(value)),
            Section("TAKES", tuple(takes)),
            Section("SET IN", tuple(_set_in(row, user_file))),
        ),
        (
            Section.of("NAME", row.key, "soft"),
            Section.of("VARIABLE", "WORKBENCH_" + row.key.replace(".", "_").upper(), "soft"),
            *((Section.of("WRITTEN", f"{row.value}", "soft"),) if row.value is not None else ()),
        ),
    )


def _set_in(row: SettingRow, user_file: str) -> list[Line]:
    goes = (
        f"your own {user_file}"
        if row.personal
        else "workbench.toml of this workspace, which counts more than your own file"
    )
    if row.source in ("workspace", "user"):
        lines: list[Line] = [(ink(f"{row.path}, line {row.line}" if row.line else row.path),)]
    elif row.source == "default":
        lines = [(ink("nowhere yet; this is the default", "soft"),)]
    elif row.source == "init":
        lines = [(ink("the history, when it began"),)]
    else:
        lines = [(ink(row.origin),)]
    if row.source != "user" or not row.personal:
        lines.append((ink(f"A change goes to {goes}.", "soft"),))
    if row.personal:
        lines.append((ink(f"Only you may set it: {row.personal}.", "soft"),))
    return lines


def section_lines(sections: Sequence[str], current: str, link: str, width: int) -> list[Line]:
    """Draw the names of sections one behind the other, the current one bright.

    Args:
        sections: In order.
        current: The one the cursor is in.
        link: What the links of the names begin with.
    """
    lines: list[list[Span]] = [[]]
    for name in sections:
        part = Span(plain(name, width), "strong" if name == current else "soft", link + name)
        if lines[-1] and line_width((*lines[-1], part)) + 3 > width:
            lines.append([])
        elif lines[-1]:
            lines[-1].append(Span(" · ", "faint"))
        lines[-1].append(part)
    return [tuple(line) for line in lines]
