"""Plain search: what a score means, what is hidden, and how much is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.catalog.shelf import Shelf, day, entity, episode
from workbench.engine.catalog import MemoryRecord
from workbench.engine.recall import search
from workbench.engine.recall.excerpt import SNIPPET_CHARACTERS
from workbench.engine.results import Found, Score
from workbench.engine.tokens import count_tokens


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.catalog.close()


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write(
        "memory/episodes/2026-02-01.md",
        day(
            "2026-02-01",
            episode("09:00", "The violin lesson moved to Friday.", rest=" | tags:[music]"),
            episode("10:00", "Bought a violin."),
            episode("11:00", "A lesson in patience, long and winding, with much else in it as well."),
            episode("12:00", "今天讨论了混合检索方案。"),
        ),
    )
    shelf.write("memory/episodes/2026-01-10.md", day("2026-01-10", episode("09:00", "First violin.")))
    shelf.write("memory/graph/entities/concept--violin.md", entity("Violin", summary="An instrument."))
    shelf.write("MEMORY.md", "## Persona\n- Plays the violin\n")
    shelf.sync()
    return shelf


def statuses(score: Score) -> Callable[[MemoryRecord], Score | None]:
    return lambda record: score


def ask(
    shelf: Shelf,
    query: str,
    *,
    score_of: Callable[[MemoryRecord], Score | None] = lambda record: None,
    max_results: int | None = None,
    min_score: float | None = None,
    store: str | None = None,
    after: date | None = None,
    before: date | None = None,
    include_dormant: bool = False,
    budget: int | None = None,
) -> Found:
    return search(
        shelf.lookups,
        query,
        score_of=score_of,
        max_results=max_results,
        min_score=min_score,
        store=store,
        after=after,
        before=before,
        include_dormant=include_dormant,
        budget=budget,
    )


def ids(found: Found) -> list[str]:
    return [hit.id for hit in found.results]


def test_the_share_of_words_held_decides(filled: Shelf) -> None:
    found = ask(filled, "when was the violin lesson")
    assert found.results[0].id == "episode:2026-02-01:09:00"
    best, *rest = (hit.score for hit in found.results)
    assert 0.8 <= best <= 1
    assert all(0.4 <= score <= 0.5 for score in rest)
    assert len(rest) == 5


def test_a_score_does_not_depend_on_how_many_are_asked_for(filled: Shelf) -> None:
    everything = {hit.id: hit.score for hit in ask(filled, "violin lesson").results}
    for hit in ask(filled, "violin lesson", store="episodic", max_results=2).results:
        assert everything[hit.id] == hit.score


def test_a_hit_says_where_and_when(filled: Shelf) -> None:
    (hit,) = ask(filled, "friday").results
    assert (hit.path, hit.start_line, hit.end_line) == ("memory/episodes/2026-02-01.md", 4, 4)
    assert filled.line(hit.path, 4) == hit.snippet == "The violin lesson moved to Friday."
    assert (hit.store, hit.date, hit.status, hit.title) == ("episodic", "2026-02-01", None, hit.snippet)
    assert hit.signals.text == hit.score
    assert (hit.signals.vector, hit.signals.graph, hit.signals.decay) == (None, None, None)


def test_nothing_found_is_likely_absent(filled: Shelf) -> None:
    found = ask(filled, "zeppelin")
    assert (found.results, found.likely_absent, found.provider) == ((), True, "none")
    assert not ask(filled, "violin").likely_absent
    assert ask(filled, "").results == ()


def test_filters(filled: Shelf) -> None:
    assert ids(ask(filled, "violin", store="core")) == ["core:persona:plays-the-violin"]
    assert ids(ask(filled, "violin", before=date(2026, 1, 31))) == ["episode:2026-01-10:09:00"]
    assert len(ids(ask(filled, "violin", after=date(2026, 2, 1), before=date(2026, 2, 1)))) == 2
    assert ids(ask(filled, "violin lesson", min_score=0.6)) == ["episode:2026-02-01:09:00"]
    assert len(ask(filled, "violin", max_results=2).results) == 2
    assert ask(filled, "violin", max_results=0).results == ()


def test_tags_and_titles_are_words_too(filled: Shelf) -> None:
    assert ids(ask(filled, "music")) == ["episode:2026-02-01:09:00"]


def test_chinese(filled: Shelf) -> None:
    assert ids(ask(filled, "混合检索方案")) == ["episode:2026-02-01:12:00"]
    assert ask(filled, "混合检索方案").results[0].score > 0.8
    assert ids(ask(filled, "案")) == ["episode:2026-02-01:12:00"]


def test_archived_is_hidden_and_dormant_unless_asked_for(filled: Shelf) -> None:
    everything = ids(ask(filled, "violin", score_of=statuses(Score(0.5, 0.5, "active", {}))))

    def of(record: MemoryRecord) -> Score | None:
        status = {"episode:2026-02-01:09:00": "archived", "episode:2026-02-01:10:00": "dormant"}.get(
            record.id
        )
        return Score(0.1, 0.1, status or "active", {})

    shown = ids(ask(filled, "violin", score_of=of))
    assert set(everything) - set(shown) == {"episode:2026-02-01:09:00", "episode:2026-02-01:10:00"}
    also = ask(filled, "violin", score_of=of, include_dormant=True)
    assert set(everything) - set(ids(also)) == {"episode:2026-02-01:09:00"}
    assert {hit.status for hit in also.results} == {"active", "dormant"}
    assert {hit.signals.decay for hit in also.results} == {0.1}


def test_pinned_and_fading_are_shown(filled: Shelf) -> None:
    for status in ("pinned", "fading"):
        score = Score(0.1, 0.1, status, {})
        assert len(ask(filled, "violin", score_of=statuses(score)).results) == 5


def test_what_is_hidden_or_out_of_range_keeps_nothing_else_from_being_found(shelf: Shelf) -> None:
    for number in range(1, 29):
        entries = [episode(f"{n // 60:02}:{n % 60:02}", f"Violin {number} {n}.") for n in range(40)]
        shelf.write(f"memory/episodes/2026-02-{number:02}.md", day("d", *entries))
    shelf.write(
        "memory/episodes/2020-01-01.md", day("d", episode("09:00", "Violin, " + "long and winding " * 60))
    )
    shelf.sync()

    def of(record: MemoryRecord) -> Score | None:
        return Score(0.0, 0.0, "active" if "2020" in record.id else "archived", {})

    assert ids(ask(shelf, "violin", score_of=of, max_results=5)) == ["episode:2020-01-01:09:00"]
    assert ids(ask(shelf, "violin", before=date(2021, 1, 1))) == ["episode:2020-01-01:09:00"]


def test_a_long_memory_with_the_whole_question_is_among_the_candidates(shelf: Shelf) -> None:
    entries = [episode(f"{n // 60:02}:{n % 60:02}", "Violin.") for n in range(900)]
    shelf.write("memory/episodes/2026-02-01.md", day("d", *entries))
    filler = " ".join(f"word{number}" for number in range(2_000))
    shelf.write("memory/vault/all.md", f"# Diary\n\n{filler} violin {filler} lesson\n")
    shelf.sync()
    assert ids(ask(shelf, "violin lesson", max_results=3))[0] == "vault:all.md"


def test_a_budget_is_filled_and_never_passed(filled: Shelf) -> None:
    everything = ask(filled, "violin lesson").results
    for budget in (0, 1, 5, 12, 30, 1_000):
        found = ask(filled, "violin lesson", budget=budget)
        spent = sum(count_tokens(hit.snippet) for hit in found.results)
        assert spent <= budget
        left_out = [hit for hit in everything if hit.id not in ids(found)]
        assert all(spent + count_tokens(hit.snippet) > budget for hit in left_out)
    assert len(ask(filled, "violin lesson", budget=1_000).results) == len(everything)


def test_a_budget_and_a_limit_hold_together(filled: Shelf) -> None:
    assert len(ask(filled, "violin", budget=1_000, max_results=2).results) == 2


def test_snippets_are_bounded(shelf: Shelf) -> None:
    shelf.write("memory/vault/long.md", "# Long\n\n" + ("violin " * 300 + "\n") * 20)
    shelf.sync()
    (hit,) = ask(shelf, "violin").results
    assert len(hit.snippet) <= SNIPPET_CHARACTERS
    assert hit.start_line == hit.end_line


def test_twins_by_id_in_two_files_are_both_found(filled: Shelf) -> None:
    filled.write("memory/episodes/x/2026-01-10.md", day("d", episode("09:00", "Second violin.")))
    filled.sync()
    assert ids(ask(filled, "violin")).count("episode:2026-01-10:09:00") == 2


@given(query=st.text(max_size=60), budget=st.none() | st.integers(0, 50), limit=st.none() | st.integers(0, 5))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_results_are_best_first_with_scores_from_0_to_1(
    filled: Shelf, query: str, budget: int | None, limit: int | None
) -> None:
    found = ask(filled, query, budget=budget, max_results=limit)
    scores = [hit.score for hit in found.results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert found.took_ms >= 0
