"""What stands first for a question, what is hidden, and what is said about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.search.ranking.memory_source import NOW, MemorySource, ask, embed, note
from workbench.engine.results.memories import Score
from workbench.engine.results.recall import Found, HitRelation
from workbench.engine.search.chunks import Chunk, Within
from workbench.engine.search.ranking.graph import ReachedMemory
from workbench.engine.search.ranking.question import SearchOptions
from workbench.engine.search.ranking.scoring import opening_of
from workbench.engine.search.ranking.search import Search, SearchQuery
from workbench.engine.search.ranking.selection import Ranked
from workbench.engine.tokens import count_tokens

LOG = "- 10:00 Ann: Where did you spend the summer?\n- 10:01 Bob: In a hut by the lake\n- 10:02 Ann: Lovely"
SOUP = note("- 09:00 Ann: The soup needs more salt\n- 09:01 Bob: I bought a violin", "2026-01-07")


def texts(found: Found) -> list[str]:
    return [hit.snippet for hit in found.results]


def score(value: float, status: str) -> Score:
    return Score(value, value, status, {})


def test_the_line_that_answers_stands_first_and_alone_under_a_budget() -> None:
    found = ask("What violin did Bob buy?", [note(LOG), SOUP], options=SearchOptions(budget=200))
    assert found.results[0].snippet == "- 09:01 Bob: I bought a violin" or "violin" in "".join(
        texts(found)[:1]
    )
    assert (found.results[0].start_line, found.results[0].end_line) == (2, 2)


def test_without_a_budget_a_line_comes_in_its_context() -> None:
    found = ask("violin", [note(LOG), SOUP])
    assert found.results[0].snippet == SOUP.text
    assert (found.results[0].start_line, found.results[0].end_line) == (1, 2)


def test_headings_alone_take_nothing_of_a_budget() -> None:
    text = "# person--ann\n\n## Facts\n- Ann bought a violin\n- Ann sings\n\n## Superseded"
    ann = Chunk("entity:person--ann", "semantic", "graph/ann.md", 1, text, "Ann")
    handed = texts(ask("violin", [ann], options=SearchOptions(budget=500)))
    assert any("violin" in snippet for snippet in handed)
    assert not any("Superseded" in snippet and "Ann" not in snippet for snippet in handed)


def test_what_is_left_out_is_named_by_its_words() -> None:
    chunks = [note("## Evening\n- [ ] Buy violin strings <!-- a -->", name="a"), note("- violin", name="b")]
    cuts = ask("violin", chunks, options=SearchOptions(max_results=0, explain=True)).cuts
    assert {cut.text for cut in cuts} == {"Buy violin strings", "violin"}


def test_no_line_of_a_log_is_shown_by_two_results() -> None:
    turns = "\n".join(f"- 10:{at:02} Ann: violin {at} {'and so on ' * 12}" for at in range(20))
    found = ask("violin", [note(turns)])
    shown = [line for hit in found.results for line in range(hit.start_line, hit.end_line + 1)]
    assert len(found.results) > 1
    assert len(shown) == len(set(shown))


def test_who_is_asked_about_stands_before_who_speaks_of_him() -> None:
    log = note(
        "- 09:00 Ann: Bob, was the marathon hard for you?\n- 09:05 Bob: The marathon was hard on my knees"
    )
    found = ask("How was the marathon for Bob?", [log], options=SearchOptions(budget=200))
    assert "knees" in found.results[0].snippet


def test_the_first_person_asks_for_what_the_person_said() -> None:
    said = [
        note("## 09:00 user\nMy API quota is 500 calls", line=1),
        note("## 09:01 assistant\nYour API quota of 500 calls can be raised: API quota settings", line=10),
    ]
    assert "My API" in ask("What is my API quota?", said).results[0].snippet
    assert "raised" in ask("What did you say about the API quota?", said).results[0].snippet


def test_meaning_finds_what_no_word_shares() -> None:
    chunks = [note("- 09:00 Ann: The puppy slept all day", "2026-01-03"), SOUP]
    assert not ask("hound", chunks).results
    assert "puppy" in ask("hound", chunks, meaning=True).results[0].snippet


def test_days_that_a_question_names_come_first() -> None:
    days = [
        note(f"- 09:00 Ann: We went climbing in the hills {number}", f"2025-0{number}-10")
        for number in range(3, 8)
    ]
    found = ask("Who went climbing in May?", days)
    assert found.period == ("2025-05-01", "2025-05-31")
    assert found.results[0].date == "2025-05-10"
    assert len(found.results) == len(days), "a named period is a nudge, never a filter"


def test_a_newer_statement_stands_before_the_older_one_it_replaces() -> None:
    old = note("- 09:00 user: My daily quota for the weather is 1000 calls", "2026-01-01")
    new = note(
        "- 09:00 user: A letter about many other things says that the daily quota of calls is now 1200",
        "2026-01-20",
    )
    others = [note(f"- 09:00 user: The weather was fine, {day}", f"2025-12-0{day}") for day in range(1, 10)]
    question = "What is my daily quota of calls for the weather?"
    found = ask(question, [old, new, *others], options=SearchOptions(explain=True))
    assert [hit.date for hit in found.results][:2] == ["2026-01-20", "2026-01-01"]
    assert found.results[0].explanation is not None
    assert any("Newer" in nudge for nudge in found.results[0].explanation.nudges)
    assert (
        ask("When did I speak of my daily quota for the weather?", [old, new]).results[0].date == "2026-01-01"
    )


def test_the_same_thing_with_another_value_needs_no_word_of_change() -> None:
    old = note(
        "- 09:00 user: My dentist appointment at the Harbour clinic is at 3 pm, dentist Rossi", "2026-01-01"
    )
    new = note("- 09:00 user: My dentist appointment at the Harbour clinic is at 5 pm", "2026-01-20")
    same = note("- 09:00 user: My dentist appointment at the Harbour clinic with Rossi", "2026-01-25")
    question = "When is my dentist appointment at the Harbour clinic with dentist Rossi?"
    found = ask(question, [old, new, SOUP], meaning=True, options=SearchOptions(budget=500))
    assert [hit.date for hit in found.results][:2] == ["2026-01-20", "2026-01-01"]
    past = ask(question.replace("is my", "was my"), [old, new, SOUP], meaning=True)
    assert past.results[0].date == "2026-01-01", "a question about then wants what held then"
    other = ask(question, [old, same, SOUP], meaning=True, options=SearchOptions(budget=500, explain=True))
    assert not any("Newer" in str(hit.explanation) for hit in other.results), "no other value"


def test_what_was_superseded_stands_behind_its_successor() -> None:
    entity = Chunk(
        "entity:person--ann", "semantic", "graph/ann.md", 1, "# Ann\n- Lives in a city, Oslo ^f2", "Ann"
    )
    retired = Chunk(
        "entity:person--ann#^f1", "semantic", "graph/ann.md", 9, "Ann lives in the city of Rome", "Ann",
        is_retired=True, superseded_by="entity:person--ann#^f2",
    )  # fmt: skip
    found = ask("Which city of Rome lives Ann in?", [retired, entity])
    assert [hit.id for hit in found.results] == ["entity:person--ann", "entity:person--ann#^f1"]
    assert found.results[1].superseded_by == "entity:person--ann#^f2"


def test_what_no_longer_holds_stands_behind_what_answers_as_much() -> None:
    said = Chunk(
        "entity:person--ann", "semantic", "ann.md", 1, "# Ann\n- Sings\n- Rows to Oslo by night", "Ann"
    )
    was = Chunk("entity:person--ann#^f1", "semantic", "ann.md", 9, "Rows to Oslo", "Ann", is_retired=True)
    for ended in (was, replace(was, is_retired=False, until=f"{NOW - timedelta(days=1):%Y-%m-%d}")):
        first, second = ask("rows to Oslo", [ended, said], options=SearchOptions(explain=True)).results
        assert ((first.id, first.retired), (second.id, second.retired)) == (
            ("entity:person--ann", False), ("entity:person--ann#^f1", True),
        )  # fmt: skip
        assert second.explanation is not None
        assert "Lowered: it no longer holds." in second.explanation.nudges
        assert "Lowered: it no longer holds." not in (first.explanation or second.explanation).nudges
    # Nothing else speaks of that.
    assert ask("rows to Oslo", [was, replace(said, text="# Ann\n- Sings")]).results[0].id == was.memory_id


def test_a_fact_has_the_score_of_its_entity_and_a_note_its_own() -> None:
    fact = Chunk("entity:person--ann#^f1", "semantic", "ann.md", 9, "Rows to Oslo", "Ann", is_retired=True)
    note_ = Chunk(
        "vault:ann#^f1.md", "vault", "vault/ann#^f1.md", 1, "Ann rows the dinghy to Oslo at dawn", "Ann"
    )
    gone = {memory_id: score(0.0, "archived") for memory_id in ("entity:person--ann", "vault:ann")}
    assert [hit.id for hit in ask("rows to Oslo", [fact, note_], scores=gone).results] == [note_.memory_id]


def test_decay_nudges_and_never_hides_what_holds_the_very_thing_asked_for() -> None:
    old = replace(note("- Planted tulips in the garden", "2020-01-01"), memory_id="episode:old")
    new = replace(note("- Weeded the garden", "2026-01-01"), memory_id="episode:new")
    faded = {"episode:old": score(0.06, "dormant"), "episode:new": score(0.9, "active")}
    assert ask("planted tulips in the garden", [old, new], scores=faded).results[0].id == "episode:old"
    hidden = ask("tulips garden", [old, new], scores=faded)
    assert [hit.id for hit in hidden.results] == ["episode:new"]
    shown = ask("tulips garden", [old, new], scores=faded, options=SearchOptions(include_dormant=True))
    assert shown.results[0].id == "episode:old"
    archived = {"episode:old": score(0.01, "archived")}
    assert "episode:old" not in [hit.id for hit in ask("tulips garden", [old, new], scores=archived).results]


OLD_GARDEN = replace(note("- Planted tulips in the garden", "2020-01-01"), memory_id="episode:old")
NEW_GARDEN = replace(note("- Weeded the garden", "2026-01-01"), memory_id="episode:new")
BY_DECISION = Score(0.0, 0.0, "archived", {"archived": True})


@pytest.mark.parametrize("status", ["dormant", "archived"])
def test_what_faded_and_matches_as_well_is_counted_and_given_apart(status: str) -> None:
    scores = {"episode:old": score(0.06, status)}
    found = ask("tulips garden", [OLD_GARDEN, NEW_GARDEN], scores=scores)
    assert [hit.id for hit in found.results] == ["episode:new"]
    assert (found.faded.count, [hit.id for hit in found.faded.results]) == (1, ["episode:old"])
    assert found.faded.results[0].status == status
    assert not ask("weeded", [OLD_GARDEN, NEW_GARDEN], scores=scores).faded.count, "it matches worse"


def test_what_somebody_archived_is_not_told_of() -> None:
    scores = {"episode:old": BY_DECISION}
    for question in ("tulips garden", "planted tulips in the garden"):
        found = ask(question, [OLD_GARDEN, NEW_GARDEN], scores=scores)
        assert (found.faded.count, found.faded.results) == (0, ())
        assert "episode:old" not in [hit.id for hit in found.results]


def test_where_everything_faded_it_is_told() -> None:
    found = ask("tulips garden", [OLD_GARDEN], scores={"episode:old": score(0.06, "dormant")})
    assert (found.results, found.faded.count) == ((), 1)


def test_of_many_faded_memories_the_best_are_shown_within_what_a_budget_leaves() -> None:
    old = [
        replace(note(f"- Planted tulips, bed {at}", f"2020-01-{at:02}"), memory_id=f"episode:{at}")
        for at in range(1, 9)
    ]
    scores = {each.memory_id: score(0.06, "dormant") for each in old}
    found = ask("planted tulips", old, scores=scores)
    assert (found.faded.count, len(found.faded.results)) == (8, 5)
    found = ask("planted tulips", old, scores=scores, options=SearchOptions(budget=20))
    assert found.faded.count == 8
    assert 0 < sum(count_tokens(hit.snippet) for hit in found.faded.results) <= 20


def test_weak_results_do_not_fill_the_list() -> None:
    best = note("- The lighthouse on Gotland was painted white", "2026-01-01")
    weak = [note(f"- The door was painted, layer {at}", f"2026-01-{at:02}") for at in range(2, 9)]
    question = "Was the lighthouse on Gotland painted white?"
    assert len(ask(question, [best, *weak]).results) > 1
    found = ask(question, [best, *weak], options=SearchOptions(least_share=0.5, explain=True))
    assert [hit.date for hit in found.results] == ["2026-01-01"]
    assert {cut.reason for cut in found.cuts} == {"weak"}
    alone = ask("door painted", weak, options=SearchOptions(least_share=0.5))
    assert len(alone.results) == len(ask("door painted", weak).results), "what is alike stays"


HOW_TO = Chunk(
    "procedure:release-notes", "procedural", "memory/procedures/release-notes.md", 1,
    "# Write release notes\n\n## Steps\n1. Collect the merged changes\n2. Ask Mei to read them", "Write release notes",
)  # fmt: skip


@pytest.mark.parametrize(
    "question", ["how do I usually write release notes", "release notes", "Write the release notes?"]
)
@pytest.mark.parametrize("status", ["active", "dormant", "archived"])
def test_what_is_asked_for_by_its_title_or_name_is_found_first(question: str, status: str) -> None:
    talk = [
        note(f"- 09:00 user: I usually write notes on the release, part {at}", f"2026-01-{at:02}")
        for at in range(1, 9)
    ]
    scores = {HOW_TO.memory_id: score(0.04, status)}
    found = ask(question, [*talk, HOW_TO], scores=scores, options=SearchOptions(explain=True))
    assert found.results[0].id == HOW_TO.memory_id
    assert "The question asks for it by its name." in str(found.results[0].explanation)
    forgotten = ask(question, [*talk, HOW_TO], scores={HOW_TO.memory_id: BY_DECISION})
    assert HOW_TO.memory_id not in [hit.id for hit in forgotten.results]


def test_how_something_is_usually_done_is_asked_for_by_its_name() -> None:
    task = Chunk(
        "episode:2026-01-10:11:00", "episodic", "memory/episodes/2026-01-10.md", 3,
        "Write release notes for 1.4", "11:00 task", date(2026, 1, 10),
    )  # fmt: skip
    how = replace(
        HOW_TO, title="release-notes", text="# release-notes\n\n## Steps\n1. Collect the merged changes"
    )
    scores = {HOW_TO.memory_id: score(0.04, "archived")}
    found = ask("How do I usually write release notes?", [task, how], scores=scores)
    assert found.results[0].id == HOW_TO.memory_id


def test_a_title_in_passing_puts_nothing_first() -> None:
    ann = Chunk("entity:person--ann-lee", "semantic", "ann.md", 1, "# Ann Lee\n- Sings", "Ann Lee")
    said = note("- 09:00 user: Ann Lee moved to Berlin in May")
    found = ask("Why did Ann Lee move to Berlin in spring?", [ann, said])
    assert found.results[0].store == "file"


def test_the_title_of_a_document_is_no_speaker() -> None:
    assert ask("Do I write release notes?", [HOW_TO]).results[0].signals.text == 1.0


def test_near_duplicates_come_once() -> None:
    twins = [note("- The spare key is under the blue pot", f"2026-01-0{day}") for day in (1, 2, 3)]
    found = ask("spare key", twins, options=SearchOptions(explain=True))
    assert len(found.results) == 1
    assert [cut.reason for cut in found.cuts] == ["near-duplicate"] * 2


def test_a_budget_is_filled_and_not_passed() -> None:
    chunks = [
        note(f"- 09:00 Ann: boat trip {number} to the island of seals", name=f"d{number}")
        for number in range(60)
    ]
    chunks = [
        replace(chunk, text=chunk.text + f" w{number}a w{number}b w{number}c")
        for number, chunk in enumerate(chunks)
    ]
    found = ask("boat trip", chunks, options=SearchOptions(budget=300))
    used = sum(count_tokens(text) for text in texts(found))
    assert 250 < used <= 300


@pytest.mark.parametrize("missing", [0, 1])
def test_a_budget_takes_what_fits_to_the_token_and_no_more(missing: int) -> None:
    chunk = note("- 09:00 Ann: The boat trip to the island of seals took four hours")
    found = ask("boat trip", [chunk], options=SearchOptions(budget=count_tokens(chunk.text) - missing))
    assert texts(found) == [chunk.text] * (1 - missing)


def test_what_ranks_alike_comes_by_file_and_line_however_it_was_read() -> None:
    alike = [
        note(f"- violin {word}", name=name, line=line)
        for word, name, line in (
            ("oak", "b", 9),
            ("elm", "b", 1),
            ("ash", "a", 9),
            ("fir", "a", 1),
            ("yew", "c", 5),
        )
    ]
    by_place = sorted((chunk.path, chunk.start_line) for chunk in alike)
    for chunks in (alike, alike[::-1]):
        found = ask("violin", chunks)
        assert len({hit.score for hit in found.results}) == 1
        assert [(hit.path, hit.start_line) for hit in found.results] == by_place


def test_filters_and_limits() -> None:
    chunks = [
        note(f"- boat trip number {day} with cousin {day * 7}", f"2026-01-0{day}") for day in range(1, 8)
    ]
    assert len(ask("boat trip", chunks, options=SearchOptions(max_results=3)).results) == 3
    within = Within(after=chunks[5].day)
    assert {hit.date for hit in ask("boat", chunks, options=SearchOptions(within=within)).results} == {
        "2026-01-06",
        "2026-01-07",
    }
    assert not ask("boat", chunks, options=SearchOptions(within=Within(store="core"))).results
    assert not ask("boat", chunks, options=SearchOptions(min_score=1.1)).results


def test_scores_fall_from_one_to_nought() -> None:
    found = ask("violin salt", [note(LOG), SOUP, note("- 09:00 Ann: salt and pepper", "2026-01-09")])
    scores = [hit.score for hit in found.results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= value <= 1 for value in scores)


def confidence(found: Found) -> float:
    return found.results[0].score if found.results else 0.0


def test_what_has_nothing_to_do_with_the_memory_scores_low() -> None:
    chunks = [note(LOG), SOUP]
    assert confidence(ask("melting point of tungsten carbide", chunks)) < 0.2
    assert confidence(ask("melting point of tungsten carbide needs violin", chunks)) < 0.2
    assert confidence(ask("Who bought a violin?", chunks)) > 0.2
    assert ask("melting point of tungsten carbide", chunks).likely_absent is None


def test_chinese_is_found_and_its_dates_are_read() -> None:
    chunks = [
        note("- 09:00 小明: 我上周买了一把小提琴", "2026-01-28"),
        note("- 09:01 小红: 今天天气很好", "2026-01-29"),
        SOUP,
    ]
    assert "小提琴" in ask("谁买了小提琴？", chunks).results[0].snippet
    assert "天气" in ask("天气怎么样", chunks).results[0].snippet
    assert "小提琴" in ask("琴", chunks).results[0].snippet
    assert ask("上週買了什麼", chunks).period == ("2026-01-26", "2026-02-01")


def test_pairs_of_characters_between_words_are_not_missing_words() -> None:
    chunks = [
        note("- 王芳过生日，大家去吃了火锅", "2026-01-28"),
        note("- 上午和王芳讨论了架构", "2026-01-29"),
    ]
    found = ask("王芳的生日怎么过的", chunks)
    assert "生日" in found.results[0].snippet
    assert confidence(found) > 0.2 > confidence(ask("他的猫叫什么名字", chunks))


@pytest.mark.parametrize("question", ["last week", "what happened last week", "上周发生了什么"])
def test_days_alone_are_answered_by_what_there_is_of_them(question: str) -> None:
    chunks = [note("- The violin arrived", "2026-01-28"), note("- It happened again and again", "2026-01-10")]
    found = ask(question, chunks)
    assert found.results[0].date == "2026-01-28"
    assert confidence(found) > 0.2 > confidence(ask(question, chunks[1:]))


class Reached:
    """A graph in which every question leads to Apollo, by one strength and name, and from there to two others."""

    def __init__(self, strength: float, *called: str) -> None:
        self._reached = ReachedMemory(strength, "Ann › leads › Apollo", frozenset(called))

    def reach(self, question: str) -> dict[str, ReachedMemory]:
        return {"entity:project--apollo": self._reached}

    def relations(self, entities: Mapping[str, bool], question: str) -> dict[str, list[HitRelation]]:
        ends = ("tool--sqlite", "place--lisbon")
        return {
            entity: [HitRelation(entity, "needs", f"entity:{end}", end) for end in ends[: 1 + with_all]]
            for entity, with_all in entities.items()
        }


APOLLO = Chunk(
    "entity:project--apollo", "semantic", "graph/apollo.md", 1, "# Apollo\n- Ships in June", "Apollo"
)


def test_what_is_called_by_a_part_of_its_name_deserves_belief() -> None:
    question = "What do you know about the rocket project?"
    found = ask(question, [SOUP, APOLLO], graph=Reached(1.0, "rocket", "project"))
    assert [hit.id for hit in found.results][:1] == ["entity:project--apollo"]
    assert confidence(found) > 0.2 > confidence(ask(question, [SOUP, APOLLO], graph=Reached(1.0)))


def test_an_entity_called_by_a_part_of_its_name_stands_before_what_holds_the_same_words() -> None:
    role = Chunk("core:identity:role", "core", "MEMORY.md", 4, "Role: engineer on the rocket project", "Role")
    question = "What do you know about the rocket project?"
    assert ask(question, [role, APOLLO]).results[0].store == "core"
    found = ask(question, [role, APOLLO], graph=Reached(1.0, "rocket", "project"))
    assert found.results[0].id == "entity:project--apollo"
    # A name in passing is not what is asked for.
    passing = ask("Who is the engineer on the rocket?", [role, APOLLO], graph=Reached(1.0, "rocket"))
    assert passing.results[0].store == "core"


def test_a_found_entity_brings_the_relations_that_answer() -> None:
    def of_apollo(question: str, graph: Reached, **scores: Score) -> list[str]:
        known = {f"entity:{name.replace('__', '--')}": each for name, each in scores.items()}
        hits = ask(question, [SOUP, APOLLO], graph=graph, scores=known).results
        return [each.label for hit in hits for each in hit.relations]

    about = "What do you know about Apollo?"
    assert of_apollo(about, Reached(1.0)) == ["tool--sqlite", "place--lisbon"]
    assert of_apollo(about, Reached(0.5)) == ["tool--sqlite"]
    assert of_apollo("Does Apollo ship in June?", Reached(1.0)) == ["tool--sqlite"]
    assert of_apollo(about, Reached(1.0), tool__sqlite=score(0.0, "archived")) == ["place--lisbon"]


def test_nothing_outside_of_last_week_stands_above_what_lies_within_it() -> None:
    within = [note(f"- 09:00 Ann: Lunch with visitor {at}", "2026-01-28", name=f"l{at}") for at in range(3)]
    outside = [
        note(f"- 09:00 Ann: We decided on curtain {at}", "2026-01-21", name=f"c{at}") for at in range(3)
    ]
    undated = note("- We decided on curtains last week", None, name="undated")
    for meaning in (False, True):
        found = ask(
            "What did we decide on curtains last week?", [*outside, undated, *within], meaning=meaning
        )
        days = [hit.date for hit in found.results]
        assert days.count("2026-01-28") == 3
        assert days[:3] == ["2026-01-28"] * 3
    # What happened in January may be told in February.
    told = note("- 09:00 Ann: In January we decided on red curtains", "2026-02-01")
    found = ask("What did we decide on curtains in January 2026?", [*within, told])
    assert found.results[0].date == "2026-02-01"


def test_last_week_keeps_to_its_days_where_they_answer_as_much() -> None:
    within = note("- 09:00 Ann: We decided to drop the old server", "2026-01-28")
    before = note("- 09:00 Ann: We decided to move the weekly call", "2026-01-07")
    told = note("- 09:00 Ann: I cooked lunch for two", "2026-01-29")
    question = "What did we decide last week?"
    for meaning in (False, True):
        found = ask(question, [within, before, told], meaning=meaning, options=SearchOptions(least_share=0.5))
        assert [hit.date for hit in found.results][:1] == ["2026-01-28"]
        assert "2026-01-07" not in [hit.date for hit in found.results]
        # What fills a budget comes behind, and what answers better is not kept back.
        assert "2026-01-07" in [hit.date for hit in ask(question, [within, before], meaning=meaning).results]
        question_of_call = "What did we decide on the weekly call last week?"
        kept = ask(question_of_call, [told, before], meaning=meaning, options=SearchOptions(least_share=0.1))
        assert "2026-01-07" in [hit.date for hit in kept.results]


def test_when_something_was_is_not_answered_by_how_it_is_done() -> None:
    how = Chunk(
        "procedure:how-to-deploy", "procedural", "memory/procedures/how-to-deploy.md", 1,
        "## Trigger\nWhen we deploy Harbor\n## Steps\n1. Deploy Harbor to staging\n2. Deploy Harbor", "How to deploy",
    )  # fmt: skip
    episode = Chunk(
        "episode:2026-01-13:10:00", "episodic", "memory/episodes/2026-01-13.md", 3,
        "The whole team watched while, with many a doubt about the database, we put Harbor up to deploy it",
        "Harbor goes live", date(2026, 1, 13),
    )  # fmt: skip
    found = ask("When did we deploy Harbor?", [how, episode, SOUP], options=SearchOptions(explain=True))
    assert [hit.id for hit in found.results][:2] == [episode.memory_id, how.memory_id]
    explained = found.results[1].explanation
    assert explained is not None
    assert "Lowered: it names no time, and the question asks for one." in explained.nudges
    assert ask("How do we deploy Harbor?", [how, episode, SOUP]).results[0].id == how.memory_id


def test_words_that_stand_together_in_the_question_do_so_in_what_answers() -> None:
    apart = note(
        "- 10:00 Ann: The login page got a response about the weather and the time of the picnic", name="a"
    )
    together = note(
        "- 10:00 Ann: About the picnic and the weather, the page got its login response time", name="b"
    )
    found = ask("login response time", [apart, together, SOUP], options=SearchOptions(budget=200))
    assert [hit.id for hit in found.results][:2] == [together.memory_id, apart.memory_id]


def test_the_graph_lane_brings_what_no_word_does() -> None:
    found = ask(
        "What do you know about Ann?", [SOUP, APOLLO], graph=Reached(0.5), options=SearchOptions(explain=True)
    )
    hit = next(hit for hit in found.results if hit.id == "entity:project--apollo")
    assert hit.signals.graph == 0.5
    assert hit.explanation is not None
    assert "Ann › leads › Apollo" in [lane.detail for lane in hit.explanation.lanes]


def test_an_explanation_names_the_words_that_matched() -> None:
    hit = ask(
        "Who bought the violin?", [note(LOG), SOUP], meaning=True, options=SearchOptions(explain=True)
    ).results[0]
    assert hit.explanation is not None
    lanes = {lane.lane: lane for lane in hit.explanation.lanes}
    assert lanes["keywords"].detail == "bought, violin"
    assert lanes["keywords"].rank == 1
    assert lanes["meaning"].score is not None


@pytest.mark.parametrize(
    ("memory_id", "options", "words"),
    [
        ("file:memory/2026-01-07.md#L1", SearchOptions(), "result 1"),
        ("file:memory/2026-01-07.md#L1", SearchOptions(min_score=1.1), "below"),
        ("file:memory/2026-01-07.md#L1", SearchOptions(within=Within(store="core")), "filters"),
        ("file:memory/2026-01-07.md#L1", SearchOptions(max_results=0), "better results"),
        ("file:none", SearchOptions(), "no such memory"),
        ("file:memory/other.md#L1", SearchOptions(), "shares no word"),
    ],
)
def test_why_a_memory_did_not_come_up(memory_id: str, options: SearchOptions, words: str) -> None:
    source = MemorySource([note(LOG), SOUP, note("- Tax forms", name="other")])
    search = Search(SearchQuery("violin", options, NOW, dict.fromkeys), source, None)
    answer = search.why_not(memory_id)
    assert words in answer.reason
    assert answer.id == memory_id


def test_the_weighted_sum_prefers_the_better_match() -> None:
    options = SearchOptions(fusion="weighted-sum", vector_weight=0.7, text_weight=0.3)
    chunks = [SOUP, note("- 09:00 Ann: The violin, the violin lesson and the violin bow", "2026-01-08")]
    assert "lesson" in ask("violin lesson bow", chunks, options=options).results[0].snippet
    assert "lesson" in ask("violin lesson bow", chunks, options=options, meaning=True).results[0].snippet


def test_as_many_results_come_as_are_asked_for() -> None:
    chunks = [note(f"- violin number {number}", name=f"n{number}") for number in range(150)]
    for options in (SearchOptions(max_results=130), SearchOptions(max_results=130, fusion="weighted-sum")):
        assert len(ask("violin", chunks, options=options).results) == 130
    few = SearchOptions(max_results=20, fusion="weighted-sum", candidate_multiplier=1)
    assert len(ask("violin", chunks, options=few).results) == 20


HOSTILE = (
    '"',
    "violin AND NOT",
    "NEAR(a b)",
    "*",
    "(((",
    "🎻" * 50,
    "'; DROP TABLE",
    "a" * 100_000,
    "",
    " \n\t",
    "col:x",
    "\x00",
    "x OR",
)


@pytest.mark.parametrize("query", HOSTILE)
def test_no_query_is_an_error(query: str) -> None:
    for meaning in (False, True):
        found = ask(query, [note(LOG), SOUP, note("🎻 \x00 ((", "2026-01-09")], meaning=meaning)
        assert all(hit.snippet for hit in found.results)
    assert not ask("", [SOUP]).results
    assert not ask("anything", []).results


@settings(max_examples=60)
@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=300), max_size=6), st.booleans())
def test_results_are_lines_of_what_was_searched(query: str, bodies: list[str], budget: bool) -> None:
    chunks = [note(body.replace("\r", " "), name=f"n{at}", line=at + 3) for at, body in enumerate(bodies)]
    options = SearchOptions(budget=500) if budget else SearchOptions()
    by_path = {chunk.path: chunk for chunk in chunks}
    for hit in ask(query, chunks, meaning=True, options=options).results:
        lines = by_path[hit.path].text.split("\n")
        start = by_path[hit.path].start_line
        assert start <= hit.start_line <= hit.end_line < start + len(lines)
        assert 0 <= hit.score <= 1
        assert len(hit.snippet) <= 700
        if len(hit.snippet) < 690:
            assert hit.snippet == "\n".join(lines[hit.start_line - start : hit.end_line - start + 1])


def test_what_has_faded_does_not_stand_in_the_way_however_much_it_is() -> None:
    old = [
        replace(
            note(f"- Watered the tulips again and again {number}", "2020-01-01"),
            memory_id=f"episode:{number}",
        )
        for number in range(900)
    ]
    fresh = replace(
        note("- The tulips came up early, said the neighbour at length", "2026-01-01"), memory_id="new"
    )
    faded = {chunk.memory_id: score(0.01, "archived") for chunk in old}
    for meaning in (False, True):
        found = ask("watered tulips", [*old, fresh], scores=faded, meaning=meaning)
        assert [hit.id for hit in found.results] == ["new"]


def rule(text: str, at: int = 1) -> Chunk:
    return Chunk(f"core:persona:{at}", "core", "MEMORY.md", at, f"- {text}", text)


def test_core_memory_answers_first_where_advice_is_asked_for() -> None:
    talk = [
        note(
            f"- 09:00 user: I looked for a restaurant to book in street {at}, any restaurant",
            f"2026-01-{at:02}",
        )
        for at in range(1, 20)
    ]
    chunks = [*talk, rule("Books no restaurant without a garden"), rule("Be brief", 2)]
    found = ask("Which restaurant should I book?", chunks, options=SearchOptions(explain=True))
    first = found.results[0]
    assert first.id == "core:persona:1"
    assert first.explanation is not None
    assert "Core memory answers first where advice is asked for." in first.explanation.nudges
    assert "core:persona:2" not in [hit.id for hit in found.results]
    assert ask("Which restaurant did I look for?", chunks).results[0].store == "file"


def test_core_memory_leaves_room_for_what_else_answers() -> None:
    rules = [rule(f"Book restaurant {at}", at) for at in range(1, 20)]
    options = SearchOptions(max_results=30, explain=True)
    found = ask("Which restaurant should I book?", rules, options=options)
    first = [at for at, hit in enumerate(found.results) if "Core memory" in str(hit.explanation)]
    assert first == [0, 1, 2, 3, 4]
    assert len(found.results) == len(rules)


def test_core_memory_that_is_less_than_half_as_relevant_keeps_its_place() -> None:
    said = note("- 09:00 user: The restaurant to book is the one by the lake")
    rules = [rule(f"No restaurant of kind {at}", at) for at in range(1, 20)]
    found = ask("Which restaurant should I book?", [*rules, said])
    assert found.results[0].store == "file"


def test_a_message_is_found_by_what_its_opening_says() -> None:
    code = "\n".join(f"value_{number} = compute({number}, other_{number})" for number in range(8))
    asked = note(f"## 09:00 user\nMy dog runs through the garden.\n```\n{code}\n```", name="a")
    other = note(
        "## 09:00 user\nA cat and one hound were in some house of ours in summer, years ago when nobody else lived"
        " where we now have all those many other things.",
        name="b",
    )
    query = SearchQuery("puppy", SearchOptions(max_results=5, min_score=0), NOW, dict.fromkeys)
    source = MemorySource([asked, other], has_vectors=True)
    whole = Search(query, source, embed).found().results
    opened = (
        Search(query, source, embed, lambda texts: np.stack([embed(text) for text in texts])).found().results
    )
    assert [hit.path for hit in whole] == ["memory/b.md", "memory/a.md"]
    assert [hit.path for hit in opened] == ["memory/a.md", "memory/b.md"]


def test_the_rest_of_a_message_is_found_by_its_opening() -> None:
    rest = "\n\n".join(
        f"{number}. Words about something else, and about nothing in particular." for number in range(9)
    )
    message = note(f"## 09:00 user\nMy dog runs through the garden.\n\n{rest}", name="a")
    query = SearchQuery("puppy", SearchOptions(budget=500, explain=True), NOW, dict.fromkeys)
    source = MemorySource([message, note("A house.", name="b")], has_vectors=True)
    whole = Search(query, source, embed).ranked(())[0]
    opened = Search(query, source, embed, lambda texts: np.stack([embed(text) for text in texts])).ranked(())[
        0
    ]

    def rest_of(placed: list[Ranked]) -> float:
        return max(place.relevance for place in placed if place.unit.place == 3)

    assert rest_of(opened) > rest_of(whole)


def test_code_and_short_words_are_no_opening() -> None:
    said = (
        "Hm.\n```python\nvalue = compute(1, 2)\nI moved the vineyard to version 4.7.0 of it."
        " Was that right, I wonder? Yes it was, I believe. More."
    )
    assert opening_of(said) == (
        "I moved the vineyard to version 4.7.0 of it.",
        "Was that right, I wonder?",
        "Yes it was, I believe.",
    )
