"""What a file’s content holds as memories that can differ by themselves: text by id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.catalog.extract import extract, title_of
from workbench.engine.documents.entity import EntityFile
from workbench.engine.past.files import is_entity
from workbench.engine.past.heads import plain_head

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from workbench.engine.documents.source import LineSpan


@dataclass(frozen=True, slots=True)
class Unit:
    """One memory in a version of a file.

    Args:
        text: Shown where it differs.
        compared: What has to be equal for it to count as the same.
        line: The first of its lines, 1-based.
    """

    id: str
    store: str
    title: str
    text: str
    compared: str
    line: int


def units_of(path: str, content: bytes, zone: ZoneInfo) -> dict[str, Unit]:
    """Return the memories of a file by id, in its order.

    An entity’s facts and relations with a block id are memories of their own beside it, and the entity counts as
    the same where only they differ. Flat logs, other free text and files of the engine are one memory each.
    """
    if is_entity(path):
        return dict(_entity(path, content))
    if layout.store_of(path) == "file" or not path.endswith(".md"):
        text = content.decode("utf-8", "replace")
        return {f"file:{path}": Unit(f"file:{path}", "file", path.rsplit("/", 1)[-1], text, text, 1)}
    return {
        record.id: Unit(
            record.id, record.store, record.title, record.text, _compared(record.text), record.start_line
        )
        for record in extract(path, content, zone).memories
    }


def whole_entity(path: str, content: bytes) -> Unit:
    """Return an entity without its parts; quicker than `units_of`."""
    name = path.rsplit("/", 1)[1].removesuffix(".md")
    head = plain_head(content, name)
    if head is None:
        return next(unit for _, unit in _entity(path, content))
    text = content.decode("utf-8", "surrogateescape")
    return Unit(f"entity:{name}", "semantic", head.label, text, text, 1)


def _entity(path: str, content: bytes) -> Iterator[tuple[str, Unit]]:
    file = EntityFile.parse(content, path)
    entity = f"entity:{file.id}"
    parts: list[tuple[str | None, LineSpan, str]] = [
        (fact.block_id, fact.span, fact.text) for fact in (*file.facts, *file.retired)
    ]
    parts += [
        (each.block_id, each.span, f"{each.name}: {', '.join(each.targets)}") for each in file.relations
    ]
    named = sorted((part for part in parts if part[0]), key=lambda part: part[1].start)
    own = {line for _, span, _ in named for line in range(span.start, span.end + 1)}
    # A section comes and goes with what stands in it.
    rest = "\n".join(
        line
        for number, line in enumerate(file.source.lines, start=1)
        if number not in own and line.strip() and not line.startswith("## ")
    )
    yield entity, Unit(entity, "semantic", file.label, file.source.text, _compared(rest), 1)
    for block, span, title in named:
        text = file.source.text_of(span)
        id_ = f"{entity}#^{block}"
        yield id_, Unit(id_, "semantic", title_of(title), text, _compared(text), span.start)


def _compared(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())
