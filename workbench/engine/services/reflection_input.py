"""What a cycle of reflection looks at: a snapshot of memory with what is new, and what an agent answered of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.file_access import read_state, write_state
from workbench.engine.markdown.pages import Procedure
from workbench.engine.memory.core import view_core
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.reflection.files import (
    read_evolution,
    read_log,
)
from workbench.engine.reflection.handing_out import Answers
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Passage, Snapshot
from workbench.engine.reflection.passages import holds_passages, passages_of
from workbench.engine.reflection.review.record import read_verdicts
from workbench.engine.services.reflection_leftovers import handed_out
from workbench.engine.services.routing import own_relations, owner_of
from workbench.engine.services.unread import Unread
from workbench.engine.triggers.model_routing import RELATIONS

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.reflection_records import ReflectionLog
    from workbench.engine.results.decay import DecayEntry, DecayView
    from workbench.engine.results.recall import Hit
    from workbench.engine.services.context import WorkspaceContext


_MOST_SCORED = 400


def take_snapshot(
    context: WorkspaceContext,
    view: FileView,
    unread: Unread,
    search: Callable[[str, int], Sequence[Hit]],
    number: int,
) -> Snapshot:
    """Return everything that a cycle may look at.

    Args:
        view: The files as of the commit.
        unread: What is to be read.
        search: Finds memories near a text.
        number: Of the reflection.
    """
    log = read_log(view)
    scores = context.scores()
    standing = scores.view(forecast=(), lambda_=None)
    graph = context.visible(scores)
    by_id = {passage.id: passage for passage in unread.passages}
    owner = owner_of(context)
    return Snapshot(
        now=context.now(),
        owner="" if owner == "User" else owner,
        passages=unread.passages,
        earlier=_earlier(context, view, unread, search),
        graph=graph,
        core=view_core(view, context.settings),
        procedures=tuple(_procedures(view)),
        fading=_fading(standing),
        often=_often(standing),
        archived=_archived(standing, log),
        titles=_titles(context),
        text_of=lambda memory_id: (
            by_id[memory_id].text if memory_id in by_id else _text_of(context, view, memory_id)
        ),
        records=log.records,
        insights=read_evolution(view).insights,
        relations=(*RELATIONS, *own_relations(context)),
        number=number,
    )


def _procedures(view: FileView) -> Iterator[Procedure]:
    for path in view.list(layout.PROCEDURES):
        if path.endswith(".md"):
            yield Procedure.parse(view.read(path) or b"", path)


def _fading(standing: DecayView) -> tuple[DecayEntry, ...]:
    # What somebody archived has score 0.
    low = [entry for entry in standing.entries if entry.status in ("dormant", "archived") and entry.score > 0]
    return tuple(sorted(low, key=lambda entry: (entry.score, entry.id))[:_MOST_SCORED])


def _often(standing: DecayView) -> tuple[DecayEntry, ...]:
    used = [entry for entry in standing.entries if entry.access_count > 1 and entry.status != "archived"]
    return tuple(sorted(used, key=lambda entry: (-entry.access_count, -entry.score, entry.id))[:_MOST_SCORED])


def _archived(standing: DecayView, log: ReflectionLog) -> tuple[DecayEntry, ...]:
    """Return what reflections archived; what a person forgot by name is never offered again."""
    verdicts = (verdict for record in log.records for verdict in read_verdicts(record.body))
    ids = {each.target for each in verdicts if each.kind is Kind.ARCHIVE and each.decision == "approved"}
    away = [entry for entry in standing.entries if entry.id in ids and entry.status == "archived"]
    return tuple(sorted(away, key=lambda entry: entry.last_accessed, reverse=True)[:_MOST_SCORED])


def _titles(context: WorkspaceContext) -> Callable[[str], str]:
    def title(memory_id: str) -> str:
        record = context.lookups.memory(memory_id)
        return record.title if record else memory_id

    return title


def _text_of(context: WorkspaceContext, view: FileView, memory_id: str) -> str | None:
    try:
        return locate_memory(view, memory_id, context.zone).text
    except (NotFound, InvalidInput):
        return None


def _earlier(
    context: WorkspaceContext, view: FileView, unread: Unread, search: Callable[[str, int], Sequence[Hit]]
) -> Callable[[str, int], Sequence[Passage]]:
    if not unread.mark.base and not unread.mark.head:
        return lambda _text, _limit: ()
    new = {passage.id for passage in unread.passages}

    @lru_cache(maxsize=64)
    def passages(path: str) -> list[Passage]:
        return passages_of(path, view.read(path) or b"", context.zone) if holds_passages(path) else []

    def find(text: str, limit: int) -> list[Passage]:
        found: dict[str, Passage] = {}
        for hit in search(text, limit):
            for passage in passages(hit.path):
                if (
                    passage.id not in new
                    and passage.start_line <= hit.end_line
                    and passage.end_line >= hit.start_line
                ):
                    found.setdefault(passage.id, passage)
        return list(found.values())[:limit]

    return find


def read_answers(context: WorkspaceContext) -> Answers:
    """Return what an agent answered of a reflection that it has not finished."""
    return Answers.parse(read_state(handed_out(context)))


def keep_answers(context: WorkspaceContext, answers: Answers) -> None:
    """Keep what an agent answered; what cannot be kept is asked again."""
    write_state(handed_out(context), answers.render())


def forget_answers(context: WorkspaceContext) -> None:
    """Delete what an agent answered: the reflection that it belongs to is written."""
    with contextlib.suppress(OSError):
        handed_out(context).unlink(missing_ok=True)
