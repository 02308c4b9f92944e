"""Procedures, `memory/procedures/*.md`: when a learned workflow applies, and its steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from workbench.engine.markdown.markup import (
    append_item,
    insert_section,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    protect_body,
    unprotect_body,
)
from workbench.engine.markdown.outline import read_outline
from workbench.engine.markdown.source import SourceText, is_blank
from workbench.engine.markdown.statements import header_scope, read_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.markdown.outline import Heading, Outline
    from workbench.engine.markdown.source import Problem

SECTIONS: Final = ("Trigger", "Steps", "Notes", "Learned From")
_NAMES: Final = {
    "trigger": "Trigger",
    "when": "Trigger",
    "steps": "Steps",
    "notes": "Notes",
    "learned from": "Learned From",
    "触发": "Trigger",
    "步骤": "Steps",
    "备注": "Notes",
    "来源": "Learned From",
}


@dataclass(frozen=True)
class Procedure:
    """One procedure. Edits return a new one.

    Args:
        id: `procedure:<file name without .md>`.
        header: The fields of the header comments, keys in lower case.
        steps: In order, without numbers.
    """

    path: str
    id: str
    title: str
    source: SourceText
    header: tuple[tuple[str, str], ...]
    trigger: str
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    learned_from: tuple[str, ...]
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> Procedure:
        """Parse the file. Any bytes are accepted."""
        return cls._of(SourceText.from_bytes(content), path)

    @classmethod
    def _of(cls, source: SourceText, path: str) -> Procedure:
        outline = read_outline(source)
        name = PurePosixPath(path).name.removesuffix(".md")
        title = next((head.text for head in outline.headings if head.level == 1), name)
        trigger = _section(outline, "Trigger")
        return cls(
            path,
            f"procedure:{name}",
            title,
            source,
            tuple(read_header(outline)),
            unprotect_body(source.lines_of(trigger.section)[1:]) if trigger else "",
            _listed(outline, "Steps"),
            _listed(outline, "Notes"),
            _listed(outline, "Learned From"),
            tuple(h.text for h in outline.headings if h.level == 2 and _name(h.text) is None),
        )

    @classmethod
    def create(
        cls,
        path: str,
        *,
        title: str,
        learned: str,
        trigger: str = "",
        steps: Iterable[str] = (),
        notes: Iterable[str] = (),
        learned_from: Iterable[str] = (),
        scope: str | None = None,
    ) -> Procedure:
        """Return a new procedure; `learned` is its ISO date, `learned_from` ids of memories, `scope` its audience."""
        marked = f" | For: {scope}" if scope else ""
        lines = [f"# {one_line(title)}", "", f"<!-- Type: procedure | Learned: {learned}{marked} -->"]
        made = cls._of(SourceText().append(lines), path)
        if trigger.strip():
            made = made.set_trigger(trigger)
        listed = list(steps)
        if listed:
            made = made.set_steps(listed)
        for note in notes:
            made = made.add_note(note)
        for origin in learned_from:
            made = made.add_learned_from(origin)
        return made

    @property
    def scope(self) -> str | None:
        """Its audience; None for the owner's own."""
        return header_scope(self.header)

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def set_trigger(self, text: str) -> Procedure:
        """Replace the trigger."""
        return self._set("Trigger", protect_body(text))

    def set_steps(self, steps: Iterable[str]) -> Procedure:
        """Replace the steps."""
        lines = [line for at, step in enumerate(steps, 1) for line in item_lines(step, f"{at}. ")]
        return self._set("Steps", lines)

    def add_step(self, text: str) -> Procedure:
        """Add a last step."""
        return self._add("Steps", item_lines(text, f"{len(self.steps) + 1}. "))

    def add_note(self, text: str) -> Procedure:
        """Add a note."""
        return self._add("Notes", item_lines(text))

    def add_learned_from(self, source: str) -> Procedure:
        """Add a source, unless it is listed."""
        return self if source in self.learned_from else self._add("Learned From", item_lines(source))

    def _set(self, name: str, lines: Sequence[str]) -> Procedure:
        outline = read_outline(self.source)
        heading = _section(outline, name)
        if heading is None:
            return self._make(outline, name, lines)
        body = self.source.trimmed(type(heading.section)(heading.span.end + 1, heading.section.end))
        if body:
            return self._of(self.source.replace(body, lines), self.path)
        after = heading.span.end
        follows = after < len(self.source.lines) and not is_blank(self.source.line(after + 1))
        return self._of(self.source.insert_after(after, [*lines, *([""] if follows else [])]), self.path)

    def _add(self, name: str, lines: Sequence[str]) -> Procedure:
        outline = read_outline(self.source)
        heading = _section(outline, name)
        if heading is None:
            return self._make(outline, name, lines)
        items = outermost_items(outline, heading.section)
        return self._of(append_item(self.source, heading, items, lines), self.path)

    def _make(self, outline: Outline, name: str, lines: Sequence[str]) -> Procedure:
        later = SECTIONS[SECTIONS.index(name) + 1 :]
        source = insert_section(self.source, outline.headings, name, lines, lambda text: _name(text) in later)
        return self._of(source, self.path)


def _name(heading: str) -> str | None:
    return _NAMES.get(heading.strip().casefold())


def _section(outline: Outline, name: str) -> Heading | None:
    return next((head for head in outline.headings if head.level > 1 and _name(head.text) == name), None)


def _listed(outline: Outline, name: str) -> tuple[str, ...]:
    heading = _section(outline, name)
    if heading is None:
        return ()
    return tuple(item_text(item.text) for item in outermost_items(outline, heading.section))
