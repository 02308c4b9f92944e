"""What a model is shown: the branch, the summary in place of what was compacted, and histories put right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.sessions.transcript_files import (
    AT,
    answered,
    called,
    chain,
    compaction,
    header,
    said,
    write,
)
from workbench.engine.sessions import context as sanitising
from workbench.engine.sessions.context import (
    MISSING_RESULT,
    MOST_IMAGE_CHARACTERS,
    Context,
    Placed,
    build_context,
    sanitise,
)
from workbench.engine.sessions.events import FileLines, parts_of, random_access, words_of
from workbench.engine.sessions.transcripts import read_tree


def context(place: Path, **options: Any) -> Context:
    lines = FileLines(place)
    with random_access(lines) as reader:
        return build_context(read_tree(lines), reader, **{"budget": None, **options})


def shown(found: Context) -> list[tuple[str, int | None, str]]:
    return [(placed.role, placed.line, words_of(placed.message)) for placed in found.messages]


def test_without_a_compaction_the_whole_branch_is_shown(tmp_path: Path) -> None:
    found = context(write(tmp_path / "a.jsonl", *chain("one", "two", "three")))
    assert shown(found) == [("user", 2, "one"), ("assistant", 3, "two"), ("user", 4, "three")]
    assert (found.summary_line, found.left_out, found.repairs) == (None, 0, ())


def test_a_summary_stands_for_what_is_before_the_first_kept_entry(tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        *chain("one", "two", "three", "four"), compaction("c", "m3", "m2"), said("m5", "c", "user", "five"),
    )  # fmt: skip
    found = context(place)
    assert [(line, text) for _, line, text in shown(found)[1:]] == [(4, "three"), (5, "four"), (7, "five")]
    assert found.summary_line == 6
    assert "<summary>\nWhat was said.\n</summary>" in shown(found)[0][2]


def test_of_several_compactions_the_last_counts(tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        *chain("one", "two", "three", "four"), compaction("c", "m3", "m2", "first"), said("m5", "c", "user", "five"),
        compaction("d", "m5", "m5", "second"),
    )  # fmt: skip
    found = context(place)
    assert [text for *_, text in shown(found)[1:]] == ["five"]
    assert "second" in shown(found)[0][2]


@pytest.mark.parametrize("kept", ["nobody", "c", ""])
def test_where_the_first_kept_entry_is_lost_the_summary_stands_alone(kept: str, tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        *chain("one", "two"),
        compaction("c", "m1", kept),
        said("m3", "c", "user", "new"),
    )
    assert [text for *_, text in shown(context(place))[1:]] == ["new"]


def test_another_branch_is_not_shown_but_its_summary_is(tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        *chain("one", "left"),
        {"type": "branch_summary", "id": "b", "parentId": "m0", "timestamp": AT, "fromId": "m1",
         "summary": "tried left"},
        said("r", "b", "assistant", "right"),
    )  # fmt: skip
    texts = "\n".join(text for *_, text in shown(context(place)))
    assert "one" in texts
    assert "tried left" in texts
    assert "right" in texts
    assert "left\n" not in texts.replace("tried left\n", "")


def test_a_reset_ends_what_was_before(tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        *chain("one", "two"), {"type": "reset", "id": "r", "parentId": "m1", "timestamp": AT},
        said("n", "r", "user", "new"),
    )  # fmt: skip
    assert shown(context(place)) == [("user", 5, "new")]


def test_labels_and_changes_of_models_are_not_shown(tmp_path: Path) -> None:
    place = write(
        tmp_path / "a.jsonl",
        *chain("one"), {"type": "label", "id": "l", "parentId": "m0", "targetId": "m0", "label": "x"},
        {"type": "model_change", "id": "c", "parentId": "l", "modelId": "x"}, said("a", "c", "assistant", "two"),
        {"type": "custom", "id": "d", "parentId": "a", "customType": "x", "data": {}},
        {"type": "custom_message", "id": "e", "parentId": "d", "customType": "x", "content": "told", "display": True},
    )  # fmt: skip
    assert [text for *_, text in shown(context(place))] == ["one", "two", "told"]


def test_the_newest_that_fit_are_shown(tmp_path: Path) -> None:
    place = write(tmp_path / "a.jsonl", *chain(*(f"word number {number}" for number in range(20))))
    found = context(place, budget=60)
    assert found.total <= 60
    assert found.messages[-1].line == 21
    assert found.left_out + len(found.messages) == 20
    assert found.repairs == ()


@pytest.mark.parametrize(("turns", "first"), [(1, "4"), (2, "2"), (9, "0"), (0, "0")])
def test_the_newest_turns_are_shown(turns: int, first: str, tmp_path: Path) -> None:
    found = context(write(tmp_path / "a.jsonl", *chain("0", "1", "2", "3", "4", "5")), turns=turns)
    assert shown(found)[0][2] == first


def placed(*entries: dict[str, Any]) -> list[Placed]:
    return [Placed(number, entry["message"]) for number, entry in enumerate(entries, 1)]


def roles(entries: list[dict[str, Any]]) -> list[tuple[str, int | None]]:
    return [(each.role, each.line) for each in sanitise(placed(*entries)).messages]


ASK = said("q", None, "user", "do it")


def test_a_missing_result_is_stood_in_for() -> None:
    found = sanitise(placed(ASK, called("a", "q", "c1"), said("b", "a", "user", "and?")))
    assert [(each.role, each.line) for each in found.messages] == [
        ("user", 1), ("assistant", 2), ("toolResult", None), ("user", 3),
    ]  # fmt: skip
    assert found.messages[2].message["toolCallId"] == "c1"
    assert words_of(found.messages[2].message) == MISSING_RESULT
    assert found.repairs == ("Results that were missing were stood in for (1).",)


def test_a_result_that_nobody_asked_for_is_dropped() -> None:
    assert roles([ASK, answered("r", "q", "c9"), said("b", "r", "assistant", "ok")]) == [
        ("user", 1),
        ("assistant", 3),
    ]
    twice = [ASK, called("a", "q", "c1"), answered("r", "a", "c1"), answered("s", "r", "c1")]
    assert roles(twice) == [("user", 1), ("assistant", 2), ("toolResult", 3)]


def test_a_result_that_came_late_is_put_behind_its_call() -> None:
    late = [ASK, called("a", "q", "c1"), said("u", "a", "user", "hello?"), answered("r", "u", "c1")]
    assert roles(late) == [("user", 1), ("assistant", 2), ("toolResult", 4), ("user", 3)]


def test_a_history_in_order_is_left_as_it_is() -> None:
    entries = [ASK, called("a", "q", "c1"), answered("r", "a", "c1"), said("b", "r", "assistant", "done")]
    found = sanitise(placed(*entries))
    assert list(found.messages) == placed(*entries)
    assert found.repairs == ()


def test_copies_of_what_was_sent_are_not_counted() -> None:
    mirror = said("m", "q", "assistant", "sent", model="delivery-mirror")
    assert roles([ASK, mirror]) == [("user", 1)]


def test_answers_before_the_first_question_are_left_out() -> None:
    assert roles([said("x", None, "assistant", "hi"), ASK]) == [("user", 2)]


def test_turns_of_one_side_are_joined() -> None:
    found = sanitise(placed(ASK, said("q2", "q", "user", "now"), said("a", "q2", "assistant", "ok")))
    assert [(each.role, words_of(each.message)) for each in found.messages] == [
        ("user", "do it\nnow"),
        ("assistant", "ok"),
    ]


def test_joining_many_turns_reads_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []

    def counted(content: object) -> Any:
        read.append(content)
        return parts_of(content)

    monkeypatch.setattr(sanitising, "parts_of", counted)
    turns = [Placed(number, {"role": "user", "content": f"turn {number}"}) for number in range(500)]
    (joined,) = sanitise(turns).messages
    assert len(joined.message["content"]) == len(read) == 500
    assert joined.line == 0


def test_a_huge_picture_is_left_out_and_a_small_one_stays() -> None:
    small = {"type": "image", "data": "x" * 100, "mimeType": "image/png"}
    huge = {**small, "data": "x" * (MOST_IMAGE_CHARACTERS + 1)}
    found = sanitise(placed(said("q", None, "user", [{"type": "text", "text": "see"}, small, huge])))
    parts = found.messages[0].message["content"]
    assert [part["type"] for part in parts] == ["text", "image", "text"]


ROLE = st.sampled_from(["user", "assistant", "toolResult", "system", "odd"])
PART = st.one_of(
    st.just({"type": "text", "text": "x"}),
    st.builds(
        lambda id_: {"type": "toolCall", "id": id_, "name": "t", "arguments": {}}, st.sampled_from("ab")
    ),
    st.just({"type": "image", "data": "x"}),
    st.just({"type": 7}),
)
MESSAGE = st.builds(
    lambda role, parts, id_: {"role": role, "content": parts, "toolCallId": id_},
    ROLE, st.lists(PART, max_size=3) | st.text(max_size=3), st.sampled_from("abc"),
)  # fmt: skip


@given(st.lists(MESSAGE, max_size=12))
def test_whatever_was_written_every_call_has_one_result_right_behind(messages: list[dict[str, Any]]) -> None:
    found = sanitise(Placed(number, message) for number, message in enumerate(messages, 1)).messages
    assert not found or found[0].role == "user"
    open_calls: list[str] = []
    for each in found:
        if each.role == "toolResult":
            assert each.message["toolCallId"] in open_calls
            open_calls.remove(each.message["toolCallId"])
            continue
        assert open_calls == []
        parts = each.message["content"]
        if each.role == "assistant" and isinstance(parts, list):
            open_calls = list(dict.fromkeys(part["id"] for part in parts if part.get("type") == "toolCall"))
    assert open_calls == []
    again = sanitise(found)
    assert again.messages == found


def test_an_empty_transcript_shows_nothing(tmp_path: Path) -> None:
    assert context(write(tmp_path / "a.jsonl", header())).messages == ()
    assert context(tmp_path / "none.jsonl").messages == ()
