"""A small real workspace for the panes that look at memory: built once a session by the engine, copied for each test.

Everything happens in Lisbon between 2025-12-04 and 2026-02-02; the clock stands at `NOW`, ids and commits never differ.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.isolation import isolate
from workbench.engine import FixedClock, Workspace

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
ZONE = "Europe/Lisbon"
START = datetime(2025, 12, 4, 9, 0, tzinfo=UTC)
NAME = "ferry"
# What is drawn of scores does not change with the default.
SETTINGS = "decay.lambda = 0.03\n"

# A hub with a self-link, in a circle ferry → timetable → tides → ferry, and on to an entity that has no file.
FERRY = "entity:project--ferry"
INES = "entity:person--ines-duarte"
TIDES = "entity:concept--tide-tables"
TIMETABLE = "entity:project--timetable"
MEI = "entity:person--陈美"
YUSUF = "entity:person--يوسف"
ALONE = "entity:place--berlenga"
WITHOUT_FILE = "entity:tool--sextant"
BELIEVED = "entity:project--ferry#^fdep"
SUPERSEDED = "entity:project--ferry#^fold"
LEARNED_FROM = "episode:2026-01-12:10:05"
ARCHIVED = "episode:2025-12-16:12:00#2"
_DAY_OF_LEARNING = 39

FILES = {
    "MEMORY.md": """# MEMORY.md — Core Memory

## Identity
- Name: Inês Duarte
- Runs the ferry at Barreiro
- Timezone: Europe/Lisbon

## Active Context
- Moving the timetable to the summer season

## Persona
- Short answers, numbers first

## Critical Facts
- The ferry never sails above six Beaufort <!-- pinned -->
""",
    "SOUL.md": "# Soul\n\nYou are calm and exact.\n",
    "memory/graph/entities/project--ferry.md": """# project--ferry

<!-- Type: project | Label: Ferry | Created: 2025-12-04 -->

## Summary
The boat between Barreiro and Lisbon, and everything around it.

## Facts
- The ferry leaves Barreiro every twenty minutes (since 2025-12-04, from source:user-explicit) ^frun
- The ferry sails by the clock alone (since 2025-12-04, from source:conversation) ^fold
- Tickets cost 1,40 euros

## Relations
- depends-on: [[project--timetable]] (confidence high, since 2025-12-04, from source:user-explicit) ^rtim
- uses: [[tool--radar]] (confidence high, since 2025-12-06) ^rrad
- uses: [[tool--radio]] (confidence medium, since 2025-12-06) ^rrao
- uses: [[tool--sextant]] (confidence low, since 2025-12-06) ^rsex
- relates-to: [[place--barreiro]] (confidence high, since 2025-12-04) ^rbar
- relates-to: [[place--lisbon]] (confidence high, since 2025-12-04) ^rlis
- relates-to: [[project--ferry]] (confidence low, since 2025-12-09) ^rslf

## Timeline
- 2025-12-04: The agent began to watch over the ferry
- 2025-12-20: The second boat came

## Open Questions
- Who pays for the second radar?
- Does the ferry sail on Easter Monday?
""",
    "memory/graph/entities/project--timetable.md": """# project--timetable

<!-- Type: project | Label: Timetable | Created: 2025-12-04 -->

## Facts
- The timetable changes on the last Sunday of March (since 2025-12-04, from source:user-explicit) ^fsun
""",
    "memory/graph/entities/concept--tide-tables.md": """# concept--tide-tables

<!-- Type: concept | Label: Tide tables | Created: 2025-12-04 -->

## Facts
- The tide tables come from the Hydrographic Institute (since 2025-12-05, from source:conversation) ^fhyd

## Relations
- relates-to: [[project--ferry]] (confidence medium, since 2025-12-05) ^rfer
""",
    "memory/graph/entities/person--ines-duarte.md": """# person--ines-duarte

<!-- Type: person | Label: Inês Duarte | Created: 2025-12-04 -->

## Facts
- Inês Duarte runs the ferry at Barreiro (since 2025-12-04, from source:user-explicit) ^frns
- Inês prefers tea from São Miguel (since 2025-12-08, from source:conversation) ^ftea

## Relations
- develops: [[project--ferry]] (confidence high, since 2025-12-04, from source:user-explicit) ^rdev
- prefers: [[tool--radio]] (confidence medium, since 2025-12-08) ^rprf
""",
    "memory/graph/entities/person--ines.md": """# person--ines

<!-- Type: person | Label: Ines | Created: 2025-12-18 -->

## Facts
- Ines has the keys of the boat shed (since 2025-12-18, from source:conversation) ^fkey
""",
    "memory/graph/entities/person--陈美.md": """# person--陈美

<!-- Type: person | Label: 陈美 | Created: 2025-12-10 -->

## Facts
- 陈美负责码头的时刻表 (since 2025-12-10, from source:conversation) ^fmei

## Relations
- develops: [[project--timetable]] (confidence high, since 2025-12-10) ^rmei
""",
    "memory/graph/entities/person--يوسف.md": """# person--يوسف

<!-- Type: person | Label: يوسف | Created: 2025-12-11 -->

## Facts
- يوسف يصلح محرك القارب (since 2025-12-11, from source:conversation) ^fyus

## Relations
- develops: [[project--ferry]] (confidence medium, since 2025-12-11) ^ryus
""",
    "memory/graph/entities/tool--radar.md": """# tool--radar

<!-- Type: tool | Label: Radar | Created: 2025-12-06 -->

## Facts
- The radar is a Furuno of 1998 (since 2025-12-06, from source:conversation) ^ffur
""",
    "memory/graph/entities/tool--radio.md": """# tool--radio

<!-- Type: tool | Label: Radio | Created: 2025-12-06 -->

## Facts
- The radio listens on channel 12 (since 2025-12-06, from source:conversation) ^fch1
""",
    "memory/graph/entities/place--barreiro.md": """# place--barreiro

<!-- Type: place | Label: Barreiro | Created: 2025-12-04 -->

## Relations
- part-of: [[place--lisbon]] (confidence low, since 2025-12-04) ^rpar
""",
    "memory/graph/entities/place--lisbon.md": """# place--lisbon

<!-- Type: place | Label: Lisbon | Created: 2025-12-04 -->

## Facts
- Lisbon’s quay has two berths for ferries (since 2025-12-04, from source:conversation) ^fber
""",
    "memory/graph/entities/place--berlenga.md": """# place--berlenga

<!-- Type: place | Label: Berlenga | Created: 2025-12-15 -->

## Facts
- Berlenga is too far out for the ferry (since 2025-12-15, from source:conversation) ^ffar
""",
    "memory/procedures/how-to-cancel-a-sailing.md": """# How to cancel a sailing

<!-- Type: procedure | Learned: 2025-12-05 -->

## Trigger
When the wind passes six Beaufort.

## Steps
1. Tell the quay by radio
2. Write it on the board
3. Give the tickets back
""",
    "memory/vault/why-there-is-a-ferry.md": "# Why there is a ferry\n\nBecause the bridge came too late.\n",
}

# What a person wrote in an editor, by the day after `START`.
_BY_HAND = {
    3: """
## 08:15 | event | confidence:medium | tags:[boat] | source:conversation
The hull was painted blue.

## 17:40 | emotion | confidence:low | tags:[ines]
She was tired after the fourth crossing.
""",
    12: """
## 07:50 | event | confidence:medium | tags:[weather, boat]
Fog until ten; two sailings fell out.

## 12:00 | task | confidence:medium | tags:[radar]
Ask Furuno for a spare magnetron.

## 12:00 #2 | event | confidence:low | tags:[harbour]
A seal slept on the pontoon.
""",
    21: """
## 21:10 | event | confidence:low | tags:[boat]
New year’s crossing with a brass band aboard.
""",
}
# What an agent was told or noticed: day, time, type, tags, what it is about, text.
_REMEMBERED = (
    (6, "10:00", "decision", "radar", "tool:Radar", "We keep the old radar until the summer"),
    (8, "16:20", "preference", "writing", "", "I prefer the numbers first and the reasons after"),
    (16, "09:30", "event", "boat", "project:Ferry", "The second boat came, with a scratch along its side"),
    (24, "11:00", "task", "tickets", "", "Print the tickets for February"),
    (27, "14:45", "event", "harbour,中文", "", "码头的灯坏了，要等到下周才修"),
    (33, "08:05", "fact", "tides", "concept:Tide tables", "The tide tables are off by four minutes at Barreiro"),
    (
        39, "10:05", "decision", "tides", "project:Ferry",
        "From today the ferry sails by the tide tables, not by the clock",
    ),
    (41, "18:00", "emotion", "ines", "person:Inês Duarte", "Inês was proud of the first full week"),
    (44, "09:00", "event", "tickets", "", "The ticket machine swallowed a ten euro note"),
    (46, "13:15", "event", "radar", "tool:Radar", "The radar lost a buoy for a minute"),
    (48, "07:45", "correction", "tides", "concept:Tide tables", "Correction: they are off by six minutes, not four"),
    (50, "19:30", "event", "boat", "", "A wedding party took the last boat"),
    (52, "12:10", "preference", "writing", "", "Never send a timetable without the date on it"),
    (54, "10:40", "task", "harbour", "place:Lisbon", "Ask Lisbon for the second berth on Sundays"),
    (56, "15:00", "event", "engine", "", "المحرك يحتاج إلى زيت جديد"),
    (58, "08:30", "decision", "tickets", "project:Ferry", "Children under twelve ride for free"),
    (60, "11:20", "event", "weather", "project:Ferry", "A gale is announced for Thursday"),
)  # fmt: skip


# What was learned from the decision of day 39: texts of files before and after.
_LEARNED = (
    (
        "memory/graph/entities/project--ferry.md",
        """- The ferry sails by the clock alone (since 2025-12-04, from source:conversation) ^fold
- Tickets cost 1,40 euros
""",
        """- The ferry sails by the tide tables of the harbour (since 2026-01-12, from episode:2026-01-12:10:05) ^fdep
- Tickets cost 1,40 euros

## Superseded
- The ferry sails by the clock alone (2025-12-04 to 2026-01-12, from source:conversation, superseded by ^fdep) ^fold
""",
    ),
    (
        "memory/graph/entities/project--timetable.md",
        "^fsun\n",
        """^fsun

## Relations
- depends-on: [[concept--tide-tables]] (confidence high, since 2026-01-12, from episode:2026-01-12:10:05) ^rtid
""",
    ),
)


class _Story:
    """Opens the workspace at any moment, through anybody’s door."""

    def __init__(self, folder: Path, clock: FixedClock) -> None:
        self.folder = folder
        self._clock = clock
        self._numbers = count(1)

    def new_id(self) -> str:
        return f"5ee{next(self._numbers):013x}"

    @contextmanager
    def at(self, day: int, time: str, role: str = "main", actor: str | None = None) -> Iterator[Workspace]:
        hour, minute = map(int, time.split(":"))
        self._clock.moment = (START + timedelta(days=day)).replace(hour=hour, minute=minute)
        with Workspace.open(
            self.folder, role=role, actor=actor, clock=self._clock, new_id=self.new_id
        ) as workspace:
            yield workspace


def build(folder: Path, clock: FixedClock) -> None:
    """Let two months happen in a folder, by a person, an agent, a reflection and editors; the clock ends at `NOW`."""
    story = _Story(folder, clock)
    clock.moment = START
    for path, text in FILES.items():
        _write(folder / path, text)
    Workspace.init(folder, clock=clock, timezone=ZONE, new_id=story.new_id)
    days = sorted({*_BY_HAND, *(each[0] for each in _REMEMBERED)})
    for day in days:
        for _, time, kind, tags, about, text in (each for each in _REMEMBERED if each[0] == day):
            with story.at(day, time, actor="bot:main") as workspace:
                workspace.remember(
                    text,
                    store="episodic",
                    type=kind,
                    tags=tags.split(","),
                    entities=about.split(",") if about else (),
                    source="user-explicit"
                    if kind in ("decision", "preference", "correction")
                    else "conversation",
                )
        if day in _BY_HAND:
            with story.at(day, "22:00", "person") as workspace:
                date = f"{workspace.now():%Y-%m-%d}"
                _write(folder / f"memory/episodes/{date}.md", f"# {date} — Episode Log\n{_BY_HAND[day]}")
                workspace.adopt()
        if day == _DAY_OF_LEARNING:
            with story.at(day, "10:15", "person") as workspace:
                for path, before, after in _LEARNED:
                    workspace.edit_file(
                        path, (folder / path).read_text(encoding="utf-8").replace(before, after)
                    )
    with story.at(60, "12:00", "person", "reflection:r-001") as workspace:
        workspace.core_set("Persona", "- Short answers, numbers first\n- Always a date on a timetable")
    with story.at(60, "12:30", "person") as workspace:
        workspace.pin(TIDES)
        workspace.forget(ids=[ARCHIVED], apply=True)
        workspace.graph_rename("place--lisbon", "Lisboa")
        workspace.undo()
    clock.moment = NOW


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="session")
def seen_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace as it was built; copy it, never write into it."""
    with pytest.MonkeyPatch.context() as patch:
        where = tmp_path_factory.mktemp("seen")
        isolate(where, patch, settings=SETTINGS)
        folder = where / NAME
        folder.mkdir()
        build(folder, FixedClock(START))
        return folder


@pytest.fixture
def seen_folder(seen_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the workspace, with state, cache and settings of its own."""
    isolate(tmp_path, monkeypatch, settings=SETTINGS)
    folder = tmp_path / NAME
    shutil.copytree(seen_template, folder)
    return folder


@pytest.fixture
def seen_clock() -> FixedClock:
    """The clock of `seen`, which stands at `NOW`; a test may move it."""
    return FixedClock(NOW)


@pytest.fixture
def seen(seen_folder: Path, seen_clock: FixedClock) -> Iterator[Workspace]:
    """The copy, opened by a person as the bench opens it."""
    with open_seen(seen_folder, seen_clock) as workspace:
        yield workspace


@contextmanager
def open_seen(folder: Path, clock: FixedClock, role: str = "person") -> Iterator[Workspace]:
    """Open a copy through somebody’s door, with ids that are always the same."""
    numbers = count(1)
    with Workspace.open(
        folder, role=role, clock=clock, reads_refresh=False, new_id=lambda: f"7e57{next(numbers):012x}"
    ) as workspace:
        workspace.refresh()
        yield workspace
