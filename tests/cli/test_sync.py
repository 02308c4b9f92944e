"""Syncing as it is run: two folders and a remote that is a folder, as docs/sync.md tells it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.cli.program import Program


def test_two_folders_share_a_memory(tmp_path: Path, program: Program) -> None:
    remote, desk = tmp_path / "memory.git", tmp_path / "desk"
    desk.mkdir()
    program.json("init")
    program.json("remember", "Sam reviews the backend", "--entity", "person:Sam")
    looked = program.run("sync", str(remote), "--json")
    assert looked.returncode == 5
    assert json.loads(looked.stdout)["outgoing"]["commits"] == 2
    assert not remote.exists()
    assert program.json("sync", str(remote), "--yes", "--device", "laptop")["sent"] == 2
    other = replace(program, folder=desk)
    assert "2 commits received" in other.run("sync", "../memory.git", "--yes", "--device", "desktop").stdout
    assert [each["name"] for each in other.json("sync", "--devices")["devices"]] == ["desktop", "laptop"]
    assert "Nothing is new" in program.run("sync").stdout
    assert "not synced" in other.run("sync", "--forget").stdout
