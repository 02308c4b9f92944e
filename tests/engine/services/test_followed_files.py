"""Where the kernel tells what changed, a question looks at those files alone, and misses none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace, layout
from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.notices import ChangeNotices
from workbench.engine.errors import StorageError
from workbench.engine.services import context
from workbench.engine.services.scoped_view import ScopedView

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify is of Linux")
LOG = "memory/2026-01-30.md"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def followed(settled: AgentHome) -> Iterator[Workspace]:
    """A workspace that looked at all files twice, as one does that is asked again after a moment."""
    if ChangeNotices.of(settled.root) is None:
        pytest.skip("The file system of the tests is one that other machines may write to.")
    with settled.open() as workspace:
        workspace.refresh()
        workspace.refresh()
        yield workspace


@pytest.fixture
def looks(followed: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The looks at all files so far."""
    found: list[Path] = []
    look = layout.tracked_files

    def tracked_files(root: Path) -> Any:
        found.append(root)
        return look(root)

    monkeypatch.setattr(layout, "tracked_files", tracked_files)
    return found


def paths(workspace: Workspace, word: str) -> set[str]:
    """Return the files in which a search finds a word."""
    return {hit.path for hit in workspace.search(word, min_score=0).results if word in hit.snippet}


def append(place: Path, line: str) -> None:
    with place.open("a", encoding="utf-8") as file:
        file.write(f"\n- {line}\n")


def test_an_edit_is_found_at_once_with_no_look_at_the_others(
    settled: AgentHome, followed: Workspace, looks: list[Path]
) -> None:
    for number in range(3):
        append(settled.root / LOG, f"The walrus{number} came ashore.")
        assert paths(followed, f"walrus{number}") == {LOG}
    (settled.root / "memory/2026-01-29.md").write_text("# 2026-01-29\n\n- A narwhal was seen.\n")
    assert paths(followed, "narwhal") == {"memory/2026-01-29.md"}
    (settled.root / "memory/2026-01-29.md").unlink()
    assert paths(followed, "narwhal") == set()
    assert looks == []


def test_a_new_folder_is_looked_at_and_followed_from_then_on(
    settled: AgentHome, followed: Workspace, looks: list[Path]
) -> None:
    place = settled.root / "memory/notes/deep/animals.md"
    place.parent.mkdir(parents=True)
    place.write_text("# Animals\n\nThe walrus sleeps.\n")
    assert paths(followed, "walrus") == {"memory/notes/deep/animals.md"}
    assert len(looks) == 1
    place.write_text("# Animals\n\nThe narwhal swims.\n")
    assert paths(followed, "narwhal") == {"memory/notes/deep/animals.md"}
    assert len(looks) == 1


def test_an_edit_that_could_not_be_read_is_not_forgotten(
    settled: AgentHome, followed: Workspace, looks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Catalog, paths: object) -> Any:
        raise StorageError("There is no room.", where="here", remedy="Make room.")

    append(settled.root / LOG, "The walrus came ashore.")
    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "update", fail)
        with pytest.raises(StorageError):
            followed.search("walrus")
    monkeypatch.setattr(context, "_FRESH_SECONDS", -1.0)
    assert paths(followed, "walrus") == {LOG}
    assert len(looks) == 1


def test_with_a_secret_in_sight_all_files_are_looked_at_as_before(
    settled: AgentHome, followed: Workspace, looks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "_FRESH_SECONDS", -1.0)
    append(settled.root / LOG, f"The token of the walrus is {TOKEN}")
    paths(followed, "walrus")
    before = len(looks)
    assert before
    # What a person decides on it changes what may be read, and no file.
    paths(followed, "walrus")
    assert len(looks) > before


def test_what_the_kernel_does_not_tell_is_found_behind_the_questions(
    settled: AgentHome,
    followed: Workspace,
    looks: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    linked = tmp_path / "linked.md"
    linked.hardlink_to(settled.root / LOG)
    assert paths(followed, "walrus") == set()
    append(linked, "The walrus came ashore.")
    assert paths(followed, "walrus") == set()
    assert looks == []
    monkeypatch.setattr(context, "_LOOK_AGAIN_SECONDS", -1.0)
    paths(followed, "walrus")
    followed._context._looking_again.wait(None)
    assert len(looks) >= 1
    assert paths(followed, "walrus") == {LOG}


def test_where_the_kernel_tells_nothing_it_is_asked_again_after_a_while(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(ChangeNotices, "of", asked.append)
    with settled.open() as workspace:
        for _ in range(5):
            workspace.refresh()
        assert asked == [settled.root]
        append(settled.root / LOG, "The walrus came ashore.")
        monkeypatch.setattr(context, "_FRESH_SECONDS", -1.0)
        assert paths(workspace, "walrus") == {LOG}
        assert len(asked) == 1
        monkeypatch.setattr(context, "_ASK_AGAIN_SECONDS", -1.0)
        workspace.refresh()
        assert len(asked) == 2


def test_notices_that_end_are_replaced_at_once(
    settled: AgentHome, followed: Workspace, looks: list[Path]
) -> None:
    for number in range(3):
        (settled.root / f"memory/notes{number}").mkdir()
        followed.search("walrus")
        append(settled.root / LOG, f"The narwhal{number} swims.")
        assert paths(followed, f"narwhal{number}") == {LOG}
    assert len(looks) == 3


def test_for_a_scope_the_kernel_is_not_asked(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(ChangeNotices, "of", asked.append)
    with settled.open() as workspace:
        view = ScopedView(workspace._context, "team:boats")
        for _ in range(3):
            view.current()
        view.close()
    assert all(place == settled.root for place in asked)
