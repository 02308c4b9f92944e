"""Commands that change memory by hand: one memory or file in an editor, and the blocks of core memory."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from workbench.cli.command import command, complete_memory_or_file, group, text_of
from workbench.cli.invocation import Invocation, NoTerminal, role_of
from workbench.display.changes import changed_lines
from workbench.display.status import core_lines
from workbench.display.text import Page, safe_line
from workbench.engine.errors import InvalidInput, InvalidSetting, WorkbenchError
from workbench.engine.identifiers import parse_memory_id
from workbench.engine.results.memories import Changed
from workbench.engine.roles import Capability, parse_role, require

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

T = TypeVar("T")

USUAL_EDITORS = ("nano", "vi")
STDERR = 2


@command(
    "edit",
    answers="This is wrong; how do I correct it?",
    examples=("workbench edit person--sam-okafor", 'workbench edit MEMORY.md --text "$(cat MEMORY.md)"'),
)
@click.argument("id_", metavar="ID", shell_complete=complete_memory_or_file)
@click.option("--text", help="The new text, for scripts; “-” reads it from stdin.")
def edit_command(invocation: Invocation, id_: str, text: str | None) -> int:
    """Opens the memory’s own text in $VISUAL or $EDITOR and writes back what you save. If it changed
    meanwhile, nothing is overwritten and your text is kept. ID may also be an entity’s name, or the path of a
    memory file such as MEMORY.md.
    """
    # Whoever may not save it is told so before the editor opens.
    require(parse_role(role_of(invocation.role)), Capability.WRITE_MEMORY, doing="edit memories")
    with invocation.open() as workspace:
        is_file = _is_path(id_)
        before = workspace.get(id_).text if is_file else workspace.show(id_, count_access=False).text
        if text is not None:
            after = text_of((text,), what="The new text")
            if is_file and not after.endswith("\n"):
                # A shell takes the last newlines off what a program printed.
                after += before[len(before.rstrip("\n")) :]
            changed = _write_back(workspace, id_, before, after, is_file=is_file)
        else:
            changed = edit_in_editor(
                workspace.settings.editor,
                before,
                lambda after: _write_back(workspace, id_, before, after, is_file=is_file),
            )
    return invocation.report_change(changed, f"Saved {safe_line(id_)}.")


def _is_path(name: str) -> bool:
    """Return True for the path of a file, rather than an id or an entity's name."""
    try:
        parse_memory_id(name)
    except InvalidInput:
        return "/" in name or bool(Path(name).suffix)
    return False


def _write_back(workspace: Workspace, id_: str, before: str, after: str, *, is_file: bool) -> Changed:
    if after == before:
        return Changed(commit=None, ids=() if is_file else (id_,))
    if is_file:
        return workspace.edit_file(id_, after, expected=before)
    return workspace.edit(id_, after, expected=before)


def edit_in_editor(configured: str, before: str, write_back: Callable[[str], T]) -> T:
    """Let a person change a text in their editor, and write back what they save.

    Args:
        configured: The command line of the editor; a usual one where it is empty.
        write_back: Takes the new text; where it fails, the text is kept and the error says where.

    Raises:
        NoTerminal: There is no editor that a person could see.
        InvalidSetting: The editor cannot be started.
    """
    program = _editor(configured)
    descriptor, name = tempfile.mkstemp(prefix="workbench-", suffix=".md")
    draft = Path(name)
    with os.fdopen(descriptor, "wb") as file:
        file.write(before.encode("utf-8", "surrogateescape"))
    keep = False
    try:
        _run_editor(program, draft)
        keep = True
        after = _read(draft, any_bytes=not _is_text(before))
        if not before.endswith("\n"):
            # Editors end a file with a newline; the memory had none.
            after = after.removesuffix("\n")
        written = write_back(after)
        keep = False
    except WorkbenchError as error:
        if keep:
            error.remedy = " ".join(part for part in (error.remedy, f"Your text is kept in {draft}.") if part)
        raise
    finally:
        if not keep:
            draft.unlink(missing_ok=True)
    return written


def _editor(configured: str) -> list[str]:
    """Return the command line of the editor: the configured one, or a usual one where a person can see it."""
    if configured:
        try:
            return shlex.split(configured)
        except ValueError as error:
            raise InvalidSetting(
                f"The editor “{configured}” cannot be read as a command: {error}.",
                where="the setting “editor”, $VISUAL or $EDITOR",
                remedy="Write it as you would type it, with quotes in pairs.",
            ) from error
    if sys.stdin.isatty():
        for name in USUAL_EDITORS:
            if shutil.which(name):
                return [name]
    raise NoTerminal("There is no editor to open.", remedy="Set $EDITOR, or give the new text with --text.")


def _run_editor(program: list[str], draft: Path) -> None:
    # What an editor draws must not end up in an answer that is piped on.
    screen = None if sys.stdout.isatty() else STDERR
    try:
        code = subprocess.run([*program, str(draft)], stdout=screen, check=False).returncode
    except OSError as error:
        raise InvalidSetting(
            f"The editor “{program[0]}” cannot be started: {error.strerror}.",
            where="the setting “editor”, $VISUAL or $EDITOR",
            remedy="Name a program that is installed, or give the new text with --text.",
        ) from error
    if code != 0:
        raise WorkbenchError(
            f"The editor ended with code {code}, so nothing was changed.",
            where=program[0],
            remedy="Save and leave it normally, or give the new text with --text.",
        )


def _is_text(text: str) -> bool:
    """Return True if a text is UTF-8; other bytes of a file are read as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(draft: Path, *, any_bytes: bool) -> str:
    try:
        return draft.read_bytes().decode("utf-8", "surrogateescape" if any_bytes else "strict")
    except FileNotFoundError as error:
        raise WorkbenchError("The editor removed the file, so nothing was changed.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("What the editor saved is not UTF-8.", remedy="Save it as UTF-8.") from error


core_command = group(
    "core",
    default="show",
    help="Core memory is MEMORY.md: a few blocks, each with a share of the token budget. What would pass the "
    "cap is refused before anything is written.",
    answers="What does the agent always have in mind, and how much room is left?",
    examples=("workbench core", 'workbench core add "Critical Facts" "Never deploy on a Friday"'),
)


@core_command.subcommand("show", short_help="Show the blocks with their budget", hidden=True)
def show(invocation: Invocation) -> int:
    return invocation.ask(lambda it: it.core(), core_lines)


def _change_core(invocation: Invocation, change: Callable[[Workspace], Changed], said: str) -> int:
    with invocation.open() as workspace:
        changed = change(workspace)
        core = None if invocation.json else workspace.core()

    def draw(page: Page, changed: Changed) -> list[str]:
        room = f"Core memory has {core.tokens:,} of {core.cap:,} tokens." if core else ""
        return [*changed_lines(page, changed, said, "Nothing changed."), f"  {page.paint(room, 'quiet')}"]

    return invocation.report(changed, draw)


@core_command.subcommand(
    "set",
    short_help="Replace the text of a whole block",
    answers="How do I rewrite this block?",
    examples=('workbench core set "Active Context" "- Working on: the release"',),
)
@click.argument("block")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
def set_block(invocation: Invocation, block: str, words: tuple[str, ...]) -> int:
    """TEXT is Markdown, usually list items; “-” reads it from stdin."""
    body = text_of(words, what="The block’s text")
    return _change_core(invocation, lambda it: it.core_set(block, body), f"Rewrote {safe_line(block)}.")


@core_command.subcommand(
    "add",
    short_help="Add one item to a block",
    answers="How do I tell the agent something it must always know?",
    examples=('workbench core add "Critical Facts" "Never deploy on a Friday"',),
)
@click.argument("block")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
def add(invocation: Invocation, block: str, words: tuple[str, ...]) -> int:
    """TEXT may be “-” for stdin."""
    text = text_of(words, what="The item’s text")
    return _change_core(invocation, lambda it: it.core_add(block, text), f"Added to {safe_line(block)}.")


@core_command.subcommand(
    "remove",
    short_help="Remove one item",
    answers="How do I take this out of what the agent always knows?",
    examples=("workbench core remove core:critical-facts:never-deploy-on-a-friday",),
)
@click.argument("id_", metavar="ID")
def remove(invocation: Invocation, id_: str) -> int:
    """Undo brings it back."""
    return _change_core(invocation, lambda it: it.core_remove(id_), f"Removed {safe_line(id_)}.")


@core_command.subcommand(
    "replace",
    short_help="Reword one item",
    answers="How do I correct this one line?",
    examples=('workbench core replace core:critical-facts:never-deploy-on-a-friday "Deploy on Tuesdays"',),
)
@click.argument("id_", metavar="ID")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
def replace(invocation: Invocation, id_: str, words: tuple[str, ...]) -> int:
    """TEXT may be “-” for stdin."""
    text = text_of(words, what="The item’s text")
    return _change_core(invocation, lambda it: it.core_replace(id_, text), f"Reworded {safe_line(id_)}.")
