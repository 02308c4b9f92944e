"""Setting a damaged history aside: asked for, confirmed, and told where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import samples
from tests.cli.door import Bench, Door
from tests.cli.program import Program


class TestDoctor:
    def test_it_opens_whatever_the_settings_say_and_names_the_own_ones(
        self, bench: Bench, door: Door, tmp_path: Path
    ) -> None:
        door.answers["doctor"] = samples.DIAGNOSIS
        checks = bench.json("doctor")["checks"]
        assert door.called("open")["lenient"] is True
        assert checks[-1]["name"] == "config"
        assert checks[-1]["detail"] == str(tmp_path / "config.toml")

    def test_broken_settings_are_one_check_among_the_others(self, agent: Program) -> None:
        (agent.folder / "workbench.toml").write_text("timezone = \n", encoding="utf-8")
        answer = agent.json("doctor", code=1)
        assert answer["ok"] is False
        broken = [check for check in answer["checks"] if check["state"] == "broken"]
        assert [check["name"] for check in broken] == ["settings"]
        assert "most commands refuse" in broken[0]["remedy"]
        for words in (("search", "tea"), ("core",), ("init",)):
            assert agent.json(*words, code=2)["error"]["where"] == "workbench.toml:1"
        assert {"history", "state", "cache", "config"} <= {check["name"] for check in answer["checks"]}


class TestSettingAside:
    def test_without_a_terminal_it_is_refused(self, bench: Bench, door: Door) -> None:
        assert bench.json("doctor", "--set-aside-history", code=5)["error"]["kind"] == "confirmation-needed"
        assert [name for name, _ in door.calls] == ["open"]

    def test_with_yes_it_says_where_the_history_is(self, bench: Bench, door: Door) -> None:
        door.answers["set_aside_history"] = Path("/somewhere/.audit.damaged-1")
        answer = bench.json("doctor", "--set-aside-history", "--yes")
        assert answer == {"ok": True, "commit": None, "files": [], "ids": [], "setAside": ".audit.damaged-1"}
        assert ".audit.damaged-1" in bench.run("doctor", "--set-aside-history", "-y").stdout

    @pytest.mark.usefixtures("terminal")
    def test_a_person_may_say_no(self, bench: Bench, door: Door) -> None:
        result = bench.run("doctor", "--set-aside-history", stdin="n\n")
        assert result.exit_code == 0
        assert "Nothing was changed." in result.stderr
