"""What of a conversation deserves lasting memory: what the person asked for, decided, prefers or corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import ProviderError

if TYPE_CHECKING:
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.sessions.said import Turn
    from workbench.engine.settings.sections import FlushSettings
    from workbench.engine.triggers.phrases import PhraseBook
    from workbench.engine.workspace.ground import Ground

MOST_NOTICED = 12
_LENGTHS = range(12, 401)
_WORTH = {"correction": 0, "decision": 1, "preference": 2}
_ANSWER_TOKENS = 1200
_PROMPT_TOKENS = 500
_PERSON, _AGENT = "User: ", "Assistant: "
# Where `live_text` took out code or a quotation.
_CUT_OUT = "\ufffc"


@dataclass(frozen=True)
class Noticed:
    """Something worth remembering.

    Args:
        text: One or more sentences.
        line: Of the transcript that it comes from.
        explicit: Whether the person asked for it to be remembered.
        protect: Whether they asked that it never be forgotten.
    """

    text: str
    line: int
    explicit: bool = False
    protect: bool = False


def notice_by_rules(turns: Iterable[Turn], phrases: PhraseBook) -> tuple[Noticed, ...]:
    """Return what the person asked to remember, and what they decided, prefer or corrected, in the order of the lines.

    Args:
        turns: Of the conversation; what the assistant says proves nothing about the person.
        phrases: By which somebody asks for something to be remembered.
    """
    found: list[tuple[int, Noticed]] = []
    for turn in turns:
        if turn.text.startswith(_PERSON):
            found += _in_message(turn.text.removeprefix(_PERSON), turn.line, phrases)
    unique = {noticed.text.casefold(): (rank, noticed) for rank, noticed in reversed(found)}
    best = sorted(unique.values(), key=lambda each: (each[0], -each[1].line))[:MOST_NOTICED]
    return tuple(sorted((noticed for _, noticed in best), key=lambda noticed: noticed.line))


def notice_by_model(
    turns: Sequence[Turn], chat: ChatModel, settings: FlushSettings, context_tokens: int
) -> tuple[Noticed, ...]:
    """Ask the chat model what is worth remembering, in parts that fit it; `NO_REPLY` means nothing.

    Args:
        turns: Of the conversation.
        chat: The model.
        settings: May hold prompts of the user's own.
        context_tokens: Question and answer that the model takes at once.

    Raises:
        ProviderError: It gives no answer.
    """
    from workbench.engine.providers.chat import ChatMessage
    from workbench.engine.sessions.estimates import portions
    from workbench.engine.sessions.flush import PROMPT, SYSTEM_PROMPT, read_answer

    found: list[Noticed] = []
    for part in portions(turns, max(500, context_tokens - _ANSWER_TOKENS - _PROMPT_TOKENS)):
        told = "\n".join(f"[L{turn.line}] {turn.text}" for turn in part)
        asked = f"<conversation>\n{told}\n</conversation>\n\n{settings.prompt or PROMPT}"
        reply = chat.complete(
            (ChatMessage("system", settings.system_prompt or SYSTEM_PROMPT), ChatMessage("user", asked)),
            max_tokens=_ANSWER_TOKENS,
        )
        answers = read_answer(reply.text, [turn.line for turn in part])
        found += [Noticed(answered.text, answered.line or part[-1].line) for answered in answers]
    return tuple(found)


def notice(
    ground: Ground, turns: Sequence[Turn], masked: Callable[[], Sequence[Turn]]
) -> tuple[tuple[Noticed, ...], str, str | None]:
    """Return what is worth remembering, who decided so (`model` or `rules`), and why not the model.

    Args:
        ground: The open workspace.
        turns: Of the conversation; of a secret in them a person is asked once it is to be remembered.
        masked: Gives them as a model may read them.
    """
    from workbench.engine.triggers.phrases import load_phrases

    if not turns:
        return (), "rules", None
    own = ground.settings.triggers.phrases
    phrases = load_phrases((ground.root / Path(own).expanduser()) if own else None)
    if not ground.settings.model.configured:
        return notice_by_rules(turns, phrases), "rules", None
    from workbench.engine.providers.choosing import chat_model

    chat = chat_model(ground.settings, timeout_s=ground.settings.model.reflection_timeout)
    if chat is None:
        return notice_by_rules(turns, phrases), "rules", None
    try:
        found = notice_by_model(masked(), chat, ground.settings.flush, ground.settings.model.context)
    except ProviderError as error:
        return notice_by_rules(turns, phrases), "rules", error.message
    finally:
        chat.close()
    return found, "model", None


def _in_message(message: str, line: int, phrases: PhraseBook) -> Iterator[tuple[int, Noticed]]:
    from workbench.engine.triggers.detection import detect_all

    asked = [each for each in detect_all(message, phrases) if each.kind == "remember" and each.payload]
    for each in asked:
        yield -1, Noticed(each.payload, line, explicit=True, protect=each.protect)
    if asked:
        # The rest of such a message is said around what they asked for.
        return
    for sentence in _statements(message):
        kind = _kind(sentence)
        if kind in _WORTH:
            yield _WORTH[kind], Noticed(sentence, line)


def _statements(message: str) -> Iterator[str]:
    from workbench.engine.triggers.clauses import sentences
    from workbench.engine.triggers.live_text import live_text

    live = live_text(message)
    for sentence in sentences(live):
        text = message[sentence.start : sentence.end].strip()
        if (
            not sentence.question
            and len(text) in _LENGTHS
            and _CUT_OUT not in live[sentence.start : sentence.end]
        ):
            yield text


def _kind(sentence: str) -> str:
    from workbench.engine.triggers.cues import routing_cues
    from workbench.engine.triggers.live_text import PUNCTUATION

    plain = sentence.translate(PUNCTUATION)
    return next((kind for kind, pattern in routing_cues().types if pattern.search(plain)), "")
