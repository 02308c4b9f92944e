"""Export, then import into an empty workspace: the same memory, byte for byte and score for score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace, layout
from workbench.engine.errors import Cancelled, InvalidInput, OutsideWorkspace
from workbench.engine.markdown.source import TEMPLATES
from workbench.engine.results.transfer import ExportProgress
from workbench.engine.transfer.plan import FOLDER


def lived_in(home: AgentHome) -> None:
    """Let some of everything happen."""
    with home.open("person") as workspace:
        workspace.remember("Kim runs the print shop", store="semantic", entities=["person:Kim"])
        workspace.remember("1. Open the valve\n2. Drain the boiler", store="procedural")
        workspace.remember("The safe is behind the map", store="vault")
        workspace.remember("Prefers short answers", store="core")
        workspace.pin("episode:2026-02-01:09:15")
        workspace.reinforce("episode:2026-02-01:18:40")
        workspace.forget(ids=["episode:2026-02-01:18:40"], apply=True)
        workspace.edit("entity:person--robin#^tea1", "Drinks coffee in the morning")
        workspace.show("episode:2026-02-01:09:15")
        workspace.get("memory/episodes/2026-02-01.md")


def memory_of(home: AgentHome) -> dict[str, bytes]:
    own = (layout.SETTINGS, layout.DECAY_SCORES)
    return {
        path: content
        for path, content in home.tracked().items()
        if path not in own and not path.startswith(FOLDER) and layout.is_memory_file(path)
    }


def scores_of(workspace: Workspace) -> dict[str, object]:
    return {
        entry.id: (entry.access_count, entry.pinned, entry.raw, entry.status, entry.last_accessed)
        for entry in workspace.decay().entries
    }


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("laid_out", [False, True])
def test_it_comes_back_the_same(settled: AgentHome, tmp_path: Path, folder: bool, laid_out: bool) -> None:
    lived_in(settled)
    target = tmp_path / ("copy" if folder else "copy.jsonl")
    other = AgentHome(tmp_path / "other")
    if laid_out:
        other.init()
    with settled.open("reader") as workspace:
        exported = workspace.export(target, folder=folder)
        assert exported.files == len(memory_of(settled)) + 1
    with other.open("person") as workspace:
        imported = workspace.import_from(target)
        assert imported.left_out == ()
        assert imported.form == "workbench"
    expected, got = memory_of(settled), memory_of(other)
    assert {path: got[path] for path in expected} == expected
    assert set(got) - set(expected) <= set(TEMPLATES)
    with settled.open("reader") as one, other.open("reader") as two:
        assert scores_of(two) == scores_of(one)
        assert two.core() == one.core()
        assert two.graph() == one.graph()
        for entry in one.decay().entries:
            assert two.show(entry.id).provenance == one.show(entry.id).provenance
            assert two.show(entry.id).validity == one.show(entry.id).validity
    with other.open("person") as workspace:
        assert workspace.import_from(target).added == 0


def test_what_was_removed_after_an_import_does_not_come_back(settled: AgentHome, tmp_path: Path) -> None:
    with settled.open("person") as workspace:
        workspace.export(tmp_path / "copy.jsonl")
    other = AgentHome(tmp_path / "other")
    with other.open("person") as workspace:
        workspace.import_from(tmp_path / "copy.jsonl")
        workspace.forget(ids=["procedure:how-to-release"], apply=True, hard=True)
        assert workspace.import_from(tmp_path / "copy.jsonl").added == 0


def test_memory_that_is_there_stays_and_logs_are_joined(settled: AgentHome, tmp_path: Path) -> None:
    with settled.open("person") as workspace:
        workspace.export(tmp_path / "copy.jsonl")
    other = AgentHome(tmp_path / "other")
    other.write("MEMORY.md", "# Memory\n\n## Identity\n- Name: Kim\n")
    other.write(
        "memory/episodes/2026-02-01.md",
        "# 2026-02-01 — Episode Log\n\n## 09:15 | event | confidence:high\nSaw a heron.\n",
    )
    with other.open("main") as workspace:
        imported = workspace.import_from(tmp_path / "copy.jsonl")
        assert workspace.show("episode:2026-02-01:09:15").text == "Saw a heron."
        assert workspace.show("episode:2026-02-01:09:15#2").text == "Backups run at midnight."
    assert "Name: Kim" in other.text("MEMORY.md")
    told = {one.reason for one in imported.left_out}
    assert "MEMORY.md says something else here; it stays as it is." in told
    assert "Only a person may bring it back." in told
    assert not (other.root / "SOUL.md").exists()


def test_lines_tell_memories_to_other_programs(settled: AgentHome) -> None:
    with settled.open("reader") as workspace:
        lines = [json.loads(line) for line in workspace.export_lines()]
    assert lines[0]["kind"] == "workbench-export"
    by_id = {line["id"]: line for line in lines if line["kind"] in ("memory", "fact")}
    episode = by_id["episode:2026-02-01:09:15"]
    assert (episode["text"], episode["tags"], episode["store"]) == (
        "Backups run at midnight.",
        ["backup"],
        "episodic",
    )
    fact = by_id["entity:person--robin#^tea1"]
    assert (fact["since"], fact["provenance"]) == ("2026-01-20", ["episode:2026-02-01:09:15"])
    assert any(line["kind"] == "relation" and line["relation"] == "develops" for line in lines)
    assert not any(line.get("path") == layout.SETTINGS for line in lines)


def test_hostile_exports_reach_nothing_outside_memory(settled: AgentHome, tmp_path: Path) -> None:
    paths = [
        "../outside.md", "/etc/passwd", "memory/../../x.md", ".audit/config", "workbench.toml", "openclaw.json",
        "memory/.hidden.md", "memory/x.sh", "memory\\x.md", "memory/a\0.md", "memory/" + "x" * 400 + ".md",
        "memory/meta/audit.log", "memory/graph/index.md", "memory//double.md", "./MEMORY.md", 7,
    ]  # fmt: skip
    lines = [
        {"kind": "workbench-export", "version": 1},
        *({"kind": "file", "path": p, "text": "x"} for p in paths),
    ]
    source = tmp_path / "evil.jsonl"
    more = ["not json", "[" * 100_000, '{"kind":"file","path":"memory/a.md","base64":"!"}', '{"kind":"file"}']
    source.write_text("\n".join([*map(json.dumps, lines), *more]) + "\n", encoding="utf-8")
    before = settled.tracked()
    with settled.open("person") as workspace:
        imported = workspace.import_from(source)
    assert imported.added == 0
    assert imported.left_out_count == len(paths) + len(more)
    assert settled.tracked() == before
    assert not (tmp_path / "outside.md").exists()


@pytest.mark.parametrize("content", ["nonsense", "[]", '{"version": 1, "entries": {', '{"a":' * 100_000])
@pytest.mark.parametrize("is_blank", [True, False])
def test_broken_scores_are_not_taken(tmp_path: Path, content: str, is_blank: bool) -> None:
    home = AgentHome(tmp_path / "home")
    Workspace.init(home.root)
    source = tmp_path / "broken.jsonl"
    lines = (
        {"kind": "workbench-export", "version": 1},
        {"kind": "file", "path": layout.DECAY_SCORES, "text": content},
    )
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with home.open("main") as workspace:
        kept = workspace.remember("Boats leave at nine", store="episodic", pinned=not is_blank).id
        imported = workspace.import_from(source)
        assert (imported.added, imported.left_out_count) == (0, 1)
        workspace.unpin(kept)
        assert workspace.pin(kept).commit


@pytest.mark.parametrize("folder", [False, True])
def test_an_export_tells_how_far_it_is_and_can_be_called_off_at_any_step(
    settled: AgentHome, tmp_path: Path, folder: bool
) -> None:
    told: list[ExportProgress] = []
    place = tmp_path / "out" / "copy"
    place.parent.mkdir()
    with settled.open("reader") as workspace:
        workspace.export(tmp_path / "whole", folder=folder, progress=told.append)
        assert [each.done for each in told] == list(range(1, told[-1].total + 1))
        for step in range(len(told)):
            answers = iter([*[False] * step, True])
            with pytest.raises(Cancelled, match="called off"):
                workspace.export(place, folder=folder, cancelled=answers.__next__)
            assert list(place.parent.iterdir()) == []
        workspace.export(place, folder=folder)
        assert place.exists()


@pytest.mark.parametrize("folder", [True, False])
def test_a_user_that_there_is_not_has_no_place_to_write_to(settled: AgentHome, folder: bool) -> None:
    with (
        settled.open() as workspace,
        pytest.raises(InvalidInput, match=r"This user is unknown\. Begin the path with ~/"),
    ):
        workspace.export("~nobody-of-that-name/memory", folder=folder)


def test_an_export_goes_to_a_free_place_elsewhere(settled: AgentHome, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine", encoding="utf-8")
    with settled.open("reader") as workspace:
        with pytest.raises(InvalidInput, match="something there already"):
            workspace.export(taken)
        with pytest.raises(OutsideWorkspace):
            workspace.export(settled.root / "copy.jsonl")
        with pytest.raises(OutsideWorkspace):
            workspace.export(settled.root / "memory" / "copy", folder=True)
    assert taken.read_text(encoding="utf-8") == "mine"
