"""Core memory rewritten as single changes that keep within its cap, whichever of them are approved (§10.3, phase 4).

A new value is put into the item that says the old one. What people say of themselves fills the template's placeholders
and names what core lacks; the preferences they state say how to behave with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import slug
from workbench.engine.language.denials import is_turned_down
from workbench.engine.language.introductions import Introduction, introduced
from workbench.engine.language.orders import standing_orders
from workbench.engine.language.sentences import sentences
from workbench.engine.memory.wording import text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.core_room import Room
from workbench.engine.reflection.english import third_person
from workbench.engine.reflection.extraction.candidates import clauses
from workbench.engine.reflection.extraction.naming import sole_speaker
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.passages import goes_by
from workbench.engine.reflection.rules.core_context import context_changes, demotions
from workbench.engine.reflection.rules.core_items import (
    is_owners,
    newest_first,
    read_lines,
    rule_for_user,
    says,
    told_of_user,
    wants_of_somebody_else,
)
from workbench.engine.reflection.rules.phrasing import (
    PREFERRING,
    cite,
    clipped,
    content_words,
    counted,
    coverage,
    likeness,
    plain,
    quote_of,
    spoken,
)
from workbench.engine.triggers.live_text import PUNCTUATION
from workbench.engine.triggers.phrases import routing_cues
from workbench.engine.triggers.rules import core_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot, Work
    from workbench.engine.reflection.rules.core_items import CoreLine

_SAME = 0.7
_MOST: Final = 4
_OFTEN: Final = 5
_LONGEST: Final = 160
_LONGEST_VALUE: Final = 8
_SAME_STATEMENT: Final = 0.5
_SHARED: Final = 0.5
_WORD: Final = lazy_pattern(r"\S+")
_EDGES: Final = ".,;:!?。，；\"'“”‘’()"
_LONGEST_NAMED: Final = 80
# What is said with a laugh is no fact to be read every time.
_LAUGHS: Final = lazy_pattern(r"\b(?:lol|lmao|rofl|(?:ha){2,}|jk|just kidding)\b|哈哈|笑死", re.IGNORECASE)
# Cheaper than reading every sentence: introductions have one of these words.
_SPEAKS: Final = lazy_pattern(r"\b(?:i|i['’]m|my|me)\b|我", re.IGNORECASE)
# What an agent notes of the person: 用户自我介绍：他叫….
_ON_THE_USER: Final = lazy_pattern(
    r"(?:用户|用戶|使用者)(?:自我介绍|自我介紹|介绍自己|介紹自己|说|說)?[:：,，]?\s*(?:自己|他|她)?(?=[是叫住在现現目常搬的名])(?:的?名字(?=叫|是))?"
)
_HAN_COMMA: Final = lazy_pattern(r"(?<=[\u3400-\u9fff]),(?=[\u3400-\u9fff])")
_OF_ONESELF: Final = lazy_pattern(r"\b(?:i(?!\.)|my|me)\b|我", re.IGNORECASE)
_STATED: Final[dict[str, Callable[[Introduction], str]]] = {
    "Name": attrgetter("name"),
    "Role": attrgetter("role"),
    "Location": attrgetter("home"),
    "Timezone": attrgetter("timezone"),
}
_LABELS: Final = {
    "name": "Name",
    "full name": "Name",
    "role": "Role",
    "job": "Role",
    "occupation": "Role",
    "timezone": "Timezone",
    "time zone": "Timezone",
    "location": "Location",
    "home": "Location",
    "lives in": "Location",
}
_MOST_OF_THE_PERSON: Final = 12
_LONGEST_PREFERENCE: Final = 140
_SAME_MATTER: Final = 0.5
_SAME_RULE: Final = 0.75
_FEWEST_WORDS: Final = 3
_GREETING: Final = 4
# Asks for something now rather than saying how things are wanted.
_ONE_REQUEST: Final = lazy_pattern(
    r"\b(?:(?:can|could|would|will) you|help me|trying to|i need you to|tell me (?:about|what|how|why)"
    r"|this time|for now)\b",
    re.IGNORECASE,
)
_ASKS_FOR: Final = lazy_pattern(
    r"(?:please )?(?:keep|use|give|write|show|send|make|put|stick to|call|answer|reply|format|avoid|skip|leave out)\b",
    re.IGNORECASE,
)
# “I want three options for the database” is about the database.
_LASTING: Final = lazy_pattern(
    r"\b(?:always|never|prefer|generally|usually|in general|from now on|going forward|every time|in future|like|love"
    r"|hate|stop|avoid|no|without|do not|short|brief|concise|longer|detailed|direct)\b|\bdon't\b|[不别別总總]",
    re.IGNORECASE,
)


def rewrite_core(snapshot: Snapshot, items: tuple[ReviewItem, ...], work: Work) -> tuple[ReviewItem, ...]:
    """Return changes of core memory, one for each place, the surest first.

    All growth together keeps within the cap, so that any of the items may be approved or rejected. Where there is no
    room for a new item, it takes the place of a stale one, if there is one in its block.

    Args:
        snapshot: Its core memory and passages.
        items: Of consolidation: their supersessions correct core memory.
        work: Told of progress.
    """
    asked = {proof.id for item in items if item.kind == Kind.QUESTION for proof in item.evidence}
    stale = [item for item in demotions(snapshot, work) if item.target not in asked]
    work.step(1, 2)
    chosen = _within_cap(snapshot, _wanted(snapshot, items, work), stale)
    work.step(2, 2)
    return chosen


def statements_for_core(
    snapshot: Snapshot, items: Sequence[ReviewItem], work: Work
) -> tuple[ReviewItem, ...]:
    """Return what core memory will be proposed to say, so that it is not proposed elsewhere too.

    Args:
        snapshot: As for `rewrite_core`.
        items: The conflicts found so far.
        work: Asked whether to go on.
    """
    return _within_cap(snapshot, _wanted(snapshot, items, work), ())


def _wanted(snapshot: Snapshot, items: Sequence[ReviewItem], work: Work) -> tuple[ReviewItem, ...]:
    wanted = (
        *core_corrections(snapshot, items),
        *identity_changes(snapshot, work),
        *promotions(snapshot, items, work),
        *context_changes(snapshot, work),
        *persona_changes(snapshot, work),
    )
    return _one_for_each_place(wanted, items)


def _one_for_each_place(wanted: Iterable[ReviewItem], items: Sequence[ReviewItem]) -> tuple[ReviewItem, ...]:
    """Return the first change of each item and of each wording, none that a question or update puts in doubt."""
    doubted = [
        content_words(text)
        for item in items
        if item.kind == Kind.CONTRADICTION
        for label, text in item.fields
        if label in (forms.THIS, forms.THAT)
    ]
    places: set[str] = set()
    said: list[frozenset[str]] = []
    kept: list[ReviewItem] = []
    for item in wanted:
        words = content_words(item.text)
        changes = item.target.count(":") > 1
        if changes and item.target in places:
            continue
        if any(likeness(words, other) >= _SAME for other in (*said, *doubted)):
            continue
        places.add(item.target)
        said.append(words)
        kept.append(item)
    return tuple(kept)


def _within_cap(
    snapshot: Snapshot, wanted: Sequence[ReviewItem], stale: Sequence[ReviewItem]
) -> tuple[ReviewItem, ...]:
    room = Room(snapshot)
    changed = {item.target for item in wanted}
    free = {item.target: item for item in stale if item.target not in changed}
    kept: list[ReviewItem] = []
    for item in wanted:
        if room.take(item):
            kept.append(item)
            continue
        instead = next((_instead(item, old) for old in free.values() if _fits(item, old)), None)
        if instead is not None and room.take(instead):
            kept.append(instead)
            del free[instead.target]
    return (*kept, *free.values())


def _fits(item: ReviewItem, old: ReviewItem) -> bool:
    """Return whether a new item may stand where an old one stood: in the same block."""
    return (
        item.kind == Kind.CORE_CHANGE
        and item.target.count(":") == 1
        and old.target.startswith(f"{item.target}:")
    )


def _instead(item: ReviewItem, old: ReviewItem) -> ReviewItem:
    return forms.core_change(
        old.target,
        item.text,
        (*item.evidence, *old.evidence),
        reason=f"{item.reason} It takes the place of an item that is stale, as core memory has no room.",
        before=old.before,
    )


# What must never be forgotten: memories that Critical Facts should say (design document §10.3, phase 4).


def promotions(snapshot: Snapshot, items: Sequence[ReviewItem], work: Work) -> tuple[ReviewItem, ...]:
    """Return promotions: first what is critical by its own words, then facts that are accessed often; at most four.

    Args:
        snapshot: Its passages, core memory and often accessed memories.
        items: Proposed by consolidation: what they supersede or lay in doubt is not promoted.
        work: Asked whether to go on.
    """
    disputed = {item.target for item in items if item.kind in (Kind.SUPERSESSION, Kind.CONTRADICTION)}
    disputed |= {
        proof.id
        for item in items
        if item.kind in (Kind.SUPERSESSION, Kind.CONTRADICTION)
        for proof in item.evidence
    }
    found = (
        item for item in _promotions(snapshot, work) if not disputed.intersection(p.id for p in item.evidence)
    )
    return tuple(islice(found, _MOST))


def _promotions(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    lines = read_lines(snapshot)
    given: set[str] = set()
    cues = routing_cues()
    for at, passage in enumerate(newest_first(snapshot.passages)):
        if at % 500 == 0:
            work.check()
        whole = passage.text.translate(PUNCTUATION)
        if not (cues.fits("critical", whole) or cues.fits("health", whole)) or not is_owners(
            passage, snapshot
        ):
            continue
        for sentence in sentences(passage.text):
            bare = sentence.text.translate(PUNCTUATION)
            if core_block(bare, "fact") != "Critical Facts" or _LAUGHS.search(bare):
                continue
            name = snapshot.owner or "User"
            text = plain(third_person(sentence.text, name))
            if len(text) > _LONGEST or text.startswith(f"{name}: "):
                # What is cut off, or could not be told of its speaker, is nothing to be read every time.
                continue
            proof = cite(snapshot, passage.id, sentence.text)
            if proof is not None and text not in given and not says(lines, text):
                given.add(text)
                reason = (
                    "By its own words it must never be forgotten."
                    if cues.fits("critical", bare)
                    else "It says something of health."
                )
                yield forms.promotion(passage.id, text, (proof,), reason=reason, confidence="high")
            break
    for memory, said, accesses in _often(snapshot):
        text = clipped(plain(said), _LONGEST)
        proof = cite(snapshot, memory, said)
        if proof is not None and text not in given and not says(lines, text):
            given.add(text)
            reason = f"It was accessed {counted(accesses, 'time')}, and core memory does not say it."
            yield forms.promotion(memory, text, (proof,), reason=reason)


def _often(snapshot: Snapshot) -> Iterator[tuple[str, str, int]]:
    """Yield facts that are accessed often with their words: episodes, and facts of the graph that rest on such."""
    today = snapshot.now.date().isoformat()
    accesses = {entry.id: entry.access_count for entry in snapshot.often if entry.access_count >= _OFTEN}
    for entry in snapshot.often:
        record = snapshot.graph.memory(entry.id) if entry.id in accesses else None
        if record is not None and record.store == "episodic" and record.type == "fact":
            yield entry.id, spoken(record.text)[0], entry.access_count
        elif record is not None and record.store == "semantic":
            for fact in snapshot.graph.facts_of(entry.id.partition("#")[0]):
                sources = [accesses[source] for source in fact.provenance if source in accesses]
                if sources and fact.holds(today) and "#" in fact.id:
                    yield fact.id, fact.text, max(sources)


def core_corrections(snapshot: Snapshot, items: Sequence[ReviewItem]) -> Iterator[ReviewItem]:
    """Yield a change for every item of core memory that says what a supersession replaces.

    Args:
        snapshot: Its core memory.
        items: Proposed by consolidation.
    """
    lines = [line for line in read_lines(snapshot) if not line.is_placeholder]
    owner = content_words(f"{snapshot.owner} user")
    for item in items:
        if item.kind != Kind.SUPERSESSION or not item.before:
            continue
        for line in lines:
            if _about_somebody_else(snapshot, item, line):
                continue
            text = corrected(line, item.before, item.text, owner)
            if text and text != line.item.text:
                yield forms.core_change(
                    line.item.id,
                    text,
                    item.evidence,
                    reason=f"What it says was superseded: {clipped(item.reason, 160) or 'see the update'}",
                    before=line.item.text,
                    confidence="high" if item.confidence == "high" else "medium",
                )


def corrected(line: CoreLine, old: str, new: str, subject: frozenset[str] = frozenset()) -> str:
    """Return an item with the new value in the old one’s place; empty where it does not say the old statement.

    The words in which the two statements differ are exchanged where the item has the old ones and shares other words
    with the old statement; an item that is the old statement in other words becomes the new one, under its label.

    Args:
        line: Of core memory.
        old: The statement that is superseded.
        new: The one in its place.
        subject: Words of the person’s name, which an item about them need not say.
    """
    said, before = line.words, content_words(old)
    exchanged = _differing(old, new)
    if exchanged is not None:
        gone, come = exchanged
        value = content_words(gone)
        rest = before - value - subject
        near = len(rest & said) >= 2 or coverage(rest, said) >= _SHARED
        pattern = re.compile(rf"(?<!\w){re.escape(gone)}(?!\w)", re.IGNORECASE)
        if near and len(pattern.findall(line.item.text)) == 1:
            return pattern.sub(lambda _: come, line.item.text)
    if likeness(content_words(line.value), before) >= _SAME_STATEMENT:
        return f"{line.label}: {plain(new)}" if line.label else plain(new)
    return ""


def _differing(old: str, new: str) -> tuple[str, str] | None:
    """Return the words in which two statements differ, where that is one stretch of at most eight words."""
    before, after = ([word.strip(_EDGES) for word in _WORD.findall(text)] for text in (old, new))
    folded = SequenceMatcher(
        None, [word.casefold() for word in before], [word.casefold() for word in after], autojunk=False
    )
    changes = [change for change in folded.get_opcodes() if change[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, i1, i2, j1, j2 = changes[0]
    if i2 - i1 > _LONGEST_VALUE or j2 - j1 > _LONGEST_VALUE or i2 - i1 == len(before):
        return None
    return " ".join(before[i1:i2]), " ".join(after[j1:j2])


def _about_somebody_else(snapshot: Snapshot, item: ReviewItem, line: CoreLine) -> bool:
    """Return whether the update is about another person than the owner, whom the item does not name."""
    target = item.target.removeprefix("entity:").partition("#")[0]
    kind, _, name = target.partition("--")
    if kind != "person" or name in ("user", slug(snapshot.owner or "user")):
        return False
    return slug(line.item.text).find(name.split("-")[0]) < 0


def name_of_owner(snapshot: Snapshot, work: Work) -> ReviewItem | None:
    """Return the change that says in Identity what the person said they are called; None if core memory says it.

    Args:
        snapshot: Its passages and core memory.
        work: Asked whether to go on.
    """
    if snapshot.owner:
        return None
    snapshot = replace(snapshot, owner=sole_speaker(snapshot))
    return next(
        (change for change in identity_changes(snapshot, work) if change.text.startswith("Name: ")), None
    )


def identity_changes(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    """Yield changes that say in Identity what the person said last of name, role, time zone and home.

    A placeholder is filled, another value replaced, and what is missing added, each from the newest statement.

    Args:
        snapshot: Its passages and core memory.
        work: Asked whether to go on.
    """
    identity = [line for line in read_lines(snapshot) if line.block == "Identity"]
    known = {_LABELS[line.label.casefold()]: line for line in identity if line.label.casefold() in _LABELS}
    for label, (value, proof, reason) in _statements(snapshot, work).items():
        line = known.get(label)
        if line is None:
            # “Lives in Lisbon with Sam” says the home without its label.
            if any(text_key(value) in text_key(other.value) for other in identity):
                continue
            yield forms.core_change(
                "core:identity",
                f"{label}: {value}",
                (proof,),
                reason=reason,
                confidence="high",
            )
        elif line.is_placeholder or not _same(line, value):
            why = "The template waits for it." if line.is_placeholder else "They say otherwise now."
            yield forms.core_change(
                line.item.id,
                f"{line.label}: {value}",
                (proof,),
                reason=why,
                before=line.item.text,
                confidence="high" if line.is_placeholder else "medium",
            )


def _same(line: CoreLine, value: str) -> bool:
    """Return whether an item says the value already, perhaps with more to it."""
    said, new = text_key(line.value), text_key(value)
    return new in said or said in new


def _statements(snapshot: Snapshot, work: Work) -> dict[str, tuple[str, Evidence, str]]:
    """Return the newest value of each label that the person states, with the sentence that says it, and why it holds.

    Who alone speaks in the logs and gives no name is called as the logs do.
    """
    found: dict[str, tuple[str, Evidence, str]] = {}
    for at, passage in enumerate(newest_first(snapshot.passages)):
        if at % 500 == 0:
            work.check()
        if len(found) == len(_STATED):
            break
        is_own = is_owners(passage, snapshot)
        if not (is_own or not passage.speaker) or not (
            _SPEAKS.search(passage.text) or _ON_THE_USER.search(passage.text)
        ):
            continue
        # Only what is said in one's own voice counts, not what is quoted or stands in code.
        for sentence in sentences(passage.text):
            on_the_user = _ON_THE_USER.match(sentence.text)
            if not is_own and on_the_user is None:
                continue
            told = f"我{sentence.text[on_the_user.end() :]}" if on_the_user else sentence.text
            said = introduced(told.translate(PUNCTUATION))
            for label, read in _STATED.items():
                value = _HAN_COMMA.sub("，", read(said))
                proof = cite(snapshot, passage.id, sentence.text) if value and label not in found else None
                if proof is not None:
                    found[label] = (clipped(value, _LONGEST_NAMED), proof, "They say so of themselves.")
    name = sole_speaker(snapshot)
    if name and snapshot.owner == name and "Name" not in found:
        own = [passage for passage in snapshot.passages if goes_by(passage.speaker, name)]
        # A greeting shows nobody who it is.
        first = next((each for each in own if len(each.text.split()) > _GREETING), own[0])
        found["Name"] = (name, quote_of(first), "Nobody else speaks to the agent in these logs.")
    return found


def persona_changes(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return changes of Persona, newest first, at most twelve; room in core memory bounds them further.

    Every standing rule (“always”, “from now on”, 一律) is added, and so is what the person prefers, where core memory
    does not say it yet; where an item of Persona speaks of the same matter otherwise, the new one takes its place.

    Args:
        snapshot: Its passages and core memory.
        work: Asked whether to go on.
    """
    return tuple(islice(_changes(snapshot, work), _MOST_OF_THE_PERSON))


def _changes(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    lines = read_lines(snapshot)
    given: list[frozenset[str]] = []
    for at, passage in enumerate(newest_first(snapshot.passages)):
        if at % 500 == 0:
            work.check()
        yield from _changes_by(passage, _orders(passage, snapshot), snapshot, lines, given, is_order=True)
        manner = _manner(passage, snapshot)
        if manner:
            yield from _changes_by(passage, (manner,), snapshot, lines, given)


def _changes_by(
    passage: Passage,
    said: Iterable[str],
    snapshot: Snapshot,
    lines: Sequence[CoreLine],
    given: list[frozenset[str]],
    *,
    is_order: bool = False,
) -> Iterator[ReviewItem]:
    for sentence in said:
        rule = is_order or routing_cues().fits("standing", sentence.translate(PUNCTUATION))
        told = (rule_for_user if rule else told_of_user)(sentence, snapshot)
        text = clipped(plain(told), _LONGEST_PREFERENCE)
        if _OF_ONESELF.search(text):
            # Nobody else can be told of in words that stay in the first person.
            continue
        words = content_words(text)
        # Two rules that differ in when they hold share most of their words.
        same = _SAME_RULE if rule else _SAME_MATTER
        if len(words) < _FEWEST_WORDS - rule or any(
            coverage(words, other) >= same or coverage(other, words) >= same for other in given
        ):
            continue
        proof = cite(snapshot, passage.id, sentence)
        if proof is None:
            continue
        rival = _rival(lines, words)
        if rival is None and says(lines, text):
            continue
        given.append(words)
        if rival is not None:
            same = words - PREFERRING <= rival.words or content_words(rival.value) <= words
            if rival.item.pinned or (same and is_turned_down(text) == is_turned_down(rival.value)):
                continue
            yield forms.core_change(
                rival.item.id,
                text,
                (proof,),
                reason=f"A newer preference on the same matter{_when(passage)}.",
                before=rival.item.text,
            )
        else:
            explicit = passage.source == "user-explicit" or passage.confidence == "high"
            yield forms.core_change(
                "core:persona",
                text,
                (proof,),
                reason=f"{'A standing rule' if rule else 'A preference on how to work with them'}{_when(passage)}.",
                confidence="high" if explicit or rule else "medium",
            )


def _orders(passage: Passage, snapshot: Snapshot) -> Iterator[str]:
    """Yield what the person told the agent to do or leave for good, in talk or in a note without a speaker."""
    if passage.speaker and not is_owners(passage, snapshot):
        return
    for sentence in sentences(passage.text):
        if not _ONE_REQUEST.search(sentence.text):
            for order in standing_orders(sentence.text):
                text = sentence.text[slice(*order)]
                # What is critical by its own words has a block of its own.
                if core_block(text.translate(PUNCTUATION), "preference") != "Critical Facts":
                    yield text


def _manner(passage: Passage, snapshot: Snapshot) -> str:
    """Return the sentence of a passage that says how the person wants things; empty where none does."""
    if not is_owners(passage, snapshot):
        return ""
    said = [
        sentence.text
        for sentence in sentences(passage.text)
        if not _ONE_REQUEST.search(sentence.text) and not wants_of_somebody_else(sentence.text, snapshot)
    ]
    cues = routing_cues()
    for sentence in said:
        marks = sentence.translate(PUNCTUATION)
        if cues.fits("standing", marks) and core_block(marks, "preference") == "Persona":
            # “Always answer briefly, I read you on my phone”: the rule can be told without its reason.
            pieces = (sentence[slice(*piece)] for piece in clauses(sentence, frozenset()))
            rules = (each for each in pieces if cues.fits("standing", each.translate(PUNCTUATION)))
            return sentence if not _OF_ONESELF.search(sentence) else next(rules, sentence)
    if passage.type not in ("", "preference"):
        return ""
    for sentence in said:
        fitting = [
            piece
            for piece in clauses(sentence, frozenset())
            if _is_manner(sentence[slice(*piece)], is_preference=passage.type == "preference")
        ]
        if fitting:
            # “I'm Ana, a nurse, and I prefer plain words”: who she is belongs elsewhere.
            said_so = sentence[fitting[0][0] : fitting[-1][1]]
            # “I hate long reports, keep them short”: what is asked for can be told without the rest.
            asked_for = said_so.rpartition(", ")[2]
            return asked_for if cues.fits("standing", asked_for) or _ASKS_FOR.match(asked_for) else said_so
    return said[0] if passage.type == "preference" and said and passage.confidence != "low" else ""


def _is_manner(piece: str, *, is_preference: bool) -> bool:
    marks = piece.translate(PUNCTUATION)
    lasts = is_preference or _LASTING.search(marks) is not None
    return lasts and routing_cues().fits("manner", marks) and core_block(marks, "preference") == "Persona"


def _rival(lines: Sequence[CoreLine], words: frozenset[str]) -> CoreLine | None:
    """Return the item of Persona that speaks of the same matter in other words."""
    best = max(
        (
            (likeness(words, content_words(line.value)), at)
            for at, line in enumerate(lines)
            if line.block == "Persona"
        ),
        default=(0.0, -1),
    )
    return lines[best[1]] if best[0] >= _SAME_MATTER else None


def _when(passage: Passage) -> str:
    return f", stated on {passage.day}" if passage.day else ""
