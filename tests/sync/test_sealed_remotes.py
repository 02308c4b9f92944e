"""A remote that nobody has to trust: what it holds says nothing, and what it makes up is refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.sync.household import Household, public_key
from workbench.engine.errors import (
    InvalidInput,
    NotFound,
    Refused,
    RemoteError,
    StorageError,
    WorkbenchError,
)
from workbench.engine.sync import keys, sealed
from workbench.engine.sync.keys import KEY, load_keys, seal, unseal
from workbench.engine.sync.sealed import load_seen

FACT = "Sam reviews the backend on Thursdays"


@pytest.fixture
def home(tmp_path: Path) -> Household:
    home = Household(tmp_path, sealed=True)
    home.begin("laptop", "desk")
    home.remember("laptop", FACT, "person:Sam")
    home.sync("laptop", "desk")
    return home


def git(home: Household, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["git", f"--git-dir={home.remote}", *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def state_of(home: Household, name: str) -> Path:
    with home.opened(name) as workspace:
        return workspace._context.state


def head(home: Household) -> str:
    return git(home, "rev-parse", "sealed").decode().strip()


def rows(home: Household) -> dict[str, str]:
    """Return the files of the remote: the object of each name."""
    listed = git(home, "ls-tree", "sealed").decode().splitlines()
    return {row.partition("\t")[2]: row.split()[2] for row in listed}


def put(home: Household, files: dict[str, str], *parents: str) -> None:
    """Have the remote hold other files."""
    listed = "".join(f"100644 blob {oid}\t{name}\n" for name, oid in files.items())
    tree = git(home, "mktree", "--missing", given=listed.encode()).decode().strip()
    person = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    options = [word for parent in parents for word in ("-p", parent)]
    commit = git(home, *person, "commit-tree", tree, "-m", "sealed", *options).decode().strip()
    git(home, "update-ref", "refs/heads/sealed", commit)


def write(home: Household, content: bytes) -> str:
    return git(home, "hash-object", "-w", "--stdin", given=content).decode().strip()


def assert_refused(home: Household, why: str, name: str = "laptop") -> WorkbenchError:
    """Nothing changes on the device, and its history stays whole."""
    before, at = home.files(name), home.head(name)
    with pytest.raises(WorkbenchError, match=why) as refused:
        home.sync(name)
    assert str(home.remote) in str(refused.value)
    assert (home.files(name), home.head(name)) == (before, at)
    assert not (home.root(name) / ".audit/workbench.carrying").exists()
    assert home.is_clean(name)
    return refused.value


def test_devices_end_alike_and_the_remote_says_nothing_of_memory(home: Household) -> None:
    home.remember("laptop", "Kim plays chess on Sundays", "person:Kim")
    home.remember("desk", "Jo works on the frontend of Apollo", "person:Jo")
    home.sync("laptop", "desk", "laptop")
    assert home.files("desk") == home.files("laptop")
    assert home.head("desk") == home.head("laptop")
    assert home.is_clean("desk")
    everything = git(home, "cat-file", "--batch", "--batch-all-objects", "--buffer") + git(
        home, "for-each-ref"
    )
    everything += b"".join(each.read_bytes() for each in home.remote.rglob("*") if each.is_file())
    words = (
        "thursdays",
        "sam",
        "person",
        "memory",
        "chess",
        ".md",
        "laptop",
        "desk",
        "workbench",
        home.head("desk"),
    )
    told = everything.lower()
    # Short words also come about by chance in what is sealed.
    assert [word for word in words if len(word) > 4 and word.encode() in told] == []
    readable = (
        git(home, "log", "--all", "--format=%an %ae %ad %B", "--name-only", "--date=unix").decode().lower()
    )
    assert [word for word in words if word in readable] == []


def test_a_device_that_was_not_let_in_is_told_which_key_to_let_in(home: Household) -> None:
    with home.opened("server") as workspace, pytest.raises(Refused) as refused:
        workspace.sync(str(home.remote), confirmed=True, sealed=True)
    assert home.key("server") in str(refused.value)
    assert home.files("server") == {}
    home.join("server")
    assert home.files("server") == home.files("laptop")
    assert any(home.key("server") in told for told in home.sync("desk").warnings)
    with home.opened("laptop") as workspace:
        workspace.sync()
        keys = workspace.sync_status().keys
    assert [(each.device, each.is_this) for each in keys] == [
        ("laptop", True),
        ("desk", False),
        ("server", False),
    ]


def test_a_retired_device_reads_nothing_that_is_sent_from_then_on(home: Household) -> None:
    before = git(home, "rev-list", "--objects", "--all").decode().split()
    with home.opened("laptop") as workspace:
        keys = workspace.sync_retire("desk").keys
    assert [each.device for each in keys] == ["laptop"]
    # What was sealed to it, too, is gone.
    listed = git(home, "cat-file", "--batch-all-objects", "--batch-check").decode()
    assert not {row.split()[0] for row in listed.splitlines()} & set(before)
    home.remember("laptop", "Kim plays chess on Sundays", "person:Kim")
    home.sync("laptop")
    assert_refused(home, "taken out", "desk")
    desk = load_keys(state_of(home, "desk"))
    for oid in rows(home).values():
        assert unseal(git(home, "cat-file", "blob", oid), desk) is None
    home.allow("laptop", desk.public)
    home.join("desk")
    assert home.files("desk") == home.files("laptop")


def test_a_key_for_the_drawer_lets_a_new_device_in(home: Household) -> None:
    drawer = home.folder / "drawer.key"
    with home.opened("laptop") as workspace:
        recovery = workspace.sync_recovery(str(drawer))
        assert [each.device for each in workspace.sync_status().keys] == ["laptop", "desk", None]
        with pytest.raises(InvalidInput, match="there already"):
            workspace.sync_recovery(str(drawer))
    assert drawer.stat().st_mode & 0o777 == 0o600
    with home.opened("server") as workspace:
        remote = str(home.remote)
        workspace.sync(remote, confirmed=True, device="server", sealed=True, identity=str(drawer))
    assert home.files("server") == home.files("laptop")
    # From now on it gets in by itself, and the drawer's key can go.
    with home.opened("server") as workspace:
        workspace.sync_retire(recovery.key)
        with pytest.raises(NotFound, match="This key has no access"):
            workspace.sync_retire(recovery.key)
    home.remember("server", "Kim plays chess on Sundays", "person:Kim")
    home.sync("server", "laptop")
    assert home.files("server") == home.files("laptop")


def test_keys_stay_in_the_persons_own_state(home: Household, capfd: pytest.CaptureFixture[str]) -> None:
    place = state_of(home, "laptop") / KEY
    assert place.stat().st_mode & 0o777 == 0o600
    assert (state_of(home, "laptop") / "sealed.json").stat().st_mode & 0o777 == 0o600
    private = place.read_text().splitlines()[-1]
    assert not any(home.says(home.root(name), private) for name in ("laptop", "desk"))
    for given, why in ((private, "private key"), ("age1nothing", "not a key"), ("", "not a key")):
        with home.opened("laptop") as workspace, pytest.raises(InvalidInput, match=why) as refused:
            workspace.sync_allow(given)
        assert private not in str(refused.value)
    place.write_text("nothing")
    with home.opened("laptop") as workspace, pytest.raises(WorkbenchError, match="cannot be read") as damaged:
        workspace.sync()
    assert str(place) in str(damaged.value)


def test_what_a_purge_took_out_is_in_nothing_that_can_be_unsealed(home: Household) -> None:
    home.remember("laptop", "The vault code is 47-KXZQ since the move", "person:Sam")
    home.sync("laptop", "desk")
    before = set(rows(home).values())
    home.purge("desk", "vault code")
    home.sync("desk")
    listed = git(home, "cat-file", "--batch-all-objects", "--batch-check").decode()
    assert not before & {row.split()[0] for row in listed.splitlines()}
    assert home.sync("laptop").purged
    home.join("server")
    for name in ("laptop", "desk", "server"):
        assert not home.says(home.root(name), "KXZQ")
        assert home.files(name) == home.files("laptop")


def test_many_packs_become_few(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "MOST_PACKS", 4)
    for number in range(12):
        home.remember("laptop", f"Kim has won {number} games", "person:Kim")
        home.sync("laptop")
        assert len(rows(home)) <= 5
    home.sync("desk")
    home.join("server")
    assert home.files("desk") == home.files("server") == home.files("laptop")


def test_large_memory_goes_in_parts(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "PART", 100)
    home.remember("laptop", "Kim plays chess on Sundays", "person:Kim")
    home.sync("laptop", "desk")
    assert len(rows(home)) > 5
    assert home.files("desk") == home.files("laptop")


# A remote that lies


def test_a_remote_that_shows_an_older_state_is_refused(home: Household) -> None:
    older = head(home)
    home.remember("desk", "Kim plays chess on Sundays", "person:Kim")
    home.sync("desk", "laptop")
    git(home, "update-ref", "refs/heads/sealed", older)
    assert_refused(home, "older state")
    # A person who knows of the backup goes on from it, and what it lacks is sent again.
    home.join("laptop")
    assert home.sync("desk").commit == home.head("laptop")
    home.join("server")
    assert home.files("server") == home.files("laptop")


def test_of_two_states_with_one_number_the_other_is_refused(home: Household) -> None:
    before = head(home)
    home.remember("desk", "Kim plays chess on Sundays", "person:Kim")
    home.sync("desk")
    shown = head(home)
    git(home, "update-ref", "refs/heads/sealed", before)
    home.remember("laptop", "Jo works on the frontend of Apollo", "person:Jo")
    home.sync("laptop")
    git(home, "update-ref", "refs/heads/sealed", shown)
    assert_refused(home, "older state")


def test_what_was_sealed_by_somebody_else_is_refused(home: Household) -> None:
    seen = load_seen(state_of(home, "laptop"))
    assert seen is not None
    forged = json.loads(seen.contents.as_bytes()) | {"number": 99, "secrets": ["0" * 64]}
    # Public keys may be known.
    put(
        home,
        rows(home) | {"contents": write(home, seal(json.dumps(forged).encode(), seen.contents.keys))},
        head(home),
    )
    assert_refused(home, "not one of this memory’s devices")


def damaged(home: Household, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
    """Have the remote hold something new that was changed on the way."""
    home.remember("desk", "Kim plays chess on Sundays", "person:Kim")
    before = rows(home)
    home.sync("desk")
    new = {name: oid for name, oid in rows(home).items() if name not in before}
    assert len(new) == 1
    put(home, rows(home) | change(new), head(home))


def test_a_forged_part_is_refused(home: Household) -> None:
    damaged(home, lambda new: {name: write(home, b"age-encryption.org/v1\n") for name in new})
    assert_refused(home, "not what was sent")


def test_a_missing_part_is_refused(home: Household) -> None:
    home.remember("desk", "Kim plays chess on Sundays", "person:Kim")
    before = rows(home)
    home.sync("desk")
    put(home, {name: oid for name, oid in rows(home).items() if name in before}, head(home))
    assert_refused(home, "is missing")


@pytest.mark.parametrize("content", [b"", b"age-encryption.org/v1\n", b"\0" * 500])
def test_contents_that_are_none_are_refused(home: Household, content: bytes) -> None:
    put(home, rows(home) | {"contents": write(home, content)}, head(home))
    assert_refused(home, "cannot be decrypted")


def test_contents_that_are_missing_are_refused(home: Household) -> None:
    put(home, {name: oid for name, oid in rows(home).items() if name != "contents"}, head(home))
    assert_refused(home, "contents is missing")


def test_a_pack_of_something_else_is_refused(home: Household) -> None:
    seen = load_seen(state_of(home, "laptop"))
    assert seen is not None
    pack = seal(b"PACK and no more", seen.contents.keys)
    name = sha256(pack).hexdigest()
    contents = json.loads(seen.contents.as_bytes())
    contents["number"] += 1
    contents["packs"].append({"tip": "1" * 40, "size": len(pack), "parts": [name]})
    told = write(home, seal(json.dumps(contents).encode(), seen.contents.keys))
    put(home, rows(home) | {"contents": told, name: write(home, pack)}, head(home))
    assert_refused(home, "the pack of commit 1111111111")


def test_sealed_and_unsealed_are_never_mixed(home: Household) -> None:
    plain = Household(home.folder / "plain")
    plain.folder.mkdir()
    plain.begin("tablet")
    with plain.opened("tablet") as workspace, pytest.raises(RemoteError, match="is sealed"):
        workspace.sync(str(home.remote), confirmed=True)
    with home.opened("laptop") as workspace, pytest.raises(RemoteError, match="not sealed"):
        workspace.sync(str(plain.remote), confirmed=True, sealed=True)
    git(home, "update-ref", "-d", "refs/heads/sealed")
    git(home, "fetch", "-q", str(plain.remote), "main:main")
    assert_refused(home, "not sealed")


def test_looking_says_that_it_is_sealed_and_to_whom(home: Household) -> None:
    home.remember("laptop", "Kim plays chess on Sundays", "person:Kim")
    before = head(home)
    with home.opened("laptop") as workspace:
        found = workspace.sync_preview()
        assert workspace.sync_status().sealed
    assert (found.outgoing.commits, head(home)) == (1, before)
    assert [(each.device, each.is_this) for each in found.keys] == [("laptop", True), ("desk", False)]


def test_a_remote_that_is_gone_is_filled_again_for_all_that_were_in(home: Household) -> None:
    home.remote.rename(home.folder / "gone.git")
    with pytest.raises(RemoteError, match="not there"):
        home.sync("laptop")
    home.join("laptop")
    home.remember("desk", "Kim plays chess on Sundays", "person:Kim")
    home.sync("desk", "laptop")
    assert home.files("desk") == home.files("laptop")


def test_a_key_that_others_can_read_is_not_used(home: Household) -> None:
    drawer = home.folder / "drawer.key"
    with home.opened("laptop") as workspace:
        workspace.sync_recovery(str(drawer))
    drawer.chmod(0o644)
    with home.opened("server") as workspace, pytest.raises(InvalidInput, match="Others can read") as caught:
        workspace.sync(str(home.remote), confirmed=True, sealed=True, identity=str(drawer))
    assert f"chmod 600 {drawer}" in str(caught.value)
    own = state_of(home, "laptop") / KEY
    own.chmod(0o640)
    with pytest.raises(StorageError, match="Others can read") as refused:
        home.sync("laptop")
    assert f"chmod 600 {own}" in str(refused.value)
    own.chmod(0o600)
    home.sync("laptop")


def test_another_key_is_told_of_even_if_that_sync_fails(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.allow("desk", home.key("server"))
    home.remember("laptop", "Kim plays chess on Sundays", "person:Kim")

    def refuse(*_: object) -> None:
        raise RemoteError("No.", where="there", remedy="None.")

    with monkeypatch.context() as patch:
        patch.setattr(sealed.SealedTransport, "push", refuse)
        with pytest.raises(RemoteError):
            home.sync("laptop")
    assert [told for told in home.sync("laptop").warnings if home.key("server") in told] != []
    assert home.sync("laptop").warnings == ()


def test_another_key_is_told_of_though_the_next_step_is_to_let_one_in(home: Household) -> None:
    home.allow("desk", home.key("server"))
    home.allow("laptop", home.key("tablet"))
    told = " ".join(home.sync("laptop").warnings)
    assert home.key("server") in told
    assert home.key("tablet") not in told


def test_a_recovery_key_that_fails_leaves_no_file(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home.folder / "stick"
    folder.mkdir()

    def refuse(*_: object) -> None:
        raise RemoteError("No.", where="there", remedy="None.")

    with home.opened("laptop") as workspace:
        with monkeypatch.context() as patch:
            patch.setattr(sealed.SealedTransport, "push", refuse)
            with pytest.raises(RemoteError):
                workspace.sync_recovery(str(folder / "drawer.key"))
        assert list(folder.iterdir()) == []
        key = workspace.sync_recovery(str(folder / "drawer.key")).key
        assert [each.key for each in workspace.sync_status().keys if each.device is None] == [key]
    assert [each.name for each in folder.iterdir()] == ["drawer.key"]


def test_a_recovery_key_that_was_retired_is_not_made_again(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home.folder / "stick"
    folder.mkdir()
    real = keys._write_new

    def die(place: Path, content: bytes) -> None:
        real(place, content)
        raise SystemExit

    with home.opened("laptop") as workspace:
        with monkeypatch.context() as patch:
            patch.setattr(keys, "_write_new", die)
            with pytest.raises(SystemExit):
                workspace.sync_recovery(str(folder / "lost.key"))
        lost = public_key(folder / "lost.key")
        workspace.sync_retire(lost)
        assert workspace.sync_recovery(str(folder / "drawer.key")).key != lost


@pytest.mark.parametrize("place", ["laptop/drawer.key", "laptop/memory/drawer.key", "remote.git/drawer.key"])
def test_a_recovery_key_does_not_lie_beside_what_it_opens(home: Household, place: str) -> None:
    with home.opened("laptop") as workspace, pytest.raises(InvalidInput, match="beside what it opens"):
        workspace.sync_recovery(str(home.folder / place))
    assert not (home.folder / place).exists()
