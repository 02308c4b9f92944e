"""Documents cut into passages at their headings, each with the lines it stands on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.engine.documents.outline import read_headings
from workbench.engine.documents.source import SourceText

PASSAGE_CHARACTERS = 1_600
_LONGEST = 12_000


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a document that belong together.

    Args:
        text: What they say, below the headings they stand under.
        first: First line, 1-based.
        last: Last line.
        headings: Those above, the outermost first.
    """

    text: str
    first: int
    last: int
    headings: tuple[str, ...] = ()


def front_matter(text: str) -> tuple[dict[str, str], int]:
    """Return the plain keys of a document's front matter, and how many lines it takes; ({}, 0) where there is none."""
    lines = text.split("\n", 200)
    if lines[0].rstrip() != "---":
        return {}, 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            keys: dict[str, str] = {}
            for said in lines[1:number]:
                key, colon, value = said.partition(":")
                if colon and key.strip() == key and key:
                    keys[key.lower()] = value.strip().strip("\"'")
            return keys, number + 1
    return {}, 0


def passages_of(text: str) -> Iterator[Passage]:
    """Cut a Markdown document at its headings, and long sections at blank lines.

    Args:
        text: All of it, line ends as `\\n`.
    """
    lines = text.split("\n")
    _, skip = front_matter(text)
    found = read_headings(SourceText.from_bytes(text.encode("utf-8", "surrogatepass")))
    headings = [heading for heading in found if heading.span.start > skip]
    starts = [heading.span.start for heading in headings]
    above: list[tuple[int, str]] = []
    end = starts[0] - 1 if starts else len(lines)
    yield from _section(lines, skip + 1, end, ())
    for at, heading in enumerate(headings):
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, heading.text.strip()))
        end = starts[at + 1] - 1 if at + 1 < len(starts) else len(lines)
        titles = tuple(title for _, title in above if title)
        below = list(_section(lines, heading.span.end + 1, end, titles))
        yield from below
        deeper = at + 1 < len(headings) and headings[at + 1].level > heading.level
        if not below and not deeper and heading.text.strip():
            yield Passage(" › ".join(titles), heading.span.start, heading.span.end, titles[:-1])


def _section(lines: list[str], first: int, last: int, headings: tuple[str, ...]) -> Iterator[Passage]:
    start, size = first, 0
    fenced = False
    for number in range(first, last + 1):
        line = lines[number - 1]
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        size += len(line) + 1
        long_enough = size >= PASSAGE_CHARACTERS and not line.strip() and not fenced
        if long_enough or size >= _LONGEST:
            yield from _passage(lines, start, number, headings)
            start, size = number + 1, 0
    yield from _passage(lines, start, last, headings)


def _passage(lines: list[str], first: int, last: int, headings: tuple[str, ...]) -> Iterator[Passage]:
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    if first > last:
        return
    body = "\n".join(lines[first - 1 : last])
    head = " › ".join(headings)
    whole = f"{head}\n{body}" if head else body
    # One line can be longer than a memory may be.
    for at in range(0, len(whole), _LONGEST):
        yield Passage(whole[at : at + _LONGEST], first, last, headings)
