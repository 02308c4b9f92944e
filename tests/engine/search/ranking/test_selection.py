"""In which order what was found is handed over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from tests.engine.search.ranking.memory_source import NOW, MemorySource, note
from workbench.engine.results.recall import Hit
from workbench.engine.search.chunks import Chunk
from workbench.engine.search.ranking.question import SearchOptions
from workbench.engine.search.ranking.search import Search, SearchQuery


def core(text: str) -> Chunk:
    return Chunk("core:MEMORY.md#known", "core", "MEMORY.md", 1, text, "Known")


def ask(question: str, chunks: Sequence[Chunk]) -> tuple[Hit, ...]:
    asked = SearchQuery(question, SearchOptions(budget=500), NOW, dict.fromkeys)
    return Search(asked, MemorySource(chunks), None).found().results


def day(ago: int) -> str:
    return (NOW - timedelta(days=ago)).date().isoformat()


def test_core_memory_has_no_day_and_stays_behind_last_week() -> None:
    said = note("- 12:00 user: we ate out at the harbour, the fish soup was salty", day(7))
    rule = core("- Lunch is soup with bread")
    assert ask("What lunch should I have, soup?", [said, rule])[0].path == rule.path
    hits = ask("What soup should I have for lunch after that of last week?", [said, rule])
    assert [hit.path for hit in hits] == [said.path, rule.path]


def test_the_latest_is_what_has_a_day_and_not_what_always_holds() -> None:
    older = note("- 12:00 user: the harvest waits for the rain to stop", day(9))
    newer = note("- 12:00 user: the harvest is done in the upper field", day(2))
    known = core("- The harvest is brought to the mill by cart")
    hits = ask("What is the latest on the harvest?", [older, newer, known])
    assert hits[0].date == day(2)
    assert {hit.path for hit in hits} == {older.path, newer.path, known.path}
