"""Shows where a memory comes from, at the very line; and reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.sessions import Listed
from workbench.display.transcript import Evidence, SourceLine, Stretch, evidence_lines, marked_at
from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace, StorageError
from workbench.engine.identifiers import cited_lines
from workbench.engine.patterns import lazy_pattern
from workbench.tui.parts.page import PagePart
from workbench.tui.parts.transcript import titles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.memories import Saying
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject

_COMMENT = lazy_pattern(r"<!--.*?-->", re.DOTALL)
# Lines shown before and after those in question.
_BEFORE, _AFTER = 12, 40
_SESSIONS = "file:sessions/"


class EvidencePart(PagePart):
    """One source, scrolled to the line in question."""

    def __init__(self) -> None:
        super().__init__()
        self.evidence: Evidence | None = None
        self.of: Subject | None = None
        """What the source was opened for; None where that is nothing that keys act on."""
        self._shown_for = (0, 0)
        """The size for which the marked line was brought into sight."""

    def show(self, evidence: Evidence | str | None, empty: str = "", of: Subject | None = None) -> None:
        """Show a source, or say why there is none."""
        self.empty, self.of = evidence if isinstance(evidence, str) else empty, of
        if isinstance(evidence, str):
            evidence = None
        if evidence == self.evidence and evidence is not None:
            return
        self.evidence = evidence
        if evidence is None:
            self.show_lines(None)
            return
        self.link, self._shown_for = "", (0, 0)
        self.show_lines(lambda width: evidence_lines(evidence, width), at=None)

    def draw(self) -> None:
        """Draw the lines again, for this width, and bring the marked one into sight where the size is another."""
        super().draw()
        width, height = self.scrollable_content_region.size
        # What is not laid out yet has no size to scroll in.
        if self.evidence is not None and height and self._shown_for != (width, height):
            self._shown_for = (width, height)
            at = marked_at(self.lines)
            self.scroll_to(y=max(0, at - height // 3), animate=False, force=True)


def evidence_of_memory(workspace: Workspace, memory_id: str) -> Evidence | None:
    """Read the first of the sources that a memory rests on; called on a thread.

    Returns:
        The memory's own lines where nobody noted a source; None where no source can be read any more.
    """
    said = sorted(workspace.why(memory_id).said, key=lambda each: each.session is None)
    if not said:
        return evidence_at(workspace, memory_id)
    found = evidence_at(workspace, said[0].id, said[0])
    if found is None:
        return None
    more = {each.id: words.origin(each.id) for each in said[1:] if each.id != said[0].id}
    return replace(found, more=tuple((more | titles_of(workspace, more)).items()))


def evidence_of_sources(workspace: Workspace, sources: Sequence[str]) -> Evidence | None:
    """Read the first of some sources that can be read, which leads on to those after it; called on a thread."""
    for at, source in enumerate(sources):
        if (found := evidence_at(workspace, source)) is not None:
            more = {each: words.origin(each) for each in sources[at + 1 :]}
            return replace(found, more=tuple((more | titles_of(workspace, more)).items()))
    return None


def next_evidence(workspace: Workspace, shown: Evidence) -> Evidence | None:
    """Read the source that follows one which is shown, round to the first again; called on a thread.

    Returns:
        None where no other can be read.
    """
    for at, (source, _) in enumerate(shown.more):
        if (found := evidence_at(workspace, source)) is not None:
            return replace(found, more=(*shown.more[at + 1 :], (shown.link, shown.title)))
    return None


def evidence_at(workspace: Workspace, source: str, saying: Saying | None = None) -> Evidence | None:
    """Read a source around the lines in question; called on a thread.

    Args:
        source: The citation of a session's line, `file:PATH#L3-L5`, or the id of a memory.
        saying: What is known of it already.

    Returns:
        None where it cannot be read any more.
    """
    try:
        if source.startswith(_SESSIONS):
            return _from_session(workspace, source)
        cited = cited_lines(source.removeprefix("file:"))
        if cited is not None:
            path, first, last = cited
        elif saying is not None and saying.path is not None:
            path, first = saying.path, saying.line
            last = first + max(0, saying.quote.count("\n"))
        else:
            shown = workspace.show(source, count_access=False, history=False)
            path, first, last = shown.path, shown.start_line, shown.end_line
        begin = max(1, first - _BEFORE)
        excerpt = workspace.get(path, from_=begin, lines=last - begin + _AFTER, count_access=False)
    except (NotFound, InvalidInput, OutsideWorkspace, StorageError):
        return None
    lines = tuple(SourceLine(begin + at, text) for at, text in enumerate(excerpt.text.splitlines()))
    if cited is None:
        lines = _without_comments(excerpt.text, lines, first, last)
        # What is said stands below the heading of an entry, not in it.
        within = (line for line in lines if first <= line.number <= last)
        first = next((each.number for each in within if each.text.strip() and each.text[0] != "#"), first)
    which = f"line {first}" if first == last else f"lines {first}–{last}"
    return Evidence(f"{path} · {which}", lines, first, last, source, path=path)


def _without_comments(
    text: str, lines: tuple[SourceLine, ...], first: int, last: int
) -> tuple[SourceLine, ...]:
    """Return the lines of a text without what files note for programs; as they are where those in question only do."""
    bare = _COMMENT.sub(lambda comment: "\n" * (len(comment[0].splitlines()) - 1), text).splitlines()
    said = tuple(
        line if line.text == rest else replace(line, text=rest.rstrip())
        for line, rest in zip_longest(lines, bare, fillvalue="")
        if isinstance(line, SourceLine) and (rest.strip() or not line.text.strip())
    )
    return said if any(first <= line.number <= last and line.text.strip() for line in said) else lines


def _from_session(workspace: Workspace, citation: str) -> Evidence | None:
    cited = cited_lines(citation.removeprefix("file:"))
    if cited is None:
        return None
    _, first, last = cited
    begin = max(1, first - _BEFORE)
    count = last - begin + _AFTER
    listed = Listed(workspace.session(citation, line=first, limit=1).session)
    reader = workspace.session_reader(citation)
    page = reader.page(begin, count)
    names = titles_of(workspace, dict.fromkeys(each for ids in page.memories.values() for each in ids))
    until = min(reader.total(), begin + count - 1)
    said = Stretch(page, until, names, workspace.now(), listed.agent, listed.row.shared)
    moment = next((line.moment for line in page.lines if line.line == first), None)
    when = f" · {words.moment(moment, workspace.now())}" if moment is not None else ""
    title = f"session {listed.name}{when} · line {first}"
    return Evidence(title, (), first, last, citation, said=said)
