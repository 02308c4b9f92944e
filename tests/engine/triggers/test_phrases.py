"""A user’s phrases join the shipped ones; a file that cannot be understood says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.triggers import detect
from workbench.engine.errors import InvalidInput, NotFound, StorageError
from workbench.engine.triggers.phrases import load_phrases


def test_a_phrase_of_ones_own_is_heard_beside_the_shipped_ones(tmp_path: Path) -> None:
    file = tmp_path / "phrases.toml"
    file.write_text(
        '[en]\nremember = ["mark my words …"]\n\n[de]\nremember = ["merk dir [dass] …"]\nlead_ins = ["bitte"]\n'
    )
    book = load_phrases(file)
    assert detect("Mark my words: tea beats coffee.", book).payload == "tea beats coffee"
    assert detect("Bitte merk dir dass ich Tee mag.", book).payload == "ich Tee mag"
    assert detect("Remember that I like tea.", book).payload == "I like tea"


def test_a_shipped_phrase_can_be_taken_away() -> None:
    book = load_phrases({"en": {"disabled": ["note that …"]}})
    assert detect("Note that I prefer tabs.", book).kind == "none"
    assert detect("Note that I prefer tabs.", load_phrases()).kind == "remember"


def test_an_idle_phrase_of_ones_own_silences_a_trigger() -> None:
    book = load_phrases({"en": {"idle": ["remember the milk …"]}})
    assert detect("Remember the milk has an API, doesn’t it.", book).kind == "none"


def test_a_phrase_may_begin_with_what_it_is_about() -> None:
    book = load_phrases({"en": {"remember": ["… is worth a note"]}})
    found = detect("By the way, tea is worth a note.", book)
    assert (found.kind, found.payload) == ("remember", "tea")
    assert detect("She said tea is worth a note.", book).kind == "none"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"en": ["remember …"]}, "table"),
        ({"en": {"remembr": ["x …"]}}, "no list"),
        ({"en": {"remember": "x …"}}, "not a list"),
        ({"en": {"remember": [""]}}, "not a list"),
        ({"en": {"remember": ["…"]}}, "cannot be understood"),
        ({"en": {"remember": ["… is noted …"]}}, "cannot be understood"),
        ({"en": {"remember": ["[maybe] …"]}}, "cannot be understood"),
        ({"en": {"remember": ["keep (this …"]}}, "cannot be understood"),
        ({"en": {"remember": ["put … into … now"]}}, "cannot be understood"),
        ({"en": {"disabled": ["no such phrase …"]}}, "no phrase"),
        ({"zh": {"spaced": "no"}}, "neither true nor false"),
    ],
)
def test_a_table_that_cannot_be_understood_names_place_and_remedy(
    table: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint) as raised:
        load_phrases(table)
    assert raised.value.where
    assert raised.value.remedy


def test_a_misspelt_key_names_the_nearest() -> None:
    with pytest.raises(InvalidInput) as raised:
        load_phrases({"en": {"remembr": ["x …"]}})
    assert "remember" in (raised.value.remedy or "")


@pytest.mark.parametrize("content", [b"[en\n", b"\xff\xfe\xff", b"en = 3"])
def test_a_file_that_is_no_such_table_is_an_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "phrases.toml"
    file.write_bytes(content)
    with pytest.raises(InvalidInput) as raised:
        load_phrases(file)
    assert raised.value.where == str(file)


def test_a_missing_or_unreadable_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        load_phrases(tmp_path / "none.toml")
    with pytest.raises(StorageError):
        load_phrases(tmp_path)


def test_every_shipped_phrase_compiles_and_has_its_anchor_in_what_it_fits() -> None:
    for language in load_phrases().languages:
        for phrase in language.phrases:
            assert phrase.pattern.groups <= 1
            assert all(anchor == anchor.lower() and anchor for anchor in phrase.anchors)


@pytest.mark.parametrize(
    ("source", "spaced", "spoken"),
    [
        ("(don't|dont) [ever] forget …", True, "don't forget"),
        ("(remove|delete) … from memory", True, "remove … from memory"),
        ("forget <my|our> …", True, "forget my"),
        ("important: …", True, "important:"),
        ("(记住|記住)[了] …", False, "记住"),
        ("(把|将) … (忘|忘了)[吧]", False, "把…忘"),
    ],
)
def test_a_phrase_is_told_as_somebody_would_say_it(source: str, spaced: bool, spoken: str) -> None:
    book = load_phrases({"xx": {"spaced": spaced, "remember": [source]}})
    assert book.languages[-1].phrases[0].spoken == spoken
