"""A door with nothing behind it: it checks calls against the real one's signatures, and answers as told."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

from click.testing import CliRunner, Result

from workbench.cli.invocation import Invocation
from workbench.cli.root import workbench
from workbench.engine.workspace import Workspace


@dataclass
class Door:
    """Stands where the class `Workspace` does.

    Args:
        answers: By method: a result, an exception to raise, or a function of the call's arguments.
        calls: Every method called, with its arguments by name; `open` too.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    nearest: Path | None = None
    editor: str = ""
    warnings: tuple[str, ...] = ()

    def open(self, path: Path, **options: Any) -> Self:
        bound = inspect.signature(Workspace.open).bind(path, **options)
        self.calls.append(("open", dict(bound.arguments)))
        return self

    def find(self, start: Path) -> Path | None:
        return self.nearest

    @property
    def settings(self) -> SimpleNamespace:
        return SimpleNamespace(editor=self.editor, zone=UTC, timezone="UTC")

    @property
    def state(self) -> Path:
        return Path("no-state")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        real = getattr(Workspace, name)

        def call(*args: Any, **options: Any) -> Any:
            signature = inspect.signature(real)
            # A class method binds its class by itself, an instance method does not.
            first = () if inspect.ismethod(real) else (self,)
            arguments = signature.bind(*first, *args, **options).arguments
            arguments.pop("self", None)
            # What is asked by a request is told by the name of what is asked, and every field of the request.
            asked = name.removesuffix("_request")
            if asked != name:
                arguments = vars(arguments["request"])
            self.calls.append((asked, dict(arguments)))
            answer = self.answers[asked]
            if isinstance(answer, BaseException):
                raise answer
            return answer(**arguments) if inspect.isfunction(answer) else answer

        return call

    def called(self, name: str) -> dict[str, Any]:
        """Return the arguments of the last call of a method."""
        return next(arguments for method, arguments in reversed(self.calls) if method == name)


@dataclass
class Bench:
    """Runs command lines against a door."""

    door: Door
    folder: Path

    def run(self, *words: str, stdin: str | bytes | None = None, anywhere: bool = False) -> Result:
        """Run a command line on the folder; `anywhere` leaves it out."""
        place = [] if anywhere else ["-w", str(self.folder)]
        invocation = Invocation(door=cast(type[Workspace], self.door))
        return CliRunner().invoke(workbench, [*words, *place], input=stdin, obj=invocation)

    def json(self, *words: str, stdin: str | None = None, code: int = 0) -> Any:
        """Run a command line with `--json`; return what stdout says, which must be nothing but that."""
        result = self.run(*words, "--json", stdin=stdin)
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)
