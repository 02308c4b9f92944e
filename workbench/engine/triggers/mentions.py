"""Entities that a text names and where: known ones first, then what is marked or placed like a name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.identifiers import NOTE, entity_type
from workbench.engine.language.calendar import any_of
from workbench.engine.language.kin import FAMILY, HIRED, OTHERS, YOUNG
from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.model import EntityMention, EntityType, NameLookup
from workbench.engine.triggers.phrases import Cues, routing_cues
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MOST_ENTITIES = 12
_MOST_OCCURRENCES = 400
_LONGEST_TEXT = 20_000
_POSSESSIVE = lazy_pattern(r"['’]s$")
# “Sam Berg” is not the Sam Okafor that “Sam” alone would be.
_SURNAME = lazy_pattern(r"\ [A-Z\u00c0-\u00de][a-z\u00df-\u00ff]")
# No name is longer; a run of letters without end would be read again from each of them.
NAME = r"[A-Z\u00c0-\u00de][\w'’-]{0,58}\w"
NAMES = rf"{NAME}(?:\ {NAME}){{0,2}}"

LINK = lazy_pattern(
    r"\[\[(?P<target>[^\[\]|#\n]{1,120})(?:#[^\[\]|\n]*)?(?:\|(?P<label>[^\[\]\n]{1,120}))?\]\]"
)
# In backticks stand programs, but also all that programs are made of: what it is has to be said, or that it does
# something.
CODE = lazy_pattern(
    r"""`(?P<program>[A-Za-z][\w.+-]{1,39})`(?=\s+(?:topic|service|tool|cli|program|package|plugin|library|repo
            |repository|bot|queue|app|server|daemon|job|script\b(?!\s+tag))\b)
      | (?:^|[.!?]\s+)(?:the\s+)?`(?P<acting>[A-Za-z][\w.+-]{1,39})`(?=\s+[a-z]+s\b)""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
AT_NAME = lazy_pattern(r"(?<![\w@./'\"])@(?P<name>[A-Za-z][\w-]{1,38})(?![\w@(/-]|\.\w)")
NO_PROSE = lazy_pattern(
    r"""
        ^[^\n]*(?:[;{]|=>|\{\s*\}|\}\)?;?)[ \t]*$                       # a line that ends as code does
      | ^[ \t]*(?:const|let|var|function|def|class|import|export|return|async|await|from[ ]\S+[ ]import|public
            |private|SELECT|INSERT|CREATE|ALTER|npm|pip|git|docker|curl)\b[^\n]*[(){}=<>*;/'"-][^\n]*$
      | ^[ \t]*(?:from[ ]\S+[ ]import|class[ ]\w+(?:\(.*\))?:|@\w+(?:\(.*\))?[ \t]*$)[^\n]*$
      | ^[ \t]*(?:[<$>/]|\#!|//|\w+[ \t]*=[^=\n]|['"]?[\w-]+['"]?:[ \t]*['"\[{\d])[^\n]*$
      | ^[^\n]*[\w)]\.\w+\([^\n]*$                                    # a call of a method
      | \S{0,200}://\S{1,500}                                          # an address
    """,
    re.VERBOSE | re.MULTILINE,
)
FILE_ENDING = lazy_pattern(
    r"\.(?:md|py|js|ts|tsx|json|toml|ya?ml|txt|csv|html|css|rs|go|c|h|sh|lock|cfg|ini|sql)$", re.IGNORECASE
)

# A name that is said to be a project's, or stands in quotation marks as one.
PROJECT = lazy_pattern(
    rf"""
        \b(?i:projects?|codenamed?|codename\ is|initiative)\s+(?:(?i:is|called|named)\s+)?
            ["“'‘]?(?P<after>{NAMES})
      | ["“‘](?P<quoted>[^"”’\n]{{2,40}})["”’]\s+(?i:project|app|service|product|initiative)\b
      | (?<!\ba\ )(?<!\ban\ )(?<!\bmy\ )\b(?P<before>{NAMES})\s+(?i:project|initiative)\b
      | ["“](?P<codename>[^"”\n]{{2,40}})["”]\s+(?i:is\s+(?:the|our)\s+(?:codename|project|product))
    """,
    re.VERBOSE,
)
CHINESE_PROJECT = lazy_pattern(
    r"""
        (?P<before>[A-Za-z][\w-]{1,30})\s?(?:项目|項目|專案|计划|計劃)
      | (?:项目|項目|專案)\s?(?P<after>[A-Z][\w-]{1,30})
      | [《「“](?P<quoted>[^《》「」“”\n]{1,30})[》」”](?:项目|項目|專案)
    """,
    re.VERBOSE,
)
VENTURE = lazy_pattern(rf"\b(?P<name>{NAMES})\s+(?i:rewrite|contract|launch)\b")

# “Port of Ningbo”, “Acme Corp”: what is called so is no person, whatever it asks or wants.
ORGANISATION = lazy_pattern(
    rf"""
        \b(?P<of>(?:Port|City|Town|University|Bank|Ministry|Museum|Institute|Department|Council|Church|House
            |Society|Academy|Bureau|Agency|Association)\ of\ (?:the\ )?{NAMES})
      | \b(?P<kind>(?:{NAME}\ ){{1,3}}(?:Inc|Corp|Corporation|Ltd|LLC|GmbH|AG|AB|University|Institute|Bank|Labs?
            |Foundation|Museum|Hospital|Airlines|Council|Agency|Group|Studios?|Society|Academy|Port|Ventures))\b\.?
      | (?P<chinese>[\u4e00-\u9fff]{{2,6}}?(?:公司|大学|大學|银行|銀行|港|医院|醫院|集团|集團|研究所))
            (?=[的在要是有和与跟说說想请請用,\uff0c。、]|$)
    """,
    re.VERBOSE,
)

_RELATIVE = f"(?:{any_of((*FAMILY, *OTHERS, *YOUNG, *HIRED))})"
_BELONGING = rf"""(?:birthday|e-?mail|phone|number|extension|{any_of(FAMILY)}|manager|boss|address
    |last\ name|surname|desk|job|role|salary|dog|cat|divorce|wedding)"""
_MEETING = r"""(?:met|meet|meeting\ with|talked\ to|spoke\ (?:to|with)|call|email|cc|ask|tell|told|asked|thank
    |married|reports?\ to|hired|invited)"""
PERSON_NAMED = lazy_pattern(
    rf"""
        \b(?i:{_RELATIVE})(?:'s|’s)?(?:\s+(?i:name))?\s+(?i:is|was|called|named|is\ called|is\ named|is\ now)\s+
            (?:(?i:called|named|now)\s+)?(?P<is>{NAMES})
      | \b(?i:{_RELATIVE}),?\s+(?P<apposed>{NAMES})
      | (?P<introduced>{NAMES}),\s+(?i:the|our|my)\s+(?:\w+\s+){{0,2}}(?i:{_RELATIVE})\b
      | (?P<owner>{NAMES})['’]s\s+(?i:{_BELONGING})\b
      | \b(?i:mr|mrs|ms|dr|prof)\.?\s+(?P<titled>{NAMES})
    """,
    re.VERBOSE,
)
# Others are met, called and asked too: a single word counts only where it is a given name.
PERSON_MET = lazy_pattern(
    rf"""
        \b(?i:{_MEETING})\s+(?P<name>{NAMES})(?=\s+(?i:who|about|to|on|at|from|for|said|is|and)\b|[.,;!?]|$)
      | \b(?i:developed|maintained|designed|created|owned|reviewed|founded|approved|built|led|made|written)
            \s+by\s+(?P<by>{NAMES})
      | \b(?P<one>{NAMES})\s+and\s+{NAMES}\s+(?i:both|work|live|met|lead|maintain|develop|own|review|design)\b
      | \b{NAME}\s+and\s+(?P<other>{NAMES})\s+(?i:both|work|live|met|lead|maintain|develop|own|review|design)\b
    """,
    re.VERBOSE,
)
# What people alone do and are.
_PERSONAL = r"""(?:lives?|lived|drinks?|eats?|studies|speaks|is\ (?:on\ (?:leave|vacation|holiday|parental)|allergic
    |married|vegetarian|vegan|sick|pregnant|left-handed|retiring|responsible|in\ charge
    |an?\ (?:\w+\ ){0,3}(?:engineer|developer|designer|manager|doctor|teacher|lawyer|nurse|student|colleague|friend
        |consultant|lead|analyst|researcher|writer))
    |has\ (?:a|two|three)\ (?:kids?|child|children|daughters?|sons?)|works?\ (?:at|for|from|as|with|on)
    |worked\ (?:at|for))"""
# What organisations, places and programs do as well.
_ANYBODYS = r"""(?:works?|worked|prefers?|likes?|loves?|hates?|dislikes?|moved|joined|joins|left|leaves|reports|said
    |avoids?|uses|knows|met|says|told|wants?|wanted|asked|agreed|thinks|owns?|manages?|leads?|maintains?|develops?|designs?|reviews?|takes
    |hired|teaches|started|starts|got|is\ (?:the\ new|my|leaving|joining|from|based|on\ call|our))"""
_ADVERB = r"(?:(?i:always|usually|never|also|now|still|really|only|just)\s+)?"
PERSON_LIVES = lazy_pattern(rf"(?P<name>{NAMES})\s+{_ADVERB}(?i:{_PERSONAL})\b", re.VERBOSE)
PERSON_ACTS = lazy_pattern(rf"(?P<name>{NAMES})\s+{_ADVERB}(?i:{_ANYBODYS})\b", re.VERBOSE)

EMPLOYER = lazy_pattern(
    rf"""
        \b(?i:works?|worked|working|job|started|employed|freelanc\w+|intern\w*)\s+(?i:at|for)\s+(?P<name>{NAMES})
      | \b(?i:is|am|are|'m|was)\s+(?:now\ )?at\s+(?P<now>{NAMES})(?=\s+(?i:now|since|until)\b|[.,;!]|$)
      | \b(?i:joined|joins|joining|left)\s+(?P<joined>{NAMES})
            (?:\s+(?i:now|as|last|in|on|this|next)\b|[.,;!]|$)
    """,
    re.VERBOSE,
)
PLACE = lazy_pattern(
    rf"""
        \b(?i:live|lives|lived|living|based|born|fly|flying|flight|trip|travel\w*|office|visit\w*|relocat\w+
            |vacation|holiday)\b(?:\s+\w+){{0,4}}?\s+(?i:in|to|from|at)\s+(?P<name>{NAMES})
      | \b(?i:i|she|he|they|{NAME})\s+(?i:moved|is\ moving)\s+(?:back\ |over\ )?(?i:to|from)\s+(?P<moved>{NAMES})
    """,
    re.VERBOSE,
)
CAMEL = lazy_pattern(
    r"""(?<![\w`/.@-])
        (?P<name>(?:[A-Z][a-z]+[A-Z]\w{0,22}|[A-Z]{2,}[a-z]+\w{0,20}|[A-Z][A-Za-z]{1,8}\d[A-Z]?\w{0,6}(?=\ [A-Z]{3,6}\b)
            |[A-Z]\d[A-Z]\w{0,6})(?:\ [A-Z]{3,6}\b)?)
        (?![\w`/(=]|\.\w)""",
    re.VERBOSE,
)
# “McDonald”, “DeVries”: capitals within a surname; plurals of abbreviations; what programs throw.
CAMEL_BUT_NO_TOOL = lazy_pattern(
    r"(?:Mc|Mac|De|La|Le|Van|Von|Di|Fitz|O)[A-Z][a-z]+$|[A-Z]{2,5}s$|.*(?:Error|Exception|Warning)s?$"
)

_CHINESE_RELATIVE = r"""(?:太太|先生|老公|老婆|妻子|丈夫|女儿|女兒|儿子|兒子|妈妈|媽媽|爸爸|姐姐|妹妹|哥哥|弟弟|同事
    |经理|經理|老板|老闆|房东|房東|客户|客戶|朋友|老师|老師|医生|醫生|联系人|聯絡人)"""
CHINESE_PERSON = lazy_pattern(
    rf"""
        (?P<nick>(?!小[时時组組心孩学學说說型数數区區吃事节節])(?!老[师師板闆是家人的])(?!阿[姨])[小老阿][\u4e00-\u9fff])
            (?=[在的说說要是有和跟喜住去来來负負下上叫明今周週一三四五六日,\uff0c、。\s]|$)
      | {_CHINESE_RELATIVE}(?:现在|現在)?(?:叫做|名叫|叫|是)\s?
            (?P<named>[A-Z]\w+(?:\ [A-Z]\w+)?|[\u4e00-\u9fff]{{2,4}})(?=[,\uff0c、。;\uff1b!\uff01\s]|$)
      | (?P<titled>[\u4e00-\u9fff]{{1,3}})(?:先生|女士|小姐|老师|老師|教授|博士)(?=[在的说說要是有和跟喜住去])
    """,
    re.VERBOSE,
)
WORD = lazy_pattern(r"[A-Za-z\u00c0-\u024f][\w.+#'’-]*\w|[A-Za-z]|[\u4e00-\u9fff]+")


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
    known: NameLookup | None,
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
    text = NO_PROSE.sub(lambda match: " " * len(match.group()), text)
    for pattern in (PROJECT, CHINESE_PROJECT):
        yield from _matched(pattern, text, "project", cues, marked=True)
    yield from _matched(AT_NAME, text, "person", cues, marked=True)
    yield from _matched(ORGANISATION, text, "concept", cues)
    yield from _listed(text, cues)
    yield from _camel(text, cues)
    for match in CODE.finditer(text):
        group = match.lastgroup or ""
        name = match[group]
        if not FILE_ENDING.search(name) and name.casefold() not in cues.words["no_tools"]:
            yield *match.span(group), EntityMention(name, "tool")
    yield from _matched(PERSON_NAMED, text, "person", cues)
    yield from _matched(CHINESE_PERSON, text, "person", cues)
    yield from _matched(PLACE, text, "place", cues)
    yield from _matched(EMPLOYER, text, "concept", cues)
    yield from _matched(PERSON_LIVES, text, "person", cues)
    for pattern in (PERSON_MET, PERSON_ACTS):
        yield from (
            each for each in _matched(pattern, text, "person", cues) if _like_a_person(each[2].name, cues)
        )
    yield from _matched(VENTURE, text, "project", cues)


def _links(text: str) -> Iterator[_Candidate]:
    for match in LINK.finditer(text):
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
    words = list(WORD.finditer(text))
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
    for match in CAMEL.finditer(text):
        name = match["name"]
        if name.casefold() in cues.words["no_names"] or CAMEL_BUT_NO_TOOL.match(name):
            continue
        # Protocols and standards carry a number or an abbreviation: OAuth2 PKCE.
        standard = " " in name or any(letter.isdigit() for letter in name)
        yield *match.span("name"), EntityMention(name, "concept" if standard else "tool", marked=True)


def _listed(text: str, cues: Cues) -> Iterator[_Candidate]:
    words = list(WORD.finditer(text))
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


# How names stand in a text: marked as names by their writer, or placed where names stand.
