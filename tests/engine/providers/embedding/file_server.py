"""A hub on the loopback that serves one file, whole or in parts, and misbehaves as a test tells it to."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Fault:
    """What goes wrong at one GET.

    Args:
        status: Answered instead of the file.
        cut_after: Bytes after which the connection ends.
        stall_after: Bytes after which nothing more comes.
        wrong_start: Whether another part is sent than was asked for.
        wrong_length: Whether the length that is said is not the file's.
        garbles: Whether the bytes are others.
    """

    status: int = 0
    cut_after: int | None = None
    stall_after: int | None = None
    wrong_start: bool = False
    wrong_length: bool = False
    garbles: bool = False


class FileServer:
    """Serves `content` under every path, after a redirect to a mirror if it has one.

    Attributes:
        faults: Taken one for each GET.
        ranges: The Range header of each GET; empty where there was none.
        takes_ranges: Whether it can send a part.
        says_digest: Whether it gives size and checksum ahead, as the hub does for large files.
        redirects: How many redirects lead to the file.
    """

    def __init__(self) -> None:
        self.content = b"GGUF" + bytes(range(256)) * 12_000
        self.faults: list[Fault] = []
        self.ranges: list[str] = []
        self.paths: list[str] = []
        self.takes_ranges = True
        self.says_digest = True
        self.redirects = 1
        self.missing = False
        self.over = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.answer(self)

            def do_HEAD(self) -> None:
                server.answer(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.paths.append(f"{handler.command} {handler.path}")
        try:
            self._answer(handler)
        except OSError:
            handler.close_connection = True

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        headers = {"ETag": f'"{len(self.content)}-{hashlib.md5(self.content).hexdigest()}"'}
        if self.says_digest:
            headers["X-Linked-Etag"] = f'"{hashlib.sha256(self.content).hexdigest()}"'
            headers["X-Linked-Size"] = str(len(self.content))
        hops = handler.path.count("mirror")
        if self.missing:
            self._send(handler, 404, {})
        elif hops < self.redirects:
            self._send(handler, 302, headers | {"Location": f"{self.url}/mirror{handler.path}"})
        elif handler.command == "HEAD":
            self._send(handler, 200, headers | {"Content-Length": str(len(self.content))})
        else:
            self._send_file(handler, headers)

    def _send_file(self, handler: BaseHTTPRequestHandler, headers: dict[str, str]) -> None:
        asked = handler.headers.get("Range", "")
        self.ranges.append(asked)
        fault = self.faults.pop(0) if self.faults else Fault()
        if fault.status:
            self._send(handler, fault.status, {"Retry-After": "0"})
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.takes_ranges else 0
        status = 206 if asked and self.takes_ranges else 200
        if start >= len(self.content):
            self._send(handler, 416, {})
            return
        if status == 206:
            said = start + 7 if fault.wrong_start else start
            headers = headers | {"Content-Range": f"bytes {said}-{len(self.content) - 1}/{len(self.content)}"}
        body = self.content[start:]
        if fault.garbles:
            body = b"?" * len(body)
        length = len(body) + (100 if fault.wrong_length else 0)
        handler.send_response(status)
        for name, value in (headers | {"Content-Length": str(length)}).items():
            handler.send_header(name, value)
        handler.end_headers()
        stop = fault.cut_after if fault.cut_after is not None else fault.stall_after
        handler.wfile.write(body[:stop])
        handler.wfile.flush()
        if fault.stall_after is not None:
            self.over.wait(10)
        if stop is not None or fault.wrong_length:
            handler.close_connection = True

    def _send(self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str]) -> None:
        handler.send_response(status)
        for name, value in ({"Content-Length": "0"} | headers).items():
            handler.send_header(name, value)
        handler.end_headers()

    def close(self) -> None:
        self.over.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
