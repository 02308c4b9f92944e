"""Tells whose words a question asks for, and what it asks without their names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.engine.recall.ranking.question import Question
from workbench.engine.recall.stemming import index_terms


def named_voices(question: Question, speakers: Iterable[str]) -> frozenset[str]:
    """Return the speakers whose name stands in the question."""
    asked = set(question.terms)
    terms = {speaker: set(index_terms(speaker)) for speaker in speakers}
    return frozenset(speaker for speaker, own in terms.items() if own and own <= asked)


def without_names(text: str, names: Iterable[str]) -> str:
    """Return a question without names: nearly every line of a log is by or about one of them.

    Args:
        text: The question.
        names: Of speakers; nothing else is taken for a name.
    """
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", "", text, flags=re.IGNORECASE)
    return text
