"""Who is a person by what it does."""

from __future__ import annotations

from workbench.engine.reflection.extraction.reading import Persons


def test_a_name_that_does_what_persons_do_is_a_person() -> None:
    assert named("Yesterday we met Quill.", "Quill lives in Ghent.") == {"Quill"}


def test_a_name_after_a_preposition_is_not_the_one_who_does_it() -> None:
    assert named("Today we built Quill.", "The code of Quill lives in one folder.") == set()


def named(*texts: str) -> set[str]:
    persons = Persons()
    for at, text in enumerate(texts):
        persons.read(at, text)
    return {mention.label for _, mention in persons.named()}
