"""Which labels in a log name a speaker."""

from __future__ import annotations

import pytest

from workbench.engine.search.chunks import Chunk, StoredChunk
from workbench.engine.search.ranking.candidates import units_in
from workbench.engine.search.text_units import speakers_among


def among(text: str) -> frozenset[str]:
    return speakers_among(text.split("\n"))


def test_a_label_behind_a_time_is_a_speaker() -> None:
    assert among("- 10:00 Ann: Hello\n- 10:01 Bob Ray: Hi\n[11:02] **Cy**: Hey") == {"ann", "bob ray", "cy"}


@pytest.mark.parametrize(
    "text",
    [
        "- **Budget:** $5\n- **Place:** the quay\n- **Guests:** four",
        "- Budget: $5\n- Place: the quay",
        "1. Budget: $5\n2. Place: the quay",
        "Budget: $5",
        "**Budget:** $5\n\nThat is all.",
        "Plan A\n- Pros: cheap\n- Cons: slow\n\nPlan B\n- Pros: fast\n- Cons: dear",
        "- 预算：五元\n- 地点：码头",
        "Note: the door sticks\nNote: so does the lock",
    ],
)
def test_a_label_of_a_list_or_a_paragraph_is_not(text: str) -> None:
    assert among(text) == frozenset()


def test_the_usual_names_of_person_and_agent_are_speakers_without_a_time() -> None:
    assert among("User: where is it?\n\nIt is here.") == {"user"}
    assert among("助手：在这里。") == {"助手"}


def test_labels_that_take_turns_are_speakers() -> None:
    assert among("- Ann: Hello\n- Bob: Hi\n- Ann: Bye\n- Bob: Bye") == {"ann", "bob"}
    assert among("## Call\nAnn: Hello\nBob: Hi\n  and more\nCy: Hey\nAnn: Bye\nCy: Bye\nBob: Bye") == {
        "ann",
        "bob",
        "cy",
    }
    assert among("Ann: Hello\nBob: Hi\nAnn: Bye") == frozenset(), "Bob may be a topic"


def test_a_stamped_log_with_a_list_in_an_answer_keeps_its_speakers_alone() -> None:
    assert among("- 10:00 Ann: What does it cost?\n- 10:01 Bob: This much\n- **Budget:** $5") == {
        "ann",
        "bob",
    }


def test_a_list_in_an_answer_is_said_by_whom_the_heading_names() -> None:
    text = (
        "## 09:01 assistant\n- **Budget:** $5 will do for the quay\n- **Guests:** four\n- **Place:** the quay"
    )
    shapes = [unit.shape for unit in units_in(StoredChunk(1, Chunk("file:x", "file", "x.md", 1, text, "")))]
    assert {shape.speaker for shape in shapes} == {"assistant"}
    assert any("Budget" in shape.spoken for shape in shapes), "the label is part of what is said"
