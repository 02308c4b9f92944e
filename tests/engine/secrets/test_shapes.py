"""Every kind of secret has an example that is recognised as it, and hostile text costs no more than its length."""

from __future__ import annotations

import random
import re
import string
import time

import pytest

from workbench.engine.errors import InvalidInput
from workbench.engine.secrets import shapes as table
from workbench.engine.secrets.detection import find_secrets
from workbench.engine.secrets.shapes import Shape, shapes

LETTERS = {name: re.findall(f"[{signs}]", string.printable) for name, signs in table.ALPHABETS.items()}
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEAabcdefgh\n-----END PRIVATE KEY-----"
RULED = {
    "password": "the password is hunter2!x",
    "password in an address": "redis://:Abc123xyz@cache",
    "password in a command": "curl -u nora:Abc123xyz https://example.com",
    "private key": KEY,
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl",
    "seed phrase": "filter bicycle civil disagree someone since broken forum region parent absent finish",
}


def example_of(shape: Shape) -> str:
    """Make a token of a shape, as short as it may be."""
    chance = random.Random(shape.shape)

    def value(part: re.Match[str]) -> str:
        if part[1] == "uuid":
            return "0afae57f-3ccf-4d9d-8f77-d57670673bc4"
        letters = LETTERS[part[1]]
        said = [chance.choice([each for each in letters if each.isalnum()]) for _ in range(int(part[2]))]
        for at in range(1, len(said), 3):
            said[at] = chance.choice("23456789")
        return "".join(said)

    return re.sub(r"\{(\w+)(?: (\d+)[-+\d]*)?\}", value, shape.shape)


@pytest.mark.parametrize("shape", shapes(), ids=lambda each: each.shape)
def test_every_shape_in_the_table_is_recognised_as_its_kind(shape: Shape) -> None:
    token = example_of(shape)
    (found,) = find_secrets(f"Use {token} here.")
    assert (found.kind, found.text) == (shape.kind, token)


@pytest.mark.parametrize("kind", RULED)
def test_every_rule_has_a_kind(kind: str) -> None:
    assert [each.kind for each in find_secrets(RULED[kind])] == [kind]


def test_a_row_in_the_table_is_all_that_a_new_kind_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = table._shape("Harbour token", "hrbr_{alnum 20}")
    assert (made.lead, made.mark, made.before) == ("hrbr_", "hrbr_", (0, 0))
    rows = table._Shapes({"hr": (made,)}, {})
    monkeypatch.setattr(table, "_table", lambda: rows)
    assert [each.kind for each in find_secrets(f"Use {example_of(made)} here.")] == ["Harbour token"]


@pytest.mark.parametrize(
    ("shape", "wrong"),
    [
        ("hrbr_{letter 32}", "{letter 32}"),
        ("hrbr_{alnum}", "{alnum}"),
        ("hrbr_{alnum 2O}", "{alnum 2O}"),
        ("hrbr_{alnum 20", "{alnum 20"),
        ("hrbr_alnum 20}", "hrbr_alnum 20}"),
        ("hrbr_{uuid 36}_{alnum 4}", "{uuid 36}"),
        ("hrbr_{alnum 40-20}", "below the least"),
        ("{alnum 40}", "no literal part"),
        ("", "no literal part"),
    ],
)
def test_a_row_that_cannot_be_read_is_an_error_that_says_how_to_write_it(shape: str, wrong: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        table._shape("Harbour token", shape)
    assert wrong in raised.value.message
    assert "Harbour token" in raised.value.message
    assert raised.value.where is not None
    assert raised.value.where.endswith("tokens.toml")
    assert all(name in (raised.value.remedy or "") for name in table.ALPHABETS)


HOSTILE = (
    *("a", "A1", "-", "|", "://", "(", "\\_", "\u200b", "a-b-", "a1\n", "aaaaaa\n", "sk-aaaa\n"),
    *(
        "eyJ",
        "eyJa.eyJb.",
        "eyJaaaaaaaaaaaa-",
        ".eyJaaaaaaaaaaa",
        "sk-a-",
        "sk-a1B2c3-",
        "xoxb-a-",
        "1000.",
        "Q~",
    ),
    *("://a:b", "a://b:c@", "123456789:AA", "0123456789abcdef", "hooks.slack.com/services/", "ops_eyJ"),
    *(
        "password: ",
        "password is ",
        "password for a ",
        "password=a.a",
        "password=a(",
        "password='a1",
        "api_key=",
    ),
    *(
        "key",
        "token ",
        "Authorization: Basic a",
        "set password to ",
        "is my password ",
        "x1y2z3 is my password ",
    ),
    *(
        "curl -u a:",
        " -p",
        " -u \\\n",
        "mysql -p",
        "| password |\n|---|\n",
        "|-",
        "a,password\n",
        "密码是",
        "密码 ",
    ),
    *(
        "passwords:\n- ",
        "- passwords:\n",
        "- passwords\n",
        "passwords: [a1, ",
        "passwords: , ",
        "passwords:\n\n",
        "password:\n```\n",
        "| password a ",
    ),
    *(
        "abandon ",
        "abandon ability able about above absent ",
        "-----BEGIN PRIVATE KEY-----\n",
        "Private-Lines: 1\n",
        "LS0tLS1CRUdJTi",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg",
        "b3BlbnNzaC1rZXktdjEA\n",
        "MIIEvIBADANBgkqhkiG9w0BAQEFAASC",
    ),
    *(
        "p\u0430",
        "p" + "\u0430" * 9 + "-",
        "a--------",
        "\u0430\u00a0",
        "\x1b[",
        "\x1b[0;",
        "\r",
    ),
)


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(part: str) -> None:
    def seconds(length: int) -> float:
        text = (part * (length // len(part) + 1))[:length]
        begun = time.process_time()
        find_secrets(text)
        return time.process_time() - begun

    short, long = seconds(20_000), seconds(160_000)
    # Eight times as long; what grows with the square of it would take 64 times as much.
    assert long < max(0.5, 24 * short)


@pytest.mark.parametrize("part", ["a1B2", "sea ", "word ", "\n", "a b1\n"])
def test_long_lines_and_many_lines(part: str) -> None:
    text = part * 500_000 + " GITHUB_TOKEN=" + "9a8b7c6d" * 5
    assert find_secrets(text)[-1].text == "9a8b7c6d" * 5
