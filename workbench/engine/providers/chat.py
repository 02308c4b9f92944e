"""Chat models: messages, replies, and cancelling a request."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar, cast

from workbench.engine.errors import ProviderError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DECLINED: Final = "The model declined to answer."
CUT_SHORT: Final = "The model’s answer was cut short at its length limit."
NOTHING: Final = "The model answered nothing."
NO_OBJECT: Final = "The model’s answer is not the JSON object it was asked for."
_FENCED = lazy_pattern(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_THOUGHTS = lazy_pattern(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
# Seconds between checks for cancellation.
_LOOK_SECONDS = 0.05


class ChatCancelled(Exception):
    """The caller cancelled the request; there is no answer."""


@dataclass(frozen=True)
class ChatMessage:
    """One turn of the conversation handed to a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class JsonReply:
    """A model's answer to a request for a JSON object.

    Args:
        text: Its raw text, including refusals.
        model: The answering model, as the server calls it.
        value: The object; None if the answer holds no complete one.
        problem: Why there is no object, one sentence, or "".
        truncated: Whether the answer hit its length limit.
    """

    text: str
    model: str
    value: dict[str, Any] | None
    problem: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    truncated: bool = False


@dataclass(frozen=True)
class Completion:
    """A model's answer.

    Args:
        text: Its text, including refusals, or "".
        model: As the server calls it.
        declined: Whether the model or a filter refused.
        truncated: Whether it hit its length limit.
    """

    text: str
    model: str
    declined: bool = False
    truncated: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def problem(self) -> str:
        """Return why it is unusable, one sentence, or ""."""
        if self.declined:
            return DECLINED
        if self.truncated:
            return CUT_SHORT
        return "" if self.text.strip() else NOTHING

    def prose(self, *, where: str) -> Completion:
        """Return it if it is usable as prose.

        Raises:
            ProviderError: It is unusable.
        """
        if self.problem:
            raise ProviderError(self.problem, where=where, remedy=_REMEDIES[self.problem])
        return self

    def json_reply(self) -> JsonReply:
        """Return it with the JSON object it holds, or the reason why it holds none."""
        value = None if self.declined else find_json_object(self.text)
        return JsonReply(
            self.text,
            self.model,
            value,
            "" if value is not None else self.problem or NO_OBJECT,
            self.prompt_tokens,
            self.completion_tokens,
            self.truncated,
        )


class ChatModel(Protocol):
    """Answers a conversation in prose or as a JSON object; thread-safe."""

    @property
    def name(self) -> str:
        """Return the model's name, for people."""
        ...

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        """Answer in prose.

        Args:
            messages: At least one.
            max_tokens: Maximum tokens of the answer; None for the server's limit.
            cancelled: Polled while the model works; None if nobody cancels.

        Raises:
            ProviderError: No usable answer; the remedy says what to do.
            ChatCancelled: `cancelled` returned true. The request in progress is left to end by itself.
        """
        ...

    def complete_json(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any],
        schema_name: str,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> JsonReply:
        """Answer with a JSON object.

        Args:
            messages: At least one.
            schema: JSON schema of the object, shown to the model; the caller checks the result against it.
            schema_name: A name for it: letters, digits, `_` and `-`.
            max_tokens: Maximum tokens of the answer; None for the server's limit.
            cancelled: Polled while the model works; None if nobody cancels.

        Returns:
            The reply, without a `value` if it is a refusal, truncated or not a JSON object.

        Raises:
            ProviderError: There is no answer.
            ChatCancelled: `cancelled` returned true. The request in progress is left to end by itself.
        """
        ...

    def close(self) -> None:
        """Close connections or free the model; the next request reopens them."""
        ...


# Models put raw line ends and tabs into strings, though JSON wants them escaped.
_DECODER = json.JSONDecoder(strict=False)


_REMEDIES: Final = {
    DECLINED: "Try another model, or do without.",
    CUT_SHORT: "Use a model with a longer answer limit.",
    NOTHING: "Try again, or use another model.",
}


def read_completion(body: bytes, *, where: str) -> Completion:
    """Parse the answer of a chat completion.

    Raises:
        ProviderError: It is not a completion.
    """
    try:
        completion = json.loads(body)
        choice = completion["choices"][0]
        message = choice["message"]
        text, refusal, finish = message.get("content"), message.get("refusal"), choice.get("finish_reason")
        model, usage = completion.get("model"), completion.get("usage") or {}
        counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
    except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ProviderError(
            "The model server’s answer is no chat completion.",
            where=where,
            remedy="Check that the base URL is that of an OpenAI-compatible server; it usually ends in /v1.",
        ) from error
    words = next((said for said in (text, refusal) if isinstance(said, str) and said.strip()), "")
    prompt_tokens, completion_tokens = (count if isinstance(count, int) else None for count in counts)
    return Completion(
        words,
        model if isinstance(model, str) else "",
        bool(refusal) or finish == "content_filter",
        finish == "length",
        prompt_tokens,
        completion_tokens,
    )


def find_json_object(text: str) -> dict[str, Any] | None:
    """Find the JSON object in a model’s answer, bare, in a code fence, or within text.

    Returns:
        The object; None unless there is a complete one.
    """
    spoken = _THOUGHTS.sub("", text)
    for candidate in (spoken, *_FENCED.findall(spoken), spoken[spoken.find("{") :]):
        try:
            found, _ = _DECODER.raw_decode(candidate.strip())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return None


Answer = TypeVar("Answer")


def answer_unless_cancelled(
    ask: Callable[[Callable[[], bool]], Answer], cancelled: Callable[[], bool] | None
) -> Answer:
    """Wait for an answer unless cancelled.

    On cancellation the work in progress is told so and left to end by itself: neither the caller nor the end of the
    program waits for it.

    Args:
        ask: Produces the answer, given a thread-safe function that says whether it was cancelled.
        cancelled: Polled on the caller's thread; None calls `ask` directly.

    Raises:
        ChatCancelled: `cancelled` returned true.
        Exception: Raised by `ask`.
    """
    if cancelled is None:
        return ask(lambda: False)
    if cancelled():
        raise ChatCancelled
    given_up = threading.Event()
    answers: SimpleQueue[tuple[list[Answer], Exception | None]] = SimpleQueue()

    def work() -> None:
        try:
            answers.put(([ask(given_up.is_set)], None))
        except Exception as error:  # raised again on the caller's thread
            answers.put(([], error))

    threading.Thread(target=work, name="chat", daemon=True).start()
    try:
        while True:
            try:
                answer, error = answers.get(timeout=_LOOK_SECONDS)
            except Empty:
                if cancelled():
                    raise ChatCancelled from None
                continue
            if error is not None:
                raise error
            return answer[0]
    finally:
        given_up.set()
