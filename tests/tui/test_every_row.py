"""Every row of every place of the sample, under the cursor: it has a card, and says what it says in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.demo.conftest import NOW, Sample, sample
from tests.tui.frame.hands import frame_of, opened, press
from workbench.display.card import card_lines, told_card
from workbench.display.ink import plain_text
from workbench.engine import FixedClock, Workspace
from workbench.tui.keys.table import PLACES
from workbench.tui.verbs.memories import Memory

__all__ = ["sample"]

WIDE, NARROW = (180, 45), (80, 24)
# Signs of Markdown, of facts and of our own sentences that mean something to a program alone.
RAW = re.compile(r"\[\[|\]\]|\*\*|<!--|(?<!\S)\^[a-z][a-z0-9]{3}(?![a-z0-9])|[⸨⸩]")
# Ids and codes of the engine, which stand among the details alone.
CODED = re.compile(
    r"\b(?:agent:main|bot|core|entity|episode|procedure|proposal|skill|source|vault):[\w-]|\b[a-z]+--[a-z]"
    r"|\br-\d+\.\d+|\buser-explicit\b|\b[0-9a-f]{10,}\b"
)


@pytest.fixture
def lived(sample: Sample) -> Iterator[Workspace]:
    with Workspace.open(sample.root, role="person", clock=FixedClock(NOW), reads_refresh=False) as workspace:
        workspace.refresh()
        yield workspace


async def test_every_row_has_a_card_that_is_read_without_knowing_the_files(lived: Workspace) -> None:
    wrong: dict[str, None] = {}
    # A memory has the same card wherever it is met.
    read: set[str] = set()
    async with opened(lived, WIDE, place="today") as pilot:
        for listed in PLACES:
            await press(pilot, listed.key)
            place = frame_of(pilot).place
            rows = place.list.rows
            for at in range(len(rows)):
                said = plain_text(rows.line(at, 400)).rstrip()
                if RAW.search(said) or CODED.search(said):
                    wrong[f"{listed.title}, row: {said}"] = None
                if not rows.key(at):
                    continue
                place.list.go_to(rows.key(at))
                subject = place.current
                assert subject is not None
                if type(subject) is Memory and subject.id in read:
                    continue
                read.add(subject.id)
                card = told_card(place.read_card(lived, subject), frame_of(pilot).keymap.key)
                for width in (30, 100):
                    lines = card_lines(card, width)
                    text = "\n".join(map(plain_text, lines))
                    if len(lines) < 2:
                        wrong[f"{listed.title}, nothing on the card: {said}"] = None
                    if RAW.search(text) or CODED.search(text):
                        wrong[f"{listed.title}, card of {said}: {text}"] = None
                    card_lines(card, width, details=True)
            assert place.list.cursor_key
    assert not wrong, "\n\n".join(wrong)


async def test_the_cursor_goes_through_every_place_narrow_and_wide_with_details_and_without(
    lived: Workspace,
) -> None:
    async with opened(lived, WIDE, place="today") as pilot:
        for size in (WIDE, NARROW):
            await pilot.resize_terminal(*size)
            for listed in PLACES:
                await press(pilot, listed.key, "home")
                place = frame_of(pilot).place
                for key in ("x", "j", "j", "x", "G", "enter", "x", "escape"):
                    await press(pilot, key)
                    assert place.card.card is not None, (listed.title, size, key)
                    assert len(place.card.lines) > 1, (listed.title, size, key)
