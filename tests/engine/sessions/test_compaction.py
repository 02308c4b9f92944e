"""Compaction: where a session is cut, what a summary keeps, stages that fit a model, and rules where it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.engine.sessions.transcript_files import answered, called, chain, compaction, header, said, write
from workbench.engine.errors import Cancelled, ProviderError
from workbench.engine.providers.chat import ChatCancelled, ChatMessage, Completion
from workbench.engine.sessions.compaction import (
    MOST_FAILURES,
    MOST_NOTES,
    SUMMARY_TOKENS,
    CompactionCut,
    SessionMaterial,
    Summary,
    material_characters,
    messages_of,
    plan_cut,
    summarise,
)
from workbench.engine.sessions.context import Placed
from workbench.engine.sessions.events import FileLines, random_access
from workbench.engine.sessions.transcripts import read_tree
from workbench.engine.steps import Steps
from workbench.engine.tokens import count_tokens


class Chat:
    """A model that answers with what it is given, and remembers what it was asked."""

    name = "fake"

    def __init__(self, *answers: str, fails: bool = False) -> None:
        self._answers = list(answers)
        self._fails = fails
        self.asked: list[str] = []

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        if cancelled is not None and cancelled():
            raise ChatCancelled
        if self._fails:
            raise ProviderError("The model is gone.", remedy="Start it.")
        self.asked.append("\n".join(message.content for message in messages))
        return Completion(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0], "fake")

    def complete_json(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("prose is asked for")

    def close(self) -> None:
        return None


def cut(place: Path, keep: int) -> CompactionCut | None:
    lines = FileLines(place)
    with random_access(lines) as reader:
        return plan_cut(read_tree(lines), reader, keep)


def gather(*entries: dict[str, Any], most: int = 100_000) -> SessionMaterial:
    gathered = SessionMaterial(most)
    for number, entry in enumerate(entries, 1):
        gathered.add(Placed(number, entry["message"]))
    return gathered


def written(summary: Summary) -> str:
    return summary.text


def test_the_newest_messages_stay_from_where_a_person_begins(tmp_path: Path) -> None:
    place = write(tmp_path / "a.jsonl", *chain("one", "two", "three", "four", "five", "six"))
    found = cut(place, 8)
    assert found is not None
    assert found.first_kept_id == "m4"
    assert (len(found.left), len(found.kept)) == (4, 2)


def test_where_everything_is_new_nothing_is_cut(tmp_path: Path) -> None:
    assert cut(write(tmp_path / "a.jsonl", *chain("one", "two")), 10_000) is None
    assert cut(write(tmp_path / "b.jsonl", header()), 0) is None


def test_a_call_is_never_parted_from_its_result(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [header(), said("q", None, "user", "do it")]
    for number in range(6):
        parent = f"r{number - 1}" if number else "q"
        entries += [
            called(f"a{number}", parent, f"c{number}"),
            answered(f"r{number}", f"a{number}", f"c{number}", "x " * 40),
        ]
    found = cut(write(tmp_path / "a.jsonl", *entries), 60)
    assert found is not None
    assert found.first_kept_id.startswith("a")


def test_what_an_earlier_summary_said_goes_into_the_next(tmp_path: Path) -> None:
    entries = [*chain("one", "two", "three", "four"), compaction("c", "m3", "m2", "the first summary")]
    entries += [
        said("n0", "c", "user", "five"),
        said("n1", "n0", "assistant", "six"),
        said("n2", "n1", "user", "seven"),
    ]
    place = write(tmp_path / "a.jsonl", *entries)
    found = cut(place, 1)
    assert found is not None
    assert (found.before, found.first_kept_id) == ("the first summary", "n2")
    lines = FileLines(place)
    with random_access(lines) as reader:
        assert [each.line for each in messages_of(read_tree(lines), reader, found.left)] == [4, 5, 7, 8]


def test_rules_keep_decisions_failures_and_files() -> None:
    gathered = gather(
        said("1", None, "user", "We decided to use Postgres because of the locks. Nice weather."),
        called("2", "1", "c1", "write", path="src/app.py"),
        answered("3", "2", "c1", "disk full", isError=True),
        called("4", "3", "c2", "read", path="README.md"),
        answered("5", "4", "c2"),
    )
    summary = summarise(gathered, "", chat=None, context_tokens=0)
    assert summary.by == "rules"
    for told in (
        "We decided to use Postgres",
        "## Tool failures\n- write: disk full",
        "## Files written\n- src/app.py",
        "## Files read\n- README.md",
    ):
        assert told in summary.text


def test_what_is_said_again_counts_once() -> None:
    gathered = SessionMaterial(5_000)
    for number in range(MOST_NOTES + 5):
        gathered.add(
            Placed(number, said("x", None, "user", f"I water today. Bed {number:03} is dry.")["message"])
        )
    texts = [note.text for note in gathered.notes]
    assert len(texts) == len(set(texts)) == MOST_NOTES
    assert texts.count("I water today.") == 1


def test_what_is_gathered_stays_small_however_long_it_was() -> None:
    gathered = SessionMaterial(5_000)
    for number in range(3_000):
        message = said("x", None, "user", f"We decided on number {number}, because it is important. " * 5)[
            "message"
        ]
        gathered.add(Placed(number, message))
        gathered.add(Placed(number, answered("y", None, f"c{number}", "bad", isError=True)["message"]))
    assert len(gathered.notes) == MOST_NOTES
    assert len(gathered.failures) == MOST_FAILURES
    assert sum(len(turn.text) for turn in gathered.turns) <= 5_000
    assert (
        count_tokens(summarise(gathered, "x " * 5_000, chat=None, context_tokens=0).text) < 2 * SUMMARY_TOKENS
    )


def test_a_model_is_asked_in_stages_that_fit_it() -> None:
    entries = [said("x", None, "user", f"turn {number}: " + "alpha beta gamma " * 60) for number in range(60)]
    chat = Chat("SUMMARY")
    summary = summarise(
        gather(*entries, most=10**9), "", chat=chat, context_tokens=4096, instructions="mind the harbour"
    )
    assert (summary.text, summary.by, summary.fallback) == ("SUMMARY", "model", None)
    assert len(chat.asked) > 3
    assert all(count_tokens(asked) < 4096 - SUMMARY_TOKENS for asked in chat.asked)
    assert "mind the harbour" in chat.asked[0]
    assert "SUMMARY" in chat.asked[1]
    together = "\n".join(chat.asked)
    assert all(f"turn {number}:" in together for number in range(60))


def test_a_model_at_work_is_called_off_and_rules_do_not_go_on_for_it() -> None:
    looks = iter([False, True])
    with pytest.raises(Cancelled, match="called off"):
        summarise(
            gather(said("1", None, "user", "We decided to sail at noon.")),
            "",
            chat=Chat("SUMMARY"),
            context_tokens=4096,
            steps=Steps(cancelled=lambda: next(looks)),
        )


def test_failures_and_files_are_told_whatever_a_model_says() -> None:
    gathered = gather(
        said("1", None, "user", "go"),
        called("2", "1", "c1", "edit", path="a.py"),
        answered("3", "2", "c1", "no", isError=True),
    )
    assert summarise(gathered, "", chat=Chat("All went well."), context_tokens=4096).text == (
        "All went well.\n\n## Tool failures\n- edit: no\n\n## Files written\n- a.py"
    )


def test_where_the_model_fails_rules_step_in_and_say_why() -> None:
    summary = summarise(
        gather(said("1", None, "user", "We agreed on Friday.")),
        "",
        chat=Chat(fails=True),
        context_tokens=4096,
    )
    assert (summary.by, summary.fallback) == ("rules", "The model is gone.")
    assert "We agreed on Friday." in summary.text


@pytest.mark.parametrize("context_tokens", [4096, 128_000])
def test_more_room_is_for_more_of_the_newest(context_tokens: int) -> None:
    assert material_characters(context_tokens) > 10_000
