"""The audit trail answers from the log where it can and from the commits where it must."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.engine.history.notebook import START, Notebook
from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.history.audit import (
    Actions,
    LogFilter,
    blame,
    diff,
    file_history,
    iterate_entries,
    newest_actions,
    show_commit,
)
from workbench.engine.history.commits import CONTINUES, read_commit_index
from workbench.engine.history.plan import Action
from workbench.engine.results.audit import AuditEntry


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def test_entries_come_newest_first_and_filtered(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n", summary="first")
    notebook.write("memory/vault/a.md", "x\n", actor="reflection:r-001", summary="Zürich noted")
    notebook.write("MEMORY.md", "two\n", action=Action.ARCHIVE, summary="third")
    page = notebook.entries()
    assert [entry.summary for entry in page] == ["third", "Zürich noted", "first"]
    assert page[0].commit == notebook.history.store.commit(notebook.history.store.resolve("HEAD")).short

    def summaries(**wanted: object) -> list[str]:
        found = notebook.entries(LogFilter(**wanted))  # type: ignore[arg-type]  # a table of filters
        return [entry.summary for entry in found]

    assert summaries(actor="reflection:*") == ["Zürich noted"]
    assert summaries(action="archive") == ["third"]
    assert summaries(file="memory/*") == ["Zürich noted"]
    assert summaries(file="a.md") == ["Zürich noted"]
    assert summaries(text="ZÜRICH") == ["Zürich noted"]
    assert summaries(since=START + timedelta(minutes=1)) == ["third", "Zürich noted"]
    assert summaries(until=START) == ["first"]


@pytest.mark.parametrize("damage", ["missing", "behind", "of another history", "whole"])
def test_the_log_may_be_missing_behind_or_foreign(notebook: Notebook, damage: str) -> None:
    for number in range(5):
        notebook.write("MEMORY.md", f"{number}\n", summary=f"change {number}")
    log = notebook.root / layout.AUDIT_LOG
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    if damage == "missing":
        log.unlink()
    elif damage == "behind":
        log.write_text("".join(lines[:2]), encoding="utf-8")
    elif damage == "of another history":
        log.write_text(lines[0].replace("(", "(ffffffffff")[:-12] + ")\n", encoding="utf-8")
    found = notebook.entries()
    assert [entry.summary for entry in found] == [f"change {number}" for number in (4, 3, 2, 1, 0)]


def test_a_commit_shows_what_accounts_for_it(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    commit = notebook.write("MEMORY.md", "two\n", summary="changed")
    shown = show_commit(notebook.history.store, read_commit_index(notebook.history.store), commit[:8])
    assert (shown.commit, shown.actor, shown.approval, shown.trigger) == (
        commit,
        "bot:trigger-remember",
        "auto",
        "test",
    )
    assert shown.subject == "[EDIT] MEMORY.md — changed"
    assert shown.files == ("MEMORY.md",)
    assert [entry.summary for entry in shown.entries] == ["changed"]
    assert shown.undone_by is None
    with pytest.raises(NotFound):
        show_commit(notebook.history.store, read_commit_index(notebook.history.store), "beefbeef")


def test_a_difference_is_against_the_parent_or_between_two(notebook: Notebook) -> None:
    first = notebook.write("MEMORY.md", "one\n")
    second = notebook.write("MEMORY.md", "two\n")
    third = notebook.write("USER.md", "me\n")
    only = diff(notebook.history.store, second)
    assert [(f.path, f.before, f.after) for f in only.files] == [("MEMORY.md", "one\n", "two\n")]
    assert "-one\n+two\n" in only.files[0].unified
    assert (only.from_, only.to) == (first, second)
    assert [f.path for f in diff(notebook.history.store, f"{first}..{third}").files] == [
        "MEMORY.md",
        "USER.md",
    ]
    assert [f.path for f in diff(notebook.history.store, f"{first}..", path="USER.md").files] == ["USER.md"]
    assert diff(notebook.history.store, first).from_ is None
    with pytest.raises(NotFound):
        diff(notebook.history.store, second, path="USER.md")
    with pytest.raises(InvalidInput):
        diff(notebook.history.store, "..")


def test_blame_names_who_wrote_each_line(notebook: Notebook) -> None:
    first = notebook.write("memory/vault/a.md", "alpha\nbeta\ngamma\n", actor="manual")
    second = notebook.write("memory/vault/a.md", "alpha\nbeta 2\ngamma\ndelta\n", actor="skill:notes")
    notebook.write("MEMORY.md", "elsewhere\n")
    found = blame(notebook.root, notebook.history.store, "memory/vault/a.md")
    assert [(line.line, line.text, line.commit, line.actor) for line in found.lines] == [
        (1, "alpha", first, "manual"),
        (2, "beta 2", second, "skill:notes"),
        (3, "gamma", first, "manual"),
        (4, "delta", second, "skill:notes"),
    ]
    assert [
        line.commit
        for line in blame(notebook.root, notebook.history.store, "memory/vault/a.md", at=first).lines
    ] == [first] * 3
    with pytest.raises(NotFound):
        blame(notebook.root, notebook.history.store, "memory/vault/none.md")


def test_blame_and_file_history_follow_a_rename(notebook: Notebook) -> None:
    text = "".join(f"line {n}\n" for n in range(20))
    first = notebook.write("memory/vault/a.md", text)
    (notebook.root / "memory/vault/a.md").rename(notebook.root / "memory/vault/b.md")
    notebook.history.adopt()
    last = notebook.write("memory/vault/b.md", text + "end\n")
    found = blame(notebook.root, notebook.history.store, "memory/vault/b.md")
    assert {line.commit for line in found.lines} == {first, last}
    commits = [
        entry.commit for entry in file_history(notebook.root, notebook.history.store, "memory/vault/b.md")
    ]
    assert (commits[0], commits[-1], len(commits)) == (last, first, 3)


def test_the_commit_at_a_time_is_the_newest_in_order_not_later(notebook: Notebook) -> None:
    first = notebook.write("MEMORY.md", "one\n")
    notebook.clock.advance(hours=1)
    second = notebook.write("MEMORY.md", "two\n")
    line = read_commit_index(notebook.history.store)
    assert line.at(START - timedelta(seconds=1)) is None
    assert line.at(START + timedelta(minutes=30)) == first
    assert line.at(START + timedelta(days=1)) == second
    notebook.clock.advance(hours=-1, minutes=-10)
    late = notebook.write("MEMORY.md", "the clock was set back\n")
    assert read_commit_index(notebook.history.store).at(START + timedelta(minutes=30)) == late


ACTORS = ("manual", "bot:main", "reflection:r-001", "reflection:r-002", "system:decay")


@given(
    st.lists(st.tuples(st.sampled_from(ACTORS), st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=9)
)
@example([("reflection:r-001", 0, 1), ("reflection:r-001", 0, 1), ("manual", 0, 1), ("bot:main", 2, 1)])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_actions_part_the_log_into_groups_without_remainder(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int, int]]
) -> None:
    notebook = Notebook(tmp_path_factory.mktemp("actions"))
    commits: list[str] = []
    for number, (actor, back, files) in enumerate(acts):
        going_on = ((CONTINUES, commits[-back]),) if 0 < back <= len(commits) and actor == "bot:main" else ()
        texts: dict[str, str | None] = {f"memory/vault/{at}.md": f"{number}\n" for at in range(files)}
        commits.append(notebook.write_all(texts, actor=actor, trailers=going_on))
    history = notebook.history
    line = read_commit_index(history.store)
    plain = notebook.entries()
    told = [Actions(line).told(entry) for entry in plain]
    assert [replace(entry, group=None, action_commits=1) for entry in told] == plain
    members: dict[str | None, set[str | None]] = {}
    for entry in told:
        members.setdefault(entry.group, set()).add(entry.commit)
    # Each commit is in one group, each group names its oldest commit and counts all of them.
    assert sum(map(len, members.values())) == len(line)
    for entry in told:
        assert entry.action_commits == len(members[entry.group])
        assert entry.group == max(
            members[entry.group], key=lambda name: [e.commit for e in plain].index(name)
        )
        shown = show_commit(history.store, line, str(entry.commit))
        assert {each.commit[:10] for each in shown.action} == members[entry.group]
        assert {each.group for each in shown.entries} == {entry.group}
    order = list(dict.fromkeys(entry.group for entry in told))
    for limit in range(1, len(order) + 2):
        chosen = set(order[:limit])
        wanted = [entry for entry in told if entry.group in chosen]
        assert list(newest_actions(iter(told), LogFilter(), limit)) == wanted


def test_a_reflections_commits_are_one_action_until_somebody_else_comes_between(notebook: Notebook) -> None:
    writes = (
        "reflection:r-001",
        "system:decay",
        "reflection:r-001",
        "manual",
        "reflection:r-001",
        "reflection:r-002",
    )
    commits = [
        notebook.write("MEMORY.md", f"- {number}\n", actor=actor) for number, actor in enumerate(writes)
    ]
    line = read_commit_index(notebook.history.store)
    places = [line.actions()[line.place(commit) or 0] for commit in commits]
    assert [places.index(place) for place in places] == [0, 1, 0, 3, 4, 5]


def test_only_as_much_is_read_as_the_newest_actions_take(notebook: Notebook) -> None:
    first = notebook.write("MEMORY.md", "- one\n")
    for number in range(6):
        notebook.write("MEMORY.md", f"- {number}\n", trailers=((CONTINUES, first),) if number == 3 else ())
    history = notebook.history
    read = 0

    def entries() -> Iterator[AuditEntry]:
        nonlocal read
        told = Actions(read_commit_index(history.store)).told
        for entry in iterate_entries(notebook.root, history.store):
            read += 1
            yield told(entry)

    assert len(list(newest_actions(entries(), LogFilter(), 2))) == 2
    assert read == 3
