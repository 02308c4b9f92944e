"""Finds the days and times of day that a text gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.engine.language.calendar import (
    CHINESE_WEEKDAY,
    ENGLISH_MONTH,
    ENGLISH_WEEKDAY,
    MONTHS,
    WEEKDAYS,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

_DATE = lazy_pattern(
    rf"""
        \b(?P<month>{ENGLISH_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}}))?(?!\s*[-–]\s*\d)
      | (?<![\d-])(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{ENGLISH_MONTH})\b
            (?:,?\s+(?P<year2>\d{{4}}))?
      | (?<![\w-])(?P<iso>\d{{4}}-\d\d-\d\d)(?![\w-])
      | (?:(?P<year3>\d{{4}})年)?(?P<month3>\d{{1,2}})月(?P<day3>\d{{1,2}})[日号號]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLOCK = lazy_pattern(
    r"(?<![\w:.-])(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>[ap]\.?m\b\.?)"
    r"|(?<![\w:.-])(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)(?![:\w])",
    re.IGNORECASE,
)
_CHINESE_CLOCK = lazy_pattern(
    r"(?P<part>上午|早上|中午|下午|晚上)?(?P<hour>\d{1,2})点(?P<half>半)?(?![\d秒])"
)
_WEEKDAY = lazy_pattern(
    rf"\b(?P<weekday>{ENGLISH_WEEKDAY})s?\b|(?P<chinese>{CHINESE_WEEKDAY})", re.IGNORECASE
)


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
