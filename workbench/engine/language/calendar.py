"""Names of months, days of the week, seasons and small numbers, in English and Chinese; see `calendar.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_LEXICON: Final = tomllib.loads(Path(__file__).with_name("calendar.toml").read_text(encoding="utf-8"))


def any_of(names: Iterable[str]) -> str:
    """Return a regular expression for any of some names, longest first."""
    return "|".join(sorted(map(re.escape, names), key=lambda name: (-len(name), name)))


def _numbered(kind: str, *languages: str) -> dict[str, int]:
    return {
        name.casefold(): number
        for language in languages
        for number, names in enumerate(_LEXICON[language][kind], 1)
        for name in names
    }


MONTH_NAMES: Final = tuple(names[0] for names in _LEXICON["en"]["months"])
"""January to December."""

MONTHS: Final = _numbered("months", "en", "zh")
"""Number of each month by its names, folded, short ones included."""

WEEKDAYS: Final = _numbered("weekdays", "en", "zh")
"""Number of each day of the week by its names, folded; Monday is 1."""

SEASONS: Final[dict[str, int]] = {**_LEXICON["en"]["seasons"], **_LEXICON["zh"]["seasons"]}
"""First month of each season on the northern half of the earth."""

COUNTS: Final[dict[str, int]] = {**_LEXICON["en"]["counts"], **_LEXICON["zh"]["counts"]}
"""Small numbers by their words; what is vague (“few”, 几) counts as three."""

ENGLISH_MONTH: Final = any_of(name for name in MONTHS if name.isascii())
"""A month’s name or its short form."""

ENGLISH_MONTH_IN_FULL: Final = any_of(name.casefold() for name in MONTH_NAMES)
ENGLISH_WEEKDAY: Final = any_of(name for name in WEEKDAYS if name.isascii())
CHINESE_WEEKDAY: Final = any_of(name for name in WEEKDAYS if not name.isascii())
