"""What was held back as it is drawn: at every width, whatever the texts say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.tui.test_text import HOSTILE
from workbench.display.ink import line_width, plain_text
from workbench.engine.results.memories import HeldMemory
from workbench.tui.held import DROP, KEEP, WITHOUT, Held, HeldChoice, held
from workbench.tui.views.held import HeldGroup, group_line, group_lines, held_head, held_line, held_lines
from workbench.tui.views.inbox import InboxRows

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
WIDTHS = (24, 38, 63, 64, 100, 170)
ASKED = HeldMemory(
    1, "The token is [secret left out]", "propose", "agent:scout", NOW - timedelta(minutes=5), ("GitHub token",),
    ("0123456789abcdef",), store="semantic", scope="person:mara",
)  # fmt: skip
EDIT = replace(
    ASKED, number=2, asked="edit", role="outside", store=None, scope=None, path="memory/notes.md", line=3
)


def hostile() -> list[Held]:
    """Return two things for every hostile text, which stands wherever text can."""
    return [
        Held(replace(each, number=at, text=text, role=text[:80], kinds=(text[:40],), **where))  # type: ignore[arg-type]  # fields differ in type
        for at, text in enumerate(HOSTILE)
        for each, where in (
            (ASKED, {"store": text[:40], "scope": text[:40]}),
            (EDIT, {"path": text[:80] or "x.md"}),
        )
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_texts_fit_and_print_as_themselves(width: int) -> None:
    group = HeldGroup(tuple(hostile()))
    lines = [group_line(group, width), *group_lines(group, width), *held_head(group.held, width)]
    for each in group.held:
        lines += [held_line(each, width), *held_lines(each, each.memory.text, NOW, width)]
    for line in lines:
        assert line_width(line) <= width
        assert plain_text(line).isprintable()


@pytest.mark.parametrize("width", WIDTHS)
def test_both_say_what_each_key_would_do(width: int) -> None:
    asked = " ".join(" ".join(map(plain_text, held_lines(Held(ASKED), None, NOW, width))).split())
    edit = " ".join(" ".join(map(plain_text, held_lines(Held(EDIT), None, NOW, width))).split())
    left = " ".join(
        " ".join(map(plain_text, held_lines(Held(replace(EDIT, left_out=True)), None, NOW, width))).split()
    )
    assert "scout proposed it" in asked
    assert "store it as asked" in asked
    assert "for Mara" in asked
    assert "put it back into the file" in edit
    assert "a placeholder stands there" in edit
    assert "history takes the edit as it is" in left


def test_what_is_decided_shows_before_it_is_written() -> None:
    decided = held((ASKED, EDIT), [HeldChoice(WITHOUT, (ASKED,)), HeldChoice(DROP, (EDIT,))])
    assert [each.decision for each in decided] == ["approved", "rejected"]
    rows = InboxRows(held=(Held(ASKED), *decided[1:]))
    assert rows.next_undecided("") == "held:1"
    assert InboxRows(held=decided).next_undecided("") == ""


def test_choices_are_told_in_words() -> None:
    assert HeldChoice(KEEP, (ASKED,)).done() == "It is stored, and the secret allowed. u takes it back."
    assert HeldChoice(WITHOUT, (ASKED, EDIT)).done() == "2 are stored without the secret. u takes them back."
    assert HeldChoice(DROP, (ASKED,)).done() == "It is dropped; no trace of it stays."
