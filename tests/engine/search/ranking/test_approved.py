"""What an approved fact makes of the lines it cites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.search.ranking.memory_source import NOW, MemorySource, note
from workbench.engine.catalog.records import EntityRecord, FactRecord
from workbench.engine.results.recall import Found
from workbench.engine.search.chunks import Chunk
from workbench.engine.search.ranking.question import SearchOptions
from workbench.engine.search.ranking.search import Search, SearchQuery

ANN = "entity:person--ann"
ENTITIES = "memory/graph/entities/person--ann.md"
OLD = note("- 09:00 user: The choir rehearses in the crypt of Saint Olaf, bring a scarf", "2026-01-05")
NEW = note("- 21:00 user: Rehearsal is at the library from today", "2026-01-20")
OTHERS = [
    note(f"- 08:00 user: The choir sang a song by Grieg in the crypt, number {at}", f"2025-12-{at:02}")
    for at in range(1, 9)
]
QUESTION = "Where does the choir rehearse, in the crypt of Saint Olaf?"


def fact(
    block: str, text: str, *cited: str, line: int = 0, by: str | None = None, until: str | None = None
) -> FactRecord:
    after = f"{ANN}#^{by}" if by else None
    return FactRecord(
        f"{ANN}#^{block}", ANN, text, line, until=until, superseded_by=after, provenance=cited, retired=bool(by)
    )  # fmt: skip


CRYPT = fact(
    "f1", "The choir rehearses in the crypt", "file:memory/2026-01-05.md#L1-L1", by="f2", until="2026-01-20"
)
LIBRARY = fact("f2", "Rehearsal is at the library", "file:memory/2026-01-20.md#L1-L1", line=4)


class Facts:
    """Facts in a list, as the catalog gives them."""

    def __init__(self, *facts: FactRecord) -> None:
        self.facts = facts

    def facts_citing(
        self, lines: Sequence[tuple[str, int, int]], memories: Sequence[str]
    ) -> tuple[FactRecord, ...]:
        paths = [path for path, *_ in lines]
        return tuple(
            each
            for each in self.facts
            if any(
                source in memories or any(source.startswith(f"file:{path}#L") for path in paths)
                for source in each.provenance
            )
        )

    def fact(self, fact_id: str) -> FactRecord | None:
        return next((each for each in self.facts if each.id == fact_id), None)

    def entity(self, entity: str) -> EntityRecord | None:
        return EntityRecord(entity, "person", "Ann", ENTITIES) if entity == ANN else None


def page(*facts: FactRecord) -> Chunk:
    """Return the page of Ann with the facts that hold."""
    lines = [
        f"- {each.text} (from {' and '.join(each.provenance)}) ^{each.id.rpartition('^')[2]}"
        for each in facts
        if not each.retired
    ]
    return Chunk(ANN, "semantic", ENTITIES, 1, "\n".join(("# Ann", "", "## Facts", *lines)), "Ann")


def ask(question: str, chunks: Sequence[Chunk], *facts: FactRecord, budget: int | None = 500) -> Found:
    lookups = Facts(*facts)
    options = SearchOptions(budget=budget, explain=True)
    asked = SearchQuery(question, options, NOW, dict.fromkeys, None, lookups)
    return Search(asked, MemorySource(chunks), None).found()


def test_lines_of_a_superseded_fact_stand_behind_those_of_its_successor() -> None:
    chunks = [*OTHERS, OLD, NEW]
    before = [hit.date for hit in ask(QUESTION, chunks).results]
    assert before[0] == "2026-01-05"
    found = ask(QUESTION, chunks, CRYPT, LIBRARY)
    assert [hit.date for hit in found.results][:2] == ["2026-01-20", "2026-01-05"]
    new, old = found.results[:2]
    assert (old.outdated_by, old.outdated_since) == (LIBRARY.id, "2026-01-20")
    assert (new.outdated_by, new.approved_as) == (None, LIBRARY.id)
    assert old.explanation is not None
    assert f"Behind what holds instead since 2026-01-20: {LIBRARY.id}." in old.explanation.nudges
    assert new.explanation is not None
    assert "Raised: it holds instead of a statement that matched better." in new.explanation.nudges


def test_lines_that_share_no_word_with_the_question_come_with_what_they_replace() -> None:
    silent = note("- 21:00 user: From today on we meet among the books", "2026-01-20")
    assert "books" not in "".join(hit.snippet for hit in ask(QUESTION, [*OTHERS, OLD, silent]).results)
    found = ask(QUESTION, [*OTHERS, OLD, silent], CRYPT, LIBRARY)
    assert "books" in found.results[0].snippet


def test_no_newer_line_without_approval_passes_one_that_an_approved_fact_rests_on() -> None:
    guess = note(
        "- 21:00 user: From now on the choir may rehearse in some other crypt at 8, as Ann hears",
        "2026-01-25",
    )
    question = "Where does the choir rehearse, in which crypt?"
    holds = fact("f6", "The choir rehearses in the crypt", f"file:{OLD.path}#L1-L1")
    assert ask(question, [*OTHERS, OLD, guess]).results[0].date == "2026-01-25"
    first, second = ask(question, [*OTHERS, OLD, guess], holds).results[:2]
    assert (first.date, first.approved_as) == ("2026-01-05", holds.id)
    assert second.date == "2026-01-25"


def test_a_successor_is_followed_to_the_fact_that_holds() -> None:
    last = fact("f3", "The choir is at the school", "file:memory/2026-01-28.md#L1-L1")
    school = note("- 10:00 user: Now it is the school", "2026-01-28")
    middle = replace(LIBRARY, superseded_by=last.id, retired=True)
    library = note("- 21:00 user: The choir is at the library from today", "2026-01-20")
    found = ask(QUESTION, [*OTHERS, OLD, library, school], CRYPT, middle, last)
    assert found.results[0].date == "2026-01-28"
    assert {hit.date for hit in found.results if hit.outdated_by == last.id} == {"2026-01-05", "2026-01-20"}


def test_a_circle_of_successors_holds_nothing() -> None:
    round_about = replace(LIBRARY, superseded_by=CRYPT.id, retired=True)
    found = ask(QUESTION, [*OTHERS, OLD, NEW], CRYPT, round_about)
    assert not [hit for hit in found.results if hit.outdated_by]


def test_a_line_that_says_more_is_outdated_only_for_questions_about_what_changed() -> None:
    scarf = fact("f4", "Ann brings a scarf for Saint Olaf", "file:memory/2026-01-05.md#L1-L1")
    about = ask("What does Ann bring for Saint Olaf, a scarf?", [OLD, NEW], CRYPT, LIBRARY, scarf).results[0]
    assert (about.date, about.outdated_by, about.approved_as) == ("2026-01-05", None, scarf.id)
    about = ask("Where does the choir rehearse?", [OLD, NEW], CRYPT, LIBRARY, scarf).results[0]
    assert (about.date, about.approved_as) == ("2026-01-20", LIBRARY.id)


def test_lines_that_the_successor_cites_as_well_are_not_outdated() -> None:
    both = replace(LIBRARY, provenance=("file:memory/2026-01-05.md#L1-L1",))
    assert ask(QUESTION, [OLD, NEW], CRYPT, both).results[0].outdated_by is None


def test_where_the_successor_cites_nothing_the_fact_itself_stands_above() -> None:
    spoken = replace(LIBRARY, provenance=())
    chunks = [*OTHERS, OLD, page(LIBRARY)]
    found = ask(QUESTION, chunks, CRYPT, spoken)
    assert [hit.path for hit in found.results][:2] == [ENTITIES, OLD.path]


def test_a_fact_lends_its_rank_to_the_line_it_rests_on() -> None:
    said = note("- 10:00 user: mondays seven sharp, same as last year", "2026-01-10")
    choir = fact("f5", "The choir rehearses on Mondays at seven", "file:memory/2026-01-10.md#L1-L1")
    question = "At what time does the choir rehearse?"
    chunks = [*OTHERS, said, page(choir)]
    found = ask(question, chunks, choir)
    assert [hit.path for hit in found.results][:2] == [ENTITIES, said.path]
    assert found.results[1].approved_as == choir.id
    assert found.results[1].explanation is not None
    assert f"Raised: the approved fact {choir.id} rests on it." in found.results[1].explanation.nudges


def test_the_line_is_handed_over_though_the_fact_says_the_same() -> None:
    said = note("- The choir rehearses on Mondays at seven in the hall", "2026-01-10")
    same = fact(
        "f5", "The choir rehearses on Mondays at seven in the hall", "file:memory/2026-01-10.md#L1-L1"
    )
    paths = {hit.path for hit in ask("When does the choir rehearse?", [said, page(same)], same).results}
    assert paths == {said.path, ENTITIES}


def test_a_fact_that_has_ended_lends_nothing() -> None:
    said = note("- 10:00 user: mondays seven sharp", "2026-01-10")
    ended = fact(
        "f5", "The choir rehearses on Mondays", "file:memory/2026-01-10.md#L1-L1", until="2026-01-31"
    )
    found = ask("When does the choir rehearse?", [said, *OTHERS], ended)
    assert not [hit for hit in found.results if hit.approved_as]


@given(st.lists(st.sampled_from(range(len(OTHERS))), max_size=4), st.booleans())
def test_nothing_is_lost_or_doubled_by_what_was_approved(cited: list[int], past: bool) -> None:
    sources = [f"file:{OTHERS[at].path}#L1-L1" for at in cited]
    known = replace(CRYPT if past else LIBRARY, provenance=tuple(sources), id=f"{ANN}#^f9")
    plain, ruled = ask(QUESTION, [*OTHERS, OLD]), ask(QUESTION, [*OTHERS, OLD], known, LIBRARY)
    assert sorted(hit.path for hit in plain.results) == sorted(hit.path for hit in ruled.results)
