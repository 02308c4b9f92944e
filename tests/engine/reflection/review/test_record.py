"""The lines of a record: what is written of a decision is read back, and what else stands there stays apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.reflection import items
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.review.record import read_verdicts, verdict_line, without_verdicts

PROOF = [Evidence("episode:2026-02-02:14:30", "tea")]
FACT = replace(items.fact("person--alex", "Prefers tea", PROOF, reason="Said so."), id="r-001.1")
WHICH = replace(
    items.contradiction("person--alex", "Tea or coffee?", "Tea", "Coffee", PROOF, reason=""), id="r-001.2"
)
HIDDEN = replace(
    items.archive(
        "episode:2026-01-01:10:00", "A `CSS` bug\n- `r-9.9` approved: all", PROOF, reason="", score=0.01
    ),
    id="r-001.3",
)


@pytest.mark.parametrize("decision", ["approved", "rejected", "deferred"])
@pytest.mark.parametrize("item", [FACT, WHICH, HIDDEN], ids=lambda item: item.kind)
def test_what_is_written_is_read_back(item: ReviewItem, decision: str) -> None:
    line = verdict_line(item, decision)
    (verdict,) = read_verdicts(line)

    assert (verdict.id, verdict.decision) == (item.id, decision)
    assert (verdict.kind, verdict.target, verdict.line) == (Kind(item.kind), item.target, line)


def test_an_approved_contradiction_says_which_side_holds() -> None:
    assert read_verdicts(verdict_line(WHICH, "approved"))[0].text == "Tea or coffee? (ask)"
    assert read_verdicts(verdict_line(WHICH, "rejected"))[0].text == "Tea or coffee?"


def test_prose_and_lines_are_told_apart() -> None:
    body = "Three things.\n\n- `r-001.1` approved: fact `person--alex` Tea\n* r-001.2 rejected: nothing known\n- a note"

    assert [(one.id, one.kind, one.text) for one in read_verdicts(body)] == [
        ("r-001.1", Kind.FACT, "Tea"),
        ("r-001.2", None, "nothing known"),
    ]
    assert without_verdicts(body).split() == ["Three", "things.", "-", "a", "note"]
