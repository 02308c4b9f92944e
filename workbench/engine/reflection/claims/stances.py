"""Reads what is said to be so or not to be so of one thing: liked or not, allowed or not, there or not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.choice_patterns import FEELS, HOLDS
from workbench.engine.reflection.claims.clauses import Mode, begin_of
from workbench.engine.reflection.claims.denials import of_whom, telling
from workbench.engine.reflection.claims.model import Choice, Span
from workbench.engine.reflection.claims.vocabulary import CLEAR_CHANGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.clauses import Clause
    from workbench.engine.reflection.claims.model import Origin

YES: Final = frozenset(("yes",))
NO: Final = frozenset(("no",))

_WHO = r"(?:\b(?:i|we)|^(?P<he>(?-i:[A-Z])[\w-]+))"
_ADVERBS = (
    r"(?:(?:really|just|absolutely|always|also|still|now|totally|honestly|simply|actually|usually)\s+)*"
)
_LIKES = lazy_pattern(
    rf"{_WHO}\s+{_ADVERBS}(?:loves?|likes?|enjoys?|adores?)\s+(?P<what>[^.,;!?]+)"
    r"|\b(?:i['’]m|i\s+am)\s+(?:a\s+)?(?:big\s+|huge\s+)?(?:fan\s+of|fond\s+of|into)\s+(?P<what2>[^.,;!?]+)",
    re.IGNORECASE,
)
_DISLIKES = lazy_pattern(
    rf"{_WHO}\s+{_ADVERBS}(?:(?:can['’]?t|can\s*not|cannot)\s+(?:stand|bear)|hates?|dislikes?|detests?"
    r"|(?:do\s*n['’]?t|do\s+not|does\s*n['’]?t)\s+(?:really\s+|even\s+)?(?:like|enjoy))\s+(?P<what>[^.,;!?]+)"
    r"|\b(?:i['’]m|i\s+am)\s+(?:not|no)\s+(?:a\s+)?(?:big\s+|huge\s+)?(?:fan\s+of|fond\s+of|into)\s+(?P<what2>[^.,;!?]+)",
    re.IGNORECASE,
)
_CHINESE_FEELS = lazy_pattern(
    r"我(?:们|家|妈|爸)?(?:还是|一直|现在|比较|很|最|更|特别|真)*(?:(?P<no>不(?:太|怎么)?喜欢|讨厌|受不了)|喜欢)了?(?P<what>[\u3400-\u9fffA-Za-z]{1,10})"
)
_TASTE_OF = lazy_pattern(
    r"^(?:the\s+)?(?:(?:taste|smell|sound|idea|thought|look)\s+of|cooking\s+with|eating|drinking|having|using)\s+",
    re.IGNORECASE,
)
_REST = lazy_pattern(
    r"\s+(?:because|since|when|while|so|but|and|as|for|if|in\s+the|on\s+the|after|before)\b.*", re.IGNORECASE
)
_NOT = lazy_pattern(
    r"\b(?:is|are|am|was|were)\s+(?:\w+\s+)?not\s+|\b(?:is|are|was|were)n['’]?t\s+|['’](?:s|re|m)\s+not\s+"
    r"|\b(?:is|are|there['’]s)\s+no\s+",
    re.IGNORECASE,
)
_IS = lazy_pattern(r"\b(?:is|are|am)\s+|(?<=\w)['’](?:s|re|m)\s+", re.IGNORECASE)
_SUBJECT = lazy_pattern(
    r"(?:here|that|this|it|what|which|how|who|where|these|those|let|i|we|you|one|everything|nothing|something)$",
    re.IGNORECASE,
)
"""What may stand before “is” without saying of what it is so."""
_OF_ONESELF = lazy_pattern(r"(?:an?\s+(?!bit|little|lot|few|couple)|allergic\b)", re.IGNORECASE)
_AFTER_ALL = lazy_pattern(r"\bafter\s+all\b|\bat\s+last\b|\bagain\b|\bmeanwhile\b", re.IGNORECASE)
_LONGEST: Final = 160
_FEWEST: Final = 2


def stances(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    """Yield what a clause says to be liked or not, and what it says to be so or not; at most one of each.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if clause.asked:
        return
    for pattern, yes in ((_DISLIKES, NO), (_LIKES, YES)):
        found = pattern.search(clause.text)
        if found is not None and clause.mode_at(clause.start + found.start()) is Mode.STATES:
            whose = of_whom(origin, found["he"] if found["what"] else None)
            yield from _feeling(clauses, number, whose, found, yes)
            break
    chinese = _CHINESE_FEELS.search(clause.text)
    if chinese is not None:
        yield from _feeling(clauses, number, origin, chinese, NO if chinese["no"] else YES)
    if len(clause.text) <= _LONGEST:
        yield from _state(clauses, number, origin)


def _feeling(
    clauses: Sequence[Clause], number: int, origin: Origin, found: re.Match[str], yes: frozenset[str]
) -> Iterator[Choice]:
    clause = clauses[number]
    group = "what" if found["what"] else "what2"
    said = _REST.sub("", found[group])
    lead = _TASTE_OF.match(said)
    start = clause.start + found.start(group) + (lead.end() if lead else 0)
    end = clause.start + found.start(group) + len(said)
    about = telling([token for token in clause.tokens if start <= token.start and token.end <= end])
    if about:
        span = Span(begin_of(clauses, number), clause.end, clause.start + found.start())
        yield Choice(origin, FEELS, yes, frozenset(), about, _change(clause), span)


def _state(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    clause = clauses[number]
    denied = _NOT.search(clause.text)
    found = denied or _IS.search(clause.text)
    if found is None or clause.mode_at(clause.start + found.start()) is not Mode.STATES:
        return
    place = clause.start + found.start()
    before = [token for token in clause.tokens if token.start < place]
    behind = telling([token for token in clause.tokens if token.start >= clause.start + found.end()])
    about = telling(clause.tokens)
    if not before or (
        _SUBJECT.match(before[-1].word.partition("'")[0])
        and not (before[-1].word[:1] == "i" and _OF_ONESELF.match(clause.text, found.end()))
    ):
        return
    if behind and len(about) >= _FEWEST:
        span = Span(begin_of(clauses, number), clause.end, clause.start + found.start())
        yield Choice(origin, HOLDS, NO if denied else YES, frozenset(), about, _change(clause), span)


def _change(clause: Clause) -> int:
    return 2 if CLEAR_CHANGE.search(clause.text) or _AFTER_ALL.search(clause.text) else 0
