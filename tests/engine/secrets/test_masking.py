"""A mask stands where a secret is held back, and everything around it reads as it did, line for line."""

from __future__ import annotations

import json

import pytest

from workbench.engine.secrets.detection import Secret, mask_content, masked_lines, without_masked_lines
from workbench.engine.secrets.detection import masked as without_secrets
from workbench.engine.sessions.events import masked_line

TOKEN = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN PRIVATE KEY-----\r\nMIIEow\r\nAbCd\r\n-----END PRIVATE KEY-----"
MASK = "[held back: GitHub token]"


def hidden(_secret: Secret) -> bool:
    return True


def masked(text: str, encoding: str = "utf-8") -> str:
    return mask_content(text.encode(encoding), hidden)[0].decode(encoding, "replace")


def test_nothing_but_the_secret_gives_way() -> None:
    assert masked(f"# A\r\n\r\n- ferry {TOKEN} herring\r\n") == f"# A\r\n\r\n- ferry {MASK} herring\r\n"


def test_a_key_of_several_lines_takes_up_as_many() -> None:
    text = f"before\r\n{KEY}\r\nafter\r\n"
    said = masked(text)
    assert said.split("\r\n") == ["before", "[held back: private key]", "", "", "", "after", ""]


def test_what_is_repeated_without_its_word_is_masked_as_well() -> None:
    assert masked("The password is Herring-2026x\nagain: Herring-2026x\n").count("[held back: password]") == 2


def test_what_is_let_in_stays_and_is_told() -> None:
    content = f"Use {TOKEN}\n".encode()
    same, about = mask_content(content, lambda _: False)
    assert (same is content, about.has_secrets, about.hidden) == (True, True, ())
    assert mask_content(b"Nothing here.\n", hidden)[1].has_secrets is False


def test_bytes_that_are_no_text_stay() -> None:
    content = b"\xff\xfe bad \xe2\x82 " + TOKEN.encode() + b"\n\xff"
    assert mask_content(content, hidden)[0] == b"\xff\xfe bad \xe2\x82 " + MASK.encode() + b"\n\xff"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_another_encoding_hides_nothing(encoding: str) -> None:
    content = mask_content(f"one\n{TOKEN}\ntwo\n".encode(encoding), hidden)[0]
    assert TOKEN not in content.replace(b"\0", b"").decode("latin-1")
    assert content.count(b"\n") == 3


def test_json_stays_json() -> None:
    said = json.loads(masked(json.dumps({"a": [f"x {TOKEN}"], "b": 1})))
    assert said == {"a": [f"x {MASK}"], "b": 1}


def test_masked_lines_are_named_and_blank_for_who_learns() -> None:
    text = f"one\n- {MASK}\n- [held back 3: password]\r\n- [secret left out]\ntwo\n"
    assert masked_lines(text) == (2, 3)
    assert without_masked_lines(text) == "one\n\n\r\n\ntwo\n"
    plain = "one\ntwo\n"
    assert without_masked_lines(plain) is plain


@pytest.mark.parametrize(
    "said",
    [
        {"message": {"role": "user", "content": [{"type": "text", "text": f"it is {TOKEN}"}]}},
        {"message": {"content": f"broken {TOKEN[:20]}\n{TOKEN[20:]}"}},
        {"input": {"password": "Herring-2026x", "n": 1}},
        {f"key {TOKEN}": None},
    ],
)
def test_a_line_of_a_transcript_stays_json_and_says_no_secret(said: dict[str, object]) -> None:
    line = json.dumps(said).encode() + b"\n"
    clean = masked_line(line, lambda text: mask_content(text.encode(), hidden)[0].decode())
    assert json.loads(clean).keys() is not None
    assert clean.endswith(b"\n")
    assert b"held back" in clean
    for part in (TOKEN, TOKEN[20:], "Herring-2026x"):
        assert part.encode() not in clean


def test_a_line_without_any_is_the_very_same() -> None:
    line = b'{"message": {"content": "tea"}}\n'
    assert masked_line(line, lambda text: mask_content(text.encode(), hidden)[0].decode()) is line


def test_an_exclamation_mark_behind_a_password_is_masked_with_it() -> None:
    said = "The harbour password is Kiel-harbour-4711! Nobody else has it."
    assert masked(said) == "The harbour password is [held back: password] Nobody else has it."
    assert without_secrets(said) == "The harbour password is [secret left out] Nobody else has it."
