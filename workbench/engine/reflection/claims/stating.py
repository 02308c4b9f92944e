"""Says in a sentence what a claim says, quotes the words that say it, and names whom or what it is about."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import slug
from workbench.engine.language.sentences import asks
from workbench.engine.markdown.review import Evidence
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.clauses import asserts, without_lead
from workbench.engine.reflection.third_person import third_person
from workbench.engine.search.chunks import PERSON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.reflection.claims.model import Origin, Span
    from workbench.engine.reflection.model import Snapshot

_QUOTE: Final = 200
_STATEMENT: Final = 260
_NAME = lazy_pattern(r"[A-Z][\w.+#-]*(?: [A-Z][\w.+#-]*){0,2}")
_OWN = lazy_pattern(r"\b(?:I|I['’]\w+|my|My|me|we|We|our|Our|us|we['’]\w+)\b|我")
_OURS = lazy_pattern(r"(?:we|our)\b(?!.*\byou)", re.IGNORECASE)
_OWN_WORDS = (
    (lazy_pattern(r"\b(?:we are|we['’]re)\b", re.IGNORECASE), "I'm"),
    (lazy_pattern(r"\bwe were\b", re.IGNORECASE), "I was"),
    (lazy_pattern(r"\bwe\b", re.IGNORECASE), "I"),
    (lazy_pattern(r"\bour\b", re.IGNORECASE), "my"),
    (lazy_pattern(r"\bourselves\b", re.IGNORECASE), "myself"),
    (lazy_pattern(r"\bus\b"), "me"),
)
"""Who says “we” of his work or household speaks for himself as well."""
_SINCE = lazy_pattern(r"(?:and\s+|but\s+)?since\s+(?:the|my|our|last|this)\b", re.IGNORECASE)
"""What cannot lose its “since” without losing its sense."""
_SAYS = lazy_pattern(
    r"(?:the|this|that|it|its|there|[A-Z][\w.’'+#-]*)\b.{0,160}?\s(?:is|are|was|were|has|have|had|now\s+\w+s|\w+s|\w+ed|will)\b",
    re.IGNORECASE,
)
_HANGS = lazy_pattern(r",\s+(?:which|who|that)\b", re.IGNORECASE)
_FRAGMENT = lazy_pattern(
    r"(?:with|for|by|of|in|on|at|to|including|like|from|as|using|\w+ing)\b", re.IGNORECASE
)


def speaker_key(speaker: str, owner: str) -> str:
    """Return by what two claims are told to be of one speaker: “user”, no label and the owner's name are one."""
    folded = speaker.casefold().strip()
    return "" if folded in PERSON or folded == owner.casefold().strip() else folded


def speaker_name(origin: Origin, owner: str) -> str:
    """Return the name a speaker is spoken of by: the label, for “user” the owner, and without one “The user”."""
    return (origin.subject or origin.passage.speaker) if origin.speaker else owner or "The user"


def statement(origin: Origin, span: Span, owner: str) -> str:
    """Say a claim as a sentence in the third person.

    Where the words are no sentence that can stand alone they are quoted: “Alex said: …”.

    Args:
        origin: Where it was read.
        span: The words.
        owner: The owner's name, empty where it is not known.
    """
    written = _cut(origin.passage.text, span, _STATEMENT)
    if origin.fact:
        return written
    name = speaker_name(origin, owner)
    said = without_lead(written).rstrip(" .,;:?!？")
    if _SINCE.match(written):
        return f"{name} said: “{written.rstrip(' .,;:?!？')}”"
    if _OURS.match(said):
        for plural, own in _OWN_WORDS:
            said = plural.sub(own, said)
    if asks(said) or ("?" in written and not asserts(said)):
        return f"{name} asked: “{said}?”"
    if _OWN.search(said):
        return third_person(said, name)
    if not origin.passage.speaker or (
        _SAYS.match(said) and not _HANGS.search(said) and not _FRAGMENT.match(said)
    ):
        return said[:1].upper() + said[1:]
    return f"{name} said: “{said}”"


def evidence(sides: Iterable[tuple[Origin, Span]]) -> list[Evidence]:
    """Quote the words of claims, each passage once.

    Args:
        sides: Where each was read, and its words.
    """
    found: dict[tuple[str, str], Evidence] = {}
    for origin, span in sides:
        lead = len(origin.passage.text[span.start : span.end]) - len(
            without_lead(origin.passage.text[span.start : span.end])
        )
        telling = replace(span, start=min(span.start + lead, span.key))
        quoted = Evidence(origin.fact or origin.passage.id, _cut(origin.passage.text, telling, _QUOTE))
        found.setdefault((quoted.id, quoted.quote), quoted)
    return list(found.values())


def target(
    snapshot: Snapshot, sides: tuple[tuple[Origin, Span], tuple[Origin, Span]]
) -> tuple[str, tuple[str, ...]]:
    """Return the entity that two claims are about, and what it needs to be known first.

    That is the entity of the graph that both sides name, the one named first, else the person who speaks.
    """
    (_, _), (later, span) = sides
    named = set(_names(*sides[0]))
    for name in _names(later, span):
        entity = snapshot.graph.named(name) if name in named else None
        if entity is not None and entity.type != "person":
            return entity.id.removeprefix("entity:"), ()
    return person(snapshot, later)


def person(snapshot: Snapshot, origin: Origin) -> tuple[str, tuple[str, ...]]:
    """Return the entity of the one who speaks, and it again where the graph does not know it."""
    name = (origin.subject or origin.passage.speaker) if origin.speaker else snapshot.owner or "user"
    known = snapshot.graph.named(name) or snapshot.graph.called(name)
    if known is not None and known.type == "person":
        return known.id.removeprefix("entity:"), ()
    made = f"person--{slug(name)}"
    return made, () if snapshot.graph.entity(f"entity:{made}") else (made,)


def _names(origin: Origin, span: Span) -> Iterable[str]:
    """Yield what may be a name, in the order of the words, the longer ones first."""
    for match in _NAME.finditer(origin.passage.text, span.start, span.end):
        parts = match[0].rstrip(".,").split()
        for begin in range(len(parts)):
            for end in range(len(parts), begin, -1):
                yield " ".join(parts[begin:end])


def _cut(text: str, span: Span, limit: int) -> str:
    """Return the words of a span as one line; of a long one a stretch of whole words around its key."""
    start, end = span.start, span.end
    if end - start > limit:
        start = max(start, min(span.key - limit // 2, end - limit))
        end = min(end, start + limit)
        if start > span.start:
            blank = text.find(" ", start, span.key)
            start = blank + 1 if blank >= 0 else start
        if end < span.end:
            blank = text.rfind(" ", span.key, end)
            end = blank if blank > span.key else end
    return " ".join(text[start:end].split())
