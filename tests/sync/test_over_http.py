"""Syncing over HTTP with git's own server behind a password, on loopback: credential helpers are git's affair."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.sync.household import Household
from workbench.engine.errors import RemoteError

BACKEND = (
    Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip())
    / "git-http-backend"
)
LOGIN = "Basic " + base64.b64encode(b"nora:secret").decode()


class Served(BaseHTTPRequestHandler):
    """Hands requests to git's server as CGI does."""

    place = Path()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        if self.headers.get("Authorization") != LOGIN:
            self._send(401, [("WWW-Authenticate", 'Basic realm="memory"')], b"")
            return
        path, _, query = self.path.partition("?")
        body = self._body()
        environment = os.environ | {
            "GIT_PROJECT_ROOT": str(self.place),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": "nora",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        ran = subprocess.run([BACKEND], input=body, capture_output=True, env=environment, check=True)
        head, _, rest = ran.stdout.partition(b"\r\n\r\n")
        told = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((int(value[:3]) for name, value in told if name == "Status"), 200)
        self._send(status, [(name, value) for name, value in told if name != "Status"], rest)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    bare = tmp_path / "served" / "memory.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    subprocess.run(["git", "-C", str(bare), "config", "http.receivepack", "true"], check=True)
    Served.place = bare.parent
    with ThreadingHTTPServer(("127.0.0.1", 0), Served) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/memory.git"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("sealed", [False, True])
def test_a_persons_own_credential_helper_lets_memory_through(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, *, sealed: bool
) -> None:
    home = Household(tmp_path, sealed=sealed)
    home.begin("laptop")
    with pytest.raises(RemoteError, match="cannot be reached"):
        home.join("laptop", url)
    person = tmp_path / "person"
    person.mkdir()
    helper = "!f() { echo username=nora; echo password=secret; }; f"
    (person / ".gitconfig").write_text(f'[credential]\n\thelper = "{helper}"\n')
    monkeypatch.setenv("HOME", str(person))
    home.join("laptop", url)
    home.remember("laptop", "Kim plays chess on Sundays", "person:Kim")
    assert home.sync("laptop").sent == 1
    home.join("desk", url)
    assert home.files("desk") == home.files("laptop")
    home.purge("laptop", "chess")
    assert "its host may keep it" in " ".join(home.sync("laptop").warnings)
    assert home.sync("desk").purged
