"""The program for one person or one group: `--scope`, and `WORKBENCH_SCOPE`, which nothing on the line widens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.cli.program import Program

FAMILY = ("--scope", "group:family")


@pytest.fixture
def program(program: Program) -> Program:
    """Run command lines in this process: what they answer is looked at."""
    return replace(program, here=True)


@pytest.fixture
def family(agent: Program) -> Program:
    agent.json("remember", "The tent is in the cellar", "--for", "group:family", "--store", "episodic")
    agent.json("remember", "The salary tent costs a fortune", "--store", "episodic")
    return agent


def test_for_whom_a_memory_is_is_told(agent: Program) -> None:
    said = ("remember", "The stove is in the shed", "--store", "episodic")
    assert "for         group:family" in agent.run(*said, "--for", "group:family").stdout
    assert "for  " not in agent.run("remember", "The mat is blue", "--store", "episodic").stdout


def test_a_scope_finds_what_is_for_it(family: Program) -> None:
    found = family.json("search", "tent", *FAMILY)["results"]
    assert [hit["snippet"] for hit in found] == ["The tent is in the cellar"]
    assert "cellar" in family.json("show", found[0]["id"], *FAMILY)["text"]
    assert "salary" in family.run("search", "tent").stdout
    brief = family.run("brief", *FAMILY).stdout
    assert "cellar" in brief
    assert "salary" not in brief
    assert family.run("search", "salary", "--scope", "group:work").returncode == 3


def test_a_scope_remembers_and_proposes_for_itself(family: Program) -> None:
    kept = family.json("remember", "The bus leaves at nine", *FAMILY)
    assert "nine" in family.json("show", kept["id"], *FAMILY)["text"]
    assert family.json("message", "Remember that Otto sings", *FAMILY)["applied"] is True
    assert "waits" in family.run("propose", "The bus is blue", "--as", "scout", *FAMILY).stdout
    assert family.json("proposals")["proposals"][0]["scope"] == "group:family"
    assert "owner" in family.run("message", "Forget about the tent", *FAMILY).stdout
    assert "nine" in family.run("search", "bus leaves").stdout


def test_the_environment_leaves_nothing_else(family: Program) -> None:
    narrowed = replace(family, extra=(("WORKBENCH_SCOPE", "group:family"),))
    assert "cellar" in narrowed.run("search", "tent").stdout
    assert "salary" not in narrowed.run("search", "tent").stdout
    assert narrowed.run("search", "tent", "--scope", "group:work").returncode == 5
    for words in (
        ("core",), ("get", "MEMORY.md"), ("audit", "log"), ("proposals",), ("graph",), ("decay",), ("doctor",),
        ("forget", "tent", "--yes"), ("undo",), ("sessions",), ("secrets",), ("index",), ("agents-md", "--mcp", "json"),
        ("mcp", "--scope", "group:work"), ("export", "x"), ("review",), ("init",), ("open",), (),
    ):  # fmt: skip
        answer = narrowed.run(*words)
        assert answer.returncode != 0, words
        assert "salary" not in answer.stdout + answer.stderr, words
    assert "group:family" in narrowed.run("agents-md").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("search", "x", "--scope", "everyone"),
        ("search", "x", "--why-not", "y", *FAMILY),
        ("remember", "x", "--for", "shared", *FAMILY),
        ("remember", "x", "--for", "nobody"),
        ("propose", "x y", "--core-worthy", *FAMILY),
        ("agents-md", "--skill", *FAMILY),
    ],
)
def test_what_makes_no_sense_is_refused(family: Program, words: tuple[str, ...]) -> None:
    assert family.run(*words).returncode == 2
