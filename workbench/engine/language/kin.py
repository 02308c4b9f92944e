"""Whom people call theirs: family, friends and those they work with, in English; see `kin.toml`.

Chinese kin is in `chinese`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from workbench.engine.language.calendar import any_of

_LEXICON: Final = tomllib.loads(Path(__file__).with_name("kin.toml").read_text(encoding="utf-8"))["en"]


def _group(*names: str) -> tuple[str, ...]:
    return tuple(word for name in names for word in _LEXICON[name])


FAMILY: Final = _group("partners", "children", "parents", "siblings", "wider")
"""Relatives and partners."""

OTHERS: Final = _group("friends", "work")
"""Who else is somebody’s: friends, neighbours, those one works with."""

YOUNG: Final = _group("young")
"""Children without saying whose."""

HIRED: Final = _group("hired")
"""Those of whom a name may follow that is a firm’s."""


def with_plurals(kin: tuple[str, ...]) -> tuple[str, ...]:
    """Return words for people, each followed by its plural."""
    return tuple(each for word in kin for each in (word, _LEXICON["irregular"].get(word, f"{word}s")))


ANYBODY: Final = with_plurals((*FAMILY, *OTHERS, *YOUNG, *HIRED))
"""Everybody of these, one or several."""

ONES_OWN: Final = any_of((*FAMILY, *OTHERS))
"""A regular expression for one whom people call theirs, by whose name no firm is meant."""
