"""When a reflection should run."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from workbench.engine.reflection.due import Situation, is_due, last_planned, next_planned
from workbench.engine.settings.sections import ReflectionSettings

ZONE = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=ZONE)
DAILY = ReflectionSettings()


@pytest.mark.parametrize(
    ("situation", "settings", "due"),
    [
        (Situation(NOON, None, 0), DAILY, False),
        (Situation(NOON, None, 1), DAILY, True),
        (Situation(NOON, NOON - timedelta(hours=20), 1), DAILY, True),
        (Situation(NOON, NOON - timedelta(hours=8), 1), DAILY, False),
        (Situation(NOON, NOON - timedelta(hours=8), 20), DAILY, True),
        (Situation(NOON, NOON, 1, occasion="session-end"), DAILY, True),
        (Situation(NOON, NOON, 1, occasion="session-end"), ReflectionSettings(frequency="daily"), False),
        (Situation(NOON, None, 1), ReflectionSettings(frequency="session-end"), False),
        (Situation(NOON, None, 500), ReflectionSettings(frequency="manual"), False),
        (Situation(NOON, None, 500, waiting="r-003"), DAILY, False),
    ],
)
def test_when_it_is_due(situation: Situation, settings: ReflectionSettings, due: bool) -> None:
    answer = is_due(situation, settings)

    assert answer.due is due
    assert answer.reason.endswith(".")


def test_the_plan_is_in_the_workspace_s_own_time() -> None:
    settings = ReflectionSettings(time="03:00")
    night = datetime(2026, 3, 29, 1, 30, tzinfo=ZONE)  # The clock springs forward at two.

    assert last_planned(night, settings) == datetime(2026, 3, 28, 3, 0, tzinfo=ZONE)
    assert next_planned(night, settings) == datetime(2026, 3, 29, 3, 0, tzinfo=ZONE)
    assert last_planned(NOON, settings) <= NOON < next_planned(NOON, settings)
