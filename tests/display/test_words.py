from __future__ import annotations

import pytest

from workbench.display import words


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("agent:main:main", "main"),
        ("agent:critic:main", "critic main"),
        ("agent:main:subagent:3f2a", "3f2a"),
        ("agent:main:telegram:group:12", "telegram:group:12"),
        ("notes", "notes"),
        ("", ""),
    ],
)
def test_a_session_goes_by_what_tells_it_from_others(key: str, name: str) -> None:
    assert words.session(key) == name


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("file:memory/2023-05-08.md#L7-L7", "memory/2023-05-08.md, line 7"),
        ("file:memory/2023-05-08.md#L7-L9", "memory/2023-05-08.md, lines 7–9"),
        ("source:file:notes.md#L3", "notes.md, line 3"),
        ("file:notes.md", "notes.md"),
        ("user-explicit", "you said so"),
    ],
)
def test_where_a_memory_comes_from_is_said_in_words(source: str, said: str) -> None:
    assert words.origin(source) == said


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (0, 3000, 0),
        (1, 3000, 1),
        (269, 3000, 9),
        (867, 1000, 87),
        (2999, 3000, 99),
        (3000, 3000, 100),
        (6, 4, 150),
    ],
)
def test_a_share_is_rounded_to_the_nearest_but_neither_to_nothing_nor_to_full(
    part: int, whole: int, said: int
) -> None:
    assert words.percent(part, whole) == said


def test_a_correction_is_read_without_the_id_of_what_it_corrects() -> None:
    said = words.without_id("Correction of episode:2026-11-24:07:45#2: Mei comes on Friday")
    assert said == "Correction: Mei comes on Friday"
    assert words.without_id("Mei said: Correction of episode:2026-11-24:07:45: no") != "Correction: no"
