"""Meta-reflection: what past reflections and the evolution of understanding say to this one (design §10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Guidance
from workbench.engine.reflection.rules.past import accepted, cite_insight, cite_record, read_past, turned_down
from workbench.engine.reflection.rules.phrasing import clipped, counted, listed, plain
from workbench.engine.reflection.rules.quoting import quote_of
from workbench.engine.reflection.rules.themes import find_persistent, find_revised, find_themes
from workbench.engine.reflection.rules.words import content_words, likeness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Agenda, Passage, Snapshot
    from workbench.engine.reflection.rules.past import PastReflection
    from workbench.engine.reflection.rules.themes import OpenQuestion, Theme
    from workbench.engine.reflection.work import Work

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
