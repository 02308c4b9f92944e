"""What is recognised as a secret, and what is left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.secrets.detection import added_secrets, find_secrets, masked

GITHUB = "ghp_" + "a1B2" * 9
ANTHROPIC = "sk-ant-api03-" + "x1Y" * 12


@pytest.mark.parametrize(
    ("text", "kind", "secret"),
    [
        ("My password is hunter2!", "password", "hunter2"),
        ("The wifi password is correct-horse-battery.", "password", "correct-horse-battery"),
        ("passwd=“x9!kk2”", "password", "x9!kk2"),
        ("密码是abc12345", "password", "abc12345"),
        ("Das Passwort ist geheim99", "password", "geheim99"),
        ("API key: 12345-abcde", "password", "12345-abcde"),
        (f"Use {GITHUB}.", "GitHub token", GITHUB),
        (ANTHROPIC, "Anthropic key", ANTHROPIC),
        ("AKIAIOSFODNN7EXAMPLE", "AWS access key", "AKIAIOSFODNN7EXAMPLE"),
        ("postgres://app:s3cr3t@db/prod", "password in an address", "s3cr3t"),
        (f"我的令牌是{GITHUB}谢谢", "GitHub token", GITHUB),
        (f"_{GITHUB}_", "GitHub token", GITHUB),
        (f"old_{ANTHROPIC}", "Anthropic key", ANTHROPIC),
        ("我的password是hunter2!x", "password", "hunter2!x"),
        ("DB_PASSWORD=hunter2!x", "password", "hunter2!x"),
        ("client_secret: 12345-abcde", "password", "12345-abcde"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl", "JSON web token", None),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
            "private key",
            None,
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz",
            "private key",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
        ),
    ],
)
def test_secrets(text: str, kind: str, secret: str | None) -> None:
    (found,) = find_secrets(text)
    assert found.kind == kind
    assert found.text == (secret or text)
    assert text[found.start :].startswith(found.text)
    assert found.text not in masked(text)
    assert found.text not in found.shown


@pytest.mark.parametrize(
    "text",
    [
        "The password is stored in the vault",
        "the secret is to keep calm",
        "password: $PASSWORD_1",
        "password is ********",
        "api_key = <your-key-1>",
        "The password is well-known.",
        "api_key = YOUR_GEMINI_API_KEY",
        "api_key = 'my_api_key', SLACK_TOKEN=xoxb-your-slack-token",
        "const apiKey = API_KEY; api_key: process.env.OPENWEATHER_API_KEY",
        "password = db.Column(db.String(120), nullable=False)",
        "create(password=hashed_password) and api_key: your_api_key_here",
        "password = argon2.hash_password(password), password=fields.Str(required=True)",
        "api key = headers['x'], api_key=self.api_key",
        "Commit 4f2a9c0d1e2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d",
        "entity:person--alex#^f7k2 and episode:2026-02-02:14:30",
        "Meet at 10:30@home, https://example.org/a:b/c@d",
        "risk-averse sk-learn pipelines",
        "passwords=are_many ghp_short xghp_" + "a1B2" * 9,
        "one\u200btwo C:\\_x \\- and so on",
        "",
    ],
)
def test_ordinary_words(text: str) -> None:
    assert find_secrets(text) == ()
    assert masked(text) == text


@pytest.mark.parametrize("unseen", ["\u200b", "\u00ad", "\u2060\ufeff"])
@pytest.mark.parametrize("at", [1, 4, 20, len(GITHUB) - 1])
def test_what_nobody_sees_hides_nothing(unseen: str, at: int) -> None:
    hidden = GITHUB[:at] + unseen + GITHUB[at:]
    text = f"{unseen}Use {hidden}{unseen} now{unseen}."
    (found,) = find_secrets(text)
    assert (found.kind, found.text, found.start) == ("GitHub token", hidden, text.index(hidden))
    assert masked(text) == f"{unseen}Use [secret left out]{unseen} now{unseen}."


def test_what_markdown_puts_before_a_mark_hides_nothing() -> None:
    token = GITHUB.replace("_", "\\_")
    key = ANTHROPIC.replace("-", "\\-")
    assert [each.text for each in find_secrets(f"\\_{token}, and \\- {key}")] == [token, key]


@given(st.text(alphabet="ab\u200b\\_ ", max_size=20), st.text(alphabet="ab\u200b\\_ ", max_size=20))
def test_a_token_is_found_among_what_nobody_sees(before: str, after: str) -> None:
    text = f"{before} {GITHUB} {after}"
    assert masked(text) == f"{before} [secret left out] {after}"


def test_what_stood_there_already_is_not_added() -> None:
    before = f"- the token is {GITHUB}\n- other\n".encode()
    assert added_secrets(before, before + b"- a line more\n") == ()
    assert added_secrets(before, f"- other\n- moved: {GITHUB}\n".encode()) == ()
    (found,) = added_secrets(before, before + f"- and {ANTHROPIC}\n".encode())
    assert found.text == ANTHROPIC
    assert added_secrets(None, b"\xff\xfe password is hunter2\n")[0].text == "hunter2"


@given(st.text(max_size=200))
def test_masking_leaves_no_secret(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@given(st.text(alphabet="abcdef ", max_size=30), st.text(alphabet="abcdef ", max_size=30))
def test_a_token_is_found_wherever_it_stands(before: str, after: str) -> None:
    text = f"{before} {GITHUB} {after}"
    assert [each.text for each in find_secrets(text)] == [GITHUB]
    assert masked(text) == f"{before} [secret left out] {after}"


BEGIN = "-----BEGIN PRIVATE KEY-----"


def test_a_private_key_that_lost_its_end_is_found_with_its_lines() -> None:
    torn = f"{BEGIN}\n{'MIIEowIBAAKCAQEA' * 4}\n{'aB3+/' * 12}="
    assert [each.text for each in find_secrets(f"Here:\n{torn}\n\nThe boat leaves at nine.\n")] == [torn]


def test_beginnings_of_private_keys_are_looked_at_once() -> None:
    # Each of them looked for an end in all that follow.
    begun = time.process_time()
    assert len(find_secrets(f"{BEGIN}\n" * 10_000)) == 10_000
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("password", ["abc(1x9", "Abc_Def_9", "correct_horse", "Tr(ub4dor[3"])
def test_a_password_is_no_name_of_a_program(password: str) -> None:
    assert [each.text for each in find_secrets(f"the password is {password}\n")] == [password]
