"""Flat daily logs, `memory/YYYY-MM-DD[-slug].md`, as stretches to show on a timeline; never written.

What makes one entry of a long conversation: a heading starts one; where a stretch under one heading runs
on, a pause of more than 30 minutes between two of its timestamps starts another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from workbench.engine.documents.items import item_text, outermost_items
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.source import LineSpan, SourceText, is_blank

if TYPE_CHECKING:
    from workbench.engine.documents.outline import Heading, Outline

PAUSE_MINUTES: Final = 30

_NAME: Final = re.compile(r"(\d{4}-\d{2}-\d{2})(?:-(.+))?\.md$")
_CLOCK: Final = re.compile(r"\[?(\d{1,2})[:：](\d{2})(?:[:：]\d{2})?\]?(?:\s+|$)")
_ANY_CLOCK: Final = re.compile(r"(?<![\d:])(\d{1,2})[:：]([0-5]\d)(?!\d)")
_SPEAKER: Final = re.compile(r"[*_]*([^\s:：*_][^:：\n*_]{0,39}?)[*_]*[:：][*_]*\s+")
_TURN_HEADING: Final = re.compile(r"\[?\d{1,2}[:：]\d{2}(?:[:：]\d{2})?\]?\s+(\w[\w .-]{0,39})$")


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said: `- 13:56 Caroline: …` or `## 09:00 user` with what follows.

    Args:
        time: `13:56`, or None.
        speaker: As written; empty where none is named.
        text: What was said.
        span: Its lines.
    """

    time: str | None
    speaker: str
    text: str
    span: LineSpan


@dataclass(frozen=True, slots=True)
class DailyEntry:
    """One stretch of a day.

    Args:
        time: When it starts, `13:56`, or None where the log does not say.
        title: Its heading, or its first line where it has none.
        span: All its lines, without blank lines at the end.
        turns: What was said in it, where it is a conversation.
        text: Its lines joined by `\\n`.
    """

    time: str | None
    title: str
    span: LineSpan
    turns: tuple[Turn, ...]
    text: str


@dataclass(frozen=True)
class DailyLog:
    """One flat log."""

    path: str
    date: str
    slug: str
    title: str
    source: SourceText
    entries: tuple[DailyEntry, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> DailyLog:
        """Read the file. Any bytes will do."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        problems: list[Problem] = []
        name = _NAME.search(PurePosixPath(path).name)
        if name is None:
            problems.append(
                Problem(path, None, "The file does not say which day it holds.", "Name it YYYY-MM-DD.md.")
            )
        heads = list(outline.headings)
        title = heads.pop(0) if heads and heads[0].level == 1 else None
        level = min((head.level for head in heads), default=6)
        heads = [head for head in heads if head.level == level]
        start = title.span.end if title else outline.front_matter.end if outline.front_matter else 0
        first = heads[0].span.start if heads else len(source.lines) + 1
        entries = _stretches(source, outline, None, LineSpan(start + 1, first - 1))
        for at, head in enumerate(heads):
            end = heads[at + 1].span.start - 1 if at + 1 < len(heads) else len(source.lines)
            entries += _stretches(source, outline, head, LineSpan(head.span.start, end))
        return cls(
            path,
            name[1] if name else "",
            (name[2] or "") if name else "",
            title.text if title else PurePosixPath(path).name.removesuffix(".md"),
            source,
            tuple(entries),
            tuple(problems),
        )

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()


def _stretches(
    source: SourceText, outline: Outline, head: Heading | None, span: LineSpan
) -> list[DailyEntry]:
    """Part what stands under one heading at its pauses."""
    span = source.trimmed(span)
    if not span:
        return []
    turns = _turns(source, outline, head, span)
    cuts = [0]
    for at in range(1, len(turns)):
        before, after = _minutes(turns[at - 1].time), _minutes(turns[at].time)
        if before is not None and after is not None and after - before > PAUSE_MINUTES:
            cuts.append(at)
    entries: list[DailyEntry] = []
    for which, cut in enumerate(cuts):
        after_cut = cuts[which + 1] if which + 1 < len(cuts) else len(turns)
        said = tuple(turns[cut:after_cut])
        start = said[0].span.start if which else span.start
        end = turns[after_cut].span.start - 1 if after_cut < len(turns) else span.end
        lines = source.trimmed(LineSpan(start, end))
        time = next((turn.time for turn in said if turn.time), None) or (
            _any_time(head) if not which else None
        )
        entries.append(
            DailyEntry(time, _title(source, head, lines, said), lines, said, source.text_of(lines))
        )
    return entries


def _turns(source: SourceText, outline: Outline, head: Heading | None, span: LineSpan) -> list[Turn]:
    whole = _TURN_HEADING.match(head.text) if head else None
    clock = _CLOCK.match(head.text) if head else None
    if head and whole and clock:
        body = source.trimmed(LineSpan(head.span.end + 1, span.end))
        return [Turn(_time(clock), whole[1], source.text_of(body), span)]
    turns = []
    for item in outermost_items(outline, span):
        text = item_text(item.text)
        clock = _CLOCK.match(text)
        rest = text[clock.end() :] if clock else text
        speaker = _SPEAKER.match(rest)
        if clock:
            said = rest[speaker.end() :] if speaker else rest
            turns.append(Turn(_time(clock), speaker[1] if speaker else "", said, item.span))
    return turns


def _time(clock: re.Match[str]) -> str | None:
    hour, minute = int(clock[1]), int(clock[2])
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None


def _minutes(time: str | None) -> int | None:
    return None if time is None else int(time[:2]) * 60 + int(time[3:])


def _any_time(head: Heading | None) -> str | None:
    found = _ANY_CLOCK.search(head.text) if head else None
    return _time(found) if found else None


def _title(source: SourceText, head: Heading | None, span: LineSpan, turns: tuple[Turn, ...]) -> str:
    if turns and head and turns[0].span.start == head.span.start:
        first = next((line.strip() for line in turns[0].text.split("\n") if not is_blank(line)), "")
        return f"{turns[0].speaker}: {first}" if first else head.text
    if head and head.span.start == span.start and head.text:
        return head.text
    return next((line.strip(" \t#*-+>") for line in source.lines_of(span) if line.strip(" \t#*-+>")), "")
