"""A model server on loopback that says what a test tells it to, in Anthropic’s and OpenAI’s dialects."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """The model answers with words."""

    text: str


@dataclass(frozen=True)
class Use:
    """The model calls a tool.

    Args:
        tool: As memory names it; how the client names it is found among the tools that it offers.
    """

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Loop:
    """The model calls a tool for as long as its last result asks for more.

    Args:
        arguments: Given that result, "" at first; None ends it.
    """

    tool: str
    arguments: Callable[[str], dict[str, Any] | None]


Turn = Say | Use | Loop
_WAIT = Use("exec_command", {"cmd": "sleep 0.5"})


@dataclass
class Model:
    """Plays a script, one turn for each request that offers tools; others are answered with a word.

    Args:
        script: What it does, in order.
        server: What the client calls our server.
        seen: What it was asked, request by request, as JSON.
        tokens: How many it says that it has read by a turn of the script; many let a client compact the conversation.
        read: The same of the turn at hand.
    """

    script: list[Turn]
    url: str = ""
    server: str = "workbench"
    seen: list[dict[str, Any]] = field(default_factory=list)
    tokens: int = 10
    read: int = 10
    lock: threading.Lock = field(default_factory=threading.Lock)

    def turn(self, asked: dict[str, Any]) -> Say | Use:
        """Return what it does now."""
        with self.lock:
            self.seen.append(asked)
            self.read = self.tokens if asked.get("tools") and self.script else 10
            if not asked.get("tools") or not self.script:
                return Say("Done.")
            turn = self.script[0]
            if isinstance(turn, Loop):
                if self._waits(asked, turn.tool):
                    return _WAIT
                told = [each for each in tool_results(asked) if each.startswith("{")]
                arguments = turn.arguments((told or [""])[-1])
                if arguments is not None:
                    return self._reached(asked, Use(turn.tool, arguments))
                self.script.pop(0)
                turn = self.script[0]
                assert not isinstance(turn, Loop)
            if isinstance(turn, Use) and self._waits(asked, turn.tool):
                return _WAIT
            self.script.pop(0)
            return self._reached(asked, turn)

    def _waits(self, asked: dict[str, Any], tool: str) -> bool:
        """Return True while Codex CLI lacks a tool: it offers those of a server once that has answered."""
        return "input" in asked and self.named(asked, tool) is None

    def _reached(self, asked: dict[str, Any], turn: Say | Use) -> Say | Use:
        """Return a call of a tool as the client wants it: OpenClaw keeps those of servers behind one of its own."""
        if isinstance(turn, Use) and self.named(asked, "tool_call") and not self.named(asked, turn.tool):
            return Use("tool_call", {"id": f"{self.server}__{turn.tool}", "args": turn.arguments})
        return turn

    def named(self, asked: dict[str, Any], tool: str) -> dict[str, str] | None:
        """Return by what a client knows a tool of ours, or one of its own; None while it does not offer it."""
        for each in asked["tools"]:
            name = str(each.get("name", ""))
            if name in (tool, f"mcp__{self.server}__{tool}", f"{self.server}_{tool}"):
                return {"name": name}
            if name == f"mcp__{self.server}" and any(
                one.get("name") == tool for one in each.get("tools", ())
            ):
                return {"name": tool, "namespace": name}
        return None

    def text(self) -> str:
        """Return everything that it was shown."""
        return json.dumps(self.seen, ensure_ascii=False)


def tool_results(asked: dict[str, Any]) -> list[str]:
    """Return what tools told so far, in a request of Anthropic's Messages API or of OpenAI's Responses API."""
    if "input" in asked:
        given = [each["output"] for each in asked["input"] if each.get("type") == "function_call_output"]
        return [_told(each) for each in given]
    contents = [message["content"] for message in asked["messages"]]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    told = [block["content"] for block in blocks if block.get("type") == "tool_result"]
    return [_told(each) for each in told]


def _told(content: Any) -> str:
    """Return what a tool told, without what a client writes around it."""
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    # Codex CLI says first how long it took; OpenClaw that it is not to be trusted, around an object with the answer.
    whole = text[text.index("{") : text.rindex("}") + 1] if "{" in text else text
    try:
        read = json.loads(whole)
    except ValueError:
        return text
    if isinstance(read, dict) and isinstance(read.get("result"), dict) and "tool" in read:
        return _told(read["result"].get("content", ""))
    return whole


@contextmanager
def serving(*script: Turn) -> Iterator[Model]:
    """Serve a model that plays a script."""
    model = Model(list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            asked = json.loads(content or b"{}")
            if path.endswith("/messages/count_tokens"):
                self.answer("application/json", b'{"input_tokens": 10}')
            elif path.endswith("/messages"):
                self.stream(_messages(model, asked))
            elif path.endswith("/responses"):
                self.stream(_responses(model, asked))
            elif path.endswith("GenerateContent"):
                self.answer("text/event-stream", f"data: {json.dumps(_generated(model, asked))}\n\n".encode())
            elif path.endswith(":generateContent"):
                self.answer("application/json", json.dumps(_generated(model, asked)).encode())
            else:
                self.answer("application/json", b"{}")

        def do_GET(self) -> None:
            self.answer("application/json", b'{"data": [], "models": []}')

        def do_HEAD(self) -> None:
            self.answer("application/json", b"")

        def stream(self, events: Iterator[dict[str, Any]]) -> None:
            told = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
            self.answer("text/event-stream", told.encode())

        def answer(self, kind: str, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _messages(model: Model, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of Anthropic's Messages API."""
    turn = model.turn(asked)
    usage = {
        "input_tokens": model.read,
        "output_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    message = {
        "id": f"msg_{len(model.seen)}", "type": "message", "role": "assistant", "content": [],
        "model": asked.get("model", "m"), "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield {"type": "message_start", "message": message}
    if isinstance(turn, Say):
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": turn.text}
    else:
        # Claude Code keeps the tools of a server back until they are searched, and takes calls of them all the same.
        named = model.named(asked, turn.tool) or {"name": f"mcp__{model.server}__{turn.tool}"}
        block = {"type": "tool_use", "id": f"toolu_{len(model.seen)}", **named, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "end_turn" if isinstance(turn, Say) else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def _responses(model: Model, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of OpenAI's Responses API."""
    turn = model.turn(asked)
    if isinstance(turn, Say):
        item: dict[str, Any] = {
            "type": "message", "id": "m1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": turn.text, "annotations": []}],
        }  # fmt: skip
    else:
        item = {
            "type": "function_call", "id": "f1", "call_id": f"call_{len(model.seen)}", "status": "completed",
            "arguments": json.dumps(turn.arguments), **(model.named(asked, turn.tool) or {"name": turn.tool}),
        }  # fmt: skip
    response = {"id": "r1", "object": "response", "status": "completed", "output": [item],
                "usage": {"input_tokens": model.read, "input_tokens_details": {"cached_tokens": 0},
                          "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0},
                          "total_tokens": model.read + 10}}  # fmt: skip
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": response}


def _generated(model: Model, asked: dict[str, Any]) -> dict[str, Any]:
    """Return an answer of Gemini's API."""
    turn = model.turn(asked)
    assert isinstance(turn, Say)
    content = {"role": "model", "parts": [{"text": turn.text}]}
    usage = {"promptTokenCount": model.read, "candidatesTokenCount": 10, "totalTokenCount": model.read + 10}
    return {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}
