"""Consolidation without a model: what others find, upkeep of fading memories and questions, each said once (§10.3)."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.clock import in_zone
from workbench.engine.language.denials import is_turned_down
from workbench.engine.memory.decay import displayed
from workbench.engine.memory.wording import text_key
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.core_rewriting import statements_for_core
from workbench.engine.reflection.rules.keeping import propose_protection, propose_restoring, title_of
from workbench.engine.reflection.rules.phrasing import clipped, counted
from workbench.engine.reflection.rules.questions import ask
from workbench.engine.reflection.rules.quoting import cite
from workbench.engine.reflection.rules.survey import led_by
from workbench.engine.reflection.rules.words import PREFERRING, content_words, coverage, likeness
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Guidance, Snapshot
    from workbench.engine.reflection.work import Work
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
    from workbench.engine.reflection.claims import find_conflicts
    from workbench.engine.reflection.extraction import extract_knowledge, find_procedures

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
    name = content_words(f"{owner} user") | PREFERRING
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
