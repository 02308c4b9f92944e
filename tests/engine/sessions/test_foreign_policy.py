"""Sessions of another program end when its own configuration says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine.sessions.keys import foreign_rules, parse_key, render_policy


def policies(folder: Path, config: str, *keys: str) -> list[str] | None:
    sessions = folder / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    (folder / "openclaw.json").write_text(config)
    rules = foreign_rules(sessions)
    assert foreign_rules(sessions / "7d0c.jsonl") == rules
    return None if rules is None else [render_policy(rules.of(parse_key(key))) for key in keys]


MAIN, GROUP, THREAD = "agent:main:main", "agent:main:telegram:group:4", "agent:main:slack:channel:c:thread:9"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("{session: {reset: {mode: 'daily', atHour: 6}}}", ["daily 6"] * 3),
        ("{session: {reset: {mode: 'idle'}}}", ["idle 60"] * 3),
        ("{session: {reset: {mode: 'daily', idleMinutes: 30}}}", ["daily 4 idle 30"] * 3),
        ("{session: {reset: {mode: 'none'}}}", ["none"] * 3),
        ("{session: {idleMinutes: 15}}", ["idle 15"] * 3),
        (
            "{session: {resetByType: {dm: {mode: 'idle', idleMinutes: 5}, thread: {mode: 'none'}}}}",
            ["idle 5", "daily 4", "none"],
        ),
        ("{session: {resetByChannel: {Telegram: {atHour: 7}}}}", ["daily 4", "daily 7", "daily 4"]),
    ],
)
def test_what_it_says_holds(tmp_path: Path, config: str, expected: list[str]) -> None:
    assert policies(tmp_path, config, MAIN, GROUP, THREAD) == expected


@pytest.mark.parametrize(
    "config",
    ["", "{", "[]", "{session: 3}", "{session: {}}", "{session: {reset: {atHour: 99}}}", "{agents: {}}",
     "{session: {reset: 'daily', resetByType: [1]}}"],
)  # fmt: skip
def test_where_it_says_nothing_that_can_be_meant_it_holds_nothing(tmp_path: Path, config: str) -> None:
    assert policies(tmp_path, config, MAIN) is None
