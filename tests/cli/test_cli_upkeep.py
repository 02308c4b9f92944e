"""Setting a damaged history aside: asked for, confirmed, and told where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.door import Bench, Door


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
