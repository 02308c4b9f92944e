"""What a message asks of memory is done, or it is told that it was not (§8)."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome


@pytest.mark.parametrize("text", ["remember that", "Don’t forget that!", "记住"])
@pytest.mark.parametrize("apply", [True, False])
def test_a_request_to_remember_nothing_says_that_nothing_was_kept(
    text: str, apply: bool, settled: AgentHome
) -> None:
    with settled.open() as workspace:
        outcome = workspace.message(text, apply=apply)
    assert (outcome.kind, outcome.applied, outcome.remembered) == ("remember", False, None)
    assert outcome.note is not None
    assert outcome.note.startswith("Nothing was kept")
    assert "“Remember that" in outcome.note
