"""What the books of reflection say: records and insights as passages of the past, with what was decided on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.quoting import cite
from workbench.engine.reflection.verdicts import Verdict, read_verdicts, without_verdicts
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.markdown.reflection_records import Insight, ReflectionRecord
    from workbench.engine.markdown.review import Evidence
    from workbench.engine.markdown.source import LineSpan
    from workbench.engine.reflection.model import Snapshot

_SHARE: Final = lazy_pattern(r"(\d+)\s*/\s*(\d+)")


@dataclass(frozen=True)
class PastReflection:
    """One record of the log.

    Args:
        record: As it stands.
        prose: Its body without the list of verdicts.
        verdicts: That list; empty in records that have none.
    """

    record: ReflectionRecord
    prose: str
    verdicts: tuple[Verdict, ...]

    @property
    def day(self) -> str:
        """Return its date as written."""
        return self.record.time[:10]

    @property
    def decided(self) -> tuple[int, int]:
        """Return how many items were approved and how many were decided, by the list or else by the field `items`."""
        if self.verdicts:
            decisions = Counter(verdict.decision for verdict in self.verdicts)
            return decisions["approved"], decisions["approved"] + decisions["rejected"]
        share = _SHARE.search(dict(self.record.fields).get("items", ""))
        return (int(share[1]), int(share[2])) if share else (0, 0)

    @property
    def said(self) -> str:
        """Return its words: the prose, and the texts of what was approved."""
        kept = (verdict.text for verdict in self.verdicts if verdict.decision == "approved")
        return "\n".join((self.prose, *kept))


def read_past(records: Iterable[ReflectionRecord]) -> tuple[PastReflection, ...]:
    """Return the records with the verdicts in their bodies taken apart, oldest first."""
    return tuple(
        PastReflection(record, without_verdicts(record.body), read_verdicts(record.body))
        for record in records
    )


def accepted(past: Iterable[PastReflection]) -> tuple[int, int]:
    """Return how many proposed changes were approved, and how many were decided."""
    shares = [reflection.decided for reflection in past]
    return sum(approved for approved, _ in shares), sum(decided for _, decided in shares)


def turned_down(past: Iterable[PastReflection]) -> tuple[tuple[Kind, int, int], ...]:
    """Return the kinds that were rejected twice or more and not approved more often, with rejected and decided."""
    rejected: Counter[Kind] = Counter()
    decided: Counter[Kind] = Counter()
    for verdict in (verdict for reflection in past for verdict in reflection.verdicts):
        if verdict.kind is not None and verdict.decision in ("approved", "rejected"):
            decided[verdict.kind] += 1
            rejected[verdict.kind] += verdict.decision == "rejected"
    return tuple(
        (kind, rejected[kind], number)
        for kind, number in decided.most_common()
        if rejected[kind] >= 2 and rejected[kind] * 2 >= number
    )


def cite_record(snapshot: Snapshot, reflection: PastReflection, word: str = "") -> Evidence | None:
    """Return evidence from the log: the sentence of a record with a word in it, else its first."""
    span = reflection.record.span
    if span is None:
        return None
    texts = [*(verdict.text for verdict in reflection.verdicts), *_sentences(reflection.prose)]
    telling = [text for text in texts if word and word.casefold() in text.casefold()]
    return cite(snapshot, _lines(layout.REFLECTION_LOG, span), *telling, *texts, reflection.record.id)


def cite_insight(snapshot: Snapshot, insight: Insight) -> Evidence | None:
    """Return evidence from `evolution.md`."""
    return cite(snapshot, _lines(layout.EVOLUTION, insight.span), *_sentences(insight.text), insight.text)


def _sentences(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text, questions=True)]


def _lines(path: str, span: LineSpan) -> str:
    return f"file:{path}#L{span.start}-L{span.end}"
