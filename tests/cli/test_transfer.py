"""Import and export as they are run: previews, counts, JSON, exit codes, and a killed one that goes on."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.engine.transfer import openclaw_pre_images
from tests.engine.transfer.reading_all import write


@pytest.fixture
def program(program: Program) -> Program:
    """Run command lines in this process: what they answer is looked at."""
    return replace(program, here=True)


def claw(agent: Program) -> Path:
    return write(
        agent.folder.parent / "claw",
        {"MEMORY.md": "# M\n\n- Drinks tea\n- Sails\n", "memory/a.md": "# A\n\nText.\n", "SOUL.md": "# S\n"},
    )


def test_a_preview_then_an_import_then_nothing_new(agent: Program) -> None:
    place = str(claw(agent))
    preview = agent.json("import", place, "--dry-run")
    assert (preview["episodes"], preview["notes"], preview["form"]) == (2, 1, "openclaw")
    assert preview["leftOut"] == [{"where": "SOUL.md", "reason": "It instructs the agent; it is no memory."}]
    imported = agent.json("import", place)
    assert (imported["ok"], imported["added"], len(imported["commits"])) == (True, 3, 1)
    assert agent.json("import", place)["commit"] is None
    assert "Nothing of claw is new" in agent.run("import", place).stdout


def test_it_is_told_to_people(agent: Program) -> None:
    place = str(claw(agent))
    told = agent.run("import", place, "--dry-run").stdout
    assert "nothing came in" in told
    assert "2 episodes" in told
    assert "1 note kept in" in told
    assert "It instructs the agent" in told
    assert "Imported 3 memories from claw" in agent.run("import", place).stdout


def test_an_empty_name_is_not_the_folder_one_is_in(agent: Program) -> None:
    done = agent.run("import", "")
    assert done.returncode == 2
    assert "SOURCE is empty" in done.stderr
    assert not (agent.folder / "memory" / "imports").exists()


def test_what_cannot_be_imported(agent: Program) -> None:
    nothing = agent.run("import", str(agent.folder.parent / "nothing"))
    assert nothing.returncode == 3
    folder = write(agent.folder.parent / "pictures", {"a.png": b"\x89PNG"})
    assert agent.run("import", str(folder)).returncode == 2
    refused = agent.run("import", str(claw(agent)), "--role", "agent:scout")
    assert refused.returncode == 5
    assert "proposals" in refused.stderr


def test_copies_of_memory_are_listed_and_one_is_proposed(agent: Program) -> None:
    state = agent.folder.parent / "state-folder"
    openclaw_pre_images.make(
        state / "state/openclaw.sqlite", {"2026-01-30T03:00:00Z": "# M\n\n- Sails on Sundays\n"}
    )
    assert "Sails on Sundays" in agent.run("import", str(state), "--pre-images").stdout
    imported = agent.json("import", str(state), "--pre-image", "1")
    assert (imported["importedAs"], imported["added"]) == ("proposals", 1)
    assert agent.json("proposals")["proposals"][0]["content"] == "Sails on Sundays"


def test_proposals_are_decided_on_or_taken_back_together(agent: Program) -> None:
    told = agent.run("import", str(claw(agent)), "--as", "proposals").stdout
    assert "Imported 3 proposals from claw" in told
    assert "workbench proposals" in told
    assert "workbench undo takes all of it back" in told
    undone = agent.run("undo").stdout
    assert "Undone" in undone
    assert agent.json("proposals")["proposals"] == []


def test_an_import_is_taken_back_by_any_of_its_commits(agent: Program) -> None:
    commit = agent.json("import", str(claw(agent)))["commits"][0]
    agent.json("remember", "Something after it")
    preview = agent.json("import", "--undo", commit[:8], "--dry-run")
    assert (preview["removed"], preview["dryRun"], preview["commit"]) == (3, True, None)
    told = agent.run("import", "--undo", commit[:8])
    assert "Took back the import of claw: 3 gone." in told.stdout
    assert agent.run("import", "--undo", commit).returncode == 2
    assert agent.run("import", "--undo", commit, "--as", "proposals").returncode == 2
    assert agent.json("import", str(claw(agent)))["added"] == 3


def test_an_export_from_another_time_zone_is_told(agent: Program) -> None:
    target = agent.folder.parent / "copy.jsonl"
    agent.run("export", str(target))
    agent.run("export", "--to", str(agent.folder.parent / "copy"))
    zone = json.loads(target.read_text(encoding="utf-8").splitlines()[0])["timezone"]
    for place in (target, agent.folder.parent / "copy" / "workbench-export.json"):
        said = place.read_text(encoding="utf-8")
        place.write_text(said.replace(f'"{zone}"', '"Asia/Taipei"', 1), encoding="utf-8")
    for source in ("copy.jsonl", "copy"):
        preview = agent.json("import", str(agent.folder.parent / source), "--dry-run")
        assert any("Asia/Taipei" in one["reason"] for one in preview["leftOut"])
    (agent.folder.parent / "fine").mkdir()
    agent.run("export", str(agent.folder.parent / "fine" / "own.jsonl"))
    preview = agent.json("import", str(agent.folder.parent / "fine" / "own.jsonl"), "--dry-run")
    assert preview["leftOut"] == []


def test_an_export_without_files_says_why_nothing_comes_of_it(agent: Program) -> None:
    target = agent.folder.parent / "memories.jsonl"
    agent.run("export", str(target), "--only", "memories")
    left_out = agent.json("import", str(target), "--dry-run")["leftOut"]
    assert [one["where"] for one in left_out] == ["memories.jsonl"]
    assert "--only memories" in left_out[0]["reason"]


def test_an_export_goes_to_stdout_a_file_or_a_folder(agent: Program) -> None:
    agent.run("remember", "The ferry leaves at nine", "--store", "episodic")
    lines = [json.loads(line) for line in agent.run("export").stdout.splitlines()]
    assert lines[0]["kind"] == "workbench-export"
    assert any(line.get("text") == "The ferry leaves at nine" for line in lines)
    target = agent.folder.parent / "copy.jsonl"
    exported = agent.json("export", str(target), "--only", "files")
    assert (exported["ok"], exported["memories"]) == (True, 0)
    assert exported["files"] == len(target.read_text(encoding="utf-8").splitlines()) - 1
    agent.run("export", "--to", str(agent.folder.parent / "copy"))
    assert (agent.folder.parent / "copy" / "MEMORY.md").is_file()
    assert agent.run("export", str(target)).returncode == 2
    assert agent.run("export", str(target), "--to", "x").returncode == 2


def test_a_killed_import_goes_on_where_it_was(agent: Program) -> None:
    folder = agent.folder.parent / "notes"
    write(folder, {f"{number}.md": f"# Note {number}\n\nText {number}.\n" for number in range(1_500)})
    started = agent.start("import", str(folder))
    ledger = agent.folder / "memory/meta/imports"
    while started.poll() is None and not any(ledger.glob("*.json")):
        with suppress(subprocess.TimeoutExpired):
            started.wait(0.02)
    started.kill()
    started.communicate()
    rest = agent.json("import", str(folder))
    assert rest["complete"] is True
    assert 0 < rest["known"] < 1_500 or started.returncode == 0
    assert rest["known"] + rest["added"] == 1_500
    assert len(list((agent.folder / "memory/imports/notes").glob("*.md"))) == 1_500
    assert agent.json("audit", "verify")["ok"] is True


def test_without_a_source_it_tells_where_other_agents_keep_memory(agent: Program) -> None:
    folder = agent.home / ".claude"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text("Prefers short answers.\n")
    assert agent.json("import") == {"places": [{"place": "~/.claude", "program": "Claude Code"}]}
    assert "workbench import ~/.claude --dry-run" in agent.run("import").stdout
    assert agent.run("import", "--dry-run").returncode == 2
    (folder / "CLAUDE.md").unlink()
    assert agent.run("import").returncode == 3
