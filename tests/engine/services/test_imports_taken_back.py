"""Taking an import back: at once by undo, later by any of its commits, but for what was changed since."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.transfer.reading_all import write
from workbench.engine.errors import (
    InvalidInput,
    NotFound,
    RoleRefused,
)


def test_undo_takes_everything_back_and_it_may_come_again(settled: AgentHome, claw: Path) -> None:
    with settled.open("person") as workspace:
        before = settled.tracked()
        workspace.import_from(claw)
        workspace.undo()
        assert settled.tracked() == before
        assert workspace.import_from(claw).added == 5


def test_one_undo_takes_back_every_batch_and_one_redo_brings_them_again(
    settled: AgentHome, claw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.services.imports._BATCH_PIECES", 1)
    with settled.open("person") as workspace:
        before = settled.tracked()
        imported = workspace.import_from(claw)
        assert len(imported.commits) == 5
        whole = settled.tracked()
        undone = workspace.undo()
        assert set(undone.ids) == set(imported.commits)
        assert settled.tracked() == before
        workspace.redo()
        assert settled.tracked() == whole
        workspace.undo()
        assert settled.tracked() == before
        assert workspace.import_from(claw).added == 5


def test_one_undo_takes_back_everything_that_was_proposed(settled: AgentHome, claw: Path) -> None:
    with settled.open("person") as workspace:
        number = workspace.propose("An earlier wish of mine").number
        before = settled.tracked()
        imported = workspace.import_from(claw, imported_as="proposals")
        assert len(imported.proposals) == 5
        undone = workspace.undo()
        assert set(imported.commits) < set(undone.ids)
        assert settled.tracked() == before
        assert [each.number for each in workspace.proposals().proposals] == [number]
        again = workspace.import_from(claw, imported_as="proposals")
        assert again.proposals == (7, 8, 9, 10, 11)


def test_what_is_done_after_an_import_is_undone_by_itself(settled: AgentHome, claw: Path) -> None:
    with settled.open("person") as workspace:
        workspace.import_from(claw)
        imported = settled.tracked()
        workspace.remember("Robin sails at weekends")
        workspace.remember("Robin rows on Mondays")
        workspace.undo()
        workspace.undo()
        assert settled.tracked() == imported


def test_an_import_is_taken_back_later_but_for_what_was_changed_since(
    settled: AgentHome, claw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.services.imports._BATCH_PIECES", 2)
    write(claw, {"memory/tools.md": "# Tools\n\nA hammer.\n\nA saw.\n"})
    with settled.open("person") as workspace:
        before = settled.tracked()
        imported = workspace.import_from(claw)
        own = workspace.remember("Robin sails at weekends").path
        day = "memory/episodes/2026-05-12.md"
        settled.write(day, settled.text(day).replace("Deployed to eu-2.", "Deployed to eu-3."))
        workspace.edit_file("memory/imports/claw/recipes.md", "# Recipes\n\nBoil milk.\n")
        later = settled.tracked()
        told = workspace.import_undo(imported.commits[-1], dry_run=True)
        assert settled.tracked() == later
        done = workspace.import_undo(imported.commits[1][:8])
        kept = {each.where for each in done.kept}
        assert kept == {"episode:2026-05-12:14:20", "memory/imports/claw/recipes.md"}
        assert (told.removed, told.kept, done.removed, done.kept_count) == (4, done.kept, 4, 2)
        assert set(done.ids) == set(imported.commits)
        now = settled.tracked()
        assert b"Deployed to eu-3." in now[day]
        assert b"tram" not in now[day]
        accounts = {path for path in now if path.startswith("memory/meta/imports/")}
        kept_files = {own, day, "memory/imports/claw/recipes.md", *accounts}
        assert set(now) - set(before) == kept_files - set(before)
        assert not any(b"Miso" in content for content in now.values())
        assert workspace.audit_verify().ok
        with pytest.raises(InvalidInput, match="taken back already"):
            workspace.import_undo(imported.commits[0])
        again = workspace.import_from(claw)
        assert (again.added, again.known, again.left_out) == (4, 2, ())
        assert "Deployed to eu-2." not in settled.text(day)
        workspace.undo()
        workspace.undo()
        assert settled.tracked() == later
        assert workspace.import_undo(imported.commits[0]).removed == 4


def test_a_log_that_went_on_since_keeps_what_was_added(settled: AgentHome, claw: Path) -> None:
    with settled.open("person") as workspace:
        imported = workspace.import_from(claw)
        day = "memory/episodes/2026-05-12.md"
        settled.write(day, settled.text(day) + "\n## 20:00 | event\nMine, of that day.\n")
        assert workspace.import_undo(imported.commits[0]).kept == ()
        assert "Mine, of that day." in settled.text(day)
        assert settled.text(day).count("## ") == 1


def test_of_an_import_as_proposals_what_was_decided_on_stays(settled: AgentHome, claw: Path) -> None:
    with settled.open("person") as workspace:
        imported = workspace.import_from(claw, imported_as="proposals")
        stored, refused, deferred, *_ = imported.proposals
        (memory, *_) = workspace.proposal_commit([stored]).ids
        workspace.proposal_reject([refused])
        workspace.proposal_defer([deferred])
        own = workspace.propose("A wish of mine").number
        done = workspace.import_undo(imported.commits[0])
        assert {each.where for each in done.kept} == {f"#{stored}", f"#{refused}", f"#{deferred}"}
        assert done.removed == 2
        assert {each.number for each in workspace.proposals().proposals} == {deferred, own}
        assert workspace.show(memory).text
        again = workspace.import_from(claw, imported_as="proposals")
        assert (again.added, again.known) == (2, 3)
        workspace.undo()
        workspace.undo()
        assert len(workspace.proposals().proposals) == 4


def test_what_a_trusted_agent_had_stored_at_once_goes_with_its_import(settled: AgentHome, claw: Path) -> None:
    with settled.open("person") as workspace:
        workspace.edit_file("workbench.toml", '[proposals]\nmode = "auto"\ntrusted = ["scout"]\n')
    before = settled.tracked()
    with settled.open("agent:scout") as workspace:
        imported = workspace.import_from(claw, imported_as="proposals")
        assert len(workspace.proposals().proposals) < 5
        with pytest.raises(RoleRefused):
            workspace.import_undo(imported.commits[0])
    with settled.open("person") as workspace:
        workspace.propose("A wish of mine")
        assert workspace.import_undo(imported.commits[0]).kept == ()
        assert len(workspace.proposals().proposals) == 1
        workspace.undo()
        workspace.undo()
        workspace.undo(confirmed=True)
    assert settled.tracked() == before


def test_an_export_that_was_brought_in_is_taken_back_but_for_what_was_added_since(
    settled: AgentHome, tmp_path: Path
) -> None:
    with settled.open("person") as workspace:
        workspace.export(tmp_path / "copy.jsonl")
    other = AgentHome(tmp_path / "other")
    other.init()
    with other.open("person") as workspace:
        before = other.tracked()
        imported = workspace.import_from(tmp_path / "copy.jsonl")
        workspace.core_add("Critical Facts", "Mine since then")
        done = workspace.import_undo(imported.commits[0])
        assert (done.source, done.kept) == ("copy.jsonl", ())
        assert set(other.tracked()) <= {*before, "MEMORY.md"}
        core = other.text("MEMORY.md")
        assert "Mine since then" in core
        assert "harbour" not in core


def test_only_an_import_is_taken_back_as_one(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        commit = workspace.remember("Robin sails at weekends").commit
        with pytest.raises(InvalidInput, match="no import’s"):
            workspace.import_undo(commit or "")
        with pytest.raises(NotFound):
            workspace.import_undo("0" * 40)
