"""Syncing over ssh with a real server on loopback, which gets a throwaway key and configuration."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sync.household import Household
from workbench.engine.errors import RemoteError

pytestmark = pytest.mark.campaign

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
_PATIENCE = 20.0


def make_key(place: Path) -> str:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(place)]
    subprocess.run(command, check=True)
    return place.with_suffix(".pub").read_text().strip()


class Served:
    """A server, and how a person reaches it.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host_key = make_key(folder / "host")
        self.known, self.allowed = folder / "known_hosts", folder / "authorized_keys"
        self.allowed.write_text(f"{make_key(folder / 'person')}\n")
        self.bare = folder / "memory.git"
        subprocess.run(["git", "init", "-q", "--bare", str(self.bare)], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"ssh://{pwd.getpwuid(os.getuid()).pw_name}@127.0.0.1:{self.port}{self.bare}"
        self.know(self.host_key)

    @property
    def command(self) -> str:
        """Return what git starts in place of ssh."""
        options = {
            "IdentityFile": self.folder / "person",
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "UserKnownHostsFile": self.known,
            "GlobalKnownHostsFile": "none",
            "StrictHostKeyChecking": "yes",
        }
        return " ".join(("ssh -F none", *(f"-o {name}={value}" for name, value in options.items())))

    def know(self, key: str) -> None:
        self.known.write_text(f"[127.0.0.1]:{self.port} {key}\n" if key else "")

    def start(self) -> subprocess.Popen[bytes]:
        said = {
            "ListenAddress": f"127.0.0.1:{self.port}",
            "HostKey": self.folder / "host",
            "AuthorizedKeysFile": self.allowed,
            "PidFile": "none",
            "PasswordAuthentication": "no",
            "KbdInteractiveAuthentication": "no",
            "UsePAM": "no",
            "StrictModes": "no",
            "PermitRootLogin": "prohibit-password",
        }
        settings = self.folder / "sshd_config"
        settings.write_text("".join(f"{name} {value}\n" for name, value in said.items()))
        assert SSHD is not None, "This needs sshd: apt-get install openssh-server"
        if os.geteuid() == 0:
            # Where it runs as root, it wants an empty folder to lock up its unprivileged part.
            Path("/run/sshd").mkdir(exist_ok=True)
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(settings)], stderr=subprocess.PIPE)
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                if server.poll() is not None or time.monotonic() > until:
                    server.kill()
                    raise AssertionError(server.communicate()[1].decode()) from None
            else:
                return server


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    folder = tmp_path / "served"
    folder.mkdir()
    served = Served(folder)
    server = served.start()
    monkeypatch.setenv("GIT_SSH_COMMAND", served.command)
    try:
        yield served
    finally:
        server.terminate()
        server.communicate()


@pytest.mark.parametrize("sealed", [False, True])
def test_two_devices_share_a_memory_over_ssh(tmp_path: Path, served: Served, *, sealed: bool) -> None:
    home = Household(tmp_path, sealed=sealed)
    home.begin("laptop")
    # A remote over ssh is made by hand.
    home.join("laptop", served.url)
    home.join("desk", served.url)
    home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
    home.remember("desk", "Jo works on the frontend of Apollo", "person:Jo")
    home.sync("laptop", "desk", "laptop")
    assert home.files("desk") == home.files("laptop")
    assert home.head("desk") == home.head("laptop")
    home.purge("laptop", "backend Thursdays")
    home.sync("laptop")
    assert home.sync("desk").purged
    assert not home.says(home.root("desk"), "Thursdays")
    for name in ("laptop", "desk"):
        assert home.is_clean(name)


def refused(home: Household) -> RemoteError:
    """Return why a sync fails; what was written before waits."""
    home.remember("laptop", "Kim plays chess on Sundays", "person:Kim")
    with pytest.raises(RemoteError) as caught:
        home.sync("laptop")
    with home.opened("laptop") as workspace:
        assert workspace.sync_status().waiting
    return caught.value


def test_a_server_with_a_wrong_an_unknown_key_or_none_for_us_is_told_with_the_remedy(
    tmp_path: Path, served: Served
) -> None:
    home = Household(tmp_path, sealed=False)
    home.begin("laptop")
    home.join("laptop", served.url)

    served.know(make_key(tmp_path / "other"))
    wrong = refused(home)
    assert "shows another host key than the one this device knows" in wrong.message
    assert "ssh-keygen -R" in (wrong.remedy or "")

    served.know("")
    unknown = refused(home)
    assert "does not know the host key" in unknown.message
    assert "fingerprint" in (unknown.remedy or "")

    served.know(served.host_key)
    served.allowed.write_text("")
    denied = refused(home)
    assert "takes none of the keys that ssh offers" in denied.message
    assert "public ssh key" in (denied.remedy or "")

    for error in (wrong, unknown, denied):
        assert error.where == served.url
        assert "127.0.0.1" in error.message
        assert "Nothing was lost" in (error.remedy or "")
    served.allowed.write_text((served.folder / "person.pub").read_text())
    assert home.sync("laptop").sent


def test_a_server_that_is_off_is_told(tmp_path: Path, served: Served) -> None:
    home = Household(tmp_path, sealed=False)
    home.begin("laptop")
    home.join("laptop", served.url)
    with home.opened("laptop") as workspace, pytest.raises(RemoteError, match="Connection refused") as caught:
        workspace.sync_preview(served.url.replace(str(served.port), "9"))
    assert "127.0.0.1:9" in (caught.value.where or "")
