"""The commands of a hub without its server: what is said, and what answers instead."""

from __future__ import annotations

from tests.cli.program import Program

_AWAY = {"WORKBENCH_HUB_URL": "postgresql://nobody:hushhush@127.0.0.1:1/none"}


def test_a_hub_that_is_away_is_named_with_a_remedy(program: Program) -> None:
    done = program.with_environment(**_AWAY).run("hub", "--json")
    assert done.returncode == 1
    assert "127.0.0.1:1/none cannot be used" in done.stdout
    assert '"remedy":"Start it, or correct hub.url' in done.stdout
    assert "hushhush" not in done.stdout + done.stderr


def test_without_an_address_the_setting_is_named(program: Program) -> None:
    done = program.run("hub", "sync", "--json")
    assert done.returncode == 2
    assert '"where":"hub.url"' in done.stdout
