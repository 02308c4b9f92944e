"""Whom people call theirs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engine.reflection.extraction.learning import say
from workbench.engine.language.kin import ANYBODY, FAMILY, ONES_OWN, OTHERS, with_plurals
from workbench.engine.reflection.claims.vocabulary import PEOPLE
from workbench.engine.reflection.extraction.relatives import relatives
from workbench.engine.triggers.mentions import PERSON_NAMED


def test_plurals_are_regular_but_for_those_that_the_list_names() -> None:
    assert with_plurals(("aunt", "wife")) == ("aunt", "aunts", "wife", "wives")
    assert {"children", "sisters-in-law", "grandchildren"} <= set(ANYBODY)


def test_one_of_two_words_is_the_longer_one() -> None:
    found = re.match(ONES_OWN, "mother-in-law")
    assert found is not None
    assert found.group() == "mother-in-law"


@pytest.mark.parametrize("kin", [*FAMILY, *OTHERS])
def test_all_who_read_of_people_read_of_the_same(kin: str) -> None:
    assert kin in PEOPLE
    assert PERSON_NAMED.search(f"the {kin} is called Ines") is not None
    assert [found.name for found in relatives(f"My {kin} Ines lives here.", frozenset())] == ["Ines"]


def test_she_is_whom_the_sentence_before_names_whoever_it_is(tmp_path: Path) -> None:
    told = say(tmp_path, "My grandson called yesterday. He lives in Bergen.")
    assert any(text.startswith("Tilda’s grandson lives in Bergen") for text in told)
