"""Scores, forecasts and falls through the door agree with section 9 of the design document, worked out anew here.

Nothing of the engine's formula is used: the files say what is so, and the arithmetic stands below.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.results.decay import DecayEntry, DecayView

WITHIN = 1e-9
BASES = {"": 1.0, "user-explicit": 1.0, "conversation": 0.7, "reflection": 0.5}
WEIGHTS = {"episodic": 0.8, "procedural": 1.0}
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu", "America/Sao_Paulo")
# Around changes of the clocks, and around the day that Samoa left out.
MOMENTS = (
    datetime(2026, 3, 29, 0, 59, tzinfo=UTC),
    datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
    datetime(2026, 3, 8, 3, 29, tzinfo=UTC),
    datetime(2012, 1, 3, 9, 59, tzinfo=UTC),
    datetime(2026, 2, 2, 14, 30, tzinfo=UTC),
)
THRESHOLDS = ((0.5, 0.2, 0.05), (0.9, 0.9, 0.1), (0.3, 0.0, 0.0), (1.0, 0.5, 0.25))


@dataclass
class Told:
    """A memory as the files tell it."""

    id: str
    store: str
    source: str
    written: datetime
    entry: dict[str, Any] | None = None
    accesses: list[datetime] = field(default_factory=list)

    @property
    def readable(self) -> dict[str, Any]:
        entry = self.entry or {}
        sound = all(
            isinstance(entry.get(name, 0.0), int | float) and math.isfinite(entry.get(name, 0.0))
            for name in ("base_relevance", "type_weight")
        )
        return entry if sound and entry.get("access_count", 1) >= 0 else {}

    @property
    def last(self) -> datetime:
        noted = self.readable.get("last_accessed", "")
        first = datetime.fromisoformat(noted) if noted and noted != "soon" else self.written
        return max([first, *self.accesses])

    @property
    def fate(self) -> str:
        if self.readable.get("archived"):
            return "archived"
        return "pinned" if self.readable.get("pinned") else ""

    def raw(self, day: date, zone: ZoneInfo, rate: float) -> float:
        entry = self.readable
        base = min(1.0, max(0.0, entry.get("base_relevance", 1.0 if entry else BASES[self.source])))
        weight = max(0.0, entry.get("type_weight", 1.0 if entry else WEIGHTS[self.store]))
        count = max(1, entry.get("access_count", 1)) + len(self.accesses)
        days = (day - self.last.astimezone(zone).date()).days
        reinforced = math.log(count + 1) / math.log(2)
        return float(base * 2.718281828459045 ** (-rate * max(days, 0)) * reinforced * weight)

    def score(self, day: date, zone: ZoneInfo, rate: float) -> float:
        if self.fate:
            return {"archived": 0.0, "pinned": 1.0}[self.fate]
        return min(1.0, self.raw(day, zone, rate))


@dataclass
class World:
    """Memories, the settings that hold for them, and the moment."""

    zone: ZoneInfo
    now: datetime
    rate: float
    thresholds: tuple[float, float, float]
    memories: list[Told]

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    def status(self, value: float) -> str:
        for least, name in zip(self.thresholds, ("active", "fading", "dormant"), strict=True):
            if value >= least:
                return name
        return "archived"

    def is_close(self, value: float) -> bool:
        return any(abs(value - threshold) < WITHIN for threshold in self.thresholds)


def entries(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    moments = st.integers(-900, 40).map(
        lambda hours: (now + timedelta(hours=hours * 7)).isoformat(timespec="seconds")
    )
    return st.fixed_dictionaries(
        {"store": st.sampled_from(["episodic", "elsewhere"])},
        optional={
            "base_relevance": st.sampled_from(
                [0.0, 0.31, 1, 0.9999999, -2.0, 7.5, "much", math.nan, math.inf]
            ),
            "type_weight": st.sampled_from([0.8, 1.0, 2.5, 0, -1.0, math.nan]),
            "access_count": st.sampled_from([0, 1, 2, 63, 10**6, -1]),
            "last_accessed": st.one_of(moments, st.just("soon"), st.just("")),
            "pinned": st.booleans(),
            "archived": st.booleans(),
        },
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    now = draw(st.sampled_from(MOMENTS)) + timedelta(minutes=draw(st.integers(-900, 900)))
    now = now.replace(second=0)
    world = World(
        zone,
        now,
        draw(st.sampled_from([0.03, 0.0, 0.0001, 0.4, 10.0])),
        draw(st.sampled_from(THRESHOLDS)),
        [],
    )
    minutes = st.integers(-300 * 24 * 60, 3 * 24 * 60)
    for ago in draw(st.lists(minutes, min_size=1, max_size=4, unique=True)):
        written = (now + timedelta(minutes=ago)).astimezone(zone)
        source = draw(st.sampled_from(sorted(BASES)))
        memory = Told(f"episode:{written:%Y-%m-%d:%H:%M}", "episodic", source or "conversation", written)
        # Of an hour that comes twice, the text means the first.
        assume(written.fold == 0)
        memory.entry = draw(st.none() | entries(now))
        hours = draw(st.lists(st.integers(-50, 30), max_size=3))
        memory.accesses = [now + timedelta(hours=hour) for hour in hours]
        if memory.id not in {known.id for known in world.memories}:
            world.memories.append(memory)
    learned = datetime.combine(world.today - timedelta(days=draw(st.integers(0, 4000))), datetime.min.time())
    learned = learned.replace(tzinfo=zone)
    # On the day that was left out nothing was learned.
    assume(learned.astimezone(UTC).astimezone(zone).date() == learned.date())
    world.memories.append(Told("procedure:brew", "procedural", "", learned))
    return world


def write(world: World, home: AgentHome) -> None:
    days: dict[str, list[str]] = {}
    scores: dict[str, Any] = {}
    for memory in sorted(world.memories, key=lambda memory: memory.id):
        local = memory.written.astimezone(world.zone)
        if memory.store == "episodic":
            heading = (
                f"## {local:%H:%M} | event | confidence:high | source:{memory.source}\nIt was {local}.\n"
            )
            days.setdefault(f"{local:%Y-%m-%d}", []).append(heading)
        else:
            home.write(
                "memory/procedures/brew.md",
                f"# Brew\n\n<!-- Learned: {local:%Y-%m-%d} -->\n\n## Steps\n1. Boil\n",
            )
        if memory.entry is not None:
            scores[memory.id] = memory.entry
    for day, texts in days.items():
        home.write(f"memory/episodes/{day}.md", f"# {day} — Episode Log\n\n" + "\n".join(texts))
    home.write("memory/meta/decay-scores.json", json.dumps({"version": 1, "entries": scores}))
    active, fading, archive = world.thresholds
    home.write(
        "workbench.toml",
        f"[decay]\nlambda = {world.rate}\nactive_threshold = {active}\nfading_threshold = {fading}\n"
        f"archive_threshold = {archive}\n",
    )


@contextmanager
def lived(world: World, folder: Path) -> Iterator[Workspace]:
    """Give the world as files, its accesses in the journal, on the day that it ends."""
    folder.mkdir(exist_ok=True)
    home = AgentHome(folder / f"home-{len(list(folder.iterdir()))}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_TIMEZONE", world.zone.key)
        write(world, home)
        with home.open("reader") as workspace:
            for memory in world.memories:
                for moment in memory.accesses:
                    home.clock.moment = moment
                    workspace.show(memory.id)
            home.clock.moment = world.now
            yield workspace


def checked(world: World, view: DecayView, rate: float) -> dict[str, DecayEntry]:
    found = {entry.id: entry for entry in view.entries}
    assert found.keys() == {memory.id for memory in world.memories}
    for memory in world.memories:
        entry = found[memory.id]
        value = memory.score(world.today, world.zone, rate)
        assert entry.score == pytest.approx(value, abs=WITHIN), memory
        raw = memory.raw(world.today, world.zone, rate)
        assert entry.raw == (None if entry.pinned else pytest.approx(raw, rel=WITHIN, abs=WITHIN))
        if not world.is_close(value):
            assert entry.status == (memory.fate or world.status(value)), memory
    return found


DAYS = (0, 1, 2, 30, 365, 20_000)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds(), st.sampled_from([None, 0.0, 0.05, 1e6]))
def test_scores_and_forecasts_are_those_of_the_formula(
    tmp_path: Path, world: World, trial: float | None
) -> None:
    with lived(world, tmp_path / "worlds") as workspace:
        rate = world.rate if trial is None else trial
        view = workspace.decay(forecast=DAYS, lambda_=trial)
        assert (view.now.astimezone(UTC), view.lambda_) == (world.now, rate)
        assert (view.active_threshold, view.fading_threshold, view.archive_threshold) == world.thresholds
        found = checked(world, view, rate)
        standing = checked(world, workspace.decay(), world.rate)
        for memory in world.memories:
            entry = found[memory.id]
            assert entry.forecast is not None
            assert list(entry.forecast) == [str(day) for day in DAYS]
            for day in DAYS:
                then = memory.score(world.today + timedelta(days=day), world.zone, rate)
                assert entry.forecast[str(day)] == pytest.approx(then, abs=WITHIN)
            before = standing[memory.id].status
            changes = entry.status if trial is not None and entry.status != before else None
            assert entry.would_be == changes
            # One memory by itself is scored to the very bit as all of them together.
            shown = workspace.show(memory.id, count_access=False, history=False).score
            assert shown is not None
            assert (shown.value, shown.status) == (standing[memory.id].score, before)
            grade = workspace._context.scores().graded([memory.id])[memory.id]
            last = memory.last.astimezone(world.zone).date().isoformat()
            assert grade == (shown.value, shown.status, last)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds(), st.lists(st.integers(-4100, 4000), min_size=1, max_size=12))
def test_a_course_knows_what_is_known_and_no_more(tmp_path: Path, world: World, days: list[int]) -> None:
    with lived(world, tmp_path / "worlds") as workspace:
        ahead = [day for day in days if day >= 0]
        view = workspace.decay(forecast=[0, *ahead])
        entries = {entry.id: entry for entry in view.entries}
        for memory in world.memories:
            entry = entries[memory.id]
            points = workspace.decay_course(view, entry, [0, *days])
            assert [point.days for point in points] == [0, *days]
            assert (points[0].value, points[0].status) == (entry.score, entry.status)
            made = memory.written.astimezone(world.zone).date()
            last = memory.last.astimezone(world.zone).date()
            for point in points:
                day = world.today + timedelta(days=point.days)
                terms = workspace.decay_terms(view, entry, point.days)
                if point.days < 0 and day < made:
                    assert (point.value, point.status, terms) == (None, "unmade", None)
                elif point.days < 0 and day < last:
                    assert (point.value, point.status, terms) == (None, "unrecorded", None)
                else:
                    assert terms is not None
                    assert (terms.value, terms.status) == (point.value, point.status)
                    assert point.value == pytest.approx(memory.score(day, world.zone, world.rate), abs=WITHIN)
                    if point.days >= 0 and entry.forecast is not None:
                        assert point.value == entry.forecast[str(point.days)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds(), st.integers(0, 200), st.sampled_from([None, 0.0, 0.2]))
def test_falls_are_what_the_days_bring(
    tmp_path: Path, world: World, within: int, trial: float | None
) -> None:
    with lived(world, tmp_path / "worlds") as workspace:
        answer = workspace.decay_falls(within, lambda_=trial)
        rate = world.rate if trial is None else trial
        # In an hour that comes twice, times of two zones are never equal.
        assert answer.now.astimezone(UTC) == world.now
        assert (answer.lambda_, answer.within) == (rate, within)
        assert list(answer.falls) == sorted(answer.falls, key=lambda fall: (fall.days, fall.id))
        expected = []
        for memory in world.memories:
            scores = [
                memory.score(world.today + timedelta(days=day), world.zone, rate) for day in range(within + 1)
            ]
            # To the last bit a threshold may be met or not; whoever is that near is judged elsewhere.
            assume(not any(world.is_close(score) for score in scores) or memory.fate)
            statuses = [memory.fate or world.status(score) for score in scores]
            for day in range(1, within + 1):
                if statuses[day] != statuses[day - 1]:
                    on = world.today + timedelta(days=day)
                    expected.append((day, memory.id, statuses[day - 1], statuses[day], on))
        found = [(fall.days, fall.id, fall.before, fall.after, fall.on) for fall in answer.falls]
        assert found == sorted(expected)
        # On the day the score is below the threshold, and the day before it was not.
        days = sorted({day for fall in answer.falls for day in (fall.days - 1, fall.days)})
        entries = {entry.id: entry for entry in workspace.decay(forecast=days, lambda_=trial).entries}
        for fall in answer.falls:
            ahead = entries[fall.id].forecast
            assert ahead is not None
            assert ahead[str(fall.days)] < fall.threshold <= ahead[str(fall.days - 1)]


def test_one_day_to_come_needs_no_list(settled: AgentHome) -> None:
    with settled.open("reader") as workspace:
        assert workspace.decay(forecast=30) == workspace.decay(forecast=(30,))


def test_many_scores_at_once_are_those_of_each_alone(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.pin("episode:2026-02-01:18:40")
        context = workspace._context
        ids = [row[0] for row in context.catalog.rows("SELECT id FROM memories")] + [
            "episode:nothing",
            "file:a",
        ]
        scores = context.scores()
        alone = {memory_id: scores.of(memory_id) for memory_id in ids}
        assert scores.of_all(ids) == alone
        assert {"core", "episodic", "semantic"} <= {
            row[0] for row in context.catalog.rows("SELECT store FROM memories")
        }
        assert None in alone.values()
