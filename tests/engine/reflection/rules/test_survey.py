"""The survey finds what new passages are about and puts the weightiest first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.catalog.shelf import ENTITIES
from tests.engine.reflection.snapshots import NOW, chat, said, snapshot
from workbench.engine.reflection.model import Agenda, Area, Cancelled, Work
from workbench.engine.reflection.rules.survey import MOST_AREAS, led_by, passage_weight, survey

APOLLO = {
    f"{ENTITIES}/project--apollo.md": "# project--apollo\n\n<!-- Label: Apollo -->\n\n## Aliases\n- moon shot\n",
    f"{ENTITIES}/person--sam-berg.md": "# person--sam-berg\n\n<!-- Label: Sam Berg -->\n",
}


def test_passages_are_gathered_by_the_entities_they_name(tmp_path: Path) -> None:
    passages = (
        said("2026-03-01 09:00", "Apollo moves to a new repository", type="event"),
        said("2026-03-01 10:00", "The moon shot needs a budget", type="task"),
        said("2026-03-01 11:00", "Sam wrote that [[project--apollo]] is late", type="event"),
        said("2026-03-01 12:00", "Bought coffee", type="event"),
    )
    agenda = survey(snapshot(tmp_path, passages, files=APOLLO), Work())
    areas = {area.entity: area for area in agenda.areas if area.entity}
    assert areas["project--apollo"].passages == (0, 1, 2)
    assert areas["project--apollo"].subject == "Apollo"
    assert areas["person--sam-berg"].passages == (2,)


def test_tags_are_topics_and_every_passage_is_in_an_area(tmp_path: Path) -> None:
    passages = (
        said("2026-03-01 09:00", "The index is slow", type="event", tags=("search",)),
        said("2026-03-01 10:00", "We chose two grains", type="decision", tags=("search",)),
        said("2026-03-01 11:00", "Something else entirely", type="event"),
    )
    agenda = survey(snapshot(tmp_path, passages), Work())
    assert next(area for area in agenda.areas if area.subject == "search").passages == (0, 1)
    assert {at for area in agenda.areas for at in area.passages} == {0, 1, 2}


def test_decisions_weigh_more_than_talk_and_new_more_than_old() -> None:
    talk = said(
        "2026-03-01 09:00", "A plain remark of about twelve words that says not very much", speaker="user"
    )
    decision = said("2026-03-01 09:00", "We go with SQLite", type="decision")
    explicit = said("2026-03-01 09:00", "We go with SQLite", type="decision", source="user-explicit")
    old = said("2025-03-01 09:00", "We go with SQLite", type="decision")
    assert passage_weight(talk, NOW) < passage_weight(old, NOW)
    assert passage_weight(old, NOW) < passage_weight(decision, NOW) < passage_weight(explicit, NOW)


def test_what_recurs_on_several_days_comes_before_what_was_said_once(tmp_path: Path) -> None:
    passages = (
        *(said(f"2026-02-2{day} 09:00", "Wave study", type="event", tags=("waves",)) for day in range(1, 5)),
        said("2026-02-25 09:00", "Lunch menu", type="event", tags=("lunch",)),
        said("2026-02-25 10:00", "Lunch menu again", type="event", tags=("lunch",)),
    )
    subjects = [area.subject for area in survey(snapshot(tmp_path, passages), Work()).areas]
    assert subjects.index("waves") < subjects.index("lunch")


def test_areas_are_bounded_however_many_days_and_subjects_there_are(tmp_path: Path) -> None:
    passages = tuple(
        said(
            f"2025-{month:02}-{day:02} 09:00",
            f"Remark {month}x{day}",
            type="event",
            tags=(f"tag{month}x{day}",),
        )
        for month in range(1, 13)
        for day in range(1, 29)
    )
    agenda = survey(snapshot(tmp_path, passages), Work())
    assert len(agenda.areas) <= MOST_AREAS
    assert {at for area in agenda.areas for at in area.passages} == set(range(len(passages)))


def test_themes_of_the_past_raise_the_areas_they_name() -> None:
    agenda = Agenda((Area("lunch", (0,), 3.0, "1 passage"), Area("Wave study", (1,), 2.5, "1 passage")))
    led = led_by(agenda, ["waves (in 2 of 4 reflections)", "Wave (in 4 of 6 reflections)"])
    assert [area.subject for area in led.areas] == ["Wave study", "lunch"]
    assert led.areas[0].weight == pytest.approx(3.75)
    assert "theme" in led.areas[0].reason
    assert led_by(agenda, []) == agenda


def test_a_survey_can_be_called_off(tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        survey(snapshot(tmp_path, chat("2026-03-01", ("user", "hello there"))), Work(cancelled=lambda: True))
