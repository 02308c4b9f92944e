"""The recorder itself: it covers every command and method, puts back what changed, and knows wording from the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.recording import fixing, recorder
from tests.recording.commands import CHANGING
from tests.recording.comparing import compare, report
from tests.recording.normalising import Normaliser
from tests.recording.recorder import NotCovered, check_coverage
from tests.recording.stage import Stage

STEP = {
    "step": "1",
    "exit": 0,
    "stdout": ["Done."],
    "json": {"error": {"message": "No.", "kind": "not-found"}},
}


def record(folder: Path, **changed: Any) -> Path:
    folder.mkdir()
    (folder / "part.json").write_text(json.dumps([{**STEP, **changed}]), encoding="utf-8")
    return folder


def test_every_command_and_method_is_recorded() -> None:
    told = check_coverage()
    assert told["commands"] == len(fixing.commands())


def test_a_command_that_nothing_records_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "CHANGING", tuple(line for line in CHANGING if "undo" not in line.words))
    with pytest.raises(NotCovered, match="undo"):
        check_coverage()


def test_identifiers_are_the_same_in_each_run_and_others_in_each_step() -> None:
    first, again, other = fixing.Ids("a"), fixing.Ids("a"), fixing.Ids("b")
    given = [first(8), first(8)]
    assert given == [again(8), again(8)]
    assert len({*given, other(8)}) == 3
    assert all(len(each) == 16 for each in given)


def test_what_was_changed_is_told_and_put_back(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "stage")
    (stage.root / "a.md").write_text("one\n")
    (stage.root / "b.md").symlink_to("a.md")
    os.mkfifo(stage.root / "pipe")
    before = stage.look()
    (stage.root / "a.md").write_text("two\n")
    (stage.root / "b.md").unlink()
    (stage.root / "new").mkdir()
    (stage.root / "new/\udce9.md").write_bytes(b"\xff")
    told = stage.changes(before)["files"]
    assert told["agent/a.md"]["text"] == ["two", ""]
    assert told["agent/b.md"] == "gone"
    assert told["agent/new/\\udce9.md"]["base64"] == "/w=="
    stage.put_back(before)
    assert stage.changes(before) == {}
    assert (stage.root / "b.md").readlink() == Path("a.md")


def test_what_belongs_to_the_machine_is_replaced(tmp_path: Path) -> None:
    normaliser = Normaliser(tmp_path)
    assert normaliser.text(f"in {tmp_path}/agent after 12.5 ms") == "in <scratch>/agent after <n> ms"
    assert normaliser.value({"tookMs": 3.2, "score": 0.25, "ids": ["x"]}) == {
        "tookMs": "<n>",
        "score": 0.25,
        "ids": ["x"],
    }


@pytest.mark.parametrize(
    ("changed", "differs", "is_wording"),
    [
        ({}, False, False),
        ({"stdout": ["Finished."]}, True, True),
        ({"json": {"error": {"message": "Never.", "kind": "not-found"}}}, True, True),
        ({"json": {"error": {"kind": "not-found", "message": "No."}}}, True, False),
        ({"exit": 1, "stdout": ["Finished."]}, True, False),
        ({"changed": {"files": {"agent/MEMORY.md": "gone"}}}, True, False),
    ],
)
def test_wording_is_told_from_the_rest(
    tmp_path: Path, changed: dict[str, Any], differs: bool, is_wording: bool
) -> None:
    older, newer = record(tmp_path / "older"), record(tmp_path / "newer", **changed)
    assert [each.is_wording for each in compare(older, newer)] == ([is_wording] if differs else [])
    assert report(older, newer, only_wording=False) == (1 if differs else 0)
    assert report(older, newer, only_wording=True) == (1 if differs and not is_wording else 0)


def test_a_step_that_is_missing_differs(tmp_path: Path) -> None:
    older, newer = record(tmp_path / "older"), record(tmp_path / "newer")
    (newer / "part.json").write_text("[]")
    assert report(older, newer, only_wording=True) == 1
