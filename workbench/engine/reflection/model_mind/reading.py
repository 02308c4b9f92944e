"""Makes proposed changes of a model's answer, item by item; what does not hold is dropped with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from workbench.engine.errors import InvalidInput
from workbench.engine.memory.wording import one_line
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.reflection.model_mind.dropping import Unusable
from workbench.engine.reflection.model_mind.knowledge_items import KNOWLEDGE_READERS
from workbench.engine.reflection.model_mind.schemas import item_schema, problem_with
from workbench.engine.reflection.model_mind.standing_items import STANDING_READERS
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model_mind.item_context import ItemContext, Reader

_READERS: Final[Mapping[Kind, Reader]] = {**KNOWLEDGE_READERS, **STANDING_READERS}


@dataclass(frozen=True)
class Read:
    """What came of an answer: items in its order, entities first, and why others were dropped, a clause each."""

    items: tuple[ReviewItem, ...]
    dropped: tuple[str, ...]


def read_items(said: Iterable[object], context: ItemContext, kinds: Sequence[Kind]) -> Read:
    """Make items of what a model said, each checked against its schema and against what was shown.

    Args:
        said: As JSON gives it.
        context: What it is read against.
        kinds: That were asked for.
    """
    items: list[ReviewItem] = []
    dropped: list[str] = []
    # What is about a new entity may stand before it.
    for each in sorted(said, key=lambda item: not _is_entity(item)):
        try:
            items.append(_one(each, context, kinds))
        except Unusable as reason:
            dropped.append(f"{_named(each)}: {reason}")
        except InvalidInput as error:
            dropped.append(f"{_named(each)}: {error.message}")
    return Read(tuple(items), tuple(dropped))


def _one(said: object, context: ItemContext, kinds: Sequence[Kind]) -> ReviewItem:
    named = said.get("kind") if isinstance(said, dict) else None
    kind = kind_of(named) if isinstance(named, str) else None
    if not isinstance(said, dict) or kind is None or kind not in kinds:
        raise Unusable("it is none of the kinds that were asked for")
    problem = problem_with(said, item_schema(kind, context.snapshot.relations))
    if problem:
        raise Unusable(problem)
    return _READERS[kind](context, said)


def _is_entity(item: object) -> bool:
    return isinstance(item, dict) and item.get("kind") == Kind.ENTITY


def _named(item: object) -> str:
    """Return what a dropped item is called in the account of an answer."""
    if not isinstance(item, dict):
        return "an item"
    kind, *said = (item.get(key) for key in ("kind", "text", "name", "new", "question", "title"))
    about = next((text for text in said if isinstance(text, str) and text.strip()), "")
    name = kind[:20] if isinstance(kind, str) else "an item"
    return one_line(f"{name} “{about[:60]}”" if about else name)
