"""What was reckoned before is used again for as long as it is true, and no longer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.engine.services.agent_home import BROKEN, AgentHome
from tests.engine.services.callings import EPISODE, HARBOUR, ITEM, ROBIN
from workbench.engine import Workspace, layout, to_json
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.results.decay import DecayEntry, DecayView


def entry(view: DecayView, memory: str = EPISODE) -> DecayEntry:
    (found,) = (entry for entry in view.entries if entry.id == memory)
    return found


CHANGES: tuple[Callable[[Workspace], object], ...] = (
    lambda w: w.pin(EPISODE),
    lambda w: w.forget(ids=[EPISODE], apply=True),
    lambda w: w.reinforce(EPISODE),
    lambda w: w.show(EPISODE),
    lambda w: w.decay_keep(0.3),
)


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen_at_once(settled: AgentHome, change: Callable[[Workspace], object]) -> None:
    settled.clock.advance(days=3)
    with settled.open() as workspace:
        before = workspace.decay(forecast=[30])
        grade = workspace._context.scores().graded()[EPISODE]
        change(workspace)
        after = workspace.decay(forecast=[30])
        assert entry(after) != entry(before)
        assert workspace._context.scores().graded()[EPISODE] != grade
    # Whoever opens it now sees the very same.
    with settled.open("reader") as workspace:
        assert to_json(workspace.decay(forecast=[30])) == to_json(after)


def test_a_new_day_is_a_new_answer_and_a_new_minute_is_none(settled: AgentHome) -> None:
    with settled.open("reader") as workspace:
        first = workspace.decay()
        settled.clock.advance(minutes=7)
        second = workspace.decay()
        assert second.now == first.now + timedelta(minutes=7)
        assert second.entries == first.entries
        settled.clock.advance(days=1)
        assert entry(workspace.decay()).score < entry(first).score


def test_what_nobody_dated_begins_at_the_moment_of_each_question(furnished: AgentHome) -> None:
    with furnished.open("reader") as workspace:
        for _ in range(3):
            for view in (workspace.decay(), workspace.decay(forecast=[1], lambda_=0.1)):
                item = entry(view, ITEM)
                assert item.created == item.last_accessed == view.now
            furnished.clock.advance(minutes=5)


def test_entries_say_what_they_can_be_grouped_by(settled: AgentHome) -> None:
    settled.write(
        "memory/episodes/2026-02-02.md",
        "# 2026-02-02 — Episode Log\n\n## 08:00 | event | confidence:high | tags:[ship, sea]\n"
        "[[person--robin]] named [[project--harbour]] and [[person--robin|Robin]].\n",
    )
    with settled.open("reader") as workspace:
        view = workspace.decay()
        episode = entry(view, "episode:2026-02-02:08:00")
        assert (episode.tags, episode.entities) == (("ship", "sea"), (ROBIN, HARBOUR))
        assert entry(view, ROBIN).entities == (ROBIN,)
        assert entry(view).entities == ()


def test_a_name_of_an_entity_that_was_merged_stands_for_its_keeper(settled: AgentHome) -> None:
    settled.write(
        "memory/episodes/2026-02-02.md",
        "# 2026-02-02 — Episode Log\n\n## 08:00 | event | confidence:high\n[[person--robin]] went out.\n",
    )
    with settled.open() as workspace:
        workspace.graph_merge(HARBOUR, ROBIN)
        assert entry(workspace.decay(), "episode:2026-02-02:08:00").entities == (HARBOUR,)


@pytest.mark.parametrize("content", [BROKEN["memory/meta/decay-scores.json"], b"[]", b"", b"\xff\xfe{}"])
def test_a_broken_scores_file_hides_no_memory(furnished: AgentHome, content: bytes) -> None:
    with furnished.open("reader") as workspace:
        expected = workspace.decay().entries
        furnished.write(layout.DECAY_SCORES, content)
        assert workspace.decay().entries == expected
        workspace.decay_falls(30)


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-11:00"]
)
@pytest.mark.parametrize("zone", ["America/St_Johns", "Pacific/Apia"])
def test_the_ends_of_the_calendar_are_survived(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch, moment: str, zone: str
) -> None:
    monkeypatch.setenv("WORKBENCH_TIMEZONE", zone)
    noted = {"last_accessed": moment, "type_weight": 1e308, "access_count": 10**300, "base_relevance": 1}
    furnished.write(layout.DECAY_SCORES, json.dumps({"version": 1, "entries": {EPISODE: noted}}))
    with furnished.open("reader") as workspace:
        view = workspace.decay(forecast=[0, 36_500])
        json.dumps(to_json(view), allow_nan=False)
        known = entry(view)
        shown = workspace.show(EPISODE, count_access=False).score
        assert shown is not None
        assert shown.value == known.score
        workspace.decay_course(view, known, [-700_000, -1, 0, 1, 700_000])
        json.dumps(to_json(workspace.decay_falls(3_000_000)), allow_nan=False)
        json.dumps(to_json(workspace.decay_explain(EPISODE)), allow_nan=False)


def test_a_forecast_looks_ahead(furnished: AgentHome) -> None:
    with furnished.open("reader") as workspace:
        for call in (
            lambda: workspace.decay(forecast=[-1]),
            lambda: workspace.decay_falls(-1),
            lambda: workspace.decay(lambda_=-1.0),
            lambda: workspace.decay_falls(3, lambda_=float("nan")),
        ):
            with pytest.raises(InvalidInput):
                call()


def test_one_score_is_explained(settled: AgentHome) -> None:
    with settled.open("reader") as workspace:
        told = workspace.decay_explain(EPISODE)
        known = entry(workspace.decay())
        assert told.score is not None
        assert (told.score.value, told.score.raw, told.status) == (known.score, known.raw, known.status)
        assert told.half_life == pytest.approx(math.log(2) / workspace.settings.decay.lambda_)
        falls = workspace.decay_falls(400).falls
        assert told.falls == tuple(fall for fall in falls if fall.id == EPISODE)
        assert [fall.after for fall in told.falls] == ["fading", "dormant", "archived"]
        later = workspace.decay_explain(EPISODE, on=told.falls[0].on)
        assert later.status == "fading"
        before = workspace.decay_explain(EPISODE, on=known.created.date() - timedelta(days=1))
        assert (before.score, before.status) == (None, "unmade")
        still = workspace.decay_explain("Robin", lambda_=0)
        assert (still.id, still.half_life, still.falls) == (ROBIN, None, ())
        assert workspace.decay_explain("vault:promise").status == "pinned"
        with pytest.raises(InvalidInput):
            workspace.decay_explain("memory/2026-01-30.md")
        with pytest.raises(NotFound):
            workspace.decay_explain("nobody of that name")
