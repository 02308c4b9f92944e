"""A purge happens as a whole or not at all, says which, and takes everything along that says what is purged."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.purge_killing import MARK, SECRET, holding, in_process
from workbench.engine import Workspace, layout
from workbench.engine.errors import HistoryDamaged, Locked, NotFound, Refused, SecretFound, StorageError
from workbench.engine.file_access import flush_to_disk
from workbench.engine.history import purge as purging
from workbench.engine.history import recovery
from workbench.engine.history.history import History
from workbench.engine.history.maintenance import REPACK_LOCK, repack_if_due
from workbench.engine.history.purge import Rewriting
from workbench.engine.history.recovery import PURGE_MARKER, PurgeMarker, write_marker
from workbench.engine.results.memories import Forgotten
from workbench.engine.search.qmd import HOME as QMD_HOME
from workbench.engine.services.forgetting import Remains

NOTED = "The purge is noted and will be finished by the next change"


def told(workspace: Workspace, text: str = SECRET) -> str:
    kept = workspace.remember(text, store="episodic")
    assert kept.id
    workspace.search(MARK)
    return kept.id


def purge(workspace: Workspace, memory_id: str) -> Forgotten:
    return workspace.forget(ids=[memory_id], apply=True, purge_history=True)


def left(home: AgentHome) -> list[str]:
    return holding(home.root.parent)


def failing(error: BaseException) -> Callable[..., object]:
    def fail(*_: object, **__: object) -> object:
        raise error

    return fail


def test_a_repacking_that_does_not_end_refuses_a_purge_before_it_deletes(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_HISTORY_LOCK_TIMEOUT", "0.1")
    with settled.open() as workspace:
        memory_id = told(workspace)
        before, head = settled.tracked(), workspace.head()
        with (settled.root / layout.HISTORY / REPACK_LOCK).open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with pytest.raises(Locked, match="nothing was changed"):
                purge(workspace, memory_id)
            # Others write meanwhile.
            assert workspace.remember("The tram was late", store="episodic").commit
            workspace.undo()
        assert settled.tracked() == before
        assert workspace.history_line().commits[-3] == head
        assert workspace.show(memory_id).text == SECRET
        assert purge(workspace, memory_id).applied
    assert left(settled) == []


def test_a_repacking_that_ends_is_waited_for(settled: AgentHome) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        process = repack_if_due(workspace._context.history, many_objects=0)
        assert process is not None
        assert purge(workspace, memory_id).applied
        assert process.wait() == 0
        assert workspace.audit_verify().problems == ()
    assert left(settled) == []


def test_no_repacking_starts_while_a_purge_is_unfinished(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open() as workspace:
        interrupt(workspace, monkeypatch, told(workspace))
        assert repack_if_due(workspace._context.history, many_objects=0) is None


def interrupt(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, memory_id: str) -> None:
    """Interrupt a purge when there is no way back any more."""
    with monkeypatch.context() as patch:
        patch.setattr(Remains, "purge", failing(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt, match=NOTED):
            purge(workspace, memory_id)


def test_a_purge_that_is_interrupted_once_it_is_done_says_so(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        with monkeypatch.context() as patch:
            patch.setattr(History, "told_of_purges", failing(KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt, match="The purge itself is finished") as caught:
                purge(workspace, memory_id)
        assert "nothing" not in str(caught.value).casefold()
        assert left(settled) == []
        assert purge(workspace, memory_id).applied


def test_so_does_one_that_finishes_what_was_interrupted_before(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        interrupt(workspace, monkeypatch, memory_id)
        with monkeypatch.context() as patch:
            patch.setattr(History, "told_of_purges", failing(StorageError("The disk is full.")))
            with pytest.raises(StorageError, match="The purge itself is finished"):
                purge(workspace, memory_id)
    assert left(settled) == []


def test_a_marker_that_cannot_be_flushed_says_that_the_purge_is_begun(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_and_fail(folder: Path, marker: PurgeMarker) -> None:
        write_marker(folder, marker)
        raise OSError(5, "Input/output error", str(folder))

    with settled.open() as workspace:
        memory_id = told(workspace)
        with monkeypatch.context() as patch:
            patch.setattr(purging, "write_marker", write_and_fail)
            with pytest.raises(StorageError, match="has begun and cannot continue") as caught:
                purge(workspace, memory_id)
        assert NOTED in (caught.value.remedy or "")
        assert purge(workspace, memory_id).applied
    assert left(settled) == []


def test_a_marker_that_is_gone_is_the_end_even_where_its_folder_cannot_be_flushed(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_without_marker(folder: Path) -> None:
        if folder == settled.root / layout.HISTORY and not (folder / PURGE_MARKER).exists():
            raise OSError(5, "Input/output error", str(folder))
        flush_to_disk(folder)

    with settled.open() as workspace:
        memory_id = told(workspace)
        with monkeypatch.context() as patch:
            patch.setattr(recovery, "flush_to_disk", fail_without_marker)
            assert purge(workspace, memory_id).applied
    assert left(settled) == []


def test_the_same_command_finishes_what_was_interrupted(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        interrupt(workspace, monkeypatch, memory_id)
        assert MARK not in str(settled.tracked())
        assert left(settled)
    with settled.open() as workspace:
        done = purge(workspace, memory_id)
        assert done.applied
        assert done.commit == workspace.head()
        assert done.warnings[0] == "The purge that had been interrupted is finished."
    assert left(settled) == []


def test_the_same_words_finish_it_too_and_once_more_is_no_error(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open() as workspace:
        told(workspace)
        with monkeypatch.context() as patch:
            patch.setattr(Remains, "purge", failing(KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt, match=NOTED):
                workspace.forget("xylophone lighthouse", apply=True, purge_history=True)
        for _ in range(2):
            assert workspace.forget("Xylophone  lighthouse", apply=True, purge_history=True).applied
        assert not workspace.forget("zeppelin", apply=True, purge_history=True).applied
    assert left(settled) == []


def test_any_change_finishes_it_and_the_command_still_succeeds(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        interrupt(workspace, monkeypatch, memory_id)
    with settled.open("main") as workspace:
        assert workspace.remember("The tram was late", store="episodic").commit
        assert left(settled) == []
    with settled.open() as workspace:
        assert purge(workspace, memory_id).applied
        with pytest.raises(NotFound):
            workspace.forget(ids=["episode:2026-02-02:03:00"], apply=True, purge_history=True)


def test_another_purge_finishes_it_first(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    with settled.open() as workspace:
        memory_id, other = told(workspace), told(workspace, "The zeppelin landed in Visby")
        interrupt(workspace, monkeypatch, memory_id)
        assert purge(workspace, other).ids == (other,)
    assert left(settled) == []
    assert "zeppelin" not in str(settled.tracked())


def test_doctor_says_that_a_purge_is_unfinished_and_what_finishes_it(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open() as workspace:
        interrupt(workspace, monkeypatch, told(workspace))
        diagnosis = workspace.doctor()
        (check,) = [check for check in diagnosis.checks if check.name == "purge"]
        assert not diagnosis.ok
        assert "workbench audit log" in (check.remedy or "")
    with settled.open() as workspace:
        workspace.audit_log()
        assert workspace.doctor().ok
    assert left(settled) == []


@pytest.mark.parametrize(
    "error", [HistoryDamaged("An object is missing."), StorageError("The disk is full.")]
)
def test_what_fails_before_it_is_noted_changes_nothing(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch, error: StorageError
) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        before, head = settled.tracked(), workspace.head()
        with monkeypatch.context() as patch:
            patch.setattr(Rewriting, "rewrite", failing(error))
            with pytest.raises(type(error)) as caught:
                purge(workspace, memory_id)
        assert NOTED not in str(caught.value)
        assert "Nothing was deleted." in str(caught.value)
        with monkeypatch.context() as patch:
            patch.setattr(Rewriting, "rewrite", failing(KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt, match="Nothing was deleted"):
                purge(workspace, memory_id)
        assert (settled.tracked(), workspace.head()) == (before, head)
        assert workspace.show(memory_id).text == SECRET


def test_what_fails_afterwards_says_that_it_will_be_finished(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        with monkeypatch.context() as patch:
            patch.setattr(Remains, "forget_derived", failing(PermissionError(13, "Permission denied", "/x")))
            with pytest.raises(StorageError, match="Permission denied") as caught:
                purge(workspace, memory_id)
        assert NOTED in (caught.value.remedy or "")
        assert purge(workspace, memory_id).applied
    assert left(settled) == []


def test_a_marker_says_nothing_of_what_is_purged(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    with settled.open() as workspace:
        workspace.graph_add("person", "Eve Holm")
        interrupt(workspace, monkeypatch, "entity:person--eve-holm")
        marker = (settled.root / layout.HISTORY / PURGE_MARKER).read_text()
    assert "eve" not in marker


def test_a_file_that_was_saved_meanwhile_keeps_all_but_what_is_purged(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = "memory/episodes/2026-02-02.md"
    with settled.open() as workspace:
        memory_id = told(workspace)
        saved = settled.text(day) + "\n## 18:00 | event\nWritten in an editor.\n"
        rewrite = Rewriting.rewrite

        def rewrite_late(self: Rewriting, head: str | None) -> str | None:
            settled.write(day, saved)
            return rewrite(self, head)

        monkeypatch.setattr(Rewriting, "rewrite", rewrite_late)
        assert purge(workspace, memory_id).applied
        assert "Written in an editor." in settled.text(day)
        assert workspace.audit_log().entries
    assert left(settled) == []


def test_a_file_that_is_kept_out_of_history_and_says_it_refuses_a_purge(settled: AgentHome) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        settled.write("memory/vault/n.md", f"{SECRET}\nghp_Zq91Zq91Zq91Zq91Zq91Zq91Zq91Zq91Zq91\n")
        head = workspace.head()
        with pytest.raises(SecretFound) as caught:
            purge(workspace, memory_id)
        assert caught.value.where == "memory/vault/n.md"
        assert workspace.head() == head
        assert workspace.show(memory_id).text == SECRET


def test_a_purge_cannot_be_undone(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.remember("The tram was late", store="episodic")
        purge(workspace, told(workspace))
        before = settled.tracked()
        with pytest.raises(Refused, match="purged"):
            workspace.undo()
        assert settled.tracked() == before
        workspace.remember("It rained", store="episodic")
        workspace.undo()
        with pytest.raises(Refused, match="purged"):
            workspace.undo()
        assert settled.tracked() == before


def fact(workspace: Workspace) -> str:
    return workspace.graph_add_fact("entity:person--robin", SECRET).ids[0]


def core_item(workspace: Workspace) -> str:
    changed = workspace.core_add("Critical Facts", SECRET)
    return changed.ids[0]


def entity(workspace: Workspace) -> str:
    workspace.graph_add("tool", MARK.title())
    workspace.graph_link("entity:person--robin", "uses", f"entity:tool--{MARK}")
    return f"entity:tool--{MARK}"


def cited_episode(workspace: Workspace) -> str:
    memory_id = told(workspace, f"Robin prefers the {MARK} to the piano")
    assert workspace.reflect().id
    return memory_id


def copied_episode(workspace: Workspace) -> str:
    memory_id = told(workspace)
    for kept in (f"reflections/{MARK}.json", f"{QMD_HOME}/index.sqlite"):
        place = workspace._context.derived / kept
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SECRET)
    return memory_id


@pytest.mark.parametrize("making", [told, fact, core_item, entity, cited_episode, copied_episode])
def test_every_kind_of_memory_is_purged_whole(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch, making: Callable[[Workspace], str]
) -> None:
    with settled.open() as workspace:
        memory_id = making(workspace)
        assert left(settled)
        interrupt(workspace, monkeypatch, memory_id)
    with settled.open() as workspace:
        workspace.remember("It rained", store="episodic")
        assert workspace.audit_verify().problems == ()
    assert left(settled) == []


def test_what_another_change_found_when_it_finished_a_purge_is_told_until_somebody_asks(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = settled.root / f"{layout.HISTORY}.damaged-20260101T000000Z"
    aside.mkdir()
    with settled.open() as workspace:
        memory_id = told(workspace)
        interrupt(workspace, monkeypatch, memory_id)
    with settled.open() as workspace:
        workspace.remember("It rained", store="episodic")
        lines = [line for line in workspace.warnings if "May still hold it" in line]
        assert len(lines) == 1
        assert aside.name in lines[0]
    with settled.open() as workspace:
        noted = [check.detail for check in workspace.doctor().checks if check.name == "purged"]
        assert lines[0] in noted
        assert lines[0] in purge(workspace, memory_id).warnings
        assert "purged" not in {check.name for check in workspace.doctor().checks}
        assert lines[0] in purge(workspace, told(workspace, "The zeppelin landed in Visby")).warnings
        assert "purged" not in {check.name for check in workspace.doctor().checks}


@pytest.mark.parametrize("method", ["purge", "forget_derived"])
@pytest.mark.parametrize(
    "error",
    [PermissionError(13, "Permission denied", "/x/index.sqlite"), Locked("Busy.", where="/x/index.sqlite")],
)
def test_what_cannot_be_deleted_stops_writing_and_nothing_else(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch, method: str, error: Exception
) -> None:
    with settled.open() as workspace:
        memory_id, other = told(workspace), workspace.remember("It rained", store="episodic").id
        interrupt(workspace, monkeypatch, memory_id)
    with monkeypatch.context() as patch:
        patch.setattr(Remains, method, failing(error))
        with settled.open() as workspace:
            for _ in range(2):
                with pytest.raises(StorageError, match="nothing can be written") as caught:
                    workspace.remember("It snowed", store="episodic")
                assert caught.value.where == "/x/index.sqlite"
                assert "delete it yourself" in (caught.value.remedy or "")
            assert other
            assert workspace.show(other).text == "It rained"
            assert workspace.search("rained").results
            assert not workspace.search(MARK).results
            assert workspace.audit_log().entries
            (check,) = [check for check in workspace.doctor().checks if check.name == "purge"]
            assert "/x/index.sqlite" in check.detail
    with settled.open() as workspace:
        workspace.remember("It snowed", store="episodic")
        assert "purge" not in {check.name for check in workspace.doctor().checks}
        assert workspace.audit_verify().problems == ()
    assert left(settled) == []


FILES = [
    *("memory/graph/entities/Xylophone Holm.md", "memory/graph/entities/xylophone trip.md"),
    *("memory/graph/entities/people/Xylophone.md", "memory/graph/entities/the \udce9 xylophone.md"),
    *("memory/graph/entities/person--xylophone.md", "memory/vault/old/Xylophone key.md"),
    *("memory/vault/xylophone \udce9.md", "memory/procedures/tune-xylophone.md"),
    *("memory/graph/entities/Xylophone 张伟.md", "memory/vault/Xylophone 张伟.md"),
]


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("path", FILES, ids=ascii)
def test_a_file_is_purged_with_every_name_it_ever_had(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch, path: str, interrupted: bool
) -> None:
    place = settled.root / path
    place.parent.mkdir(exist_ok=True)
    said = "# Kestrel\n\nNests above the weir.\n"
    before = place.with_name("Xylophone before.md")
    with settled.open() as workspace:
        before.write_text(said.replace("Kestrel", "Xylophone Player"))
        workspace.adopt()
        before.rename(place)
        workspace.adopt()
        place.write_text(said)
        workspace.adopt()
        workspace.refresh()
        memory_id = next(
            hit.id for hit in workspace.search("nests weir").results if MARK in hit.path.casefold()
        )
        workspace.pin(memory_id)
        workspace.show(memory_id)
        if path.startswith("memory/graph"):
            workspace.graph_rename(memory_id, "The Xylophone")
            workspace.graph_rename(memory_id, "Otter")
            workspace.graph_link("entity:person--robin", "uses", memory_id)
        said_too = workspace.remember("It rained", store="episodic", trigger="asked about Xylophone Player")
        assert said_too.id
        if interrupted:
            interrupt(workspace, monkeypatch, memory_id)
            workspace.remember("It snowed", store="episodic")
        else:
            assert purge(workspace, memory_id).applied
        assert workspace.audit_verify().problems == ()
        assert workspace.show(said_too.id).text == "It rained"
    assert left(settled) == []


def test_a_file_that_has_the_former_name_of_what_is_purged_stays(settled: AgentHome) -> None:
    vault = settled.root / "memory/vault"
    said = f"# Harp\n\nThe {MARK} is in the attic.\n"
    with settled.open() as workspace:
        (vault / "harp.md").write_text(said)
        workspace.adopt()
        (vault / "harp.md").rename(vault / "lyre.md")
        workspace.adopt()
        (vault / "harp.md").write_text("# Another\n\nIt has strings.\n")
        workspace.adopt()
        assert purge(workspace, "vault:lyre").applied
        assert "strings" in workspace.show("vault:harp").text
        assert workspace.audit_verify().problems == ()
    assert left(settled) == []


def test_two_purges_at_once_both_happen(settled: AgentHome) -> None:
    with settled.open() as workspace:
        ids = [told(workspace), told(workspace, "The zeppelin landed in Visby")]
    children = [os.fork(), 0]
    if not children[0]:
        os._exit(abs(in_process(lambda: purge_alone(settled, ids[0]))))
    assert in_process(lambda: purge_alone(settled, ids[1])) == 0
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    assert left(settled) == []
    assert "zeppelin" not in str(settled.tracked())
    with settled.open() as workspace:
        assert workspace.audit_verify().problems == ()
        assert [entry.action for entry in workspace.audit_log().entries].count("PURGE") == 2


def purge_alone(home: AgentHome, memory_id: str) -> None:
    with home.open() as workspace:
        assert purge(workspace, memory_id).applied


def test_a_process_that_reads_and_indexes_meanwhile_brings_nothing_back(settled: AgentHome) -> None:
    with settled.open() as workspace:
        memory_id = told(workspace)
        for number in range(40):
            workspace.remember(f"The {number}th tram was late in Visby", store="episodic")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            with settled.open() as workspace:
                while True:
                    workspace.index(force=True)
                    workspace.search(MARK)
                    os.write(writing, b".")
        finally:
            os._exit(1)
    os.close(writing)
    try:
        assert os.read(reading, 1)
        purge_alone(settled, memory_id)
        # Whatever it was at when the purge ended is over after two more rounds.
        for _ in range(2):
            assert os.read(reading, 1)
        assert left(settled) == []
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
