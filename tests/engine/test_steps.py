"""Work that tells how far it has come stops where it is called off, and tells its end."""

from __future__ import annotations

import pytest

from workbench.engine.errors import Cancelled
from workbench.engine.steps import UNTOLD, Progress, Steps


def test_it_tells_now_and_then_and_at_the_end() -> None:
    told: list[Progress] = []
    assert list(Steps(progress=told.append).over("reading", range(130), 130)) == list(range(130))
    assert [each.done for each in told] == [0, 64, 128, 130]
    assert {(each.phase, each.total) for each in told} == {("reading", 130)}


def test_of_what_nobody_counted_the_total_is_known_at_the_end() -> None:
    told: list[Progress] = []
    assert list(Steps(progress=told.append).over("reading", iter("abc"))) == ["a", "b", "c"]
    assert told == [Progress("reading", 0, 0), Progress("reading", 3, 3)]


def test_it_stops_between_two_items_with_its_own_words() -> None:
    told: list[Progress] = []
    steps = Steps("Nothing was written.", told.append, lambda: len(told) == 2)
    taken: list[int] = []
    with pytest.raises(Cancelled, match="Nothing was written"):
        taken.extend(steps.over("writing", range(1_000), 1_000))
    assert (len(told), told[-1].done) == (2, 64)


def test_what_nobody_waits_for_goes_to_its_end() -> None:
    assert list(UNTOLD.over("reading", [1, 2], 2)) == [1, 2]
