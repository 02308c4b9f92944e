"""Introductions: the name, role, home and time zone that people state of themselves, in English and Chinese."""

from __future__ import annotations

import re
from typing import Final

from workbench.engine.language.chinese import TRADE
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_NAME: Final = r"[^\W\d_a-z][\w'-]+(?: [^\W\d_a-z][\w'.-]+){0,2}"
_HAN: Final = r"[\u3400-\u9fff]"
_HAN_END: Final = r"(?=[,;.!?、，。；！？\s]|$)"

_NAMED: Final = lazy_pattern(
    rf"\b(?:[Mm]y (?:full )?name(?:'s| is)|[Cc]all me) (?P<name>{_NAME})"
    rf"|我(?:的名字|名字)?(?:是|就)?叫(?:做|作)?\s?(?P<han>{_HAN}{{2,4}}?|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)"
    rf"(?=[,;.!?、，。；！？\s]|是|在|来|來|$)"
    rf"|我是\s?(?P<latin>[A-Z][a-z]+(?: [A-Z][a-z]+){{0,2}})(?=\s*(?:[,;.!?、，。；！？]|在|来自|來自|$))"
)
# What somebody says to be, written like a name: “I'm British, I …”.
_NO_NAME: Final = (
    r"(?!(?:American|Australian|Austrian|Belgian|Brazilian|British|Canadian|Catholic|Chinese|Czech|Danish|Dutch|English"
    r"|European|Finnish|French|German|Greek|Hungarian|Indian|Irish|Israeli|Italian|Japanese|Jewish|Korean|Mexican|Muslim"
    r"|Norwegian|Polish|Portuguese|Russian|Scottish|Spanish|Swedish|Swiss|Thai|Turkish|Ukrainian|Vietnamese|Welsh)\b)"
)
# “I'm Ines, a nurse …”, “I'm Ines and I …”, “I'm Ines from …”; “I'm Fine, thanks” introduces nobody.
_PRESENTED: Final = lazy_pattern(
    rf"(?:^|[.!?,;:] |\b(?:[Hh]i|[Hh]ello|[Hh]ey|[Ss]o|[Ww]ell|[Aa]nd) )I(?:'m| am) {_NO_NAME}(?P<name>{_NAME})"
    r"(?=,? (?:an?|from|based|living)\b|,? and I\b|, (?:the |your )?(?P<trade>[^,.;!?]{3,60})|, \d\d\b)"
)
# “I'm Ines Duarte, I …”, “I'm Ines Duarte.”: of a name and a surname little else can be meant.
_IN_FULL: Final = lazy_pattern(
    r"(?:^|[.!?,;:] )I(?:'m| am) (?P<name>[^\W\d_a-z][\w'-]+(?: [^\W\d_a-z][\w'.-]+){1,2})(?=, (?:I|we|my)\b|[.!]?$)"
)
_AGE: Final = r"\d\d(?:[ -]years?[ -]old)?,? "
_TO_ROLE: Final = lazy_pattern(rf",? (?:and )?(?:I(?:'m| am) )?(?:{_AGE})?(?:an?|the|your) (?:{_AGE})?")
_ROLE_ENDS: Final = lazy_pattern(
    r"[,.;:!?()]| (?:from|based in|living in|who|with (?:\d|my\b|our\b)|and (?:I\b|I'm|my|we|need|want|have|just)|but"
    r"|so|because|since|currently|trying|looking|working|planning|hoping|wanting|preparing)(?= |$)| [–—-] "
)
_PROFESSION: Final = lazy_pattern(
    r"\b(?:manager|engineer|developer|designer|teacher|doctor|nurse|lawyer|scientist|researcher|analyst|architect"
    r"|consultant|director|founder|writer|accountant|electrician|programmer|professor|physician|technician|editor"
    r"|journalist|musician|photographer|chef|freelancer|student|head of|lead|officer|producer)\b",
    re.IGNORECASE,
)
_WORK: Final = lazy_pattern(
    r"\b(?:my (?:role|job|job title|title|profession|occupation) is|i (?:now |currently )?work as) (?:an? |the )?"
    r"(?P<said>\S.*)",
    re.IGNORECASE,
)
_I_AM_A: Final = lazy_pattern(r"\b[Ii](?:'m| am) (?:now )?an? (?P<said>\S.*)")
# “I lead the platform team”, “I teach maths at …”, “I run a bakery”: the verb names what somebody does.
_DOES: Final = lazy_pattern(
    r"(?:^|[.!?,;:] |\b(?:[Aa]nd|[Ss]o|[Ww]here) )I (?:now |currently |also )?(?:"
    r"(?P<verb>lead|manage|head|direct|supervise|coordinate) (?P<led>(?:an?|the|our|my|all|\w+) [^,.;:!?()]{2,60})"
    r"|(?P<trains>teach|coach) (?P<taught>(?!you\b|my\b|it\b|this\b|that\b|them\b|him\b|her\b)[^,.;:!?()]{2,60})"
    r"|(?P<runs>run|own) (?P<run>(?:an?|my own|our own) [^,.;:!?()]{2,60})"
    r"|(?P<works>work) (?P<worked>(?:at|for|in) [^,.;:!?()]{2,60})"
    r"|(?P<does>do) (?P<done>(?!(?:it|this|that|not|so)\b)[^,.;:!?()]{2,40}? (?:at|for|in) [^,.;:!?()]{2,60}))"
)
_OF_WORK: Final = lazy_pattern(
    r"\b(?:teams?|groups?|departments?|divisions?|units?|squads?|offices?|branch|programmes?|programs?|labs?|company|business"
    r"|shop|store|studio|agency|practice|farm|bakery|café|cafe|restaurant|clinic|school|firm|startup|start-up|hotel|salon"
    r"|engineering|marketing|sales|operations|research|support|finance)\b| (?:at|for) [A-Z]"
)
_NO_WORK: Final = lazy_pattern(r"an? (?:lot|bit|few|\d|.*\b(?:marathon|miles?|laps?|race|jog)\b)|all\b")
# 我是一名护士; 我在一家书店做编辑; and of who gives a name or a work place: “…，主治医师，…”.
_HAN_WORK: Final = lazy_pattern(
    rf"我是(?:一名|一位|名|位)(?P<named>{_HAN}{{2,12}})"
    rf"|我是(?:一[个個](?!人))?(?P<trade>[^,.。，你您吗嗎]{{0,24}}?(?:{TRADE})){_HAN_END}"
    rf"|我[^。.!?]{{0,20}}?在\s?(?P<place>[\w\u3400-\u9fff]{{2,16}}?)\s?(?P<as>做|当|當|担任|擔任|教)\s?"
    rf"(?P<job>{_HAN}{{0,6}}?(?:{TRADE})|(?<=教)\s?{_HAN}{{2,8}}?|[A-Z][\w+/-]*(?: [A-Z][\w+/-]*)?)"
    rf"{_HAN_END}"
    rf"|我(?:现在|目前)?在(?P<at>[^,.。，你您]{{2,20}}?)(?:工作|上班)(?P<more>[,，](?:是|做)?[^,.。，你您]{{0,12}}?(?:{TRADE}))?{_HAN_END}"
)
_HAN_APPOSED: Final = lazy_pattern(
    rf"[,，]\s?(?:我?是|做)?(?:一[名位个])?(?P<trade>[^,.。，你您吗嗎]{{0,24}}?(?:{TRADE})){_HAN_END}"
)
_PLACE: Final = rf"(?P<place>{_NAME}(?:, {_NAME})?)"
_HOME: Final = lazy_pattern(rf"\b[Ii](?:'m| am)? (?:now |currently )?(?:live in|based in|living in) {_PLACE}")
_FROM: Final = lazy_pattern(rf"\b(?:based in|living in|from) {_PLACE}")
_HAN_HOME: Final = lazy_pattern(
    rf"(?:我(?:现在|現在|目前)?(?:住在?|常住|常驻|人在|定居在?)|我[^。.!?]{{0,40}}?(?i:base)\s?在\s?|[,，](?:现居|常驻|常住|定居|住在)"
    rf"|(?:^|[,，]|我)(?:今年|去年|上个月|上周|刚刚?|已经|现在|最近|前阵子|年初|月初|们|一家){{0,6}}搬(?:到|去|来)了?)(?!了)(?P<place>{_HAN}{{2,8}}?)了?{_HAN_END}"
)
_ZONE: Final = lazy_pattern(
    r"\b(?:[Mm]y time ?zone is|I(?:'m| am) in(?: the)? (?=[A-Z][a-z]+/|UTC|GMT|CES?T\b|[EP][SD]T\b))\s*"
    r"(?P<code>[A-Za-z]+(?:/[A-Za-z_]+)?(?:[+-]\d{1,2}(?::\d\d)?)?)"
    rf"|\bI (?:work|live|am) in the time ?zone of (?P<city>{_NAME})"
)


@dataclass(frozen=True, slots=True)
class Introduction:
    """What somebody says of himself in one sentence; empty where it does not say.

    Args:
        name: As he says it.
        role: What he does and where, without an article.
        home: Where he lives.
        timezone: A zone or the city that names one.
    """

    name: str = ""
    role: str = ""
    home: str = ""
    timezone: str = ""


def introduced(plain: str) -> Introduction:
    """Return what a sentence in the first person says of the speaker.

    Args:
        plain: One sentence with ASCII punctuation.
    """
    presented = _PRESENTED.search(plain)
    if (
        presented is not None
        and (trade := presented["trade"])
        and not (_PROFESSION.search(trade) or _does(plain, is_presented=True))
    ):
        presented = None
    named = _NAMED.search(plain) or (_IN_FULL.search(plain) if presented is None else None)
    name = next(filter(None, named.groupdict().values())) if named else presented["name"] if presented else ""
    rest = plain[presented.end("name") :] if presented else ""
    home = _HOME.search(plain) or (_FROM.search(rest) if rest else None) or _HAN_HOME.search(plain)
    zone = _ZONE.search(plain)
    return Introduction(
        name.rstrip("."),
        _role(plain, rest),
        home["place"].rstrip(".") if home else "",
        (zone["code"] or zone["city"]) if zone else "",
    )


def _role(plain: str, rest: str) -> str:
    """Return what the speaker does; `rest` is what follows the name of an introduction."""
    if begins := _TO_ROLE.match(rest):
        said = _up_to_its_end(rest[begins.end() :])
        if said:
            return said
    if does := _does(plain, is_presented=bool(rest)):
        return does
    if rest.startswith(", "):
        said = _up_to_its_end(rest[2:])
        if _PROFESSION.search(said):
            return said
    if stated := _WORK.search(plain):
        return _up_to_its_end(stated["said"])
    if (claimed := _I_AM_A.search(plain)) and _PROFESSION.search(said := _up_to_its_end(claimed["said"])):
        return said
    if han := _HAN_WORK.search(plain):
        if han["at"]:
            return f"在{han['at']}工作{han['more'] or ''}"
        return han["named"] or han["trade"] or f"在{han['place']}{han['as']}{han['job']}"
    if (named := _NAMED.search(plain)) and (apposed := _HAN_APPOSED.match(plain, named.end())):
        return apposed["trade"]
    return ""


def _does(plain: str, *, is_presented: bool) -> str:
    """Return by the verb what the speaker does for a living: “leads the sales team”; empty where none says.

    Args:
        is_presented: Whether the speaker gives a name beside it: then what is run or led is work, whatever it is.
    """
    found = _DOES.search(plain)
    if found is None:
        return ""
    verb = next(filter(None, (found[name] for name in ("verb", "trains", "runs", "works", "does"))))
    said = _up_to_its_end(
        next(filter(None, (found[name] for name in ("led", "taught", "run", "worked", "done"))))
    )
    is_work = found["trains"] or _OF_WORK.search(said) or (is_presented and not _NO_WORK.match(said))
    if not said or not is_work:
        return ""
    return f"{verb}{'es' if verb.endswith(('ch', 'o')) else 's'} {said}"


def _up_to_its_end(text: str) -> str:
    end = _ROLE_ENDS.search(text)
    said = text[: end.start()] if end else text
    return said.strip(" '\"") if 2 < len(said) <= 80 else ""
