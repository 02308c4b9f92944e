"""Each phase asks the model with data, uses what holds, and lets rules do what the model does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.reflection.model_mind.conftest import MakeSnapshot
from tests.engine.reflection.model_mind.running import consolidate, run
from tests.engine.reflection.model_mind.saying import fact, item
from tests.engine.reflection.model_mind.scripted import Said, ScriptedChat, StubMind, always
from workbench.engine.errors import ProviderError
from workbench.engine.markdown.review import Evidence
from workbench.engine.providers.chat import Completion
from workbench.engine.reflection import items as forms
from workbench.engine.reflection import kinds
from workbench.engine.reflection.model import Agenda, Cancelled, Guidance, Snapshot, Work
from workbench.engine.reflection.model_mind import ModelMind
from workbench.engine.results.reviews import Phase

QUOTE = ("P1", "thing number 0")
GOOD: dict[str, Said] = {
    "survey": {"areas": [{"area": 2, "why": "decisions"}]},
    "look_back": {
        "themes": ["simple tools"],
        "revised": [],
        "persistent": ["Which editor?"],
        "items": [item("insight", ("R1", "simple tools"), section="Insights", text="Alex likes it simple")],
    },
    "consolidate": {"items": [fact("Alex", "Alex said thing 0.", QUOTE)]},
    "rewrite_core": {
        "items": [item("core change", QUOTE, block="active-context", replaces="", text="Saying things")]
    },
    "summarise": {
        "opening": "Alex said\nthings.",
        "sections": [{"heading": kinds.KNOWLEDGE, "text": "One fact."}, {"heading": "Else", "text": "x"}],
    },
}


def test_every_phase_uses_what_the_model_says(made: MakeSnapshot) -> None:
    chat, rules, work = ScriptedChat(always(**GOOD)), StubMind(), Work()
    ran = run(ModelMind(chat, rules), made(), work)
    assert [area.subject for area in ran.agenda.areas] == ["the second half", "everything"]
    assert (ran.agenda.areas[0].reason, ran.agenda.areas[0].weight > ran.agenda.areas[1].weight) == (
        "decisions",
        True,
    )
    assert (ran.guidance.themes, ran.guidance.persistent) == (("simple tools",), ("Which editor?",))
    assert ran.guidance.milestone == "first evolution summary"
    assert [made.kind for made in (*ran.guidance.items, *ran.items, *ran.core)] == [
        "insight",
        "fact",
        "core change",
    ]
    assert ran.guidance.items[0].evidence[0].id == "file:memory/meta/reflection-log.md#L3-L5"
    assert (ran.summary.opening, ran.summary.prose) == ("Alex said things.", {kinds.KNOWLEDGE: "One fact."})
    assert [asked.phase for asked in chat.asked] == list(GOOD)
    assert [one.fallback for one in work.accounts] == [None] * 5
    assert {one.mind for one in work.accounts} == {"scripted"}
    assert "consolidate" not in rules.done


def test_every_question_and_answer_is_kept(made: MakeSnapshot) -> None:
    chat, work = ScriptedChat(always(**GOOD)), Work()
    run(ModelMind(chat, StubMind()), made(), work)
    assert [exchange.phase for exchange in work.exchanges] == list(Phase)
    for asked, exchange in zip(chat.asked, work.exchanges, strict=True):
        assert exchange.messages == tuple((message.role, message.content) for message in asked.messages)
        assert (exchange.model, exchange.prompt_tokens, exchange.completion_tokens) == ("served", 10, 100)
        assert exchange.answer


BAD: list[tuple[Said, str]] = [
    (ProviderError("The model server answered 500: no"), "answered 500"),
    (Completion("I cannot.", "m", declined=True), "declined"),
    ("Sure! I would", "not the JSON object"),
    ("", "answered nothing"),
    ({}, ""),
    ({"items": "none", "areas": 3, "opening": 5}, ""),
    ({"items": [{"kind": "fact"}], "areas": [{"area": 99, "why": "x"}], "opening": " "}, ""),
    (Completion('{"items": [{"kind": "fa', "m", truncated=True), "cut short"),
]


@pytest.mark.parametrize(("answer", "reason"), BAD)
def test_whatever_goes_wrong_rules_do_the_phase_and_the_account_says_why(
    made: MakeSnapshot, answer: Said, reason: str
) -> None:
    rules, work = StubMind(), Work()
    chat = ScriptedChat(lambda phase, data: answer)
    ran = run(ModelMind(chat, rules), made(), work)
    assert ran.agenda.areas[0].subject == "everything"
    assert ran.guidance.themes == ("a theme by rules",)
    assert [made.text for made in ran.items] == ["By rules?"]
    assert ran.summary.opening == "By rules."
    assert rules.done == ["survey", "look_back", "consolidate", "rewrite_core", "summarise"]
    for one in work.accounts:
        assert one.mind == "rules"
        assert reason in (one.fallback or "")
        assert one.fallback
    assert work.exchanges
    assert all(exchange.problem or answer == {} or isinstance(answer, dict) for exchange in work.exchanges)


def test_one_phase_that_fails_takes_no_other_with_it(made: MakeSnapshot) -> None:
    said = GOOD | {"consolidate": Completion("No.", "m", declined=True)}
    work = Work()
    ran = run(ModelMind(ScriptedChat(always(**said)), StubMind()), made(), work)
    assert [made.text for made in ran.items] == ["By rules?"]
    assert [made.kind for made in ran.core] == ["core change"]
    assert [one.fallback is not None for one in work.accounts] == [False, False, True, False, False]


def test_a_server_that_fails_twice_is_not_asked_again(made: MakeSnapshot) -> None:
    chat = ScriptedChat(lambda phase, data: ProviderError("The model did not answer within 300 s."))
    work = Work()
    run(ModelMind(chat, StubMind()), made(), work)
    assert len(chat.asked) == 2
    assert [one.fallback for one in work.accounts] == ["The model did not answer within 300 s."] * 5


def test_the_next_cycle_asks_the_model_again(made: MakeSnapshot) -> None:
    chat = ScriptedChat(lambda phase, data: ProviderError("No."))
    mind = ModelMind(chat, StubMind())
    run(mind, made(), Work())
    chat.answer = always(**GOOD)
    work = Work()
    assert [made.kind for made in run(mind, made(), work).items] == ["fact"]


def test_where_there_is_nothing_to_ask_rules_do_it_without_a_fault(made: MakeSnapshot) -> None:
    chat, work = ScriptedChat(always()), Work()
    ran = run(ModelMind(chat, StubMind()), made(0), work)
    assert ran.items == ()
    assert [asked.phase for asked in chat.asked] == ["look_back", "rewrite_core"]
    assert [one.mind for one in work.accounts] == ["rules", "scripted", "scripted", "scripted", "rules"]
    assert not any(one.fallback for one in work.accounts)


def test_dropped_items_are_told_in_the_account_of_the_question(made: MakeSnapshot) -> None:
    said = {"items": [fact("Alex", "Alex said thing 0.", QUOTE), fact("Alex", "Alex sings.", ("P7", "x"))]}
    work = Work()
    items = consolidate(ModelMind(ScriptedChat(always(consolidate=said)), StubMind()), made(), work)
    assert len(items) == 1
    assert work.accounts[-1].fallback is None
    assert work.exchanges[-1].problem == ("Dropped 1 of 2 items: fact “Alex sings.”: 'P7' was not shown.")


def test_an_answer_of_which_nothing_holds_is_none(made: MakeSnapshot) -> None:
    said: Said = {"items": [fact("Alex", "Alex sings.", ("P1", "I sing"))] * 2}
    work = Work()
    items = consolidate(ModelMind(ScriptedChat(always(consolidate=said)), StubMind()), made(), work)
    assert [made.text for made in items] == ["By rules?"]
    assert work.accounts[-1].fallback == "None of the 2 items that the model gave holds."


def test_an_answer_without_items_is_an_answer(made: MakeSnapshot) -> None:
    work = Work()
    assert consolidate(ModelMind(ScriptedChat(always()), StubMind()), made(), work) == ()
    assert work.accounts[-1].fallback is None


def test_whole_items_of_a_cut_answer_are_used(made: MakeSnapshot) -> None:
    whole = json.dumps({"items": [fact("Alex", "Alex said thing 0.", QUOTE)]})
    cut = Completion(whole[:-2] + ', {"kind": "fact", "evid', "m", truncated=True, completion_tokens=90)
    work = Work()
    items = consolidate(ModelMind(ScriptedChat(always(consolidate=cut)), StubMind()), made(), work)
    assert [made.text for made in items] == ["Alex said thing 0."]
    assert work.accounts[-1].fallback is None
    assert "cut short" in work.exchanges[-1].problem


def test_core_memory_keeps_within_its_cap(made: MakeSnapshot) -> None:
    def change(number: int) -> dict[str, Any]:
        return item(
            "core change",
            QUOTE,
            block="active-context",
            replaces="",
            text=f"Thing {number}" + " and more" * 40,
        )

    said: Said = {"items": [change(number) for number in range(60)]}
    work = Work()
    ran = run(ModelMind(ScriptedChat(always(**GOOD | {"rewrite_core": said})), StubMind()), made(), work)
    assert 0 < len(ran.core) < 60
    assert "no room for" in next(one.problem for one in work.exchanges if one.phase == Phase.REWRITE_CORE)


def test_a_milestone_of_rules_stays_where_the_model_gives_none(made: MakeSnapshot) -> None:
    class Milestones(StubMind):
        def look_back(self, snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
            proof = (Evidence("file:memory/meta/reflection-log.md#L3-L5", "Alex values"),)
            milestone = forms.insight("Milestones", "Ten so far", proof, reason="It is due.")
            thread = forms.insight("Active Threads", "Tools", proof, reason="It recurs.")
            return Guidance(items=(milestone, thread), milestone="first evolution summary")

    chat = ScriptedChat(always(**GOOD))
    ran = run(ModelMind(chat, Milestones()), made(), Work())
    assert [made.text for made in ran.guidance.items] == ["Ten so far", "Alex likes it simple"]
    assert chat.of("look_back")[0].data["milestone"] == "first evolution summary"


def test_cancelling_ends_the_cycle_between_and_within_questions(made: MakeSnapshot) -> None:
    called_off: list[bool] = []

    def answer(phase: str, data: dict[str, Any]) -> Said:
        called_off.append(True)
        return {"items": []}

    chat = ScriptedChat(answer)
    work = Work(cancelled=lambda: bool(called_off))
    with pytest.raises(Cancelled):
        consolidate(ModelMind(chat, StubMind()), made(), work)
    assert len(chat.asked) == 1
    assert len(work.exchanges) == 1
