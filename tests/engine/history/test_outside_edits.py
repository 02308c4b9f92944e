"""Edits from outside are found, told apart, committed under the right name, reported where critical."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.history.notebook import PERSON, Notebook
from workbench.engine import layout
from workbench.engine.errors import NotFound, RoleRefused
from workbench.engine.history.alerts import load_seen
from workbench.engine.history.commits import parse_message
from workbench.engine.history.git_objects import Commit
from workbench.engine.history.history import History
from workbench.engine.history.plan import Action, Attribution, FileChange, Plan

LINES = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    notebook = Notebook(tmp_path)
    notebook.write_all(
        {
            "MEMORY.md": "core\n",
            "SOUL.md": "kind\n",
            "IDENTITY.md": "me\n",
            "memory/episodes/2026-02-01.md": LINES,
            "memory/procedures/a.md": LINES + "a\n",
            "memory/procedures/b.md": "only b\n",
        },
        actor="system:init",
    )
    return notebook


def put(notebook: Notebook, path: str, text: str) -> None:
    place = notebook.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def commits_since(notebook: Notebook, start: str | None) -> list[Commit]:
    return list(notebook.history.store.walk(stop=start))[::-1]


def subjects(notebook: Notebook, start: str | None) -> list[str]:
    return [commit.message.partition("\n")[0] for commit in commits_since(notebook, start)]


def test_nothing_changed_is_nothing_adopted(notebook: Notebook) -> None:
    head = notebook.history.head()
    assert notebook.history.adopt().commits == ()
    assert notebook.history.head() == head


def test_edits_of_ordinary_files_go_into_one_commit(notebook: Notebook) -> None:
    start = notebook.history.head()
    put(notebook, "MEMORY.md", "core\nmore\n")
    put(notebook, "memory/episodes/2026-02-01.md", LINES + "later\n")
    put(notebook, "memory/vault/new.md", "new\n")
    (notebook.root / "memory/procedures/b.md").unlink()
    (notebook.root / "memory/procedures/a.md").rename(notebook.root / "memory/procedures/renamed.md")
    adopted = notebook.history.adopt()
    (commit,) = commits_since(notebook, start)
    assert adopted.commits == (commit.id,)
    message = parse_message(commit)
    assert (message.actor, message.approval, message.trigger) == ("manual", "—", "direct human edit")
    assert message.summary == "5 files changed outside the engine"
    assert [(entry.action, entry.file, entry.summary) for entry in message.entries] == [
        ("EDIT", "MEMORY.md", "edited outside the engine (+1 −0 lines)"),
        ("APPEND", "memory/episodes/2026-02-01.md", "appended to outside the engine (+1 −0 lines)"),
        ("DELETE", "memory/procedures/b.md", "deleted outside the engine (+0 −1 lines)"),
        ("RENAME", "memory/procedures/renamed.md", "renamed from memory/procedures/a.md outside the engine"),
        ("CREATE", "memory/vault/new.md", "created outside the engine (+1 −0 lines)"),
    ]
    assert notebook.history.adopt().commits == ()


def test_a_renamed_and_edited_file_is_a_rename(notebook: Notebook) -> None:
    start = notebook.history.head()
    (notebook.root / "memory/procedures/a.md").unlink()
    put(notebook, "memory/procedures/c.md", LINES + "c\nand more\n")
    notebook.history.adopt()
    summary = "renamed from memory/procedures/a.md outside the engine (+2 −1 lines)"
    assert subjects(notebook, start) == [f"[RENAME] memory/procedures/c.md — {summary}"]


def test_each_critical_file_gets_a_commit_and_an_alert(notebook: Notebook) -> None:
    start = notebook.history.head()
    put(notebook, "SOUL.md", "unkind\n")
    (notebook.root / "IDENTITY.md").unlink()
    put(notebook, "MEMORY.md", "other\n")
    adopted = notebook.history.adopt()
    alert = "Critical file change detected. Pending user acknowledgment."
    assert subjects(notebook, start) == [
        "[DELETE] IDENTITY.md — deleted outside the engine (+0 −1 lines)",
        f"[ALERT] IDENTITY.md — {alert}",
        "[EDIT] SOUL.md — edited outside the engine (+1 −1 lines)",
        f"[ALERT] SOUL.md — {alert}",
        "[EDIT] MEMORY.md — edited outside the engine (+1 −1 lines)",
    ]
    soul = parse_message(commits_since(notebook, start)[2])
    assert soul.trigger == "direct human edit ⚠️ CRITICAL FILE CHANGED"
    assert soul.entries[0].summary == "⚠️ CRITICAL: edited outside the engine (+1 −1 lines)"
    alerts = notebook.history.alerts()
    assert [found.file for found in alerts] == ["SOUL.md", "IDENTITY.md"]
    assert {found.id for found in alerts} == set(adopted.alerts)
    assert alerts[0].diff.splitlines()[2:] == ["@@ -1 +1 @@", "-kind", "+unkind"]
    assert alerts[1].diff.splitlines()[-1] == "-me"
    assert [found.actor for found in alerts] == ["manual", "manual"]


def again(notebook: Notebook, *further: str, alerts: bool = True) -> None:
    """Open the history with further critical files."""
    notebook.history = History(
        notebook.root,
        clock=notebook.clock,
        state=notebook.history.state,
        critical=layout.CRITICAL | {*further},
        critical_alerts=alerts,
    )


def test_a_further_critical_file_gets_a_commit_and_an_alert(notebook: Notebook) -> None:
    again(notebook, "MEMORY.md")
    start = notebook.history.head()
    put(notebook, "MEMORY.md", "other\n")
    put(notebook, "memory/procedures/b.md", "other\n")
    notebook.history.adopt()
    assert subjects(notebook, start) == [
        "[EDIT] MEMORY.md — edited outside the engine (+1 −1 lines)",
        "[ALERT] MEMORY.md — Critical file change detected. Pending user acknowledgment.",
        "[EDIT] memory/procedures/b.md — edited outside the engine (+1 −1 lines)",
    ]


def test_a_further_critical_file_needs_the_right_to_it_and_alerts(notebook: Notebook) -> None:
    again(notebook, "MEMORY.md")
    plan = Plan[None](Action.EDIT, "MEMORY.md", "x", (FileChange("MEMORY.md", b"mine\n", Action.EDIT, "x"),))
    by = Attribution("bot:main", "auto")
    with pytest.raises(RoleRefused):
        notebook.history.mutate(lambda _: plan, by)
    commit = notebook.history.mutate(lambda _: plan, replace(by, may_touch_critical=True)).commit
    assert commit
    message = parse_message(notebook.history.store.commit(commit))
    assert message.trigger.endswith("⚠️ CRITICAL FILE CHANGED")
    assert message.entries[0].summary == "⚠️ CRITICAL: x"
    assert [alert.file for alert in notebook.history.alerts()] == ["MEMORY.md"]


def test_alerts_switched_off_still_come_for_settings_where_the_switch_stands(notebook: Notebook) -> None:
    again(notebook, "MEMORY.md", alerts=False)
    start = notebook.history.head()
    for path in ("SOUL.md", "MEMORY.md", "workbench.toml", "openclaw.json"):
        put(notebook, path, "other\n")
    notebook.history.adopt()
    notebook.write("IDENTITY.md", "another\n")
    assert [alert.file for alert in notebook.history.alerts()] == ["workbench.toml", "openclaw.json"]
    messages = [parse_message(commit) for commit in commits_since(notebook, start)]
    soul = next(message for message in messages if message.file == "SOUL.md")
    assert soul.entries[0].summary.startswith("⚠️ CRITICAL: ")


def test_further_critical_files_are_compared_where_history_was_rewritten(notebook: Notebook) -> None:
    again(notebook, "MEMORY.md")
    notebook.write("MEMORY.md", "kept\n")
    seen = load_seen(notebook.history.state)
    assert seen is not None
    assert set(seen.critical) == {"SOUL.md", "IDENTITY.md", "MEMORY.md"}


def test_an_engine_actor_on_a_critical_file_is_an_integrity_alert(notebook: Notebook) -> None:
    put(notebook, "SOUL.md", "mine now\n")
    put(notebook, "MEMORY.md", "other\n")
    start = notebook.history.head()
    notebook.history.adopt(actor="skill:writer")
    (alert,) = notebook.history.alerts()
    assert alert.summary.startswith("Integrity: skill:writer changed a critical file")
    assert alert.actor == "skill:writer"
    assert {parse_message(commit).actor for commit in commits_since(notebook, start)} == {
        "skill:writer",
        "system:audit",
    }


@pytest.mark.parametrize(
    ("attribution", "integrity"),
    [
        (Attribution("manual", "—"), False),
        (Attribution("reflection:r-012", "approved"), False),
        (Attribution("reflection:r-012", "pending"), True),
        (Attribution("bot:auto-detect", "approved"), True),
    ],
)
def test_the_engine_s_own_change_of_a_critical_file_alerts_too(
    notebook: Notebook, attribution: Attribution, integrity: bool
) -> None:
    change = FileChange("SOUL.md", b"new\n", Action.EDIT, "rewritten")
    plan = Plan[None](Action.EDIT, "SOUL.md", "rewritten", (change,))
    notebook.history.mutate(lambda _: plan, replace(attribution, may_touch_critical=True))
    (alert,) = notebook.history.alerts()
    assert alert.summary.startswith("Integrity") is integrity
    assert alert.diff.splitlines()[-1] == "+new"
    assert alert.actor == attribution.actor


def test_acknowledging_is_an_event_and_once_is_enough(notebook: Notebook) -> None:
    put(notebook, "SOUL.md", "unkind\n")
    (name,) = notebook.history.adopt().alerts
    receipt = notebook.history.acknowledge(name, PERSON)
    store = notebook.history.store
    commit = store.commit(receipt.commit or "")
    assert commit.tree == store.commit(commit.parent or "").tree
    assert commit.message.startswith("[ACK] SOUL.md — ")
    assert [alert.acknowledged for alert in notebook.history.alerts()] == [True]
    assert notebook.history.acknowledge(name, PERSON).commit is None
    with pytest.raises(NotFound, match="alert"):
        notebook.history.acknowledge("a-00000000", PERSON)


def test_alerts_are_the_same_without_what_was_kept_of_them(notebook: Notebook) -> None:
    for text in ("one\n", "two\n", "three\n"):
        put(notebook, "SOUL.md", text)
        notebook.history.adopt()
    notebook.history.acknowledge(notebook.history.alerts()[1].id, PERSON)
    kept = notebook.history.alerts()
    assert [alert.acknowledged for alert in kept] == [False, True, False]
    (notebook.history.state / "alerts.json").write_text('{"head": 3}')
    assert notebook.history.alerts() == kept
    (notebook.history.state / "alerts.json").unlink()
    assert notebook.history.alerts() == kept


def test_a_file_that_cannot_be_read_hides_no_other(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.engine.history import outside_edits, work_files

    put(notebook, "MEMORY.md", "a\n")
    put(notebook, "USER.md", "b\n")

    def read(root: Path, path: str) -> bytes | None:
        if path == "MEMORY.md":
            raise work_files.unreadable(path, PermissionError(13, "Permission denied"))
        return work_files.read_work_file(root, path)

    monkeypatch.setattr(outside_edits, "read_work_file", read)
    adopted = notebook.history.adopt()
    assert adopted.files == ("USER.md",)
    assert adopted.warnings == ("MEMORY.md: The file cannot be read: Permission denied.",)
    monkeypatch.undo()
    assert notebook.history.adopt().files == ("MEMORY.md",)


def test_names_no_text_can_hold_are_adopted(notebook: Notebook) -> None:
    put(notebook, "memory/vault/\udcff | x\ny.md", "odd\n")
    adopted = notebook.history.adopt()
    assert adopted.files == ("memory/vault/\udcff | x\ny.md",)
    assert notebook.history.adopt().commits == ()
    log = (notebook.root / "memory/meta/audit.log").read_text(encoding="utf-8")
    assert len(log.splitlines()) == 7


def rewritten(notebook: Notebook) -> History:
    """Move the branch back to the first commit unannounced; return a history opened after that."""
    store = notebook.history.store
    first = list(store.walk())[-1].id
    store.move_head(first, expected=store.head())
    return History(notebook.root, clock=notebook.clock, state=notebook.history.state)


def test_history_rewritten_by_someone_else_is_noticed_and_goes_on(notebook: Notebook) -> None:
    lost = notebook.write("SOUL.md", "kinder\n", actor="manual")
    before = notebook.history.head() or ""
    assert lost
    again = rewritten(notebook)
    again.adopt()
    alert = again.alerts()[-1]
    assert before[:10] in alert.summary
    assert "rewritten by someone else" in alert.summary
    assert "SOUL.md" in alert.summary
    assert (alert.file, alert.actor, alert.diff) == (".audit", "system:audit", "")
    count = len(again.alerts())
    again.adopt()
    assert len(again.alerts()) == count


def test_history_removed_by_someone_else_is_noticed(notebook: Notebook) -> None:
    notebook.history.set_aside()
    again = History(notebook.root, clock=notebook.clock, state=notebook.history.state)
    again.init()
    assert [alert.summary.partition(":")[0] for alert in again.alerts()] == [
        "History was deleted by someone else"
    ]


def test_more_commits_by_another_machine_are_no_tampering(notebook: Notebook, tmp_path: Path) -> None:
    other = History(notebook.root, clock=notebook.clock, state=tmp_path / "other")
    plan = Plan[None](Action.EDIT, "MEMORY.md", "s", (FileChange("MEMORY.md", b"x", Action.EDIT, "s"),))
    other.mutate(lambda _: plan, PERSON)
    notebook.write("MEMORY.md", "y")
    assert notebook.history.alerts() == ()


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/procedures/b.md", "memory/procedures"])
def test_what_a_link_replaced_is_not_deleted(notebook: Notebook, tmp_path: Path, path: str) -> None:
    head = notebook.history.head()
    place, elsewhere = notebook.root / path, tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    adopted = notebook.history.adopt()
    assert notebook.history.head() == head
    assert any(path in each for each in adopted.warnings)
