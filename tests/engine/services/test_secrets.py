"""What looks like a secret is in no file and no commit until a person says so."""

from __future__ import annotations

import json
import multiprocessing
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE
from workbench.engine import Workspace
from workbench.engine.errors import (
    InvalidInput,
    NotFound,
    RoleRefused,
    SecretFound,
    StorageError,
    WorkbenchError,
)
from workbench.engine.services.quarantine import FILE, HeldRequest, Quarantine

PASSWORD = "gull-and-tern-7"
TOLD = f"The password of the harbour Wi-Fi is {PASSWORD}"
TOKEN = "ghp_" + "a1B2" * 9


def traces(home: AgentHome, text: str) -> list[str]:
    """Return the files below the workspace and the texts of its history that hold a text."""
    found = [
        str(path)
        for path in home.root.rglob("*")
        if path.is_file() and ".audit" not in path.parts and text.encode() in path.read_bytes()
    ]
    said = home.git("log", "-p", "--all", "--format=%B")
    return [*found, *(["history"] if text in said else [])]


def test_what_is_remembered_is_held_back(settled: AgentHome) -> None:
    with settled.open(role="main") as workspace:
        head = workspace.head()
        answer = workspace.remember(TOLD, entities=["place:Harbour"])
        assert answer.held_back is not None
        assert (answer.ok, answer.commit, answer.id) == (True, None, "")
        assert workspace.head() == head
        (held,) = workspace.secrets_held().held
        assert (held.number, held.asked, held.role, held.kinds) == (1, "remember", "main", ("password",))
        assert PASSWORD not in held.text
        assert "1 memory was held back" in " ".join(workspace.brief().notices)
        # Asked again, it is the same request.
        workspace.remember(TOLD, entities=["place:Harbour"])
        assert len(workspace.secrets_held().held) == 1
    assert traces(settled, PASSWORD) == []


def test_the_file_is_read_by_its_owner_alone(settled: AgentHome) -> None:
    with settled.open(role="main") as workspace:
        workspace.remember(TOLD)
        place = workspace.settings.state_directory(workspace.root) / FILE
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_trying_keeps_nothing(settled: AgentHome) -> None:
    with settled.open() as workspace:
        answer = workspace.remember(TOLD, dry_run=True)
        assert answer.held_back is not None
        assert answer.dry_run
        assert workspace.secrets_held().held == ()


def test_a_person_leaves_it_out(settled: AgentHome) -> None:
    with settled.open(role="main") as workspace:
        workspace.remember(TOLD, entities=["place:Harbour"], tags=["network"])
    with settled.open(role="person") as workspace:
        stored = workspace.secrets_store(1, leave_out=True)
        assert "[secret left out]" in workspace.show(stored.id).text
        assert "network" in stored.tags
        assert workspace.secrets_held().held == ()
        with pytest.raises(NotFound):
            workspace.secrets_store(1)
    assert traces(settled, PASSWORD) == []


# What the history says of it quotes the sentence, and its last word is the secret.
@pytest.mark.parametrize("end", ["", ".", "!", "?"])
def test_a_person_lets_it_in(settled: AgentHome, end: str) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD + end)
        stored = workspace.secrets_store(1)
        assert PASSWORD in workspace.show(stored.id).text
        (place,) = workspace.secrets_scan().places
        assert (place.path, place.kind, place.allowed) == (stored.path, "password", True)
        # From now on it is no secret any more.
        assert workspace.remember(f"Robin was told that the password is {PASSWORD}").held_back is None
        undone = workspace.secrets_allow([place.digest])
        assert undone.commit is None


def test_a_person_drops_it(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD)
        workspace.remember("The api key is 99-bottles-x")
        assert [each.number for each in workspace.secrets_drop(1).held] == [2]
        # A number is given once.
        workspace.secrets_drop(2)
        workspace.remember(TOLD)
        assert [each.number for each in workspace.secrets_held().held] == [3]


def test_one_undo_takes_back_all_that_was_let_in(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD, store="vault")
        workspace.remember("The api key is 99-bottles-x", store="vault")
        stored = workspace.secrets_store(1, 2)
        assert {each.path for each in workspace.secrets_scan().places} <= set(stored.files)
        assert len(workspace.settings.secrets.allow) == 2
        workspace.undo()
        assert workspace.secrets_scan().places == ()
        assert workspace.remember(TOLD).held_back is not None


def test_letting_in_and_storing_are_one_commit(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD, store="vault")
        stored = workspace.secrets_store(1)
        assert stored.files == (stored.path,)
        newest = workspace.audit_log(limit=20).entries
        made = {each.file: each for each in newest if each.action == "CREATE"}
        settings, told = made["workbench.toml"], made[stored.path]
        assert settings.commit == told.commit
        assert settings.actor == "manual"
        assert settings.summary.endswith("allowed a secret to be stored")
        # The person's own hand is asked nothing.
        assert [each for each in workspace.audit_alerts().alerts if not each.acknowledged] == []
        workspace.undo()
        assert not (settled.root / "workbench.toml").exists()
        assert [each.number for each in workspace.secrets_held().held] == [1]


def test_nothing_is_allowed_where_storing_is_refused(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD, store="core", block="No such block")
        head = workspace.head()
        with pytest.raises(WorkbenchError):
            workspace.secrets_store(1)
        assert workspace.head() == head
        assert not (settled.root / "workbench.toml").exists()
        assert workspace.settings.secrets.allow == ()
        assert [each.number for each in workspace.secrets_held().held] == [1]


@pytest.mark.parametrize("leave_out", [True, False])
def test_what_was_stored_waits_again_as_long_as_that_is_undone(settled: AgentHome, leave_out: bool) -> None:
    with settled.open(role="main") as workspace:
        workspace.remember(TOLD, tags=["network"])
    with settled.open(role="person") as workspace:
        before = workspace.secrets_held()
        workspace.secrets_store(1, leave_out=leave_out)
        assert workspace.secrets_held().held == ()
        workspace.undo(confirmed=True)
        assert workspace.secrets_held() == before
        assert workspace.secrets_reveal(1).text == TOLD
        workspace.redo(confirmed=True)
        assert workspace.secrets_held().held == ()
        workspace.undo(confirmed=True)
        # Asked again, it is the same request; decided again, it is stored again.
        with settled.open(role="main") as agent:
            agent.remember(TOLD, tags=["network"])
        assert workspace.secrets_held() == before
        stored = workspace.secrets_store(1, leave_out=leave_out)
        assert "network" in stored.tags
        assert workspace.secrets_held().held == ()


def test_a_rollback_lets_it_wait_again(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.pin(EPISODE)
        before = workspace.head()
        workspace.remember(TOLD)
        workspace.secrets_store(1, leave_out=True)
        workspace.rollback(to=str(before))
        assert [each.number for each in workspace.secrets_held().held] == [1]


def test_what_was_stored_and_dropped_leaves_no_trace(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD)
        workspace.secrets_store(1, leave_out=True)
        workspace.secrets_drop(1)
        assert PASSWORD not in (workspace.state / FILE).read_text()
        workspace.undo(confirmed=True)
        assert workspace.secrets_held().held == ()


def test_what_is_stored_may_be_held_back_again_as_another(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        for number in (1, 2):
            workspace.remember(TOLD)
            assert [each.number for each in workspace.secrets_held().held] == [number]
            workspace.secrets_store(number, leave_out=True)


def test_a_number_that_waits_not_decides_nothing(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD)
        head = workspace.head()
        for decide in (workspace.secrets_store, workspace.secrets_drop):
            with pytest.raises(NotFound):
                decide(1, 7)
        assert workspace.head() == head
        assert len(workspace.secrets_held().held) == 1


def test_a_purge_reaches_what_was_held_back(settled: AgentHome) -> None:
    said = "The lighthouse of Gotland is painted every third summer"
    with settled.open(role="person") as workspace:
        stored = workspace.remember(said, store="vault")
        workspace.remember(f"{said}; the password is {PASSWORD}")
        workspace.remember("The api key is 99-bottles-x")
        workspace.forget(ids=[stored.id], apply=True, purge_history=True)
        assert [each.number for each in workspace.secrets_held().held] == [2]
        assert said not in (workspace.state / FILE).read_text()


def test_what_an_agent_proposes_is_held_back(settled: AgentHome) -> None:
    with settled.open(role="agent:scout") as workspace:
        answer = workspace.propose(TOLD)
        assert answer.held_back is not None
        assert answer.number == 0
        with pytest.raises(RoleRefused):
            workspace.secrets_store(1)
    assert traces(settled, PASSWORD) == []
    with settled.open(role="person") as workspace:
        stored = workspace.secrets_store(1, leave_out=True)
        assert workspace.audit_log(limit=1).entries[0].actor == "bot:commit-from:scout"
        assert stored.commit is not None


@pytest.mark.parametrize("role", ["main", "person"])
def test_nothing_else_brings_one_in(settled: AgentHome, role: str) -> None:
    with settled.open(role="agent:scout") as scout:
        proposal = scout.propose("Boats leave at nine").number
    with settled.open(role=role) as workspace:
        head = workspace.head()
        changes: tuple[Callable[[], object], ...] = (
            lambda: workspace.core_set("Critical Facts", f"- Use {TOKEN}"),
            lambda: workspace.edit("entity:person--robin#^tea1", f"Uses {TOKEN}"),
            lambda: workspace.graph_add_fact("Robin", f"Uses {TOKEN}"),
            lambda: workspace.edit_file("memory/2026-01-30.md", f"{TOKEN}\n"),
            lambda: workspace.graph_add("tool", TOKEN),
            lambda: workspace.edit_file(f"memory/vault/{TOKEN}.md", "Boats.\n"),
            lambda: workspace.edit_file(f"memory/{TOKEN}/boats.md", "Boats.\n"),
            lambda: workspace.remember("Boats leave at nine", store="episodic", tags=[TOKEN]),
            lambda: workspace.remember("Boats leave at nine", store="episodic", actor=f"bot:{TOKEN}"),
            # No file says why, but the commit does.
            lambda: workspace.proposal_reject([proposal], reason=f"It stands beside {TOKEN}"),
        )
        for change in changes:
            with pytest.raises(SecretFound) as refusal:
                change()
            assert TOKEN not in str(refusal.value)
            assert refusal.value.digests[0] in str(refusal.value)
        assert workspace.head() == head
    assert traces(settled, TOKEN) == []


WRAPPED = f"{TOKEN[:20]}\n{TOKEN[20:]}"
COLOURED = f"{TOKEN[:16]}\x1b[0m{TOKEN[16:]}"


@pytest.mark.parametrize("secret", [TOKEN, WRAPPED, COLOURED], ids=ascii)
@pytest.mark.parametrize(
    "ask",
    [
        lambda w, said: w.remember("The boat is blue", tags=[said]),
        lambda w, said: w.remember(f"The boat uses {said}"),
        lambda w, said: w.message(f"Remember that the boat uses {said}"),
        lambda w, said: w.message(f"Use {said} for it. Please remember that the boat leaves at nine"),
        lambda w, said: w.edit(EPISODE, f"The boat uses {said}"),
        lambda w, said: w.core_add("Persona", f"The boat uses {said}"),
        lambda w, said: w.graph_add_fact("Robin", f"The boat uses {said}"),
        lambda w, said: w.graph_rename("Robin", said),
        lambda w, said: w.propose("The boat is blue", trigger=said),
    ],
    ids=["tag", "remember", "message", "before", "edit", "core", "fact", "name", "trigger"],
)
def test_what_a_door_makes_of_it_shows_no_part_of_it(
    settled: AgentHome, ask: Callable[[Workspace, str], object], secret: str
) -> None:
    with settled.open(role="main") as workspace, suppress(SecretFound, InvalidInput):
        ask(workspace, secret)
    # Whatever blanks and signs a door puts in between, the first letters tell.
    assert traces(settled, TOKEN[:14]) == []


def test_no_door_is_opened_for_a_secret_to_do_things(settled: AgentHome) -> None:
    with settled.open(role="main", actor=f"bot:{TOKEN}") as workspace, pytest.raises(SecretFound):
        workspace.pin(EPISODE)
    assert traces(settled, TOKEN) == []


def test_what_memory_holds_already_may_be_moved(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.edit_file("workbench.toml", "[secrets]\nhold_back = false\n")
        (settled.root / "memory/2026-01-30.md").write_text(f"The token is {TOKEN}.\n")
        workspace.adopt()
        workspace.edit_file("workbench.toml", "")
        workspace.graph_add_fact("Robin", f"Was given {TOKEN}")
        (first, second) = workspace.secrets_scan().places
        assert not first.allowed
        assert first.digest == second.digest


def test_it_can_be_switched_off(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.edit_file("workbench.toml", "[secrets]\nhold_back = false\n")
        assert workspace.remember(TOLD).held_back is None


@pytest.mark.parametrize("digest", ["", "zz", "0" * 15, "../../etc/passwd", "0" * 17])
def test_no_digest(settled: AgentHome, digest: str) -> None:
    with settled.open(role="person") as workspace, pytest.raises(InvalidInput):
        workspace.secrets_allow([digest])


def test_a_damaged_file_is_told(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD)
        place = workspace.settings.state_directory(workspace.root) / FILE
        place.write_bytes(place.read_bytes()[:40])
        with pytest.raises(StorageError, match="damaged"):
            workspace.secrets_held()
        assert "damaged" in " ".join(workspace.brief().notices)


HELD = {
    "number": 1, "method": "remember", "arguments": {}, "role": "main", "moment": "2026-02-02T14:30:00Z", "kinds": [],
    "digests": [],
}  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        "5",
        '{"given": 1, "held": [5]}',
        *(
            json.dumps({"given": 1, "held": [HELD | wrong]})
            for wrong in (
                {"arguments": 5},
                {"moment": "soon"},
                {"digests": [5]},
                {"kinds": 5},
                {"role": None},
            )
        ),
        '{"given":' * 100_000,
    ],
)
def test_a_file_of_anything_else_is_told(settled: AgentHome, content: str) -> None:
    with settled.open(role="person") as workspace:
        workspace.remember(TOLD)
        (workspace.settings.state_directory(workspace.root) / FILE).write_text(content, encoding="utf-8")
        for ask in (
            workspace.secrets_held,
            lambda: workspace.secrets_store(1),
            lambda: workspace.remember(TOLD),
        ):
            with pytest.raises(StorageError, match="damaged"):
                ask()
        assert "damaged" in " ".join(workspace.brief().notices)


def _hold(folder: str, name: str, times: int) -> None:
    for at in range(times):
        request = HeldRequest(0, "remember", {"text": f"{name} {at}"}, "main", "2026-02-02T14:30:00Z", (), ())
        Quarantine(Path(folder)).add(request)


@pytest.mark.slow
def test_several_processes_hold_back_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_hold, args=(str(tmp_path), f"p{at}", 20)) for at in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    held = Quarantine(tmp_path).read()
    assert [each.number for each in held] == list(range(1, 81))


def test_the_door_is_one(settled: AgentHome) -> None:
    with Workspace.open(settled.root, role="reader") as workspace:
        assert workspace.secrets_held().held == ()
