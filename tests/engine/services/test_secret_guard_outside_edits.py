"""A secret that somebody writes into a file gets into no commit until a person says so; no edit is lost."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.engine.flushes import Flushes, reads_handles
from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE
from tests.engine.services.test_secrets import PASSWORD, TOKEN
from workbench.engine import Workspace
from workbench.engine.errors import Refused, RoleRefused, SecretFound, StorageError
from workbench.engine.history import work_files
from workbench.engine.history.work_files import Staging, WorkFiles, swap
from workbench.engine.services.quarantine import FILE, HeldRequest, Quarantine

NOTES = "memory/notes.md"
STAND_IN = "[held back 1: GitHub token]"
KEY = "-----BEGIN PRIVATE KEY-----\r\nMIIEow\r\nAbCd\r\n-----END PRIVATE KEY-----"


def write(home: AgentHome, path: str, text: str) -> Path:
    place = home.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode())
    return place


def known(workspace: Workspace, home: AgentHome, *paths: str) -> None:
    """Let history know files as they were before anybody wrote a secret into them."""
    for path in paths or (NOTES,):
        write(home, path, "{}" if path.endswith("json") else "Empty.\n")
    workspace.pin(EPISODE)
    workspace.adopt()


def in_history(home: AgentHome, text: str) -> bool:
    """Tell whether any object of the history says something, whether a commit leads to it or not."""
    objects = home.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    names = [line.split()[0] for line in objects.splitlines()]
    folder = home.root / ".audit"
    said = (
        subprocess.run(
            ["git", f"--git-dir={folder}", "cat-file", "-p", name], check=True, capture_output=True
        ).stdout
        for name in names
    )
    loose = (path.read_bytes() for path in folder.glob("*") if path.is_file())
    return any(text.encode() in content for content in (*said, *loose))


def test_a_placeholder_stands_for_it(settled: AgentHome) -> None:
    with settled.open(role="main") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"Boats.\n\nUse {TOKEN} there.\nGulls.\n")
        (told,) = workspace.adopt().warnings
        assert place.read_text() == f"Boats.\n\nUse {STAND_IN} there.\nGulls.\n"
        assert (NOTES in told, STAND_IN in told, TOKEN in told) == (True, True, False)
        (held,) = workspace.secrets_held().held
        assert (held.number, held.asked, held.role, held.kinds) == (1, "edit", "outside", ("GitHub token",))
        assert (held.path, held.line, held.text, held.left_out) == (
            NOTES,
            3,
            "Use [secret left out] there.",
            False,
        )
        assert "1 edit of a file was held back" in " ".join(workspace.brief().notices)
        assert "part of it held back" in workspace.audit_log(limit=1).entries[0].summary
        # Nothing is to be done about it twice.
        assert workspace.adopt().commit is None
        assert workspace.remember("The boat leaves at nine", store="episodic").commit is not None
    assert not in_history(settled, TOKEN)
    state = settled.open(role="person")
    with state as workspace:
        folder = workspace.settings.state_directory(workspace.root)
    assert (folder / FILE).stat().st_mode & 0o777 == 0o600


def test_one_that_stands_there_often_is_asked_about_once(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"{TOKEN}\n" * 50)
        asked: list[HeldRequest] = []
        add = Quarantine.add

        def noted(self: Quarantine, *requests: HeldRequest) -> tuple[HeldRequest, ...]:
            asked.extend(requests)
            return add(self, *requests)

        monkeypatch.setattr(Quarantine, "add", noted)
        workspace.adopt()
        assert (len(asked), place.read_text()) == (1, f"{STAND_IN}\n" * 50)


def test_looking_finds_it_as_well(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        write(settled, NOTES, f"Use {TOKEN} there.\n")
        assert [each.path for each in workspace.secrets_held().held] == [NOTES]


def test_a_change_finds_it_as_well(settled: AgentHome) -> None:
    with settled.open(role="main") as workspace:
        workspace.pin(EPISODE)
        core = settled.root / "MEMORY.md"
        core.write_text(
            core.read_text().replace("- Name: Robin", f"- Name: Robin\n- The password is {PASSWORD}")
        )
        workspace.core_add("Identity", "Likes ferries")
        said = core.read_text()
        assert "- The password is [held back 1: password]" in said
        assert "- Likes ferries" in said
    assert not in_history(settled, PASSWORD)


def newest(workspace: Workspace) -> tuple[str, str, str]:
    entry = workspace.audit_log(limit=1).entries[0]
    return entry.actor, entry.file, entry.summary


def test_a_change_tells_that_a_file_reads_otherwise_now(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
    place = write(settled, NOTES, f"Boats: {TOKEN}\n")
    with settled.open(role="person") as workspace:
        workspace.remember("The boat leaves at nine", store="episodic")
        assert STAND_IN in place.read_text()
        (told,) = workspace.warnings
        assert (NOTES in told, STAND_IN in told, TOKEN in told) == (True, True, False)


def test_nobody_but_a_person_sees_it(settled: AgentHome) -> None:
    with settled.open(role="main") as workspace:
        known(workspace, settled)
        write(settled, NOTES, f"{TOKEN}\n")
        workspace.adopt()
        for ask in (workspace.secrets_reveal, workspace.secrets_store, workspace.secrets_drop):
            with pytest.raises(RoleRefused):
                ask(1)


@pytest.mark.parametrize(
    "text",
    [
        f"| user | password |\n| --- | --- |\n| nora | {PASSWORD} |\n",
        f"password:\n  {PASSWORD}\n",
        f"password: {PASSWORD}\nSeen again: {PASSWORD}\n",
    ],
    ids=["below the head of a table", "below its label", "twice"],
)
@pytest.mark.parametrize("path", [NOTES, "memory/vault/new.md"], ids=["cut", "left out"])
def test_the_list_shows_no_secret_whatever_line_gives_it_away(
    settled: AgentHome, path: str, text: str
) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        write(settled, path, text)
        workspace.adopt()
    with settled.open(role="reader") as workspace:
        (held,) = workspace.secrets_held().held
        assert (held.path, PASSWORD in held.text, "[secret left out]" in held.text) == (path, False, True)


def test_line_endings_and_structure_stay(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled, "memory/keys.md", "memory/table.json")
        keys = write(settled, "memory/keys.md", f"Here:\r\n{KEY}\r\nthere.\r\n")
        table = write(settled, "memory/table.json", json.dumps({"key": TOKEN, "n": [1]}))
        before = keys.read_bytes()
        workspace.adopt()
        assert keys.read_bytes() == b"Here:\r\n[held back 1: private key]\r\nthere.\r\n"
        assert json.loads(table.read_text()) == {"key": "[held back 2: GitHub token]", "n": [1]}
        workspace.secrets_store(1)
        assert keys.read_bytes() == before
    assert not in_history(settled, TOKEN)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("TOOLS.md", f"Key: {TOKEN}\n".encode()),
        ("SOUL.md", f"Key: {TOKEN}\n".encode()),
        ("openclaw.json", json.dumps({"key": TOKEN}).encode()),
        ("memory/new.md", f"Key: {TOKEN}\n".encode()),
        ("memory/latin.md", f"Caf\xe9 {TOKEN}\n".encode("latin-1")),
        (f"memory/{TOKEN}.md", b"Boats.\n"),
    ],
)
def test_what_may_not_be_cut_stays_out_of_history(settled: AgentHome, path: str, content: bytes) -> None:
    with settled.open(role="person") as workspace:
        workspace.pin(EPISODE)
        place = settled.root / path
        place.write_bytes(content)
        write(settled, NOTES, "Boats.\n")
        adopted = workspace.adopt()
        assert adopted.files == (NOTES,)
        (told,) = adopted.warnings
        assert "stays out of history" in told
        assert TOKEN not in told
        (held,) = workspace.secrets_held().held
        assert held.left_out
        assert TOKEN not in held.path
        # All else goes on, also what reads that file.
        assert workspace.remember("The boat leaves at nine", store="episodic").commit is not None
        assert workspace.adopt().commit is None
        assert place.read_bytes() == content
        assert not in_history(settled, TOKEN)
        # Its number is no other one for being seen again.
        assert [each.number for each in workspace.secrets_held().held] == [1]
        workspace.secrets_store(1)
        assert workspace.secrets_held().held == ()
        assert workspace.adopt().warnings == ()
        assert in_history(settled, TOKEN)


def test_nothing_else_brings_in_what_was_left_out(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.pin(EPISODE)
        place = write(settled, "TOOLS.md", f"Key: {TOKEN}\n")
        workspace.adopt()
        with pytest.raises(SecretFound):
            workspace.edit_file("TOOLS.md", f"Key: {TOKEN}\nAnd more.\n", expected=place.read_text())
        with pytest.raises(SecretFound):
            workspace.graph_add_fact("Robin", f"Was given {TOKEN}")
        assert not in_history(settled, TOKEN)
        verified = workspace.audit_verify()
        assert (verified.ok, verified.problems, verified.waiting) == (True, (), ("TOOLS.md",))
        # Taken out in an editor, the edit is taken in, and nothing waits.
        place.write_text("Key: none\n")
        assert workspace.adopt().files == ("TOOLS.md",)
        assert workspace.secrets_held().held == ()
        assert workspace.audit_verify().ok


def test_adopting_a_folder_changes_none_of_its_files(home: AgentHome) -> None:
    said = {
        "MEMORY.md": f"# Memory\n\n- The key is {TOKEN}\n",
        "memory/2026-01-30.md": f"Boats: {TOKEN}\n",
        "TOOLS.md": f"Key: {TOKEN}\n",
    }
    for path, text in said.items():
        write(home, path, text)
    write(home, "memory/2026-01-31.md", "Gulls.\n")
    told = Workspace.init(home.root, clock=home.clock)
    assert all(path in " ".join(told.warnings) for path in (*said, "workbench secrets"))
    with home.open(role="person") as workspace:
        workspace.adopt()
        workspace.remember("The boat leaves at nine", store="episodic")
        assert {path: (home.root / path).read_text() for path in said} == said
        assert sorted(each.path for each in workspace.secrets_held().held) == sorted(said)
        with pytest.raises(SecretFound, match="stays out of history"):
            workspace.core_add("Identity", "Likes ferries")
        assert not in_history(home, TOKEN)
        # One answer is enough for all that hold it.
        workspace.secrets_store(1)
        assert workspace.secrets_held().held == ()
        workspace.core_add("Identity", "Likes ferries")
        assert workspace.adopt().commit is None
    assert in_history(home, TOKEN)


@pytest.mark.slow
def test_many_files_are_asked_about_at_once(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    read = WorkFiles.read
    with settled.open(role="person") as workspace:
        workspace.pin(EPISODE)
        for at in range(400):
            write(settled, f"memory/log-{at}.md", f"Boats: ghp_{at:036d}\n" if at % 8 == 0 else "Boats.\n")

        def count(files: WorkFiles, path: str) -> bytes | None:
            reads.append(path)
            return read(files, path)

        with monkeypatch.context() as patch:
            patch.setattr(WorkFiles, "read", count)
            workspace.adopt()
        assert len(workspace.secrets_held().held) == 50
    assert len(reads) < 3 * 400


def test_a_file_that_is_being_saved_is_left_for_the_next_look(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        lay = Staging.lay

        def saved_meanwhile(staging: Staging, path: str, content: bytes) -> None:
            lay(staging, path, content)
            place.write_text(f"Boats: {TOKEN}\nGulls.\n")

        with monkeypatch.context() as patch:
            patch.setattr(Staging, "lay", saved_meanwhile)
            assert workspace.adopt().commit is None
        assert place.read_text() == f"Boats: {TOKEN}\nGulls.\n"
        workspace.adopt()
        assert place.read_text() == f"Boats: {STAND_IN}\nGulls.\n"
        assert len(workspace.secrets_held().held) == 1
    assert not in_history(settled, TOKEN)


@pytest.mark.parametrize("renaming", [True, False])
def test_what_is_saved_as_the_file_takes_its_name_comes_back(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch, *, renaming: bool
) -> None:
    def save(place: Path) -> None:
        said = place.read_text() + "Gulls.\n"
        saved = place.with_name("saved.tmp") if renaming else place
        saved.write_text(said)
        saved.replace(place)

    def saved_just_before(one: Path, other: Path) -> bool:
        monkeypatch.setattr(work_files, "swap", swap)
        save(other)
        return swap(one, other)

    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        monkeypatch.setattr(work_files, "swap", saved_just_before)
        assert workspace.adopt().commit is None
        assert place.read_text() == f"Boats: {TOKEN}\nGulls.\n"
        workspace.adopt()
        assert place.read_text() == f"Boats: {STAND_IN}\nGulls.\n"
        # The same holds for a change.
        core = settled.root / "MEMORY.md"
        monkeypatch.setattr(work_files, "swap", saved_just_before)
        workspace.core_add("Identity", "Likes ferries")
        assert "Gulls." in core.read_text()
    assert not in_history(settled, TOKEN)


@reads_handles
def test_a_secret_waits_on_disk_before_it_leaves_its_file(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        write(settled, NOTES, f"Boats: {TOKEN}\n")
        flushes, place = Flushes(monkeypatch), Staging.place
        held: list[bool] = []

        def checked(staging: Staging, path: str, before: bytes | None = None) -> bool:
            held.append(
                flushes.hold(workspace.state / FILE) and TOKEN in (workspace.state / FILE).read_text()
            )
            return place(staging, path, before)

        monkeypatch.setattr(Staging, "place", checked)
        workspace.adopt()
        assert held == [True]
        assert (settled.root / NOTES).read_text() == f"Boats: {STAND_IN}\n"
        assert flushes.hold(settled.root / NOTES)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_encoding_hides_nothing(settled: AgentHome, encoding: str) -> None:
    said = f"Boats.\nUse {TOKEN} there.\n".encode(encoding)
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = settled.root / NOTES
        place.write_bytes(said)
        assert workspace.adopt().commit is None
        (held,) = workspace.secrets_held().held
        assert (held.path, held.line, held.left_out) == (NOTES, 2, True)
        assert workspace.secrets_reveal(1).text == TOKEN
        assert NOTES in [each.path for each in workspace.secrets_scan().places]
        with pytest.raises(Refused, match="cannot be taken out"):
            workspace.secrets_drop(1)
        assert place.read_bytes() == said
        assert not in_history(settled, "\0".join(TOKEN))
        assert not in_history(settled, "\0\0\0".join(TOKEN))
        workspace.secrets_store(1)
        assert workspace.secrets_held().held == ()
        assert workspace.adopt().commit is None


def test_it_is_kept_before_the_file_is_touched(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise StorageError("No space left.", where="state")

    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        with monkeypatch.context() as patch:
            patch.setattr(Quarantine, "add", full)
            (told,) = workspace.adopt().warnings
            assert "No space left" in told
            # Nothing else has to wait for that.
            assert workspace.remember("The boat leaves at nine", store="episodic").commit is not None
        assert place.read_text() == f"Boats: {TOKEN}\n"
        with monkeypatch.context() as patch:
            patch.setattr(Staging, "place", full)
            with pytest.raises(StorageError):
                workspace.adopt()
        # Whoever was killed here finds it again, under the same number.
        assert place.read_text() == f"Boats: {TOKEN}\n"
        workspace.adopt()
        assert place.read_text() == f"Boats: {STAND_IN}\n"
        assert [each.number for each in workspace.secrets_held().held] == [1]
    assert not in_history(settled, TOKEN)


def test_a_damaged_store_holds_up_nothing_else(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        (workspace.state / FILE).write_text("5")
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        (told,) = workspace.adopt().warnings
        assert "damaged" in told
        assert workspace.remember("The boat leaves at nine", store="episodic").commit is not None
        assert place.read_text() == f"Boats: {TOKEN}\n"
    assert not in_history(settled, TOKEN)


def test_an_editor_that_saves_it_again_asks_nobody_twice(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        workspace.adopt()
        place.write_text(f"Boats: {TOKEN}\n")
        # It reads as history has it once the secret is out: there is nothing to commit.
        assert workspace.adopt().commit is None
        assert place.read_text() == f"Boats: {STAND_IN}\n"
        assert len(workspace.secrets_held().held) == 1


def test_switched_off_it_is_taken_in(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.edit_file("workbench.toml", "[secrets]\nhold_back = false\n")
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        assert workspace.adopt().warnings == ()
        assert TOKEN in place.read_text()


def test_secrets_in_many_files_are_kept_with_one_write(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [f"memory/many-{number}.md" for number in range(20)]
    with settled.open(role="main") as workspace:
        known(workspace, settled, *paths)
        for path in paths:
            write(settled, path, f"Use {TOKEN} and {TOKEN}.\n")
        stores: list[int] = []
        store = Quarantine._store

        def counted(self: Quarantine, given: int, held: list[HeldRequest]) -> None:
            stores.append(given)
            store(self, given, held)

        monkeypatch.setattr(Quarantine, "_store", counted)
        assert len(workspace.adopt().warnings) == 20
        assert (stores, len(workspace.secrets_held().held)) == ([20], 20)
