"""What is going on now: Active Context after the newest decisions, tasks and events (design §10.3, phase 4).

Open decisions go once they were taken, other items once they are finished or nothing speaks of them any more.
"""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.core_items import (
    is_owners,
    newest_first,
    read_lines,
    says,
    told_of_owner,
)
from workbench.engine.reflection.rules.phrasing import (
    cite,
    clipped,
    content_words,
    counted,
    coverage,
    plain,
    spoken,
)
from workbench.engine.triggers.live_text import PUNCTUATION
from workbench.engine.triggers.phrases import routing_cues

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot, Work
    from workbench.engine.reflection.rules.core_items import CoreLine

BLOCK: Final = "Active Context"
_TARGET: Final = "core:active-context"
_CURRENT: Final = timedelta(days=21)
_MOST_NEW: Final = 2
_LONGEST: Final = 160
_SPOKEN_OF: Final = 0.6
_LONGEST_NAME: Final = 3
_LONGEST_VALUE: Final = 5
_EVENTS: Final = frozenset({"recent important events", "recent events", "recently"})
_SUBJECT_TYPES: Final = frozenset({"decision", "fact", "correction", "event"})
# Core memory is read on other days than it is written.
_PASSING: Final = lazy_pattern(
    r"\b(?:today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening)|right now|just now)\b|今天|明天|昨天",
    re.IGNORECASE,
)
DONE: Final = lazy_pattern(
    r"\b(?:done|finished|completed?|shipped|closed|resolved|solved|settled|signed|delivered|paid|merged|cancelled"
    r"|canceled|called off|dropped|abandoned|is over|no longer needed|went live|is live)\b"
    r"|完成了?|结束了?|結束了?|取消了?",
    re.IGNORECASE,
)
OPEN: Final = frozenset(
    {"open decisions", "open questions", "blockers", "blockers/waiting on", "waiting on", "waiting for"}
)
_DECIDED: Final = 0.8
_MOST: Final = 5
_LONG: Final = timedelta(days=21)
_FEWEST_PASSAGES: Final = 10
_MOST_PASSAGES: Final = 2000
_SAID_DONE: Final = 0.5
_NOT_QUITE: Final = lazy_pattern(
    r"\b(?:half|part|partly|almost|nearly|not|isn['’]t|never|when|once|if|until|before)\b", re.IGNORECASE
)


def context_changes(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    """Yield changes of Active Context, first of what stands there, then what is new.

    An item whose label names a subject takes the newest statement on that subject; “Currently working on” and the
    like take the newest statement of what is being worked on. New are tasks and decisions of the last three weeks that
    core memory does not speak of and that nothing later says are done, tasks first, at most two.

    Args:
        snapshot: Its passages and core memory.
        work: Asked whether to go on.
    """
    lines = read_lines(snapshot)
    recent = [
        passage
        for passage in snapshot.passages
        if passage.moment is not None and passage.moment >= snapshot.now - _CURRENT
    ]
    work.check()
    used: set[str] = set()
    for line in lines:
        if line.block != BLOCK or line.item.pinned:
            continue
        change = (
            focus_change(snapshot, line, recent)
            or _events(snapshot, line, recent)
            or settled_change(snapshot, line, recent)
            or _subject(snapshot, line, recent)
        )
        if change is not None and not any(proof.id in used for proof in change.evidence):
            used.update(proof.id for proof in change.evidence)
            yield change
    work.check()
    yield from new_focus(snapshot, lines, recent)
    yield from _new(snapshot, lines, recent, used)


def _events(snapshot: Snapshot, line: CoreLine, recent: Sequence[Passage]) -> ReviewItem | None:
    if line.label.casefold() not in _EVENTS:
        return None
    newest = next((p for p in newest_first(recent) if p.type == "event" and p.confidence != "low"), None)
    if newest is None or _covers(line, newest.text):
        return None
    return _change(
        snapshot, line, newest, spoken(newest.text)[0], f"It is the newest event, of {newest.day}."
    )


def _subject(snapshot: Snapshot, line: CoreLine, recent: Sequence[Passage]) -> ReviewItem | None:
    """Return the newest statement on what an item’s label names, where it is newer than what the item says."""
    label = line.label.casefold()
    if not label or label in FOCUS | _EVENTS | OPEN or line.is_placeholder:
        return None
    name = content_words(line.label)
    if not name or len(name) > _LONGEST_NAME or len(content_words(line.value)) > _LONGEST_VALUE:
        return None
    for passage in newest_first(recent):
        said = content_words(f"{passage.text} {' '.join(passage.tags)}")
        if passage.type not in _SUBJECT_TYPES or not name <= said:
            continue
        if passage.type == "event" and passage.confidence != "high" and passage.source != "user-explicit":
            continue
        if (content_words(line.value) - name) & said:
            # What the item says was taken from here, or goes beyond it.
            return None
        if _PASSING.search(passage.text):
            continue
        about = max(
            spoken(passage.text), key=lambda sentence: len(content_words(sentence) & (name | line.words))
        )
        return _change(
            snapshot, line, passage, about, f"It is the newest {passage.type} on it, of {passage.day}."
        )
    return None


def _covers(line: CoreLine, text: str) -> bool:
    """Return whether an item says what a text says, or was taken from it."""
    value = content_words(line.value)
    return not line.is_placeholder and (
        coverage(value, content_words(text)) >= 0.5 or says((line,), text) is not None
    )


def _change(
    snapshot: Snapshot, line: CoreLine, passage: Passage, sentence: str, reason: str
) -> ReviewItem | None:
    proof = cite(snapshot, passage.id, sentence)
    if proof is None:
        return None
    text = f"{line.label}: {_said(snapshot, passage, sentence)}"
    return forms.core_change(line.item.id, text, (proof,), reason=reason, before=line.item.text)


def _said(snapshot: Snapshot, passage: Passage, sentence: str) -> str:
    """Return a sentence as core memory would have it: told of the person, without a final stop."""
    told = plain(told_of_owner(sentence, snapshot) if is_owners(passage, snapshot) else sentence)
    told = clipped(told, _LONGEST)
    first = told.split(" ", 1)[0]
    ordinary = first.casefold() in routing_cues().words["no_names"]
    return told[:1].lower() + told[1:] if ordinary and not first.isupper() else told


def _new(
    snapshot: Snapshot, lines: Sequence[CoreLine], recent: Sequence[Passage], used: set[str]
) -> Iterator[ReviewItem]:
    later: list[frozenset[str]] = []
    given: list[frozenset[str]] = []
    open_ones: list[tuple[Passage, frozenset[str]]] = []
    for passage in newest_first(recent):
        words = content_words(passage.text)
        if DONE.search(passage.text) and passage.type != "task":
            later.append(words)
        wanted = passage.type == "task" or (passage.type == "decision" and passage.confidence != "low")
        wanted = wanted and not _PASSING.search(passage.text)
        if not wanted or passage.id in used or _finished(words, later):
            continue
        if not says(lines, passage.text) and not any(_stands(line, words) for line in lines):
            open_ones.append((passage, words))
    for passage, words in sorted(open_ones, key=lambda pair: pair[0].type != "task"):
        if len(given) == _MOST_NEW:
            return
        if any(coverage(words, other) >= 0.5 or coverage(other, words) >= 0.5 for other in given):
            continue
        sentence = spoken(passage.text)[0]
        proof = cite(snapshot, passage.id, sentence)
        if proof is None:
            continue
        given.append(words)
        label = "To do" if passage.type == "task" else f"Decided on {passage.day}"
        reason = f"A {passage.type} of {passage.day} that core memory does not speak of yet."
        text = f"{label}: {_said(snapshot, passage, sentence)}"
        yield forms.core_change(_TARGET, text, (proof,), reason=reason)


def _stands(line: CoreLine, words: frozenset[str]) -> bool:
    """Return whether Active Context speaks of the matter already, if in fewer words."""
    value = content_words(line.value) if line.block == BLOCK and not line.is_placeholder else frozenset()
    return len(value & words) >= 2 and coverage(value, words) >= _SPOKEN_OF


def _finished(words: frozenset[str], later: Sequence[frozenset[str]]) -> bool:
    return any(len(words & done) >= 2 and coverage(words, done) >= 0.5 for done in later)


FOCUS: Final = frozenset({"currently working on", "working on", "current focus", "focus", "current project"})
_BLOCK: Final = "Active Context"
_LONGEST_FOCUS: Final = 120
_FEWEST_WORDS: Final = 3
_SAME: Final = 0.5
_WORK: Final = lazy_pattern(
    r"\b(?:working on|(?=(?:building|writing|migrating|preparing)\b)|focus(?:ing|ed) on)\s*"
    r"(?!how\b|it\b|this\b|that\b|them\b|to\b)(.{5,120}?)"
    r"(?=\.(?!\d)|[;!?]|,? (?:and|so|but|because|which|where) (?:i|we|they|you)\b|, |$)",
    re.IGNORECASE,
)


def focus_change(snapshot: Snapshot, line: CoreLine, recent: Sequence[Passage]) -> ReviewItem | None:
    """Return what is under way by the newest statement of it, where the item says otherwise."""
    if line.label.casefold() not in FOCUS:
        return None
    found = _under_way(snapshot, recent) or (_latest(snapshot, recent) if line.is_placeholder else None)
    if found is None:
        return None
    value, proof = found
    said = content_words(f"{value} {proof.quote}")
    if not line.is_placeholder and (
        coverage(content_words(line.value), said) >= _SAME or says((line,), value)
    ):
        return None
    reason = (
        "The template waits for it." if line.is_placeholder else "It is the last thing said to be under way."
    )
    return forms.core_change(
        line.item.id, f"{line.label}: {value}", (proof,), reason=reason, before=line.item.text
    )


def new_focus(
    snapshot: Snapshot, lines: Sequence[CoreLine], recent: Sequence[Passage]
) -> Iterator[ReviewItem]:
    """Yield what is under way, where Active Context has no item for it."""
    if any(line.block == _BLOCK and line.label.casefold() in FOCUS for line in lines):
        return
    found = _under_way(snapshot, recent)
    if found is not None and not says(lines, found[0]):
        text = f"Currently working on: {found[0]}"
        yield forms.core_change(
            "core:active-context",
            text,
            (found[1],),
            reason="It is the last thing said to be under way, and core memory does not say it.",
        )


def _under_way(snapshot: Snapshot, recent: Sequence[Passage]) -> tuple[str, Evidence] | None:
    """Return what the person said last that they are working on, with its evidence."""
    cues = routing_cues()
    for passage in newest_first(recent):
        if not is_owners(passage, snapshot) or not cues.fits("active", passage.text.translate(PUNCTUATION)):
            continue
        for sentence in sentences(passage.text):
            if not cues.fits("active", sentence.text.translate(PUNCTUATION)):
                continue
            told = told_of_owner(sentence.text, snapshot)
            match = _WORK.search(told)
            value = clipped(match[1], _LONGEST_FOCUS) if match else ""
            proof = cite(snapshot, passage.id, sentence.text)
            if proof is not None and len(content_words(value)) >= _FEWEST_WORDS:
                return value, proof
    return None


def _latest(snapshot: Snapshot, recent: Sequence[Passage]) -> tuple[str, Evidence] | None:
    """Return the newest decision or task in a sentence, with its evidence."""
    for passage in newest_first(recent):
        if passage.type in ("decision", "task"):
            sentence = spoken(passage.text)[0]
            proof = cite(snapshot, passage.id, sentence)
            if proof is not None:
                return clipped(plain(told_of_owner(sentence, snapshot)), _LONGEST_FOCUS), proof
    return None


def settled_change(snapshot: Snapshot, line: CoreLine, recent: Sequence[Passage]) -> ReviewItem | None:
    """Return a list of open decisions without the one that was taken; the last one leaves by a demotion."""
    parts = open_parts(line)
    for part in parts if len(parts) > 1 else ():
        decision = deciding(part, recent)
        proof = cite(snapshot, decision.id, spoken(decision.text)[0]) if decision else None
        if decision is not None and proof is not None:
            rest = ", ".join(other for other in parts if other != part)
            reason = f"“{clipped(part, 80)}” was decided on {decision.day}."
            text = f"{line.label}: {rest}"
            return forms.core_change(line.item.id, text, (proof,), reason=reason, before=line.item.text)
    return None


def open_parts(line: CoreLine) -> list[str]:
    """Return what a list of open decisions holds; nothing for other items."""
    if line.label.casefold() not in OPEN or line.is_placeholder:
        return []
    return [part.strip() for part in re.split(r"[,;]\s+", line.value) if part.strip()]


def deciding(part: str, passages: Sequence[Passage]) -> Passage | None:
    """Return the newest decision on something that was open."""
    words = content_words(part)
    for passage in newest_first(passages):
        said = content_words(passage.text)
        if passage.type == "decision" and len(words & said) >= 2 and coverage(words, said) >= _DECIDED:
            return passage
    return None


def demotions(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return demotions of Active Context, decided and finished items first, at most five; pinned items stay.

    An item is stale where none of the new passages speaks of it and these go back three weeks, or where its own score
    says that nobody accessed it for as long.

    Args:
        snapshot: Its passages, core memory and fading memories.
        work: Asked whether to go on.
    """
    lines = [
        line
        for line in read_lines(snapshot)
        if line.block == BLOCK and not line.item.pinned and not line.is_placeholder
    ]
    if not lines:
        return ()
    work.check()
    passages = snapshot.passages[-_MOST_PASSAGES:]
    said = [content_words(f"{passage.text} {' '.join(passage.tags)}") for passage in passages]
    work.check()
    found = (
        *_decided(snapshot, lines, passages),
        *_finished_items(snapshot, lines, passages, said),
        *_stale(snapshot, lines, passages, said),
    )
    unique = {item.target: item for item in reversed(found)}
    return tuple(islice((item for item in found if unique[item.target] is item), _MOST))


def _decided(
    snapshot: Snapshot, lines: Sequence[CoreLine], passages: Sequence[Passage]
) -> Iterator[ReviewItem]:
    """Yield lists of open decisions whose only one was taken."""
    for line in lines:
        parts = open_parts(line)
        decision = deciding(parts[0], passages) if len(parts) == 1 else None
        own = cite(snapshot, line.item.id, line.item.text)
        proof = cite(snapshot, decision.id, spoken(decision.text)[0]) if decision else None
        if decision is not None and own is not None and proof is not None:
            reason = f"It was decided on {decision.day}."
            yield forms.demotion(line.item.id, line.item.text, (own, proof), reason=reason)


def _finished_items(
    snapshot: Snapshot, lines: Sequence[CoreLine], passages: Sequence[Passage], said: Sequence[frozenset[str]]
) -> Iterator[ReviewItem]:
    """Give items whose value a passage says is done, in one sentence, and that nothing speaks of later."""
    ends = [at for at, passage in enumerate(passages) if passage.type != "task" and DONE.search(passage.text)]
    for line in lines:
        words = content_words(line.value)
        last = max(
            (at for at, other in enumerate(said) if len(words & other) >= min(2, len(words))), default=-1
        )
        for at in reversed(ends):
            if at < last:
                # It was spoken of after that: not all of it was done.
                break
            passage = passages[at]
            sentence = next(
                (
                    sentence
                    for sentence in spoken(passage.text)
                    if DONE.search(sentence)
                    and not _NOT_QUITE.search(sentence)
                    and len(words & content_words(sentence)) >= 2
                    and coverage(words, content_words(sentence)) >= _SAID_DONE
                ),
                "",
            )
            proof = cite(snapshot, passage.id, sentence) if sentence else None
            own = cite(snapshot, line.item.id, line.item.text)
            if proof is not None and own is not None and not DONE.search(line.item.text):
                when = f" on {passage.day}" if passage.day else ""
                yield forms.demotion(
                    line.item.id,
                    line.item.text,
                    (own, proof),
                    reason=f"It was said to be done{when}.",
                    confidence="medium",
                )
                break


def _stale(
    snapshot: Snapshot, lines: Sequence[CoreLine], passages: Sequence[Passage], said: Sequence[frozenset[str]]
) -> Iterator[ReviewItem]:
    untouched = {entry.id: entry.last_accessed for entry in snapshot.fading}
    first = next((passage.moment for passage in passages if passage.moment is not None), None)
    if len(passages) < _FEWEST_PASSAGES:
        # Little was said at all: that it was not spoken of says nothing.
        return
    surveyed = first is not None and snapshot.now - first >= _LONG
    for line in lines:
        accessed = untouched.get(line.item.id)
        if not surveyed and (accessed is None or snapshot.now - accessed < _LONG):
            continue
        words = line.words
        if any(len(words & other) >= min(2, len(words)) for other in said):
            continue
        own = cite(snapshot, line.item.id, line.item.text)
        if own is None:
            continue
        since = accessed or first
        days = (snapshot.now - since).days if since else 0
        reason = (
            f"None of the {counted(len(passages), 'new passage')} speaks of it, over {counted(days, 'day')}."
        )
        yield forms.demotion(line.item.id, line.item.text, (own,), reason=reason, confidence="low")
