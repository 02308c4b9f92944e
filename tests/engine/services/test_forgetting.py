"""Forgetting says beforehand what would be left without evidence."""

from __future__ import annotations

from tests.engine.services.agent_home import AgentHome

ONLY_SOURCE = "episode:2026-02-01:09:15"
SECOND = "episode:2026-02-01:18:40"
FACT = "Drinks tea in the morning"


def test_facts_that_rest_on_nothing_else_are_named_before_and_after(settled: AgentHome) -> None:
    told = (f"Nothing else supports “{FACT}”.",)
    with settled.open("person") as workspace:
        assert workspace.forget(ids=[ONLY_SOURCE]).warnings == told
        assert workspace.forget(ids=[SECOND]).warnings == ()
        assert workspace.forget(ids=[ONLY_SOURCE], apply=True).warnings == told
        workspace.undo()
        # What goes as well needs no evidence.
        assert workspace.forget(ids=[ONLY_SOURCE, "person--robin"]).warnings == ()


def test_a_fact_with_another_source_keeps_its_evidence_until_that_is_archived_too(settled: AgentHome) -> None:
    page = settled.root / "memory/graph/entities/person--robin.md"
    page.write_text(
        page.read_text("utf-8").replace(f"from {ONLY_SOURCE}", f"from {ONLY_SOURCE} and {SECOND}"), "utf-8"
    )
    with settled.open("person") as workspace:
        assert workspace.forget(ids=[ONLY_SOURCE]).warnings == ()
        workspace.forget(ids=[SECOND], apply=True)
        assert workspace.forget(ids=[ONLY_SOURCE]).warnings == (f"Nothing else supports “{FACT}”.",)
