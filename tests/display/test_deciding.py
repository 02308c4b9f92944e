"""What waits for a person, drawn: questions made of statements, outcomes in words, previews of what is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from workbench.display.card import card_lines
from workbench.display.contradiction import Side, clash_title, differing, outcomes
from workbench.display.deciding import (
    Cited,
    held_title,
    item_card,
    item_title,
    past_card,
    past_words,
    proposal_card,
    source_words,
    waiting_lines,
    waiting_row,
)
from workbench.display.ink import line_width, plain_text
from workbench.display.words import quoted
from workbench.display.writing import answer_words, preview_card, receipt_card, written_words
from workbench.engine import layout
from workbench.engine.results.audit import MemoryChange
from workbench.engine.results.inbox import InboxPreview, PastReflection, Written
from workbench.engine.results.memories import CoreBlock, CoreView, HeldMemory, Why
from workbench.engine.results.memories import Written as WrittenDown
from workbench.engine.results.reviews import FilePreview, Proposal, Quoted, ReviewItem
from workbench.tui.places.ticks import CLASHES, Waiting

NOW = datetime(2026, 11, 23, 9, 5, tzinfo=UTC)
WIDTHS = (24, 36, 55, 80, 88, 140)
HOSTILE = "[red]stop[/nothing] \x1b[31m 我们决定先做宁波 " * 8


def key(command: str) -> str:
    return {"older": "<", "newer": ">", "both": "="}.get(command, command[0])


def item(kind: str = "fact", after: str = "Wants British spelling", **fields: object) -> ReviewItem:
    said = {
        "target": "person--nora",
        "before": "",
        "confidence": "high",
        "reason": "",
        "evidence": (),
    } | fields
    return ReviewItem("r-004.1", kind, after=after, decision="undecided", title="Nora Lind", **said)  # type: ignore[arg-type]


def core(tokens: int) -> CoreView:
    return CoreView((CoreBlock("Active Context", tokens, 900, ()),), tokens, 3000)


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            ["Nordlicht pays within 30 days"],
            "Nordlicht pays within 45 days",
            "Nordlicht pays within 30 or 45 days?",
        ),
        (["It pays in 30 days", "It pays in 45 days"], "It pays in 60 days", "It pays in 30, 45 or 60 days?"),
        (
            ["Nordlicht pays within 30 days."],
            "Nordlicht does not pay within 30 days.",
            "Nordlicht pays within 30 days, or not?",
        ),
        (["Mei eats meat"], "Mei never eats meat", "Mei (never) eats meat?"),
        (
            ["Mei lives in Malmö"],
            "She moved to Lund in May",
            "“Mei lives in Malmö” or “She moved to Lund in May”",
        ),
    ],
)
def test_statements_make_one_question(older: list[str], newer: str, question: str) -> None:
    assert clash_title(older, newer) == question


def test_an_outcome_names_what_differs_where_that_is_one_thing() -> None:
    said = outcomes("It pays in 30 days", "It pays in 45 days", "kept as what held until 21 Nov", key)
    assert [words for _, words in said] == [
        "keep 30: the newer is declined and not proposed again",
        "take 45: the older is kept as what held until 21 Nov",
        "keep both, marked as contradicting",
    ]
    assert differing("It was tried on a phone, on the ferry", "It was never tried on a phone") == ("", "")


@pytest.mark.parametrize(
    ("kind", "fields", "title"),
    [
        ("fact", {}, "Nora Lind: Wants British spelling"),
        ("core change", {"target": "core:active-context"}, "Core, Active context: Wants British spelling"),
        ("demotion", {"before": "Prefers tea"}, "Out of core memory: “Prefers tea”"),
        ("merge", {"after": "[[person--jonas]]"}, "Merge “Jonas” and “Nora Lind”"),
        ("archive", {}, "Archive “Wants British spelling”"),
        (
            "contradiction",
            {"after": "Which holds?", "fields": {"this": "It pays in 30 days", "that": "It pays in 45 days"}},
            "It pays in 30 or 45 days?",
        ),
    ],
)
def test_a_row_says_what_is_proposed(kind: str, fields: dict[str, object], title: str) -> None:
    assert item_title(item(kind, **fields)) == title  # type: ignore[arg-type]


def test_a_list_shows_each_change_whole_with_what_is_decided_on_it() -> None:
    changed = item("supersession", before="It pays in 30 days", after="It pays in 45 days")
    shown = [plain_text(line).rstrip() for line in waiting_lines(replace(changed, decision="approved"), 60)]
    assert shown == [
        "[✓] r-004.1  Nora Lind: It pays in 45 days",
        "             − It pays in 30 days",
        "             + It pays in 45 days",
    ]
    clash = item("contradiction", fields={"this": "It pays in 30 days", "that": "It pays in 45 days"})
    assert [plain_text(line).rstrip() for line in waiting_lines(replace(clash, waits="say which"), 60)] == [
        "[ ] r-004.1  It pays in 30 or 45 days?",
        "             this: It pays in 30 days",
        "             that: It pays in 45 days",
        "             ! It waits: say which",
    ]


@pytest.mark.parametrize(
    "kind", ["fact", "supersession", "contradiction", "demotion", "procedure", "question"]
)
@pytest.mark.parametrize("width", WIDTHS[1:])
def test_an_item_of_any_text_keeps_to_the_width_of_the_list(kind: str, width: int) -> None:
    hostile = item(kind, HOSTILE, before=HOSTILE, fields={"this": HOSTILE, "that": HOSTILE, "steps": HOSTILE})
    lines = waiting_lines(replace(hostile, why_stale=HOSTILE, stale=True, now=HOSTILE), width)
    assert max(map(line_width, lines)) <= width


def test_a_statement_worded_otherwise_since_is_not_ascribed_to_who_reworded_it() -> None:
    fact = "entity:concept--brewery#^f0b2"
    now = "It pays in 40 days"
    why = Why(
        fact,
        now,
        "commit",
        (),
        ("user-explicit",),
        (),
        0,
        WrittenDown("c0ffee", NOW, "manual", "—", ""),
        (),
        "active",
        (),
    )
    clash = item("contradiction", fields={"this": "It pays in 30 days", "that": "It pays in 45 days"})
    cited = [
        Cited(Quoted("episode:2026-10-20:16:15", "paid after 28 days")),
        Cited(Quoted(fact, "It pays in 45 days"), why),
    ]
    shown = "\n".join(map(plain_text, card_lines(item_card(clash, cited, None, NOW, key), 50)))
    assert f"reads now “{now}” · you said so" in " ".join(shown.split())
    assert "take 45" in shown
    # Nothing offers words that do not hold any more.
    stale = replace(clash, stale=True, now=now, why_stale="One of the two reads otherwise by now.")
    shown = "\n".join(map(plain_text, card_lines(item_card(stale, cited, None, NOW, key), 50)))
    assert "take 45" not in shown
    assert "One of the two reads otherwise by now." in shown


@pytest.mark.parametrize(
    ("memory", "read"),
    [
        ("core:active-context:printing-the-timetable", "core memory, Active context"),
        ("procedure:send-the-invoice", "Send the invoice"),
        ("entity:project--audio-guide#^a1b2", "Audio guide"),
        ("file:USER.md#L3-L4", "USER.md, lines 3–4"),
    ],
)
def test_where_something_stands_is_read_as_words(memory: str, read: str) -> None:
    assert source_words(memory, NOW) == read


def test_a_question_after_core_memory_says_what_its_answers_do() -> None:
    asked = item(
        "question", "“Bikes” — is this still so?", target="core:persona:bikes", fields={"answer": "…"}
    )
    shown = " ".join(map(plain_text, card_lines(item_card(asked, [], None, NOW, key), 70)))
    assert "“No” takes it out of Persona, “yes” keeps it, another line replaces all of it." in " ".join(
        shown.split()
    )


def test_the_days_of_a_question_are_told_as_people_write_them() -> None:
    asked = item("question", "“Starts next month” was said on 2026-01-12. What holds now?")
    assert item_title(asked) == "“Starts next month” was said on 12 Jan 2026. What holds now?"
    shown = " ".join(map(plain_text, card_lines(item_card(asked, [], None, NOW, key), 90)))
    assert item_title(asked) in shown


def test_quotes_within_a_quote_become_single_ones() -> None:
    assert quoted("“Evening work is for reading”  was said") == "“‘Evening work is for reading’ was said”"
    assert quoted("a" * 99, 10) == f"“{'a' * 9}…”"


@pytest.mark.parametrize("target", ["core:identity", "core:identity:name"])
def test_a_question_says_where_its_answer_goes(target: str) -> None:
    fields = {"writes": "Name: …", "answer": "Nora"}
    asked = item("question", "Are you Nora or Ben?", target=target, fields=fields)
    shown = "\n".join(map(plain_text, card_lines(item_card(asked, [], None, NOW, key), 70)))
    assert "Your answer is written into Identity, in core memory" in " ".join(shown.split())
    assert "You answer: Nora" in shown
    assert "Name: …" not in shown


def test_a_secret_is_named_by_its_kind_and_place() -> None:
    held = HeldMemory(
        1,
        "the token [secret left out]",
        "edit",
        "outside",
        NOW,
        ("GitHub token",),
        (),
        path="memory/a.md",
        line=3,
    )
    assert held_title(held) == "A GitHub token in memory/a.md, line 3"


def test_a_row_gives_its_text_the_room_first() -> None:
    wide, narrow = (plain_text(waiting_row("accept", "x" * 60, "bookkeeper", width)) for width in (90, 38))
    assert wide.startswith("[✓] x")
    assert wide.endswith("bookkeeper")
    assert narrow == f"[✓] {'x' * 33}…"


def test_a_proposal_whose_rival_has_other_rivals_says_what_is_against_it() -> None:
    proposal = Proposal(
        5, "planner", NOW, "The season starts in May", "semantic", "", (), "high", False, "conflict", ("#4",)
    )
    row = Waiting("proposal:5", proposal.content, CLASHES, proposals=(proposal,))
    assert row.is_several
    assert not row.is_clash
    sides = [Side(proposal.content, "planner"), Side("The season does not start in May", "researcher")]
    card = proposal_card([proposal], sides, "", (("a", "take this"),), NOW)
    shown = "\n".join(map(plain_text, card_lines(card, 60)))
    assert "against it\nThe season does not start in May" in shown
    assert "a  take this" in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_no_card_is_wider_than_its_room(width: int) -> None:
    proposal = Proposal(
        3,
        "researcher",
        NOW,
        HOSTILE,
        "semantic",
        HOSTILE,
        ("person--nora",),
        "high",
        False,
        "conflict",
        ("#4",),
    )
    quoted = Quoted("episode:2026-11-21:16:30", HOSTILE)
    cards = [
        item_card(
            item("core change", HOSTILE, target="core:active-context", before="old words"),
            [Cited(quoted)],
            (core(412), core(421)),
            NOW,
            key,
        ),
        item_card(
            item("contradiction", fields={"this": HOSTILE, "that": f"not {HOSTILE}"}),
            [Cited(quoted)] * 3,
            None,
            NOW,
            key,
        ),
        proposal_card(
            [proposal],
            [Side(HOSTILE, "memory"), Side(f"never {HOSTILE}", "researcher")],
            "",
            outcomes(HOSTILE, "x", "gone", key),
            NOW,
        ),
        proposal_card([proposal], [Side(HOSTILE)] * 3, "", (("a", HOSTILE),), NOW),
        past_card(PastReflection("r-001", NOW, 3, 1, summary=HOSTILE), "", NOW, key),
        preview_card(preview(), {"#3": HOSTILE}, {}, NOW.date()),
    ]
    for card in cards:
        for line in card_lines(card, width, details=True):
            assert line_width(line) <= width
            assert "\x1b" not in plain_text(line)


def preview() -> InboxPreview:
    fact = "- pays within 30 days (2026-09-12 to 2026-11-21, from source:conversation, superseded by ^fnew) ^fold"
    return InboxPreview(
        ("r-004.1", "#3"), ("r-004.2",), (), (), (2,), (5,), {"#9": "It says something else by now."},
        (
            MemoryChange("core:active-context:t", "core", "MEMORY.md", "T", "changed", "chapter 3", "chapter 4"),
            MemoryChange(
                "entity:org--nordlicht#^fold", "semantic", "n.md", "pays", "changed",
                "- pays within 30 days (since 2026-09-12, from source:conversation) ^fold", fact,
            ),
            MemoryChange(
                "entity:org--nordlicht#^fnew", "semantic", "n.md", "pays", "added", None,
                "- pays within 45 days ^fnew",
            ),
        ),
        (), core(412), core(421),
    )  # fmt: skip


def test_a_preview_says_what_each_memory_will_say_and_what_is_gone_for_good() -> None:
    titles = {"entity:org--nordlicht": "Nordlicht", "held:5": "A token", "#9": "Mei is vegan"}
    drawn = [
        plain_text(line).rstrip() for line in card_lines(preview_card(preview(), titles, {}, NOW.date()), 88)
    ]
    assert "◎ Active context" in drawn
    assert "  412 → 421 of 900 tokens" in drawn
    assert "  - chapter 3" in drawn
    assert "  + chapter 4" in drawn
    assert "◇ Nordlicht" in drawn
    assert "  ± pays within 30 days · held until Sat 21 Nov" in drawn
    assert "  + pays within 45 days" in drawn
    assert "FOR GOOD erased; undo cannot bring it back" in drawn
    assert any("“Mei is vegan”: It says something else by now." in line for line in drawn)


def test_an_insight_is_in_the_preview_and_no_fact_stands_there_twice() -> None:
    page = (
        "# org--nordlicht\n\n## Facts\n- pays within 30 days ^fold\n",
        "# org--nordlicht\n\n## Facts\n- pays late ^fold\n",
    )
    shown = replace(
        preview(),
        memories=(
            MemoryChange(
                "entity:org--nordlicht", "semantic", "n.md", "Nordlicht", "changed", page[0], page[1]
            ),
        ),
        files=(FilePreview(layout.EVOLUTION, "", "## Insights\n- Decides in the evening ^eabc\n"),),
    )
    drawn = [plain_text(line).rstrip() for line in card_lines(preview_card(shown, {}, {}, NOW.date()), 88)]
    assert "  + Decides in the evening" in drawn
    assert not any("pays" in line for line in drawn)


def test_the_answer_and_the_account_count_alike() -> None:
    assert (
        answer_words(preview())
        == "write 5: 3 accepted, 1 declined, 1 secret erased; 1 cannot be written and stays ticked"
    )
    written = Written("abc", accepted=("#3", "r-004.1"), declined=("r-004.2",), without=(2,), erased=(5,))
    assert (
        written_words(written)
        == "Wrote 5: 3 accepted, 1 declined, 1 secret erased. ⸨undo⸩ takes all of it back but what is erased."
    )
    assert written_words(Written(None, erased=(1, 2))) == (
        "Wrote 2: 2 secrets erased. Undo cannot bring it back."
    )
    assert written_words(Written("abc", set_aside=("r-1",), waiting={"#3": "Not now."})) == (
        "Wrote 1: 1 set aside. 1 cannot be written and stays ticked. ⸨undo⸩ takes all of it back."
    )


def test_two_proposals_that_are_one_row_count_once() -> None:
    pair = Written("abc", accepted=("#3", "#5"), declined=("#4",), together=(("#3", "#4"), ("#5", "#6")))
    assert written_words(pair) == "Wrote 2. ⸨undo⸩ takes all of it back."
    neither = Written("abc", declined=("#3", "#4", "#7"), together=(("#3", "#4"),))
    assert written_words(neither) == "Wrote 2: 2 declined. ⸨undo⸩ takes all of it back."
    left = Written(
        "abc", accepted=("#1",), waiting={"#3": "Not now.", "#4": "Nor this."}, together=(("#3", "#4"),)
    )
    assert "Wrote 1. 1 cannot be written and stays ticked." in written_words(left)


def test_what_was_written_is_listed_decision_by_decision_as_it_is_counted() -> None:
    written = Written(
        "abc",
        accepted=("#1",),
        declined=("#2", "#3", "#4", "#5"),
        together=(("#1", "#2"), ("#3", "#4")),
    )
    assert "Wrote 3: 1 accepted, 2 declined." in written_words(written)
    titles = {f"#{number}": f"No. {number}" for number in range(6)}
    shown = [plain_text(line).strip() for line in card_lines(receipt_card(written, titles), 60)]
    listed = " | ".join(filter(None, shown))
    assert "not proposed again | “No. 3” and “No. 4” | “No. 5” | " in listed
    assert "to what is accepted instead | “No. 2”" in listed


def test_what_became_of_a_reflection_is_said_in_a_few_words() -> None:
    past = PastReflection("r-001", NOW, 9, 3)
    assert past_words(past, NOW) == "9 accepted, 3 declined"
    gone = PastReflection("r-001", NOW, 9, 3, taken_back=NOW, taken_back_by="the person")
    assert past_words(gone, NOW) == "taken back by you, today"
    assert past_words(replace(gone, waits=True), NOW) == "waits again; taken back by you, today"
