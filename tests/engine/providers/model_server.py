"""A model server on the loopback that answers, or misbehaves, as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from workbench.engine.providers.chat_models import OpenAICompatibleChat

MakeChat = Callable[..., OpenAICompatibleChat]


@dataclass
class Answer:
    """One scripted response.

    Args:
        status: HTTP status.
        body: What is sent.
        headers: Further headers.
        stalls: Where it waits until the test is over: `before` the status line, `inside` the body, or at
            every byte of the body’s second half (`trickle`).
        hangs_up: Closes the connection without a word.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    stalls: str = ""
    hangs_up: bool = False


def completion(content: str | None, *, finish: str = "stop", **message: Any) -> Answer:
    """Return a well-formed chat completion with this content."""
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    return Answer(body=json.dumps(body).encode())


def failure(status: int, message: str, **headers: str) -> Answer:
    """Return an error as such servers send it."""
    return Answer(status, json.dumps({"error": {"message": message}}).encode(), headers)


class ModelServer:
    """Answers in the order scripted; the last answer is given again and again."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.request_headers: list[dict[str, str]] = []
        self.over = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.answer(self, body)

            def do_GET(self) -> None:
                server.answer(self, b"")

            def do_HEAD(self) -> None:
                server.answer(self, b"")

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def script(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        with self._lock:
            self.requests.append({"path": handler.path, **json.loads(body)})
            self.request_headers.append({name.lower(): value for name, value in handler.headers.items()})
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.deliver(handler, answer)

    def deliver(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        if answer.hangs_up:
            handler.close_connection = True
            return
        if answer.stalls == "before":
            self.over.wait(10)
        half = len(answer.body) // 2
        try:
            handler.send_response(answer.status)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(answer.body))}
            for name, value in (headers | answer.headers).items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(answer.body[:half])
            handler.wfile.flush()
            if answer.stalls == "inside":
                self.over.wait(10)
            if answer.stalls == "trickle":
                for at in range(half, len(answer.body)):
                    if self.over.wait(0.05):
                        return
                    handler.wfile.write(answer.body[at : at + 1])
                    handler.wfile.flush()
                return
            handler.wfile.write(answer.body[half:])
        except OSError:
            handler.close_connection = True

    def close(self) -> None:
        self.over.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
