"""What was done is said as a person would say it, whatever the history calls it; rows and cards keep to their width."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.display.action_words import (
    brought_back,
    by_title,
    named,
    plainly,
    sentence,
    taken_back,
    why,
)
from workbench.display.actions import action_card, action_row, obstacle_words
from workbench.display.card import card_lines
from workbench.display.ink import line_width, plain_text
from workbench.display.memory_changes import change_lines, change_row, differing, readable, title_of
from workbench.display.words import LONGEST_QUOTE
from workbench.engine.results.audit import Action, ActionDone, MemoryChange, NextStep
from workbench.tui.verbs.act import deed

NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


def action(summary: str = "logged “Robin sails”", **given: object) -> Action:
    plain = {
        "id": "a" * 40, "newest": "a" * 40, "commits": 1, "begun": NOW, "timestamp": NOW, "kind": "EDIT",
        "actor": "manual", "owner": "person", "own": True, "approval": "—", "trigger": "—", "summary": summary,
        "files": ("memory/graph/entities/person--mei-chen.md",), "memories": 1,
    }  # fmt: skip
    return Action(**{**plain, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "back", "again"),
    [
        ("pinned “Ferry”", "Took back: pinned “Ferry”", "Brought back: pinned “Ferry”"),
        ("You pinned “Ferry”", "Took back: pinned “Ferry”", "Brought back: pinned “Ferry”"),
        ("The agent noted “Sea”", "Took back: the agent noted “Sea”", "Brought back: the agent noted “Sea”"),
        (
            "You took back: set Half-life to 3",
            "Brought back: set Half-life to 3",
            "Took back: set Half-life to 3",
        ),
        (
            "brought back: set Half-life to 3",
            "Took back: set Half-life to 3",
            "Brought back: set Half-life to 3",
        ),
    ],
)
def test_there_is_one_word_for_taking_back_and_one_for_bringing_back(
    said: str, back: str, again: str
) -> None:
    assert taken_back(said) == back
    assert brought_back(said) == again


def test_what_was_done_with_quoted_words_is_not_cut_off() -> None:
    long = "approved r-004.1 “" + "Write to Jonas that the audio trial holds, " * 3 + "soon”"
    step = NextStep("c", "you", NOW, long.replace("approved", "rejected"), own=True)
    assert deed(step).startswith("ticked “Write to Jonas")
    assert deed(step).endswith("…”: declined")
    assert len(deed(step)) <= LONGEST_QUOTE


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("logged “Robin sails”", "noted “Robin sails”"),
        ("added fact “A; b”; added relation uses → tool--swan", "learned “A; b”"),
        ("added relation uses → tool--fly-io", "linked it to “Fly io” (uses)"),
        ("changed “mail” to “send” in Critical Facts", "reworded “send” in Critical Facts"),
        ("undid CREATE 821125fec3: logged “Wave”", "took back: noted “Wave”"),
        ("redid CREATE 821125fec3 and 4 that go on with it: logged “Wave”", "brought back: noted “Wave”"),
        ("reverted 821125fec3 and 4 that go on with it: imported 5 entries from ~/old",
         "took back: imported 5 entries from ~/old"),
        ("rolled back reflection:r-003 (5 commits)", "took back reflection r-003"),
        ("rolled back to 2026-11-03T09:00:00+00:00 (abc1234567)",
         "brought everything back as it was on 3\u00a0Nov, 09:00"),
        ("restored core:identity:name as of abc1234567", "brought “Name” back as it was"),
        ("restored core:identity:name as of abc1234567 (2026-11-03 09:00)",
         "brought “Name” back as it was on 3\u00a0Nov, 09:00"),
        ("restored 4 memories as of abc1234567 (2026-11-03 09:00)",
         "brought 4 memories back as they were on 3\u00a0Nov, 09:00"),
        ("folded in 2 accesses of 1 memory", "counted 2 uses of 1 memory"),
        ("5 entries transitioned: 2 dormant→active (a, b), 2 active→fading (c, d), 1 dormant→archived (e)",
         "Upkeep: 2 came back, 2 faded, 1 archived"),
        ("1 entry transitioned: active→fading (episode:2026-10-03:14:30)", "Upkeep: 1 faded"),
        ("pinned episode:2026-10-08:10:45", "pinned the entry of 8\u00a0Oct"),
        ("summed up 12 commits before 2026-02-01", "shortened the audit log before 1\u00a0Feb"),
        ("rejected r-004.1, r-004.5 and 2 more; approved r-004.2",
         "ticked changes of a reflection: 4 declined, 1 accepted"),
        ("took back the decision on r-004.1, and 4 more commits of the same action",
         "ticked changes of a reflection, 5 times"),
        ("accepted proposal #6, and 1 more commit of the same action", "accepted a proposal and 1 more change"),
        ("accepted proposal #4; rejected proposal #5", "accepted a proposal, declined a proposal"),
        ("accepted proposals #4, #6, both of what contradicts itself",
         "accepted 2 proposals, both of what contradicts itself"),
        ("redid REVERT 821125fec3: undid CREATE 821125fec4: logged “Wave”", "took back: noted “Wave”"),
        ("approved r-004.1 “Sails; rows”", "ticked “Sails; rows”: accepted"),
        ("took back the decision on r-004.1 “Sails”", "took the tick from “Sails”"),
        ("let this hold of r-004.2 “Rust”, approved", "ticked “Rust”: it holds"),
        ("let both hold of r-004.2 “Rust or Go”, approved", "ticked “Rust or Go”: both hold"),
        ("answered r-004.3 “Which ferry?”: The night one, approved", "answered “Which ferry?”: The night one"),
        ("reworded r-004.3 as “Sails, rarely”", "reworded a change of a reflection: “Sails, rarely”"),
        ("changed since, until of r-004.3 “Sails”, approved", "changed since, until of “Sails”"),
        ("answered r-004.3 “Which ferry?”: The night one, approved, and 2 more commits of the same action",
         "ticked changes of a reflection, 3 times"),
        ("acknowledged alert a-1 about SOUL.md", "kept the change of SOUL.md"),
        ("acknowledged alert a-1 about SOUL.md, and 1 more commit of the same action",
         "kept the change of SOUL.md and 1 more change"),
        ("undid ACK 821125fec3: acknowledged alert a-1 about MEMORY.md", "took back: kept the change of core memory"),
        ("took back the decision on r-004.1", "ticked changes of a reflection: 1 left open"),
        ("decay.lambda = 30 days", "set Half-life to 30 days"),
        ("decay.lambda = 0.0154", "set Half-life to 45 days"),
        ("decay.lambda = 0", "set Half-life to never"),
        ("decay.lambda = what it was", "set Half-life to what it was"),
        ("r-004 proposes 23 changes", "Reflection: 23 changes proposed"),
        ("edited person--mei-chen.md", "edited “Mei Chen”"),
        ("something nobody foresaw", "something nobody foresaw"),
    ],
)  # fmt: skip
def test_each_summary_of_the_history_is_said_plainly(summary: str, said: str) -> None:
    assert plainly(summary) == said


def test_a_sentence_says_who_and_names_what_is_meant() -> None:
    assert sentence(action()) == "You noted “Robin sails”"
    assert sentence(action("added relation uses → tool--swan")) == "You linked “Mei Chen” to “Swan” (uses)"
    assert sentence(action(owner="main", actor="bot:main")) == "The agent noted “Robin sails”"
    assert sentence(action(owner="agent:scout", actor="subagent:scout")) == "Scout noted “Robin sails”"
    outside = action("edited outside the engine (+1 −0 lines)", files=("SOUL.md",))
    assert sentence(outside) == "SOUL.md was changed in another program"
    back = action("reverted EDIT 821125fec3: edited outside the engine (+1 −0 lines)", files=("SOUL.md",))
    assert sentence(back) == "You took back: SOUL.md was changed in another program"
    assert "Found in the file" in why(outside)
    assert "Found in the file" not in why(back)
    settings = action("edited outside the engine (+1 −0 lines)", files=("workbench.toml",))
    assert sentence(settings) == "workbench.toml was changed in another program"
    reflected = action(
        "applied 9 items", actor="reflection:r-4", owner="reflection:r-4", accepted=9, declined=3
    )
    assert sentence(reflected) == "Reflection: 9 accepted, 3 declined"
    wrote = action("accepted proposal #2", commits=3, accepted=9, declined=3, set_aside=1)
    assert sentence(wrote) == "You wrote 13 decisions: 9 accepted, 3 declined, 1 set aside"
    assert sentence(replace(wrote, declined=0, set_aside=0)) == "You wrote 9 decisions"
    assert named("memory/episodes/2026-11-02.md") == "the log of 2\u00a0Nov"


def test_what_a_memory_says_is_shown_without_what_files_note() -> None:
    fact = "- Pays in [[person--mei]] days (since 2026-02-02, from episode:2026-02-02:14:30) ^f7k2"
    assert readable(fact) == "Pays in [[person--mei]] days"
    assert readable("- Rains (2026-01-20 to 2026-02-02, superseded by ^f7k2) ^f3c1") == (
        "Rains (held 20 Jan 2026 to 2 Feb 2026)"
    )
    assert readable("- First mentioned (from episode:2026-02-02:14:30)") == "First mentioned"
    assert readable("- Took the train (from Oslo)") == "Took the train (from Oslo)"
    assert readable("# X\n\n<!-- Type: tool -->\n\n## Facts\n- One ^abc1") == "# X\n## Facts\n- One"
    relation = MemoryChange(
        "entity:project--harbor#^r1", "semantic", "p", "uses: tool--swan", "added", None, "x"
    )
    assert title_of(relation) == "Harbor uses Swan"


def test_what_changed_in_a_memory_of_one_line_stands_as_two_lines_and_the_words_that_differ() -> None:
    change = MemoryChange(
        "core:a:b", "core", "MEMORY.md", "Tea at five", "changed", "Tea at four", "Tea at five"
    )
    before, after = change_lines(change)
    assert (plain_text(before), plain_text(after)) == ("- Tea at four", "+ Tea at five")
    assert [span.text for span in after if span.role == "added.word"] == ["five"]


def test_what_differs_names_what_it_links_to_and_whose_page_it_is() -> None:
    before = "# project--the-boat\n\n## Relations\n- uses: [[tool--swan]]"
    change = MemoryChange(
        "entity:project--the-boat", "semantic", "p", "x", "changed", before, before + "\n\nx"
    )
    shown = ["".join(piece.text for piece in row.after) for row in differing(change, 5)]
    assert shown == ["# The boat", "## Relations", "- uses: swan", "x"]


def test_why_something_cannot_be_taken_back_is_said_without_files_and_hashes() -> None:
    said = obstacle_words(
        "The file was changed again since: the change removed it, now it is “2026-01-24 — Episode Log”. A later "
        "action rests on it: logged “Tea at five” (by the main agent (bot:trigger-remember), 2026-01-24 10:45, "
        "a632df2d95)."
    )
    assert said == (
        "The file was changed again since. What came later: noted “Tea at five” (the agent, 24 Jan 2026, 10:45)."
    )


@given(TEXTS, TEXTS, st.integers(24, 200), st.booleans())
def test_rows_and_cards_of_any_text_keep_to_their_width(
    one: str, other: str, width: int, undone: bool
) -> None:
    done = action(one, trigger=other, files=(other or "x",), undone_by="b" * 40 if undone else None,
                  alerts=("a-1",), waiting=("a-1",), memories=3)  # fmt: skip
    assert line_width(action_row(done, NOW, width)) <= width
    changes = tuple(
        MemoryChange(f"file:{other}", "file", other, one, kind, before, after)
        for kind, before, after in (("changed", one, other), ("added", None, one), ("removed", other, None))
    )
    for told in (changes, changes[:1], ()):
        card = action_card(ActionDone(done, told, obstacle=other), NOW + timedelta(days=3))
        assert all(line_width(line) <= width for line in card_lines(card, width, details=True))
    assert line_width(change_row(changes[0], None, NOW, width)) <= width


def test_taking_back_what_was_taken_back_is_said_once() -> None:
    one = "reverted 0123abc: pinned entity:person--rui"
    assert plainly(one) == "took back: pinned “Rui”"
    two = f"undid REVERT 4567def: {one}"
    assert plainly(two) == "brought back: pinned “Rui”"
    assert plainly(f"reverted 89ab012: {two}") == "took back: pinned “Rui”"


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("pinned entity:person--ida-berg", "pinned “Ida Berg”"),
        ("added relation uses → tool--indesign", "linked it to “InDesign” (uses)"),
        ("merged tool--indesign into person--ida-berg", "merged “InDesign” into “Ida Berg”"),
        ("edited memory/graph/entities/tool--indesign.md", "edited “InDesign”"),
        ("edited tool--indesign.md", "edited “InDesign”"),
        # Of what is gone meanwhile the id alone tells.
        ("pinned entity:person--jo-lund", "pinned “Jo Lund”"),
        ("added relation uses → tool--old-pen", "linked it to “Old pen” (uses)"),
    ],
)
def test_entities_go_by_their_names(summary: str, said: str) -> None:
    names = {"entity:person--ida-berg": "Ida Berg", "entity:tool--indesign": "InDesign"}
    assert plainly(by_title(summary, lambda id_: names.get(id_, ""))) == said


def test_what_was_linked_goes_by_its_name_too() -> None:
    names = {"entity:tool--indesign": "InDesign", "entity:tool--memoq": "MemoQ"}
    summary, file = "added relation uses → tool--memoq", "memory/graph/entities/tool--indesign.md"
    said = by_title(summary, lambda id_: names.get(id_, ""), file)
    assert sentence(action(said)) == "You linked “InDesign” to “MemoQ” (uses)"
