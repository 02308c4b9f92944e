"""Settings are listed with who says so, and changed in the file that may hold them."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace, layout
from workbench.engine.errors import InvalidSetting, RoleRefused
from workbench.engine.results.settings import SettingRow
from workbench.engine.settings.sections import SCHEMA

OURS = "# Ours.\n[decay]\n# Slow.\nlambda = 0.01  # a day\n\n[core]\ncap = 2000\n"
PARAMETERS = (
    "core.cap", "decay.lambda", "decay.archive_threshold", "reflection.token_budget", "reflection.frequency",
    "graph.depth", "search.max_results", "search.min_score", "audit.retention_days", "audit.critical_alerts",
)  # fmt: skip


def own_file() -> Path:
    return Path(os.environ["WORKBENCH_CONFIG"])


def row(workspace: Workspace, key: str) -> SettingRow:
    (found,) = (each for each in workspace.settings_listed().settings if each.key == key)
    return found


def test_every_setting_is_listed_once_and_every_parameter_of_the_design_is(furnished: AgentHome) -> None:
    with furnished.open() as workspace:
        listed = workspace.settings_listed()
        keys = [each.key for each in listed.settings]
        assert sorted(keys) == sorted(SCHEMA)
        assert set(PARAMETERS) <= set(keys)
        assert listed.user_file == str(own_file())
        assert row(workspace, "decay.lambda").said == "23 days"


def test_who_says_so_is_named_with_file_and_line(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnished.write(layout.SETTINGS, OURS)
    own_file().write_text('# Mine.\neditor = "vi"\n')
    monkeypatch.setenv("WORKBENCH_GRAPH_DEPTH", "3")
    with furnished.open() as workspace:
        seen = {
            key: (found.source, found.path, found.line)
            for key in ("decay.lambda", "editor", "graph.depth", "core.persona_budget")
            for found in [row(workspace, key)]
        }
        assert seen == {
            "decay.lambda": ("workspace", layout.SETTINGS, 4),
            "editor": ("user", str(own_file()), 2),
            "graph.depth": ("environment", "", 0),
            "core.persona_budget": ("default", "", 0),
        }
        assert row(workspace, "graph.depth").origin == "WORKBENCH_GRAPH_DEPTH"


def test_a_change_goes_to_the_workspace_as_one_undoable_action(settled: AgentHome) -> None:
    settled.write(layout.SETTINGS, OURS)
    with settled.open() as workspace:
        workspace.adopt()
        changed = workspace.setting_change("core.cap", "2,500 tokens")
        assert (changed.before, changed.after) == ("2,000 tokens", "2,500 tokens")
        assert changed.file == layout.SETTINGS
        assert settled.text(layout.SETTINGS) == OURS.replace("2000", "2500")
        assert workspace.core().cap == 2500
        workspace.undo()
        assert settled.text(layout.SETTINGS) == OURS
        assert workspace.core().cap == 2000


def test_what_only_the_user_may_set_goes_to_their_own_file(settled: AgentHome) -> None:
    own_file().write_text("# Mine.\n[model]\nname = 'm'  # small\n")
    own_file().chmod(0o640)
    with settled.open() as workspace:
        changed = workspace.setting_change("model.timeout", "30 seconds")
        assert (changed.commit, changed.file) == (None, str(own_file()))
        assert own_file().read_text() == "# Mine.\n[model]\nname = 'm'  # small\ntimeout = 30.0\n"
        assert own_file().stat().st_mode & 0o777 == 0o640
        assert row(workspace, "model.timeout").source == "user"
        assert row(workspace, "model.timeout").waits


def test_a_secret_is_written_and_never_said(settled: AgentHome) -> None:
    with settled.open() as workspace:
        changed = workspace.setting_change("model.api_key", "not-for-eyes")
        assert tomllib.loads(own_file().read_text())["model"]["api_key"] == "not-for-eyes"
        assert "not-for-eyes" not in repr((changed, workspace.settings_listed()))


def test_a_setting_for_all_workspaces_counts_less_than_the_workspaces_own(settled: AgentHome) -> None:
    settled.write(layout.SETTINGS, OURS)
    with settled.open() as workspace:
        changed = workspace.setting_change("core.cap", 4000, own=True)
        assert changed.after == "2,000 tokens"
        assert changed.warnings == (
            f"workbench.toml:7 says 2,000 tokens, which counts more than {own_file()}.",
        )
        assert workspace.setting_reset("core.cap").after == "4,000 tokens"
        assert workspace.setting_reset("core.cap").after == "3,000 tokens"
        assert "cap" not in own_file().read_text()


def test_taking_a_setting_back_leaves_the_rest_of_the_file(settled: AgentHome) -> None:
    settled.write(layout.SETTINGS, OURS)
    with settled.open() as workspace:
        workspace.adopt()
        changed = workspace.setting_reset("core.cap")
        assert changed.after == "3,000 tokens"
        assert settled.text(layout.SETTINGS) == OURS.removesuffix("[core]\ncap = 2000\n")
        assert workspace.setting_reset("core.cap").file == ""


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("core.capp", "1", "There is no setting core.capp"),
        ("core.cap", "many", "takes a whole number from 100"),
        ("decay.archive_threshold", "0.3", "must not be higher"),
        ("reflection.frequency", "hourly", "takes one of daily"),
        ("search.extra_paths", "../elsewhere", "only paths inside"),
    ],
)
def test_what_cannot_be_set_says_why_and_writes_nothing(
    settled: AgentHome, key: str, value: str, words: str
) -> None:
    with settled.open() as workspace:
        head = workspace.head()
        with pytest.raises(InvalidSetting) as caught:
            workspace.setting_change(key, value)
        assert words in str(caught.value)
        assert workspace.head() == head


def test_a_change_that_the_users_own_file_contradicts_is_refused(settled: AgentHome) -> None:
    """The workspace could not be opened any more."""
    own_file().write_text("decay.fading_threshold = 0.1\n")
    with settled.open() as workspace:
        with pytest.raises(InvalidSetting):
            workspace.setting_change("decay.archive_threshold", 0.15)
        workspace.settings_listed()


def test_what_a_variable_sets_is_not_taken_back_here(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CORE_CAP", "1000")
    with settled.open() as workspace:
        with pytest.raises(InvalidSetting, match="WORKBENCH_CORE_CAP"):
            workspace.setting_reset("core.cap")
        (warning,) = workspace.setting_change("core.cap", 2000).warnings
        assert warning == "WORKBENCH_CORE_CAP says 1,000 tokens, which counts more than workbench.toml."


@pytest.mark.parametrize("key", ["core.cap", "editor"])
def test_only_a_person_changes_settings(settled: AgentHome, key: str) -> None:
    with settled.open("main") as workspace:
        with pytest.raises(RoleRefused):
            workspace.setting_change(key, "2000")
        assert own_file().read_text() == ""
