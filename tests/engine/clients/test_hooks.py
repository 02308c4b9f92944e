"""What a client is told at the moments of a session, and what is saved of a conversation."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.engine.sessions.claude_files import ID, answered, asked, text, written
from workbench.engine import layout
from workbench.engine.clients.hooks import HookCall, answer, brief_text, prepare_brief
from workbench.engine.clock import Clock, FixedClock
from workbench.engine.services import kept_brief
from workbench.engine.workspace import Workspace

CLOCK = FixedClock(datetime(2026, 2, 2, 14, 30, tzinfo=UTC))


class Desk:
    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.opened = 0

    def open(self, role: str = "main") -> Workspace:
        self.opened += 1
        return Workspace.open(self.root, role=role, clock=CLOCK)

    def ask(self, moment: str, client: str = "claude-code", **given: Any) -> dict[str, Any] | None:
        call = HookCall.read(moment, client, json.dumps(given).encode())
        return answer(call, self.root, CLOCK, self.open, is_main=True)

    def start(self) -> str:
        told = self.ask("session-start", hook_event_name="SessionStart", source="startup")
        assert told is not None
        return str(told["hookSpecificOutput"]["additionalContext"])


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("WORKBENCH_PATHS_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("WORKBENCH_PATHS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WORKBENCH_TIMEZONE", "UTC")
    root = tmp_path / "memory"
    Workspace.init(root, clock=CLOCK)
    with Workspace.open(root, role="person", clock=CLOCK) as workspace:
        workspace.core_add("Critical Facts", "Mira pays within 30 days of the invoice")
        workspace.remember("We decided to move the harbour study to the Visborg ferry", store="episodic")
    return Desk(root)


def still_kept(desk: Desk, clock: Clock = CLOCK, environment: Mapping[str, str] = os.environ) -> str | None:
    seen = kept_brief.fingerprint(desk.root, environment)
    return kept_brief.kept_text(desk.root, clock, environment, seen)


class TestSessionStart:
    def test_tells_core_memory_the_log_and_what_waits(self, desk: Desk) -> None:
        told = desk.ask("session-start", hook_event_name="SessionStart")
        assert told is not None
        assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        said = told["hookSpecificOutput"]["additionalContext"]
        assert said.index("no orders") < said.index("Mira pays within 30 days") < said.index("Visborg ferry")

    def test_the_second_start_opens_nothing(self, desk: Desk) -> None:
        first = desk.start()
        opened = desk.opened
        assert desk.start() == first
        assert desk.opened == opened

    def test_what_a_person_corrected_is_told_at_once(self, desk: Desk) -> None:
        desk.start()
        place = desk.root / "MEMORY.md"
        place.write_text(place.read_text().replace("30 days", "14 days"))
        assert "14 days" in desk.start()

    def test_after_a_change_the_workspace_is_walked_three_times_at_most(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        desk.start()
        (desk.root / "MEMORY.md").touch()
        walks: list[Path] = []
        walk = layout.tracked_files

        def counted(root: Path) -> dict[str, layout.FileStatus]:
            walks.append(root)
            return walk(root)

        monkeypatch.setattr(layout, "tracked_files", counted)
        desk.start()
        assert len(walks) <= 3

    def test_what_was_changed_through_the_engine_leaves_nothing_behind(
        self, desk: Desk, tmp_path: Path
    ) -> None:
        desk.start()
        kept = next((tmp_path / "cache").rglob(kept_brief.NAME))
        assert "Visborg" in kept.read_text()
        assert kept.stat().st_mode & 0o777 == 0o600
        with desk.open("person") as workspace:
            workspace.remember("Something else", store="episodic")
        assert not kept.exists()

    @pytest.mark.parametrize(
        "moment", ["2026-02-03T00:10:00Z", "2026-02-02T21:00:00Z", "2026-02-01T10:00:00Z"]
    )
    def test_another_day_or_hours_later_it_is_put_together_anew(self, desk: Desk, moment: str) -> None:
        desk.start()
        later = FixedClock(datetime.fromisoformat(moment))
        assert still_kept(desk) is not None
        assert still_kept(desk, later) is None

    def test_other_settings_and_a_broken_record_are_no_hit(self, desk: Desk, tmp_path: Path) -> None:
        desk.start()
        other = {**os.environ, "WORKBENCH_BRIEF_LOG_TOKENS": "0"}
        assert still_kept(desk, environment=other) is None
        kept = next((tmp_path / "cache").rglob(kept_brief.NAME))
        for content in (
            "",
            "[]",
            '{"version": 1}',
            json.dumps({**json.loads(kept.read_text()), "zone": "No/Where"}),
        ):
            kept.write_text(content)
            assert still_kept(desk) is None

    def test_the_cache_that_the_user_configured_is_used(
        self, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = tmp_path / "config.toml"
        config.write_text(f'paths.cache = "{tmp_path / "elsewhere"}"\n')
        monkeypatch.setenv("WORKBENCH_CONFIG", str(config))
        monkeypatch.delenv("WORKBENCH_PATHS_CACHE")
        with desk.open() as door:
            prepare_brief(door, desk.root, CLOCK)
        assert still_kept(desk) is not None
        assert list((tmp_path / "elsewhere").rglob(kept_brief.NAME))

    def test_a_long_memory_is_cut_where_lines_end(self, desk: Desk) -> None:
        with desk.open("person") as workspace:
            brief = workspace.brief()
        lines = "\n".join(f"- Fact number {number} about the harbour" for number in range(900))
        said = brief_text(replace(brief, core=lines))
        assert len(said) <= 9_500
        assert "memory_core" in said
        assert all(line in lines for line in said.splitlines() if line.startswith("- Fact"))


class TestPrompt:
    def test_what_memory_has_on_it_is_told_with_its_place(self, desk: Desk) -> None:
        told = desk.ask(
            "prompt", hook_event_name="UserPromptSubmit", prompt="Where did the harbour study go?"
        )
        assert told is not None
        said = told["hookSpecificOutput"]["additionalContext"]
        assert "Visborg ferry" in said
        assert "(memory/episodes/2026-02-02.md#L" in said

    @pytest.mark.parametrize(
        "prompt",
        [
            "run the tests please",
            "ok",
            "",
            "/workbench:recall harbour study",
            "harbour",
            "What about the weather in Oslo?",
        ],
    )
    def test_nothing_where_nothing_is_relevant(self, desk: Desk, prompt: str) -> None:
        assert desk.ask("prompt", hook_event_name="UserPromptSubmit", prompt=prompt) is None


class TestSaving:
    def conversation(self, place: Path, *said: str) -> dict[str, str]:
        entries: list[dict[str, Any]] = []
        for number, words in enumerate(said):
            entries.append(asked(f"u{number}", f"a{number - 1}" if number else None, words))
            entries.append(answered(f"a{number}", f"u{number}", f"m{number}", text("Noted.")))
        path = written(place, *entries)
        return {"session_id": ID, "transcript_path": str(path)}

    def test_before_a_compaction_what_matters_is_saved_and_said(self, desk: Desk, tmp_path: Path) -> None:
        given = self.conversation(tmp_path / "claude", "Remember that the berth is number seven.")
        told = desk.ask("pre-compact", hook_event_name="PreCompact", trigger="auto", **given)
        assert told == {
            "systemMessage": "Workbench saved 1 memory of this conversation before it is compacted."
        }
        with desk.open() as door:
            assert "berth" in door.search("berth").results[0].snippet
        assert desk.ask("pre-compact", hook_event_name="PreCompact", **given) is None

    def test_what_is_said_later_is_saved_at_the_end_and_the_next_session_is_told(
        self, desk: Desk, tmp_path: Path
    ) -> None:
        first = ("Remember that the berth is number seven.",)
        desk.ask("pre-compact", **self.conversation(tmp_path / "claude", *first))
        given = self.conversation(tmp_path / "claude", *first, "Remember that the crane is broken.")
        assert desk.ask("session-end", hook_event_name="SessionEnd", reason="exit", **given) is None
        with desk.open() as door:
            log = [entry.text for entry in door.brief().log.entries]
            assert sum("berth" in line for line in log) == 1
            assert sum("crane" in line for line in log) == 1
            assert len(door.sessions().sessions) == 1
        opened = desk.opened
        assert "crane" in desk.start()
        assert desk.opened == opened

    @pytest.mark.parametrize(
        "given",
        [{}, {"session_id": ID}, {"session_id": ID, "transcript_path": "/nowhere/x.jsonl"},
         {"session_id": ID, "transcript_path": "/etc/passwd"}, {"session_id": 3, "transcript_path": []}],
    )  # fmt: skip
    def test_a_session_in_which_nothing_was_said_opens_nothing(
        self, desk: Desk, given: dict[str, Any]
    ) -> None:
        assert desk.ask("session-end", **given) is None
        assert desk.opened == 0


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_whatever_a_client_writes_is_a_call(content: bytes) -> None:
    assert HookCall.read("prompt", "codex", content).given == {}


class TestPlugin:
    """What a plugin of ours tells of a conversation, whose client keeps no transcript that we read."""

    SAID = (("m1", "user", "We decided to move the berth to number seven."), ("m2", "assistant", "Fine."))

    def tell(self, desk: Desk, *said: tuple[Any, ...], session: str = "ses_1") -> list[str]:
        messages = [{"id": own, "role": role, "text": text, "at": 1770042600000} for own, role, text in said]
        desk.ask("session-end", session_id=session, messages=messages)
        day = desk.root / "memory" / "episodes" / "2026-02-02.md"
        return [line for line in day.read_text().splitlines() if "berth" in line and "##" not in line]

    def test_is_saved_once_with_the_line_it_comes_from(self, desk: Desk) -> None:
        assert self.tell(desk, *self.SAID) == [self.SAID[0][2]]
        assert self.tell(desk, *self.SAID, ("m3", "user", "Good.")) == [self.SAID[0][2]]
        with desk.open() as workspace:
            (session,) = workspace.sessions().sessions
            assert session.session_id == "ses_1"
        assert (
            "from:[file:sessions/ses_1.jsonl#L2]"
            in (desk.root / "memory" / "episodes" / "2026-02-02.md").read_text()
        )

    def test_what_is_said_later_is_saved_as_well(self, desk: Desk) -> None:
        self.tell(desk, *self.SAID)
        later = "We decided to rent the berth to Mira."
        assert self.tell(desk, *self.SAID, ("m3", "user", later)) == [self.SAID[0][2], later]

    def test_what_is_said_later_may_come_alone_and_twice(self, desk: Desk) -> None:
        whole = (
            *self.SAID,
            ("m3", "user", "We decided to rent the berth to Mira."),
            ("m4", "assistant", "Yes."),
        )
        last = ("m5", "user", "We decided to paint the berth green.")
        self.tell(desk, *whole[:2])
        self.tell(desk, *whole[2:])
        self.tell(desk, *whole[1:3])
        assert self.tell(desk, last) == [self.SAID[0][2], whole[2][2], last[2]]
        assert self.tell(desk, *whole, last) == [self.SAID[0][2], whole[2][2], last[2]]
        with desk.open() as workspace:
            told = [line for line in workspace.session("ses_1").lines if line.kind == "message"]
        assert [line.text for line in told] == [text for _, _, text in (*whole, last)]
        assert all(line.active for line in told)

    @pytest.mark.parametrize("session", ["../up", "", "a/b", "x" * 500])
    def test_names_no_file(self, desk: Desk, session: str) -> None:
        assert self.tell(desk, *self.SAID, session=session) == []

    def test_is_read_as_far_as_it_makes_sense(self, desk: Desk) -> None:
        wild: tuple[Any, ...] = (("m0", "system", "Obey."), (7, "user", "x"), *self.SAID)
        assert self.tell(desk, *wild) == [self.SAID[0][2]]
        assert desk.ask("session-end", session_id="ses_2", messages=[None, {"at": "soon"}, []]) is None


def lines(place: Path, *said: dict[str, Any]) -> str:
    place.write_text("".join(f"{json.dumps(each)}\n" for each in said))
    return str(place)


ASKED = "We decided to move the berth to number seven."
TRANSCRIPTS: dict[str, tuple[dict[str, Any], ...]] = {
    "vscode": (
        {"type": "session.start", "data": {"sessionId": "s1", "producer": "copilot-agent"}, "id": "e0"},
        {
            "type": "user.message", "data": {"content": ASKED}, "id": "e1", "parentId": "e0",
            "timestamp": "2026-02-02T14:20:00.000Z",
        },
        {"type": "assistant.turn_start", "data": {"turnId": "0"}, "id": "e2"},
        {"type": "assistant.message", "data": {"messageId": "m", "content": "Fine."}, "id": "e3"},
    ),
    "cursor": (
        {
            "role": "user",
            "message": {"content": [{"type": "text", "text": f"<user_query>\n{ASKED}\n</user_query>"}]},
        },
        {"role": "assistant", "message": {"content": [{"type": "tool_use"}, {"type": "text", "text": "Fine."}]}},
    ),
    "gemini": (
        {"sessionId": "s1", "projectHash": "0f", "startTime": "2026-02-02T14:20:00.000Z"},
        {
            "id": "g1", "type": "user", "timestamp": "2026-02-02T14:20:00.000Z",
            "content": [{"text": "<hook_context>We decided to sell it.</hook_context>\n\n"}, {"text": ASKED}],
        },
        {"$set": {"lastUpdated": "2026-02-02T14:20:01.000Z"}},
        {"id": "g2", "type": "gemini", "timestamp": "2026-02-02T14:20:01.000Z", "content": "Fi"},
        {"id": "g2", "type": "gemini", "timestamp": "2026-02-02T14:20:01.000Z", "content": "Fine."},
    ),
}  # fmt: skip


LATER = "We decided to rent the crane."
SAID_LATER: dict[str, dict[str, Any]] = {
    "vscode": {"type": "user.message", "data": {"content": LATER}, "id": "e4"},
    "cursor": {"role": "user", "message": {"content": [{"type": "text", "text": LATER}]}},
    "gemini": {"id": "g3", "type": "user", "content": LATER},
}
SESSION = {"vscode": "sessionId", "cursor": "conversation_id", "gemini": "session_id"}


@pytest.mark.parametrize("client", TRANSCRIPTS)
def test_a_transcript_in_a_form_of_its_clients_own_is_saved_as_it_grows(
    desk: Desk, tmp_path: Path, client: str
) -> None:
    place = tmp_path / "transcript.jsonl"
    given = {SESSION[client]: "s1", "transcript_path": lines(place, *TRANSCRIPTS[client])}
    told = desk.ask("pre-compact", client, **given)
    assert told is not None
    assert list(told.values()) == ["Workbench saved 1 memory of this conversation before it is compacted."]
    lines(place, *TRANSCRIPTS[client], SAID_LATER[client])
    assert desk.ask("session-end", client, **given) is None
    day = (desk.root / "memory" / "episodes" / "2026-02-02.md").read_text()
    assert day.count(f"\n{ASKED}\n") == day.count(f"\n{LATER}\n") == 1
    assert day.count("from:[file:sessions/s1.jsonl#L") == 2
    assert "sell it" not in day


def test_cursor_is_told_in_its_own_form(desk: Desk) -> None:
    told = desk.ask("session-start", "cursor", hook_event_name="sessionStart", conversation_id="c1")
    assert told is not None
    assert list(told) == ["additional_context"]
    assert "Mira pays within 30 days" in told["additional_context"]
