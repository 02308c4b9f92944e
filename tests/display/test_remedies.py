"""What the engine says of errors, as the bench says it: nobody is sent to the shell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench.engine
import workbench.tui
from workbench.display.remedies import SHELL, in_bench, told_in_bench
from workbench.engine.errors import NotFound

_ENGINE = Path(workbench.engine.__file__).parent
_TUI = Path(workbench.tui.__file__).parent


def texts_of(file: Path) -> Iterator[str]:
    """Yield the texts that a module can say, with an ellipsis for what is filled in; no docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    passed: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            passed.update(map(id, node.values))
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            yield node.value


def test_no_remedy_of_the_engine_sends_a_person_to_the_shell() -> None:
    told = {text for file in _ENGINE.rglob("*.py") for text in texts_of(file) if SHELL.search(text)}
    assert len(told) > 100
    assert {text: said for text in told if SHELL.search(said := in_bench(text))} == {}


def test_no_text_of_the_bench_names_a_command_of_the_shell() -> None:
    files = list(_TUI.rglob("*.py"))
    assert len(files) > 60
    named = re.compile(r"\bworkbench [a-z]")
    assert [(file.name, text) for file in files for text in texts_of(file) if named.search(text)] == []


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("Find its id with: workbench search WORDS", "Ask for it."),
        ("Did you mean Inês?", "Did you mean Inês?"),
        (
            "Put .audit back from a backup, or begin a new history with: workbench init",
            "Put .audit back from a backup. Index and health begins a history.",
        ),
        (
            "Decide in the bench or with `workbench review`, or run it again with --renew.",
            "Decide in the bench.",
        ),
        (
            "Free some memory or use a smaller model. Then try it again: workbench doctor",
            "Free some memory or use a smaller model. Index and health says what is the matter.",
        ),
        (
            "2 more sessions ended and are not saved: workbench sessions",
            "2 more sessions ended and are not saved. Sessions lists it.",
        ),
        ("Set it in workbench.toml.", "Set it in workbench.toml."),
    ],
)
def test_what_the_bench_does_itself_is_said_in_its_words(told: str, said: str) -> None:
    assert in_bench(told) == said


def test_an_error_is_told_as_sentences() -> None:
    error = NotFound("There is no such memory", remedy="Find its id with: workbench search WORDS")
    assert told_in_bench(error) == "There is no such memory. Ask for it."
    assert told_in_bench(NotFound("Gone.", remedy="Run: pip install 'memory-workbench[local]'.")) == "Gone."
