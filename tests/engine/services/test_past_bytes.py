"""Memory as it was is what git would check out of that commit, byte for byte."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine.errors import HistoryDamaged, InvalidInput, NotFound, OutsideWorkspace

ODD = {
    "memory/vault/no-text.md": b"\xff\xfe\x00 half \xe2\x82\n",
    "memory/vault/windows.md": b"# A\r\n\r\nline\r\n",
    "memory/vault/mixed.md": b"\xef\xbb\xbfone\rtwo\r\nthree\n\n\n",
    "memory/vault/no-end.md": b"no final newline",
    "memory/vault/empty.md": b"",
    "memory/vault/deep/er/日本 \xc3\xa9.md": "名前 – ünï\n".encode(),
    "memory/graph/entities/person--torn.md": b"<!-- Type: person | Label: Torn\n```\nnever closed",
    "memory/2026-01-29.md": b"- [[person--robin]] $Id$ <<<<<<< HEAD\n",
}


def checkout(root: Path, commit: str, place: Path) -> dict[str, bytes]:
    place.mkdir()
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(
        [
            "git",
            f"--git-dir={root}/.audit",
            f"--work-tree={place}",
            "checkout",
            "-q",
            "-f",
            commit,
            "--",
            ".",
        ],
        env={**environment, "HOME": str(place), "GIT_INDEX_FILE": str(place.with_suffix(".index"))},
        check=True,
    )
    return read_all(place)


def read_all(place: Path) -> dict[str, bytes]:
    return {
        os.fsdecode(os.path.relpath(os.path.join(folder, name), place)): Path(folder, name).read_bytes()  # noqa: PTH118 - names may be any bytes
        for folder, _, names in os.walk(place)
        for name in names
    }


@pytest.fixture
def odd(settled: AgentHome) -> AgentHome:
    """A home that held odd files for a commit and holds others now."""
    for path, content in ODD.items():
        settled.write(path, content)
    (settled.root / "memory/vault/no-text-\udcff.md").write_bytes(b"a name that is no text\n")
    with settled.open() as workspace:
        settled.clock.advance(hours=1)
        workspace.adopt()
        for path in list(ODD)[::2]:
            (settled.root / path).write_bytes(b"now something else\n")
        settled.clock.advance(hours=1)
        workspace.adopt()
        workspace.remember("Robin sold the bicycle", store="episodic")
    return settled


def test_every_file_of_every_commit_is_as_git_has_it(odd: AgentHome, tmp_path: Path) -> None:
    with odd.open("reader") as workspace:
        for number, commit in enumerate(workspace.history_line().commits):
            expected = checkout(odd.root, commit, tmp_path / f"git-{number}")
            past = workspace.at(commit)
            told = {file.path: (file.size, file.blob) for file in past.moment.files}
            assert told.keys() == expected.keys()
            for path, content in expected.items():
                assert past.get(path) == content
                assert told[path][0] == len(content)
            copied = past.copy_to(tmp_path / f"copy-{number}")
            assert read_all(tmp_path / f"copy-{number}") == expected
            assert (copied.files, copied.bytes) == (len(expected), sum(map(len, expected.values())))
            assert not any(
                path.stat().st_mode & 0o111 for path in (tmp_path / f"copy-{number}").rglob("*.md")
            )


def test_looking_back_changes_nothing_in_the_workspace(odd: AgentHome) -> None:
    def seen() -> dict[str, tuple[int, int]]:
        found = (path for path in odd.root.rglob("*"))
        return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in found}

    before = seen()
    with odd.open("reader") as workspace:
        line = workspace.history_line()
        past = workspace.at(line.commits[0])
        past.core()
        past.graph("entity:person--robin", depth=2)
        past.scores()
        past.entities()
        workspace.compare(line.commits[0])
    assert seen() == before


@pytest.mark.parametrize("inside", [".", "copy", "memory/copy", "memory/vault", ".audit/copy"])
def test_a_copy_is_never_made_in_the_workspace(odd: AgentHome, inside: str) -> None:
    with odd.open("reader") as workspace, pytest.raises(OutsideWorkspace):
        workspace.at("HEAD").copy_to(odd.root / inside)


def test_a_copy_replaces_nothing_and_follows_no_link(odd: AgentHome, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "in").symlink_to(odd.root / "memory")
    before = read_all(tmp_path / "full")
    with odd.open("reader") as workspace:
        past = workspace.at("HEAD")
        for name in ("full", "link", "file", "dangling"):
            with pytest.raises(InvalidInput):
                past.copy_to(tmp_path / name)
        with pytest.raises(OutsideWorkspace):
            past.copy_to(tmp_path / "in" / "copy")
        (tmp_path / "free").mkdir()
        past.copy_to(tmp_path / "free")
        past.copy_to(tmp_path / "new" / "er")
    assert read_all(tmp_path / "full") == before
    assert not list((tmp_path / "real").iterdir())
    assert read_all(tmp_path / "free") == read_all(tmp_path / "new" / "er")


def test_lost_contents_are_an_error_of_ours_and_leave_no_copy(odd: AgentHome, tmp_path: Path) -> None:
    with odd.open("reader") as workspace:
        commit = workspace.history_line().commits[1]
        blob = next(f.blob for f in workspace.at(commit).moment.files if f.path.endswith("windows.md"))
    loose = odd.root / ".audit/objects" / blob[:2] / blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(b"rot")
    with odd.open("reader") as workspace:
        past = workspace.at(commit)
        with pytest.raises(HistoryDamaged):
            past.get("memory/vault/windows.md")
        with pytest.raises(HistoryDamaged):
            past.copy_to(tmp_path / "copy")
        assert not (tmp_path / "copy").exists()
        assert not list(tmp_path.glob(".copy*"))
        assert past.get("memory/vault/no-end.md") == ODD["memory/vault/no-end.md"]
        assert past.core().blocks


def test_a_file_that_was_not_there_is_named(odd: AgentHome) -> None:
    with odd.open("reader") as workspace:
        past = workspace.at(workspace.history_line().commits[0])
        for path in ("memory/vault/windows.md", "memory", "nothing"):
            with pytest.raises(NotFound):
                past.get(path)
        with pytest.raises(OutsideWorkspace):
            past.get("../outside")


def test_without_a_history_there_is_no_past(furnished: AgentHome) -> None:
    with furnished.open("reader") as workspace:
        assert workspace.history_line().commits == ()
        for call in (workspace.at, workspace.compare, workspace.audit_at):
            with pytest.raises(NotFound):
                call("2026-02-02")
