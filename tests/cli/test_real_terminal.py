"""The program at a real terminal: it asks, it is coloured unless told not to be, and it fits."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.program import Program

COLOUR = re.compile("\x1b\\[[0-9;]*m")


def at_terminal(program: Program, *words: str, types: str = "") -> tuple[int, str]:
    """Run a command line at a terminal of its own; return its exit code and all that was shown."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", *words],
        cwd=program.folder,
        env={**program.environment, "TERM": "xterm-256color"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        close_fds=True,
    )
    os.close(slave)
    os.write(master, types.encode())
    shown = b""
    # The end of a terminal is an error on Linux.
    with contextlib.suppress(OSError):
        while piece := os.read(master, 65_536):
            shown += piece
    os.close(master)
    return process.wait(60), shown.decode().replace("\r\n", "\n")


@pytest.fixture
def episode(agent: Program) -> str:
    said = ("We chose the hybrid approach for Apollo", "--store", "episodic")
    return str(json.loads(agent.inside("remember", *said, "--json").stdout)["id"])


def test_forgetting_asks_and_does_what_it_is_told(agent: Program, episode: str) -> None:
    code, shown = at_terminal(agent, "forget", "hybrid", types="n\n")
    assert code == 0
    assert "Archive this memory? [y/N]" in shown
    assert "Nothing was changed." in shown
    assert agent.json("search", "hybrid")["results"]
    code, shown = at_terminal(agent, "forget", "hybrid", types="y\n")
    assert code == 0
    assert "workbench restore" in shown
    assert episode in shown
    agent.json("search", "hybrid", code=3)


def test_setting_the_history_aside_asks(agent: Program) -> None:
    code, shown = at_terminal(agent, "doctor", "--set-aside-history", types="n\n")
    assert code == 0
    assert "start over?" in shown
    assert (agent.folder / ".audit").is_dir()


@pytest.mark.usefixtures("episode")
def test_colours_show_unless_they_are_not_wanted(agent: Program) -> None:
    _, coloured = at_terminal(agent, "core")
    assert COLOUR.search(coloured)
    _, plain = at_terminal(agent.with_environment(NO_COLOR="1"), "core")
    assert not COLOUR.search(plain)
    assert COLOUR.sub("", coloured) == plain


def test_a_memory_cannot_take_the_terminal_over(agent: Program) -> None:
    (agent.folder / "memory" / "2026-02-01.md").write_bytes(
        "- tea \x1b[2J\x1b]0;owned\x07 \u202eevil \x9b31m\n".encode()
    )
    for words in (["get", "memory/2026-02-01.md"], ["search", "tea"], ["search", "tea", "--json"]):
        _, shown = at_terminal(agent, *words)
        assert "tea" in shown
        assert not set("\x07\x9b\u202e") & set(shown)
        # Progress, where it takes that long, wipes its line itself.
        assert "\x1b" not in COLOUR.sub("", shown).replace("\x1b[K", "")


def test_without_a_git_program_it_says_so_once_and_goes_on(agent: Program, tmp_path: Path) -> None:
    bare = agent.with_environment(PATH=str(tmp_path / "nothing"))
    done = bare.run("remember", "We chose tea", "--store", "episodic")
    assert done.returncode == 0
    assert done.stderr.count("git program is missing") == 1
    assert "git" not in bare.run("core").stderr
    assert any("git" in warning for warning in bare.json("core", "add", "Persona", "Be brief")["warnings"])


def test_verify_reads_all_and_tells_of_a_rewritten_history(agent: Program, tmp_path: Path) -> None:
    agent.json("remember", "We chose tea", "--store", "episodic")
    agent.json("remember", "We chose cups", "--store", "episodic")
    assert agent.json("audit", "verify", "--deep")["ok"]
    _, shown = at_terminal(agent, "audit", "verify", "--deep")
    assert "Checking " in shown
    bare = agent.with_environment(PATH=str(tmp_path / "nothing"))
    refused = bare.json("audit", "verify", "--deep", code=1)
    assert "git program is missing" in refused["error"]["message"]
    assert "Install git" in refused["error"]["remedy"]
    branch = agent.folder / ".audit/refs/heads/main"
    branch.unlink()
    (problem,) = agent.json("audit", "verify", code=1)["problems"]
    assert problem["kind"] == "rewritten"
    alert = problem["detail"].rpartition(" ")[2]
    assert agent.json("audit", "ack", alert)["ok"]
    assert agent.json("audit", "verify", "--deep")["ok"]


def test_the_log_counts_actions_for_people_and_entries_for_programs(agent: Program) -> None:
    for number in range(3):
        agent.json("remember", f"We chose {number} cups", "--store", "episodic")
    told = agent.run("audit", "log", "--limit", "2", "--actor", "manual").stdout
    assert sum(line.startswith("20") for line in told.splitlines()) <= 2
    entries = agent.json("audit", "log", "--limit", "2")["entries"]
    assert len(entries) == 2
    assert {
        "group",
        "actionCommits",
        "timestamp",
        "action",
        "file",
        "actor",
        "approval",
        "summary",
        "commit",
    } == set(entries[0])


def test_an_agents_shell_makes_no_workspace(agent: Program, tmp_path: Path) -> None:
    done = agent.with_environment(WORKBENCH_ROLE="agent:scout").run("init", str(tmp_path / "new"))
    assert done.returncode == 5
    assert not (tmp_path / "new").exists()
