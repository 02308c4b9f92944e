"""Meta-reflection: what past reflections and the evolution of understanding say to this one (design §10.4).

Records and insights are read as passages of the past, with what was decided on. What recurs across them are themes,
revised assumptions and questions that stay open.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.catalog.terms import STOP_WORDS, terms
from workbench.engine.language.sentences import asks, sentences
from workbench.engine.memory.wording import text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.english import words
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Guidance
from workbench.engine.reflection.review.record import Verdict, read_verdicts, without_verdicts
from workbench.engine.reflection.rules.phrasing import (
    cite,
    clipped,
    content_words,
    counted,
    is_topical,
    likeness,
    listed,
    plain,
    quote_of,
)
from workbench.engine.triggers.phrases import routing_cues
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.markdown.reflection_records import Insight, ReflectionRecord
    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.markdown.source import LineSpan
    from workbench.engine.reflection.model import Agenda, Passage, Snapshot, Work

THREADS: Final = "Active Threads"
INSIGHTS: Final = "Insights"
OPEN_QUESTIONS: Final = "Open Questions"
_FEWEST_FOR_A_THREAD: Final = 5
_FEWEST_DECISIONS: Final = 3
_MOST_REVISED: Final = 10
_MOST_PERSISTENT: Final = 10
_KNOWN: Final = 0.6
_MOST_TOLD: Final = 3
_LONGEST_TOLD: Final = 90
MILESTONES: Final = {
    10: "first evolution summary",
    25: "consolidated threads",
    50: "major synthesis",
    100: "deep retrospective",
}
_SECTION: Final = "Milestones"
_NAMED: Final = 5
_MOST_EVIDENCE: Final = 5
_QUIET: Final = 10
_QUARTERS: Final = ("first", "second", "third", "last")
_SHARE: Final = lazy_pattern(r"(\d+)\s*/\s*(\d+)")
FEWEST_REFLECTIONS: Final = 2
_SHARE_OF_REFLECTIONS: Final = 0.25
_MOST_THEMES: Final = 12
SAME_QUESTION: Final = 0.6
_BEFORE: Final = 8
_NAME: Final = lazy_pattern(r"(?<![\w’'-])[^\W\d_a-z][^\W_]+(?:[ -][^\W\d_a-z][^\W_]+){0,2}")
_REVISED: Final = lazy_pattern(
    r"\b(?:no longer|not any ?more|turned out|was wrong|were wrong|revised|corrected|correction|superseded|supersession"
    r"|used to|changed from|instead of|rather than|replaced)\b",
    re.IGNORECASE,
)
# What a log says of itself is no theme of it.
_OF_THE_LOG: Final = words(
    "reflection reflections memory memories core item items fact facts entity entities relation insight insights"
    " summary approved rejected deferred undecided proposed proposal applied active context persona identity critical"
    " rewritten added archived archive restored changed change question questions thread threads about learned got new"
    " open noted says said one two three four five six seven eight nine ten first second partly milestone evolution"
    " procedure procedures promotion demotion supersession contradiction contradictions vault pin decided decision"
    " decisions user calling asked update updated episode episodes"
)


def look_back(snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
    """Return what recurs, what was revised, what stays open, and the insights to propose.

    A theme raises by half the weight of the areas of this cycle that it names (`survey.led_by`); a persistent question
    is not asked again in the same words (`questions`).

    Args:
        snapshot: Its records, insights and number.
        agenda: Of the survey.
        work: Asked whether to go on.
    """
    past = read_past(snapshot.records)
    themes = find_themes(past)
    work.check()
    revised = find_revised(past, snapshot.insights)
    persistent = find_persistent(past, snapshot.insights)
    work.check()
    items = (
        *milestone_items(snapshot, past, themes, revised, persistent),
        *_threads(snapshot, past, themes),
        *_kept_questions(snapshot, past, persistent),
        *_deciding(snapshot, agenda),
    )
    return Guidance(
        tuple(theme.told(len(past)) for theme in themes),
        revised[:_MOST_REVISED],
        tuple(question.text for question in persistent[:_MOST_PERSISTENT]),
        items,
        MILESTONES.get(snapshot.number, ""),
    )


def _threads(
    snapshot: Snapshot, past: Sequence[PastReflection], themes: Sequence[Theme]
) -> Iterator[ReviewItem]:
    """Propose the first theme that runs through half of all reflections, and that is neither named yet nor a speaker.

    What was proposed before is not proposed again, whatever was decided on it.
    """
    proposed = (v.text for reflection in past for v in reflection.verdicts if v.kind is Kind.INSIGHT)
    known = frozenset[str]().union(*map(content_words, (*(i.text for i in snapshot.insights), *proposed)))
    known |= content_words(" ".join({snapshot.owner, *(passage.speaker for passage in snapshot.passages)}))
    for theme in themes:
        places = theme.reflections
        if len(places) < max(_FEWEST_FOR_A_THREAD, len(past) // 2) or places[-1] < len(past) - 2:
            continue
        if content_words(theme.name) <= known:
            continue
        cited = [
            cite_record(snapshot, past[at], theme.name)
            for at in (places[0], places[len(places) // 2], places[-1])
        ]
        evidence = tuple({proof.id: proof for proof in cited if proof is not None}.values())
        if len(evidence) < 2:
            continue
        first, last = past[places[0]], past[places[-1]]
        yield forms.insight(
            THREADS,
            f"{theme.name[:1].upper()}{theme.name[1:]} runs through {len(places)} of {len(past)} reflections, "
            f"from {first.record.id} ({first.day}) to {last.record.id} ({last.day})",
            evidence,
            reason="It recurs across reflections, and no thread names it yet.",
        )
        return


def _kept_questions(
    snapshot: Snapshot, past: Sequence[PastReflection], persistent: Sequence[OpenQuestion]
) -> Iterator[ReviewItem]:
    """Propose to keep the longest-standing question that `evolution.md` does not hold yet."""
    kept = [
        content_words(i.text) for i in snapshot.insights if i.section.casefold() == OPEN_QUESTIONS.casefold()
    ]
    for question in persistent:
        words = content_words(question.text)
        if any(likeness(words, known) >= _KNOWN for known in kept):
            continue
        cited = [cite_record(snapshot, past[at], question.text) for at in question.asked[-3:]]
        evidence = tuple(proof for proof in cited if proof is not None)
        if evidence:
            yield forms.insight(
                OPEN_QUESTIONS,
                question.text,
                evidence,
                reason=f"{counted(len(question.asked), 'reflection')} asked it, and it is still open.",
            )
            return


def _deciding(snapshot: Snapshot, agenda: Agenda) -> Iterator[ReviewItem]:
    """Propose to keep together what was decided about one subject, where it has a third of the decisions and three."""
    decided = {at for at, passage in enumerate(snapshot.passages) if passage.type == "decision"}
    owner = snapshot.owner.casefold()
    ranked = sorted(
        (
            (len(decided.intersection(area.passages)), area)
            for area in agenda.areas
            if area.subject.casefold() not in (owner, "decision", "decisions")
            and not area.subject[:1].isdigit()
        ),
        key=lambda pair: (-pair[0], -pair[1].weight),
    )
    if not ranked or ranked[0][0] < _FEWEST_DECISIONS or ranked[0][0] * 3 < len(decided):
        return
    number, area = ranked[0]
    if any(area.subject.casefold() in insight.text.casefold() for insight in snapshot.insights):
        return
    passages = [snapshot.passages[at] for at in sorted(area.passages) if at in decided]
    told = passages[-_MOST_TOLD:]
    decisions = "; ".join(clipped(plain(_decision(passage)), _LONGEST_TOLD) for passage in told)
    before = f" (the last {len(told)} of {number})" if number > len(told) else ""
    yield forms.insight(
        INSIGHTS,
        f"Decided about {clipped(area.subject, 60)} from {passages[0].day} to {passages[-1].day}{before}: {decisions}",
        tuple(quote_of(passage) for passage in told),
        reason=f"{counted(number, 'decision')} of {len(decided)} that are new in this reflection are about it.",
    )


def _decision(passage: Passage) -> str:
    """Return the first sentence of a decision."""
    said = sentences(passage.text)
    return " ".join((said[0].text if said else passage.text).split()).rstrip(" .")


# What is due at the tenth, 25th, 50th and 100th reflection, said in counts and themes of the log (design §10.4).


def milestone_items(
    snapshot: Snapshot,
    past: Sequence[PastReflection],
    themes: Sequence[Theme],
    revised: Sequence[str],
    persistent: Sequence[OpenQuestion],
) -> tuple[ReviewItem, ...]:
    """Return the insight that is due at this number of reflections; nothing where none is due or nothing is logged.

    Args:
        snapshot: Its number and insights.
        past: The log.
        themes: Of the whole log.
        revised: Assumptions that were revised, newest first.
        persistent: Questions that stay open.
    """
    due = MILESTONES.get(snapshot.number)
    if due is None or not past:
        return ()
    evidence = _evidence(snapshot, past, themes)
    if not evidence:
        return ()
    say = {10: _first_summary, 25: _quarter_threads, 50: _synthesis, 100: _retrospective}[snapshot.number]
    parts = [
        f"{due[:1].upper()}{due[1:]} at reflection {snapshot.number}: {_standing(past)}",
        *say(snapshot, past, themes),
        _revisions(revised),
        _still_open(persistent),
    ]
    text = ". ".join(part for part in parts if part) + "."
    records = counted(len(past), "record")
    reason = (
        f"Reflection {snapshot.number} is a milestone; all figures are counts of the {records} in the log."
    )
    return (forms.insight(_SECTION, text, evidence, reason=reason, confidence="high"),)


def _first_summary(
    _snapshot: Snapshot, past: Sequence[PastReflection], themes: Sequence[Theme]
) -> Iterable[str]:
    yield f"What recurs: {_told(themes, len(past))}" if themes else "No theme recurs yet"
    yield _kinds(past)


def _quarter_threads(snapshot: Snapshot, past: Sequence[PastReflection], _: Sequence[Theme]) -> Iterable[str]:
    lately = past[-_QUIET:]
    words = [content_words(reflection.said) for reflection in lately]
    going: list[str] = []
    quiet: list[str] = []
    for insight in snapshot.insights:
        if insight.section.casefold() != "active threads":
            continue
        telling = content_words(insight.text)
        spoken = sum(1 for said in words if len(telling & said) >= min(2, len(telling)))
        (going if spoken else quiet).append(f"“{clipped(insight.text, 80)}”")
    recent = find_themes(lately)
    yield f"Of the last {len(lately)} reflections: {_told(recent, len(lately))}" if recent else ""
    yield f"Threads that go on: {listed(going[:_NAMED])}" if going else ""
    yield f"Threads without a word in the last {len(lately)}: {listed(quiet[:_NAMED])}" if quiet else ""


def _synthesis(_snapshot: Snapshot, past: Sequence[PastReflection], _: Sequence[Theme]) -> Iterable[str]:
    half = len(past) // 2
    earlier, later = find_themes(past[:half]), find_themes(past[half:])
    before, now = {theme.key: theme for theme in earlier}, {theme.key: theme for theme in later}
    stayed = [now[key] for key in now if key in before]
    come = [now[key] for key in now if key not in before]
    gone = [before[key] for key in before if key not in now]
    yield f"Came in the second half: {_told(come, len(past) - half)}" if come else ""
    yield f"Fell silent: {_told(gone, half)}" if gone else ""
    yield f"Stayed throughout: {listed(theme.name for theme in stayed[:_NAMED])}" if stayed else ""


def _retrospective(
    _snapshot: Snapshot, past: Sequence[PastReflection], themes: Sequence[Theme]
) -> Iterable[str]:
    yield f"Over all: {_told(themes, len(past))}" if themes else ""
    size = max(1, len(past) // len(_QUARTERS))
    for place, name in enumerate(_QUARTERS):
        end = len(past) if place == len(_QUARTERS) - 1 else (place + 1) * size
        part = past[place * size : end]
        found = find_themes(part, most=3)
        approved, decided = accepted(part)
        share = f", {approved} of {decided} changes accepted" if decided else ""
        about = listed(theme.name for theme in found) or "no theme"
        yield f"The {name} quarter ({part[0].day} to {part[-1].day}): {about}{share}" if part else ""
    yield _kinds(past)


def _standing(past: Sequence[PastReflection]) -> str:
    approved, decided = accepted(past)
    outcomes: dict[str, int] = {}
    for reflection in past:
        outcomes[reflection.record.outcome or "decided"] = (
            outcomes.get(reflection.record.outcome or "decided", 0) + 1
        )
    share = f"; {approved} of {decided} proposed changes were accepted" if decided else ""
    counts = listed(f"{number} {outcome}" for outcome, number in outcomes.items())
    return f"{counted(len(past), 'reflection')} from {past[0].day} to {past[-1].day} ({counts}){share}"


def _kinds(past: Sequence[PastReflection]) -> str:
    """Say what a person took and turned down most, where the log lists it."""
    refused = [f"{kind} ({rejected} of {decided})" for kind, rejected, decided in turned_down(past)]
    return f"More often turned down than taken: {listed(refused[:3])}" if refused else ""


def _revisions(revised: Sequence[str]) -> str:
    said = [f"“{clipped(text, 100)}”" for text in revised[:3]]
    return f"Revised on the way: {listed(said)}" if said else ""


def _still_open(persistent: Sequence[OpenQuestion]) -> str:
    said = [
        f"“{clipped(question.text, 100)}” (asked {len(question.asked)} times)" for question in persistent[:3]
    ]
    return f"Still open: {listed(said)}" if said else ""


def _told(themes: Sequence[Theme], of: int) -> str:
    return listed(f"{theme.name} ({len(theme.reflections)} of {of})" for theme in themes[:_NAMED])


def _evidence(
    snapshot: Snapshot, past: Sequence[PastReflection], themes: Sequence[Theme]
) -> tuple[Evidence, ...]:
    """Return quotes from the newest record of each theme, from the first and the last one, and from an insight."""
    found = [
        cite_record(snapshot, past[theme.reflections[-1]], theme.name)
        for theme in themes[: _MOST_EVIDENCE - 2]
    ]
    found += [cite_record(snapshot, past[0]), cite_record(snapshot, past[-1])]
    found += [cite_insight(snapshot, insight) for insight in snapshot.insights[-1:]]
    unique = {(proof.id, proof.quote): proof for proof in found if proof is not None}
    return tuple(unique.values())[:_MOST_EVIDENCE]


@dataclass(frozen=True)
class PastReflection:
    """One record of the log.

    Args:
        record: As it stands.
        prose: Its body without the list of verdicts.
        verdicts: That list; empty in records that have none.
    """

    record: ReflectionRecord
    prose: str
    verdicts: tuple[Verdict, ...]

    @property
    def day(self) -> str:
        """Return its date as written."""
        return self.record.time[:10]

    @property
    def decided(self) -> tuple[int, int]:
        """Return how many items were approved and how many were decided, by the list or else by the field `items`."""
        if self.verdicts:
            decisions = Counter(verdict.decision for verdict in self.verdicts)
            return decisions["approved"], decisions["approved"] + decisions["rejected"]
        share = _SHARE.search(dict(self.record.fields).get("items", ""))
        return (int(share[1]), int(share[2])) if share else (0, 0)

    @property
    def said(self) -> str:
        """Return its words: the prose, and the texts of what was approved."""
        kept = (verdict.text for verdict in self.verdicts if verdict.decision == "approved")
        return "\n".join((self.prose, *kept))


def read_past(records: Iterable[ReflectionRecord]) -> tuple[PastReflection, ...]:
    """Return the records with the verdicts in their bodies taken apart, oldest first."""
    return tuple(
        PastReflection(record, without_verdicts(record.body), read_verdicts(record.body))
        for record in records
    )


def accepted(past: Iterable[PastReflection]) -> tuple[int, int]:
    """Return how many proposed changes were approved, and how many were decided."""
    shares = [reflection.decided for reflection in past]
    return sum(approved for approved, _ in shares), sum(decided for _, decided in shares)


def turned_down(past: Iterable[PastReflection]) -> tuple[tuple[Kind, int, int], ...]:
    """Return the kinds that were rejected twice or more and not approved more often, with rejected and decided."""
    rejected: Counter[Kind] = Counter()
    decided: Counter[Kind] = Counter()
    for verdict in (verdict for reflection in past for verdict in reflection.verdicts):
        if verdict.kind is not None and verdict.decision in ("approved", "rejected"):
            decided[verdict.kind] += 1
            rejected[verdict.kind] += verdict.decision == "rejected"
    return tuple(
        (kind, rejected[kind], number)
        for kind, number in decided.most_common()
        if rejected[kind] >= 2 and rejected[kind] * 2 >= number
    )


def cite_record(snapshot: Snapshot, reflection: PastReflection, word: str = "") -> Evidence | None:
    """Return evidence from the log: the sentence of a record with a word in it, else its first."""
    span = reflection.record.span
    if span is None:
        return None
    texts = [*(verdict.text for verdict in reflection.verdicts), *_sentences(reflection.prose)]
    telling = [text for text in texts if word and word.casefold() in text.casefold()]
    return cite(snapshot, _lines(layout.REFLECTION_LOG, span), *telling, *texts, reflection.record.id)


def cite_insight(snapshot: Snapshot, insight: Insight) -> Evidence | None:
    """Return evidence from `evolution.md`."""
    return cite(snapshot, _lines(layout.EVOLUTION, insight.span), *_sentences(insight.text), insight.text)


def _sentences(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text, questions=True)]


def _lines(path: str, span: LineSpan) -> str:
    return f"file:{path}#L{span.start}-L{span.end}"


@dataclass(frozen=True)
class Theme:
    """What several reflections speak of.

    Args:
        name: As they write it.
        key: Folded.
        reflections: Indices of the records, oldest first.
    """

    name: str
    key: str
    reflections: tuple[int, ...]

    def told(self, of: int) -> str:
        """Return it with its count, for people: “Ningbo (in 4 of 6 reflections)”."""
        return f"{self.name} (in {len(self.reflections)} of {of} reflections)"


@dataclass(frozen=True)
class OpenQuestion:
    """A question that several reflections asked, or that one asked and `evolution.md` keeps."""

    text: str
    asked: tuple[int, ...]


def find_themes(past: Sequence[PastReflection], most: int = _MOST_THEMES) -> tuple[Theme, ...]:
    """Return what recurs in at least a quarter of the reflections and in no fewer than two, most frequent first."""
    where: defaultdict[str, list[int]] = defaultdict(list)
    written: dict[str, str] = {}
    for at, reflection in enumerate(past):
        for key, name in _subjects(reflection.said):
            written.setdefault(key, name)
            if not where[key] or where[key][-1] != at:
                where[key].append(at)
    fewest = max(FEWEST_REFLECTIONS, round(len(past) * _SHARE_OF_REFLECTIONS))
    found = [
        Theme(written[key], key, tuple(places)) for key, places in where.items() if len(places) >= fewest
    ]
    found.sort(
        key=lambda theme: (
            -len(theme.reflections),
            not theme.name[:1].isupper(),
            -theme.reflections[-1],
            theme.key,
        )
    )
    kept: list[Theme] = []
    for theme in found:
        # “Mei Chen” says what “Mei” and “Chen” would.
        if not any(set(theme.key.split()) & set(other.key.split()) for other in kept):
            kept.append(theme)
    return tuple(_as_written(theme, past) for theme in kept[:most])


def _as_written(theme: Theme, past: Sequence[PastReflection]) -> Theme:
    """Return a theme of a single word with a capital where the log never writes it without."""
    if theme.name != theme.key or any(theme.key in past[at].said for at in theme.reflections):
        return theme
    return replace(theme, name=theme.name[:1].upper() + theme.name[1:])


def find_revised(past: Sequence[PastReflection], insights: Sequence[Insight]) -> tuple[str, ...]:
    """Return what was believed and then revised, in the books’ own words, newest first."""
    found: list[str] = []
    for insight in reversed(insights):
        found.extend(s.text for s in sentences(insight.text) if _REVISED.search(s.text))
    for reflection in reversed(past):
        found.extend(
            verdict.text
            for verdict in reflection.verdicts
            if verdict.kind is Kind.SUPERSESSION and verdict.decision == "approved"
        )
        found.extend(s.text for s in sentences(reflection.prose) if _REVISED.search(s.text))
    return tuple(dict.fromkeys(" ".join(text.split()) for text in found))


def find_persistent(past: Sequence[PastReflection], insights: Sequence[Insight]) -> tuple[OpenQuestion, ...]:
    """Return the questions that were asked in two reflections or more, or once and are kept as open, longest first."""
    groups: list[tuple[frozenset[str], str, list[int]]] = []
    kept = [insight.text for insight in insights if insight.section.casefold() == "open questions"]
    for at, reflection in enumerate(past):
        for text in _questions(reflection):
            said = content_words(text)
            group = next((g for g in groups if likeness(g[0], said) >= SAME_QUESTION), None)
            if group is None:
                groups.append((said, text, [at]))
            elif group[2][-1] != at:
                group[2].append(at)
    answered = {key for key, _, asked in groups if asked and _answered(past, asked[-1], key)}
    open_ones = [
        OpenQuestion(text, tuple(asked))
        for key, text, asked in groups
        if key not in answered
        and (
            len(asked) >= FEWEST_REFLECTIONS
            or any(likeness(key, content_words(known)) >= SAME_QUESTION for known in kept)
        )
    ]
    return tuple(sorted(open_ones, key=lambda question: (-len(question.asked), question.asked)))


def times_asked(past: Sequence[PastReflection], text: str, *, exactly: bool = False) -> int:
    """Return how many reflections asked a question, in these or (unless `exactly`) like words."""
    key, wanted = content_words(text), text_key(text)
    return sum(
        any(
            text_key(asked) == wanted if exactly else likeness(content_words(asked), key) >= SAME_QUESTION
            for asked in _questions(reflection)
        )
        for reflection in past
    )


def _answered(past: Sequence[PastReflection], at: int, asked: frozenset[str]) -> bool:
    """Return whether the last time a question was asked it was answered, which is to approve it, or turned down."""
    return any(
        verdict.kind is Kind.QUESTION
        and verdict.decision in ("approved", "rejected")
        and likeness(content_words(verdict.text), asked) >= SAME_QUESTION
        for verdict in past[at].verdicts
    )


def _questions(reflection: PastReflection) -> Iterator[str]:
    for verdict in reflection.verdicts:
        if verdict.kind is Kind.QUESTION:
            yield verdict.text
    for sentence in sentences(reflection.prose, questions=True):
        if sentence.question and asks(sentence.text):
            yield " ".join(sentence.text.split())


def _subjects(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a text speaks of with its folded key: names, and other words of more than four letters."""
    common = STOP_WORDS | routing_cues().words["stop_words"] | routing_cues().words["no_names"]
    names: dict[str, str] = {}
    for match in _NAME.finditer(text):
        written = match[0].split(" ")
        before = text[max(0, match.start() - _BEFORE) : match.start()].rstrip(" \"'“‘(")
        opening = not before or before[-1] in ".!?:\n-—"
        while opening and written and written[0].casefold() in common:
            # “Today Maria”: the first word has its capital for another reason.
            written, opening = written[1:], False
        key = " ".join(terms(" ".join(written)))
        if key and not (opening and " " not in key) and not _OF_THE_LOG.intersection(key.split()):
            names.setdefault(key, " ".join(written))
    yield from names.items()
    inside = {word for key in names for word in key.split()}
    for word in dict.fromkeys(terms(text)):
        ordinary = word in common or word in _OF_THE_LOG or word in inside
        if not ordinary and is_topical(word):
            yield word, word
