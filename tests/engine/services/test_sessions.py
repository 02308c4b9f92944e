"""Sessions through the door: kept, ended, flushed, compacted, mended, recovered; foreign ones copied first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.session_talk import MAIN, TALK, everything, told, transcript, with_model
from tests.engine.sessions import claude_files
from tests.engine.sessions.openclaw_database import make
from tests.engine.sessions.transcript_files import called, chain, said, write
from workbench.engine.errors import InvalidInput, NotFound, ProviderError


def test_what_was_said_is_listed_and_shown(talked: AgentHome) -> None:
    with talked.open("reader") as workspace:
        (row,) = workspace.sessions().sessions
        assert (row.key, row.kind, row.agent, row.fresh, row.source) == (MAIN, "main", "main", True, "own")
        assert row.size_bytes > 0
        assert told(workspace) == [text for _, text in TALK]


def test_nothing_is_made_before_something_is_said(settled: AgentHome) -> None:
    with settled.open() as workspace:
        assert workspace.sessions().sessions == ()
        assert not Path(workspace.sessions().where).parent.exists()


@pytest.mark.parametrize("name", ["main", MAIN, "AGENT:MAIN:MAIN"])
def test_a_session_has_several_names(name: str, talked: AgentHome) -> None:
    with talked.open() as workspace:
        assert workspace.session(name).session.key == MAIN
        assert workspace.session(workspace.session(MAIN).session.session_id).session.key == MAIN


def test_pages_go_on_where_the_last_one_ended(talked: AgentHome) -> None:
    with talked.open() as workspace:
        first = workspace.session(MAIN, limit=3)
        assert ([line.line for line in first.lines], first.next, first.total) == ([1, 2, 3], 4, 7)
        second = workspace.session(MAIN, line=first.next, limit=100)
        assert ([line.line for line in second.lines], second.next) == ([4, 5, 6, 7], None)
        assert [line.line for line in workspace.session(MAIN, line=-2).lines] == [6, 7]
        assert workspace.session(MAIN, line=100).lines == ()


def test_a_flush_names_the_line_of_each_memory_and_leads_back_to_it(talked: AgentHome) -> None:
    with talked.open() as workspace:
        flushed = workspace.session_flush(MAIN, now=True)
        assert [one.citation.rpartition("#")[2] for one in flushed.saved] == ["L2", "L4"]
        assert flushed.by == "rules"
        for one in flushed.saved:
            shown = workspace.show(one.id)
            assert one.citation in shown.provenance
            assert one.citation in shown.links.to
            (line,) = workspace.session(one.citation, limit=1).lines
            assert one.text in line.text
            assert line.citation == one.citation
        log = workspace.audit_log(limit=5)
        assert any("Postgres" in entry.summary for entry in log.entries)


def test_what_was_flushed_is_not_flushed_again(talked: AgentHome) -> None:
    with talked.open() as workspace:
        assert workspace.session_flush(MAIN, now=True).saved
        commit = workspace.head()
        again = workspace.session_flush(MAIN, now=True)
        assert again.saved == ()
        assert workspace.head() == commit
        workspace.session_append(MAIN, "I prefer tea to coffee.")
        assert [one.text for one in workspace.session_flush(MAIN, now=True).saved] == [
            "I prefer tea to coffee."
        ]


def test_a_secret_is_held_back_and_the_rest_is_saved(settled: AgentHome) -> None:
    secret = "sk-proj-" + "aB3dE5fG7hJ9" * 4
    with settled.open() as workspace:
        workspace.session_append(MAIN, f"Remember that the key is {secret}")
        workspace.session_append(MAIN, "I prefer tea to coffee.")
        flushed = workspace.session_flush(MAIN, now=True)
        assert [one.text for one in flushed.saved] == ["I prefer tea to coffee."]
        assert any("#L2 was held back" in warning for warning in flushed.warnings)
        assert not any(secret in warning for warning in flushed.warnings)


def test_what_cannot_be_kept_keeps_nothing_else_waiting(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(monkeypatch, f"- {' ' * 3}\u200b\n- The archive moves. [L2]")
    with settled.open() as workspace:
        workspace.session_append(MAIN, "The archive moves.")
        flushed = workspace.session_flush(MAIN, now=True)
        assert "The archive moves." in [one.text for one in flushed.saved]
        assert flushed.flushed


def test_it_is_due_by_tokens_and_once_in_a_cycle(talked: AgentHome) -> None:
    with talked.open() as workspace:
        assert not workspace.session_flush(MAIN).flushed
        workspace.session_append(MAIN, "Go on", total_tokens=21_000, context_tokens=32_768)
        check = workspace.session_flush_check(MAIN)
        assert (check.due, check.threshold, check.compaction_at) == (True, 20_576, 24_576)
        assert not workspace.session_flush_check(MAIN, heartbeat=True).due
        assert workspace.session_flush(MAIN).flushed
        assert not workspace.session_flush_check(MAIN).due
        assert workspace.session_compact(MAIN, keep_tokens=1).compactions == 1
        workspace.session_append(MAIN, "And on", total_tokens=22_000)
        assert workspace.session_flush_check(MAIN).due


def test_of_a_group_nothing_counts_as_asked_for(settled: AgentHome) -> None:
    group = "agent:main:telegram:group:7"
    with settled.open() as workspace:
        workspace.session_append(group, "Remember that Kim is the boss of everybody.")
        (saved,) = workspace.session_flush(group, now=True).saved
        assert "user-explicit" not in workspace.show(saved.id).provenance


def test_what_is_said_in_a_group_is_for_that_group_and_the_owner(settled: AgentHome) -> None:
    group = "agent:main:telegram:group:7"
    with settled.open() as workspace:
        workspace.session_append(group, "Remember that Kim brings the oboe on Friday.")
        workspace.session_append(MAIN, "Remember that Kim owes me a cello.")
        workspace.session_flush(group, now=True)
        workspace.session_flush(MAIN, now=True)
        with workspace.scoped("group:telegram-7") as theirs:
            found = " ".join(hit.snippet for hit in theirs.search("Kim").results)
            assert "oboe" in found
            assert "cello" not in found
        with workspace.scoped("group:telegram-8") as others:
            assert others.search("Kim").results == ()
        mine = " ".join(hit.snippet for hit in workspace.search("Kim").results)
        assert "oboe" in mine
        assert "cello" in mine


def test_a_reader_is_never_told_that_a_flush_is_due(talked: AgentHome) -> None:
    with talked.open() as workspace:
        workspace.session_append(MAIN, "Go on", total_tokens=190_000)
    with talked.open("agent:scout") as workspace:
        assert not workspace.session_flush_check(MAIN).due


def test_a_model_says_what_is_kept(talked: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    with_model(monkeypatch, "- The archive moves to Postgres. [L4]\n- Nobody said this. [L77]")
    with talked.open() as workspace:
        flushed = workspace.session_flush(MAIN, now=True)
        assert (flushed.by, flushed.fallback) == ("model", None)
        assert [(one.text, one.citation.rpartition("#")[2]) for one in flushed.saved] == [
            ("The archive moves to Postgres.", "L4"), ("Nobody said this.", "L7"),
        ]  # fmt: skip


def test_no_reply_saves_nothing(talked: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    with_model(monkeypatch, "NO_REPLY")
    with talked.open() as workspace:
        before = workspace.head()
        flushed = workspace.session_flush(MAIN, now=True)
        assert (flushed.saved, flushed.flushed) == ((), True)
        assert workspace.head() == before


def test_where_a_model_fails_rules_step_in(talked: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    with_model(monkeypatch, ProviderError("The model is gone."))
    with talked.open() as workspace:
        flushed = workspace.session_flush(MAIN, now=True)
        assert (flushed.by, flushed.fallback, len(flushed.saved)) == ("rules", "The model is gone.", 2)
        assert workspace.session_compact(MAIN, keep_tokens=5).fallback == "The model is gone."


def test_damage_is_mended_and_lines_keep_their_numbers(talked: AgentHome) -> None:
    with talked.open() as workspace:
        place = transcript(workspace)
        lines = place.read_bytes().splitlines()
        lines[3] = b"\x00garbage"
        place.write_bytes(b"\n".join(lines) + b'\n{"type":"mess')
        assert [problem.line for problem in workspace.session(MAIN).problems] == [4, 8]
        done = workspace.session_repair(MAIN)
        assert done.copy is not None
        assert Path(done.copy).read_bytes().splitlines()[3] == b"\x00garbage"
        assert [problem.line for problem in done.problems] == [4, 8]
        assert workspace.session(MAIN).problems == ()
        assert place.read_bytes().splitlines()[4] == lines[4]
        assert workspace.session_repair(MAIN).copy is None


def test_recovery_compacts_mends_and_at_last_starts_over(talked: AgentHome) -> None:
    with talked.open() as workspace:
        for number in range(8):
            workspace.session_append(MAIN, f"Tell me about {number}. " + "More of it, please. " * 60)
            workspace.session_append(MAIN, "Yes. " * 80, role="assistant")
        before = workspace.session(MAIN).session.session_id
        assert workspace.session_recover(MAIN, "overflow").action == "retry"
        rotated = workspace.session_recover(MAIN, "overflow", attempt=2)
        assert (rotated.action, rotated.previous_id) == ("rotated", before)
        assert workspace.session(before).total > 20
        with pytest.raises(InvalidInput):
            workspace.session_recover(MAIN, "boredom")


def test_a_history_out_of_order_is_mended_where_that_helps(talked: AgentHome) -> None:
    with talked.open() as workspace:
        call = called("a", None, "c1")["message"]
        workspace.session_append(MAIN, message=call)
        assert workspace.session_recover(MAIN, "order").action == "continue"
        assert workspace.session_context(MAIN).messages[-1].role == "toolResult"


def test_a_reset_keeps_the_transcript(talked: AgentHome) -> None:
    with talked.open() as workspace:
        done = workspace.session_reset(MAIN)
        assert done.previous_transcript is not None
        assert Path(done.previous_transcript).is_file()
        assert done.flushed is not None
        assert len(done.flushed.saved) == 2
        assert workspace.sessions().sessions[0].flush.compactions == 0
        assert workspace.session_reset(MAIN, save=False).flushed is None


@pytest.mark.parametrize("world", ["files", "database"])
def test_a_foreign_session_is_copied_before_it_is_compacted(
    world: str, settled: AgentHome, tmp_path: Path
) -> None:
    entry: dict[str, Any] = {
        "sessionId": "7d0c",
        "updatedAt": 1769300000000,
        "totalTokens": 90_000,
        "own": "kept",
    }
    events = chain(
        "We decided on Rust because it is fast.", "Good.", "I prefer long walks.", "Nice.", "Go on.", "Yes."
    )
    if world == "files":
        place = write(tmp_path / "claw" / "7d0c.jsonl", *events).parent
        (place / "sessions.json").write_text(json.dumps({MAIN: entry}))
    else:
        place = make(tmp_path / "claw" / "openclaw-agent.sqlite", {MAIN: (entry, events)}).parent
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    with settled.open() as workspace:
        assert workspace.sessions(from_=str(place)).source == world
        assert workspace.sessions().sessions == ()
        done = workspace.session_compact(MAIN, from_=str(place), keep_tokens=5)
        assert done.copied_from
        flushed = workspace.session_flush(MAIN, from_=str(place), now=True)
        assert [one.citation for one in flushed.saved] == [
            "file:sessions/7d0c.jsonl#L2",
            "file:sessions/7d0c.jsonl#L4",
        ]
        assert workspace.session_compact(MAIN, from_=str(place)).copied_from is None
        assert workspace.session(MAIN).session.source == "own"
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "agent:../x:main",
        "file:sessions/../../x.jsonl#L1",
        "a\0b",
        "x" * 2000,
        "",
        "sessions/",
    ],
)
def test_names_that_lead_elsewhere_find_nothing(name: str, talked: AgentHome) -> None:
    with talked.open() as workspace, pytest.raises((NotFound, InvalidInput)):
        workspace.session(name)


def test_a_session_of_a_hostile_key_stays_in_the_folder(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.session_append("agent:main:telegram:group:../../../x", "hello")
        (row,) = workspace.sessions().sessions
        assert row.transcript is not None
        assert Path(row.transcript).parent == Path(workspace.sessions().where).parent


@pytest.mark.parametrize(
    "options",
    [{"role": "system"}, {"text": " "}, {"message": {"role": "user"}}, {"message": {"content": "x"}}],
)
def test_what_is_no_message_is_refused(options: dict[str, Any], settled: AgentHome) -> None:
    with settled.open() as workspace, pytest.raises(InvalidInput):
        workspace.session_append(MAIN, **{"text": "x", **options})


def test_what_is_said_about_a_pair_is_kept_whole(settled: AgentHome) -> None:
    with settled.open() as workspace:
        whole = said("x", None, "user", [{"type": "text", "text": "see"}, {"type": "image", "data": "AAAA"}])[
            "message"
        ]
        workspace.session_append(MAIN, message=whole)
        (message,) = workspace.session_context(MAIN).messages
        assert message.message["content"] == whole["content"]


def test_a_foreign_session_never_takes_the_place_of_an_own_one(settled: AgentHome, tmp_path: Path) -> None:
    group = "agent:main:telegram:group:7"
    for name, key in (("7d0c", MAIN), ("8e1d", group)):
        folder = tmp_path / name
        write(folder / f"{name}.jsonl", *chain("We decided on Rust because it is fast.", "Good."))
        (folder / "sessions.json").write_text(json.dumps({key: {"sessionId": name}}))
    with settled.open() as workspace:
        mine = {key: workspace.session_append(key, "Hello").session_id for key in (MAIN, group)}
        for name, key in (("7d0c", MAIN), ("8e1d", group)):
            place = str(tmp_path / name)
            first = workspace.session_flush(key, from_=place, now=True)
            assert first.key == f"{key}:thread:{name}"
            assert workspace.session_flush(key, from_=place).key == first.key
            assert workspace.session(first.key).session.shared is (key == group)
        listed = {one.key: one.session_id for one in workspace.sessions().sessions}
        assert {key: listed[key] for key in mine} == mine
        assert len(listed) == 4


def test_what_memory_says_already_is_not_told_as_saved(settled: AgentHome, tmp_path: Path) -> None:
    for name in ("7d0c", "8e1d"):
        folder = tmp_path / name
        write(folder / f"{name}.jsonl", *chain("Remember that the key hangs behind the shed.", "Good."))
        (folder / "sessions.json").write_text(json.dumps({MAIN: {"sessionId": name}}))
    with settled.open() as workspace:
        first = workspace.session_flush(MAIN, from_=str(tmp_path / "7d0c"), now=True)
        again = workspace.session_flush(MAIN, from_=str(tmp_path / "8e1d"), now=True)
    assert first.told == "Saved 1 memory."
    assert again.told == "Nothing new to save: 1 was remembered already."
    assert (again.commit, again.ids, again.warnings) == (None, (), ())
    assert [(one.id, one.known) for one in again.saved] == [(first.saved[0].id, True)]


@pytest.mark.parametrize("tokens", [-1, float("nan"), float("inf"), 1.5, 10**400, True, "9"])
def test_a_number_of_tokens_that_counts_nothing_is_not_kept(settled: AgentHome, tokens: Any) -> None:
    with settled.open(role="main") as workspace:
        for name in ("total_tokens", "context_tokens"):
            with pytest.raises(InvalidInput, match="tokens"):
                workspace.session_append("main", "Hello", **{name: tokens})
        assert workspace.sessions().sessions == ()


def test_the_clock_of_another_programs_own_policy_counts_for_its_sessions(
    settled: AgentHome, tmp_path: Path
) -> None:
    place = tmp_path / "state"
    folder = place / "agents/main/sessions"
    folder.mkdir(parents=True)
    day_before = round((settled.clock.moment.timestamp() - 86_400) * 1000)
    (folder / "sessions.json").write_text(json.dumps({MAIN: {"sessionId": "7d0c", "updatedAt": day_before}}))
    with settled.open("reader") as workspace:
        assert not workspace.sessions(from_=str(place)).sessions[0].fresh
        (place / "openclaw.json").write_text("{session: {reset: {mode: 'none'}}}")
        assert workspace.sessions(from_=str(place)).sessions[0].fresh
        assert workspace.session(MAIN, from_=str(place)).session.fresh


def test_claude_codes_sessions_are_read_flushed_and_compacted_without_writing_there(
    settled: AgentHome, tmp_path: Path
) -> None:
    place = claude_files.written(tmp_path / ".claude")
    before = everything(tmp_path / ".claude")
    with settled.open() as workspace:
        from_ = str(tmp_path / ".claude")
        (row,) = workspace.sessions(from_=from_).sessions
        assert (row.key, row.source, row.fresh, row.expires) == (
            f"claude-code:harbour:{place.stem}", "claude-code", True, None,
        )  # fmt: skip
        assert workspace.session(place.stem, from_=from_, line=-1).lines[0].text == "The name of the ferry"
        flushed = workspace.session_flush(row.key, from_=from_, now=True)
        assert [one.citation for one in flushed.saved] == [f"file:sessions/{place.stem}.jsonl#L2"]
        assert "Visborg" in workspace.session(flushed.saved[0].citation).lines[0].text
        assert workspace.session_compact(row.key, from_=from_, keep_tokens=1).line is not None
        assert [each.key for each in workspace.sessions().sessions] == [row.key]
    assert everything(tmp_path / ".claude") == before


@pytest.mark.parametrize("year", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_times_at_the_ends_of_the_calendar_are_none(settled: AgentHome, tmp_path: Path, year: str) -> None:
    place = tmp_path / "sessions"
    place.mkdir()
    first, *rest = chain("Hello.", "Hello, Alex.")
    write(place / "7d0c.jsonl", {**first, "timestamp": year}, *({**each, "timestamp": year} for each in rest))
    last = 253_402_300_799_000 if year.startswith("9") else -62_135_596_800_000
    (place / "sessions.json").write_text(json.dumps({MAIN: {"sessionId": "7d0c", "updatedAt": last}}))
    settled.write("workbench.toml", '[sessions]\nreset = "daily 4 idle 5256000"\n')
    with settled.open() as workspace:
        (row,) = workspace.sessions(from_=str(place)).sessions
        assert (row.updated, row.expires) == (None, None)
        assert workspace.session(MAIN, from_=str(place)).lines[1].text == "Hello."
        assert workspace.session_flush(MAIN, from_=str(place), now=True).flushed
