"""The command for settings: what is listed, what a change says, and where it goes."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import Program


def test_settings_are_listed_with_who_says_so(agent: Program) -> None:
    shown = agent.inside("settings").stdout
    assert "Forgetting\n" in shown
    assert "decay.lambda" in shown
    assert "23 days" in shown
    (row,) = (row for row in agent.json("settings")["settings"] if row["key"] == "decay.lambda")
    assert (row["said"], row["value"], row["source"], row["origin"]) == ("23 days", 0.03, "default", None)
    assert "decay.lambda" not in agent.inside("settings", "--set").stdout


def test_a_setting_is_changed_and_taken_back(agent: Program) -> None:
    changed = agent.json("settings", "set", "decay.lambda", "35 days")
    assert (changed["ok"], changed["after"], changed["files"]) == (True, "35 days", ["workbench.toml"])
    assert changed["commit"]
    assert "decay.lambda is 23 days now" in agent.inside("settings", "reset", "decay.lambda").stdout
    assert agent.json("undo")["ok"]
    assert "35 days" in agent.inside("settings", "--set").stdout


def test_what_is_no_setting_is_told_with_the_nearest(agent: Program) -> None:
    error = agent.json("settings", "set", "decay.lamda", "1", code=2)["error"]
    assert "decay.lambda" in error["remedy"]


def test_the_bench_in_a_browser_stays_on_this_machine(agent: Program, tmp_path: Path) -> None:
    error = agent.json("web", "--host", "0.0.0.0", code=2)["error"]
    assert "--let-others-in" in error["remedy"]
