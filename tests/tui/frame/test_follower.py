"""What happens behind the bench: files are read, outside edits taken in, and the search index follows."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from workbench.engine.errors import StorageError
from workbench.engine.workspace import Workspace
from workbench.tui.frame import follower
from workbench.tui.frame.follower import Follower


class StandIn:
    """A workspace whose index waits until it is told to go on."""

    def __init__(self) -> None:
        self.settings = SimpleNamespace(
            search=SimpleNamespace(watch=True, watch_debounce_ms=1, sync_minutes=0)
        )
        self.begun: queue.Queue[str] = queue.Queue()
        self.go_on: queue.Queue[Exception | None] = queue.Queue()
        self.changed: Callable[[frozenset[str]], None] = lambda _paths: None
        self.held: list[SimpleNamespace] = []
        self.looked: queue.Queue[int] = queue.Queue()

    def secrets_held(self) -> SimpleNamespace:
        held = tuple(self.held)
        self.looked.put(len(held))
        return SimpleNamespace(held=held)

    def refresh(self, **_: object) -> None:
        """Have nothing to read."""

    def adopt(self) -> None:
        """Have nothing to take in."""

    def watch(self, changed: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        self.changed = changed
        return lambda: None

    def index(self, *, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        self.begun.put("")
        progress(43, 100)
        self.begun.put("shown")
        failure = self.go_on.get(timeout=10)
        if failure is not None:
            raise failure
        assert not cancelled()


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[StandIn, Follower, queue.Queue[str]]]:
    monkeypatch.setattr(follower, "_LONG", 0)
    workspace = StandIn()
    told: queue.Queue[str] = queue.Queue()
    here: list[Follower] = []
    following = Follower(cast("Workspace", workspace), lambda: told.put(here[0].index if here else "early"))
    here.append(following)
    yield workspace, following, told
    workspace.go_on.put(None)
    following.stop()


Followed = tuple[StandIn, Follower, "queue.Queue[str]"]


def indexed(workspace: StandIn, told: queue.Queue[str]) -> None:
    """Wait until the index is being brought up to date, and has told how far it is; forget what was told before."""
    for _ in range(2):
        workspace.begun.get(timeout=10)
    with told.mutex:
        told.queue.clear()


def heard(told: queue.Queue[str], words: str) -> None:
    """Wait until the bench was told, with these words on the index."""
    while told.get(timeout=10) != words:
        pass


def test_the_index_follows_the_first_reading_and_every_change(followed: Followed) -> None:
    workspace, following, told = followed
    indexed(workspace, told)
    assert following.index == "index 43%"
    workspace.go_on.put(None)
    heard(told, "")
    workspace.changed(frozenset({"MEMORY.md"}))
    indexed(workspace, told)
    workspace.go_on.put(None)
    heard(told, "")


def test_what_an_agent_had_held_back_is_told(followed: Followed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "_LOOK_AT_HELD", 0.01)
    workspace, _, told = followed
    indexed(workspace, told)
    workspace.go_on.put(None)
    heard(told, "")
    assert workspace.looked.get(timeout=10) == 0
    workspace.held.append(SimpleNamespace(number=1))
    heard(told, "")


def test_an_index_that_cannot_be_kept_is_told_until_it_can(followed: Followed) -> None:
    workspace, following, told = followed
    indexed(workspace, told)
    workspace.go_on.put(StorageError("The disk is full."))
    heard(told, "index behind")
    workspace.changed(frozenset({"MEMORY.md"}))
    indexed(workspace, told)
    workspace.go_on.put(None)
    heard(told, "")
    assert following.index == ""
