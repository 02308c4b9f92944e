"""How a run fails: every error as one clear message with its place, its remedy and its exit code."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

import click

from workbench.display.text import page_for, safe, write
from workbench.engine.errors import WorkbenchError

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
        from workbench.cli.json_output import print_json

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
