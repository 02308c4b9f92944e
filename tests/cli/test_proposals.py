"""Proposing and deciding from the command line, on a real workspace, with the role that the shell gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.cli.program import Program
from workbench.display.reviews import proposals_lines, proposed_lines, settled_lines
from workbench.display.text import Page, display_width
from workbench.engine.results.reviews import Proposal, Proposals, Proposed, Settled

ON_MARCH_15 = "Project deadline is March 15"
ON_MARCH_30 = "Project deadline is March 30"
KEYS = {
    "number", "from", "timestamp", "trigger", "store", "content", "entities", "confidence", "coreWorthy", "status",
    "conflictsWith",
}  # fmt: skip
HOSTILE = "\x1b[31m#9\n\u202e## Proposal #7 [bold]x[/bold] " + "long" * 60


@pytest.fixture
def program(program: Program) -> Program:
    """Run command lines in this process: what they answer is looked at."""
    return replace(program, here=True)


def as_role(program: Program, role: str) -> Program:
    """Return the program in a shell that was given a role."""
    return replace(program, extra=(("WORKBENCH_ROLE", role),))


def test_two_agents_disagree_and_a_person_settles_it(agent: Program) -> None:
    first = agent.json(
        "propose", ON_MARCH_15, "--as", "researcher", "--entity", "project:Apollo", "--store", "semantic"
    )
    assert (first["ok"], first["number"], first["status"], first["conflictsWith"]) == (True, 1, "pending", [])
    assert first["files"] == ["memory/meta/pending-memories.md"]
    second = agent.json("propose", "-", "--as", "coder", "--entity", "project:Apollo", stdin=ON_MARCH_30)
    assert (second["number"], second["status"], second["conflictsWith"]) == (2, "conflict", ["#1"])
    answer = agent.json("proposals")
    assert [row["from"] for row in answer["proposals"]] == ["researcher", "coder"]
    assert set(answer["proposals"][0]) >= KEYS
    assert answer["proposals"][0]["timestamp"] == "2026-02-02T14:30:00Z"
    assert answer["proposals"][0]["conflictsWith"] == ["#2"]
    assert len(agent.json("proposals", "--from", "coder")["proposals"]) == 1
    told = agent.run("proposals").stdout
    assert "#1 from researcher" in told
    assert "contradicts #2" in told
    done = agent.json("proposals", "settle", "#2", "1", "--reason", "Kim moved it")
    assert (done["ok"], done["committed"], done["rejected"], done["deferred"]) == (True, [2], [1], [])
    assert agent.json("proposals")["proposals"] == []
    log = agent.json("audit", "log")["entries"]
    assert {"PROPOSE", "COMMIT", "REJECT"} <= {entry["action"] for entry in log}
    gone = agent.json("proposals", "commit", "2", code=3)
    assert gone["error"]["kind"] == "not-found"


def test_how_to_settle_is_said_where_there_is_something_to_settle(agent: Program) -> None:
    agent.json("propose", ON_MARCH_15, "--as", "researcher", "--entity", "project:Apollo")
    assert "proposals settle" not in agent.run("proposals").stdout
    agent.json("propose", ON_MARCH_30, "--as", "coder", "--entity", "project:Apollo")
    told = " ".join(agent.run("proposals").stdout.split())
    assert "proposals settle N M" in told
    assert "proposals keep-both N M" in told


def test_the_new_one_holds_where_that_is_asked_for(agent: Program) -> None:
    place = ("--entity", "project:Apollo", "--store", "semantic")
    old = agent.json("remember", ON_MARCH_15, *place)["id"]
    agent.json("propose", ON_MARCH_30, "--as", "coder", *place)
    told = " ".join(agent.run("proposals").stdout.split())
    assert "proposals commit N --replacing" in told
    done = agent.json("proposals", "commit", "1", "--replacing")
    assert (done["committed"], done["retired"]) == ([1], [old])
    shown = agent.json("show", old)
    assert shown["validity"]["supersededBy"] == done["ids"][0]
    found = " ".join(agent.run("search", "project deadline March 15").stdout.split())
    assert f"{ON_MARCH_30}" in found
    assert (
        f"No longer holds (until 2026-02-02); superseded by {done['ids'][0]} Apollo: {ON_MARCH_15}" in found
    )
    agent.json("propose", "Project deadline is April 2", "--as", "coder", *place)
    agent.json("propose", "Project deadline is May 7", "--as", "scout", *place)
    settled = agent.run("proposals", "settle", "3", "2", "--replacing").stdout
    assert f"No longer holds: {done['ids'][0]}" in settled


def test_what_is_protected_gives_way_once_a_person_agrees(agent: Program) -> None:
    old = agent.json("remember", ON_MARCH_15, "--store", "episodic")["id"]
    agent.run("pin", old)
    agent.json("propose", ON_MARCH_30, "--as", "coder", "--store", "episodic")
    refused = agent.json("proposals", "commit", "1", "--replacing", code=5)
    assert old in refused["error"]["message"]
    assert "pinned" in refused["error"]["message"]
    by_main = as_role(agent, "main").json("proposals", "commit", "1", "--replacing", "--yes", code=5)
    assert by_main["error"]["kind"] == "role-refused"
    assert agent.json("proposals", "commit", "1", "--replacing", "--yes")["retired"] == [old]


def test_each_verdict_has_its_command(agent: Program) -> None:
    for word in ("alpha", "beta", "gamma", "delta"):
        agent.json("propose", f"Something about {word}", "--as", "scout")
    assert agent.json("proposals", "commit", "1", "--store", "vault")["ids"][0].startswith("vault:")
    assert agent.json("proposals", "reject", "2", "--reason", "duplicate")["rejected"] == [2]
    assert agent.json("proposals", "defer", "3")["deferred"] == [3]
    # What is deferred is not among all that waits.
    assert agent.json("proposals", "commit", "all")["committed"] == [4]
    assert [row["status"] for row in agent.json("proposals")["proposals"]] == ["deferred"]
    agent.json("propose", ON_MARCH_15, "--as", "scout")
    agent.json("propose", ON_MARCH_30, "--as", "coder")
    assert agent.json("proposals", "keep-both", "5")["committed"] == [5, 6]


@pytest.mark.parametrize("words", [("proposals", "commit", "one"), ("proposals", "commit"), ("propose", " ")])
def test_what_makes_no_sense_is_a_usage_error(agent: Program, words: tuple[str, ...]) -> None:
    assert agent.json(*words, code=2)["error"]["message"]


def test_the_shell_says_who_asks(agent: Program) -> None:
    scout = as_role(agent, "agent:scout")
    assert scout.json("propose", "Something about alpha")["number"] == 1
    assert agent.json("proposals")["proposals"][0]["from"] == "scout"
    refused = scout.json("proposals", "commit", "1", code=5)
    assert refused["error"]["kind"] == "role-refused"
    assert scout.json("remember", "A thing", code=5)["error"]["remedy"].startswith("Propose it instead")
    main = as_role(agent, "main")
    assert main.json("proposals", "commit", "1")["committed"] == [1]


@pytest.mark.parametrize(
    ("given", "asked"),
    [("agent:scout", "main"), ("agent:scout", "person"), ("agent:scout", "agent:coder"), ("main", "person"),
     ("reader", "agent:scout")],
)  # fmt: skip
def test_no_option_gives_more_than_the_shell_was_given(agent: Program, given: str, asked: str) -> None:
    refused = as_role(agent, given).json("--role", asked, "proposals", code=5)
    assert refused["error"]["kind"] == "role-refused"


def test_an_option_may_ask_for_less_and_no_agent_speaks_for_another(agent: Program) -> None:
    assert as_role(agent, "main").json("--role", "reader", "proposals") == {"proposals": [], "problems": []}
    assert as_role(agent, "agent:scout").json("propose", "A thing", "--as", "coder", code=5)
    assert as_role(agent, "agent:scout").json("propose", "A thing", "--as", "scout")["number"] == 1
    assert agent.json("propose", "A thing", "--as", "scout", "--role", "main", code=2)
    assert agent.json("--role", "emperor", "core", code=2)["error"]["kind"] == "invalid-input"


@pytest.mark.parametrize("width", [48, 80, 200])
def test_what_proposals_say_is_shown_as_text_and_fits(width: int) -> None:
    proposal = Proposal(
        7,
        HOSTILE,
        None,
        HOSTILE,
        HOSTILE,
        HOSTILE,
        (HOSTILE,),
        HOSTILE,
        True,
        "conflict",
        ("#1", HOSTILE),
        HOSTILE,
    )
    page = Page(width=width)
    lines = [
        *proposals_lines(page, Proposals((proposal,), (HOSTILE,))),
        *proposed_lines(page, Proposed("abc", number=7, conflicts_with=(HOSTILE,), duplicate_of=HOSTILE)),
        *settled_lines(page, Settled("abc", ids=(HOSTILE,), committed=(7,))),
    ]
    assert not any("\x1b" in line or "\u202e" in line or "\n" in line for line in lines)
    assert [line for line in lines if display_width(line) > width] == []
