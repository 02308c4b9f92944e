"""Where other programs keep memory is told by the names of folders and files; no file is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.powers import as_anybody
from workbench.engine.transfer.recognition import known_places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (".openclaw/workspace", ".openclaw-work", "clawd", ".claude", "documents"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "MEMORY.md").touch()
    (tmp_path / ".moltbot").write_text("no folder")
    (tmp_path / ".clawdbot").symlink_to(tmp_path / ".openclaw")
    return tmp_path


def told(environment: dict[str, str], home: Path, workspace: Path) -> list[tuple[str, str]]:
    return [(each.place, each.program) for each in known_places(environment, home, workspace)]


def test_each_folder_that_is_there_is_told_once_with_its_program(home: Path) -> None:
    assert told({}, home, home / "memory") == [
        ("~/.openclaw", "OpenClaw"),
        ("~/.openclaw-work", "OpenClaw"),
        ("~/clawd", "Clawdbot"),
        ("~/.claude", "Claude Code"),
    ]


def test_variables_name_folders_elsewhere(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "CLAUDE.md").touch()
    environment = {"CLAUDE_CONFIG_DIR": str(elsewhere), "OPENCLAW_STATE_DIR": str(home / "gone")}
    assert told(environment, home, home / "memory")[0] == (str(elsewhere), "Claude Code")


def test_a_variable_or_a_link_that_leads_nowhere_hides_nothing(home: Path) -> None:
    (home / ".openclaw-loop").symlink_to(home / ".openclaw-loop")
    environment = {
        "CLAUDE_CONFIG_DIR": "~nobody-of-that-name/x",
        "OPENCLAW_STATE_DIR": "~nobody-of-that-name",
    }
    assert told(environment, home, home / "memory") == told({}, home, home / "memory")


def test_a_folder_that_cannot_be_looked_into_is_told_and_no_file_is_opened(home: Path) -> None:
    (home / "clawd/MEMORY.md").chmod(0o000)
    (home / ".claude").chmod(0o000)
    try:
        with as_anybody():
            places = told({}, home, home / "memory")
        assert ("~/.claude", "Claude Code") in places
        assert ("~/clawd", "Clawdbot") in places
    finally:
        (home / ".claude").chmod(0o700)


@pytest.mark.parametrize(
    "held",
    [
        (),
        ("openclaw.json", "logs/gateway.log", ".DS_Store"),
        ("a/b/c/d/e/f/g/notes.md",),
        ("memory.md/x.txt",),
    ],
)
def test_a_folder_that_holds_no_memory_is_not_offered(home: Path, held: tuple[str, ...]) -> None:
    empty = home / ".openclaw-empty"
    empty.mkdir()
    (empty / "link.md").symlink_to(home / "clawd/MEMORY.md")
    for name in held:
        (empty / name).parent.mkdir(parents=True, exist_ok=True)
        (empty / name).touch()
    assert ("~/.openclaw-empty", "OpenClaw") not in told({}, home, home / "memory")


@pytest.mark.parametrize(
    "held", ["MEMORY.md", "memory/2026-01-30.md", "agents/main/sessions/a.jsonl", "state/main.sqlite"]
)
def test_a_folder_is_offered_for_what_it_holds(home: Path, held: str) -> None:
    place = home / ".openclaw-full" / held
    place.parent.mkdir(parents=True)
    place.touch()
    assert ("~/.openclaw-full", "OpenClaw") in told({}, home, home / "memory")


@pytest.mark.parametrize("workspace", [".openclaw", "clawd"])
def test_a_workspace_is_not_offered_to_itself(home: Path, workspace: str) -> None:
    places = {place for place, _ in told({}, home, home / workspace)}
    assert f"~/{workspace}" not in places
    assert "~/.claude" in places


def test_a_folder_that_holds_the_workspace_is_offered_for_the_rest_of_it(home: Path) -> None:
    assert ("~/.openclaw", "OpenClaw") in told({}, home, home / ".openclaw/workspace")
