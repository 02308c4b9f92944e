"""Consolidation by a model: new passages window by window, oldest first, as far as the budget reaches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Agenda
from workbench.engine.reflection.model_mind import material, near_material
from workbench.engine.reflection.model_mind.asking import NO_BUDGET, NoAnswer
from workbench.engine.reflection.model_mind.budget import LEAST_ANSWER, PLENTY, allowance
from workbench.engine.reflection.model_mind.schemas import items_schema, record
from workbench.engine.reflection.model_mind.windows import Window, cut_windows

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Guidance, Snapshot
    from workbench.engine.reflection.model_mind.inquiry import Inquiry

_KNOWLEDGE: Final = (
    Kind.ENTITY,
    Kind.FACT,
    Kind.RELATION,
    Kind.MERGE,
    Kind.SUPERSESSION,
    Kind.CONTRADICTION,
    Kind.PROCEDURE,
    Kind.QUESTION,
)
# Windows in a row without an answer that can be used, after which rules read the rest.
_MOST_FAILURES: Final = 3
_UPKEEP: Final = (Kind.ARCHIVE, Kind.RESTORE, Kind.VAULT_PIN)

ByRules = Callable[["Snapshot", Agenda], tuple["ReviewItem", ...]]


def consolidate(
    inquiry: Inquiry, agenda: Agenda, guidance: Guidance, by_rules: ByRules
) -> tuple[ReviewItem, ...]:
    """Return what the model proposes for each window, and what rules propose where it did not answer.

    Where the budget is used up, what was not read is left to the next cycle (`Work.unread`); where the model is gone or
    keeps failing, rules read all the rest.

    Args:
        inquiry: Of the cycle.
        agenda: What matters most.
        guidance: Of meta-reflection.
        by_rules: Consolidates a part of the snapshot without the model.
    """
    snapshot, work = inquiry.snapshot, inquiry.work
    passages = snapshot.passages
    items: list[ReviewItem] = []
    windows = cut_windows(passages, 0, inquiry.sizes.passages, inquiry.sizes.frame)
    ahead: deque[Window] = deque()
    done = failed = 0
    work.step(done, len(passages))
    while done < len(passages) or done == 0:
        left = allowance(work, work.phase)
        if left < LEAST_ANSWER:
            if done:
                work.unread = done
            else:
                # A reflection that reads nothing would never come to an end of what is new.
                work.fell_back(NO_BUDGET)
                items += by_rules(snapshot, agenda)
            break
        wanted = max(1, left // PLENTY)
        ahead.extend(islice(windows, max(0, wanted - len(ahead))))
        window = ahead.popleft() if ahead else Window(0, 0)
        most = left // min(wanted, len(ahead) + 1)
        try:
            items += _read_window(inquiry, agenda, guidance, window, most)
            failed = 0
        except NoAnswer as reason:
            work.fell_back(str(reason))
            failed += 1
            if inquiry.questions.gave_up or failed == _MOST_FAILURES:
                window = Window(window.start, len(passages))
            items += by_rules(*narrowed(snapshot, agenda, window))
        done = window.end
        work.step(done, len(passages))
        if window.end == window.start:
            break
    return tuple(items)


def narrowed(snapshot: Snapshot, agenda: Agenda, window: Window) -> tuple[Snapshot, Agenda]:
    """Return a snapshot of which only a window of passages is new, with the areas that lie in it."""
    if (window.start, window.end) == (0, len(snapshot.passages)):
        return snapshot, agenda
    areas = (
        replace(
            area,
            passages=tuple(at - window.start for at in area.passages if window.start <= at < window.end),
        )
        for area in agenda.areas
    )
    part = replace(snapshot, passages=snapshot.passages[window.start : window.end])
    return part, Agenda(tuple(area for area in areas if area.passages))


def _read_window(
    inquiry: Inquiry, agenda: Agenda, guidance: Guidance, window: Window, most: int
) -> tuple[ReviewItem, ...]:
    snapshot, sizes, shown = inquiry.snapshot, inquiry.sizes, inquiry.shown()
    passages = snapshot.passages[window.start : window.end]
    new = material.window_rows(snapshot, window, shown, sizes.passages)
    kinds: tuple[Kind, ...] = _KNOWLEDGE
    data: dict[str, Any] = {
        **material.about(snapshot),
        "focus": [f"{area.subject}: {area.reason}" for area in material.areas_of(agenda, window)],
        "themes": list(guidance.themes),
        "core": material.core_rows(snapshot, shown, sizes.core),
        **near_material.near_rows(snapshot, passages, shown, int(sizes.near * 0.7), inquiry.work),
        "earlier": near_material.earlier_rows(snapshot, agenda, window, shown, int(sizes.near * 0.3)),
        "proposed": [{"id": key, "label": label} for key, label in inquiry.targets.proposed.items()],
        "passages": new,
    }
    if window.start == 0 and (memories := material.memory_rows(snapshot, shown, sizes.core)):
        data["memories"] = memories
        kinds = (*_KNOWLEDGE, *_UPKEEP)
    if not passages and "memories" not in data:
        return ()
    schema = record(items=items_schema(kinds, snapshot.relations))
    answer = inquiry.questions.ask("consolidate", data, schema, most=min(most, sizes.answer))
    return inquiry.read_items(answer, shown, kinds)
