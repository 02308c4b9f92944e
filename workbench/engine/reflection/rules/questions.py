"""Questions that only a person can answer: open ones spoken of again, names of several, facts that nobody touches."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.core_items import newest_first, read_lines
from workbench.engine.reflection.rules.looking_back import SAME_QUESTION, read_past, times_asked
from workbench.engine.reflection.rules.phrasing import (
    alternatives,
    cite,
    clipped,
    content_words,
    counted,
    coverage,
    likeness,
    listed,
    quote_of,
)
from workbench.engine.search.chunks import AGENT, PERSON
from workbench.engine.triggers.phrases import routing_cues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import (
        Agenda,
        Area,
        Guidance,
        Passage,
        Snapshot,
        Work,
    )
    from workbench.engine.reflection.rules.core_items import CoreLine

MOST_QUESTIONS: Final = 5
_MOST_OF_A_KIND: Final = 2
_MOST_AREAS: Final = 30
_MOST_SPEAKERS: Final = 4
_FEWEST_TURNS: Final = 10
_MOST_NAMES: Final = 300
_SPOKEN_OF: Final = 0.4
_NAME: Final = lazy_pattern(r"(?<![\w.@/’'-])[^\W\d_a-z][^\W\d_]{2,20}(?![\w-])(?! [^\W\d_a-z])")


def ask(snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work) -> tuple[ReviewItem, ...]:
    """Return at most five questions, each with who gives rise to it.

    What two past reflections asked without an answer is not asked again in these words: the third time the question is
    whether it still matters, and then it rests.

    Args:
        snapshot: Its passages, graph, core memory and the log.
        agenda: Its areas say which entities new passages touch.
        guidance: Its persistent questions.
        work: Asked whether to go on.
    """
    found = [
        *_whose_memory(snapshot),
        *islice(_open_questions(snapshot, agenda, work), _MOST_OF_A_KIND),
        *islice(_names_of_several(snapshot, work), _MOST_OF_A_KIND),
        *islice(ask_what_was_overtaken(snapshot, work), _MOST_OF_A_KIND),
        *islice(ask_what_is_untouched(snapshot), 1),
    ]
    return tuple(_not_worn_out(snapshot, guidance, found))[:MOST_QUESTIONS]


def _whose_memory(snapshot: Snapshot) -> Iterator[ReviewItem]:
    """Ask who the person is, where a log has several named speakers and core memory gives no name."""
    if snapshot.owner:
        return
    speakers = Counter(passage.speaker for passage in snapshot.passages if passage.speaker)
    if any(speaker.casefold() in PERSON | AGENT for speaker in speakers):
        return
    names = [name for name, number in speakers.most_common(_MOST_SPEAKERS + 1) if number >= _FEWEST_TURNS]
    if 2 <= len(names) <= _MOST_SPEAKERS:
        named = next((line for line in read_lines(snapshot) if line.label.casefold() == "name"), None)
        firsts = [next(passage for passage in snapshot.passages if passage.speaker == name) for name in names]
        yield forms.question(
            f"Whose memory is this: are you {alternatives(names)}?",
            tuple(quote_of(passage) for passage in firsts),
            reason=f"{listed(names)} speak in these logs, and core memory does not say who you are.",
            about=named.item.id if named is not None else "core:identity",
            writes="Name: …",
        )


def _open_questions(snapshot: Snapshot, agenda: Agenda, work: Work) -> Iterator[ReviewItem]:
    """Ask an entity’s open questions that a new passage speaks of."""
    for area in [area for area in agenda.areas if area.entity][:_MOST_AREAS]:
        work.check()
        record = snapshot.graph.entity(f"entity:{area.entity}")
        memory = snapshot.graph.memory(f"entity:{area.entity}") if record else None
        if record is None or memory is None or "\n## " not in f"\n{memory.text}":
            continue
        name = content_words(f"{record.label} {' '.join(record.aliases)}")
        for question in EntityFile.parse(memory.text.encode(), memory.path).questions:
            words = content_words(question.text) - name
            passage = _speaks_of(snapshot, area, words)
            proof = cite(snapshot, memory.id, question.text)
            if passage is None or proof is None:
                continue
            when = f" on {passage.day}" if passage.day else ""
            yield forms.question(
                f"{record.label}: {clipped(question.text, 160)}",
                (proof, quote_of(passage, words)),
                reason=f"It stands open, and was spoken of{when}.",
                about=area.entity,
            )


def _speaks_of(snapshot: Snapshot, area: Area, words: frozenset[str]) -> Passage | None:
    """Return the newest passage of an area that has two of some words, or two fifths of them."""
    for at in reversed(area.passages):
        passage = snapshot.passages[at]
        said = content_words(passage.text)
        if len(words & said) >= 2 and coverage(words, said) >= _SPOKEN_OF:
            return passage
    return None


def _names_of_several(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    """Ask whom a first name means that several known persons have."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    ordinary = routing_cues().words["no_names"]
    for at, passage in enumerate(snapshot.passages):
        if at % 500 == 0:
            work.check()
        for name in dict.fromkeys(_NAME.findall(passage.text)):
            if name.casefold() not in ordinary:
                places[name].append(at)
    for name in sorted(places, key=lambda name: (-len(places[name]), name))[:_MOST_NAMES]:
        if snapshot.graph.named(name) or snapshot.graph.called(name):
            continue
        persons = _persons_called(snapshot, name)
        if len(persons) < 2:
            continue
        passage = snapshot.passages[places[name][-1]]
        labels = alternatives(record.label for record in persons)
        when = f" on {passage.day}" if passage.day else ""
        yield forms.question(
            f"Who is {name}: {labels}?",
            (quote_of(passage, content_words(name)),),
            reason=f"“{name}” stands in {counted(len(places[name]), 'new passage')}, the last one{when}; "
            f"{len(persons)} persons are called so.",
        )


def _persons_called(snapshot: Snapshot, name: str) -> list[EntityRecord]:
    matches = snapshot.graph.resolve(name, "person")
    return [
        match.entity
        for match in matches
        if match.entity.label.casefold().split(" ")[0] == name.casefold() or match.how in ("exact", "alias")
    ]


def _not_worn_out(snapshot: Snapshot, guidance: Guidance, found: list[ReviewItem]) -> Iterator[ReviewItem]:
    past = read_past(snapshot.records)
    persistent = [(text, content_words(text)) for text in guidance.persistent]
    for item in found:
        words = content_words(item.text)
        known = next((text for text, key in persistent if likeness(words, key) >= SAME_QUESTION), None)
        if known is None:
            yield item
            continue
        again = f"Does it still matter: {clipped(item.text, 140)}"
        if not times_asked(past, again, exactly=True):
            times = counted(times_asked(past, known), "reflection")
            # “No” says here that the question does not matter, and nothing of core memory.
            about = "" if item.target.startswith("core:") else item.target
            yield forms.question(
                again, item.evidence, reason=f"{times} asked it without an answer.", about=about
            )


_RELATIVE: Final = lazy_pattern(
    r"\b(?:tomorrow|tonight|next (?:week|month|\w+day)|this (?:week|month|\w+day)|later this (?:week|month))\b",
    re.IGNORECASE,
)
_MOST_PASSAGES: Final = 2000
_SOURCE: Final = 0.7
_BLOCKS_OF_QUESTIONS: Final = ("Identity", "Persona", "Critical Facts")
_LONG: Final = 30
_FEWEST_WORDS: Final = 4


def ask_what_is_untouched(snapshot: Snapshot) -> Iterator[ReviewItem]:
    """Ask whether what core memory says is still so, where nobody has touched it for thirty days."""
    blocks = {item.id: (block.name, item) for block in snapshot.core.blocks for item in block.items}
    said: list[frozenset[str]] | None = None
    for entry in snapshot.fading:
        name, item = blocks.get(entry.id, ("", None))
        days = (snapshot.now - entry.last_accessed).days
        if item is None or item.pinned or entry.pinned or days < _LONG or name not in _BLOCKS_OF_QUESTIONS:
            continue
        said = said if said is not None else [content_words(passage.text) for passage in snapshot.passages]
        words = content_words(item.text)
        if len(words) < _FEWEST_WORDS:
            # Names and other single values do not go stale by silence.
            continue
        if any(len(words & other) >= 2 for other in said):
            continue
        proof = cite(snapshot, item.id, item.text)
        if proof is not None:
            yield forms.question(
                f"“{clipped(item.text, 120)}” — is this still so?",
                (proof,),
                reason=f"It stands in {layout.CORE} under {name}, and has not been accessed for {days} days.",
                about=item.id,
            )


def ask_what_was_overtaken(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    """Ask whether it has happened, where core memory says “next month” of a month that has long begun."""
    lines = [line for line in read_lines(snapshot) if _RELATIVE.search(line.item.text)]
    if not lines:
        return
    answered = {
        verdict.text
        for past in read_past(snapshot.records)
        for verdict in past.verdicts
        if verdict.kind is Kind.QUESTION and verdict.decision == "approved"
    }
    for line in lines:
        work.check()
        match = _RELATIVE.search(line.item.text)
        assert match is not None
        source = _source_of(snapshot, line)
        own = cite(snapshot, line.item.id, line.item.text)
        if source is None or source.moment is None or own is None:
            continue
        phrase = match[0].casefold()
        days = (snapshot.now.date() - source.moment.date()).days
        ahead = 31 - source.moment.day if "month" in phrase else 1 if phrase in ("tomorrow", "tonight") else 7
        if days > ahead + 1:
            asked = f"“{clipped(line.item.text, 120)}” was said on {source.day}. What holds now?"
            if asked in answered:
                continue
            yield forms.question(
                asked,
                (own, quote_of(source, line.words)),
                reason=f"“{match[0]}” was {counted(days, 'day')} ago.",
                about=line.item.id,
            )


def _source_of(snapshot: Snapshot, line: CoreLine) -> Passage | None:
    """Return the newest passage that says what an item of core memory does."""
    words = line.words
    for passage in newest_first(snapshot.passages[-_MOST_PASSAGES:]):
        if len(words) > 1 and coverage(words, content_words(passage.text)) >= _SOURCE:
            return passage
    return None
