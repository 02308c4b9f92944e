"""Finds what a text gives as a value, and when two are the same.

Numbers with units, percentages, sums, counts, dates and versions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import (
    CHINESE_WEEKDAY,
    ENGLISH_MONTH,
    ENGLISH_WEEKDAY,
    MONTHS,
    WEEKDAYS,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import words
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

_DATE = lazy_pattern(
    rf"""
        \b(?P<month>{ENGLISH_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}}))?(?!\s*[-–]\s*\d)
      | (?<![\d-])(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{ENGLISH_MONTH})\b
            (?:,?\s+(?P<year2>\d{{4}}))?
      | (?<![\w-])(?P<iso>\d{{4}}-\d\d-\d\d)(?![\w-])
      | (?:(?P<year3>\d{{4}})[ ]?年[ ]?)?(?P<month3>\d{{1,2}})[ ]?月[ ]?(?P<day3>\d{{1,2}})[ ]?[日号號]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLOCK = lazy_pattern(
    r"(?<![\w:.-])(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>[ap]\.?m\b\.?)"
    r"|(?<![\w:.-])(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)(?![:\w])",
    re.IGNORECASE,
)
_CHINESE_CLOCK = lazy_pattern(
    r"(?:(?P<part>上午|早上|中午|下午|晚上)[ ]?)?(?P<hour>\d{1,2})[ ]?[点點](?P<half>半)?(?![\d秒])"
)
_WEEKDAY = lazy_pattern(
    rf"\b(?P<weekday>{ENGLISH_WEEKDAY})s?\b|(?P<chinese>{CHINESE_WEEKDAY})", re.IGNORECASE
)
APPOINTED_DIMENSIONS: Final = frozenset(("date", "clock", "weekday"))


def dates(text: str) -> Iterator[Value]:
    for match in _DATE.finditer(text):
        if match["iso"]:
            year, month, day = (int(part) for part in match["iso"].split("-"))
        else:
            named = match["month"] or match["month2"]
            month = MONTHS[named.lower()] if named else int(match["month3"])
            day = int(match["day"] or match["day2"] or match["day3"])
            year = int(match["year"] or match["year2"] or match["year3"] or 0)
        if 1 <= month <= 12 and 1 <= day <= 31:
            yield Value(
                match.start(), match.end(), "date", year * 10000.0 + month * 100 + day, written=match[0]
            )


def clocks(text: str) -> Iterator[Value]:
    """Yield times of day in minutes and days of the week from 1."""
    for match in _CLOCK.finditer(text):
        hour, minute = int(match["hour"] or match["hour24"]), int(match["minute"] or match["minute24"] or 0)
        if match["half"]:
            hour = hour % 12 + (12 if match["half"][0] in "pP" else 0)
        if hour < 24 and minute < 60:
            yield Value(match.start(), match.end(), "clock", hour * 60.0 + minute, written=match[0])
    for match in _CHINESE_CLOCK.finditer(text):
        hour = int(match["hour"]) + (
            12 if match["part"] in ("下午", "晚上") and int(match["hour"]) < 12 else 0
        )
        if hour < 24:
            minutes = hour * 60.0 + (30 if match["half"] else 0)
            yield Value(match.start(), match.end(), "clock", minutes, written=match[0])
    for match in _WEEKDAY.finditer(text):
        day = float(WEEKDAYS[(match["weekday"] or match["chinese"]).lower()])
        yield Value(match.start(), match.end(), "weekday", day, written=match[0])


_TABLE: Final[dict[str, dict[str, float]]] = {
    "time": {
        "ms millisecond milliseconds 毫秒": 0.001,
        "s sec secs second seconds 秒": 1,
        "min mins minute minutes 分钟": 60,
        "h hr hrs hour hours 小时": 3600,
        "day days 天": 86400,
        "week weeks 周": 604800,
        "month months 个月": 2592000,
        "year years 年": 31536000,
    },
    "share": {"% percent percentage 个百分点": 1},
    "bytes": {"kb kib": 1e3, "mb mib": 1e6, "gb gib": 1e9, "tb": 1e12},
    "length": {
        "mm": 0.001,
        "cm": 0.01,
        "km kilometers kilometres 公里": 1000,
        "mile miles": 1609,
        "meters metres 米": 1,
    },
    "mass": {"kg 公斤": 1, "lb lbs pounds": 0.45},
    "money": {"dollars usd": 1, "元": 1, "euros eur": 1},
}
UNITS: Final = {
    unit: (dimension, factor)
    for dimension, table in _TABLE.items()
    for names, factor in table.items()
    for unit in names.split()
}
"""Dimension and factor by the unit as it is written, folded."""


_MULTIPLES = {"k": 1e3, "m": 1e6, "bn": 1e9, "b": 1e9, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8}
_COUNTING: Final = (
    (2, "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"),
    (20, "twenty"),
    (30, "thirty"),
    (40, "forty"),
    (50, "fifty"),
    (60, "sixty"),
    (70, "seventy"),
    (80, "eighty"),
    (90, "ninety"),
    (100, "hundred"),
)
_WORDS: Final = {
    word: float(number) for first, names in _COUNTING for number, word in enumerate(names.split(), first)
}
_LATIN_UNITS = "|".join(sorted((u for u in UNITS if u.isascii() and u != "%"), key=len, reverse=True))
_HAN_UNITS = "|".join(sorted((u for u in UNITS if not u.isascii()), key=len, reverse=True))
_NUMBER = lazy_pattern(
    rf"""
        (?<![A-Za-z0-9_.,:/#@^~=-])
        (?P<sign>US\$|[$€£¥])?[ ]?
        (?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)
        (?:(?P<multiple>(?-i:k|K|M|bn)(?![A-Za-z\d]))|[ ]?(?P<chinese>[万萬亿億]))?
        (?:[ -]?(?P<unit>%|(?:{_LATIN_UNITS})\b|{_HAN_UNITS}))?
        (?P<after>[\w.:/@-]?[\w@-]?)
      | \b(?P<word>{"|".join(_WORDS)})\b(?:[ -](?P<word_unit>(?:{_LATIN_UNITS})\b))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
RATE: Final = lazy_pattern(
    r"\s*(?:/|per\s+|a\s+|an\s+|each\s+|every\s+|每)(second|sec|minute|min|hour|day|week|month|quarter|year|user|request"
    r"|person|天|月|年|周)\b",
    re.IGNORECASE,
)
_SPAN_BEFORE = lazy_pattern(r"\d[\w%$]*\s*(?:-|–|to|x|×|and|or)\s*[$€£]?$", re.IGNORECASE)
_OUT_OF = lazy_pattern(r"\d\s+(?:out\s+)?of\s+(?:(?:the|my|our)\s+)?$", re.IGNORECASE)
_SPAN_AFTER = lazy_pattern(r"\s*(?:-|–|to|x|×)\s*[$€£]?\d", re.IGNORECASE)
_FROM = lazy_pattern(r"\bfrom\s*(?:about|around|roughly|over|nearly|an?\s+\w+\s+of)?\s*$", re.IGNORECASE)
_FROM_TO = lazy_pattern(r"\bfrom\s+(?:\w+\s+)?\S+\s+(?:\w+\s+)?to\s*[$€£]?$", re.IGNORECASE)
_BOUND = lazy_pattern(
    r"(?:\b(?:under|below|within|at\s+least|at\s+most|up\s+to|less\s+than|more\s+than|over|above|beyond|fewer\s+than|no\s+more"
    r"\s+than|minimum\s+(?:of\s+)?|maximum\s+(?:of\s+)?|only)|[<>≤≥])\s*$",
    re.IGNORECASE,
)
_RISEN = lazy_pattern(
    r"(?:\b(?:am|is|are|was|now|went|gone|grew|grown|improved|increased|got|been|came|come|jumped|moved|back|go|goes|going|climbed|rose|rises|grows|grow)|['’](?:m|re|s))"
    r"\s+(?:already\s+|now\s+)?up\s+to\s*$",
    re.IGNORECASE,
)
_LABEL = lazy_pattern(
    r"\b(?P<what>sprint|phase|step|line|lines|http|https|port|version|chapter|week|day|level|section|question|option|part"
    r"|room|figure|issue|ticket|item|milestone|unit|exercise|problem|code|status|error|round|season|episode|grade"
    r"|stage|tier|type|page|task|module|es|number|no\.|wcag|oauth|node|python|grammar)\s*[.:#]?\s*$",
    re.IGNORECASE,
)
_CODE_AFTER = lazy_pattern(
    r"\s*(?:status|errors?\b|too\s+many|not\s+found|unauthorized|ok\b|forbidden|response\s+code)",
    re.IGNORECASE,
)
_NAME_BEFORE = lazy_pattern(r"(?:^|[\s(\"'`])(?:[A-Z][\w.+#-]*|[a-z]+[A-Z]\w*)\s+v?$")

_VERSION = lazy_pattern(
    r"(?P<tool>[A-Z][\w+#-]*(?:[ .-][A-Z][\w+#-]*|\.[a-z]{2,3})?|`[^`]{1,40}`)\s+(?:version\s+)?"
    r"(?P<version>v\d+(?:\.\d+)*|\d+\.\d+(?:\.\d+)*"
    r"|(?<=\s)\d{1,2}(?=(?:\s+(?:in|on|everywhere|now|since|for|with|at)\b|[.,;!]|\s*$)))(?![\w%]|\.\d)"
)
_RUNS = lazy_pattern(
    r"\b(?:on|onto|to|with|runs?|running|use|uses|using|install(?:ed|s)?|upgraded?|got|have|version)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
"""What stands before a program with a whole number as its version: “runs Postgres 16”."""


_MONTH_NAME = lazy_pattern(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)", re.IGNORECASE
)


def values_in(text: str) -> list[Value]:
    """Return the values of a clause in order; labels (“sprint 2”), ranges, years and codes are none.

    Args:
        text: One clause.
    """
    taken = list(dates(text))
    taken += [clock for clock in clocks(text) if not _inside(clock, taken)]
    taken += [version for version in _versions(text) if not _inside(version, taken)]
    numbers = [value for value in _numbers(text) if not _inside(value, taken)]
    return sorted((*taken, *numbers), key=lambda value: value.start)


def labels_in(text: str) -> frozenset[str]:
    """Return which one of several a clause speaks of: “sprint 2” and “the second sprint” give `2`."""
    found = {
        str(number) for word, number in _ORDINALS.items() if re.search(rf"\b{word}\b", text, re.IGNORECASE)
    }
    for match in re.finditer(r"(?<![\w.$])(\d{1,3})(?!\w|[.,]\d|%)", text):
        if _LABEL.search(text[max(0, match.start() - 16) : match.start()]):
            found.add(match[1])
    return frozenset(found)


_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "final": 99, "last": 99}


def _inside(value: Value, others: list[Value]) -> bool:
    return any(other.start < value.end and value.start < other.end for other in others)


def _numbers(text: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(text):
        value = _worded(match) if match["word"] else _number(text, match)
        if value is not None:
            yield value


def _worded(match: re.Match[str]) -> Value:
    dimension, factor = UNITS.get((match["word_unit"] or "").lower(), ("count", 1.0))
    return Value(
        match.start(), match.end(), dimension, _WORDS[match["word"].lower()] * factor, written=match[0]
    )


def _number(text: str, match: re.Match[str]) -> Value | None:
    end = match.end() - len(match["after"])
    digits, unit, sign = match["number"], (match["unit"] or "").lower(), match["sign"]
    after = match["after"]
    joined = after[:1] not in ("", ".", ":", "/", "-") or (
        after[:1] in (".", ":", "/") and after[1:2].isdigit()
    )
    if not unit and joined and after[:1] < "\u3400":
        return None
    if after[:1] == "-" and (after[1:2].isdigit() or after[1:2] == "") and not unit:
        return None
    before = text[max(0, match.start() - 24) : match.start()]
    if _SPAN_AFTER.match(text, end) and not _FROM.search(before):
        return None
    if _SPAN_BEFORE.search(before) and not _FROM_TO.search(before):
        return None
    if not unit and not sign and not (match["multiple"] or match["chinese"]):
        is_year = len(digits) == 4 and digits[:2] in ("19", "20")
        if (
            is_year
            or _OUT_OF.search(before)
            or _LABEL.search(before)
            or _CODE_AFTER.match(text, end)
            or _is_named(before, digits)
        ):
            return None
    amount = float(digits.replace(",", "")) * _MULTIPLES.get(
        (match["multiple"] or match["chinese"] or "").lower(), 1.0
    )
    dimension, factor = ("money", 1.0) if sign else UNITS.get(unit, ("count", 1.0))
    per = RATE.match(text, end)
    return Value(
        match.start(),
        per.end() if per else end,
        f"money{sign}" if sign and sign not in ("$", "US$") else dimension,
        amount * factor,
        per=per[1].lower() if per else "",
        bound=_BOUND.search(before) is not None and _RISEN.search(before) is None,
        written=text[match.start() : per.end() if per else end].strip(),
    )


def _is_named(before: str, digits: str) -> bool:
    """Return whether a number is part of a name, “Bootstrap 5.3” or “Python 3”, and not a count, “In 20 days”."""
    found = _NAME_BEFORE.search(before)
    return (
        found is not None
        and found[0].split()[0].strip("('\"`") not in _OPENERS
        and ("." in digits or len(digits) < 3)
    )


_OPENERS = words(
    "I In At On The My About Around With By For From After Before Within Over Under Only And But So We"
)


def _versions(text: str) -> Iterator[Value]:
    for match in _VERSION.finditer(text):
        tool = match["tool"].strip("`").casefold()
        whole = match["version"].isdigit()
        if whole and (
            _MONTH_NAME.match(tool) or not _RUNS.search(text[max(0, match.start() - 24) : match.start()])
        ):
            continue
        if tool.split()[-1] not in ("version", "around", "about", "in", "at", "i"):
            yield Value(
                match.start("version"),
                match.end(),
                "version",
                0.0,
                tool=tool.split()[-1],
                written=match["version"],
            )


@dataclass(frozen=True, slots=True)
class Value:
    """One value as a text gives it.

    Args:
        start: Its place in the text.
        end: Behind its unit and rate.
        dimension: time, share, bytes, money …, `count` for a number of things, `date`, `clock`, `weekday`, `version`.
        amount: In the dimension's own unit; a date as YYYYMMDD, without a year 0000MMDD; a time of day in minutes.
        per: The unit after “per”, singular; empty if it is no rate.
        bound: Whether it is a limit rather than a value (“under 250ms”).
        tool: What a version is of, folded.
        written: As it stands.
    """

    start: int
    end: int
    dimension: str
    amount: float
    per: str = ""
    bound: bool = False
    tool: str = ""
    written: str = ""

    def same_as(self, other: Value) -> bool:
        """Return whether both may be one value; a date without a year agrees with one that has it."""
        if self.dimension == "date":
            dated = self.amount > 10000 and other.amount > 10000
            return self.amount == other.amount if dated else self.amount % 10000 == other.amount % 10000
        if self.dimension == "version":
            short, long = sorted((self.written.lstrip("v"), other.written.lstrip("v")), key=len)
            return long == short or long.startswith(short + ".")
        return abs(self.amount - other.amount) <= 1e-9 * max(1.0, abs(self.amount))
