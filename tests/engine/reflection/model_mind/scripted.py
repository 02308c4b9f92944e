"""A model that answers as a test tells it to, and a mind that only notes what it is asked to do instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.errors import ProviderError
from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.providers.chat import ChatCancelled, ChatMessage, Completion, JsonReply
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.model import Agenda, Area, Guidance, Snapshot, Summary, Work

Said = dict[str, Any] | str | ProviderError | Completion
Answerer = Callable[[str, dict[str, Any]], Said]


@dataclass
class Asked:
    """One question as the model got it."""

    phase: str
    messages: list[ChatMessage]
    schema: Mapping[str, Any]
    max_tokens: int

    @property
    def data(self) -> dict[str, Any]:
        """Return what the user message carries."""
        found = json.loads(self.messages[1].content)
        assert isinstance(found, dict)
        return found


@dataclass
class ScriptedChat:
    """Answers each question of a phase by a function of its name and its data.

    Args:
        answer: Gives an object, words, a completion, or an error to raise.
        tokens: What the server counts for an answer; None where it does not say.
    """

    answer: Answerer
    tokens: int | None = 100
    name: str = "scripted"
    asked: list[Asked] = field(default_factory=list)

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        raise NotImplementedError

    def close(self) -> None:
        """There is nothing to let go of."""

    def complete_json(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any],
        schema_name: str,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> JsonReply:
        assert max_tokens is not None
        asked = Asked(schema_name.removeprefix("reflection_"), list(messages), schema, max_tokens)
        self.asked.append(asked)
        if cancelled is not None and cancelled():
            raise ChatCancelled
        said = self.answer(asked.phase, asked.data)
        if isinstance(said, ProviderError):
            raise said
        if isinstance(said, Completion):
            return said.json_reply()
        text = said if isinstance(said, str) else json.dumps(said)
        return Completion(text, "served", prompt_tokens=10, completion_tokens=self.tokens).json_reply()

    def of(self, phase: str) -> list[Asked]:
        """Return the questions of a phase."""
        return [asked for asked in self.asked if asked.phase == phase]


def always(**by_phase: Said) -> Answerer:
    """Answer each phase always alike; one that is not given gets an empty answer."""

    def answer(phase: str, data: dict[str, Any]) -> Said:
        return by_phase.get(phase, {"items": []})

    return answer


@dataclass
class StubMind:
    """Stands for the rules: one area, one question for each part of the snapshot that it is handed."""

    name: str = "rules"
    done: list[str] = field(default_factory=list)
    parts: list[tuple[str, ...]] = field(default_factory=list)

    def survey(self, snapshot: Snapshot, work: Work) -> Agenda:
        self.done.append("survey")
        places = tuple(range(len(snapshot.passages)))
        if not places:
            return Agenda(())
        half = len(places) // 2
        areas = [Area("everything", places, 2.0, "it is new")]
        return Agenda((*areas, Area("the second half", places[half:], 1.0, "it is newer")))

    def look_back(self, snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
        self.done.append("look_back")
        return Guidance(themes=("a theme by rules",), milestone="first evolution summary")

    def consolidate(
        self, snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work
    ) -> tuple[ReviewItem, ...]:
        self.done.append("consolidate")
        self.parts.append(tuple(passage.id for passage in snapshot.passages))
        for area in agenda.areas:
            assert all(0 <= at < len(snapshot.passages) for at in area.passages)
        if not snapshot.passages:
            return ()
        first = snapshot.passages[0]
        proof = (Evidence(first.id, first.text.split("\n", 1)[0]),)
        return (forms.question("By rules?", proof, reason="Rules ask."),)

    def rewrite_core(
        self, snapshot: Snapshot, agenda: Agenda, items: tuple[ReviewItem, ...], work: Work
    ) -> tuple[ReviewItem, ...]:
        self.done.append("rewrite_core")
        return ()

    def summarise(
        self, snapshot: Snapshot, items: tuple[ReviewItem, ...], guidance: Guidance, work: Work
    ) -> Summary:
        self.done.append("summarise")
        return Summary("By rules.", {})
