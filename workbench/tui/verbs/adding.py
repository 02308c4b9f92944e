"""A new memory: its text, and where it goes, said before it is saved and changed where one knows better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.ink import Span, ink, wrap_line
from workbench.display.rows import problem_lines
from workbench.display.words import quoted, told_in_bench
from workbench.engine.errors import WorkbenchError
from workbench.engine.requests import RememberRequest
from workbench.engine.values import dataclass
from workbench.tui.verbs.act import Act
from workbench.tui.verbs.rewording import TEXT, Field, Outlook, Writing, core_outlook, done

if TYPE_CHECKING:
    from datetime import date

    from workbench.display.ink import Line
    from workbench.engine.results.memories import CoreView, Remembered
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.rewording import Written

KEY = "new"
THING = "a new memory"
_WHERE, _TAGS = "where", "tags"
_LABEL = 10
BLOCKS = ("Identity", "Active Context", "Persona", "Critical Facts")


@dataclass(frozen=True)
class Destination:
    """Where a new memory goes.

    Args:
        label: What it is called.
        store: Its store; empty where the text decides.
        day: The day under which an episode is logged; empty for today.
    """

    label: str
    store: str = ""
    block: str = ""
    day: str = ""


BY_TEXT = Destination("where it belongs")


def to_block(name: str) -> Destination:
    """Return a block of core memory as a destination."""
    return Destination(f"Core, {name}", "core", block=name)


def to_day(on: date, today: date) -> Destination:
    """Return a day of the timeline as a destination."""
    if on >= today:
        return Destination("Timeline, today", "episodic")
    return Destination(f"Timeline, {words.day(on, today)}", "episodic", day=on.isoformat())


def new_writing(workspace: Workspace, at: Destination | None) -> Writing:
    """Return the form of a new memory; called on a thread.

    Args:
        at: Where it goes to begin with; None for where the text belongs.
    """
    core, today = workspace.core(), workspace.now().date()
    blocks = [block.name for block in core.blocks if block.name] or list(BLOCKS)
    offered: dict[str, Destination] = {
        each.label: each
        for each in (
            *((at,) if at is not None else ()),
            BY_TEXT,
            to_day(today, today),
            *(
                to_block(name)
                for name in dict.fromkeys((*blocks, *(BLOCKS if len(blocks) < len(BLOCKS) else ())))
            ),
            Destination("Graph, a fact", "semantic"),
            Destination("Procedures", "procedural"),
            Destination("Vault, never fades", "vault"),
        )
    }

    def chosen(written: Written) -> Destination:
        return offered.get(written.texts[_WHERE]) or at or BY_TEXT

    def look(workspace: Workspace, written: Written) -> Outlook:
        to = chosen(written)
        if not written.text:
            return Outlook(lambda _width: ())
        if to.block and any(block.name == to.block for block in core.blocks):
            return core_outlook(core, to.block, None, workspace, written)
        return _routed(workspace, _request(written, to, dry_run=True), to, today)

    def save(written: Written) -> Act:
        to = chosen(written)
        return Act(lambda workspace: _save(workspace, written, to))

    return Writing(
        KEY,
        "NEW MEMORY",
        THING,
        (
            Field(TEXT, ""),
            Field(_WHERE, (at or BY_TEXT).label, "goes to", choices=tuple(offered), kept=at is None),
            Field(_TAGS, "", "tags", needed=False, hint="commas between; else found in the text"),
        ),
        save,
        look,
    )


def _request(written: Written, to: Destination, *, dry_run: bool = False) -> RememberRequest:
    tags = tuple(tag for each in written.texts[_TAGS].split(",") if (tag := each.strip()))
    # By rules alone: what was said before is what happens, and nothing waits for a model or is sent to one.
    return RememberRequest(
        written.text,
        store=to.store or None,
        tags=tags,
        block=to.block or None,
        on=to.day or None,
        dry_run=dry_run,
        by_rules=True,
    )


def _routed(workspace: Workspace, request: RememberRequest, to: Destination, today: date) -> Outlook:
    """Read where a text would go; called on a thread."""
    try:
        routed = workspace.remember_request(request)
    except WorkbenchError as error:
        told = told_in_bench(error)
        return Outlook(lambda width: problem_lines(told, width), fits=False)
    if routed.held_back is not None:
        held = f"{routed.held_back.detail} It would be held back in the Inbox until you decide."
        return Outlook(lambda width: problem_lines(held, width))
    label = _place_of(routed, to, today)
    lines = [("GOES TO", label)] if label != to.label else []
    if routed.core_update is not None:
        lines.append(("AND TO", "Core, so that the agent always has it"))
    if routed.entities:
        lines.append(("ABOUT", " · ".join(each.name for each in routed.entities)))
    if routed.tags:
        lines.append(("TAGS", ", ".join(routed.tags)))
    warnings = (*routed.warnings, *routed.questions)

    def draw(width: int) -> list[Line]:
        said = [line for each in warnings for line in wrap_line((ink(each, "decide"),), width)]
        return [*_said(lines, width), *said]

    return Outlook(draw)


def _place_of(routed: Remembered, to: Destination, today: date) -> str:
    """Return in words where a memory was routed to."""
    if to.store and to.store == routed.store:
        return to.label
    return {
        "core": "Core",
        "episodic": to_day(today, today).label,
        "semantic": "Graph, a fact",
        "procedural": "Procedures",
        "vault": "Vault, never fades",
    }.get(routed.store, routed.store)


def _said(lines: list[tuple[str, str]], width: int) -> list[Line]:
    return [
        (Span(f"{label:<{_LABEL}}", "soft+strong"), ink(text, "text", max(1, width - _LABEL)))
        for label, text in lines
    ]


def _save(workspace: Workspace, written: Written, to: Destination) -> str:
    """Store it, and say where it went; called on the thread of actions."""
    said = f"Noted {quoted(written.text)}"
    if to.block and _has_block(workspace.core(), to.block):
        changed = workspace.core_add(to.block, written.text, moving=written.moving)
        return done(changed.commit, f"{said} in {to.label}.", changed.warnings, len(written.moving))
    routed = workspace.remember_request(_request(written, to))
    if routed.held_back is not None:
        return f"Held back: {routed.held_back.detail} It waits in the Inbox."
    return done(routed.commit, f"{said} in {_place_of(routed, to, workspace.now().date())}.", routed.warnings)


def _has_block(core: CoreView, name: str) -> bool:
    return any(block.name == name for block in core.blocks)
