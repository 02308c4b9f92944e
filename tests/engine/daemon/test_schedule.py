"""What a daemon has to do, and when."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from workbench.engine.daemon.loop import (
    LONGEST_WAIT,
    Course,
    Duty,
    Moment,
    Record,
    longest_wait,
    next_duty,
    seconds_until,
)
from workbench.engine.settings.sections import Settings

ZONE = ZoneInfo("Europe/Berlin")
NOON = Moment(datetime(2026, 3, 2, 12, 0, tzinfo=ZONE), 1000.0)
SETTINGS = Settings()


def later(moment: Moment, **amount: float) -> Moment:
    passed = timedelta(**amount)
    wall = (moment.wall.astimezone(UTC) + passed).astimezone(ZONE)
    return Moment(wall, moment.steady + passed.total_seconds())


def at(text: str, steady: float = 1000.0) -> Moment:
    return Moment(datetime.fromisoformat(text).astimezone(ZONE), steady)


def all_done(moment: Moment) -> Course:
    return Course({duty: Record(moment, moment.steady) for duty in Duty})


def due(course: Course, now: Moment, settings: Settings = SETTINGS) -> set[Duty]:
    return {duty for duty in Duty if seconds_until(duty, course, now, settings) <= 0}


def test_at_the_start_everything_is_due_in_order() -> None:
    course, done = Course(), []
    while (duty := next_duty(course, NOON, SETTINGS)) is not None:
        done.append(duty)
        course = course.with_(duty, course.of(duty).begun(NOON.steady).went_well(NOON))
    assert done == list(Duty)


def test_then_nothing_is_and_the_clock_is_looked_at_now_and_then() -> None:
    assert due(all_done(NOON), NOON) == set()
    assert longest_wait(all_done(NOON), NOON, SETTINGS) == LONGEST_WAIT


def test_a_change_is_adopted_at_once_and_indexed_when_it_is_quiet() -> None:
    course = all_done(NOON).changed(NOON.steady + 5)
    assert due(course, later(NOON, seconds=5)) == {Duty.SETTINGS, Duty.ADOPT}
    assert seconds_until(Duty.SYNC, course, later(NOON, seconds=5), SETTINGS) == 1.5
    assert Duty.SYNC in due(course, later(NOON, seconds=6.5))


def test_somebody_who_never_stops_writing_gets_an_index_all_the_same() -> None:
    course = all_done(NOON)
    for second in range(16):
        course = course.changed(NOON.steady + second)
        assert (Duty.SYNC in due(course, later(NOON, seconds=second))) is (second >= 15)


def test_what_changes_while_a_duty_is_done_is_for_the_next_time() -> None:
    record = Record(NOON).changed(1001.0).begun(1002.0).changed(1003.0)
    course = all_done(NOON).with_(Duty.ADOPT, record.went_well(NOON))
    assert Duty.ADOPT in due(course, later(NOON, seconds=4))
    course = all_done(NOON).with_(Duty.ADOPT, Record(NOON).changed(1001.0).begun(1002.0).went_well(NOON))
    assert due(course, later(NOON, seconds=4)) == set()


def test_files_are_looked_at_now_and_then_although_nothing_told_of_a_change() -> None:
    assert due(all_done(NOON), later(NOON, minutes=4)) == set()
    assert due(all_done(NOON), later(NOON, minutes=5)) == {Duty.SETTINGS, Duty.ADOPT, Duty.SYNC}
    never = replace(SETTINGS, search=replace(SETTINGS.search, sync_minutes=0))
    assert seconds_until(Duty.SYNC, all_done(NOON), later(NOON, minutes=50), never) == math.inf


def test_an_index_that_does_not_follow_changes_keeps_to_its_interval() -> None:
    still = replace(SETTINGS, search=replace(SETTINGS.search, watch=False))
    course = all_done(NOON).changed(NOON.steady)
    assert due(course, later(NOON, minutes=4), still) == {
        Duty.SETTINGS,
        Duty.ADOPT,
        Duty.REFLECT,
        Duty.DEVICES,
    }
    assert Duty.SYNC in due(course, later(NOON, minutes=5), still)


def test_devices_hear_of_a_change_once_files_are_quiet_and_of_nothing_where_that_is_off() -> None:
    course = all_done(NOON)
    assert seconds_until(Duty.DEVICES, course, NOON, SETTINGS) == 900
    assert seconds_until(Duty.DEVICES, course.changed(NOON.steady + 5), NOON, SETTINGS) == 65
    never = replace(SETTINGS, sync=replace(SETTINGS.sync, minutes=0))
    assert seconds_until(Duty.DEVICES, course.changed(NOON.steady), NOON, never) == math.inf


def test_what_fails_is_tried_ever_more_rarely_and_never_given_up() -> None:
    record, waits = Record(NOON), []
    for _ in range(40):
        record = record.begun(NOON.steady).failed()
        waits.append(seconds_until(Duty.ADOPT, all_done(NOON).with_(Duty.ADOPT, record), NOON, SETTINGS))
    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == 300.0
    assert record.went_well(NOON).failures == 0


def test_upkeep_comes_when_accesses_are_due_and_when_a_day_begins() -> None:
    assert seconds_until(Duty.UPKEEP, all_done(NOON), NOON, SETTINGS) == 3600
    evening = at("2026-03-02T23:30:00+01:00")
    assert seconds_until(Duty.UPKEEP, all_done(evening), evening, SETTINGS) == 1800
    assert Duty.UPKEEP in due(all_done(evening), later(evening, minutes=30))


def test_enough_that_is_new_is_asked_about_once_a_minute() -> None:
    course = all_done(NOON).changed(NOON.steady + 1)
    assert seconds_until(Duty.REFLECT, course, later(NOON, seconds=1), SETTINGS) == 59
    assert Duty.REFLECT in due(course, later(NOON, seconds=60))


def test_the_daily_reflection_comes_at_its_time() -> None:
    night = at("2026-03-02T02:59:30+01:00")
    assert seconds_until(Duty.REFLECT, all_done(night), night, SETTINGS) == 30
    assert Duty.REFLECT in due(all_done(night), later(night, seconds=30))
    assert Duty.REFLECT not in due(all_done(later(night, seconds=30)), later(night, hours=23))


@pytest.mark.parametrize(
    ("frequency", "until"), [("manual", math.inf), ("session-end", math.inf), ("daily", 15 * 3600)]
)
def test_reflection_keeps_to_what_was_set(frequency: str, until: float) -> None:
    settings = replace(SETTINGS, reflection=replace(SETTINGS.reflection, frequency=frequency))
    assert seconds_until(Duty.REFLECT, all_done(NOON), NOON, settings) == until


@pytest.mark.parametrize(
    ("day", "next_day"),
    [("2026-03-28T12:00:00+01:00", "2026-03-29T12:00:00+02:00"),
     ("2026-10-24T12:00:00+02:00", "2026-10-25T12:00:00+01:00")],
)  # fmt: skip
def test_a_night_with_a_change_of_summer_time_has_one_reflection(day: str, next_day: str) -> None:
    half_past_two = replace(SETTINGS, reflection=replace(SETTINGS.reflection, time="02:30"))
    now, course, asked = at(day), all_done(at(day)), []
    while now.wall < datetime.fromisoformat(next_day):
        now = later(now, seconds=longest_wait(course, now, half_past_two))
        if seconds_until(Duty.REFLECT, course, now, half_past_two) <= 0:
            asked.append(now)
            course = course.with_(Duty.REFLECT, Record(now, now.steady))
        for duty in set(Duty) - {Duty.REFLECT}:
            course = course.with_(duty, Record(now, now.steady))
    # In spring there is no half past two, and in autumn there are two.
    expected = "2026-03-29T03:30:00+02:00" if now.wall.month == 3 else "2026-10-25T02:30:00+02:00"
    assert [moment.wall.isoformat() for moment in asked] == [expected]


@pytest.mark.parametrize("jump", [timedelta(days=400), timedelta(days=-400)])
def test_after_a_jump_of_the_clock_nothing_is_put_off(jump: timedelta) -> None:
    course = all_done(NOON)
    jumped = Moment(NOON.wall + jump, NOON.steady + 1)
    assert due(course, jumped) == {Duty.UPKEEP, Duty.REFLECT}
    assert longest_wait(all_done(jumped), jumped, SETTINGS) <= LONGEST_WAIT
    back = Moment(NOON.wall, NOON.steady + 2)
    assert due(all_done(jumped), back) == {Duty.UPKEEP, Duty.REFLECT}


def test_after_a_sleep_what_was_planned_meanwhile_is_due() -> None:
    woken = Moment(NOON.wall + timedelta(hours=20), NOON.steady + 3)
    assert due(all_done(NOON), woken) == {Duty.UPKEEP, Duty.REFLECT}
