"""Meta-reflection: what past reflections and the evolution of understanding say to this one (design §10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Guidance
from workbench.engine.reflection.rules.milestones import MILESTONES, milestone_items
from workbench.engine.reflection.rules.past import cite_record, read_past
from workbench.engine.reflection.rules.phrasing import clipped, counted, plain
from workbench.engine.reflection.rules.quoting import quote_of
from workbench.engine.reflection.rules.themes import find_persistent, find_revised, find_themes
from workbench.engine.reflection.rules.words import content_words, likeness

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
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
