"""What is due at the tenth, 25th, 50th and 100th reflection, said in counts and themes of the log (design §10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.past import accepted, cite_insight, cite_record, turned_down
from workbench.engine.reflection.rules.phrasing import clipped, counted, listed
from workbench.engine.reflection.rules.themes import find_themes
from workbench.engine.reflection.rules.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.rules.past import PastReflection
    from workbench.engine.reflection.rules.themes import OpenQuestion, Theme

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
    say = {10: _first_summary, 25: _threads, 50: _synthesis, 100: _retrospective}[snapshot.number]
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


def _threads(snapshot: Snapshot, past: Sequence[PastReflection], _: Sequence[Theme]) -> Iterable[str]:
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
