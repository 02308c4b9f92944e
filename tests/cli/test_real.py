"""The program as it is run: real processes on real folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

NOW = "2026-02-02T14:30:00Z"


@dataclass
class Program:
    """Runs `python -m workbench` in a folder, with a home and a clock of its own."""

    folder: Path
    home: Path
    now: str = NOW
    extra: tuple[tuple[str, str], ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("WORKBENCH_", "GIT_"))
        }
        for name in ("VISUAL", "EDITOR", "NO_COLOR"):
            kept.pop(name, None)
        own = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "WORKBENCH_NOW": self.now,
            "TZ": "UTC",
        }
        return kept | own | dict(self.extra)

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "workbench", *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        process = self.start(*words)
        out, err = process.communicate(stdin, timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def json(self, *words: str, stdin: str = "", code: int = 0) -> Any:
        done = self.run(*words, "--json", stdin=stdin)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def files(self) -> dict[str, bytes]:
        """Return every file of the workspace but those of its history."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and ".audit" not in path.parts
        }


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder, home = tmp_path / "agent", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    return Program(folder, home)


@pytest.fixture
def agent(program: Program) -> Program:
    assert program.json("init", ".", "--timezone", "UTC")["ok"] is True
    return program


class TestBeginning:
    def test_an_empty_folder_becomes_a_workspace(self, program: Program) -> None:
        answer = program.json("init")
        assert answer["commit"]
        assert "MEMORY.md" in answer["files"]
        assert (program.folder / "MEMORY.md").is_file()
        assert (program.folder / ".audit").is_dir()

    def test_twice_changes_nothing(self, agent: Program) -> None:
        before = agent.files()
        assert agent.json("init")["commit"] is None
        assert agent.files() == before

    def test_reading_a_folder_writes_nothing_into_it(self, program: Program) -> None:
        (program.folder / "MEMORY.md").write_text("# Memory\n\n## Anything\n- Likes tea\n")
        (program.folder / "memory").mkdir()
        (program.folder / "memory/2026-02-01.md").write_text("# Log\n\n- Bought green tea\n")
        before = program.files()
        assert program.json("core")["blocks"]
        assert program.json("search", "tea")["results"]
        program.json("decay")
        program.json("graph")
        program.json("brief")
        program.json("audit", "log")
        assert program.files() == before
        assert not (program.folder / ".audit").exists()

    def test_the_nearest_workspace_is_found_from_below(self, agent: Program) -> None:
        below = agent.folder / "memory" / "episodes"
        below.mkdir(parents=True, exist_ok=True)
        assert Program(below, agent.home).json("core")["cap"] > 0

    def test_without_one_it_says_what_to_do(self, program: Program) -> None:
        assert "workbench init" in program.json("core", code=3)["error"]["remedy"]


class TestRemembering:
    def test_what_is_remembered_is_there_and_accounted_for(self, agent: Program) -> None:
        done = agent.json(
            "remember", "We chose the hybrid approach", "--tag", "architecture", "--store", "episodic"
        )
        assert done["id"] == "episode:2026-02-02:14:30"
        assert "hybrid approach" in (agent.folder / done["path"]).read_text()
        newest = agent.json("audit", "log", "--limit", "1")["entries"][0]
        assert done["commit"].startswith(newest["commit"]) or newest["commit"].startswith(done["commit"])
        assert agent.json("search", "hybrid")["results"][0]["id"] == done["id"]
        assert "hybrid approach" in agent.json("show", done["id"])["text"]
        assert agent.json("audit", "verify")["ok"] is True

    def test_a_dry_run_changes_nothing(self, agent: Program) -> None:
        before = agent.files()
        assert agent.json("remember", "We chose tea", "--dry-run")["commit"] is None
        assert agent.files() == before

    def test_each_line_is_answered_as_soon_as_it_is_durable(self, agent: Program) -> None:
        process = agent.start("remember", "--jsonl")
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(json.dumps({"text": f"Number {number} happened", "store": "episodic"}) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert f"Number {number}" in (agent.folder / answer["path"]).read_text()
        out, err = process.communicate("no json\n", timeout=60)
        assert json.loads(out)["line"] == 4
        assert process.returncode == 1, err

    def test_an_interruption_while_it_waits_is_130(self, agent: Program) -> None:
        process = agent.start("remember", "--jsonl")
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"text":"Something happened"}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in err

    def test_a_message_is_understood(self, agent: Program) -> None:
        assert agent.json("message", "Remember that the demo is on Friday")["applied"] is True
        assert agent.json("message", "Do you remember the demo of last year?")["commit"] is None


class TestTakingBack:
    def test_undo_and_redo(self, agent: Program) -> None:
        before = agent.files()
        agent.json("remember", "We chose tea", "--store", "episodic")
        after = agent.files()
        assert after != before
        agent.json("undo")
        assert agent.json("search", "tea", code=3)["results"] == []
        agent.json("redo")
        assert agent.json("search", "tea")["results"]

    def test_revert_takes_back_one_commit_below_another(self, agent: Program) -> None:
        first = agent.json("remember", "We chose tea", "--store", "episodic")
        second = agent.json("remember", "We chose coffee", "--store", "episodic")
        agent.json("revert", first["commit"])
        text = (agent.folder / second["path"]).read_text()
        assert "coffee" in text
        assert "tea" not in text

    def test_rollback_to_a_time(self, agent: Program) -> None:
        agent.json("core", "add", "Identity", "Name: Lena")
        agent.now = "2026-03-01T10:00:00Z"
        agent.json("core", "add", "Identity", "Name: Nobody")
        agent.json("rollback", "--to", "2026-02-15T00:00Z")
        text = (agent.folder / "MEMORY.md").read_text()
        assert "Lena" in text
        assert "Nobody" not in text


class TestForgetting:
    def test_archived_restored_pinned(self, agent: Program) -> None:
        id_ = agent.json("remember", "We chose the hybrid approach", "--store", "episodic")["id"]
        preview = agent.json("forget", "hybrid", code=5)
        assert preview["applied"] is False
        assert [match["id"] for match in preview["matches"]] == [id_]
        assert agent.json("forget", id_, "--yes")["applied"] is True
        agent.json("search", "hybrid", code=3)
        agent.json("restore", id_)
        assert agent.json("search", "hybrid")["results"]
        agent.json("pin", id_)
        (entry,) = (entry for entry in agent.json("decay")["entries"] if entry["id"] == id_)
        assert entry["pinned"] is True
        agent.json("unpin", id_)

    def test_nothing_matches(self, agent: Program) -> None:
        assert agent.json("forget", "unicorns", "--yes", code=3)["matches"] == []

    def test_months_pass(self, agent: Program) -> None:
        id_ = agent.json("remember", "We chose the hybrid approach", "--store", "episodic")["id"]
        agent.now = "2026-05-02T14:30:00Z"
        (entry,) = (entry for entry in agent.json("decay")["entries"] if entry["id"] == id_)
        assert entry["status"] == "dormant"


class TestEditing:
    def editor(self, agent: Program, code: str) -> None:
        script = agent.home / "editor.py"
        script.write_text(f"import pathlib, sys\nfile = pathlib.Path(sys.argv[-1])\n{code}\n")
        agent.extra = (("EDITOR", f"{sys.executable} {script}"),)

    def test_an_editor_changes_a_file(self, agent: Program) -> None:
        agent.json("core", "add", "Identity", "Name: Lena")
        self.editor(agent, "file.write_text(file.read_text().replace('Lena', 'Mara'))")
        agent.json("edit", "MEMORY.md")
        assert "Mara" in (agent.folder / "MEMORY.md").read_text()

    def test_what_changed_meanwhile_is_not_overwritten(self, agent: Program) -> None:
        agent.json("core", "add", "Identity", "Name: Lena")
        memory = agent.folder / "MEMORY.md"
        self.editor(
            agent,
            f"other = pathlib.Path({str(memory)!r})\n"
            "other.write_text(other.read_text() + chr(10) + '- Likes tea' + chr(10))\n"
            "file.write_text('# Mine')",
        )
        error = agent.json("edit", "MEMORY.md", code=4)["error"]
        assert error["kind"] == "stale"
        assert "Likes tea" in memory.read_text()


class TestRefusing:
    @pytest.mark.parametrize(
        "path", ["../home/secret.md", "/etc/passwd", "memory/../../home/secret.md", ".audit/HEAD"]
    )
    def test_nothing_outside_the_memory_files_is_read(self, agent: Program, path: str) -> None:
        (agent.home / "secret.md").write_text("secret")
        done = agent.run("get", path, "--json")
        assert done.returncode in {3, 5}, done.stdout
        assert "secret\n" not in done.stdout
        assert "error" in json.loads(done.stdout)

    def test_core_memory_past_its_cap_is_refused_whole(self, agent: Program) -> None:
        before = (agent.folder / "MEMORY.md").read_bytes()
        error = agent.json("core", "add", "Critical Facts", "many words " * 4000, code=5)["error"]
        assert error["kind"] == "budget-exceeded"
        assert (agent.folder / "MEMORY.md").read_bytes() == before


class TestStreams:
    def test_a_reader_that_goes_away_is_no_error_message(self, agent: Program) -> None:
        for number in range(3):
            agent.json("remember", f"Number {number}", "--store", "episodic")
        process = agent.start("audit", "log")
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(60) in {0, 141}
        process.stderr.close()
        assert process.stdin is not None
        process.stdin.close()

    def test_a_stream_that_knows_only_ascii_gets_json_all_the_same(self, agent: Program) -> None:
        agent.extra = (("PYTHONIOENCODING", "ascii"),)
        agent.json("remember", "Zoë mag 記憶", "--store", "episodic")
        assert "Zoë mag 記憶" in agent.json("search", "Zoë")["results"][0]["snippet"]
        assert agent.run("search", "Zoë").returncode == 0

    def test_every_command_can_be_read_by_people(self, agent: Program) -> None:
        id_ = agent.json("remember", "Lena chose tea", "--entity", "person:Lena", "--store", "episodic")["id"]
        commit = agent.json("audit", "log", "--limit", "1")["entries"][0]["commit"]
        for words in (
            ["core"],
            ["search", "tea", "--explain"],
            ["show", id_],
            ["get", "MEMORY.md"],
            ["graph"],
            ["graph", "person--lena", "--depth", "2"],
            ["decay", "--forecast", "30,90"],
            ["audit"],
            ["audit", "show", commit],
            ["audit", "diff", commit],
            ["audit", "blame", "MEMORY.md"],
            ["audit", "at", NOW],
            ["audit", "verify"],
            ["audit", "alerts"],
            ["brief"],
            ["doctor"],
        ):
            done = agent.run(*words)
            assert done.returncode == 0, (words, done.stderr)
            assert done.stdout.strip(), words
            assert "\x1b" not in done.stdout


def test_without_a_terminal_the_bench_is_not_opened(program: Program) -> None:
    done = program.run()
    assert done.returncode == 1
    assert "terminal" in done.stderr
