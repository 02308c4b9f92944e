"""Sessions of other programs in both worlds: found, told apart, read, and never written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from tests.engine.sessions.openclaw_database import make
from tests.engine.sessions.transcript_files import chain, header, said, write
from workbench.engine.errors import DocumentError, NotFound
from workbench.engine.sessions.foreign import foreign_home, installs
from workbench.engine.sessions.keys import parse_key
from workbench.engine.sessions.openclaw_database import DatabaseHome, DatabaseLines
from workbench.engine.sessions.store import SessionEntry, SessionHome

ENTRY = {"sessionId": "7d0c", "updatedAt": 1769300000000, "totalTokens": 151200, "compactionCount": 2}
LARGE = said("m9", "m1", "user", "long " * 2000)


def files(state: Path, agent: str = "main") -> Path:
    folder = state / "agents" / agent / "sessions"
    write(folder / "7d0c.jsonl", *chain("one", "two"))
    (folder / "sessions.json").write_text(json.dumps({f"agent:{agent}:main": ENTRY}))
    return folder


def database(state: Path, agent: str = "main", *, wal: bool = True, schema: int = 23) -> Path:
    place = state / "agents" / agent / "agent" / "openclaw-agent.sqlite"
    return make(
        place, {f"agent:{agent}:main": (ENTRY, [*chain("one", "two"), LARGE])}, wal=wal, schema=schema
    )


def everything(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in folder.rglob("*")
        if path.is_file()
    }


def texts(home: SessionHome, name: str = "agent:main:main") -> list[str]:
    key = parse_key(name)
    found = home.read().find(key)
    assert found is not None
    lines = [json.loads(line) for _, line in home.lines(key, found[1]).read()]
    return [line["message"]["content"][0]["text"] for line in lines if line["type"] == "message"]


@pytest.mark.parametrize(
    "named", [".", "agents/main", "agents/main/sessions", "agents/main/sessions/sessions.json"]
)
def test_plain_files_are_read_from_wherever_one_points(named: str, tmp_path: Path) -> None:
    files(tmp_path)
    home = foreign_home(tmp_path / named)
    assert (home.source, texts(home)) == ("files", ["one", "two"])


def test_one_transcript_can_be_named_by_itself(tmp_path: Path) -> None:
    home = foreign_home(files(tmp_path) / "7d0c.jsonl")
    assert texts(home, "7d0c") == ["one", "two"]


@pytest.mark.parametrize(
    "named", [".", "agents/main", "agents/main/agent", "agents/main/agent/openclaw-agent.sqlite"]
)
@pytest.mark.parametrize("wal", [True, False])
def test_a_database_is_read_from_wherever_one_points(named: str, wal: bool, tmp_path: Path) -> None:
    database(tmp_path, wal=wal)
    before = everything(tmp_path)
    home = foreign_home(tmp_path / named)
    assert home.source == "database"
    assert texts(home)[:2] == ["one", "two"]
    assert texts(home)[2].startswith("long long")
    (entry,) = home.read().entries.values()
    assert (entry.session_id, entry.total_tokens, entry.compactions) == ("7d0c", 151200, 2)
    assert everything(tmp_path) == before


def test_agents_of_both_worlds_are_read_together(tmp_path: Path) -> None:
    files(tmp_path, "old")
    database(tmp_path, "new")
    # What was left behind when the agent moved to its database does not count.
    files(tmp_path, "new")
    home = foreign_home(tmp_path)
    assert home.source == "both"
    assert sorted(home.read().entries) == ["agent:new:main", "agent:old:main"]
    assert len(texts(home, "agent:old:main")) == 2
    assert len(texts(home, "agent:new:main")) == 3


def test_an_agent_that_cannot_be_read_is_named_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path, "damaged").joinpath("sessions.json").write_text('{"agent:')
    files(tmp_path, "closed")
    files(tmp_path, "main")
    closed, is_file, opening = tmp_path / "agents" / "closed", Path.is_file, os.open

    def refused(self: Path) -> bool:
        if self.is_relative_to(closed):
            raise PermissionError(13, "Permission denied", str(self))
        return is_file(self)

    def kept_out(place: str | Path, *how: int) -> int:
        if str(place).startswith(str(closed)):
            raise PermissionError(13, "Permission denied", str(place))
        return opening(place, *how)

    monkeypatch.setattr(Path, "is_file", refused)
    monkeypatch.setattr("workbench.engine.file_access.os.open", kept_out)
    content = foreign_home(tmp_path).read()
    assert list(content.entries) == ["agent:main:main"]
    one, other = (problem.message for problem in content.problems)
    assert "closed/sessions" in one
    assert "Permission denied" in one
    assert "damaged/sessions" in other


def test_a_variable_or_a_link_that_leads_nowhere_hides_no_install(tmp_path: Path) -> None:
    files(tmp_path / ".clawdbot")
    (tmp_path / ".openclaw").symlink_to(tmp_path / ".openclaw")
    environment = {
        "OPENCLAW_STATE_DIR": "~nobody-of-that-name",
        "CLAUDE_CONFIG_DIR": "~nobody-of-that-name/x",
    }
    assert [each.folder.name for each in installs(environment, tmp_path)] == [".clawdbot"]
    with pytest.raises(NotFound, match="no sessions here"):
        foreign_home(Path("~nobody-of-that-name/x"))


def test_lines_of_a_database_are_found_by_number(tmp_path: Path) -> None:
    lines = DatabaseLines(database(tmp_path), "7d0c")
    assert lines.count() == 4
    assert [number for number, _ in lines.read(3, 1)] == [3]
    assert lines.size() == sum(len(json.dumps(event)) for event in [*chain("one", "two"), LARGE])
    assert lines.name == "sessions/7d0c.jsonl"


def test_a_database_in_use_is_read_beside_its_owner(tmp_path: Path) -> None:
    place = database(tmp_path)
    owner = sqlite3.connect(place)
    owner.execute("UPDATE session_nodes SET label = 'renamed'")
    owner.commit()
    owner.execute("BEGIN IMMEDIATE")
    owner.execute("UPDATE session_nodes SET label = 'not yet'")
    before = sorted(path.name for path in place.parent.iterdir())
    (entry,) = DatabaseHome(place).read().entries.values()
    assert entry.label == "renamed"
    assert sorted(path.name for path in place.parent.iterdir()) == before
    owner.rollback()
    owner.close()


def test_the_log_of_a_copied_database_counts_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    place = database(tmp_path / "a")
    program = (
        "import os, sqlite3, sys\n"
        "d = sqlite3.connect(sys.argv[1]); d.execute(\"UPDATE session_nodes SET label = 'late'\")\n"
        "d.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, place], check=True)
    copy = tmp_path / "b" / place.name
    copy.parent.mkdir()
    shutil.copy(place, copy)
    shutil.copy(f"{place}-wal", f"{copy}-wal")
    before = everything(copy.parent)
    (entry,) = DatabaseHome(copy).read().entries.values()
    assert entry.label == "late"
    assert everything(copy.parent) == before


def test_a_database_that_its_owner_keeps_for_itself_is_read(tmp_path: Path) -> None:
    place = database(tmp_path)
    owner = sqlite3.connect(place)
    owner.execute("PRAGMA locking_mode=EXCLUSIVE")
    owner.execute("UPDATE session_nodes SET label = 'x'")
    owner.commit()
    (entry,) = DatabaseHome(place).read().entries.values()
    assert entry.label == "x"
    owner.close()


@pytest.mark.parametrize("content", [b"", b"no database at all, but some text that is long enough" * 30])
def test_what_is_no_database_is_named(content: bytes, tmp_path: Path) -> None:
    place = tmp_path / "openclaw-agent.sqlite"
    place.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        DatabaseHome(place).read()
    assert caught.value.where == str(place)


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    place = database(tmp_path, wal=False)
    content = bytearray(place.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    place.write_bytes(content)
    with pytest.raises(DocumentError):
        DatabaseHome(place).read()


def test_a_newer_schema_is_read_with_a_remark(tmp_path: Path) -> None:
    content = DatabaseHome(database(tmp_path, schema=99)).read()
    assert list(content.entries) == ["agent:main:main"]
    assert "99" in content.problems[0].message


def test_what_cannot_be_unpacked_is_a_line_that_cannot_be_read(tmp_path: Path) -> None:
    place = database(tmp_path)
    with sqlite3.connect(place) as changed:
        for seq, blob in (
            (10, b"no zstd"),
            (11, zstandard.ZstdCompressor().compress(b"x" * 50_000_000)),
            (12, None),
        ):
            changed.execute(
                "INSERT INTO transcript_events VALUES ('7d0c', ?, NULL, ?, 0, 0, NULL)", (seq, blob)
            )
    changed.close()
    found = [line for _, line in DatabaseLines(place, "7d0c").read(5)]
    assert found == [b"(damaged)", b"(too long)", b"(nothing)"]


WITHOUT_END = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
IN_PLACE_OF_TABLES = {
    "session_nodes": f"CREATE VIEW session_nodes AS {WITHOUT_END} "
    "SELECT 'agent:main:k' || x AS session_key, 's1' AS current_session_id FROM c",
    "transcript_events": f"CREATE VIEW transcript_events AS {WITHOUT_END} "
    "SELECT 's1' AS session_id, x AS seq, '{}' AS event_json FROM c",
    "reckoned": "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, "
    "event_json TEXT GENERATED ALWAYS AS (hex(zeroblob(1000))))",
}


@pytest.mark.parametrize("name", IN_PLACE_OF_TABLES)
def test_what_only_looks_like_a_table_is_not_read(name: str, tmp_path: Path) -> None:
    place = database(tmp_path / "state", wal=False)
    with sqlite3.connect(place) as changed:
        changed.execute(f"DROP TABLE {name.replace('reckoned', 'transcript_events')}")
        changed.execute(IN_PLACE_OF_TABLES[name])
    changed.close()
    home = DatabaseHome(place)
    if name == "session_nodes":
        with pytest.raises(DocumentError, match="no table session_nodes"):
            home.read()
        return
    lines = DatabaseLines(place, "s1")
    for ask in (lines.size, lines.count, lambda: next(lines.read())):
        with pytest.raises(DocumentError, match="no table transcript_events"):
            ask()


def test_an_event_without_measure_fills_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.sessions.openclaw_database.MOST_LINE_BYTES", 2000)
    place = make(tmp_path / "openclaw-agent.sqlite", {"agent:main:main": ({"sessionId": "s1"}, chain("one"))})
    with sqlite3.connect(place) as changed:
        changed.execute(
            "INSERT INTO transcript_events VALUES ('s1', 8, ?, NULL, 0, ?, NULL)", ("é" * 1001, 2**62)
        )
        changed.execute("INSERT INTO transcript_events VALUES ('s1', 9, '{}', NULL, 0, ?, NULL)", (2**62,))
    changed.close()
    lines = DatabaseLines(place, "s1")
    assert [content for _, content in lines.read(first=3)] == [b"(too long)", b"{}"]
    assert lines.size() > 2**40


def test_sizes_that_are_no_numbers_count(tmp_path: Path) -> None:
    place = tmp_path / "openclaw-agent.sqlite"
    with sqlite3.connect(place) as made:
        made.execute("CREATE TABLE transcript_events (session_id, seq, event_json, event_utf8_bytes)")
        for number, size in enumerate([float("inf"), float("-inf"), "many", b"\xff", -5, 7]):
            made.execute("INSERT INTO transcript_events VALUES ('s1', ?, '{}', ?)", (number, size))
    made.close()
    assert DatabaseLines(place, "s1").size() == 2**40 + 7


def test_hostile_keys_and_ids_lead_nowhere(tmp_path: Path) -> None:
    entry = {"sessionId": "../../../etc/passwd", "sessionFile": "/etc/passwd"}
    place = make(
        tmp_path / "openclaw-agent.sqlite", {"agent:main:main": (entry, []), "a\nb": ({"sessionId": "1"}, [])}
    )
    content = DatabaseHome(place).read()
    assert content.entries["agent:main:main"].session_id == ""
    assert list(DatabaseHome(place).lines(parse_key("agent:main:main"), SessionEntry(entry)).read()) == []


@pytest.mark.parametrize("name", ["", "missing", "readme.txt"])
def test_where_there_is_nothing_it_says_what_to_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("x")
    with pytest.raises(NotFound) as caught:
        foreign_home(tmp_path / name)
    assert caught.value.remedy


def test_installs_are_found_in_the_order_of_the_programs(tmp_path: Path) -> None:
    files(tmp_path / ".clawdbot")
    database(tmp_path / ".openclaw")
    database(tmp_path / "elsewhere")
    (tmp_path / ".moltbot").mkdir()
    found = installs({"OPENCLAW_STATE_DIR": str(tmp_path / "elsewhere")}, tmp_path)
    assert [(each.folder.name, each.world, each.agents) for each in found] == [
        ("elsewhere", "database", ("main",)), (".openclaw", "database", ("main",)), (".clawdbot", "files", ("main",)),
    ]  # fmt: skip


def test_a_folder_of_transcripts_alone_has_no_sessions_but_can_be_read(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl", header())
    assert foreign_home(tmp_path).read().entries == {}
