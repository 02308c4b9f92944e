"""Proposals: the quick look at those that wait, what contradicts what, and their numbers."""

from __future__ import annotations

import time
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.markdown.proposals import MemoryProposal, PendingMemories, append_to
from workbench.engine.memory.proposals import (
    HIGHEST,
    MOST_COMPARED,
    contradict,
    free_numbers,
    highest_given,
    highest_in,
    is_doubled,
    nearest_proposals,
    number_trailers,
    scan_waiting,
)
from workbench.engine.memory.wording import text_key

PARTS = ["harbour", "ferry", "`x`", "-", "#", "##", "1.", ">", "*", "<b>", "---", "```", "\\", "tea"]
WORDS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=6)
CONTENT = st.lists(WORDS.map(" ".join), min_size=1, max_size=4).map("\n".join)


def filed(*contents: str) -> bytes:
    content = b""
    for number, text in enumerate(contents, 1):
        content = append_to(content, MemoryProposal("scout", text, store="episodic"), number)
    return content


@given(st.lists(CONTENT, min_size=1, max_size=4))
def test_a_glance_sees_what_a_reading_sees(contents: list[str]) -> None:
    file = filed(*contents)
    read = {each.number: text_key(each.content) for each in PendingMemories.parse(file).proposals}
    assert {each.number: each.key for each in scan_waiting(file)} == read


def test_what_shares_words_comes_first_and_at_most_so_many() -> None:
    waiting = list(
        scan_waiting(filed("The ferry to Visby leaves at nine", "Robin drinks tea", *["Tea and ferry"] * 40))
    )
    found = nearest_proposals("The ferry to Visby leaves at ten", waiting)
    assert found[0].number == 1
    assert len(found) <= MOST_COMPARED
    assert all(each.number != 2 for each in found)


def test_a_large_file_is_glanced_at_quickly() -> None:
    hostile = b"## Proposal #1\n- **Content**: " + b"\n  \n " * 200_000 + b"x\n"
    began = time.perf_counter()
    assert len(list(scan_waiting(hostile))) == 1
    # A reading that looked back again and again would take hours.
    assert time.perf_counter() - began < 20


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
    ("港口用绳子", "港口不用绳子"),
    ("Robin hasn't sold the boat", "Robin has sold the boat"),
    ("The standup is on 周一", "The standup is on 周二"),
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
    ("港口用绳子", "港口不用船"),
    ("味道不错", "味道错"),
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


def written(*numbers: int) -> bytes:
    return "".join(f"## Proposal #{number}\n- **Content**: x\n\n" for number in numbers).encode()


def test_the_newest_commit_that_names_one_tells_the_highest() -> None:
    named = "[PROPOSE] f — s\n\nActor: a\nHighest-Proposal: 12\nAudit: x"
    older = "[PROPOSE] f — s\n\nHighest-Proposal: 99\n"
    assert highest_given(["[EDIT] f — Highest-Proposal: 4", named, older]) == 12
    assert highest_given([]) == 0
    assert highest_given(["[EDIT] f — s\n\nHighest-Proposal: many"]) == 0
    assert number_trailers(7) == ((HIGHEST, "7"),)


def test_what_a_hand_numbered_counts_unless_it_would_use_all_numbers_up() -> None:
    assert highest_in(written(40), 3) == 40
    assert highest_in(written(999_999_999), 3) == 3
    assert next(free_numbers(written(4, 999_999_999), 3)) == 5


def test_a_doubled_number_is_noticed() -> None:
    assert is_doubled(written(1, 2, 1))
    assert not is_doubled(written(1, 2))


@given(st.lists(st.integers(0, 999_999_999), max_size=8), st.integers(0, 100_000))
def test_a_free_number_is_new_and_above_all_that_were_given(numbers: list[int], given_before: int) -> None:
    for number in islice(free_numbers(written(*numbers), given_before), 3):
        assert number not in numbers
        assert number > given_before
