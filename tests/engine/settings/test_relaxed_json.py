"""The fast reader of hand-written JSON says what the slow one says."""

from __future__ import annotations

import json
from typing import Any

import json5
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.settings.foreign_files import _as_json, read_relaxed_json

PIECES = [
    "{", "}", "[", "]", ":", ",", "a", "true", "null", "'b'", '"c"', "1", ".5", "5.", "+2", "-3e2", "0x1F",
    "// x\n", "/* y */", " ", "\n", "'it\\'s'", '"\\u0041"', "'\"'", "01", "-", "Infinity", "'\\\n'",
    "$k", "1a",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@settings(max_examples=500)
def test_what_it_takes_it_reads_as_json5_does(text: str) -> None:
    plain = _as_json(text)
    try:
        expected: Any = json5.loads(text)
    except ValueError:
        expected = ValueError
    try:
        found = ValueError if plain is None else json.loads(plain)
    except json.JSONDecodeError:
        found = ValueError
    if found is not ValueError:
        assert found == expected


def spell(value: object) -> str:
    if isinstance(value, dict):
        return "{" + "".join(f"{key}: {spell(item)}, // {key}\n" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{spell(item)}," for item in value) + "]"
    if isinstance(value, str):
        return f"'{value}'"
    return json.dumps(value)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text("aé記 :,{", max_size=5),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["a", "true", "null", "$x"]), inner),
    )
)
def test_hand_written_documents_take_the_fast_way(value: object) -> None:
    plain = _as_json(spell(value))
    assert plain is not None
    assert json.loads(plain) == value


def test_long_text_in_rare_forms_is_refused_rather_than_waited_for() -> None:
    with pytest.raises(ValueError, match="neither"):
        read_relaxed_json("{a: 0x1F," + " " * 30_000 + "}")


def test_rare_forms_are_left_to_json5() -> None:
    assert read_relaxed_json("{a: 0x1F, b: 'it\\'s', c: Infinity}") == {
        "a": 31,
        "b": "it's",
        "c": float("inf"),
    }


@pytest.mark.parametrize("text", ["{,}", "[,]", "{a:1,,}", "{a}", "[1 2]", "{a: 01}"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_relaxed_json(text)
