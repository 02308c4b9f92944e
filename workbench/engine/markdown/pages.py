"""Memories that are a file each: procedures, `memory/procedures/*.md`, and vault notes, `memory/vault/**.md`.

A procedure says when a learned workflow applies, and its steps; a vault note is any Markdown, protected from decay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from workbench.engine.markdown.markup import (
    append_item,
    insert_section,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    protect_body,
    set_section,
    unprotect_body,
)
from workbench.engine.markdown.outline import Heading, Outline, find_front_matter, read_headings, read_outline
from workbench.engine.markdown.source import LineSpan, SourceText, text_lines
from workbench.engine.markdown.statements import header_scope, read_header
from workbench.engine.roles import written_scope
from workbench.engine.values import dataclass

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
        body = LineSpan(heading.span.end + 1, heading.section.end)
        return self._of(set_section(self.source, body, lines), self.path)

    def _add(self, name: str, lines: Sequence[str]) -> Procedure:
        outline = read_outline(self.source)
        heading = _section(outline, name)
        if heading is None:
            return self._make(outline, name, lines)
        return self._of(append_item(self.source, outline, heading, lines), self.path)

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


@dataclass(frozen=True)
class VaultNote:
    """One note.

    Args:
        id: `vault:<path below memory/vault>`.
        title: Its first heading, else the file's name.
        body: Its text without front matter and title, lines joined by `\\n`, without outer blank lines.
    """

    path: str
    id: str
    title: str
    body: str
    front_matter: LineSpan | None
    source: SourceText

    @classmethod
    def parse(cls, content: bytes, path: str) -> VaultNote:
        """Parse the file. Any bytes are accepted."""
        source = SourceText.from_bytes(content)
        matter = find_front_matter(source)
        name = PurePosixPath(path)
        title = next((head.text for head in read_headings(source) if head.text), "")
        parts = name.parts[2:] if name.parts[:2] == ("memory", "vault") else name.parts
        return cls(
            path,
            "vault:" + "/".join(parts),
            title or name.name.removesuffix(".md"),
            source.text_of(_body_span(source, matter)),
            matter,
            source,
        )

    @classmethod
    def create(cls, path: str, *, title: str, body: str, scope: str | None = None) -> VaultNote:
        """Return a new note; `scope` is its audience, None for the owner alone."""
        matter = ["---", f"for: {scope}", "---", ""] if scope else []
        source = SourceText().append([*matter, f"# {one_line(title) or 'Untitled'}", "", *text_lines(body)])
        return cls.parse(source.render(), path)

    @property
    def scope(self) -> str | None:
        """The audience in the front matter; None, the owner alone, if it has none or several."""
        if self.front_matter is None:
            return None
        pairs = (line.partition(":") for line in self.source.lines_of(self.front_matter)[1:-1])
        named = [value.strip().strip("\"'") for key, _, value in pairs if key.strip().lower() == "for"]
        return written_scope(named[0]) if len(named) == 1 else None

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()


def _body_span(source: SourceText, matter: LineSpan | None) -> LineSpan:
    """Return the lines after front matter and a leading title; an empty span at the end if there are none."""
    start = matter.end + 1 if matter else 1
    headings = read_headings(source)
    first = source.trimmed(LineSpan(start, len(source.lines)))
    if headings and headings[0].level == 1 and headings[0].span.start == first.start:
        start = headings[0].span.end + 1
    body = source.trimmed(LineSpan(start, len(source.lines)))
    return body or LineSpan(len(source.lines) + 1, len(source.lines))
