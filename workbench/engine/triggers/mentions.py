"""Entities that a text names and where: known ones first, then what is marked or placed like a name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.identifiers import NOTE, entity_type
from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers import name_patterns as patterns
from workbench.engine.triggers.cues import Cues, routing_cues
from workbench.engine.triggers.model import EntityMention, EntityType, NameLookup
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MOST_ENTITIES = 12
_MOST_OCCURRENCES = 400
_LONGEST_TEXT = 20_000
_POSSESSIVE = lazy_pattern(r"['’]s$")
# “Sam Berg” is not the Sam Okafor that “Sam” alone would be.
_SURNAME = lazy_pattern(r"\ [A-Z\u00c0-\u00de][a-z\u00df-\u00ff]")


@dataclass(frozen=True)
class Occurrence:
    """One place of a text where an entity is named.

    Args:
        start: First character.
        end: Behind the last.
        mention: Whom or what it names.
    """

    start: int
    end: int
    mention: EntityMention


def mentioned(occurrences: Iterable[Occurrence]) -> tuple[EntityMention, ...]:
    """Return what is named at some places, each name once, at most twelve."""
    found: dict[str, EntityMention] = {}
    for occurrence in occurrences:
        found.setdefault(occurrence.mention.name.casefold(), occurrence.mention)
    return tuple(found.values())[:_MOST_ENTITIES]


def find_occurrences(
    text: str,
    known: NameLookup | None = None,
    given: Sequence[EntityMention] = (),
    called: NameLookup | None = None,
) -> tuple[Occurrence, ...]:
    """Find where a text names entities; precise rather than complete.

    A capital letter alone makes no entity: something must mark the name (a link, `@`, quotation marks, “project
    Orion”, CamelCase) or place it (“Sam works at …”, a known tool or city). Marked, given and known names
    carry `marked`.

    Args:
        text: One memory; beyond 20,000 characters the rest is not looked at.
        known: Finds entities that exist already.
        given: Entities that the caller says it is about.
        called: Finds a known person by the first name.

    Returns:
        Places that do not overlap, in the order of the text.
    """
    text = text[:_LONGEST_TEXT]
    found: list[Occurrence] = []
    claimed = bytearray(len(text))
    names: dict[str, EntityMention] = {}
    for start, end, mention in _candidates(text, known, given, called):
        if len(found) >= _MOST_OCCURRENCES:
            break
        if start < end and not any(claimed[start:end]):
            # The first to claim a name decides its type.
            mention = names.setdefault(mention.name.casefold(), mention)
            found.append(Occurrence(start, end, mention))
            claimed[start:end] = b"\1" * (end - start)
    found.extend(_repeated(text, found, claimed))
    return tuple(sorted(found, key=lambda each: each.start))


def _repeated(text: str, found: Sequence[Occurrence], claimed: bytearray) -> Iterator[Occurrence]:
    """Find the names again where nothing marks or places them."""
    surfaces = {text[each.start : each.end]: each.mention for each in found[:_MOST_ENTITIES]}
    for surface, mention in sorted(surfaces.items(), key=lambda pair: -len(pair[0])):
        for match in re.finditer(rf"(?<![\w-]){re.escape(surface)}(?![\w-])", text):
            if not any(claimed[match.start() : match.end()]):
                claimed[match.start() : match.end()] = b"\1" * len(surface)
                yield Occurrence(match.start(), match.end(), mention)


_Candidate = tuple[int, int, EntityMention]


def _candidates(
    text: str, known: NameLookup | None, given: Sequence[EntityMention], called: NameLookup | None
) -> Iterator[_Candidate]:
    """Yield mentions with their places, the surest first."""
    cues = routing_cues()
    yield from _links(text)
    yield from _given(text, given)
    if known is not None:
        yield from _known(text, known, called, cues)
    text = patterns.NO_PROSE.sub(lambda match: " " * len(match.group()), text)
    for pattern in (patterns.PROJECT, patterns.CHINESE_PROJECT):
        yield from _matched(pattern, text, "project", cues, marked=True)
    yield from _matched(patterns.AT_NAME, text, "person", cues, marked=True)
    yield from _matched(patterns.ORGANISATION, text, "concept", cues)
    yield from _listed(text, cues)
    yield from _camel(text, cues)
    for match in patterns.CODE.finditer(text):
        group = match.lastgroup or ""
        name = match[group]
        if not patterns.FILE_ENDING.search(name) and name.casefold() not in cues.words["no_tools"]:
            yield *match.span(group), EntityMention(name, "tool")
    yield from _matched(patterns.PERSON_NAMED, text, "person", cues)
    yield from _matched(patterns.CHINESE_PERSON, text, "person", cues)
    yield from _matched(patterns.PLACE, text, "place", cues)
    yield from _matched(patterns.EMPLOYER, text, "concept", cues)
    yield from _matched(patterns.PERSON_LIVES, text, "person", cues)
    for pattern in (patterns.PERSON_MET, patterns.PERSON_ACTS):
        yield from (
            each for each in _matched(pattern, text, "person", cues) if _like_a_person(each[2].name, cues)
        )
    yield from _matched(patterns.VENTURE, text, "project", cues)


def _links(text: str) -> Iterator[_Candidate]:
    for match in patterns.LINK.finditer(text):
        target, label = match["target"].strip(), (match["label"] or "").strip()
        kind, dashes, slug = target.rsplit("/", 1)[-1].partition("--")
        if dashes and slug and kind != NOTE and entity_type(kind) == kind:
            name = label or slug.replace("-", " ").strip().title()
            yield *match.span(), EntityMention(name, kind, marked=True)
        elif target:
            yield *match.span(), EntityMention(label or target, "concept", marked=True)


def _given(text: str, given: Sequence[EntityMention]) -> Iterator[_Candidate]:
    """Find what the caller named, however the text writes its capitals; of a person the first name too."""
    for mention in sorted(given, key=lambda each: -len(each.name)):
        first = mention.name.split(" ")[0] if mention.type == "person" else ""
        for name, flags, after in ((mention.name, re.IGNORECASE, ""), (first, 0, _SURNAME.pattern)):
            if name:
                pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-]){f'(?!{after})' if after else ''}"
                for match in re.finditer(pattern, text, flags):
                    yield *match.span(), replace(mention, marked=True)


def _known(text: str, known: NameLookup, called: NameLookup | None, cues: Cues) -> Iterator[_Candidate]:
    words = list(patterns.WORD.finditer(text))
    first = 0
    while first < len(words):
        if "\u4e00" <= words[first].group()[0] <= "\u9fff":
            yield from _known_in_chinese(words[first], known)
            first += 1
            continue
        taken = 1
        for length in range(min(5, len(words) - first), 0, -1):
            start, end = words[first].start(), words[first + length - 1].end()
            name = _POSSESSIVE.sub("", text[start:end])
            mention = known(name.casefold()) if "\n" not in name else None
            alone = length == 1 and name[0].isupper() and not _SURNAME.match(text, end)
            if mention is None and called is not None and alone:
                mention = called(name.casefold())
            if mention and (length > 1 or _as_a_name(name, mention, cues)):
                yield start, start + len(name), replace(mention, marked=True)
                taken = length
                break
        first += taken


def _as_a_name(word: str, mention: EntityMention, cues: Cues) -> bool:
    """Return whether a single word that a known entity is called by stands for it, or is just a word."""
    if word.casefold() in cues.words["no_names"] or word.casefold() in cues.words["stop_words"]:
        return False
    return not word.islower() or mention.name.islower() or _is_tool(word, cues)


def _known_in_chinese(run: re.Match[str], known: NameLookup) -> Iterator[_Candidate]:
    letters, start = run.group(), 0
    while start < len(letters):
        taken = 1
        for length in range(min(8, len(letters) - start), 1, -1):
            mention = known(letters[start : start + length])
            if mention:
                at = run.start() + start
                yield at, at + length, replace(mention, marked=True)
                taken = length
                break
        start += taken


def _matched(
    pattern: re.Pattern[str], text: str, kind: EntityType, cues: Cues, *, marked: bool = False
) -> Iterator[_Candidate]:
    for match in pattern.finditer(text):
        group = match.lastgroup
        if group is None:
            continue
        name = _trimmed(match[group], cues)
        of_something = re.search(
            r"\b(?:of|the|an?)\s+$", text[max(0, match.start(group) - 5) : match.start(group)]
        )
        if not name or (kind == "person" and (_is_tool(name, cues) or of_something)):
            continue
        if kind == "project" and any(
            _is_tool(n, cues) or n.casefold() in cues.words["places"] for n in name.split()
        ):
            continue
        start = match.start(group) + match[group].find(name)
        yield start, start + len(name), EntityMention(name, kind, marked=marked)


def _trimmed(name: str, cues: Cues) -> str:
    """Take words off both ends that are capitalised for another reason than being a name."""
    words = _POSSESSIVE.sub("", name.strip(" .,'’")).split(" ")
    ordinary = cues.words["no_names"]
    while words and words[0].casefold() in ordinary:
        words = words[1:]
    while words and words[-1].casefold() in ordinary:
        words = words[:-1]
    return " ".join(words) if len("".join(words)) > 1 else ""


def _like_a_person(name: str, cues: Cues) -> bool:
    words = name.split(" ")
    if any(word.isupper() for word in words):
        return False
    return words[0].casefold() in cues.words["given_names"] or len(words) > 1


def _is_tool(name: str, cues: Cues) -> bool:
    return name.casefold() in cues.words["tools"]


def _camel(text: str, cues: Cues) -> Iterator[_Candidate]:
    for match in patterns.CAMEL.finditer(text):
        name = match["name"]
        if name.casefold() in cues.words["no_names"] or patterns.CAMEL_BUT_NO_TOOL.match(name):
            continue
        # Protocols and standards carry a number or an abbreviation: OAuth2 PKCE.
        standard = " " in name or any(letter.isdigit() for letter in name)
        yield *match.span("name"), EntityMention(name, "concept" if standard else "tool", marked=True)


def _listed(text: str, cues: Cues) -> Iterator[_Candidate]:
    words = list(patterns.WORD.finditer(text))
    for number, word in enumerate(words):
        plain = _POSSESSIVE.sub("", word.group())
        lower, start = plain.casefold(), word.start()
        pair = ""
        if number + 1 < len(words):
            pair = _POSSESSIVE.sub("", text[start : words[number + 1].end()])
        if pair.casefold() in cues.words["places"] and pair.istitle():
            yield start, start + len(pair), EntityMention(pair, "place")
        elif pair.casefold() in cues.words["tools"]:
            yield start, start + len(pair), EntityMention(pair, "tool")
        elif lower in cues.words["tools"] and (
            plain[0].isupper() or lower not in cues.words["tools_by_capital"]
        ):
            yield start, start + len(plain), EntityMention(plain, "tool")
        elif lower in cues.words["places"] and plain[0].isupper() and text[start - 1 : start] != "/":
            yield start, start + len(plain), EntityMention(plain, "place")
        elif "\u4e00" <= plain[0] <= "\u9fff":
            for place in cues.words["places"]:
                if (at := plain.find(place)) >= 0:
                    yield start + at, start + at + len(place), EntityMention(place, "place")
