"""What is recognised as a secret, and what is left alone."""

from __future__ import annotations

import base64
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.secrets.detection import added_secrets, find_secrets, masked, text_of

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


TOKEN = "ghp_I6D23S18qV2is41U5TE5vT4Yx9rB5Jk6yQ3l"
LINE = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt"
BODY = "\n".join(f"{LINE}{at}Z" for at in range(6))
KEYS = [
    f"-----BEGIN {kind}PRIVATE KEY-----\n{BODY}\n-----END {kind}PRIVATE KEY-----\n"
    for kind in ("", "RSA ", "OPENSSH ", "ENCRYPTED ")
]
# Everything that Unicode says to ignore, and what controls a terminal.
UNSEEN = [
    *"\u00ad\u034f\u061c\u115f\u17b4\u180b\u180e\u200b\u200f\u202e\u2060\u206a\u3164\ufe00\ufe0e\ufe0f\ufeff\uffa0",
    *(
        "\ufff9",
        "\U0001d173",
        "\U000e0001",
        "\U000e0041",
        "\U000e0100",
        "\x00",
        "\x01",
        "\x08",
        "\x1b[0m",
        "\x1b[1;31m",
        "\x7f",
    ),
]


WRITTEN_OUT = ["\\u200b", "\\u001b[0m", "\\u00AD", "\\ufeff", "[0m", "[1;31m"]


def styled(text: str, style: str) -> str:
    """Write a text in the letters of a style, such as FULLWIDTH or MATHEMATICAL BOLD."""

    def letter(plain: str) -> str:
        name = unicodedata.name(plain).replace("LATIN ", "" if style.startswith("MATH") else "LATIN ")
        name = name.replace(" LETTER", "") if style.startswith("MATH") else name
        try:
            return unicodedata.lookup(f"{style} {name}")
        except KeyError:
            return plain

    return "".join(map(letter, text))


@pytest.mark.parametrize("unseen", [*UNSEEN, *WRITTEN_OUT], ids=ascii)
@pytest.mark.parametrize("at", [2, 12])
def test_what_nobody_sees_hides_nothing_disguises(unseen: str, at: int) -> None:
    hidden = TOKEN[:at] + unseen + TOKEN[at:]
    assert masked(f"Use {hidden} now.") == "Use [secret left out] now."


@pytest.mark.parametrize(
    "style", ["FULLWIDTH", "MATHEMATICAL BOLD", "MATHEMATICAL MONOSPACE", "MATHEMATICAL SANS-SERIF"]
)
def test_letters_of_another_style_hide_nothing(style: str) -> None:
    written = styled(TOKEN, style)
    assert written != TOKEN
    (found,) = find_secrets(f"Use {written} now.")
    assert (found.kind, found.text) == ("GitHub token", written)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Use gh\u0440{TOKEN[3:]} now.", f"gh\u0440{TOKEN[3:]}"),
        (f"Use {TOKEN[:12]}\u0430{TOKEN[13:]} now.", f"{TOKEN[:12]}\u0430{TOKEN[13:]}"),
        ("p\u0430ssword: hunter2!x9", "hunter2!x9"),
        ("passw\u03bfrd = hunter2!x9", "hunter2!x9"),
        ("password:\u00a0hunter2!x9", "hunter2!x9"),
        ("My\u202fpassword\u2007is\u3000hunter2!x9", "hunter2!x9"),
        ("the token is glpat\u201164d65Mz4cI4Q57qo7zt7", "glpat\u201164d65Mz4cI4Q57qo7zt7"),
        (f"Use {TOKEN[:20]}\r{TOKEN[20:]}\rtonight", f"{TOKEN[:20]}\r{TOKEN[20:]}"),
        (f"Use {TOKEN[:20]}\u2028{TOKEN[20:]}\ntonight", f"{TOKEN[:20]}\u2028{TOKEN[20:]}"),
    ],
    ids=ascii,
)
def test_what_only_looks_like_a_letter_or_a_blank_hides_nothing(text: str, secret: str) -> None:
    (found,) = find_secrets(text)
    assert found.text == secret
    assert text[found.start :].startswith(secret)


@pytest.mark.parametrize(
    "text",
    [
        "Пароль мы поменяли, а ТОКЕН остался; see docs/Схема-A1.md",
        "The κ of RFC\u2011822 and x\u00a0=\u00a01 in ＡＢＣ",
        "Page one\x0cpage two\rline\r\nline",
        "\x1b[1mBoats\x1b[0m leave at nine",
    ],
)
def test_other_scripts_and_colours_are_no_secret(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[11:22])
@pytest.mark.parametrize("width", [0, 64, 76])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_block_in_base64(key: str, width: int, encode: object) -> None:
    assert callable(encode)
    said = encode(key.encode()).decode()
    if width:
        said = "\n    ".join(said[at : at + width] for at in range(0, len(said), width))
    text = f"data:\n  ssh: {said}\nkind: Secret\n"
    (found,) = find_secrets(text)
    assert (found.kind, found.text) == ("private key", said)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("secret", [TOKEN, f"{TOKEN[:20]}\n{TOKEN[20:]}"])
def test_another_encoding_of_a_file(secret: str, encoding: str) -> None:
    (found,) = find_secrets(text_of(f"# Notes\n\nUse {secret} tonight.\n".encode(encoding)))
    assert found.text == secret


def test_letters_of_another_style_in_utf_16() -> None:
    (found,) = find_secrets(text_of(f"Use {styled(TOKEN, 'FULLWIDTH')} tonight.\n".encode("utf-16")))
    assert found.kind == "GitHub token"


def test_a_certificate_in_base64_is_no_key() -> None:
    block = f"-----BEGIN CERTIFICATE-----\n{'MIIDdzCCAl+gAwIBAgIE' * 12}\n-----END CERTIFICATE-----\n"
    assert find_secrets(f"ca.crt: {base64.b64encode(block.encode()).decode()}\n") == ()


def test_a_key_without_its_first_and_last_line() -> None:
    (found,) = find_secrets(f"The key:\n{BODY}\nGulls.\n")
    assert (found.kind, found.text) == ("private key", BODY)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -u nora:lavenderfields https://example.org", "lavenderfields"),
        ("passphrase: copper violin meadow lantern", "copper violin meadow lantern"),
        ("The passphrase is “to be or not”.", "to be or not"),
        ("My passphrase is seven grey herons sleeping.", "seven grey herons sleeping"),
        ("PIN 4711", "4711"),
        ("The PIN of my bank card is 8302.", "8302"),
        ("the wifi password is sunshine", "sunshine"),
        ("WLAN-Passwort: hasenfuss", "hasenfuss"),
        ("the Wi-Fi key is 12345678, ask nobody", "12345678"),
        ("密码是abcdefg", "abcdefg"),
        ("银行卡密码是 4711。", "4711"),
        ("WiFi密码：88888888", "88888888"),
    ],
)
def test_what_people_choose_and_say_is_found_by_its_name(text: str, secret: str) -> None:
    assert [each.text for each in find_secrets(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "curl -u username:password https://example.org",
        "curl -u admin:placeholder https://example.org",
        "passphrase: must be at least twelve words",
        "passphrase: stored in the vault downstairs",
        "The passphrase is four random words joined together",
        "PIN 3 of the chip is ground, PIN 2024-05-01",
        "the PIN is 4 digits long",
        "the wifi password is required",
        "The wifi password is different now.",
        "the wifi password is somewhere on the fridge",
        "密码是 required",
        "密码是8位",
        "密码是2024年改的",
        "密码: string",
    ],
)
def test_what_is_said_about_such_a_secret_is_none(text: str) -> None:
    assert not find_secrets(text)
