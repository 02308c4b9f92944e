"""Taking one change back out of a file leaves everything else as it has become."""

from __future__ import annotations

import json
from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.errors import Stale
from workbench.engine.history.differences import parse_units
from workbench.engine.history.structural_revert import (
    changed_units,
    conflict_error,
    in_words,
    is_scaffold,
    try_revert,
)

ENTITY = """# person--alex

<!-- Type: person | Created: 2026-01-15 | Last updated: 2026-01-15 -->

## Summary
Alex leads the memory work.

## Facts
- Prefers hybrid approaches (since 2026-01-15) ^f7k2
- Lives in Berlin ^f3c1

## Relations
- develops: [[project--x]] (confidence high) ^r3k1
"""
EPISODES = """# 2026-02-02 — Episode Log

## 14:30 | decision | confidence:high | tags:[memory]
Chose the hybrid approach.

- one
- two

## 15:45 | preference | confidence:medium | tags:[workflow]
Prefers options.
"""


def revert_content(path: str, *versions: bytes | None, only: Collection[str] | None = None) -> bytes | None:
    content, conflicts = try_revert(path, *versions, only=only)
    if conflicts:
        raise conflict_error(path, conflicts)
    return content


def revert(before: str | None, after: str | None, now: str | None, path: str = "a.md") -> str | None:
    content = revert_content(
        path, *(None if text is None else text.encode() for text in (before, after, now))
    )
    return None if content is None else content.decode()


def test_an_earlier_fact_goes_though_later_ones_followed() -> None:
    first = ENTITY.replace("^f3c1\n", "^f3c1\n- Drinks tea ^aaaa\n")
    second = first.replace("^aaaa\n", "^aaaa\n- Drinks coffee ^bbbb\n")
    assert revert(ENTITY, first, second) == second.replace("- Drinks tea ^aaaa\n", "")


@pytest.mark.parametrize("note", ["My own note.\n", "Two lines\nof a note.\n"])
def test_a_fact_goes_from_above_a_note_written_right_below_it(note: str) -> None:
    fact = "- Drinks tea ^aaaa\n"
    after = ENTITY.replace("^f3c1\n", f"^f3c1\n{fact}")
    assert revert(ENTITY, after, after.replace(fact, fact + note)) == ENTITY.replace(
        "^f3c1\n", f"^f3c1\n\n{note}"
    )
    created = "## Facts\n" + fact
    assert revert(None, created, created + note) == "## Facts\n" + note


@pytest.mark.parametrize("note", ["  - nested\n", "  Indented.\n"])
def test_a_note_that_would_become_part_of_another_fact_is_a_conflict(note: str) -> None:
    fact = "- Drinks tea ^aaaa\n"
    after = ENTITY.replace("^f3c1\n", f"^f3c1\n{fact}")
    with pytest.raises(Stale, match="Drinks tea"):
        revert(ENTITY, after, after.replace(fact, fact + note))


def test_a_changed_fact_with_a_note_right_below_it_is_a_conflict() -> None:
    after = ENTITY.replace("Lives in Berlin", "Lives in Rome")
    with pytest.raises(Stale, match="now it is “Lives in Rome My note"):
        revert(ENTITY, after, after.replace("^f3c1\n", "^f3c1\nMy note.\n"))


def test_a_removed_fact_comes_back_where_it_stood() -> None:
    after = ENTITY.replace("- Prefers hybrid approaches (since 2026-01-15) ^f7k2\n", "")
    now = after.replace("^f3c1\n", "^f3c1\n- Drinks tea ^aaaa\n")
    assert revert(ENTITY, after, now) == ENTITY.replace("^f3c1\n", "^f3c1\n- Drinks tea ^aaaa\n")


def test_a_superseded_fact_returns_to_its_heading_and_an_empty_heading_goes() -> None:
    after = ENTITY.replace("- Lives in Berlin ^f3c1\n", "- Lives in Rome ^cccc\n").replace(
        "## Relations", "## Superseded\n- Lives in Berlin (until 2026-02-02) ^f3c1\n\n## Relations"
    )
    now = after.replace("^cccc\n", "^cccc\n- Drinks tea ^aaaa\n")
    assert revert(ENTITY, after, now) == ENTITY.replace("^f3c1\n", "^f3c1\n- Drinks tea ^aaaa\n")


def test_the_heading_that_a_change_added_stays_while_something_stands_under_it() -> None:
    bare = "# project--x\n\n## Summary\nA project.\n"
    first = bare + "\n## Facts\n- One ^aaaa\n"
    second = first + "- Two ^bbbb\n"
    assert revert(bare, first, second) == bare + "\n## Facts\n- Two ^bbbb\n"


def test_a_created_file_goes_whole_and_keeps_only_what_came_later() -> None:
    assert revert(None, ENTITY, ENTITY) is None
    later = ENTITY.replace("^f3c1\n", "^f3c1\n- Drinks tea ^aaaa\n")
    assert revert(None, ENTITY, later) == (
        "# person--alex\n\n<!-- Type: person | Created: 2026-01-15 | Last updated: 2026-01-15 -->\n\n"
        "## Facts\n- Drinks tea ^aaaa\n"
    )


def test_an_entry_is_one_unit_with_everything_below_it() -> None:
    before = EPISODES.split("\n## 15:45")[0]
    later = EPISODES + "\n## 16:00 | task\nWrite.\n"
    assert revert(before, EPISODES, later) == before + "\n## 16:00 | task\nWrite.\n"
    without = EPISODES.replace(EPISODES[EPISODES.index("## 14:30") : EPISODES.index("## 15:45")], "")
    now = without + "\n## 16:00 | task\nWrite.\n"
    assert revert(EPISODES, without, now) == later


def test_what_was_changed_again_is_a_conflict_with_both_versions() -> None:
    after = ENTITY.replace("Lives in Berlin", "Lives in Rome")
    now = ENTITY.replace("Lives in Berlin", "Lives in Oslo")
    with pytest.raises(Stale) as caught:
        revert(ENTITY, after, now, "memory/graph/entities/person--alex.md")
    assert "Lives in Rome" in str(caught.value)
    assert "Lives in Oslo" in str(caught.value)
    assert caught.value.where == "memory/graph/entities/person--alex.md"


def test_changing_what_the_change_removed_or_added_is_a_conflict() -> None:
    removed = ENTITY.replace("- Lives in Berlin ^f3c1\n", "")
    _, conflicts = try_revert(
        "a.md", ENTITY.encode(), removed.encode(), ENTITY.replace("Berlin", "Oslo").encode()
    )
    assert [c.unit for c in conflicts] == ["^f3c1"]
    _, conflicts = try_revert(
        "a.md", removed.encode(), ENTITY.encode(), ENTITY.replace("Berlin", "Oslo").encode()
    )
    assert [(c.left_as, c.now) for c in conflicts] == [("- Lives in Berlin ^f3c1", "- Lives in Oslo ^f3c1")]


def test_a_line_of_the_same_label_is_the_same_line_however_it_was_reworded() -> None:
    before = "## Now\n- Currently working on: the catalogue, three parts\n- Recently: moved house\n"
    after = "## Now\n- Currently working on: an offer to the brewery\n- Nordlicht: delivered\n"
    now = after.replace("an offer to the brewery", "chapter 4 again, due on Friday")
    assert revert(before, after, after) == before
    with pytest.raises(Stale, match=r"Currently working on.*changed again since.*chapter 4 again"):
        revert(before, after, now)
    # Two of a label are two things.
    twice = "## Now\n- Buy: milk\n- Buy: bread\n"
    assert (
        revert(twice, "## Now\n- Buy: bread\n", "## Now\n- Buy: bread\n- Buy: salt\n")
        == twice + "- Buy: salt\n"
    )


def test_bookkeeping_that_moved_on_is_no_conflict() -> None:
    after = ENTITY.replace("^f3c1\n", "^f3c1\n- Tea ^aaaa\n").replace(
        "updated: 2026-01-15", "updated: 2026-02-01"
    )
    now = after.replace("^aaaa\n", "^aaaa\n- Coffee ^bbbb\n").replace(
        "updated: 2026-02-01", "updated: 2026-02-03"
    )
    assert revert(ENTITY, after, now) == now.replace("- Tea ^aaaa\n", "")


def test_front_matter_is_reverted_by_key() -> None:
    before = "---\ntitle: A\ntags:\n  - one\n---\n\nBody.\n"
    after = before.replace("title: A", "title: B")
    now = after.replace("Body.", "Body, longer.").replace("  - one", "  - two")
    assert revert(before, after, now) == now.replace("title: B", "title: A")


def test_line_ends_and_marks_of_the_file_stay() -> None:
    first = ENTITY.replace("^f3c1\n", "^f3c1\n- Tea ^aaaa\n")
    now = "\ufeff" + first.replace("^aaaa\n", "^aaaa\n- Coffee ^bbbb\n").replace("\n", "\r\n")
    assert revert(ENTITY, first, now) == now.replace("- Tea ^aaaa\r\n", "")


def test_repeated_text_under_different_headings_is_told_apart() -> None:
    one = "# Proposals\n\n## Proposal #1\n- From: coder\n- Status: pending\n"
    two = one + "\n## Proposal #2\n- From: coder\n- Status: pending\n"
    three = two + "\n## Proposal #3\n- From: coder\n- Status: pending\n"
    assert revert(one, two, three) == three.replace(
        "## Proposal #2\n- From: coder\n- Status: pending\n\n", ""
    )


def test_a_paragraph_put_back_does_not_run_into_its_neighbours() -> None:
    before = "# T\n\nOne.\n\nTwo.\n\nThree.\n"
    after = "# T\n\nOne.\n\nThree.\n"
    assert revert(before, after, after + "\nFour.\n") == before + "\nFour.\n"


def test_a_deleted_file_returns_and_one_made_anew_is_a_conflict() -> None:
    assert revert(ENTITY, None, None) == ENTITY
    with pytest.raises(Stale):
        revert(ENTITY, None, EPISODES)


def test_only_the_named_units_are_taken_back() -> None:
    after = ENTITY.replace("^f3c1\n", "^f3c1\n- Tea ^aaaa\n- Coffee ^bbbb\n").replace(
        "Alex leads", "Alex left"
    )
    names = changed_units("a.md", ENTITY.encode(), after.encode())
    led, left = (f"Summary / Alex {word} the memory work." for word in ("leads", "left"))
    assert set(names) == {"^aaaa", "^bbbb", left, led}
    result = revert_content("a.md", ENTITY.encode(), after.encode(), after.encode(), only=["^bbbb"])
    assert result == after.replace("- Coffee ^bbbb\n", "").encode()


def test_what_merely_looks_like_one_changed_unit_is_taken_back_apart() -> None:
    before = "## Identity\n- Lives in Uppsala\n- Has a dog\n"
    after = "## Identity\n- Has a dog\n- Lives in Visby\n"
    both = "## Identity\n- Lives in Visby\n- Has a dog\n"
    gone, new = "Identity / - Lives in Uppsala", "Identity / - Lives in Visby"
    for left in (after, both):
        arguments = ("a.md", before.encode(), left.encode(), left.encode())
        put_back = revert_content(*arguments, only=[gone])
        assert put_back is not None
        assert sorted(put_back.split(b"\n")) == sorted([*left.encode().split(b"\n"), b"- Lives in Uppsala"])
        assert revert_content(*arguments, only=[new]) == b"## Identity\n- Has a dog\n"


def test_a_unit_stands_behind_what_it_stood_behind_without_a_line_more() -> None:
    before = "## Facts\n- One ^aaaa\n\n## Relations\n- to: [[b--c]] ^rrrr\n"
    after = "## Facts\n- Two ^bbbb\n\n## Superseded\n- One ^aaaa\n\n## Relations\n- to: [[b--c]] ^rrrr\n"
    arguments = ("a.md", before.encode(), after.encode(), after.encode())
    result = revert_content(*arguments, only=["^aaaa", "^bbbb", "## Superseded"])
    assert result == before.encode()


def test_records_that_come_with_their_file_are_named_one_by_one() -> None:
    after = b'{"version": 1, "entries": {"a": {"pinned": true}, "b": {"pinned": true}}}'
    assert changed_units("a.json", None, after) == ("version", "entries / a", "entries / b")
    assert changed_units("a.json", after, None) == ("version", "entries / a", "entries / b")
    left = revert_content("a.json", None, after, after, only=["entries / a"])
    assert json.loads(left or b"") == {"version": 1, "entries": {"b": {"pinned": True}}}
    assert revert_content("a.json", None, after, left, only=["entries / b", "version"]) is None


def test_json_keeps_the_manner_of_what_is_not_taken_back() -> None:
    before = '{\n  "folded": {"a": 1,  "b": 2},\n  "entries": {\n    "x": { "n": [1,2] }\n  }\n}\n'
    after = before.replace("] }\n", '] },\n    "y": {\n      "n": 2\n    },\n    "z": {}\n')
    now = after.replace('"z": {}', '"z": {},\n    "w": {"own":   "manner"}')
    result = revert(before, after, now, path="a.json")
    assert result == before.replace("] }\n", '] },\n    "w": {"own":   "manner"}\n')
    assert revert(before, after, now.replace("\n", "\r\n"), path="a.json") == result.replace("\n", "\r\n")


def test_headings_comments_and_outer_values_came_for_what_stands_below_them() -> None:
    names = ["## Facts", "Facts / ### Sub", "<!-- Type: x -->", "Facts / - # no heading", "^aaaa"]
    assert [is_scaffold("a.md", name) for name in names] == [True, True, True, False, False]
    assert [is_scaffold("a.json", name) for name in ("version", "entries / a")] == [True, False]


def test_json_is_reverted_by_key() -> None:
    before = {"version": 1, "entries": {"a": {"access_count": 1, "status": "active"}}}
    after = {"version": 1, "entries": {"a": {"access_count": 1, "status": "archived"}, "b": {"pinned": True}}}
    now = {
        "version": 1,
        "entries": {"a": {"access_count": 5, "status": "archived"}, "b": {"pinned": True}, "c": {}},
    }
    texts = [json.dumps(value, indent=2, ensure_ascii=False) + "\n" for value in (before, after, now)]
    result = revert(texts[0], texts[1], texts[2], path="memory/meta/decay-scores.json")
    assert result is not None
    assert json.loads(result) == {
        "version": 1,
        "entries": {"a": {"access_count": 5, "status": "active"}, "c": {}},
    }
    assert result.endswith("}\n")
    assert '\n    "a": {' in result


def test_json_that_was_changed_again_is_a_conflict() -> None:
    with pytest.raises(Stale, match="entries / a / pinned"):
        revert(
            '{"entries": {"a": {"pinned": false}}}',
            '{"entries": {"a": {"pinned": true}}}',
            '{"entries": {"a": {"pinned": "x"}}}',
            path="a.json",
        )


def test_settings_are_reverted_by_key() -> None:
    before = "[memory]\na = 1\n\n[decay]\na = 2\n"
    after = before.replace("a = 2", "a = 3")
    now = after + "b = 9\n"
    assert revert(before, after, now, "workbench.toml") == before + "b = 9\n"


LINES = st.sampled_from(
    [
        "# T",
        "## Facts",
        "## 14:30 | a",
        "## 14:31",
        "- x",
        "- y ^aa1",
        "- z ^bb2",
        "  - nested",
        "text",
        "---",
        "```",
        "> q",
        "<!-- c -->",
        "",
        "",
        "| a |",
        "|---|",
        "[l]: /u",
        "1. one",
        "    code",
        "key: v",
    ]
)
FILES = st.lists(LINES, max_size=14).map(lambda lines: "\n".join(lines).encode())


@given(FILES, st.sampled_from([True, False]))
def test_taking_apart_loses_nothing(content: bytes, markdown: bool) -> None:
    assert parse_units(content, markdown=markdown).render() == content


@given(st.binary(max_size=80))
def test_any_bytes_come_back(content: bytes) -> None:
    assert parse_units(content, markdown=True).render() == content


@given(st.one_of(st.none(), FILES), st.one_of(st.none(), FILES))
def test_reverting_the_latest_change_gives_the_bytes_before(
    before: bytes | None, after: bytes | None
) -> None:
    assert revert_content("a.md", before, after, after) == before


@given(FILES, FILES, FILES)
@settings(max_examples=300)
def test_whatever_the_files_the_result_is_clean_or_now(before: bytes, after: bytes, now: bytes) -> None:
    content, conflicts = try_revert("a.md", before, after, now)
    if conflicts:
        assert content == now
    elif content is not None:
        assert parse_units(content, markdown=True).render() == content
        # What the change did not touch is still there.
        mine = {unit.meaning for unit in parse_units(before, markdown=True).units}
        theirs = {unit.meaning for unit in parse_units(after, markdown=True).units}
        for unit in parse_units(now, markdown=True).units:
            if unit.meaning not in theirs and unit.meaning not in mine and unit.kind != "comment":
                assert unit.text.encode() in content


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)


def _append_fact(content: str, number: int, word: str) -> str:
    return content.replace("\n## Relations", f"- {word} {number} ^new{number}\n\n## Relations").replace(
        "\n\n- ", "\n- "
    )


@given(st.lists(WORDS, min_size=3, max_size=6), st.data())
def test_of_several_appends_any_one_can_be_taken_back(words: list[str], data: st.DataObject) -> None:
    versions = [ENTITY]
    for number, word in enumerate(words):
        versions.append(_append_fact(versions[-1], number, word))
    chosen = data.draw(st.integers(0, len(words) - 1))
    expected = ENTITY
    for number, word in enumerate(words):
        if number != chosen:
            expected = _append_fact(expected, number, word)
    assert revert(versions[chosen], versions[chosen + 1], versions[-1]) == expected


@given(st.lists(WORDS, min_size=2, max_size=5), st.data())
def test_of_several_episodes_any_one_can_be_taken_back(words: list[str], data: st.DataObject) -> None:
    def entry(number: int) -> str:
        return f"\n## 16:{number:02} | event\n{words[number]}\n\n- {words[number]}\n"

    versions = [EPISODES]
    for number in range(len(words)):
        versions.append(versions[-1] + entry(number))
    chosen = data.draw(st.integers(0, len(words) - 1))
    others = "".join(entry(number) for number in range(len(words)) if number != chosen)
    assert revert(versions[chosen], versions[chosen + 1], versions[-1]) == EPISODES + others


@given(st.permutations(range(4)))
def test_reverts_of_independent_changes_commute(order: list[int]) -> None:
    changes = (
        ("Lives in Berlin", "Lives in Rome"),
        ("\n\n## Relations", "\n- Tea ^aaaa\n\n## Relations"),
        ("- Prefers hybrid approaches (since 2026-01-15) ^f7k2\n", ""),
        ("^r3k1\n", "^r3k1\n- uses: [[tool--y]] ^r4k1\n"),
    )
    versions = [ENTITY]
    for old, new in changes:
        versions.append(versions[-1].replace(old, new))
    now: str | None = versions[-1]
    for change_number in order:
        now = revert(versions[change_number], versions[change_number + 1], now)
    assert now == ENTITY


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- Likes tea <!-- pinned --> ^f3c1", "Likes tea"),
        ("- [ ] `r-012.1` fact for [[person--alex|Alex]]: **Tea**", "r-012.1 fact for Alex: Tea"),
        ("1. Tell [[the quay]]", "Tell the quay"),
        ("> ## A heading", "A heading"),
        ("<!-- Type: project | Label: Ferry -->", "Type: project | Label: Ferry"),
        ("Open <!-- to the end", "Open"),
        ("x" * 500, "x" * 119 + "…"),
        ("", ""),
    ],
)
def test_a_refusal_says_what_a_unit_says_without_its_markdown(text: str, words: str) -> None:
    assert in_words(text) == words
