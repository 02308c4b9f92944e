"""What the engine asks of a chat model, whoever serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


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
