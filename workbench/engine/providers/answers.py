"""Reading what a chat server sends: the completion it wraps, and the JSON object a model wrote."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import ChatReply

_FENCED = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


def read_completion(body: bytes, *, where: str) -> ChatReply:
    """Take the model's answer out of a chat completion.

    Args:
        body: The response as it came.
        where: The end point, for errors.

    Raises:
        ProviderError: It is no completion, it was cut short, or the model declined.
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
    if refusal or finish == "content_filter":
        raise ProviderError(
            "The model declined to answer.", where=where, remedy="Try another model, or do without."
        )
    if finish == "length":
        raise ProviderError(
            "The model’s answer was cut short at its length limit.",
            where=where,
            remedy="Use a model with a longer answer limit.",
        )
    if not isinstance(text, str) or not text.strip():
        raise ProviderError(
            "The model answered nothing.", where=where, remedy="Try again, or use another model."
        )
    prompt_tokens, completion_tokens = (count if isinstance(count, int) else None for count in counts)
    return ChatReply(text, model if isinstance(model, str) else "", prompt_tokens, completion_tokens)


def read_json_object(text: str, *, where: str) -> dict[str, Any]:
    """Find the one JSON object in a model’s answer, bare, in a code fence, or among words.

    Args:
        text: The answer.
        where: The end point, for errors.

    Raises:
        ProviderError: There is no whole JSON object in it.
    """
    spoken = _THOUGHTS.sub("", text)
    for candidate in (spoken, *_FENCED.findall(spoken), spoken[spoken.find("{") :]):
        try:
            found, _ = json.JSONDecoder().raw_decode(candidate.strip())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    raise ProviderError(
        "The model’s answer is not the JSON object it was asked for.",
        where=where,
        remedy="Try again, or use a model that supports structured output.",
    )
