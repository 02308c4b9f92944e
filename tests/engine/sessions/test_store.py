"""The session store: JSON5 read, unknown fields kept, written whole and for nobody else, under its lock."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.engine.errors import DocumentError, InvalidInput, OutsideWorkspace
from workbench.engine.sessions.keys import parse_key
from workbench.engine.sessions.store import SessionEntry, SessionStore

NOW = datetime(2026, 1, 24, 9, tzinfo=UTC)
MAIN = parse_key("agent:main:main")


def store(tmp_path: Path, text: str) -> SessionStore:
    (tmp_path / "sessions.json").write_text(text)
    return SessionStore(tmp_path)


def test_json5_is_read(tmp_path: Path) -> None:
    content = store(
        tmp_path, "// mine\n{'agent:main:main': {sessionId: '7d0c', updatedAt: 1769300000000,},}"
    ).read()
    (entry,) = content.entries.values()
    assert (entry.session_id, entry.updated) == ("7d0c", datetime(2026, 1, 25, 0, 13, 20, tzinfo=UTC))


def test_nothing_is_there_before_something_is_kept(tmp_path: Path) -> None:
    assert SessionStore(tmp_path / "none").read().entries == {}
    assert not (tmp_path / "none").exists()


def test_a_change_keeps_everything_else_and_the_order(tmp_path: Path) -> None:
    given = {
        "b": {"x": 1, "sessionId": "b1"},
        "agent:main:main": {"own": {"deep": [1]}, "sessionId": "7d0c"},
        "odd": 7,
    }
    sessions = store(tmp_path, json.dumps(given))
    sessions.change(MAIN, lambda entry: (entry or SessionEntry()).with_fields(updatedAt=5))
    written = (tmp_path / "sessions.json").read_text()
    assert json.loads(written) == {**given, "agent:main:main": {**given["agent:main:main"], "updatedAt": 5}}  # type: ignore[dict-item]  # of the mixed mapping
    assert list(json.loads(written)) == list(given)
    assert written.startswith('{\n  "b": {\n    "x": 1')
    assert (tmp_path / "sessions.json").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sessions.json"]


def test_dm_and_direct_are_one_session(tmp_path: Path) -> None:
    sessions = store(tmp_path, '{"agent:a:dm:x": {"sessionId": "1"}}')
    found = sessions.read().find(parse_key("agent:a:direct:x"))
    assert found is not None
    assert found[0] == "agent:a:dm:x"
    sessions.change(parse_key("agent:a:direct:x"), lambda entry: entry)
    assert list(sessions.read().entries) == ["agent:a:dm:x"]


@pytest.mark.parametrize("text", ["[1]", "{", "nonsense", '"x"'])
def test_a_damaged_store_is_named_and_left_as_it_is(text: str, tmp_path: Path) -> None:
    sessions = store(tmp_path, text)
    with pytest.raises(DocumentError) as caught:
        sessions.read()
    assert caught.value.where == str(tmp_path / "sessions.json")
    with pytest.raises(DocumentError):
        sessions.change(MAIN, lambda entry: entry)
    assert (tmp_path / "sessions.json").read_text() == text


def test_what_is_no_entry_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    content = store(
        tmp_path,
        json.dumps({"a": 1, "b\n": {}, "agent:main:main": {"sessionId": "../../x"}, "c": {"sessionId": "1"}}),
    ).read()
    assert list(content.entries) == ["b\n", "agent:main:main", "c"]
    assert len(content.problems) == 2
    assert content.entries["agent:main:main"].session_id == ""


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"sessionId": "7d0c"}, "7d0c.jsonl"),
        ({"sessionId": "7d0c", "sessionFile": "/elsewhere/of/mine/other.jsonl"}, "other.jsonl"),
        ({"sessionId": "7d0c", "sessionFile": "../../etc/passwd"}, "7d0c.jsonl"),
        ({"sessionId": "7d0c", "sessionFile": "..\\..\\x.jsonl"}, "x.jsonl"),
        ({"sessionId": "7d0c", "sessionFile": "/x/....jsonl"}, "7d0c.jsonl"),
    ],
)
def test_a_transcript_always_lies_in_the_folder(entry: dict[str, str], name: str, tmp_path: Path) -> None:
    assert SessionStore(tmp_path).transcript(MAIN, SessionEntry(entry)) == tmp_path / name


@pytest.mark.parametrize("session_id", ["../x", "a/b", "", None, 7, "x" * 200])
def test_an_id_that_leads_elsewhere_has_no_transcript(session_id: object, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        SessionStore(tmp_path).transcript(MAIN, SessionEntry({"sessionId": session_id}))


def test_the_transcript_of_a_topic_has_its_own_name(tmp_path: Path) -> None:
    key, entry = parse_key("agent:a:telegram:group:1:topic:7"), SessionEntry({"sessionId": "7d0c"})
    assert SessionStore(tmp_path).transcript(key, entry).name == "7d0c.jsonl"
    (tmp_path / "7d0c-topic-7.jsonl").touch()
    assert SessionStore(tmp_path).transcript(key, entry).name == "7d0c-topic-7.jsonl"


def test_a_link_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}")
    (tmp_path / "sessions.json").symlink_to(tmp_path / "real")
    with pytest.raises(OutsideWorkspace):
        SessionStore(tmp_path).read()


def test_what_belongs_to_one_session_does_not_outlive_it() -> None:
    entry = SessionEntry(
        {
            "sessionId": "1", "compactionCount": 3, "memoryFlushAt": 1, "memoryFlushCompactionCount": 2,
            "totalTokens": 9,
            "thinkingLevel": "high", "modelOverride": "x", "own": 1,
        }
    )  # fmt: skip
    assert dict(entry.begun_anew("2", NOW).fields) == {
        "thinkingLevel": "high", "modelOverride": "x", "own": 1, "sessionId": "2", "updatedAt": 1769245200000,
        "compactionCount": 0,
    }  # fmt: skip


@pytest.mark.parametrize("value", [None, True, "5", -1, float("nan"), float("inf"), 1e300, [], {}])
def test_counts_that_are_none_are_unknown(value: object) -> None:
    entry = SessionEntry(
        {"totalTokens": value, "compactionCount": value, "updatedAt": value, "contextTokens": value}
    )
    assert (entry.total_tokens, entry.compactions, entry.context_tokens) == (None, 0, None)
    assert entry.updated is None or value == -1


def test_the_flush_of_later_versions_is_understood() -> None:
    entry = SessionEntry({"memoryFlush": {"kind": "x", "compactionCount": 2, "at": 1769245200000}})
    assert (entry.flushed_cycle, entry.flushed) == (2, NOW)


CHANGER = """
import sys
from pathlib import Path
from workbench.engine.sessions.store import SessionEntry
from workbench.engine.sessions.keys import parse_key
from workbench.engine.sessions.store import SessionStore
store = SessionStore(Path(sys.argv[1]))
for _ in range(25):
    store.change(parse_key("agent:main:main"), lambda entry: (entry or SessionEntry()).with_fields(
        n=((entry or SessionEntry()).fields.get("n") or 0) + 1))
"""


@pytest.mark.slow
def test_processes_lose_no_change(tmp_path: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", CHANGER, tmp_path]) for _ in range(4)]
    assert [each.wait(120) for each in running] == [0] * 4
    assert SessionStore(tmp_path).read().entries[str(MAIN)].fields["n"] == 100
