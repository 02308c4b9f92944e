"""Rows of lists: the text gives way to how something stands, and a remark gives way to the text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from tests.display.test_actions import action
from workbench.display.actions import action_row
from workbench.display.found import hit_row, hit_words
from workbench.display.ink import Line, line_width, plain_text
from workbench.display.rows import item_row, memory_row
from workbench.engine.results.memories import CoreItem
from workbench.engine.results.recall import Hit, HitRelation, Signals

LONG = "The harbour office asked for the papers of every boat that lies at the northern quay"
NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)


def hit(**given: object) -> Hit:
    plain = {
        "id": "episode:2026-11-09:10:00", "path": "memory/episodes/2026-11-09.md", "start_line": 1, "end_line": 1,
        "snippet": LONG, "score": 0.5, "store": "episodic", "status": "fading", "title": LONG, "date": "2026-11-09",
        "signals": Signals(0.5, 0.5, 0.0, 1.0),
    }  # fmt: skip
    return Hit(**{**plain, **given})  # type: ignore[arg-type]


def shown(line: Line, width: int) -> str:
    assert line_width(line) <= width
    return plain_text(line).rstrip()


@pytest.mark.parametrize("width", [24, 34, 44, 70, 100])
def test_how_something_stands_is_never_pushed_out_by_its_words(width: int) -> None:
    today = NOW.date()
    assert "fading" in shown(hit_row(hit(), "papers", today, width), width)
    assert "outdated" in shown(
        hit_row(hit(outdated_by="episode:2026-11-10:10:00"), "papers", today, width), width
    )
    assert shown(memory_row("episodic", LONG, "10:00", width, state="archived"), width).find("archived") > 0
    assert shown(item_row(CoreItem("core:a:b", LONG, pinned=True), width), width).endswith("◆")
    assert "taken back" in shown(
        action_row(action(f"logged “{LONG}”", undone_by="b" * 40), NOW, width), width
    )


def test_the_day_of_a_result_stands_beside_its_words_in_a_list_of_half_a_screen() -> None:
    today = date(2026, 11, 24)
    assert shown(hit_row(hit(), "papers", today, 46), 46).endswith("fading  9 Nov")
    assert shown(hit_row(hit(status="active"), "papers", today, 37), 37).endswith("9 Nov")
    assert not shown(hit_row(hit(status="active"), "papers", today, 30), 30).endswith("9 Nov")


def test_the_row_of_an_entity_says_the_fact_that_search_found_to_answer() -> None:
    facts = (
        "# Marta\n\n## Facts\n- Marta works as a harbour pilot (since 2026-03-01) ^a1\n"
        "- Marta likes rye bread (since 2026-06-01) ^a2\n"
        "- Her work as a cook ended (2026-01-20 to 2026-02-01) ^a3"
    )
    entity = hit(id="entity:person--marta", store="semantic", title="Marta", snippet=facts, end_line=6)
    # Nothing of the question stands in a fact but the name, which stands in all of them.
    assert hit_words(replace(entity, matched=(3, 4)), "Marta job") == "Marta works as a harbour pilot"
    assert hit_words(replace(entity, matched=(5, 5)), "Marta job") == "Marta likes rye bread"
    # What no longer holds answers only where nothing else does.
    assert hit_words(entity, "work of Marta") == "Marta works as a harbour pilot"
    assert hit_words(entity, "the cook") == "Marta: Her work as a cook ended"


def test_a_fact_that_answers_as_much_comes_before_a_relation_which_names_the_other_by_its_label() -> None:
    relation = HitRelation("entity:person--marta", "relates-to", "entity:concept--pilot-house", "Pilot House")
    marta = hit(
        id="entity:person--marta",
        store="semantic",
        title="Marta",
        snippet="# Marta\n- Marta rents the pilot house ^a1\n- relates-to: [[concept--pilot-house]] ^r1",
        end_line=3,
        matched=(3, 3),
        relations=(relation,),
    )
    assert hit_words(marta, "the pilot house") == "Marta rents the pilot house"
    joined = replace(marta, snippet=marta.snippet.replace("the pilot house", "a flat"))
    assert hit_words(joined, "the pilot house") == "Marta relates to Pilot House"


def test_a_fact_that_is_cut_keeps_whom_it_is_about() -> None:
    fact = "Marta reviews the handbook of the harbour office every Thursday"
    entity = hit(id="entity:person--marta", store="semantic", title="Marta", snippet=f"- {fact}", date=None)
    drawn = shown(hit_row(entity, "who reviews the handbook of the harbour", NOW.date(), 42), 42)
    assert drawn.startswith("◇ Marta reviews the handbook")
    # Of what is much longer, the part that answers is shown.
    long = replace(entity, snippet=f"- Marta writes letters {'to people ' * 12}and reviews the handbook")
    assert "reviews the handbook" in shown(hit_row(long, "who reviews the handbook", NOW.date(), 42), 42)


def test_list_items_of_free_text_are_held_apart() -> None:
    text = "# Tools\n\n- `terms` looks a word up\n  in the glossary\n- The portal is for invoices"
    note = hit(id="file:TOOLS.md", store="file", title="", snippet=text)
    assert hit_words(note, "portal") == "`terms` looks a word up in the glossary · The portal is for invoices"
    assert (
        hit_words(replace(note, snippet="The first line\nand the second"), "line")
        == "The first line and the second"
    )
