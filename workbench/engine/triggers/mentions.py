"""Entities that a text names: known ones first, then what is marked or placed like a name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from workbench.engine.triggers.cues import Cues, routing_cues
from workbench.engine.triggers.model import EntityMention, EntityType, NameLookup

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES = ("person", "project", "concept", "tool", "place")
_MOST_ENTITIES = 12
_LONGEST_TEXT = 20_000

_LINK = re.compile(
    r"\[\[(?P<target>[^\[\]|#\n]{1,120})(?:#[^\[\]|\n]*)?(?:\|(?P<label>[^\[\]\n]{1,120}))?\]\]"
)
_CODE = re.compile(r"`(?P<name>[A-Za-z][\w.+-]{1,39})`")
_AT_NAME = re.compile(r"(?<![\w@./])@(?P<name>[A-Za-z][\w-]{1,38})(?![\w@]|\.\w)")
_FILE_ENDING = re.compile(
    r"\.(?:md|py|js|ts|tsx|json|toml|ya?ml|txt|csv|html|css|rs|go|c|h|sh|lock|cfg|ini|sql)$", re.IGNORECASE
)
_NAME = r"[A-Z\u00c0-\u00de][\w'’-]*[\w]"
_NAMES = rf"{_NAME}(?:\ {_NAME}){{0,2}}"
_PROJECT = re.compile(
    rf"""
        \b(?i:projects?|codenamed?|codename\ is|product|initiative)\s+(?:(?i:is|called|named)\s+)?
            ["“'‘]?(?P<after>{_NAMES})
      | ["“‘](?P<quoted>[^"”’\n]{{2,40}})["”’]\s+(?i:project|app|service|product|initiative)\b
      | \b(?P<before>{_NAMES})\s+(?i:project|initiative|rewrite|migration|contract|launch)\b
      | ["“](?P<codename>[^"”\n]{{2,40}})["”]\s+(?i:is\s+(?:the|our)\s+(?:codename|project|product))
    """,
    re.VERBOSE,
)
_CHINESE_PROJECT = re.compile(
    r"""
        (?P<before>[A-Za-z][\w-]{1,30})\s?(?:项目|項目|專案|计划|計劃)
      | (?:项目|項目|專案)\s?(?P<after>[A-Z][\w-]{1,30})
      | 《(?P<quoted>[^《》\n]{1,30})》(?:项目|項目|專案)
    """,
    re.VERBOSE,
)
_RELATIVE = r"""(?:wife|husband|partner|girlfriend|boyfriend|daughter|son|sister|brother|mother|father|mum|mom|dad
    |cousin|aunt|uncle|manager|boss|colleague|co-?worker|teammate|friend|assistant|doctor|dentist|landlord|lawyer
    |therapist|neighbou?r|roommate|flatmate|mentor|intern|hire|client|accountant|teacher|coach|kid|child)"""
_BELONGING = r"""(?:birthday|e-?mail|phone|number|extension|wife|husband|partner|son|daughter|manager|boss|address
    |last\ name|surname|team|desk|job|role|salary|dog|cat|divorce|wedding)"""
_MEETING = r"""(?:met|meet|meeting\ with|talked\ to|spoke\ (?:to|with)|call|email|cc|ask|tell|told|asked|thank
    |married|reports?\ to|hired|invited)"""
_PERSON_NAMED = re.compile(
    rf"""
        \b(?i:{_RELATIVE})(?:'s|’s)?(?:\s+(?i:name))?\s+(?i:is|was|called|named|is\ called|is\ named|is\ now)\s+
            (?:(?i:called|named|now)\s+)?(?P<is>{_NAMES})
      | \b(?i:{_RELATIVE}),?\s+(?P<apposed>{_NAMES})
      | (?P<introduced>{_NAMES}),\s+(?i:the|our|my)\s+(?:\w+\s+){{0,2}}(?i:{_RELATIVE})\b
      | (?P<owner>{_NAMES})['’]s\s+(?i:{_BELONGING})\b
      | \b(?i:mr|mrs|ms|dr|prof)\.?\s+(?P<titled>{_NAMES})
      | \b(?i:{_MEETING})\s+(?P<met>{_NAMES})
            (?=\s+(?i:who|about|to|on|at|from|for|said|is|and)\b|[.,;!?]|$)
    """,
    re.VERBOSE,
)
_ACT = r"""(?:works?|worked|prefers?|likes?|loves?|hates?|dislikes?|lives?|lived|moved|joined|joins|left|leaves|reports
    |said|says|told|wants?|wanted|asked|agreed|thinks|owns?|manages?|leads?|maintains?|develops?|speaks?|takes|drinks
    |eats|hired|studies|teaches|started|starts|got|has\ (?:a|two|three)\ (?:kids?|child|children|daughters?|sons?))"""
_STATE = r"""(?:is\ (?:on\ (?:leave|vacation|holiday|call|parental)|allergic|married|vegetarian|vegan|my|our|the\ new
    |responsible|in\ charge|leaving|joining|from|based|sick|pregnant|left-handed|retiring
    |an?\ (?:\w+\ ){0,3}(?:engineer|developer|designer|manager|doctor|teacher|lawyer|nurse|student|colleague|friend
        |consultant|lead|analyst|researcher|writer)))"""
_PERSON_ACTS = re.compile(
    rf"""(?P<name>{_NAMES})\s+(?:(?i:always|usually|never|also|now|still|really|only|just)\s+)?
        (?i:{_ACT}|{_STATE})\b""",
    re.VERBOSE,
)
_EMPLOYER = re.compile(
    rf"""
        \b(?i:works?|worked|working|job|started|employed|freelanc\w+|intern\w*)\s+(?i:at|for|with)\s+(?P<name>{_NAMES})
      | \b(?i:joined|joins|joining|left|at)\s+(?P<joined>{_NAMES})
            (?:\s+(?i:now|as|last|in|on|this|next)\b|[.,;!]|$)
    """,
    re.VERBOSE,
)
_CAMEL = re.compile(
    r"""(?<![\w`/.@-])
        (?P<name>(?:[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]+\w*|[A-Za-z]+\d+[A-Z]\w*|[a-z]+[A-Z]\w*)(?:\ [A-Z]{3,6}\b)?)
        (?![\w`/(]|\.\w)""",
    re.VERBOSE,
)
_PLACE = re.compile(
    rf"""\b(?i:live|lives|lived|living|moved|moving|move|based|born|fly|flying|flight|trip|travel\w*|office|visit\w*
            |relocat\w+|vacation|holiday)\b
        (?:\s+\w+){{0,4}}?\s+(?i:in|to|from|at)\s+(?P<name>{_NAMES})""",
    re.VERBOSE,
)
_CHINESE_RELATIVE = r"""(?:太太|先生|老公|老婆|妻子|丈夫|女儿|女兒|儿子|兒子|妈妈|媽媽|爸爸|姐姐|妹妹|哥哥|弟弟|同事
    |经理|經理|老板|老闆|房东|房東|客户|客戶|朋友|老师|老師|医生|醫生|联系人|聯絡人)"""
_CHINESE_PERSON = re.compile(
    rf"""
        (?P<nick>[小老阿][\u4e00-\u9fff])
            (?=[在的说說要是有和跟喜住去来來负負下上叫明今周週一三四五六日,\uff0c、。\s]|$)
      | {_CHINESE_RELATIVE}(?:现在|現在)?(?:叫做|名叫|叫|是)\s?
            (?P<named>[A-Z]\w+(?:\ [A-Z]\w+)?|[\u4e00-\u9fff]{{2,4}})(?=[,\uff0c、。;\uff1b!\uff01\s]|$)
      | (?P<titled>[\u4e00-\u9fff]{{1,3}})(?:先生|女士|小姐|老师|老師|教授|博士)(?=[在的说說要是有和跟喜住去])
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f][\w.+#'’-]*\w|[A-Za-z]|[\u4e00-\u9fff]+")


def find_mentions(text: str, known: NameLookup | None = None) -> tuple[EntityMention, ...]:
    """Return the entities that a text names, in the order they appear; precise rather than complete.

    A capital letter alone makes no entity: something must mark the name (a link, code, `@`, quotation marks)
    or place it (“Sam works at …”, “project Orion”, a known tool or city).

    Args:
        text: One memory; beyond 20,000 characters the rest is not looked at.
        known: Finds entities that exist already.

    Returns:
        At most twelve, each name once.
    """
    text = text[:_LONGEST_TEXT]
    found: dict[str, tuple[int, EntityMention]] = {}
    for position, mention in _candidates(text, known):
        key = mention.name.casefold()
        covered = any(
            key != other and start <= position < start + len(other) and key in other
            for other, (start, _) in found.items()
        )
        if key not in found and not covered:
            found[key] = (position, mention)
    in_order = sorted(found.values(), key=lambda each: each[0])
    return tuple(mention for _, mention in in_order)[:_MOST_ENTITIES]


def _candidates(text: str, known: NameLookup | None) -> Iterator[tuple[int, EntityMention]]:
    """Give mentions with their places, the surest first; the first to claim a name decides its type."""
    cues = routing_cues()
    yield from _links(text)
    if known is not None:
        yield from _known(text, known)
    for pattern, kind in (
        (_PROJECT, "project"),
        (_CHINESE_PROJECT, "project"),
        (_PERSON_NAMED, "person"),
        (_AT_NAME, "person"),
        (_CHINESE_PERSON, "person"),
    ):
        yield from _matched(pattern, text, cast("EntityType", kind), cues)
    yield from _listed(text, cues)
    yield from _matched(_PLACE, text, "place", cues)
    yield from _matched(_EMPLOYER, text, "concept", cues)
    yield from _matched(_PERSON_ACTS, text, "person", cues)
    for match in _CODE.finditer(text):
        if not _FILE_ENDING.search(match["name"]):
            yield match.start("name"), EntityMention(match["name"], "tool")
    for match in _CAMEL.finditer(text):
        # Protocols and standards carry a number or an abbreviation: OAuth2 PKCE.
        standard = " " in match["name"] or any(letter.isdigit() for letter in match["name"])
        yield match.start("name"), EntityMention(match["name"], "concept" if standard else "tool")


def _links(text: str) -> Iterator[tuple[int, EntityMention]]:
    for match in _LINK.finditer(text):
        target, label = match["target"].strip(), (match["label"] or "").strip()
        kind, dashes, slug = target.rsplit("/", 1)[-1].partition("--")
        if dashes and kind in _TYPES and slug:
            name = label or slug.replace("-", " ").strip().title()
            yield match.start(), EntityMention(name, cast("EntityType", kind))
        elif target:
            yield match.start(), EntityMention(label or target, "concept")


def _known(text: str, known: NameLookup) -> Iterator[tuple[int, EntityMention]]:
    words = list(_WORD.finditer(text))
    for first in range(len(words)):
        if "\u4e00" <= words[first].group()[0] <= "\u9fff":
            yield from _known_in_chinese(words[first], known)
            continue
        for length in (4, 3, 2, 1):
            if first + length > len(words):
                continue
            start, end = words[first].start(), words[first + length - 1].end()
            name = re.sub(r"['’]s$", "", text[start:end])
            mention = known(name.casefold()) if "\n" not in name else None
            # A known name that is a common word as well counts with a capital letter only.
            if mention and (length > 1 or not name.islower() or len(name) > 3):
                yield start, mention
                break


def _known_in_chinese(run: re.Match[str], known: NameLookup) -> Iterator[tuple[int, EntityMention]]:
    letters = run.group()
    for start in range(len(letters)):
        for length in range(min(8, len(letters) - start), 1, -1):
            mention = known(letters[start : start + length])
            if mention:
                yield run.start() + start, mention
                break


def _matched(
    pattern: re.Pattern[str], text: str, kind: EntityType, cues: Cues
) -> Iterator[tuple[int, EntityMention]]:
    for match in pattern.finditer(text):
        group = match.lastgroup
        if group is None:
            continue
        name = _trimmed(match[group], cues)
        if name and (kind != "person" or not _is_tool(name, cues)):
            yield match.start(group) + match[group].find(name), EntityMention(name, kind)


def _trimmed(name: str, cues: Cues) -> str:
    """Take words off both ends that are capitalised for another reason than being a name."""
    words = re.sub(r"['’]s$", "", name.strip(" .,'’")).split(" ")
    ordinary = cues.words["no_names"]
    while words and words[0].casefold() in ordinary:
        words = words[1:]
    while words and words[-1].casefold() in ordinary:
        words = words[:-1]
    return " ".join(words) if len("".join(words)) > 1 else ""


def _is_tool(name: str, cues: Cues) -> bool:
    return name.casefold() in cues.words["tools"]


def _listed(text: str, cues: Cues) -> Iterator[tuple[int, EntityMention]]:
    words = list(_WORD.finditer(text))
    for number, word in enumerate(words):
        plain = re.sub(r"['’]s$", "", word.group())
        lower = plain.casefold()
        pair = ""
        if number + 1 < len(words):
            pair = text[word.start() : words[number + 1].end()]
        if pair.casefold() in cues.words["places"] and pair.istitle():
            yield word.start(), EntityMention(pair, "place")
        elif pair.casefold() in cues.words["tools"]:
            yield word.start(), EntityMention(pair, "tool")
        elif lower in cues.words["tools"] and (
            plain[0].isupper() or lower not in cues.words["tools_by_capital"]
        ):
            yield word.start(), EntityMention(plain, "tool")
        elif (
            lower in cues.words["places"]
            and plain[0].isupper()
            and text[word.start() - 1 : word.start()] != "/"
        ):
            yield word.start(), EntityMention(plain, "place")
        elif "\u4e00" <= plain[0] <= "\u9fff":
            for place in cues.words["places"]:
                if (at := plain.find(place)) >= 0:
                    yield word.start() + at, EntityMention(place, "place")
