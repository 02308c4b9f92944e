"""Looking for near names alone gives the same likeness as comparing in full."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.catalog.names import NEAR, similarity

_NAMES = st.text(alphabet="abcde 12+éA", max_size=14)


@given(_NAMES, _NAMES, st.integers(0, 13), st.sampled_from("abc 1"))
def test_a_bound_changes_no_likeness_that_reaches_it(one: str, other: str, at: int, slip: str) -> None:
    for candidate in (other, one[:at] + slip + one[at + 1 :]):
        full, bounded = similarity(one, candidate), similarity(one, candidate, least=NEAR)
        assert bounded == full or (bounded == 0.0 and full < NEAR)
