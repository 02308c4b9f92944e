"""Whatever a writer died in the middle of, the next one finishes it, or it never happened."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.history.notebook import PERSON, Notebook
from workbench.engine.history import journal as journal_module
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.history import History
from workbench.engine.history.journal import FileStep, Journal, Record
from workbench.engine.history.plan import Action, FileChange, Plan
from workbench.engine.history.projections import audit_lines
from workbench.engine.history.work_files import Staging

BEFORE = {"MEMORY.md": "one\n", "USER.md": "old user\n", "memory/vault/gone.md": "gone\n"}
AFTER: dict[str, str | None] = {
    "MEMORY.md": "two\n",
    "USER.md": "new user\n",
    "memory/vault/gone.md": None,
    "memory/new/file.md": "new\n",
}


class Killed(BaseException):
    """Stands for the end of the process: nothing in the engine handles it."""


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    notebook = Notebook(tmp_path)
    notebook.write_all(dict(BEFORE))
    return notebook


def die_at(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, call: int, *, after: bool) -> None:
    """Have the process end at the n-th call of a method, before or after it did its work."""
    real: Callable[..., object] = getattr(owner, method)
    calls = 0

    def dying(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call and not after:
            raise Killed
        result = real(*arguments, **options)
        if calls == call:
            raise Killed
        return result

    monkeypatch.setattr(owner, method, dying)


def change_everything(history: History) -> None:
    changes = tuple(
        FileChange(path, None if text is None else text.encode(), Action.EDIT, "s")
        for path, text in AFTER.items()
    )
    history.mutate(lambda _: Plan(Action.EDIT, "*", "everything", changes), PERSON)


def files(notebook: Notebook) -> dict[str, str]:
    paths = notebook.history.now().list("")
    return {path: (notebook.history.now().read(path) or b"").decode() for path in paths}


def reopened(notebook: Notebook) -> History:
    return History(notebook.root, clock=notebook.clock, state=notebook.history.state)


def assert_sound(notebook: Notebook) -> None:
    store = notebook.history.store
    git = ["git", f"--git-dir={store.path}", "fsck", "--strict", "--no-dangling"]
    assert subprocess.run(git, check=True, capture_output=True).stdout == b""
    log = (notebook.root / "memory/meta/audit.log").read_text(encoding="utf-8").splitlines()
    assert len(log) == sum(len(audit_lines(commit)) for commit in store.walk())
    assert not list(notebook.root.rglob("*.tmp"))
    assert notebook.history.adopt().commits == ()


INSTANTS = [
    (GitStore, "write_blob", 2, False, False),
    (GitStore, "write_commit", 1, True, False),
    (Staging, "lay", 2, False, False),
    (Staging, "lay", 3, True, False),
    (Journal, "append", 1, False, False),
    (Journal, "append", 1, True, True),
    (Staging, "place", 1, True, True),
    (Staging, "place", 2, True, True),
    (Staging, "place", 3, False, True),
    (GitStore, "move_head", 1, False, True),
    (GitStore, "move_head", 1, True, True),
    (Journal, "finish", 1, False, True),
    (Journal, "finish", 1, True, True),
]


@pytest.mark.parametrize(("owner", "method", "call", "after", "stands"), INSTANTS)
def test_a_death_at_any_step_leaves_all_or_nothing(
    notebook: Notebook,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    method: str,
    call: int,
    after: bool,
    stands: bool,
) -> None:
    head = notebook.history.head()
    die_at(monkeypatch, owner, method, call, after=after)
    with pytest.raises(Killed):
        change_everything(notebook.history)
    monkeypatch.undo()
    notebook.history = reopened(notebook)
    assert notebook.history.adopt().commits == ()
    expected = {path: text for path, text in AFTER.items() if text is not None} if stands else BEFORE
    assert files(notebook) == expected
    assert (notebook.history.head() != head) is stands
    assert_sound(notebook)


@pytest.mark.parametrize("instant", ["lay", "place"])
def test_a_death_during_recovery_is_recovered_from(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, instant: str
) -> None:
    die_at(monkeypatch, Staging, "place", 1, after=False)
    with pytest.raises(Killed):
        change_everything(notebook.history)
    monkeypatch.undo()
    die_at(monkeypatch, Staging, instant, 2, after=True)
    with pytest.raises(Killed):
        reopened(notebook).adopt()
    monkeypatch.undo()
    notebook.history = reopened(notebook)
    notebook.history.adopt()
    assert files(notebook) == {path: text for path, text in AFTER.items() if text is not None}
    assert_sound(notebook)


def test_an_edit_made_before_recovery_is_left_and_taken_in(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    die_at(monkeypatch, Staging, "place", 1, after=False)
    with pytest.raises(Killed):
        change_everything(notebook.history)
    monkeypatch.undo()
    (notebook.root / "USER.md").write_text("by hand\n")
    notebook.history = reopened(notebook)
    adopted = notebook.history.adopt()
    assert adopted.files == ("USER.md",)
    assert files(notebook)["USER.md"] == "by hand\n"
    assert files(notebook)["MEMORY.md"] == "two\n"
    assert_sound(notebook)


def test_a_mutation_recovers_first(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    die_at(monkeypatch, GitStore, "move_head", 1, after=False)
    with pytest.raises(Killed):
        change_everything(notebook.history)
    monkeypatch.undo()
    commit = notebook.write("MEMORY.md", "three\n")
    parent = notebook.history.store.commit(commit).parent
    assert parent
    assert notebook.history.store.file_at(parent, "MEMORY.md") == b"two\n"
    assert_sound(notebook)


def test_readers_do_not_repair(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    die_at(monkeypatch, Staging, "place", 1, after=True)
    with pytest.raises(Killed):
        change_everything(notebook.history)
    monkeypatch.undo()
    before = files(notebook)
    reader = reopened(notebook)
    assert reader.now().read("USER.md") == b"old user\n"
    assert reader.at("HEAD").read("MEMORY.md") == b"one\n"
    assert reader.alerts() == ()
    assert files(notebook) == before


def test_a_change_of_a_critical_file_never_loses_its_alert(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notebook.root / "SOUL.md").write_text("new soul\n")
    die_at(monkeypatch, GitStore, "move_head", 1, after=False)
    with pytest.raises(Killed):
        notebook.history.adopt()
    monkeypatch.undo()
    notebook.history = reopened(notebook)
    notebook.history.adopt()
    assert [alert.file for alert in notebook.history.alerts()] == ["SOUL.md"]
    assert_sound(notebook)


def lose_power(notebook: Notebook, *, branch: bytes) -> None:
    """Lose what was never flushed: loose objects written since, and the branch."""
    store = notebook.history.store
    journal = store.path / "workbench.journal"
    for record in Journal(journal).read().records:
        for oid in record.objects:
            place = store.loose_path(oid)
            place.chmod(0o644)
            place.write_bytes(b"")
    (store.path / "refs/heads/main").write_bytes(branch)
    content = journal.read_bytes()
    journal.write_bytes(b"workbench-journal 1 another-boot\n" + content.partition(b"\n")[2])
    remaining = store.path / "refs/heads/main.lock"
    remaining.write_bytes(b"")


@pytest.mark.parametrize("lost", ["empty", "behind"])
def test_a_power_cut_loses_nothing_acknowledged(notebook: Notebook, lost: str) -> None:
    commits = [notebook.write("MEMORY.md", f"{number}\n") for number in range(5)]
    lose_power(notebook, branch=b"" if lost == "empty" else commits[1].encode() + b"\n")
    notebook.history = reopened(notebook)
    notebook.history.adopt()
    assert notebook.history.head() == commits[-1]
    assert [notebook.history.at(commit).read("MEMORY.md") for commit in commits] == [
        f"{number}\n".encode() for number in range(5)
    ]
    assert_sound(notebook)
    assert not (notebook.history.path / "workbench.journal").exists()


def test_a_power_cut_in_the_middle_is_finished(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    last = notebook.write("MEMORY.md", "1\n")
    die_at(monkeypatch, Staging, "place", 1, after=True)
    with pytest.raises(Killed):
        notebook.write_all(dict(AFTER))
    monkeypatch.undo()
    lose_power(notebook, branch=b"")
    notebook.history = reopened(notebook)
    notebook.history.adopt()
    assert files(notebook) == {path: text for path, text in AFTER.items() if text is not None}
    assert notebook.history.store.commit(notebook.history.head() or "").parent == last
    assert_sound(notebook)


@pytest.mark.parametrize("keep", [0.1, 0.9])
def test_after_a_torn_record_the_next_ones_are_read(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, keep: float
) -> None:
    journal = notebook.history.store.path / "workbench.journal"
    whole = journal.read_bytes()
    with monkeypatch.context() as dying:
        die_at(dying, Journal, "append", 1, after=True)
        with pytest.raises(Killed):
            notebook.write("MEMORY.md", "never\n")
    record = journal.read_bytes()[len(whole) :]
    journal.write_bytes(whole + record[: int(len(record) * keep)])
    notebook.history = reopened(notebook)
    with monkeypatch.context() as dying:
        die_at(dying, Staging, "place", 1, after=False)
        with pytest.raises(Killed):
            notebook.write("MEMORY.md", "two\n")
    notebook.history = reopened(notebook)
    notebook.history.adopt()
    assert notebook.read("MEMORY.md") == "two\n"
    assert_sound(notebook)


def record(number: int) -> Record:
    return Record(
        f"t{number}",
        None,
        (("c" * 40, b"raw\n\0", {"a\udcff.md": "b" * 40, "gone.md": None}),),
        {"b" * 40: b"content\n"},
        (FileStep("a\udcff.md", None, "b" * 40),),
        ("b" * 40, "c" * 40),
    )


def test_a_record_that_lacks_its_line_end_alone_never_happened(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append(record(0))
    journal._path.write_bytes(journal._path.read_bytes()[:-1])
    state = journal.read()
    assert state.records == ()
    journal.cut(state.whole)
    journal.append(record(1))
    journal.finish("t1")
    assert journal.read().records == (record(1),)
    assert journal.is_settled()


@settings(max_examples=60)
@given(cut=st.integers(0, 1500), noise=st.binary(max_size=40))
def test_a_torn_journal_is_read_up_to_the_tear(
    tmp_path_factory: pytest.TempPathFactory, cut: int, noise: bytes
) -> None:
    journal = Journal(tmp_path_factory.mktemp("journal") / "journal")
    for number in range(2):
        journal.append(record(number))
        journal.finish(f"t{number}")
    whole = journal._path.read_bytes()
    journal._path.write_bytes(whole[:cut] + noise)
    state = journal.read()
    assert [found.transaction for found in state.records] in ([], ["t0"], ["t0", "t1"])
    assert all(found == record(number) for number, found in enumerate(state.records))
    journal.cut(state.whole)
    if state.whole:
        journal.append(record(7))
        assert [found.transaction for found in journal.read().records][-1] == "t7"
        assert journal.read().unfinished == record(7)
        assert not journal.is_settled()


def test_a_transaction_called_off_never_happened(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    assert journal.is_settled()
    journal.append(record(1))
    assert not journal.is_settled()
    journal.call_off("t1")
    assert journal.is_settled()
    assert (journal.read().records, journal.read().unfinished) == ((), None)


def test_without_a_boot_id_every_opening_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "boot_id", lambda: None)
    notebook = Notebook(tmp_path)
    commits = [notebook.write("MEMORY.md", f"{number}\n") for number in range(3)]
    assert [commit.id for commit in notebook.history.store.walk()] == commits[::-1]
    assert_sound(notebook)
