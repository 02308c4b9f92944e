"""Sessions of OpenClaw of both generations and of Claude Code: turns, lines, torn ones, and memory files."""

from __future__ import annotations

import json
from pathlib import Path

from tests.engine.sessions import openclaw_database
from tests.engine.transfer.reading_all import notes, pieces, read_all, skipped, write
from workbench.engine.transfer.recognition import open_source


def line(role: str, text: str, moment: str, **more: object) -> str:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "message", "id": "a1", "timestamp": moment, "message": message, **more})


SESSION = "\n".join(
    [
        '{"type":"session","version":3,"id":"7d0c","timestamp":"2026-01-24T09:00:00.000Z"}',
        line("user", "remember: staging is eu-2", "2026-01-24T09:00:02Z"),
        line("assistant", "Noted.", "2026-01-24T09:00:05Z"),
        line("toolResult", "ls", "2026-01-24T09:00:06Z"),
        '{"type":"message","id":"torn',
        line("user", "And production?", "2026-01-24T11:30:00Z"),
        line("assistant", "NO_REPLY", "2026-01-24T11:30:02Z"),
        "",
    ]
)
CLAUDE = "\n".join(
    json.dumps(
        {
            "type": role,
            "uuid": "u",
            "sessionId": "s",
            "timestamp": at,
            "message": {"role": role, "content": text},
        }
    )
    for role, text, at in [
        ("user", "Use tabs", "2026-02-01T10:00:00Z"),
        ("assistant", "I will.", "2026-02-01T10:00:04Z"),
    ]
)


def test_a_session_is_parted_at_pauses_and_names_its_lines(tmp_path: Path) -> None:
    place = write(tmp_path / "sessions", {"7d0c.jsonl": SESSION, "sessions.json": "{}"})
    assert open_source(place).form == "sessions"
    items = read_all(place)
    first, second = pieces(items)
    assert first.body == "User: remember: staging is eu-2\n\nAssistant: Noted."
    assert [str(first.place), str(second.place)] == ["7d0c.jsonl#L2-L3", "7d0c.jsonl#L6"]
    assert skipped(items) == {"7d0c.jsonl#L5": "This line is torn or no JSON."}


def test_a_whole_install_gives_workspace_and_sessions(tmp_path: Path) -> None:
    place = write(
        tmp_path / "state",
        {
            "openclaw.json": "{}",
            "workspace/MEMORY.md": "# M\n\n- Drinks tea\n",
            "workspace/memory/people.md": "# People\n\nSam.\n",
            "agents/main/sessions/7d0c.jsonl": SESSION,
            "credentials/token.json": "{}",
        },
    )
    items = read_all(place)
    assert open_source(place).form == "openclaw"
    assert [str(piece.place) for piece in pieces(items)] == [
        "workspace/MEMORY.md#L3",
        "agents/main/sessions/7d0c.jsonl#L2-L3",
        "agents/main/sessions/7d0c.jsonl#L6",
    ]
    assert [note.path for note in notes(items)] == ["workspace/people.md"]


def test_claude_code_at_home(tmp_path: Path) -> None:
    place = write(
        tmp_path / ".claude",
        {
            "CLAUDE.md": "# Rules\n\nUse tabs. See @~/secret/notes.md.\n",
            "projects/-home-u-site/s1.jsonl": CLAUDE,
            "projects/-home-u-site/memory/MEMORY.md": "- [Tests](tests.md)\n",
            "projects/-home-u-site/memory/tests.md": (
                "---\nname: tests\ndescription: How tests run\ntype: project\n---\nRun make.\n"
            ),
            "settings.json": "{}",
            "todos/x.md": "not memory\n",
        },
    )
    assert open_source(place).form == "claude-code"
    items = read_all(place)
    rules, tests, session = pieces(items)
    assert rules.text == "Rules\nUse tabs. See @~/secret/notes.md."
    assert (tests.text, tests.tags) == ("How tests run\nRun make.", ("project", "tests"))
    assert (session.body, session.tags) == ("User: Use tabs\n\nAssistant: I will.", ("site",))
    assert set(skipped(items)) == {"CLAUDE.md#L3", "projects/-home-u-site/memory/MEMORY.md"}


def test_a_single_transcript_and_a_single_file(tmp_path: Path) -> None:
    place = write(
        tmp_path / "repo", {"s1.jsonl": CLAUDE, "CLAUDE.md": "Use tabs.\n", "docs/other.md": "no\n"}
    )
    assert open_source(place / "s1.jsonl").form == "claude-code"
    assert open_source(place / "CLAUDE.md").name == "claude-repo"
    assert [piece.text for piece in pieces(read_all(place))] == ["Use tabs."]


def test_the_same_talk_in_another_file_is_the_same(tmp_path: Path) -> None:
    place = write(tmp_path / "p", {"one.jsonl": CLAUDE, "two.jsonl": CLAUDE + "\n"})
    one, two = pieces(read_all(place, "claude-code"))
    assert one.key == two.key
    assert one.standing() == two.standing()


def test_sessions_in_a_database(tmp_path: Path) -> None:
    events = [json.loads(each) for each in SESSION.split("\n") if each and "torn" not in each]
    database = openclaw_database.make(
        tmp_path / "state/agents/main/agent/openclaw-agent.sqlite",
        {"agent:main:main": ({"sessionId": "7d0c", "updatedAt": 1769300000000}, events)},
    )
    first, second = pieces(read_all(tmp_path / "state"))
    assert first.body == "User: remember: staging is eu-2\n\nAssistant: Noted."
    assert str(second.place) == "agents/main/agent/openclaw-agent.sqlite/7d0c#L5"
    assert [piece.key for piece in pieces(read_all(database))] == [first.key, second.key]
