"""What looks the same to a person is the same: other letters, blanks and encodings hide no secret."""

from __future__ import annotations

import base64
import unicodedata

import pytest

from workbench.engine.secrets.detection import find_secrets, masked, text_of

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
def test_what_nobody_sees_hides_nothing(unseen: str, at: int) -> None:
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
