"""What a cycle of reflection looks at, from plain files in a temporary folder and passages made in the test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tests.engine.catalog.shelf import Shelf
from workbench.engine.catalog.lookups import Lookups
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.markdown.pages import Procedure
from workbench.engine.markdown.reflection_records import Evolution, ReflectionLog
from workbench.engine.reflection.model import Passage, Snapshot
from workbench.engine.results.decay import DecayEntry
from workbench.engine.results.memories import CoreBlock, CoreItem, CoreView
from workbench.engine.tokens import count_tokens

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=ZONE)
BUDGETS = {"Identity": 500, "Active Context": 1000, "Persona": 500, "Critical Facts": 1000}
RELATIONS = (
    "develops", "uses", "used-by", "part-of", "contains", "depends-on", "decided-on", "supersedes",
    "preceded-by", "followed-by", "prefers", "avoids", "confident-about", "uncertain-about", "relates-to",
)  # fmt: skip
_LINES = re.compile(r"file:(.+?)(?:#L(\d+)(?:-L(\d+))?)?$")


def said(
    moment: str,
    text: str,
    *,
    speaker: str = "",
    type: str = "",
    confidence: str = "",
    source: str = "",
    tags: Sequence[str] = (),
    line: int = 0,
    section: str = "",
) -> Passage:
    """Return a passage: an episode, or with a speaker a turn of a flat log.

    Args:
        moment: `2026-02-02 14:30`, in the workspace's zone.
        text: Its words.
        speaker: As the label says it.
        type: An episode's type.
        confidence: high, medium or low.
        source: `user-explicit` …
        tags: Topical tags.
        line: Of the flat log, 1-based; by default one that the minute of the day gives.
        section: The heading it stands under.
    """
    at = datetime.fromisoformat(moment).replace(tzinfo=ZONE)
    day, clock = moment.split()
    if not speaker:
        path, id_ = f"memory/episodes/{day}.md", f"episode:{day}:{clock}"
        start = end = line or 1
    else:
        path, start = f"memory/{day}.md", line or at.hour * 60 + at.minute + 1
        end = start + text.count("\n")
        id_ = f"file:{path}#L{start}-L{end}"
    return Passage(id_, text, path, start, end, at, speaker, type, confidence, source, tuple(tags), section)


def chat(day: str, *turns: tuple[str, str]) -> tuple[Passage, ...]:
    """Return the turns (speaker, text) of one day, a minute apart from 10:00 on."""
    start = datetime.fromisoformat(f"{day}T10:00")
    return tuple(
        said(f"{start + timedelta(minutes=at):%Y-%m-%d %H:%M}", text, speaker=speaker, line=2 * at + 3)
        for at, (speaker, text) in enumerate(turns)
    )


def faded(
    memory: str,
    score: float = 0.03,
    *,
    store: str = "episodic",
    status: str = "",
    title: str = "",
    accesses: int = 1,
    created: str = "2025-10-01",
    last: str = "",
    pinned: bool = False,
) -> DecayEntry:
    """Return a memory's score; its status follows from the score where none is given."""
    named = ((0.05, "archived"), (0.2, "dormant"), (0.5, "fading"))
    made = datetime.fromisoformat(created).replace(tzinfo=ZONE)
    return DecayEntry(
        memory,
        store,
        0.7,
        0.8,
        accesses,
        made,
        datetime.fromisoformat(last).replace(tzinfo=ZONE) if last else made,
        pinned,
        score,
        min(score, 1.0),
        status or next((name for limit, name in named if score < limit), "active"),
        title,
    )


def core_view(text: str, cap: int = 3000) -> CoreView:
    """Return core memory as the door shows it."""
    core = CoreMemory.parse(text.encode())
    blocks = tuple(
        CoreBlock(
            block.name,
            count_tokens(block.text),
            BUDGETS.get(block.name),
            tuple(CoreItem(item.id, item.text, item.pinned) for item in block.items),
            core.source.text_of(block.body) if block.body else "",
        )
        for block in core.blocks
    )
    return CoreView(blocks, count_tokens(core.text), cap)


def snapshot(
    folder: Path,
    passages: Iterable[Passage] = (),
    *,
    files: Mapping[str, str] | None = None,
    older: Iterable[Passage] = (),
    now: datetime = NOW,
    owner: str = "",
    cap: int = 3000,
    **others: Any,
) -> Snapshot:
    """Return a snapshot of a small workspace.

    Args:
        folder: An empty temporary folder.
        passages: What is new; their words need not stand in files.
        files: Text by path: `MEMORY.md`, entities, procedures, the books of reflection, episodes …
        older: What `earlier` finds, by words in common.
        now: Aware.
        owner: The person's name.
        cap: Of core memory, in tokens.
        others: Any field of the snapshot that is to read otherwise.
    """
    shelf = Shelf(folder, dict(files or {}))
    shelf.sync()
    passages, older = tuple(passages), tuple(older)
    kept = dict(files or {})
    records = ReflectionLog.parse(kept.get("memory/meta/reflection-log.md", "").encode()).records
    core = core_view(kept.get("MEMORY.md", ""), cap)
    made = Snapshot(
        now=now,
        owner=owner,
        passages=passages,
        earlier=_finder(older),
        graph=shelf.lookups,
        core=core,
        procedures=tuple(
            Procedure.parse(text.encode(), path)
            for path, text in sorted(kept.items())
            if path.startswith("memory/procedures/")
        ),
        fading=(),
        often=(),
        archived=(),
        titles=lambda memory: _title(shelf.lookups, memory),
        text_of=_reader((*older, *passages), shelf.lookups, core, kept),
        records=records,
        insights=Evolution.parse(kept.get("memory/meta/evolution.md", "").encode()).insights,
        relations=RELATIONS,
        number=max((int(record.id[2:]) for record in records), default=0) + 1,
    )
    return replace(made, **others)


def _finder(older: Sequence[Passage]) -> Callable[[str, int], Sequence[Passage]]:
    def earlier(text: str, limit: int) -> Sequence[Passage]:
        wanted = _words(text)
        ranked = sorted(
            ((len(wanted & _words(passage.text)), -at) for at, passage in enumerate(older)), reverse=True
        )
        return [older[-at] for shared, at in ranked[:limit] if shared]

    return earlier


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3}


def _title(lookups: Lookups, memory: str) -> str:
    found = lookups.memory(memory)
    return found.title if found else memory


def _reader(
    passages: Sequence[Passage], lookups: Lookups, core: CoreView, files: Mapping[str, str]
) -> Callable[[str], str | None]:
    texts = {passage.id: passage.text for passage in passages}
    texts.update((item.id, item.text) for block in core.blocks for item in block.items)

    def text_of(memory: str) -> str | None:
        if memory in texts:
            return texts[memory]
        lines = _LINES.fullmatch(memory)
        if lines:
            content = files.get(lines[1])
            if content is None:
                return None
            first, last = int(lines[2] or 1), int(lines[3] or lines[2] or len(content))
            return "\n".join(content.split("\n")[first - 1 : last])
        fact = lookups.fact(memory)
        if fact:
            return fact.text
        found = lookups.memory(memory)
        return found.text if found else None

    return text_of


def check_quotes(made: Snapshot, items: Iterable[Any]) -> None:
    """Assert that every item cites something and that all quotes stand in what they cite."""
    for item in items:
        assert item.evidence, item
        for proof in item.evidence:
            text = made.text_of(proof.id)
            assert text is not None, (item, proof)
            assert proof.quote, (item, proof)
            assert " ".join(proof.quote.split()) in " ".join(text.split()), (item, proof)
