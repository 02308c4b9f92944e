"""Edits made outside the engine, while the door is shut or open: found, accounted for, obeyed, told where critical."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE, FACT, ITEM
from workbench.engine import layout
from workbench.engine.errors import BudgetExceeded, NotFound, RoleRefused, Stale

LOG = "memory/2026-01-30.md"
LOUD = "# Soul\n\nYou are loud.\n"


def test_edits_while_shut_are_taken_in_as_what_they_were(settled: AgentHome) -> None:
    settled.write(LOG, "Edited.\n")
    settled.write("memory/notes/new.md", "New.\n")
    (settled.root / "memory/vault/promise.md").unlink()
    procedure = settled.root / "memory/procedures/how-to-release.md"
    procedure.rename(procedure.with_name("how-to-ship.md"))
    settled.write(
        "memory/episodes/2026-02-01.md", settled.text("memory/episodes/2026-02-01.md") + "\nMore.\n"
    )
    before = settled.tracked()
    with settled.open("main") as workspace:
        adopted = workspace.adopt()
        assert workspace.adopt().commit is None
        entries = {entry.file: entry for entry in workspace.audit_log(actor="manual").entries}
        assert workspace.audit_verify().problems == ()
    assert settled.tracked() == before
    assert {path: entry.action for path, entry in entries.items()} == {
        LOG: "EDIT",
        "memory/notes/new.md": "CREATE",
        "memory/vault/promise.md": "DELETE",
        "memory/procedures/how-to-ship.md": "RENAME",
        "memory/episodes/2026-02-01.md": "APPEND",
    }
    assert len(settled.commits()) == 2
    assert settled.commit_of(adopted.commit).actor == "manual"
    assert settled.commit_of(adopted.commit).approval == "—"


def test_edits_while_open_are_seen_by_the_next_reading(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        assert workspace.search("narwhal").results == ()
        settled.write(LOG, "A narwhal swam by.\n")
        workspace.refresh()
        assert workspace.search("narwhal").results[0].path == LOG
        assert workspace.get(LOG).text.strip() == "A narwhal swam by."
        (settled.root / LOG).unlink()
        workspace.refresh()
        assert workspace.search("narwhal").results == ()
        with pytest.raises(NotFound):
            workspace.get(LOG)


def test_an_edit_of_the_file_to_be_changed_is_committed_first(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        workspace.core_add("Persona", "Be kind")
        text = settled.text(layout.CORE)
        settled.write(layout.CORE, text.replace("- Be brief", "- Be very brief"))
        changed = workspace.core_add("Persona", "Be quick")
    head, manual, *_ = settled.commits()
    assert head == changed.commit
    assert settled.commit_of(manual).actor == "manual"
    assert settled.commit_of(manual).files == (layout.CORE,)
    for item in ("Be very brief", "Be kind", "Be quick"):
        assert f"- {item}" in settled.text(layout.CORE)


def test_an_edit_of_another_file_waits_for_the_next_opening(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        workspace.core_add("Persona", "Be kind")
        settled.write(LOG, "Edited.\n")
        changed = workspace.core_add("Persona", "Be quick")
        assert settled.commits()[0] == changed.commit
        assert settled.text(LOG) == "Edited.\n"
        workspace.audit_log()
    assert settled.commit_of(settled.commits()[0]).files == (LOG,)


def test_undo_takes_back_an_edit_made_outside(settled: AgentHome) -> None:
    before = settled.tracked()
    settled.write(LOG, "Edited.\n")
    (settled.root / "memory/vault/promise.md").unlink()
    with settled.open() as workspace:
        workspace.undo()
        assert settled.tracked() == before
        workspace.redo()
    assert settled.text(LOG) == "Edited.\n"
    assert "memory/vault/promise.md" not in settled.tracked()


def test_files_named_in_settings_are_critical_too(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.edit_file("workbench.toml", f'[audit]\ncritical_files = ["USER.md", "{LOG}"]\n')
    settled.write("USER.md", "Prefers miles\n")
    with settled.open("main") as workspace:
        assert [alert.file for alert in workspace.audit_alerts().alerts if not alert.acknowledged] == [
            "USER.md"
        ]
        with pytest.raises(RoleRefused):
            workspace.edit(f"file:{LOG}", "Mallory")
    with settled.open() as workspace:
        workspace.edit_file(LOG, "Edited.\n")
        alerts = {alert.file: alert.acknowledged for alert in workspace.audit_alerts().alerts}
    assert alerts == {"workbench.toml": True, "USER.md": False, LOG: True}


def test_alerts_can_be_switched_off_but_not_unseen(settled: AgentHome) -> None:
    settled.write("workbench.toml", "[audit]\ncritical_alerts = false\n")
    settled.write("SOUL.md", LOUD)
    with settled.open("main") as workspace:
        assert [alert.file for alert in workspace.audit_alerts().alerts if not alert.acknowledged] == [
            "workbench.toml"
        ]


@pytest.mark.parametrize("path", ["SOUL.md", "IDENTITY.md", "workbench.toml", "openclaw.json"])
@pytest.mark.parametrize("shut", [True, False])
def test_a_critical_file_changed_outside_raises_an_alert_until_seen(
    settled: AgentHome, path: str, shut: bool
) -> None:
    content = {"workbench.toml": "[core]\ncap = 2900\n", "openclaw.json": "{}\n"}.get(path, LOUD)
    if shut:
        settled.write(path, content)
    with settled.open("main") as workspace:
        if not shut:
            assert workspace.brief().alerts == ()
            settled.write(path, content)
        (alert,) = workspace.audit_alerts().alerts
        assert (alert.file, alert.actor, alert.acknowledged) == (path, "manual", False)
        assert content.splitlines()[0] in alert.diff or content.splitlines()[-1] in alert.diff
        brief = workspace.brief()
        assert [each.id for each in brief.alerts] == [alert.id]
        assert any(path in notice for notice in brief.notices)
        assert any(check.name == "alerts" for check in workspace.doctor().checks)
    settled.clock.advance(hours=1)
    with settled.open() as workspace:
        done = workspace.acknowledge(alert.id)
        assert done.ids == (alert.id,)
        (seen,) = workspace.audit_alerts().alerts
        assert (seen.id, seen.acknowledged) == (alert.id, True)
        assert workspace.brief().alerts == ()
        assert workspace.acknowledge(alert.id).commit is None
        with pytest.raises(NotFound):
            workspace.acknowledge("a-00000000")
        assert workspace.audit_verify().problems == ()
    assert [entry.action for entry in settled.commit_of(done.commit).entries] == ["ACK"]
    assert settled.commit_of(done.commit).files == ()


@pytest.mark.parametrize("path", ["USER.md", "TOOLS.md"])
def test_an_outside_edit_of_a_sensitive_file_raises_an_alert_of_its_level(
    settled: AgentHome, path: str
) -> None:
    """Design document §12.1."""
    settled.write(path, LOUD)
    settled.write(LOG, "Edited.\n")
    settled.write("memory/vault/promise.md", "Edited too.\n")
    with settled.open("main") as workspace:
        (alert,) = workspace.audit_alerts().alerts
        assert (alert.file, alert.level, alert.acknowledged) == (path, "high", False)
        assert f"+{LOUD.splitlines()[0]}" in alert.diff
        assert any(path in notice for notice in workspace.brief().notices)
        assert settled.commit_of(alert.commit).files != ()
    with settled.open() as workspace:
        workspace.acknowledge(alert.id)
        assert workspace.brief().alerts == ()
        assert workspace.audit_verify().problems == ()


def test_a_sensitive_file_is_written_by_the_engine_without_an_alert(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        workspace.edit("file:USER.md#L2-L2", "- Prefers imperial units")
        assert workspace.audit_alerts().alerts == ()
    assert "imperial" in settled.text("USER.md")


def test_what_history_has_already_raises_no_alert(settled: AgentHome) -> None:
    settled.write("workbench.toml", "[audit]\ncritical_alerts = false\n")
    settled.write("USER.md", LOUD)
    with settled.open() as workspace:
        assert {alert.file for alert in workspace.audit_alerts().alerts} == {"workbench.toml"}
    settled.write("workbench.toml", "")
    with settled.open() as workspace:
        assert {alert.file for alert in workspace.audit_alerts().alerts} == {"workbench.toml"}


def test_a_sensitive_file_that_settings_make_critical_is_critical(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.edit_file("workbench.toml", '[audit]\ncritical_files = ["USER.md"]\n')
    settled.write("USER.md", LOUD)
    with settled.open() as workspace:
        levels = {
            alert.file: alert.level for alert in workspace.audit_alerts().alerts if not alert.acknowledged
        }
    assert levels == {"USER.md": "critical"}


def test_every_change_of_a_critical_file_is_an_alert_of_its_own(settled: AgentHome) -> None:
    settled.write("SOUL.md", LOUD)
    settled.write(LOG, "Edited.\n")
    with settled.open() as workspace:
        assert len(workspace.audit_alerts().alerts) == 1
        settled.write("SOUL.md", "Quiet.\n")
        alerts = workspace.audit_alerts().alerts
    assert len({alert.id for alert in alerts}) == 2
    assert "+Quiet." in alerts[0].diff
    assert "-You are loud." in alerts[0].diff
    assert "+You are loud." in alerts[1].diff


def test_an_alert_outlives_the_state_outside_the_workspace(settled: AgentHome) -> None:
    settled.write("SOUL.md", LOUD)
    with settled.open() as workspace:
        (alert,) = workspace.audit_alerts().alerts
    for place in sorted((settled.root.parent / "state").rglob("*"), reverse=True):
        place.rmdir() if place.is_dir() else place.unlink()
    with settled.open() as workspace:
        assert workspace.audit_alerts().alerts == (alert,)


@pytest.mark.parametrize(
    ("expected", "stands"),
    [("Drinks tea in the morning", True), ("Drinks tea in the evening", False), ("", False)],
)
def test_an_edit_that_started_from_another_text_is_stale(
    settled: AgentHome, expected: str, stands: bool
) -> None:
    before = settled.tracked()
    with settled.open() as workspace:
        if stands:
            assert workspace.edit(FACT, "Drinks coffee", expected=expected).commit
            return
        with pytest.raises(Stale) as caught:
            workspace.edit(FACT, "Drinks coffee", expected=expected)
    assert caught.value.remedy
    assert settled.tracked() == before


def test_stale_edits_of_files_blocks_and_items(settled: AgentHome) -> None:
    with settled.open() as workspace:
        block = next(block for block in workspace.core().blocks if block.name == "Persona")
        file = workspace.get(LOG).text
        item = workspace.show(ITEM).text
        settled.write(LOG, file + "\nAnother hand.\n")
        settled.write(layout.CORE, settled.text(layout.CORE).replace("Be brief", "Be long"))
        settled.write(
            layout.CORE,
            settled.text(layout.CORE).replace("database is called harbour", "database is called pier"),
        )
        commits = len(settled.commits())
        with pytest.raises(Stale):
            workspace.edit_file(LOG, "Mine.\n", expected=file)
        with pytest.raises(Stale):
            workspace.core_set("Persona", "- Mine", expected=block.body)
        with pytest.raises((Stale, NotFound)):
            workspace.edit(ITEM, "Mine", expected=item)
        assert workspace.edit_file(LOG, "Mine.\n", expected=workspace.get(LOG).text).commit
    assert "Be long" in settled.text(layout.CORE)
    told = [settled.commit_of(commit) for commit in settled.commits()[: len(settled.commits()) - commits]]
    # To show a memory is an access of it, which upkeep folds in.
    assert {view.actor for view in told} == {"manual", "system:decay"}


def long_core(tokens: int) -> str:
    lines = "".join(f"- Remark number {n} of the long list of remarks\n" for n in range(tokens // 11))
    return f"# MEMORY.md\n\n## Identity\n- Name: Robin\n\n## Critical Facts\n{lines}"


def test_core_memory_over_its_cap_from_outside_may_only_shrink(settled: AgentHome) -> None:
    settled.write(layout.CORE, long_core(4500))
    with settled.open() as workspace:
        view = workspace.core()
        assert view.tokens > view.cap
        assert any("shorten" in notice for notice in workspace.brief().notices)
        assert settled.commit_of(settled.commits()[0]).files == (layout.CORE,)
        before = settled.tracked()
        grows: tuple[Callable[[], object], ...] = (
            lambda: workspace.core_add("Persona", "Be kind"),
            lambda: workspace.core_replace("core:identity:name", "Name: Robin of the many words"),
            lambda: workspace.edit_file(layout.CORE, settled.text(layout.CORE) + "- one more\n"),
        )
        for grow in grows:
            with pytest.raises(BudgetExceeded) as caught:
                grow()
            assert caught.value.remedy
        assert settled.tracked() == before
        items = [item for block in view.blocks for item in block.items]
        removed = workspace.core_remove(items[-1].id)
        assert removed.commit
        assert workspace.core().tokens < view.tokens
        # What belongs into core memory is kept all the same, elsewhere.
        kept = workspace.remember("Robin prefers trains", store="core")
        assert kept.store == "episodic"
        assert kept.warnings
        workspace.edit_file(layout.CORE, long_core(400))
        assert workspace.core_add("Persona", "Be kind").commit


def test_an_adopted_core_over_its_cap_is_warned_about(settled: AgentHome) -> None:
    settled.write(layout.CORE, long_core(4500))
    with settled.open() as workspace:
        adopted = workspace.adopt()
    assert adopted.commit
    assert any("cap" in warning or "tokens" in warning for warning in adopted.warnings)


def test_a_hand_edit_of_the_scores_is_obeyed(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.pin(EPISODE)
    text = settled.text(layout.DECAY_SCORES)
    settled.write(layout.DECAY_SCORES, text.replace('"pinned": true', '"pinned": false'))
    with settled.open() as workspace:
        score = workspace.show(EPISODE).score
        assert score
        assert score.status == "active"


def test_scores_that_were_deleted_come_back_with_the_last_commit(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.pin(EPISODE)
    (settled.root / layout.DECAY_SCORES).unlink()
    with settled.open() as workspace:
        workspace.core_add("Persona", "Be kind")
        score = workspace.show(EPISODE).score
        assert score
        assert score.status == "pinned"


@pytest.mark.parametrize("projection", [layout.GRAPH_INDEX, layout.AUDIT_LOG])
def test_projections_that_were_deleted_are_made_again(settled: AgentHome, projection: str) -> None:
    with settled.open() as workspace:
        workspace.graph_link("Harbour", "depends-on", "Robin")
        before = settled.text(projection)
        (settled.root / projection).unlink()
        workspace.graph_unlink("Harbour", "depends-on", "Robin")
        workspace.graph_link("Harbour", "depends-on", "Robin")
        after = settled.text(projection)
        assert workspace.audit_verify().problems == ()
    assert before in after


def test_the_watcher_adopts_and_tells(settled: AgentHome) -> None:
    from queue import Queue

    told: Queue[frozenset[str]] = Queue()
    with settled.open("main") as workspace:
        workspace.refresh()
        stop = workspace.watch(told.put)
        try:
            settled.write("SOUL.md", LOUD)
            settled.write(LOG, "Edited.\n")
            seen: set[str] = set()
            while not {"SOUL.md", LOG} <= seen:
                seen |= told.get(timeout=20)
        finally:
            stop()
        assert [alert.file for alert in workspace.audit_alerts().alerts] == ["SOUL.md"]
    assert len(settled.commits()) == 4


def test_a_foreign_commit_of_somebody_elses_is_noticed(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.core_add("Persona", "Be kind")
    first = settled.commits()[-1]
    settled.git("update-ref", "refs/heads/main", first)
    with settled.open() as workspace:
        workspace.core_add("Persona", "Be quick")
        alerts = workspace.audit_alerts().alerts
    assert [alert.file for alert in alerts] == [layout.HISTORY]
    assert "rewritten" in alerts[0].summary
