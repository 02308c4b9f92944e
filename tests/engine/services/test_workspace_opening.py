"""Opening and reading write nothing into the folder, whatever the folder is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.engine.services.agent_home import BROKEN, AgentHome, failure, listing, names
from tests.engine.services.callings import MAY, READING, READING_HISTORY
from tests.powers import as_anybody
from workbench.engine import Workspace
from workbench.engine.errors import NotFound

OPENCLAW = {
    "MEMORY.md": "# Long-Term Memory\n\n## People\n"
    "- Sam prefers metric units. <!-- trigger: units --> <!-- importance: 6 -->\n\n"
    "## Promoted From Short-Term Memory (2026-05-14)\n"
    "<!-- openclaw-memory-promotion:memory:memory/2026-01-12.md:3:5 -->\n"
    "- Staging moved to eu-2. [score=0.812 signals=5 source=memory/2026-01-12.md:3-5]\n",
    "AGENTS.md": "# AGENTS.md\n\nRead MEMORY.md first.\n",
    "SOUL.md": "# Soul\r\n\r\nWarm.\r\n",
    "USER.md": "<!-- observed: 2026-01-10 | status: superseded -->\n- Likes trains\n",
    "memory/2026-01-12.md": "\ufeff# 2026-01-12\n\n- Staging host moved to eu-2\n\t- tabbed\n",
    "memory/2026-01-13-0930.md": "# Session: 2026-01-13 09:30 UTC\n\n## Conversation Summary\nWe spoke of trains.\n",
    "memory/2026-01-14.md": "- no final newline",
    "memory/heartbeat-state.json": '{"lastChecks":{"email":1700000000}}',
    "memory/.dreams/short-term-recall.json": '{"version":1,"entries":{}}',
    "openclaw.json": "{ // JSON5\n  agents: { defaults: { memorySearch: { query: { maxResults: 4, }, }, }, },\n}\n",
    "notes/private.txt": "not ours\n",
}


def empty(_: AgentHome) -> None:
    pass


def flat_openclaw(home: AgentHome) -> None:
    for path, text in OPENCLAW.items():
        home.write(path, text)


def furnished(home: AgentHome) -> None:
    home.furnish()


def broken(home: AgentHome) -> None:
    home.furnish()
    for path, content in BROKEN.items():
        home.write(path, content)


def with_history(home: AgentHome) -> None:
    home.furnish()
    home.init()


def inside_a_repository(home: AgentHome) -> None:
    home.furnish()
    make_repository(home.root.parent / "outer")
    home.root.rename(home.root.parent / "outer" / "agent")
    home.root = home.root.parent / "outer" / "agent"


def own_repository(home: AgentHome) -> None:
    home.furnish()
    make_repository(home.root)


def linked_about(home: AgentHome) -> None:
    home.furnish()
    outside = home.root.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret\n")
    (home.root / "memory/link.md").symlink_to(outside / "secret.md")
    (home.root / "memory/folder").symlink_to(outside)
    (home.root / "memory/loop").symlink_to(home.root / "memory")
    os.mkfifo(home.root / "memory/pipe.md")


def make_repository(folder: Path) -> None:
    """Make a repository of the user's, with a commit, a hook that shouts, and attributes that convert."""
    folder.mkdir(exist_ok=True)
    (folder / ".gitattributes").write_text("*.md text eol=crlf\n")
    (folder / ".gitignore").write_text("memory/\n")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "mine"]):
        identity = ["-c", "user.name=Sam", "-c", "user.email=sam@example.org"]
        subprocess.run(["git", "-C", str(folder), *identity, *command], check=True, capture_output=True)
    hook = folder / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\ntouch {folder}/hooked\nexit 1\n")
    hook.chmod(0o755)


PLACES = (
    empty,
    flat_openclaw,
    furnished,
    broken,
    with_history,
    inside_a_repository,
    own_repository,
    linked_about,
)


def read_everything(workspace: Workspace, unchanged: Callable[[str], None]) -> None:
    for calling in (*READING, *READING_HISTORY):
        if calling.name == "sync_preview":
            # It fetches into a folder of its own in `.audit`, and removes that again.
            continue
        # What does not exist in this place is an error to be told, and writes as little.
        failure(partial(calling.call, workspace))
        unchanged(calling.name)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("role", MAY)
def test_reading_leaves_everything_as_it_is(
    home: AgentHome, place: Callable[[AgentHome], None], role: str
) -> None:
    place(home)
    whole = home.root.parent if home.root.parent.name == "outer" else home.root
    before = listing(whole)

    def unchanged(what: str) -> None:
        assert listing(whole) == before, what

    with home.open(role) as workspace:
        unchanged("open")
        read_everything(workspace, unchanged)
    unchanged("close")


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("role", MAY)
def test_a_folder_that_may_only_be_read_is_read(furnished: AgentHome, role: str, history: bool) -> None:
    if history:
        furnished.init()
    places = [furnished.root, *furnished.root.rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    before = listing(furnished.root)
    try:
        with as_anybody(), furnished.open(role) as workspace:
            with pytest.raises(PermissionError):
                (furnished.root / "probe").touch()
            assert workspace.search("lighthouse").results
            assert workspace.show("Robin").text
            read_everything(workspace, lambda what: None)
    finally:
        assert listing(furnished.root) == before
        for place in places:
            place.chmod(0o755 if place.is_dir() else 0o644)


@pytest.mark.parametrize("role", ["reader", "agent:scout"])
def test_who_may_not_write_does_not_take_in_outside_edits(settled: AgentHome, role: str) -> None:
    settled.write("memory/2026-01-30.md", "Changed behind our back.\n")
    (settled.root / "memory/vault/promise.md").unlink()
    settled.write("SOUL.md", "Somebody else.\n")
    before = listing(settled.root)
    with settled.open(role) as workspace:
        read_everything(workspace, lambda what: None)
        assert workspace.get("memory/2026-01-30.md").text == "Changed behind our back.\n"
    assert listing(settled.root) == before


def test_everything_of_a_flat_workspace_is_read(home: AgentHome) -> None:
    flat_openclaw(home)
    with home.open("reader") as workspace:
        assert [block.name for block in workspace.core().blocks] == [
            "People",
            "Promoted From Short-Term Memory (2026-05-14)",
        ]
        assert {entry.path for entry in workspace.timeline().entries} == {
            "memory/2026-01-12.md",
            "memory/2026-01-13-0930.md",
            "memory/2026-01-14.md",
        }
        assert workspace.search("staging eu-2", store="file").results[0].path == "memory/2026-01-12.md"
        assert workspace.get("SOUL.md").text == "# Soul\r\n\r\nWarm.\r\n"
        assert workspace.settings.search.max_results == 4


def test_one_broken_file_hides_none_of_the_rest(home: AgentHome) -> None:
    broken(home)
    with home.open("reader") as workspace:
        assert workspace.show("episode:2026-01-29:10:00").text == "The good part."
        assert workspace.show("episode:2026-02-01:09:15").text == "Backups run at midnight."
        ids = {entry.id for entry in workspace.decay().entries}
        assert {"episode:2026-02-01:09:15", "entity:person--torn", "procedure:how-to-release"} <= ids
        told = [check for check in workspace.doctor().checks if check.name == "file"]
        for path in ("memory/episodes/2026-01-29.md", "memory/meta/decay-scores.json"):
            assert any(path in check.detail and check.remedy for check in told), path


def test_what_is_no_folder_is_not_found(home: AgentHome) -> None:
    home.write("file", "text")
    for place in (home.root / "absent", home.root / "file"):
        with pytest.raises(NotFound) as caught:
            Workspace.open(place)
        assert caught.value.remedy
    assert names(home.root) == ["file"]


def test_a_link_to_the_folder_opens_the_folder(furnished: AgentHome) -> None:
    link = furnished.root.parent / "link"
    link.symlink_to(furnished.root)
    with Workspace.open(link, clock=furnished.clock) as workspace:
        assert workspace.root == furnished.root
        assert workspace.core_add("Persona", "Be kind").commit
    assert len(furnished.commits()) == 2


def test_the_nearest_workspace_is_found_from_below(furnished: AgentHome) -> None:
    below = furnished.root / "code/src"
    below.mkdir(parents=True)
    assert Workspace.find(below) == furnished.root
    assert Workspace.find(furnished.root / "memory/episodes") in (furnished.root, furnished.root / "memory")
    assert Workspace.find(furnished.root.parent / "elsewhere") is None
