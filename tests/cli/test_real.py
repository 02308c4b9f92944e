"""The program as it is run, on real folders: in processes of its own but where only the answer matters."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.cli.program import NOW, Program


class InThisProcess:
    """For what is answered, where the process as such does not matter."""

    @pytest.fixture
    def program(self, program: Program) -> Program:
        return replace(program, here=True)


class TestBeginning(InThisProcess):
    def test_an_empty_folder_becomes_a_workspace(self, program: Program) -> None:
        answer = program.json("init")
        assert answer["commit"]
        assert "MEMORY.md" in answer["files"]
        assert (program.folder / "MEMORY.md").is_file()
        assert (program.folder / ".audit").is_dir()

    def test_a_folder_with_memory_keeps_every_byte(self, program: Program) -> None:
        (program.folder / "MEMORY.md").write_bytes(b"\xef\xbb\xbf# Memory\r\n\r\n## People\r\n- Lena\r\n")
        (program.folder / "memory").mkdir()
        (program.folder / "memory/2026-02-01.md").write_bytes(b"no \xff text\n")
        before = program.files()
        answer = program.json("init")
        assert answer["commit"]
        after = program.files()
        assert {name: after[name] for name in before} == before
        assert set(after) - set(before) <= {"workbench.toml", "memory/meta/audit.log"}
        assert program.json("audit", "verify")["ok"] is True

    def test_people_hear_how_to_go_on(self, program: Program) -> None:
        told = program.run("init", "--timezone", "Asia/Taipei").stdout
        assert "Asia/Taipei" in told
        assert "workbench" in told.splitlines()[-1]

    def test_what_is_set_aside_at_first_is_told_once(self, program: Program) -> None:
        (program.folder / "MEMORY.md").write_text("# M\n\n- The token is ghp_" + "a1B2" * 9 + "\n")
        told = program.run("init")
        assert "is a workspace now; its history begins as soon as you decide" in told.stdout
        assert (told.stdout + told.stderr).count("What looks like a secret is held back") == 1
        assert "is a workspace already" in program.run("init").stdout

    def test_a_scan_that_finds_nothing_is_no_failure(self, agent: Program) -> None:
        assert "looks like a secret" in agent.run("secrets", "scan").stdout
        assert agent.json("secrets", "scan")["places"] == []

    def test_twice_changes_nothing(self, agent: Program) -> None:
        before = agent.files()
        assert agent.json("init")["commit"] is None
        assert agent.files() == before

    def test_what_was_edited_since_makes_no_workspace_of_one_that_is(self, agent: Program) -> None:
        (agent.folder / "MEMORY.md").write_text("# Memory\n\n## Anything\n- Likes tea\n")
        told = agent.run("init").stdout
        assert "is a workspace already; taken into its history: 1 file, commit" in told
        assert "is a workspace now" not in told

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


class TestRemembering(InThisProcess):
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

    @pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
    def test_a_closed_stream_stops_nothing(self, agent: Program, closed: str) -> None:
        words = [sys.executable, "-m", "workbench", "remember", "We chose tea", "--json"]
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", *words]
        done = subprocess.run(
            command,
            cwd=agent.folder,
            env=agent.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert any(b"We chose tea" in content for content in agent.files().values())
        assert agent.json("audit", "verify")["ok"] is True

    def test_a_text_may_come_from_stdin(self, agent: Program) -> None:
        process = replace(agent, here=False)
        done = process.json("remember", "-", "--store", "episodic", stdin="We chose tea.\nAnd 記憶.\n")
        assert "We chose tea.\nAnd 記憶." in (agent.folder / done["path"]).read_text()

    def test_people_read_their_own_time_and_programs_utc(self, agent: Program) -> None:
        (agent.folder / "workbench.toml").write_text('timezone = "Asia/Taipei"\n')
        done = agent.json("remember", "We chose tea", "--store", "episodic")
        assert done["id"] == "episode:2026-02-02:22:30"
        assert "2026-02-02 22:30" in agent.run("audit").stdout
        assert "today, 22:30" in agent.run("show", done["id"]).stdout
        assert agent.json("audit", "log")["entries"][0]["timestamp"] == "2026-02-02T14:30:00Z"

    def test_names_stand_for_ids(self, agent: Program) -> None:
        agent.json(
            "remember", "Lena develops Apollo", "--entity", "person:Lena", "--entity", "project:Apollo"
        )
        lena = "entity:person--lena"
        assert agent.json("show", "Lena")["id"] == lena
        assert agent.json("graph", "lena")["center"] == lena
        assert agent.json("pin", "Lena")["ids"] == [lena]
        assert agent.json("reinforce", "Lena")["ids"] == [lena]
        assert agent.json("unpin", "person--lena")["ids"] == [lena]
        assert agent.json("graph", "path", "Lena", "Apollo")["edges"]
        agent.json("graph", "rename", "Lena", "Lena Meyer")
        assert agent.json("show", "Lena Meyer")["id"] == lena

    def test_merging_is_taken_apart_by_the_old_name(self, agent: Program) -> None:
        for name in ("Lena", "Helena"):
            agent.json("remember", f"{name} likes tea", "--entity", f"person:{name}", "--store", "semantic")
        before = agent.files()
        agent.json("graph", "merge", "Lena", "Helena")
        assert agent.json("show", "Helena")["id"] == "entity:person--lena"
        agent.json("graph", "unmerge", "Helena")
        after = agent.files()
        entities = [name for name in before if "/entities/" in name]
        assert [after[name] for name in entities] == [before[name] for name in entities]

    def test_a_message_is_understood(self, agent: Program) -> None:
        assert agent.json("message", "Remember that the demo is on Friday")["applied"] is True
        assert agent.json("message", "Do you remember the demo of last year?")["commit"] is None


class TestTakingBack(InThisProcess):
    def test_undo_and_redo(self, agent: Program) -> None:
        before = agent.files()
        agent.json("remember", "We chose tea", "--store", "episodic")
        after = agent.files()
        assert after != before
        agent.json("undo")
        assert agent.json("search", "tea", code=3)["results"] == []
        agent.json("redo")
        assert agent.json("search", "tea")["results"]

    def test_undo_asks_before_it_takes_back_what_somebody_else_did(self, agent: Program) -> None:
        agent.json("core", "add", "Persona", "Be brief")
        commit = agent.json("remember", "We chose tea", "--store", "episodic", "--actor", "skill:tea")[
            "commit"
        ]
        before = agent.files()
        error = agent.json("undo", code=5)["error"]
        assert error["kind"] == "confirmation-needed"
        assert error["where"] == commit[:10]
        assert "We chose tea" in error["message"]
        assert "skill:tea" in error["message"]
        assert "--yes" in error["remedy"]
        assert agent.files() == before
        assert agent.json("undo", "--mine")["files"] == ["MEMORY.md"]
        assert agent.json("undo", "--yes")["ids"] == [commit]
        assert agent.json("redo", code=5)["error"]["kind"] == "confirmation-needed"
        assert agent.json("redo", "--yes")["ids"] == [commit]

    @pytest.mark.parametrize(
        "words",
        [("undo",), ("undo", "--yes"), ("revert", "HEAD"), ("rollback", "--to", "FIRST")],
        ids=" ".join,
    )
    def test_the_main_agent_takes_back_nothing_of_the_person(
        self, agent: Program, words: tuple[str, ...]
    ) -> None:
        first = agent.json("core", "add", "Persona", "Be kind")["commit"]
        agent.json("core", "add", "Persona", "Be brief")
        before = agent.files()
        words = tuple(first if word == "FIRST" else word for word in words)
        error = agent.json(*words, "--role", "main", code=5)["error"]
        assert error["kind"] == "role-refused"
        assert "Be brief" in error["message"]
        assert agent.files() == before

    def test_revert_takes_back_one_commit_below_another(self, agent: Program) -> None:
        first = agent.json("remember", "We chose tea", "--store", "episodic")
        second = agent.json("remember", "We chose coffee", "--store", "episodic")
        agent.json("revert", first["commit"])
        text = (agent.folder / second["path"]).read_text()
        assert "coffee" in text
        assert "tea" not in text

    def test_undo_walks_back_and_says_what_it_undid(self, agent: Program) -> None:
        agent.json("core", "add", "Identity", "Name: Lena")
        agent.json("core", "add", "Persona", "Be brief")
        assert "Be brief" in agent.run("undo").stdout
        assert "Name: Lena" in agent.run("undo").stdout
        assert "Lena" not in (agent.folder / "MEMORY.md").read_text()
        agent.json("redo")
        agent.json("redo")
        assert "Be brief" in (agent.folder / "MEMORY.md").read_text()
        agent.json("redo", code=3)
        assert agent.json("audit", "verify")["ok"] is True

    def test_one_file_goes_back_to_a_commit(self, agent: Program) -> None:
        commit = agent.json("core", "add", "Identity", "Name: Lena")["commit"]
        then = (agent.folder / "MEMORY.md").read_bytes()
        agent.json("core", "add", "Identity", "Name: Nobody")
        agent.json("rollback", "--file", f"MEMORY.md@{commit[:7]}")
        assert (agent.folder / "MEMORY.md").read_bytes() == then

    def test_the_past_can_be_looked_at(self, agent: Program) -> None:
        first = agent.json("core", "add", "Identity", "Name: Lena")["commit"]
        later = agent.at("2026-03-01T10:00:00Z")
        later.json("core", "add", "Persona", "Be brief")
        then = later.json("audit", "at", "2026-02-15", "--file", "MEMORY.md")["files"][0]["text"]
        assert "Lena" in then
        assert "Be brief" not in then
        assert later.run("audit", "at", "2026-02-15", "--file", "MEMORY.md").stdout == then
        later.json("audit", "at", "2025-01-01", code=3)
        assert "+- Name: Lena" in later.json("audit", "diff", first)["files"][0]["unified"]
        blamed = {line["text"]: line["commit"] for line in later.json("audit", "blame", "MEMORY.md")["lines"]}
        assert blamed["- Name: Lena"] == first
        assert later.json("audit", "show", first[:7])["files"] == ["MEMORY.md"]

    def test_rollback_to_a_time(self, agent: Program) -> None:
        agent.json("core", "add", "Identity", "Name: Lena")
        agent.now = "2026-03-01T10:00:00Z"
        agent.json("core", "add", "Identity", "Name: Nobody")
        agent.json("rollback", "--to", "2026-02-15T00:00Z")
        text = (agent.folder / "MEMORY.md").read_text()
        assert "Lena" in text
        assert "Nobody" not in text


class TestForgetting(InThisProcess):
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
        agent.extra = (("WORKBENCH_DECAY_LAMBDA", "0.03"),)
        id_ = agent.json("remember", "We chose the hybrid approach", "--store", "episodic")["id"]

        def entry(*words: str) -> dict[str, Any]:
            return next(found for found in agent.json("decay", *words)["entries"] if found["id"] == id_)

        foretold = entry("--forecast", "89")["forecast"]["89"]
        agent.now = "2026-05-02T14:30:00Z"
        assert entry()["status"] == "dormant"
        assert entry()["score"] == pytest.approx(foretold)
        agent.json("reinforce", id_)
        assert entry()["status"] == "active"


class TestEditing(InThisProcess):
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

    @pytest.mark.parametrize(
        "content", [b"# Log\n\n- Some tea\n", b"# Log\r\n- Some tea\r\n", b"no end", b"two\n\n"]
    )
    def test_what_a_shell_read_of_a_file_is_that_file(self, agent: Program, content: bytes) -> None:
        log = agent.folder / "memory" / "2026-02-01.md"
        log.write_bytes(content)
        read = content.decode().rstrip("\n")
        assert agent.json("edit", "memory/2026-02-01.md", "--text", read)["commit"] is None
        assert log.read_bytes() == content
        agent.json("edit", "memory/2026-02-01.md", "--text", f"{read} and more")
        assert log.read_bytes() == f"{read} and more".encode() + content[len(read.encode()) :]

    def test_line_ends_survive(self, agent: Program) -> None:
        log = agent.folder / "memory" / "2026-02-01.md"
        log.write_bytes(b"\xef\xbb\xbf# Log\r\n\r\n- Some tea\r\n\r\nno end")
        assert agent.json("get", "memory/2026-02-01.md")["text"].encode() == log.read_bytes()
        self.editor(agent, "file.write_bytes(file.read_bytes().replace(b'Some', b'Green'))")
        agent.json("edit", "memory/2026-02-01.md")
        assert log.read_bytes() == b"\xef\xbb\xbf# Log\r\n\r\n- Green tea\r\n\r\nno end"


class TestLookingAfter(InThisProcess):
    def test_a_changed_constitution_is_an_alert_until_it_is_acknowledged(self, agent: Program) -> None:
        (agent.folder / "SOUL.md").write_text("# Soul\n\nBe kind.\n")
        (alert,) = agent.json("audit", "alerts")["alerts"]
        assert set(alert) >= {"id", "file", "timestamp", "actor", "summary", "diff", "acknowledged"}
        assert alert["acknowledged"] is False
        assert agent.json("brief")["alerts"][0]["id"] == alert["id"]
        assert alert["id"] in agent.run("audit", "alerts").stdout
        agent.json("audit", "ack", alert["id"])
        assert agent.json("audit", "alerts")["alerts"][0]["acknowledged"] is True
        assert agent.json("brief")["alerts"] == []

    def test_a_damaged_history_hides_no_memory_and_can_be_set_aside(self, agent: Program) -> None:
        id_ = agent.json("remember", "We chose tea", "--store", "episodic")["id"]
        for part in (agent.folder / ".audit" / "objects").glob("??/*"):
            part.unlink()
        broken = agent.json("doctor", code=1)
        assert [check["name"] for check in broken["checks"] if check["state"] == "broken"] == ["history"]
        assert agent.json("search", "tea")["results"][0]["id"] == id_
        assert "tea" in agent.json("show", id_)["text"]
        error = agent.json("remember", "We chose coffee", code=1)["error"]
        assert "workbench doctor --set-aside-history" in error["remedy"]
        aside = agent.json("doctor", "--set-aside-history", "--yes")["setAside"]
        assert (agent.folder / aside).is_dir()
        agent.json("remember", "We chose coffee", "--store", "episodic")
        assert agent.json("doctor")["ok"] is True


class TestRefusing:
    def test_core_memory_past_its_cap_is_refused_whole(self, agent: Program) -> None:
        before = (agent.folder / "MEMORY.md").read_bytes()
        error = agent.json("core", "add", "Critical Facts", "many words " * 1800, code=5)["error"]
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
        agent.here = True
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
            # A file's own lines, and what holds a path, are as long as they are.
            too_wide = [line for line in done.stdout.splitlines() if len(line) > 80 and "/" not in line]
            assert not too_wide or {"get", "blame", "diff", "brief"} & set(words), too_wide


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("workbench show person--", {"person--lena"}),
        ("workbench graph path project", {"project--apollo"}),
        (
            "workbench get memory/graph/e",
            {"memory/graph/entities/person--lena.md", "memory/graph/entities/project--apollo.md"},
        ),
        ("workbench edit MEM", {"MEMORY.md"}),
        ("workbench graph no", set()),
    ],
)
def test_the_tab_key_offers_memories_and_writes_nothing(
    agent: Program, words: str, offered: set[str]
) -> None:
    entities = agent.folder / "memory" / "graph" / "entities"
    entities.mkdir(parents=True, exist_ok=True)
    for name in ("person--lena", "project--apollo", "person--\x1b[2J"):
        (entities / f"{name}.md").write_text("# x\n")
    before = agent.files()
    asked = agent.with_environment(
        _WORKBENCH_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" "))
    ).run()
    assert {line.removeprefix("plain,") for line in asked.stdout.split()} == offered
    assert agent.files() == before
    assert not (agent.home / "cache").exists()


def test_without_a_terminal_the_bench_is_not_opened(program: Program) -> None:
    done = program.run()
    assert done.returncode == 1
    assert "terminal" in done.stderr


class TestPurging:
    # Runs the program and sends it a signal once there is no way back.
    SCRIPT = """
import os, signal, sys
from workbench.cli.root import workbench
from workbench.engine.services.forgetting import Remains

NAME = sys.argv.pop()

def be_told(*_):
    os.kill(os.getpid(), getattr(signal, NAME))
    signal.pause()

Remains.purge = be_told
workbench()
"""

    @pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
    def test_a_signal_is_answered_by_what_was_done_and_the_command_goes_on(
        self, agent: Program, name: str
    ) -> None:
        kept = agent.json("remember", "Secretword zyxmarker was told", "--store", "episodic")
        words = ["forget", kept["id"], "--hard", "--purge-history", "--yes"]
        ended = subprocess.run(
            [sys.executable, "-c", self.SCRIPT, *words, name],
            cwd=agent.folder,
            env=agent.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 130
        told = " ".join(ended.stderr.split())
        assert "Interrupted. The purge is noted and will be finished by the next change;" in told
        assert agent.run(*words).returncode == 0
        assert "zyxmarker" not in agent.run("audit", "log").stdout
        assert agent.run(*words).returncode == 0
