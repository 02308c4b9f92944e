"""Dates of the first and the last day of the calendar, in files and in arguments, in zones east and west."""

from __future__ import annotations

import pytest

from tests.cli.program import Program

FILES = {
    "memory/episodes/0001-01-01.md": "# 0001-01-01 — Episode Log\n\n## 00:00 | decision\nThe first tea.\n",
    "memory/episodes/9999-12-31.md": "# 9999-12-31 — Episode Log\n\n## 23:59 | decision\nThe last tea.\n",
    "memory/graph/entities/person--mira.md": (
        "# person--mira\n\n<!-- Type: person | Label: Mira | Created: 0001-01-01 -->\n\n## Facts\n"
        "- Drinks tea (since 0001-01-01, from episode:0001-01-01:00:00) ^tea1\n"
        "- Drinks mate (since 9999-12-31) ^tea2\n"
    ),
    "memory/meta/decay-scores.json": (
        '{"version": 1, "entries": {'
        '"episode:0001-01-01:00:00": {"accessCount": 3, "lastAccessed": "0001-01-01T00:00:00+14:00"},'
        '"episode:9999-12-31:23:59": {"accessCount": 3, "lastAccessed": "9999-12-31T23:59:59-12:00"}}}'
    ),
}
COMMANDS = [
    "search tea", "search tea --after 0001-01-01", "search tea --before 9999-12-31", "brief", "decay",
    "decay --forecast 365", "graph Mira", "show episode:0001-01-01:00:00", "show episode:9999-12-31:23:59",
    "remember Tea --store episodic", "reflect", "review", "audit log", "audit verify", "audit at 0001-01-01",
    "audit at 9999-12-31", "rollback --to 0001-01-01", "rollback --to 9999-12-31T23:59:59Z", "undo",
    "index", "doctor", "export",
]  # fmt: skip


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_no_command_fails_inside(program: Program, zone: str) -> None:
    for path, content in FILES.items():
        place = program.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    there = program.with_environment(WORKBENCH_TIMEZONE=zone)
    for command in COMMANDS:
        for form in ([], ["--json"]):
            done = there.inside(*command.split(), *form)
            assert "inside Workbench" not in done.output + done.stderr, command
            assert not isinstance(done.exception, OverflowError), command
            # A day whose end no clock shows is refused in so many words.
            refused = (2,) if "9999" in command else ()
            assert done.exit_code in (0, 3, 5, *refused), (command, done.output)


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
@pytest.mark.parametrize("command", ["remember Tea", "search tea", "brief", "decay", "audit log"])
def test_a_clock_there_is_refused_by_its_name(program: Program, now: str, command: str) -> None:
    done = program.at(now).inside(*command.split())
    assert done.exit_code == 2
    assert "WORKBENCH_NOW" in done.output + done.stderr
