"""A cycle takes no more output than its cap, shared out among the phases, and says what it could not read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.reflection.model_mind.conftest import MakeSnapshot
from tests.engine.reflection.model_mind.running import account, consolidate, run
from tests.engine.reflection.model_mind.scripted import Said, ScriptedChat, StubMind, always
from tests.engine.reflection.snapshots import said
from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import Completion
from workbench.engine.reflection.model import Work
from workbench.engine.reflection.model_mind import ModelMind
from workbench.engine.reflection.model_mind.asking import InputSizes, allowance
from workbench.engine.reflection.model_mind.material import Window, cut_windows
from workbench.engine.results.reviews import Phase
from workbench.engine.tokens import count_tokens


class Greedy(ScriptedChat):
    """Uses every token that it is allowed."""

    def close(self) -> None:
        """There is nothing to let go of."""

    def complete_json(self, *args: Any, **options: Any) -> Any:
        self.tokens = options["max_tokens"]
        return super().complete_json(*args, **options)


def sound(phase: str, data: dict[str, Any]) -> Said:
    """Answer each phase with as little as it takes."""
    if phase == "survey":
        return {"areas": [{"area": 1, "why": "new"}]}
    if phase == "summarise":
        return {"opening": "Little.", "sections": []}
    return {"items": [], "themes": [], "revised": [], "persistent": []}


@pytest.mark.parametrize("cap", [500, 2_000, 8_000, 50_000])
@pytest.mark.parametrize("number", [3, 400])
def test_the_cap_holds_however_greedy_the_model_is(made: MakeSnapshot, cap: int, number: int) -> None:
    chat, work = Greedy(sound), Work(cap=cap)
    run(ModelMind(chat, StubMind()), made(number, 60), work)
    assert sum(asked.max_tokens for asked in chat.asked) <= cap
    assert work.spent <= cap
    assert work.spent == sum(one.tokens for one in work.accounts)


def test_every_phase_has_its_share_and_hands_on_what_it_leaves(made: MakeSnapshot) -> None:
    work = Work(cap=1_000)
    assert [allowance(work, phase) for phase in Phase] == [80, 200, 760, 900, 1000]
    work.begin(Phase.SURVEY, "m")
    work.spend(80)
    work.begin(Phase.META_REFLECTION, "m")
    work.spend(20)
    assert [allowance(work, phase) for phase in list(Phase)[2:]] == [660, 800, 900]
    work.spend(5_000)
    assert [allowance(work, phase) for phase in Phase] == [0] * 5


def test_tokens_are_those_of_the_server_or_else_counted(made: MakeSnapshot) -> None:
    answer: Said = {"items": []}
    for told, spent in ((77, 77), (None, count_tokens('{"items": []}')), (0, count_tokens('{"items": []}'))):
        work = Work()
        consolidate(ModelMind(ScriptedChat(always(consolidate=answer), told), StubMind()), made(), work)
        assert work.spent == work.accounts[-1].tokens == spent


@pytest.mark.parametrize("told", [10**9, -5])
def test_a_count_that_cannot_be_is_not_believed(made: MakeSnapshot, told: int) -> None:
    chat, work = ScriptedChat(always(consolidate={"items": []}), told), Work()
    consolidate(ModelMind(chat, StubMind()), made(), work)
    assert 0 < work.spent <= chat.asked[0].max_tokens


def test_all_is_read_oldest_first_in_windows_that_share_the_budget(made: MakeSnapshot) -> None:
    chat, work, snapshot = ScriptedChat(sound, 50), Work(), made(120, 60)
    consolidate(ModelMind(chat, StubMind()), snapshot, work)
    windows = [[row["ref"] for row in asked.data["passages"]] for asked in chat.asked]
    assert len(windows) > 3
    assert [ref for window in windows for ref in window] == [f"P{at + 1}" for at in range(120)]
    assert work.unread is None
    # What the first windows leave of their part goes to those after them.
    assert chat.asked[0].max_tokens <= chat.asked[-1].max_tokens


def test_what_the_budget_does_not_reach_is_left_to_the_next_cycle(made: MakeSnapshot) -> None:
    chat, work, snapshot = Greedy(sound), Work(cap=2_000), made(300, 60)
    consolidate(ModelMind(chat, StubMind()), snapshot, work)
    read = [row["ref"] for asked in chat.asked for row in asked.data["passages"]]
    assert 0 < len(read) < 300
    assert read == [f"P{at + 1}" for at in range(len(read))]
    assert work.unread == len(read)
    assert account(work, Phase.CONSOLIDATE).fallback is None


def test_without_any_budget_rules_read_so_that_the_next_cycle_goes_on(made: MakeSnapshot) -> None:
    rules, work, snapshot = StubMind(), Work(cap=500), made(5)
    work.begin(Phase.SURVEY, "m")
    work.spend(500)
    consolidate(ModelMind(ScriptedChat(sound), rules), snapshot, work)
    assert work.unread is None
    assert len(rules.parts[0]) == 5
    assert "budget" in (work.accounts[-1].fallback or "")


def test_a_window_that_fails_is_done_by_rules_and_the_rest_by_the_model(made: MakeSnapshot) -> None:
    chat, rules, work, snapshot = ScriptedChat(sound, 50), StubMind(), Work(), made(120, 60)
    refused = Completion("No.", "m", declined=True)

    def answer(phase: str, data: dict[str, Any]) -> Said:
        return refused if len(chat.asked) == 2 else sound(phase, data)

    chat.answer = answer
    items = consolidate(ModelMind(chat, rules), snapshot, work)
    second = [row["ref"] for row in chat.asked[1].data["passages"]]
    assert [f"P{at + 1}" for at, one in enumerate(snapshot.passages) if one.id in rules.parts[0]] == second
    assert [made.text for made in items] == ["By rules?"]
    assert len(rules.parts) == 1
    assert len(chat.asked) > 3
    assert "declined" in (work.accounts[-1].fallback or "")


def test_where_the_server_is_gone_rules_read_all_the_rest_at_once(made: MakeSnapshot) -> None:
    rules, work, snapshot = StubMind(), Work(), made(120, 60)
    chat = ScriptedChat(lambda phase, data: ProviderError("The model server cannot be reached."))
    consolidate(ModelMind(chat, rules), snapshot, work)
    assert len(chat.asked) == len(rules.parts) == 2
    assert [one for part in rules.parts for one in part] == [one.id for one in snapshot.passages]
    assert work.unread is None


def test_a_model_that_keeps_failing_is_not_asked_about_every_window(made: MakeSnapshot) -> None:
    rules, work, snapshot = StubMind(), Work(), made(120, 60)
    chat = ScriptedChat(lambda phase, data: Completion("No.", "m", declined=True))
    consolidate(ModelMind(chat, rules), snapshot, work)
    assert len(chat.asked) == len(rules.parts) == 3
    assert [one for part in rules.parts for one in part] == [one.id for one in snapshot.passages]


@pytest.mark.parametrize("context", [4_096, 8_192, 32_768])
def test_questions_and_answers_fit_the_context(made: MakeSnapshot, context: int) -> None:
    chat, work, snapshot = ScriptedChat(sound, 50), Work(), made(400, 80)
    run(ModelMind(chat, StubMind(), context_tokens=context), snapshot, work)
    for asked in chat.asked:
        words = sum(count_tokens(message.content) for message in asked.messages)
        assert words + count_tokens(str(asked.schema)) + asked.max_tokens <= context
    assert work.accounts[2].fallback is None


def test_a_passage_longer_than_any_window_is_cut_where_it_is_shown(made: MakeSnapshot) -> None:
    chat, work = ScriptedChat(sound, 50), Work()
    consolidate(ModelMind(chat, StubMind()), made(1, text="word " * 30_000), work)
    text = chat.asked[0].data["passages"][0]["text"]
    assert text.endswith("…")
    assert 500 < count_tokens(text) < 4_000


@pytest.mark.parametrize("tokens", [10, 100, 1_000])
def test_windows_cover_all_passages_once_and_keep_their_size(tokens: int) -> None:
    passages = [said("2026-02-02 10:00", "word " * (at * 7 % 90), line=at + 1) for at in range(60)]
    windows = list(cut_windows(passages, tokens, 45))
    assert [at for window in windows for at in range(window.start, window.end)] == list(range(60))
    for window in windows:
        size = sum(count_tokens(one.text) + 45 for one in passages[window.start : window.end])
        assert size <= tokens or window.end == window.start + 1


def test_no_passages_make_no_window() -> None:
    assert list(cut_windows([], 100, 45)) == []
    assert list(cut_windows([said("2026-02-02 10:00", "x")], 100, 45)) == [Window(0, 1)]


def test_a_small_context_still_has_room_for_all_parts() -> None:
    sizes = InputSizes.of(4_096)
    assert min(sizes.passages, sizes.near, sizes.core, sizes.answer) > 80
