"""Core memory: blocks and items of any MEMORY.md."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.markdown.hostile_text import markdown, texts, worded
from workbench.engine.errors import NotFound
from workbench.engine.markdown.core import CORE_BLOCKS, CoreMemory
from workbench.engine.markdown.source import load_template

SAMPLE = (
    "# MEMORY.md — Core Memory\r\n\r\n<!-- TOKEN BUDGET -->\r\n\r\n"
    "## 🧑 [identity]\r\n<!-- who -->\r\n- Name: Alex\r\n- **Role:** engineer\r\n  - of bridges\r\n\r\n"
    "## Promoted From Short-Term Memory (2026-05-14)\r\n"
    "<!-- openclaw-memory-promotion:memory:memory/2026-05-12.md:3:5 -->\r\n"
    "- Staging moved. <!-- importance: 6 --> <!-- trigger: staging -->\r\n\r\n"
    "## CRITICAL FACTS\r\n- Never on Friday 📌\r\n- Never on Friday\r\n\r\nA paragraph.\r\nIts end.\r\n"
)


def read(text: str) -> CoreMemory:
    return CoreMemory.parse(text.encode())


def test_blocks_are_found_whatever_their_headings_look_like() -> None:
    core = read(SAMPLE)
    assert [(block.slug, block.name, block.standard) for block in core.blocks] == [
        ("identity", "Identity", True),
        (
            "promoted-from-short-term-memory-2026-05-14",
            "Promoted From Short-Term Memory (2026-05-14)",
            False,
        ),
        ("critical-facts", "Critical Facts", True),
    ]
    assert core.block("[Identity]") is core.blocks[0]
    assert core.problems == ()


def test_items_have_stable_unique_ids_and_plain_text() -> None:
    items = [item for block in read(SAMPLE).blocks for item in block.items]
    assert [(item.id.partition(":")[2], item.text, item.pinned) for item in items] == [
        ("identity:name", "Name: Alex", False),
        ("identity:role", "**Role:** engineer\n- of bridges", False),
        ("promoted-from-short-term-memory-2026-05-14:staging-moved", "Staging moved.", False),
        ("critical-facts:never-on-friday", "Never on Friday", True),
        ("critical-facts:never-on-friday-2", "Never on Friday", False),
        ("critical-facts:a-paragraph", "A paragraph.\nIts end.", False),
    ]


def test_a_file_without_headings_is_one_block() -> None:
    (block,) = read("- one\n- two\n\nthree\n").blocks
    assert (block.slug, block.heading, [item.text for item in block.items]) == (
        "memory",
        None,
        ["one", "two", "three"],
    )


def test_a_second_standard_block_is_reported() -> None:
    core = read("## Persona\n- a\n\n## persona\n- b\n")
    assert [block.slug for block in core.blocks] == ["persona", "persona-2"]
    assert [problem.line for problem in core.problems] == [4]


def test_replacing_keeps_annotations_marker_and_line_ends() -> None:
    core = read(SAMPLE)
    item = core.blocks[1].items[0]
    changed = core.replace_item(item.id, "Staging is gone.").render().decode()
    assert changed == SAMPLE.replace("- Staging moved. <!--", "- Staging is gone. <!--")
    pinned = core.replace_item("core:critical-facts:never-on-friday", "Never on Monday")
    assert pinned.block("critical").items[0].pinned  # type: ignore[union-attr]  # the block is in the sample


def test_pinning_and_unpinning_touch_one_line() -> None:
    core = read(SAMPLE)
    pinned = core.set_pinned("core:identity:name", True)
    assert pinned.render().decode() == SAMPLE.replace("Name: Alex", "Name: Alex <!-- pinned -->")
    assert pinned.set_pinned("core:identity:name", False).render().decode() == SAMPLE
    assert core.set_pinned("core:critical-facts:never-on-friday", False).render().decode() == SAMPLE.replace(
        " 📌", ""
    )


def test_adding_then_removing_gives_the_file_back() -> None:
    core = read(SAMPLE)
    added = core.add_item("identity", "Timezone: UTC")
    assert added.render().decode() == SAMPLE.replace(
        "  - of bridges\r\n", "  - of bridges\r\n- Timezone: UTC\r\n"
    )
    assert added.remove_item("core:identity:timezone").render().decode() == SAMPLE


def test_missing_standard_blocks_are_made_in_their_place() -> None:
    core = read("## Identity\n- a\n\n## Critical Facts\n- b\n").add_item("persona", "Calm")
    assert [block.name for block in core.blocks] == ["Identity", "Persona", "Critical Facts"]
    whole = CoreMemory.parse(b"").ensure_blocks()
    assert tuple(block.name for block in whole.blocks) == CORE_BLOCKS
    assert whole.render() == load_template("MEMORY.md")


def test_unknown_blocks_and_items_are_refused() -> None:
    core = read(SAMPLE)
    with pytest.raises(NotFound, match="Hobbies"):
        core.add_item("Hobbies", "x")
    with pytest.raises(NotFound, match="core:identity:nothing"):
        core.remove_item("core:identity:nothing")


def test_a_block_body_is_replaced_as_source() -> None:
    core = read(SAMPLE)
    body = core.source.text_of(core.blocks[0].body)
    assert core.set_block_body("identity", body).render().decode() == SAMPLE
    changed = core.set_block_body("identity", "- x\n\n## Persona\n```")
    assert [block.slug for block in changed.blocks] == [block.slug for block in core.blocks]
    assert changed.source.text_of(changed.blocks[0].body) == "- x\n\n\\## Persona\n\\```"


@given(text=worded, block=st.sampled_from(CORE_BLOCKS))
def test_no_item_breaks_out_of_its_block(text: str, block: str) -> None:
    before = CoreMemory.parse(load_template("MEMORY.md")).add_item("Identity", "Name: A")
    after = before.add_item(block, text)
    assert [b.slug for b in after.blocks] == [b.slug for b in before.blocks]
    for old, new in zip(before.blocks, after.blocks, strict=True):
        assert len(new.items) == len(old.items) + (old.name == block)
    assert after.block(block).items[-1].span.end == after.block(block).body.end  # type: ignore[union-attr]  # standard


@given(body=texts())
def test_no_body_breaks_out_of_its_block_and_writing_it_again_changes_nothing(body: str) -> None:
    before = CoreMemory.parse(load_template("MEMORY.md"))
    after = before.set_block_body("persona", body)
    assert [block.slug for block in after.blocks] == [block.slug for block in before.blocks]
    assert [block.text for block in after.blocks if block.slug != "persona"] == [
        block.text for block in before.blocks if block.slug != "persona"
    ]
    persona = next(block for block in after.blocks if block.slug == "persona")
    assert after.set_block_body("persona", after.source.text_of(persona.body)).render() == after.render()


@given(content=markdown)
def test_edits_of_an_item_change_only_its_lines(content: bytes) -> None:
    core = CoreMemory.parse(b"## Identity\n- Name: A\n\n## Persona\n" + content)
    changed = core.replace_item("core:identity:name", "Name: B")
    assert changed.source.lines[2:] == core.source.lines[2:]
    assert changed.source.lines[1] == "- Name: B"


def test_an_unsettled_item_says_what_it_contradicts_and_keeps_its_id() -> None:
    text = b"## Active Context\n- Due on March 15 <!-- pinned -->\n- Tea\n"
    memory = CoreMemory.parse(text)
    item = memory.blocks[0].items[0]
    marked = CoreMemory.parse(
        memory.set_contradicted(item.id, ["episode:2026-02-02:14:30", "entity:a--b#^f1"]).render()
    )
    assert marked.contradicted_by(item.id) == ("episode:2026-02-02:14:30", "entity:a--b#^f1")
    assert [(each.id, each.text, each.pinned) for each in marked.blocks[0].items] == [
        (each.id, each.text, each.pinned) for each in memory.blocks[0].items
    ]
    assert marked.replace_item(item.id, "Due on March 16").contradicted_by(
        "core:active-context:due-on-march-16"
    )
    assert marked.set_contradicted(item.id, []).render() == text
