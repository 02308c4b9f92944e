"""A proposal read, decided, edited, previewed and applied through the door."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import a_proposal
from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.markdown.review import PendingReflection

PROPOSAL = """# Reflection Summary — 2026-02-02

<!-- reflection: r-002 | created: 2026-02-01T03:00:00+01:00 -->

## Summary
Two things were learned.

## 🔁 What has changed
Something moved.

- [ ] `r-002.1` supersession for `entity:person--robin#^tea1`: Drinks coffee in the morning
  - was: Drinks tea in the morning
  - because: said so
  - since: 2026-02-01
  - episode:2026-02-01:18:40 says "booked the  ferry"
  - episode:2026-02-01:09:15 says "was never said"
  - episode:1999-01-01:00:00 says "gone"
- [ ] `r-002.2` fact for [[person--robin]]: Sails
  - resembles: r-001.2 on 2026-01-20, rejected: “Sailed”
  - as of: 1234-5678901234
- [ ] `r-002.3` question: Which ferry?
  - answer: …
- [?] `r-002.4` contradiction for [[project--harbour]]: Which language?
  - this: Harbour is written in Rust
  - that: Harbour is written in Go
  - resolve: ask

---

**Reflection #**: 2
**Token budget used**: 5 200 / 8,000
**Dropped**: 3
**Held back**: 2
**Left for the next**: 12
"""


STILL_SO = (
    "# Reflection Summary — 2026-02-02\n\n"
    "<!-- reflection: r-003 | created: 2026-02-02T03:00:00+00:00 -->\n\n## Questions\n"
    "- [ ] `r-003.1` question for `core:identity:lives-in-uppsala`: “Lives in Uppsala” — is this still so?\n"
    "  - answer: …\n"
)


@pytest.fixture
def proposed(settled: AgentHome) -> AgentHome:
    settled.write(layout.PENDING_REFLECTION, PROPOSAL)
    return settled


def test_everything_a_person_needs_is_in_the_review(proposed: AgentHome) -> None:
    with proposed.open("reader") as workspace:
        review = workspace.review()
        core = workspace.core()
        assert workspace.review_waiting() == 4
    assert (review.id, review.opening, review.prose) == (
        "r-002",
        "Two things were learned.",
        {"🔁 What has changed": "Something moved."},
    )
    assert review.age_hours == 36.5 - 1
    assert review.ageing
    assert (review.tokens.used, review.tokens.cap) == (5200, 8000)
    assert (review.dropped, review.held_back, review.left) == (3, 2, 12)
    first, second, question, contradiction = review.items
    assert [quoted.found for quoted in first.evidence] == [True, False, False]
    assert (first.before, first.after) == ("Drinks tea in the morning", "Drinks coffee in the morning")
    assert (first.title, first.risk, first.stale, first.section) == (
        "Robin",
        "medium",
        False,
        "🔁 What has changed",
    )
    assert first.fields == {"since": "2026-02-01"}
    assert second.resembles.startswith("r-001.2 on 2026-01-20")
    assert second.fields == {}
    assert second.title == "Robin"
    assert question.target == question.title == ""
    assert contradiction.decision == "undecided"
    assert [problem.partition(":")[0] for problem in review.problems] == [str(contradiction.line)]
    assert review.core_tokens.before == review.core_tokens.after == core.tokens


def test_what_moved_on_is_stale_with_what_stands_there_now(proposed: AgentHome) -> None:
    with proposed.open() as workspace:
        workspace.edit("entity:person--robin#^tea1", "Drinks water in the morning")
        item = workspace.review().items[0]
        assert (item.stale, item.now) == (True, "Drinks water in the morning")
        assert item.why_stale
        workspace.review_decide({"r-002.1": "approved"})
        assert workspace.review().items[0].waits


def test_each_batch_of_decisions_is_one_commit_of_one_file_that_undo_takes_back(proposed: AgentHome) -> None:
    with proposed.open(actor="skill:x") as workspace:
        workspace.adopt()
        commits = proposed.commits()
        changed = workspace.review_decide(
            {"r-002.1": "approved", "r-002.2": "rejected", "r-002.3": "deferred"}
        )
        assert changed.files == (layout.PENDING_REFLECTION,)
        assert changed.ids == ("r-002.1", "r-002.2", "r-002.3")
        assert proposed.commits()[1:] == commits
        seen = proposed.commit_of(changed.commit)
        assert (seen.actor, seen.approval) == ("manual", "—")
        assert "approved r-002.1; rejected r-002.2; deferred r-002.3" in seen.subject
        expected = PROPOSAL
        for number, box in ((1, "x"), (2, "-"), (3, ">")):
            expected = expected.replace(f"[ ] `r-002.{number}`", f"[{box}] `r-002.{number}`")
        assert proposed.text(layout.PENDING_REFLECTION) == expected
        assert workspace.review_decide({"r-002.1": "approved"}).commit is None
        workspace.undo()
        assert proposed.text(layout.PENDING_REFLECTION) == PROPOSAL
        workspace.redo()
        assert proposed.text(layout.PENDING_REFLECTION) == expected


NEEDING = """# Reflection Summary

<!-- reflection: r-003 | created: 2026-02-01T03:00:00+01:00 -->

## 🧠 New knowledge extracted
- [ ] `r-003.1` entity for [[person--mia]]: Mia
- [ ] `r-003.2` entity for [[tool--lathe]]: Lathe
  - needs: r-003.1
- [ ] `r-003.3` fact for [[tool--lathe]]: Mia’s lathe turns oak
  - needs: r-003.2
"""


def test_what_an_approved_item_needs_is_approved_with_it(settled: AgentHome) -> None:
    settled.write(layout.PENDING_REFLECTION, NEEDING)
    with settled.open() as workspace:
        changed = workspace.review_decide({"r-003.3": "approved"})
        assert changed.ids == ("r-003.3", "r-003.1", "r-003.2")
        assert changed.warnings == ("With it goes what it needs: “Mia”, “Lathe”.",)
        assert {item.decision for item in workspace.review().items} == {"approved"}
        assert workspace.review_preview().applied == ("r-003.1", "r-003.2", "r-003.3")
        assert workspace.review_decide({"r-003.3": "undecided"}).warnings == ("“Lathe” stays accepted.",)


def test_what_needs_a_declined_entity_waits_and_brings_it_back_once_it_is_accepted(
    settled: AgentHome,
) -> None:
    settled.write(layout.PENDING_REFLECTION, NEEDING)
    waits = "1 change that needs it still waits; accepting it accepts “Lathe” after all."
    brings = ("With it goes what it needs: “Mia”, “Lathe” (declined before).",)
    with settled.open() as workspace:
        assert workspace.review_decide({"r-003.2": "rejected"}).warnings == (waits,)
        assert workspace.review_decide({"r-003.3": "approved"}).warnings == brings
        workspace.review_decide({"r-003.1": "undecided", "r-003.2": "rejected", "r-003.3": "undecided"})
        assert workspace.inbox_preview().notes == (waits,)
        workspace.review_apply()
        # Its decline is written by now, and the file has it no longer.
        assert [item.id for item in workspace.review().items] == ["r-003.1", "r-003.3"]
        warned = workspace.review_decide({"r-003.3": "approved"}).warnings
        assert warned == ("With it goes what it needs: “Lathe” (declined before).",)
        assert set(workspace.review_apply().applied) == {"r-003.2", "r-003.3"}
        assert "turns oak" in workspace.show("entity:tool--lathe").text
        assert not workspace.review_rejected().rejections


def test_what_was_accepted_while_its_entity_was_declined_says_how_both_are_accepted(
    settled: AgentHome,
) -> None:
    settled.write(layout.PENDING_REFLECTION, NEEDING.replace("[ ] `r-003.3`", "[x] `r-003.3`"))
    with settled.open() as workspace:
        workspace.review_decide({"r-003.1": "approved", "r-003.2": "rejected"})
        workspace.review_apply()
        reason = workspace.review_preview().waiting["r-003.3"]
        assert reason == "It needs “Lathe”, which was declined; accept it once more to accept both."
        workspace.review_decide({"r-003.3": "approved"})
        assert workspace.review_preview().waiting == {}


def test_what_was_decided_on_is_not_approved_for_what_needs_it(settled: AgentHome) -> None:
    settled.write(layout.PENDING_REFLECTION, NEEDING)
    with settled.open() as workspace:
        changed = workspace.review_decide({"r-003.3": "approved", "r-003.2": "rejected"})
        assert (changed.warnings, workspace.review().items[0].decision) == ((), "undecided")
        assert "r-003.2, which is rejected" in workspace.review().items[2].waits


def test_an_answer_and_its_approval_are_one_commit(proposed: AgentHome) -> None:
    with proposed.open() as workspace:
        workspace.adopt()
        commits = proposed.commits()
        workspace.review_edit(
            "r-002.3", fields={"answer": "The night ferry.\nIt has a sauna."}, decision="approved"
        )
        assert proposed.commits()[1:] == commits
        item = workspace.review().items[2]
        assert (item.decision, item.fields) == ("approved", {"answer": "The night ferry.\nIt has a sauna."})
        workspace.review_edit("r-002.1", "Drinks cocoa in the morning", {"since": "", "until": "2026-01"})
        item = workspace.review().items[0]
        assert (item.after, item.fields) == ("Drinks cocoa in the morning", {"until": "2026-01"})
        assert len(item.evidence) == 3
        workspace.review_edit("r-002.4", fields={"resolve": "Both", "that": "Harbour’s tools are in Go"})
        assert workspace.review().items[3].fields == {
            "this": "Harbour is written in Rust",
            "that": "Harbour’s tools are in Go",
            "resolve": "both",
        }
        assert workspace.review_edit("r-002.2", "Sails").commit is None


def test_who_answers_is_the_person_whose_memory_it_is(proposed: AgentHome) -> None:
    with proposed.open() as workspace:
        workspace.remember("Neovim is an editor", entities=["tool:Neovim"])
        workspace.review_edit("r-002.3", fields={"answer": "I use Neovim, on any ferry"}, decision="approved")
        workspace.review_apply()

        (edge,) = workspace.graph("tool--neovim", depth=1).edges
        assert (edge.from_, edge.relation) == ("entity:person--robin", "uses")


@pytest.mark.parametrize("answer", ["Ines", "I’m Ines.", "my name is Ines"])
@pytest.mark.parametrize("named", [False, True])
def test_the_answer_to_whose_memory_it_is_stands_in_identity(
    settled: AgentHome, answer: str, named: bool
) -> None:
    with settled.open() as workspace:
        target = "core:identity:name" if named else "core:identity"
        settled.write(
            layout.PENDING_REFLECTION,
            "# Reflection Summary — 2026-02-02\n\n"
            "<!-- reflection: r-003 | created: 2026-02-02T03:00:00+00:00 -->\n\n## Questions\n"
            f"- [ ] `r-003.1` question for `{target}`: Whose memory is this: are you Ines or Tom?\n"
            "  - writes: Name: …\n  - answer: …\n",
        )
        before = {each.name for each in (settled.root / "memory/episodes").iterdir()}
        workspace.review_edit("r-003.1", fields={"answer": answer}, decision="approved")
        assert workspace.review_apply().applied == ("r-003.1",)
        identity = next(block for block in workspace.core().blocks if block.name == "Identity")
        others = ["Lives in Uppsala"] if named else ["Name: Robin", "Lives in Uppsala"]
        assert sorted(item.text for item in identity.items) == sorted(["Name: Ines", *others])
        assert {each.name for each in (settled.root / "memory/episodes").iterdir()} == before


LINE = "core:identity:lives-in-uppsala"


@pytest.mark.parametrize(
    ("answer", "stands"),
    [
        ("no", None),
        ("No longer.", None),
        ("不是了", None),
        ("No, she moved to Malmö", "she moved to Malmö"),
        ("Lives in Malmö", "Lives in Malmö"),
        ("Yes", "Lives in Uppsala"),
        ("still so", "Lives in Uppsala"),
        ("Yes it is.", "Lives in Uppsala"),
        ("没变", "Lives in Uppsala"),
        ("no longer true", None),
        ("No it isn't", None),
        ("是的，还住着", "Lives in Uppsala"),
        ("Yes, she does", "Lives in Uppsala"),
        ("Yes, Uppsala.", "Lives in Uppsala"),
        *(
            (answer, "Lives in Uppsala")
            for answer in (
                "Yes, it is still relevant",
                "Yes, absolutely",
                "Yes, sure",
                "yes, thank you",
                "Yes. No change.",
                "yes, as before",
                "对，还是一样",
                "是的，沒錯，謝謝",
            )
        ),
        ("Still in Uppsala", "Still in Uppsala"),
        ("Nothing but Malmö", "Nothing but Malmö"),
    ],
)
def test_an_answer_to_whether_core_memory_still_holds_decides_on_it(
    settled: AgentHome, answer: str, stands: str | None
) -> None:
    settled.write(layout.PENDING_REFLECTION, STILL_SO)
    before = {each.name for each in (settled.root / "memory/episodes").iterdir()}
    with settled.open() as workspace:
        workspace.review_edit("r-003.1", fields={"answer": answer}, decision="approved")
        assert workspace.review_apply().applied == ("r-003.1",)
        identity = next(block for block in workspace.core().blocks if block.name == "Identity")
        assert [item.text for item in identity.items] == ["Name: Robin", *([stands] if stands else [])]
        # Nothing is noted of a yes but that the line was used.
        assert {each.name for each in (settled.root / "memory/episodes").iterdir()} == before
        used = {each.id: each.access_count for each in workspace.decay().entries}
        assert used.get(LINE, 1) == (2 if stands == "Lives in Uppsala" else 1)
        workspace.undo(confirmed=True)
        assert {each.id: each.access_count for each in workspace.decay().entries}[LINE] == 1
        identity = next(block for block in workspace.core().blocks if block.name == "Identity")
        assert [item.text for item in identity.items] == ["Name: Robin", "Lives in Uppsala"]


@pytest.mark.parametrize("answer", ["not sure", "I don't know", "Malmö", "不知道"])
def test_what_cannot_stand_in_core_memory_is_no_answer(settled: AgentHome, answer: str) -> None:
    settled.write(layout.PENDING_REFLECTION, STILL_SO)
    with settled.open() as workspace:
        with pytest.raises(InvalidInput, match="cannot stand alone") as caught:
            workspace.review_edit("r-003.1", fields={"answer": answer}, decision="approved")
        assert caught.value.remedy == "Answer yes, no, or with the whole line that holds now."
        assert workspace.review().items[0].decision == "undecided"


@pytest.mark.parametrize(
    "answer",
    [
        "Yes, but now Thursdays",
        "yes, only in winter",
        "Yes, Malmö",
        "Yes, it was.",
        "Yes, not any more",
        "Yes, as before the move",
        "是的，但在马尔默",
        "对，现在改成每周二开会",
        "是的，地址换成上海了",
        "对，不一样了",
        "Yes, 서울",
    ],
)
def test_a_yes_that_says_more_is_no_answer(settled: AgentHome, answer: str) -> None:
    settled.write(layout.PENDING_REFLECTION, STILL_SO)
    with settled.open() as workspace:
        with pytest.raises(InvalidInput, match="says yes and something else") as caught:
            workspace.review_edit("r-003.1", fields={"answer": answer}, decision="approved")
        assert caught.value.remedy == "Answer yes alone, or with the whole line that holds now."


@pytest.mark.parametrize(
    ("answer", "says_more"),
    [
        ("对，还是每周一开会", False),
        ("对，每周一", False),
        ("对，现在改成每周二开会", True),
        ("对，不开会了", True),
    ],
)
def test_a_yes_in_chinese_may_say_the_line_again_and_no_other(
    settled: AgentHome, answer: str, says_more: bool
) -> None:
    settled.write(
        layout.PENDING_REFLECTION,
        "# Reflection Summary — 2026-02-02\n\n"
        "<!-- reflection: r-003 | created: 2026-02-02T03:00:00+00:00 -->\n\n## Questions\n"
        "- [ ] `r-003.1` question for `core:identity:lives-in-uppsala`: “每周一开会” — is this still so?\n"
        "  - answer: …\n",
    )
    with settled.open() as workspace:
        if says_more:
            with pytest.raises(InvalidInput, match="says yes and something else"):
                workspace.review_edit("r-003.1", fields={"answer": answer}, decision="approved")
        else:
            workspace.review_edit("r-003.1", fields={"answer": answer}, decision="approved")
            assert workspace.review().items[0].decision == "approved"


def test_what_makes_no_sense_is_refused_with_a_remedy(proposed: AgentHome) -> None:
    with proposed.open() as workspace:
        workspace.adopt()
        before = proposed.commits()
        with pytest.raises(NotFound) as caught:
            workspace.review_decide({"r-002.33": "approved"})
        assert "r-002.3" in str(caught.value.remedy)
        wrongs: tuple[Callable[[], object], ...] = (
            lambda: workspace.review_decide({"r-002.1": "yes"}),
            lambda: workspace.review_decide({"r-002.1": "approved", "r-002.2": "maybe"}),
            lambda: workspace.review_edit("r-002.1", "  "),
            lambda: workspace.review_edit("r-002.1", "a\0b"),
            lambda: workspace.review_edit("r-002.2", fields={"answer": "x"}),
            lambda: workspace.review_edit("r-002.2", fields={"as of": ""}),
            lambda: workspace.review_edit("r-002.2", fields={"needs": "r-002.1"}),
            lambda: workspace.review_edit("r-002.1", fields={"since": "yesterday"}),
            lambda: workspace.review_edit("r-002.1", fields={"since": "2026-02-31"}),
            lambda: workspace.review_edit("r-002.1", fields={"since": "20260203"}),
            lambda: workspace.review_edit("r-002.4", fields={"resolve": "neither"}),
        )
        for wrong in wrongs:
            with pytest.raises(InvalidInput) as refused:
                wrong()
            assert refused.value.remedy
        assert proposed.commits() == before


def test_nothing_waits_where_there_is_no_proposal(settled: AgentHome) -> None:
    with settled.open() as workspace:
        for content in (None, "", "# Reflection Summary\n\n## Summary\nNothing new.\n"):
            if content is not None:
                settled.write(layout.PENDING_REFLECTION, content)
            review = workspace.review()
            assert (review.id, review.items, review.created, review.ageing) == ("", (), None, False)
            assert workspace.review_preview().files == ()
            calls: tuple[Callable[[], object], ...] = (
                workspace.review_apply,
                partial(workspace.review_decide, {"r-001.1": "approved"}),
                partial(workspace.review_edit, "r-001.1", "x"),
            )
            for call in calls:
                with pytest.raises(NotFound, match="No reflection waits"):
                    call()


def test_what_is_previewed_is_what_is_applied_and_rejections_are_kept_and_withdrawn(
    proposed: AgentHome,
) -> None:
    with proposed.open() as workspace:
        workspace.adopt()
        workspace.review_decide({"r-002.1": "approved", "r-002.2": "rejected"})
        preview = workspace.review_preview()
        assert (preview.applied, preview.rejected) == (("r-002.1",), ("r-002.2",))
        applied = workspace.review_apply()
        assert (applied.applied, applied.rejected, applied.reflection) == (
            ("r-002.1",),
            ("r-002.2",),
            "r-002",
        )
        assert {file.path: file.after for file in preview.files} == {
            path: proposed.text(path) for path in applied.files
        }
        assert proposed.commit_of(applied.commit).actor == "reflection:r-002"
        (rejection,) = workspace.review_rejected().rejections
        assert (rejection.id, rejection.kind, rejection.target, rejection.text) == (
            "r-002.2",
            "fact",
            "person--robin",
            "Sails",
        )
        with pytest.raises(NotFound, match=r"r-002\.9"):
            workspace.review_allow("r-002.9")
        assert workspace.review_allow("r-002.2").commit
        assert workspace.review_rejected().rejections == ()


def test_what_is_approved_later_is_rejected_no_more_unless_in_the_same_batch(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        settled.write(
            layout.PENDING_REFLECTION,
            "<!-- reflection: r-003 | created: 2026-02-02 -->\n## A\n"
            "- [x] `r-003.1` core change for `core:identity`: Robin prefers coffee\n"
            "- [-] `r-003.2` fact for [[person--robin]]: Prefers coffee\n",
        )
        applied = workspace.review_apply()
        assert (applied.applied, applied.rejected) == (("r-003.1",), ("r-003.2",))
        assert [each.id for each in workspace.review_rejected().rejections] == ["r-003.2"]


def test_an_agent_is_told_that_what_it_noticed_was_rejected(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
    with settled.open("main") as workspace:
        told = ("This was rejected by the person as r-001.2 on 2026-01-20: “Prefers coffee”.",)
        noticed = "It was late. Robin prefers coffee."
        assert workspace.remember(noticed, source="conversation", dry_run=True).warnings == told
        before = settled.tracked()
        # Wherever it was to go, that it was said is noted, and nothing else believes it.
        for store in ("core", "semantic", "vault", None):
            kept = workspace.remember(
                noticed, source="conversation", store=store, entities=["person:Robin"], block="Identity"
            )
            assert kept.warnings[-1:] == told
            assert (kept.store, kept.core_update) == ("episodic", None)
        after = settled.tracked()
        changed = {path for path in after if after[path] != before.get(path)}
        assert changed <= {"memory/episodes/2026-02-02.md", "memory/meta/decay-scores.json"}
        assert workspace.remember("Robin likes trains", source="conversation").warnings == ()
        assert workspace.remember("Robin really prefers coffee").warnings == ()


def test_a_proposal_edited_in_any_editor_is_what_is_decided(proposed: AgentHome) -> None:
    content = proposed.text(layout.PENDING_REFLECTION).replace("[ ] `r-002.2`", "[x] `r-002.2`")
    proposed.write(layout.PENDING_REFLECTION, content.replace("Sails", "Rows").replace("\n", "\r\n"))
    with proposed.open() as workspace:
        assert workspace.review().items[1].decision == "approved"
        workspace.review_decide({"r-002.1": "rejected"})
        raw = (proposed.root / layout.PENDING_REFLECTION).read_bytes()
        assert raw.count(b"\n") == raw.count(b"\r\n")
        assert workspace.review_apply().applied == ("r-002.2",)
        assert "Rows" in proposed.text("memory/graph/entities/person--robin.md")
    left = PendingReflection.parse((proposed.root / layout.PENDING_REFLECTION).read_bytes())
    assert [item.id for item in left.items] == ["r-002.3", "r-002.4"]


def test_what_is_purged_is_gone_from_proposals_rejections_and_their_record_too(settled: AgentHome) -> None:
    told = "I secretly hate the zebrafish aquarium"
    with settled.open() as workspace:
        memory = workspace.remember(told, store="episodic").id
        other = workspace.remember("The weather was fine", store="episodic").id
        settled.write(
            layout.PENDING_REFLECTION,
            "<!-- reflection: r-002 | created: 2026-02-02 -->\n## A\n"
            f'- [-] `r-002.1` fact for [[person--robin]]: Cannot stand zebrafish\n  - {memory} says "hate the"\n'
            f'- [ ] `r-002.2` fact for [[person--robin]]: Abhors zebrafish\n  - {memory} says "secretly"\n'
            f"- [ ] `r-002.3` fact for [[person--robin]]: Two say it\n  - {memory}\n  - {other}\n"
            f"- [ ] `r-002.4` fact for [[person--robin]]: Likes fine weather\n  - {other}\n",
        )
        workspace.review_apply()
        assert workspace.review_rejected().rejections
        assert "zebrafish" in settled.text(layout.REFLECTION_LOG)
        assert workspace.forget(ids=[memory], apply=True, purge_history=True).applied
        assert [item.id for item in workspace.review().items] == ["r-002.3", "r-002.4"]
        assert workspace.review_rejected().rejections == ()
    for commit in settled.commits():
        for path in settled.git("ls-tree", "-r", "--name-only", commit).split():
            content = settled.git("show", f"{commit}:{path}")
            assert "zebrafish" not in content, (commit, path)
            assert "secretly" not in content
    assert not any(b"zebrafish" in content for content in settled.tracked().values())
    assert "Likes fine weather" in settled.text(layout.PENDING_REFLECTION)


def test_a_cycle_that_reads_the_same_again_proposes_nothing_that_was_rejected(settled: AgentHome) -> None:
    with settled.open() as workspace:
        proposed = [item.id for item in workspace.reflect().review.items]
        assert proposed
        workspace.review_decide(dict.fromkeys(proposed, "rejected"))
        settled.clock.advance(hours=1)
        workspace.review_apply()
        # Without the mark of what was read, all of it is read again.
        log = settled.text(layout.REFLECTION_LOG)
        settled.write(layout.REFLECTION_LOG, re.sub(r" \| read:[^|\n]*", "", log))
        again = workspace.reflect(renew=True)
        assert again.review.items == ()
        assert again.review.held_back >= len(proposed)
        for rejection in workspace.review_rejected().rejections:
            workspace.review_allow(rejection.id)
        settled.write(layout.REFLECTION_LOG, re.sub(r" \| read:[^|\n]*", "", log))
        (settled.root / layout.PENDING_REFLECTION).unlink()
        assert len(workspace.reflect(renew=True).review.items) == len(proposed)


def test_a_proposal_is_applied_after_something_was_purged(proposed: AgentHome) -> None:
    with proposed.open() as workspace:
        memory = workspace.remember("The spare key lies under the third pot", store="episodic").id
        assert workspace.forget(ids=[memory], apply=True, purge_history=True).applied
        workspace.review_decide({"r-002.1": "approved"})
        assert workspace.review_apply().applied == ("r-002.1",)


def test_a_reflection_is_listed_once_something_of_it_is_written(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        assert workspace.reflections().reflections == ()
        workspace.inbox_write()
        (past,) = workspace.reflections().reflections
        assert past.id == "r-002"
        assert (past.applied, past.declined) == (1, 1)
        assert [item.decision for item in past.items] == ["approved", "rejected", "deferred"]
        assert past.items[0].text == "Prefers the night train"
        assert past.written == settled.clock.now()
        assert past.taken_back is None
        assert len(past.commits) == 1


def test_one_taken_back_says_when_and_by_whom_until_it_stands_again(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        workspace.inbox_write()
        settled.clock.moment += timedelta(days=1)
        workspace.rollback(reflection="r-002")
        (past,) = workspace.reflections().reflections
        assert past.taken_back == settled.clock.now()
        assert past.taken_back_by == "the person"
        assert past.applied == 1
        workspace.undo()
        (past,) = workspace.reflections().reflections
        assert past.taken_back is None


def test_one_whose_items_wait_again_after_undo_says_so(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        workspace.inbox_write()
        workspace.undo(confirmed=True)
        (past,) = workspace.reflections().reflections
        assert past.taken_back is not None
        assert past.waits
        workspace.redo(confirmed=True)
        (past,) = workspace.reflections().reflections
        assert not past.waits


def test_the_newest_comes_first_and_one_without_history_has_no_commits(settled: AgentHome) -> None:
    old = "## r-001 | 2026-01-20T09:00:00Z | approved | items:1/1\n- `r-001.1` approved: fact `person--robin` Sails\n"
    settled.write(layout.REFLECTION_LOG, f"# Reflection log\n\n{old}")
    with settled.open() as workspace:
        a_proposal(workspace)
        workspace.inbox_write()
        newest, oldest = workspace.reflections().reflections
        assert (newest.id, oldest.id) == ("r-002", "r-001")
        assert oldest.commits == ()
        assert oldest.items[0].text == "Sails"


def test_what_was_decided_is_known_without_its_record(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        workspace.inbox_write()
        workspace.edit_file(layout.REFLECTION_LOG, "# Reflection log\n")
        (past,) = workspace.reflections().reflections
        assert [item.decision for item in past.items] == ["approved", "rejected", "deferred"]


def test_a_record_in_prose_counts_as_its_heading_says(settled: AgentHome) -> None:
    record = "## r-001 | 2026-01-20T09:00:00Z | partial | items:4/5\nA summary for Harbour, two threads.\n"
    settled.write(layout.REFLECTION_LOG, f"# Reflection log\n\n{record}")
    with settled.open() as workspace:
        (past,) = workspace.reflections().reflections
        assert (past.applied, past.declined, past.items) == (4, 1, ())
        assert past.summary == "A summary for Harbour, two threads."


def test_ticks_are_undone_one_by_one_and_say_what_was_ticked(proposed: AgentHome) -> None:
    with proposed.open() as workspace:
        workspace.adopt()
        before = workspace.action_count()
        workspace.review_decide({"r-002.2": "approved"}, ticking=True)
        workspace.review_edit("r-002.4", fields={"resolve": "this"}, decision="approved", ticking=True)
        workspace.review_edit(
            "r-002.3", fields={"answer": "The night one"}, decision="approved", ticking=True
        )
        # One row of History, and three steps of undo.
        assert workspace.action_count() == before + 1
        told = []
        for _ in range(3):
            step = workspace.next_steps().undo
            assert step is not None
            told.append(step.summary)
            workspace.undo(expected=step.commit)
        assert told == [
            "answered r-002.3 “Which ferry?”: The night one, approved",
            "let this hold of r-002.4 “Harbour is written in Rust”, approved",
            "approved r-002.2 “Sails”",
        ]
        assert {item.decision for item in workspace.review().items[1:]} == {"undecided"}
        workspace.redo()
        workspace.review_decide({"r-002.3": "rejected"}, ticking=True)
        step = workspace.next_steps().undo
        assert step is not None
        assert step.summary == "rejected r-002.3 “Which ferry?”"


def test_contradictions_are_decided_with_other_items_in_one_step(proposed: AgentHome) -> None:
    with proposed.open() as workspace:
        workspace.adopt()
        workspace.review_decide(
            {"r-002.2": "approved", "r-002.4": "approved"}, {"r-002.4": "that"}, ticking=True
        )
        items = {item.id: item for item in workspace.review().items}
        assert (items["r-002.4"].fields or {})["resolve"] == "that"
        assert items["r-002.2"].decision == items["r-002.4"].decision == "approved"
        step = workspace.next_steps().undo
        assert step is not None
        assert step.summary == "approved r-002.2, r-002.4"
        workspace.undo(expected=step.commit)
        items = {item.id: item for item in workspace.review().items}
        assert (items["r-002.4"].fields or {})["resolve"] == "ask"
        assert items["r-002.2"].decision == items["r-002.4"].decision == "undecided"
        with pytest.raises(InvalidInput, match="resolves nothing"):
            workspace.review_decide({"r-002.4": "approved"}, {"r-002.4": "neither"})
        with pytest.raises(InvalidInput, match="has no field"):
            workspace.review_decide({"r-002.2": "approved"}, {"r-002.2": "this"})
