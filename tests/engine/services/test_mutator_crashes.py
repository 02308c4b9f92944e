"""Many writers at the door, killed or all at once: what was acknowledged is there, nothing half is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome, graph_index, whole_graph_index
from workbench.engine import Workspace
from workbench.engine.clock import SystemClock
from workbench.engine.history.maintenance import repacking_paused

SCRIPT = Path(__file__).with_name("door_writers.py")
TOKEN = re.compile(r"token (\S+) was said")


def run(mode: str, home: AgentHome, count: int, tokens: int = 0) -> list[str]:
    """Run writers; return what they acknowledged.

    Args:
        mode: `kill` or `race`.
        home: Where they write.
        count: How many kills there are, or how many writers.
        tokens: Of each writer in a race.
    """
    command = [sys.executable, str(SCRIPT), mode, str(home.root), str(count), str(tokens)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    acknowledged: list[str] = json.loads(done.stdout)
    return acknowledged


def tokens_in_files(home: AgentHome) -> list[str]:
    folders = (home.root / "memory/episodes", home.root / "memory/graph/entities")
    texts = [place.read_text(encoding="utf-8") for folder in folders for place in sorted(folder.glob("*.md"))]
    return [token for text in texts for token in TOKEN.findall(text)]


def assert_whole(home: AgentHome, acknowledged: list[str]) -> list[str]:
    """Files, commits, log and catalog tell the same story, with all in it that was acknowledged; return the tokens."""
    home.clock = SystemClock()  # type: ignore[assignment]  # the writers lived by the machine's clock
    with home.open() as workspace:
        assert workspace.adopt().commit is None
        verified = workspace.audit_verify()
        assert verified.problems == ()
        assert workspace.audit_alerts().alerts == ()
        found = tokens_in_files(home)
        assert len(found) == len(set(found))
        assert set(acknowledged) <= set(found)
        triggers = home.git("log", "--format=%B").splitlines()
        told = [line.partition(": ")[2] for line in triggers if line.startswith("Trigger: ")]
        assert sorted(token for token in told if token in set(found)) == sorted(found)
        assert graph_index(workspace) == whole_graph_index(workspace)
        assert {
            token
            for record in workspace.timeline(limit=100_000).entries
            for token in TOKEN.findall(record.text)
        } <= set(found)
    # Walked rather than listed: the history may be repacked at this moment, which takes folders away.
    assert not [name for _, _, names in os.walk(home.root) for name in names if name.endswith(".tmp")]
    # A repack that runs takes loose objects away from under fsck, which reports them as lost.
    with repacking_paused(home.root / ".audit", 60):
        assert home.git("fsck", "--strict", "--no-dangling") == ""
    return found


@pytest.mark.slow
@pytest.mark.timeout(420)
@pytest.mark.parametrize("kills", [40, pytest.param(298, marks=pytest.mark.campaign)])
def test_kills_lose_nothing_and_leave_nothing_half(settled: AgentHome, kills: int) -> None:
    acknowledged = run("kill", settled, kills)
    # One in four may die before its first word.
    assert len(acknowledged) >= kills * 3 // 4
    assert_whole(settled, acknowledged)


@pytest.mark.slow
@pytest.mark.timeout(420)
@pytest.mark.parametrize("tokens", [12, pytest.param(50, marks=pytest.mark.campaign)])
def test_eight_processes_make_a_memory_and_a_commit_of_each_token(settled: AgentHome, tokens: int) -> None:
    before, expected = len(settled.commits()), 8 * tokens + 1
    acknowledged = run("race", settled, 8, tokens)
    assert len(acknowledged) == expected
    found = assert_whole(settled, acknowledged)
    assert len(found) == expected
    authors = settled.git("log", "--format=%an").splitlines()[: len(settled.commits()) - before]
    assert sum(author.startswith("bot:writer-") for author in authors) == expected
    # What else there is comes from settling scores and pruning the log, once a day.
    assert [author for author in authors if not author.startswith(("bot:writer-", "system:"))] == []
    assert len(authors) <= expected + 3


def test_threads_share_one_open_workspace(settled: AgentHome) -> None:
    failures: list[BaseException] = []

    with settled.open("main") as workspace:

        def write(slot: int) -> None:
            try:
                for number in range(25):
                    token = f"{slot}.{number}"
                    kept = workspace.remember(f"token {token} was said", store="episodic")
                    assert token in workspace.show(kept.id).text
                    workspace.search(token)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=write, args=(slot,)) for slot in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert workspace.audit_verify().problems == ()
    authors = settled.git("log", "--format=%an").splitlines()
    assert sum(author == "bot:trigger-remember" for author in authors) == 100
    found = tokens_in_files(settled)
    assert sorted(found) == sorted(f"{slot}.{number}" for slot in range(4) for number in range(25))


def test_two_doors_in_one_process_see_each_other(settled: AgentHome) -> None:
    with settled.open("main") as one, settled.open("person") as other:
        kept = one.remember("The tram was late", store="episodic")
        other.refresh()
        assert other.show(kept.id).text == "The tram was late"
        other.forget(ids=[kept.id], apply=True)
        one.refresh()
        assert kept.id not in {hit.id for hit in one.search("tram late").results}
        other.undo()
        one.refresh()
        assert one.search("tram late").results[0].id == kept.id
        assert one.audit_verify().problems == ()


def test_who_waits_too_long_is_told_who_writes(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.engine.errors import Locked

    monkeypatch.setenv("WORKBENCH_HISTORY_LOCK_TIMEOUT", "0.2")
    before = settled.tracked()
    with settled.open("main") as workspace, Workspace.open(settled.root, role="person") as other:
        other.core()
        with other._context.history.writing("bot:slow"), pytest.raises(Locked) as caught:
            workspace.core_add("Persona", "Be kind")
        assert "bot:slow" in caught.value.message
        assert caught.value.remedy
        # Reading waits for nobody.
        with other._context.history.writing("bot:slow"):
            assert workspace.search("ferry").results
            assert workspace.show("Robin").text
        assert settled.tracked() == before
        assert workspace.core_add("Persona", "Be kind").commit
