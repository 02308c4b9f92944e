"""Two histories joined in one commit: all of both is told, undone, blamed and verified as that of one device."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.engine.history.notebook import PERSON, Notebook
from workbench.engine.errors import HistoryError, InvalidInput
from workbench.engine.history.actions import ActionWalk
from workbench.engine.history.audit import blame, file_history, iterate_entries
from workbench.engine.history.commits import EMPTY_INDEX, parse_message, read_commit_index
from workbench.engine.history.joining import Apart, How, Joining, JoinPlan, join_commit
from workbench.engine.history.maintenance import verify
from workbench.engine.history.plan import Attribution, Receipt
from workbench.engine.history.revert import revert
from workbench.engine.history.undo import undo

SYNC = Attribution("system:sync", may_touch_critical=True)


@pytest.fixture
def desk(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path / "desk")


@pytest.fixture
def lap(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path / "lap")


def fetch(into: Notebook, other: Notebook) -> str:
    head = other.history.store.head()
    assert head
    where = ("git", f"--git-dir={into.history.path}")
    subprocess.run((*where, "fetch", "-q", str(other.history.path), "main"), check=True)
    return head


def both(apart: Apart) -> JoinPlan:
    """Take what only theirs changed, and one side after the other of what both did."""
    _, ours, theirs = apart.trees
    mine, other = apart.changed()
    files: dict[str, bytes | None] = {path: theirs.get(path) for path in other - mine}
    files |= {path: ours[path] + theirs[path] for path in other & mine}
    return JoinPlan(
        files,
        f"joined {len(list(apart.store.beside((apart.theirs,), apart.ours)))} changes of lap",
        outcome=len(files),
    )


def join(into: Notebook, other: Notebook) -> Receipt[Joining]:
    if into.history.head() is None:
        into.history.init()
    return join_commit(into.history, fetch(into, other), both, SYNC)


def begun_together(desk: Notebook, lap: Notebook) -> None:
    desk.write("MEMORY.md", "# Core\n")
    assert join(lap, desk).outcome.how is How.FORWARD
    assert lap.history.head() == desk.history.head()
    assert (lap.root / "MEMORY.md").read_text() == "# Core\n"


def parted(desk: Notebook, lap: Notebook) -> None:
    begun_together(desk, lap)
    for number in range(3):
        for each, name in ((desk, "desk"), (lap, "lap")):
            each.clock.advance(minutes=2 if name == "desk" else 3)
            each.write(f"memory/vault/{name}.md", "".join(f"{name} {n}\n" for n in range(number + 1)))


def test_what_both_did_is_told_in_the_order_of_time_and_one_sync_joins_it(
    desk: Notebook, lap: Notebook
) -> None:
    parted(desk, lap)
    told = join(desk, lap)
    assert told.outcome.how is How.JOINED
    assert (desk.root / "memory/vault/lap.md").read_text() == "lap 0\nlap 1\nlap 2\n"
    store = desk.history.store
    walked = list(store.walk())
    assert len(walked) == len({each.id for each in walked}) == 8
    assert walked[0].id == told.commit
    assert len(walked[0].parents) == 2
    moments = [each.moment for each in walked[1:]]
    assert moments == sorted(moments, reverse=True)
    assert [entry.commit for entry in iterate_entries(desk.root, store)] == [each.short for each in walked]
    actions = list(ActionWalk(desk.root, store, walked[0].id, "person"))
    assert [action.kind for action in actions].count("SYNC") == 1
    assert verify(desk.history, deep=True).problems == ()


def test_the_other_device_moves_forward_to_what_was_joined(desk: Notebook, lap: Notebook) -> None:
    parted(desk, lap)
    join(desk, lap)
    assert join(lap, desk).outcome.how is How.FORWARD
    assert join(lap, desk).outcome.how is How.NOTHING_NEW
    assert join(desk, lap).outcome.how is How.NOTHING_NEW
    for each in (desk, lap):
        assert verify(each.history, deep=True).problems == ()
        assert read_commit_index(each.history.store).head == each.history.head()
    logs = [(each.root / "memory/meta/audit.log").read_text() for each in (desk, lap)]
    assert logs[0] == logs[1]


def test_an_index_that_is_kept_equals_one_that_is_read_anew(desk: Notebook, lap: Notebook) -> None:
    begun_together(desk, lap)
    known = EMPTY_INDEX
    for number in range(4):
        desk.clock.advance(minutes=5)
        lap.clock.advance(minutes=7)
        desk.write("memory/vault/desk.md", f"{number}\n")
        lap.write("memory/vault/lap.md", f"{number}\n")
        join(*((desk, lap) if number % 2 else (lap, desk)))
        join(*((lap, desk) if number % 2 else (desk, lap)))
        known = read_commit_index(desk.history.store, known)
        assert known == read_commit_index(desk.history.store)
        ids = [known.commit(place) for place in range(len(known))]
        assert ids == [each.id for each in desk.history.store.walk()][::-1]


def test_a_moment_shows_what_this_device_held_then(desk: Notebook, lap: Notebook) -> None:
    parted(desk, lap)
    before = desk.history.head()
    assert before
    moment = desk.history.store.commit(before).moment
    join(desk, lap)
    assert read_commit_index(desk.history.store).at(moment) == before


def test_undo_takes_back_the_newest_action_of_either_device_and_never_the_sync(
    desk: Notebook, lap: Notebook
) -> None:
    parted(desk, lap)
    join(desk, lap)
    undo(desk.history, PERSON)
    assert (desk.root / "memory/vault/lap.md").read_text() == "lap 0\nlap 1\n"
    undo(desk.history, PERSON)
    undo(desk.history, PERSON)
    left = [(desk.root / f"memory/vault/{name}.md").read_text().count("\n") for name in ("desk", "lap")]
    assert sorted(left) == [1, 2]
    assert join(lap, desk).outcome.how is How.FORWARD
    assert verify(lap.history, deep=True).problems == ()


def test_a_sync_itself_cannot_be_reverted(desk: Notebook, lap: Notebook) -> None:
    parted(desk, lap)
    told = join(desk, lap)
    assert told.commit
    with pytest.raises(InvalidInput, match="joined"):
        revert(desk.history, told.commit, PERSON)


def test_blame_names_who_wrote_each_line_on_either_device(desk: Notebook, lap: Notebook) -> None:
    begun_together(desk, lap)
    desk.write("memory/vault/note.md", "shared\n")
    join(lap, desk)
    written = {}
    for each, name in ((desk, "desk"), (lap, "lap")):
        each.clock.advance(minutes=5)
        each.write("memory/vault/note.md", f"shared\n{name}\n", actor=f"bot:{name}")
        written[name] = each.history.head()
    join(desk, lap)
    store = desk.history.store
    rows = blame(desk.root, store, "memory/vault/note.md").lines
    assert [(row.text, row.actor) for row in rows[:2]] == [
        ("shared", "bot:trigger-remember"),
        ("desk", "bot:desk"),
    ]
    assert (rows[-1].text, rows[-1].actor, rows[-1].commit) == ("lap", "bot:lap", written["lap"])
    told = [entry.commit for entry in file_history(desk.root, store, "memory/vault/note.md")]
    assert {*written.values()} < {*told}
    assert len(told) == 4


def test_a_history_with_a_link_or_a_foreign_path_is_refused(desk: Notebook, lap: Notebook) -> None:
    begun_together(desk, lap)
    store = lap.history.store
    head = store.head()
    assert head
    for entry in (b"120000 USER.md", b"100644 run.sh"):
        raw = store.raw_object(store.commit(head).tree)
        tree = store._write(2, raw + entry + b"\0" + bytes.fromhex(store.write_blob(b"/etc/passwd")))
        bad = store.write_commit(tree, [head], "x\n", author="x", email="x@x", moment=lap.clock.now())
        (lap.history.path / "refs/heads/main").write_text(f"{bad}\n")
        with pytest.raises(HistoryError, match="no file of a memory"):
            join_commit(desk.history, fetch(desk, lap), both, SYNC)
        assert desk.history.head() == head


def test_a_message_names_what_was_joined(desk: Notebook, lap: Notebook) -> None:
    parted(desk, lap)
    told = join(desk, lap)
    assert told.commit
    assert parse_message(desk.history.store.commit(told.commit)).summary == "joined 3 changes of lap"
