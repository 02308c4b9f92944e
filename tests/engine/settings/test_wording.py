"""Every setting has a name and a section, and what is said of a value can be written back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.memory.decay import half_life
from workbench.engine.settings.schema import Kind, Unfit, Value
from workbench.engine.settings.sections import SCHEMA, default_of
from workbench.engine.settings.wording import HALF_LIFE, SECTIONS, meant, said, wording, written


def test_every_setting_stands_in_one_section_under_a_name_of_its_own() -> None:
    keys = [key for section in SECTIONS.values() for key in section]
    assert sorted(keys) == sorted(SCHEMA)
    for section in SECTIONS.values():
        titles = [each.title for each in section.values()]
        assert len(titles) == len(set(titles))
    for key in SCHEMA:
        explained = wording(key).explanation
        assert explained.endswith(".")
        assert "workbench " not in explained


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (HALF_LIFE, 0.03, "23 days"),
        (HALF_LIFE, 0.5, "1.4 days"),
        (HALF_LIFE, 0.0, "never"),
        ("decay.archive_threshold", 0.08, "0.08"),
        ("decay.archive_threshold", 0.055, "0.055"),
        ("core.cap", 3000, "3,000 tokens"),
        ("core.cap", 1, "1 token"),
        ("audit.critical_alerts", True, "on"),
        ("proposals.trusted", (), "none"),
        ("proposals.trusted", ("scout", "nurse"), "scout, nurse"),
        ("sessions.identity_links", {"telegram:42": "mira"}, "telegram:42 = mira"),
        ("editor", "", "not set"),
        ("model.api_key", "k-1", "set"),
        ("model.api_key", "", "not set"),
        ("search.watch_debounce_ms", 1, "1 ms"),
    ],
)
def test_values_are_said_in_words(key: str, value: Value, words: str) -> None:
    assert said(key, value) == words


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("core.cap", "2,500 tokens", 2500),
        ("core.cap", "2500", 2500),
        ("core.cap", "1 token", None),
        ("reflection.model", "off", False),
        ("proposals.trusted", "scout, nurse", ("scout", "nurse")),
        ("proposals.trusted", "none", ()),
        ("sessions.identity_links", "telegram:42 = mira", {"telegram:42": "mira"}),
        ("reflection.time", "04:30", "04:30"),
        ("reflection.time", "half past four", None),
        ("decay.archive_threshold", "8", None),
        (HALF_LIFE, "0.05", 0.05),
        (HALF_LIFE, "never", 0.0),
        (HALF_LIFE, "soon", None),
        (HALF_LIFE, "1e999 days", None),
        (HALF_LIFE, "1.2.3 days", None),
    ],
)
def test_what_a_person_writes_is_understood(key: str, text: str, value: Value | None) -> None:
    if value is None:
        with pytest.raises(Unfit):
            meant(key, text)
    else:
        assert meant(key, text) == value


@given(st.integers(1, 2000))
def test_a_half_life_in_days_is_the_one_that_is_said(days: int) -> None:
    rate = meant(HALF_LIFE, f"{days:,} days")
    assert isinstance(rate, float)
    assert abs(half_life(rate) - days) < 0.01 * days
    if days >= 10:
        assert said(HALF_LIFE, rate) == f"{days:,} days"


@pytest.mark.parametrize("key", SCHEMA)
def test_the_default_as_it_is_written_is_the_default(key: str) -> None:
    text, usual = written(key, default_of(key)), default_of(key)
    if key == HALF_LIFE:
        assert text == "23 days"
    elif SCHEMA[key].kind is not Kind.TIME or text:
        assert meant(key, text) == usual
