"""What each command asks of the door, and what it does with people at the other end."""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cli import samples
from tests.cli.door import Bench, Door
from workbench.engine import errors
from workbench.engine.results.audit import Alerts, AuditLog
from workbench.engine.results.memories import Changed, MessageOutcome, Remembered


class TestRemember:
    def test_every_option_arrives(self, bench: Bench, door: Door) -> None:
        door.answers["remember"] = samples.REMEMBERED
        bench.json(
            "remember", "We", "chose", "it", "--store", "episodic", "--type", "decision", "--tag", "a",
            "--tag", "b", "--entity", "project:Apollo", "--confidence", "low", "--source", "conversation",
            "--actor", "skill:x", "--for", "group:family", "--dry-run",
            "--session", "telegram:direct:42",
        )  # fmt: skip
        assert door.called("remember") == {
            "text": "We chose it",
            "store": "episodic",
            "type": "decision",
            "tags": ("a", "b"),
            "entities": ("project:Apollo",),
            "confidence": "low",
            "source": "conversation",
            "actor": "skill:x",
            "scope": "group:family",
            "dry_run": True,
            "block": None,
            "origins": (),
            "pinned": False,
            "trigger": None,
            "session": "telegram:direct:42",
            "by_rules": False,
            "on": None,
        }

    def test_the_text_may_come_from_stdin(self, bench: Bench, door: Door) -> None:
        door.answers["remember"] = samples.REMEMBERED
        bench.run("remember", "-", stdin="many\nlines\n")
        assert door.called("remember")["text"] == "many\nlines\n"

    def test_stdin_that_is_no_utf_8_is_refused(self, bench: Bench) -> None:
        result = bench.run("remember", "-", "--json", stdin=b"\xff\xfe")
        assert result.exit_code == 2
        assert json.loads(result.stdout)["error"]["kind"] == "invalid-input"

    def test_the_json_has_the_keys_of_the_contract(self, bench: Bench, door: Door) -> None:
        door.answers["remember"] = samples.REMEMBERED
        answer = bench.json("remember", "x")
        assert set(answer) >= {
            "id", "store", "path", "router", "tags", "confidence", "entities", "relations", "coreUpdate",
            "summary", "heldBack",
        }  # fmt: skip
        assert answer["relations"] == [
            {"from": "entity:person--lena", "relation": "develops", "to": "entity:project--apollo"}
        ]

    def test_a_dry_run_says_would(self, bench: Bench, door: Door) -> None:
        door.answers["remember"] = Remembered(commit=None, id=samples.EPISODE, store="episodic", dry_run=True)
        assert "Would remember" in bench.run("remember", "x", "--dry-run").stdout

    @pytest.mark.parametrize("text", ["- a list item", "-- two dashes", "---\nfront matter"])
    def test_markdown_that_begins_with_a_dash_is_no_option(self, bench: Bench, door: Door, text: str) -> None:
        door.answers |= {"remember": samples.REMEMBERED, "core_set": samples.CHANGED}
        bench.json("remember", text)
        assert door.called("remember")["text"] == text
        bench.json("core", "set", "Identity", text)
        assert door.called("core_set")["body"] == text

    def test_an_unknown_option_is_still_an_error(self, bench: Bench) -> None:
        assert "--nonsense" in bench.json("remember", "x", "--nonsense", code=2)["error"]["message"]


class TestRememberLines:
    LINES = "\n".join(
        [
            '{"text":"one","tag":"a","entity":["project:Apollo"]}',
            "",
            "{broken",
            '["no object"]',
            '{"text":"two","tags":["b","c"],"confidence":"low"}',
            '{"text":"three","tgas":["b"]}',
            '{"store":"core"}',
            '{"text":"\\ud800"}',
            '{"text":"four","tag":null}',
        ]
    )

    def test_bad_lines_are_reported_by_number_and_stop_nothing(self, bench: Bench, door: Door) -> None:
        door.answers["remember"] = samples.REMEMBERED
        result = bench.run("remember", "--jsonl", "--confidence", "high", stdin=self.LINES)
        assert result.exit_code == 1
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        assert [answer.get("line") for answer in answers] == [None, 3, 4, None, 6, 7, 8, None]
        assert answers[0]["ok"] is True
        assert answers[4]["error"]["remedy"] == "Perhaps “tags” is meant."
        assert all(f"line {number}: " in result.stderr for number in (3, 4, 6, 7, 8))

    def test_options_of_the_command_line_hold_where_a_line_does_not_say(
        self, bench: Bench, door: Door
    ) -> None:
        door.answers["remember"] = samples.REMEMBERED
        bench.run("remember", "--jsonl", "--confidence", "high", "--actor", "skill:x", stdin=self.LINES)
        calls = [arguments for name, arguments in door.calls if name == "remember"]
        assert [call["text"] for call in calls] == ["one", "two", "four"]
        assert [call["confidence"] for call in calls] == ["high", "low", "high"]
        assert [call["tags"] for call in calls] == [("a",), ("b", "c"), ()]
        assert {call["actor"] for call in calls} == {"skill:x"}

    def test_one_refusal_does_not_stop_the_rest(self, bench: Bench, door: Door) -> None:
        def answer(text: str, **_: Any) -> Remembered:
            if text == "one":
                raise errors.Locked("Somebody else writes.")
            return samples.REMEMBERED

        door.answers["remember"] = answer
        result = bench.run("remember", "--jsonl", stdin='{"text":"one"}\n{"text":"two"}\n')
        first, second = (json.loads(line) for line in result.stdout.splitlines())
        assert first["error"]["kind"] == "locked"
        assert second["ok"] is True
        assert result.exit_code == 1

    def test_a_line_that_is_no_utf_8_spoils_only_itself(self, bench: Bench, door: Door) -> None:
        door.answers["remember"] = samples.REMEMBERED
        result = bench.run("remember", "--jsonl", stdin=b'{"text":"\xff"}\n{"text":"two"}\n')
        assert [json.loads(line).get("line") for line in result.stdout.splitlines()] == [1, None]

    def test_all_good_is_0(self, bench: Bench, door: Door) -> None:
        door.answers["remember"] = samples.REMEMBERED
        assert bench.run("remember", "--jsonl", stdin='{"text":"one"}\n').exit_code == 0


class TestForget:
    def test_without_a_terminal_it_shows_and_refuses(self, bench: Bench, door: Door) -> None:
        door.answers["forget"] = samples.PREVIEW
        result = bench.run("forget", "hybrid", "approach")
        assert result.exit_code == 5
        assert samples.EPISODE in result.stdout
        assert "--yes" in result.stderr
        assert [name for name, _ in door.calls].count("forget") == 1

    def test_its_json_is_preview_and_refusal_in_one(self, bench: Bench, door: Door) -> None:
        door.answers["forget"] = samples.PREVIEW
        answer = bench.json("forget", "hybrid", code=5)
        assert answer["applied"] is False
        assert list(answer["matches"][0]) == ["id", "store", "path", "snippet", "score"]
        assert answer["error"]["kind"] == "confirmation-needed"

    def test_yes_archives(self, bench: Bench, door: Door) -> None:
        door.answers["forget"] = samples.FORGOTTEN
        assert bench.json("forget", "hybrid", "--yes")["applied"] is True
        call = door.called("forget")
        assert (call["query"], call["apply"], call["hard"]) == ("hybrid", True, False)

    def test_ids_are_taken_as_ids(self, bench: Bench, door: Door) -> None:
        door.answers["forget"] = samples.FORGOTTEN
        bench.json("forget", samples.EPISODE, "person--lena", "--yes")
        call = door.called("forget")
        assert call["query"] is None
        assert call["ids"] == [samples.EPISODE, "entity:person--lena"]

    def test_purging_deletes(self, bench: Bench, door: Door) -> None:
        door.answers["forget"] = samples.FORGOTTEN
        bench.json("forget", "x", "--purge-history", "-y")
        assert door.called("forget")["hard"] is True
        assert door.called("forget")["purge_history"] is True

    @pytest.mark.usefixtures("terminal")
    def test_a_person_is_asked_and_exactly_what_was_shown_is_archived(self, bench: Bench, door: Door) -> None:
        door.answers["forget"] = lambda apply=False, **_: samples.FORGOTTEN if apply else samples.PREVIEW
        result = bench.run("forget", "hybrid", stdin="y\n")
        assert result.exit_code == 0, result.output
        assert "Archive this memory?" in result.stderr
        assert door.called("forget")["ids"] == [samples.EPISODE]

    @pytest.mark.usefixtures("terminal")
    def test_a_person_may_say_no(self, bench: Bench, door: Door) -> None:
        door.answers["forget"] = samples.PREVIEW
        result = bench.run("forget", "hybrid", stdin="n\n")
        assert result.exit_code == 0
        assert "Nothing was changed." in result.stderr
        assert [name for name, _ in door.calls].count("forget") == 1

    @pytest.mark.usefixtures("terminal")
    def test_the_question_says_what_deleting_means(self, bench: Bench, door: Door) -> None:
        door.answers["forget"] = samples.PREVIEW
        assert "from disk?" in bench.run("forget", "x", "--hard", stdin="n\n").stderr
        assert "every trace in history" in bench.run("forget", "x", "--purge-history", stdin="n\n").stderr


class TestMessage:
    def outcome(self, kind: str, **inner: Any) -> MessageOutcome:
        return MessageOutcome(kind, "phrase", "content", any(inner.values()), **inner)

    def test_remembering_is_done_at_once(self, bench: Bench, door: Door) -> None:
        door.answers["message"] = self.outcome("remember", remembered=samples.REMEMBERED)
        answer = bench.json("message", "Remember that")
        assert list(answer)[:4] == ["ok", "commit", "files", "ids"]
        assert answer["commit"] == samples.COMMIT

    def test_what_asks_for_nothing_is_left_alone(self, bench: Bench, door: Door) -> None:
        door.answers["message"] = MessageOutcome("none", None, None, False)
        assert bench.json("message", "Hello")["commit"] is None
        assert "asks nothing" in bench.run("message", "Hello").stdout

    def test_forgetting_waits_for_a_person(self, bench: Bench, door: Door) -> None:
        door.answers["message"] = MessageOutcome("forget", "forget", "x", False, forgotten=samples.PREVIEW)
        answer = bench.json("message", "Forget about it", code=5)
        assert answer["forgotten"]["applied"] is False
        assert answer["error"]["kind"] == "confirmation-needed"

    def test_forgetting_with_yes_is_done(self, bench: Bench, door: Door) -> None:
        waiting = MessageOutcome("forget", "forget", "x", False, forgotten=samples.PREVIEW)
        door.answers |= {"message": waiting, "forget": samples.FORGOTTEN}
        answer = bench.json("message", "Forget about it", "--yes")
        assert answer["applied"] is True
        assert answer["ids"] == door.called("forget")["ids"] == [samples.EPISODE]

    def test_yes_alone_does_not_delete_from_disk(self, bench: Bench, door: Door) -> None:
        shown = replace(samples.PREVIEW, hard=True)
        door.answers["message"] = MessageOutcome(
            "forget",
            "permanently delete",
            "x",
            False,
            forgotten=shown,
            permanently=True,
            note="Gone is gone.",
        )
        answer = bench.json("message", "Permanently delete x", "--yes", code=5)
        assert "from disk" in answer["error"]["message"]
        assert "--yes --hard" in answer["error"]["remedy"]
        assert f"workbench forget {samples.EPISODE} --yes" in answer["error"]["remedy"]
        assert "Gone is gone." in bench.run("message", "Permanently delete x", "--yes").stdout
        assert "forget" not in [method for method, _ in door.calls]

    def test_yes_and_hard_delete_what_it_asks_to_delete_permanently(self, bench: Bench, door: Door) -> None:
        shown = replace(samples.PREVIEW, hard=True)
        waiting = MessageOutcome("forget", "permanently delete", "x", False, forgotten=shown)
        door.answers |= {"message": waiting, "forget": replace(samples.FORGOTTEN, hard=True)}
        assert "Deleted" in bench.run("message", "Permanently delete x", "--yes", "--hard").stdout
        assert door.called("forget")["hard"] is True

    def test_hard_makes_no_deletion_of_a_request_to_archive(self, bench: Bench, door: Door) -> None:
        waiting = MessageOutcome("forget", "forget", "x", False, forgotten=samples.PREVIEW)
        door.answers |= {"message": waiting, "forget": samples.FORGOTTEN}
        assert "Archived" in bench.run("message", "Forget about x", "--yes", "--hard").stdout
        assert door.called("forget")["hard"] is False

    def test_the_session_arrives_and_is_the_owners_alone(self, bench: Bench, door: Door) -> None:
        door.answers["message"] = MessageOutcome(
            "forget", "scratch that", None, False, forgotten=samples.NO_MATCH, note="None."
        )
        bench.json("message", "Scratch that", "--session", "telegram:direct:42", code=3)
        assert door.called("message")["session"] == "telegram:direct:42"
        assert bench.run("message", "x", "--session", "main", "--scope", "person:kim").exit_code == 2
        assert bench.run("message", "x", "--hard", "--scope", "person:kim").exit_code == 2

    def test_recalling_nothing_is_3(self, bench: Bench, door: Door) -> None:
        door.answers["message"] = MessageOutcome("recall", "what", "x", False, found=samples.NOTHING)
        bench.json("message", "What do you know about x?", code=3)


class TestEdit:
    def test_a_script_gives_the_text(self, bench: Bench, door: Door) -> None:
        door.answers |= {"show": samples.SHOWN, "edit": samples.CHANGED}
        bench.json("edit", "person--lena", "--text", "Prefers long reports")
        assert door.called("show")["count_access"] is False
        call = door.called("edit")
        assert (call["text"], call["expected"]) == ("Prefers long reports", "Prefers short reports")

    def test_the_same_text_changes_nothing(self, bench: Bench, door: Door) -> None:
        door.answers["show"] = samples.SHOWN
        assert bench.json("edit", "person--lena", "--text", samples.SHOWN.text)["commit"] is None

    def test_a_path_edits_the_file(self, bench: Bench, door: Door) -> None:
        door.answers |= {"get": samples.EXCERPT, "edit_file": samples.CHANGED}
        bench.json("edit", "MEMORY.md", "--text", "-", stdin="# New\n")
        call = door.called("edit_file")
        assert (call["path"], call["content"], call["expected"]) == (
            "MEMORY.md",
            "# New\n",
            samples.EXCERPT.text,
        )

    def editor(self, folder: Path, code: str) -> str:
        script = folder / "my editor.py"
        script.write_text(f"import pathlib, sys\nfile = pathlib.Path(sys.argv[-1])\n{code}\n")
        return f"'{sys.executable}' '{script}'"

    def test_the_editor_changes_the_text(self, bench: Bench, door: Door, tmp_path: Path) -> None:
        door.editor = self.editor(
            tmp_path, "file.write_text(file.read_text().replace('short', 'tiny') + chr(10))"
        )
        door.answers |= {"show": samples.SHOWN, "edit": samples.CHANGED}
        bench.json("edit", "person--lena")
        assert door.called("edit")["text"] == "Prefers tiny reports"

    def test_line_endings_survive_the_editor(self, bench: Bench, door: Door, tmp_path: Path) -> None:
        door.editor = self.editor(tmp_path, "file.write_bytes(file.read_bytes() + b'x')")
        door.answers |= {"get": samples.EXCERPT, "edit_file": samples.CHANGED}
        bench.json("edit", "MEMORY.md")
        assert door.called("edit_file")["content"] == samples.EXCERPT.text + "x"

    def test_leaving_without_a_change_changes_nothing(self, bench: Bench, door: Door, tmp_path: Path) -> None:
        door.editor = self.editor(tmp_path, "pass")
        door.answers["show"] = samples.SHOWN
        assert "Nothing changed." in bench.run("edit", "person--lena").stdout

    def test_what_was_written_is_kept_when_it_cannot_be_saved(
        self, bench: Bench, door: Door, tmp_path: Path
    ) -> None:
        door.editor = self.editor(tmp_path, "file.write_text('mine')")
        door.answers |= {"show": samples.SHOWN, "edit": errors.Stale("It moved on.", remedy="Look again.")}
        error = bench.json("edit", "person--lena", code=4)["error"]
        assert error["remedy"].startswith("Look again. Your text is kept in ")
        draft = Path(error["remedy"].rpartition(" in ")[2].rstrip("."))
        assert draft.read_text() == "mine"
        draft.unlink()

    def test_an_editor_that_fails_changes_nothing(self, bench: Bench, door: Door, tmp_path: Path) -> None:
        door.editor = self.editor(tmp_path, "file.write_text('mine'); sys.exit(3)")
        door.answers["show"] = samples.SHOWN
        assert "code 3" in bench.json("edit", "person--lena", code=1)["error"]["message"]

    def test_a_missing_editor_is_named(self, bench: Bench, door: Door) -> None:
        door.editor = "no-such-editor --wait"
        door.answers["show"] = samples.SHOWN
        assert "no-such-editor" in bench.json("edit", "person--lena", code=2)["error"]["message"]

    def test_without_editor_and_terminal_it_says_so(self, bench: Bench, door: Door) -> None:
        door.answers["show"] = samples.SHOWN
        assert bench.json("edit", "person--lena", code=1)["error"]["kind"] == "no-terminal"

    def test_who_may_not_save_is_told_so_before_the_editor_opens(self, bench: Bench, door: Door) -> None:
        door.editor = "no-such-editor"
        door.answers["show"] = samples.SHOWN
        for role in ("reader", "agent:scout"):
            refused = bench.json("--role", role, "edit", "person--lena", code=5)
            assert refused["error"]["kind"] == "role-refused"


class TestGraphAndDecay:
    @pytest.mark.parametrize(
        "words", [["lena", "--depth", "2"], ["--depth", "2", "lena"], ["show", "lena", "--depth=2"]]
    )
    def test_the_entity_needs_no_command(self, bench: Bench, door: Door, words: list[str]) -> None:
        door.answers["graph"] = samples.GRAPH
        bench.json("graph", *words)
        called = door.called("graph")
        assert (called["entity"], called["depth"]) == ("lena", 2)
        assert (called["relations"], called["types"], called["min_score"]) == ((), (), 0.0)
        assert (called["after"], called["before"]) == (None, None)

    def test_merging_keeps_the_first(self, bench: Bench, door: Door) -> None:
        door.answers["graph_merge"] = samples.CHANGED
        bench.json("graph", "merge", "a", "b")
        assert door.called("graph_merge") == {"keep": "a", "absorb": "b"}

    def test_forecasts_are_gathered(self, bench: Bench, door: Door) -> None:
        door.answers["decay"] = samples.DECAY
        bench.json("decay", "--forecast", "90,7", "--forecast", "30", "--lambda", "0.05")
        assert door.called("decay") == {"forecast": [7, 30, 90], "lambda_": 0.05}


class TestAudit:
    def test_every_filter_arrives(self, bench: Bench, door: Door) -> None:
        door.answers["audit_log"] = samples.LOG
        bench.json(
            "audit", "log", "--actor", "manual", "--action", "EDIT", "--file", "MEMORY.md",
            "--since", "2026-01-01", "--until", "2026-02-01", "--text", "x", "--limit", "5",
        )  # fmt: skip
        assert door.called("audit_log") == {
            "actor": "manual",
            "action": "EDIT",
            "file": "MEMORY.md",
            "since": "2026-01-01",
            "until": "2026-02-01",
            "text": "x",
            "limit": 5,
            "actions": None,
        }

    def test_actions_are_told_in_plain_words(self, bench: Bench, door: Door) -> None:
        door.answers["actions"] = samples.ACTIONS
        shown = bench.run("audit", "actions", "--since", "3d", "--limit", "2").stdout
        assert "Reflection: 3 accepted" in shown
        assert "taken back" in shown
        called = door.called("actions")
        assert (called["limit"], called["since"], called["upkeep"]) == (2, "3d", False)
        bench.json("audit", "actions")
        assert door.called("actions")["upkeep"] is True

    def test_log_options_need_no_command(self, bench: Bench, door: Door) -> None:
        door.answers["audit_log"] = samples.LOG
        bench.json("audit", "--limit", "1")
        assert door.called("audit_log")["limit"] == 1

    def test_people_see_the_newest_and_hear_of_the_rest(self, bench: Bench, door: Door) -> None:
        door.answers["audit_log"] = AuditLog(
            tuple(replace(samples.ENTRY, commit=f"{number:040x}") for number in range(41))
        )
        result = bench.run("audit")
        assert result.stdout.count("2026-02-02 14:30") == 40
        assert "--limit" in result.stdout

    def test_of_an_action_on_many_files_people_see_a_handful(self, bench: Bench, door: Door) -> None:
        entries = tuple(replace(samples.ENTRY, file=f"memory/day-{number}.md") for number in range(901))
        door.answers["audit_log"] = AuditLog(entries)
        lines = bench.run("audit").stdout.splitlines()
        assert sum("memory/day-" in line for line in lines) == 5
        assert lines[-1].strip() == f"… and 896 more files: workbench audit show {samples.COMMIT[:7]}"
        assert len(bench.json("audit")["entries"]) == 901
        door.answers["audit_log"] = AuditLog(entries[:5])
        assert "more file" not in bench.run("audit").stdout

    def test_an_empty_history_is_no_failure(self, bench: Bench, door: Door) -> None:
        door.answers["audit_log"] = AuditLog(())
        assert bench.json("audit") == {"entries": []}


Opened = tuple[Path, str | None, str]


class TestBench:
    @pytest.fixture
    def opened(self, monkeypatch: pytest.MonkeyPatch) -> list[Opened]:
        seen: list[Opened] = []
        app = ModuleType("workbench.tui.launch")
        app.run = lambda path, at=None, role=None: seen.append((path, at, role))  # type: ignore[attr-defined]  # made up here
        monkeypatch.setitem(sys.modules, "workbench.tui", ModuleType("workbench.tui"))
        monkeypatch.setitem(sys.modules, "workbench.tui.launch", app)
        return seen

    def test_without_a_terminal_it_says_so(self, bench: Bench) -> None:
        for words in ([], ["open"], ["demo"]):
            result = bench.run(*words)
            assert result.exit_code == 1
            assert "terminal" in result.stderr

    @pytest.mark.usefixtures("terminal")
    def test_alone_it_opens_the_bench(self, bench: Bench, opened: list[Opened]) -> None:
        assert bench.run().exit_code == 0
        assert opened == [(bench.folder, None, "person")]

    @pytest.mark.usefixtures("terminal")
    def test_it_opens_at_a_memory(self, bench: Bench, opened: list[Opened]) -> None:
        bench.run("open", samples.EPISODE)
        assert opened == [(bench.folder, samples.EPISODE, "person")]

    @pytest.mark.usefixtures("terminal")
    def test_a_folder_is_a_workspace(self, bench: Bench, opened: list[Opened]) -> None:
        bench.run("open", str(bench.folder), anywhere=True)
        assert opened == [(bench.folder, None, "person")]

    @pytest.mark.usefixtures("terminal")
    def test_the_bench_of_an_agents_shell_is_no_persons(
        self, bench: Bench, opened: list[Opened], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WORKBENCH_ROLE", "agent:scout")
        assert bench.run().exit_code == 0
        assert opened == [(bench.folder, None, "agent:scout")]
        assert bench.run("--role", "person").exit_code == 5

    @pytest.fixture
    def built(self, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
        seen: list[Path] = []

        def build(path: Path, *, clock: object, progress: Any) -> Changed:
            progress(1, 2)
            progress(2, 2)
            seen.append(path)
            return samples.CHANGED

        demo = ModuleType("workbench.demo.sample")
        demo.build = build  # type: ignore[attr-defined]  # made up here
        monkeypatch.setitem(sys.modules, "workbench.demo.sample", demo)
        return seen

    def test_the_demo_can_be_built_only(self, bench: Bench, built: list[Path]) -> None:
        result = bench.run("demo", "sample", "--no-open", anywhere=True)
        assert result.exit_code == 0, result.output
        assert built == [Path("sample")]
        assert "  Open it: workbench --workspace sample\n" in result.stdout

    def test_the_demo_answers_json_and_stays_closed(self, bench: Bench, built: list[Path]) -> None:
        assert bench.json("demo", "sample")["ok"] is True
        assert built == [Path("sample")]

    @pytest.mark.usefixtures("terminal")
    def test_the_demo_is_opened_when_built(
        self, bench: Bench, built: list[Path], opened: list[Opened]
    ) -> None:
        bench.run("demo", anywhere=True)
        assert built == [Path("workbench-demo")]
        assert opened == [(Path("workbench-demo"), None, "person")]


class TestInit:
    def test_it_lays_out_the_folder_named(self, bench: Bench, door: Door) -> None:
        door.answers["init"] = samples.CHANGED
        bench.json("init", "there", "--timezone", "Asia/Taipei")
        assert door.called("init")["path"] == Path("there")
        assert door.called("init")["timezone"] == "Asia/Taipei"

    def test_else_the_current_one(self, bench: Bench, door: Door) -> None:
        door.answers["init"] = samples.UNCHANGED
        result = bench.run("init", anywhere=True)
        assert door.called("init")["path"] == bench.folder
        assert "already" in result.stdout


class TestAcknowledging:
    @pytest.fixture
    def alerts(self, door: Door) -> Alerts:
        found = Alerts(
            tuple(dataclasses.replace(samples.ALERT, id=id_) for id_ in ("a-b9b0f52e", "a-17c2d40f"))
        )
        door.answers["audit_alerts"] = found
        return found

    def test_several_at_once_are_one_account(self, bench: Bench, door: Door, alerts: Alerts) -> None:
        first, second = (alert.id for alert in alerts.alerts)

        def acknowledge(alert: str) -> Changed:
            return Changed(samples.COMMIT if alert == second else None, (), (alert,))

        door.answers["acknowledge"] = acknowledge
        answer = bench.json("audit", "ack", first, second, first)
        assert answer["commit"] == samples.COMMIT
        assert answer["ids"] == [first, second]
        assert [given["alert"] for name, given in door.calls if name == "acknowledge"] == [first, second]
        assert f"Acknowledged {second}." in bench.run("audit", "ack", first, second).stdout

    @pytest.mark.usefixtures("alerts")
    def test_where_one_is_unknown_none_is_acknowledged(self, bench: Bench, door: Door) -> None:
        assert bench.json("audit", "ack", "a-b9b0f52e", "a-0", code=3)["error"]["where"] == "a-0"
        assert "acknowledge" not in [name for name, _ in door.calls]


def test_decay_prints_some_and_json_has_all(bench: Bench, door: Door) -> None:
    door.answers["decay"] = samples.DECAY
    assert "more: --limit" in bench.run("decay", "--limit", "1").stdout
    assert len(bench.json("decay", "--limit", "1")["entries"]) == len(samples.DECAY.entries)


@pytest.mark.parametrize(
    ("words", "method", "answer"),
    [
        (["audit", "show", "abc"], "audit_show", samples.COMMIT_VIEW),
        (["audit", "at", "2026-02-02"], "audit_at", samples.MOMENT),
        (["undo"], "undo", samples.CHANGED),
    ],
)
def test_json_gives_whole_hashes_of_commits(
    bench: Bench, door: Door, words: list[str], method: str, answer: object
) -> None:
    door.answers[method] = answer
    assert bench.json(*words)["commit"] == samples.COMMIT


def test_a_rollback_of_a_reflection_says_that_the_record_stays(bench: Bench, door: Door) -> None:
    door.answers |= {"rollback": samples.CHANGED, "audit_show": samples.COMMIT_VIEW}
    kept = "the record of what was decided stays"
    assert kept in " ".join(bench.run("rollback", "--reflection", "r-012").stdout.split())
    assert kept not in bench.run("rollback", "--to", "3d").stdout
