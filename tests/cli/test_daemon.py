"""The daemon as real processes: what it notices, that one runs alone, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.cli.program import Program

# Nothing is waited for by the clock; this only keeps a test that has gone wrong from hanging.
WATCHDOG = 60
Line = dict[str, Any]


class Running:
    """A daemon that was started, and the lines of its log."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[Line] = []

    def until(self, wanted: Callable[[Line], bool]) -> Line:
        """Read its log until a line is as wanted."""
        assert self.process.stderr is not None
        for text in self.process.stderr:
            line: Line = json.loads(text)
            self.lines.append(line)
            if wanted(line):
                return line
        raise AssertionError(f"It ended before that: {self.lines}")

    def until_told(self, what: str, part: str = "") -> Line:
        return self.until(lambda line: line["what"] == what and part in line["text"])

    def ends(self) -> int:
        """Read what it says until its end; return its exit code."""
        assert self.process.stderr is not None
        self.lines += [json.loads(text) for text in self.process.stderr]
        return self.process.wait(WATCHDOG)


@contextmanager
def ignored(number: signal.Signals | None) -> Iterator[None]:
    """Ignore a signal for a while; what is started meanwhile ignores it for good."""
    if number is None:
        yield
        return
    usual = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, usual)


@contextmanager
def daemon(agent: Program, ignoring: signal.Signals | None = None) -> Iterator[Running]:
    with ignored(ignoring):
        process = agent.start("daemon", "--json")
    watchdog = threading.Timer(WATCHDOG, process.kill)
    watchdog.start()
    try:
        running = Running(process)
        running.until_told("ready")
        yield running
    finally:
        watchdog.cancel()
        process.kill()
        process.wait(WATCHDOG)
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def hook(agent: Program, moment: str, given: str) -> tuple[str, bool]:
    """Run a hook as a client does; return what it says, and whether it was told without looking for itself."""
    words = ["hook", moment, "--client", "codex", "--workspace", str(agent.folder)]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "workbench", *words],
        env=agent.environment, input=given, capture_output=True, text=True, timeout=WATCHDOG, check=True,
    )  # fmt: skip
    return done.stdout, "workbench.cli.hook_moment" not in done.stderr


def test_hooks_are_told_by_the_daemon_what_they_are_told_without_it(agent: Program) -> None:
    agent = agent.with_environment(WORKBENCH_REFLECTION_FREQUENCY="manual")
    agent.json("remember", "The lighthouse keeper is called Tove", "--store", "episodic")
    prompt = '{"hook_event_name": "UserPromptSubmit", "prompt": "Who is the lighthouse keeper?"}'
    asked = (("session-start", '{"hook_event_name": "SessionStart"}'), ("prompt", prompt))
    # On a busy machine a hook may lose its patience: alone it says nothing then, with a daemon it looks for itself.
    alone = [next(filter(lambda it: it[0], (hook(agent, *each) for _ in range(20)))) for each in asked]
    assert not any(is_quick for _, is_quick in alone)
    with daemon(agent):
        for each, (told, _) in zip(asked, alone, strict=True):
            answers = (hook(agent, *each) for _ in range(20))
            assert next(answer for answer, is_quick in answers if is_quick) == told
            assert "Tove" in told
    assert hook(agent, *asked[0]) == (alone[0][0], False)


def status(agent: Program) -> Any:
    return agent.json("daemon", "status")


def test_edits_from_outside_are_taken_in_as_a_persons_and_found(agent: Program) -> None:
    with daemon(agent) as running:
        (agent.folder / "memory" / "2026-02-02.md").write_text("# Today\n\nThe lighthouse is green.\n")
        assert "memory/2026-02-02.md" in running.until_told("adopt")["text"]
        running.until_told("sync")
        assert agent.json("search", "lighthouse")["results"]
        assert agent.json("audit", "log", "--limit", "1")["entries"][0]["actor"] == "manual"
        said = status(agent)
        assert said["running"] is True
        assert said["pid"] == running.process.pid
        assert said["lastAdoption"]
        assert said["lastSync"]


def test_a_change_of_a_critical_file_raises_an_alert(agent: Program) -> None:
    with daemon(agent) as running:
        (agent.folder / "SOUL.md").write_text("# Soul\n\nYou are loud.\n")
        assert "1 alert raised" in running.until_told("adopt", "SOUL.md")["text"]
    assert agent.json("audit", "alerts")["alerts"][0]["file"] == "SOUL.md"


def test_what_is_new_is_reflected_on_and_nothing_is_applied(agent: Program) -> None:
    agent.json("remember", "Robin moved to Lisbon and works at the harbour now", "--store", "episodic")
    core = agent.files()["MEMORY.md"]
    with daemon(agent) as running:
        assert [line["text"][:5] for line in running.lines if line["what"] == "reflect"] == ["r-001"]
    assert agent.files()["MEMORY.md"] == core
    assert agent.json("review")["id"] == "r-001"
    reflections = agent.json("audit", "log", "--actor", "bot:reflection")["entries"]
    assert [entry["approval"] for entry in reflections] == ["pending"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(agent: Program, number: signal.Signals) -> None:
    with daemon(agent) as running:
        os.kill(running.process.pid, number)
        assert running.ends() == 0
        assert running.lines[-1]["text"] == f"Ended by {number.name}."
    said = status(agent)
    assert (said["running"], said["died"]) == (False, False)
    assert said["ended"]
    assert agent.json("audit", "verify")["ok"] is True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_it_was_started_to_ignore_does_not_end_it(
    agent: Program, number: signal.Signals
) -> None:
    with daemon(agent, ignoring=number) as running:
        os.kill(running.process.pid, number)
        os.kill(running.process.pid, signal.SIGTERM)
        assert running.ends() == 0
        assert running.lines[-1]["text"] == "Ended by SIGTERM."


def test_a_second_one_says_which_runs(agent: Program) -> None:
    with daemon(agent) as running:
        error = agent.json("daemon", code=4)["error"]
        assert str(running.process.pid) in error["message"]
        assert running.process.poll() is None


def test_of_two_that_start_at_once_one_runs(agent: Program) -> None:
    both = [agent.start("daemon", "--json") for _ in range(2)]
    watchdog = [threading.Timer(WATCHDOG, process.kill) for process in both]
    for timer in watchdog:
        timer.start()
    # The one that is refused has nothing to log: its stream ends with it.
    logged = [process.stderr.readline() for process in both if process.stderr is not None]
    codes = []
    for process in both:
        process.terminate()
        process.communicate()
        codes.append(process.returncode)
    for timer in watchdog:
        timer.cancel()
    assert sorted(map(bool, logged)) == [False, True]
    assert sorted(codes) == [0, 4]


def test_stop_ends_it_and_waits(agent: Program) -> None:
    with daemon(agent) as running:
        assert agent.json("daemon", "stop") == {"stopped": True, "pid": running.process.pid}
        assert running.ends() == 0
    assert agent.json("daemon", "stop") == {"stopped": False, "pid": None}


def test_one_that_was_killed_is_told_of_and_hinders_nobody(agent: Program) -> None:
    with daemon(agent) as running:
        (agent.folder / "MEMORY.md").write_text("# Memory\n\nSomething else.\n")
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait(WATCHDOG)
    said = status(agent)
    assert (said["running"], said["died"], said["pid"]) == (False, True, running.process.pid)
    (check,) = [one for one in agent.json("doctor", code=0)["checks"] if one["name"] == "daemon"]
    assert check["state"] == "degraded"
    with daemon(agent):
        assert status(agent)["running"] is True
    assert agent.json("audit", "verify")["ok"] is True


@pytest.mark.parametrize("gone", ["deleted", "moved"])
def test_it_ends_with_its_workspace_and_leaves_nothing_in_its_place(agent: Program, gone: str) -> None:
    with daemon(agent) as running:
        if gone == "deleted":
            shutil.rmtree(agent.folder)
        else:
            elsewhere = agent.folder.rename(agent.folder.with_name("elsewhere"))
            # Without a change there it would notice within the minute.
            (elsewhere / "memory" / "2026-02-02.md").write_text("# Today\n\nThe lighthouse is green.\n")
        assert running.ends() == 3
        assert "deleted or moved away" in running.lines[-1]["text"]
    assert not agent.folder.exists()


def test_settings_are_followed_and_broken_ones_are_told_of(agent: Program) -> None:
    settings = agent.folder / "workbench.toml"
    before = settings.read_text()
    with daemon(agent) as running:
        settings.write_text(f"{before}\n[reflection]\ntime = 25 o'clock\n")
        assert running.until_told("settings")["problem"] is True
        assert any("workbench.toml" in problem for problem in status(agent)["problems"])
        settings.write_text(f'{before}\n[reflection]\ntime = "05:00"\n')
        running.until_told("settings", "read again")
        assert running.until_told("settings", "works again")["problem"] is False
        (reflection,) = [due for due in status(agent)["nextDue"] if due["what"] == "reflect"]
        assert reflection["at"] == "2026-02-03T05:00:00Z"


def test_a_damaged_history_is_told_of_and_search_stays_fresh(agent: Program) -> None:
    with daemon(agent) as running:
        shutil.rmtree(agent.folder / ".audit" / "objects")
        (agent.folder / "memory" / "2026-02-02.md").write_text("# Today\n\nThe lighthouse is green.\n")
        assert running.until(lambda line: line["what"] == "adopt")["problem"] is True
        running.until_told("sync", "chunk")
        assert running.process.poll() is None
        assert status(agent)["problems"]
        os.kill(running.process.pid, signal.SIGTERM)
        assert running.ends() == 0


def test_a_sub_agent_may_not_run_or_end_it(agent: Program) -> None:
    for words in (["daemon"], ["daemon", "stop"]):
        assert agent.json(*words, "--role", "agent:scout", code=5)["error"]["kind"] == "role-refused"
    assert agent.json("daemon", "status", "--role", "agent:scout")["running"] is False


def test_the_unit_names_program_and_workspace(program: Program) -> None:
    folder = program.folder / 'a "100%" $HOME'
    folder.mkdir()
    done = program.run("-w", str(folder), "daemon", "unit")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("ExecStart=")]
    assert line.endswith('a \\"100%%\\" $$HOME" daemon')
