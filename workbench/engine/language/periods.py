"""Reads the days that a question names: “in May”, “two weeks ago”, “2023-05-07”, 上週, 去年三月."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import field, replace
from datetime import date, time, timedelta

from workbench.engine.language.calendar import (
    CHINESE_WEEKDAY,
    COUNTS,
    ENGLISH_MONTH,
    ENGLISH_WEEKDAY,
    MONTHS,
    SEASONS,
    WEEKDAYS,
    any_of,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_HAN_MONTH = r"(?P<month>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])\s*月"
_MOST_YEARS_BACK = 20
_HAN_DAY = r"(?P<day>[0-3]?\d|三?十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])\s*[日号號]"
_LAST = r"(?P<which>last|previous|past|this|next)"
_HAN_YEAR = r"(?P<year>(?:19|20)\d\d)\s*年"


@dataclass(frozen=True)
class Period:
    """Days from the first to the last, inclusive.

    Args:
        is_from_now: Whether they are counted from the day of asking: “last week”, 三天前. Then they mean when something
            was noted; what happened “in March” may be told in April.
    """

    first: date
    last: date
    is_from_now: bool = field(default=False, compare=False)

    def distance(self, day: date) -> int:
        """Return the days between a day and the period, negative before it, 0 within."""
        if day < self.first:
            return (day - self.first).days
        return max(0, (day - self.last).days)


_MONTH = rf"(?P<month>{ENGLISH_MONTH})\.?"
_SEASON = any_of(name for name in SEASONS if name.isascii())
_COUNT = rf"(?P<count>\d{{1,3}}|{any_of(COUNTS)})"
# What may stand around the days where a text names nothing else.
_AROUND_DAYS = lazy_pattern(
    r"(?:\b(?:since|in|within|over|during|the|on|from|of|at|until|up|to|end|beginning|and|s|now|so|far|earlier|later)\b"
    r"|[从從自到至在的以来來为為止起了]|[\W_])*"
)
# How days are typed in a line of their own.
_SHORT_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TYPED_ISO = lazy_pattern(r"^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$")
_TYPED_COUNT = rf"\d{{1,4}}|(?:{any_of(name for name in COUNTS if name.isascii())})(?=\s)"
_TYPED_AGO = lazy_pattern(rf"^({_TYPED_COUNT})\s*(?:([dwmy])|(day|week|month|year)s?)(?:\s+(?:ago|back))?$")
# What a question says of a month, and a date does not.
_SAID_OF_A_MONTH = lazy_pattern(r"^(?:last|previous|past|this|next)\b")
_TIMED = lazy_pattern(r"^(.*?)[ Tt](\d{1,2}):(\d{2})$")

Reader = Callable[[re.Match[str], date], Period | None]


def period_of(
    question: str, today: date, holds: Callable[[Period], bool] = lambda _period: True
) -> Period | None:
    """Return the days a question names, or None.

    A month without a year is the last that has begun, a weekday the last that has passed. Of several expressions the
    first of the most exact kind counts.

    Args:
        question: In English or Chinese; dates as ISO 8601 in any language.
        today: Base of relative expressions.
        holds: Returns whether some days have content. A yearly date without a year, such as a month, moves back
            year by year until they do.
    """
    found = _first_read(question, today)
    if found is None:
        return None
    period, match = found
    groups = match.groupdict()
    if match.re.pattern not in _YEARLY or groups.get("year") or groups.get("which") or holds(period):
        return period
    earlier = period
    for _ in range(_MOST_YEARS_BACK):
        again = _first_read(question, earlier.first - timedelta(days=1))
        if again is None or again[0].first >= earlier.first:
            break
        earlier = again[0]
        if holds(earlier):
            return earlier
    return period


def period_alone(text: str, today: date) -> Period | None:
    """Return the days that a text names and nothing else: “since last week”, but not “since the last release”.

    Args:
        text: In English or Chinese.
        today: Base of relative expressions.
    """
    for written in (text, f"on {text}"):
        found = _first_read(written, today)
        if found is not None and _AROUND_DAYS.fullmatch(without_period(written, today)):
            return found[0]
    return None


def without_period(question: str, today: date) -> str:
    """Return a question without the days it names."""
    text = question.casefold()
    found = _first_read(question, today)
    return text.replace(found[1].group(), " ") if found else text


def _first_read(question: str, today: date) -> tuple[Period, re.Match[str]] | None:
    """Return the period that counts, and its match."""
    text = question.casefold()
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            try:
                period = read(match, today)
            except (ValueError, OverflowError):
                continue
            if period is not None:
                return replace(period, is_from_now=read in _FROM_NOW), match
    return None


def _number(text: str) -> int:
    return int(text) if text.isdigit() else COUNTS[text]


def _month_number(name: str) -> int:
    return MONTHS.get(name) or _number(name)


def _day_number(text: str) -> int:
    """Return the day of a month in digits or Chinese numerals, such as 二十三."""
    tens, ten, units = text.rpartition("十")
    if not ten:
        return _number(text)
    return 10 * (_number(tens) if tens else 1) + (_number(units) if units else 0)


def _one_day(day: date) -> Period:
    return Period(day, day)


def _month(year: int, month: int) -> Period:
    return Period(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def _three_months(start: date) -> Period:
    """Return three months, starting with the first of one."""
    later = start.year * 12 + start.month + 1
    return Period(start, _month(later // 12, later % 12 + 1).last)


def _year(year: int) -> Period:
    return Period(date(year, 1, 1), date(year, 12, 31))


def _back(today: date, months: int) -> date:
    """Return the first of the month this many months before."""
    at = today.year * 12 + today.month - 1 - months
    return date(at // 12, at % 12 + 1, 1)


def _iso_day(match: re.Match[str], _today: date) -> Period:
    return _one_day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _named_day(match: re.Match[str], today: date) -> Period:
    month, day = _month_number(match["month"]), _day_number(match["day"])
    if match["year"]:
        return _one_day(date(int(match["year"]), month, day))
    if which := match.groupdict().get("which"):
        return _one_day(date(today.year + _which(which), month, day))
    this_year = date(today.year, month, day)
    return _one_day(this_year if this_year <= today else date(today.year - 1, month, day))


def _named_month(match: re.Match[str], today: date) -> Period:
    month = _month_number(match["month"])
    groups = match.groupdict()
    if groups.get("year"):
        return _month(int(match["year"]), month)
    if groups.get("which"):
        return _month(today.year + _which(match["which"]), month)
    return _month(today.year if date(today.year, month, 1) <= today else today.year - 1, month)


def _which(word: str) -> int:
    """Return the offset in years, months or weeks that a word means."""
    if word in ("last", "previous", "past", "去", "上", "上个", "上個"):
        return -1
    if word in ("next", "明", "下", "下个", "下個"):
        return 1
    return -2 if word in ("before", "前") else 0


def _quarter(match: re.Match[str], today: date) -> Period:
    groups = match.groupdict()
    quarter = _number(match["quarter"])
    year = int(match["year"]) if groups.get("year") else today.year
    start = date(year, 3 * quarter - 2, 1)
    if not groups.get("year") and start > today:
        start = date(year - 1, start.month, 1)
    return _three_months(start)


def _season(match: re.Match[str], today: date) -> Period:
    groups = match.groupdict()
    name = match["season"]
    month = SEASONS[name]
    if groups.get("year"):
        return _three_months(date(int(match["year"]), month, 1))
    begun = date(today.year, month, 1)
    if groups.get("which") in ("去", "前", "明"):
        return _three_months(date(today.year + _which(match["which"]), month, 1))
    if begun > today:
        begun = date(today.year - 1, month, 1)
    if groups.get("which") in ("last", "previous", "past") and _three_months(begun).last >= today:
        begun = date(begun.year - 1, month, 1)
    return _three_months(begun)


def _weekday(match: re.Match[str], today: date) -> Period:
    gone = (today.isoweekday() - WEEKDAYS[match["weekday"]]) % 7 or 7
    return _one_day(today - timedelta(days=gone))


def _weekday_of_week(match: re.Match[str], today: date) -> Period:
    """Read 上周五, 这个星期三."""
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=_which(match["which"]))
    return _one_day(monday + timedelta(days=WEEKDAYS[match["weekday"]] - 1))


def _relative(match: re.Match[str], today: date) -> Period:
    """Read “last week”, “this month”, 上週, 去年."""
    by, unit = _which(match["which"]), match["unit"]
    if unit in ("week", "周", "週", "星期", "礼拜", "禮拜"):
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=by)
        return Period(monday, monday + timedelta(days=6))
    if unit in ("weekend", "周末", "週末"):
        saturday = today - timedelta(days=today.weekday() - 5) + timedelta(weeks=by)
        return Period(saturday, saturday + timedelta(days=1))
    if unit in ("month", "月"):
        start = _back(today, -by)
        return _month(start.year, start.month)
    if unit == "quarter":
        return _three_months(_back(date(today.year, 3 * ((today.month - 1) // 3) + 1, 1), -3 * by))
    return _year(today.year + by)


def _ago(match: re.Match[str], today: date) -> Period:
    """Read “two weeks ago”; the longer ago, the wider the period."""
    count, unit = _number(match["count"]), match["unit"]
    if unit in ("day", "天", "日"):
        return _one_day(today - timedelta(days=count))
    if unit in ("week", "周", "週", "星期", "个星期", "個星期", "个礼拜", "個禮拜"):
        middle = today - timedelta(weeks=count)
        return Period(middle - timedelta(days=3), middle + timedelta(days=3))
    if unit in ("month", "个月", "個月"):
        start = _back(today, count)
        return _month(start.year, start.month)
    return _year(today.year - count)


def _half_a_year_ago(_match: re.Match[str], today: date) -> Period:
    start = _back(today, 6)
    return _month(start.year, start.month)


def _fortnight_ago(_match: re.Match[str], today: date) -> Period:
    middle = today - timedelta(weeks=2)
    return Period(middle - timedelta(days=3), middle + timedelta(days=3))


def _span(match: re.Match[str], today: date) -> Period:
    """Read “in the past three weeks”, 最近三天."""
    days = {
        "day": 1,
        "天": 1,
        "week": 7,
        "周": 7,
        "週": 7,
        "month": 30,
        "个月": 30,
        "個月": 30,
        "year": 365,
        "年": 365,
    }
    count = _number(match["count"]) if match["count"] else 1
    return Period(today - timedelta(days=count * days[match["unit"]]), today)


def _numbered_month(match: re.Match[str], _today: date) -> Period:
    return _month(int(match["year"]), int(match["month"]))


def _whole_year(match: re.Match[str], _today: date) -> Period:
    return _year(int(match["year"]))


def _two_days_ago(_match: re.Match[str], today: date) -> Period:
    return _one_day(today - timedelta(days=2))


def _yesterday(_match: re.Match[str], today: date) -> Period:
    return _one_day(today - timedelta(days=1))


def _today(_match: re.Match[str], today: date) -> Period:
    return _one_day(today)


_SAID: tuple[tuple[str, Reader], ...] = (
    (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", _iso_day),
    (
        rf"(?<![\d个個])(?:(?:{_HAN_YEAR}|(?P<which>[去今前明])年)\s*)?{_HAN_MONTH}\s*{_HAN_DAY}",
        _named_day,
    ),
    (rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b,?(?:\s+{_YEAR}\b)?", _named_day),
    (rf"\b{_MONTH}\s+{_DAY}\b,?(?:\s+{_YEAR}\b)?", _named_day),
    (r"(?<!\d)(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?!-?\d)", _numbered_month),
    (rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b", _named_month),
    (rf"{_HAN_YEAR}\s*{_HAN_MONTH}", _named_month),
    (rf"(?P<which>去|今|前|明)年\s*{_HAN_MONTH}", _named_month),
    (rf"\b{_LAST}\s+{_MONTH}\b", _named_month),
    (rf"\bq(?P<quarter>[1-4])\s*(?:of\s+)?{_YEAR}\b", _quarter),
    (rf"{_HAN_YEAR}第?(?P<quarter>[一二三四1-4])季", _quarter),
    (rf"\b(?P<season>{_SEASON})\s+(?:of\s+)?{_YEAR}\b", _season),
    (rf"\b{_LAST}\s+(?P<season>{_SEASON})\b", _season),
    (r"(?P<which>去|今|前|明)年(?P<season>[春夏秋冬])", _season),
    (r"\bday before yesterday\b|前天", _two_days_ago),
    (r"\byesterday\b|\blast night\b|昨[天日晚]", _yesterday),
    (r"\btoday\b|\btonight\b|\bthis (?:morning|evening|afternoon)\b|今[天日晚]", _today),
    (r"\bhalf\s+a\s+year\s+(?:ago|back)\b|半年(?:之?前|以前)", _half_a_year_ago),
    (r"\ba\s+fortnight\s+(?:ago|back)\b", _fortnight_ago),
    (rf"\b{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+(?:ago|back)\b", _ago),
    (rf"{_COUNT}\s*(?P<unit>个星期|個星期|个礼拜|個禮拜|个月|個月|[天日周週年])(?:之?前|以前)", _ago),
    (
        r"\b(?:past|last)\s+(?P<count>\d{1,3}|two|three|four|five|six|few)\s+(?P<unit>day|week|month|year)s?\b",
        _span,
    ),
    (rf"(?:最近|[过過]去)\s*{_COUNT}\s*(?P<unit>个月|個月|[天周週年])", _span),
    (r"\b(?P<unit>weekend|week|month|quarter|year)\s+(?P<which>before)\s+last\b", _relative),
    (rf"\b{_LAST}\s+(?P<unit>weekend|week|month|quarter|year)\b", _relative),
    (rf"(?P<which>[上下这這本])[个個]?(?P<weekday>{CHINESE_WEEKDAY})", _weekday_of_week),
    (r"(?P<which>[上下这這本])[个個]?(?P<unit>周末|週末|周|週|星期|礼拜|禮拜|月)", _relative),
    (r"(?P<which>[去今前明])(?P<unit>年)", _relative),
    (rf"\b(?:last|on|since|this past)\s+(?P<weekday>{ENGLISH_WEEKDAY})\b", _weekday),
    (rf"\b(?:in|during|since|by|of|early|late)\s+{_MONTH}(?!\w)", _named_month),
    (rf"(?<![\d年个個]){_HAN_MONTH}(?!\w*[前后後])", _named_month),
    (r"\bq(?P<quarter>[1-4])\b", _quarter),
    (rf"\b(?:in|during|since)\s+(?:the\s+)?(?P<season>{_SEASON})\b", _season),
    (rf"\b(?:in|during|since|of)\s+{_YEAR}\b", _whole_year),
    (_HAN_YEAR, _whole_year),
)
_READERS = tuple((lazy_pattern(pattern), read) for pattern, read in _SAID)
_YEARLY = frozenset(
    pattern for pattern, read in _SAID if read in (_named_day, _named_month, _quarter, _season)
)
_FROM_NOW = (
    _two_days_ago, _yesterday, _today, _ago, _half_a_year_ago, _fortnight_ago, _span, _relative, _weekday,
    _weekday_of_week,
)  # fmt: skip


def parse_days(text: str, today: date) -> tuple[date, date] | None:
    """Read a day or a span of days.

    Args:
        text: `2026`, `2026-02`, `2026-02-14`, `feb`, `feb 2026`, `14 feb`, `14 feb 2026`, `today`, `yesterday`, `10d`,
            `3w`, `2m`, `1y` or `three weeks ago` (that long ago until today); and what a question may say, such as
            `last month`, `last-month`, `monday`, 上周.

    Returns:
        First and last day, or None where it is neither.
    """
    text = text.strip().casefold().rstrip(",.")
    if text == "today":
        return today, today
    if text == "yesterday":
        return today - timedelta(1), today - timedelta(1)
    if ago := _TYPED_AGO.match(text):
        count = int(ago[1]) if ago[1].isdigit() else COUNTS[ago[1]]
        unit = (ago[2] or ago[3])[0]
        if unit in "my":
            return _months_before(today, count * (12 if unit == "y" else 1)), today
        days = timedelta(count * (7 if unit == "w" else 1))
        return max(date.min + days, today) - days, today
    if iso := _TYPED_ISO.match(text):
        return _typed_span(int(iso[1]), int(iso[2] or 0), int(iso[3] or 0))
    numbers = [int(word) for word in re.findall(r"\d+", text)[:2]]
    months = [
        1 + _SHORT_MONTHS.index(word[:3]) for word in re.findall(r"[a-z]+", text) if word[:3] in _SHORT_MONTHS
    ]
    if len(months) != 1 or _SAID_OF_A_MONTH.match(text):
        # Behind a colon, words hang together by a hyphen.
        period = period_alone(text.replace("-", " "), today)
        return (period.first, period.last) if period is not None else None
    year = next((number for number in numbers if number > 31), None)
    day = next((number for number in numbers if number <= 31), 0)
    if year is not None:
        return _typed_span(year, months[0], day)
    this_year = _typed_span(today.year, months[0], day)
    return _typed_span(today.year - 1, months[0], day) if this_year and this_year[0] > today else this_year


def _typed_span(year: int, month: int, day: int) -> tuple[date, date] | None:
    try:
        first = date(year, month or 1, day or 1)
        if day:
            return first, first
        if not month:
            return first, date(year, 12, 31)
        after = date(year + month // 12, month % 12 + 1, 1)
        return first, after - timedelta(1)
    except ValueError:
        return None


def _months_before(today: date, months: int) -> date:
    """Return the same day so many months before, or the last of a month that is too short for it."""
    year, month = divmod(max(12, today.year * 12 + today.month - 1 - months), 12)
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))


def day_and_time(text: str, today: date) -> tuple[date, time | None] | None:
    """Read which moment to go back to: a day, the end of a span of days, or so long ago; and a time of that day.

    Args:
        text: Days as for `parse_days`, and after them a time such as `10:30`.

    Returns:
        The day, and the time where one is named; None where it is no moment.
    """
    timed = _TIMED.match(text)
    days = parse_days(timed[1] if timed else text, today)
    if days is None or (timed and (int(timed[2]) > 23 or int(timed[3]) > 59)):
        return None
    # “3w” is a span that ends today; going there means going to its beginning.
    day = days[0] if days[1] == today else days[1]
    return day, time(int(timed[2]), int(timed[3])) if timed else None
