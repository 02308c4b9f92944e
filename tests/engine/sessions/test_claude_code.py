"""Sessions of Claude Code are listed and read in place, line by line, with the same views as all others."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.engine.sessions.claude_files import ID, answered, asked, conversation, entry, text, written
from tests.engine.sessions.transcript_files import header, said, write
from workbench.engine.errors import NotFound
from workbench.engine.sessions.context import build_context
from workbench.engine.sessions.events import Event, random_access, read_event
from workbench.engine.sessions.foreign import ClaudeHome, foreign_home, installs
from workbench.engine.sessions.keys import parse_key
from workbench.engine.sessions.reader import event_view
from workbench.engine.sessions.store import SessionHome
from workbench.engine.sessions.transcripts import read_tree

KEY = f"claude-code:harbour:{ID}"


def lines_of(home: SessionHome, key: str = KEY) -> list[Event]:
    entry_ = home.read().entries[key]
    found = [read_event(number, content) for number, content in home.lines(parse_key(key), entry_).read()]
    return [each for each in found if isinstance(each, Event)]


def shown(home: SessionHome) -> list[tuple[str, Any]]:
    lines = home.lines(parse_key(KEY), home.read().entries[KEY])
    with random_access(lines) as reader:
        context = build_context(read_tree(lines), reader, budget=None)
    return [(each.role, each.message["content"]) for each in context.messages]


@pytest.mark.parametrize(
    "named", [".", "projects/-home-alex-harbour", f"projects/-home-alex-harbour/{ID}.jsonl"]
)
def test_it_is_found_however_it_is_named(tmp_path: Path, named: str) -> None:
    written(tmp_path)
    home = foreign_home(tmp_path / named)
    assert (home.source, list(home.read().entries)) == ("claude-code", [KEY])


def test_beginning_and_end_tell_what_a_session_is(tmp_path: Path) -> None:
    place = written(tmp_path)
    os.utime(place, (1_770_000_000, 1_770_000_000))
    found = ClaudeHome(tmp_path).read().entries[KEY]
    assert found.label == "The name of the ferry"
    assert (found.model, found.total_tokens) == ("claude-opus-4-5", 3005)
    assert found.updated == datetime.fromtimestamp(1_770_000_000, UTC)
    assert found.started == datetime(2026, 2, 1, 9, tzinfo=UTC)


def test_without_a_title_it_is_called_by_what_was_asked_first(tmp_path: Path) -> None:
    meta = asked("m", None, "Caveat: what follows was written by commands.", isMeta=True)
    written(tmp_path, meta, asked("u", "m", "Where is the harbour?"))
    assert ClaudeHome(tmp_path).read().entries[KEY].label == "Where is the harbour?"


def test_one_that_goes_while_the_others_are_read_takes_none_of_them_along(tmp_path: Path) -> None:
    place = written(tmp_path)
    gone = place.with_name("0" * len(ID) + ".jsonl")
    gone.write_bytes(place.read_bytes())
    home = ClaudeHome(tmp_path)
    gone.unlink()
    content = home.read()
    assert (list(content.entries), content.problems) == ([KEY], ())


def test_a_folder_that_no_key_can_name_is_told_and_hides_nothing(tmp_path: Path) -> None:
    place = written(tmp_path)
    odd = place.parent.with_name("-home-har\nbour")
    odd.mkdir()
    (odd / place.name).write_bytes(place.read_bytes())
    content = ClaudeHome(tmp_path).read()
    assert list(content.entries) == [KEY]
    assert [each.message for each in content.problems] == [
        f"'claude-code:har\\nbour:{ID}' is no session key; it was left aside."
    ]


def test_a_project_that_may_not_be_read_is_told_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = written(tmp_path).parent.with_name("-home-closed")
    closed.mkdir()
    scandir = os.scandir

    def refused(place: Path) -> object:
        if place == closed:
            raise PermissionError(13, "Permission denied", str(place))
        return scandir(place)

    monkeypatch.setattr("workbench.engine.sessions.foreign.os.scandir", refused)
    content = foreign_home(tmp_path).read()
    assert list(content.entries) == [KEY]
    assert [each.message for each in content.problems] == [
        f"{closed} cannot be read: Permission denied. Give the right to read it."
    ]


def test_every_line_keeps_its_number_and_says_what_it_said(tmp_path: Path) -> None:
    written(tmp_path)
    found = lines_of(ClaudeHome(tmp_path))
    assert [each.line for each in found] == list(range(1, 11))
    seen = [event_view(each, "sessions/x.jsonl") for each in found]
    assert [(each.kind, each.role) for each in seen] == [
        ("file-history-snapshot", ""), ("message", "user"), ("message", "assistant"), ("message", "assistant"),
        ("message", "assistant"), ("message", "toolResult"), ("message", "toolResult"), ("sidechain", ""),
        ("message", "assistant"), ("label", ""),
    ]  # fmt: skip
    assert seen[3].tools == ("Read",)
    assert "x" * 50 not in seen[0].text
    assert seen[5].text == "Visborg"


def test_a_model_is_shown_calls_with_their_results(tmp_path: Path) -> None:
    written(tmp_path)
    context = shown(ClaudeHome(tmp_path))
    assert [role for role, _ in context] == ["user", "assistant", "toolResult", "toolResult", "assistant"]
    assert [part["type"] for part in context[1][1]] == ["text", "tool_use", "tool_use"]
    assert context[-1][1] == [text("It is called Visborg.")]


def test_what_was_compacted_is_stood_for_by_its_summary(tmp_path: Path) -> None:
    written(
        tmp_path,
        *conversation()[:9],
        entry("b", None, "system", subtype="compact_boundary", content="Conversation compacted"),
        asked("k", "b", "This session is continued: the ferry is called Visborg.", isCompactSummary=True),
        asked("u9", "k", "And the harbour?"),
        answered("a9", "u9", "msg_9", text("Open.")),
    )
    first, *rest = shown(ClaudeHome(tmp_path))
    assert "the ferry is called Visborg" in first[1][0]["text"]
    assert [role for role, _ in rest] == ["user", "assistant"]


def test_garbage_and_other_files_harm_nothing(tmp_path: Path) -> None:
    place = written(tmp_path)
    with place.open("ab") as file:
        file.write(b"[1]\n{torn\n" + b'{"type": 7, "message": []}\n')
    place.with_name("agent-1234.jsonl").write_text("{}")
    place.with_name("..jsonl").write_text("{}")
    place.with_name("linked.jsonl").symlink_to(place)
    content = ClaudeHome(tmp_path).read()
    assert list(content.entries) == [KEY]
    assert len(content.problems) == 1
    assert len(lines_of(ClaudeHome(tmp_path))) == 11


def test_what_openclaws_tools_were_given_makes_no_claude_of_it(tmp_path: Path) -> None:
    given = {"type": "toolCall", "id": "c", "name": "show", "arguments": {"sessionId": "7d0c"}}
    place = write(tmp_path / "7d0c.jsonl", header(), said("m1", None, "assistant", [given]))
    assert foreign_home(place).source == "files"


def test_it_is_among_the_places_on_this_machine(tmp_path: Path) -> None:
    written(tmp_path / ".claude")
    (found,) = installs({}, tmp_path)
    assert (found.world, found.agents) == ("claude-code", ("harbour",))
    assert installs({"CLAUDE_CONFIG_DIR": str(tmp_path / "none")}, tmp_path) == ()


def test_a_folder_of_claude_without_sessions_has_none(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    with pytest.raises(NotFound):
        foreign_home(tmp_path)
