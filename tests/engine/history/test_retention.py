"""The log keeps its window; what is older lives on in digests, in git, and in open alerts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.history.notebook import PERSON, START, Notebook
from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.history.audit import prune
from workbench.engine.history.maintenance import verify
from workbench.engine.history.plan import Action
from workbench.engine.history.projections import complete_audit_log
from workbench.engine.markdown.audit_log import AuditArchive


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def log_lines(notebook: Notebook) -> list[str]:
    return (notebook.root / layout.AUDIT_LOG).read_text(encoding="utf-8").splitlines()


def archive(notebook: Notebook) -> AuditArchive:
    return AuditArchive.parse((notebook.root / layout.AUDIT_ARCHIVE).read_bytes())


def test_a_month_becomes_a_digest(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    for number in range(5):
        notebook.write(f"memory/graph/entities/person--{number}.md", "x\n", action=Action.CREATE)
    notebook.write("memory/procedures/deploy.md", "x\n", action=Action.CREATE)
    notebook.write(
        layout.DECAY_SCORES, "{}", actor="system:decay", action=Action.DECAY, summary="3 entries transitioned"
    )
    notebook.write("MEMORY.md", "two\n", actor="reflection:r-001", trailers=(("Item", "r-001.1 approved"),))
    notebook.write("MEMORY.md", "three\n", actor="reflection:r-002", trailers=(("Item", "r-002.1 rejected"),))
    notebook.write("MEMORY.md", "four\n", action=Action.ARCHIVE)
    notebook.clock.advance(days=100)
    assert prune(notebook.history).outcome == 11
    assert prune(notebook.history).commit is None
    digest = archive(notebook).digest("2026-02")
    assert digest is not None
    assert digest.summary == (
        "11 total mutations across 8 files",
        "2 reflection sessions (1 approved, 1 rejected)",
        "0 critical file changes",
        "3 decay transitions, 1 archival event",
        "Kinds: 1 ARCHIVE, 6 CREATE, 1 DECAY, 3 EDIT",
    )
    assert ("2026-02-02", "5 new entities added") in digest.events
    assert ("2026-02-02", "Procedure learned: deploy") in digest.events
    lines = log_lines(notebook)
    assert len(lines) == 2
    assert all("| PRUNE |" in line for line in lines)
    assert verify(notebook.history, deep=True).ok


def test_a_pruning_that_is_called_off_leaves_everything(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    notebook.clock.advance(days=100)
    lines = log_lines(notebook)
    assert prune(notebook.history, cancelled=lambda: True).commit is None
    assert log_lines(notebook) == lines
    assert prune(notebook.history).outcome == 1


def test_queries_go_on_past_the_log(notebook: Notebook) -> None:
    for number in range(3):
        notebook.write("MEMORY.md", f"{number}\n", summary=f"change {number}")
    notebook.clock.advance(days=200)
    notebook.write("MEMORY.md", "new\n", summary="new")
    prune(notebook.history)
    found = [entry.summary for entry in notebook.entries()]
    assert found[2:] == ["new", "change 2", "change 1", "change 0"]
    (notebook.root / layout.AUDIT_LOG).unlink()
    complete_audit_log(notebook.root, notebook.history.store, notebook.history.state)
    assert len(log_lines(notebook)) == 3
    assert verify(notebook.history).ok


def test_a_month_pruned_in_parts_has_one_digest_and_keeps_what_a_person_wrote(notebook: Notebook) -> None:
    notebook.write("memory/procedures/a.md", "x\n", action=Action.CREATE)
    notebook.clock.advance(days=10)
    notebook.write("memory/procedures/b.md", "x\n", action=Action.CREATE)
    notebook.clock.advance(days=85)
    assert prune(notebook.history).outcome == 1
    place = notebook.root / layout.AUDIT_ARCHIVE
    text = place.read_text(encoding="utf-8")
    place.write_text(
        text.replace(
            "- 2026-02-02: Procedure learned: a\n",
            "- 2026-02-02: Procedure learned: a\n- 2026-02-03: My birthday\n",
        ),
        encoding="utf-8",
    )
    notebook.clock.advance(days=10)
    assert prune(notebook.history).outcome == 1
    digest = archive(notebook).digest("2026-02")
    assert digest is not None
    assert digest.summary[0] == "2 total mutations across 2 files"
    assert digest.events == (
        ("2026-02-02", "Procedure learned: a"),
        ("2026-02-03", "My birthday"),
        ("2026-02-12", "Procedure learned: b"),
    )
    before = place.read_bytes()
    assert prune(notebook.history).commit is None
    assert place.read_bytes() == before


def test_an_open_alert_is_never_dropped(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    for text in ("kind\n", "kinder\n"):
        (notebook.root / "SOUL.md").write_text(text)
        notebook.history.adopt()
    newer, older = notebook.history.alerts()
    notebook.history.acknowledge(older.id, PERSON)
    notebook.clock.advance(days=100)
    prune(notebook.history)
    assert [line.split(" | ")[1] for line in log_lines(notebook)] == ["ALERT", "PRUNE", "PRUNE"]
    assert [alert.id for alert in notebook.history.alerts() if not alert.acknowledged] == [newer.id]
    assert verify(notebook.history).ok
    notebook.history.acknowledge(newer.id, PERSON)
    assert verify(notebook.history).ok


def test_the_window_ends_at_midnight(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    notebook.clock.moment = START.replace(hour=0, minute=1)
    notebook.clock.advance(days=30)
    assert prune(notebook.history, 30).commit is None
    notebook.clock.advance(days=1)
    assert prune(notebook.history, 30).commit
    with pytest.raises(InvalidInput):
        prune(notebook.history, 0)


def test_a_log_that_a_crash_kept_from_being_cut_is_cut_by_the_next_pruning(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n", summary="old")
    notebook.clock.advance(days=100)
    log = notebook.root / layout.AUDIT_LOG
    before = log.read_bytes()
    prune(notebook.history)
    log.write_bytes(before + log.read_bytes())
    assert verify(notebook.history).ok
    prune(notebook.history)
    assert "old" not in log.read_text(encoding="utf-8")
