"""Reading what a chat server sends: the completion it wraps, and the JSON object a model wrote."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, cast

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import ChatReply, JsonReply

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
