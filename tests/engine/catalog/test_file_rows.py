"""What each kind of file gives, however it is written."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.catalog.shelf import ENTITIES, ZONE, day, entity, episode
from workbench.engine import layout
from workbench.engine.catalog.file_rows import MOST_CHARACTERS, FileRows, extract, links_in, title_of
from workbench.engine.memory.graph_changes import record_merge, render_stub

KINDS = (
    "MEMORY.md",
    "SOUL.md",
    "memory/2026-02-01.md",
    "memory/2026-02-01-deploy.md",
    "memory/notes.md",
    "memory/episodes/2026-02-02.md",
    f"{ENTITIES}/person--alex.md",
    "memory/graph/relations.md",
    "memory/procedures/how-to-deploy.md",
    "memory/vault/deep/letter.md",
    "memory/meta/evolution.md",
    "memory/meta/decay-scores.json",
)


def rows(path: str, text: str | bytes) -> FileRows:
    return extract(path, text if isinstance(text, bytes) else text.encode(), ZONE)


def test_core_items_carry_their_block_and_pin() -> None:
    found = rows(
        "MEMORY.md", "## Identity\n- Name: Ada <!-- pinned -->\n- Likes tea\n  in the morning\n"
    ).memories
    assert [(m.id, m.type, m.start_line, m.end_line, m.pinned) for m in found] == [
        ("core:identity:name", "Identity", 2, 2, True),
        ("core:identity:likes-tea", "Identity", 3, 4, False),
    ]
    assert found[0].text == "Name: Ada"


def test_episodes_carry_what_their_heading_says() -> None:
    log = day(
        "2026-02-02",
        episode(
            "14:30",
            "Chose hybrid. More.\n\nSecond.",
            kind="decision",
            rest=" | confidence:high | tags:[auth, Größe] | source:user-explicit",
        ),
        episode("14:30", "Again.", rest=""),
    )
    first, second = rows("memory/episodes/2026-02-02.md", log).memories
    assert (first.id, first.type, first.confidence, first.source, first.tags) == (
        "episode:2026-02-02:14:30",
        "decision",
        "high",
        "user-explicit",
        ("auth", "Größe"),
    )
    assert first.moment == datetime(2026, 2, 2, 14, 30, tzinfo=ZONE)
    assert (first.start_line, first.text_line, first.end_line) == (3, 4, 6)
    assert first.title == "Chose hybrid."
    assert second.id == "episode:2026-02-02:14:30#2"
    assert (second.source, second.text_line) == ("conversation", second.start_line + 1)


def test_a_body_after_blank_lines_knows_its_line() -> None:
    (record,) = rows("memory/episodes/2026-02-02.md", "## 09:00 | fact\n\n\n\nBody here.\n\nEnd.\n").memories
    assert (record.text_line, record.text) == (5, "Body here.\n\nEnd.")


def test_episodes_of_a_day_that_does_not_exist_are_found_but_not_on_the_timeline() -> None:
    found = rows("memory/episodes/2026-02-31.md", day("2026-02-31", episode("09:00", "Odd.")))
    assert [m.text for m in found.memories] == ["Odd."]
    assert found.memories[0].moment is None
    assert found.sort_keys == {}


TITLE = "# 2026-02-02 — Episode Log"
FREE = f"""Written above everything.

{TITLE}

A paragraph before the entries.

| city | rent |
| --- | --- |
| Rome | 900 |

## 14:30 | decision | confidence:high

Chose hybrid.

## Shopping

- eggs

# Afterwards

<!-- a comment for programs -->

4711
"""


@pytest.mark.parametrize("path", ["memory/2026-02-02.md", "memory/episodes/2026-02-02.md"])
def test_every_line_that_a_person_writes_into_a_log_belongs_to_a_memory(path: str) -> None:
    found = rows(path, FREE)
    lines = FREE.split("\n")
    held = {number for m in found.memories for number in range(m.start_line, m.end_line + 1)}
    assert {line for number, line in enumerate(lines, 1) if line and number not in held} <= {TITLE}
    assert [m.start_line for m in found.memories] == sorted(m.start_line for m in found.memories)
    assert all(m.moment is not None and m.moment.date().isoformat() == "2026-02-02" for m in found.memories)
    assert found.sort_keys.keys() == {m.id for m in found.memories}
    for m in found.memories:
        if m.store == "file":
            assert m.text == "\n".join(lines[m.start_line - 1 : m.end_line])


def test_the_title_of_a_log_and_comments_in_it_are_no_memory() -> None:
    text = "# 2026-02-02 — Episode Log\n\n<!-- made by a program -->\n"
    assert rows("memory/episodes/2026-02-02.md", text).memories == ()
    assert rows("memory/2026-02-02.md", "# 2026-02-02\n").memories == ()
    (titled,) = rows("memory/2026-02-02.md", "# Trip to Rome\n").memories
    assert (titled.start_line, titled.title) == (1, "Trip to Rome")


def test_text_of_core_memory_outside_its_items_is_a_memory_and_a_bare_block_is_none() -> None:
    text = "Read me first.\n\n# Memory\n\n## Identity\n<!-- who -->\n\n## Persona\n- Is kind\n\n```\nmake deploy\n```\n"
    assert [m.text for m in rows("MEMORY.md", text).memories if m.store == "file"] == [
        "Read me first.",
        "```\nmake deploy\n```",
    ]


def test_no_two_memories_share_a_sort_key() -> None:
    text = "# Log\n\n## 09:00\nOne\n\n## 09:00\nTwo\n"
    keys = [
        key
        for path in ("memory/2026-02-02.md", "memory/2026-02-02-work.md", "memory/episodes/2026-02-02.md")
        for key in rows(path, text).sort_keys.values()
    ]
    assert len(keys) == len(set(keys)) == 6
    assert all(key.startswith("2026-02-02T09:00|") for key in keys)


def test_entities_give_facts_edges_and_links() -> None:
    text = entity(
        "Alex Chen",
        header="Type: person | Created: 2026-01-15",
        aliases=("Lexi",),
        summary="Works on memory. Lives in Rome.",
        facts=(
            "Prefers hybrid (since 2026-02-02, from episode:2026-02-02:14:30) ^f7k2",
            "Plain one about [[project--x]]",
        ),
        relations=("works on: [[project--x]] (confidence high, since 2026-01-15) ^r3k1",),
    )
    found = rows(f"{ENTITIES}/person--alex.md", text)
    (record,) = found.memories
    assert (record.id, record.type, record.title) == ("entity:person--alex", "person", "Alex Chen")
    assert record.moment == datetime(2026, 1, 15, tzinfo=ZONE)
    (known,) = found.entities
    assert (known.label, known.aliases, known.summary) == ("Alex Chen", ("Lexi",), "Works on memory.")
    assert [fact.id for fact in found.facts] == ["entity:person--alex#^f7k2", "entity:person--alex"]
    assert found.facts[0].provenance == ("episode:2026-02-02:14:30",)
    (edge,) = found.edges
    assert (edge.from_, edge.to, edge.confidence, edge.block) == (
        "entity:person--alex",
        "entity:project--x",
        "high",
        "r3k1",
    )
    assert ("entity:person--alex#^f7k2", "episode:2026-02-02:14:30") in found.links
    assert ("entity:person--alex", "entity:project--x") in found.links


def test_a_merged_entity_says_into_which_and_is_no_memory() -> None:
    from workbench.engine.markdown.entity import EntityFile

    original = entity("Lexi", facts=("Likes tea ^f1",), relations=("knows: [[person--bo]] ^r1",)).encode()
    absorbed = EntityFile.parse(original, f"{ENTITIES}/person--lexi.md")
    stub = render_stub(
        absorbed, "person--alex", "2026-02-02", record_merge(b"# Alex\n", b"# Alex\nx\n", original, (), ())
    )
    found = rows(f"{ENTITIES}/person--lexi.md", stub)
    assert found.merged_into == {"entity:person--lexi": "entity:person--alex"}
    assert (found.memories, found.facts, found.edges) == ((), (), ())
    # Whoever renames or erases an entity has to find it here as well.
    assert ("entity:person--lexi", "entity:person--bo") in found.links


@pytest.mark.parametrize(
    "value", ["[[person--alex]]", "[[person--alex|Alex]]", "person--alex", "entity:person--alex"]
)
def test_a_merge_may_be_written_by_hand(value: str) -> None:
    found = rows(f"{ENTITIES}/person--lexi.md", f"# Lexi\n<!-- Merged into: {value} -->\n")
    # A bar parts the fields of a header, so an alias in the link leaves only what stands before it.
    assert found.merged_into == {"entity:person--lexi": "entity:person--alex"}


def test_procedures_and_vault_notes_are_one_memory_each() -> None:
    (procedure,) = rows("memory/procedures/how-to-deploy.md", "# How to deploy\n\n1. Push\n").memories
    assert (procedure.id, procedure.store, procedure.title) == (
        "procedure:how-to-deploy",
        "procedural",
        "How to deploy",
    )
    (note,) = rows("memory/vault/deep/letter.md", "---\ntags: x\n---\n# Letter\n\nDear A.\n").memories
    assert (note.id, note.store, note.title, note.end_line) == ("vault:deep/letter.md", "vault", "Letter", 6)


def test_flat_logs_of_other_agents_stand_on_the_timeline() -> None:
    text = "# 2026-02-01\n\n## 09:15 Deploy\nWent well.\n\n## Notes\n- a\n"
    found = rows("memory/2026-02-01-deploy.md", text)
    assert [(m.id, m.type, m.tags) for m in found.memories] == [
        ("file:memory/2026-02-01-deploy.md#L3-L4", "log", ("deploy",)),
        ("file:memory/2026-02-01-deploy.md#L6-L7", "log", ("deploy",)),
    ]
    assert list(found.sort_keys) == [m.id for m in found.memories]


def test_free_text_is_parted_at_its_headings() -> None:
    found = rows("SOUL.md", "Preamble.\n\n# Who\nMe.\n\n## Why\nBecause.\n").memories
    assert [(m.id, m.title, m.text) for m in found] == [
        ("file:SOUL.md#L1-L1", "SOUL.md", "Preamble."),
        ("file:SOUL.md#L3-L4", "Who", "# Who\nMe."),
        ("file:SOUL.md#L6-L7", "Why", "## Why\nBecause."),
    ]


def test_long_free_text_is_parted_between_lines() -> None:
    lines = [f"Line {number} of the tale." for number in range(3_000)]
    found = rows("memory/tale.md", "\n".join(lines)).memories
    assert len(found) > 2
    assert "\n".join(m.text for m in found).split("\n") == lines
    assert [m.start_line for m in found[1:]] == [m.end_line + 1 for m in found[:-1]]


@pytest.mark.parametrize(
    "path", ["memory/meta/evolution.md", "memory/graph/relations.md", "memory/meta/decay-scores.json"]
)
def test_bookkeeping_is_no_memory(path: str) -> None:
    assert rows(path, "# Log\n\ntext\n") == FileRows()


def test_broken_parts_are_reported_and_hide_nothing() -> None:
    found = rows(
        "memory/episodes/2026-02-02.md",
        "# x\n\n## no time | fact\nLost?\n\n## 25:61 | fact\nOdd\n\n## 10:00 | fact\nFine.\n",
    )
    assert [m.text for m in found.memories if m.store == "episodic"] == ["Fine."]
    assert [m.text for m in found.memories if m.store == "file"] == [
        "## no time | fact\nLost?",
        "## 25:61 | fact\nOdd",
    ]
    assert [problem.line for problem in found.problems] == [3, 6]


@pytest.mark.parametrize("path", [kind for kind in KINDS if "meta" not in kind and "relations" not in kind])
def test_bytes_that_are_no_text_are_reported_and_replaced(path: str) -> None:
    found = rows(path, b"# Title\n\n## 09:00 | fact\n- Na\xefve caf\xe9 \xf0\x9f text\n")
    assert any("UTF-8" in problem.message and problem.line == 4 for problem in found.problems)
    assert found.memories
    for record in found.memories:
        f"{record.id}{record.title}{record.text}".encode()


@pytest.mark.parametrize("path", KINDS)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(path: str, ending: str) -> None:
    text = "# 2026-02-02 — Log\n\n## 09:00 | fact\n- One [[person--bo]]\n- Two\n\n## Facts\n- Three ^f1\n"
    plain, other = rows(path, text), rows(path, "\ufeff" + text.replace("\n", ending))
    assert other == plain


@pytest.mark.parametrize("path", KINDS)
@settings(max_examples=40)
@given(content=st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read(path: str, content: bytes) -> None:
    found = extract(path, content, ZONE)
    count = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1
    for record in found.memories:
        assert 1 <= record.start_line <= record.end_line <= count
        assert record.start_line <= (record.text_line or record.start_line) <= record.end_line
        assert record.store in (layout.store_of(path), "file")


markdown = st.lists(
    st.sampled_from(
        [
            "# Title",
            "## 09:00 | fact",
            "## 9:5",
            "- item ^f1",
            "  nested",
            "```",
            "<!-- x",
            "-->",
            "---",
            "[[a--b]]",
            "> q",
            "| a | b |",
            "1. x",
            "",
            "   ",
            "\t- deep",
            "=====",
            "## Facts",
            "## Relations",
            "- knows: [[x--y]]",
            "text",
        ]
    ),
    max_size=30,
).map("\n".join)


@pytest.mark.parametrize("path", KINDS)
@settings(max_examples=40)
@given(text=markdown)
def test_any_markdown_is_read(path: str, text: str) -> None:
    found = rows(path, text)
    assert len({record.id for record in found.memories}) == len(found.memories)


@pytest.mark.parametrize("path", KINDS)
def test_a_line_of_a_million_characters_takes_no_time(path: str) -> None:
    started = time.process_time()
    found = rows(
        path, "# T\n\n## 09:00 | fact\n- " + "word. [[a--b]] " * 70_000 + "\n\n## 10:00 | fact\nAfter.\n"
    )
    assert time.process_time() - started < 5
    assert all(len(record.text) <= MOST_CHARACTERS and len(record.title) <= 200 for record in found.memories)
    if "meta" not in path and "relations" not in path:
        assert any("beginning" in problem.message for problem in found.problems)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Chose it. Then left.", "Chose it."),
        ("Use e.g. pytest. Then go.", "Use e.g. pytest."),
        ("Met J. Smith. Nice.", "Met J. Smith."),
        ("Dr. Okoro is the dentist. He is kind.", "Dr. Okoro is the dentist."),
        ("今天开会。明天休息。", "今天开会。"),
        ("- **Deploy** on Friday", "**Deploy** on Friday"),
        ("\n\n# Heading\ntext", "Heading"),
        ("Version 3.11 works", "Version 3.11 works"),
        ("x" * 300, "x" * 99 + "…"),
        ("", ""),
    ],
)
def test_a_title_is_the_first_sentence(text: str, title: str) -> None:
    assert title_of(text) == title


def test_links_are_wikilinks_and_episode_ids() -> None:
    text = "[[person--alex|Alex]] and [[entities/project--x.md#Facts]] and [[Some Note]], episode:2026-02-02:14:30#2"
    assert links_in(text) == [
        "entity:person--alex",
        "entity:project--x",
        "entity:note--some-note",
        "episode:2026-02-02:14:30#2",
    ]
