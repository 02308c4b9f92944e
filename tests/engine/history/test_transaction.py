"""A mutation is whole or absent, is accounted for, and takes outside edits in before it changes anything."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook
from workbench.engine.clock import FixedClock
from workbench.engine.errors import (
    DocumentError,
    HistoryError,
    InvalidInput,
    NotFound,
    OutsideWorkspace,
    RoleRefused,
    Stale,
    WorkbenchError,
)
from workbench.engine.history import work_files
from workbench.engine.history.commits import parse_message
from workbench.engine.history.history import History
from workbench.engine.history.journal import Journal, Record
from workbench.engine.history.plan import Action, Attribution, Event, FileChange, FileView, Plan
from workbench.engine.history.projections import Projection, audit_lines
from workbench.engine.history.work_files import swap
from workbench.engine.markdown.audit_log import parse_audit_line

BOT = Attribution("bot:trigger-remember", "auto", "user said “remember …”")


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def edit(path: str, content: bytes | None, summary: str = "a change") -> Plan[None]:
    return Plan(Action.EDIT, path, summary, (FileChange(path, content, Action.EDIT, summary),))


def log_of(notebook: Notebook) -> list[str]:
    return (notebook.root / "memory/meta/audit.log").read_text(encoding="utf-8").splitlines()


def snapshot(root: Path) -> dict[str, bytes]:
    return {
        str(place.relative_to(root)): place.read_bytes()
        for place in sorted(root.rglob("*"))
        if place.is_file() and ".audit" not in place.relative_to(root).parts
    }


def test_a_mutation_changes_files_commit_and_log_together(notebook: Notebook) -> None:
    plan = Plan(
        Action.EDIT,
        "MEMORY.md",
        "two files",
        (
            FileChange("MEMORY.md", b"# Core\r\n", Action.CREATE, "core"),
            FileChange("memory/episodes/2026-02-02.md", b"## 14:30\n", Action.APPEND, "logged | it"),
        ),
        trailers=(("Reverts", "abc1234"),),
        outcome=42,
    )
    receipt = notebook.history.mutate(lambda _: plan, BOT)
    assert receipt.outcome == 42
    assert receipt.files == ("MEMORY.md", "memory/episodes/2026-02-02.md")
    assert (notebook.root / "MEMORY.md").read_bytes() == b"# Core\r\n"
    commit = notebook.history.store.commit(receipt.commit or "")
    assert notebook.history.head() == commit.id
    assert commit.author == "bot:trigger-remember"
    message = parse_message(commit)
    assert (message.actor, message.approval, message.trigger) == (BOT.actor, BOT.approval, BOT.trigger)
    assert message.trailers == (("Reverts", "abc1234"),)
    short = commit.id[:10]
    appended = "APPEND | memory/episodes/2026-02-02.md | bot:trigger-remember | auto | logged \\| it"
    assert log_of(notebook) == [
        f"2026-02-02T14:30Z | CREATE | MEMORY.md | bot:trigger-remember | auto | core ({short})",
        f"2026-02-02T14:30Z | {appended} ({short})",
    ]


def test_a_plan_that_changes_nothing_makes_no_commit(notebook: Notebook) -> None:
    first = notebook.history.mutate(lambda _: edit("MEMORY.md", b"x"), BOT).commit
    receipt = notebook.history.mutate(lambda _: edit("MEMORY.md", b"x"), BOT)
    assert (receipt.commit, receipt.files) == (None, ())
    assert notebook.history.head() == first


def test_an_event_is_an_empty_commit(notebook: Notebook) -> None:
    before = notebook.history.mutate(lambda _: edit("MEMORY.md", b"x"), BOT).commit
    plan = Plan[None](
        Action.PROPOSE, "MEMORY.md", "from coder", events=(Event(Action.PROPOSE, "MEMORY.md", "idea"),)
    )
    receipt = notebook.history.mutate(lambda _: plan, BOT)
    store = notebook.history.store
    assert receipt.commit
    assert store.commit(receipt.commit).tree == store.commit(before or "").tree
    assert log_of(notebook)[-1].endswith(
        f"PROPOSE | MEMORY.md | {BOT.actor} | auto | idea ({receipt.commit[:10]})"
    )


def test_deleting_removes_the_file(notebook: Notebook) -> None:
    notebook.history.mutate(lambda _: edit("memory/vault/a.md", b"x"), BOT)
    receipt = notebook.history.mutate(lambda _: edit("memory/vault/a.md", None), BOT)
    assert not (notebook.root / "memory/vault/a.md").exists()
    assert notebook.history.store.file_at(receipt.commit or "", "memory/vault/a.md") is None


def test_the_mode_of_a_file_is_kept(notebook: Notebook) -> None:
    notebook.history.mutate(lambda _: edit("MEMORY.md", b"x"), BOT)
    (notebook.root / "MEMORY.md").chmod(0o600)
    notebook.history.mutate(lambda _: edit("MEMORY.md", b"y"), BOT)
    assert (notebook.root / "MEMORY.md").stat().st_mode & 0o777 == 0o600


def test_commits_are_dated_in_the_given_zone(tmp_path: Path) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    (tmp_path / "w").mkdir()
    history = History(
        tmp_path / "w", clock=FixedClock(datetime(2026, 2, 2, tzinfo=UTC)), state=tmp_path / "s", zone=zone
    )
    commit = history.mutate(lambda _: edit("MEMORY.md", b"x"), BOT).commit
    assert history.store.commit(commit or "").moment.isoformat() == "2026-02-02T05:30:00+05:30"


def test_an_outside_edit_is_committed_first_and_the_plan_made_anew(notebook: Notebook) -> None:
    notebook.history.mutate(lambda _: edit("MEMORY.md", b"one\n"), BOT)
    (notebook.root / "MEMORY.md").write_bytes(b"one\nby hand\n")

    def append(files: FileView) -> Plan[None]:
        return edit("MEMORY.md", (files.read("MEMORY.md") or b"") + b"three\n")

    receipt = notebook.history.mutate(append, BOT)
    assert (notebook.root / "MEMORY.md").read_bytes() == b"one\nby hand\nthree\n"
    adopted = notebook.history.store.commit(receipt.adopted[0])
    assert parse_message(adopted).actor == "manual"
    assert notebook.history.store.file_at(adopted.id, "MEMORY.md") == b"one\nby hand\n"
    assert notebook.history.store.commit(receipt.commit or "").parent == adopted.id


def test_an_edit_of_a_file_that_was_only_read_is_taken_in_too(notebook: Notebook) -> None:
    notebook.write_all({"MEMORY.md": "m", "AGENTS.md": "u"})
    (notebook.root / "AGENTS.md").write_text("changed")

    def plan(files: FileView) -> Plan[None]:
        return edit("MEMORY.md", files.read("AGENTS.md"))

    receipt = notebook.history.mutate(plan, BOT)
    assert len(receipt.adopted) == 1
    assert (notebook.root / "MEMORY.md").read_text() == "changed"


def test_an_edit_that_comes_while_planning_is_not_overwritten(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    rounds = []

    def plan(files: FileView) -> Plan[None]:
        content = files.read("MEMORY.md") or b""
        rounds.append(content)
        if len(rounds) == 1:
            (notebook.root / "MEMORY.md").write_bytes(b"by hand, meanwhile\n")
        return edit("MEMORY.md", content + b"more\n")

    notebook.history.mutate(plan, BOT)
    assert (notebook.root / "MEMORY.md").read_bytes() == b"by hand, meanwhile\nmore\n"
    assert b"by hand, meanwhile\n" in rounds


def test_an_edit_at_the_very_last_moment_is_taken_in_and_planned_upon(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write("MEMORY.md", "one\n")
    append, saves = Journal.append, iter((b"by hand\n",))

    def append_then_edit(journal: Journal, record: Record) -> None:
        append(journal, record)
        if record.files and (saved := next(saves, None)) is not None:
            (notebook.root / "MEMORY.md").write_bytes(saved)

    def more(view: FileView) -> Plan[None]:
        return edit("MEMORY.md", (view.read("MEMORY.md") or b"") + b"two\n")

    monkeypatch.setattr(Journal, "append", append_then_edit)
    receipt = notebook.history.mutate(more, BOT)
    assert (notebook.root / "MEMORY.md").read_bytes() == b"by hand\ntwo\n"
    assert receipt.commit == notebook.history.head()
    before = notebook.history.store.commit(receipt.commit or "").parent
    assert parse_message(notebook.history.store.commit(before or "")).actor == "manual"
    assert notebook.history.adopt().commits == ()


def test_a_branch_that_others_move_meanwhile_is_theirs(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = notebook.write("MEMORY.md", "one\n")
    second = notebook.write("MEMORY.md", "two\n")
    append = Journal.append

    def append_then_move(journal: Journal, record: Record) -> None:
        append(journal, record)
        notebook.history.store.move_head(first, expected=second)

    with monkeypatch.context() as moving:
        moving.setattr(Journal, "append", append_then_move)
        with pytest.raises(Stale):
            notebook.write("MEMORY.md", "three\n")
    assert notebook.history.head() == first
    assert notebook.read("MEMORY.md") == "two\n"
    notebook.history.adopt()
    assert notebook.read("MEMORY.md") == "two\n"


def test_files_that_never_stand_still_end_in_a_clear_error(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one\n")
    before = notebook.history.head()
    rounds: list[int] = []

    def plan(files: FileView) -> Plan[None]:
        files.read("MEMORY.md")
        rounds.append(1)
        (notebook.root / "MEMORY.md").write_text("x" * len(rounds))
        return edit("MEMORY.md", b"mine")

    with pytest.raises(Stale, match="keep changing"):
        notebook.history.mutate(plan, BOT)
    assert (notebook.root / "MEMORY.md").read_text() == "x" * len(rounds)
    assert notebook.history.store.is_ancestor(before or "", notebook.history.head() or "")


def test_critical_files_need_the_right_to_them(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "m")
    head, files = notebook.history.head(), snapshot(notebook.root)
    plan = Plan[None](
        Action.EDIT,
        "*",
        "both",
        (
            FileChange("MEMORY.md", b"n", Action.EDIT, "x"),
            FileChange("workbench.toml", b"a = 1", Action.EDIT, "x"),
        ),
    )
    with pytest.raises(RoleRefused) as refused:
        notebook.history.mutate(lambda _: plan, BOT)
    assert refused.value.where == "workbench.toml"
    assert (notebook.history.head(), snapshot(notebook.root)) == (head, files)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("notes.txt", InvalidInput),
        ("memory/.hidden.md", InvalidInput),
        ("memory/meta/audit.log", InvalidInput),
        ("../MEMORY.md", OutsideWorkspace),
        ("/etc/passwd.md", OutsideWorkspace),
        (".audit/config", InvalidInput),
    ],
)
def test_only_tracked_files_can_be_changed(
    notebook: Notebook, path: str, error: type[WorkbenchError]
) -> None:
    with pytest.raises(error):
        notebook.history.mutate(lambda _: edit(path, b"x"), BOT)
    assert snapshot(notebook.root) == {}


def test_links_are_never_followed(notebook: Notebook, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    (notebook.root / "memory").symlink_to(outside)
    (notebook.root / "MEMORY.md").symlink_to(outside / "a.md")
    for path in ("memory/a.md", "memory/new.md", "MEMORY.md"):
        with pytest.raises(OutsideWorkspace):
            notebook.history.mutate(lambda _, path=path: edit(path, b"x"), BOT)  # type: ignore[misc]  # bound default
        with pytest.raises(OutsideWorkspace):
            notebook.history.now().read(path)
    assert (outside / "a.md").read_text() == "secret"
    assert [place.name for place in outside.iterdir()] == ["a.md"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_no_line_of_utf_8_is_put_into_a_file_of_utf_16(notebook: Notebook, encoding: str) -> None:
    place = notebook.root / "MEMORY.md"
    foreign = "\ufeff# Core\n".encode(encoding) if encoding == "utf-16-be" else "# Core\n".encode(encoding)
    place.write_bytes(foreign)
    with pytest.raises(DocumentError, match="UTF-16") as refused:
        notebook.history.mutate(lambda _: edit("MEMORY.md", foreign + b"- more\n"), BOT)
    assert refused.value.where == "MEMORY.md"
    assert place.read_bytes() == foreign
    notebook.history.mutate(lambda _: edit("MEMORY.md", b"# Core\n- more\n"), BOT)
    assert place.read_bytes() == b"# Core\n- more\n"


def test_a_plan_cannot_name_a_file_twice(notebook: Notebook) -> None:
    change = FileChange("MEMORY.md", b"x", Action.EDIT, "s")
    with pytest.raises(InvalidInput, match="twice"):
        notebook.history.mutate(lambda _: Plan(Action.EDIT, "MEMORY.md", "s", (change, change)), BOT)


def test_a_planner_cannot_start_another_change(notebook: Notebook) -> None:
    def plan(files: FileView) -> Plan[None]:
        notebook.history.mutate(lambda _: edit("MEMORY.md", b"x"), BOT)
        raise AssertionError

    with pytest.raises(HistoryError, match="inside another"):
        notebook.history.mutate(plan, BOT)
    assert notebook.write("MEMORY.md", "works again")


def test_opening_and_reading_write_nothing(notebook: Notebook) -> None:
    (notebook.root / "MEMORY.md").write_text("m")
    (notebook.root / "memory").mkdir()
    (notebook.root / "memory/2026-02-01.md").write_text("log")
    assert not notebook.history.exists
    assert notebook.history.head() is None
    assert notebook.history.alerts() == ()
    assert notebook.history.now().read("MEMORY.md") == b"m"
    assert notebook.history.now().list("") == ["MEMORY.md", "memory/2026-02-01.md"]
    assert notebook.history.now().list("memory") == ["memory/2026-02-01.md"]
    with pytest.raises(NotFound):
        _ = notebook.history.store
    assert sorted(place.name for place in notebook.root.iterdir()) == ["MEMORY.md", "memory"]
    assert not notebook.history.state.exists()


def test_files_can_be_read_as_of_a_commit(notebook: Notebook) -> None:
    first = notebook.write_all({"MEMORY.md": "one", "memory/a/x.md": "x", "memory/ab.md": "y"})
    notebook.write_all({"MEMORY.md": "two", "memory/a/x.md": None})
    then = notebook.history.at(first[:8])
    assert then.read("MEMORY.md") == b"one"
    assert then.read("memory/none.md") is None
    assert then.list("memory/a") == ["memory/a/x.md"]
    assert then.list("") == ["MEMORY.md", "memory/a/x.md", "memory/ab.md"]


def test_the_first_mutation_commits_what_it_finds(notebook: Notebook) -> None:
    (notebook.root / "USER.md").write_text("found")
    receipt = notebook.history.mutate(lambda _: edit("MEMORY.md", b"x"), BOT)
    commits = list(notebook.history.store.walk())
    assert [parse_message(commit).actor for commit in commits] == [BOT.actor, "system:init"]
    assert notebook.history.store.files_at(commits[1].id).keys() == {"USER.md"}
    assert receipt.adopted == ()


def test_init_commits_everything_at_once_and_leaves_a_foreign_repository_alone(notebook: Notebook) -> None:
    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", *arguments], cwd=notebook.root, check=True, capture_output=True).stdout

    git("init", "-q")
    (notebook.root / ".gitignore").write_text("memory/\n")
    (notebook.root / ".gitattributes").write_text("*.md text eol=lf\n")
    (notebook.root / "SOUL.md").write_bytes(b"soul\r\n")
    (notebook.root / "memory/vault").mkdir(parents=True)
    (notebook.root / "memory/vault/v.md").write_text("v")
    (notebook.root / "code.py").write_text("print()")
    theirs = snapshot(notebook.root / ".git")
    receipt = notebook.history.init()
    assert receipt.files == ("SOUL.md", "memory/vault/v.md")
    assert notebook.history.store.file_at(receipt.commit or "", "SOUL.md") == b"soul\r\n"
    assert notebook.history.alerts() == ()
    assert snapshot(notebook.root / ".git") == theirs
    assert b".audit" not in git("status", "--porcelain", "-uall", "--ignored=no")
    assert [line.split(" | ")[1] for line in log_of(notebook)] == ["CREATE", "CREATE"]
    assert notebook.history.init().commit is None


def test_init_of_an_empty_folder_makes_an_empty_history(notebook: Notebook) -> None:
    assert notebook.history.init().commit is None
    assert notebook.history.exists
    assert snapshot(notebook.root) == {}
    with pytest.raises(NotFound):
        History(notebook.root / "none", clock=notebook.clock, state=notebook.history.state).init()


def test_people_can_read_history_with_git(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "one")
    command = ["git", "--git-dir=.audit", "--work-tree=.", "log", "--format=%an|%s"]
    shown = subprocess.run(command, cwd=notebook.root, check=True, capture_output=True, text=True).stdout
    assert shown == "bot:trigger-remember|[EDIT] MEMORY.md — a change\n"


def test_derived_files_follow_and_are_not_tracked(tmp_path: Path) -> None:
    seen: list[Sequence[str]] = []

    def index(paths: Sequence[str], files: FileView) -> dict[str, bytes]:
        seen.append(paths)
        return {"memory/graph/index.md": str(len(files.list("memory/graph/entities"))).encode()}

    (tmp_path / "w").mkdir()
    history = History(
        tmp_path / "w", clock=FixedClock(), state=tmp_path / "s", projections=[Projection("the index", index)]
    )
    receipt = history.mutate(lambda _: edit("memory/graph/entities/person--a.md", b"x"), BOT)
    assert (tmp_path / "w/memory/graph/index.md").read_bytes() == b"1"
    assert history.store.files_at(receipt.commit or "").keys() == {"memory/graph/entities/person--a.md"}
    assert list(seen[-1]) == ["memory/graph/entities/person--a.md"]


def test_threads_take_turns(notebook: Notebook) -> None:
    notebook.write("MEMORY.md", "")

    def append(name: int) -> None:
        for number in range(10):

            def plan(files: FileView, number: int = number) -> Plan[None]:
                return edit("MEMORY.md", (files.read("MEMORY.md") or b"") + f"{name}.{number}\n".encode())

            notebook.history.mutate(plan, BOT)

    threads = [threading.Thread(target=append, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (notebook.root / "MEMORY.md").read_text().split()
    assert sorted(lines) == sorted(f"{name}.{number}" for name in range(4) for number in range(10))
    assert len(list(notebook.history.store.walk())) == 41
    assert len(log_of(notebook)) == 41


def test_the_journal_starts_over_and_everything_stays(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.engine.history import journal

    monkeypatch.setattr(journal, "CHECKPOINT_SIZE", 5_000)
    commits = [notebook.write("MEMORY.md", "x" * number * 100) for number in range(1, 20)]
    assert (notebook.history.path / "workbench.journal").stat().st_size < 5_000
    assert [commit.id for commit in notebook.history.store.walk()] == commits[::-1]


def test_large_changes_bypass_the_journal(notebook: Notebook) -> None:
    texts: dict[str, str | None] = {f"memory/vault/{number}.md": f"{number}" * 5_000 for number in range(450)}
    commit = notebook.write_all(texts)
    assert (notebook.history.path / "workbench.journal").stat().st_size < 500_000
    assert list((notebook.history.path / "objects/pack").glob("*.pack"))
    assert notebook.history.store.file_at(commit, "memory/vault/449.md") == b"449" * 5_000


def test_every_line_of_the_log_is_in_the_commits(notebook: Notebook) -> None:
    for number in range(5):
        notebook.write_all(
            {"MEMORY.md": f"{number}", "USER.md": f"{number}"}, summary="tricky | one\nforged | line"
        )
    lines = [line for commit in reversed(list(notebook.history.store.walk())) for line in audit_lines(commit)]
    assert [parse_audit_line(line) for line in log_of(notebook)] == lines
    assert len(lines) == 10


def test_what_is_saved_in_the_very_moment_is_adopted_first_and_nothing_is_lost(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the other way round: then the edit, of a file without it, would take back what was just told as stored."""
    day, core = "memory/episodes/2026-02-02.md", "MEMORY.md"
    notebook.history.mutate(lambda _: edit(day, b"one\n"), BOT)
    place = notebook.root / day
    # Each time the two files exchange names and exchange them back.
    saves = iter((b"one\nby hand\n", None, b"one\nby hand twice\n", None))

    def saved_just_before(one: Path, other: Path) -> bool:
        if other == place and (saved := next(saves, None)) is not None:
            place.write_bytes(saved)
        return swap(one, other)

    def appended(view: FileView) -> Plan[None]:
        more = (view.read(day) or b"") + b"two\n"
        changes = (
            FileChange(core, b"# Core\n", Action.CREATE, "core"),
            FileChange(day, more, Action.APPEND, "two"),
        )
        return Plan(Action.APPEND, day, "two", changes)

    monkeypatch.setattr(work_files, "swap", saved_just_before)
    receipt = notebook.history.mutate(appended, BOT)
    assert place.read_bytes() == b"one\nby hand twice\ntwo\n"
    store = notebook.history.store
    actors = [parse_message(commit).actor for commit in store.walk(notebook.history.head())]
    assert actors[:4] == [BOT.actor, "manual", "manual", BOT.actor]
    assert receipt.commit == notebook.history.head()
    assert not list(notebook.root.rglob("*.tmp"))
