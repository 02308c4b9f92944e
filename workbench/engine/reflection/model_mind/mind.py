"""The mind that asks a chat model for each phase, and lets another do what the model cannot.

Every phase of one cycle works with an `Inquiry`: the snapshot, the model to ask, and how its items are read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.memory.wording import one_line
from workbench.engine.providers.chat import CUT_SHORT
from workbench.engine.reflection.core_room import Room
from workbench.engine.reflection.kinds import SECTIONS, Kind
from workbench.engine.reflection.model import Agenda, Guidance, Summary
from workbench.engine.reflection.model_mind import material
from workbench.engine.reflection.model_mind.asking import (
    LEAST_ANSWER,
    NO_BUDGET,
    Answer,
    InputSizes,
    NoAnswer,
    Questions,
    allowance,
)
from workbench.engine.reflection.model_mind.consolidating import consolidate
from workbench.engine.reflection.model_mind.reading import ItemContext, Targets, read_items, speakers_of
from workbench.engine.reflection.model_mind.showing import (
    Shown,
    items_schema,
    list_of,
    one_of,
    problem_with,
    record,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.reflection.model import Area, Mind, Snapshot, Work

_KINDS: Final = (Kind.CORE_CHANGE, Kind.PROMOTION, Kind.DEMOTION)
_LINES: Final = list_of({"type": "string"})
_MOST_LINES: Final = 8
_MILESTONES: Final = "evolution:Milestones"
_TEXT: Final[dict[str, Any]] = {"type": "string"}
_LONGEST_OPENING: Final = 1_200
_LONGEST_SECTION: Final = 600
_CHOICE: Final = record(area={"type": "integer"}, why={"type": "string"})
_MOST: Final = 12
_LONGEST_LINE: Final = 240
_MOST_TOLD: Final = 12
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass
class ModelMind:
    """Implements `reflection.model.Mind`.

    Nothing that a model does wrong is an error: where it refuses, fails, is slow or says what cannot be used, the other
    mind does that part, and the account of the phase says why.

    Args:
        chat: The model.
        fallback: What steps in, phase by phase; its survey, look back and summary are also what the model starts from.
        context_tokens: Most tokens of question and answer that the model takes.
        sizes: How they are shared out; by the context where None.
    """

    chat: ChatModel
    fallback: Mind
    context_tokens: int = 8192
    sizes: InputSizes | None = None
    _inquiry: Inquiry | None = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        return self.chat.name

    def survey(self, snapshot: Snapshot, work: Work) -> Agenda:
        """Say what to look into."""
        agenda = self.fallback.survey(snapshot, work)
        if not agenda.areas:
            work.done_by(self.fallback.name)
            return agenda
        try:
            return survey(self._of(snapshot, work), agenda)
        except NoAnswer as reason:
            work.fell_back(str(reason))
            return agenda

    def look_back(self, snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
        """Review past reflections and the evolution of understanding."""
        guidance = self.fallback.look_back(snapshot, agenda, work)
        if not snapshot.records and not snapshot.insights:
            work.done_by(self.fallback.name)
            return guidance
        try:
            return look_back(self._of(snapshot, work), agenda, guidance)
        except NoAnswer as reason:
            work.fell_back(str(reason))
            return guidance

    def consolidate(
        self, snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose entities, facts, relations, merges, updates, contradictions, procedures, upkeep and questions."""

        def by_rules(part: Snapshot, areas: Agenda) -> tuple[ReviewItem, ...]:
            return self.fallback.consolidate(part, areas, guidance, work)

        return consolidate(self._of(snapshot, work), agenda, guidance, by_rules)

    def rewrite_core(
        self, snapshot: Snapshot, agenda: Agenda, items: tuple[ReviewItem, ...], work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose changes of core memory that keep within its cap, whichever of them are approved."""
        try:
            return rewrite_core(self._of(snapshot, work), agenda, items)
        except NoAnswer as reason:
            work.fell_back(str(reason))
            return self.fallback.rewrite_core(snapshot, agenda, items, work)

    def summarise(
        self, snapshot: Snapshot, items: tuple[ReviewItem, ...], guidance: Guidance, work: Work
    ) -> Summary:
        """Say in words what is proposed."""
        summary = self.fallback.summarise(snapshot, items, guidance, work)
        if not items:
            work.done_by(self.fallback.name)
            return summary
        try:
            return summarise(self._of(snapshot, work), items, guidance, summary)
        except NoAnswer as reason:
            work.fell_back(str(reason))
            return summary

    def _of(self, snapshot: Snapshot, work: Work) -> Inquiry:
        """Return the inquiry of a cycle; each cycle asks the model afresh."""
        known = self._inquiry
        if known is None or known.work is not work:
            questions = Questions(self.chat, work, self.context_tokens)
            targets = Targets(snapshot.graph, snapshot.owner, speakers_of(snapshot.passages))
            sizes = self.sizes or InputSizes.of(self.context_tokens)
            known = Inquiry(snapshot, questions, work, targets, sizes)
            self._inquiry = known
        return known


# Core memory rewritten by a model, as single changes that keep within its cap whichever of them are approved.


def rewrite_core(inquiry: Inquiry, agenda: Agenda, items: tuple[ReviewItem, ...]) -> tuple[ReviewItem, ...]:
    """Return the model's changes of core memory, one for each place, as far as there is room for all of them.

    Raises:
        NoAnswer: The model gave none.
    """
    snapshot, sizes, shown = inquiry.snapshot, inquiry.sizes, inquiry.shown()
    data = {
        **material.about(snapshot),
        "core": material.core_rows(snapshot, shown, sizes.passages),
        "room": material.core_room(snapshot),
        "proposed": material.proposed_rows(snapshot, items, shown, sizes.near),
        "areas": material.area_rows(snapshot, agenda, shown, sizes.core),
        "memories": material.often_rows(snapshot, shown, sizes.core // 2),
    }
    most = min(inquiry.allowance(), sizes.answer)
    answer = inquiry.questions.ask("rewrite_core", data, record(items=items_schema(_KINDS)), most=most)
    room = Room(snapshot)
    places: set[str] = set()
    kept: list[ReviewItem] = []
    without_room = 0
    for item in inquiry.read_items(answer, shown, _KINDS):
        changes = item.target.count(":") > 1
        if changes and item.target in places:
            continue
        if not room.take(item):
            without_room += 1
            continue
        places.add(item.target)
        kept.append(item)
    if without_room:
        inquiry.questions.note(f"Core memory has no room for {without_room} of them.")
    return tuple(kept)


# Meta-reflection by a model: what the books of reflection say to this one (design document §10.4).


def look_back(inquiry: Inquiry, agenda: Agenda, known: Guidance) -> Guidance:
    """Return themes, revised assumptions, open questions and insights as the model sees them.

    Args:
        inquiry: Of the cycle.
        agenda: Of the survey.
        known: What rules found: it says whether a milestone is due, and gives it where the model does not.

    Raises:
        NoAnswer: The model gave none.
    """
    snapshot = inquiry.snapshot
    sizes, shown = inquiry.sizes, inquiry.shown()
    data = {
        **material.about(snapshot),
        "milestone": known.milestone,
        **material.past_rows(snapshot, shown, sizes.passages),
        "areas": material.area_rows(snapshot, agenda, shown, sizes.near),
    }
    schema = record(themes=_LINES, revised=_LINES, persistent=_LINES, items=items_schema((Kind.INSIGHT,)))
    most = min(inquiry.allowance(), sizes.answer)
    answer = inquiry.questions.ask("look_back", data, schema, most=most)
    items = inquiry.read_items(answer, shown, (Kind.INSIGHT,))
    if not any(item.target == _MILESTONES for item in items):
        items = (*(item for item in known.items if item.target == _MILESTONES), *items)
    return Guidance(
        lines_of(answer, "themes", _MOST_LINES),
        lines_of(answer, "revised", _MOST_LINES),
        lines_of(answer, "persistent", _MOST_LINES),
        items,
        known.milestone,
    )


# The summary in a model's words: plain prose before the items, which decides nothing.


def summarise(inquiry: Inquiry, items: tuple[ReviewItem, ...], guidance: Guidance, known: Summary) -> Summary:
    """Return the model's words for the opening and for sections that have items.

    Args:
        inquiry: Of the cycle.
        items: What is proposed, numbered; at least one.
        guidance: Of meta-reflection.
        known: What rules say; it stays for the sections that the model says nothing about.

    Raises:
        NoAnswer: The model gave none.
    """
    headings = [section for section in SECTIONS if any(item.section == section for item in items)]
    sizes, shown = inquiry.sizes, inquiry.shown()
    data = {
        **material.about(inquiry.snapshot),
        "themes": list(guidance.themes),
        "items": material.proposed_rows(inquiry.snapshot, items, shown, sizes.passages + sizes.near),
    }
    section = record(heading=one_of(headings), text=_TEXT)
    schema = record(opening=_TEXT, sections=list_of(section))
    most = min(inquiry.allowance(), sizes.answer)
    answer = inquiry.questions.ask("summarise", data, schema, most=most)
    if answer.value is None:
        raise NoAnswer(CUT_SHORT)
    said = answer.value
    opening = said.get("opening")
    if not isinstance(opening, str) or not opening.strip():
        raise NoAnswer("The model’s summary has no opening.")
    sections = said.get("sections")
    prose = {
        one["heading"]: clipped_line(one["text"], _LONGEST_SECTION)
        for one in (sections if isinstance(sections, list) else ())
        if not problem_with(one, section) and one["text"].strip()
    }
    return Summary(clipped_line(opening, _LONGEST_OPENING), {**known.prose, **prose})


# Survey by a model: which of the areas that rules found matter, and in what order.


def survey(inquiry: Inquiry, agenda: Agenda) -> Agenda:
    """Return an agenda with the areas first that the model chose, in its order and with its reasons.

    The model sees the areas, not every passage: so a survey costs one question, however much is new.

    Args:
        inquiry: Of the cycle.
        agenda: Of rules; at least one area.

    Raises:
        NoAnswer: The model gave none.
    """
    sizes, shown = inquiry.sizes, inquiry.shown()
    data = {
        **material.about(inquiry.snapshot),
        "areas": material.area_rows(inquiry.snapshot, agenda, shown, sizes.passages),
        "core": material.core_rows(inquiry.snapshot, shown, sizes.core),
    }
    answer = inquiry.questions.ask(
        "survey", data, record(areas=list_of(_CHOICE)), most=min(inquiry.allowance(), sizes.answer)
    )
    chosen: dict[int, str] = {}
    for choice in listed(answer, "areas")[:_MOST]:
        number = choice.get("area") if not problem_with(choice, _CHOICE) else None
        if isinstance(number, int) and 0 < number <= len(agenda.areas):
            chosen.setdefault(number - 1, clipped_line(choice["why"]))
    if not chosen:
        raise NoAnswer("The model chose none of the areas that it was shown.")
    heaviest = max(area.weight for area in agenda.areas)
    first = [
        _raised(agenda.areas[at], why, heaviest * (2 - place / len(chosen)))
        for place, (at, why) in enumerate(chosen.items())
    ]
    return Agenda((*first, *(area for at, area in enumerate(agenda.areas) if at not in chosen)))


def _raised(area: Area, why: str, weight: float) -> Area:
    return replace(area, weight=weight, reason=why or area.reason)


@dataclass(frozen=True)
class Inquiry:
    """One cycle, as its phases share it.

    Args:
        snapshot: All that may be looked at.
        questions: Asks the model.
        work: The account of the cycle.
        targets: Finds entities, those proposed by this cycle included.
        sizes: How much of each thing the model is shown.
    """

    snapshot: Snapshot
    questions: Questions
    work: Work
    targets: Targets
    sizes: InputSizes

    def shown(self) -> Shown:
        """Return no handles yet, for one question."""
        return Shown(self.snapshot.text_of)

    def allowance(self) -> int:
        """Return the output tokens that the phase may still take.

        Raises:
            NoAnswer: They are too few to ask for anything.
        """
        left = allowance(self.work, self.work.phase)
        if left < LEAST_ANSWER:
            raise NoAnswer(NO_BUDGET)
        return left

    def read_items(self, answer: Answer, shown: Shown, kinds: Sequence[Kind]) -> tuple[ReviewItem, ...]:
        """Return the items of an answer that hold; what is dropped is told in the account of the question.

        Args:
            answer: Whole or cut.
            shown: What the model was shown.
            kinds: That were asked for.

        Raises:
            NoAnswer: It has no list of items, or none of them holds.
        """
        said = listed(answer, "items")
        read = read_items(said, ItemContext(self.snapshot, shown, self.targets), kinds)
        if read.dropped:
            told = "; ".join(read.dropped[:_MOST_TOLD])
            self.questions.note(f"Dropped {len(read.dropped)} of {len(said)} items: {told}.")
        if said and not read.items:
            raise NoAnswer(f"None of the {len(said)} items that the model gave holds.")
        return read.items


def listed(answer: Answer, key: str) -> list[Any]:
    """Return a list of an answer; of one that was cut short, the objects that came whole.

    Raises:
        NoAnswer: It has none.
    """
    if answer.value is None:
        whole: list[Any] = list(whole_objects(answer.text, key))
        if not whole:
            raise NoAnswer("The model’s answer was cut short before any of it was whole.")
        return whole
    found = answer.value.get(key)
    if not isinstance(found, list):
        raise NoAnswer(f"The model’s answer has no list “{key}”.")
    return found


def lines_of(answer: Answer, key: str, most: int) -> tuple[str, ...]:
    """Return the texts of a list as single lines, without what is none."""
    found = answer.value.get(key) if answer.value else None
    texts = [one_line(text) for text in found if isinstance(text, str)] if isinstance(found, list) else []
    return tuple(dict.fromkeys(clipped_line(text) for text in texts if text))[:most]


def clipped_line(text: str, longest: int = _LONGEST_LINE) -> str:
    """Return a text on one line that can be shown, with “…” where it is too long."""
    visible = "".join(letter if letter.isprintable() or letter in "\u200c\u200d" else " " for letter in text)
    line = one_line(visible)
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


# Takes the whole objects out of an answer that was cut short.


def whole_objects(text: str, key: str) -> list[dict[str, Any]]:
    """Return the objects of a list that came whole before the answer ended.

    Args:
        text: The beginning of a JSON object.
        key: Under which it has the list.
    """
    _, found, rest = text.partition(f'"{key}"')
    start = rest.find("[")
    if not found or start < 0 or rest[:start].strip() != ":":
        return []
    objects: list[dict[str, Any]] = []
    at = start + 1
    while True:
        while at < len(rest) and rest[at] in " \t\r\n,":
            at += 1
        try:
            value, at = _DECODER.raw_decode(rest, at)
        except (ValueError, RecursionError):
            return objects
        if isinstance(value, dict):
            objects.append(value)
