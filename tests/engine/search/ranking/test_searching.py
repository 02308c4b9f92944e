"""What stands first for a question, what is hidden, and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.search.ranking.memory_source import NOW, MemorySource, ask, note
from workbench.engine.results.memories import Score
from workbench.engine.results.recall import Found
from workbench.engine.search.chunks import Chunk, Within
from workbench.engine.search.ranking.candidates import ReachedMemory
from workbench.engine.search.ranking.question import SearchOptions
from workbench.engine.search.ranking.search import Search
from workbench.engine.tokens.counting import count_tokens

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


def test_what_has_nothing_to_do_with_the_memory_is_likely_absent() -> None:
    chunks = [note(LOG), SOUP]
    assert ask("melting point of tungsten carbide", chunks).likely_absent
    assert ask("melting point of tungsten carbide needs violin", chunks).likely_absent
    assert not ask("Who bought a violin?", chunks).likely_absent


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
    assert not found.likely_absent
    assert ask("他的猫叫什么名字", chunks).likely_absent


@pytest.mark.parametrize("question", ["last week", "what happened last week", "上周发生了什么"])
def test_days_alone_are_answered_by_what_there_is_of_them(question: str) -> None:
    chunks = [note("- The violin arrived", "2026-01-28"), note("- It happened again and again", "2026-01-10")]
    found = ask(question, chunks)
    assert found.results[0].date == "2026-01-28"
    assert not found.likely_absent
    assert ask(question, chunks[1:]).likely_absent


def test_the_graph_lane_brings_what_no_word_does() -> None:
    class Graph:
        def reach(self, question: str) -> dict[str, ReachedMemory]:
            return {"entity:project--apollo": ReachedMemory(0.5, "Ann › leads › Apollo")}

    apollo = Chunk(
        "entity:project--apollo", "semantic", "graph/apollo.md", 1, "# Apollo\n- Ships in June", "Apollo"
    )
    found = ask(
        "What do you know about Ann?", [SOUP, apollo], graph=Graph(), options=SearchOptions(explain=True)
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
    search = Search(
        "violin",
        source,
        options=options,
        now=NOW,
        embed_query=None,
        graph=None,
        scores_of=dict.fromkeys,
    )
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
    assert ask("", [SOUP]).likely_absent
    assert ask("anything", []).likely_absent


@settings(max_examples=60, deadline=None)
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
