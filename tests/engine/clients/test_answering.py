"""What the daemon tells hooks over its socket, and what a hostile client of the socket can do: nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.isolation import isolate
from workbench import __version__
from workbench.cli.quick_hook import carried_out
from workbench.engine.clients import asking
from workbench.engine.clients.answering import HookServer
from workbench.engine.clock import FixedClock
from workbench.engine.workspace import Workspace

CLOCK = FixedClock(datetime(2026, 2, 2, 14, 30, tzinfo=UTC))
START = b'{"hook_event_name": "SessionStart"}'
PROMPT = json.dumps(
    {"hook_event_name": "UserPromptSubmit", "prompt": "Where did the harbour study go?"}
).encode()


class Office:
    """A workspace whose hooks are answered."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.opened: list[str] = []
        self.problems: list[str] = []

    def open(self, role: str) -> Workspace:
        self.opened.append(role)
        return Workspace.open(self.root, role=role, clock=CLOCK, lock_timeout=0)

    def server(self) -> HookServer:
        return HookServer(self.root, self.open, CLOCK, self.problems.append)

    @property
    def address(self) -> Path:
        return Path(asking.address_of(str(self.root)))

    def ask(self, moment: str, given: bytes = START, role: str = "main") -> tuple[bool, str]:
        answered, told = asking.ask(str(self.root), moment, "claude-code", role, given)
        return answered, told["hookSpecificOutput"]["additionalContext"] if told else ""

    def send(self, content: bytes) -> bytes:
        """Send anything; return what comes back until the other side closes."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self.address))
            try:
                connection.sendall(content)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                return b""
            try:
                return connection.recv(65_536)
            except ConnectionError:
                return b""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    isolate(tmp_path, monkeypatch, timezone="UTC")
    # Addresses of sockets are short, and folders of tests are not.
    state = Path(tempfile.mkdtemp(prefix="wb"))
    monkeypatch.setenv("WORKBENCH_PATHS_STATE", str(state))
    # On a busy machine an answer takes its time.
    monkeypatch.setattr(asking, "_PATIENCE", 20.0)
    folder = Path(os.path.realpath(tmp_path / "memory"))
    Workspace.init(folder, clock=CLOCK)
    with Workspace.open(folder, role="person", clock=CLOCK) as workspace:
        workspace.core_add("Critical Facts", "Mira pays within 30 days of the invoice")
        workspace.remember("We decided to move the harbour study to the Visborg ferry", store="episodic")
    yield folder
    shutil.rmtree(state)


@pytest.fixture
def office(root: Path) -> Iterator[Office]:
    office = Office(root)
    with office.server().listening():
        yield office


class TestAnswers:
    def test_a_session_start_is_told_the_brief_and_a_prompt_what_memory_has_on_it(
        self, office: Office
    ) -> None:
        answered, brief = office.ask("session-start")
        assert answered
        assert "Mira pays within 30 days" in brief
        answered, relevant = office.ask("prompt", PROMPT)
        assert answered
        assert "Visborg ferry" in relevant
        assert office.opened == ["main"]

    def test_nothing_relevant_is_an_answer_too(self, office: Office) -> None:
        assert office.ask("prompt", b'{"prompt": "please go on"}') == (True, "")

    def test_what_a_person_corrected_is_told_at_once_each_time(self, office: Office) -> None:
        core = office.root / "MEMORY.md"
        (day,) = (office.root / "memory" / "episodes").iterdir()
        office.ask("session-start")
        for days in (14, 21):
            core.write_text(
                core.read_text().replace("30 days", f"{days} days").replace("14 days", f"{days} days")
            )
            day.write_text(day.read_text().replace("Visborg ferry", f"Visborg ferry {days}"))
            told = office.ask("session-start")[1]
            assert f"within {days} days" in told
            assert f"Visborg ferry {days}" in told
            assert f"Visborg ferry {days}" in office.ask("prompt", PROMPT)[1]

    def test_each_agent_is_told_in_its_own_role(self, office: Office) -> None:
        with Workspace.open(office.root, role="agent:scout", clock=CLOCK) as door:
            door.propose("The crane is broken")
        assert "scout" not in office.opened
        answered, told = office.ask("session-start", role="agent:scout")
        assert answered
        assert "Mira pays" in told
        assert office.opened[-1] == "agent:scout"

    @pytest.mark.parametrize("role", ["person", "nobody", "agent:", "agent:MAIN", ""])
    def test_no_other_role_is_served(self, office: Office, role: str) -> None:
        assert office.ask("session-start", role=role) == (False, "")
        assert office.opened in ([], ["main"])

    def test_only_a_few_doors_stay_open(self, office: Office) -> None:
        for number in range(6):
            assert office.ask("session-start", role=f"agent:scout{number}")[0]
        office.ask("session-start", role="agent:scout0")
        assert office.opened.count("agent:scout0") == 2


class TestWhoDoesNotAnswer:
    def test_without_a_daemon_a_hook_looks_for_itself(self, root: Path) -> None:
        assert Office(root).ask("session-start") == (False, "")

    def test_after_the_end_nothing_is_left(self, root: Path) -> None:
        office = Office(root)
        with office.server().listening():
            assert office.address.exists()
        assert not office.address.exists()
        assert office.ask("session-start") == (False, "")

    def test_other_settings_or_another_version_are_another_memory(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            patch.setenv("WORKBENCH_BRIEF_LOG_TOKENS", "0")
            assert office.ask("session-start") == (False, "")
        with monkeypatch.context() as patch:
            patch.setattr(asking, "__version__", "0.0.0")
            assert office.ask("session-start") == (False, "")
        assert office.ask("session-start")[0]

    def test_a_workspace_that_is_gone_is_not_told_of(self, office: Office) -> None:
        office.ask("session-start")
        office.root.rename(office.root.with_name("elsewhere"))
        assert office.ask("session-start") == (False, "")
        office.root.mkdir()
        assert office.ask("prompt", PROMPT) == (False, "")
        assert len(office.problems) == 1

    def test_a_door_for_a_scope_does_not_ask(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WORKBENCH_SCOPE", "group:family")
        words = ["hook", "session-start", "--client", "codex", "--workspace", str(office.root)]
        assert not carried_out(words)


class TestPlace:
    def test_nobody_else_can_ask(self, office: Office) -> None:
        assert stat.S_IMODE(office.address.stat().st_mode) == 0o600
        assert stat.S_IMODE(office.address.parent.stat().st_mode) == 0o700

    def test_a_stale_socket_is_replaced(self, root: Path) -> None:
        office = Office(root)
        office.address.parent.mkdir(mode=0o700, parents=True)
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(office.address))
        assert office.ask("session-start") == (False, "")
        with office.server().listening():
            assert office.ask("session-start")[0]

    @pytest.mark.parametrize("what", ["file", "open folder", "link"])
    def test_a_place_that_is_not_ours_is_left_alone_and_said(self, root: Path, what: str) -> None:
        office = Office(root)
        folder = office.address.parent
        if what == "link":
            (root / "other").mkdir(mode=0o700)
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.symlink_to(root / "other")
        else:
            folder.mkdir(parents=True)
            folder.chmod(0o755 if what == "open folder" else 0o700)
            if what == "file":
                office.address.write_text("mine")
        with office.server().listening():
            assert office.ask("session-start") == (False, "")
        assert len(office.problems) == 1
        assert what != "file" or office.address.read_text() == "mine"

    def test_a_state_folder_with_a_long_path_has_it_elsewhere(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WORKBENCH_PATHS_STATE", str(tmp_path / ("long" * 40)))
        office = Office(root)
        assert len(str(office.address)) < 100
        with office.server().listening():
            assert office.ask("session-start")[0]
        assert not office.address.exists()

    def test_each_workspace_has_its_own(self, root: Path) -> None:
        assert asking.address_of(str(root)) != asking.address_of(f"{root}2")


class TestHostileClients:
    def request(self, **changed: Any) -> bytes:
        whole = {
            "version": __version__, "in": asking.surroundings(), "moment": "session-start",
            "client": "codex", "role": "main", "given": {},
        }  # fmt: skip
        return json.dumps(whole | changed).encode()

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\0" * 100,
            b"{}",
            b"[]",
            b"GET / HTTP/1.1\r\n\r\n",
            b"[" * 60_000,
            b"x" * 1_000_000,
            b"\xff\xfe{",
        ],
    )
    def test_garbage_is_refused_and_the_next_is_answered(self, office: Office, content: bytes) -> None:
        assert office.send(content) in (b"", b'{"ok": false}')
        assert office.ask("session-start")[0]

    @pytest.mark.parametrize(
        "changed",
        [
            {"moment": "session-end", "given": {"session_id": "x", "transcript_path": "/etc/passwd"}},
            {"moment": ["prompt"]}, {"role": {"main": 1}}, {"client": None}, {"in": ""}, {"version": None},
        ],
    )  # fmt: skip
    def test_nothing_but_reading_is_done(self, office: Office, changed: dict[str, Any]) -> None:
        assert office.send(self.request(**changed)) == b'{"ok": false}'
        assert office.problems == []

    def test_strange_words_of_a_client_are_words(self, office: Office) -> None:
        words: tuple[object, ...] = (
            [],
            {"prompt": 7},
            {"prompt": "\0 \ud800 harbour study"},
            {"hook_event_name": {}},
        )
        for given in words:
            told = json.loads(office.send(self.request(moment="prompt", given=given)))
            assert told["ok"] is True
        assert office.problems == []

    def test_many_that_say_nothing_keep_nobody_out(self, office: Office) -> None:
        office.ask("session-start")
        idle = [socket.socket(socket.AF_UNIX) for _ in range(40)]
        try:
            for connection in idle:
                connection.connect(str(office.address))
                connection.sendall(b"{")
            assert office.ask("session-start")[0]
            # Whoever asks for nothing is left in the end.
            assert idle[-1].recv(10) == b""
        finally:
            for connection in idle:
                connection.close()
