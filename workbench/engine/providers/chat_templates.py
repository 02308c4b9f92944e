"""Writes a conversation the way a model was trained to read it, with what people wrote kept apart from its marks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import ChatMessage

CHATML: Final = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""For models whose file names none."""

# Of the private use area, so that no template says anything about it.
_PLACE: Final = re.compile("\ue0d0(\\d+)\ue0d1")


@dataclass(frozen=True, slots=True)
class PromptPiece:
    """A stretch of a prompt; in `words`, nothing is a mark of the model, whatever it looks like."""

    text: str
    words: bool


def prompt_pieces(
    template: str, messages: Sequence[ChatMessage], marks: Mapping[str, str], *, where: str
) -> list[PromptPiece]:
    """Fill a chat template.

    The template never sees the messages' contents, so that nothing in them can end a turn or begin another one.

    Args:
        template: A Jinja template as model files carry them; empty for ChatML.
        messages: At least one. Where the template knows no system role, its content goes before the first user's.
        marks: `bos_token` and `eos_token` as text.
        where: The model file, for errors.

    Raises:
        ProviderError: The template cannot be filled.
    """
    import jinja2
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    failure: Exception | None = None
    for asked in (messages, without_system(messages)):
        roles: list[Any] = [
            {"role": message.role, "content": f"\ue0d0{number}\ue0d1"} for number, message in enumerate(asked)
        ]
        try:
            formatter = Jinja2ChatFormatter(
                template or CHATML, eos_token=marks["eos_token"], bos_token=marks["bos_token"]
            )
            rendered = formatter(messages=roles).prompt
        except (jinja2.TemplateError, ValueError, TypeError, LookupError) as error:
            failure = error
            continue
        pieces = _pieces(rendered, asked)
        if sum(piece.words for piece in pieces) >= len(asked):
            return pieces
    raise ProviderError(
        f"The model’s chat template cannot be filled: {' '.join(str(failure or 'it leaves words out').split())[:200]}",
        where=where,
        remedy="Use a chat model whose file carries a working template.",
    ) from failure


def without_system(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return a conversation whose instructions stand before the user's first words."""
    instructions = [message.content for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not others:
        return [ChatMessage("user", "\n\n".join(instructions))]
    first = replace(others[0], content="\n\n".join([*instructions, others[0].content]))
    return [first, *others[1:]]


def _pieces(rendered: str, messages: Sequence[ChatMessage]) -> list[PromptPiece]:
    parts = _PLACE.split(rendered)
    pieces = [
        PromptPiece(messages[int(part)].content, words=True) if at % 2 else PromptPiece(part, words=False)
        for at, part in enumerate(parts)
    ]
    return [piece for piece in pieces if piece.text or piece.words]
