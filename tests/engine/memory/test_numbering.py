"""Numbers of proposals: none is given twice, whatever stands in the file or is gone from it."""

from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.memory.proposals import (
    HIGHEST,
    free_numbers,
    highest_given,
    highest_in,
    is_doubled,
    number_trailers,
)


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
