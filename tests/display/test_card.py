"""A sentence that names a command is told with the key that a person has it on."""

from __future__ import annotations

from pathlib import Path

from workbench.display.card import NAMED, Beside, Card, Section, told, told_card
from workbench.display.entity import question_words
from workbench.display.ink import ink, plain_text
from workbench.tui.keys.dispatch import Keymap

PACKAGE = Path(__file__).parents[2] / "workbench"


def test_every_key_named_in_a_sentence_is_one_of_the_table() -> None:
    keymap = Keymap({})
    named = {name for path in PACKAGE.rglob("*.py") for name in NAMED.findall(path.read_text("utf-8"))}
    assert len(named) > 20
    assert {name for name in named if not keymap.key(name)} == set()


def test_a_remapped_key_is_told_in_sentences_and_on_cards() -> None:
    key_of = Keymap({"undo": "Z"}).key
    assert told("Pinned “⸨x⸩ ⸨nothing⸩”. ⸨undo⸩ unpins; ⸨merge⸩ merges.", key_of) == (
        "Pinned “⸨x⸩ ⸨nothing⸩”. Z unpins; m m merges."
    )
    section = Section("BACK", ((ink("⸨undo⸩ takes it back"),),))
    card = told_card(Card("", "", sections=(section, Beside(section, section))), key_of)
    first, second = card.sections
    assert isinstance(first, Section)
    assert isinstance(second, Beside)
    assert {plain_text(each.lines[0]) for each in (first, second.left)} == {"Z takes it back"}
    # A click on the key presses it.
    assert [(span.text, span.link) for span in first.lines[0]] == [("Z", "press:Z"), (" takes it back", "")]


def test_an_open_question_is_read_without_the_ids_of_what_it_quotes() -> None:
    asked = "Which holds: “Pays in 30 days” (^fxex) or “Pays in 45 days (net)” (entity:concept--x#^f2ab)?"
    assert question_words(asked) == "Which holds: “Pays in 30 days” or “Pays in 45 days (net)”?"
    assert question_words("Is [[person--mei]] (^o^) in?") == "Is Mei (^o^) in?"
