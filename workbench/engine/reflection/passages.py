"""Takes files of episodes, logs and notes apart into passages: who said what, when, on which lines.

Which known entities new passages name is found at a cost that does not grow with the graph.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from heapq import nsmallest
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.file_rows import extract
from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.markdown.source import SourceText
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.model import Passage
from workbench.engine.search.chunks import (
    AGENT,
    PERSON,
    LogTurn,
    speaker_of_section,
    speakers_among,
    turn_of,
    units_of,
)
from workbench.engine.secrets.detection import without_masked_lines
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import EntityRecord, MemoryRecord
    from workbench.engine.reflection.model import Work

_CLOCK = lazy_pattern(r"(\d{1,2})[:.](\d{2})")
_HEADING = lazy_pattern(r"#{1,6}\s")
_LONGEST_LABEL = 120
MOST_NAMES: Final = 20_000
"""Names that are looked up in one cycle: first what is written like a name, then what recurs."""
_LONGEST_NAME: Final = 4
_MOST_WORDS: Final = 400
_WORD: Final = lazy_pattern(r"[^\W_][\w'’+#.&-]*[\w+#]|[^\W_]")
_LINK: Final = lazy_pattern(r"\[\[([^\]|\n]+)")
_POSSESSIVE: Final = lazy_pattern(r"['’]s$")
_FAMILIAR: Final = lazy_pattern(r"[小老阿]\w")


def holds_passages(path: str) -> bool:
    """Return whether a file is reflected on: episodes, daily logs and notes of the memory folder."""
    return (
        path.startswith("memory/")
        and path.endswith(".md")
        and layout.store_of(path) in ("episodic", "file")
        and not path.startswith((f"{layout.META}/", f"{layout.GRAPH}/"))
    )


def count_entries(passages: Iterable[Passage]) -> int:
    """Return how many episodes and sections of logs some passages come from."""
    return len({(passage.section and (passage.path, passage.section)) or passage.id for passage in passages})


def passages_of(path: str, content: bytes, zone: ZoneInfo) -> list[Passage]:
    """Return what is said in a file, in the order of its lines.

    An episode is one passage. So is a section of a log whose heading names the speaker; other sections are taken apart
    into turns where their lines carry times or speakers, else into paragraphs and list items. A line of which a secret
    is held back or was left out says nothing that could be learned.

    Args:
        path: Workspace-relative.
        content: The file.
        zone: The workspace's.
    """
    content = _readable(content)
    source = SourceText.from_bytes(content)
    records = extract(path, content, zone).memories
    voices = _voices_of(record for record in records if record.store != "episodic")
    return [
        passage
        for record in records
        for passage in (
            [_episode(record)] if record.store == "episodic" else _section(record, source, voices)
        )
        if passage.text.strip()
    ]


def _readable(content: bytes) -> bytes:
    text = content.decode("utf-8", "surrogateescape")
    readable = without_masked_lines(text)
    return content if readable is text else readable.encode("utf-8", "surrogateescape")


def _voices_of(records: Iterable[MemoryRecord]) -> frozenset[str]:
    """Return whose names head sections: a heading that comes once may as well say what the section is about."""
    headed = Counter(speaker_of_section(record.text, "") for record in records)
    return PERSON | AGENT | {name for name, times in headed.items() if name is not None and times > 1}


def _episode(record: MemoryRecord) -> Passage:
    return Passage(
        record.id,
        record.text,
        record.path,
        record.start_line,
        record.end_line,
        record.moment,
        type=record.type,
        confidence=record.confidence,
        source=record.source,
        tags=record.tags,
    )


def _section(record: MemoryRecord, source: SourceText, voices: frozenset[str]) -> Iterator[Passage]:
    lines = [source.line(number) for number in range(record.start_line, record.end_line + 1)]
    heading = bool(lines and _HEADING.match(lines[0]))
    speaker = speaker_of_section(lines[0], "") if heading else None
    if speaker in voices and speaker is not None:
        body = next((n for n in range(1, len(lines)) if lines[n].strip()), len(lines))
        if body < len(lines):
            yield _passage(
                record,
                body,
                len(lines) - 1,
                "\n".join(lines[body:]),
                _cased(lines[0], speaker),
                record.moment,
            )
        return
    named = speakers_among(lines)
    spans = [turn for span in _spoken_spans(lines) for turn in _turns(lines, *span, named)]
    turns = {first: turn_of(lines[first]) for first, _ in spans}
    for first, last in spans:
        turn = turns[first]
        known = turn.speaker in named
        begun = (
            turn.text if known or turn.speaker is None else lines[first][_mark_length(lines[first], turn) :]
        )
        text = "\n".join((begun, *lines[first + 1 : last + 1]))
        label = lines[first][:_LONGEST_LABEL]
        yield _passage(
            record,
            first,
            last,
            text,
            _cased(label, turn.speaker) if known and turn.speaker else "",
            _moment(label, turn, record.moment),
        )


def _spoken_spans(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the units of a section without the headings before them."""
    for first, last in units_of("\n".join(lines)):
        while first <= last and (not lines[first].strip() or _HEADING.match(lines[first])):
            first += 1
        if first <= last:
            yield first, last


def _turns(lines: list[str], first: int, last: int, named: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Cut a unit where somebody else speaks: a dialogue may stand in one paragraph, a line for each turn."""
    for number in range(first + 1, last + 1):
        line = lines[number][:_LONGEST_LABEL]
        if not line[:1].isspace() and turn_of(line).speaker in named:
            yield first, number - 1
            first = number
    yield first, last


def _passage(
    record: MemoryRecord, first: int, last: int, text: str, speaker: str, moment: datetime | None
) -> Passage:
    start, end = record.start_line + first, record.start_line + last
    return Passage(
        f"file:{record.path}#L{start}-L{end}",
        text,
        record.path,
        start,
        end,
        moment,
        speaker=speaker,
        tags=record.tags,
        section=record.title,
    )


def _cased(line: str, speaker: str) -> str:
    """Return a speaker's name as the line writes it."""
    at = line.casefold().find(speaker)
    return line[at : at + len(speaker)] if at >= 0 else speaker


def _mark_length(line: str, turn: LogTurn) -> int:
    """Return how many characters of list mark stand before a line whose label is no speaker."""
    if not turn.is_item:
        return 0
    mark = re.match(r"\s*(?:[-*+•]|\d+[.)])\s+", line)
    return mark.end() if mark else 0


def _moment(label: str, turn: LogTurn, of_section: datetime | None) -> datetime | None:
    if not turn.is_stamped or of_section is None:
        return of_section
    clock = _CLOCK.search(label)
    if clock is None or int(clock[1]) > 23 or int(clock[2]) > 59:
        return of_section
    return of_section.replace(hour=int(clock[1]), minute=int(clock[2]))


@dataclass(frozen=True)
class Named:
    """What passages name.

    Args:
        records: The entities by id.
        passages: Indices of the passages that name each, by its id.
    """

    records: dict[str, EntityRecord]
    passages: dict[str, tuple[int, ...]]


def find_named(passages: Sequence[Passage], graph: Lookups, work: Work) -> Named:
    """Find the entities of the graph that passages name by label, alias, link, tag or a person’s first name.

    Args:
        passages: What is new.
        graph: Asked once for each distinct name, at most `MOST_NAMES` times.
        work: Asked whether to go on.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    capital: set[str] = set()
    for at, passage in enumerate(passages):
        if at % 500 == 0:
            work.check()
        for name, like_a_name in dict.fromkeys(_candidates(passage)):
            if not places[name] or places[name][-1] != at:
                places[name].append(at)
            if like_a_name:
                capital.add(name)
    # Of a million candidates few are wanted: sorting all of them would take much memory.
    ranked = nsmallest(MOST_NAMES, places, key=lambda name: (name not in capital, -len(places[name])))
    records: dict[str, EntityRecord] = {}
    found: defaultdict[str, set[int]] = defaultdict(set)
    for number, name in enumerate(ranked):
        if number % 500 == 0:
            work.check()
        record = graph.entity(f"entity:{name[2:]}") if name.startswith("[[") else graph.named(name)
        if record is None and name in capital and " " not in name:
            record = graph.called(name)
        if record is not None:
            records[record.id] = record
            found[record.id].update(places[name])
    return Named(records, {entity: tuple(sorted(where)) for entity, where in found.items()})


def _candidates(passage: Passage) -> Iterator[tuple[str, bool]]:
    """Yield the runs of words that could be a name, folded, with whether each is written like one."""
    for link in _LINK.findall(passage.text):
        target = link.strip().rsplit("/", 1)[-1]
        if "--" in target:
            yield "[[" + target.partition("#")[0], True
    for tag in passage.tags:
        yield tag.casefold(), True
    if passage.speaker:
        yield passage.speaker.casefold(), passage.speaker[:1].isupper()
    for line in passage.text.split("\n"):
        words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(line)[:_MOST_WORDS]]
        folded = [word.casefold() for word in words]
        for start, word in enumerate(folded):
            if word in STOP_WORDS:
                continue
            # A single word in small letters is a name only where it recurs as a tag or is long.
            if words[start][0].isupper() or len(word) > 3 or not word.isascii():
                yield word, words[start][0].isupper()
            for length in range(2, _LONGEST_NAME + 1):
                if start + length <= len(folded) and folded[start + length - 1] not in STOP_WORDS:
                    names = all(word[0].isupper() for word in words[start : start + length])
                    yield " ".join(folded[start : start + length]), names


def goes_by(label: str, name: str) -> bool:
    """Return whether a log may call somebody of a name so: by one of its words, or 小周 for 周岚."""
    folded, words = label.strip().casefold(), name.casefold().split()
    if not folded or not words:
        return False
    return folded in (" ".join(words), *words) or (bool(_FAMILIAR.fullmatch(label)) and label[1] == name[0])
