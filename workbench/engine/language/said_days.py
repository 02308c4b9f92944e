"""Says on which day it was or will be what somebody calls “yesterday”, “next month” or 上周五."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from workbench.engine.language.calendar import COUNTS, MONTH_NAMES, WEEKDAYS
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

# Words for a number that none can be told for.
_VAGUE: Final = frozenset(("few", "several"))
_DAY = r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?"
_RELATIVE = lazy_pattern(
    rf"""\b(?P<leads>(?:over|during|for|in|within|throughout|since|until|till|by|from|before|after|of)\ (?:the\ )?)?(?:
        (?P<before_yesterday>(?:the\ )?day\ before\ yesterday)
      | (?P<after_tomorrow>(?:the\ )?day\ after\ tomorrow)
      | (?P<yesterday>yesterday)(?P<part_y>\ (?:morning|afternoon|evening|night))?
      | (?P<last_night>last\ night)
      | (?P<tomorrow>tomorrow)(?P<part_t>\ (?:morning|afternoon|evening|night))?
      | (?P<today>today|tonight|this\ (?:morning|afternoon|evening))
      | (?:on\ )?(?:the\ )?(?P<which>last|next|this|this\ past|this\ coming|the\ past
          |past)\ (?P<unit>week(?:end)?|month|year
          |summer|winter|spring|fall|autumn|{_DAY})\b(?!\ of\b)(?P<part>\ (?:morning|afternoon|evening|night))?
      | (?:about\ |around\ |like\ |roughly\ |over\ |almost\ |nearly\ |just\ )?(?P<back>a|an|one|two|three
          |four|five|six|seven|eight|nine|ten|\d{{1,2}}|(?:a\ )?(?:couple(?:\ of)?|few)|several)
          \ (?P<ago_unit>day|weekend|week|month|year)s?\ ago
      | in\ (?P<ahead>a|one|two|three|four|five|six|\d{{1,2}}|(?:a\ )?(?:couple(?:\ of)?
          |few))\ (?P<in_unit>day|week|month|year)s?\b
          (?!\ of\b|\ to\b)
      | earlier\ this\ (?P<earlier>week|month|year)
      | later\ this\ (?P<later>week|month|year)
    )(?!['’-]\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_CHINESE_DAYS: Final = {
    **dict.fromkeys(("今天", "今日", "今早", "今晚"), 0),
    **dict.fromkeys(("昨天", "昨日", "昨晚"), -1),
    **dict.fromkeys(("明天", "明日", "明早", "明晚"), 1),
    "前天": -2,
    "后天": 2,
    "後天": 2,
}
_CHINESE_STEPS: Final = {"上": -1, "本": 0, "这": 0, "這": 0, "下": 1}
_CHINESE_YEARS: Final = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "後年": 2}
_CHINESE = lazy_pattern(
    rf"(?P<day>(?<![大以之])(?:{'|'.join(_CHINESE_DAYS)}))(?P<part>早上|上午|中午|下午|晚上)?"
    r"|(?P<week>[上下本这這])(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<weekday>[一二三四五六日天])"
    r"|(?P<month>[上下这這])(?:个|個)月(?!经)|(?P<year>(?<!以)(?:前年|去年|今年|明年|后年|後年))"
)
# “Over the last month” is no day and no month.
_STRETCH: Final = frozenset(("over", "during", "for", "in", "within", "throughout"))
_PREPOSITIONS: Final = ("on ", "in ")
# “Moved to next week” is moved to the week after, not to in it.
_GOVERNS: Final = lazy_pattern(
    r"\b(?:about|than|(?:moved|postponed|pushed|rescheduled|delayed|shifted|brought)(?:\s[\w’'-]+){0,4}\sto)\s$",
    re.IGNORECASE,
)
_WHEN_SAID = lazy_pattern(
    r"\s*\b(?:just recently|recently|lately|currently|right now|at the moment|nowadays|these days"
    r"|as of now|so far)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dated:
    """A text whose days are absolute.

    Args:
        text: With every relative date that could be said otherwise.
        day: ISO date of the first that is one day; empty where none is.
        dated: Whether any date was put in.
    """

    text: str
    day: str
    dated: bool


def with_dates(text: str, said: date | None) -> Dated:
    """Say relative dates absolutely: “yesterday” of 2022-12-17 becomes “on 2022-12-16”.

    What is vague stays so: “last week” becomes “in the week before 2022-12-17”, “a few weeks ago” some weeks before it.
    Words that only mean the time of speaking (“recently”) are left out.

    Args:
        text: A sentence.
        said: The day on which it was said; without one the text stays as it is.
    """
    if said is None:
        return Dated(text, "", dated=False)
    first = ""
    dated = False

    def put(match: re.Match[str]) -> str:
        nonlocal first, dated
        words, day = _absolute(match, said)
        leads = (match["leads"] or "").split(" ")[0].casefold()
        if not words or leads in _STRETCH:
            return match.group()
        if leads:
            bare = words.partition(" ")[2] if words.startswith(_PREPOSITIONS) else words
            words = f"{match['leads'].split(' ')[0]} {bare}"
        elif _GOVERNS.search(text, 0, match.start()) and words.startswith(_PREPOSITIONS):
            words = words.partition(" ")[2]
        dated = True
        first = first or day
        return words

    if _CHINESE.search(text):
        return _dated_in_chinese(text, said)
    replaced = _RELATIVE.sub(put, text)
    return Dated(" ".join(_WHEN_SAID.sub("", replaced).split()), first, dated)


def _dated_in_chinese(text: str, said: date) -> Dated:
    """Say 昨天 and 下个月 absolutely; what is vague stays as it is."""
    first = ""
    dated = False

    def put(match: re.Match[str]) -> str:
        nonlocal first, dated
        words, day = _absolute_in_chinese(match, said)
        dated = True
        first = first or day
        return words

    return Dated(_CHINESE.sub(put, text), first, dated)


def _absolute_in_chinese(match: re.Match[str], said: date) -> tuple[str, str]:
    if named := match["day"]:
        day = said + timedelta(days=_CHINESE_DAYS[named])
    elif weekday := match["weekday"]:
        start = said - timedelta(days=said.isoweekday() - 1)
        weeks = _CHINESE_STEPS[match["week"]]
        day = start + timedelta(days=7 * weeks + WEEKDAYS[f"周{weekday}"] - 1)
    elif which := match["month"]:
        months = said.year * 12 + said.month - 1 + _CHINESE_STEPS[which]
        return f"{months // 12}年{months % 12 + 1}月", ""
    else:
        return f"{said.year + _CHINESE_YEARS[match['year']]}年", ""
    return f"{day.isoformat()}{match['part'] or ''}", day.isoformat()


def _absolute(match: re.Match[str], said: date) -> tuple[str, str]:
    """Return the words for a relative date and the ISO date where it is one day."""
    group = match.groupdict()
    for name, days in (("before_yesterday", -2), ("after_tomorrow", 2), ("yesterday", -1), ("tomorrow", 1)):
        if group[name]:
            return _on(said + timedelta(days=days), (group["part_y"] or group["part_t"] or "").strip())
    if group["last_night"]:
        return _on(said - timedelta(days=1), "evening")
    if group["today"]:
        word = group["today"].casefold()
        return _on(
            said, "evening" if word == "tonight" else word.removeprefix("this ") if " " in word else ""
        )
    if group["unit"]:
        return _named(
            group["which"].casefold().split()[-1],
            group["unit"].casefold(),
            (group["part"] or "").strip(),
            said,
        )
    if group["ago_unit"]:
        return _counted(group["back"], group["ago_unit"].casefold(), said, -1), ""
    if group["in_unit"]:
        return _counted(group["ahead"], group["in_unit"].casefold(), said, 1), ""
    unit = (group["earlier"] or group["later"] or "").casefold()
    return _named("this", unit, "", said) if unit else ("", "")


def _on(day: date, part: str) -> tuple[str, str]:
    return f"on {'the ' + part.casefold() + ' of ' if part else ''}{day.isoformat()}", day.isoformat()


def _named(which: str, unit: str, part: str, said: date) -> tuple[str, str]:
    step = {"last": -1, "past": -1, "next": 1, "coming": 1}.get(which, 0)
    iso = said.isoformat()
    if unit == "week":
        return (
            {-1: f"in the week before {iso}", 0: f"in the week of {iso}", 1: f"in the week after {iso}"}[
                step
            ],
            "",
        )
    if unit == "weekend":
        side = {-1: "before", 0: "around", 1: "after"}[step]
        return f"on the weekend {side} {iso}", ""
    if unit == "month":
        return f"in {_month(said, step)}", ""
    if unit == "year":
        return f"in {said.year + step}", ""
    if unit in ("summer", "winter", "spring", "fall", "autumn"):
        return (f"in {unit} {said.year + step}" if step >= 0 else f"in the {unit} before {iso}"), ""
    weekday = next(number for name, number in WEEKDAYS.items() if name.startswith(unit[:3]))
    away = (weekday - said.isoweekday()) % 7
    if step < 0:
        return _on(said - timedelta(days=7 - away), part)
    return _on(said + timedelta(days=away or 7), part)


def _counted(count: str, unit: str, said: date, direction: int) -> str:
    word = count.casefold().removeprefix("a ").removesuffix(" of")
    number = int(word) if word.isdecimal() else 0 if word in _VAGUE else COUNTS[word]
    side = "before" if direction < 0 else "after"
    if number == 0:
        return f"some {unit}s {side} {said.isoformat() if unit != 'year' else said.year}"
    if unit == "year":
        return f"around {said.year + direction * number}"
    if unit == "month":
        return f"around {_month(said, direction * number)}"
    days = number * (7 if unit.startswith("week") else 1)
    return f"{'around ' if unit.startswith('week') else 'on '}{(said + timedelta(days=direction * days)).isoformat()}"


def _month(said: date, step: int) -> str:
    months = said.year * 12 + said.month - 1 + step
    return f"{MONTH_NAMES[months % 12]} {months // 12}"
