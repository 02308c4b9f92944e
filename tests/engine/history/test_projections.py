"""Whatever a derived file meets, the change stands, is told as done, and what is behind is known until it is mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from workbench.engine.clock import FixedClock
from workbench.engine.errors import InvalidInput, OutsideWorkspace, StorageError
from workbench.engine.history.history import History
from workbench.engine.history.maintenance import verify
from workbench.engine.history.plan import Action, Attribution, FileChange, FileView, Plan
from workbench.engine.history.projections import Projection

BOT = Attribution("bot:trigger-remember", "auto", "test")
INDEX = "memory/graph/index.md"


class Follower:
    """A projection that fails as long as it is told to, and keeps which files it was given."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.given: list[Sequence[str]] = []

    def run(self, paths: Sequence[str], files: FileView) -> Mapping[str, bytes]:
        if self.error is not None:
            raise self.error
        self.given.append(list(paths))
        return {INDEX: ("\n".join(files.list("memory")) + "\n").encode()}


class Kept:
    """A history with one projection that may fail."""

    def __init__(self, folder: Path) -> None:
        self.root, self.state = folder / "w", folder / "s"
        self.root.mkdir()
        self.follower = Follower()
        self.history = self.opened()

    def opened(self) -> History:
        names = [Projection("the list", self.follower.run)]
        return History(self.root, clock=FixedClock(), state=self.state, projections=names)

    def write(self, path: str) -> str | None:
        plan = Plan[None](Action.EDIT, path, "x", (FileChange(path, b"x\n", Action.EDIT, "x"),))
        return self.history.mutate(lambda _: plan, BOT).commit


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        OutsideWorkspace("This path leads over a symbolic link.", where=INDEX),
        InvalidInput("“entity:x” is not the id of a memory."),
        StorageError("The catalog cannot be kept."),
        ValueError("a bug"),
        UnicodeEncodeError("utf-8", "\udce9", 0, 1, "surrogates not allowed"),
        RecursionError("too deep"),
    ],
)
def test_a_failing_projection_costs_no_change(kept: Kept, error: Exception) -> None:
    kept.follower.error = error
    commit = kept.write("memory/a.md")
    assert commit == kept.history.head()
    assert kept.history.journal.is_settled()
    (told,) = [line for line in kept.history.warnings if "the list" in line]
    assert "The change is stored" in told
    assert "doctor" in told
    found = verify(kept.opened())
    assert [problem.kind for problem in found.problems] == ["behind"]
    # Another process knows of it, and what was missed is made up for once it can be.
    kept.history = kept.opened()
    kept.follower.error = None
    kept.write("memory/b.md")
    assert kept.follower.given[-1] == ["memory/a.md", "memory/b.md"]
    assert kept.history.behind() == ()
    assert verify(kept.opened()).ok
    assert (kept.root / INDEX).read_text() == "memory/a.md\nmemory/b.md\n"


def test_an_audit_log_that_cannot_be_written_costs_no_change(kept: Kept, tmp_path: Path) -> None:
    (kept.root / "memory/meta").mkdir(parents=True)
    (kept.root / "memory/meta/audit.log").symlink_to(tmp_path / "elsewhere")
    kept.write("memory/a.md")
    (behind,) = kept.history.behind()
    assert "audit.log" in behind.told
    assert kept.follower.given
    (kept.root / "memory/meta/audit.log").unlink()
    kept.write("memory/b.md")
    assert verify(kept.history).ok


def test_one_that_is_behind_holds_up_no_other(kept: Kept) -> None:
    other = Follower()
    broken = Follower()
    broken.error = KeyError("gone")
    names = [Projection("the broken one", broken.run), Projection("the other one", other.run)]
    kept.history = History(kept.root, clock=FixedClock(), state=kept.state, projections=names)
    kept.write("memory/a.md")
    assert other.given == [["memory/a.md"]]
    assert [one.name for one in kept.history.behind()] == ["the broken one"]


def test_what_is_behind_is_known_where_it_cannot_be_noted(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a file where the folder of state should be")
    kept = Kept(tmp_path)
    kept.follower.error = ValueError("a bug")
    kept.write("memory/a.md")
    assert len(kept.history.behind()) == 1


def test_calling_it_off_goes_through(kept: Kept) -> None:
    kept.follower.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        kept.write("memory/a.md")
    # What was committed stands, and the next writer settles it.
    kept.follower.error = None
    kept.write("memory/b.md")
    assert (kept.root / INDEX).read_text() == "memory/a.md\nmemory/b.md\n"
    assert verify(kept.history).ok


@pytest.mark.parametrize("content", [b"", b"[]", b'{"x": 1}', b'{"x": {"reason": 1}}', b"\xff"])
def test_a_damaged_note_of_what_is_behind_is_none(kept: Kept, content: bytes) -> None:
    kept.state.mkdir()
    (kept.state / "projections.json").write_bytes(content)
    assert kept.write("memory/a.md")
    assert kept.history.behind() == ()


def test_what_another_process_notes_or_mends_is_known_here(kept: Kept) -> None:
    other = kept.opened()
    kept.follower.error = OSError(28, "No space left on device")
    kept.write("memory/a.md")
    assert [one.paths for one in other.behind()] == [("memory/a.md",)]
    kept.history, first = other, kept.history
    kept.write("memory/b.md")
    kept.follower.error = None
    kept.history = first
    kept.write("memory/c.md")
    assert kept.follower.given == [["memory/a.md", "memory/b.md", "memory/c.md"]]
    assert first.behind() == other.behind() == ()
