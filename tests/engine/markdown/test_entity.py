"""Entity files: everything known about one thing, and edits that touch one line."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from tests.engine.markdown.hostile_text import any_bytes, texts, worded
from workbench.engine.errors import NotFound
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.markup import clean_item
from workbench.engine.markdown.source import text_lines
from workbench.engine.markdown.statements import Provenance

PATH = "memory/graph/entities/project--moltbot-memory.md"
SAMPLE = """# project--moltbot-memory

<!-- Type: project | Created: 2026-01-15 | Last updated: 2026-02-02 -->
<!-- Decay score: 0.95 | Access count: 14 | Pinned: yes -->

## Summary
Building a memory system.
Human-like.

## Facts
- Routing: LLM-classified (not keyword heuristic)
- Forgetting is by decay (since 2026-02-02, from episode:2026-02-02:14:30) ^f7k2

## Superseded
- Forgetting is by hard delete (2026-01-20 to 2026-02-02, superseded by ^f7k2) ^f3c1

## Timeline
- 2026-01-15: Research began
- 2026-02-02: Direction chosen

## Open Questions
- Half-life?

## Relations
- Developed by: [[person--alex]]
- Inspired by: [[concept--letta|Letta]], [[concept--cognitive]]
- develops: [[project--x]] (confidence high, since 2026-01-01) ^r3k1

## Diary
Kept as it is.
"""


@pytest.fixture
def entity() -> EntityFile:
    return EntityFile.parse(SAMPLE.encode(), PATH)


def lines_changed(before: EntityFile, after: EntityFile) -> tuple[set[str], set[str]]:
    old, new = before.source.lines, after.source.lines
    return {line for line in old if line not in new}, {line for line in new if line not in old}


def test_the_sample_is_read(entity: EntityFile) -> None:
    assert (entity.id, entity.type, entity.label, entity.created, entity.pinned) == (
        "project--moltbot-memory",
        "project",
        "moltbot memory",
        "2026-01-15",
        True,
    )
    assert entity.summary == "Building a memory system.\nHuman-like."
    assert [(fact.text, fact.block_id) for fact in entity.facts] == [
        ("Routing: LLM-classified (not keyword heuristic)", None),
        ("Forgetting is by decay", "f7k2"),
    ]
    assert entity.retired[0].provenance.successor_block == "f7k2"
    assert [(dated.date, dated.text) for dated in entity.timeline] == [
        ("2026-01-15", "Research began"),
        ("2026-02-02", "Direction chosen"),
    ]
    assert [(relation.name, relation.targets) for relation in entity.relations] == [
        ("Developed by", ("person--alex",)),
        ("Inspired by", ("concept--letta", "concept--cognitive")),
        ("develops", ("project--x",)),
    ]
    assert [question.text for question in entity.questions] == ["Half-life?"]
    assert (entity.others, entity.problems) == (("Diary",), ())


def test_aliases_are_read_from_everywhere() -> None:
    content = "---\naliases: [One, 'Two']\n---\n# T\n<!-- Aliases: Three -->\n\n## Aliases\n- Four\n"
    entity = EntityFile.parse(content.encode(), PATH)
    assert entity.aliases == ("Four", "Three", "One", "Two")
    assert entity.label == "T"


def test_a_relation_without_entity_is_reported() -> None:
    entity = EntityFile.parse(b"## Relations\n- uses: nothing\n- uses: [[tool--x]]\n", PATH)
    assert [problem.line for problem in entity.problems] == [2]
    assert len(entity.relations) == 1


def test_adding_a_fact_adds_one_line(entity: EntityFile) -> None:
    added = entity.add_fact("Budget is 3,000", Provenance(confidence="high"), block_id="f9")
    gone, new = lines_changed(entity, added)
    assert (gone, len(new)) == (set(), 1)
    fact = added.facts[-1]
    assert (fact.text, fact.provenance.confidence) == ("Budget is 3,000", "high")
    assert fact.block_id == "f9"
    assert added.remove_block("f9").render() == entity.render()


def test_retiring_moves_the_line_and_restoring_moves_it_back(entity: EntityFile) -> None:
    retired = entity.retire(entity.facts[1], until="2026-03-01", by="fabc")
    assert [fact.block_id for fact in retired.facts] == [None]
    assert retired.retired[-1].text == "Forgetting is by decay"
    assert retired.retired[-1].provenance == Provenance(
        "2026-02-02", "2026-03-01", ("episode:2026-02-02:14:30",), "fabc"
    )
    assert retired.restore_fact("f7k2").render() == entity.render()


def test_retiring_a_plain_fact_gives_it_the_id_that_was_made_for_it(entity: EntityFile) -> None:
    retired = entity.retire(entity.facts[0], until="2026-03-01", block_id="f9")
    assert retired.retired[-1].text == "Routing: LLM-classified (not keyword heuristic)"
    assert retired.retired[-1].block_id == "f9"


def test_missing_sections_are_made_in_their_order() -> None:
    entity = EntityFile.create(
        "memory/graph/entities/person--alex.md", label="Alex | -->", created="2026-01-01"
    )
    entity = (
        entity.add_relation("uses", "tool--x").add_fact("a").set_summary("s").add_alias("Al").add_alias("al")
    )
    assert entity.others == ()
    heads = [line for line in entity.source.lines if line.startswith("## ")]
    assert heads == ["## Aliases", "## Summary", "## Facts", "## Relations"]
    assert (entity.type, entity.created, entity.aliases) == ("person", "2026-01-01", ("Al",))
    assert entity.label == "Alex / –›"


def test_rewording_keeps_provenance_and_id(entity: EntityFile) -> None:
    changed = entity.replace_fact("f7k2", "New words")
    assert lines_changed(entity, changed)[1] == {
        "- New words (since 2026-02-02, from episode:2026-02-02:14:30) ^f7k2"
    }


def test_one_target_of_several_can_be_removed(entity: EntityFile) -> None:
    changed = entity.remove_relation("inspired by", "concept--letta")
    assert lines_changed(entity, changed) == (
        {"- Inspired by: [[concept--letta|Letta]], [[concept--cognitive]]"},
        {"- Inspired by: [[concept--cognitive]]"},
    )
    assert len(changed.remove_relation("Inspired by", "concept--cognitive").relations) == 2
    with pytest.raises(NotFound):
        entity.remove_relation("uses", "tool--x")


def test_the_timeline_stays_in_order(entity: EntityFile) -> None:
    dates = [
        dated.date
        for dated in entity.add_timeline("2026-01-20", "x").add_timeline("2027-01-01", "y").timeline
    ]
    assert dates == ["2026-01-15", "2026-01-20", "2026-02-02", "2027-01-01"]


def test_doubled_block_ids_are_reported() -> None:
    entity = EntityFile.parse(b"## Facts\n- a ^f1\n- b ^f1\n", PATH)
    assert [problem.line for problem in entity.problems] == [3]


@given(text=worded, other=worded)
def test_facts_of_any_text_read_back(text: str, other: str) -> None:
    entity = EntityFile.parse(SAMPLE.encode(), PATH)
    added = entity.add_fact(text, Provenance(since="2026-01-01"))
    added = added.add_fact(other, block_id="f9").add_question(text)
    assert [fact.text for fact in added.facts[2:]] == [clean_item(text), clean_item(other)]
    assert added.facts[2].provenance == Provenance(since="2026-01-01")
    assert (len(added.retired), len(added.relations), len(added.questions)) == (1, 3, 2)
    reworded = added.replace_fact("f9", text)
    assert reworded.facts[3].text == clean_item(text)


@given(text=texts())
def test_summaries_of_any_text_read_back(text: str) -> None:
    entity = EntityFile.parse(SAMPLE.encode(), PATH).set_summary(text)
    assert entity.summary == "\n".join(text_lines(text))
    assert (len(entity.facts), len(entity.relations)) == (2, 3)


@example(content=b"\n\0\n  #")
@example(content=b"   ## Next\n")
@given(content=any_bytes)
def test_adding_to_any_file_keeps_its_lines(content: bytes) -> None:
    entity = EntityFile.parse(b"## Facts\n- a\n" + content, PATH)
    added = entity.add_fact("new")
    assert "new" in [fact.text for fact in added.facts]
    assert not [line for line in entity.source.lines if line not in added.source.lines]


def test_a_retired_relation_keeps_its_line_and_comes_back() -> None:
    entity = EntityFile.parse(SAMPLE.encode(), PATH)
    relation = entity.relations[2]
    retired = entity.retire(relation, until="2026-03-01")
    assert (
        "- develops: [[project--x]] (confidence high, 2026-01-01 to 2026-03-01) ^r3k1\n"
        in retired.source.text
    )
    assert [fact.text for fact in retired.retired][-1] == "develops: [[project--x]]"
    assert relation.block_id not in {each.block_id for each in retired.relations}
    back = retired.restore_fact("r3k1")
    assert back.relations[2].block_id == "r3k1"
    assert back.render() == entity.render()


def test_a_relation_without_a_block_id_is_given_one_when_it_is_retired() -> None:
    entity = EntityFile.parse(SAMPLE.encode(), PATH)
    retired = entity.retire(entity.relations[1], block_id="r9")
    assert retired.retired[-1].text == "Inspired by: [[concept--letta|Letta]], [[concept--cognitive]]"
    assert retired.restore_fact("r9").relations[-1].targets == ("concept--letta", "concept--cognitive")
    with pytest.raises(NotFound):
        retired.retire(entity.relations[1])


@pytest.mark.parametrize("text", ["Prefers [[tool--git]]: always", "Likes: tea", "uses: [[tool--git]] daily"])
def test_what_says_more_than_a_relation_comes_back_as_a_fact(text: str) -> None:
    line = f"## Superseded\n- {text} (until 2026-01-01) ^abc1\n"
    entity = EntityFile.parse(line.encode(), PATH).restore_fact("abc1")
    assert [fact.text for fact in entity.facts] == [text]
    assert entity.relations == ()
