"""The graph index as a projection of the entity files."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory.library import ALEX, NOW, SETTINGS, Even, Library, entity
from workbench.engine.layout import GRAPH_INDEX
from workbench.engine.memory.draft import Relevance
from workbench.engine.memory.graph import Origin, project_all, project_changes
from workbench.engine.memory.graph_changes import (
    plan_link,
    plan_merge,
    plan_rename,
    plan_unlink,
    plan_unmerge,
)

PEOPLE = ("ann", "bob", "cid", "dee")


def library() -> Library:
    return Library({f"memory/graph/entities/person--{name}.md": entity(name.title()) for name in PEOPLE})


def test_rows_show_scores_and_edges_their_dates() -> None:
    files = Library(
        {
            ALEX: entity(
                "Alex | [x]",
                "## Relations\n- Inspired by: [[concept--a]], [[concept--b]]\n"
                "- uses: [[tool--git]] (confidence high, since 2026-01-15) ^r1aa\n"
                "- uses: [[tool--old]] (2025-01-01 to 2025-12-31) ^r2bb\n- uses: [[../../x--y]]\n",
            )
        }
    )
    known = Even(
        {
            "entity:person--alex": Relevance(1.0, pinned=True),
            "entity:person--alex#^r1aa": Relevance(0.5, last_accessed=date(2026, 2, 2)),
            "entity:concept--b": Relevance(0.0, archived=True),
        }
    )
    index = project_all(files, known)[GRAPH_INDEX].decode()
    assert "| person--alex | person | Alex" in index
    assert "1.00 (pinned) |" in index
    assert "| person--alex | uses | tool--git | high | 2026-01-15 | 2026-02-02 |" in index
    assert "| person--alex | inspired-by | concept--a |" in index
    assert "concept--b" not in index
    assert "tool--old" not in index


@pytest.mark.parametrize(
    "label", ["Al\0ex", "\u202e\u202c", "x" * 30_000], ids=["NUL", "nothing visible", "too long"]
)
def test_a_label_that_nobody_could_have_remembered_stops_no_projection(label: str) -> None:
    files = Library({ALEX: entity(label), "memory/graph/entities/person--ann.md": entity("Ann")})
    index = project_all(files, Even())[GRAPH_INDEX].decode()
    assert index.count("\n| person--") == 2
    assert max(map(len, index.splitlines())) < 400
    assert "\0" not in index


def test_archived_entities_have_neither_row_nor_edges() -> None:
    files = library()
    files.apply(plan_link(files.files(), SETTINGS, "Ann", "prefers", "Bob", Origin()))
    files.apply(plan_link(files.files(), SETTINGS, "Bob", "prefers", "Cid", Origin()))
    before = project_all(files, Even())[GRAPH_INDEX]
    gone = Even({"entity:person--bob": Relevance(0.0, archived=True)})
    after = project_changes([], before, files, files, gone, archived=["entity:person--bob"])
    assert after == project_all(files, gone)
    assert b"person--bob" not in after[GRAPH_INDEX]
    back = project_changes([], after[GRAPH_INDEX], files, files, Even(), archived=["entity:person--bob"])
    assert back == {GRAPH_INDEX: before}


def test_a_chain_of_merges_is_followed_to_its_end() -> None:
    files = library()
    files.apply(plan_link(files.files(), SETTINGS, "Ann", "prefers", "Bob", Origin()))
    index = project_all(files, Even())[GRAPH_INDEX]
    for keep, absorb in (("person--cid", "person--bob"), ("person--dee", "person--cid")):
        plan = plan_merge(files.files(), keep, absorb)
        files.apply(plan)
        changed = [change.path for change in plan.changes]
        index = project_changes(changed, index, files, files, Even())[GRAPH_INDEX]
    assert b"| person--ann | prefers | person--dee |" in index
    assert index == project_all(files, Even())[GRAPH_INDEX]
    del files.contents["memory/graph/entities/person--bob.md"]
    gone = project_changes(["memory/graph/entities/person--bob.md"], index, files, files, Even())
    assert gone == project_all(files, Even())


def test_what_concerns_no_entity_changes_nothing() -> None:
    files = library()
    index = project_all(files, Even())[GRAPH_INDEX]
    assert project_changes(["MEMORY.md", "memory/vault/x.md"], index, files, files, Even()) == {}
    assert project_changes([ALEX], None, files, files, Even()) == {GRAPH_INDEX: index}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("link", "unlink", "merge", "unmerge", "rename", "delete")),
            st.sampled_from(PEOPLE),
            st.sampled_from(PEOPLE),
        ),
        max_size=12,
    )
)
def test_keeping_up_gives_the_same_bytes_as_starting_over(steps: list[tuple[str, str, str]]) -> None:
    from workbench.engine.errors import WorkbenchError

    files = library()
    index = project_all(files, Even())[GRAPH_INDEX]
    for what, one, other in steps:
        first, second = f"person--{one}", f"person--{other}"
        try:
            if what == "link":
                plan = plan_link(files.files(NOW), SETTINGS, first, "prefers", second, Origin())
            elif what == "unlink":
                plan = plan_unlink(files.files(NOW), SETTINGS, first, "prefers", second)
            elif what == "merge":
                plan = plan_merge(files.files(NOW), first, second)
            elif what == "unmerge":
                plan = plan_unmerge(files.files(NOW), first)
            elif what == "rename":
                plan = plan_rename(files.files(NOW), first, f"New {other}")
            else:
                path = f"memory/graph/entities/{first}.md"
                if files.contents.pop(path, None) is not None:
                    index = project_changes([path], index, files, files, Even()).get(GRAPH_INDEX, index)
                continue
        except WorkbenchError:
            continue
        files.apply(plan)
        changed = [change.path for change in plan.changes]
        index = project_changes(changed, index, files, files, Even()).get(GRAPH_INDEX, index)
    assert index == project_all(files, Even())[GRAPH_INDEX]
