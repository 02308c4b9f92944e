"""Consolidation without a model: what others find, upkeep of fading memories and questions, each said once (§10.3).

Not to be lost are archived memories that are spoken of again, and those that must not fade (design §9).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.clock import in_zone
from workbench.engine.language.denials import is_turned_down
from workbench.engine.memory.decay import displayed
from workbench.engine.memory.wording import text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.claims import find_conflicts
from workbench.engine.reflection.extraction import extract_knowledge, find_procedures
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.core_rewriting import statements_for_core
from workbench.engine.reflection.rules.phrasing import (
    PREFERRING,
    cite,
    clipped,
    content_words,
    counted,
    coverage,
    likeness,
    own_words,
    quote_of,
)
from workbench.engine.reflection.rules.questions import ask
from workbench.engine.reflection.rules.survey import led_by
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Guidance, Passage, Snapshot, Work
    from workbench.engine.results.decay import DecayEntry

ARCHIVED_BELOW: Final = 0.05
"""Score under which a memory is flagged for review (design document §9.2)."""
MOST_ARCHIVED: Final = 8
_KEPT_STORES: Final = ("vault", "core")
_RECENT: Final = timedelta(days=90)
_LASTING_TYPES: Final = frozenset({"decision", "correction", "preference"})
_SAME: Final = 0.75
_CONTAINED: Final = 0.8
_FEWEST_WORDS: Final = 2
_PARTLY: Final = 0.5
_TAKEN: Final = 0.7
_CLAIMS: Final = frozenset({Kind.SUPERSESSION, Kind.CONTRADICTION})
MOST_RESTORED: Final = 5
MOST_PINNED: Final = 3
_FEWEST_SHARED: Final = 3
_SPOKEN_OF: Final = 0.5
_RARE: Final = 0.02
_OFTEN: Final = 5
_REFERENCES: Final = 3
_NEVER_FORGET: Final = lazy_pattern(
    r"\b(?:never (?:ever )?forget|remember (?:this |that )?(?:for ?ever|permanently|for good)|must not be forgotten)\b"
    r"|永远(?:不要|别)忘|永遠(?:不要|別)忘|永久(?:记住|記住|保存|保留)",
    re.IGNORECASE,
)


def consolidate(snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work) -> tuple[ReviewItem, ...]:
    """Return what to change but core memory: conflicts, knowledge, procedures, upkeep, questions.

    The themes of past reflections raise the weight of the areas that they name before anything is extracted, so that
    what belongs to them comes first where there is no room for all. What core memory says, or will be proposed to say,
    is not proposed as a fact besides: a person decides on it once.

    Args:
        snapshot: All that may be read.
        agenda: Of the survey.
        guidance: Of meta-reflection.
        work: Told of progress.
    """
    led = led_by(agenda, guidance.themes)
    conflicts = find_conflicts(snapshot, work)
    work.step(1, 6)
    knowledge = [
        item for item in extract_knowledge(snapshot, led, work) if not is_known(item, snapshot.graph)
    ]
    work.step(2, 6)
    procedures = find_procedures(snapshot, work)
    work.step(3, 6)
    upkeep = (
        *propose_archival(snapshot, led, work),
        *propose_restoring(snapshot, work),
        *propose_protection(snapshot, work),
    )
    work.step(4, 6)
    questions = ask(snapshot, led, guidance, work)
    work.step(5, 6)
    core = (
        *(item.text for block in snapshot.core.blocks for item in block.items),
        *(item.text for item in statements_for_core(snapshot, conflicts, work)),
    )
    work.step(6, 6)
    return without_repetition(
        (*conflicts, *knowledge, *procedures, *upkeep, *questions), core, snapshot.owner
    )


# Archival: what faded below the threshold and nothing recent rests on (design document §9.2).


def propose_archival(snapshot: Snapshot, agenda: Agenda, work: Work) -> tuple[ReviewItem, ...]:
    """Return items for memories below 0.05 that nothing recent rests on, lowest score first, at most eight.

    Decisions, corrections and preferences that nothing else gives as its source come last.
    """
    return tuple(islice(_archival(snapshot, agenda, work), MOST_ARCHIVED))


def _archival(snapshot: Snapshot, agenda: Agenda, work: Work) -> Iterator[ReviewItem]:
    spoken_of = {f"entity:{area.entity}" for area in agenda.areas if area.entity}
    fresh = {passage.id for passage in snapshot.passages}
    said = "\n".join(passage.text for passage in snapshot.passages).casefold()
    for entry in sorted(
        _sunk(snapshot), key=lambda entry: (_is_lasting(snapshot, entry), entry.score, entry.id)
    ):
        work.check()
        if (
            entry.id in fresh
            or entry.id.partition("#")[0] in spoken_of
            or _is_tied(snapshot, entry.id, spoken_of)
            or _is_named(snapshot, entry.id, said)
            or _supports_something_recent(snapshot, entry.id, fresh)
        ):
            continue
        title = title_of(snapshot, entry)
        proof = cite(snapshot, entry.id, title) or cite(snapshot, entry.id)
        if proof is None:
            continue
        yield forms.archive(entry.id, title, (proof,), reason=_why(snapshot, entry), score=entry.score)


def _why(snapshot: Snapshot, entry: DecayEntry) -> str:
    """Say how long nobody touched a memory, and who keeps what it says."""
    days = (snapshot.now.date() - in_zone(entry.last_accessed, snapshot.now.tzinfo).date()).days
    accesses = counted(entry.access_count, "access", "accesses")
    keepers = [source for source in snapshot.graph.mentions(entry.id) if source.startswith("entity:")]
    kept = (
        f" What it says is kept under {clipped(snapshot.titles(keepers[0].partition('#')[0]), 60)}."
        if keepers
        else ""
    )
    return (
        f"Not accessed for {counted(days, 'day')} ({accesses} in all); its score of {entry.score:.3f} is below "
        f"{ARCHIVED_BELOW}.{kept}"
    )


def _is_tied(snapshot: Snapshot, memory: str, spoken_of: set[str]) -> bool:
    """Return whether an entity is related to one that new passages name."""
    if not memory.startswith("entity:"):
        return False
    return any(
        edge.from_ in spoken_of or edge.to in spoken_of
        for edge in snapshot.graph.edges_of(memory.partition("#")[0])
    )


def _is_named(snapshot: Snapshot, memory: str, said: str) -> bool:
    """Return whether an entity is named in what was said, folded; an agenda holds only the weightiest."""
    record = snapshot.graph.entity(memory.partition("#")[0]) if memory.startswith("entity:") else None
    return record is not None and any(name.casefold() in said for name in (record.label, *record.aliases))


def _sunk(snapshot: Snapshot) -> Iterator[DecayEntry]:
    """Yield the memories whose scores sank below the threshold; what somebody archived scores 0 whatever its terms."""
    done = {entry.id for entry in snapshot.archived}
    for entry in snapshot.fading:
        by_hand = entry.raw is not None and displayed(entry.raw) != entry.score
        kept = entry.pinned or entry.store in _KEPT_STORES or entry.id in done
        if entry.score < ARCHIVED_BELOW and not by_hand and not kept:
            yield entry


def _is_lasting(snapshot: Snapshot, entry: DecayEntry) -> bool:
    """Return whether a memory holds what lasts and nothing else says it: it is let go of last."""
    record = snapshot.graph.memory(entry.id)
    return record is not None and record.type in _LASTING_TYPES and not snapshot.graph.mentions(entry.id)


def _supports_something_recent(snapshot: Snapshot, memory: str, fresh: set[str]) -> bool:
    """Return whether a memory of the last 90 days, a fact since then, or a pinned one gives it as its source."""
    since = snapshot.now - _RECENT
    for source in snapshot.graph.mentions(memory):
        if source in fresh:
            return True
        record = snapshot.graph.memory(source)
        if record is None:
            continue
        if record.pinned or (record.moment is not None and record.moment >= since):
            return True
        if record.store == "semantic" and any(
            fact.since is not None and fact.since >= since.date().isoformat()
            for fact in snapshot.graph.facts_of(source.partition("#")[0])
            if not fact.retired and memory in fact.provenance
        ):
            return True
    return False


# No two items of a proposal say the same: the one that says more is kept.


def without_repetition(
    items: Iterable[ReviewItem], core: Iterable[str] = (), owner: str = ""
) -> tuple[ReviewItem, ...]:
    """Return the items without those that repeat another.

    A supersession or contradiction wins over a fact that says either side; of two facts that say the same the first
    stays; of two items on the same place or the same text of one kind, the first.

    Args:
        items: Best first.
        core: What core memory says or is proposed to say, which facts must not repeat.
        owner: The person’s name, which core memory leaves out and facts begin with.
    """
    ordered = list(items)
    # “Ana wants the agent to always be brief” is the standing rule “Be brief”, “Ana lives in Lund” the location Lund.
    name = content_words(f"{owner} user agent always lives living") | PREFERRING
    claims = _Statements(name)
    for item in ordered:
        if item.kind in _CLAIMS:
            claims.add(item)
    claims.add_core(core)
    kept: list[ReviewItem] = []
    facts = _Statements(name)
    keys: set[tuple[str, str, str]] = set()
    for item in ordered:
        of_fact = item.kind in _CLAIMS and "#^" in item.target
        key = (item.kind, item.target, "" if of_fact else text_key(item.text))
        if key in keys:
            continue
        if item.kind == Kind.FACT:
            if claims.say(item) or claims.say_in_part(item) or facts.say(item):
                continue
            facts.add(item)
        keys.add(key)
        kept.append(item)
    return tuple(kept)


def is_known(item: ReviewItem, graph: Lookups) -> bool:
    """Return whether a fact is one that the graph took from the same memory already.

    Args:
        item: Any item; only facts that add something can be known.
        graph: Its facts name their sources.
    """
    if item.kind != Kind.FACT or item.before:
        return False
    words = content_words(item.text)
    return any(
        coverage(words, content_words(fact.text)) >= _TAKEN
        for proof in item.evidence
        for source in graph.mentions(proof.id)
        if source.startswith("entity:")
        for fact in graph.facts_of(source.partition("#")[0])
        if proof.id in fact.provenance
    )


@dataclass(frozen=True)
class _Meaning:
    """What a text says, as far as words tell."""

    words: frozenset[str]
    negated: bool

    def says(self, other: _Meaning, share: float) -> bool:
        """Return whether this text says a share of what another does, and denies if the other does."""
        return self.negated == other.negated and coverage(other.words, self.words) >= share


class _Statements:
    """What items say, found again by its key, its words or what it quotes.

    Args:
        without: Words that are left out of account.
    """

    def __init__(self, without: frozenset[str]) -> None:
        self._without = without
        self._keys: set[str] = set()
        self._meanings: set[_Meaning] = set()
        self._quoted: defaultdict[str, list[_Meaning]] = defaultdict(list)
        self._core: list[_Meaning] = []

    def add_core(self, texts: Iterable[str]) -> None:
        """Keep what core memory says."""
        self._core.extend(self._meaning(text) for text in texts)

    def add(self, item: ReviewItem) -> None:
        """Keep what an item says: its text, and both sides of a claim."""
        fields = dict(item.fields)
        sides = [item.text, item.before, fields.get(forms.THIS, ""), fields.get(forms.THAT, "")]
        quotes = [proof.quote for proof in item.evidence] if item.kind in _CLAIMS else []
        for text in (*sides, *quotes):
            if text:
                meaning = self._meaning(text)
                self._keys.add(text_key(text))
                self._meanings.add(meaning)
                for proof in item.evidence:
                    self._quoted[proof.id].append(meaning)

    def say(self, item: ReviewItem) -> bool:
        """Return whether one of them says what an item says."""
        meaning = self._meaning(item.text)
        if text_key(item.text) in self._keys or (meaning.words and meaning in self._meanings):
            return True
        if len(meaning.words) >= _FEWEST_WORDS and any(
            known.says(meaning, _CONTAINED) for known in self._core
        ):
            return True
        near = (known for proof in item.evidence for known in self._quoted.get(proof.id, ()))
        return any(
            known.says(meaning, _CONTAINED)
            or (known.negated == meaning.negated and likeness(meaning.words, known.words) >= _SAME)
            for known in near
        )

    def say_in_part(self, item: ReviewItem) -> bool:
        """Return whether one of them, of the same memory, says half of an item and hardly anything besides."""
        meaning = self._meaning(item.text)
        return any(
            len(known.words) >= _FEWEST_WORDS
            and coverage(known.words, meaning.words) >= _CONTAINED
            and coverage(meaning.words, known.words) >= _PARTLY
            for proof in item.evidence
            for known in self._quoted.get(proof.id, ())
        )

    def _meaning(self, text: str) -> _Meaning:
        return _Meaning(content_words(text) - self._without, is_turned_down(text))


def propose_restoring(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return items for archived memories that new passages speak of again, the most spoken of first, at most five.

    A passage speaks of a memory where it shares three telling words with it, among them one that at most every
    fiftieth passage has, and half of its words, the rare ones counting more.
    """
    words = {entry.id: content_words(snapshot.text_of(entry.id) or "") for entry in snapshot.archived}
    sought = frozenset[str]().union(*words.values())
    if not sought:
        return ()
    said: list[frozenset[str]] = []
    number: Counter[str] = Counter()
    for at, passage in enumerate(snapshot.passages):
        if at % 500 == 0:
            work.check()
        said.append(content_words(passage.text) & sought)
        number.update(said[-1])
    rare = max(1.0, len(said) * _RARE)
    holders: dict[str, list[int]] = {}
    for at, shared in enumerate(said):
        for word in shared:
            if number[word] <= rare:
                holders.setdefault(word, []).append(at)
    found: list[tuple[float, ReviewItem]] = []
    for entry in snapshot.archived:
        wanted = words[entry.id]
        weight = {word: 1 / (1 + number[word] / rare) for word in wanted}
        candidates = {at for word in wanted for at in holders.get(word, ())}
        scored = [
            (sum(weight[word] for word in said[at] & wanted) / sum(weight.values()), at)
            for at in candidates
            if len(said[at] & wanted) >= _FEWEST_SHARED
        ]
        share, at = max(scored, default=(0.0, -1))
        own = cite(snapshot, entry.id)
        if share < _SPOKEN_OF or own is None:
            continue
        passage = snapshot.passages[at]
        when = f" on {passage.day}" if passage.day else ""
        item = forms.restore(
            entry.id,
            title_of(snapshot, entry),
            (own, quote_of(passage, wanted)),
            reason=f"It was archived, and is spoken of again{when}.",
        )
        found.append((share, item))
    found.sort(key=lambda pair: (-pair[0], pair[1].target))
    return tuple(item for _, item in found[:MOST_RESTORED])


def propose_protection(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return items for memories that must not fade: what was asked never to be forgotten, then what is foundational.

    Foundational is a decision, correction or preference that was accessed five times or that three memories refer to.
    """
    return tuple(islice(_protection(snapshot, snapshot.passages, work), MOST_PINNED))


def _protection(snapshot: Snapshot, passages: Sequence[Passage], work: Work) -> Iterator[ReviewItem]:
    asked: set[str] = set()
    for at, passage in enumerate(passages):
        if at % 500 == 0:
            work.check()
        # Only what has an id of its own can be kept from fading.
        match = _NEVER_FORGET.search(passage.text)
        if match is None or not passage.id.startswith("episode:") or passage.id in asked:
            continue
        asked.add(passage.id)
        proof = cite(snapshot, passage.id, *_around(passage.text, match))
        if proof is not None:
            title = clipped(own_words(passage.text), 100)
            reason = f"It says “{match[0]}”."
            yield forms.vault_pin(passage.id, title, (proof,), reason=reason, confidence="high")
    for entry in snapshot.often:
        if entry.pinned or entry.store in _KEPT_STORES or entry.id in asked:
            continue
        record = snapshot.graph.memory(entry.id)
        if record is None or record.type not in _LASTING_TYPES:
            continue
        references = len(snapshot.graph.mentions(entry.id))
        proof = cite(snapshot, entry.id)
        if proof is not None and (entry.access_count >= _OFTEN or references >= _REFERENCES):
            reason = (
                f"A {record.type} that was accessed {counted(entry.access_count, 'time')} and that "
                f"{counted(references, 'memory', 'memories')} {'refers' if references == 1 else 'refer'} to."
            )
            yield forms.vault_pin(entry.id, title_of(snapshot, entry), (proof,), reason=reason)


def _around(text: str, match: re.Match[str]) -> Iterable[str]:
    """Return the rest of the line from the words of a match on, then these words alone."""
    line = text[match.start() :].partition("\n")[0]
    return (line, match[0])


def title_of(snapshot: Snapshot, entry: DecayEntry) -> str:
    """Return what a memory is called, in a line."""
    return clipped(entry.title or snapshot.titles(entry.id), 100)
