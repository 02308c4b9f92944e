"""The glance at what waits sees what a reading of the file sees, and picks what may be about the same."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.markdown.proposals import MemoryProposal, PendingMemories, append_to
from workbench.engine.memory.proposal_comparison import MOST_COMPARED, nearest_proposals, scan_waiting
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
