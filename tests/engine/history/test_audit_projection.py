"""The audit log is completed from the commits, whatever became of it, and never told anything twice."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.engine.history.notebook import PERSON, Notebook
from workbench.engine.clock import render_time
from workbench.engine.history import projections
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.plan import Action, Event, Plan
from workbench.engine.history.projections import (
    PRUNED_BEFORE,
    complete_audit_log,
    expected_audit_lines,
)


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    notebook = Notebook(tmp_path)
    for number in range(4):
        notebook.write_all({"MEMORY.md": f"{number}", "USER.md": f"{number}"}, summary=f"change {number}")
    return notebook


def log_file(notebook: Notebook) -> Path:
    return notebook.root / "memory/meta/audit.log"


def complete(notebook: Notebook) -> str:
    complete_audit_log(notebook.root, notebook.history.store, notebook.history.state)
    return log_file(notebook).read_text(encoding="utf-8")


@pytest.mark.parametrize("lines", range(9))
def test_a_log_cut_after_any_line_is_completed(notebook: Notebook, lines: int) -> None:
    whole = log_file(notebook).read_text(encoding="utf-8")
    log_file(notebook).write_text("".join(whole.splitlines(keepends=True)[:lines]), encoding="utf-8")
    assert complete(notebook) == whole


@pytest.mark.parametrize("cut", [1, 20, 60, 110, 200])
def test_a_torn_line_is_written_anew(notebook: Notebook, cut: int) -> None:
    whole = log_file(notebook).read_bytes()
    log_file(notebook).write_bytes(whole[:-cut])
    assert complete(notebook).encode() == whole


def test_a_missing_log_is_written_from_the_commits(notebook: Notebook) -> None:
    whole = log_file(notebook).read_text(encoding="utf-8")
    log_file(notebook).unlink()
    assert complete(notebook) == whole


def test_a_long_log_says_how_far_it_is(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projections, "_TOLD_EVERY", 2)
    log_file(notebook).unlink()
    told: list[tuple[int, int]] = []
    complete_audit_log(
        notebook.root,
        notebook.history.store,
        progress=lambda _what, done, total: told.append((done, total)),
    )
    assert told == [(2, 0), (4, 0), (0, 0)]


def test_a_complete_log_is_not_touched(notebook: Notebook) -> None:
    before = log_file(notebook).stat().st_mtime_ns
    complete(notebook)
    assert log_file(notebook).stat().st_mtime_ns == before


def test_a_log_of_another_history_is_replaced(notebook: Notebook, tmp_path: Path) -> None:
    other = Notebook(tmp_path / "other")
    other.write("MEMORY.md", "other")
    whole = log_file(notebook).read_text(encoding="utf-8")
    log_file(notebook).write_bytes(log_file(other).read_bytes())
    assert complete(notebook) == whole


def test_a_note_by_a_person_stays_and_hides_nothing(notebook: Notebook) -> None:
    with log_file(notebook).open("a", encoding="utf-8") as file:
        file.write("# looked at this today\n")
    before = log_file(notebook).read_text(encoding="utf-8")
    notebook.write("MEMORY.md", "next", summary="next")
    after = log_file(notebook).read_text(encoding="utf-8")
    assert after.startswith(before)
    assert len(after.splitlines()) == len(before.splitlines()) + 1


def test_a_commit_with_more_lines_than_a_block_of_the_log(notebook: Notebook) -> None:
    notebook.write_all({f"memory/vault/{number:04d}.md": "x" for number in range(1500)})
    whole = log_file(notebook).read_text(encoding="utf-8")
    assert complete(notebook) == whole
    kept = whole.splitlines(keepends=True)[:-700]
    log_file(notebook).write_text("".join(kept), encoding="utf-8")
    assert complete(notebook) == whole


def test_what_was_pruned_stays_out_but_open_alerts_do_not(notebook: Notebook) -> None:
    (notebook.root / "SOUL.md").write_text("one")
    notebook.history.adopt()
    (notebook.root / "SOUL.md").write_text("two")
    notebook.history.adopt()
    notebook.history.acknowledge(notebook.history.alerts()[0].id, PERSON)
    notebook.clock.advance(days=100)
    event = Event(Action.PRUNE, "memory/meta/audit.log", "summed up 12 lines")
    watermark = render_time(datetime(2026, 5, 1, tzinfo=UTC))
    plan = Plan[None](
        Action.PRUNE, event.file, event.summary, events=(event,), trailers=((PRUNED_BEFORE, watermark),)
    )
    notebook.history.mutate(lambda _: plan, PERSON)
    log_file(notebook).unlink()
    lines = [line.split(" | ")[1] for line in complete(notebook).splitlines()]
    assert lines == ["ALERT", "PRUNE"]


def test_a_commit_made_by_hand_is_in_the_log_too(notebook: Notebook) -> None:
    store: GitStore = notebook.history.store
    head = store.commit(store.head() or "")
    made = store.write_commit(
        head.tree, [head.id], "by hand | odd\n", author="Eve", email="e@x", moment=notebook.clock.now()
    )
    store.move_head(made, expected=head.id)
    assert complete(notebook).splitlines()[-1].endswith(f"EDIT | * | Eve | — | by hand \\| odd ({made[:10]})")
    assert len(expected_audit_lines(store)) == 9
