"""Episode logs, `memory/episodes/YYYY-MM-DD.md`, and flat daily logs, `memory/YYYY-MM-DD[-slug].md`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Final

from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.markdown.markup import (
    append_lines,
    item_text,
    one_line,
    outermost_items,
    protect_body,
    remove_lines,
    unprotect_body,
)
from workbench.engine.markdown.outline import (
    Heading,
    Outline,
    parse_blocks,
    read_headings,
    read_outline,
    stretches,
)
from workbench.engine.markdown.source import LineSpan, Problem, Problems, SourceText, is_blank
from workbench.engine.patterns import lazy_pattern
from workbench.engine.roles import written_scope
from workbench.engine.values import dataclass

_DAY: Final = lazy_pattern(r"\d{4}-\d{2}-\d{2}")
_HEADING: Final = lazy_pattern(
    r"(\d{1,2})[:：](\d{2})(?:[:：]\d{2})?(?:\s*[#＃](\d{1,6}))?(?:\s*[|｜]\s*|\s+|$)(.*)$", re.DOTALL
)
SCOPE_FIELD: Final = "for"
"""The field of a heading that names an entry's audience."""
_TIME: Final = lazy_pattern(r"(?:[01]\d|2[0-3]):[0-5]\d")
_ID: Final = lazy_pattern(r"[a-z]+:\S+")
_TAG_STOPS: Final = lazy_pattern(r"[\[\]|｜,，、;；［］【】]+")
_CLOSING_MARKS: Final = lazy_pattern(r"(?:^|\s)#+$")

_FIELD_NAMES: Final = {"类型": "type", "置信度": "confidence", "标签": "tags", "来源": "source"}
PAUSE: Final = timedelta(minutes=30)
"""A silence of this length ends an entry."""
_NAME: Final = lazy_pattern(r"(\d{4}-\d{2}-\d{2})(?:-(.+))?\.md$")
_CLOCK: Final = lazy_pattern(r"\[?(\d{1,2})[:：](\d{2})(?:[:：]\d{2})?\]?(?:\s+|$)")
_ANY_CLOCK: Final = lazy_pattern(r"(?<![\d:])(\d{1,2})[:：]([0-5]\d)(?!\d)")
_SPEAKER: Final = lazy_pattern(r"[*_]*([^\s:：*_][^:：\n*_]{0,39}?)[*_]*[:：][*_]*\s+")
_TURN_HEADING: Final = lazy_pattern(r"\[?\d{1,2}[:：]\d{2}(?:[:：]\d{2})?\]?\s+(\w[\w .-]{0,39})$")
_TIMED_HEADING: Final = lazy_pattern(r"#{1,6}[ \t]+\[?\d{1,2}[:：]\d{2}(?:[:：]\d{2})?\]?(?:[ \t]|$)")
_FENCE_END: Final = lazy_pattern(r" {0,3}(`{3,}|~{3,})[ \t]*$")


@dataclass(frozen=True, slots=True)
class EpisodeEntry:
    """One entry.

    Args:
        id: `episode:2026-02-02:14:30`, with `#2` for a second one in the same minute.
        date: `2026-02-02`.
        time: `14:30`, in the workspace's time zone.
        number: 1, or its number within the minute.
        type: As written, lower case; empty if the heading has none. Known ones: decision, fact,
            preference, task, event, emotion, correction.
        confidence: `high`, `medium`, `low`, another word as written, or empty.
        source: `conversation` if the heading has none.
        extra: Further `key:value` fields of the heading, in order; a field without a key has the key "".
        body: The recorded text, lines joined by `\\n`, without escapes.
        span: All its lines, without trailing blank lines.
    """

    id: str
    date: str
    time: str
    number: int
    type: str
    confidence: str
    tags: tuple[str, ...]
    source: str
    extra: tuple[tuple[str, str], ...]
    body: str
    span: LineSpan

    @property
    def origins(self) -> tuple[str, ...]:
        """Return the ids in the heading’s `from`, such as `file:sessions/7d0c.jsonl#L12`."""
        listed = next((value for key, value in self.extra if key.lower() == "from"), "")
        return tuple(item for item in listed.strip("[]").replace(",", " ").split() if _ID.fullmatch(item))

    @property
    def scope(self) -> str | None:
        """Return the audience in the heading; None, the owner alone, if it has none or several."""
        named = [value for key, value in self.extra if key.lower() == SCOPE_FIELD]
        return written_scope(named[0]) if len(named) == 1 else None


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to append.

    Args:
        time: `HH:MM` in the workspace's time zone. The number within the minute is chosen.
        body: Any text. Structure in it is escaped, so that parsing returns the same text.
        source: Written into the heading unless it is `conversation`.
    """

    time: str
    body: str
    type: str = "event"
    confidence: str = "high"
    tags: tuple[str, ...] = ()
    source: str = "conversation"
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class EpisodeLog:
    """One day's entries in file order."""

    path: str
    date: str
    source: SourceText
    entries: tuple[EpisodeEntry, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> EpisodeLog:
        """Parse the file. Any bytes are accepted; the date comes from the path, else from the title."""
        source = SourceText.from_bytes(content)
        tops = [heading for heading in read_headings(source) if heading.level <= 2]
        named = _DAY.search(PurePosixPath(path).name) or _DAY.search(tops[0].text if tops else "")
        problems = Problems(path)
        if named is None:
            problems.add(None, "The file does not say which day it holds.", "Name it YYYY-MM-DD.md.")
        day = named[0] if named else ""
        numbers = _Numbers()
        entries = [
            entry
            for heading, span in stretches(tops, len(source.lines))
            if (entry := _read_entry(source, heading, span, day, numbers, problems))
        ]
        return cls(path, day, source, tuple(entries), tuple(problems.found))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def entry(self, entry_id: str) -> EpisodeEntry | None:
        """Return an entry by its id."""
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    def append_entries(
        self, entries: Iterable[NewEntry], was_given: Callable[[str], bool] = lambda _: False
    ) -> EpisodeLog:
        """Append entries, which are the last ones of the result; a new file gets its title first.

        Args:
            was_given: Returns True for a used id, which may not be used again.

        Raises:
            InvalidInput: A time is not a time of day.
        """
        taken: dict[str, int] = {}
        for entry in self.entries:
            taken[entry.time] = max(entry.number, taken.get(entry.time, 0))
        lines = [] if self.source.lines else [f"# {self.date} — Episode Log"]
        for new in entries:
            if not _TIME.fullmatch(new.time):
                raise InvalidInput(
                    f"“{new.time}” is not a time of day.", where=self.path, remedy="Give it as HH:MM."
                )
            taken[new.time] = taken.get(new.time, 0) + 1
            while was_given(_entry_id(self.date, new.time, taken[new.time])):
                taken[new.time] += 1
            lines += [*([""] if lines else []), *entry_lines(new, taken[new.time])]
        return self.parse(append_lines(self.source, lines).render(), self.path)

    def remove_entry(self, entry_id: str) -> EpisodeLog:
        """Remove an entry (revert and hard deletion only).

        Raises:
            NotFound: There is no such entry.
        """
        entry = self.entry(entry_id)
        if entry is None:
            raise NotFound(
                f"There is no entry {entry_id}.", where=self.path, remedy="It may have been removed already."
            )
        return self.parse(remove_lines(self.source, entry.span).render(), self.path)


def entry_lines(new: NewEntry, number: int) -> list[str]:
    """Return an entry as lines: its heading, with its number within the minute, and its protected body."""
    heading = f"## {new.time}" + (f" #{number}" if number > 1 else "")
    fields = [clean_field(new.type).replace(":", "-").lower(), f"confidence:{clean_field(new.confidence)}"]
    listed = [tag for tag in (_TAG_STOPS.sub("-", one_line(tag)).strip("- ") for tag in new.tags) if tag]
    if listed:
        fields.append(f"tags:[{', '.join(listed)}]")
    if new.source != "conversation":
        fields.append(f"source:{clean_field(new.source)}")
    fields.extend(f"{clean_field(key).replace(':', '-')}:{clean_field(value)}" for key, value in new.extra)
    return [" | ".join([heading, *fields]), *protect_body(new.body)]


def clean_field(text: str) -> str:
    """Return a text that is safe between the bars of a heading: one line, no bars, no closing marks."""
    return _CLOSING_MARKS.sub("", one_line(text.replace("|", "/").replace("｜", "/"))).strip()


def split_fields(text: str) -> list[tuple[str, str]]:
    """Split the fields between a heading's bars into key (may be empty) and value."""
    fields: list[tuple[str, str]] = []
    for part in re.split(r"[|｜]", text):
        key, colon, value = (
            part.replace("：", ":", 1).partition(":") if ":" not in part else part.partition(":")
        )
        if part.strip():
            fields.append((key.strip(), value.strip()) if colon else ("", part.strip()))
    return fields


class _Numbers:
    """Gives the entries of each minute distinct numbers."""

    def __init__(self) -> None:
        self._taken: dict[str, set[int]] = {}
        self._free: dict[str, int] = {}

    def take(self, time: str, wanted: int) -> int:
        """Return the number wanted, or the lowest free one if another entry has it."""
        taken, number = self._taken.setdefault(time, set()), wanted
        if number in taken:
            number = self._free.get(time, 1)
            while number in taken:
                number += 1
            self._free[time] = number
        taken.add(number)
        return number


def _read_entry(
    source: SourceText, heading: Heading, span: LineSpan, day: str, numbers: _Numbers, problems: Problems
) -> EpisodeEntry | None:
    match = _HEADING.match(heading.text)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        if heading.level == 2:
            problems.add(
                heading.span.start,
                f"The heading “{heading.text[:60]}” does not start with a time, so it is not an entry.",
                "Write it as ## HH:MM | type | confidence:high | tags:[…].",
            )
        return None
    time = f"{int(match[1]):02}:{match[2]}"
    wanted = int(match[3] or 1) or 1
    number = numbers.take(time, wanted)
    if number != wanted and match[3]:
        problems.add(
            heading.span.start,
            f"There is a second entry #{wanted} of {time}.",
            "Give it a number of its own.",
        )
    kind, known, extra = _read_fields(match[4])
    if not kind:
        problems.add(
            heading.span.start,
            f"The entry of {time} does not say its type.",
            "Write | and the type after the time, for example ## 14:30 | decision.",
        )
    span = source.trimmed(span)
    return EpisodeEntry(
        _entry_id(day, time, number),
        day,
        time,
        number,
        kind,
        known.get("confidence", "").lower(),
        tuple(tag.strip() for tag in _TAG_STOPS.split(known.get("tags", "")) if tag.strip()),
        known.get("source") or "conversation",
        extra,
        unprotect_body(source.lines_of(LineSpan(heading.span.end + 1, span.end))),
        span,
    )


def _entry_id(day: str, time: str, number: int) -> str:
    return f"episode:{day}:{time}" + (f"#{number}" if number > 1 else "")


def _read_fields(text: str) -> tuple[str, dict[str, str], tuple[tuple[str, str], ...]]:
    kind = ""
    known: dict[str, str] = {}
    extra: list[tuple[str, str]] = []
    for position, (key, value) in enumerate(split_fields(text)):
        name = _FIELD_NAMES.get(key.lower(), key.lower())
        if (name == "type" and not kind) or (not key and position == 0):
            kind = value.lower()
        elif name in ("confidence", "tags", "source") and name not in known:
            known[name] = value
        else:
            extra.append((key, value))
    return kind, known, tuple(extra)


@dataclass(frozen=True, slots=True)
class Turn:
    """One statement: `- 13:56 Robin: …` or `## 09:00 user` with the text below it.

    Args:
        time: `13:56`, or None.
        speaker: As written; empty if none is named.
    """

    time: str | None
    speaker: str
    text: str
    span: LineSpan


@dataclass(frozen=True, slots=True)
class DailyEntry:
    """One section of a day.

    Args:
        time: When it starts, `13:56`, or None if unknown.
        title: Its heading, or else its first line.
        turns: The statements in it, if it is a conversation.
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
        """Parse the file. Any bytes are accepted."""
        source = SourceText.from_bytes(content)
        outline = _outline_of_log(source)
        problems = Problems(path)
        name = _NAME.search(PurePosixPath(path).name)
        if name is None:
            problems.add(None, "The file does not say which day it holds.", "Name it YYYY-MM-DD.md.")
        heads = list(outline.headings)
        title = heads.pop(0) if heads and heads[0].level == 1 else None
        level = min((head.level for head in heads), default=6)
        heads = [head for head in heads if head.level == level]
        start = title.span.end if title else outline.front_matter.end if outline.front_matter else 0
        first = heads[0].span.start if heads else len(source.lines) + 1
        entries = _sections(source, outline, None, LineSpan(start + 1, first - 1))
        for head, span in stretches(heads, len(source.lines)):
            entries += _sections(source, outline, head, span)
        return cls(
            path,
            name[1] if name else "",
            (name[2] or "") if name else "",
            title.text if title else PurePosixPath(path).name.removesuffix(".md"),
            source,
            tuple(entries),
            tuple(problems.found),
        )

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()


def _outline_of_log(source: SourceText) -> Outline:
    """Return the outline of a log, in which a fence that nobody closed ends with its section.

    A message that was cut short leaves a fence open, and all that is said after it, by others too, would be its code.
    """
    outline = read_outline(source)
    if not any(_TIMED_HEADING.match(line) for fence in outline.fences for line in source.lines_of(fence)):
        return outline
    starts = [number for number, line in enumerate(source.lines, 1) if _TIMED_HEADING.match(line)]
    spans = list(map(LineSpan, starts, [*(start - 1 for start in starts[1:]), len(source.lines)]))
    fences = [_Fences.of(source.lines_of(span)) for span in spans]
    closed = source
    of_pasted_log = ""
    for at, (span, own) in enumerate(zip(spans, fences, strict=True)):
        if not own.open_mark:
            continue
        later = next((each for each in fences[at + 1 :] if each.first), own)
        if of_pasted_log and own.first == of_pasted_log:
            of_pasted_log = ""
        elif own.is_empty and later.first == later.open_mark == own.open_mark:
            of_pasted_log = own.open_mark
        elif is_blank(source.line(span.end)):
            closed = closed.splice(span.end, span.end, [own.open_mark])
    return read_outline(closed)


@dataclass(frozen=True, slots=True)
class _Fences:
    """The outermost fences of a section by itself.

    Args:
        first: The first line of the first one, stripped, or "".
        open_mark: The mark of the one that is not closed, or "".
        is_empty: Whether that one holds nothing but headings, as before a log in a fence.
    """

    first: str = ""
    open_mark: str = ""
    is_empty: bool = False

    @classmethod
    def of(cls, lines: Sequence[str]) -> _Fences:
        found = [token for token in parse_blocks(lines) if token.type == "fence" and token.level == 0]
        spans = [token.map or [0, 1] for token in found]
        if not found:
            return cls()
        first, (start, end) = lines[spans[0][0]].strip(), spans[-1]
        last = _FENCE_END.match(lines[end - 1]) if end - 1 > start else None
        if last is not None and last[1].startswith(found[-1].markup):
            return cls(first)
        held = lines[start + 1 : end]
        return cls(first, found[-1].markup, all(is_blank(line) or line.startswith("#") for line in held))


def _sections(source: SourceText, outline: Outline, head: Heading | None, span: LineSpan) -> list[DailyEntry]:
    """Split the content of one heading at its pauses."""
    span = source.trimmed(span)
    if not span:
        return []
    turns = _turns(source, outline, head, span)
    cuts = [0]
    for at in range(1, len(turns)):
        before, after = _clock_time(turns[at - 1].time), _clock_time(turns[at].time)
        if before is not None and after is not None and after - before > PAUSE:
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


def _clock_time(time: str | None) -> timedelta | None:
    return None if time is None else timedelta(hours=int(time[:2]), minutes=int(time[3:]))


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
