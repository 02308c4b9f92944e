"""Which short statements give one thing two values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.memory.proposal_comparison import contradict

CONTRADICT = (
    ("Project deadline is March 15", "Project deadline is March 30"),
    ("The project deadline is March 15.", "The project deadline is on 30 March."),
    ("The server runs on port 8080", "The server runs on port 9090"),
    ("The database is Postgres", "The database is MySQL"),
    ("Deploys happen on Fridays", "Deploys never happen on Fridays"),
    ("The release is version 2.1", "The release is version 2.3"),
    ("The budget is 5000 euros", "The budget is 7000 euros"),
    ("The meeting is at 10:00", "The meeting is at 11:00"),
    ("The user does not want emails", "The user wants emails"),
    ("The production database is called harbour", "The production database is called pier"),
    ("The standup is on Monday", "The standup is on Tuesday"),
    ("Robin is 30 years old", "Robin is 31 years old"),
    ("Robin is allergic to penicillin", "Robin is not allergic to penicillin"),
    ("Backups run at midnight", "Backups run at noon"),
)
AGREE = (
    ("Agent 3 noticed thing number 57", "Agent 3 noticed thing number 58"),
    ("Robin likes tea", "Robin likes coffee"),
    ("Robin is 30 years old", "Kim is 35 years old"),
    ("The database is fast", "The database is big"),
    ("Issue 57 is closed", "Issue 58 is closed"),
    ("Robin bought 3 lamps", "Robin bought 5 lamps"),
    ("Robin has a dog", "Robin has a cat"),
    ("Agent 1 read source 7", "Agent 2 read source 7"),
    ("User prefers short answers", "User prefers academic sources"),
    ("The tests for module a12 are slow", "The tests for module a13 are slow"),
    ("Robin met Kim", "Robin met Lena"),
    ("The deadline is March 15", "The deadline is March 15"),
    ("", "The deadline is March 15"),
)


@pytest.mark.parametrize(("one", "other"), CONTRADICT)
def test_two_values_of_one_thing_contradict_each_other_both_ways(one: str, other: str) -> None:
    assert contradict(one, other)
    assert contradict(other, one)


@pytest.mark.parametrize(("one", "other"), AGREE)
def test_what_may_both_hold_does_not(one: str, other: str) -> None:
    assert not contradict(one, other)
    assert not contradict(other, one)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_compared_alike_both_ways(one: str, other: str) -> None:
    assert contradict(one, other) == contradict(other, one)
    assert not contradict(one, one)
