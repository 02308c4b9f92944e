"""What was decided on one item, as a line of a record in `reflection-log.md`: how it is written, and how it is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.memory.wording import clip
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.items import RESOLVE, field_of
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem

_LINE: Final = lazy_pattern(
    r"^[ \t]*[-*+][ \t]+(?:`(?P<id>[^`\n]+)`|(?P<bare>r-\d+\.\d+))[ \t]+"
    r"(?P<decision>approved|rejected|deferred|undecided|waiting)[ \t]*:[ \t]*(?P<rest>.*)$",
    re.MULTILINE,
)
_REST: Final = lazy_pattern(
    rf"(?P<kind>{'|'.join(sorted(Kind, key=len, reverse=True))})\b"
    r"(?:\s+(?:for\s+)?(?:\[\[(?P<link>[^\]\n]+)\]\]|`(?P<code>[^`\n]+)`))?:?\s*(?P<text>.*)$"
)
_TEXT_CHARACTERS: Final = 160


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line.

    Args:
        id: Of the item, `r-012.3`.
        decision: approved, rejected, deferred, undecided or waiting.
        kind: Of the item; None where the line names none.
        target: What it would have changed; empty where the line does not say.
        text: What it proposed.
        line: As it stands in the record.
    """

    id: str
    decision: str
    kind: Kind | None
    target: str
    text: str
    line: str


def verdict_line(item: ReviewItem, decision: str) -> str:
    """Return the line that says what was decided on an item; of a contradiction, which side holds."""
    target = f" `{clip(item.target.replace('`', ''), 200)}`" if item.target.strip() else ""
    said = clip(item.text, _TEXT_CHARACTERS)
    if decision == "approved" and kind_of(item.kind) is Kind.CONTRADICTION:
        said = f"{said} ({clip(field_of(item, RESOLVE), 10)})"
    return f"- `{item.id}` {decision}: {clip(item.kind, 40)}{target}{' ' if said else ''}{said}"


def read_verdicts(body: str) -> tuple[Verdict, ...]:
    """Return the lines of a record that say what was decided."""
    return tuple(map(_verdict, _LINE.finditer(body)))


def without_verdicts(body: str) -> str:
    """Return what else a record says."""
    return _LINE.sub("", body).strip()


def _verdict(match: re.Match[str]) -> Verdict:
    item, decision, rest = match["id"] or match["bare"], match["decision"], match["rest"].strip()
    operation = _REST.match(rest)
    if operation is None:
        return Verdict(item, decision, None, "", rest, match[0])
    target = operation["link"] or operation["code"] or ""
    return Verdict(item, decision, kind_of(operation["kind"]), target, operation["text"], match[0])
