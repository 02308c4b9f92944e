"""A token that is broken over lines is found whole, whatever its shape, and lines that only look like one are not."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

import pytest

from tests.engine.secrets.test_shapes import example_of
from workbench.engine.secrets import wrapping
from workbench.engine.secrets.detection import find_secrets, masked
from workbench.engine.secrets.shapes import shapes

GITHUB = "ghp_" + "a1B2" * 9
ANTHROPIC = "sk-ant-api03-" + "x1Y" * 12
AWS = "AKIAIOSFODNN7EXAMPLE"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.Zk9sQ2hhcmxpZUFscGhhQnJhdm8x"
SIGN = re.compile(r"[-_.:/=@|+~]")


def after_a_sign(token: str) -> list[int]:
    return [sign.end() for sign in SIGN.finditer(token) if 3 < sign.end() < len(token) - 3]


BREAKS: dict[str, Callable[[str], Sequence[int]]] = {
    "after a quarter": lambda token: [max(6, len(token) // 4)],
    "in the middle": lambda token: [len(token) // 2],
    "late": lambda token: [len(token) - 5],
    "after the first sign": lambda token: after_a_sign(token)[:1],
    "after the last sign": lambda token: after_a_sign(token)[-1:],
    "every 20 characters": lambda token: range(20, len(token), 20),
}
LAYOUTS = {
    "plain": ("Use ", "\n", "\nfor uploads.\n"),
    "alone": ("", "\n", "\n"),
    "at the end": ("Use ", "\n", ""),
    "before a full stop": ("Use ", "\n", ".\nOr ask."),
    "quotes": ("Use `", "\n", "`, it works.\n"),
    "assigned": ("export IT=", "\n", "\n"),
    "indented": ("Use ", "\n    ", "\nfor uploads.\n"),
    "in an item": ("- the token ", "\n  ", " is ours\n- gulls\n"),
    "in a comment": ("# Use ", "\n# ", "\n# for uploads.\n"),
    "in a quotation": ("> Use ", "\n> ", "\n> for uploads.\n"),
    "Windows": ("Use ", "\r\n", "\r\nfor uploads.\r\n"),
    "in a command": ("curl -d ", " \\\n", " \\\n  -v\n"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("broken", BREAKS)
def test_a_token_of_any_shape_broken_over_lines(broken: str, layout: str) -> None:
    before, between, after = LAYOUTS[layout]
    missed = []
    for shape in shapes():
        token = example_of(shape)
        places = BREAKS[broken](token)
        parts = [token[start:end] for start, end in zip([0, *places], [*places, len(token)], strict=True)]
        wrapped = between.join(parts)
        found = find_secrets(f"{before}{wrapped}{after}")
        # Some shapes may end with a full stop.
        if [(each.kind, each.text.rstrip(".")) for each in found] != [(shape.kind, wrapped)]:
            missed.append((shape.shape, wrapped, [each.text for each in found]))
    assert missed == []


@pytest.mark.parametrize("broken", ["after a quarter", "in the middle"])
def test_a_token_whose_line_break_became_a_blank(broken: str) -> None:
    # As in tags and labels, where each run of blanks and line ends becomes one blank.
    missed = []
    for shape in (each for each in shapes() if len(each.lead) > 1 and "?" not in each.lead):
        token = example_of(shape)
        (place,) = BREAKS[broken](token)
        place = max(place, len(shape.lead) + 8, 14)
        if place > len(token) - 4:
            continue
        apart = f"{token[:place]} {token[place:]}"
        if [each.text for each in find_secrets(f"Use {apart} for uploads.")] != [apart]:
            missed.append(apart)
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "Use ghp_short1 and gulls, 36 of them",
        "sk-learn-1 4f2a9c0d1e2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d",
        "dapi 0123456789abcdef0123456789abcdef",
        "the branch hf_gulls_2026 2026-02-02T10:30 boats",
    ],
)
def test_words_apart_are_no_token(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize("width", [24, 40])
def test_a_token_wrapped_by_a_program(width: int) -> None:
    missed = []
    for shape in shapes():
        token = example_of(shape)
        text = textwrap.fill(f"Nora said that we use {token} for uploads of every kind.", width)
        # Two letters at the end of a line tell a token only where they begin its prefix.
        if len(shape.lead) > 2 and ["".join(each.text.split()) for each in find_secrets(text)] != [token]:
            missed.append(text)
    assert missed == []


@pytest.mark.parametrize("token", [GITHUB, ANTHROPIC, AWS, JWT])
@pytest.mark.parametrize("between", ["\n", "\r\n", "\n    ", "\n> ", "\n  > > ", " \\\n", "  \n"])
@pytest.mark.parametrize("width", [12, 18])
def test_a_token_broken_over_lines(token: str, between: str, width: int) -> None:
    broken = between.join(token[at : at + width] for at in range(0, len(token), width))
    text = f"Use {broken}\nfor uploads.\n"
    (found,) = find_secrets(text)
    assert found.text == broken
    assert text[found.start :].startswith(broken)
    # However it is wrapped, it is the same: what is allowed is allowed.
    assert found.digest == find_secrets(token)[0].digest
    assert masked(text) == "Use [secret left out]\nfor uploads.\n"


def test_two_tokens_in_lines_of_their_own_are_two() -> None:
    assert [each.text for each in find_secrets(f"{GITHUB}\n{ANTHROPIC}\nboats\n")] == [GITHUB, ANTHROPIC]
    assert [each.text for each in find_secrets(f"{GITHUB}\nv2\n")] == [GITHUB]


@pytest.mark.parametrize(
    "text",
    [
        "They begin with ghp_\nand have letters and digits behind it, 36 of them",
        "sk-learn\nscikit-learn-extra\npandas-profiling-2\nnumpy\n",
        "The prefix is sk-\n4f2a9c0d1e2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d\n",
        "ghp_short\nBoats leave at nine\nghp_other\nGulls\n",
        "AKIA\nIBM\nNASA2026\n",
        "- hf_\n- npm_\n- glpat-\n",
        "eyJ\n",
    ],
)
def test_lines_that_are_no_token(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize("lead", ["sk-", "glpat-", "github_pat_", "hf_", "pat", "SK"])
@pytest.mark.parametrize(
    "below",
    [
        "0123456789abcdef0123456789abcdef in MD5\n",
        "4f2a9c0d1e2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d\n",
        "0afae57f-3ccf-4d9d-8f77-d57670673bc4\n",
        "- 12345\n",
        "gulls-and-boats\n",
    ],
)
def test_a_prefix_that_the_text_tells_about(lead: str, below: str) -> None:
    assert find_secrets(f"All of them begin with {lead}\n{below}") == ()


@pytest.mark.parametrize(
    "line", ["sk-", "sk-\n", "-sk-A1b\n", "Aa1\n", "a1b2\n", f"{GITHUB[:30]}\n{GITHUB[30:]}\n"]
)
def test_hostile_lines_belong_to_one_chain(line: str) -> None:
    text = "sk-A1\n" + line * 5_000
    chains = list(wrapping._chains(text, text.encode()))
    assert sum(len(each.joined) for each in chains) <= 2 * len(text)
