"""Undo walks back over what was done, redo forward again, and the commits alone say how far."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.history.notebook import OWNER, PERSON, Notebook
from workbench.engine.errors import NotFound, RoleRefused, Stale
from workbench.engine.history.audit import show_commit
from workbench.engine.history.commits import read_commit_index
from workbench.engine.history.plan import Action
from workbench.engine.history.undo import redo, undo

FACTS = "# person--alex\n\n## Facts\n- One ^aaaa\n"


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def test_undo_and_redo_walk_through_what_was_done(notebook: Notebook) -> None:
    commits = [notebook.write("MEMORY.md", f"{number}\n") for number in range(3)]
    receipt = undo(notebook.history, PERSON)
    assert receipt.outcome.commits == (commits[2],)
    assert notebook.read("MEMORY.md") == "1\n"
    undo(notebook.history, PERSON)
    assert notebook.read("MEMORY.md") == "0\n"
    redo(notebook.history, PERSON)
    assert notebook.read("MEMORY.md") == "1\n"
    redo(notebook.history, PERSON)
    assert notebook.read("MEMORY.md") == "2\n"
    with pytest.raises(NotFound, match="nothing to redo"):
        redo(notebook.history, PERSON)


def test_undo_is_recorded_as_a_revert_of_its_action(notebook: Notebook) -> None:
    commit = notebook.write("MEMORY.md", "text\n", summary="noted")
    undone = undo(notebook.history, PERSON).commit
    assert undone
    shown = show_commit(notebook.history.store, read_commit_index(notebook.history.store), undone)
    assert shown.subject == f"[REVERT] MEMORY.md — undid EDIT {commit[:10]}: noted"
    assert ("Undoes", commit) in shown.trailers
    assert (
        show_commit(notebook.history.store, read_commit_index(notebook.history.store), commit).undone_by
        == undone
    )
    redo(notebook.history, PERSON)
    assert (
        show_commit(notebook.history.store, read_commit_index(notebook.history.store), commit).undone_by
        is None
    )


def test_undo_passes_over_upkeep(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    notebook.write("memory/meta/decay-scores.json", "{}", actor="system:decay", action=Action.DECAY)
    notebook.note(Action.ALERT, actor="system:audit")
    notebook.note(Action.ACK, actor="manual")
    undo(notebook.history, PERSON)
    assert notebook.texts() == {"memory/meta/decay-scores.json": "{}"}
    notebook.note(Action.DECAY)
    redo(notebook.history, PERSON)
    assert notebook.read("MEMORY.md") == "one\n"


def test_an_edit_from_outside_is_an_action_too(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    notebook.write("USER.md", "me\n")
    (notebook.root / "MEMORY.md").write_text("one\ntwo\n")
    undo(notebook.history, PERSON)
    assert notebook.texts() == {"MEMORY.md": "one\n", "USER.md": "me\n"}
    undo(notebook.history, PERSON)
    assert notebook.texts() == {"MEMORY.md": "one\n"}


def test_what_system_upkeep_changed_since_stays(notebook: Notebook) -> None:
    notebook.write("memory/graph/entities/person--alex.md", FACTS)
    notebook.write("memory/graph/entities/person--alex.md", FACTS + "- Two ^bbbb\n")
    notebook.write(
        "memory/graph/entities/person--alex.md", FACTS + "- Two ^bbbb\n- Three ^cccc\n", actor="system:test"
    )
    undo(notebook.history, PERSON)
    assert notebook.read("memory/graph/entities/person--alex.md") == FACTS + "- Three ^cccc\n"


def test_what_was_changed_since_is_not_overwritten(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "- one ^aaaa\n")
    notebook.write("MEMORY.md", "- two ^aaaa\n", actor="system:test")
    before = notebook.history.head()
    with pytest.raises(Stale, match="“one” was changed again since: now it is “two”"):
        undo(notebook.history, PERSON)
    assert notebook.history.head() == before


def test_undo_of_a_critical_file_is_a_persons_right(notebook: Notebook) -> None:
    notebook.write("SOUL.md", "kind\n", actor="manual")
    with pytest.raises(RoleRefused):
        undo(notebook.history, PERSON)
    undo(notebook.history, OWNER)
    assert notebook.read("SOUL.md") is None


def test_a_rename_is_undone_as_one(notebook: Notebook) -> None:
    text = "".join(f"line {number}\n\n" for number in range(20))
    notebook.write("memory/vault/a.md", text)
    notebook.write_all({"memory/vault/a.md": None, "memory/vault/b.md": text}, action=Action.RENAME)
    notebook.write("memory/vault/b.md", text + "later\n", actor="system:test")
    undo(notebook.history, PERSON)
    assert notebook.texts() == {"memory/vault/a.md": text + "later\n"}


def test_commits_that_go_on_with_one_another_are_one_action(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "before\n")
    first = notebook.write("memory/vault/a.md", "a\n", action=Action.CREATE, summary="the first of three")
    notebook.write("memory/vault/b.md", "b\n", trailers=(("Continues", first),))
    notebook.write("USER.md", "somebody else, meanwhile\n")
    last = notebook.write("memory/vault/a.md", "a\nmore\n", trailers=(("Continues", first),))
    whole = notebook.texts()
    receipt = undo(notebook.history, PERSON)
    assert len(receipt.outcome.commits) == 3
    assert (receipt.outcome.commits[0], receipt.outcome.commits[-1]) == (last, first)
    assert notebook.texts() == {"MEMORY.md": "before\n", "USER.md": "somebody else, meanwhile\n"}
    written = notebook.history.store.commit(receipt.commit or "").message
    assert "and 2 that go on with it: the first of three" in written
    line = read_commit_index(notebook.history.store)
    assert {line.undone_by(commit) for commit in receipt.outcome.commits} == {receipt.commit}
    undo(notebook.history, PERSON)
    assert notebook.read("USER.md") is None
    redo(notebook.history, PERSON)
    assert redo(notebook.history, PERSON).outcome.commits == receipt.outcome.commits
    assert notebook.texts() == whole
    assert line != read_commit_index(notebook.history.store)
    assert read_commit_index(notebook.history.store).undone_by(first) is None
    undo(notebook.history, PERSON)
    undo(notebook.history, PERSON)
    undo(notebook.history, PERSON)
    assert notebook.texts() == {}


def test_an_action_of_which_something_was_changed_since_is_undone_in_no_part(notebook: Notebook) -> None:
    first = notebook.write("memory/vault/a.md", "- a ^aaaa\n")
    notebook.write("memory/vault/b.md", "- b ^bbbb\n", trailers=(("Continues", first),))
    notebook.write("memory/vault/a.md", "- changed ^aaaa\n", actor="system:test")
    before = notebook.texts()
    with pytest.raises(Stale, match="“a” was changed again since: now it is “changed”"):
        undo(notebook.history, PERSON)
    assert notebook.texts() == before


STEPS = st.one_of(
    st.sampled_from(["undo", "redo", "upkeep"]),
    st.tuples(st.sampled_from(["MEMORY.md", "USER.md", "memory/vault/a.md"]), st.integers(0, 3)),
)
_numbers = itertools.count()


@given(st.lists(STEPS, max_size=14))
@settings(max_examples=60)
def test_any_sequence_behaves_as_two_stacks(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str | tuple[str, int]]
) -> None:
    notebook = Notebook(tmp_path_factory.mktemp(f"undo{next(_numbers)}"))
    done: list[dict[str, str]] = [{}]
    undone: list[dict[str, str]] = []
    for number, step in enumerate(steps):
        if step == "upkeep":
            notebook.note(Action.DECAY)
        elif step == "undo":
            if len(done) == 1:
                with pytest.raises(NotFound):
                    undo(notebook.history, PERSON)
            else:
                undo(notebook.history, PERSON)
                undone.append(done.pop())
        elif step == "redo":
            if not undone:
                with pytest.raises(NotFound):
                    redo(notebook.history, PERSON)
            else:
                redo(notebook.history, PERSON)
                done.append(undone.pop())
        else:
            assert not isinstance(step, str)
            path, kind = step
            old = done[-1].get(path)
            text = None if kind == 0 and old else f"{old or ''}- step {number} ^id{number}\n"
            notebook.write(path, text)
            texts = {**done[-1], path: text}
            done.append({name: value for name, value in texts.items() if value is not None})
            undone.clear()
        assert notebook.texts() == done[-1]
