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
