"""What read memory before a purge and writes after it does not bring back what was purged."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.purge_killing import MAIN, MARK, SECRET, holding, purge
from workbench.engine import Workspace
from workbench.engine.errors import Stale
from workbench.engine.services import reflections, session_flush
from workbench.engine.services.session_changes import SessionChanges

DONE, REFUSED = 0, 3


def reflecting(workspace: Workspace) -> None:
    workspace.reflect()


def flushing(workspace: Workspace) -> None:
    workspace.session_flush(MAIN, now=True)


def compacting(workspace: Workspace) -> None:
    workspace.session_compact(MAIN, keep_tokens=1)


WAYS = [
    pytest.param(reflecting, reflections, "run_cycle", id="reflection"),
    pytest.param(flushing, session_flush, "notice", id="flush"),
    pytest.param(compacting, SessionChanges, "_planned", id="compaction"),
]


def stopped_after_reading(
    home: AgentHome,
    doing: Callable[[Workspace], None],
    owner: object,
    name: str,
    meanwhile: Callable[[], None],
) -> int:
    """Do something in a process that stops when it has read; return how it ended after what happens meanwhile."""
    has_read, reading = os.pipe()
    waiting, go_on = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(go_on)
            read = getattr(owner, name)

            def read_and_wait(*arguments: object, **options: object) -> object:
                found = read(*arguments, **options)
                os.write(reading, b".")
                os.read(waiting, 1)
                return found

            setattr(owner, name, read_and_wait)
            with home.open() as workspace:
                try:
                    doing(workspace)
                    code = DONE
                except Stale:
                    code = REFUSED
        finally:
            os._exit(code)
    os.close(reading)
    os.close(waiting)
    try:
        assert os.read(has_read, 1) == b"."
        meanwhile()
    finally:
        os.close(go_on)
        os.close(has_read)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return ended


def told(home: AgentHome) -> str:
    with home.open() as workspace:
        kept = workspace.remember(f"{SECRET}, and prefers it to the piano", store="episodic")
        for number in range(4):
            workspace.session_append(MAIN, f"Remember that {SECRET}, and prefers it to the piano ({number}).")
        assert kept.id
        return kept.id


@pytest.mark.parametrize(("doing", "owner", "name"), WAYS)
def test_a_purge_meanwhile_refuses_what_was_read_before_it(
    settled: AgentHome, doing: Callable[[Workspace], None], owner: object, name: str
) -> None:
    memory_id = told(settled)

    def meanwhile() -> None:
        assert purge(settled, memory_id)

    assert stopped_after_reading(settled, doing, owner, name, meanwhile) == REFUSED
    assert holding(settled.root.parent) == []
    with settled.open() as workspace:
        assert workspace.audit_verify().problems == ()
        doing(workspace)
    assert holding(settled.root.parent) == []


@pytest.mark.parametrize(("doing", "owner", "name"), WAYS)
def test_any_other_change_meanwhile_refuses_nothing(
    settled: AgentHome, doing: Callable[[Workspace], None], owner: object, name: str
) -> None:
    told(settled)

    def meanwhile() -> None:
        with settled.open() as workspace:
            assert workspace.remember("It rained", store="episodic").commit

    assert stopped_after_reading(settled, doing, owner, name, meanwhile) == DONE
    assert any(MARK in settled.text(path) for path in settled.tracked())
