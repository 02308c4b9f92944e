"""What a text states about its entities: relations of the vocabulary, and facts by subject."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine.triggers.clauses import sentences
from workbench.engine.triggers.live_text import PUNCTUATION
from workbench.engine.triggers.model import EntityMention, FactStatement, RelationMention

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_SENTENCES = 200
_LONGEST_STATEMENT = 1_000
_LONGEST_OBJECT_WORDS = 4

# Relation, whether it may end in a mere wish (a concept made of its words), and the verbs that state it.
_RELATIONS: tuple[tuple[str, bool, re.Pattern[str]], ...] = tuple(
    (relation, relation in ("prefers", "avoids"), re.compile(verbs, re.IGNORECASE))
    for relation, verbs in (
        (
            "develops",
            r"\b(?:develops?|is building|builds|maintains?|leads?|owns?|works? on|working on|created|wrote)\b",
        ),
        ("develops", r"负责|負責|开发|開發|维护|維護"),
        ("depends-on", r"\b(?:depends? on|relies on|requires?|needs)\b|依赖|依賴"),
        (
            "part-of",
            r"\b(?:is part of|belongs to|work(?:s|ing)? (?:at|for)|joined|(?:is|i'm|am) at)\b|属于|屬於",
        ),
        ("contains", r"\b(?:contains?|includes?|consists of)\b|包含"),
        ("supersedes", r"\b(?:replaces?|replaced|supersedes?)\b|取代"),
        (
            "decided-on",
            r"\b(?:chose|have chosen|decided (?:on|for)|decided to (?:use|go with)|picked|went with)\b",
        ),
        ("decided-on", r"\b(?:settled on|go with|selected|adopted|opted for)\b"),
        ("decided-on", r"选了|選了|选择了|選擇了|选定|選定|决定用|決定用|决定采用|決定採用|采用|採用|改用"),
        ("uses", r"\b(?:uses?|using|runs? on|(?:is|are) built (?:on|with))\b|使用|用的是|我们用|我們用"),
        (
            "prefers",
            r"\b(?:prefers?|likes?|loves?|enjoys?|favou?rs?)\b|(?<!不)(?:喜欢|喜歡)|偏好|更愿意|更願意",
        ),
        ("avoids", r"\b(?:avoids?|hates?|dislikes?|can't stand|doesn't like|don't like)\b"),
        ("avoids", r"讨厌|討厭|不喜欢|不喜歡|不吃"),
        ("relates-to", r"\b(?:reports? to|is married to|is friends with|knows|works? with)\b"),
    )
)
_SWITCHED = re.compile(
    r"\b(?:switch(?:ed|ing)?|mov(?:ed|ing)|migrat(?:ed|ing)|chang(?:ed|ing))\b.{0,20}?"
    r"\bfrom (?P<old>.{2,60}?) to (?P<new>.{2,60})",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|doesn't|don't|didn't|no longer)\s*$", re.IGNORECASE)
_FIRST_PERSON = re.compile(
    r"^\W*(?:(?:and|but|so|also|actually|please)[, ]+)?(?:i|i'm|i've|i'd|i'll|my|me|we|we're|we've|our)\b"
    r"|^\W*(?:我们|我們|我)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^\W*(?:she|he|it|they|her|his|their|its|this|that)\b|^\W*(?:他|她|它|这|這)", re.IGNORECASE
)
_COMPARED = re.compile(
    r"\s+(?:over|to|rather than|instead of|because|when|if|for|in|on|at|before|after|with|and|but|so|since|than|as)\b.*"
    r"|[,;:.!?(\n。].*|(?:胜过|而不是).*",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLE = re.compile(r"^(?:the|a|an|to|my|our|some|using|all)\s+", re.IGNORECASE)


def find_relations(
    text: str, mentions: Sequence[EntityMention], owner: str
) -> tuple[tuple[RelationMention, ...], tuple[EntityMention, ...]]:
    """Return the relations a text states between names, and the entities they need beside those mentioned.

    Args:
        text: One memory.
        mentions: What it names.
        owner: The name behind “I”, “we” and “my”.

    Returns:
        Relations, each once; and the owner and wished-for concepts where a relation ends in them.
    """
    names = {mention.name: mention for mention in mentions}
    relations: dict[RelationMention, None] = {}
    extra: dict[str, EntityMention] = {}

    def entity(name: str) -> None:
        if name not in names:
            extra.setdefault(name, EntityMention(name, "person" if name == owner else "concept"))

    def relate(left: str, relation: str, right: str) -> None:
        if left.casefold() != right.casefold():
            entity(left)
            entity(right)
            relations[RelationMention(left, relation, right)] = None

    for whole in _sentences(text):
        sentence = whole[:_LONGEST_STATEMENT]
        switched = _SWITCHED.search(sentence)
        if switched:
            new, old = _first_in(switched["new"], names), _first_in(switched["old"], names)
            if new and old:
                relate(new, "supersedes", old)
            continue
        left = ""
        verbs = _verbs(sentence)
        for number, (verb, relation, free) in enumerate(verbs):
            before = sentence[: verb.start()]
            left = left or _subject(before, names, owner)
            if _DENIED.search(before):
                continue
            until = verbs[number + 1][0].start() if number + 1 < len(verbs) else len(sentence)
            rest = sentence[verb.end() : until]
            right = _first_in(_COMPARED.sub("", rest) if free or relation == "decided-on" else rest, names)
            right = right or (_wish(rest) if free else "")
            projects = [m.name for m in mentions if m.type == "project" and m.name in rest]
            of = projects[0] if projects and relation == "decided-on" and left == owner else left
            if of and right:
                relate(of, relation, right)
    return tuple(relations), tuple(extra.values())


def split_facts(text: str, mentions: Sequence[EntityMention], owner: str) -> tuple[FactStatement, ...]:
    """Return a text’s sentences, each with the entity it is about.

    Args:
        text: One memory.
        mentions: What it names.
        owner: The name behind “I” and “my”.

    Returns:
        Every sentence of the text (of its first 200). One that begins with a pronoun is about the same as
        the one before.
    """
    names = {mention.name: mention for mention in mentions}
    facts: list[FactStatement] = []
    previous: str | None = None
    for sentence in _sentences(text):
        subject = _first_subject(sentence, names)
        if _PRONOUN.match(sentence) and previous:
            subject = previous
        elif _FIRST_PERSON.match(sentence):
            # “My sister’s name is Marta” says more of Marta than of whoever says it.
            named = next((m.name for m in mentions if m.type == "person" and m.name in sentence), None)
            subject = named if named and re.match(r"\W*(?:my|our|我)", sentence, re.IGNORECASE) else owner
        facts.append(FactStatement(subject or previous, sentence))
        previous = subject or previous
    return tuple(facts)


def _sentences(text: str) -> Iterator[str]:
    for each in islice(sentences(text.translate(PUNCTUATION)), _MOST_SENTENCES):
        sentence = " ".join(text[each.start : each.end].split()).lstrip("-*• ").rstrip(" .。;")
        if sentence:
            yield sentence


def _verbs(sentence: str) -> list[tuple[re.Match[str], str, bool]]:
    """Return the verbs of a sentence that state a relation, in order, overlapping ones once."""
    found = sorted(
        (
            (match, relation, free)
            for relation, free, verbs in _RELATIONS
            for match in verbs.finditer(sentence)
        ),
        key=lambda each: (each[0].start(), -each[0].end()),
    )
    kept: list[tuple[re.Match[str], str, bool]] = []
    for each in found:
        if not kept or each[0].start() >= kept[-1][0].end():
            kept.append(each)
    return kept


def _subject(before: str, names: dict[str, EntityMention], owner: str) -> str:
    last = max(names, key=lambda name: before.rfind(name), default="")
    if last and last in before:
        return last
    return owner if not before.strip() or _FIRST_PERSON.match(before) else ""


def _first_in(text: str, names: dict[str, EntityMention]) -> str:
    standing = [(at, -len(name), name) for name in names if (at := text.find(name)) >= 0]
    return min(standing)[2] if standing else ""


def _first_subject(sentence: str, names: dict[str, EntityMention]) -> str | None:
    first = _first_in(sentence, names)
    return first or None


def _wish(rest: str) -> str:
    """Make a concept of what is preferred: its first words, up to the reason or the alternative."""
    phrase = _ARTICLE.sub("", _COMPARED.sub("", rest.strip()).strip(" .\"'“”’"))
    return phrase if phrase and len(phrase.split()) <= _LONGEST_OBJECT_WORDS and len(phrase) <= 40 else ""
