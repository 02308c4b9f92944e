"""What the engine asks of a chat model, whoever serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


class ChatModel(Protocol):
    """Anything that answers a conversation, in prose or as a JSON object."""

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
    ) -> dict[str, Any]:
        """Answer with a JSON object.

        Args:
            messages: At least one.
            schema: JSON schema of the object. The model is told it; whether the answer keeps it is for the
                caller to check.
            schema_name: A name for it, letters, digits, `_` and `-`.
            max_tokens: Most tokens of the answer; None for the server's own limit.

        Raises:
            ProviderError: No answer, or one that is no JSON object.
        """
        ...
