"""Commands that take something in: remember, message and propose."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from workbench.cli.command import command, scope_option, scoped_door, text_of
from workbench.cli.forget import agreed_to_archive
from workbench.cli.invocation import (
    DONE,
    FAILED,
    NOTHING_FOUND,
    Failure,
    Invocation,
    as_json,
    describe,
    print_json,
)
from workbench.display.memories import (
    message_lines,
    remembered_lines,
    scoped_message_lines,
    scoped_proposed_lines,
    scoped_remembered_lines,
)
from workbench.display.reviews import proposed_lines
from workbench.display.text import safe_line
from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.requests import ProposeRequest, RememberRequest
from workbench.engine.results.memories import Forgotten, MessageOutcome

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace


# The names of the options, and the plurals under which the answers give them back.
_KEYS = {
    "text": "text",
    "store": "store",
    "type": "type",
    "tag": "tags",
    "tags": "tags",
    "entity": "entities",
    "entities": "entities",
    "confidence": "confidence",
    "source": "source",
    "actor": "actor",
    "for": "scope",
    "scope": "scope",
    "session": "session",
    "dry-run": "dry_run",
}
_LISTS = ("tags", "entities")
_FLAGS = ("dry_run",)
EPISODE_TYPES = ("decision", "fact", "preference", "task", "event", "emotion", "correction")
EPISODE_SOURCES = ("conversation", "reflection", "user-explicit")
CONFIDENCES = ("high", "medium", "low")


def parse_line(line: str, defaults: RememberRequest) -> RememberRequest:
    """Read one line: an object with `text` and any of the options.

    Args:
        defaults: What holds where the object does not say.

    Raises:
        InvalidInput: The line is no such object.
    """
    try:
        given = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"This is no JSON: {error}.", remedy='Write {"text":"…"} on one line.') from error
    except RecursionError as error:
        raise InvalidInput("This JSON is nested too deeply.", remedy='Write {"text":"…"}.') from error
    if not isinstance(given, dict):
        raise InvalidInput("This is JSON, but no object.", remedy='Write {"text":"…"} on one line.')
    values: dict[str, Any] = {}
    for key, value in given.items():
        name = _KEYS.get(key)
        if name is None:
            near = difflib.get_close_matches(key, _KEYS, 1)
            meant = f"Perhaps “{near[0]}” is meant." if near else f"Keys are {', '.join(_KEYS)}."
            raise InvalidInput(f"“{key}” is no key of a memory.", remedy=meant)
        if value is not None:
            values[name] = _said(name)(key, value)
    if not values.get("text", "").strip():
        raise InvalidInput("There is no text.", remedy='Give the memory as "text".')
    return replace(defaults, **values)


def _said(name: str) -> Callable[[str, object], object]:
    if name in _FLAGS:
        return _flag
    return _texts if name in _LISTS else _text


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"“{key}” is neither true nor false.", remedy=f'Write "{key}":true.')
    return value


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"“{key}” is no text.", remedy="Put it into quotation marks.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"“{key}” holds half a character.", remedy="Write \\u escapes in pairs."
        ) from error
    return value


def _texts(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(key, value),)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(_text(key, item) for item in value)
    raise InvalidInput(f"“{key}” is neither a text nor a list of texts.", remedy=f'Write "{key}":["…"].')


def read_lines(
    invocation: Invocation, workspace: Workspace, stream: TextIO, defaults: RememberRequest
) -> int:
    """Remember every line of a stream; a bad one is reported with its number and stops nothing.

    Returns:
        The exit code: 1 where any line failed.
    """
    code = DONE
    for number, line in enumerate(_decoded(stream), start=1):
        if isinstance(line, str) and not line.strip():
            continue
        try:
            if isinstance(line, InvalidInput):
                raise line
            remembered = workspace.remember_request(parse_line(line, defaults))
        except WorkbenchError as error:
            code = FAILED
            failure = describe(error)
            _report(invocation, number, failure)
        else:
            print_json(as_json(remembered))
    return code


def _report(invocation: Invocation, number: int, failure: Failure) -> None:
    place = f"line {number}" + (f", {failure.where}" if failure.where else "")
    print_json({**failure._replace(where=place).as_json(), "line": number})
    remedy = f" {failure.remedy}" if failure.remedy else ""
    invocation.warn([safe_line(f"{place}: {failure.message}{remedy}")])


def _decoded(stream: TextIO) -> Iterable[str | InvalidInput]:
    """Read line by line, so that one that is no UTF-8 spoils only itself."""
    for raw in stream.buffer:
        try:
            yield raw.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            yield InvalidInput(f"This is no UTF-8: {error.reason}.", remedy="Save the lines as UTF-8.")


@command(
    "remember",
    answers="How do I get this into the agent’s memory, in the right place?",
    examples=(
        'workbench remember "We chose the hybrid approach" --tag architecture',
        'workbench remember "Lena prefers short reports" --entity person:Lena --dry-run',
        "git log -1 --format=%B | workbench remember - --type event",
    ),
)
@click.argument("words", metavar="TEXT", nargs=-1)
@click.option(
    "--store",
    type=click.Choice(MEMORY_STORES),
    help="Where it belongs; found by its wording if left out.",
)
@click.option("--type", metavar="TYPE", help=f"What it is: {', '.join(EPISODE_TYPES)}.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A topic; give as many as you like.")
@click.option("--entity", "entities", metavar="TYPE:NAME", multiple=True, help="Whom or what it is about.")
@click.option("--confidence", type=click.Choice(["high", "medium", "low"]), help="How sure it is.")
@click.option("--source", metavar="SOURCE", help=f"Where it is from: {', '.join(EPISODE_SOURCES)}.")
@click.option("--actor", metavar="ACTOR", help="Who remembers it, such as skill:calendar.")
@click.option("--session", metavar="KEY", help="Where it was said, so that “scratch that” there means it.")
@click.option(
    "--for",
    "audience",
    metavar="SCOPE",
    help="Whom it is for besides you: person:NAME, group:NAME or shared.",
)
@scope_option
@click.option("--dry-run", is_flag=True, help="Show where it would go, and change nothing.")
@click.option("--jsonl", is_flag=True, help="Read one JSON object a line from stdin, each with “text”.")
def remember_command(
    invocation: Invocation,
    /,
    words: tuple[str, ...],
    audience: str | None,
    scope: str | None,
    jsonl: bool,
    **wanted: Any,
) -> int:
    """TEXT may be “-” for stdin. With --jsonl every line of stdin is one memory with a commit of its own; its
    keys are “text” and the names of the options here, and each answer is one line of JSON, printed once it is
    safe on disk.
    """
    door = scoped_door(invocation, scope)
    if door is not None:
        if jsonl or audience is not None or wanted["actor"] is not None or wanted["session"] is not None:
            raise click.UsageError(
                "--jsonl, --actor, --for and --session are the owner’s alone.", click.get_current_context()
            )
        request = RememberRequest(text_of(words, what="The text to remember"), **wanted)
        with door:
            remembered = door.remember_request(request)
        return invocation.report(remembered, partial(scoped_remembered_lines, scope=door.scope))
    if jsonl:
        if words not in ((), ("-",)):
            raise click.UsageError("With --jsonl the texts come from stdin.", click.get_current_context())
        with invocation.open() as workspace:
            code = read_lines(invocation, workspace, sys.stdin, RememberRequest("", scope=audience, **wanted))
            invocation.warn(workspace.warnings)
            return code
    text = text_of(words, what="The text to remember")
    return invocation.ask(
        lambda it: it.remember_request(RememberRequest(text, scope=audience, **wanted)),
        partial(remembered_lines, audience=audience),
    )


@command(
    "message",
    answers="Did the user just ask the agent to remember or forget something?",
    examples=(
        'workbench message "Remember that the demo is on Friday"',
        'workbench message "Do you remember when we met?"',
        'workbench message "What did you learn this week?"',
    ),
)
@click.argument("words", metavar="TEXT", nargs=-1)
@click.option("-y", "--yes", is_flag=True, help="Archive what it asks to forget, without asking back.")
@click.option("--hard", is_flag=True, help="With --yes: delete from disk what it asks to delete permanently.")
@click.option(
    "--session", metavar="KEY", help="Where it was said: “scratch that” means what was remembered there."
)
@scope_option
def message_command(
    invocation: Invocation,
    words: tuple[str, ...],
    yes: bool,
    hard: bool,
    session: str | None,
    scope: str | None,
) -> int:
    """Reads one message for the phrases that remember, forget, reflect and recall, in English and in Chinese.
    What merely mentions them does nothing. Forgetting is confirmed first; what a reflection
    proposes waits for your decisions. “Permanently delete …” deletes from disk, which --yes confirms only together
    with --hard. “Scratch that” means the last memory of the session, or of the last hour. “What changed recently?”,
    “What did you learn this week?” and “Why did you forget about X?” are answered from the audit log; “Revert my
    memory to yesterday” shows what that would undo and the command for it, and undoes nothing. TEXT may be “-” for
    stdin.
    """
    text = text_of(words, what="The message")
    door = scoped_door(invocation, scope)
    if door is not None:
        if hard or session is not None:
            raise click.UsageError("--hard and --session are the owner’s alone.", click.get_current_context())
        with door:
            outcome = door.message(text)
        nothing = outcome.found is not None and not outcome.found.results
        draw = partial(scoped_message_lines, scope=door.scope)
        return invocation.report(outcome, draw, code=NOTHING_FOUND if nothing else DONE)
    with invocation.open() as workspace:
        outcome = workspace.message(text, session=session)
        found = outcome.forgotten
        if found is not None and found.matches and not found.applied:
            if not (yes and (hard or not found.hard)) and not _agreed(invocation, outcome, found):
                return DONE
            done = workspace.forget(ids=[match.id for match in found.matches], apply=True, hard=found.hard)
            done = replace(done, router=found.router, fallback=found.fallback)
            outcome = replace(outcome, applied=done.applied, forgotten=done)
    if outcome.applied and invocation.opened is not None:
        invocation.warn(invocation.opened.warnings)
    return invocation.report(outcome, message_lines, code=_code(outcome))


def _agreed(invocation: Invocation, outcome: MessageOutcome, found: Forgotten) -> bool:
    ids = " ".join(match.id for match in found.matches)
    remedy = f"Add --yes --hard to confirm, or archive instead: workbench forget {ids} --yes"
    return agreed_to_archive(
        invocation,
        outcome,
        found,
        hard=found.hard,
        remedy=remedy if found.hard else "Add --yes to confirm.",
        note=outcome.note,
    )


def _code(outcome: MessageOutcome) -> int:
    empty_recall = outcome.found is not None and not outcome.found.results
    empty_forget = outcome.forgotten is not None and not outcome.forgotten.matches
    why = outcome.why_forgotten
    unknown = why is not None and not (why.memories or why.entries)
    return NOTHING_FOUND if empty_recall or empty_forget or unknown else DONE


@command(
    "propose",
    answers="I am a sub-agent; how do I get this remembered?",
    examples=(
        'workbench propose "Sam prefers academic sources" --as researcher --entity person:Sam',
        'workbench propose - --as coder --store procedural --trigger "asked for it" < pattern.md',
    ),
)
@click.argument("words", metavar="TEXT", nargs=-1)
@click.option("--as", "name", metavar="NAME", help="The agent that proposes: the same as --role agent:NAME.")
@click.option(
    "--store", type=click.Choice(MEMORY_STORES), help="Where it belongs; found by its wording if left out."
)
@click.option("--entity", "entities", metavar="TYPE:NAME", multiple=True, help="Whom or what it is about.")
@click.option("--confidence", type=click.Choice(CONFIDENCES), default="medium", help="How sure it is.")
@click.option("--trigger", metavar="TEXT", default="", help="What set it off, in a few words.")
@click.option("--core-worthy", is_flag=True, help="It should be in core memory as well.")
@click.option("--type", metavar="TYPE", help="What it is, as for `remember`.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A topic; give as many as you like.")
@click.option("--origin", "origins", metavar="ID", multiple=True, help="A memory that it was learned from.")
@scope_option
def propose_command(
    invocation: Invocation,
    /,
    words: tuple[str, ...],
    name: str | None,
    scope: str | None,
    **wanted: Any,
) -> int:
    """It waits for the main agent’s or the person’s verdict. What contradicts memory or another proposal is marked
    on both sides; what says the same already is named. TEXT may be “-” for stdin.
    """
    request = ProposeRequest(text_of(words, what="The text to propose"), **wanted)
    if name is not None:
        if invocation.role is not None and invocation.role != f"agent:{name}":
            raise click.UsageError("--as and --role name two different roles.", click.get_current_context())
        invocation.role = f"agent:{name}"
    door = scoped_door(invocation, scope)
    if door is not None:
        if request.core_worthy or request.origins:
            raise click.UsageError(
                "--core-worthy and --origin are the owner’s alone.", click.get_current_context()
            )
        with door:
            proposed = door.propose_request(request)
        return invocation.report(proposed, partial(scoped_proposed_lines, scope=door.scope))
    return invocation.ask(lambda it: it.propose_request(request), proposed_lines)
