"""What each phase lays before a model: bounded parts of the snapshot as rows of data, each with its handle.

New passages are cut, oldest first, into windows that fit one question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from workbench.engine import layout
from workbench.engine.reflection.model_mind.showing import Shown, Source, clipped, passage_row
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Area, Passage, Snapshot
    from workbench.engine.reflection.model_mind.showing import What
    from workbench.engine.results.decay import DecayEntry

Row = dict[str, Any]

_MOST_FOCUS: Final = 8
_MOST_RECORDS: Final = 30
_MOST_EXAMPLES: Final = 2
EXCERPT_TOKENS: Final = 70


def about(snapshot: Snapshot) -> Row:
    """Return what every phase has to know: the day, the person, and which reflection this is."""
    return {
        "today": f"{snapshot.now:%Y-%m-%d}",
        "owner": snapshot.owner,
        "reflection": snapshot.number,
    }


def window_rows(snapshot: Snapshot, window: Window, shown: Shown, tokens: int) -> list[Row]:
    """Return the new passages of a window; none is left out."""
    return [
        passage_row(_passage_ref(snapshot.passages[at], at, shown), snapshot.passages[at], tokens)
        for at in range(window.start, window.end)
    ]


def areas_of(agenda: Agenda, window: Window) -> list[Area]:
    """Return the weightiest areas with a passage in a window."""
    inside = range(window.start, window.end)
    found = (area for area in agenda.areas if any(at in inside for at in area.passages))
    return list(islice(found, _MOST_FOCUS))


def memory_rows(snapshot: Snapshot, shown: Shown, tokens: int) -> list[Row]:
    """Return memories that fade, that are archived and that are often used, with their scores."""
    kinds: tuple[tuple[What, str, Sequence[DecayEntry]], ...] = (
        ("memory", "fading", snapshot.fading),
        ("archived", "archived", snapshot.archived),
        ("often", "often used", snapshot.often),
    )
    rows: list[Row] = []
    for what, state, entries in kinds:
        rows += shown.fitting(_entry_rows(snapshot, shown, what, state, entries), tokens // len(kinds))
    return rows


def often_rows(snapshot: Snapshot, shown: Shown, tokens: int) -> list[Row]:
    """Return the memories that are used most."""
    return shown.fitting(_entry_rows(snapshot, shown, "often", "often used", snapshot.often), tokens)


def core_rows(snapshot: Snapshot, shown: Shown, tokens: int) -> list[Row]:
    """Return core memory item by item."""
    return shown.fitting(
        (
            {
                "ref": shown.give("C", Source(item.id, item.text, "core", item)),
                "block": block.name,
                "text": item.text,
                **({"protected": True} if item.pinned else {}),
            }
            for block in snapshot.core.blocks
            for item in block.items
        ),
        tokens,
    )


def core_room(snapshot: Snapshot) -> Row:
    """Return how full core memory is, in tokens."""
    return {
        "tokens": snapshot.core.tokens,
        "cap": snapshot.core.cap,
        "blocks": [
            {"name": block.name, "tokens": block.tokens, "budget": block.budget}
            for block in snapshot.core.blocks
        ],
    }


def area_rows(snapshot: Snapshot, agenda: Agenda, shown: Shown, tokens: int) -> list[Row]:
    """Return the areas of an agenda, each with the beginning of some of its newest passages."""
    rows = (
        {
            "area": number,
            "subject": area.subject,
            "why": area.reason,
            "passages": len(area.passages),
            "examples": [
                passage_row(_passage_ref(passage, at, shown), passage, EXCERPT_TOKENS)
                for at, passage in _newest(snapshot, area.passages)
            ],
        }
        for number, area in enumerate(agenda.areas, 1)
    )
    return shown.fitting(rows, tokens)


def past_rows(snapshot: Snapshot, shown: Shown, tokens: int) -> dict[str, list[Row]]:
    """Return the books of reflection: the newest records, and every insight that there is room for."""
    records = (
        {
            "ref": shown.give(
                "R",
                Source(
                    f"file:{layout.REFLECTION_LOG}#L{record.span.start}-L{record.span.end}",
                    record.body,
                    "past",
                ),
            ),
            "id": record.id,
            "time": record.time,
            "outcome": record.outcome,
            "text": clipped(record.body, max(EXCERPT_TOKENS, tokens // 12)),
        }
        for record in islice(reversed(snapshot.records), _MOST_RECORDS)
        if record.span is not None
    )
    insights = (
        {
            "ref": shown.give(
                "I",
                Source(
                    f"file:{layout.EVOLUTION}#L{insight.span.start}-L{insight.span.end}", insight.text, "past"
                ),
            ),
            "section": insight.section,
            "text": clipped(insight.text, EXCERPT_TOKENS * 2),
        }
        for insight in reversed(snapshot.insights)
    )
    return {
        "reflections": shown.fitting(records, tokens * 2 // 3),
        "evolution": shown.fitting(insights, tokens // 3),
    }


def proposed_rows(snapshot: Snapshot, items: Iterable[ReviewItem], shown: Shown, tokens: int) -> list[Row]:
    """Return what is proposed so far, with its evidence to cite again."""
    places = {passage.id: (at, passage) for at, passage in enumerate(snapshot.passages)}

    def evidence(item: ReviewItem) -> Iterator[Row]:
        for proof in item.evidence[:_MOST_EXAMPLES]:
            if proof.id in places:
                at, passage = places[proof.id]
                yield {"ref": _passage_ref(passage, at, shown), "quote": proof.quote}
            elif (text := snapshot.text_of(proof.id)) is not None:
                yield {"ref": shown.give("M", Source(proof.id, text, "memory")), "quote": proof.quote}

    return shown.fitting(
        (
            {
                **({"id": item.id} if item.id else {}),
                "kind": item.kind,
                "about": item.target,
                **({"before": item.before} if item.before else {}),
                "text": item.text,
                "evidence": list(evidence(item)),
            }
            for item in items
        ),
        tokens,
    )


def _passage_ref(passage: Passage, at: int, shown: Shown) -> str:
    return shown.give("P", Source(passage.id, passage.text, "passage", passage), at + 1)


def _newest(snapshot: Snapshot, places: Sequence[int]) -> list[tuple[int, Passage]]:
    return [(at, snapshot.passages[at]) for at in places[-_MOST_EXAMPLES:]]


def _entry_rows(
    snapshot: Snapshot, shown: Shown, what: What, state: str, entries: Iterable[DecayEntry]
) -> Iterator[Row]:
    for entry in entries:
        text = snapshot.text_of(entry.id)
        if text is None or not text.strip():
            continue
        yield {
            "ref": shown.give("M", Source(entry.id, text, what, entry)),
            "state": state,
            "score": round(entry.score, 3),
            "last used": f"{entry.last_accessed:%Y-%m-%d}",
            "text": clipped(text, EXCERPT_TOKENS),
            **({"protected": True} if entry.pinned else {}),
        }


@dataclass(frozen=True, slots=True)
class Window:
    """A run of passages by their indices, the end not included."""

    start: int
    end: int


def cut_windows(passages: Sequence[Passage], tokens: int, frame: int) -> Iterator[Window]:
    """Yield the windows of passages; one that is too long alone has a window of its own, and is cut there.

    Args:
        passages: Oldest first.
        tokens: Most tokens of a window.
        frame: Tokens that stand around a passage.
    """
    begin, held = 0, 0
    for at, passage in enumerate(passages):
        cost = count_tokens(passage.text) + frame
        if at > begin and held + cost > tokens:
            yield Window(begin, at)
            begin, held = at, 0
        held += cost
    if begin < len(passages):
        yield Window(begin, len(passages))
