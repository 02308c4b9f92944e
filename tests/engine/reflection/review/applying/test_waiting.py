"""Approved items that cannot be applied yet, and why; the rest is applied all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.reflection.review.applying.desk import BACKUPS, BOTH, ROBIN, WHY, Desk
from tests.engine.reflection.review.applying.test_every_kind import contradiction, with_field
from workbench.engine import layout
from workbench.engine.errors import NotFound
from workbench.engine.markdown.review import Decision, ReviewItem
from workbench.engine.reflection import items
from workbench.engine.tokens import count_tokens

ENTITY = items.entity("tool--ferry", "Ferry", BOTH, reason=WHY)
FACT = items.fact("tool--ferry", "It goes at nine", BOTH, reason=WHY, needs=["r-012.1"])
RELATION = items.relation("person--robin", "uses", "tool--ferry", BOTH, reason=WHY, needs=["r-012.1"])


@pytest.mark.parametrize("decision", ["undecided", "rejected", "deferred"])
def test_an_item_waits_for_what_it_needs_and_says_for_what(desk: Desk, decision: Decision) -> None:
    desk.propose(ENTITY, FACT)
    desk.tick(_1=decision, _2="approved")
    applied = desk.apply()
    assert applied.applied == ()
    assert applied.waiting == {"r-012.2": f"It needs r-012.1, which is {decision}."}
    item = desk.pending.item("r-012.2")
    assert item is not None
    assert item.decision == "approved"


def test_what_waits_keeps_waiting_what_needs_it(desk: Desk) -> None:
    chain = replace(FACT, text="It has a bar", needs=("r-012.2",))
    desk.propose(ENTITY, FACT, chain)
    desk.tick(_1="undecided", _2="approved", _3="approved")
    assert desk.apply().waiting == {
        "r-012.2": "It needs r-012.1, which is undecided.",
        "r-012.3": "It needs r-012.2, which waits itself.",
    }


def test_needs_are_met_wherever_they_stand_in_the_file(desk: Desk) -> None:
    desk.propose(replace(FACT, needs=("r-012.2",)), ENTITY)
    assert desk.approve_all().waiting == {}


def test_items_that_need_each_other_are_applied_together(desk: Desk) -> None:
    desk.propose(
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY, needs=["r-012.2"]),
        items.fact("person--robin", "Robin rows", (BACKUPS,), reason=WHY, needs=["r-012.1"]),
    )
    assert desk.approve_all().waiting == {}


def test_an_item_whose_entity_was_made_by_hand_need_not_wait(desk: Desk) -> None:
    desk.propose(ENTITY, FACT)
    desk.tick(_1="rejected", _2="approved")
    with desk.open() as workspace:
        workspace.remember("It floats", store="semantic", entities=["tool:Ferry"])
    applied = desk.apply()
    assert (applied.applied, applied.rejected, applied.waiting) == (("r-012.2",), ("r-012.1",), {})


def test_a_need_that_is_no_longer_in_the_file_is_met_where_its_entity_is(desk: Desk) -> None:
    desk.propose(ENTITY, FACT, RELATION)
    desk.tick(_1="approved", _2="undecided", _3="undecided")
    desk.apply()
    desk.tick(_2="approved", _3="approved")
    assert desk.apply().applied == ("r-012.2", "r-012.3")


def test_a_need_that_somebody_deleted_is_missed_where_it_matters(desk: Desk) -> None:
    desk.propose(ENTITY, FACT)
    desk.write(layout.PENDING_REFLECTION, desk.pending.remove(["r-012.1"]).render())
    applied = desk.approve_all()
    assert "There is no entity tool--ferry." in applied.waiting["r-012.2"]


def test_a_contradiction_waits_until_somebody_says_which(desk: Desk) -> None:
    desk.propose(contradiction("ask"))
    applied = desk.approve_all()
    assert applied.waiting["r-012.1"].startswith("It asks which of two statements holds")


@pytest.mark.parametrize("answer", ["…", "...", ""])
def test_a_question_waits_for_an_answer(desk: Desk, answer: str) -> None:
    desk.propose(with_field(items.question("When?", (BACKUPS,), reason=WHY), items.ANSWER, answer))
    assert desk.approve_all().waiting == {"r-012.1": "It has no answer yet."}


def long_item(number: int, tokens: int = 400) -> ReviewItem:
    text = f"Thing {number}: " + " ".join(f"word{number}" for _ in range(tokens // 3))
    return items.core_change("core:critical-facts", text, (BACKUPS,), reason=WHY)


def test_core_memory_takes_what_fits_in_the_order_of_the_file_and_says_the_numbers(desk: Desk) -> None:
    cap = count_tokens(desk.text(layout.CORE)) + int(2.5 * count_tokens(long_item(1).text))
    desk.write("workbench.toml", f"[core]\ncap = {cap}\n")
    desk.propose(*(long_item(number) for number in range(1, 6)))
    applied = desk.approve_all()
    assert applied.applied == ("r-012.1", "r-012.2")
    assert list(applied.waiting) == ["r-012.3", "r-012.4", "r-012.5"]
    assert f"more than its cap of {cap:,}." in applied.waiting["r-012.3"]
    assert count_tokens(desk.text(layout.CORE)) <= cap


@pytest.mark.parametrize("first", [True, False])
def test_what_makes_room_in_core_memory_goes_first_wherever_it_stands(desk: Desk, first: bool) -> None:
    cap = count_tokens(desk.text(layout.CORE)) + int(1.5 * count_tokens(long_item(9).text))
    desk.write("workbench.toml", f"[core]\ncap = {cap}\n")
    with desk.open() as workspace:
        workspace.core_add("Critical Facts", long_item(9).text)
    room = items.demotion("core:critical-facts:thing-9", long_item(9).text, (BACKUPS,), reason=WHY)
    fills = long_item(1)
    desk.propose(*((room, fills) if first else (fills, room)))
    assert desk.approve_all().waiting == {}


def test_two_items_that_change_the_same_line_do_not_overwrite_each_other(desk: Desk) -> None:
    changes = [
        items.core_change("core:identity:name", text, (BACKUPS,), reason=WHY, before="Name: Robin")
        for text in ("Name: Robin Ek", "Name: Robin Ask")
    ]
    desk.propose(*changes)
    applied = desk.approve_all()
    assert applied.applied == ("r-012.1",)
    assert "Another item of this reflection changes" in applied.waiting["r-012.2"]
    assert "- Name: Robin Ek\n" in desk.text(layout.CORE)


def test_alike_items_of_core_memory_are_told_apart_though_their_ids_move(desk: Desk) -> None:
    desk.write(layout.CORE, "# M\n\n## Identity\n- Note: one\n- Note: two\n- Note: three\n")
    desk.propose(
        items.core_change("core:identity:note-3", "Note: 3", (BACKUPS,), reason=WHY, before="Note: three"),
        items.demotion("core:identity:note", "Note: one", (BACKUPS,), reason=WHY),
    )
    before = desk.text(layout.CORE)
    desk.tick_all()
    assert desk.apply().waiting == {}
    assert desk.text(layout.CORE) == "# M\n\n## Identity\n- Note: two\n- Note: 3\n"
    desk.revert("r-012.1")
    desk.revert("r-012.2")
    assert desk.text(layout.CORE) == before


def test_an_item_that_fails_leaves_nothing_of_itself_behind(desk: Desk) -> None:
    robin = desk.text(ROBIN)
    desk.propose(
        items.relation("person--robin", "adores", "project--harbour", BOTH, reason=WHY),
        items.fact("person--nobody", "Is not there", (BACKUPS,), reason=WHY),
        items.insight("Insights", "Both.", (BACKUPS,), reason=WHY),
    )
    applied = desk.approve_all()
    assert applied.applied == ("r-012.3",)
    assert "“adores” is not a relation of this workspace" in applied.waiting["r-012.1"]
    assert "There is no entity person--nobody." in applied.waiting["r-012.2"]
    assert desk.text(ROBIN) == robin


def test_waiting_items_are_applied_once_what_kept_them_is_settled(desk: Desk) -> None:
    desk.propose(ENTITY, FACT)
    desk.tick(_1="undecided", _2="approved")
    assert desk.apply().commit is None
    desk.tick(_1="approved")
    assert desk.apply().applied == ("r-012.1", "r-012.2")


def test_the_books_say_what_was_decided_and_in_a_second_go_are_brought_up_to_date(desk: Desk) -> None:
    mark = "0123, 4567 through memory/a.md#L3"
    desk.propose(
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY),
        items.insight("Insights", "Both.", (BACKUPS,), reason=WHY),
        items.insight("Insights", "Neither.", (BACKUPS,), reason=WHY),
        items.insight("Insights", "Later.", (BACKUPS,), reason=WHY),
        meta=[("Reflection #", "12"), ("Read", mark)],
    )
    desk.tick(_1="approved", _3="rejected", _4="deferred")
    applied = desk.apply()
    assert (applied.outcome, applied.deferred, applied.undecided) == ("partial", ("r-012.4",), ("r-012.2",))
    log = desk.text(layout.REFLECTION_LOG)
    assert f"| partial | items:1/4 | read:{mark}\n" in log
    assert log.endswith(
        "- `r-012.1` approved: fact `person--robin` Robin sails\n"
        "- `r-012.3` rejected: insight `evolution:Insights` Neither.\n"
        "- `r-012.4` deferred: insight `evolution:Insights` Later.\n"
    )
    commit = desk.commit_of(applied.commit)
    assert commit.subject == "[EDIT] memory/* — applied 1 item, rejected 1 item, deferred 1 item of r-012"
    assert "Neither." in desk.text(layout.REJECTED)
    assert desk.apply().commit is None

    desk.clock.advance(hours=3)
    desk.tick(_2="approved", _4="approved")
    assert desk.apply().outcome == "partial"
    log = desk.text(layout.REFLECTION_LOG)
    assert log.count("## r-012 ") == 1
    assert f"T16:30:00Z | partial | items:3/4 | read:{mark}\n" in log
    assert "- `r-012.4` approved: " in log
    assert not (desk.root / layout.PENDING_REFLECTION).exists()


@pytest.mark.parametrize(("decision", "outcome"), [("approved", "approved"), ("rejected", "rejected")])
def test_the_outcome_is_that_of_all_items(desk: Desk, decision: Decision, outcome: str) -> None:
    desk.propose(*(items.insight("Insights", text, (BACKUPS,), reason=WHY) for text in ("One", "Two")))
    desk.tick_all(decision)
    assert desk.apply().outcome == outcome
    assert f"| {outcome} | items:" in desk.text(layout.REFLECTION_LOG)


def test_deferred_items_stay_and_headings_that_are_bare_go(desk: Desk) -> None:
    desk.propose(
        items.insight("Insights", "Both.", (BACKUPS,), reason=WHY),
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY),
    )
    desk.tick(_1="approved", _2="deferred")
    desk.apply()
    text = desk.text(layout.PENDING_REFLECTION)
    assert "🌱" not in text
    assert "## 🧠 New knowledge extracted\n- [>] `r-012.2` fact" in text
    assert desk.pending.reflection == "r-012"


def test_without_decisions_nothing_is_written(desk: Desk) -> None:
    desk.propose(ENTITY)
    applied = desk.apply()
    assert (applied.commit, applied.files, applied.undecided) == (None, (), ("r-012.1",))


def test_without_a_proposal_there_is_nothing_to_apply(desk: Desk) -> None:
    with pytest.raises(NotFound, match="No reflection waits"):
        desk.apply()


def test_the_preview_shows_what_applying_writes(desk: Desk) -> None:
    desk.propose(ENTITY, FACT, contradiction("ask"), long_item(1))
    desk.tick(_1="approved", _2="approved", _3="approved", _4="rejected")
    with desk.open() as workspace:
        shown = workspace.review_preview()
        tracked = desk.tracked()
        assert {file.path: file.before for file in shown.files} == {
            file.path: tracked[file.path].decode() if file.path in tracked else None for file in shown.files
        }
        applied = workspace.review_apply()
    assert (shown.applied, shown.rejected, shown.waiting) == (
        applied.applied,
        applied.rejected,
        applied.waiting,
    )
    assert sorted(file.path for file in shown.files) == sorted(applied.files)
    tracked = desk.tracked()
    for file in shown.files:
        assert tracked.get(file.path, b"").decode() == (file.after or "")


def _sailings(count: int, *, chained: bool = False) -> list[ReviewItem]:
    return [
        items.fact(
            "person--robin",
            f"Robin sailed {number} times",
            (BACKUPS,),
            reason=WHY,
            needs=[f"r-012.{number + 1}"] if chained else (),
        )
        for number in range(1, count + 1)
    ]


def test_a_chain_of_needs_may_be_as_long_as_the_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.reflection.review.rehearsal._MOST", 2)
    desk.propose(*_sailings(1_500, chained=True))
    desk.tick_all()
    applied = desk.apply()
    assert applied.applied == ("r-012.1499", "r-012.1500")
    assert len(applied.waiting) == 1_498


def test_what_an_undecided_item_keeps_waiting_goes_all_the_way(desk: Desk) -> None:
    desk.propose(*_sailings(1_500, chained=True))
    desk.tick_all()
    desk.tick(_1500="undecided")
    waiting = desk.apply().waiting
    assert waiting["r-012.1499"] == "It needs r-012.1500, which is undecided."
    assert waiting["r-012.1"] == "It needs r-012.2, which waits itself."
    assert len(waiting) == 1_499


def test_a_great_many_items_are_applied_by_and_by(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.reflection.review.rehearsal._MOST", 3)
    desk.propose(*_sailings(5))
    first = desk.approve_all()
    assert first.applied == ("r-012.1", "r-012.2", "r-012.3")
    assert all("apply the others first" in reason for reason in first.waiting.values())
    assert desk.apply().applied == ("r-012.4", "r-012.5")
