"""A history made fit for the model it is handed to: other models' reasoning, and Google's order of turns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.sessions.context import OPENING, Placed, Target, sanitise
from workbench.engine.sessions.events import calls_in, words_of

GEMINI = Target("google", "gemini-3-pro")
CLAUDE = Target("anthropic", "claude-opus-4-5")
THOUGHT = {"type": "thinking", "thinking": "The ferry is late.", "thinkingSignature": "c2ln"}
SEALED = {"type": "redacted_thinking", "data": "xxxx"}
SAID = {"type": "text", "text": "It is late."}


def placed(*messages: dict[str, Any]) -> list[Placed]:
    return [Placed(number, message) for number, message in enumerate(messages, 1)]


def answer(*parts: dict[str, Any], **of: str) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts), **of}


def ask(text: str = "When does it go?") -> dict[str, Any]:
    return {"role": "user", "content": text}


def by(target: Target) -> dict[str, str]:
    return {"provider": target.provider, "model": target.model}


def parts(messages: Sequence[Placed], at: int = 1) -> list[dict[str, Any]]:
    return list(messages[at].message["content"])


def test_without_a_target_reasoning_stays_as_it_is() -> None:
    assert parts(sanitise(placed(ask(), answer(THOUGHT, SEALED, SAID, **by(CLAUDE)))).messages) == [
        THOUGHT, SEALED, SAID,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "target",
    [CLAUDE, Target("Anthropic"), Target(model="anthropic/claude-opus-4-5"), Target("", "claude-opus-4-5")],
)
def test_a_models_own_reasoning_stays_sealed(target: Target) -> None:
    found = sanitise(placed(ask(), answer(THOUGHT, SEALED, SAID, **by(CLAUDE))), target=target)
    assert parts(found.messages) == [THOUGHT, SEALED, SAID]
    assert found.repairs == ()


@pytest.mark.parametrize("of", [by(GEMINI), {"provider": "anthropic", "model": "claude-3"}, {}])
def test_another_models_reasoning_is_made_text_and_what_is_sealed_is_left_out(of: dict[str, str]) -> None:
    found = sanitise(placed(ask(), answer(THOUGHT, SEALED, SAID, **of)), target=CLAUDE)
    assert parts(found.messages) == [{"type": "text", "text": "The ferry is late."}, SAID]
    assert found.repairs == (
        "Reasoning of another model was made text (1).",
        "Sealed reasoning of another model was left out (1).",
    )


def test_the_summary_of_a_reasoning_is_what_can_be_read_of_it() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": [{"text": "Late."}]}
    found = sanitise(placed(ask(), answer(reasoning, provider="openai", model="gpt-6")), target=CLAUDE)
    assert parts(found.messages) == [{"type": "text", "text": "Late."}]


def test_an_answer_that_is_all_sealed_goes_and_its_questions_become_one() -> None:
    found = sanitise(placed(ask("one"), answer(SEALED, **by(GEMINI)), ask("two")), target=CLAUDE)
    assert [(each.role, words_of(each.message)) for each in found.messages] == [("user", "one\ntwo")]


def test_signatures_of_another_model_are_taken_off_calls() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "look", "arguments": {}, "thoughtSignature": "s"}
    result = {"role": "toolResult", "toolCallId": "c1", "content": "late"}
    found = sanitise(placed(ask(), answer(call, **by(GEMINI)), result), target=CLAUDE)
    assert "thoughtSignature" not in parts(found.messages)[0]
    assert calls_in(found.messages[1].message)[0].id == "c1"
    kept = sanitise(placed(ask(), answer(call, **by(GEMINI)), result), target=GEMINI)
    assert parts(kept.messages) == [call]


def test_an_answer_joined_of_two_models_names_one_and_keeps_no_seal() -> None:
    found = sanitise(
        placed(ask(), answer(THOUGHT, **by(CLAUDE)), answer(SAID, provider="openai", model="gpt-6")),
        target=CLAUDE,
    )
    assert parts(found.messages) == [{"type": "text", "text": "The ferry is late."}, SAID]


@pytest.mark.parametrize("target", [GEMINI, Target("google-vertex"), Target("openrouter", "google/gemini-3")])
def test_for_google_a_history_that_begins_with_an_answer_gets_a_first_turn(target: Target) -> None:
    history = placed(answer(SAID), ask())
    found = sanitise(history, target=target)
    assert [(each.role, words_of(each.message)) for each in found.messages] == [
        ("user", OPENING), ("assistant", "It is late."), ("user", "When does it go?"),
    ]  # fmt: skip
    assert found.repairs == ("A first turn was put in, which Google’s models ask for (1).",)
    assert [each.role for each in sanitise(history, target=CLAUDE).messages] == ["user"]


PART = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=4)),
    st.builds(
        lambda text, sign: {"type": "thinking", "thinking": text, "thinkingSignature": sign},
        st.text(max_size=4), st.text(max_size=2),
    ),
    st.just(SEALED),
    st.builds(
        lambda id_: {"type": "toolCall", "id": id_, "name": "t", "arguments": {}, "thoughtSignature": "s"},
        st.sampled_from("ab"),
    ),
    st.just({"type": 7}),
)  # fmt: skip
TARGET = st.sampled_from([GEMINI, CLAUDE, Target("google"), Target("openai"), Target(model="gpt-6")])
MESSAGE = st.builds(
    lambda role, content, id_, of: {"role": role, "content": content, "toolCallId": id_, **by(of)},
    st.sampled_from(["user", "assistant", "toolResult"]),
    st.lists(PART, max_size=3) | st.text(max_size=4), st.sampled_from("abc"), TARGET,
)  # fmt: skip


def texts(messages: Sequence[Placed], role: str) -> str:
    return "".join(
        part if isinstance(part, str) else str(part.get("text", part.get("thinking", "")))
        for each in messages
        if each.role == role
        for part in each.message["content"]
    ).replace(OPENING, "")


@given(st.lists(MESSAGE, max_size=10), TARGET)
def test_whatever_was_said_nothing_is_lost_and_the_order_is_one_that_is_taken(
    messages: list[dict[str, Any]], target: Target
) -> None:
    history = placed(*messages)
    found = sanitise(history, target=target).messages
    assert texts(found, "user") == texts(history, "user")
    if target.is_google:
        said = sanitise(history, target=None).messages
        assert "".join(texts(said, "assistant").split()) in "".join(texts(found, "assistant").split())
    assert not found or found[0].role == "user"
    for before, after in pairwise(found):
        assert before.role != after.role or before.role == "toolResult"
        if calls_in(after.message):
            assert before.role in ("user", "toolResult")
    for each in found:
        if each.role == "assistant" and isinstance(each.message["content"], list):
            signed = any("Signature" in name for part in each.message["content"] for name in part)
            assert not signed or target.wrote(each.message)
    assert sanitise(found, target=target).messages == found
