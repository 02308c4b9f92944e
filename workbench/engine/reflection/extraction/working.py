"""Finds ways of working: steps that somebody spells out, and tasks that follow each other time and again."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import slug
from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.extraction.facts import quoted
from workbench.engine.reflection.extraction.naming import Voices
from workbench.engine.reflection.extraction.worth import terms_of
from workbench.engine.triggers.rules import outline_procedure
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.pages import Procedure
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Passage, Snapshot, Work

_STEP: Final = 500
_LONGEST: Final = 1_500
_FEWEST_STEPS: Final = 2
_MOST_STEPS: Final = 12
_TIMES: Final = 3
_SPELLED_TIMES: Final = 2
_LONGEST_RUN: Final = 8
_MOST_PER_DAY: Final = 60
_MOST_RUNS: Final = 100_000
_MOST_ITEMS: Final = 20
_MOST_EVIDENCE: Final = 4

_SPELLED = lazy_pattern(
    r"""^\s*(?:
        (?:how\ )?to\ (?!be\b|the\b|me\b|make\ (?:it|this|that)\b|answer\b
            |summari[sz]e\b)[a-z][^:.!?,\n]{2,60}?(?::\s*\S|,\s*(?:first|1[.)]|always|start\ by|begin\ by)\b)
      | (?:the\ |our\ |my\ )?(?:steps|procedure|process|workflow|routine|way|checklist)\ (?:to|for|of
          |when)\ [^:.!?\n]{2,60}?(?::|\ is\b|\ are\b)
      | (?:when(?:ever)?|every\ time|each\ time|before|after)\ [^,:.!?\n]{3,80}[,:]\s*(?:please\s+
          |you\ (?:should|must)\s+|i\ |we\ )?(?:always|first|make\ sure|never)\b
      | (?:always\s+|please\s+)?first,?\s+(?!(?:time|of|version|thing|call|day|week|draft|round|half
          |sprint)\b)[a-z]+\b.{3,200}\bthen\b
      | .{1,24}?(?:步骤|步驟|流程|做法)(?:如下|是)?\s*[:：,，]
      | (?:每次|每当|每當)?[^:：“「]{0,24}?(?<!喜欢)(?<!喜歡)(?<!习惯)(?<!習慣)(?<!请)(?<!請)先(?!生)
        [^“「]{2,60}(?:再(?![说說想])|然后|然後|接着|接著)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_SEQUENCE = lazy_pattern(
    r"\b(?:first|then|after that|afterwards|finally|next)\b|然后|然後|接着|接著", re.IGNORECASE
)
_STEP_BORDER = lazy_pattern(
    r"[,;.]?\s*\b(?:and then|then|after that|afterwards|and finally|finally|next)\b,?\s*|[,，;；。]?\s*(?:然后"
    r"|然後|接着|接著|最后|最後)\s*",
    re.IGNORECASE,
)
_SUBJECT = lazy_pattern(
    r"^(?:(?:today|yesterday|this morning|again|as usual|first|so|and|also)[,\s]+)*(?:i|we)(?:['’]ve|['’]m"
    r"|['’]re)?\s+(?:have\s+|had\s+to\s+|always\s+|usually\s+)?|^first,?\s+",
    re.IGNORECASE,
)
# A step is something to do: a verb begins it, no conjunction, preposition, number or unfinished thought.
_NO_STEP = lazy_pattern(
    r"^(?:which|who|that|this|these|those|it|he|she|they|you|but|or|and|so|if|when|while|because|since|although|as"
    r"|for|in|on|at|of|with|after|before|by|to|from|should|would|could|can|may|might|shall|will|been|being|is|are|was"
    r"|were|has|i['’]ll|we['’]ll|the|an?|my|our|his|her|their|its|not|no|how|what|why|where|(?:plann|try|hop|think|"
    r"consider|wonder)ing)\b|^[\W\d]|[\\^={}]",
    re.IGNORECASE,
)
_QUESTION = lazy_pattern(r"\?|\b(?:can|could|would) you\b", re.IGNORECASE)
_ACTIONS: Final = frozenset(("task", "event"))


@dataclass(frozen=True, slots=True)
class _Action:
    """Something that was done or is to be done, by the words that tell it from others."""

    at: int
    text: str
    quote: str
    key: tuple[str, ...]


def find_procedures(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Propose ways of working: those spelled out (“to deploy: first …, then …”), then sequences of tasks that recur.

    A sequence is proposed where the same two to eight tasks follow each other on at least three days, or in the
    “then … then …” of at least two passages. What a procedure of the snapshot says already is left out.
    """
    voices = Voices(snapshot)
    spelled: list[ReviewItem] = []
    known = [terms_of(each.title) for each in snapshot.procedures] if snapshot.procedures else []
    by_day: defaultdict[str, list[_Action]] = defaultdict(list)
    within: list[list[_Action]] = []
    for at, passage in enumerate(snapshot.passages):
        if at % _STEP == 0:
            work.step(at, len(snapshot.passages))
        if voices.of(passage) is None:
            continue
        item = _spelled_out(passage)
        if item is not None:
            spelled.append(item)
            continue
        if passage.type in _ACTIONS and len(by_day[passage.day]) < _MOST_PER_DAY:
            by_day[passage.day].extend(_action(at, passage.text))
        elif not passage.type or passage.type in _ACTIONS:
            within.extend(filter(None, (_told_in_order(at, passage),)))
    recurring = [
        *_recurring(within, _SPELLED_TIMES, snapshot.passages),
        *_recurring(list(by_day.values()), _TIMES, snapshot.passages),
    ]
    unique: dict[str, ReviewItem] = {}
    for item in (*spelled, *recurring):
        if not _is_known(item, known, snapshot.procedures):
            unique.setdefault(item.target, item)
    return tuple(unique.values())[:_MOST_ITEMS]


def _spelled_out(passage: Passage) -> ReviewItem | None:
    """Propose a way of working that a passage spells out, whole or from one of its sentences on."""
    text = passage.text[:_LONGEST].strip()
    if "```" in text or passage.type == "preference":
        return None
    start = 0
    if not _SPELLED.match(text):
        begins = (
            each.start for each in sentences(text) if _SPELLED.match(text[each.start : each.start + 400])
        )
        start = next(begins, -1)
    if start < 0:
        return None
    end = text.find("\n\n", start)
    words = text[start : end if end >= 0 else len(text)]
    if _QUESTION.search(words):
        return None
    outline = outline_procedure(words)
    steps = tuple(step for step in outline.steps if 2 < len(step) <= 300)
    if not _FEWEST_STEPS <= len(steps) <= _MOST_STEPS:
        return None
    explicit = bool(passage.type) or passage.source == "user-explicit"
    confidence: Confidence = "high" if explicit else "medium"
    return items.procedure(
        f"procedure:{slug(outline.title)}",
        outline.title,
        steps,
        [quoted(passage, words.split("\n")[0])],
        reason="It was spelled out step by step" + (f" on {passage.day}." if passage.day else "."),
        confidence=confidence,
        when=outline.trigger,
    )


def _told_in_order(at: int, passage: Passage) -> list[_Action] | None:
    """Return what a passage tells as done one after the other."""
    for sentence in sentences(passage.text[:_LONGEST]):
        if _SEQUENCE.search(sentence.text):
            actions: list[_Action] = []
            for part in _STEP_BORDER.split(sentence.text):
                for piece in re.split(r",\s*(?:and\s+)?", part):
                    actions.extend(_action(at, piece, sentence.text))
            if len(actions) >= _FEWEST_STEPS:
                return actions
    return None


def _action(at: int, text: str, quote: str = "") -> Iterator[_Action]:
    line = " ".join(text.split("\n")[0].split()).strip(" .,;。，")
    said = _SUBJECT.sub("", line)
    key = tuple(sorted(terms_of(re.sub(r"\d[\d.:,-]*", " ", said))))[:4]
    if (
        key
        and 1 < len(said.split()) <= 14
        and not _QUESTION.search(line)
        and not (quote and _NO_STEP.search(said))
    ):
        yield _Action(at, said, quote or line, key)


def _recurring(
    sequences: Sequence[list[_Action]], times: int, passages: Sequence[Passage]
) -> list[ReviewItem]:
    """Propose the longest runs of actions that at least so many sequences have in this order."""
    runs: defaultdict[tuple[tuple[str, ...], ...], dict[int, tuple[_Action, ...]]] = defaultdict(dict)
    for number, sequence in enumerate(sequences):
        for start in range(len(sequence)):
            for length in range(_FEWEST_STEPS, min(_LONGEST_RUN, len(sequence) - start) + 1):
                run = tuple(sequence[start : start + length])
                keys = tuple(action.key for action in run)
                if len(set(keys)) == length and (keys in runs or len(runs) < _MOST_RUNS):
                    runs[keys].setdefault(number, run)
    often = sorted(
        ((keys, seen) for keys, seen in runs.items() if len(seen) >= times),
        key=lambda each: (-len(each[0]), -len(each[1])),
    )
    kept: list[tuple[tuple[tuple[str, ...], ...], dict[int, tuple[_Action, ...]]]] = []
    for keys, seen in often:
        if not any(_is_within(keys, longer) for longer, _ in kept):
            kept.append((keys, seen))
    kept.sort(key=lambda each: (-len(each[1]) * len(each[0]), each[0]))
    return [_recurrence(list(seen.values()), passages) for _, seen in kept]


def _is_within(keys: tuple[tuple[str, ...], ...], longer: tuple[tuple[str, ...], ...]) -> bool:
    return any(longer[at : at + len(keys)] == keys for at in range(len(longer) - len(keys) + 1))


def _recurrence(runs: Sequence[tuple[_Action, ...]], passages: Sequence[Passage]) -> ReviewItem:
    latest = runs[-1]
    steps = [action.text[:1].upper() + action.text[1:] for action in latest]
    days = sorted({passages[run[0].at].day for run in runs} - {""})
    evidence = {
        passages[action.at].id: quoted(passages[action.at], action.quote) for run in runs for action in run
    }
    title = f"{steps[0]}, then {latest[1].text[:1].lower()}{latest[1].text[1:]}"
    when = f"After “{steps[0]}”."
    return items.procedure(
        f"procedure:{slug(title)}",
        title,
        steps,
        list(evidence.values())[:_MOST_EVIDENCE],
        reason=f"Done in this order {len(runs)} times"
        + (f" between {days[0]} and {days[-1]}." if len(days) > 1 else "."),
        confidence="medium" if len(runs) >= _TIMES else "low",
        when=when,
    )


def _is_known(item: ReviewItem, known: Sequence[frozenset[str]], procedures: Sequence[Procedure]) -> bool:
    terms = terms_of(item.text)
    by_title = any(len(terms & each) >= 0.8 * len(terms) for each in known if each and terms)
    return by_title or any(each.id == item.target for each in procedures)
