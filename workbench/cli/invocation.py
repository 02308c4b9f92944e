"""One run of the program: which workspace and role are meant, and how answers and failures go out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeVar

import click

from workbench.display.text import Page, ProgressLine, page_for, safe, safe_line, unsafe_characters, write
from workbench.engine.clock import clock_from_environment
from workbench.engine.errors import ConfirmationNeeded, NotFound, RoleRefused, WorkbenchError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.roles import Role, parse_role

if TYPE_CHECKING:
    from workbench.engine.clock import Clock
    from workbench.engine.results.memories import Changed
    from workbench.engine.workspace import Workspace

DONE, FAILED, NOTHING_FOUND = 0, 1, 3
ROLE_VARIABLE: Final = "WORKBENCH_ROLE"

T = TypeVar("T")


class NoTerminal(WorkbenchError):
    """Something needs a person at a terminal, and nobody is there."""

    kind: ClassVar[str] = "no-terminal"


@dataclass
class Invocation:
    """What was asked before or after the command, and the door it goes through.

    Args:
        json: Whether answers and errors are JSON on stdout.
        workspace: The folder given with `--workspace`.
        door: The engine's door; the engine's own where None, which is imported on first use.
        opened: The workspace that was opened last; it tells the zone of times and what does not work here.
        role: Who asks, as given with `--role`; None where it was not.
    """

    json: bool = False
    workspace: Path | None = None
    door: type[Workspace] | None = None
    opened: Workspace | None = None
    role: str | None = None

    def workspace_class(self) -> type[Workspace]:
        """Return the engine's door, importing the engine if this is its first use.

        Raises:
            RoleRefused: The environment allows the door of one scope alone.
        """
        refuse_for_a_scope()
        return self._workspace_class()

    def _workspace_class(self) -> type[Workspace]:
        if self.door is None:
            from workbench.engine.workspace import Workspace

            self.door = Workspace
        return self.door

    def clock(self) -> Clock:
        """Return the clock of this run, which shows `WORKBENCH_NOW` if that is set."""
        return clock_from_environment()

    def locate(self) -> Path:
        """Return the folder that is meant: the one given, the environment's, the nearest, or the default.

        Raises:
            NotFound: None of these leads to a folder.
            RoleRefused: The environment allows the door of one scope alone.
        """
        refuse_for_a_scope()
        return self.find()

    def find(self) -> Path:
        """Return the folder that is meant, for every role and scope; see `locate`."""
        found = self.find_or_none()
        if found is not None:
            return found
        raise NotFound(
            "There is no workspace here or in a folder above.",
            where=str(Path.cwd()),
            remedy="Name one with --workspace PATH, make one with `workbench init`, or look at "
            "`workbench demo`.",
        )

    def find_or_none(self) -> Path | None:
        """Return the folder that is meant, or None where nobody named one and none is near.

        Raises:
            NotFound: Somebody named one that is not there.
        """
        for given, source in (
            (self.workspace, "--workspace"),
            (_named_by_environment(), "WORKBENCH_WORKSPACE"),
        ):
            if given is not None:
                return _existing(given, source)
        nearest: Path | None = self._workspace_class().find(Path.cwd())
        if nearest is not None:
            return nearest
        from workbench.engine.settings.layers import load_settings

        configured = load_settings(None).workspace
        if configured:
            return _existing(Path(configured).expanduser(), "the setting “workspace”")
        return None

    def open(self, *, lenient: bool = False) -> Workspace:
        """Open the workspace that is meant, in the role asked for, for use in a `with` statement.

        Args:
            lenient: Open with the defaults where the settings are broken.

        Raises:
            RoleRefused: A role was asked for that may do more than the environment allows.
        """
        path, role, line = self.locate(), role_of(self.role), ProgressLine()

        def told(what: str, done: int, total: int) -> None:
            if done == total:
                line.clear()
            else:
                line.tell(f"{what}: {done:,}" + (f" of {total:,}" if total else ""))

        door = self.workspace_class()
        self.opened = door.open(path, role=role, clock=self.clock(), lenient=lenient, progress=told)
        return self.opened

    def page(self) -> Page:
        """Return the page that stdout is, in the zone of the workspace that was opened."""
        page = page_for(sys.stdout)
        if self.opened is None:
            return page
        return replace(page, zone=self.opened.settings.zone, at=self.clock().now())

    def ask(self, question: Callable[[Workspace], T], draw: Callable[[Page, T], Iterable[str]]) -> int:
        """Open the workspace that is meant, ask it one thing and report the answer."""
        with self.open() as workspace:
            answer = question(workspace)
        return self.report(answer, draw)

    def change(
        self, act: Callable[[Workspace], Changed], said: str, unchanged: str = "Nothing changed."
    ) -> int:
        """Open the workspace that is meant, change one thing and report that; see `report_change`."""
        with self.open() as workspace:
            changed = act(workspace)
        return self.report_change(changed, said, unchanged)

    def report(self, result: T, draw: Callable[[Page, T], Iterable[str]], *, code: int = DONE) -> int:
        """Print an answer as JSON or for a person, and its warnings.

        Args:
            draw: Draws it for a person; called only where one reads.
            code: The exit code to hand on.

        Returns:
            The exit code; 1 where the result says itself that it failed.
        """
        result = self._with_warnings(result)
        if self.json:
            print_json(as_json(result))
        else:
            write(draw(self.page(), result))
            self.warn(getattr(result, "warnings", ()))
        return FAILED if code == DONE and getattr(result, "ok", True) is False else code

    def _with_warnings(self, result: T) -> T:
        """Add what did not work as it should to the answer of a mutation that was carried out."""
        if self.opened is None or getattr(result, "commit", None) is None:
            return result
        from workbench.engine.results.memories import Changed, Forgotten

        if not isinstance(result, Changed | Forgotten):
            return result
        new = tuple(line for line in self.opened.warnings if line not in result.warnings)
        return replace(result, warnings=(*result.warnings, *new))

    def report_change(self, changed: Changed, said: str, unchanged: str = "Nothing changed.") -> int:
        """Print a mutation: what was done, or that nothing had to change.

        Args:
            unchanged: What to say instead if nothing had to change.
        """
        from workbench.display.changes import changed_lines

        return self.report(changed, partial(changed_lines, said=said, unchanged=unchanged))

    def report_text(self, result: object, text: str) -> int:
        """Print an answer as JSON, or a file's text: as it is where a program reads it, else made safe.

        Args:
            result: The engine's result, which the text is part of.
        """
        if self.json or sys.stdout.isatty():
            return self.report(result, lambda *_: safe(text).removesuffix("\n").split("\n") if text else [])
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
        return DONE

    def warn(self, warnings: Iterable[str]) -> None:
        """Print remarks on stderr; none where the answer is JSON, which carries them itself."""
        if not self.json:
            page = page_for(sys.stderr)
            lines = [line for text in warnings for line in page.wrapped(safe_line(text), first="! ")]
            painted = (page.paint("!", "accent") + line[1:] if line[0] == "!" else line for line in lines)
            write(painted, to_errors=True)

    @property
    def can_ask(self) -> bool:
        """Return True where a person is at the terminal and the answer is not JSON."""
        return not self.json and sys.stdin.isatty() and sys.stderr.isatty()

    def confirm(self, question: str, *, remedy: str = "Add --yes to confirm.") -> bool:
        """Ask a person at the terminal; yes only where they say so.

        Args:
            question: One sentence that says what will happen.
            remedy: How to confirm where nobody can be asked.

        Raises:
            ConfirmationNeeded: Nobody can be asked: there is no terminal, or the answer is to be JSON.
        """
        if not self.can_ask:
            raise ConfirmationNeeded(f"Nobody confirmed: {question}", remedy=remedy)
        return click.confirm(question, default=False, err=True)

    def agree(
        self,
        question: str,
        preview: T,
        draw: Callable[[Page, T], Iterable[str]],
        *,
        remedy: str = "Add --yes to confirm.",
    ) -> bool:
        """Show what would happen, and ask a person whether it shall.

        Args:
            question: As for `confirm`.
            remedy: As for `confirm`.
            preview: What would happen, as an answer; printed as JSON with the refusal where nobody can be asked.

        Raises:
            ConfirmationNeeded: There is no terminal to ask at; with JSON the program ends with its exit code.
        """
        if not self.json:
            write(draw(self.page(), preview))
        try:
            agreed = self.confirm(question, remedy=remedy)
        except ConfirmationNeeded as refusal:
            if not self.json:
                raise
            print_json({**as_json(preview), "ok": False, **describe(refusal).as_json()})
            raise click.exceptions.Exit(refusal.exit_code) from refusal
        if not agreed:
            self.warn(["Nothing was changed."])
        return agreed


def role_of(asked: str | None) -> str:
    """Return the role that a door is opened in.

    Args:
        asked: What the command line says; None where it says nothing.

    Raises:
        InvalidInput: One of them is no role.
        RoleRefused: The command line asks for more than the environment allows.
    """
    set_ = os.environ.get(ROLE_VARIABLE, "").strip()
    given = parse_role(set_ or "person")
    if asked is None:
        return str(given)
    wanted = parse_role(asked.strip())
    if not set_ or _is_within(wanted, given):
        return str(wanted)
    raise RoleRefused(
        f"This shell acts as {given} and may not act as {wanted}.",
        where=ROLE_VARIABLE,
        remedy=f"Leave --role out, or have {ROLE_VARIABLE} changed where it was set.",
    )


def _is_within(wanted: Role, given: Role) -> bool:
    """Return True if a role may do no more than another; agents are only within themselves."""
    if given.kind == "agent" and wanted.kind == "agent":
        return wanted == given
    return wanted.capabilities <= given.capabilities


def refuse_for_a_scope() -> None:
    """Refuse everything but the commands of a scope if the environment names one."""
    scope = os.environ.get("WORKBENCH_SCOPE", "").strip()
    if scope:
        raise RoleRefused(
            f"This shell is for {scope[:80]}, which has no such command.",
            where="WORKBENCH_SCOPE",
            remedy="It has search, show, brief, remember, propose, message and mcp.",
        )


def _named_by_environment() -> Path | None:
    name = os.environ.get("WORKBENCH_WORKSPACE")
    return Path(name).expanduser() if name else None


def _existing(path: Path, source: str) -> Path:
    if path.is_dir():
        return path
    what = "This is no folder" if path.exists() else "There is no such folder"
    raise NotFound(
        f"{what}; it was named by {source}.",
        where=str(path),
        remedy=f"Correct the path, or make a workspace with `workbench init {path}`.",
    )


_ACCOUNT = ("ok", "commit", "files", "ids")


def as_json(result: object) -> Any:
    """Turn a result into JSON values; what tells of a mutation begins with its account.

    Args:
        result: A result of the engine, or a mapping.
    """
    from workbench.engine.results import to_json
    from workbench.engine.results.memories import MessageOutcome

    value = to_json(result)
    if isinstance(result, MessageOutcome):
        done = value["remembered"] or value["forgotten"] or value["reflected"] or {}
        account: dict[str, Any] = {"ok": True, "commit": None, "files": [], "ids": []}
        return {**account, **{key: done[key] for key in _ACCOUNT if key in done}, **value}
    if isinstance(value, dict) and "ok" in value and "commit" in value:
        return {**{key: value[key] for key in _ACCOUNT if key in value}, **value}
    return value


def render_json(value: Any) -> str:
    """Write JSON values on one line; indented where a person reads it at a terminal."""
    stream = sys.stdout
    if stream.isatty():
        text = json.dumps(value, ensure_ascii=False, indent=2)
    else:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = _escape(text)
    if (stream.encoding or "utf-8").lower().replace("-", "") == "utf8":
        return text
    # Only now: escaped by `json.dumps`, half a character would pass for a whole one.
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)


_NOT_ASCII: Final = lazy_pattern(r"[^\x00-\x7f]+")


def print_json(value: Any) -> None:
    """Print JSON values and flush, so that a reader at the other end of a pipe has them now."""
    sys.stdout.write(render_json(value) + "\n")
    sys.stdout.flush()


def _escape(text: str) -> str:
    """Escape what `json.dumps` leaves as it is though it controls a terminal; the value stays the same.

    Half characters alone are no text that JSON can tell: they are written out, as names of files are (`layout.shown`).
    """
    parts, end = [], 0
    for match in unsafe_characters(text):
        parts += [text[end : match.start()], _escaped(match[0])]
        end = match.end()
    return "".join([*parts, text[end:]]) if parts else text


def _escaped(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return f"\\\\u{ord(character):04x}"
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]


INTERRUPTED, READER_GONE = 130, 141


class Failure(NamedTuple):
    """An error as it is told.

    Args:
        kind: What sort of failure it is, in one word.
        where: The file, id, setting or command concerned.
    """

    kind: str
    message: str
    where: str | None
    remedy: str | None
    code: int

    def as_json(self) -> dict[str, dict[str, str | None]]:
        """Return the JSON of the contract: `{"error":{"kind","message","where","remedy"}}`."""
        error = {"kind": self.kind, "message": self.message, "where": self.where, "remedy": self.remedy}
        return {"error": error}


def describe(error: BaseException) -> Failure:
    """Describe an exception for the person who typed the command."""
    if isinstance(error, WorkbenchError):
        return Failure(error.kind, error.message, error.where, error.remedy, error.exit_code)
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "workbench"
        return Failure("usage", error.format_message(), path, f"See `{path} --help`.", 2)
    if isinstance(error, click.ClickException):
        return Failure("failed", error.format_message(), None, None, error.exit_code)
    if isinstance(error, click.Abort | KeyboardInterrupt | EOFError):
        if isinstance(error, KeyboardInterrupt) and str(error):
            return Failure("interrupted", str(error), None, None, INTERRUPTED)
        remedy = "Each change is made whole or not at all; see which were made: workbench audit log"
        return Failure("interrupted", "Interrupted.", None, remedy, INTERRUPTED)
    if isinstance(error, OSError):
        remedy = "Mend that and run it again; WORKBENCH_DEBUG=1 shows where it happened."
        said = f"The system refused: {error.strerror or error}."
        return Failure("storage", said, _file_of(error), remedy, 1)
    return Failure(
        "internal",
        f"Something is wrong inside Workbench: {type(error).__name__}: {error}",
        None,
        "Run it again with WORKBENCH_DEBUG=1 to see where, and report that.",
        1,
    )


def _file_of(error: OSError) -> str | None:
    return os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None


def is_expected(error: BaseException) -> bool:
    """Return True for an exception that answers what was asked, rather than a surprise."""
    expected = (WorkbenchError, click.ClickException, click.Abort, KeyboardInterrupt, EOFError)
    return isinstance(error, expected)


def tell(failure: Failure, *, json: bool) -> None:
    """Print a failure: as JSON on stdout, or in words on stderr."""
    if json:
        print_json(failure.as_json())
        return
    page = page_for(sys.stderr)
    lines = page.wrapped(safe(failure.message), first="✗ ")
    lines[0] = page.paint("✗", "bad") + lines[0][1:]
    if failure.where and failure.kind != "usage":
        lines += page.wrapped(safe(failure.where), "quiet", first="  in ")
    if failure.remedy:
        lines += page.wrapped(safe(failure.remedy), first="  → ")
    write(lines, to_errors=True)


def asks_for_json(arguments: list[str]) -> bool:
    """Return True if JSON was asked for, even if the command line could not be understood."""
    head = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in head


def debugging() -> bool:
    """Return True if tracebacks are wanted."""
    return os.environ.get("WORKBENCH_DEBUG", "") not in ("", "0")


def drop_stdout() -> None:
    """Send what is still buffered nowhere, since the reader of stdout is gone."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a device, not a path of ours
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
