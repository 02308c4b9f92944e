"""The labelled set: texts in which what is secret is marked, and texts that only look like it.

Nothing in it is real. Values are made when the set is read, so that no scanner of repositories trips over them:
`{hex 40}` stands for 40 characters of an alphabet, `{basic NAME:WORD}` for a pair as Basic authentication sends it.
"""

from __future__ import annotations

import base64
import random
import re
import string
import tomllib
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

FOLDER: Final = Path(__file__).with_name("labelled")
ALPHABETS: Final = {
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "alnum": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "_-",
    "base64": string.ascii_letters + string.digits + "+/",
    "base32": string.ascii_uppercase + "234567",
    "BECH": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_MADE: Final = re.compile(rf"\{{(?:(uuid)|basic ([^{{}}]+)|({'|'.join(ALPHABETS)}) (\d+))\}}")
_MARKED: Final = re.compile("«([^»]*)»")


@dataclass(frozen=True)
class Labelled:
    """A text of the set.

    Args:
        group: What it is an example of.
        text: Itself.
        secrets: What is secret in it: start and end; none in a look-alike.
    """

    group: str
    text: str
    secrets: tuple[tuple[int, int], ...]


def read(half: Literal["open", "held_out"], part: Literal["secrets", "look_alikes"]) -> tuple[Labelled, ...]:
    """Return a part of one half of the set, with its values made.

    Args:
        half: Which may be looked at while rules are written, or the other.
        part: Texts that hold secrets, or texts that hold none.
    """
    groups = tomllib.loads((FOLDER / f"{half}.toml").read_text("utf-8"))[part]
    return tuple(_labelled(group, row) for group, rows in groups.items() for row in rows)


def _labelled(group: str, row: str) -> Labelled:
    # The row seeds its own values, so that they are the same in every run.
    chance = random.Random(row)
    said, spans, at = _MADE.sub(lambda made: _value(made, chance), row), [], 0
    for number, marked in enumerate(_MARKED.finditer(said)):
        at = marked.start() - 2 * number
        spans.append((at, at + len(marked[1])))
    return Labelled(group, re.sub("[«»]", "", said), tuple(spans))


def _value(made: re.Match[str], chance: random.Random) -> str:
    if made[1]:
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))
    if made[2]:
        return base64.b64encode(made[2].encode()).decode()
    # Letters and digits at the edges, as tokens have them; a digit in each long one.
    letters, length = ALPHABETS[made[3]], int(made[4])
    said = [chance.choice(letters) for _ in range(length)]
    if length > 4:
        plain = [each for each in letters if each.isalnum()]
        said[0], said[-1] = chance.choice(plain), chance.choice(plain)
        said[length // 2] = chance.choice([each for each in letters if each.isdigit()])
    return "".join(said)
