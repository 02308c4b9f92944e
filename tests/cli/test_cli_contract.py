"""What every command keeps to: where the shared options stand, the shapes of JSON, the exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import cast

import pytest

from tests.cli import samples
from tests.cli.door import Bench, Door
from workbench.cli.invocation import Invocation
from workbench.engine import Workspace, errors
from workbench.engine.results.audit import NextStep, NextSteps


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "-w", "PLACE", "core"],
        ["-w", "PLACE", "core", "--json"],
        ["core", "--workspace", "PLACE", "--json"],
        ["core", "--json", "--workspace=PLACE", "show"],
        ["core", "show", "-wPLACE", "--json"],
        ["--workspace=PLACE", "core", "--json", "show"],
    ],
)
def test_workspace_and_json_stand_anywhere(bench: Bench, door: Door, words: list[str]) -> None:
    door.answers["core"] = samples.CORE
    result = bench.run(*(word.replace("PLACE", str(bench.folder)) for word in words), anywhere=True)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["cap"] == 3000
    assert door.called("open")["path"] == bench.folder


def test_a_sub_command_takes_them_last(bench: Bench, door: Door) -> None:
    door.answers["graph_merge"] = samples.CHANGED
    words = ["graph", "--json", "merge", "a", "b", "-w", str(bench.folder)]
    assert json.loads(bench.run(*words, anywhere=True).stdout)["ok"] is True


def test_the_door_is_opened_as_a_person(bench: Bench, door: Door) -> None:
    door.answers["core"] = samples.CORE
    bench.run("core")
    assert door.called("open")["role"] == "person"


def test_long_work_is_told_on_a_terminal_and_taken_away(
    bench: Bench, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    Invocation(door=cast(type[Workspace], door), workspace=bench.folder).open()
    told = door.called("open")["progress"]
    told("Reading memory", 10, 2_000)
    told("Reading memory", 0, 0)
    assert terminal.getvalue() == "\rReading memory: 10 of 2,000\x1b[K\r\x1b[K"


def test_the_clock_of_the_environment_is_passed_in(
    bench: Bench, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_NOW", "2026-05-01T10:00+02:00")
    door.answers["core"] = samples.CORE
    bench.run("core")
    assert door.called("open")["clock"].now().isoformat() == "2026-05-01T08:00:00+00:00"


def test_a_clock_that_is_no_time_is_a_usage_error(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_NOW", "yesterday")
    error = bench.json("core", code=2)["error"]
    assert error["kind"] == "invalid-input"
    assert error["where"] == "WORKBENCH_NOW"


class TestWhichWorkspace:
    def test_the_option_wins(self, bench: Bench, door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WORKBENCH_WORKSPACE", "/nowhere")
        door.answers["core"] = samples.CORE
        bench.run("core")
        assert door.called("open")["path"] == bench.folder

    def test_then_the_environment(
        self, bench: Bench, door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        other = tmp_path / "other"
        other.mkdir()
        monkeypatch.setenv("WORKBENCH_WORKSPACE", str(other))
        door.nearest = bench.folder
        door.answers["core"] = samples.CORE
        bench.run("core", anywhere=True)
        assert door.called("open")["path"] == other

    def test_then_the_nearest(self, bench: Bench, door: Door) -> None:
        door.nearest = bench.folder
        door.answers["core"] = samples.CORE
        bench.run("core", anywhere=True)
        assert door.called("open")["path"] == bench.folder

    def test_then_the_configured_one(self, bench: Bench, door: Door, tmp_path: Path) -> None:
        (tmp_path / "config.toml").write_text(f'workspace = "{bench.folder}"\n')
        door.answers["core"] = samples.CORE
        result = bench.run("core", anywhere=True)
        assert result.exit_code == 0, result.output
        assert door.called("open")["path"] == bench.folder

    def test_none_at_all_says_what_to_do(self, bench: Bench) -> None:
        result = bench.run("core", "--json", anywhere=True)
        assert result.exit_code == 3
        error = json.loads(result.stdout)["error"]
        assert error["kind"] == "not-found"
        assert "workbench init" in error["remedy"]

    def test_a_folder_that_is_not_there(self, bench: Bench) -> None:
        result = bench.run("core", "-w", "gone", "--json", anywhere=True)
        assert result.exit_code == 3
        assert json.loads(result.stdout)["error"]["where"] == "gone"


ERRORS = [
    (errors.InvalidInput, "invalid-input", 2),
    (errors.NotFound, "not-found", 3),
    (errors.Ambiguous, "ambiguous", 3),
    (errors.Locked, "locked", 4),
    (errors.Stale, "stale", 4),
    (errors.RoleRefused, "role-refused", 5),
    (errors.BudgetExceeded, "budget-exceeded", 5),
    (errors.OutsideWorkspace, "outside-workspace", 5),
    (errors.StorageError, "storage", 1),
    (errors.HistoryDamaged, "history-damaged", 1),
]


@pytest.mark.parametrize(("kind", "name", "code"), ERRORS)
def test_every_failure_has_its_code_and_its_json(
    bench: Bench, door: Door, kind: type[errors.WorkbenchError], name: str, code: int
) -> None:
    door.answers["core_add"] = kind("It is wrong.", where="MEMORY.md:3", remedy="Mend it.")
    answer = bench.json("core", "add", "Identity", "x", code=code)
    told = {"kind": name, "message": "It is wrong.", "where": "MEMORY.md:3", "remedy": "Mend it."}
    assert answer == {"error": told}


def test_a_failure_is_told_on_stderr_with_place_and_remedy(bench: Bench, door: Door) -> None:
    door.answers["core"] = errors.StorageError("The disk is full.", where="MEMORY.md", remedy="Make room.")
    result = bench.run("core")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "✗ The disk is full.\n  in MEMORY.md\n  → Make room.\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "nonsense"],
        ["search", "--json"],
        ["search", "x", "--max-results", "many", "--json"],
        ["graph", "merge", "a", "--json"],
        ["rollback", "--json"],
        ["rollback", "--to", "2026-01-01", "--reflection", "r-1", "--json"],
        ["rollback", "--file", "MEMORY.md", "--json"],
        ["rollback", "--memory", "person--alex", "--json"],
        ["audit", "at", "3d", "--core", "--scores", "--json"],
        ["audit", "at", "3d", "--raw", "--json"],
        ["audit", "at", "3d", "--depth", "2", "--json"],
        ["audit", "at", "3d", "person--alex", "--json"],
        ["remember", " ", "--json"],
        ["audit", "nonsense", "--json"],
        ["decay", "--forecast", "soon", "--json"],
        ["completion", "tcsh", "--json"],
    ],
)
def test_usage_errors_are_json_too(bench: Bench, words: list[str]) -> None:
    error = bench.json(*words, code=2)["error"]
    assert error["kind"] == "usage"
    assert "--help" in error["remedy"]


def test_a_misspelt_command_is_guessed(bench: Bench) -> None:
    result = bench.run("serach", "x")
    assert result.exit_code == 2
    assert "“search”" in result.stderr


def test_json_as_a_text_after_two_dashes_is_text(bench: Bench) -> None:
    result = bench.run("nonsense", "--", "--json", anywhere=True)
    assert result.stdout == ""


def test_what_nobody_expected_is_one_line_with_a_hint(bench: Bench, door: Door) -> None:
    door.answers["core"] = KeyError("blocks")
    result = bench.run("core")
    assert result.exit_code == 1
    assert "KeyError: 'blocks'" in result.stderr
    assert "WORKBENCH_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_traceback_comes_when_asked_for(
    bench: Bench, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_DEBUG", "1")
    door.answers["core"] = KeyError("blocks")
    result = bench.run("core", "--json")
    assert "Traceback" in result.stderr
    assert json.loads(result.stdout)["error"]["kind"] == "internal"


def test_what_the_system_refuses_is_told_with_its_place(bench: Bench, door: Door) -> None:
    door.answers["core"] = PermissionError(13, "Permission denied", "/some/MEMORY.md")
    error = bench.json("core", code=1)["error"]
    assert (error["kind"], error["where"]) == ("storage", "/some/MEMORY.md")
    assert "Permission denied" in error["message"]


def test_an_interruption_is_130(bench: Bench, door: Door) -> None:
    door.answers["core"] = KeyboardInterrupt()
    assert bench.run("core").exit_code == 130
    error = bench.json("core", code=130)["error"]
    assert error["kind"] == "interrupted"
    # What was under way may have been done.
    assert "nothing" not in error["message"]
    assert "workbench audit log" in error["remedy"]


def name_of(value: object) -> str:
    """Name a parameter by the words of its command line alone, which are the same in every process."""
    return "-".join(value) if isinstance(value, list) else ""


MUTATIONS = [
    (["remember", "x"], "remember", samples.REMEMBERED),
    (["forget", "x", "--yes"], "forget", samples.FORGOTTEN),
    (["restore", "x"], "restore", samples.CHANGED),
    (["pin", "x"], "pin", samples.CHANGED),
    (["unpin", "x"], "unpin", samples.CHANGED),
    (["reinforce", "x"], "reinforce", samples.CHANGED),
    (["core", "set", "Identity", "x"], "core_set", samples.CHANGED),
    (["core", "add", "Identity", "x"], "core_add", samples.CHANGED),
    (["core", "replace", "core:a:b", "x"], "core_replace", samples.CHANGED),
    (["core", "remove", "core:a:b"], "core_remove", samples.CHANGED),
    (["graph", "merge", "a", "b"], "graph_merge", samples.CHANGED),
    (["graph", "unmerge", "a"], "graph_unmerge", samples.CHANGED),
    (["graph", "rename", "a", "b"], "graph_rename", samples.CHANGED),
    (["graph", "link", "a", "uses", "b"], "graph_link", samples.CHANGED),
    (["graph", "unlink", "a", "uses", "b"], "graph_unlink", samples.CHANGED),
    (["audit", "ack", "abc"], "acknowledge", samples.CHANGED),
    (["audit", "prune"], "audit_prune", samples.UNCHANGED),
    (["revert", "abc1234"], "revert", samples.CHANGED),
    (["rollback", "--to", "2026-01-01"], "rollback", samples.CHANGED),
    (["undo"], "undo", samples.CHANGED),
    (["redo"], "redo", samples.CHANGED),
]


@pytest.mark.parametrize(("words", "method", "answer"), MUTATIONS, ids=name_of)
def test_the_json_of_a_mutation_begins_with_its_account(
    bench: Bench, door: Door, words: list[str], method: str, answer: object
) -> None:
    door.answers[method] = answer
    result = bench.run(*words, "--json")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith('{"ok":true,"commit":')
    assert list(json.loads(result.stdout))[:4] == ["ok", "commit", "files", "ids"]
    assert result.stdout.count("\n") == 1


@pytest.mark.parametrize(("own", "hint"), [(True, "workbench redo\n"), (False, "workbench redo --yes\n")])
def test_undo_names_the_redo_that_would_work(bench: Bench, door: Door, own: bool, hint: str) -> None:
    step = NextStep("abc1234", "the main agent", samples.COMMIT_VIEW.timestamp, "logged it", own)
    door.answers |= {
        "undo": samples.CHANGED,
        "audit_show": samples.COMMIT_VIEW,
        "next_steps": NextSteps(redo=step),
    }
    assert f"Do it again: {hint}" in bench.run("undo", "--yes").stdout


@pytest.mark.parametrize(("words", "method", "answer"), MUTATIONS, ids=name_of)
def test_for_people_a_mutation_says_what_was_done(
    bench: Bench, door: Door, words: list[str], method: str, answer: object
) -> None:
    door.answers |= {method: answer, "core": samples.CORE, "audit_show": samples.COMMIT_VIEW}
    door.answers |= {"next_steps": NextSteps()}
    result = bench.run(*words)
    assert result.exit_code == 0, result.output
    assert "commit abc1234" in result.stdout or answer is samples.UNCHANGED
    assert "{" not in result.stdout


READINGS = [
    (["core"], "core", samples.CORE, {"blocks", "tokens", "cap"}),
    (
        ["search", "x"], "search", samples.FOUND,
        {"results", "provider", "model", "fallback", "likelyAbsent", "tookMs"},
    ),
    (["get", "MEMORY.md"], "get", samples.EXCERPT, {"path", "text", "from", "lines"}),
    (
        ["show", "x"], "show", samples.SHOWN,
        {
            "id", "store", "path", "startLine", "endLine", "text", "score", "provenance", "validity", "links",
            "history",
        },
    ),
    (["decay"], "decay", samples.DECAY, {"now", "lambda", "entries"}),
    (["decay", "--fading", "30"], "decay_falls", samples.FALLS, {"now", "lambda", "within", "falls"}),
    (
        ["decay", "explain", "x"], "decay_explain", samples.EXPLAINED,
        {"id", "store", "on", "status", "score", "halfLife", "falls"},
    ),
    (["graph", "x"], "graph", samples.GRAPH, {"center", "nodes", "edges"}),
    (["graph", "path", "a", "b"], "graph_path", samples.GRAPH, {"center", "nodes", "edges"}),
    (["audit"], "audit_log", samples.LOG, {"entries"}),
    (["audit", "log"], "audit_log", samples.LOG, {"entries"}),
    (["audit", "alerts"], "audit_alerts", samples.ALERTS, {"alerts"}),
    (["audit", "verify"], "audit_verify", samples.VERIFIED, {"ok", "problems", "commits", "entries"}),
    (["audit", "show", "abc"], "audit_show", samples.COMMIT_VIEW, {"commit", "actor"}),
    (["audit", "diff", "abc"], "audit_diff", samples.DIFF, {"from", "to", "files"}),
    (["audit", "blame", "MEMORY.md"], "audit_blame", samples.BLAME, {"path", "lines"}),
    (["audit", "at", "2026-01-01"], "audit_at", samples.MOMENT, {"time", "commit", "timestamp", "files", "actor"}),
    (["audit", "at", "3d", "--core"], "at", samples.PAST, {"blocks", "tokens", "cap"}),
    (["audit", "at", "3d", "--show", "x"], "at", samples.PAST, {"id", "text", "score"}),
    (["audit", "at", "3d", "--graph", "x"], "at", samples.PAST, {"center", "nodes", "edges"}),
    (["audit", "at", "3d", "--scores", "x"], "at", samples.PAST, {"commit", "timestamp", "scores"}),
    (["audit", "at", "3d", "--copy-to", "/x"], "at", samples.PAST, {"commit", "folder", "files", "bytes"}),
    (["audit", "at", "3d", "--against", "now"], "compare", samples.COMPARISON, {"from", "to", "files", "memories"}),
    (["audit", "actions"], "actions", samples.ACTIONS, {"actions", "more", "damaged"}),
    (["audit", "since", "3d"], "since", samples.SINCE, {"since", "learned", "changed", "forgotten", "faded", "by"}),
    (["brief"], "brief", samples.BRIEF, {"core", "alerts"}),
    (["doctor"], "doctor", samples.DIAGNOSIS, {"ok", "checks"}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "method", "answer", "keys"), READINGS, ids=name_of)
def test_readings_have_the_keys_of_the_contract(
    bench: Bench, door: Door, words: list[str], method: str, answer: object, keys: set[str]
) -> None:
    waits = {"review": samples.NO_REVIEW, "proposals": samples.NO_PROPOSALS}
    door.answers |= {"at": samples.PAST, **waits, method: answer}
    assert keys <= set(bench.json(*words))
    assert bench.run(*words).stdout


NOTHING = [
    (["search", "x"], "search", samples.NOTHING),
    (["forget", "x"], "forget", samples.NO_MATCH),
    (["forget", "x", "--yes"], "forget", samples.NO_MATCH),
    (["audit", "log", "--actor", "nobody"], "audit_log", type(samples.LOG)(())),
    (["audit", "at", "1999-01-01"], "audit_at", samples.NO_MOMENT),
    (["graph", "path", "a", "b"], "graph_path", samples.EMPTY_GRAPH),
]


@pytest.mark.parametrize(("words", "method", "answer"), NOTHING, ids=name_of)
def test_nothing_found_is_3_with_the_usual_shape(
    bench: Bench, door: Door, words: list[str], method: str, answer: object
) -> None:
    door.answers[method], door.answers["index_status"] = answer, samples.INDEX
    assert "error" not in bench.json(*words, code=3)
    assert bench.run(*words).exit_code == 3


def test_json_holds_nothing_that_a_terminal_obeys_and_says_the_same(bench: Bench, door: Door) -> None:
    text = samples.HOSTILE + "記憶\U000e0041"
    door.answers["get"] = type(samples.EXCERPT)("MEMORY.md", text, 1, 1)
    result = bench.run("get", "MEMORY.md", "--json")
    # Half a character alone is no text that JSON can tell.
    assert json.loads(result.stdout)["text"] == text.encode("utf-8", "backslashreplace").decode()
    assert "記憶" in result.stdout
    assert not set("\x1b\x07\x9b\u202e\u200b\r") & set(result.stdout)


def test_warnings_go_to_stderr(bench: Bench, door: Door) -> None:
    door.answers["pin"] = type(samples.CHANGED)(commit=samples.COMMIT, warnings=("It is large.",))
    result = bench.run("pin", "x")
    assert result.stderr == "! It is large.\n"
    assert "large" not in result.stdout


def test_what_did_not_work_during_a_change_is_said_once_and_only_then(bench: Bench, door: Door) -> None:
    door.answers |= {"pin": samples.CHANGED, "unpin": samples.UNCHANGED, "core": samples.CORE}
    door.warnings = ("The git program is missing.",)
    assert bench.run("pin", "x").stderr == "! The git program is missing.\n"
    assert bench.json("pin", "x")["warnings"] == ["The git program is missing."]
    assert bench.run("unpin", "x").stderr == ""
    assert bench.run("core").stderr == ""


def test_an_answer_that_failed_by_its_own_word_is_1(bench: Bench, door: Door) -> None:
    door.answers["doctor"] = samples.BROKEN
    assert bench.json("doctor", code=1)["ok"] is False
    door.answers["audit_verify"] = samples.DAMAGED
    assert bench.json("audit", "verify", code=1)["problems"]
