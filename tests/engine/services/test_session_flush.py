"""The user's own command at `/new` and reset: what it is told, and that nothing it does harms the session."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.session_talk import MAIN, told
from workbench.engine.errors import InvalidSetting

Hook = Callable[..., Path]


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hook:
    def made(*lines: str, **options: Any) -> Path:
        place: Path = options.get("place", tmp_path / "hook")
        place.write_text("\n".join(("#!/bin/sh", *lines)) + "\n")
        place.chmod(0o755)
        arguments = [options.get("called", str(place)), *options.get("arguments", ())]
        monkeypatch.setenv("WORKBENCH_SESSIONS_ON_RESET", ",".join(arguments))
        return place

    return made


def test_new_tells_it_what_is_known_of_the_ended_session(
    talked: AgentHome, hook: Hook, tmp_path: Path
) -> None:
    said, where = tmp_path / "said", tmp_path / "where"
    hook(f'cat > "{said}"', f'pwd > "{where}"', "echo to be ignored")
    with talked.open() as workspace:
        before = workspace.session(MAIN).session
        done = workspace.session_append(MAIN, "/new And on")
        assert done.warnings == ()
        given = json.loads(said.read_text())
        assert (given["event"], given["reason"], given["key"]) == ("session-reset", "new", MAIN)
        assert (given["previousSessionId"], given["sessionId"]) == (before.session_id, done.session_id)
        assert given["previousSessionEntry"]["sessionId"] == before.session_id
        assert Path(given["previousTranscript"]).is_file()
        assert given["workspace"] == str(workspace.root)
        assert [each["citation"].rpartition("#")[2] for each in given["saved"]] == ["L2", "L4"]
    assert Path(where.read_text().strip()) == Path.home().resolve()


def test_a_reset_runs_it_with_arguments_that_no_shell_reads(
    talked: AgentHome, hook: Hook, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    hook(f'echo "$1" > "{said}"; cat >> "{said}"', arguments=["$(id); *"])
    with talked.open() as workspace:
        assert workspace.session_reset(MAIN, save=False).warnings == ()
    first, _, rest = said.read_text().partition("\n")
    assert first == "$(id); *"
    assert (json.loads(rest)["reason"], json.loads(rest)["saved"]) == ("reset", None)


def test_it_is_run_only_where_a_session_was_started_over(
    talked: AgentHome, hook: Hook, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    hook(f'echo x >> "{said}"')
    with talked.open() as workspace:
        workspace.session_append("agent:main:telegram:group:7", "Hello")
        workspace.session_append(MAIN, "And on")
        talked.clock.advance(days=1)
        workspace.session_append(MAIN, "Good morning")
        workspace.session_append("agent:other:main", "/new")
    assert not said.exists()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("echo no room >&2; exit 3", "ended with code 3 (no room)"),
        ("kill -9 $$", "code -9"),
    ],
)
def test_its_failure_is_told_and_loses_nothing(line: str, word: str, talked: AgentHome, hook: Hook) -> None:
    hook(line)
    with talked.open() as workspace:
        done = workspace.session_append(MAIN, "/new And on")
        assert (done.reason, told(workspace)) == ("new", ["And on"])
        assert workspace.search("Visborg ferry").results
        (warning,) = done.warnings
        assert word in warning
        assert "sessions.on_reset" in warning
        again = workspace.session_reset(MAIN)
        assert again.previous_id == done.session_id
        assert word in " ".join(again.warnings)


@pytest.mark.parametrize(
    ("called", "word"),
    [
        ("no-such-program-anywhere", "was not found"),
        ("~no-such-user-anywhere/hook", "home folder"),
        ("./hook", "name of a program or an absolute path"),
        ("{root}/hook", "nothing there is run"),
    ],
)
def test_nothing_of_a_workspace_is_run(
    called: str, word: str, talked: AgentHome, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook('touch "$0.ran"', place=talked.root / "hook", called=called.format(root=talked.root))
    monkeypatch.chdir(talked.root)
    with talked.open() as workspace:
        assert word in " ".join(workspace.session_append(MAIN, "/new").warnings)
    assert not (talked.root / "hook.ran").exists()


def test_a_workspaces_own_settings_may_not_name_it(talked: AgentHome) -> None:
    talked.write("workbench.toml", '[sessions]\non_reset = ["touch", "/tmp/x"]\n')
    with pytest.raises(InvalidSetting, match="may not set"), talked.open():
        pass


def test_at_its_limit_it_is_killed_with_its_children(
    talked: AgentHome, hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # The child holds the pipe open for as long as it lives.
    hook(f'exec 3> "{pipe}"', "sleep 600 &", "echo begun >&3", "wait")
    wait, waiting = subprocess.Popen.wait, []

    def until_it_runs(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        if timeout is None:
            return wait(process)
        waiting.append(os.open(pipe, os.O_RDONLY))
        assert os.read(waiting[0], 100) == b"begun\n"
        raise subprocess.TimeoutExpired("hook", timeout)

    with talked.open() as workspace:
        with monkeypatch.context() as patch:
            patch.setattr(subprocess.Popen, "wait", until_it_runs)
            done = workspace.session_append(MAIN, "/new And on")
        assert "took longer than 10 s" in " ".join(done.warnings)
        assert told(workspace) == ["And on"]
    ready, _, _ = select.select(waiting, [], [], 20)
    assert ready
    assert os.read(waiting[0], 1) == b""
    os.close(waiting[0])
