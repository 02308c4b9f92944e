"""A person at the command line decides on a proposal, item by item, and applies what they decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from tests.cli.conftest import Terminal
from tests.cli.program import Program
from workbench.cli.review import chosen_items, one_item
from workbench.display.text import display_width
from workbench.engine.errors import Ambiguous, NotFound
from workbench.engine.results.reviews import CoreTokens, Review, ReviewItem, TokenUse

PROPOSAL = """# Reflection Summary — 2026-02-02

<!-- reflection: r-002 | created: 2026-02-01T03:00:00Z -->

## Summary
Two things were learned.

## ⚠️ Contradictions detected
- [ ] `r-002.1` contradiction for [[project--apollo]]: When is it due? (confidence medium)
  - this: It is due on 15 March
  - that: It is due on 30 March
  - resolve: ask
  - episode:2026-02-02:14:30 says "due on 30 March"

## ✏️ Core memory changes
- [ ] `r-002.2` core change for `core:persona`: Be brief \x1b[31m[/b] and kind
  - because: asked for it
  - episode:1999-01-01:10:00 says "gone"

## 🧠 New knowledge extracted
- [ ] `r-002.3` entity for [[project--apollo]]: Apollo (confidence high)
- [ ] `r-002.4` fact for [[project--apollo]]: Is written in Rust
  - needs: r-002.3
  - since: 2026-02-01
- [ ] `r-001.4` fact for [[project--apollo]]: Came over from before

## ❓ Questions for you
- [ ] `r-002.5` question: Which ferry?
  - answer: …

---

**Token budget used**: 5,200 / 8,000
**Dropped**: 2
"""
PENDING = "memory/meta/pending-reflection.md"


@pytest.fixture
def proposed(agent: Program) -> Program:
    agent.inside("remember", "Apollo is due on 30 March", "--store", "episodic")
    (agent.folder / PENDING).write_text(PROPOSAL)
    return agent


def test_the_list_says_what_else_waits_and_where(agent: Program) -> None:
    agent.inside("propose", "The ferry is yellow", "--store", "semantic", "--role", "agent:researcher")
    agent.inside("remember", "The password of the harbour Wi-Fi is gull-and-tern-7")
    alone = agent.inside("review").output
    assert "No reflection waits, but this does" in alone
    assert "1 proposal of an agent: workbench proposals" in alone
    assert "1 secret held back: workbench secrets" in alone
    (agent.folder / PENDING).write_text(PROPOSAL)
    both = agent.inside("review").output
    assert "r-002.3" in both
    assert "Also waiting" in both
    assert "1 secret held back: workbench secrets" in both


def boxes(program: Program) -> dict[str, str]:
    """Return the decision of each item, as the file has it."""
    from workbench.engine.markdown.review import PendingReflection

    file = PendingReflection.parse((program.folder / PENDING).read_bytes())
    return {item.id: item.decision for item in file.items}


def asked(program: Program, *words: str, code: int = 0) -> str:
    """Run a command line in this process and return what it printed."""
    result = program.inside(*words)
    assert result.exit_code == code, result.output
    return result.output


def asked_json(program: Program, *words: str, code: int = 0) -> Any:
    result = program.inside(*words, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


class TestLooking:
    def test_the_list_fits_eighty_columns_and_shows_every_item(self, proposed: Program) -> None:
        told = asked(proposed, "review")
        assert all(display_width(line) <= 80 for line in told.splitlines())
        assert all(name in told for name in boxes(proposed))
        assert "Two things were learned." in told
        assert "6 undecided" in told
        assert "more than a day" in told
        assert "\x1b[31m[/b]" not in told
        assert "[/b] and kind" in told

    def test_json_has_the_contract_s_keys(self, proposed: Program) -> None:
        review = asked_json(proposed, "review")
        assert {"id", "created", "ageHours", "items", "tokens", "coreTokens", "dropped"} <= review.keys()
        assert (review["id"], review["tokens"], review["dropped"]) == (
            "r-002",
            {"used": 5200, "cap": 8000},
            2,
        )
        keys = {
            "id",
            "kind",
            "target",
            "before",
            "after",
            "confidence",
            "reason",
            "evidence",
            "decision",
            "stale",
        }
        assert all(keys <= item.keys() for item in review["items"])
        assert review["items"][0]["evidence"][0]["quote"] == "due on 30 March"
        assert {"before", "after"} <= review["coreTokens"].keys()

    def test_one_item_is_shown_with_its_evidence_and_its_place(self, proposed: Program) -> None:
        told = asked(proposed, "review", "show", "1")
        assert "episode:2026-02-02:14:30" in told
        assert "“due on 30 March”" in told
        assert "no longer says so" in asked(proposed, "review", "show", "r-002.2")
        assert asked_json(proposed, "review", "show", "4")["fields"] == {"since": "2026-02-01"}

    def test_nothing_waits(self, agent: Program) -> None:
        assert "workbench reflect" in asked(agent, "review", code=3)
        assert asked_json(agent, "review", code=3)["items"] == []
        for words in (("approve", "all"), ("apply",), ("apply", "--dry-run"), ("show", "1"), ("edit", "1")):
            error = asked_json(agent, "review", *words, code=3)["error"]
            assert error["kind"] == "not-found"
            assert "workbench reflect" in error["remedy"]


class TestDeciding:
    def test_ids_numbers_ranges_sections_and_all(self, proposed: Program) -> None:
        asked(proposed, "review", "approve", "r-002.3", "4")
        assert boxes(proposed)["r-002.4"] == boxes(proposed)["r-002.3"] == "approved"
        asked(proposed, "review", "reject", "core")
        asked(proposed, "review", "defer", "--section", "questions")
        assert (boxes(proposed)["r-002.2"], boxes(proposed)["r-002.5"]) == ("rejected", "deferred")
        asked(proposed, "review", "approve", "all")
        assert boxes(proposed)["r-002.2"] == "rejected"
        assert boxes(proposed)["r-001.4"] == "approved"
        asked(proposed, "review", "undecide", "1-2")
        assert (boxes(proposed)["r-002.1"], boxes(proposed)["r-002.2"]) == ("undecided", "undecided")
        told = asked(proposed, "review", "undecide", "all")
        assert set(boxes(proposed).values()) == {"undecided"}
        assert "6 undecided" in told

    def test_a_decision_is_a_mutation_that_undo_takes_back(self, proposed: Program) -> None:
        done = asked_json(proposed, "review", "approve", "3")
        assert (done["ok"], done["ids"], done["files"]) == (True, ["r-002.3"], [PENDING])
        assert asked_json(proposed, "audit", "show", done["commit"])["actor"] == "manual"
        assert asked_json(proposed, "review", "approve", "3")["commit"] is None
        asked(proposed, "undo")
        assert boxes(proposed)["r-002.3"] == "undecided"

    def test_what_waits_is_said_at_once(self, proposed: Program) -> None:
        result = proposed.inside("review", "approve", "1")
        assert "r-002.1 waits" in result.stderr
        assert "workbench review resolve r-002.1 this" in " ".join(result.stderr.split())

    def test_what_names_nothing_is_told_with_a_remedy(self, proposed: Program) -> None:
        assert "r-002.3" in asked_json(proposed, "review", "approve", "r-002.33", code=3)["error"]["remedy"]
        assert (
            "Core memory" in asked_json(proposed, "review", "approve", "nonsense", code=3)["error"]["remedy"]
        )
        asked_json(proposed, "review", "approve", "99", code=3)
        asked_json(proposed, "review", "approve", code=2)
        assert set(boxes(proposed).values()) == {"undecided"}

    def test_an_answer_and_a_resolution_decide(self, proposed: Program) -> None:
        asked(proposed, "review", "answer", "5", "The", "night", "ferry")
        asked(proposed, "review", "resolve", "1", "that")
        assert (boxes(proposed)["r-002.5"], boxes(proposed)["r-002.1"]) == ("approved", "approved")
        text = (proposed.folder / PENDING).read_text()
        assert "- answer: The night ferry" in text
        assert "- resolve: that" in text
        asked(proposed, "review", "resolve", "1", "ask")
        assert boxes(proposed)["r-002.1"] == "undecided"
        asked_json(proposed, "review", "answer", "4", "no question", code=2)


class TestEditing:
    def test_text_and_fields(self, proposed: Program) -> None:
        words = ("review", "edit", "4", "--text", "Is written in Go", "--field", "since=2026-01")
        assert asked_json(proposed, *words)["ids"] == ["r-002.4"]
        text = (proposed.folder / PENDING).read_text()
        assert "- [ ] `r-002.4` fact for [[project--apollo]]: Is written in Go\n" in text
        assert "- since: 2026-01\n" in text
        assert asked_json(proposed, *words)["commit"] is None
        asked(proposed, "review", "edit", "4", "--field", "since=", "--approve")
        assert boxes(proposed)["r-002.4"] == "approved"
        assert "since" not in (proposed.folder / PENDING).read_text()
        asked_json(proposed, "review", "edit", "4", "--field", "nonsense", code=2)
        asked_json(proposed, "review", "edit", "4", "--field", "color=red", code=2)

    def test_in_an_editor(self, proposed: Program, tmp_path: Path) -> None:
        editor = tmp_path / "editor"
        editor.write_text('#!/bin/sh\nsed -i "s/Rust/Zig/; s/2026-02-01/2025/" "$1"\n')
        editor.chmod(0o755)
        with_editor = proposed.with_environment(EDITOR=str(editor))
        asked(with_editor, "review", "edit", "4")
        text = (proposed.folder / PENDING).read_text()
        assert "Is written in Zig" in text
        assert "- since: 2025\n" in text
        assert "Nothing changed" in asked(with_editor, "review", "edit", "4")
        editor.write_text('#!/bin/sh\necho nothing left > "$1"\n')
        assert "kept in" in asked_json(with_editor, "review", "edit", "4", code=2)["error"]["remedy"]

    def test_without_an_editor_it_says_how_else(self, proposed: Program) -> None:
        assert "--text" in asked_json(proposed, "review", "edit", "4", code=1)["error"]["remedy"]


class TestApplying:
    def test_it_shows_what_will_be_written_and_writes_nothing(self, proposed: Program) -> None:
        asked(proposed, "review", "approve", "3-4")
        before = proposed.files()
        told = asked(proposed, "review", "apply", "--dry-run")
        assert "+- Is written in Rust" in told
        assert "project--apollo.md" in told
        preview = asked_json(proposed, "review", "apply", "--dry-run")
        assert preview["applied"] == ["r-002.3", "r-002.4"]
        assert proposed.files() == before

    def test_without_a_terminal_it_asks_for_yes(self, proposed: Program) -> None:
        asked(proposed, "review", "approve", "3")
        before = proposed.files()
        answer = asked_json(proposed, "review", "apply", code=5)
        assert answer["error"]["kind"] == "confirmation-needed"
        assert answer["applied"] == ["r-002.3"]
        assert "--yes" in answer["error"]["remedy"]
        asked(proposed, "review", "apply", code=5)
        assert proposed.files() == before

    @pytest.mark.parametrize("word", ["approve", "reject"])
    def test_unconfirmed_it_decides_nothing_either(self, proposed: Program, word: str) -> None:
        before = proposed.files()
        answer = asked_json(proposed, "review", word, "3-4", "--apply", code=5)
        named = ["r-002.3", "r-002.4"]
        assert answer["applied" if word == "approve" else "rejected"] == named
        shown = {file["path"]: file["before"] for file in answer["files"]}
        assert shown[PENDING] == PROPOSAL
        assert "Nobody confirmed" in asked(proposed, "review", word, "3-4", "--apply", code=5)
        assert proposed.files() == before

    def test_a_person_is_asked(
        self, proposed: Program, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = iter([False, True])
        questions: list[str] = []

        def confirm(question: str, **_: object) -> bool:
            questions.append(question)
            return next(answers)

        monkeypatch.setattr(click, "confirm", confirm)
        asked(proposed, "review", "approve", "3")
        before = proposed.files()
        asked(proposed, "review", "apply")
        assert proposed.files() == before
        asked(proposed, "review", "apply")
        assert questions == ["Apply 1 approved item?"] * 2
        assert "r-002.3" not in boxes(proposed)

    def test_approve_reject_and_part_of_each(self, proposed: Program) -> None:
        asked(proposed, "review", "reject", "2")
        applied = asked_json(proposed, "review", "approve", "3-4", "--apply", "--yes")
        assert (applied["ok"], applied["outcome"], applied["rejected"]) == (True, "partial", ["r-002.2"])
        assert applied["applied"] == ["r-002.3", "r-002.4"]
        assert set(boxes(proposed)) >= {"r-002.1", "r-002.5"}
        asked(proposed, "review", "reject", "all", "--apply", "--yes")
        assert not (proposed.folder / PENDING).exists()
        assert len(asked_json(proposed, "review", "rejected")["rejections"]) >= 3
        told = asked(proposed, "rollback", "--reflection", "r-002")
        assert "r-002" in told

    def test_rejections_are_listed_and_withdrawn(self, proposed: Program) -> None:
        assert "Nothing was rejected" in asked(proposed, "review", "rejected", code=3)
        asked(proposed, "review", "reject", "4", "--apply", "--yes")
        assert "Is written in Rust" in asked(proposed, "review", "rejected")
        asked_json(proposed, "review", "rejected", "--forget", "r-002.99", code=3)
        assert asked_json(proposed, "review", "rejected", "--forget", "r-002.4")["ids"] == ["r-002.4"]
        asked(proposed, "review", "rejected", code=3)

    def test_nothing_decided_changes_nothing(self, proposed: Program) -> None:
        applied = asked_json(proposed, "review", "apply", "--yes")
        assert (applied["commit"], applied["applied"]) == (None, [])
        assert "nothing is decided" in asked(proposed, "review", "apply", "--yes")


def item(item_id: str, decision: str = "undecided", section: str = "📦 Proposed archival") -> ReviewItem:
    return ReviewItem(item_id, "archive", "", "", "x", "", "", (), decision, section=section)


def review_of(*items: ReviewItem) -> Review:
    return Review("r-002", None, 0.0, False, items, TokenUse(0, 0), CoreTokens(0, 0), 0)


@pytest.mark.parametrize("role", ["main", "agent:scout", "reader"])
def test_who_may_not_decide_is_told_so_though_nothing_waits(agent: Program, role: str) -> None:
    decisions = ("approve 1", "reject all", "edit 1", "answer 1 yes", "resolve 1 this", "apply --yes")
    for decision in decisions:
        done = agent.run("--role", role, "review", *decision.split(), "--json")
        assert (done.returncode, json.loads(done.stdout)["error"]["kind"]) == (5, "role-refused"), decision


def test_a_number_means_the_proposal_s_own_item_and_is_ambiguous_among_those_of_others() -> None:
    assert one_item(review_of(item("r-001.4"), item("r-002.4")), "4") == "r-002.4"
    with pytest.raises(Ambiguous):
        one_item(review_of(item("r-000.4"), item("r-001.4")), "4")
    assert one_item(review_of(item("r-001.4")), "4") == "r-001.4"
    assert one_item(review_of(item("mine")), "mine") == "mine"


def test_sections_and_all_leave_what_was_decided() -> None:
    review = review_of(item("r-002.1", "approved"), item("r-002.2"), item("r-002.3", section="Core"))
    assert chosen_items(review, ["ALL"]) == ("r-002.2", "r-002.3")
    assert chosen_items(review, ["propos"]) == ("r-002.2",)
    assert chosen_items(review, ["all"], undecided=False) == ("r-002.1",)
    assert chosen_items(review, ["3-1"]) == ("r-002.1", "r-002.2", "r-002.3")
    assert chosen_items(review_of(item("r-001.1"), item("r-002.2")), ["1-2"]) == ("r-002.2",)
    with pytest.raises(NotFound):
        chosen_items(review, ["7-9"])


def test_an_agent_with_a_shell_reflects_task_by_task(agent: Program, tmp_path: Path) -> None:
    agent.inside("remember", "Apollo is due on 30 March", "--store", "episodic")
    task = json.loads(agent.inside("reflect", "--hand-out", "--json").stdout)
    assert set(task) == {"task", "phase", "instructions", "material", "schema", "remaining"}
    assert all(set(part) == {"id", "text"} for part in task["material"])
    answer = tmp_path / "answer.json"
    while "task" in task:
        answer.write_text(json.dumps({"task": task["task"], "model": "m", "answer": {"items": []}}))
        task = json.loads(agent.inside("reflect", "--take-in", str(answer), "--json").stdout)
    assert task["ok"] is True
    missing = agent.inside("reflect", "--take-in", str(tmp_path / "none.json"), "--json")
    assert missing.exit_code == 2
    assert json.loads(missing.stdout)["error"]["where"].endswith("none.json")


def test_past_reflections_are_listed_with_what_became_of_them(proposed: Program) -> None:
    assert "No reflection was decided on" in asked(proposed, "review", "past", code=3)
    asked(proposed, "review", "approve", "r-002.3", "r-001.4")
    asked(proposed, "review", "apply", "--yes")
    told = asked(proposed, "review", "past")
    assert "2 accepted\n" in told
    assert "Came over from before" in told
    (past,) = asked_json(proposed, "review", "past")["reflections"]
    assert (past["applied"], past["takenBack"]) == (2, None)
    asked(proposed, "rollback", "--reflection", past["id"])
    assert "taken back" in asked(proposed, "review", "past")


def test_a_schedule_in_a_folder_without_memory_leaves_nothing_there(agent: Program, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    told = agent.json("-w", str(empty), "reflect", "--if-due")
    assert told["id"] is None
    assert told["review"]["id"] is None
    assert list(empty.iterdir()) == []
    assert agent.json("-w", str(empty), "reflect", "due")["waiting"] is None


def test_a_file_is_the_memory_only_where_it_is_meant_to_be_one(agent: Program) -> None:
    agent.run("remember", "The deadline is March 30", "--store", "core")
    agent.run("graph", "add", "tool", "Redis")
    assert agent.json("show", "MEMORY.md")["id"] == "file:MEMORY.md"
    assert agent.json("show", "memory/graph/entities/tool--redis.md")["id"] == "entity:tool--redis"
