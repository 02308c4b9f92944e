"""Changes of real files, whoever makes them and however."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from watchdog import observers

from workbench.engine.errors import Locked
from workbench.engine.search import updater
from workbench.engine.search.updater import Watcher

_LONG = 20.0
_QUIET = 0.05


class Calls:
    """Counts the calls of a watcher and lets a test wait for the next one."""

    def __init__(self) -> None:
        self._called = threading.Condition()
        self.count = 0

    def __call__(self) -> None:
        with self._called:
            self.count += 1
            self._called.notify_all()

    def after(self, act: Callable[[], object]) -> bool:
        """Do something; tell whether a call follows."""
        with self._called:
            before = self.count
        act()
        with self._called:
            return self._called.wait_for(lambda: self.count > before, timeout=_LONG)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "workspace"
    (root / "memory/episodes").mkdir(parents=True)
    (root / "MEMORY.md").write_text("## Identity\n")
    return root


@pytest.fixture
def watched(root: Path) -> Iterator[Calls]:
    calls = Calls()
    watching = Watcher(root, calls, quiet=_QUIET)
    yield calls
    watching.stop()


def save_as_editors_do(place: Path, text: str) -> None:
    """Write beside the file and let the new one take its name."""
    beside = place.with_name(f".{place.name}.swp")
    beside.write_text(text)
    beside.replace(place)


def test_files_written_moved_and_removed_in_any_way(root: Path, watched: Calls) -> None:
    day = root / "memory/episodes/2026-02-02.md"
    assert watched.after(lambda: day.write_text("new"))
    assert watched.after(lambda: day.write_text("changed"))
    assert watched.after(lambda: save_as_editors_do(day, "saved"))
    assert watched.after(lambda: save_as_editors_do(root / "MEMORY.md", "saved"))
    assert watched.after(lambda: day.rename(day.with_name("2026-02-03.md")))
    assert watched.after(lambda: day.with_name("2026-02-03.md").unlink())
    assert watched.after(lambda: (root / "SOUL.md").write_text("be kind"))


def test_folders_made_and_removed(root: Path, watched: Calls, tmp_path: Path) -> None:
    ready = tmp_path / "ready/deep"
    ready.mkdir(parents=True)
    (ready / "note.md").write_text("note")
    vault = root / "memory/vault"
    assert watched.after(lambda: shutil.move(tmp_path / "ready", vault))
    assert watched.after(lambda: (vault / "deep/note.md").write_text("changed"))
    assert watched.after(lambda: shutil.rmtree(vault))


def test_a_memory_folder_made_later_removed_and_made_again(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "empty"
    root.mkdir()
    calls = Calls()
    watching = Watcher(root, calls, quiet=_QUIET)
    memory = root / "memory"
    try:
        for _ in range(3):
            assert calls.after(memory.mkdir)
            # From the call on the folder itself is watched.
            assert calls.after(lambda: (memory / "2026-02-02.md").write_text("log"))
            assert calls.after(lambda: shutil.rmtree(memory))
    finally:
        watching.stop()


def test_what_is_no_memory_is_passed_over(root: Path, watched: Calls) -> None:
    (root / "src").mkdir()
    (root / "memory/meta").mkdir()
    assert watched.after(lambda: (root / "memory/a.md").write_text("x"))

    def others() -> None:
        (root / "src/main.md").write_text("x")
        (root / "README.md").write_text("x")
        (root / "memory/graph-index.log").write_text("x")
        (root / "memory/.hidden.md").write_text("x")
        (root / "memory/picture.png").write_bytes(b"x")
        (root / "memory/a.md").read_text()

    count = watched.count
    others()
    # What comes after it in the same queue is the proof that it was passed over.
    assert watched.after(lambda: (root / "memory/b.md").write_text("x"))
    assert watched.count == count + 1


def test_a_burst_is_one_call(root: Path) -> None:
    calls = Calls()
    watching = Watcher(root, calls, quiet=0.5)
    try:

        def burst() -> None:
            for number in range(200):
                (root / f"memory/{number}.md").write_text("x")

        assert calls.after(burst)
        assert calls.count == 1
    finally:
        watching.stop()


def test_changes_during_a_call_make_another_call_and_never_two_at_once(root: Path) -> None:
    started, go_on, again = threading.Event(), threading.Event(), threading.Event()
    at_once: list[int] = []
    inside = [0]

    def changed() -> None:
        inside[0] += 1
        at_once.append(inside[0])
        if started.is_set():
            again.set()
        started.set()
        go_on.wait(_LONG)
        inside[0] -= 1

    watching = Watcher(root, changed, quiet=_QUIET)
    try:
        (root / "memory/a.md").write_text("x")
        assert started.wait(_LONG)
        (root / "memory/b.md").write_text("x")
        go_on.set()
        assert again.wait(_LONG)
    finally:
        watching.stop()
    assert at_once == [1, 1]


def test_stop_waits_for_a_call_under_way(root: Path) -> None:
    started, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def changed() -> None:
        started.set()
        go_on.wait(_LONG)
        done.append("called")

    watching = Watcher(root, changed, quiet=_QUIET)
    (root / "memory/a.md").write_text("x")
    assert started.wait(_LONG)

    def stop() -> None:
        watching.stop()
        done.append("stopped")

    stopping = threading.Thread(target=stop)
    stopping.start()
    assert done == []
    go_on.set()
    stopping.join(_LONG)
    assert done == ["called", "stopped"]


def test_a_call_may_stop_its_own_watcher(root: Path) -> None:
    made: list[Watcher] = []
    stopped = threading.Event()

    def changed() -> None:
        made[0].stop()
        stopped.set()

    made.append(Watcher(root, changed, quiet=_QUIET))
    (root / "memory/a.md").write_text("x")
    assert stopped.wait(_LONG)
    made[0].stop()


def test_after_stop_nothing_is_called_and_no_thread_is_left(root: Path) -> None:
    before = set(threading.enumerate())
    calls = Calls()
    watching = Watcher(root, calls, quiet=_QUIET)
    watching.stop()
    watching.stop()
    (root / "memory/a.md").write_text("x")
    assert calls.count == 0
    assert [thread for thread in threading.enumerate() if thread not in before and thread.is_alive()] == []


def test_a_call_that_fails_is_made_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updater, "_FIRST_RETRY", 0.01)
    calls = Calls()

    def changed() -> None:
        calls()
        if calls.count < 3:
            raise Locked("Another process is writing.")

    watching = Watcher(root, changed, quiet=_QUIET)
    try:
        assert calls.after(lambda: (root / "memory/a.md").write_text("x"))
        assert calls.count >= 3 or calls.after(lambda: None)
        assert calls.count >= 3 or calls.after(lambda: None)
    finally:
        watching.stop()


def test_without_watches_to_be_had_files_are_looked_at_regularly(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refused(observers.Observer):  # type: ignore[valid-type,misc]  # a class chosen at run time
        def start(self) -> None:
            raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(observers, "Observer", Refused)
    monkeypatch.setattr(updater, "_POLL_SECONDS", 0.05)
    calls = Calls()
    watching = Watcher(root, calls, quiet=_QUIET)
    try:
        assert calls.after(lambda: (root / "memory/a.md").write_text("x"))
    finally:
        watching.stop()


def test_a_linked_memory_folder_is_not_watched(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "workspace"
    root.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / "memory").symlink_to(elsewhere)
    calls = Calls()
    watching = Watcher(root, calls, quiet=_QUIET)
    try:
        (elsewhere / "a.md").write_text("x")
        assert calls.after(lambda: (root / "MEMORY.md").write_text("x"))
        assert calls.count == 1
    finally:
        watching.stop()


def test_events_tell_which_files_changed(root: Path) -> None:
    calls = Calls()
    noted: list[frozenset[str] | None] = []
    watching = Watcher(root, calls, quiet=_QUIET, noted=noted.append)
    try:
        assert calls.after(lambda: (root / "memory/episodes/2026-02-02.md").write_text("x"))
        assert noted == [frozenset({"memory/episodes/2026-02-02.md"})]
        assert calls.after(lambda: save_as_editors_do(root / "MEMORY.md", "saved"))
        assert noted[-1] == frozenset({"MEMORY.md"})
        day = root / "memory/episodes/2026-02-02.md"
        assert calls.after(lambda: day.rename(day.with_name("2026-02-03.md")))
        assert noted[-1] == frozenset({"memory/episodes/2026-02-02.md", "memory/episodes/2026-02-03.md"})
    finally:
        watching.stop()


def test_where_events_cannot_tell_everything_may_have_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls()
    noted: list[frozenset[str] | None] = []

    def changed() -> None:
        calls()
        if calls.count == 2:
            raise Locked("Another process is writing.")

    monkeypatch.setattr(updater, "_FIRST_RETRY", 0.01)
    (root / "memory/vault").mkdir()
    (root / "memory/vault/note.md").write_text("x")
    watching = Watcher(root, changed, quiet=_QUIET, noted=noted.append)
    try:
        assert calls.after(lambda: (root / "memory/vault").rename(root / "memory/elsewhere"))
        assert calls.after(lambda: (root / "memory/a.md").write_text("x"))
        assert calls.count >= 3 or calls.after(lambda: None)
        assert noted == [None, frozenset({"memory/a.md"}), None]
    finally:
        watching.stop()


def test_an_event_that_comes_as_watching_ends_is_not_logged(
    root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    inotify = pytest.importorskip("watchdog.observers.inotify", reason="what Linux has")
    asked = threading.Event()
    late = inotify.InotifyEmitter.queue_events

    def too_late(emitter: Any, *args: Any, **kwargs: Any) -> None:
        emitter._inotify = None
        late(emitter, *args, **kwargs)
        asked.set()
        emitter.stop()

    monkeypatch.setattr(inotify.InotifyEmitter, "queue_events", too_late)
    watcher = Watcher(root, lambda: None)
    assert asked.wait(20)
    watcher.stop()
    assert not caplog.records
