"""The packed vocabulary gives back what was packed, and is the published one."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.tokens import (
    Vocabulary,
    count_merged,
    o200k_vocabulary,
    pack_vocabulary,
)

if TYPE_CHECKING:
    import bpe_openai

SINGLE = [bytes((byte,)) for byte in range(256)]
LONGER = st.lists(
    st.lists(st.integers(0, 254), min_size=2, max_size=6).map(bytes), unique=True, min_size=1, max_size=30
)


@given(LONGER, st.binary(max_size=8))
def test_a_packed_vocabulary_knows_its_tokens_and_no_others(longer: list[bytes], other: bytes) -> None:
    tokens = SINGLE + longer
    vocabulary = Vocabulary(pack_vocabulary(tokens))
    assert [vocabulary.get(token) for token in tokens] == [*range(len(tokens))]
    assert (other in vocabulary) is (other in tokens)


@pytest.mark.parametrize("tokens", [[*SINGLE[1:], b"ab"], [*SINGLE, b"ab", b"ab"], [*SINGLE, b""]])
def test_a_vocabulary_that_would_not_come_back_is_refused(tokens: list[bytes]) -> None:
    with pytest.raises(ValueError, match="vocabulary"):
        pack_vocabulary(tokens)


def test_the_shipped_file_is_the_published_vocabulary(reference: bpe_openai.Encoding) -> None:
    published = {reference.decode_single_token_bytes(rank): rank for rank in range(199_998)}
    vocabulary = o200k_vocabulary()
    assert {token: vocabulary.get(token) for token in published} == published
    assert not any(token + b"\xff" in vocabulary for token in published)


@given(LONGER, st.lists(st.integers(0, 4), max_size=24).map(bytes))
def test_merging_does_what_the_plain_definition_says(longer: list[bytes], piece: bytes) -> None:
    ranks = {token: rank for rank, token in enumerate(SINGLE + [bytes(b % 5 for b in t) for t in longer])}
    assert count_merged(piece, ranks) == _count_by_definition(piece, ranks)


def _count_by_definition(piece: bytes, ranks: dict[bytes, int]) -> int:
    if piece in ranks:
        return 1
    parts = [bytes((byte,)) for byte in piece]
    while True:
        pairs = [(ranks[a + b], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not pairs:
            return len(parts)
        _, at = min(pairs)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
