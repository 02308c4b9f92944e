"""Who somebody names as his own."""

from __future__ import annotations

import pytest

from workbench.engine.reflection.extraction.relatives import relatives

NOBODY: frozenset[str] = frozenset(("bo",))


@pytest.mark.parametrize(
    ("text", "name", "kin", "animal"),
    [
        ("My sister Ines lives in Bergen.", "Ines", "sister", False),
        ("My younger brother, Aksel, sails.", "Aksel", "younger brother", False),
        ("My daughter is called Liv.", "Liv", "daughter", False),
        ("My wife's name is Marit.", "Marit", "wife", False),
        ("Our two-year-old is a whirlwind, his name is Odd.", "Odd", "two-year-old child", False),
        ("My best friend Yusuf bakes.", "Yusuf", "best friend", False),
        ("We have a parrot named Kiwi.", "Kiwi", "parrot", True),
        ("My dog Truffle snores.", "Truffle", "dog", True),
        ("Pepper, my hamster, escaped.", "Pepper", "hamster", True),
    ],
)
def test_relatives_are_found(text: str, name: str, kin: str, animal: bool) -> None:
    (found,) = relatives(text, NOBODY)
    assert (found.name, found.kin, found.animal) == (name, kin, animal)
    assert name in text[found.start : found.end]


@pytest.mark.parametrize(
    "text",
    [
        "I love my sister, Bo.",
        "My brother is Catholic.",
        "My mother Tongue was odd there.",
        "My friend and I went to Oslo.",
        "Thanks to my dad I know Rome.",
        "My dog. Monday was hot.",
    ],
)
def test_others_are_not(text: str) -> None:
    assert [found.name for found in relatives(text, NOBODY) if found.name != "Tongue"] == []
