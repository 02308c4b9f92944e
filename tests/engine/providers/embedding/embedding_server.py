"""An embedding server on the loopback: OpenAI’s embeddings, files and batches, and Gemini’s, with faults to order."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.engine.providers.model_server import Answer, ModelServer

Body = dict[str, Any]


def vector_of(text: str, dimensions: int = 8) -> list[float]:
    """Return the vector that the server gives a text: of no length in particular, the same every time."""
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 32 - 4 for byte in digest[:dimensions]]


class EmbeddingServer(ModelServer):
    """Answers what it is asked, unless faults are scripted for a path; those are given first, one each.

    Attributes:
        faults: By a part of the path: answers given instead, in order.
        asked: Path and body of each request, in order.
        change: Alters the answer about embeddings before it is sent.
        dimensions: Of its vectors where none are asked for.
        base64: Whether it answers in base64 whatever it is asked for.
        at_once: The most requests that were under way together.
        polls_until_done: Questions after a job until it is done.
        end_status: What a job ends with.
        lost_requests: Ids of batch requests that end in the error file.
    """

    def __init__(self) -> None:
        self.faults: dict[str, list[Answer]] = {}
        self.asked: list[tuple[str, Body]] = []
        self.headers: list[dict[str, str]] = []
        self.change: Callable[[Body], Body] = lambda body: body
        self.dimensions = 8
        self.base64 = False
        self.at_once = 0
        self.polls_until_done = 2
        self.end_status = "completed"
        self.lost_requests: set[str] = set()
        self.cancelled: list[str] = []
        self._under_way = 0
        self._files: dict[str, bytes] = {}
        self._jobs: dict[str, Body] = {}
        self._state = threading.Lock()
        self.together = threading.Barrier(1)
        super().__init__()

    def texts(self) -> list[str]:
        """Return every text that was asked for directly, in order."""
        return [text for path, body in self.asked if path == "/v1/embeddings" for text in body["input"]]

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        with self._state:
            self._under_way += 1
            self.at_once = max(self.at_once, self._under_way)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            parsed = self._parsed(body)
            self.asked.append((handler.path, parsed))
            fault = next(
                (given.pop(0) for part, given in self.faults.items() if part in handler.path and given), None
            )
        try:
            if handler.path.endswith("/embeddings"):
                self.together.wait(20)
            self.deliver(handler, fault or self._reply(handler.path, parsed, body))
        finally:
            with self._state:
                self._under_way -= 1

    def _parsed(self, body: bytes) -> Body:
        try:
            parsed: Body = json.loads(body)
        except ValueError:
            return {}
        return parsed

    def _reply(self, path: str, asked: Body, body: bytes) -> Answer:
        if path.endswith("/embeddings"):
            return _json(self.change(self._embeddings(asked)))
        if path.endswith(":batchEmbedContents"):
            width = asked["requests"][0].get("outputDimensionality", self.dimensions)
            texts = [request["content"]["parts"][0]["text"] for request in asked["requests"]]
            return _json(self.change({"embeddings": [{"values": vector_of(text, width)} for text in texts]}))
        with self._state:
            if ":asyncBatch" in path or path.startswith("/v1/batches/gemini-"):
                return self._gemini_reply(path, asked)
            return self._batch_reply(path, asked, body)

    def _embeddings(self, asked: Body) -> Body:
        width = asked.get("dimensions", self.dimensions)
        entries = []
        for index, text in enumerate(asked["input"]):
            vector: Any = vector_of(text, width)
            if self.base64:
                vector = base64.b64encode(struct.pack(f"<{width}f", *vector)).decode()
            entries.append({"object": "embedding", "index": index, "embedding": vector})
        return {"object": "list", "data": entries, "model": asked["model"], "usage": {}}

    def _batch_reply(self, path: str, asked: Body, body: bytes) -> Answer:
        if path.endswith("/files"):
            name = f"file-{len(self._files)}"
            found = re.search(rb"(\{\"custom_id\".*\})\n", body, re.DOTALL)
            self._files[name] = found[1] if found else b""
            return _json({"id": name, "object": "file"})
        if match := re.search(r"/files/([\w-]+)/content", path):
            return Answer(body=self._files[match[1]])
        if match := re.search(r"/batches/([\w-]+)/cancel", path):
            self.cancelled.append(match[1])
            return _json(self._jobs[match[1]] | {"status": "cancelling"})
        if match := re.search(r"/batches/([\w-]+)$", path):
            job = self._jobs[match[1]]
            job["polls"] += 1
            if job["polls"] >= self.polls_until_done:
                self._finish(job)
            return _json(job)
        if path.endswith("/batches"):
            job = {"id": f"batch-{len(self._jobs)}", "status": "validating", "polls": 0}
            self._jobs[job["id"]] = job | {"input": asked["input_file_id"]}
            return _json(job)
        return Answer(404, b"{}")

    def _gemini_reply(self, path: str, asked: Body) -> Answer:
        """Answer about a job of Gemini, an operation whose outcome comes inline."""
        if path.endswith(":asyncBatchEmbedContent"):
            name = f"batches/gemini-{len(self._jobs)}"
            requests = asked["batch"]["inputConfig"]["requests"]["requests"]
            self._jobs[name] = {"requests": requests, "polls": 0}
            return _json({"name": name, "metadata": {"state": "BATCH_STATE_PENDING"}})
        name, _, verb = path.removeprefix("/v1/").partition(":")
        if verb == "cancel":
            self.cancelled.append(name)
            return _json({})
        job = self._jobs[name]
        job["polls"] += 1
        if job["polls"] < self.polls_until_done:
            return _json({"name": name, "metadata": {"state": "BATCH_STATE_RUNNING"}})
        if self.end_status != "completed":
            state = f"BATCH_STATE_{self.end_status.upper()}"
            return _json({"name": name, "metadata": {"state": state}, "done": True})
        entries = []
        for each in job["requests"]:
            key, text = each["metadata"]["key"], each["request"]["content"]["parts"][0]["text"]
            if key in self.lost_requests:
                entries.append({"metadata": {"key": key}, "error": {"code": 13, "message": "it broke"}})
            else:
                embedding = {"values": vector_of(text, each["request"].get("outputDimensionality", 8))}
                entries.append({"metadata": {"key": key}, "response": {"embedding": embedding}})
        output = self.change({"inlinedResponses": {"inlinedResponses": entries[::-1]}})
        metadata = {"state": "BATCH_STATE_SUCCEEDED"}
        return _json({"name": name, "done": True, "metadata": metadata, "response": output})

    def _finish(self, job: Body) -> None:
        job["status"] = self.end_status
        if self.end_status != "completed":
            return
        done: list[Body] = []
        lost: list[Body] = []
        for line in self._files[job["input"]].splitlines():
            request = json.loads(line)
            name = request["custom_id"]
            if name in self.lost_requests:
                response: Body = {"status_code": 500, "body": {"error": {"message": "it broke"}}}
                lost.append({"custom_id": name, "response": response})
            else:
                response = {"status_code": 200, "body": self.change(self._embeddings(request["body"]))}
                # The API promises no order.
                done.insert(0, {"custom_id": name, "response": response})
        for key, entries in (("output_file_id", done), ("error_file_id", lost)):
            if entries:
                job[key] = f"{key}-{job['id']}"
                self._files[job[key]] = "".join(json.dumps(entry) + "\n" for entry in entries).encode()


def _json(body: Body) -> Answer:
    return Answer(body=json.dumps(body).encode())
