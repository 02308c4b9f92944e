"""Records what the program answers and changes: commands, tools and methods, on three folders."""

from __future__ import annotations

import fcntl
import json
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from tests.engine.services.callings import EVERY, MAY, Calling
from tests.recording import fixing
from tests.recording.commands import APART, CHANGING, JSON, READING, Line, named
from tests.recording.fixing import NOW
from tests.recording.folders import FOLDERS, Folder, begin
from tests.recording.methods import VIEWS, View, asked, is_reading, missing_methods, retarget, roles_of
from tests.recording.running import run_apart, run_here
from tests.recording.stage import Snapshot, Stage
from tests.recording.tools import CALLS, ROLES, URIS, filled, served

Step = dict[str, Any]


class NotCovered(BaseException):
    """There is a command, tool or method that nothing here records."""


class Recorder:
    """Records one folder after another.

    Args:
        stage: Where everything happens.
        into: The folder of the record.
        parts: Which parts to record; all if empty.
        only: Which folders to record on; all if empty.
    """

    def __init__(
        self,
        stage: Stage,
        into: Path,
        parts: frozenset[str] = frozenset(),
        only: frozenset[str] = frozenset(),
    ) -> None:
        self._stage = stage
        self._into = into
        self._parts = parts
        self._only = only
        self.counts: dict[str, int] = {}

    def record(self) -> None:
        """Record everything.

        Raises:
            NotCovered: There is a command, tool or method that nothing here records.
        """
        check_coverage()
        for folder in FOLDERS:
            if self._only and folder.name not in self._only:
                continue
            began = begin(self._stage, folder, NOW)
            # What is read from here on is read already, so that a loaded machine changes no answer.
            index = ["index", "--json"]
            environment = self._stage.environment(NOW, {})
            run_here(self._stage, "index", index, stdin=b"", environment=environment, terminal=False)
            start = self._stage.look()
            self._keep(f"{folder.name}-start", [{"step": "begin", **began, "changed": self._stage.whole()}])
            for part, steps in (
                ("methods", self._methods),
                ("tools", self._tools),
                ("commands", self._commands),
                ("processes", self._processes),
            ):
                if not self._parts or part in self._parts:
                    self._stage.put_back(start)
                    started = time.perf_counter()
                    self._keep(f"{folder.name}-{part}", list(steps(folder, start)))
                    print(f"{folder.name} {part}: {time.perf_counter() - started:.1f} s", file=sys.stderr)

    def _keep(self, name: str, steps: list[Step]) -> None:
        self.counts[name] = len(steps)
        value = [self._plain(step) for step in steps]
        text = json.dumps(value, ensure_ascii=False, indent=1)
        (self._into / f"{name}.json").write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")

    def _plain(self, step: Step) -> Step:
        # What tells of files is normalised already, and has to keep its order.
        return {
            key: each if key in ("changed", "json") else self._stage.normaliser.value(each)
            for key, each in step.items()
        }

    def _commands(self, folder: Folder, start: Snapshot) -> Iterator[Step]:
        kept = {**folder.names, "scratch": str(self._stage.scratch), "start": start.head or "0" * 40}
        for lines, part in ((READING, "reading"), (CHANGING, "changing")):
            if part == "changing":
                self._stage.put_back(start)
            for number, line in enumerate(lines, 1):
                if line.folder in ("", folder.name):
                    yield from self._line(f"{folder.name} {part} {number}", line, kept)

    def _line(self, step: str, line: Line, kept: dict[str, str]) -> Iterator[Step]:
        before = self._stage.look()
        kept["head"] = before.head or "0" * 40
        for form in line.forms:
            self._stage.put_back(before)
            words = [filled(word, kept) for word in shlex.split(line.words)]
            told = run_here(
                self._stage,
                step,
                [*words, "--json"] if form == JSON else words,
                stdin=line.stdin.encode(),
                environment=self._stage.environment(line.now or NOW, filled(dict(line.more), kept)),
                terminal=line.terminal,
            )
            for name, path in line.keep.items():
                if form == JSON:
                    kept[name] = _part(told.get("json"), path)
            yield {
                "step": f"{step} {form}: {line.words[:60]}",
                "words": words,
                **told,
                "changed": self._stage.changes(before),
            }
        if line.back:
            self._stage.put_back(before)

    def _processes(self, folder: Folder, start: Snapshot) -> Iterator[Step]:
        kept = {**folder.names, "scratch": str(self._stage.scratch), "head": start.head or "0" * 40}
        for number, line in enumerate(APART, 1):
            before = self._stage.look()
            # People read what machines read already on the first folder.
            for form in line.forms if folder.name == FOLDERS[0].name else line.forms[-1:]:
                self._stage.put_back(before)
                words = [filled(word, kept) for word in shlex.split(line.words)]
                told = run_apart(
                    self._stage,
                    f"{folder.name} process {number}",
                    [*words, "--json"] if form == JSON else words,
                    stdin=line.stdin.encode(),
                    environment=self._stage.environment(NOW, {}),
                )
                yield {
                    "step": f"{number} {form}: {line.words}",
                    **told,
                    "changed": self._stage.changes(before),
                }

    def _tools(self, folder: Folder, start: Snapshot) -> Iterator[Step]:
        names = {**folder.names}
        for role, words in ROLES.items():
            self._stage.put_back(start)
            environment = self._stage.environment(NOW, {})
            with served(self._stage, f"{folder.name} {role}", words, environment) as client:
                greeting = client.begin()
                for part in greeting["result"].get("serverInfo", {}):
                    if part == "version":
                        greeting["result"]["serverInfo"][part] = "<version>"
                yield {"step": f"{role} initialize", "json": self._stage.normaliser.value(greeting)}
                for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
                    told = client.ask(method, {})
                    if method == "tools/list":
                        _check_tools({tool["name"] for tool in told["result"]["tools"]})
                    yield {"step": f"{role} {method}", "json": self._stage.normaliser.value(told)}
                prompt = client.ask("prompts/get", {"name": "memory_instructions"})
                yield {"step": f"{role} prompts/get", "json": self._stage.normaliser.value(prompt)}
                for uri in URIS:
                    told = client.ask("resources/read", {"uri": filled(uri, names)})
                    yield {"step": f"{role} read {uri}", "json": self._stage.normaliser.value(told)}
                for number, (tool, arguments) in enumerate(CALLS, 1):
                    before = self._stage.look()
                    given = {"name": tool, "arguments": filled(arguments, names)}
                    told = client.ask("tools/call", given)
                    yield {
                        "step": f"{role} {number} {tool}",
                        "arguments": given["arguments"],
                        "json": self._stage.normaliser.value(_opened(told)),
                        "changed": self._stage.changes(before),
                    }

    def _methods(self, folder: Folder, start: Snapshot) -> Iterator[Step]:
        retarget(folder.names)
        door = fixing.workspace_class()
        root = self._stage.root
        with fixing.variables(self._stage.environment(NOW, {})):
            for role in roles_of(folder.name):
                self._stage.put_back(start)
                with door.open(root, role=role) as workspace:
                    for calling in EVERY:
                        if is_reading(calling) or calling.needs not in MAY[role]:
                            yield self._called(f"{role} {calling.name}", calling, workspace, start)
                for calling in EVERY:
                    if not is_reading(calling) and calling.needs in MAY[role]:
                        yield self._alone(f"{role} {calling.name}", calling, role, start)
                yield from self._views(role, start)

    def _called(self, step: str, calling: Calling, workspace: Any, start: Snapshot) -> Step:
        fixing.hold_still(step)
        told = asked(partial(calling.call, workspace))
        return {"step": step, **told, "changed": self._stage.changes(start)}

    def _alone(self, step: str, calling: Calling, role: str, start: Snapshot) -> Step:
        self._stage.put_back(start)
        door = fixing.workspace_class()
        prepared: dict[str, Any] = {}
        if calling.prepare is not None:
            fixing.hold_still(f"{step} prepared")
            with door.open(
                self._stage.root, role=role if getattr(calling, "is_own", False) else "person"
            ) as workspace:
                prepared = {"prepared": asked(partial(calling.prepare, workspace))}
        before = self._stage.look()
        fixing.hold_still(step)
        with door.open(self._stage.root, role=role) as workspace:
            told = asked(partial(calling.call, workspace))
        return {"step": step, **prepared, **told, "changed": self._stage.changes(before)}

    def _views(self, role: str, start: Snapshot) -> Iterator[Step]:
        door = fixing.workspace_class()
        for name, view in VIEWS.items():
            for label, ask in view.asked.items():
                self._stage.put_back(start)
                step = f"{role} {name}.{label}"
                fixing.hold_still(step)
                with door.open(self._stage.root, role=role) as workspace:
                    told = asked(partial(_of_view, view, ask, workspace))
                yield {"step": step, **told, "changed": self._stage.changes(start)}


def check_coverage() -> dict[str, int]:
    """Make sure that every command and method is recorded, and return how many there are.

    Raises:
        NotCovered: One is not.
    """
    commands = fixing.commands()
    lines = (*READING, *CHANGING)
    groups = {name for name, each in commands.items() if isinstance(each, click.Group)}
    if forgotten := [name for name in commands if not named(name, lines)]:
        raise NotCovered(f"commands.py has no line for {forgotten}")
    if missing := missing_methods():
        raise NotCovered(f"callings.py has no call of {sorted(missing)}")
    options = {(name, option) for name, each in commands.items() for option in _options(each)}
    used = {
        (name, option)
        for name, option in options
        for line in lines
        if named(name, (line,))
        or (name.rpartition(" ")[0] in groups and named(name.rpartition(" ")[0], (line,)))
        if option in shlex.split(line.words)
    }
    told = {
        "commands": len(commands),
        "options": len(options),
        "options used": len(used),
        "lines": len(lines),
    }
    told |= {"callings": len(EVERY), "methods": len({calling.method for calling in EVERY})}
    return told | {"tool calls": len(CALLS), "tools": len({name for name, _ in CALLS}) - 1}


def unused_options() -> list[str]:
    """Return the options of commands that no line gives, for whoever adds lines."""
    lines = (*READING, *CHANGING)
    told = {word for line in lines for word in shlex.split(line.words)}
    return [
        f"{name} {option}"
        for name, each in fixing.commands().items()
        for option in _options(each)
        if option not in told
    ]


def _options(command: click.Command) -> list[str]:
    shared = ("--json", "--workspace", "--role", "--help")
    found = (max(each.opts, key=len) for each in command.params if isinstance(each, click.Option))
    return [option for option in found if option not in shared]


def _check_tools(offered: set[str]) -> None:
    if missing := offered - {name for name, _ in CALLS}:
        raise NotCovered(f"tools.py calls none of {sorted(missing)}")


def _opened(told: dict[str, Any]) -> dict[str, Any]:
    """Put the JSON in the text of an answer in the text's place; it says how long a search took."""
    for part in told.get("result", {}).get("content", ()):
        try:
            part["text"] = json.loads(part["text"])
        except ValueError:
            continue
    return told


def _of_view(view: View, ask: Callable[[Any], object], door: Any) -> object:
    """Return what a view answers, and close it where that can be done."""
    given = view.get(door)
    try:
        if missing := view.missing(given):
            raise NotCovered(f"methods.py asks {type(given).__name__} for none of {sorted(missing)}")
        return ask(given)
    finally:
        if hasattr(given, "close"):
            given.close()


def _part(value: Any, path: str) -> str:
    """Return a part of an answer; what it lacks is named so that the next line fails in the same way each time."""
    for name in path.split("."):
        try:
            value = value[int(name) if isinstance(value, list) else name]
        except (LookupError, TypeError, ValueError):
            return "missing"
    return str(value)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give the folder that everything happens in: always the same, as its name's length moves where lines break.

    Raises:
        SystemExit: Another recording is under way.
    """
    shared = Path("/dev/shm")
    base = shared if shared.is_dir() else Path(tempfile.gettempdir()).resolve()
    with (base / "workbench-recording.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SystemExit("Another recording is under way; wait for its end.") from None
        yield base / "workbench-recording"
