"""Merging two entities and parting them again."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory.library import ALEX, NOW, Even, Library, entity
from workbench.engine import layout
from workbench.engine.errors import DocumentError, InvalidInput
from workbench.engine.history.plan import Action
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.memory.entities import EntityName, merged_into
from workbench.engine.memory.graph import Origin, add_fact, project_all, retire_stated
from workbench.engine.memory.graph_changes import plan_merge, plan_unmerge

OTHER = "memory/graph/entities/person--alexander.md"
KEPT = entity(
    "Alex",
    "## Facts\n- Likes tea ^f1aa\n\n## Open Questions\n- Is this the same as [[person--alexander]]?\n\n"
    "## Relations\n- develops: [[project--x]] ^r1aa\n",
)
ABSORBED = entity(
    "Alexander",
    "## Aliases\n- Sasha\n\n## Summary\nA person.\n\n## Facts\n- likes TEA.\n"
    "- Lives in Kiel (since 2026-01-01, from episode:2026-01-01:10:00) ^f1aa\n\n"
    "## Superseded\n- Lives in Bonn (2025-01-01 to 2026-01-01, superseded by ^f1aa) ^f2bb\n\n"
    "## Timeline\n- 2026-01-01: moved (from episode:2026-01-01:10:00)\n- undated\n\n"
    "## Open Questions\n- Is this the same as [[person--alex]]?\n- Where next?\n\n"
    "## Relations\n- develops: [[project--x]]\n- uses: [[tool--y]], [[person--alex]]\n\n"
    "## Odd ones\nkeep me\n````\nfenced\n````",
)


@pytest.fixture
def files() -> Library:
    return Library({ALEX: KEPT, OTHER: ABSORBED})


def test_everything_moves_once_and_says_where_it_came_from(files: Library) -> None:
    plan = plan_merge(files.files(), "Alex", "Alexander")
    assert {change.action for change in plan.changes} == {Action.MERGE}
    outcome = files.apply(plan)
    kept = files.entity_file("person--alex")
    assert [fact.text for fact in kept.facts] == ["Likes tea", "Lives in Kiel"]
    moved, retired = kept.facts[1], kept.retired[0]
    assert moved.provenance.sources == ("episode:2026-01-01:10:00", "entity:person--alexander")
    assert moved.block_id != "f1aa"
    assert (retired.block_id, retired.provenance.successor_block) == ("f2bb", moved.block_id)
    assert kept.aliases == ("Alexander", "Sasha")
    assert kept.summary == "A person."
    assert [(dated.date, dated.text) for dated in kept.timeline] == [
        ("2026-01-01", "moved"),
        (None, "undated"),
    ]
    assert [question.text for question in kept.questions] == ["Where next?"]
    assert [(each.name, each.targets) for each in kept.relations] == [
        ("develops", ("project--x",)),
        ("uses", ("tool--y",)),
    ]
    assert "Odd ones" in outcome.warnings[0]
    assert EntityFile.parse(files.contents[ALEX], ALEX).problems == ()


def test_the_absorbed_name_and_links_lead_on(files: Library) -> None:
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    stub = files.entity_file("person--alexander")
    assert merged_into(stub) == "person--alex"
    assert (stub.facts, stub.relations, stub.timeline) == ((), (), ())
    for name in ("Alexander", "Sasha", "person--alexander", "entity:person--alexander"):
        assert files.files().find(name).id == "person--alex"
    assert files.files().resolve(EntityName("Alexander", "person")).id == "person--alex"


def test_unmerging_gives_the_bytes_of_both_files_back(files: Library) -> None:
    before = dict(files.contents)
    files.apply(plan_merge(files.files(), "person--alex", "person--alexander"))
    files.apply(plan_unmerge(files.files(), "person--alexander"))
    assert files.contents == before


def test_what_was_added_since_stays_when_parted(files: Library) -> None:
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    later = files.files()
    add_fact(later, "person--alexander", "Learns Danish", Origin())
    files.apply(later.draft.plan(Action.EDIT, ALEX, "added", None))
    files.apply(plan_unmerge(files.files(), "entity:person--alexander"))
    kept = files.entity_file("person--alex")
    assert files.text(OTHER) == ABSORBED
    assert [fact.text for fact in kept.facts] == ["Likes tea", "Learns Danish"]
    assert (kept.retired, kept.timeline, kept.aliases, kept.summary) == ((), (), (), "")
    assert [question.text for question in kept.questions] == ["Is this the same as [[person--alexander]]?"]
    assert [relation.name for relation in kept.relations] == ["develops"]
    assert "## Superseded" not in files.text(ALEX)


def test_a_moved_fact_that_changed_since_is_not_lost(files: Library) -> None:
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    later = files.files()
    moved = files.entity_file("person--alex").facts[1]
    add_fact(later, "person--alex", "Lives in Oslo", Origin())
    retire_stated(later, "person--alex", moved.text)
    files.apply(later.draft.plan(Action.EDIT, ALEX, "moved", None))
    outcome = files.apply(plan_unmerge(files.files(), "person--alexander"))
    assert "Lives in Kiel" in outcome.warnings[0]
    kept = files.entity_file("person--alex")
    assert [fact.text for fact in kept.facts] == ["Likes tea", "Lives in Oslo"]
    assert [fact.text for fact in kept.retired] == ["Lives in Kiel"]


def test_merges_are_parted_from_the_last_one_on(files: Library) -> None:
    third = "memory/graph/entities/person--zoe.md"
    files.contents[third] = entity("Zoe").encode()
    before = dict(files.contents)
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    files.apply(plan_merge(files.files(), "Zoe", "Alex"))
    assert files.files().find("Sasha").id == "person--zoe"
    with pytest.raises(InvalidInput, match="itself merged"):
        plan_unmerge(files.files(), "person--alexander")
    files.apply(plan_unmerge(files.files(), "person--alex"))
    files.apply(plan_unmerge(files.files(), "person--alexander"))
    assert files.contents == before


def test_marks_in_core_memory_follow_what_moved_and_come_back(files: Library) -> None:
    said = "# Core Memory\n\n## [Critical Facts]\n- Lives in Bonn <!-- unsettled: contradicts {} -->\n"
    old = "entity:person--alexander#^f1aa"
    files.contents[layout.CORE] = said.format(f"{old}, entity:person--zoe#^f1aa").encode()
    before = dict(files.contents)
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    moved = f"entity:person--alex#^{files.entity_file('person--alex').facts[1].block_id}"
    assert files.text(layout.CORE) == said.format(f"{moved}, entity:person--zoe#^f1aa")
    merged = dict(files.contents)
    files.apply(plan_unmerge(files.files(), "person--alexander"))
    assert files.contents == before
    files.contents = merged
    later = files.files()
    retire_stated(later, "person--alex", "Lives in Kiel")
    files.apply(later.draft.plan(Action.EDIT, ALEX, "moved", None))
    assert "contradicts entity:person--zoe#^f1aa -->" in files.text(layout.CORE)


def test_one_entity_is_not_merged_with_itself(files: Library) -> None:
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    with pytest.raises(InvalidInput, match="one entity already"):
        plan_merge(files.files(), "person--alexander", "Alex")
    with pytest.raises(InvalidInput, match="is not merged"):
        plan_unmerge(files.files(), "person--alex")


def test_a_record_that_was_edited_is_reported(files: Library) -> None:
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    files.contents[OTHER] = files.contents[OTHER].replace(b'"digest"', b'digest"')
    with pytest.raises(DocumentError) as caught:
        plan_unmerge(files.files(), "person--alexander")
    assert caught.value.where == OTHER


def test_the_index_shows_relations_to_the_absorbed_as_leading_to_the_kept(files: Library) -> None:
    files.contents["memory/graph/entities/project--x.md"] = entity(
        "X", "## Relations\n- used-by: [[person--alexander]]\n", "project"
    ).encode()
    files.apply(plan_merge(files.files(), "Alex", "Alexander"))
    index = project_all(files, Even())["memory/graph/index.md"].decode()
    assert "| project--x | used-by | person--alex |" in index
    assert "person--alexander" not in index


_LINES = st.lists(
    st.sampled_from(
        [
            "## Facts",
            "## Timeline",
            "## Relations",
            "## Aliases",
            "## Open Questions",
            "## Superseded",
            "- One ^f1",
            "- Two (since 2026-01-01) ^f2",
            "- 2026-01-03: moved",
            "- uses: [[tool--y]]",
            "- Bo",
            "",
            "text",
            "```",
            "<!-- note -->",
            "  - nested",
        ]
    ),
    max_size=14,
)


@given(kept=_LINES, absorbed=_LINES, end=st.sampled_from(["\n", "\r\n"]), last=st.sampled_from(["", "\n"]))
def test_merge_and_unmerge_undo_each_other_whatever_the_files_hold(
    kept: list[str], absorbed: list[str], end: str, last: str
) -> None:
    files = Library(
        {
            ALEX: end.join(["<!-- Label: Alex -->", *kept]) + last,
            OTHER: b"\xef\xbb\xbf" + (end.join(["<!-- Label: Zed -->", *absorbed]) + last).encode() + b"\xff",
        }
    )
    before = dict(files.contents)
    files.apply(plan_merge(files.files(NOW), "person--alex", "person--alexander"))
    assert merged_into(files.entity_file("person--alexander")) == "person--alex"
    files.apply(plan_unmerge(files.files(NOW), "person--alexander"))
    assert files.contents == before


def test_a_file_with_two_sections_of_facts_takes_in_what_is_retired() -> None:
    files = Library(
        {
            "memory/graph/entities/person--a.md": b"# person--a\n\n## Facts\n\n## Facts\n  - nested\n",
            "memory/graph/entities/person--b.md": b"# person--b\n\n## Superseded\n- One ^f1\n",
        }
    )
    files.apply(plan_merge(files.files(), "person--a", "person--b"))
    assert [fact.text for fact in files.entity_file("person--a").retired] == ["One"]


def test_what_moves_keeps_its_block_id_only_where_none_ever_had_it() -> None:
    files = Library(
        {
            "memory/graph/entities/person--a.md": "# person--a\n",
            "memory/graph/entities/person--b.md": (
                "# person--b\n\n## Facts\n- Sails ^f1\n- Likes tea\n\n## Relations\n- uses: [[tool--x]] ^r1\n"
            ),
            "memory/graph/entities/tool--x.md": "# tool--x\n",
        }
    )
    files.apply(plan_merge(files.files(NOW), "person--a", "person--b"))
    first = files.entity_file("person--a").block_ids
    assert {"f1", "r1"} < first
    files.apply(plan_unmerge(files.files(NOW), "person--b"))
    digests = (sha256(f"entity:person--a#^{block}".encode()).hexdigest()[:16] for block in first)
    files.contents[layout.SPENT_IDS] = "".join(f"{each}\n" for each in digests).encode()
    files.apply(plan_merge(files.files(NOW), "person--a", "person--b"))
    merged = files.entity_file("person--a")
    assert len(merged.block_ids) == 3
    assert merged.block_ids.isdisjoint(first)
    assert all(fact.block_id for fact in merged.facts)
    assert all(relation.block_id for relation in merged.relations)
