"""What a decision reaches, what shows before it is written, and what can be written in an item."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.fake_bench import FakeBench
from workbench.engine.reflection.kinds import Kind
from workbench.engine.results.reviews import ReviewItem
from workbench.tui.decisions import (
    APPROVED,
    REJECTED,
    UNDECIDED,
    Edit,
    Step,
    UnderWay,
    reach,
    tally,
    wants_answer,
    wants_choice,
)
from workbench.tui.rewording import rewording


def items() -> tuple[ReviewItem, ...]:
    return FakeBench.filled().review().items


def item(kind: Kind) -> ReviewItem:
    return next(each for each in items() if each.kind == kind)


def test_the_fixture_holds_every_kind() -> None:
    assert {each.kind for each in items()} == set(Kind)


def test_decisions_are_counted() -> None:
    counts = tally(items())
    assert (counts.total, counts.approved, counts.rejected, counts.deferred) == (18, 1, 1, 1)
    assert (counts.decided, counts.undecided) == (3, 15)


def test_an_approval_leaves_out_what_wants_an_answer_or_a_choice() -> None:
    reached = reach(items(), APPROVED)
    assert (reached.unresolved, reached.unanswered) == (1, 1)
    assert "r-012.1" not in reached.decide
    assert "r-012.18" not in reached.decide
    assert "r-012.3" not in reached.decide
    assert len(reached.decide) == 15
    assert reached.left_out() == (
        "Left for you: 1 contradiction to be settled with <, > or = and 1 question to be answered with e."
    )


def test_a_rejection_reaches_everything_that_is_not_rejected() -> None:
    reached = reach(items(), REJECTED)
    assert len(reached.decide) == 17
    assert not reached.left_out()


def test_what_is_under_way_shows_in_its_order() -> None:
    way = UnderWay().begin(1, Step({"r-012.2": APPROVED})).begin(2, Step({"r-012.2": REJECTED}))
    assert next(each for each in way.over(items()) if each.id == "r-012.2").decision == REJECTED
    refused = way.without(2)
    assert next(each for each in refused.over(items()) if each.id == "r-012.2").decision == APPROVED
    assert way.after(2).over(items()) == items()
    assert next(each for each in way.after(1).over(items()) if each.id == "r-012.2").decision == REJECTED


def test_an_edit_and_its_decision_show_together() -> None:
    step = Step({"r-012.1": APPROVED}, Edit("r-012.1", fields={"resolve": "that"}))
    shown = UnderWay().begin(1, step).over(items())[0]
    assert shown.decision == APPROVED
    assert not wants_choice(shown)
    assert shown.fields is not None
    assert shown.fields["this"] == "The tide gauge was calibrated by the supplier"


def test_what_is_gone_from_the_file_is_no_trouble() -> None:
    step = Step({"r-011.1": APPROVED}, Edit("r-011.2", "text"))
    assert UnderWay().begin(1, step).over(items()) == items()


def test_questions_and_contradictions_know_what_they_want() -> None:
    question, contradiction = item(Kind.QUESTION), item(Kind.CONTRADICTION)
    assert wants_answer(question)
    assert not wants_answer(replace(question, fields={"answer": "Yes"}))
    assert wants_choice(contradiction)
    for resolution in ("this", "that", "both"):
        assert not wants_choice(replace(contradiction, fields={"resolve": resolution}))


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_can_be_reworded_or_has_nothing_to_reword(kind: Kind) -> None:
    draft = rewording(item(kind))
    whole = {Kind.MERGE, Kind.ARCHIVE, Kind.RESTORE, Kind.VAULT_PIN, Kind.DEMOTION}
    assert (draft is None) == (kind in whole)
    if draft is not None:
        assert not draft.touched
        assert draft.written(0, "Something else").touched


def test_only_what_was_changed_is_written() -> None:
    draft = rewording(item(Kind.SUPERSESSION))
    assert draft is not None
    step = draft.written(1, " 2026-02-03 ").step()
    assert step == Step({}, Edit("r-012.2", None, {"since": "2026-02-03"}))
    assert draft.written(0, "Another").step().edit == Edit("r-012.2", "Another", {})


def test_an_answer_approves_and_cannot_be_blank() -> None:
    draft = rewording(item(Kind.QUESTION))
    assert draft is not None
    assert draft.parts[0].text == ""
    assert "needs some text" in draft.problem
    answered = draft.written(0, "Yes, on 14 February")
    assert not answered.problem
    assert answered.step() == Step(
        {"r-012.18": APPROVED}, Edit("r-012.18", None, {"answer": "Yes, on 14 February"})
    )


def test_a_statement_cannot_be_blank_but_a_date_can() -> None:
    draft = rewording(item(Kind.SUPERSESSION))
    assert draft is not None
    assert draft.written(0, " ").problem
    assert not draft.written(1, "").problem
    assert UNDECIDED not in draft.step().decisions.values()
