"""What the engine says of errors, as the bench says it: nobody is sent to the shell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench.engine
import workbench.tui
from workbench.display import words
from workbench.display.words import SHELL, in_bench, told_in_bench
from workbench.engine.errors import NotFound


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("agent:main:main", "main"),
        ("agent:critic:main", "critic main"),
        ("agent:main:subagent:3f2a", "3f2a"),
        ("agent:main:telegram:group:12", "telegram:group:12"),
        ("notes", "notes"),
        ("", ""),
    ],
)
def test_a_session_goes_by_what_tells_it_from_others(key: str, name: str) -> None:
    assert words.session(key) == name


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("file:memory/2023-05-08.md#L7-L7", "memory/2023-05-08.md, line 7"),
        ("file:memory/2023-05-08.md#L7-L9", "memory/2023-05-08.md, lines 7–9"),
        ("source:file:notes.md#L3", "notes.md, line 3"),
        ("file:notes.md", "notes.md"),
        ("user-explicit", "you said so"),
        ("user-explicit on 2026-10-04", "you said so on 4 Oct 2026"),
        ("subagent:critic on 2026-10-04", "proposed by critic on 4 Oct 2026"),
        ("somebody on 2026-10-04", "somebody on 2026-10-04"),
    ],
)
def test_where_a_memory_comes_from_is_said_in_words(source: str, said: str) -> None:
    assert words.origin(source) == said


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (0, 3000, 0),
        (1, 3000, 1),
        (269, 3000, 9),
        (867, 1000, 87),
        (2999, 3000, 99),
        (3000, 3000, 100),
        (6, 4, 150),
    ],
)
def test_a_share_is_rounded_to_the_nearest_but_neither_to_nothing_nor_to_full(
    part: int, whole: int, said: int
) -> None:
    assert words.percent(part, whole) == said


def test_a_correction_is_read_without_the_id_of_what_it_corrects() -> None:
    said = words.without_id("Correction of episode:2026-11-24:07:45#2: Mei comes on Friday")
    assert said == "Correction: Mei comes on Friday"
    assert words.without_id("Mei said: Correction of episode:2026-11-24:07:45: no") != "Correction: no"


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
