"""The story can be read: in order, with dates that fit the day it ends on."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise

import pytest

from tests.demo.conftest import NOW
from workbench.demo.sample import ZONE, Stage, load_story

TODAY = date(2026, 2, 2)


def test_scenes_follow_each_other_over_four_months_and_end_today() -> None:
    story = load_story(TODAY)
    moments = [scene.moment(TODAY, ZONE) for scene in story]
    assert all(one <= other for one, other in pairwise(moments))
    assert moments[-1] <= NOW
    assert timedelta(days=110) <= moments[-1] - moments[0] <= timedelta(days=130)


def test_every_scene_can_be_played_and_no_placeholder_is_left() -> None:
    for scene in load_story(TODAY):
        assert hasattr(Stage, f"_{scene.verb.replace('-', '_')}"), scene
        assert not re.search(r"\{(?:zh)?[+-]?\d", scene.text)


@pytest.mark.parametrize("last_day", [date(2024, 2, 29), date(2025, 12, 31), date(2026, 6, 30)])
def test_dates_are_reckoned_from_the_last_day(last_day: date) -> None:
    due = last_day - timedelta(days=60)
    texts = [scene.text for scene in load_story(last_day)]
    assert any(f"to be delivered on {due.day} {due:%B}" in text for text in texts)


def test_names_of_earlier_scenes_are_given_before_they_are_used() -> None:
    given: set[str] = set()
    for scene in load_story(TODAY):
        used = [*scene.options.get("from", "").split(","), scene.options.get("fact", "")]
        if scene.verb in ("remember", "supersede", "propose"):
            assert {name for name in used if name} <= given, scene
        given.update([scene.options["as"]] if "as" in scene.options else [])
