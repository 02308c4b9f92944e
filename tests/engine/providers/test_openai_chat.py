"""A chat server that answers is understood; one that fails, stalls or babbles gives an error to act on."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.providers.model_server import Answer, MakeChat, ModelServer, completion, failure
from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import ChatCancelled, ChatMessage, Completion, JsonReply
from workbench.engine.providers.chat_models import OpenAICompatibleChat

QUESTION = [ChatMessage("system", "Be brief."), ChatMessage("user", "How are you?")]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"store": {"type": "string"}},
    "required": ["store"],
    "additionalProperties": False,
}


def ask_json(chat: OpenAICompatibleChat, cancelled: Callable[[], bool] | None = None) -> JsonReply:
    return chat.complete_json(QUESTION, schema=SCHEMA, schema_name="routing", cancelled=cancelled)


def ask_prose(chat: OpenAICompatibleChat, cancelled: Callable[[], bool]) -> Completion:
    return chat.complete(QUESTION, cancelled=cancelled)


def test_an_answer_comes_with_its_model_and_counts(server: ModelServer, make_chat: MakeChat) -> None:
    server.script(completion("Fine."))
    reply = make_chat(headers={"X-Team": "bench"}).complete(QUESTION, max_tokens=20)
    assert (reply.text, reply.model, reply.prompt_tokens, reply.completion_tokens) == (
        "Fine.",
        "served-model",
        11,
        7,
    )
    assert server.requests[0]["path"] == "/v1/chat/completions"
    assert server.requests[0]["messages"][1] == {"role": "user", "content": "How are you?"}
    assert server.requests[0]["max_tokens"] == 20
    assert server.request_headers[0]["x-team"] == "bench"
    assert server.request_headers[0]["authorization"] == "Bearer sk-secret-1"


def test_the_environment_of_another_server_is_not_told_to_this_one(
    server: ModelServer, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-elsewhere")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-elsewhere")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-elsewhere")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid/v1")
    server.script(completion("Fine."))
    make_chat(api_key="").complete(QUESTION)
    assert "elsewhere" not in str(server.request_headers[0])


def test_json_is_asked_for_by_schema(server: ModelServer, make_chat: MakeChat) -> None:
    server.script(completion('{"store": "core"}'))
    assert ask_json(make_chat()).value == {"store": "core"}
    asked = server.requests[0]["response_format"]
    assert asked["type"] == "json_schema"
    assert asked["json_schema"] == {"name": "routing", "schema": SCHEMA, "strict": True}


@pytest.mark.parametrize(("rejections", "form"), [(1, "json_object"), (2, None)])
def test_a_server_that_rejects_a_form_is_asked_by_the_next_and_not_by_it_again(
    server: ModelServer, make_chat: MakeChat, rejections: int, form: str | None
) -> None:
    rejected = failure(400, "response_format is not supported")
    server.script(*[rejected] * rejections, completion('{"store": "vault"}'))
    chat = make_chat()
    assert ask_json(chat).value == {"store": "vault"}
    assert server.requests[-1].get("response_format", {}).get("type") == form
    assert '"additionalProperties": false' in server.requests[-1]["messages"][0]["content"]
    assert [message["role"] for message in server.requests[-1]["messages"]] == ["system", "user"]
    asked = len(server.requests)
    ask_json(chat)
    assert len(server.requests) == asked + 1


def test_a_request_rejected_in_every_form_says_what_the_server_said(
    server: ModelServer, make_chat: MakeChat
) -> None:
    server.script(failure(400, "context length exceeded"))
    with pytest.raises(ProviderError, match="context length exceeded"):
        ask_json(make_chat())
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "text",
    [
        '{"store": "core"}',
        '```json\n{"store": "core"}\n```',
        'Here it is: {"store": "core"} — done.',
        '<think>\n{"store": "vault"}?\n</think>\n{"store": "core"}',
    ],
)
def test_a_json_object_is_found_in_its_wrapping(server: ModelServer, make_chat: MakeChat, text: str) -> None:
    server.script(completion(text))
    assert ask_json(make_chat()).value == {"store": "core"}


@pytest.mark.parametrize(
    "text",
    ["I would say core.", '{"store": "co', '["core"]', '"core"', "{" * 100_000, "```json\n{\n```", "NaN"],
)
def test_an_answer_that_is_no_json_object_comes_with_its_words_and_the_reason(
    server: ModelServer, make_chat: MakeChat, text: str
) -> None:
    server.script(completion(text))
    reply = ask_json(make_chat())
    assert (reply.value, reply.text) == (None, text)
    assert "not the JSON object" in reply.problem
    assert (reply.prompt_tokens, reply.completion_tokens, reply.model) == (11, 7, "served-model")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_passing_fault_is_tried_again(server: ModelServer, make_chat: MakeChat, status: int) -> None:
    server.script(failure(status, "busy"), completion("Fine."))
    assert make_chat(retries=1).complete(QUESTION).text == "Fine."
    assert len(server.requests) == 2


def test_a_lost_connection_is_tried_again(server: ModelServer, make_chat: MakeChat) -> None:
    server.script(Answer(hangs_up=True), completion("Fine."))
    assert make_chat(retries=1).complete(QUESTION).text == "Fine."


def test_pauses_grow_or_are_what_the_server_asks(
    server: ModelServer, make_chat: MakeChat, pauses: list[float]
) -> None:
    server.script(
        failure(500, "busy"),
        failure(500, "busy"),
        failure(429, "busy", Retry_After="1.5"),
        completion("Fine."),
    )
    make_chat(retries=3).complete(QUESTION)
    assert pauses == [0.25, 0.5, 1.5]


def test_a_pause_beyond_the_time_out_is_not_begun(
    server: ModelServer, make_chat: MakeChat, pauses: list[float]
) -> None:
    server.script(failure(429, "come back tomorrow", Retry_After="86400"))
    with pytest.raises(ProviderError, match="overloaded"):
        make_chat().complete(QUESTION)
    assert pauses == []
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "attempts", "message"),
    [(500, 3, "500"), (429, 3, "overloaded"), (401, 1, "key"), (404, 1, "small"), (400, 1, "400")],
)
def test_a_fault_that_stays_names_itself_the_place_and_the_remedy(
    server: ModelServer, make_chat: MakeChat, status: int, attempts: int, message: str
) -> None:
    server.script(failure(status, "no luck with sk-secret-1"))
    with pytest.raises(ProviderError, match=message) as raised:
        make_chat(retries=2).complete(QUESTION)
    assert raised.value.where == server.url
    assert raised.value.remedy
    assert "sk-secret-1" not in str(raised.value)
    assert len(server.requests) == attempts


@pytest.mark.parametrize("stalls", ["before", "inside", "trickle"])
def test_a_slow_server_is_given_up_at_the_time_out(
    server: ModelServer, make_chat: MakeChat, stalls: str
) -> None:
    answer = completion("Fine.")
    answer.stalls = stalls
    server.script(answer)
    started = time.monotonic()
    with pytest.raises(ProviderError, match=r"within 0\.3 s"):
        make_chat(timeout_s=0.3, retries=2).complete(QUESTION)
    # The server would keep it waiting for 10 s; between that and 0.3 s there is room for a busy machine.
    assert time.monotonic() - started < 8.0
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>404</html>",
        b"\xff\xfe\x00",
        b"{}",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [null]}',
        b"[" * 90_000,
        b'{"choices": [{"message": "x"}]}',
        b'{"choices": [{"message": {"content": 3}}]}',
        b'"text"',
        b"null",
    ],
)
def test_a_garbled_answer_is_an_error(server: ModelServer, make_chat: MakeChat, body: bytes) -> None:
    server.script(Answer(body=body))
    with pytest.raises(ProviderError) as raised:
        make_chat().complete(QUESTION)
    assert raised.value.remedy


def test_an_answer_cut_off_on_the_wire_is_an_error(server: ModelServer, make_chat: MakeChat) -> None:
    whole = completion("Fine.")
    server.script(
        Answer(body=whole.body, headers={"Content-Length": str(len(whole.body) + 10), "Connection": "close"})
    )
    with pytest.raises(ProviderError):
        make_chat(timeout_s=0.3, retries=0).complete(QUESTION)


def test_an_endless_answer_is_an_error(
    server: ModelServer, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.providers.chat_models.LARGEST_ANSWER_BYTES", 1_000)
    server.script(completion("x" * 5_000))
    with pytest.raises(ProviderError, match="larger"):
        make_chat().complete(QUESTION)


REFUSALS = [
    (completion(None, refusal="I cannot help with that."), "declined"),
    (completion("I c", finish="content_filter"), "declined"),
    (completion('{"store": "co', finish="length"), "cut short"),
    (completion("  "), "nothing"),
    (completion(None), "nothing"),
]


@pytest.mark.parametrize(("answer", "message"), REFUSALS)
def test_a_refusal_or_half_an_answer_is_an_error_in_prose_and_a_reason_in_json(
    server: ModelServer, make_chat: MakeChat, answer: Answer, message: str
) -> None:
    server.script(answer)
    with pytest.raises(ProviderError, match=message):
        make_chat().complete(QUESTION)
    reply = ask_json(make_chat())
    assert reply.value is None
    assert message in reply.problem
    assert reply.truncated == ("cut short" in message)


def test_the_words_of_a_refusal_are_kept(server: ModelServer, make_chat: MakeChat) -> None:
    server.script(completion(None, refusal="I cannot help with that."))
    assert ask_json(make_chat()).text == "I cannot help with that."


def test_an_object_that_is_whole_at_the_limit_is_used(server: ModelServer, make_chat: MakeChat) -> None:
    server.script(completion('{"store": "core"}', finish="length"))
    reply = ask_json(make_chat())
    assert (reply.value, reply.truncated, reply.problem) == ({"store": "core"}, True, "")


def test_line_ends_within_strings_are_read(server: ModelServer, make_chat: MakeChat) -> None:
    server.script(completion('{"store": "a\nb\tc"}'))
    assert ask_json(make_chat()).value == {"store": "a\nb\tc"}


def test_a_server_that_wants_the_limit_by_its_new_name_is_given_it(
    server: ModelServer, make_chat: MakeChat
) -> None:
    rejected = failure(400, "'max_tokens' is not supported, use 'max_completion_tokens' instead")
    server.script(rejected, completion("Fine."), completion("Fine."))
    chat = make_chat()
    for _ in range(2):
        assert chat.complete(QUESTION, max_tokens=20).text == "Fine."
    assert [request.get("max_completion_tokens") for request in server.requests] == [None, 20, 20]
    assert "max_tokens" not in server.requests[-1]


@pytest.mark.parametrize("ask", [ask_json, ask_prose])
@pytest.mark.parametrize("stalls", ["before", "inside", "trickle"])
def test_a_question_taken_back_is_not_waited_for(
    server: ModelServer, make_chat: MakeChat, stalls: str, ask: Callable[..., object]
) -> None:
    answer = completion('{"store": "core"}')
    answer.stalls = stalls
    server.script(answer)
    started = time.monotonic()
    with pytest.raises(ChatCancelled):
        # Called off only once the server is at it.
        ask(make_chat(timeout_s=8), lambda: bool(server.requests))
    # The server would keep it waiting for 10 s and the time-out for 8.
    assert time.monotonic() - started < 4.0
    assert len(server.requests) == 1


def test_a_question_taken_back_before_it_is_asked_asks_nothing(
    server: ModelServer, make_chat: MakeChat
) -> None:
    with pytest.raises(ChatCancelled):
        ask_json(make_chat(), cancelled=lambda: True)
    assert server.requests == []


def test_what_can_be_taken_back_answers_and_fails_as_ever(server: ModelServer, make_chat: MakeChat) -> None:
    server.script(completion('{"store": "core"}'), failure(404, "no such model"))
    assert ask_json(make_chat(), cancelled=lambda: False).value == {"store": "core"}
    with pytest.raises(ProviderError, match="knows no model"):
        ask_json(make_chat(), cancelled=lambda: False)


@pytest.mark.parametrize(
    "base_url", ["localhost:11434", "ftp://x/v1", "http://", "http://[::1", "http://x:99999/"]
)
def test_a_base_url_that_is_none_is_an_error(make_chat: MakeChat, base_url: str) -> None:
    with pytest.raises(ProviderError, match="web address") as raised:
        make_chat(base_url=base_url).complete(QUESTION)
    assert raised.value.where == base_url


@pytest.mark.parametrize("api_key", ["sk-秘密", "sk\nX-Evil: 1"])
def test_a_key_that_no_header_can_carry_is_an_error(
    server: ModelServer, make_chat: MakeChat, api_key: str
) -> None:
    server.script(completion("Fine."))
    with pytest.raises(ProviderError) as raised:
        make_chat(api_key=api_key, retries=0).complete(QUESTION)
    assert api_key not in str(raised.value)
    assert server.requests == []


def test_a_server_that_is_not_there_is_an_error(server: ModelServer, make_chat: MakeChat) -> None:
    url = server.url
    server.close()
    with pytest.raises(ProviderError, match="cannot be reached"):
        make_chat(base_url=url, retries=1).complete(QUESTION)


def test_the_key_does_not_show(make_chat: MakeChat) -> None:
    assert "secret" not in repr(make_chat(headers={"X-Key": "secret"}))


def test_making_one_loads_no_client_and_connects_nowhere() -> None:
    program = (
        "import sys\n"
        "from workbench.engine.providers.model_server import EndPoint\n"
        "from workbench.engine.providers.chat_models import OpenAICompatibleChat\n"
        "OpenAICompatibleChat(EndPoint('http://127.0.0.1:9/v1', '', 'm'))\n"
        "assert not {'openai', 'httpx', 'httpx2', 'socket', 'ssl'} & set(sys.modules)\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
