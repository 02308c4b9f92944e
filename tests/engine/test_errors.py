"""How errors read."""

from __future__ import annotations

import pytest

from workbench.engine.errors import WorkbenchError


@pytest.mark.parametrize(
    ("message", "remedy", "told"),
    [
        ("It is out", "Start it.", "It is out. Start it."),
        ("It is out.", "Start it.", "It is out. Start it."),
        ("It says “no.”", "Start it.", "It says “no.” Start it."),
        ("It is out", None, "It is out"),
    ],
)
def test_message_and_remedy_are_sentences(message: str, remedy: str | None, told: str) -> None:
    error = WorkbenchError(message, where="here", remedy=remedy)
    assert error.told == told
    assert str(error) == f"here: {told}"
