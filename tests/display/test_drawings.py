"""What people read: it fits, it is harmless, and it says what matters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.cli import samples
from tests.cli.samples import HOSTILE
from workbench.display.audit import (
    alert_lines,
    blame_lines,
    commit_lines,
    comparison_lines,
    copied_lines,
    diff_lines,
    log_lines,
    moment_lines,
    scores_lines,
    verified_lines,
)
from workbench.display.changes import changed_lines
from workbench.display.decay import decay_lines, explained_lines, fall_lines, trial_lines
from workbench.display.found import explanation_lines, hit_row
from workbench.display.graph import graph_lines
from workbench.display.ink import plain_text
from workbench.display.memories import (
    changes_lines,
    forgotten_lines,
    found_lines,
    match_lines,
    message_lines,
    nothing_lines,
    remembered_lines,
    shown_lines,
    way_back_lines,
    why_forgotten_lines,
    why_not_lines,
)
from workbench.display.status import brief_lines, core_lines, doctor_lines, index_lines
from workbench.display.text import Page, display_width, safe
from workbench.engine.results.audit import (
    ActionCommit,
    AuditEntry,
    AuditLog,
    Changes,
    LogEntry,
    LogOmitted,
    Lost,
    RecentLog,
    Verified,
    VerifyProblem,
    WayBack,
    WhyForgotten,
)
from workbench.engine.results.decay import DecayView
from workbench.engine.results.graph import GraphEdge, GraphNode, GraphView
from workbench.engine.results.memories import (
    CoreBlock,
    CoreView,
    Forgotten,
    HeldBack,
    MessageOutcome,
    Score,
    Validity,
)
from workbench.engine.results.recall import Cut, Explanation, Faded, Found, HitRelation
from workbench.engine.results.reviews import CoreTokens, Reflected, Review, TokenUse

RECALL = MessageOutcome("recall", "do you remember", "hybrid", False, found=samples.FOUND)
WHOLE_GRAPH = dataclasses.replace(samples.GRAPH, center=None)

VIEWS: list[tuple[Callable[[Page, Any], Iterable[str]], Any]] = [
    (lambda page, it: changed_lines(page, it, "Done.", "Nothing changed."), samples.CHANGED),
    (remembered_lines, samples.REMEMBERED),
    (remembered_lines, dataclasses.replace(samples.REMEMBERED, held_back=HeldBack("unclear", "Who?"))),
    (remembered_lines, dataclasses.replace(samples.REMEMBERED, questions=("Same?",), fallback="too slow")),
    (message_lines, RECALL),
    (lambda page, it: found_lines(page, it, query="hybrid", explain=True), samples.FOUND),
    (lambda page, it: found_lines(page, it, explain=False), samples.NOTHING),
    (why_not_lines, samples.WHY_NOT),
    (index_lines, samples.INDEX),
    (index_lines, dataclasses.replace(samples.INDEX, provider="none", rebuilding=0.4, backend="qmd")),
    (lambda page, it: match_lines(page, it.matches), samples.PREVIEW),
    (lambda page, it: forgotten_lines(page, it, hard=False), samples.FORGOTTEN),
    (shown_lines, samples.SHOWN),
    (core_lines, samples.CORE),
    (lambda page, it: decay_lines(page, it), samples.DECAY),
    (lambda page, it: decay_lines(page, it, grouped="tag"), samples.DECAY),
    (lambda page, it: trial_lines(page, it, it), samples.DECAY),
    (fall_lines, samples.FALLS),
    (explained_lines, samples.EXPLAINED),
    (explained_lines, dataclasses.replace(samples.EXPLAINED, score=None, status="unrecorded", falls=())),
    (graph_lines, samples.GRAPH),
    (graph_lines, WHOLE_GRAPH),
    (graph_lines, samples.EMPTY_GRAPH),
    (log_lines, samples.LOG),
    (commit_lines, samples.COMMIT_VIEW),
    (diff_lines, samples.DIFF),
    (blame_lines, samples.BLAME),
    (partial(moment_lines, core=samples.CORE), samples.MOMENT),
    (partial(moment_lines, core=None), samples.NO_MOMENT),
    (comparison_lines, samples.COMPARISON),
    (comparison_lines, samples.NO_COMPARISON),
    (scores_lines, samples.PAST_SCORES),
    (copied_lines, samples.COPIED),
    (verified_lines, samples.VERIFIED),
    (verified_lines, samples.DAMAGED),
    (alert_lines, samples.ALERTS),
    (brief_lines, samples.BRIEF),
    (doctor_lines, samples.DIAGNOSIS),
    (doctor_lines, samples.BROKEN),
]
views = pytest.mark.parametrize(("view", "answer"), VIEWS)


def poisoned(value: Any, name: str = "") -> Any:
    """Put hostile text at the end of every text of an answer; kinds and states keep their meaning."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(
            value, **{f.name: poisoned(getattr(value, f.name), f.name) for f in dataclasses.fields(value)}
        )
    if isinstance(value, tuple):
        return tuple(poisoned(item, name) for item in value)
    if isinstance(value, str) and name not in {"store", "status", "state", "kind", "commit"}:
        return value + HOSTILE
    return value if not isinstance(value, dict) else {key: poisoned(item) for key, item in value.items()}


@views
def test_every_view_fits_eighty_columns(view: Callable[[Page, Any], Iterable[str]], answer: Any) -> None:
    for line in view(Page(width=80), answer):
        assert display_width(line) <= 80, line


@views
def test_no_view_lets_hostile_text_through(view: Callable[[Page, Any], Iterable[str]], answer: Any) -> None:
    for line in view(Page(), poisoned(answer)):
        assert line == safe(line)
        assert "\n" not in line


@views
def test_colour_changes_no_letter(view: Callable[[Page, Any], Iterable[str]], answer: Any) -> None:
    import re

    plain = list(view(Page(), answer))
    coloured = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in view(Page(colour=True), answer)]
    assert coloured == plain


def text(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def test_core_shows_each_block_with_its_budget_and_the_ids_that_change_it() -> None:
    lines = text(core_lines(Page(), samples.CORE))
    assert "1,110 of 3,000" in lines
    assert "950 of 1,000" in lines
    # What is nearly full is told of; the others have room.
    assert lines.count("nearly full: room for 50 tokens") == lines.count("nearly full") == 1
    assert "◆ No Fridays" in lines
    assert "core:critical-facts:x · pinned" in lines


def test_the_rank_of_what_was_found_is_said_once() -> None:
    there = dataclasses.replace(samples.WHY_NOT, rank=9, reason="It is result 9.", remedy="")
    told = text(why_not_lines(Page(), there))
    assert "It is there: the 9th result." in told
    assert "It is result 9." not in told


def test_a_block_over_budget_stands_out() -> None:
    over = CoreView((CoreBlock("Identity", 600, 500, ()),), 600, 3000)
    assert "\x1b[31m600 of 500 " in text(core_lines(Page(colour=True), over))
    assert "over its budget by 100 tokens" in text(core_lines(Page(), over))


def test_the_tokens_of_core_memory_add_up() -> None:
    block = CoreBlock("Identity", 45, 500, (), "")
    core = CoreView((block, dataclasses.replace(block, name="Persona")), 115, 3000)
    assert core.tokens_outside == 25
    assert "25 of them are the file’s title" in text(core_lines(Page(), core))
    assert "of them" not in text(core_lines(Page(), dataclasses.replace(core, tokens=90)))


def test_decay_lists_the_faintest_first_and_has_a_column_for_each_day() -> None:
    lines = decay_lines(Page(), samples.DECAY)
    assert [word for word in lines[3].split() if word.startswith("+")] == ["+30", "+90"]
    assert samples.EPISODE in lines[4]
    assert "dormant" in lines[4]
    assert "person--lena" in lines[5]


def test_decay_says_how_many_more_there_are() -> None:
    assert len(samples.DECAY.entries) > 1
    lines = decay_lines(Page(), samples.DECAY, limit=1)
    further = len(samples.DECAY.entries) - 1
    assert lines[-1] == f"… and {further} more: --limit {len(samples.DECAY.entries)}"
    assert samples.EPISODE in lines[-2]
    assert "more" not in text(decay_lines(Page(), samples.DECAY, limit=30))


def test_blame_breaks_long_lines_and_names_each_commit_once() -> None:
    line = samples.BLAME.lines[0]
    long = dataclasses.replace(line, line=2, text="    " + "word " * 40)
    lines = blame_lines(Page(width=60), dataclasses.replace(samples.BLAME, lines=(line, long)))
    assert lines[:2] == ["abc1234  2026-02-02  manual", "  1  # MEMORY"]
    assert lines[2].startswith("  2      word word")
    assert all(line.startswith("     word") for line in lines[3:])
    assert text(lines).count("word") == 40
    assert all(len(line) <= 60 for line in lines)


def test_memory_at_a_moment_says_what_its_numbers_are() -> None:
    lines = moment_lines(Page(), samples.MOMENT, None)
    assert lines[3:6] == ["files  bytes", "    1  1,234  core memory", ""]
    assert lines[6] == "  MEMORY.md"


def test_a_wish_to_reflect_says_what_came_of_it() -> None:
    nothing = Review("", None, 0, False, (), TokenUse(0, 8000), CoreTokens(0, 0), 0)
    reflected = Reflected(None, (), (), "", "There is nothing new to learn.", nothing)
    outcome = MessageOutcome("reflect", "reflect on", "this week", applied=False, reflected=reflected)
    lines = text(message_lines(Page(), outcome))
    assert "It asks to reflect" in lines
    assert "There is nothing new to learn." in lines


def test_what_waits_is_told_by_section() -> None:
    review = Review(
        "r-004", None, 0, False, (), TokenUse(0, 8000), CoreTokens(0, 0), 0, sections={"🧠 New knowledge": 3}
    )
    reason = "r-004 waits for decisions: 3 of 3 items are undecided."
    reflected = Reflected(None, (), (), "r-004", reason, review, waits=True)
    lines = message_lines(Page(), MessageOutcome("reflect", "reflect on", None, False, reflected=reflected))
    assert lines[1:3] == [reason, "     3  🧠 New knowledge"]
    assert "workbench review" in lines[3]


ENTRY = AuditEntry(
    datetime(2026, 2, 1, 9, 0, tzinfo=UTC),
    "APPEND",
    "memory/a.md",
    "bot:main",
    "auto",
    "added \x1b[2J",
    "abc1234",
)


def test_changes_are_told_with_their_days_and_what_is_left_out() -> None:
    changes = Changes(datetime(2026, 2, 1, tzinfo=UTC), None, 30, (ENTRY,))
    lines = text(
        message_lines(Page(), MessageOutcome("changes", "what changed", "today", False, changes=changes))
    )
    assert "It asks what changed (“what changed”)." in lines
    assert "30 entries of the audit log since 2026-02-01 00:00, the newest first:" in lines
    assert "Older ones: workbench audit log" in lines
    assert "\x1b" not in lines
    nothing = dataclasses.replace(changes, total=0, entries=())
    assert changes_lines(Page(), nothing) == ["Nothing changed since 2026-02-01 00:00."]


def test_a_loss_is_told_with_its_reason_and_the_way_back() -> None:
    lost = Lost(
        "episode:2026-02-01:09:00",
        "The <b>ferry</b>\x1b[2J",
        "archived",
        "It was archived.",
        "workbench restore x",
    )
    told = dataclasses.replace(
        lost, action="ARCHIVE", when=ENTRY.timestamp, actor="bot:main", commit="abc1234567"
    )
    lines = why_forgotten_lines(Page(), WhyForgotten((told,), (ENTRY,)))
    assert lines[0] == "episode:2026-02-01:09:00  archived"
    assert "  ARCHIVE on 2026-02-01 09:00 by bot:main, commit abc1234" in lines
    assert "  workbench restore x" in lines
    assert "Deleted; history still has it:" in lines
    assert "\x1b" not in text(lines)
    assert why_forgotten_lines(Page(), WhyForgotten((), ())) == [
        "Neither memory nor the audit log knows anything of that."
    ]


def test_a_way_back_is_shown_with_its_command() -> None:
    way = WayBack(
        ENTRY.timestamp,
        "abc1234567",
        1,
        (ENTRY,),
        "Nothing was undone.",
        "workbench rollback --to abc1234567",
    )
    lines = way_back_lines(Page(), way)
    assert lines[0] == "Going back to 2026-02-01 09:00 would undo 1 change, the newest first:"
    assert lines[-2:] == ["Nothing was undone.", "  workbench rollback --to abc1234567"]
    assert way_back_lines(Page(), WayBack(None, None, 0, (), "Say a day.")) == ["Say a day."]


def test_an_entity_is_its_card_and_what_lies_further_away() -> None:
    lines = text(graph_lines(Page(), samples.GRAPH))
    assert lines.index("Short reports") < lines.index("until 2\u00a0Feb\u00a02026: Long reports")
    assert "\n→ develops    Apollo\n" in lines
    assert "\n└─→ develops ── Apollo (also uses Git)" in lines


def test_a_relation_of_an_entity_to_itself_is_drawn_once() -> None:
    edge = GraphEdge("a", "knows", "a", "high", None, None)
    graph = GraphView("a", (GraphNode("a", "person", "A", 1, 0),), (edge,))
    assert text(graph_lines(Page(), graph)).count("knows  ") == 1


def test_a_diff_leaves_out_its_header_but_not_lines_that_look_like_one() -> None:
    lines = diff_lines(Page(), samples.DIFF)
    assert lines[1:] == ["@@ -1 +1 @@", "--- gone", "-old", "+new"]


def test_a_diff_is_coloured_by_line() -> None:
    lines = diff_lines(Page(colour=True), samples.DIFF)
    assert lines[-2:] == ["\x1b[31m-old\x1b[0m", "\x1b[32m+new\x1b[0m"]


def test_an_open_alert_says_how_to_acknowledge_it() -> None:
    assert f"workbench audit ack {samples.COMMIT}" in text(alert_lines(Page(), samples.ALERTS))


def test_what_still_lacks_vectors_is_told() -> None:
    read = dataclasses.replace(samples.INDEX, dirty=False)
    assert "3 still to be embedded" in " ".join(text(index_lines(Page(), read)).split())
    assert "up to date" in text(index_lines(Page(), dataclasses.replace(read, pending=0)))


def test_doctor_marks_each_check_and_gives_the_remedy() -> None:
    lines = text(doctor_lines(Page(), samples.DIAGNOSIS))
    assert "✓ git" in lines
    assert "! model" in lines
    assert "→ Set providers.chat." in lines


def test_long_snippets_are_cut_to_two_lines() -> None:
    hit = dataclasses.replace(samples.HIT, snippet="word " * 200)
    lines = found_lines(Page(), dataclasses.replace(samples.FOUND, results=(hit,)))
    assert len(lines) == 5
    assert lines[-1].endswith("…")


def test_an_entity_is_dated_by_the_fact_that_answers() -> None:
    row = plain_text(hit_row(ENTITY, "swan needs", date(2026, 12, 1), 100))
    assert row.split("  ")[0] == "◇ SWAN needs 12 GB"
    assert row.endswith("12 Nov")
    lines = found_lines(Page(), dataclasses.replace(samples.FOUND, results=(ENTITY,)), query="swan needs")
    assert lines[1].startswith("      2026-11-12 · ")


def test_an_entity_says_which_of_its_relations_answer() -> None:
    relations = (
        HitRelation(samples.HIT.id, "built-on", "entity:tool--x", "X"),
        HitRelation("entity:person--y", "leads", samples.HIT.id, "Y\x1b[2J"),
    )
    hit = dataclasses.replace(samples.HIT, relations=relations)
    lines = found_lines(Page(), dataclasses.replace(samples.FOUND, results=(hit,)))
    assert lines[-1].strip().startswith("built-on › X · Y")
    assert lines[-1].endswith("› leads")
    assert "\x1b" not in "".join(lines)


def test_a_hit_says_its_day_its_place_and_its_title() -> None:
    lines = found_lines(Page(), samples.FOUND, query="hybrid")
    assert lines[1:] == [
        "      2026-02-02 · memory/episodes/2026-02-02.md#L3-L6",
        "      decision",
        "      Chose the hybrid approach over pure ones.",
    ]


def test_a_hit_without_a_day_on_one_line_says_so() -> None:
    hit = dataclasses.replace(samples.HIT, date=None, end_line=3, title="Chose the hybrid…")
    lines = found_lines(Page(), dataclasses.replace(samples.FOUND, results=(hit,)))
    assert [line.strip() for line in lines[1:]] == ["memory/episodes/2026-02-02.md#L3", samples.HIT.snippet]


FADED = dataclasses.replace(samples.FOUND, results=(samples.HIT,), cuts=())
ARCHIVED = dataclasses.replace(
    FADED,
    results=(),
    cuts=(Cut("episode:2026-02-02:14:30", "a.md", 1, 2, 0.5, "archived", "It is archived."),),
)


@pytest.mark.parametrize(
    ("hidden", "is_narrowed", "is_empty", "told"),
    [
        (None, False, True, "There is no memory here yet"),
        (ARCHIVED, False, False, "workbench restore episode:2026-02-02:14:30"),
        (None, True, False, "without --store"),
        (None, False, False, ""),
    ],
)
def test_nothing_found_says_what_else_may_be_tried(
    hidden: Found | None, is_narrowed: bool, is_empty: bool, told: str
) -> None:
    lines = text(nothing_lines(Page(), hidden, is_narrowed=is_narrowed, is_empty=is_empty))
    assert told in " ".join(lines.split())
    assert bool(lines) is bool(told)


def test_faded_memories_are_listed_apart_with_their_count() -> None:
    faded = Faded(3, (dataclasses.replace(samples.HIT, id="episode:2020-01-01:09:00", status="dormant"),))
    lines = found_lines(Page(), dataclasses.replace(samples.FOUND, faded=faded))
    at = lines.index("3 faded memories match as well; to bring one back: workbench reinforce ID")
    assert any("episode:2020-01-01:09:00" in line for line in lines[at:])
    assert not any("episode:2020-01-01:09:00" in line for line in lines[:at])


def test_an_entity_without_facts_shows_no_heading_in_their_place() -> None:
    snippet = "# person--sam\n\n<!-- Type: person | Label: Sam -->\n\n## Facts\n\n## Superseded"
    hit = dataclasses.replace(ENTITY, id="entity:person--sam", title="Sam", snippet=snippet)
    lines = found_lines(Page(), dataclasses.replace(samples.FOUND, results=(hit,)), query="Sam")
    assert [line.strip() for line in lines[2:]] == ["Sam"]


def test_what_was_left_out_is_told_once_for_each_reason() -> None:
    cuts = tuple(
        Cut(
            f"file:a.md#L{at}", "a.md", at, at, 0.5, "over-limit", "There are 2 better results.", f"turn {at}"
        )
        for at in range(1, 9)
    )
    lines = text(found_lines(Page(), dataclasses.replace(samples.FOUND, cuts=cuts), explain=True))
    assert lines.count("There are 2 better results.") == 1
    assert "Left out (8): " in lines
    assert "0.50 a.md#L1 · turn 1" in lines
    assert "turn 8" not in lines


def test_what_is_shown_among_the_faded_is_not_told_of_as_left_out() -> None:
    hit = dataclasses.replace(
        samples.HIT, id="episode:2020-01-01:09:00", path="a.md", start_line=3, end_line=4
    )
    cuts = tuple(
        Cut(f"episode:{line}", "a.md", line, line, 0.5, "archived", "It is archived.", f"entry {line}")
        for line in (4, 8)
    )
    found = dataclasses.replace(samples.FOUND, faded=Faded(1, (hit,)), cuts=cuts)
    lines = text(found_lines(Page(), found, explain=True))
    assert "Left out: It is archived." in lines
    assert "entry 8" in lines
    assert "entry 4" not in lines


def test_a_fact_is_marked_that_waits_for_a_decision_where_it_is_the_one_shown() -> None:
    found = dataclasses.replace(samples.FOUND, results=(ENTITY,))
    against = {"entity:tool--swan#^fe6o": "contradicted, waits in the Inbox"}
    told = "contradicted, waits in the Inbox: workbench review"
    assert told in text(found_lines(Page(), found, query="swan", against=against))
    assert told not in text(found_lines(Page(), found, query="when swan runs at night", against=against))


def test_a_sentence_without_the_id_of_a_fact_is_whole() -> None:
    told = "Behind what holds instead since 2026-01-20: entity:tool--swan#^fe6o."
    lines = explanation_lines(Explanation((), 0.5, None, (told,)))
    assert [span.text for line in lines for span in line] == ["Behind what holds instead since 2026-01-20."]


ENTITY = dataclasses.replace(
    samples.HIT,
    id="entity:tool--swan",
    title="SWAN",
    store="semantic",
    snippet="# tool--swan\n\n<!-- Type: tool | Label: SWAN -->\n\n## Facts\n"
    "- SWAN needs 12 GB (since 2026-11-12, from source:user-explicit) ^fe6o\n"
    "- It runs at night [sic] (from source:user-explicit) ^fe6p\n\n"
    "## Relations\n- uses: [[tool--hetzner]] (confidence medium, since 2026-11-11) ^rjsf",
)


@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("swan", "SWAN needs 12 GB"),
        ("when swan runs at night", "SWAN: It runs at night [sic]"),
        ("hetzner", "SWAN uses hetzner"),
        ("something else", "SWAN needs 12 GB"),
    ],
)
def test_an_entity_is_shown_by_its_name_and_the_fact_asked_for(query: str, fact: str) -> None:
    lines = found_lines(Page(), dataclasses.replace(samples.FOUND, results=(ENTITY,)), query=query)
    assert [line.strip() for line in lines[2:]] == [fact]


def test_an_entity_without_facts_is_shown_by_its_name() -> None:
    bare = dataclasses.replace(ENTITY, snippet="# tool--swan\n\n<!-- Type: tool -->\n\nModels waves.\n")
    lines = found_lines(Page(), dataclasses.replace(samples.FOUND, results=(bare,)), query="swan")
    assert [line.strip() for line in lines[2:]] == ["SWAN: Models waves."]


def test_ids_are_never_cut() -> None:
    id_ = "entity:project--" + "very-long-name-" * 6 + "end"
    hit = dataclasses.replace(samples.HIT, id=id_)
    assert id_ in text(found_lines(Page(width=40), dataclasses.replace(samples.FOUND, results=(hit,))))


def test_times_are_told_in_the_zone_of_the_workspace() -> None:
    taipei = Page(zone=ZoneInfo("Asia/Taipei"))
    late = dataclasses.replace(
        samples.DECAY.entries[0],
        last_accessed=datetime(2026, 2, 1, 20, tzinfo=UTC),
        forecast=None,
        would_be=None,
    )
    assert "2026-02-02 22:30  abc1234" in text(log_lines(taipei, samples.LOG))
    assert "2026-02-02 22:30" in text(commit_lines(taipei, samples.COMMIT_VIEW))
    change = dataclasses.replace(samples.SHOWN.history[0], timestamp=datetime(2026, 2, 1, 20, tzinfo=UTC))
    shown = dataclasses.replace(samples.SHOWN, validity=Validity(None, None, None), history=(change,))
    assert "2 Feb 2026" in text(shown_lines(taipei, shown))
    assert "2026-02-02 22:30" in text(alert_lines(taipei, samples.ALERTS))
    decay = text(decay_lines(taipei, DecayView(samples.WHEN, 0.03, (late,))))
    assert "2026-02-02 22:30" in decay
    assert "  2026-02-02  episode:" in decay


def test_the_log_tells_each_commit_once_and_alike_acts_once() -> None:
    other = dataclasses.replace(samples.ENTRY, file="memory/graph/entities/" + "long-" * 12 + "name.md")
    lines = log_lines(Page(), AuditLog((samples.ENTRY, other)))
    assert len(lines) == 4
    assert lines[0] == "2026-02-02 14:30  abc1234  reflection:r-012  (approved)"
    assert [line.strip() for line in lines[1:3]] == ["EDIT      MEMORY.md", other.file]
    assert text(lines).count("rewrote Identity") == 1


def test_an_action_of_several_commits_is_told_once_with_the_way_to_all_of_it() -> None:
    steps = [
        dataclasses.replace(
            samples.ENTRY,
            summary=f"step {number}",
            commit=f"{number}bc1234567",
            group="0bc1234567",
            action_commits=6,
        )
        for number in reversed(range(6))
    ]
    between = dataclasses.replace(samples.ENTRY, summary="upkeep", commit="fff1234567", group="fff1234567")
    lines = log_lines(Page(), AuditLog((*steps[:2], between, *steps[2:])))
    told = text(lines)
    assert [line for line in lines if line.startswith("2026")] == [
        "2026-02-02 14:30  5bc1234  reflection:r-012  (approved)  6 commits",
        "2026-02-02 14:30  fff1234  reflection:r-012  (approved)",
    ]
    assert "step 0" in told
    assert "step 5" not in told
    assert "workbench audit show 0bc1234" in told
    assert "Older ones: --limit 5" in text(log_lines(Page(), AuditLog((*steps, between)), most=1))
    view = dataclasses.replace(
        samples.COMMIT_VIEW,
        action=tuple(ActionCommit(str(each.commit), each.timestamp, each.summary) for each in steps),
    )
    shown = text(commit_lines(Page(), view))
    assert "One action in 6 commits" in shown
    assert all(f"step {number}" in shown for number in range(6))


def test_a_rewritten_history_that_agrees_with_itself_is_not_called_well() -> None:
    problem = VerifyProblem("rewritten", ".audit", "Noticed. workbench audit ack a-1")
    told = text(verified_lines(Page(), Verified(False, (problem,), 3, 3)))
    assert told.startswith("✗ Log, history and files agree, but this is not the history that was last seen")
    assert "workbench audit ack a-1" in told


def test_a_score_shows_the_numbers_it_was_made_of() -> None:
    terms = {
        "base": 1.0, "lambda": 0.03, "days": 100, "decay": 0.0498, "accessCount": 3, "reinforcement": 2.0,
        "typeWeight": 0.8, "pinned": False, "archived": False,
    }  # fmt: skip
    shown = dataclasses.replace(samples.SHOWN, score=Score(0.08, 0.08, "dormant", terms))
    lines = shown_lines(Page(), shown)
    assert "0.08 = 1 × 0.0498 × 2 × 0.8" in text(lines)
    assert "a half-life of 23.1 days; 100 days, 3 uses" in text(lines)
    pinned = dataclasses.replace(shown, score=Score(1, 1, "pinned", {**terms, "pinned": True}))
    assert "half-life" not in text(shown_lines(Page(), pinned))


def test_what_is_known_already_is_not_called_remembered() -> None:
    lines = text(remembered_lines(Page(), dataclasses.replace(samples.REMEMBERED, commit=None)))
    assert "Known already" in lines
    assert "undo" not in lines


def test_a_question_about_two_entities_says_how_to_answer() -> None:
    asked = dataclasses.replace(
        samples.REMEMBERED, questions=("Is [[person--lenna]] the same as [[person--lena]]?",)
    )
    lines = text(remembered_lines(Page(), asked))
    assert "? Is person--lenna the same as person--lena?" in lines
    assert "workbench graph merge person--lena person--lenna" in lines


def test_an_empty_block_shows_what_belongs_into_it() -> None:
    block = CoreBlock("Persona", 17, 500, (), body="<!-- How should I behave? -->")
    assert "nothing yet · How should I behave?" in text(core_lines(Page(), CoreView((block,), 17, 3000)))


def test_the_brief_says_each_notice_once() -> None:
    brief = dataclasses.replace(samples.BRIEF, notices=("SOUL.md was changed.", "SOUL.md was changed."))
    assert text(brief_lines(Page(), brief)).count("SOUL.md was changed.") == 1


def test_the_brief_shows_the_log_by_day_and_what_did_not_fit() -> None:
    day, file = "2026-02-02", "memory/episodes/2026-02-02.md"
    log = RecentLog(
        (
            LogEntry("episode:2026-02-02:14:30", day, "14:30", file, "The crane\x1b[31m arrived …", cut=True),
            LogEntry("file:memory/2026-02-02.md#L3-L4", day, None, "memory/2026-02-02.md", "- tea\n- bread"),
        ),
        (LogOmitted(file, 3), LogOmitted("memory/2026-02-01.md", 1)),
    )
    lines = brief_lines(Page(), dataclasses.replace(samples.BRIEF, log=log))
    shown = text(lines)
    assert lines.count(day) == 1
    assert "  14:30  The crane" in shown
    assert "\x1b" not in shown
    assert "         more of it: workbench show episode:2026-02-02:14:30" in lines
    assert "  ·      - tea\n         - bread" in shown
    assert f"  … 3 older entries in {file}" in lines
    assert "  … 1 older entry in memory/2026-02-01.md" in lines
    assert lines.index(day) < next(at for at, line in enumerate(lines) if "SOUL.md" in line), (
        "what varies is last"
    )


def test_what_was_purged_offers_no_way_back() -> None:
    forgotten = samples.FORGOTTEN
    assert "workbench restore" in text(forgotten_lines(Page(), forgotten, hard=False))
    assert "workbench undo" in text(forgotten_lines(Page(), forgotten, hard=True))
    assert "workbench" not in text(forgotten_lines(Page(), forgotten, hard=True, purged=True))


def test_a_purge_that_was_interrupted_says_what_became_of_it() -> None:
    finished = Forgotten((), applied=True, warnings=("The purge that had been interrupted is finished.",))
    assert "Purged." in text(forgotten_lines(Page(), finished, hard=True, purged=True))
    nothing = Forgotten((), applied=False)
    assert "Nothing matches" in text(forgotten_lines(Page(), nothing, hard=True, purged=True))


@pytest.mark.parametrize(("count", "told"), [(1, "(1 commit, 1 entry)"), (2, "(2 commits, 2 entries)")])
def test_a_whole_trail_is_counted_in_numbers_that_agree(count: int, told: str) -> None:
    assert told in text(verified_lines(Page(), Verified(True, (), count, count)))


def test_where_there_is_no_history_nothing_is_said_to_agree() -> None:
    told = text(verified_lines(Page(), Verified(True, (), 0, 0)))
    assert "agree" not in told
    assert "workbench init" in told
    gone = VerifyProblem("rewritten", ".audit", "The history is gone.")
    assert "agree" not in text(verified_lines(Page(), Verified(False, (gone,), 0, 0)))


def test_nothing_is_called_nothing_so_far_while_there_are_files_to_read() -> None:
    lines = text(found_lines(Page(), samples.NOTHING))
    assert "Nothing found so far." in lines
    assert "3 files are not read yet." in lines
    assert "so far" not in text(found_lines(Page(), dataclasses.replace(samples.NOTHING, stale=None)))
