"""Ask: what answers a question, what has faded but answers too, and why each ranks where it does."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import dropwhile
from typing import TYPE_CHECKING, ClassVar

from workbench.display import words
from workbench.display.cells import wrap
from workbench.display.found import (
    answering_edge,
    answering_id,
    cuts_section,
    faded_heading,
    found_words,
    hit_key,
    hit_row,
    hit_title,
    hit_words,
    is_near_at_best,
    left_out,
    rank_section,
    text_card,
    why_not_card,
)
from workbench.display.ink import Span, column, ink, line_width, spread
from workbench.display.matching import best_line
from workbench.display.today import fitting
from workbench.display.words import in_bench, told_in_bench
from workbench.engine.errors import WorkbenchError
from workbench.engine.identifiers import OUTSIDE_STORES, SEARCHED_STORES
from workbench.engine.language.periods import parse_days
from workbench.engine.requests import SearchRequest
from workbench.engine.values import dataclass
from workbench.tui.parts.evidence import evidence_at
from workbench.tui.parts.filter import FIRST, LAST, pieces
from workbench.tui.parts.rows import Rows
from workbench.tui.places.memory_reading import (
    disputed_memories,
    read_memory_card,
    read_memory_evidence,
)
from workbench.tui.places.place import Place
from workbench.tui.verbs.graph import Statement
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import date

    from workbench.display.card import Card
    from workbench.display.ink import Line
    from workbench.display.transcript import Evidence
    from workbench.engine.results.recall import Found, Hit
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject

MOST_RESULTS = 20
ASKED = "asked:"
NEAR = "Without these words; near in meaning at best"
NOTHING = "No memory has these words; near in meaning at best"
_CONDITIONS = (
    ("store:episodic", "or core, semantic, procedural, vault, file"),
    ("after:2026-01", "also feb, 3w, last-month"),
    ("before:2026-02", "up to the end of it"),
    ("status:any", "what has faded among the others"),
)
STATUSES = ("active", "fading", "dormant", "pinned", "any")
_FIELDS = ("store", "status", *FIRST, *LAST)


@dataclass(frozen=True)
class Answer:
    """A question and what it found.

    Args:
        found: None where nothing was asked, or it failed.
        asked: Earlier questions, the newest first.
        problem: Why it failed, or what in the question makes no sense; empty otherwise.
        contested: What a decision against waits for.
    """

    question: Question
    found: Found | None
    today: date
    asked: tuple[str, ...] = ()
    problem: str = ""
    contested: Container[str] = ()

    @property
    def shown(self) -> tuple[Hit, ...]:
        """Return the results that the question lets through; what was corrected is found as it reads now."""
        hits = self.found.results if self.found is not None else ()
        corrected = {words.corrected_by(hit.snippet)[0] for hit in hits}
        return tuple(hit for hit in hits if self.question.shows(hit.status) and hit.id not in corrected)


class AnswerRows(Rows["str", "Hit | str"]):
    """Results, below them those that have faded; or what was asked before."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self._answer = answer
        found = answer.found
        if found is None:
            for text in answer.asked:
                self.add(text, ASKED + text, "Asked before")
            return
        words_left = sum(1 for _ in dropwhile(is_near_at_best, reversed(answer.shown)))
        for at, hit in enumerate(answer.shown):
            self.add(hit, hit_key(hit), None if at < words_left else NEAR if words_left else NOTHING)
        if found.faded.results and not answer.question.status:
            for hit in found.faded.results:
                self.add(hit, hit_key(hit), faded_heading(found))

    def hit(self, key: str) -> Hit | None:
        """Return the result of a row."""
        row = self.row(key)
        return None if isinstance(row, str) else row

    def rank(self, key: str) -> int:
        """Return the place of a row among the results, from 1."""
        at = self.find(key)
        return 0 if at is None else sum(1 for each in self._keys[: at + 1] if each)

    def draw(self, row: Hit | str, width: int) -> Line:
        """Draw a row."""
        if isinstance(row, str):
            return (ink(row, "text", width),)
        question = self._answer.question.words
        contested = (answering_id(row, question) or row.id) in self._answer.contested
        return hit_row(row, question, self._answer.today, width, contested=contested)


class AskPlace(Place):
    """The answers to the question in the ask line."""

    KEYS: ClassVar[tuple[str, ...]] = ("edit", "pin", "forget", "bring-back", "evidence", "details")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.text = ""
        self.asked: tuple[str, ...] = ()
        self._missed = ""

    def ask_why_not(self, memory: Memory) -> None:
        """Show the card of a memory, with why it is not among the results."""
        self._missed = memory.id
        self.visited.append(memory)

    def read(self, workspace: Workspace) -> Answer:
        today = workspace.now().date()
        question = parse_question(self.text, today)
        problem = " ".join(question.problems)
        if not question.words:
            return Answer(question, None, today, self.asked if not self.text.strip() else (), problem)
        try:
            found = workspace.search_request(question.request(MOST_RESULTS))
        except WorkbenchError as error:
            return Answer(question, None, today, (), told_in_bench(error))
        problem = problem or in_bench(found.stale or found.fallback or "")
        return Answer(question, found, today, (), problem, disputed_memories(workspace))

    def show(self, results: Answer) -> None:
        before: Answer | None = self.results
        super().show(results)
        if before is None or before.question != results.question:
            self.list.do("first")

    def rows(self, results: Answer) -> AnswerRows:
        return AnswerRows(results)

    def heading(self, results: Answer, width: int) -> Line:
        problem = (ink(results.problem, "danger"),)
        if results.found is None:
            return problem if results.problem else (ink("Ask in your own words, in any language.", "soft"),)
        count = (ink(found_words(results.found, len(results.shown)), "soft"),)
        if results.found.stale and not results.question.problems:
            # Cut in the middle, the sentence would not say that there is more to come.
            said = fitting(width - line_width(count) - 2, results.problem, "Not all read yet")
            problem = (ink(said, "danger"),)
        elsewhere = (ink("What the agent always knows of you is in Core (3)", "soft"),)
        nothing = elsewhere if all(map(is_near_at_best, results.shown)) else ()
        return spread(problem if results.problem else nothing, count, width)

    def empty(self) -> list[Line]:
        answer: Answer | None = self.results
        if answer is not None and answer.found is not None:
            narrowed = answer.question.is_narrowed
            hint = "Without its conditions, more is searched." if narrowed else "Other words may do better."
            return [(ink("No memory answers this.", "strong"),), (ink(hint, "soft"),)]
        lines: list[Line] = [
            (Span(part, "soft"),)
            for part in wrap("Dates count: “in May”, “last month”, 上週. You can add", 60)
        ]
        for condition, what in _CONDITIONS:
            lines.append((column(condition, 17, "strong"), ink(what, "soft")))
        return lines

    def hit(self, key: str) -> Hit | None:
        """Return the result of a row."""
        rows = self.list.rows
        return rows.hit(key) if isinstance(rows, AnswerRows) and not key.startswith(ASKED) else None

    def subject(self, key: str) -> Memory | None:
        hit = self.hit(key)
        if hit is None:
            return None
        if hit.store in OUTSIDE_STORES:
            return Memory(f"file:{hit.place}", hit.store, hit_title(hit))
        pinned, question = hit.status == "pinned", self.results.question.words
        if fact := answering_id(hit, question):
            # Keys act on what the row says, not on whatever else its entity says.
            edge, said = answering_edge(hit, question), hit_words(hit, question)
            return Statement(fact, hit.store, said, pinned, False, hit.id, hit_title(hit), hit.retired, edge)
        return Memory(hit.id, hit.store, hit_title(hit), pinned, hit.status == "archived")

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        hit, rows, answer = self.hit(self.list.cursor_key), self.list.rows, self.results
        if subject in self.visited and subject.id == self._missed:
            found = workspace.why_not(answer.question.words, subject.id)
            why_not = why_not_card(found, subject.title, in_bench(found.remedy or ""))
            card = super().read_card(workspace, subject)
            return replace(card, sections=(*why_not.sections, *card.sections))
        if hit is None or subject in self.visited or not isinstance(rows, AnswerRows):
            return super().read_card(workspace, subject)
        card = (
            text_card(hit, answer.today)
            if hit.store in OUTSIDE_STORES
            else read_memory_card(workspace, subject, answer.question.words)
        )
        ranked = rank_section(hit, rows.rank(self.list.cursor_key))
        cuts = left_out(answer.found) if answer.found is not None else ()
        details = (ranked, cuts_section(cuts), *card.details)
        # Of a long note, what answers is to be seen, not how the note begins.
        said = (best_line(hit.snippet.splitlines(), answer.question.words) or "").strip()
        paragraphs = enumerate(card.text.splitlines())
        first: int | str = next((at for at, each in paragraphs if said and said == each.strip()), 0)
        if isinstance(subject, Statement):
            first = subject.id
        return replace(card, details=details, first=first)

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | str | None:
        if subject.id.startswith("file:"):
            hit = self.hit(self.list.cursor_key)
            # A note is one memory; what answers is some lines of it.
            if hit is not None and hit.id == subject.id:
                found = evidence_at(workspace, f"file:{hit.place}")
                return replace(found, link=subject.id) if found is not None else None
            return evidence_at(workspace, subject.id)
        return read_memory_evidence(workspace, subject, self.results.question.words)


# Reads the question line: words to search for, and among them conditions in the grammar of the filters.


@dataclass(frozen=True)
class Question:
    """What a question line says.

    Args:
        words: What is asked, as it was typed, without the conditions.
        store: Search this store alone, or None.
        after: First day, or None.
        before: Last day, or None.
        status: Show only memories of this status; `any` lets dormant ones come up as well; empty for the usual.
        problems: Conditions that make no sense, one sentence each.
    """

    words: str = ""
    store: str | None = None
    after: date | None = None
    before: date | None = None
    status: str = ""
    problems: tuple[str, ...] = field(default=())

    @property
    def include_dormant(self) -> bool:
        """Tell whether dormant memories may come up."""
        return self.status in ("dormant", "any")

    @property
    def is_narrowed(self) -> bool:
        """Tell whether only some memories are searched."""
        return bool(self.store or self.after or self.before)

    def request(self, most: int) -> SearchRequest:
        """Return what search is asked, explained."""
        return SearchRequest(
            self.words,
            max_results=most,
            store=self.store,
            after=self.after.isoformat() if self.after else None,
            before=self.before.isoformat() if self.before else None,
            include_dormant=self.include_dormant,
            explain=True,
        )

    def shows(self, status: str | None) -> bool:
        """Tell whether a result of that status is to be shown."""
        return self.status in ("", "any") or (status or "active") == self.status


def parse_question(text: str, today: date) -> Question:
    """Read what was typed into the question line; anything makes sense, since people are still typing.

    Args:
        text: For example `what did we decide store:episodic after:2026-01 status:dormant`.
        today: For days that are told from today.
    """
    store: str | None = None
    after = before = None
    status = ""
    problems: list[str] = []
    words: list[str] = []
    for piece in pieces(text, _FIELDS):
        name, value = piece.field, piece.value.strip().casefold()
        if not name or piece.negated:
            words.append(piece.typed)
            continue
        if not value:
            continue
        if name in ("store", "status"):
            known = SEARCHED_STORES if name == "store" else STATUSES
            chosen = next((each for each in known if each.startswith(value)), "")
            if not chosen:
                problems.append(f"{name}:{value} is none of {', '.join(known)}.")
            elif name == "store":
                store = chosen
            else:
                status = chosen
            continue
        days = parse_days(value, today)
        if days is None:
            problems.append(f"{name}:{value} is no day; write 2026-02-14, feb, 3w or yesterday.")
        elif name in FIRST:
            after = days[0]
        else:
            before = days[1]
    return Question(" ".join(" ".join(words).split()), store, after, before, status, tuple(problems))
