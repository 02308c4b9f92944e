"""Help that teaches, the reference made from it, completion, and how little `--help` costs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.door import Bench
from tests.cli.program import Program
from workbench.cli.command import BenchGroup, Teaching
from workbench.cli.reference import render_page, render_reference, render_table
from workbench.cli.root import COMMANDS, workbench

HEAVY = (
    "pygit2",
    "workbench.engine.results",
    "textual",
    "openai",
    "apsw",
    "rich",
    "workbench.engine.services",
    "workbench.engine.workspace",
    "workbench.cli.audit",
)


def every_command() -> Iterator[tuple[str, Teaching]]:
    context = click.Context(workbench)
    for name in COMMANDS:
        found = workbench.get_command(context, name)
        assert isinstance(found, Teaching)
        yield name, found
        if isinstance(found, BenchGroup):
            for below, command in found.commands.items():
                assert isinstance(command, Teaching)
                yield f"{name} {below}", command


EVERY = list(every_command())
every = pytest.mark.parametrize(("name", "command"), EVERY, ids=[name for name, _ in EVERY])


@every
def test_each_command_says_its_purpose_in_a_sentence(name: str, command: Teaching) -> None:
    assert command.short_help
    assert not command.short_help.endswith(".")
    assert len(command.short_help) < 80


@every
def test_each_command_has_an_example_and_says_what_it_answers(name: str, command: Teaching) -> None:
    if not command.hidden:
        assert command.answers.endswith("?")
        assert command.examples


@every
def test_each_example_is_understood(name: str, command: Teaching, monkeypatch: pytest.MonkeyPatch) -> None:
    for example in command.examples:
        assert not set(example) & set("“”"), "a shell takes these for letters, not for quotation marks"
        line = re.sub(
            r"\s*[<>].*", "", example.split("$(")[-1].split(")")[0] if "eval" in example else example
        )
        words = shlex.split(line.split("|")[-1])
        assert words[0] == "workbench"
        assert words[1] == name.split()[0]
        with workbench.make_context("workbench", words[1:]) as context:
            _, found, rest = workbench.resolve_command(context, [*context._protected_args, *context.args])
            assert found is not None
            if isinstance(found, BenchGroup):
                with found.make_context(found.name, rest, parent=context) as inner:
                    _, deepest, rest = found.resolve_command(inner, [*inner._protected_args, *inner.args])
                    assert deepest is not None
                    deepest.make_context(deepest.name, rest, parent=inner)
            else:
                found.make_context(found.name, rest, parent=context)


@every
def test_each_help_fits_eighty_columns(bench: Bench, name: str, command: Teaching) -> None:
    result = bench.run(*name.split(), "--help", anywhere=True)
    assert result.exit_code == 0
    assert command.short_help is not None
    assert " ".join(command.short_help.split()[:4]) in result.stdout
    for line in result.stdout.splitlines():
        assert len(line) <= 80 or "workbench" in line, line


def test_the_help_of_a_group_shows_both_of_its_uses(bench: Bench) -> None:
    text = bench.run("graph", "--help", anywhere=True).stdout
    assert "workbench graph [ENTITY] [OPTIONS]" in text
    assert "merge" in text
    assert "--depth" in text


def test_every_command_stands_under_a_topic(bench: Bench) -> None:
    text = bench.run("--help", anywhere=True).stdout
    assert all(re.search(rf"^  {name} ", text, re.MULTILINE) for name in COMMANDS)


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_command_does_not_look_its_own_work_through_for_garbage() -> None:
    code = (
        "import gc\nfrom workbench.cli import run\n"
        "try:\n    run(['--help'])\nexcept SystemExit as done:\n    assert done.code == 0\n"
        "assert gc.isenabled()\nprint(gc.get_threshold()[0])"
    )
    assert int(run_python(code).splitlines()[-1]) >= 100_000


@pytest.mark.parametrize(
    ("words", "stays"),
    [
        (["mcp"], "workbench.mcp.stdio.serve_stdio"),
        (["mcp", "--http", "--port", "0"], "workbench.mcp.http.serve_http"),
        (["daemon"], "workbench.engine.daemon.loop.Daemon.run"),
    ],
)
def test_what_stays_looks_for_garbage_as_any_program_does(bench: Bench, words: list[str], stays: str) -> None:
    code = (
        "import gc\nfrom unittest.mock import patch\nfrom workbench.cli import run\n"
        f"with patch({stays!r}, lambda *_: print(gc.get_threshold())):\n"
        f"    run({[*words, '--workspace', str(bench.folder)]!r})"
    )
    assert run_python(code).splitlines()[0] == "(700, 10, 10)"


def test_help_imports_nothing_heavy() -> None:
    loaded = run_python(
        "import sys\nfrom workbench.cli import run\n"
        "try:\n    run(['--help'])\nexcept SystemExit as done:\n    assert done.code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert loaded.splitlines()[-1] == "[]"


def test_a_command_imports_only_its_own_module() -> None:
    loaded = run_python(
        "import sys\nfrom workbench.cli import run\n"
        "try:\n    run(['pin', '--help'])\nexcept SystemExit as done:\n    assert done.code == 0\n"
        "print(sorted(name for name in sys.modules if name.startswith('workbench.cli.')))"
    )
    names = {
        name.removeprefix("workbench.cli.") for name in json.loads(loaded.splitlines()[-1].replace("'", '"'))
    }
    assert names == {
        "command",
        "forget",
        "invocation",
        "root",
    }


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_names_the_program(bench: Bench, shell: str) -> None:
    script = bench.run("completion", shell, anywhere=True).stdout
    assert "_WORKBENCH_COMPLETE" in script
    assert bench.json("completion", shell)["script"] == script


def test_completion_completes() -> None:
    environment = {
        **os.environ,
        "_WORKBENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": "workbench audit ver",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "workbench"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "plain,verify\n"


def test_the_version_is_said(bench: Bench) -> None:
    from workbench import __version__

    assert bench.run("--version", anywhere=True).stdout == f"workbench {__version__}\n"


def test_the_table_has_a_row_for_every_command() -> None:
    rows = render_table().splitlines()[2:]
    assert [re.split(r"[` ]", row)[2] for row in rows] == list(COMMANDS)
    assert "| `graph [ENTITY] · path · merge · unmerge · rename · link · unlink | " not in rows
    assert all(row.count("|") - row.count("\\|") == 3 for row in rows)


def test_the_reference_shows_every_command_with_its_options_and_examples() -> None:
    text = render_reference()
    for name, command in EVERY:
        if not command.hidden and not name.endswith(" log"):
            assert re.search(rf"^#+ {name}$", text, re.MULTILINE), name
        for example in command.examples:
            assert example in text or name.endswith(" log")
    assert "`--forecast DAYS`" in text
    assert text.count("--workspace PATH") == 1


def test_the_page_of_commands_is_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "commands.md"
    assert page.read_text(encoding="utf-8") == render_page(), "Run: python -m workbench.cli.reference"


LIGHT = ("pygit2", "apsw", "openai", "textual", "rich", "markdown_it", "tomlkit", "json5", "watchdog", "hmac")


def loaded_by(agent: Program, *arguments: str) -> list[str]:
    """Return the names of the modules that a command loads in a process of its own."""
    code = (
        "import json, sys\nfrom workbench.cli import run\n"
        "try:\n    run(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print()\nprint(json.dumps(list(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=agent.folder,
        env=agent.environment,
    )
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


def test_core_memory_is_shown_without_anything_heavy(agent: Program) -> None:
    loaded = loaded_by(agent, "core", "--json")
    assert "workbench.engine.memory.core" in loaded
    assert [name for name in loaded if name in LIGHT or name.startswith("workbench.cli.remember")] == []


def test_results_as_json_are_found_without_loading_what_draws_them(agent: Program) -> None:
    loaded = loaded_by(agent, "search", "anything", "--json")
    assert "workbench.engine.search.ranking.search" in loaded
    assert [
        name for name in loaded if name.startswith(("workbench.display.memories", "workbench.display.card"))
    ] == []
