"""Chat models: what is asked of one, the replies it gives, and cancelling a request."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar, cast

from workbench.engine.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ChatCancelled(Exception):
    """The caller took the question back; there is no answer."""


@dataclass(frozen=True)
class ChatMessage:
    """One turn of the conversation handed to a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class ChatReply:
    """What a model answered.

    Args:
        text: Its words; never empty.
        model: The model that answered, by the server's own name for it.
        prompt_tokens: As the server counted them; None where it does not say.
        completion_tokens: Likewise.
    """

    text: str
    model: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True)
class JsonReply:
    """What a model answered that was asked for a JSON object.

    Args:
        text: Its words as they came; a refusal too.
        model: The model that answered, by the server's own name for it.
        value: The object; None where the answer holds no whole one.
        problem: Why there is no object, one sentence; empty where there is one.
        prompt_tokens: As the server counted them; None where it does not say.
        completion_tokens: Likewise.
        truncated: Whether the answer stopped at its length limit.
    """

    text: str
    model: str
    value: dict[str, Any] | None
    problem: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    truncated: bool = False


class ChatModel(Protocol):
    """Anything that answers a conversation, in prose or as a JSON object; safe to use from several threads."""

    @property
    def name(self) -> str:
        """Return the model's name, for people."""
        ...

    def complete(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ChatReply:
        """Answer in prose.

        Args:
            messages: At least one.
            max_tokens: Most tokens of the answer; None for the server's own limit.

        Raises:
            ProviderError: No answer, or none that can be used; the remedy says what to do.
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
            schema: JSON schema of the object. The model is told it; whether the answer keeps it is for the
                caller to check.
            schema_name: A name for it, letters, digits, `_` and `-`.
            max_tokens: Most tokens of the answer; None for the server's own limit.
            cancelled: Asked again and again while the model thinks; None where nobody would call it off.

        Returns:
            What it said; where that is a refusal, cut short or no JSON object, without a `value`.

        Raises:
            ProviderError: There is no answer.
            ChatCancelled: `cancelled` said so. What was under way is left to end by itself.
        """
        ...

    def close(self) -> None:
        """Let go of connections or a loaded model; the next question takes them up again."""
        ...


DECLINED: Final = "The model declined to answer."
CUT_SHORT: Final = "The model’s answer was cut short at its length limit."
NOTHING: Final = "The model answered nothing."
NO_OBJECT: Final = "The model’s answer is not the JSON object it was asked for."

_FENCED = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
# Models write line ends and tabs into strings as they are, though JSON wants them escaped.
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Completion:
    """A model's answer as a server hands it over.

    Args:
        text: Its words, those of a refusal included; empty where there are none.
        model: By the server's own name for it.
        declined: Whether the model or a filter refused.
        truncated: Whether it stopped at its length limit.
        prompt_tokens: As the server counted them; None where it does not say.
        completion_tokens: Likewise.
    """

    text: str
    model: str
    declined: bool = False
    truncated: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def problem(self) -> str:
        """Return why it cannot be taken for an answer, one sentence; empty where it can."""
        if self.declined:
            return DECLINED
        if self.truncated:
            return CUT_SHORT
        return "" if self.text.strip() else NOTHING

    def prose(self, *, where: str) -> ChatReply:
        """Return it as an answer in words.

        Args:
            where: The end point, for errors.

        Raises:
            ProviderError: It is none.
        """
        if self.problem:
            raise ProviderError(self.problem, where=where, remedy=_REMEDIES[self.problem])
        return ChatReply(self.text, self.model, self.prompt_tokens, self.completion_tokens)

    def json_reply(self) -> JsonReply:
        """Return it with the JSON object it holds, or with the reason why it holds none."""
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


_REMEDIES: Final = {
    DECLINED: "Try another model, or do without.",
    CUT_SHORT: "Use a model with a longer answer limit.",
    NOTHING: "Try again, or use another model.",
}


def read_completion(body: bytes, *, where: str) -> Completion:
    """Take the model's answer out of a chat completion.

    Args:
        body: The response as it came.
        where: The end point, for errors.

    Raises:
        ProviderError: It is no completion.
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
    """Find the one JSON object in a model’s answer, bare, in a code fence, or among words.

    Returns:
        The object; None where there is no whole one.
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


# Seconds between two looks at whether the answer is still wanted.
_LOOK_SECONDS = 0.05

Answer = TypeVar("Answer")


def answer_unless_cancelled(
    ask: Callable[[Callable[[], bool]], Answer], cancelled: Callable[[], bool] | None
) -> Answer:
    """Return an answer, or give up on it.

    What is under way when it is called off is told so and left to end by itself: it keeps neither the caller nor
    the end of the program waiting.

    Args:
        ask: Gives the answer. It is handed a function that tells, on any thread, whether it was given up.
        cancelled: Asked again and again on the caller's thread; None to wait for the answer there.

    Raises:
        ChatCancelled: `cancelled` said so.
        Exception: What `ask` raised.
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
